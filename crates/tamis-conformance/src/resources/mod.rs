//! What engines allocate and keep, counted by [`Counting`](counting::Counting): the test binary declares it as its
//! global allocator and runs these checks one after another, since it counts the bytes of the whole process.

pub mod counting;

use crate::event::{GivenEvent, write_row};
use crate::generate::{event, expression};
use crate::seeded::{Draw, seed};
use counting::{allocations_of, held};
use std::time::Duration;
use tamis_core::Schema;
use tamis_core::engine::SubId;
use tamis_core::engine::registry::{Construction, Options, Registry};
use tamis_core::event::{EventSlots, Rows};
use tamis_core::expr::{Limits, Missing, Normalizer, Root};
use tamis_core::index::{Id, Index, Settings, Source};

/// The rule and the id with a number.
type Rule = fn(usize) -> (Id, String);

fn id(n: usize) -> Id {
    Id::from(n as i64)
}

/// A name, how many rules, and the rules.
const WORKLOADS: &[(&str, usize, Rule)] = &[
    ("simple", 20_000, |n| {
        (id(n), format!("a = {} and b > {} and s{} = 'value {n}'", n % 97, n % 1_000, n % 5))
    }),
    ("regexes", 300, |n| (id(n), format!(r"s rlike '[a-z]{{3}}x{n}\d+' and b = {n}"))),
    ("patterns", 4_000, |n| (id(n), format!("contains(s, 'needle number {n} of many') and b = {}", n % 10))),
    ("dotted names", 1_500, |n| (id(n), format!("{}.n{n} = 1", long_path(n)))),
    ("attributes", 20_000, |n| (id(n), format!("attribute_number_{n} = 1"))),
    ("string ids", 20_000, |n| (Id::from(format!("{}{n}", "id".repeat(80)).as_str()), "a = 1".into())),
    ("long strings", 2_000, |n| (id(n), format!("s in ('{n}{}', '{n}')", "long text ".repeat(30)))),
];

/// 31 parts, different from rule to rule at the first.
fn long_path(n: usize) -> String {
    let parts: Vec<String> = (0..31).map(|part| format!("part{n}of{part}")).collect();
    parts.join(".")
}

/// Bytes held once nothing changes any more: the merging thread may still be ending.
pub fn settled() -> usize {
    let mut last = held();
    loop {
        std::thread::sleep(Duration::from_millis(20));
        let now = held();
        if now == last {
            return now;
        }
        last = now;
    }
}

/// `memory()` of an index is what its allocations add up to, within 10%, for every engine of a registry.
pub fn memory_is_what_the_allocator_says(registry: &'static Registry) {
    let mut wrong = Vec::new();
    for (workload, count, rule) in WORKLOADS {
        for engine in registry.iter() {
            let before = settled();
            let settings = Settings { engine: engine.name.into(), ..Settings::default() };
            let index = Index::with_registry(registry, settings).expect("an index");
            let rules = (0..*count).map(|n| {
                let (id, text) = rule(n);
                (id, Source::from(text.as_str()))
            });
            index.add_many(rules).expect("added");
            index.compact().expect("compacted");
            let (memory, allocated) = (index.memory(), settled() - before);
            let counted = memory.ids + memory.texts + memory.attributes + memory.engine;
            let share = counted as f64 / allocated as f64;
            println!("{workload:12} {:10} {counted:10} of {allocated:10} bytes, {share:.3}", engine.name);
            if !(0.9..1.1).contains(&share) {
                wrong.push(format!("{workload}, {}: {share:.3}: {memory:?} of {allocated}", engine.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Matching allocates nothing once it is warm, in any engine of a registry.
pub fn matching_allocates_nothing_in_steady_state(registry: &'static Registry) {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    // Segments belong to an index, whose answers are lists that somebody has to allocate.
    for info in registry.iter().filter(|info| !matches!(info.construction, Construction::Segments)) {
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
