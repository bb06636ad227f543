//! Matching allocates nothing once it is warm.

use tamis_conformance::resources;
use tamis_conformance::resources::counting::{allocations_of, held};
use tamis_core::engine::registry::Registry;

#[test]
fn the_counter_counts() {
    let _alone = crate::alone();
    assert_eq!(allocations_of(|| drop(std::hint::black_box(vec![1u8; 100]))), 1);
    assert_eq!(allocations_of(|| ()), 0);
    // Other threads may hold a little.
    let before = held();
    let large = std::hint::black_box(vec![1u8; 100 << 20]);
    assert!(held() >= before + (90 << 20));
    drop(large);
    assert!(held() <= before + (10 << 20));
}

#[test]
fn matching_allocates_nothing_in_steady_state() {
    let _alone = crate::alone();
    resources::matching_allocates_nothing_in_steady_state(Registry::CORE);
}
