//! Do nodes, records, counts and statistics agree with the conjunctions?

use super::GemTree;
use super::insertion::find;
use super::nodes::{AttributeNode, Load, NONE, Nodes, ROOT};
use super::statistics::Statistics;
use super::triangle;
use crate::engine::shared::predicates::PredId;
use crate::engine::shared::records;

impl GemTree {
    pub(super) fn check(&self) -> Result<(), String> {
        self.check_predicates()?;
        let mut reached = vec![false; self.nodes.attributes.len()];
        let mut loads = vec![Load::default(); self.nodes.values.len()];
        let mut reached_values = 0;
        // Parents before children.
        let (mut order, mut next) = (vec![ROOT], 0);
        while let Some(&at) = order.get(next) {
            next += 1;
            reached[at as usize] = true;
            self.check_bucket(at)?;
            let node = self.nodes.node(at);
            let directory = self.nodes.directories.get(node.directory).as_chunks::<2>().0;
            if !directory.is_sorted_by(|a, b| a[0] < b[0]) {
                return Err(format!("gem_tree: the directory of node {at} is not in order"));
            }
            for &[attribute, value_node] in directory {
                reached_values += 1;
                let child = self.nodes.value_node(value_node);
                if child.parent != at || child.attribute.0 != attribute {
                    return Err(format!(
                        "gem_tree: node {at} lists value node {value_node}, which disagrees"
                    ));
                }
                let nested = self.nodes.path(at).any(|above| above.attribute == child.attribute);
                if child.nested != nested || !self.nodes.cuts_of(child).is_sorted_by(|a, b| a < b) {
                    return Err(format!("gem_tree: value node {value_node}: wrong cuts or nesting"));
                }
                order.extend(self.check_triangle(value_node)?);
            }
        }
        let unused = |at: usize| at > 0 && self.nodes.attributes[at].parent == NONE;
        if let Some(at) = (0..reached.len()).find(|&at| reached[at] == unused(at)) {
            return Err(format!("gem_tree: node {at} is in use and not reached, or the reverse"));
        }
        let free = (self.nodes.free_attributes.len(), self.nodes.free_values.len());
        let expected = (reached.len() - order.len(), loads.len() - reached_values);
        if free != expected {
            return Err(format!("gem_tree: {free:?} free numbers, expected {expected:?}"));
        }
        for &at in order.iter().rev() {
            self.add_load(at, &mut loads)?;
        }
        let count = self.nodes.node(ROOT).count as usize;
        if count != self.conjunctions.len() {
            return Err(format!("gem_tree: {count} conjunctions stored of {}", self.conjunctions.len()));
        }
        self.check_statistics()
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

    /// Every record is what it would be if it were stored now, and no directory leads its conjunction further.
    fn check_bucket(&self, at: u32) -> Result<(), String> {
        let node = self.nodes.node(at);
        let list = self.nodes.records.get(node.bucket);
        let ids = records::conjunctions(list);
        if ids.len() != node.stored as usize || node.stored > node.capacity {
            return Err(format!("gem_tree: node {at} has {} records, {} counted", ids.len(), node.stored));
        }
        for id in ids {
            let Some((start, length)) = records::find(list, id) else { continue };
            if list[start..start + length] != self.record(at, id)[..]
                || self.conjunctions.state(id).node != at
            {
                return Err(format!("gem_tree: node {at} has an outdated record of {id:?}"));
            }
            let locators = self.locators(id);
            if locators.iter().any(|l| self.nodes.find_value_node(node, l.attribute).is_some()) {
                return Err(format!("gem_tree: {id:?} belongs below node {at}"));
            }
            let mut below = at;
            for value_node in self.nodes.path(at) {
                let locator = find(&locators, value_node.attribute);
                let cuts = self.nodes.cuts_of(value_node);
                let cell = locator.map(|l| triangle::locate(cuts, self.span_in(value_node, l)));
                if cell != Some(self.nodes.node(below).cell) {
                    return Err(format!("gem_tree: {id:?} is in a wrong cell"));
                }
                below = value_node.parent;
            }
        }
        Ok(())
    }

    /// Every cell has a node that knows its place; returns these nodes.
    fn check_triangle(&self, at: u32) -> Result<Vec<u32>, String> {
        let node = self.nodes.value_node(at);
        let cells = triangle::cells(self.nodes.triangle(node), Nodes::columns(node));
        cells
            .map(|(cell, child)| {
                let AttributeNode { parent, cell: known, count, .. } = *self.nodes.node(child);
                match parent == at && known == cell && count > 0 && cell.column <= cell.row {
                    true => Ok(child),
                    false => Err(format!("gem_tree: value node {at} has a wrong node at {cell:?}")),
                }
            })
            .collect()
    }

    /// Recomputes the counts of a node from those below it, and adds them above.
    fn add_load(&self, at: u32, loads: &mut [Load]) -> Result<(), String> {
        let node = self.nodes.node(at);
        let directory = self.nodes.directories.get(node.directory).as_chunks::<2>().0;
        let (mut count, mut below) = (node.stored, 0);
        for &[_, value_node] in directory {
            let known = self.nodes.value_node(value_node);
            let load = &mut loads[value_node as usize];
            load.cost = load.current_cost(Nodes::columns(known));
            if known.load != *load {
                return Err(format!("gem_tree: value node {value_node} has {:?}, not {load:?}", known.load));
            }
            count += load.count;
            below += load.cost;
        }
        if count != node.count {
            return Err(format!("gem_tree: node {at} has {count} conjunctions, {} counted", node.count));
        }
        if let Some(load) = loads.get_mut(node.parent as usize) {
            let depth = self.nodes.path(at).count();
            let ids = records::conjunctions(self.nodes.records.get(node.bucket));
            load.count += count;
            load.width += u64::from(count) * node.cell.width();
            load.stored += node.stored;
            load.residual += ids.iter().map(|id| self.residual(*id, depth) as u64).sum::<u64>();
            load.below += below;
        }
        Ok(())
    }

    fn check_statistics(&self) -> Result<(), String> {
        let mut counted = Statistics::default();
        for id in self.conjunctions.all() {
            self.locators(id).iter().for_each(|locator| counted.add(locator));
        }
        let totals = counted.counts().map(|(count, _)| count);
        let known = self.statistics.counts().map(|(count, cells)| (count, cells.iter().sum::<u32>()));
        let missing = std::iter::repeat(0);
        for (attribute, ((count, in_cells), total)) in known.zip(totals.chain(missing)).enumerate() {
            if count != total || in_cells != total {
                return Err(format!("gem_tree: statistics of attribute {attribute}: {count}, not {total}"));
            }
        }
        Ok(())
    }
}
