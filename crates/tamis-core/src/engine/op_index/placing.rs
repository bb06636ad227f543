//! Inserting, removing and moving members: the paper's Algorithm 1, and pivots that stay right when frequencies change.
//!
//! A pivot is chosen by the frequencies at that time. It is chosen again for all members in `adapt`, with the observed
//! events, and, without a history, whenever there were as many insertions and removals as members at the last time, at least
//! [`REVIEW`]: then a member is moved if another clause has less than half of the visibility. So insertion stays amortized
//! at a constant number of moves.

use super::operand::Field;
use super::pivot::{MemberEntries, Slot};
use super::record::{self, ClauseWords, Clauses};
use super::{MemberState, OpIndex};
use crate::engine::SubId;
use crate::engine::shared::list_pool::ListRef;
use crate::engine::shared::members::MemberId;
use crate::error::{Error, Result};
use crate::expr::{Node, NodeId, Normal, Predicate, Root};
use crate::schema::AttrId;

/// Minimum insertions and removals between two reviews of all pivots.
const REVIEW: usize = 1_024;

/// Which members are moved by a review.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    /// Those that another pivot suits better.
    Better,
    /// Those that another pivot suits at least twice as well.
    FarBetter,
}

/// The clauses of a conjunction: one per predicate.
fn clauses_of(conjunction: Vec<Predicate>) -> Vec<Vec<Predicate>> {
    conjunction.into_iter().map(|predicate| vec![predicate]).collect()
}

/// The predicates of an expression that is a conjunction; normalization has merged those on one attribute.
fn conjunction(expression: &Normal) -> Option<Vec<&Predicate>> {
    let Root::Node(root) = expression.root() else { return None };
    let predicate = |node: &NodeId| match expression.nodes()[*node as usize] {
        Node::Leaf(predicate) => Some(&expression.predicates()[predicate as usize]),
        _ => None,
    };
    match expression.nodes()[root as usize] {
        Node::Or { .. } => None,
        Node::Leaf(_) => predicate(&root).map(|predicate| vec![predicate]),
        node => expression.children(node).iter().map(predicate).collect(),
    }
}

/// How subscriptions that are no conjunctions are expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// To the one that is estimated to cost less per event.
    Auto,
    /// One member with the clauses of the CNF.
    Cnf,
    /// A member per conjunction of the DNF.
    Dnf,
}

impl OpIndex {
    /// The members that an expression is expanded to, as clauses of predicates.
    fn expand(&self, expression: &Normal) -> Result<Vec<Vec<Vec<Predicate>>>> {
        let limit = self.max_dnf as u64;
        let (dnf, cnf) = (expression.dnf_size(), expression.cnf_size());
        let form = match self.form {
            Form::Auto if dnf.min(cnf) > limit => {
                return Err(Error::TooComplex { size: dnf.min(cnf), limit });
            }
            Form::Auto if cnf > limit => Form::Dnf,
            Form::Auto if dnf > limit => Form::Cnf,
            form => form,
        };
        let to_dnf = || -> Result<Vec<_>> {
            Ok(expression.to_dnf(self.max_dnf)?.into_iter().map(clauses_of).collect())
        };
        let to_cnf = || -> Result<Vec<_>> { Ok(vec![expression.to_cnf(self.max_dnf)?]) };
        match form {
            Form::Dnf => to_dnf(),
            Form::Cnf => to_cnf(),
            Form::Auto => {
                let (dnf, cnf) = (to_dnf()?, to_cnf()?);
                Ok(if self.estimate(&dnf) <= self.estimate(&cnf) { dnf } else { cnf })
            }
        }
    }

    /// The expected predicates of these members in the partitions that an event visits.
    fn estimate(&self, members: &[Vec<Vec<Predicate>>]) -> f64 {
        let member = |clauses: &Vec<Vec<Predicate>>| {
            let predicates: usize = clauses.iter().map(Vec::len).sum();
            let weight = |clause: &Vec<Predicate>| {
                let visible =
                    |predicate: &Predicate| self.frequencies.weight(self.frequencies.of(predicate.attribute));
                clause.iter().map(visible).sum::<f64>()
            };
            let closed = clauses.iter().filter(|clause| !clause.iter().any(Predicate::accepts_missing));
            let pivots = closed.map(weight).min_by(f64::total_cmp);
            // Without a pivot, every event visits it.
            pivots.unwrap_or(f64::from(u32::MAX)) * predicates as f64
        };
        members.iter().map(member).sum()
    }

    /// Inserts a subscription.
    pub(super) fn add(&mut self, sub: SubId, expression: &Normal) -> Result<()> {
        if let Some(at) = expression.predicates().iter().find(|p| p.attribute.0 >= Field::ATTRIBUTES) {
            let message = format!("op_index: attribute number {} is beyond 2^27", at.attribute.0);
            return Err(Error::Expression(message));
        }
        let mut ids = Vec::new();
        if let Some(predicates) = conjunction(expression) {
            self.members.insert(sub, [MemberState::default()].into_iter(), &mut ids)?;
            let words = record::encode(predicates.into_iter().map(Some), &mut self.symbols);
            self.insert_member(ids[0], &words);
        } else {
            let expanded = self.expand(expression)?;
            self.members.insert(sub, expanded.iter().map(|_| MemberState::default()), &mut ids)?;
            for (&id, clauses) in ids.iter().rev().zip(&expanded) {
                let words = record::encode(clauses.iter(), &mut self.symbols);
                self.insert_member(id, &words);
            }
        }
        self.count_updates(ids.len());
        Ok(())
    }

