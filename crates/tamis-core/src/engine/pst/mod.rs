//! PSTBloom and PSTHash: conjunctions found through the predicate spaces of an event.
//!
//! Paper: S. Ji and H.-A. Jacobsen, PS-Tree-based Efficient Boolean Expression Matching for High-Dimensional and
//! Dense Workloads, PVLDB 12(3), 2018, sections 5 and 6. The PS-Tree itself is [`crate::space`].
//!
//! | file | question it answers |
//! | --- | --- |
//! | `bloom` | one access predicate, Bloom signatures in the leaves: PSTBloom |
//! | `hash` | several access predicates, a hash table of their spaces: PSTHash |
//! | `signatures` | who may have a predicate that covers a leaf? |
//! | `spaces` | which dimensions are there, and what is placed in them? |
//! | `selectivity` | which predicates are worth looking for first? |
//! | `conjunctions` | what are subscriptions made of? |
//! | `record` | what does a list hold of a conjunction, and how is it checked? |
//! | `cells`, `table` | how are the many cells of an event looked up at once? |

mod bloom;
mod cells;
mod conjunctions;
mod hash;
mod record;
mod selectivity;
mod signatures;
mod spaces;
mod table;

pub(super) use bloom::BLOOM_INFO;
pub(super) use hash::HASH_INFO;
pub(super) use selectivity::Shape;

use super::SubId;
use super::shared::predicates::{PredId, Predicates};
use crate::engine::shared::list_pool::ListRef;
use crate::error::Result;
use crate::event::Event;
use crate::schema::AttrId;
use crate::space::{Reach, Region};
use conjunctions::{ConjId, Conjunctions};
use record::{Attributes, HalfSteps, Records};
use selectivity::Selectivity;
use spaces::Spaces;

/// What both engines know of their subscriptions.
#[derive(Debug, Default)]
struct Base {
    predicates: Predicates,
    conjunctions: Conjunctions,
    spaces: Spaces,
}

/// A predicate of a conjunction that is to be placed.
struct Ranked {
    id: PredId,
    attribute: AttrId,
    reach: Reach,
    selectivity: Selectivity,
}

impl Ranked {
    fn region(&self) -> Option<&Region> {
        match &self.reach {
            Reach::Region(region) => Some(region),
            Reach::Present | Reach::Everywhere => None,
        }
    }

    /// Whether a conjunction that was crowded so often may be spread over the leaves of the predicate.
    fn may_spread(&self, crowded: u8) -> bool {
        crowded == 0 || crowded == 1 && self.selectivity.shape.points().is_some()
    }

    /// Whether an event without the attribute is out of the question.
    fn needs_presence(&self) -> bool {
        !matches!(self.reach, Reach::Everywhere)
    }
}

impl Base {
    /// The predicates of a conjunction, the most selective first.
    fn ranked(&self, id: ConjId) -> Vec<Ranked> {
        let rank = |id: PredId| {
            let predicate = self.predicates.get(id);
            let reach = Reach::of(predicate);
            let selectivity = self.spaces.selectivity(predicate, &reach);
            Ranked { id, attribute: predicate.attribute, reach, selectivity }
        };
        let mut ranked: Vec<Ranked> = self.conjunctions.predicates(id).map(rank).collect();
        ranked.sort_by(|a, b| a.selectivity.cmp(&b.selectivity));
        ranked
    }

    /// Gives every attribute a dimension, where events can be counted, whether or not its predicates have spaces.
    fn know_attributes(&mut self, predicates: &[Ranked]) {
        for ranked in predicates {
            self.spaces.whole(ranked.attribute);
        }
    }

    /// Whether an event satisfies all predicates of a conjunction.
    fn satisfies(&self, event: &Event<'_>, id: ConjId) -> bool {
        self.conjunctions.predicates(id).all(|predicate| self.predicates.get(predicate).holds(event))
    }

