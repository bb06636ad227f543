//! Matching: the paper's Algorithm 2, with the attributes of the event as candidate pivots.
//!
//! 1. Each value of the event becomes operands: half steps or a Boolean, a wide operand, and the symbols it satisfies.
//! 2. For each attribute of the event that is a pivot, its own operands are searched in its lists, or compared with all
//!    members of a small partition. The members found are candidates, unless a filter shows that the event lacks an
//!    attribute they need: their counters are set to the number of predicates left, all others are 0. No candidate, next
//!    pivot; few candidates are tested one by one.
//! 3. All operands of the event are searched in the lists of the pivot; a satisfied predicate counts down. A candidate
//!    whose counter reaches 0 has matched, unless an open clause fails. Counters of candidates are reset, so that a
//!    pivot costs what it touches.

use super::lists::{Operator, OperatorLists, Tuning};
use super::operand::{Field, Operand, OperandKind, Wide, narrow_of, wide_of};
use super::pivot::{CLAUSE, Pivot, Slot};
use super::record::{Clauses, Content, Piece};
use super::symbols::SymbolScratch;
use super::{MemberState, OpIndex};
use crate::engine::SubId;
use crate::engine::shared::dedup::SubscriptionDedup;
use crate::engine::shared::members::MemberId;
use crate::engine::shared::records::AttributeFilter;
use crate::event::Event;
use crate::schema::AttrId;
use crate::value::Value;

/// An operand of the event.
#[derive(Clone, Copy, Debug)]
struct Probe<O> {
    attribute: AttrId,
    kind: OperandKind,
    /// The field of predicates that count.
    field: Field,
    value: O,
}

impl<O> Probe<O> {
    fn new(attribute: AttrId, kind: OperandKind, value: O) -> Probe<O> {
        Probe { attribute, kind, field: Field::new(attribute, kind, false), value }
    }
}

/// The buffers of one matching thread.
#[derive(Default)]
pub(super) struct OpIndexScratch {
    /// Operands for the lists of `=`.
    exact: Vec<Probe<u32>>,
    /// Numbers in half steps, for the lists of ranges.
    ordered: Vec<Probe<u32>>,
    /// Wide operands.
    wide: Vec<Probe<Wide>>,
    /// The event's attributes.
    attributes: AttributeFilter,
    symbols: SymbolScratch,
    counting: Counting,
    dedup: SubscriptionDedup,
}

/// The counters of the pivot at hand.
#[derive(Default)]
struct Counting {
    /// By slot: predicates that a candidate still needs; 0 for all others.
    counters: Vec<u32>,
    /// The candidates.
    candidates: Vec<u32>,
    /// By clause: the last visit in which it was satisfied.
    marks: Vec<u32>,
    /// Number of the visit to a pivot, from 1 on.
    visit: u32,
    /// Slots whose predicates are all satisfied.
    complete: Vec<u32>,
}

impl Counting {
    fn begin(&mut self, pivot: &Pivot) {
        self.visit = self.visit.wrapping_add(1);
        if self.visit == 0 {
            self.marks.fill(0);
            self.visit = 1;
        }
        if self.counters.len() < pivot.slots.len() {
            self.counters.resize(pivot.slots.len(), 0);
        }
        if self.marks.len() < pivot.clauses.len() {
            self.marks.resize(pivot.clauses.len(), 0);
        }
    }

    /// A predicate on the pivot attribute is satisfied: the member is a candidate, if the event may have what it needs.
    #[inline]
    fn add_candidate(&mut self, at: u32, slot: &Slot, attributes: AttributeFilter) {
        match slot.need & Slot::COUNT {
            0 => self.complete.push(at),
            need if slot.attributes.may_be_within(attributes) => {
                self.counters[at as usize] = need;
                self.candidates.push(at);
            }
            _ => {}
        }
    }

    /// Finds the candidates of a small partition: what they accept is beside their counters.
    fn scan_slots(&mut self, slots: &[Slot], value: Value<'_>, attributes: AttributeFilter) {
        let Some((OperandKind::Steps, value)) = narrow_of(value) else { return };
        for (at, slot) in (0..).zip(slots) {
            let [low, high] = slot.access;
            if low <= value && value <= high {
                self.add_candidate(at, slot, attributes);
            }
        }
    }

    /// Another predicate is satisfied.
    #[inline]
    fn count(&mut self, clauses: &[u32], target: u32) {
        let mut slot = target as usize;
        if target >= CLAUSE {
            let clause = (target & !CLAUSE) as usize;
            slot = clauses[clause] as usize;
            if std::mem::replace(&mut self.marks[clause], self.visit) == self.visit {
                return;
            }
        }
        let counter = &mut self.counters[slot];
        if *counter == 1 {
            self.complete.push(slot as u32);
        }
        *counter = counter.saturating_sub(1);
    }

