//! Matching allocates nothing once it is warm.

use tamis_conformance::counting::{allocations_of, held};
use tamis_conformance::event::{GivenEvent, write_row};
use tamis_conformance::generate::{event, expression};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::Schema;
use tamis_core::engine::SubId;
use tamis_core::engine::registry::{Construction, Options, Registry};
use tamis_core::event::{EventSlots, Rows};
use tamis_core::expr::{Limits, Missing, Normalizer, Root};

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
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    // Segments belong to an index, whose answers are lists that somebody has to allocate.
    for info in Registry::CORE.iter().filter(|info| !matches!(info.construction, Construction::Segments)) {
        let mut draw = Draw::new(seed);
        let mut engine = info.create(&Options::new(), &Limits::default()).expect("an engine");
        let (mut schema, mut normalizer) = (Schema::default(), Normalizer::default());
        for n in 0..2_000 {
            let expr = draw.one(&expression());
            let normal = normalizer.normalize(&expr, &mut schema, Missing::Unknown);
            if let Root::Node(_) = normal.root() {
                // An engine may refuse what is too complex for it.
                let _ = engine.insert(SubId(n), normal);
            }
        }
        let events: Vec<GivenEvent> = (0..50).map(|_| draw.one(&event())).collect();
        let mut rows = Rows::default();
        events.iter().for_each(|event| write_row(event, &schema, &mut rows));
        let (mut slots, mut scratch, mut matches) = (EventSlots::default(), engine.scratch(), Vec::new());
        let mut found = 0;
        let mut pass = || {
            for row in 0..rows.len() {
                matches.clear();
                let event = slots.load(&rows, row, schema.len());
                engine.match_event(&event, &mut scratch, &mut matches);
                found += matches.len();
            }
        };
        pass();
        assert_eq!(allocations_of(|| (0..3).for_each(|_| pass())), 0, "{}", info.name);
        assert!(found > 1_000, "matches are frequent");
    }
}
