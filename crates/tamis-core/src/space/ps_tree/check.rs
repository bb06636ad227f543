//! Whether a tree is what it should be.

use super::PsTree;
use super::nodes::{Link, NONE, Target};
use crate::space::elements::{Elements, Key};
use crate::space::leaves::{LeafId, Leaves};

impl<K: Key> PsTree<K> {
    /// Checks every invariant, leaf list included; appends the leaves from lowest to highest.
    pub fn validate(&self, leaves: &Leaves, in_order: &mut Vec<LeafId>) -> Result<(), String> {
        let mut bounds = Vec::new();
        let mut nodes = 0;
        self.check_branch(self.root, 0, &mut bounds, &mut nodes)?;
        if (nodes, bounds.len()) != self.size() {
            return Err(format!(
                "ps-tree: {nodes} nodes and {} bounds reached, {:?} kept",
                bounds.len(),
                self.size()
            ));
        }
        if bounds.is_empty() && self.root != Link::leaf(self.first) {
            return Err("ps-tree: an empty tree does not lead to its leaf".into());
        }
        if self.start != self.start_of(self.root) {
            return Err("ps-tree: look-ups do not begin at the root".into());
        }
        let mut expected = vec![self.first];
        for (at, &id) in bounds.iter().enumerate() {
            let (bound, cuts) = (&self.bounds[id as usize], self.cuts[id as usize]);
            let previous = if at == 0 { NONE } else { bounds[at - 1] };
            let next = bounds.get(at + 1).copied().unwrap_or(NONE);
            if cuts.previous != previous || cuts.next != next {
                return Err(format!("ps-tree: bound {id} is not linked to its neighbours"));
            }
            if at > 0 && self.bounds[previous as usize].value.query() >= bound.value.query() {
                return Err(format!("ps-tree: bounds {previous} and {id} are out of order"));
            }
            if cuts.before == 0 && cuts.after == 0 {
                return Err(format!("ps-tree: nothing needs bound {id}"));
            }
            if expected.last() != Some(&bound.l)
                || (cuts.before > 0) != (bound.l != bound.e)
                || (cuts.after > 0) != (bound.e != bound.g)
            {
                return Err(format!("ps-tree: the leaves of bound {id} do not fit its cuts"));
            }
            expected.extend((cuts.before > 0).then_some(bound.e));
            expected.extend((cuts.after > 0).then_some(bound.g));
        }
        let mut previous = LeafId::NONE;
        for (at, &leaf) in expected.iter().enumerate() {
            let next = expected.get(at + 1).copied().unwrap_or(LeafId::NONE);
            let found = leaves.get(leaf);
            if found.previous != previous || found.next != next {
                return Err(format!("ps-tree: leaf {} is not between its neighbours", leaf.0));
            }
            previous = leaf;
        }
        if expected.last() != Some(&self.last) || expected.len() != self.spaces {
            return Err("ps-tree: the last leaf is not the last, or leaves are miscounted".into());
        }
        in_order.extend(expected);
        Ok(())
    }

    /// Appends the bounds below a link in ascending order. Depth is bounded by the branches on a path.
    fn check_branch(
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
        let branch = &self.inner[node as usize];
        if (branch.depth as usize) < depth || link.as_direct().is_some() != (branch.depth as usize == depth) {
            return Err(format!(
                "ps-tree: branch {node} is above its parent, or its link is wrong about that"
            ));
        }
        let sample = self.bounds[branch.lowest as usize].value.query();
        if (0..branch.depth as usize).any(|d| self.path_element(branch, d) != sample.element(d)) {
            return Err(format!("ps-tree: branch {node} does not know its path"));
        }
        let start = found.len();
        found.extend((branch.end != NONE).then_some(branch.end));
        let mut links = u32::from(branch.end != NONE);
        for (element, &child) in self.children[node as usize].0.iter().enumerate() {
            links += u32::from(!child.is_leaf());
            let beside = match found.get(start..).and_then(<[u32]>::last) {
                Some(&below) => self.bounds[below as usize].g,
                None => self.bounds[branch.lowest as usize].l,
            };
            if child.is_leaf() && child != Link::leaf(beside) {
                return Err(format!("ps-tree: branch {node} leads to the wrong leaf at {element}"));
            }
            let from = found.len();
            self.check_branch(child, branch.depth as usize + 1, found, nodes)?;
            let fits = |id: &u32| {
                self.bounds[*id as usize].value.query().element(branch.depth as usize) == Some(element as u8)
            };
            if !found[from..].iter().all(fits) {
                return Err(format!("ps-tree: a bound is below the wrong child of branch {node}"));
            }
        }
        if links < 2 || found.get(start) != Some(&branch.lowest) || found.last() != Some(&branch.highest) {
            return Err(format!("ps-tree: branch {node} has {links} links or wrong extremes"));
        }
        Ok(())
    }
}
