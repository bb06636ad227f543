//! The dimensions of an engine and the predicates placed in them.

use super::Ranked;
use super::selectivity::{Selectivity, Shape};
use crate::engine::shared::predicates::{PredId, Predicates};
use crate::event::Event;
use crate::expr::Predicate;
use crate::schema::AttrId;
use crate::space::{Dimension, LeafId, LeafLookup, LeafMerge, LeafSplit, Leaves, Reach, Region};
use crate::value::Value;

/// What happened to leaves while a predicate was placed or taken back; kept to be used again.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub splits: Vec<LeafSplit>,
    pub merges: Vec<LeafMerge>,
}

#[derive(Debug, Default)]
pub(super) struct Spaces {
    /// By attribute; there once a predicate refers to it.
    dimensions: Vec<Option<Dimension>>,
    leaves: Leaves,
    /// By predicate: how many conjunctions placed it.
    placed: Vec<u32>,
    /// How many events were observed.
    observed: u32,
}

impl Spaces {
    /// The dimension of an attribute, if predicates refer to it.
    #[inline]
    pub fn dimension(&self, attribute: AttrId) -> Option<&Dimension> {
        self.dimensions.get(attribute.index())?.as_ref()
    }

    /// The leaf of a whole dimension, made if need be.
    pub fn whole(&mut self, attribute: AttrId) -> LeafId {
        self.make(attribute).whole()
    }

    fn make(&mut self, attribute: AttrId) -> &mut Dimension {
        if self.dimensions.len() <= attribute.index() {
            self.dimensions.resize_with(attribute.index() + 1, || None);
        }
        self.dimensions[attribute.index()].get_or_insert_with(|| Dimension::new(&mut self.leaves))
    }

    /// The leaves of a value, and of the whole dimension.
    #[inline]
    pub fn locate(&self, attribute: AttrId, value: Value<'_>) -> Option<(LeafLookup, LeafId)> {
        let dimension = self.dimension(attribute)?;
        Some((dimension.locate(value), dimension.whole()))
    }

    /// One more conjunction needs the spaces of a predicate.
    pub fn place(&mut self, id: PredId, attribute: AttrId, region: &Region, changes: &mut Changes) {
        if self.placed.len() <= id.index() {
            self.placed.resize(id.index() + 1, 0);
        }
        self.placed[id.index()] += 1;
        if self.placed[id.index()] == 1 {
            self.make(attribute);
            if let Some(dimension) = &mut self.dimensions[attribute.index()] {
                dimension.place(region, &mut self.leaves, &mut changes.splits);
            }
        }
    }

    /// One conjunction less needs the spaces of a predicate.
    pub fn unplace(&mut self, id: PredId, predicate: &Predicate, changes: &mut Changes) {
        self.placed[id.index()] -= 1;
        if self.placed[id.index()] == 0
            && let Some(dimension) = &mut self.dimensions[predicate.attribute.index()]
            && let Reach::Region(region) = Reach::of(predicate)
        {
            dimension.unplace(&region, &mut self.leaves, &mut changes.merges);
        }
    }

    /// The leaves of a placed predicate.
    pub fn cover(&self, predicate: &Predicate, each: impl FnMut(LeafId)) {
        if let Reach::Region(region) = Reach::of(predicate) {
            self.cover_region(predicate.attribute, &region, each);
        }
    }

    /// The leaves of a placed region.
    pub fn cover_region(&self, attribute: AttrId, region: &Region, each: impl FnMut(LeafId)) {
        if let Some(dimension) = self.dimension(attribute) {
            dimension.cover(region, &self.leaves, each);
        }
    }

    /// How many leaves a predicate would cover, if not more than `limit` and if it has any.
    pub fn count(&self, ranked: &Ranked, limit: usize) -> Option<usize> {
        let region = ranked.region()?;
        let mut count = region.parts();
        // A single value is in a single leaf; but values side by side are one part with many leaves.
        if ranked.selectivity.shape.points() != Some(count)
            && count <= limit
            && let Some(dimension) = self.dimension(ranked.attribute)
        {
            let mut leaves = 0;
            dimension.hull(region, &self.leaves, |_, _| {
                leaves += 1;
                leaves <= limit
            });
            count = count.max(leaves);
        }
        (count <= limit).then_some(count)
    }

    /// Whether a predicate covers at most `limit` leaves.
    pub fn fits(&self, ranked: &Ranked, limit: usize) -> bool {
        let Some(region) = ranked.region() else { return false };
        // Often the whole dimension has no more.
        self.leaf_count(ranked.attribute) + 2 * region.parts() <= limit || self.count(ranked, limit).is_some()
    }

