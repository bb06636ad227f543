//! A dimension under random insertions and removals of predicates: the leaf of a value is covered by exactly the
//! predicates that the value satisfies.

use proptest::prelude::*;
use proptest::sample::select;
use std::collections::{BTreeSet, HashSet};
use tamis_conformance::generate::condition;
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::expr::{Expr, Missing, Normalizer, Predicate, Root};
use tamis_core::space::{Dimension, LeafId, Leaves, Reach, Region};
use tamis_core::{Schema, Value};

/// A random predicate that accepts a region.
fn region(draw: &mut Draw) -> (Predicate, Region) {
    loop {
        let (mut schema, mut normalizer) = (Schema::default(), Normalizer::default());
        let expr = Expr::Condition(draw.one(&condition()));
        let normal = normalizer.normalize(&expr, &mut schema, Missing::Unknown);
        if let (Root::Node(_), [predicate]) = (normal.root(), normal.predicates())
            && let Reach::Region(region) = Reach::of(predicate)
        {
            return (predicate.clone(), region);
        }
    }
}

fn value() -> impl Strategy<Value = Value<'static>> {
    let texts = ["", "a", "aa", "ab", "abc", "b", "A", "it's", "é", "😀", "10.0.0.1", "\u{10ffff}", "10"];
    let quarters = (-8i32..24).prop_map(|n| Value::Float(f64::from(n) / 4.0));
    let edges = select(vec![5e-324, 2.000_000_000_000_000_4, -1e308, f64::INFINITY, f64::NEG_INFINITY]);
    let days = (20_769i64..20_775).prop_map(|day| Value::Time(day * tamis_core::MICROS_PER_DAY));
    prop_oneof![
        4 => (-2i64..8).prop_map(Value::Int),
        4 => quarters,
        1 => edges.prop_map(Value::Float),
        1 => select(vec![i64::MIN, i64::MAX, i64::MAX - 1, 1 << 53, (1 << 53) + 1]).prop_map(Value::Int),
        3 => select(texts.to_vec()).prop_map(Value::Text),
        2 => days,
        1 => any::<bool>().prop_map(Value::Bool),
        1 => Just(Value::Other),
    ]
}

/// A dimension, and lists per leaf as an engine would keep them.
struct Model {
    leaves: Leaves,
    dimension: Dimension,
    /// By number: the placed predicates.
    placed: Vec<(Predicate, Region)>,
    /// By leaf: the numbers of the predicates that cover it.
    lists: Vec<BTreeSet<usize>>,
}

impl Model {
    fn new() -> Model {
        let mut leaves = Leaves::default();
        let dimension = Dimension::new(&mut leaves);
        Model { leaves, dimension, placed: Vec::new(), lists: Vec::new() }
    }

    fn list(&mut self, leaf: LeafId) -> &mut BTreeSet<usize> {
        if self.lists.len() <= leaf.index() {
            self.lists.resize(leaf.index() + 1, BTreeSet::new());
        }
        &mut self.lists[leaf.index()]
    }

    fn cover(&self, region: &Region) -> Vec<LeafId> {
        let mut cover = Vec::new();
        self.dimension.cover(region, &self.leaves, |leaf| cover.push(leaf));
        cover
    }

    fn place(&mut self, predicate: Predicate, region: Region) {
        let (mut hull, mut splits) = (0, Vec::new());
        self.dimension.hull(&region, &self.leaves, |_, _| {
            hull += 1;
            true
        });
        self.dimension.place(&region, &mut self.leaves, &mut splits);
        for split in &splits {
            let copy = self.list(split.kept).clone();
            *self.list(split.made) = copy;
        }
        let cover = self.cover(&region);
        assert!(
            cover.len() <= hull + splits.len() + region.parts(),
            "the region covers no leaf outside its hull"
        );
        assert_eq!(cover.iter().collect::<HashSet<_>>().len(), cover.len(), "each leaf is visited once");
        let number = self.placed.len();
        cover.into_iter().for_each(|leaf| assert!(self.list(leaf).insert(number)));
        self.placed.push((predicate, region));
    }

    fn unplace(&mut self, number: usize) {
        let last = self.placed.len() - 1;
        let (_, region) = self.placed.swap_remove(number);
        for leaf in self.cover(&region) {
            assert!(self.list(leaf).remove(&number));
        }
        for list in &mut self.lists {
            if list.remove(&last) {
                list.insert(number);
            }
        }
        let mut merges = Vec::new();
        self.dimension.unplace(&region, &mut self.leaves, &mut merges);
        for merge in merges {
            let gone = std::mem::take(self.list(merge.gone));
            assert_eq!(*self.list(merge.kept), gone, "merged spaces are covered by the same predicates");
        }
    }

    fn check(&mut self, values: &[Value<'_>]) {
        let mut all = Vec::new();
        self.dimension.validate(&self.leaves, &mut all).expect("a valid dimension");
        assert_eq!(
            all.iter().collect::<HashSet<_>>().len(),
            self.leaves.count(),
            "every leaf belongs to one tree"
        );
        for leaf in all {
            let covering = self.list(leaf).len();
            assert_eq!(self.leaves.predicates(leaf) as usize, covering, "the counter of {leaf:?}");
        }
        for value in values {
            let found = self.dimension.locate(*value);
            let mut listed = BTreeSet::new();
            for leaf in [found.leaf, found.next_integer] {
                if leaf != LeafId::NONE {
                    listed.extend(self.list(leaf).iter().copied());
                }
            }
            let satisfied: BTreeSet<usize> = (0..self.placed.len())
                .filter(|number| self.placed[*number].0.test.accepts_value(*value))
                .collect();
            if found.exact {
                assert_eq!(listed, satisfied, "{value:?} in {:?}", self.placed);
            } else {
                assert!(listed.is_superset(&satisfied), "{value:?} in {:?}", self.placed);
                assert!(matches!(value, Value::Float(_)), "only look-ups of fractions are not exact");
            }
        }
    }
}

#[test]
fn a_leaf_lists_the_predicates_that_its_values_satisfy() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let mut draw = Draw::new(seed);
    for round in 0..60 {
        let mut model = Model::new();
        let most = [3, 12, 60][round % 3];
        for _ in 0..150 {
            let grow = model.placed.len() < 1 + draw.below(most);
            if grow {
                let (predicate, region) = region(&mut draw);
                model.place(predicate, region);
            } else {
                let number = draw.below(model.placed.len());
                model.unplace(number);
            }
            let values: Vec<_> = (0..8).map(|_| draw.one(&value())).collect();
            model.check(&values);
        }
        while !model.placed.is_empty() {
            model.unplace(0);
            model.check(&[]);
        }
        assert_eq!(model.dimension.size(), (0, 0), "no inner node or bound remains");
        assert!(model.leaves.count() <= 7, "at most one leaf per kind of value, and the whole");
    }
}
