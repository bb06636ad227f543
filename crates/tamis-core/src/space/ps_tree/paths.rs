//! Paths to bounds: the inner nodes that lead to a bound are added and removed with it.
//!
//! A link is identified by [`LinkFrom`], the inner node and the element that it belongs to.

use super::lookup::Neighbour;
use super::nodes::{Bound, BoundUpdate, Children, Inner, Link, NONE, PATH, Target};
use super::{LookupStart, PsTree};
use crate::space::elements::{Elements, FANOUT, Key};
use crate::space::leaves::LeafId;

/// The owner of a link: an inner node and one of its elements; `None` is the root's link.
type LinkFrom = Option<(u32, u8)>;

impl<K: Key> PsTree<K> {
    /// Adds a bound without cuts next to its neighbour.
    pub(super) fn add_bound(&mut self, value: &K, neighbour: Neighbour) -> u32 {
        let (previous, next, leaf) = match neighbour {
            Neighbour::None => (NONE, NONE, self.first),
            Neighbour::Below(id) => (id, self.bound_updates[id as usize].next, self.bounds[id as usize].g),
            Neighbour::Above(id) => {
                (self.bound_updates[id as usize].previous, id, self.bounds[id as usize].l)
            }
        };
        let bound = Bound { value: value.clone(), l: leaf, e: leaf, g: leaf };
        let update = BoundUpdate { before: 0, after: 0, previous, next };
        let id = match self.free_bounds.pop() {
            Some(id) => {
                (self.bounds[id as usize], self.bound_updates[id as usize]) = (bound, update);
                id
            }
            None => {
                self.bounds.push(bound);
                self.bound_updates.push(update);
                self.bounds.len() as u32 - 1
            }
        };
        if previous != NONE {
            self.bound_updates[previous as usize].next = id;
        }
        if next != NONE {
            self.bound_updates[next as usize].previous = id;
        }
        self.add_path(id);
        id
    }

    /// Adds the path to a bound that is in the list already.
    fn add_path(&mut self, id: u32) {
        let (previous, next) =
            (self.bound_updates[id as usize].previous, self.bound_updates[id as usize].next);
        let mut from: LinkFrom = None;
        let mut depth = 0;
        loop {
            let link = match from {
                None => self.root,
                Some((node, element)) => self.children[node as usize].0[element as usize],
            };
            let value = self.bounds[id as usize].value.query();
            match link.target() {
                Target::Leaf(_) => return self.set_link(from, Link::bound(id)),
                Target::Bound(other) => {
                    let other_value = self.bounds[other as usize].value.query();
                    let differs =
                        (depth..).find(|&d| value.element(d) != other_value.element(d)).unwrap_or(depth);
                    return self.add_inner(from, link, other, id, differs);
                }
                Target::Inner(node) => {
                    let inner = &self.inner[node as usize];
                    let end = inner.depth as usize;
                    if let Some(differs) =
                        (depth..end).find(|&d| value.element(d) != self.path_element(inner, d))
                    {
                        return self.add_inner(from, link, inner.lowest, id, differs);
                    }
                    let element = value.element(end);
                    let inner = &mut self.inner[node as usize];
                    // Adjacent to the lowest or highest bound, the new bound replaces it as such.
                    if inner.lowest == next {
                        inner.lowest = id;
                    }
                    if inner.highest == previous {
                        inner.highest = id;
                    }
                    match element {
                        None => {
                            inner.end = id;
                            return;
                        }
                        Some(element) => (from, depth) = (Some((node, element)), end + 1),
                    }
                }
            }
        }
    }

    /// Puts an inner node at `depth` above `link`: there, the new bound `id` differs from the bounds below `link`, of
    /// which `sample` is one.
    fn add_inner(&mut self, from: LinkFrom, link: Link, sample: u32, id: u32, depth: usize) {
        let (lowest, highest) = self.extremes(link).unwrap_or((sample, sample));
        let id_first = self.bound_updates[id as usize].next == lowest;
        let sample_value = self.bounds[sample as usize].value.query();
        let elements = (depth.saturating_sub(PATH)..depth).filter_map(|depth| sample_value.element(depth));
        let mut inner = Inner {
            depth: depth as u32,
            path: elements.fold(0, |path, element| path << 4 | u32::from(element)),
            end: NONE,
            lowest: if id_first { id } else { lowest },
            highest: if id_first { highest } else { id },
        };
        let mut links = [None; FANOUT];
        for (bound, link) in [(sample, link), (id, Link::bound(id))] {
            match self.bounds[bound as usize].value.query().element(depth) {
                None => inner.end = bound,
                Some(element) => links[element as usize] = Some(self.direct_if_adjacent(link, depth + 1)),
            }
        }
        // Elements without a link get the leaf between the bounds on either side.
        let mut leaf = match inner.end {
            NONE => self.bounds[inner.lowest as usize].l,
            end => self.bounds[end as usize].g,
        };
        let children = links.map(|link| {
            if let Some((_, highest)) = link.and_then(|link| self.extremes(link)) {
                leaf = self.bounds[highest as usize].g;
            }
            link.unwrap_or(Link::leaf(leaf))
        });
        let node = match self.free_inner.pop() {
            Some(node) => {
                (self.inner[node as usize], self.children[node as usize]) = (inner, Children(children));
                node
            }
            None => {
                self.inner.push(inner);
                self.children.push(Children(children));
                self.inner.len() as u32 - 1
            }
        };
        self.set_link(from, Link::inner(node));
    }