    fn end(&mut self) {
        for slot in self.candidates.drain(..) {
            self.counters[slot as usize] = 0;
        }
        self.complete.clear();
    }
}

/// Visits the targets that one operand satisfies, under a field.
#[inline]
fn find<O: Operand>(
    lists: &OperatorLists<O>,
    operators: &[Operator],
    field: Field,
    value: O,
    tuning: Tuning,
    mut visit: impl FnMut(u32),
) {
    for &operator in operators {
        let list = lists.get(operator);
        if !list.is_empty() {
            list.find(operator, field, value, tuning, &mut visit);
        }
    }
}

/// Visits the targets that all operands satisfy, list by list.
#[inline]
fn find_all<O: Operand>(
    lists: &OperatorLists<O>,
    operators: &[Operator],
    probes: &[Probe<O>],
    tuning: Tuning,
    mut visit: impl FnMut(u32),
) {
    for &operator in operators {
        let list = lists.get(operator);
        if !list.is_empty() {
            probes.iter().for_each(|probe| list.find(operator, probe.field, probe.value, tuning, &mut visit));
        }
    }
}

/// Whether an event has a value that a piece accepts. `exact` has the symbols that its values satisfy.
fn satisfies(event: &Event<'_>, piece: Piece, exact: &[Probe<u32>]) -> bool {
    let value = event.value(piece.attribute);
    match piece.content {
        Content::Narrow(_, OperandKind::Symbol, symbol, _) => {
            let field = Field::new(piece.attribute, OperandKind::Symbol, false);
            let from = exact.partition_point(|probe| probe.field < field);
            let mut symbols = exact[from..].iter().take_while(|probe| probe.field == field);
            symbols.any(|probe| probe.value == symbol)
        }
        Content::Narrow(operator, kind, low, high) => narrow_of(value)
            .is_some_and(|(found, operand)| found == kind && operator.accepts(operand, low, high)),
        Content::Wide(operator, kind, low, high) => wide_of(value)
            .is_some_and(|(found, operand)| found == kind && operator.accepts(operand, low, high)),
        Content::Open(_) => false,
    }
}

/// Maximum candidates of a partition that are tested one by one: counting takes a search per operand of the event, as long
/// as some tests.
const FEW: usize = 4;

const EXACT: &[Operator] = &[Operator::Equal];
const RANGES: &[Operator] = &[Operator::AtMost, Operator::AtLeast, Operator::Between];

impl OpIndex {
    pub(super) fn find_matches(
        &self,
        event: &Event<'_>,
        scratch: &mut OpIndexScratch,
        matches: &mut Vec<SubId>,
    ) {
        self.set_probes(event, scratch);
        scratch.dedup.begin_event();
        for &member in &self.unconditional {
            self.report(
                member,
                self.members.is_one_of_several(member),
                true,
                event,
                &mut scratch.dedup,
                matches,
            );
        }
        // Read ahead, so that the cache misses of different pivots overlap.
        let mut read = 0;
        for cell in event.cells() {
            if let Some(pivot) = self.pivot(cell.attribute) {
                read ^= match pivot.is_small() {
                    true => pivot.slots.iter().step_by(2).fold(0, |read, slot| read ^ slot.need),
                    false => {
                        pivot.narrow.get(Operator::Equal).prefetch()
                            ^ pivot.narrow.get(Operator::Between).prefetch()
                    }
                };
            }
        }
        std::hint::black_box(read);
        for cell in event.cells() {
            if let Some(pivot) = self.pivot(cell.attribute) {
                self.visit_pivot(cell.attribute, pivot, event, scratch, matches);
            }
        }
    }

    fn pivot(&self, attribute: AttrId) -> Option<&Pivot> {
        self.pivots.get(attribute.index())?.as_deref()
    }

    /// Step 1.
    fn set_probes(&self, event: &Event<'_>, scratch: &mut OpIndexScratch) {
        let OpIndexScratch { exact, ordered, wide, attributes, symbols, .. } = scratch;
        *attributes = AttributeFilter::default();
        exact.clear();
        ordered.clear();
        wide.clear();
        for cell in event.cells() {
            attributes.add(cell.attribute);
            let value = event.resolve(cell.slot);
            if let Some((kind, operand)) = narrow_of(value) {
                let probe = Probe::new(cell.attribute, kind, operand);
                exact.push(probe);
                if kind == OperandKind::Steps {
                    ordered.push(probe);
                }
            }
            wide.extend(wide_of(value).map(|(kind, operand)| Probe::new(cell.attribute, kind, operand)));
            self.symbols.find(event, cell, symbols, |symbol| {
                exact.push(Probe::new(cell.attribute, OperandKind::Symbol, symbol.0));
            });
        }
        // In the order of the lists, which are then read from front to back.
        exact.sort_unstable_by_key(|probe| probe.field);
        ordered.sort_unstable_by_key(|probe| probe.field);
    }

