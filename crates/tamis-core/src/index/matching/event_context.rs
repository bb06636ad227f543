//! What texts of subscriptions are evaluated against: for scores and for near misses.

use crate::event::Rows;
use crate::expr::{Limits, Missing};
use crate::schema::Schema;
use std::sync::Arc;

/// One event, and the settings under which texts are parsed and evaluated against it.
pub(in crate::index) struct EventContext<'e> {
    /// What the row was read with. Knows every attribute of every text.
    pub schema: &'e Arc<Schema>,
    /// What a predicate on a missing attribute is.
    pub missing: Missing,
    /// The limits under which the texts were accepted.
    pub limits: &'e Limits,
    /// The rows that hold the event.
    pub rows: &'e Rows,
    /// The event's row.
    pub row: usize,
}