    /// Links the leaf above a bound from every inner node on its path where a look-up can end in that leaf.
    pub(super) fn link_leaf_above(&mut self, id: u32, leaf: LeafId) {
        self.visit_path(id, |tree, node, element| {
            let (from, highest) = match element {
                None => (0, Some(id)),
                Some(at) => (at + 1, tree.extremes(tree.children[node].0[at]).map(|(_, highest)| highest)),
            };
            if highest == Some(id) {
                let above = tree.children[node].0[from..].iter_mut();
                above.take_while(|link| link.is_leaf()).for_each(|link| *link = Link::leaf(leaf));
            }
        });
    }

    /// Links the leaf below a bound from every inner node on its path where a look-up can end in that leaf.
    pub(super) fn link_leaf_below(&mut self, id: u32, leaf: LeafId) {
        self.visit_path(id, |tree, node, element| {
            let Some(at) = element else { return };
            if tree.extremes(tree.children[node].0[at]).is_some_and(|(lowest, _)| lowest == id) {
                let below = tree.children[node].0[..at].iter_mut().rev();
                below.take_while(|link| link.is_leaf()).for_each(|link| *link = Link::leaf(leaf));
            }
        });
    }

    /// Visits the inner nodes on the path to a bound, each with the element that continues the path.
    fn visit_path(&mut self, id: u32, mut visit: impl FnMut(&mut Self, usize, Option<usize>)) {
        let mut link = self.root;
        while let Target::Inner(node) = link.target() {
            let (node, value) = (node as usize, self.bounds[id as usize].value.query());
            let element = value.element(self.inner[node].depth as usize).map(usize::from);
            visit(self, node, element);
            let Some(element) = element else { return };
            link = self.children[node].0[element];
        }
    }

    /// The link, direct if it leads to an inner node at `depth`, the depth of the next element.
    fn direct_if_adjacent(&self, link: Link, depth: usize) -> Link {
        match link.target() {
            Target::Inner(id) if self.inner[id as usize].depth as usize == depth => Link::direct(id),
            Target::Inner(id) => Link::inner(id),
            _ => link,
        }
    }

    /// Replaces a link.
    fn set_link(&mut self, from: LinkFrom, link: Link) {
        match from {
            None => {
                self.root = self.direct_if_adjacent(link, 0);
                self.start = self.start_of(self.root);
            }
            Some((node, element)) => {
                let link = self.direct_if_adjacent(link, self.inner[node as usize].depth as usize + 1);
                self.children[node as usize].0[element as usize] = link;
            }
        }
    }

    /// Where look-ups begin in a tree with this root.
    pub(super) fn start_of(&self, root: Link) -> LookupStart {
        if let Target::Inner(id) = root.target() {
            let Inner { depth, path, .. } = self.inner[id as usize];
            if (1..=PATH).contains(&(depth as usize)) {
                return LookupStart { link: Link::direct(id), depth, path: u64::from(path) };
            }
        }
        LookupStart { link: root, depth: 0, path: 0 }
    }

    /// Removes a bound without cuts, and its path.
    pub(super) fn remove_bound(&mut self, id: u32) {
        let (previous, next) =
            (self.bound_updates[id as usize].previous, self.bound_updates[id as usize].next);
        let mut from: LinkFrom = None;
        let mut above: LinkFrom = None;
        let mut link = self.root;
        while let Target::Inner(node) = link.target() {
            let inner = &mut self.inner[node as usize];
            if inner.lowest == id {
                inner.lowest = next;
            }
            if inner.highest == id {
                inner.highest = previous;
            }
            match self.bounds[id as usize].value.query().element(inner.depth as usize) {
                None => {
                    inner.end = NONE;
                    self.remove_single_link(from, node);
                    return self.free_bound(id);
                }
                Some(element) => {
                    link = self.children[node as usize].0[element as usize];
                    (above, from) = (from, Some((node, element)));
                }
            }
        }
        self.set_link(from, Link::leaf(self.bounds[id as usize].l));
        if let Some((node, _)) = from {
            self.remove_single_link(above, node);
        }
        self.free_bound(id);
    }

    /// Replaces an inner node with a single link by that link.
    fn remove_single_link(&mut self, from: LinkFrom, node: u32) {
        let mut links = self.children[node as usize].0.iter().filter(|link| !link.is_leaf());
        let only = match (self.inner[node as usize].end, links.next(), links.next()) {
            (NONE, Some(link), None) => *link,
            (end, None, None) if end != NONE => Link::bound(end),
            _ => return,
        };
        self.set_link(from, only);
        self.free_inner.push(node);
    }

    /// Unlinks a bound from its neighbours and frees its number.
    fn free_bound(&mut self, id: u32) {
        let (previous, next) =
            (self.bound_updates[id as usize].previous, self.bound_updates[id as usize].next);
        if previous != NONE {
            self.bound_updates[previous as usize].next = next;
        }
        if next != NONE {
            self.bound_updates[next as usize].previous = previous;
        }
        self.bounds[id as usize].value.release();
        self.free_bounds.push(id);
    }
}
