//! Does a test hold for an event? Encoded tests, complex tests, and subexpressions with their memos.

use crate::compiled::arena::complex_test::{ComplexTest, NO_MEMO};
use crate::compiled::arena::test_encoding::{ResidualTest, TestEncoding};
use crate::compiled::segment::SegmentView;
use crate::compiled::values::event_spaces::{ElementSpaces, EventSpaces};
use crate::compiled::values::narrow_spaces::NarrowSpaces;
use crate::event::Event;

/// One event to be tested.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct EventTests<'t, 'a> {
    pub view: &'t SegmentView<'a>,
    pub spaces: &'t EventSpaces,
    /// `None` if no test of the segment evaluates a predicate directly.
    pub event: Option<&'t Event<'t>>,
    pub epoch: MemoEpoch,
}

/// The events that are matched: a batch, or one.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct MatchInput<'t, 'a> {
    pub view: &'t SegmentView<'a>,
    /// By event.
    pub spaces: &'t [EventSpaces],
    pub narrow: &'t NarrowSpaces,
    /// The event if it is one; `None` for a batch, which only segments without direct predicates match.
    pub event: Option<&'t Event<'t>>,
    /// By event.
    pub epochs: &'t [MemoEpoch],
}

impl<'t, 'a> MatchInput<'t, 'a> {
    pub fn tests(&self, event: usize) -> EventTests<'t, 'a> {
        let MatchInput { view, spaces, epochs, .. } = *self;
        EventTests { view, spaces: &spaces[event], event: self.event, epoch: epochs[event] }
    }
}

/// Whether a space is in an interval or, if `outside`, present and not in it.
#[inline(always)]
fn accepts(space: u32, low: u32, high: u32, outside: bool) -> bool {
    let inside = space.wrapping_sub(low) <= high.wrapping_sub(low);
    if outside { !inside && space != 0 } else { inside }
}

impl EventTests<'_, '_> {
    /// Whether an encoded test holds.
    #[inline(always)]
    pub fn holds(&self, encoding: TestEncoding, encoded: u64, memos: &mut SubexpressionMemos) -> bool {
        match encoding.decode(encoded) {
            ResidualTest::Interval { dimension, low, high, outside } => {
                accepts(self.spaces.by_dimension().of(dimension), low, high, outside)
            }
            ResidualTest::Complex(entry) => self.complex_holds(entry, memos),
        }
    }

    /// Whether a complex test holds.
    #[cold]
    pub fn complex_holds(&self, entry: u32, memos: &mut SubexpressionMemos) -> bool {
        let space = |dimension: u32| self.spaces.by_dimension().of(dimension);
        match ComplexTest::unpack(self.view.complex[entry as usize]) {
            ComplexTest::InIntervals { dimension, start, len } => {
                self.in_intervals(space(dimension), start, len)
            }
            ComplexTest::InBitmap { dimension, start } => {
                let space = space(dimension);
                self.view.bits[start as usize + space as usize / 64] >> (space % 64) & 1 == 1
            }
            ComplexTest::AnyElementIn { dimension, start, len } => {
                let elements = self.spaces.elements(dimension);
                elements.is_some_and(|elements| self.any_in_intervals(elements, start, len))
            }
            ComplexTest::AllElementsIn { dimension, start, len } => {
                let elements = self.spaces.elements(dimension);
                elements.is_some_and(|elements| {
                    elements.spaces.iter().all(|space| self.in_intervals(*space, start, len))
                })
            }
            ComplexTest::Interval { dimension, low, high } => accepts(space(dimension), low, high, false),
            ComplexTest::OutsideInterval { dimension, low, high } => {
                accepts(space(dimension), low, high, true)
            }
            ComplexTest::Direct { predicate } => {
                self.event.is_some_and(|event| self.view.strings.holds(predicate as usize, event))
            }
            ComplexTest::Subexpression { start, len, memo, all } => {
                if memo != NO_MEMO
                    && let Some(held) = memos.get(memo, self.epoch)
                {
                    return held;
                }
                let tests = &self.view.subexpression_tests[start as usize..][..len as usize];
                let mut holds = |encoded: &u64| self.holds(TestEncoding::Wide, *encoded, memos);
                let held = if all { tests.iter().all(&mut holds) } else { tests.iter().any(&mut holds) };
                if memo != NO_MEMO {
                    memos.set(memo, self.epoch, held);
                }
                held
            }
        }
    }

    /// Whether some element is in one of the intervals. The shorter side is looked up in the longer one; looking up an
    /// interval costs about a quarter.
    fn any_in_intervals(&self, elements: ElementSpaces<'_>, start: u32, len: u32) -> bool {
        if len as usize > 4 * elements.spaces.len() {
            return elements.spaces.iter().any(|space| self.in_intervals(*space, start, len));
        }
        let intervals = &self.view.intervals[start as usize..][..len as usize];
        intervals.iter().any(|[low, high]| elements.any_between(*low, *high))
    }

    fn in_intervals(&self, space: u32, start: u32, len: u32) -> bool {
        let intervals = &self.view.intervals[start as usize..][..len as usize];
        let at = intervals.partition_point(|[low, _]| *low <= space);
        at > 0 && space <= intervals[at - 1][1]
    }
}

/// Results of shared subexpressions. A result counts if it has the epoch of the event, so nothing is cleared between
/// events.
#[derive(Debug, Default)]
pub(in crate::compiled) struct SubexpressionMemos {
    /// By memo slot: the epoch, and in the lowest bit the result.
    results: Vec<u32>,
    /// The latest epoch: 31 bits, never 0.
    epoch: u32,
}

/// Identifies an event among the results of subexpressions.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::compiled) struct MemoEpoch(u32);

impl SubexpressionMemos {
    /// A new epoch, for an event and a segment with this many memo slots.
    pub fn begin(&mut self, memos: u32) -> MemoEpoch {
        if memos > 0 {
            self.epoch = (self.epoch + 1) & (u32::MAX >> 1);
            if self.epoch == 0 || self.results.len() < memos as usize {
                self.results.clear();
                self.results.resize(memos as usize, 0);
                self.epoch = self.epoch.max(1);
            }
        }
        MemoEpoch(self.epoch)
    }

    fn get(&self, memo: u32, epoch: MemoEpoch) -> Option<bool> {
        let result = self.results[memo as usize];
        (result >> 1 == epoch.0).then_some(result & 1 == 1)
    }

    fn set(&mut self, memo: u32, epoch: MemoEpoch, held: bool) {
        self.results[memo as usize] = epoch.0 << 1 | u32::from(held);
    }
}
