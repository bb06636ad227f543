//! How bounds are hung into the branches of a tree and taken out again.

use super::{Bound, Inner, Link, NONE, Neighbour, PATH, PsTree, Target};
use crate::space::elements::{Elements, FANOUT, Key};

impl<K: Key> PsTree<K> {
    /// Adds a bound without cuts beside its neighbour.
    pub(super) fn add_bound(&mut self, value: &K, neighbour: Neighbour) -> u32 {
        let (previous, next, leaf) = match neighbour {
            Neighbour::Nobody => (NONE, NONE, self.first),
            Neighbour::Below(id) => (id, self.bounds[id as usize].next, self.bounds[id as usize].g),
            Neighbour::Above(id) => (self.bounds[id as usize].previous, id, self.bounds[id as usize].l),
        };
        let bound =
            Bound { value: value.clone(), l: leaf, e: leaf, g: leaf, before: 0, after: 0, previous, next };
        let id = place(&mut self.bounds, &mut self.free_bounds, bound);
        if previous != NONE {
            self.bounds[previous as usize].next = id;
        }
        if next != NONE {
            self.bounds[next as usize].previous = id;
        }
        self.hang(id);
        id
    }

    /// Hangs a new bound into the branches.
    fn hang(&mut self, id: u32) {
        let (previous, next) = (self.bounds[id as usize].previous, self.bounds[id as usize].next);
        let mut from: Option<(u32, u8)> = None;
        let mut depth = 0;
        loop {
            let link = match from {
                None => self.root,
                Some((node, element)) => self.inner[node as usize].children[element as usize],
            };
            let value = self.bounds[id as usize].value.query();
            match link.target() {
                Target::Nothing => return self.set_link(from, Link::bound(id)),
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
        let (lowest, highest) = match link.target() {
            Target::Inner(node) => (self.inner[node as usize].lowest, self.inner[node as usize].highest),
            _ => (sample, sample),
        };
        let id_first = self.bounds[id as usize].next == lowest;
        let sample_value = self.bounds[sample as usize].value.query();
        let elements = (depth.saturating_sub(PATH)..depth).filter_map(|depth| sample_value.element(depth));
        let mut branch = Inner {
            children: [Link::NOTHING; FANOUT],
            present: 0,
            depth: depth as u32,
            path: elements.fold(0, |path, element| path << 4 | u32::from(element)),
            end: NONE,
            lowest: if id_first { id } else { lowest },
            highest: if id_first { highest } else { id },
        };
        for (bound, link) in [(sample, link), (id, Link::bound(id))] {
            match self.bounds[bound as usize].value.query().element(depth) {
                None => branch.end = bound,
                Some(element) => {
                    branch.children[element as usize] = self.aimed(link, depth + 1);
                    branch.present |= 1 << element;
                }
            }
        }
        let node = place(&mut self.inner, &mut self.free_inner, branch);
        self.set_link(from, Link::inner(node));
    }

    /// A link as it should be where the next element is at `depth`.
    fn aimed(&self, link: Link, depth: usize) -> Link {
        match link.target() {
            Target::Inner(id) if self.inner[id as usize].depth as usize == depth => Link(id | Link::DIRECT),
            Target::Inner(id) => Link::inner(id),
            _ => link,
        }
    }

    fn set_link(&mut self, from: Option<(u32, u8)>, link: Link) {
        match from {
            None => self.root = self.aimed(link, 0),
            Some((node, element)) => {
                let link = self.aimed(link, self.inner[node as usize].depth as usize + 1);
                let node = &mut self.inner[node as usize];
                node.children[element as usize] = link;
                let bit = 1 << element;
                node.present = if link == Link::NOTHING { node.present & !bit } else { node.present | bit };
            }
        }
    }

    /// Takes a bound without cuts out of list and branches.
    pub(super) fn remove_bound(&mut self, id: u32) {
        let (previous, next) = (self.bounds[id as usize].previous, self.bounds[id as usize].next);
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
                    link = branch.children[element as usize];
                    (above, from) = (from, Some((node, element)));
                }
            }
        }
        self.set_link(from, Link::NOTHING);
        if let Some((node, _)) = from {
            self.shorten(above, node);
        }
        self.forget_bound(id);
    }

    /// Replaces a branch with a single link by that link.
    fn shorten(&mut self, from: Option<(u32, u8)>, node: u32) {
        let branch = &self.inner[node as usize];
        let only = match (branch.end, branch.present.count_ones()) {
            (NONE, 1) => branch.children[branch.present.trailing_zeros() as usize],
            (NONE, _) => return,
            (end, 0) => Link::bound(end),
            _ => return,
        };
        self.set_link(from, only);
        self.free_inner.push(node);
    }

    fn forget_bound(&mut self, id: u32) {
        let (previous, next) = (self.bounds[id as usize].previous, self.bounds[id as usize].next);
        if previous != NONE {
            self.bounds[previous as usize].next = next;
        }
        if next != NONE {
            self.bounds[next as usize].previous = previous;
        }
        self.free_bounds.push(id);
    }
}

/// Puts an item into a freed place or a new one.
fn place<T>(items: &mut Vec<T>, free: &mut Vec<u32>, item: T) -> u32 {
    match free.pop() {
        Some(id) => {
            items[id as usize] = item;
            id
        }
        None => {
            items.push(item);
            items.len() as u32 - 1
        }
    }
}
