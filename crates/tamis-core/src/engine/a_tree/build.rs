//! How expressions get into the tree and out of it (Algorithms 1 to 5).

use super::nodes::{Anchored, NodeId, Part, spread};
use super::{ATree, Access};
use crate::engine::SubId;
use crate::expr::{Node as Written, Normal, Predicate, Root};

/// Nodes of this level and above are no part of others of their operator: it bounds how deep these can be nested,
/// however long a chain of growing expressions is.
pub(super) const HIGHEST_COVER: u16 = 64;

/// How many nodes kept with a member, or parents of a child, are looked at for a place to share. Where predicates are
/// few and expressions many, these lists are very long, and what the first ones do not offer is not worth the time.
const MOST_LOOKED_AT: usize = 256;

/// Where a node is among members, which ascend.
#[inline]
fn place_of(members: &[NodeId], id: NodeId) -> Option<usize> {
    match members.len() {
        0..=16 => members.iter().position(|member| *member == id),
        _ => members.binary_search(&id).ok(),
    }
}

/// Spreads numbers over 32 bits.
fn mix(id: NodeId) -> u32 {
    let mixed = (u64::from(id.0) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 32) as u32 ^ mixed as u32
}

/// One bit of 32 for a member.
fn bit(id: NodeId) -> u32 {
    1 << (mix(id) >> 27)
}

/// The bits of all members: one who lacks a bit here is no part of them.
fn signature_of(members: &[NodeId]) -> u32 {
    members.iter().fold(0, |bits, member| bits | bit(*member))
}

/// The same for every order of the members.
pub(super) fn hash_of(part: Part, members: &[NodeId]) -> u32 {
    members.iter().fold(part as u32, |hash, member| hash.wrapping_add(mix(*member).wrapping_mul(0x85EB_CA6B)))
}

impl ATree {
    /// Takes an expression: Algorithm 4, from the predicates up.
    pub(super) fn insert_expression(&mut self, sub: SubId, expression: &Normal) {
        let Root::Node(root) = expression.root() else { return };
        let mut placed = std::mem::take(&mut self.placed);
        let mut members = std::mem::take(&mut self.members);
        placed.clear();
        self.created.clear();
        for node in expression.nodes() {
            let part = match node {
                Written::Leaf(_) => Part::Predicate,
                Written::And { .. } => Part::And,
                Written::Or { .. } => Part::Or,
            };
            placed.push(if let Written::Leaf(at) = *node {
                (self.predicate_node(&expression.predicates()[at as usize]), part)
            } else {
                members.clear();
                for child in expression.children(*node) {
                    let (member, of) = placed[*child as usize];
                    if of == part {
                        // Written with another operator, it turned out to have this one.
                        self.nodes.members(member, &mut members);
                    } else {
                        members.push(member);
                    }
                }
                let id = self.inner_node(part, &mut members);
                // Of equal members one is left.
                (id, if members.len() == 1 { self.nodes.get(id).part } else { part })
            });
        }
        let (root, _) = placed[root as usize];
        (self.placed, self.members) = (placed, members);
        self.nodes.making_mut(root).uses += 1;
        self.nodes.add_sub(root, sub);
        if self.root_of.len() <= sub.index() {
            self.root_of.resize(sub.index() + 1, NodeId::NONE);
        }
        self.root_of[sub.index()] = root;
        // Nodes whose members went into another expression of the same operator.
        while let Some(id) = self.created.pop() {
            if self.nodes.get(id).part != Part::Free && self.nodes.making(id).uses == 0 {
                self.collect(id);
            }
        }
        self.demote_crowded();
    }

    /// The node of a predicate, made if need be.
    fn predicate_node(&mut self, predicate: &Predicate) -> NodeId {
        if self.switches.unique_ids
            && let Some(found) = self.predicates.find(predicate)
        {
            return self.node_of[found.index()];
        }
        let number = self.predicates.acquire(predicate.clone());
        let id = self.nodes.add(Part::Predicate, number.0);
        if self.node_of.len() <= number.index() {
            self.node_of.resize(number.index() + 1, NodeId::NONE);
        }
        self.node_of[number.index()] = id;
        self.truths.insert(id, predicate, &mut self.nodes);
        self.nodes.making_mut(id).weight = self.truths.weight(id, predicate, &self.nodes);
        self.created.push(id);
        id
    }

