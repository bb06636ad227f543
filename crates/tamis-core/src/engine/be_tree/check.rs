//! Are all invariants of the tree kept? The error names the broken one.

use super::BeTree;
use super::directory::Cutting;
use super::insertion::MAX_LEVELS;
use super::interval::Interval;
use super::nodes::{ClusterId, Parent, PartitionId};
use crate::engine::shared::predicates::PredId;
use crate::engine::shared::records::Records;
use crate::schema::AttrId;

impl BeTree {
    pub(super) fn check(&self) -> Result<(), String> {
        self.check_predicates()?;
        let order = self.nodes.in_order();
        let (clusters, partitions) = self.nodes.counts();
        if order.len() != clusters || self.nodes.live_partitions().count() != partitions {
            return Err(format!("{} clusters reached, {clusters} in use", order.len()));
        }
        let mut placed = 0;
        let mut path = Vec::new();
        for &id in order.iter().rev() {
            self.nodes.path(id, &mut path);
            placed += self.check_leaf(id, &path)?;
            self.check_links(id, &path)?;
            match self.cutting {
                Cutting::NonRigid { .. } => self.check_boxes(id, &path)?,
                Cutting::Rigid => self.check_cells(id)?,
            }
            self.check_bounds(id)?;
        }
        if placed != self.conjunctions.len() {
            return Err(format!("{placed} conjunctions in leaves, {} in use", self.conjunctions.len()));
        }
        self.nodes.live_partitions().try_for_each(|id| self.check_partition(id))
    }

    fn check_predicates(&self) -> Result<(), String> {
        self.predicates.validate()?;
        let mut uses = vec![0; self.predicates.bound()];
        for id in self.conjunctions.all() {
            self.conjunctions.predicates(id).for_each(|predicate| uses[predicate.index()] += 1);
        }
        match (0..uses.len()).find(|&at| self.predicates.uses(PredId(at as u32)) != uses[at]) {
            Some(at) => Err(format!("predicate {at} is used {} times, counted otherwise", uses[at])),
            None => Ok(()),
        }
    }

    /// Every conjunction has its record in one leaf, whose path has attributes of the conjunction, each once.
    fn check_leaf(&self, id: ClusterId, path: &[AttrId]) -> Result<usize, String> {
        let mut count = 0;
        for record in Records(self.nodes.records.get(self.nodes.cluster(id).leaf)) {
            let conjunction = record.conjunction;
            count += 1;
            if self.conjunctions.state(conjunction).cluster != id || !self.conjunctions.contains(conjunction)
            {
                return Err(format!("{conjunction:?} is in the leaf of {id:?}, where it is not placed"));
            }
            let dimensions = self.dimensions(conjunction);
            if let Some(attribute) = path.iter().find(|on| !dimensions.iter().any(|(has, _)| has == *on)) {
                return Err(format!("{conjunction:?} is below {attribute:?}, which it does not need"));
            }
            if self.cutting == Cutting::Rigid
                && let Some((_, active)) = dimensions.iter().find(|(has, _)| Some(has) == path.last())
                && !self.nodes.cluster(id).own.encloses(*active)
            {
                return Err(format!("{conjunction:?} is not in the cell of {id:?}"));
            }
        }
        let info = self.nodes.info(id);
        if count != info.count || info.count > info.capacity.max(self.leaf_size) {
            return Err(format!("{id:?} has {count} conjunctions, {} counted", info.count));
        }
        let mut distinct = path.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() != path.len() || path.len() > MAX_LEVELS {
            return Err(format!("the path to {id:?} uses an attribute twice, or is too long: {path:?}"));
        }
        Ok(count as usize)
    }

    fn check_links(&self, id: ClusterId, path: &[AttrId]) -> Result<(), String> {
        let cluster = self.nodes.cluster(id);
        let sides = cluster.sides.into_iter().zip(cluster.side_ranges);
        for (side, range) in sides {
            if side == ClusterId::NONE {
                if !range.is_empty() {
                    return Err(format!("{id:?} has a range for a side it has not"));
                }
                continue;
            }
            let info = self.nodes.info(side);
            let is_sound = info.parent == Parent::Side(id)
                && info.partition == self.nodes.info(id).partition
                && self.nodes.cluster(side).attribute == cluster.attribute;
            let is_tight = match self.cutting {
                Cutting::NonRigid { .. } => range == self.whole(side),
                Cutting::Rigid => range == self.cell(side),
            };
            if !is_sound || !is_tight {
                return Err(format!("side {side:?} of {id:?} has another parent or range: {range:?}"));
            }
            if self.nodes.is_open_leaf(side) && info.count == 0 {
                return Err(format!("{side:?} is empty"));
            }
        }
        if cluster.side_ranges[0].intersects(cluster.side_ranges[1]) {
            return Err(format!("the sides of {id:?} overlap: {:?}", cluster.side_ranges));
        }
        if id != ClusterId::ROOT && path.last() != Some(&cluster.attribute) {
            return Err(format!("{id:?} has another active dimension than its partition"));
        }
        Ok(())
    }

