//! The paper's Algorithm 1 (Conjunction), with the counters of its CNF algorithm for expressions with choices.
//!
//! Every list of the event has a cursor. Cursors are ordered by their current entry, so the first K of them at one
//! expression of size K mean that K of its IN predicates hold. Otherwise no expression before the entry of the K-th cursor
//! can match, and the cursors before it skip there. Entries order by size first, so one pass visits all partitions, the
//! smallest first; it ends when fewer than K lists are left.

use super::KIndex;
use super::clauses::all_hold;
use super::lists::Posting;
use tamis_core::engine::SubId;
use tamis_core::engine::shared::dedup::SubscriptionDedup;
use tamis_core::engine::shared::list_pool::ListRef;
use tamis_core::event::Event;

/// A position in a posting list.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    /// The current entry.
    posting: Posting,
    /// Its position.
    at: u32,
    list: ListRef,
}

/// The buffers of one matching thread.
#[derive(Debug, Default)]
pub(super) struct KScratch {
    /// Ordered by current entry; lists without further entries have none.
    cursors: Vec<Cursor>,
    /// By clause of the expression that is examined.
    counters: Vec<i32>,
    dedup: SubscriptionDedup,
}

impl KIndex {
    pub(super) fn conjunction_algorithm(
        &self,
        event: &Event<'_>,
        scratch: &mut KScratch,
        matches: &mut Vec<SubId>,
    ) {
        let KScratch { cursors, counters, dedup } = scratch;
        dedup.begin_event();
        let are_exact = self.open_lists(event, cursors);
        while let Some(first) = cursors.first() {
            let first = first.posting;
            // As in the paper, expressions of size 0 are found in the list Z, so one list is needed.
            let needed = first.size().max(1);
            let Some(last) = cursors.get(needed - 1).map(|cursor| cursor.posting) else { break };
            if !first.is_same_expression(last) {
                self.skip(cursors, needed - 1, last.first_of_expression());
                continue;
            }
            let others = cursors[needed..].iter();
            let run = needed + others.take_while(|other| other.posting.is_same_expression(first)).count();
            let number = first.expression();
            let initial = self.expressions.counters(number);
            let may_hold = match initial.is_empty() {
                true => first.is_in(),
                false => self.clauses_hold(&cursors[..run], initial, counters),
            };
            if may_hold {
                let tested = match are_exact {
                    true => self.expressions.tested_words(number),
                    false => self.expressions.words(number),
                };
                if all_hold(tested, |id| self.predicates.get(id).holds(event)) {
                    let owners = self.expressions.owners(number);
                    matches.extend(owners.filter(|sub| dedup.insert(*sub)));
                }
            }
            self.skip(cursors, run, first.first_of_next());
        }
    }

    /// Sets cursors to the first entries of the event's lists; whether these list no more than holds.
    fn open_lists(&self, event: &Event<'_>, cursors: &mut Vec<Cursor>) -> bool {
        cursors.clear();
        let mut are_exact = true;
        let mut open = |list: ListRef| {
            if let Some(first) = self.lists.get(list).first() {
                cursors.push(Cursor { posting: *first, at: 0, list });
            }
        };
        for cell in event.cells() {
            are_exact &= self.lists.find(cell.attribute, event.resolve(cell.slot), &mut open);
        }
        open(self.lists.zero());
        cursors.sort_unstable_by_key(|cursor| cursor.posting);
        are_exact
    }

    /// The CNF algorithm: counts the entries of one expression by clause.
    fn clauses_hold(&self, cursors: &[Cursor], initial: &[i32], counters: &mut Vec<i32>) -> bool {
        counters.clear();
        counters.extend_from_slice(initial);
        for cursor in cursors {
            let rest = &self.lists.get(cursor.list)[cursor.at as usize..];
            for posting in rest.iter().take_while(|posting| posting.is_same_expression(cursor.posting)) {
                let is_zero_entry = cursor.list == self.lists.zero();
                let counter = &mut counters[posting.clause()];
                match posting.is_in() {
                    _ if is_zero_entry => {}
                    true => *counter = 1,
                    false if *counter < 0 => *counter += 1,
                    false => {}
                }
            }
        }
        counters.iter().all(|counter| *counter != 0)
    }

    /// The paper's SkipTo for the first cursors; the order by current entry is restored.
    fn skip(&self, cursors: &mut Vec<Cursor>, first: usize, target: Posting) {
        for at in (0..first).rev() {
            let cursor = &mut cursors[at];
            let list = self.lists.get(cursor.list);
            cursor.at = skipped(list, cursor.at as usize, target) as u32;
            match list.get(cursor.at as usize) {
                Some(posting) => cursor.posting = *posting,
                None => {
                    cursors.remove(at);
                    continue;
                }
            }
            let moved = *cursor;
            let mut place = at;
            while cursors.get(place + 1).is_some_and(|next| next.posting < moved.posting) {
                cursors[place] = cursors[place + 1];
                place += 1;
            }
            cursors[place] = moved;
        }
    }
}

/// Position of the first entry from `at` on that is not less than the target: steps of doubling size, then a binary
/// search within the last one.
#[inline]
fn skipped(list: &[Posting], at: usize, target: Posting) -> usize {
    let (mut low, mut step) = (at, 1);
    while list.get(low + step - 1).is_some_and(|posting| *posting < target) {
        low += step;
        step *= 2;
    }
    let high = (low + step - 1).min(list.len());
    low + list[low..high].partition_point(|posting| *posting < target)
}
