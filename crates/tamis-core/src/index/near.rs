//! Which expressions fail by one predicate only?
//!
//! No engine is asked: every text is parsed and normalized again, and evaluated bottom-up. AND and OR are monotone, so
//! it is enough to know of each node that fails which single predicates would make it hold: a leaf fails by its own,
//! an OR by those of any child, an AND by those that all its failing children have in common.

use super::Id;
use super::holding::Holding;
use super::matches::in_chunks;
use crate::error::{Error, Result};
use crate::event::{Event, EventSlots};
use crate::expr::{Node, Normal, Normalizer, Predicate, Root, parse};
use rustc_hash::FxHashMap;

/// A subscription that does not match, but would if one predicate were TRUE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearMiss {
    /// The subscription.
    pub id: Id,
    /// The predicates of its normalized form of which one is enough, in the language; at most
    /// [`NearMiss::MOST_PREDICATES`].
    pub predicates: Vec<String>,
}

/// The place of a subscription and the predicates it fails by.
type Miss = (usize, Vec<String>);

impl NearMiss {
    /// So many predicates are named.
    pub const MOST_PREDICATES: usize = 10;
}

/// How many subscriptions a worker takes at a time.
const CHUNK: usize = 128;

/// How many are looked at before it is asked whether that was enough: a few chunks at first, then more and more.
const FIRST_ROUND: usize = 8 * CHUNK;
const LONGEST_ROUND: usize = 512 * CHUNK;

/// So many predicates are kept in mind for one node. Only expressions with more of them under one OR, which is then
/// needed twice, could lose some; without it, long chains of XOR would take quadratic time.
const MOST_KEPT: usize = 256;

impl Holding<'_> {
    /// The first `limit` near misses among `count` subscriptions, whose texts and ids are asked for by place in the
    /// order of insertion. `None` for a text that a damaged file has not got.
    pub fn near_misses<'t>(
        &self,
        count: usize,
        limit: usize,
        text: impl Fn(usize) -> Option<&'t str> + Sync,
        id: impl Fn(usize) -> Id,
    ) -> Result<Vec<NearMiss>> {
        let mut found = Vec::new();
        let (mut start, mut round) = (0, FIRST_ROUND);
        while start < count && found.len() < limit {
            let (first, len) = (start, round.min(count - start));
            let enough = limit - found.len();
            let chunks: Vec<Result<Vec<Miss>>> = in_chunks(len, CHUNK, None, |range| {
                let mut slots = EventSlots::default();
                let event = slots.load(self.rows, self.row, self.schema.len());
                let (mut normalizer, mut misses) = (Normalizer::default(), Vec::new());
                for place in range.map(|at| first + at) {
                    let predicates = self.predicates(text(place), &event, &mut normalizer)?;
                    if !predicates.is_empty() {
                        misses.push((place, predicates));
                    }
                    if misses.len() == enough {
                        break;
                    }
                }
                Ok(misses)
            });
            for chunk in chunks {
                let misses = chunk?;
                found.extend(
                    misses.into_iter().map(|(place, predicates)| NearMiss { id: id(place), predicates }),
                );
            }
            found.truncate(limit);
            start += len;
            round = (2 * round).min(LONGEST_ROUND);
        }
        Ok(found)
    }

    /// The predicates by which a text fails; none if it matches or fails by more.
    fn predicates(
        &self,
        text: Option<&str>,
        event: &Event<'_>,
        normalizer: &mut Normalizer,
    ) -> Result<Vec<String>> {
        let damaged = |what: &str| Error::Internal(format!("the index is damaged: {what}"));
        let expr = parse(text.ok_or_else(|| damaged("a text is not UTF-8"))?, self.limits)?;
        let mut schema = self.schema.clone();
        let normal = normalizer.normalize(&expr, &mut schema, self.missing);
        if schema.len() != self.schema.len() {
            return Err(damaged("an attribute is unknown"));
        }
        let failing = normal.fails_by(event);
        let said = failing.iter().take(NearMiss::MOST_PREDICATES).map(|predicate| {
            let predicate = &normal.predicates()[*predicate as usize];
            predicate.text(schema.name(predicate.attribute))
        });
        Ok(said.collect())
    }
}

/// What is known of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Holds,
    /// By so many of the predicates, from this place on.
    FailsBy(usize, usize),
}

impl Normal {
    /// The predicates of which a single one, were it TRUE, would make the expression TRUE, by their places in
    /// [`Normal::predicates`], ascending; of equal ones the first. Empty if it is TRUE, or if one is not enough.
    fn fails_by(&self, event: &Event<'_>) -> Vec<u32> {
        let Root::Node(root) = self.root() else { return Vec::new() };
        // Equal predicates are one, wherever they stand.
        #[expect(
            clippy::mutable_key_type,
            reason = "a regex has a cache inside, which is no part of its hash"
        )]
        let mut first: FxHashMap<&Predicate, u32> = FxHashMap::default();
        let mut states: Vec<State> = Vec::with_capacity(self.nodes().len());
        // Sets of predicates, each ascending.
        let mut sets: Vec<u32> = Vec::new();
        for node in self.nodes() {
            let children = self.children(*node).iter().map(|child| states[*child as usize]);
            let failing = children.clone().filter_map(|state| match state {
                State::Holds => None,
                State::FailsBy(start, len) => Some((start, len)),
            });
            let state = match node {
                Node::Leaf(place) => {
                    let predicate = &self.predicates()[*place as usize];
                    if predicate.holds(event) {
                        State::Holds
                    } else {
                        sets.push(*first.entry(predicate).or_insert(*place));
                        State::FailsBy(sets.len() - 1, 1)
                    }
                }
                Node::And { .. } => joined(failing, &mut sets, common).unwrap_or(State::Holds),
                Node::Or { .. } if children.clone().any(|state| state == State::Holds) => State::Holds,
                Node::Or { .. } => {
                    let some = failing.filter(|(_, len)| *len > 0);
                    joined(some, &mut sets, either).unwrap_or(State::FailsBy(0, 0))
                }
            };
            states.push(state);
        }
        match states[root as usize] {
            State::Holds => Vec::new(),
            State::FailsBy(start, len) => sets[start..start + len].to_vec(),
        }
    }
}

/// The sets of several nodes made one; `None` if there are none.
fn joined(
    mut nodes: impl Iterator<Item = (usize, usize)>,
    sets: &mut Vec<u32>,
    join: impl Fn(&[u32], &[u32]) -> Vec<u32>,
) -> Option<State> {
    let (start, len) = nodes.next()?;
    let Some((other, other_len)) = nodes.next() else { return Some(State::FailsBy(start, len)) };
    let mut set = join(&sets[start..start + len], &sets[other..other + other_len]);
    for (start, len) in nodes {
        set = join(&set, &sets[start..start + len]);
    }
    sets.extend(&set);
    Some(State::FailsBy(sets.len() - set.len(), set.len()))
}

fn common(a: &[u32], b: &[u32]) -> Vec<u32> {
    a.iter().copied().filter(|predicate| b.binary_search(predicate).is_ok()).collect()
}

fn either(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut both = [a, b].concat();
    both.sort_unstable();
    both.dedup();
    both.truncate(MOST_KEPT);
    both
}