    /// Boxes are the hulls of what they enclose: tight, not only large enough.
    fn check_boxes(&self, id: ClusterId, path: &[AttrId]) -> Result<(), String> {
        if path.is_empty() {
            return Ok(());
        }
        let info = self.nodes.info(id);
        let own = self.own_box(id, path, &[]);
        if own != self.nodes.boxes.get(info.own_box) || own.last() != Some(&self.nodes.cluster(id).own) {
            return Err(format!("the box of {id:?} is not the hull of its leaf and partitions"));
        }
        if self.whole_box(id) != self.nodes.boxes.get(info.whole_box) {
            return Err(format!("the whole box of {id:?} is not the hull of its parts"));
        }
        Ok(())
    }

    /// Sides are within halves of their parent's cell; the first cluster of a directory reaches everything.
    fn check_cells(&self, id: ClusterId) -> Result<(), String> {
        let cluster = self.nodes.cluster(id);
        let is_sound = match self.nodes.info(id).parent {
            Parent::None => true,
            Parent::Partition(_) => cluster.own == Interval::ALL && cluster.sides[1] == ClusterId::NONE,
            Parent::Side(above) => {
                let is_domain = matches!(self.nodes.info(above).parent, Parent::Partition(_));
                cluster.own == self.cell(id) && (is_domain || self.cell(above).encloses(self.cell(id)))
            }
        };
        if is_sound { Ok(()) } else { Err(format!("the cell of {id:?} is not within its parent's")) }
    }

    fn check_bounds(&self, id: ClusterId) -> Result<(), String> {
        let cluster = self.nodes.cluster(id);
        for record in Records(self.nodes.records.get(cluster.leaf)) {
            let total = self.conjunctions.state(record.conjunction).total;
            let owner = self.conjunctions.owner(record.conjunction);
            if total != self.weights.total(owner) || total > cluster.leaf_bound {
                return Err(format!("{owner:?} has more weight than the bound of its leaf in {id:?}"));
            }
        }
        if self.cluster_total(id) > cluster.bound {
            return Err(format!("the bound of {id:?} is less than that of a part"));
        }
        Ok(())
    }

    /// Entry, size and weight summary.
    fn check_partition(&self, id: PartitionId) -> Result<(), String> {
        let partition = self.nodes.partition(id);
        let entry = self.nodes.directory(partition.parent)[partition.position as usize];
        let range = match self.cutting {
            Cutting::NonRigid { .. } => self.whole(partition.root),
            Cutting::Rigid => Interval::ALL,
        };
        let is_sound = entry.attribute == partition.attribute.0
            && entry.root == partition.root.0
            && entry.range == range
            && self.nodes.info(partition.root).parent == Parent::Partition(id)
            && self.nodes.find_partition(partition.parent, partition.attribute) == Some(id);
        if !is_sound {
            return Err(format!("the entry of {id:?} does not agree with it"));
        }
        let below = self.conjunctions_below(id);
        if below.is_empty() || below.len() != partition.size as usize {
            return Err(format!("{id:?} has {} conjunctions, {} counted", below.len(), partition.size));
        }
        let summary = self.nodes.summaries.get(partition.weights);
        if !summary.is_sorted_by_key(|bound| bound.attribute) {
            return Err(format!("the weight summary of {id:?} is not in order"));
        }
        for conjunction in below {
            for weight in self.weights.by_attribute(self.conjunctions.owner(conjunction)) {
                let found = summary.binary_search_by_key(&weight.attribute, |bound| bound.attribute);
                let is_bounded = found.is_ok_and(|at| {
                    weight.present <= summary[at].present && weight.missing <= summary[at].missing
                });
                if !is_bounded || weight.missing > 0.0 && !partition.counts_missing {
                    return Err(format!("{conjunction:?} has more weight than the summary of {id:?}"));
                }
            }
        }
        Ok(())
    }
}