    /// The node of an AND or OR of nodes, made if need be. Leaves the members in order, each once.
    fn inner_node(&mut self, part: Part, members: &mut Vec<NodeId>) -> NodeId {
        members.sort_unstable();
        members.dedup();
        if let [only] = members[..] {
            return only;
        }
        let hash = hash_of(part, members) & self.hash_mask;
        if self.switches.unique_ids
            && let Some(found) = self.find(part, members, hash)
        {
            return found;
        }
        self.make_inner(part, members, hash)
    }

    /// The node with these members: found by hash, confirmed member by member.
    fn find(&self, part: Part, members: &[NodeId], hash: u32) -> Option<NodeId> {
        let same = |id: &NodeId| {
            let making = self.nodes.making(*id);
            making.hash == hash
                && making.size as usize == members.len()
                && self.nodes.get(*id).part == part
                && self.nodes.all_members(*id, &mut |member| place_of(members, member).is_some())
        };
        self.nodes.table.find(spread(hash), same).copied()
    }

    fn make_inner(&mut self, part: Part, members: &[NodeId], hash: u32) -> NodeId {
        let mut children = std::mem::take(&mut self.children);
        children.clear();
        if self.switches.reorganize {
            self.reorganize(part, members, &mut children);
        } else {
            children.extend_from_slice(members);
        }
        let anchor = members.iter().min_by_key(|member| self.nodes.making(**member).anchored.len());
        let anchor = anchor.copied().unwrap_or(NodeId::NONE);
        let id = self.nodes.add(part, anchor.0);
        let weight = self.weight_of(part, members);
        let making = self.nodes.making_mut(id);
        (making.hash, making.size, making.weight) = (hash, members.len() as u32, weight);
        for member in members {
            self.nodes.making_mut(*member).uses += 1;
        }
        if self.switches.reorganize {
            let signature = signature_of(members);
            let mut anchored = self.nodes.making(anchor).anchored;
            self.nodes.anchors.extend(&mut anchored, &[Anchored { node: id, signature }]);
            self.nodes.making_mut(anchor).anchored = anchored;
        }
        if self.switches.unique_ids {
            self.nodes.enter(id);
        }
        self.relink(id, &mut children);
        self.created.push(id);
        if self.switches.self_adjust {
            self.self_adjust(id, members);
        }
        self.children = children;
        id
    }

    /// Algorithm 2: puts members together from nodes there are, greedily, each time by the one with most members that
    /// are still missing. Nodes may overlap.
    fn reorganize(&mut self, part: Part, members: &[NodeId], children: &mut Vec<NodeId>) {
        let signature = signature_of(members);
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        for member in members {
            if candidates.len() >= MOST_LOOKED_AT {
                break;
            }
            let anchored = self.nodes.anchors.get(self.nodes.making(*member).anchored);
            for other in anchored.iter().take(MOST_LOOKED_AT) {
                if other.signature & !signature == 0
                    && self.nodes.get(other.node).part == part
                    && self.nodes.get(other.node).level < HIGHEST_COVER
                    && (self.nodes.making(other.node).size as usize) < members.len()
                    && self.nodes.all_members(other.node, &mut |member| place_of(members, member).is_some())
                {
                    candidates.push(other.node);
                }
            }
        }
        if candidates.is_empty() {
            children.extend_from_slice(members);
        } else {
            self.cover(members, &mut candidates, children);
        }
        self.candidates = candidates;
    }

    /// Chooses among candidates, each a part of the members; members that none has are children themselves.
    fn cover(&self, members: &[NodeId], candidates: &mut Vec<NodeId>, children: &mut Vec<NodeId>) {
        let mut covered = vec![false; members.len()];
        loop {
            let mut best = (1, NodeId::NONE);
            for &candidate in candidates.iter() {
                let mut missing = 0;
                // A member met twice here only makes a candidate look better than it is.
                self.nodes.all_members(candidate, &mut |member| {
                    missing += usize::from(place_of(members, member).is_some_and(|at| !covered[at]));
                    true
                });
                best = best.max((missing, candidate));
            }
            let (missing, chosen) = best;
            if missing < 2 {
                break;
            }
            self.nodes.all_members(chosen, &mut |member| {
                place_of(members, member).into_iter().for_each(|at| covered[at] = true);
                true
            });
            candidates.retain(|candidate| *candidate != chosen);
            children.push(chosen);
        }
        children
            .extend(members.iter().zip(covered).filter(|(_, covered)| !covered).map(|(member, _)| *member));
    }

