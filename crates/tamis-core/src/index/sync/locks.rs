//! The locks of an index: those of `parking_lot`, behind the gate of [`super::forking`].
//!
//! A thread is inside the gate while it waits for a lock or holds one. There is no condition variable: a thread that waits
//! for one would be in a queue that a forked child inherits.

use super::Inside;
use std::ops::{Deref, DerefMut};

/// Mutual exclusion.
#[derive(Debug, Default)]
pub(in crate::index) struct Mutex<T>(parking_lot::Mutex<T>);

/// Readers and writers.
#[derive(Debug, Default)]
pub(in crate::index) struct RwLock<T>(parking_lot::RwLock<T>);

/// A held lock. Fields are dropped in order: the lock is released before the gate is left.
pub(in crate::index) struct Held<G> {
    guard: G,
    _inside: Inside,
}

type MutexGuard<'l, T> = Held<parking_lot::MutexGuard<'l, T>>;
type ReadGuard<'l, T> = Held<parking_lot::RwLockReadGuard<'l, T>>;
type WriteGuard<'l, T> = Held<parking_lot::RwLockWriteGuard<'l, T>>;

impl<T> Mutex<T> {
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let inside = Inside::enter();
        Held { guard: self.0.lock(), _inside: inside }
    }
}

impl<T> RwLock<T> {
    pub fn new(value: T) -> RwLock<T> {
        RwLock(parking_lot::RwLock::new(value))
    }

    pub fn read(&self) -> ReadGuard<'_, T> {
        let inside = Inside::enter();
        Held { guard: self.0.read(), _inside: inside }
    }

    /// `None` if a writer holds the lock or a fork is under way.
    pub fn try_read(&self) -> Option<ReadGuard<'_, T>> {
        let inside = Inside::try_enter()?;
        Some(Held { guard: self.0.try_read()?, _inside: inside })
    }

    pub fn write(&self) -> WriteGuard<'_, T> {
        let inside = Inside::enter();
        Held { guard: self.0.write(), _inside: inside }
    }
}

impl<G: Deref> Deref for Held<G> {
    type Target = G::Target;

    fn deref(&self) -> &G::Target {
        &self.guard
    }
}

impl<G: DerefMut> DerefMut for Held<G> {
    fn deref_mut(&mut self) -> &mut G::Target {
        &mut self.guard
    }
}
