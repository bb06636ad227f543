//! How often attributes occur: the paper's visibility, by which pivots are chosen.
//!
//! With a history, an attribute's frequency is the number of observed events that have it; without one, the number of
//! members that refer to it, which the paper takes as an approximation. The latter also decides between attributes with the
//! same number of events.

use super::record::{ClauseWords, Clauses};
use crate::event::Event;
use crate::schema::AttrId;

/// Events and members of a pivot, or summed over the pivots of a clause; less is better.
pub(super) type Visibility = (u64, u64);

/// See the module's head.
#[derive(Debug, Default)]
pub(super) struct Frequencies {
    /// By attribute: members that refer to it in a clause that is not open.
    members: Vec<u32>,
    /// By attribute: observed events that have it.
    events: Vec<u32>,
    /// Number of observed events.
    observed: u32,
}

impl Frequencies {
    /// Counts an event.
    pub fn observe(&mut self, event: &Event<'_>) {
        self.observed = self.observed.saturating_add(1);
        for cell in event.cells() {
            let count = entry(&mut self.events, cell.attribute);
            *count = count.saturating_add(1);
        }
    }

    /// Whether events were observed.
    pub fn has_history(&self) -> bool {
        self.observed > 0
    }

    /// Counts a member with this record.
    pub fn add(&mut self, record: &[u32]) {
        closed(record).for_each(|clause| {
            clause.for_each_attribute(|attribute| *entry(&mut self.members, attribute) += 1);
        });
    }

    /// Counts a member less.
    pub fn remove(&mut self, record: &[u32]) {
        closed(record).for_each(|clause| {
            clause.for_each_attribute(|attribute| *entry(&mut self.members, attribute) -= 1);
        });
    }

    /// The visibility of a member whose pivots are the attributes of this clause.
    pub fn of_clause(&self, clause: ClauseWords<'_>) -> Visibility {
        let mut sum = (0, 0);
        clause.for_each_attribute(|attribute| {
            let (events, members) = self.of(attribute);
            sum = (sum.0 + events, sum.1 + members);
        });
        sum
    }

    /// The visibility of an attribute.
    pub fn of(&self, attribute: AttrId) -> Visibility {
        let count = |counts: &[u32]| counts.get(attribute.index()).copied().map_or(0, u64::from);
        (count(&self.events), count(&self.members))
    }

    /// A visibility as one number, for estimates.
    pub fn weight(&self, visibility: Visibility) -> f64 {
        // One more, so that clauses without visibility are told apart by their number.
        1.0 + if self.has_history() { visibility.0 } else { visibility.1 } as f64
    }

    /// The clause with the least visibility, by its position; `None` if all are open.
    pub fn best_clause(&self, record: &[u32]) -> Option<(usize, Visibility)> {
        let clauses = Clauses(record).enumerate().filter(|(_, clause)| !clause.is_open());
        clauses.map(|(at, clause)| (at, self.of_clause(clause))).min_by_key(|(_, visibility)| *visibility)
    }

    /// Checks the numbers of members against their records.
    pub fn validate<'r>(&self, records: impl Iterator<Item = &'r [u32]>) -> Result<(), String> {
        let mut counted = Frequencies::default();
        records.for_each(|record| counted.add(record));
        let length = self.members.len().max(counted.members.len());
        match (0..length as u32)
            .map(AttrId)
            .find(|attribute| self.of(*attribute).1 != counted.of(*attribute).1)
        {
            Some(attribute) => Err(format!("the members with attribute {} are counted wrongly", attribute.0)),
            None => Ok(()),
        }
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        (self.members.capacity() + self.events.capacity()) * size_of::<u32>()
    }
}

/// The clauses of a record that are not open.
fn closed(record: &[u32]) -> impl Iterator<Item = ClauseWords<'_>> {
    Clauses(record).filter(|clause| !clause.is_open())
}

fn entry(counts: &mut Vec<u32>, attribute: AttrId) -> &mut u32 {
    if counts.len() <= attribute.index() {
        counts.resize(attribute.index() + 1, 0);
    }
    &mut counts[attribute.index()]
}
