//! How bounds are hung into the branches of a tree and taken out again.

use super::nodes::{Bound, Children, Cuts, Inner, Link, NONE, PATH, Target};
use super::{Neighbour, PsTree, Start};
use crate::space::elements::{Elements, FANOUT, Key};
use crate::space::leaves::LeafId;

impl<K: Key> PsTree<K> {
    /// Adds a bound without cuts beside its neighbour.
    pub(super) fn add_bound(&mut self, value: &K, neighbour: Neighbour) -> u32 {
        let (previous, next, leaf) = match neighbour {
            Neighbour::Nobody => (NONE, NONE, self.first),
            Neighbour::Below(id) => (id, self.cuts[id as usize].next, self.bounds[id as usize].g),
            Neighbour::Above(id) => (self.cuts[id as usize].previous, id, self.bounds[id as usize].l),
        };
        let bound = Bound { value: value.clone(), l: leaf, e: leaf, g: leaf };
        let cuts = Cuts { before: 0, after: 0, previous, next };
        let id = match self.free_bounds.pop() {
            Some(id) => {
                (self.bounds[id as usize], self.cuts[id as usize]) = (bound, cuts);
                id
            }
            None => {
                self.bounds.push(bound);
                self.cuts.push(cuts);
                self.bounds.len() as u32 - 1
            }
        };
        if previous != NONE {
            self.cuts[previous as usize].next = id;
        }
        if next != NONE {
            self.cuts[next as usize].previous = id;
        }
        self.hang(id);
        id
    }