    /// Whether the event satisfies every clause that is not open.
    fn closed_clauses_hold(&self, member: MemberId, event: &Event<'_>, exact: &[Probe<u32>]) -> bool {
        let record = self.records.get(self.members.get(member).record);
        let mut closed = Clauses(record).filter(|clause| !clause.is_open());
        closed.all(|clause| clause.pieces().any(|piece| satisfies(event, piece, exact)))
    }

    /// Steps 2 and 3.
    fn visit_pivot(
        &self,
        attribute: AttrId,
        pivot: &Pivot,
        event: &Event<'_>,
        scratch: &mut OpIndexScratch,
        matches: &mut Vec<SubId>,
    ) {
        scratch.counting.begin(pivot);
        if pivot.is_small() {
            let value = event.value(attribute);
            scratch.counting.scan_slots(&pivot.slots, value, scratch.attributes);
        } else {
            self.search_candidates(attribute, pivot, scratch);
        }
        let OpIndexScratch { exact, ordered, wide, counting, dedup, .. } = scratch;
        if counting.candidates.len() <= FEW {
            for &slot in &counting.candidates {
                if self.closed_clauses_hold(pivot.slots[slot as usize].member, event, exact) {
                    counting.complete.push(slot);
                }
            }
        } else {
            let tuning = self.tuning;
            find_all(&pivot.narrow, EXACT, exact, tuning, |target| counting.count(&pivot.clauses, target));
            find_all(&pivot.narrow, RANGES, ordered, tuning, |target| counting.count(&pivot.clauses, target));
            if let Some(lists) = &pivot.wide {
                find_all(lists, &Operator::ALL, wide, tuning, |target| {
                    counting.count(&pivot.clauses, target)
                });
            }
        }
        for &slot in &counting.complete {
            let Slot { member, need, .. } = pivot.slots[slot as usize];
            let (several, open) = (need & Slot::SEVERAL != 0, need & Slot::OPEN != 0);
            self.report(member, several, open, event, dedup, matches);
        }
        counting.end();
    }

    /// Finds the candidates of a partition in its lists.
    fn search_candidates(&self, attribute: AttrId, pivot: &Pivot, scratch: &mut OpIndexScratch) {
        let OpIndexScratch { exact, wide, attributes, counting, .. } = scratch;
        for probe in exact.iter().filter(|probe| probe.attribute == attribute) {
            let field = Field::new(attribute, probe.kind, true);
            let operators = if probe.kind == OperandKind::Steps { &Operator::ALL } else { EXACT };
            find(&pivot.narrow, operators, field, probe.value, self.tuning, |slot| {
                counting.add_candidate(slot, &pivot.slots[slot as usize], *attributes);
            });
        }
        if let Some(lists) = &pivot.wide {
            for probe in wide.iter().filter(|probe| probe.attribute == attribute) {
                let field = Field::new(attribute, probe.kind, true);
                find(lists, &Operator::ALL, field, probe.value, self.tuning, |slot| {
                    counting.add_candidate(slot, &pivot.slots[slot as usize], *attributes);
                });
            }
        }
    }

    /// Reports a member, unless an open clause fails or its subscription was reported before.
    #[inline]
    fn report(
        &self,
        member: MemberId,
        several: bool,
        open: bool,
        event: &Event<'_>,
        dedup: &mut SubscriptionDedup,
        matches: &mut Vec<SubId>,
    ) {
        if open && !self.open_clauses_hold(member, event) {
            return;
        }
        let sub = self.members.owner(member);
        if !several || dedup.insert(sub) {
            matches.push(sub);
        }
    }

    fn open_clauses_hold(&self, member: MemberId, event: &Event<'_>) -> bool {
        let MemberState { record, .. } = *self.members.get(member);
        let mut open = Clauses(self.records.get(record)).filter(|clause| clause.is_open());
        open.all(|clause| {
            clause.pieces().any(|piece| match piece.content {
                Content::Open(predicate) => self.symbols.predicates.get(predicate).holds(event),
                _ => false,
            })
        })
    }
}
