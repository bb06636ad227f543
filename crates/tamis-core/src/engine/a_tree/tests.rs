//! What the public interface does not show: colliding hashes, bounded nesting.

use super::ATree;
use super::reorganization::MAX_REUSE_LEVEL;
use crate::engine::registry::OptionValues;
use crate::engine::scan::Scan;
use crate::engine::{Engine, SubId};
use crate::event::{EventSlots, JsonReader, Rows};
use crate::expr::{Limits, Missing, Normalizer, Root, parse};
use crate::schema::Schema;
use std::sync::Arc;

/// The tree and the oracle, with the same subscriptions.
struct Pair {
    tree: ATree,
    scan: Scan,
    schema: Arc<Schema>,
    /// The subscriptions of both.
    subscriptions: Vec<u32>,
}

impl Pair {
    fn new(hash_mask: u32) -> Pair {
        let mut tree = ATree::new(&OptionValues::defaults(super::INFO.options));
        tree.hash_mask = hash_mask;
        Pair { tree, scan: Scan::default(), schema: Arc::default(), subscriptions: Vec::new() }
    }

    fn insert(&mut self, id: u32, text: &str) {
        let expr = parse(text, &Limits::default()).expect("valid");
        let mut normalizer = Normalizer::default();
        let normal = normalizer.normalize(&expr, &mut self.schema, Missing::Unknown);
        if matches!(normal.root(), Root::Node(_)) {
            self.tree.insert(SubId(id), normal).expect("any expression");
            self.scan.insert(SubId(id), normal).expect("any expression");
            self.subscriptions.push(id);
        }
    }

    fn remove(&mut self, at: usize) {
        let id = SubId(self.subscriptions.swap_remove(at));
        self.tree.remove(id);
        self.scan.remove(id);
    }

    fn check(&self, json: &str) {
        self.tree.validate().expect("a valid tree");
        let mut rows = Rows::default();
        JsonReader::default().read(json.as_bytes(), &self.schema, &mut rows).expect("valid JSON");
        let mut slots = EventSlots::default();
        let event = slots.load(&rows, 0, self.schema.len());
        let [mut found, mut expected] = [Vec::new(), Vec::new()];
        self.tree.match_event(&event, &mut Default::default(), &mut found);
        self.scan.match_event(&event, &mut Default::default(), &mut expected);
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{json}");
    }
}

/// A linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 || self.below(4) == 0 {
            return format!("{} = {}", ["a", "b", "c", "d", "e"][self.below(5) as usize], self.below(3));
        }
        let operator = [" and ", " or ", " xor "][self.below(3) as usize];
        let parts = (0..2 + self.below(3)).map(|_| format!("({})", self.expression(depth - 1)));
        parts.collect::<Vec<_>>().join(operator)
    }
}

#[test]
fn expressions_with_equal_hashes_stay_distinct() {
    for hash_mask in [0, 3, u32::MAX] {
        let mut pair = Pair::new(hash_mask);
        let mut random = Random(17);
        for id in 0..400 {
            let text = random.expression(3);
            pair.insert(id, &text);
            if id % 3 == 2 {
                let at = random.below(pair.subscriptions.len() as u64) as usize;
                pair.remove(at);
            }
            let [a, b, c, d] = [(); 4].map(|()| random.below(4));
            pair.check(&format!(r#"{{"a": {a}, "b": {b}, "c": {c}, "d": {d}}}"#));
        }
        while !pair.subscriptions.is_empty() {
            pair.remove(0);
        }
        pair.tree.validate().expect("a valid tree");
        assert_eq!(pair.tree.nodes.len(), 0);
    }
}

#[test]
fn growing_chains_have_bounded_levels() {
    // Each expression includes its predecessor; inserted from either end, and from both.
    let count = 300u32;
    let texts: Vec<String> = (2..count)
        .map(|length| (0..length).map(|n| format!("a{n} = 1")).collect::<Vec<_>>().join(" and "))
        .collect();
    let ascending: Vec<usize> = (0..texts.len()).collect();
    let descending: Vec<usize> = ascending.iter().rev().copied().collect();
    let inwards: Vec<usize> =
        (0..texts.len()).map(|n| if n % 2 == 0 { n / 2 } else { texts.len() - 1 - n / 2 }).collect();
    for order in [ascending, descending, inwards] {
        let mut pair = Pair::new(u32::MAX);
        for at in order {
            pair.insert(at as u32, &texts[at]);
        }
        assert!(pair.tree.nodes.level_bound() <= usize::from(MAX_REUSE_LEVEL) + 2);
        let cells: Vec<String> = (0..150).map(|n| format!(r#""a{n}": 1"#)).collect();
        pair.check(&format!("{{{}}}", cells.join(", ")));
        for at in (0..pair.subscriptions.len()).rev().step_by(3) {
            pair.remove(at);
        }
        pair.check(&format!("{{{}}}", cells.join(", ")));
    }
}