    /// Hangs a new bound into the branches.
    fn hang(&mut self, id: u32) {
        let (previous, next) = (self.cuts[id as usize].previous, self.cuts[id as usize].next);
        let mut from: Option<(u32, u8)> = None;
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
                    let fork =
                        (depth..).find(|&d| value.element(d) != other_value.element(d)).unwrap_or(depth);
                    return self.fork(from, link, other, id, fork);
                }
                Target::Inner(node) => {
                    let branch = &self.inner[node as usize];
                    let end = branch.depth as usize;
                    if let Some(fork) =
                        (depth..end).find(|&d| value.element(d) != self.path_element(branch, d))
                    {
                        return self.fork(from, link, branch.lowest, id, fork);
                    }
                    let element = value.element(end);
                    let branch = &mut self.inner[node as usize];
                    // The new bound lies inside: beside the lowest or highest, it takes their place.
                    if branch.lowest == next {
                        branch.lowest = id;
                    }
                    if branch.highest == previous {
                        branch.highest = id;
                    }
                    match element {
                        None => {
                            branch.end = id;
                            return;
                        }
                        Some(element) => (from, depth) = (Some((node, element)), end + 1),
                    }
                }
            }
        }
    }

    /// Puts a branch above `link`, whose bounds are like `sample`, for a bound that differs from them at `depth`.
    fn fork(&mut self, from: Option<(u32, u8)>, link: Link, sample: u32, id: u32, depth: usize) {
        let (lowest, highest) = self.extremes(link).unwrap_or((sample, sample));
        let id_first = self.cuts[id as usize].next == lowest;
        let sample_value = self.bounds[sample as usize].value.query();
        let elements = (depth.saturating_sub(PATH)..depth).filter_map(|depth| sample_value.element(depth));
        let mut branch = Inner {
            depth: depth as u32,
            path: elements.fold(0, |path, element| path << 4 | u32::from(element)),
            end: NONE,
            lowest: if id_first { id } else { lowest },
            highest: if id_first { highest } else { id },
        };
        let mut links = [None; FANOUT];
        for (bound, link) in [(sample, link), (id, Link::bound(id))] {
            match self.bounds[bound as usize].value.query().element(depth) {
                None => branch.end = bound,
                Some(element) => links[element as usize] = Some(self.aimed(link, depth + 1)),
            }
        }
        // Between the links lie the leaves beside their bounds.
        let mut leaf = match branch.end {
            NONE => self.bounds[branch.lowest as usize].l,
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
                (self.inner[node as usize], self.children[node as usize]) = (branch, Children(children));
                node
            }
            None => {
                self.inner.push(branch);
                self.children.push(Children(children));
                self.inner.len() as u32 - 1
            }
        };
        self.set_link(from, Link::inner(node));
    }

    /// Links the leaf above a bound wherever a look-up could fall into it beside the path to the bound.
    pub(super) fn fill_above(&mut self, id: u32, leaf: LeafId) {
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

    /// Links the leaf below a bound wherever a look-up could fall into it beside the path to the bound.
    pub(super) fn fill_below(&mut self, id: u32, leaf: LeafId) {
        self.visit_path(id, |tree, node, element| {
            let Some(at) = element else { return };
            if tree.extremes(tree.children[node].0[at]).is_some_and(|(lowest, _)| lowest == id) {
                let below = tree.children[node].0[..at].iter_mut().rev();
                below.take_while(|link| link.is_leaf()).for_each(|link| *link = Link::leaf(leaf));
            }
        });
    }

    /// Visits the nodes on the path to a bound, each with the element that leads on from there.
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

    /// A link as it should be where the next element is at `depth`.
    fn aimed(&self, link: Link, depth: usize) -> Link {
        match link.target() {
            Target::Inner(id) if self.inner[id as usize].depth as usize == depth => Link::direct(id),
            Target::Inner(id) => Link::inner(id),
            _ => link,
        }
    }

    fn set_link(&mut self, from: Option<(u32, u8)>, link: Link) {
        match from {
            None => {
                self.root = self.aimed(link, 0);
                self.start = self.start_of(self.root);
            }
            Some((node, element)) => {
                let link = self.aimed(link, self.inner[node as usize].depth as usize + 1);
                self.children[node as usize].0[element as usize] = link;
            }
        }
    }

    /// Where look-ups begin in a tree with this root.
    pub(super) fn start_of(&self, root: Link) -> Start {
        if let Target::Inner(id) = root.target() {
            let Inner { depth, path, .. } = self.inner[id as usize];
            if (1..=PATH).contains(&(depth as usize)) {
                return Start { link: Link::direct(id), depth, path: u64::from(path) };
            }
        }
        Start { link: root, depth: 0, path: 0 }
    }

    /// Takes a bound without cuts out of list and branches.
    pub(super) fn remove_bound(&mut self, id: u32) {
        let (previous, next) = (self.cuts[id as usize].previous, self.cuts[id as usize].next);
        let mut from: Option<(u32, u8)> = None;
        let mut above: Option<(u32, u8)> = None;
        let mut link = self.root;
        while let Target::Inner(node) = link.target() {
            let branch = &mut self.inner[node as usize];
            if branch.lowest == id {
                branch.lowest = next;
            }
            if branch.highest == id {
                branch.highest = previous;
            }
            match self.bounds[id as usize].value.query().element(branch.depth as usize) {
                None => {
                    branch.end = NONE;
                    self.shorten(from, node);
                    return self.forget_bound(id);
                }
                Some(element) => {
                    link = self.children[node as usize].0[element as usize];
                    (above, from) = (from, Some((node, element)));
                }
            }
        }
        self.set_link(from, Link::leaf(self.bounds[id as usize].l));
        if let Some((node, _)) = from {
            self.shorten(above, node);
        }
        self.forget_bound(id);
    }

    /// Replaces a branch with a single link by that link.
    fn shorten(&mut self, from: Option<(u32, u8)>, node: u32) {
        let mut links = self.children[node as usize].0.iter().filter(|link| !link.is_leaf());
        let only = match (self.inner[node as usize].end, links.next(), links.next()) {
            (NONE, Some(link), None) => *link,
            (end, None, None) if end != NONE => Link::bound(end),
            _ => return,
        };
        self.set_link(from, only);
        self.free_inner.push(node);
    }

    fn forget_bound(&mut self, id: u32) {
        let (previous, next) = (self.cuts[id as usize].previous, self.cuts[id as usize].next);
        if previous != NONE {
            self.cuts[previous as usize].next = next;
        }
        if next != NONE {
            self.cuts[next as usize].previous = previous;
        }
        self.free_bounds.push(id);
    }
}