    /// Algorithm 3: where the members of a new node are children of a greater one, it takes their place.
    fn self_adjust(&mut self, new: NodeId, members: &[NodeId]) {
        let (part, level) = (self.nodes.get(new).part, self.nodes.get(new).level);
        let parents_of = |child: &&NodeId| self.nodes.get(**child).parents.len();
        let Some(rarest) = self.nodes.children(new).iter().min_by_key(parents_of) else { return };
        if level >= HIGHEST_COVER {
            return;
        }
        let greater = self.nodes.parents(*rarest).iter().take(MOST_LOOKED_AT).filter(|parent| {
            **parent != new
                && self.nodes.get(**parent).part == part
                && self.nodes.making(**parent).size as usize > members.len()
        });
        let greater: Vec<NodeId> = greater.copied().collect();
        for parent in greater {
            let mut seen = vec![false; members.len()];
            self.nodes.all_members(parent, &mut |member| {
                place_of(members, member).into_iter().for_each(|at| seen[at] = true);
                true
            });
            if seen.contains(&false) {
                continue;
            }
            let old = self.nodes.children(parent);
            let outside = old.iter().filter(|child| !self.is_within(**child, part, members));
            let mut children: Vec<NodeId> = outside.copied().collect();
            if children.len() + 2 <= old.len() {
                children.push(new);
                self.relink(parent, &mut children);
            }
        }
    }

    /// Whether a child of a node with this operator brings nothing that is not among the members.
    fn is_within(&self, child: NodeId, part: Part, members: &[NodeId]) -> bool {
        if self.nodes.get(child).part == part {
            self.nodes.all_members(child, &mut |member| place_of(members, member).is_some())
        } else {
            place_of(members, child).is_some()
        }
    }

    /// Gives a node these children: links on both sides, the access child first, levels up to the roots.
    pub(super) fn relink(&mut self, id: NodeId, children: &mut [NodeId]) {
        let on_demand = self.on_demand(id);
        let old = self.nodes.children(id).to_vec();
        self.order(id, children);
        // In ascending order, to look children up in; a new node has none to look up.
        let (mut before, mut now) = (old.clone(), Vec::new());
        if !old.is_empty() {
            before.sort_unstable();
            now.extend_from_slice(children);
            now.sort_unstable();
        }
        for (at, child) in old.iter().enumerate() {
            let was_active = !on_demand || at == 0;
            if place_of(&now, *child).is_none() {
                self.nodes.remove_parent(*child, id, was_active);
            } else if was_active && on_demand && children[0] != *child {
                self.nodes.deactivate(*child, id);
            }
        }
        for (at, child) in children.iter().enumerate() {
            let is_active = !on_demand || at == 0;
            if place_of(&before, *child).is_none() {
                self.nodes.add_parent(*child, id, is_active);
            } else if is_active && on_demand && old[0] != *child {
                self.nodes.activate(*child, id);
            }
        }
        self.nodes.set_children(id, children);
        self.refresh_level(id);
    }

    /// Whether only one child tells the node.
    pub(super) fn on_demand(&self, id: NodeId) -> bool {
        self.switches.propagation_on_demand && self.nodes.get(id).part == Part::And
    }

    /// The most selective first, or any in the place of the access child.
    fn order(&self, id: NodeId, children: &mut [NodeId]) {
        children.sort_unstable_by(|a, b| {
            self.nodes.making(*a).weight.total_cmp(&self.nodes.making(*b).weight).then(a.cmp(b))
        });
        if self.switches.access == Access::Random {
            let at = mix(NodeId(id.0 ^ 0x5bd1_e995)) as usize % children.len();
            children.swap(0, at);
        }
    }

    /// Corrects the level of a node and of all above it.
    fn refresh_level(&mut self, id: NodeId) {
        let mut changed = vec![id];
        while let Some(id) = changed.pop() {
            let levels = self.nodes.children(id).iter().map(|child| self.nodes.get(*child).level);
            let level = 1 + levels.max().unwrap_or(0);
            if level > HIGHEST_COVER && self.nodes.get(id).composed {
                // Raised from below: opened, it is as low as its members allow.
                let mut members = Vec::new();
                self.nodes.members(id, &mut members);
                self.relink(id, &mut members);
                continue;
            }
            if level != self.nodes.get(id).level {
                self.nodes.set_level(id, level);
                changed.extend_from_slice(self.nodes.parents(id));
            }
        }
    }

