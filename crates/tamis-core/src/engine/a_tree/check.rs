//! Whether the tree is what it should be.

use super::ATree;
use super::build::{HIGHEST_COVER, hash_of};
use super::nodes::{NodeId, Part, spread};
use rustc_hash::FxHashSet;

impl ATree {
    /// Checks levels, links both ways, members, uses, uniqueness, and the predicates.
    pub(super) fn check(&self) -> Result<(), String> {
        self.predicates.validate()?;
        self.truths.validate(&self.predicates, &self.nodes)?;
        let mut uses = vec![0; self.nodes.bound()];
        let (mut links, mut inner, mut anchored) = (0, 0, 0);
        let mut distinct = FxHashSet::default();
        for (id, node) in self.nodes.iter() {
            let wrong = |what: &str| Err(format!("a-tree: node {}: {what}", id.0));
            let (children, making) = (self.nodes.children(id), self.nodes.making(id));
            anchored += making.anchored.len();
            if making.uses == 0 {
                return wrong("is not used");
            }
            self.check_parents(id)?;
            if node.part == Part::Predicate {
                let number = self.nodes.predicate(id);
                if node.level != 1 || !children.is_empty() {
                    return wrong("is a predicate above level 1");
                }
                if self.switches.unique_ids && self.node_of[number.index()] != id {
                    return wrong("is not the node of its predicate");
                }
                continue;
            }
            inner += 1;
            links += children.len();
            let level = children.iter().map(|child| self.nodes.get(*child).level).max().unwrap_or(0) + 1;
            if level != node.level || children.len() < 2 {
                return wrong("has the wrong level, or less than two children");
            }
            if level > HIGHEST_COVER && children.iter().any(|child| self.nodes.get(*child).part == node.part)
            {
                return wrong("is put together from others at too high a level");
            }
            if node.composed != children.iter().any(|child| self.nodes.get(*child).part == node.part) {
                return wrong("does not know what its children are");
            }
            if children.iter().any(|child| !self.nodes.parents(*child).contains(&id)) {
                return wrong("is not linked from a child");
            }
            let mut members = Vec::new();
            self.nodes.members(id, &mut members);
            if members.len() != making.size as usize {
                return wrong("has another number of members than it says");
            }
            if making.hash != hash_of(node.part, &members) & self.hash_mask {
                return wrong("has the hash of other members");
            }
            members.iter().for_each(|member| uses[member.index()] += 1);
            if self.switches.unique_ids {
                let found = self.nodes.table.find(spread(making.hash), |other| *other == id);
                if found.is_none() || !distinct.insert((node.part == Part::And, members.clone())) {
                    return wrong("is not found by its members, or not the only one with them");
                }
            }
            if self.switches.reorganize {
                let anchor = NodeId(node.own);
                let entries = self.nodes.anchors.get(self.nodes.making(anchor).anchored);
                if !members.contains(&anchor) || entries.iter().filter(|entry| entry.node == id).count() != 1
                {
                    return wrong("is not kept with one of its members");
                }
            }
        }
        let mut subscriptions = Vec::new();
        for (id, node) in self.nodes.iter() {
            let from = subscriptions.len();
            self.nodes.append_subs(node.subs, &mut subscriptions);
            if subscriptions[from..].iter().any(|sub| self.root_of.get(sub.index()) != Some(&id)) {
                return Err(format!("a-tree: node {} has the subscription of another", id.0));
            }
            uses[id.index()] += (subscriptions.len() - from) as u32;
        }
        if subscriptions.len() != self.root_of.iter().filter(|root| **root != NodeId::NONE).count() {
            return Err("a-tree: a subscription has no node".into());
        }
        if let Some((id, _)) =
            self.nodes.iter().find(|(id, _)| self.nodes.making(*id).uses != uses[id.index()])
        {
            return Err(format!("a-tree: the uses of node {} are miscounted", id.0));
        }
        let entered = if self.switches.unique_ids { inner } else { 0 };
        let kept = if self.switches.reorganize { inner } else { 0 };
        if (self.nodes.link_count, self.nodes.table.len(), anchored) != (links, entered, kept) {
            return Err(format!("a-tree: {links} links and {inner} inner nodes, counted otherwise"));
        }
        Ok(())
    }

    /// A node's parents have it as a child, once, and the active ones come first.
    fn check_parents(&self, id: NodeId) -> Result<(), String> {
        let node = self.nodes.get(id);
        for (at, parent) in self.nodes.parents(id).iter().enumerate() {
            let siblings = self.nodes.children(*parent);
            let active = !self.on_demand(*parent) || siblings.first() == Some(&id);
            let once = siblings.iter().filter(|child| **child == id).count() == 1;
            if !once || active != (at < node.active as usize) {
                return Err(format!("a-tree: node {} is wrong about its parent {}", id.0, parent.0));
            }
        }
        Ok(())
    }
}
