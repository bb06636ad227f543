//! What the engines allocate and keep, counted by an allocator of its own, hence a binary of its own.

use tamis_baselines::BASELINES;
use tamis_conformance::resources;
use tamis_conformance::resources::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test: the allocator counts the bytes of the whole process.
#[test]
fn what_engines_allocate_and_keep() {
    resources::matching_allocates_nothing_in_steady_state(BASELINES);
    resources::memory_is_what_the_allocator_says(BASELINES);
}
