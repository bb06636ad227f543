//! Engines: structures that find the matching subscriptions of an event.
//!
//! An engine takes normalized expressions under dense numbers and knows nothing of ids, texts or locks; the
//! [`Index`](crate::index::Index) owns those. A new engine implements [`Engine`], adds one line to
//! [`registry::ENGINES`], and with that runs in the one suite (`tests/engine_suite.rs`) and in every benchmark.

mod a_tree;
mod graph;
mod pst;
pub mod registry;
mod scan;
pub(crate) mod shared;

pub use graph::{Graph, GraphNode, Part};

use crate::error::Result;
use crate::event::Event;
use crate::expr::Normal;
use std::any::Any;

/// A subscription's dense number. Numbers of removed subscriptions are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubId(pub u32);

impl SubId {
    /// As a position in an array with one place per subscription.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an engine needs to write while it matches, made by [`Engine::scratch`] and reused from event to event.
pub type Scratch = Box<dyn Any + Send>;

/// An index structure over normalized expressions.
///
/// The caller guarantees that expressions are neither constant TRUE nor constant FALSE, that `insert` gets numbers
/// not in the engine, and `remove` numbers that are.
pub trait Engine: Send + Sync {
    /// Takes a subscription. After an error the engine is as it was.
    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()>;

    /// Forgets a subscription.
    fn remove(&mut self, id: SubId);

    /// A scratch for [`Engine::match_event`]; it serves any number of events, also after any change.
    fn scratch(&self) -> Scratch;

    /// Appends every subscription that the event satisfies, each once, in any order. Allocates nothing in steady
    /// state beyond the growth of `matches`.
    fn match_event(&self, event: &Event<'_>, scratch: &mut Scratch, matches: &mut Vec<SubId>);

    /// Counts an event as history. Changes no answer. Engines that choose nothing by frequency leave it as it is.
    fn observe(&mut self, _event: &Event<'_>) {}

    /// Reconsiders choices in the light of what was observed; called once after a batch of observations. Changes no
    /// answer.
    fn adapt(&mut self) {}

    /// Moves things together and gives back room that was kept for growth; called once after many changes. Changes no
    /// answer.
    fn settle(&mut self) {}

    /// Checks every invariant of the structure; the error names the broken one.
    fn validate(&self) -> Result<(), String>;

    /// Bytes in use, near enough.
    fn memory(&self) -> usize;

    /// Figures for people: sizes and counts of the structure's parts.
    fn stats(&self) -> Vec<(&'static str, u64)>;

    /// The structure as a graph of predicates and connectives; `None` if the engine has no such structure.
    fn graph(&self) -> Option<Graph> {
        None
    }
}