    /// The lowest leaf of a predicate, whether or not it was placed.
    pub fn first_leaf(&self, ranked: &Ranked) -> Option<LeafId> {
        let mut first = None;
        self.dimension(ranked.attribute)?.hull(ranked.region()?, &self.leaves, |leaf, _| {
            first = Some(leaf);
            false
        });
        first
    }

    /// How selective a predicate is: by the events observed in its spaces, else by its shape.
    pub fn selectivity(&self, predicate: &Predicate, reach: &Reach) -> Selectivity {
        let spaces = self.dimension(predicate.attribute).map_or(0, |dimension| dimension.size().1);
        Selectivity { share: self.share(predicate, reach), shape: Shape::of(predicate), spaces }
    }

    /// The share of the observed events that satisfy the predicate; equal for all if none were observed.
    fn share(&self, predicate: &Predicate, reach: &Reach) -> f64 {
        let (Some(dimension), true) = (self.dimension(predicate.attribute), self.observed > 0) else {
            return if self.observed > 0 { 1.0 } else { 0.0 };
        };
        let mut events = 0.0;
        match reach {
            Reach::Everywhere => return 1.0,
            Reach::Present => events = f64::from(self.leaves.get(dimension.whole()).events),
            Reach::Region(region) => {
                let mut placed = false;
                dimension.hull(region, &self.leaves, |leaf, all| {
                    // Of a leaf that is not cut yet, the predicate may accept anything.
                    events += f64::from(self.leaves.get(leaf).events) * if all { 1.0 } else { 0.5 };
                    placed = true;
                    true
                });
                if !placed {
                    events = f64::from(self.leaves.get(dimension.whole()).events) * 0.5;
                }
            }
        }
        events / f64::from(self.observed)
    }

    /// Counts an event in the leaves it falls into.
    pub fn observe(&mut self, event: &Event<'_>) {
        self.observed = self.observed.saturating_add(1);
        for cell in event.cells() {
            if let Some(Some(dimension)) = self.dimensions.get(cell.attribute.index()) {
                dimension.observe(event.resolve(cell.slot), &mut self.leaves);
            }
        }
    }

    /// Every leaf of a dimension that a region can cover.
    pub fn each_leaf(&self, dimension: &Dimension, each: impl FnMut(LeafId)) {
        dimension.each_leaf(&self.leaves, each);
    }

    /// One more than the greatest number of a leaf.
    pub fn leaf_bound(&self) -> usize {
        self.leaves.bound()
    }

    /// How many leaves a dimension has that regions can cover, one at least.
    pub fn leaf_count(&self, attribute: AttrId) -> usize {
        self.dimension(attribute).map_or(1, |dimension| dimension.spaces().max(1))
    }

    /// Checks all dimensions and how often each predicate covers each leaf. `placements` are the placed predicates
    /// of all conjunctions, in any order.
    pub fn validate(
        &self,
        predicates: &Predicates,
        placements: impl Iterator<Item = PredId>,
    ) -> Result<(), String> {
        let mut all = Vec::new();
        for dimension in self.dimensions.iter().flatten() {
            dimension.validate(&self.leaves, &mut all)?;
        }
        let distinct: std::collections::HashSet<LeafId> = all.iter().copied().collect();
        if distinct.len() != all.len() || all.len() != self.leaves.count() {
            return Err(format!("spaces: {} leaves reached, {} kept", all.len(), self.leaves.count()));
        }
        let mut placed = vec![0; self.placed.len().max(predicates.bound())];
        placements.for_each(|id| placed[id.index()] += 1);
        let mut covering = vec![0; self.leaves.bound()];
        for (at, &count) in placed.iter().enumerate() {
            if self.placed.get(at).copied().unwrap_or(0) != count {
                return Err(format!("spaces: predicate {at} is placed {count} times, counted otherwise"));
            }
            if count > 0 {
                self.cover(predicates.get(PredId(at as u32)), |leaf| covering[leaf.index()] += 1);
            }
        }
        match all.iter().find(|leaf| self.leaves.predicates(**leaf) != covering[leaf.index()]) {
            Some(leaf) => Err(format!("spaces: the predicate counter of leaf {} is wrong", leaf.0)),
            None => Ok(()),
        }
    }

    /// Leaves, inner nodes, bounds.
    pub fn size(&self) -> (usize, usize, usize) {
        let sizes = self.dimensions.iter().flatten().map(Dimension::size);
        let (inner, bounds) = sizes.fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
        (self.leaves.count(), inner, bounds)
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let trees: usize = self.dimensions.iter().flatten().map(Dimension::memory).sum();
        self.dimensions.capacity() * size_of::<Option<Dimension>>()
            + trees
            + self.leaves.memory()
            + self.placed.capacity() * size_of::<u32>()
    }
}