    fn insert_member(&mut self, id: MemberId, record: &[u32]) {
        self.frequencies.add(record);
        let mut list = ListRef::default();
        self.records.extend(&mut list, record);
        self.members.get_mut(id).record = list;
        self.place(id);
    }

    /// Removes a subscription.
    pub(super) fn withdraw(&mut self, sub: SubId) {
        let ids = self.members.of(sub);
        for &id in &ids {
            self.unplace(id);
            let list = self.members.get(id).record;
            let words = self.records.get(list);
            self.frequencies.remove(words);
            record::release(words, &mut self.symbols);
            self.records.release(list);
            self.members.remove(id);
        }
        self.count_updates(ids.len());
    }

    /// Inserts a member into the partitions of its pivots, or among the unconditional ones.
    fn place(&mut self, id: MemberId) {
        let record = self.records.get(self.members.get(id).record);
        let Some((at, _)) = self.frequencies.best_clause(record) else {
            let place = self.unconditional.len() as u32;
            self.unconditional.push(id);
            return self.set_places(id, MemberState::UNCONDITIONAL, &[place]);
        };
        let (pivots, several) = pivots_of(record, at);
        let flag = if several || self.members.is_one_of_several(id) { Slot::SEVERAL } else { 0 };
        let mut places = Vec::with_capacity(pivots.len());
        for pivot in pivots {
            if self.pivots.len() <= pivot.index() {
                self.pivots.resize_with(pivot.index() + 1, || None);
            }
            let entries = MemberEntries { record, pivot_clause: at, pivot, intervals: self.intervals };
            let found = self.pivots[pivot.index()].get_or_insert_default();
            found.insert(id, flag, entries, self.tuning, &mut places);
        }
        self.set_places(id, at as u32, &places);
    }

    fn set_places(&mut self, id: MemberId, pivot_clause: u32, places: &[u32]) {
        let mut list = ListRef::default();
        self.places.extend(&mut list, places);
        let state = self.members.get_mut(id);
        (state.places, state.pivot_clause) = (list, pivot_clause);
    }

    /// Removes a member from the partitions of its pivots.
    fn unplace(&mut self, id: MemberId) {
        let MemberState { record, places, pivot_clause } = *self.members.get(id);
        let record = self.records.get(record);
        let mut left = self.places.get(places);
        if pivot_clause == MemberState::UNCONDITIONAL {
            let place = left[0] as usize;
            self.unconditional.swap_remove(place);
            if let Some(&moved) = self.unconditional.get(place) {
                let list = self.members.get(moved).places;
                self.places.get_mut(list)[0] = place as u32;
            }
        } else {
            let at = pivot_clause as usize;
            for pivot in pivots_of(record, at).0 {
                let entries = MemberEntries { record, pivot_clause: at, pivot, intervals: self.intervals };
                let (here, rest) = left.split_at(1 + entries.marked_clauses());
                left = rest;
                let slot = &mut self.pivots[pivot.index()];
                if let Some(found) = slot {
                    found.remove(entries, here, self.tuning);
                    if found.len() == 0 {
                        *slot = None;
                    }
                }
            }
        }
        self.places.release(places);
    }

    /// Counts insertions and removals; reviews all pivots once there were enough.
    fn count_updates(&mut self, updates: usize) {
        self.updates += updates;
        if self.updates >= self.reviewed.max(REVIEW) && !self.frequencies.has_history() {
            self.review(Moved::FarBetter);
        }
    }

    /// Chooses the pivots of all members again.
    pub(super) fn review(&mut self, moved: Moved) {
        let ids: Vec<MemberId> = self.members.all().collect();
        for id in ids {
            let state = self.members.get(id);
            let record = self.records.get(state.record);
            let Some((best, visibility)) = self.frequencies.best_clause(record) else { continue };
            let Some(current) = Clauses(record).nth(state.pivot_clause as usize) else { continue };
            let now = self.frequencies.of_clause(current);
            let moves = match moved {
                Moved::Better => visibility < now,
                Moved::FarBetter => 2 * visibility.1 < now.1,
            };
            if best != state.pivot_clause as usize && moves {
                self.unplace(id);
                self.place(id);
            }
        }
        (self.updates, self.reviewed) = (0, self.members.len());
    }
}

/// The pivots of a member with this pivot clause, and whether an event may be led to it more than once.
pub(super) fn pivots_of(record: &[u32], pivot_clause: usize) -> (Vec<AttrId>, bool) {
    let clause = Clauses(record).nth(pivot_clause);
    let several = clause.is_some_and(ClauseWords::has_several_predicates);
    (clause.map_or_else(Vec::new, ClauseWords::attributes), several)
}