    /// Appends the subscriptions whose records in a list the event satisfies. `signed` is asked about a conjunction
    /// and the attributes of its signed terms.
    #[inline(always)]
    fn check(
        &self,
        records: &[u32],
        exact: bool,
        asking: &Asking<'_>,
        signed: impl Fn(ConjId, u32) -> bool,
        seen: &mut Seen,
        matches: &mut Vec<SubId>,
    ) {
        for record in Records(records) {
            if !record.needs.may_be_within(asking.present) {
                continue;
            }
            let id = record.conjunction;
            let holds = match exact {
                true => {
                    let signed = |attribute| signed(id, attribute);
                    record::holds(record.terms, asking.steps, asking.event, &self.predicates, signed)
                }
                false => self.satisfies(asking.event, id),
            };
            if holds {
                let sub = self.conjunctions.owner(id);
                if exact && !record.several || seen.first_time(sub) {
                    matches.push(sub);
                }
            }
        }
    }

    /// The predicates of a conjunction with whether each is placed in the spaces.
    fn placements(&self, id: ConjId) -> impl Iterator<Item = (PredId, bool)> + '_ {
        let conjunction = *self.conjunctions.get(id);
        self.conjunctions.predicates(id).enumerate().map(move |(at, predicate)| {
            let access = usize::from(conjunction.access);
            let placed = if at < access {
                conjunction.spread & 1 << at != 0
            } else {
                at < access + conjunction.signed as usize
            };
            (predicate, placed)
        })
    }

    /// Checks the parts, and that each predicate is used as often as it is counted.
    fn validate(&self) -> Result<(), String> {
        self.predicates.validate()?;
        let mut uses = vec![0; self.predicates.bound()];
        let mut count = 0;
        for id in self.conjunctions.all() {
            count += 1;
            self.conjunctions.predicates(id).for_each(|predicate| uses[predicate.index()] += 1);
        }
        if count != self.conjunctions.len() {
            return Err(format!("{count} conjunctions found, {} counted", self.conjunctions.len()));
        }
        if let Some(at) = (0..uses.len()).find(|&at| self.predicates.uses(PredId(at as u32)) != uses[at]) {
            return Err(format!("predicate {at} is used {} times, counted otherwise", uses[at]));
        }
        let placements = self.conjunctions.all().flat_map(|id| self.placements(id));
        self.spaces.validate(&self.predicates, placements.filter(|(_, placed)| *placed).map(|(id, _)| id))
    }

    fn memory(&self) -> usize {
        self.predicates.memory() + self.conjunctions.memory() + self.spaces.memory()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let (leaves, inner, bounds) = self.spaces.size();
        vec![
            ("conjunctions", self.conjunctions.len() as u64),
            ("distinct_predicates", self.predicates.len() as u64),
            ("leaves", leaves as u64),
            ("inner_nodes", inner as u64),
            ("bounds", bounds as u64),
        ]
    }
}

/// How the predicates of a conjunction are to be used.
struct Choice {
    /// The access predicates, then the signed ones, then the rest.
    order: Vec<Ranked>,
    /// As in [`conjunctions::Conjunction`].
    access: u8,
    spread: u8,
    signed: u32,
}

/// A list that an event leads to.
struct Found {
    list: ListRef,
    /// Whether its leaves are; otherwise the access predicates are in doubt as well.
    exact: bool,
    /// Read ahead of time, so that the list is at hand when its turn comes.
    touched: u32,
}

impl Found {
    fn new(list: ListRef, exact: bool) -> Found {
        Found { list, exact, touched: 0 }
    }
}

/// An event, as far as records ask about it.
struct Asking<'e> {
    event: &'e Event<'e>,
    present: Attributes,
    steps: &'e HalfSteps,
}

/// Which subscriptions were found already, for those that several lists or conjunctions lead to.
#[derive(Debug, Default)]
struct Seen {
    /// By subscription: the event it was last found for.
    marks: Vec<u32>,
    event: u32,
}

impl Seen {
    fn begin_event(&mut self) {
        self.event = self.event.wrapping_add(1);
        if self.event == 0 {
            self.marks.fill(0);
            self.event = 1;
        }
    }

    /// Whether a subscription is found for the first time.
    fn first_time(&mut self, sub: SubId) -> bool {
        if self.marks.len() <= sub.index() {
            self.marks.resize(sub.index() + 1, 0);
        }
        std::mem::replace(&mut self.marks[sub.index()], self.event) != self.event
    }
}
