//! Does a test hold for an event? Tests in words, those of the table, and subexpressions with their memos.

use crate::compiled::arena::test_encoding::Format;
use crate::compiled::build::conditions::{Check, Complex, UNSHARED};
use crate::compiled::values::event_spaces::{Elements, Located};
use crate::compiled::values::short_spaces::Shorts;
use crate::compiled::view::View;
use crate::event::Event;

/// Tests on one event.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct Tests<'t, 'a> {
    pub view: &'t View<'a>,
    pub located: &'t Located,
    /// `None` if no test asks for it.
    pub event: Option<&'t Event<'t>>,
    pub memo: MemoEvent,
}

/// The events that walk together; often only one.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct Events<'t, 'a> {
    pub view: &'t View<'a>,
    pub located: &'t [Located],
    pub shorts: &'t Shorts,
    /// The event if it is one, or `None` if no test asks for it.
    pub event: Option<&'t Event<'t>>,
    pub memos: &'t [MemoEvent],
}

impl<'t, 'a> Events<'t, 'a> {
    pub fn tests(&self, event: usize) -> Tests<'t, 'a> {
        let Events { view, located, memos, .. } = *self;
        Tests { view, located: &located[event], event: self.event, memo: memos[event] }
    }
}

/// Whether a space is accepted by a test that is not complex.
#[inline(always)]
fn accepts(space: u32, low: u32, high: u32, outside: bool) -> bool {
    let inside = space.wrapping_sub(low) <= high.wrapping_sub(low);
    if outside { !inside && space != 0 } else { inside }
}

impl Tests<'_, '_> {
    #[inline(always)]
    pub fn holds(&self, format: Format, word: u64, memos: &mut Memos) -> bool {
        match format.decode(word) {
            Check::Interval { dimension, low, high, outside } => {
                accepts(self.located.spaces().of(dimension), low, high, outside)
            }
            Check::Complex(entry) => self.complex(entry, memos),
        }
    }

    #[cold]
    pub fn complex(&self, entry: u32, memos: &mut Memos) -> bool {
        let space = |dimension: u32| self.located.spaces().of(dimension);
        match Complex::from_words(self.view.entries[entry as usize]) {
            Complex::Within { dimension, start, len } => self.within(space(dimension), start, len),
            Complex::Listed { dimension, start } => {
                let space = space(dimension);
                self.view.bits[start as usize + space as usize / 64] >> (space % 64) & 1 == 1
            }
            Complex::AnyWithin { dimension, start, len } => {
                let elements = self.located.elements(dimension);
                elements.is_some_and(|elements| self.any_within(elements, start, len))
            }
            Complex::AllWithin { dimension, start, len } => {
                let elements = self.located.elements(dimension);
                elements.is_some_and(|elements| {
                    elements.spaces.iter().all(|space| self.within(*space, start, len))
                })
            }
            Complex::Between { dimension, low, high } => accepts(space(dimension), low, high, false),
            Complex::Outside { dimension, low, high } => accepts(space(dimension), low, high, true),
            Complex::Asked { predicate } => {
                self.event.is_some_and(|event| self.view.textuals.holds(predicate as usize, event))
            }
            Complex::Program { start, len, memo, all } => {
                if memo != UNSHARED
                    && let Some(held) = memos.get(memo, self.memo)
                {
                    return held;
                }
                let words = &self.view.programs[start as usize..][..len as usize];
                let mut holds = |word: &u64| self.holds(Format::Wide, *word, memos);
                let held = if all { words.iter().all(&mut holds) } else { words.iter().any(&mut holds) };
                if memo != UNSHARED {
                    memos.set(memo, self.memo, held);
                }
                held
            }
        }
    }

    /// Whichever are fewer are looked up among the others; intervals take less each.
    fn any_within(&self, elements: Elements<'_>, start: u32, len: u32) -> bool {
        if len as usize > 4 * elements.spaces.len() {
            return elements.spaces.iter().any(|space| self.within(*space, start, len));
        }
        let intervals = &self.view.intervals[start as usize..][..len as usize];
        intervals.iter().any(|[low, high]| elements.any_between(*low, *high))
    }

    fn within(&self, space: u32, start: u32, len: u32) -> bool {
        let intervals = &self.view.intervals[start as usize..][..len as usize];
        let at = intervals.partition_point(|[low, _]| *low <= space);
        at > 0 && space <= intervals[at - 1][1]
    }
}

/// Results of shared programs during one event.
#[derive(Debug, Default)]
pub(in crate::compiled) struct Memos {
    /// The event's number, and in the lowest bit the result.
    results: Vec<u32>,
    event: u32,
}

/// An event's number among those that have a memo.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::compiled) struct MemoEvent(u32);

impl Memos {
    /// Numbers the next event.
    pub fn begin(&mut self, memos: u32) -> MemoEvent {
        if memos > 0 {
            self.event = (self.event + 1) & (u32::MAX >> 1);
            if self.event == 0 || self.results.len() < memos as usize {
                self.results.clear();
                self.results.resize(memos as usize, 0);
                self.event = self.event.max(1);
            }
        }
        MemoEvent(self.event)
    }

    fn get(&self, memo: u32, event: MemoEvent) -> Option<bool> {
        let result = self.results[memo as usize];
        (result >> 1 == event.0).then_some(result & 1 == 1)
    }

    fn set(&mut self, memo: u32, event: MemoEvent, held: bool) {
        self.results[memo as usize] = event.0 << 1 | u32::from(held);
    }
}
