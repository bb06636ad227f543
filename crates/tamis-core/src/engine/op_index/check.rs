//! Checks of the invariants at the module's head.

use super::lists::{Entry, Operator};
use super::operand::{Operand, OperandKind, Wide};
use super::pivot::{CLAUSE, MemberEntries, Pivot, Slot};
use super::placing::pivots_of;
use super::record::{ClauseWords, Clauses, Content};
use super::{MemberState, OpIndex};
use crate::engine::shared::members::MemberId;
use crate::engine::shared::predicates::PredId;
use crate::schema::AttrId;

/// The entries of a partition by operator.
#[derive(Default)]
struct Expected {
    narrow: Vec<(Operator, Entry<u32>)>,
    wide: Vec<(Operator, Entry<Wide>)>,
    members: usize,
}

impl OpIndex {
    pub(super) fn check(&self) -> Result<(), String> {
        let records = || self.members.all().map(|id| self.records.get(self.members.get(id).record));
        self.frequencies.validate(records())?;
        let contents =
            || records().flat_map(Clauses).flat_map(ClauseWords::pieces).map(|piece| piece.content);
        self.symbols.validate(contents().filter_map(|content| match content {
            Content::Narrow(_, OperandKind::Symbol, symbol, _) => Some(PredId(symbol)),
            _ => None,
        }))?;
        let mut uses = vec![0; self.symbols.predicates.bound()];
        contents().for_each(|content| match content {
            Content::Narrow(_, OperandKind::Symbol, symbol, _) => uses[symbol as usize] += 1,
            Content::Open(predicate) => uses[predicate.index()] += 1,
            _ => {}
        });
        if let Some(at) =
            (0..uses.len()).find(|&at| self.symbols.predicates.uses(PredId(at as u32)) != uses[at])
        {
            return Err(format!("op_index: predicate {at} is used {} times, counted otherwise", uses[at]));
        }
        let mut expected: Vec<Expected> = Vec::new();
        expected.resize_with(self.pivots.len(), Expected::default);
        let mut unconditional = 0;
        for id in self.members.all() {
            let MemberState { places, pivot_clause, .. } = *self.members.get(id);
            if pivot_clause == MemberState::UNCONDITIONAL {
                unconditional += 1;
                let place = self.places.get(places)[0];
                if self.unconditional.get(place as usize) != Some(&id) {
                    return Err(format!("op_index: the unconditional {id:?} is not at its place"));
                }
            } else {
                self.check_member(id, &mut expected)?;
            }
        }
        if unconditional != self.unconditional.len() {
            return Err(format!("op_index: {unconditional} unconditional members are placed"));
        }
        for (at, (pivot, expected)) in self.pivots.iter().zip(expected).enumerate() {
            let wrong = |error: String| format!("op_index: the pivot {at}: {error}");
            match pivot {
                Some(pivot) => self.check_pivot(pivot, expected).map_err(wrong)?,
                None if expected.members > 0 => return Err(wrong("is missing".into())),
                None => {}
            }
        }
        Ok(())
    }

    /// Checks the slots of a member and adds its entries to those that its pivots should have.
    fn check_member(&self, id: MemberId, expected: &mut [Expected]) -> Result<(), String> {
        let MemberState { record, places, pivot_clause } = *self.members.get(id);
        let record = self.records.get(record);
        let mut left = self.places.get(places);
        let at = pivot_clause as usize;
        let (pivots, several) = pivots_of(record, at);
        let several = several || self.members.is_one_of_several(id);
        if pivots.is_empty() || Clauses(record).nth(at).is_none_or(ClauseWords::is_open) {
            return Err(format!("op_index: {id:?} has no pivot, or an open pivot clause"));
        }
        for pivot in pivots {
            let entries = MemberEntries { record, pivot_clause: at, pivot, intervals: self.intervals };
            let (here, rest) = left.split_at(1 + entries.marked_clauses());
            left = rest;
            let Some(found) = self.pivot_at(pivot) else {
                return Err(format!("op_index: the pivot {} of {id:?} is missing", pivot.0));
            };
            let slot = found.slots.get(here[0] as usize);
            let expected_slot = entries.slot(id, if several { Slot::SEVERAL } else { 0 });
            if slot != Some(&expected_slot)
                || here[1..].iter().any(|clause| found.clauses.get(*clause as usize) != Some(&here[0]))
            {
                return Err(format!("op_index: a slot or clause of {id:?} is wrong"));
            }
            let expected = &mut expected[pivot.index()];
            expected.members += 1;
            let Expected { narrow, wide, .. } = expected;
            entries.with_targets(
                here,
                |operator, entry| narrow.push((operator, entry)),
                |operator, entry| wide.push((operator, entry)),
            );
        }
        if left.is_empty() { Ok(()) } else { Err(format!("op_index: {id:?} has places without a pivot")) }
    }

    fn pivot_at(&self, attribute: AttrId) -> Option<&Pivot> {
        self.pivots.get(attribute.index())?.as_deref()
    }

    fn check_pivot(&self, pivot: &Pivot, expected: Expected) -> Result<(), String> {
        pivot.validate(self.tuning)?;
        let entries = |(operator, list): (Operator, &super::lists::PredicateList<u32>)| {
            list.entries().into_iter().map(move |entry| (operator, entry)).collect::<Vec<_>>()
        };
        compare(pivot.narrow.all().flat_map(entries).collect(), expected.narrow)?;
        let wide = pivot.wide.iter().flat_map(|wide| wide.all()).flat_map(|(operator, list)| {
            list.entries().into_iter().map(move |entry| (operator, entry)).collect::<Vec<_>>()
        });
        compare(wide.collect(), expected.wide)?;
        let stray = pivot
            .clauses
            .iter()
            .filter(|slot| **slot != u32::MAX)
            .any(|slot| pivot.slots.get(*slot as usize).is_none_or(|slot| slot.member == MemberId::NONE));
        if stray || pivot.slots.len() >= CLAUSE as usize || pivot.len() != expected.members {
            return Err(format!("{} members, {} placed, or a stray clause", pivot.len(), expected.members));
        }
        Ok(())
    }
}

fn compare<O: Operand>(
    mut found: Vec<(Operator, Entry<O>)>,
    mut expected: Vec<(Operator, Entry<O>)>,
) -> Result<(), String> {
    found.sort_unstable_by_key(|(operator, entry)| (*operator, entry.place(), entry.high));
    expected.sort_unstable_by_key(|(operator, entry)| (*operator, entry.place(), entry.high));
    if found == expected { Ok(()) } else { Err("the entries are not those of the members".into()) }
}
