//! Which expressions fail by one predicate only?
//!
//! Independent of the engine: every text is parsed, normalized and evaluated bottom-up. AND and OR are monotone, so a set of
//! predicates per failing node is enough, each of which alone would make the node TRUE: for a leaf its own predicate, for
//! an OR the union over its children, for an AND the intersection over its failing children.
//!
//! Cost: every subscription is parsed until enough are found, which dominates; they are spread over all cores.

use crate::engine::shared::keyed_hash::KeyedMap;
use crate::error::{Error, Result};
use crate::event::{Event, EventSlots};
use crate::expr::{Node, Normal, Normalizer, Predicate, Root, parse};
use crate::index::Id;
use crate::index::matching::{EventContext, in_chunks};

/// A subscription that does not match, but would if one predicate were TRUE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearMiss {
    /// The subscription.
    pub id: Id,
    /// The predicates of its normalized form of which any single one would make it match, as text; at most
    /// [`NearMiss::MAX_PREDICATES`].
    pub predicates: Vec<String>,
}

/// Position of a subscription in insertion order, and the texts of the predicates it fails by.
type PositionedMiss = (usize, Vec<String>);

impl NearMiss {
    /// Maximum number of predicates reported per subscription.
    pub const MAX_PREDICATES: usize = 10;
}

/// Subscriptions per unit of work.
const CHUNK: usize = 128;

/// Subscriptions evaluated between two checks of whether `limit` is reached: 1,024 at first, doubled each round up to
/// 65,536.
const FIRST_ROUND: usize = 8 * CHUNK;
const LONGEST_ROUND: usize = 512 * CHUNK;

/// Maximum size of a node's predicate set. An expression with more predicates under an OR that occurs twice may lose some;
/// without the bound, long chains of XOR would take quadratic time.
const MAX_SET: usize = 256;

impl EventContext<'_> {
    /// The first `limit` near misses among `count` subscriptions. `text` and `id` take a position in insertion order;
    /// `text` is `None` where a damaged file has none.
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
            let chunks: Vec<Result<Vec<PositionedMiss>>> = in_chunks(len, CHUNK, None, |range| {
                let mut slots = EventSlots::default();
                let event = slots.load(self.rows, self.row, self.schema.len());
                let (mut normalizer, mut misses) = (Normalizer::default(), Vec::new());
                for position in range.map(|at| first + at) {
                    let predicates = self.predicates(text(position), &event, &mut normalizer)?;
                    if !predicates.is_empty() {
                        misses.push((position, predicates));
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
                    misses
                        .into_iter()
                        .map(|(position, predicates)| NearMiss { id: id(position), predicates }),
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
        let expr = parse(text.ok_or_else(|| Error::damaged("a text is not UTF-8"))?, self.limits)?;
        let mut schema = self.schema.clone();
        let normal = normalizer.normalize(&expr, &mut schema, self.missing);
        if schema.len() != self.schema.len() {
            return Err(Error::damaged("an attribute is unknown"));
        }
        let failing = normal.fails_by(event);
        let texts = failing.iter().take(NearMiss::MAX_PREDICATES).map(|predicate| {
            let predicate = &normal.predicates()[*predicate as usize];
            predicate.text(schema.name(predicate.attribute))
        });
        Ok(texts.collect())
    }
}

/// The result of evaluating a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NodeResult {
    Holds,
    /// Start and length of the node's predicate set in the array of sets.
    FailsBy(usize, usize),
}

impl Normal {
    /// The predicates of which any single one, were it TRUE, would make the expression TRUE, by position in
    /// [`Normal::predicates`], ascending; the first of equal ones. Empty if the expression is TRUE or no single predicate
    /// is enough.
    fn fails_by(&self, event: &Event<'_>) -> Vec<u32> {
        let Root::Node(root) = self.root() else { return Vec::new() };
        // Equal predicates count as one, wherever they occur.
        #[expect(
            clippy::mutable_key_type,
            reason = "a regex has a cache inside, which is no part of its hash"
        )]
        let mut first: KeyedMap<&Predicate, u32> = KeyedMap::default();
        let mut results: Vec<NodeResult> = Vec::with_capacity(self.nodes().len());
        // The predicate sets of all nodes, each ascending.
        let mut sets: Vec<u32> = Vec::new();
        for node in self.nodes() {
            let children = self.children(*node).iter().map(|child| results[*child as usize]);
            let failing = children.clone().filter_map(|result| match result {
                NodeResult::Holds => None,
                NodeResult::FailsBy(start, len) => Some((start, len)),
            });
            let result = match node {
                Node::Leaf(position) => {
                    let predicate = &self.predicates()[*position as usize];
                    if predicate.holds(event) {
                        NodeResult::Holds
                    } else {
                        sets.push(*first.entry(predicate).or_insert(*position));
                        NodeResult::FailsBy(sets.len() - 1, 1)
                    }
                }
                Node::And { .. } => joined(failing, &mut sets, intersection).unwrap_or(NodeResult::Holds),
                Node::Or { .. } if children.clone().any(|result| result == NodeResult::Holds) => {
                    NodeResult::Holds
                }
                Node::Or { .. } => {
                    let some = failing.filter(|(_, len)| *len > 0);
                    joined(some, &mut sets, union).unwrap_or(NodeResult::FailsBy(0, 0))
                }
            };
            results.push(result);
        }
        match results[root as usize] {
            NodeResult::Holds => Vec::new(),
            NodeResult::FailsBy(start, len) => sets[start..start + len].to_vec(),
        }
    }
}

/// The union or intersection of several nodes' sets; `None` without nodes.
fn joined(
    mut nodes: impl Iterator<Item = (usize, usize)>,
    sets: &mut Vec<u32>,
    join: impl Fn(&[u32], &[u32]) -> Vec<u32>,
) -> Option<NodeResult> {
    let (start, len) = nodes.next()?;
    let Some((other, other_len)) = nodes.next() else { return Some(NodeResult::FailsBy(start, len)) };
    let mut set = join(&sets[start..start + len], &sets[other..other + other_len]);
    for (start, len) in nodes {
        set = join(&set, &sets[start..start + len]);
    }
    sets.extend(&set);
    Some(NodeResult::FailsBy(sets.len() - set.len(), set.len()))
}

fn intersection(a: &[u32], b: &[u32]) -> Vec<u32> {
    a.iter().copied().filter(|predicate| b.binary_search(predicate).is_ok()).collect()
}

fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut both = [a, b].concat();
    both.sort_unstable();
    both.dedup();
    both.truncate(MAX_SET);
    both
}
