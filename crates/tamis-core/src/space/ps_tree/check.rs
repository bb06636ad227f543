//! The invariants of a tree.

use super::PsTree;
use super::nodes::{Link, NONE, Target};
use crate::space::elements::{Elements, Key};
use crate::space::leaves::{LeafId, Leaves};

impl<K: Key> PsTree<K> {
    /// Checks every invariant, the list of leaves included; appends the leaves from lowest to highest.
    pub fn validate(&self, leaves: &Leaves, in_order: &mut Vec<LeafId>) -> Result<(), String> {
        let mut bounds = Vec::new();
        let mut nodes = 0;
        self.check_inner(self.root, 0, &mut bounds, &mut nodes)?;
        if (nodes, bounds.len()) != self.size() {
            return Err(format!(
                "ps-tree: {nodes} nodes and {} bounds are reachable, {:?} are stored",
                bounds.len(),
                self.size()
            ));
        }
        if bounds.is_empty() && self.root != Link::leaf(self.first) {
            return Err("ps-tree: the root of an empty tree does not link its leaf".into());
        }
        if self.start != self.start_of(self.root) {
            return Err("ps-tree: the start of look-ups differs from the root".into());
        }
        let mut expected = vec![self.first];
        for (at, &id) in bounds.iter().enumerate() {
            let (bound, update) = (&self.bounds[id as usize], self.bound_updates[id as usize]);
            let previous = if at == 0 { NONE } else { bounds[at - 1] };
            let next = bounds.get(at + 1).copied().unwrap_or(NONE);
            if update.previous != previous || update.next != next {
                return Err(format!("ps-tree: bound {id} is not linked to its neighbours"));
            }
            if at > 0 && self.bounds[previous as usize].value.query() >= bound.value.query() {
                return Err(format!("ps-tree: bounds {previous} and {id} are out of order"));
            }
            if update.before == 0 && update.after == 0 {
                return Err(format!("ps-tree: no predicate needs bound {id}"));
            }
            if expected.last() != Some(&bound.l)
                || (update.before > 0) != (bound.l != bound.e)
                || (update.after > 0) != (bound.e != bound.g)
            {
                return Err(format!("ps-tree: the leaves of bound {id} disagree with its cuts"));
            }
            expected.extend((update.before > 0).then_some(bound.e));
            expected.extend((update.after > 0).then_some(bound.g));
        }
        let mut previous = LeafId::NONE;
        for (at, &leaf) in expected.iter().enumerate() {
            let next = expected.get(at + 1).copied().unwrap_or(LeafId::NONE);
            let found = leaves.get(leaf);
            if found.previous != previous || found.next != next {
                return Err(format!("ps-tree: leaf {} is not linked to its neighbours", leaf.0));
            }
            previous = leaf;
        }
        if expected.last() != Some(&self.last) || expected.len() != self.spaces {
            return Err("ps-tree: the last leaf is not the highest, or leaves are miscounted".into());
        }
        in_order.extend(expected);
        Ok(())
    }

    /// Checks what a link leads to; appends the bounds below it in ascending order. Recurses once per inner node on a
    /// path.
    fn check_inner(
        &self,
        link: Link,
        depth: usize,
        found: &mut Vec<u32>,
        nodes: &mut usize,
    ) -> Result<(), String> {
        let node = match link.target() {
            Target::Leaf(_) => return Ok(()),
            Target::Bound(id) => {
                found.push(id);
                return Ok(());
            }
            Target::Inner(node) => node,
        };
        *nodes += 1;
        let inner = &self.inner[node as usize];
        if (inner.depth as usize) < depth || link.as_direct().is_some() != (inner.depth as usize == depth) {
            return Err(format!(
                "ps-tree: inner node {node} is not below its parent, or its link says direct wrongly"
            ));
        }
        let sample = self.bounds[inner.lowest as usize].value.query();
        if (0..inner.depth as usize).any(|d| self.path_element(inner, d) != sample.element(d)) {
            return Err(format!("ps-tree: inner node {node} stores a wrong path"));
        }
        let start = found.len();
        found.extend((inner.end != NONE).then_some(inner.end));
        let mut links = u32::from(inner.end != NONE);
        for (element, &child) in self.children[node as usize].0.iter().enumerate() {
            links += u32::from(!child.is_leaf());
            let beside = match found.get(start..).and_then(<[u32]>::last) {
                Some(&below) => self.bounds[below as usize].g,
                None => self.bounds[inner.lowest as usize].l,
            };
            if child.is_leaf() && child != Link::leaf(beside) {
                return Err(format!("ps-tree: inner node {node} links a wrong leaf at {element}"));
            }
            let from = found.len();
            self.check_inner(child, inner.depth as usize + 1, found, nodes)?;
            let fits = |id: &u32| {
                self.bounds[*id as usize].value.query().element(inner.depth as usize) == Some(element as u8)
            };
            if !found[from..].iter().all(fits) {
                return Err(format!("ps-tree: a bound is below a wrong child of inner node {node}"));
            }
        }
        if links < 2 || found.get(start) != Some(&inner.lowest) || found.last() != Some(&inner.highest) {
            return Err(format!("ps-tree: inner node {node} has {links} links or wrong extremes"));
        }
        Ok(())
    }
}
