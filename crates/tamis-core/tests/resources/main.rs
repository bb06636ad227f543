//! What is allocated and kept, counted by an allocator of its own, hence a binary of its own.

mod allocation;
mod memory;
mod soak;

use parking_lot::{Mutex, MutexGuard};
use tamis_conformance::resources::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Held by each test: the allocator counts the bytes of the whole process, so tests run one after another.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock()
}
