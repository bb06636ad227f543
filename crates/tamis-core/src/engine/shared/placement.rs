//! Predicates in PS-Trees: one dimension per attribute, whose leaves are the spaces that placed predicates cut.
//!
//! A predicate is placed once, whatever number of conjunctions place it; its spaces are merged again after the last has
//! withdrawn it. Leaves count observed events, which gives the selectivity of predicates.
//!
//! Invariant: the predicate counter of a leaf is the number of distinct placed predicates that cover it.

use super::selectivity::{Selectivity, Shape};
use crate::engine::shared::predicates::{PredId, Predicates};
use crate::event::Event;
use crate::expr::Predicate;
use crate::schema::AttrId;
use crate::space::{Dimension, LeafId, LeafLookup, LeafMerge, LeafSplit, Leaves, Reach, Region};
use crate::value::Value;

/// The splits and merges of leaves by placing or withdrawing a predicate. Reused as a buffer.
#[derive(Debug, Default)]
pub(crate) struct LeafChanges {
    pub splits: Vec<LeafSplit>,
    pub merges: Vec<LeafMerge>,
}

/// A predicate of a conjunction, with what decides how it is used.
#[derive(Debug)]
pub(crate) struct RankedPredicate {
    pub id: PredId,
    pub attribute: AttrId,
    /// The values it accepts, as far as PS-Trees know them.
    pub reach: Reach,
    pub selectivity: Selectivity,
}

impl RankedPredicate {
    /// The values it accepts if PS-Trees can place it.
    pub fn region(&self) -> Option<&Region> {
        match &self.reach {
            Reach::Region(region) => Some(region),
            Reach::Present | Reach::Everywhere => None,
        }
    }

    /// Whether an event without the attribute cannot satisfy it.
    pub fn needs_presence(&self) -> bool {
        !matches!(self.reach, Reach::Everywhere)
    }
}

/// The dimensions of an engine and the predicates placed in them.
#[derive(Debug, Default)]
pub(crate) struct PlacedPredicates {
    /// By attribute; `None` until a predicate refers to the attribute.
    dimensions: Vec<Option<Dimension>>,
    /// The leaves of all dimensions.
    leaves: Leaves,
    /// By predicate: number of conjunctions that placed it.
    placed: Vec<u32>,
    /// Number of observed events.
    observed: u32,
}

impl PlacedPredicates {
    /// The predicates, the most selective first.
    pub fn rank(&self, ids: impl Iterator<Item = PredId>, predicates: &Predicates) -> Vec<RankedPredicate> {
        let rank = |id: PredId| {
            let predicate = predicates.get(id);
            let reach = Reach::of(predicate);
            let selectivity = self.selectivity(predicate, &reach);
            RankedPredicate { id, attribute: predicate.attribute, reach, selectivity }
        };
        let mut ranked: Vec<RankedPredicate> = ids.map(rank).collect();
        ranked.sort_by(|a, b| a.selectivity.cmp(&b.selectivity));
        ranked
    }

    /// The dimension of an attribute; `None` if no predicate refers to it.
    #[inline]
    pub fn dimension(&self, attribute: AttrId) -> Option<&Dimension> {
        self.dimensions.get(attribute.index())?.as_ref()
    }

    /// The leaf of a whole dimension, which every event with the attribute falls into. Adds the dimension if there is none,
    /// so that events are counted there.
    pub fn whole_leaf(&mut self, attribute: AttrId) -> LeafId {
        self.dimension_mut(attribute).whole()
    }

    fn dimension_mut(&mut self, attribute: AttrId) -> &mut Dimension {
        if self.dimensions.len() <= attribute.index() {
            self.dimensions.resize_with(attribute.index() + 1, || None);
        }
        self.dimensions[attribute.index()].get_or_insert_with(|| Dimension::new(&mut self.leaves))
    }

    /// The leaves of a value, and the leaf of the whole dimension.
    #[inline]
    pub fn locate(&self, attribute: AttrId, value: Value<'_>) -> Option<(LeafLookup, LeafId)> {
        let dimension = self.dimension(attribute)?;
        Some((dimension.locate(value), dimension.whole()))
    }

    /// Places a predicate for one more conjunction; the first cuts its spaces.
    pub fn place(&mut self, id: PredId, attribute: AttrId, region: &Region, changes: &mut LeafChanges) {
        if self.placed.len() <= id.index() {
            self.placed.resize(id.index() + 1, 0);
        }
        self.placed[id.index()] += 1;
        if self.placed[id.index()] == 1 {
            self.dimension_mut(attribute);
            if let Some(dimension) = &mut self.dimensions[attribute.index()] {
                dimension.place(region, &mut self.leaves, &mut changes.splits);
            }
        }
    }

