//! Several changes at once: all of them, or none if one fails.
//!
//! A batch is reduced to its net effect on each id before anything is changed: backends apply only that.

use super::parsing::{Parsed, parse_ahead};
use super::{Id, Source};
use crate::error::{Error, Interruption, Result};
use crate::expr::Limits;
use std::collections::HashMap;

/// One change of a batch.
#[derive(Clone, Debug)]
pub enum Change {
    /// Adds a subscription under an id that is not present.
    Add(Id, Source),
    /// Replaces the expression of an id that is present, which keeps its position in insertion order.
    Replace(Id, Source),
    /// Replaces the expression of an id, or adds it.
    Upsert(Id, Source),
    /// Removes an id that is present.
    Remove(Id),
}

/// What a batch does to one id.
pub(super) struct NetChange {
    pub id: Id,
    /// The last change of the batch to this id, counted from 0: what errors name.
    pub row: usize,
    /// Whether the id was present before the batch.
    pub was_present: bool,
    /// The change that added the id, if it gets a new position in insertion order: it was not present, or it was removed
    /// before it was added.
    pub added_at: Option<usize>,
    /// The expression after the batch; `None` if the id is not present then.
    pub parsed: Option<Parsed>,
}

impl Change {
    fn into_parts(self) -> ((Id, Kind), Option<Source>) {
        match self {
            Change::Add(id, source) => ((id, Kind::Add), Some(source)),
            Change::Replace(id, source) => ((id, Kind::Replace), Some(source)),
            Change::Upsert(id, source) => ((id, Kind::Upsert), Some(source)),
            Change::Remove(id) => ((id, Kind::Remove), None),
        }
    }
}

/// The net effect of a batch by id, in the order in which ids are added. Errors name the row.
pub(super) fn net_changes(
    changes: &mut dyn Iterator<Item = Change>,
    limits: &Limits,
    is_present: impl Fn(&Id) -> bool,
) -> Result<Vec<NetChange>> {
    let mut net: Vec<NetChange> = Vec::new();
    // Positions in `net`. Users choose ids, so the hash has a random key.
    let mut by_id: HashMap<Id, usize> = HashMap::new();
    let mut row = 0;
    let parse = |source: Option<Source>| source.map(|source| source.parsed(limits)).transpose();
    let outcome = parse_ahead(changes.map(Change::into_parts), parse, |(id, kind), parsed| {
        Interruption::check()?;
        let parsed = parsed?;
        let (at, is_present) = match by_id.get(&id) {
            Some(&at) => (at, net[at].parsed.is_some()),
            None => {
                let was_present = is_present(&id);
                by_id.insert(id.clone(), net.len());
                net.push(NetChange { id: id.clone(), row, was_present, added_at: None, parsed: None });
                (net.len() - 1, was_present)
            }
        };
        match (kind, is_present) {
            (Kind::Add, true) => return Err(Error::DuplicateId(id)),
            (Kind::Replace | Kind::Remove, false) => return Err(Error::UnknownId(id)),
            (Kind::Add | Kind::Upsert, false) => net[at].added_at = Some(row),
            _ => {}
        }
        (net[at].row, net[at].parsed) = (row, parsed);
        row += 1;
        Ok(None)
    });
    outcome.map_err(|error| error.at_row(row))?;
    net.sort_by_key(|change| change.added_at);
    Ok(net)
}

/// What a change does, without its id and expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Add,
    Replace,
    Upsert,
    Remove,
}
