//! Hashes of what users choose: ids, names, values.
//!
//! Whoever knows the hash function of a table can choose keys that all collide; a table of n such keys takes n² steps to
//! fill. So the hash depends on a key that each process draws at random. `FxHash` remains where keys are dense numbers of
//! this crate, which nobody chooses.

use hashbrown::DefaultHashBuilder;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash};
use std::sync::LazyLock;

/// A map with user-chosen keys; each has a random key of its own.
pub type KeyedMap<K, V> = HashMap<K, V, DefaultHashBuilder>;

/// A set of user-chosen values.
pub type KeyedSet<K> = HashSet<K, DefaultHashBuilder>;

/// The key of this process.
static KEY: LazyLock<DefaultHashBuilder> = LazyLock::new(Default::default);

/// The hash of a value, the same for equal values in one process.
pub fn keyed_hash(value: &(impl Hash + ?Sized)) -> u64 {
    KEY.hash_one(value)
}
