//! What every backend shares of matching.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `events` | how are events of any source read and used with one state of the index? |
//! | `pinned` | what can be asked of one state of the index? |
//! | `event_context` | what is an expression's text evaluated against? |
//! | `matches` | what does matching return? |
//! | `chunks` | how do threads share the rows? |

mod chunks;
mod event_context;
mod events;
mod matches;
mod pinned;

pub(super) use chunks::{in_chunks, workers};
pub(super) use event_context::EventContext;
pub use matches::{Matches, Stale};
pub use pinned::PinnedIndex;