    /// Forgets an expression: Algorithm 5.
    pub(super) fn remove_expression(&mut self, sub: SubId) {
        let root = std::mem::replace(&mut self.root_of[sub.index()], NodeId::NONE);
        self.nodes.remove_sub(root, sub);
        let making = self.nodes.making_mut(root);
        making.uses -= 1;
        if making.uses == 0 {
            self.collect(root);
        }
    }

    /// Removes a node that nobody uses, then those that only it used.
    fn collect(&mut self, id: NodeId) {
        let mut unused = vec![id];
        let mut members = Vec::new();
        while let Some(id) = unused.pop() {
            if self.nodes.get(id).part == Part::Predicate {
                self.forget_predicate(id);
                continue;
            }
            members.clear();
            self.nodes.members(id, &mut members);
            self.replace_by_children(id);
            self.forget_inner(id);
            for member in &members {
                let making = self.nodes.making_mut(*member);
                making.uses -= 1;
                if making.uses == 0 {
                    unused.push(*member);
                }
            }
        }
    }

    /// Gives the children of a node to the parents that are put together from it.
    fn replace_by_children(&mut self, id: NodeId) {
        let part = self.nodes.get(id).part;
        let mut others = Vec::new();
        let parents = self.nodes.parents(id).to_vec();
        // All at once; one by one would take long.
        self.nodes.clear_parents(id);
        for parent in parents {
            let mut children: Vec<NodeId> = self.nodes.children(parent).to_vec();
            children.retain(|child| *child != id);
            others.clear();
            for child in &children {
                if self.nodes.get(*child).part == part {
                    self.nodes.members(*child, &mut others);
                } else {
                    others.push(*child);
                }
            }
            others.sort_unstable();
            // What other children have already is left out.
            let own = self.nodes.children(id).iter();
            children.extend(own.filter(|child| !self.is_within(**child, part, &others)));
            self.relink(parent, &mut children);
        }
    }

    fn forget_inner(&mut self, id: NodeId) {
        let hash = self.nodes.making(id).hash;
        if self.switches.unique_ids
            && let Ok(found) = self.nodes.table.find_entry(spread(hash), |other| *other == id)
        {
            found.remove();
        }
        if self.switches.reorganize {
            let anchor = NodeId(self.nodes.get(id).own);
            let mut anchored = self.nodes.making(anchor).anchored;
            let at = self.nodes.anchors.get(anchored).iter().position(|other| other.node == id);
            if let Some(at) = at {
                self.nodes.anchors.swap_remove(&mut anchored, at);
                self.nodes.making_mut(anchor).anchored = anchored;
            }
        }
        let on_demand = self.on_demand(id);
        for (at, child) in self.nodes.children(id).to_vec().into_iter().enumerate() {
            self.nodes.remove_parent(child, id, !on_demand || at == 0);
        }
        self.nodes.set_children(id, &[]);
        self.nodes.forget(id);
    }

    fn forget_predicate(&mut self, id: NodeId) {
        let number = self.nodes.predicate(id);
        self.truths.remove(id, self.predicates.get(number), &mut self.nodes);
        self.predicates.release(number);
        self.nodes.forget(id);
    }

    /// Chooses access children by what was observed.
    pub(super) fn choose_anew(&mut self) {
        let mut all: Vec<(u16, NodeId)> = self.nodes.iter().map(|(id, node)| (node.level, id)).collect();
        all.sort_unstable();
        let mut members = Vec::new();
        for (_, id) in &all {
            let part = self.nodes.get(*id).part;
            if part == Part::Predicate {
                let predicate = self.predicates.get(self.nodes.predicate(*id));
                self.nodes.making_mut(*id).weight = self.truths.weight(*id, predicate, &self.nodes);
                continue;
            }
            members.clear();
            self.nodes.members(*id, &mut members);
            self.nodes.making_mut(*id).weight = self.weight_of(part, &members);
            let mut children = self.nodes.children(*id).to_vec();
            self.order(*id, &mut children);
            self.nodes.set_children(*id, &children);
        }
        let on_demand = self.switches.propagation_on_demand;
        for (_, id) in &all {
            self.nodes.part_parents(*id, |nodes, parent| {
                !on_demand || nodes.get(parent).part != Part::And || nodes.children(parent)[0] == *id
            });
        }
    }

    /// Predicates that later ones cut into too many spaces are checked from now on.
    fn demote_crowded(&mut self) {
        while let Some(id) = self.truths.crowded.pop() {
            if self.nodes.get(id).part == Part::Predicate {
                self.truths.demote(id, self.predicates.get(self.nodes.predicate(id)), &mut self.nodes);
            }
        }
    }
}
