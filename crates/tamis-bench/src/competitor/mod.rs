//! The systems that are compared, each by two calls: match one event, match many events.
//!
//! | file | competitor |
//! | --- | --- |
//! | `engine` | an engine of the registry, through the whole index |
//! | `tight` | a loop over the typed arrays that the workload was drawn in |
//! | `a_tree` | the published crate `a-tree` |

pub mod a_tree;
pub mod engine;
pub mod tight;

use crate::case::Case;
use std::time::Duration;
use tamis_baselines::ALL;
use tamis_core::engine::registry::Options;

/// A system that holds all subscriptions of a case, and its events in its own form.
pub trait Competitor {
    /// Matches one event and returns how many subscriptions it found.
    fn one(&mut self, event: usize) -> usize;

    /// Matches the first `events` events in one call; false if there is no such call.
    fn many(&mut self, events: usize) -> bool;

    /// Numbers of the subscriptions that an event matches, by the call of [`Competitor::one`]; sorted.
    fn numbers(&mut self, event: usize) -> Vec<u32>;

    /// The same for the first `events` events, by the call of [`Competitor::many`]. `None` if there is no such call.
    fn numbers_of_many(&mut self, events: usize) -> Option<Vec<Vec<u32>>>;

    /// Build time from texts; `None` if there is nothing to build.
    fn build(&self) -> Option<Duration>;

    /// Bytes per subscription: of the engine, and of the whole index. `None` if unknown.
    fn bytes(&self) -> Option<(usize, usize)>;

    /// Time to read all events from JSON, for competitors that read it.
    fn reading(&self) -> Option<Duration> {
        None
    }
}

/// The tight scan's name.
pub const TIGHT_SCAN: &str = "tight scan";
/// The published crate's name.
pub const A_TREE_CRATE: &str = "a-tree crate";

/// The names of all competitors, in the order of the tables.
pub fn names() -> Vec<&'static str> {
    let engines = ALL.iter().map(|engine| engine.name);
    [TIGHT_SCAN].into_iter().chain(engines).chain([A_TREE_CRATE]).collect()
}

/// Builds a competitor, an engine with options; the error says why it does not take the case.
pub fn build<'c>(
    name: &str,
    case: &'c Case,
    options: Options,
    longest: Duration,
) -> Result<Box<dyn Competitor + 'c>, String> {
    Ok(match name {
        TIGHT_SCAN => match &case.tight {
            Some(workload) => Box::new(tight::TightScan::new(&**workload)),
            None => return Err("the engine scan is the yardstick here".into()),
        },
        A_TREE_CRATE => Box::new(a_tree::ATreeCrate::build(case, longest)?),
        engine => Box::new(engine::EngineIndex::build(engine, options, case)?),
    })
}