    /// Withdraws a predicate for one conjunction; the last merges its spaces.
    pub fn withdraw(&mut self, id: PredId, predicate: &Predicate, changes: &mut LeafChanges) {
        self.placed[id.index()] -= 1;
        if self.placed[id.index()] == 0
            && let Some(dimension) = &mut self.dimensions[predicate.attribute.index()]
            && let Reach::Region(region) = Reach::of(predicate)
        {
            dimension.unplace(&region, &mut self.leaves, &mut changes.merges);
        }
    }

    /// Visits the leaves that a placed predicate covers.
    pub fn cover(&self, predicate: &Predicate, visit: impl FnMut(LeafId)) {
        if let Reach::Region(region) = Reach::of(predicate) {
            self.cover_region(predicate.attribute, &region, visit);
        }
    }

    /// Visits the leaves that a placed region covers.
    pub fn cover_region(&self, attribute: AttrId, region: &Region, visit: impl FnMut(LeafId)) {
        if let Some(dimension) = self.dimension(attribute) {
            dimension.cover(region, &self.leaves, visit);
        }
    }

    /// The number of leaves a predicate covers, or would cover if it were placed; `None` if it has none or more than `limit`.
    pub fn leaves_within(&self, ranked: &RankedPredicate, limit: usize) -> Option<usize> {
        let region = ranked.region()?;
        let mut count = region.parts();
        // One value is one leaf. Adjacent values are one part with several leaves.
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
    pub fn fits(&self, ranked: &RankedPredicate, limit: usize) -> bool {
        let Some(region) = ranked.region() else { return false };
        // Often the whole dimension has no more leaves: no traversal needed.
        self.leaf_count(ranked.attribute) + 2 * region.parts() <= limit
            || self.leaves_within(ranked, limit).is_some()
    }

    /// The lowest leaf of a predicate, whether or not it is placed.
    pub fn first_leaf(&self, ranked: &RankedPredicate) -> Option<LeafId> {
        let mut first = None;
        self.dimension(ranked.attribute)?.hull(ranked.region()?, &self.leaves, |leaf, _| {
            first = Some(leaf);
            false
        });
        first
    }

    /// The selectivity of a predicate, by the events observed in its spaces.
    fn selectivity(&self, predicate: &Predicate, reach: &Reach) -> Selectivity {
        let bounds = self.dimension(predicate.attribute).map_or(0, |dimension| dimension.size().1);
        Selectivity { share: self.share(predicate, reach), shape: Shape::of(predicate), bounds }
    }

    /// The share of the observed events that satisfy the predicate; 0.0 if none were observed.
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
                    // Of a leaf that the predicate would split, half of the events are taken to satisfy it.
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

    /// Counts an event in its leaves.
    pub fn observe(&mut self, event: &Event<'_>) {
        self.observed = self.observed.saturating_add(1);
        for cell in event.cells() {
            if let Some(Some(dimension)) = self.dimensions.get(cell.attribute.index()) {
                dimension.observe(event.resolve(cell.slot), &mut self.leaves);
            }
        }
    }

    /// Every leaf of an attribute that a region can cover.
    pub fn leaves_of(&self, attribute: AttrId) -> Vec<LeafId> {
        let mut leaves = Vec::new();
        if let Some(dimension) = self.dimension(attribute) {
            dimension.each_leaf(&self.leaves, |leaf| leaves.push(leaf));
        }
        leaves
    }

    /// One more than the greatest number of a leaf.
    pub fn leaf_bound(&self) -> usize {
        self.leaves.bound()
    }

    /// Number of leaves of a dimension that regions can cover; at least 1.
    pub fn leaf_count(&self, attribute: AttrId) -> usize {
        self.dimension(attribute).map_or(1, |dimension| dimension.spaces().max(1))
    }

    /// Checks all dimensions, and the counters of placed predicates and of leaves. `placements` are the placed predicates
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
            return Err(format!("placement: {} leaves reached, {} in use", all.len(), self.leaves.count()));
        }
        let mut placed = vec![0; self.placed.len().max(predicates.bound())];
        placements.for_each(|id| placed[id.index()] += 1);
        let mut covering = vec![0; self.leaves.bound()];
        for (at, &count) in placed.iter().enumerate() {
            if self.placed.get(at).copied().unwrap_or(0) != count {
                return Err(format!("placement: predicate {at} is placed {count} times, counted otherwise"));
            }
            if count > 0 {
                self.cover(predicates.get(PredId(at as u32)), |leaf| covering[leaf.index()] += 1);
            }
        }
        match all.iter().find(|leaf| self.leaves.predicates(**leaf) != covering[leaf.index()]) {
            Some(leaf) => Err(format!("placement: the predicate counter of leaf {} is wrong", leaf.0)),
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
