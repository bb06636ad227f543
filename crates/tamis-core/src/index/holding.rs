//! Texts of subscriptions held against one event: for scores, and for what is missing to match.

use crate::event::Rows;
use crate::expr::{Limits, Missing};
use crate::schema::Schema;
use std::sync::Arc;

/// A row of events, and how texts are read to be held against it.
pub(super) struct Holding<'e> {
    /// What the row was read with; knows the attributes of all texts.
    pub schema: &'e Arc<Schema>,
    pub missing: Missing,
    pub limits: &'e Limits,
    pub rows: &'e Rows,
    pub row: usize,
}
