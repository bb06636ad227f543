//! Engines: structures that find the matching subscriptions of an event.
//!
//! An engine takes normalized expressions under dense numbers and knows nothing of ids, texts or locks; the
//! [`Index`](crate::index::Index) owns those. An engine joins by implementing [`Engine`] and adding one line to
//! [`registry::CORE_ENGINES`], or to the slice of another crate; the suite in `tamis-conformance` and every benchmark
//! find it there.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `registry` | which engines are there, and what do they declare? |
//! | `scoring` | how much does a match count? |
//! | `graph` | what does an engine's structure look like? |
//! | `shared` | what do several engines stand on? |
//! | `scan`, `pst`, `a_tree`, `op_index`, `be_tree`, `gem_tree` | the engines |

mod a_tree;
mod be_tree;
mod gem_tree;
mod graph;
mod op_index;
mod pst;
pub mod registry;
mod scan;
pub mod scoring;
pub mod shared;

pub use graph::{Graph, GraphNode, GraphNodeKind};
pub use registry::{DynEngine, DynRankingEngine, Scratch};

use crate::error::Result;
use crate::event::Event;
use crate::expr::Normal;
use scoring::{TopKQuery, WeightedPredicates};

/// A subscription's dense number. Numbers of removed subscriptions are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubId(pub u32);

impl SubId {
    /// As a position in an array with one element per subscription.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An index structure over normalized expressions.
///
/// The caller guarantees that expressions are neither constant TRUE nor constant FALSE, that `insert` gets numbers
/// not in the engine, and `remove` numbers that are.
pub trait Engine: Send + Sync + 'static {
    /// What matching writes to: buffers that are reused from event to event. One scratch serves one thread at a time.
    type Scratch: Default + Send + 'static;

    /// The name it is registered with.
    fn name(&self) -> &'static str;

    /// Inserts a subscription. After an error the engine is as it was.
    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()>;

    /// Removes a subscription.
    fn remove(&mut self, id: SubId);

    /// Appends every subscription that the event satisfies, each once, in any order. Allocates nothing in steady
    /// state beyond the growth of `matches`. A scratch serves any number of events, also after updates.
    fn match_event(&self, event: &Event<'_>, scratch: &mut Self::Scratch, matches: &mut Vec<SubId>);

    /// Counts an event as history. Changes no answer. Engines that choose nothing by frequency keep the default.
    fn observe(&mut self, _event: &Event<'_>) {}

    /// Reconsiders choices by the observed events; called once after a batch of observations. Changes no answer.
    fn adapt(&mut self) {}

    /// Moves lists together and frees memory reserved for growth; called once after a large batch of insertions.
    /// Changes no answer.
    fn defragment(&mut self) {}

    /// Checks every invariant of the structure; the error names the broken one.
    fn validate(&self) -> Result<(), String>;

    /// Bytes in use, approximately.
    fn memory(&self) -> usize;

    /// Sizes and counts of the structure's parts, for people.
    fn stats(&self) -> Vec<(&'static str, u64)>;

    /// The structure as a graph of predicates and connectives; `None` if the engine has no such structure.
    fn graph(&self) -> Option<Graph> {
        None
    }
}

/// An engine that finds the best k matches without scoring all of them. [`scoring`] defines scores and ties.
///
/// It is registered with [`Construction::Ranking`](registry::Construction::Ranking).
pub trait RankingEngine: Engine {
    /// Hands over what a subscription's matches are scored with, right after its `insert`. `sequence` is its position in
    /// the order of insertion, which breaks ties; after a replacement it is less than that of later subscriptions.
    fn set_weights(&mut self, id: SubId, sequence: u64, predicates: WeightedPredicates);

    /// Appends the best k of the matching subscriptions whose score is at least the floor, best first, with their scores.
    fn top_k(&self, query: &TopKQuery<'_>, scratch: &mut Self::Scratch, best: &mut Vec<(SubId, f64)>);
}
