//! Candidate rows: from keys and first tests that hold to matches.
//!
//! Which candidates match is unpredictable, and a mispredicted branch costs as much as reading a row. So candidates are
//! collected and filtered by branchless appends, first by one test, then by four or seven at a time with SIMD; only the
//! survivors are evaluated one by one. Their memory is prefetched when they are collected.

use crate::compiled::arena::header::{MAX_UNIFORM_ROW, RowTarget};
use crate::compiled::arena::reader::{load, test_words};
use crate::compiled::arena::test_encoding::{
    complex_entry_narrow, eight_hold, encoding, four_hold, holds_narrow, is_complex_narrow, may_hold_wide,
};
use crate::compiled::matching::evaluation::{EventTests, MatchInput, SubexpressionMemos};
use crate::compiled::matching::simd::prefetch;
use crate::compiled::values::narrow_spaces::EventNarrowSpaces;

/// A row of uniform length that an event has to test: offset of the row (32 bits), number of the event in the batch
/// (16), words of the row (16), from 2, a target and a test, to [`MAX_UNIFORM_ROW`].
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::compiled) struct Candidate(u64);

impl Candidate {
    #[inline(always)]
    pub fn new(start: usize, event: u32, words: usize) -> Candidate {
        Candidate(start as u64 & 0xffff_ffff | u64::from(event as u16) << 32 | (words as u64) << 48)
    }

    /// The candidate of the same event that begins a number of words behind. An offset within the arena and the distance
    /// within a table stay below 2^32.
    #[inline(always)]
    pub fn behind(self, words: usize) -> Candidate {
        Candidate(self.0 + words as u64)
    }

    #[inline(always)]
    pub fn start(self) -> usize {
        self.0 as u32 as usize
    }

    #[inline(always)]
    pub fn event(self) -> usize {
        (self.0 >> 32) as u16 as usize
    }

    #[inline(always)]
    fn words(self) -> usize {
        (self.0 >> 48) as usize
    }
}

/// The candidates that are not evaluated yet. Reused from event to event.
#[derive(Debug, Default)]
pub(in crate::compiled) struct CandidateRows {
    /// The first `count` are candidates, the rest is room for branchless appends.
    uniform: Vec<Candidate>,
    count: usize,
    /// Event, start and end of rows that are longer or have tests of 8 bytes.
    variable: Vec<(u32, u32, u32)>,
}

/// Candidates that are evaluated at a time: enough to amortize the filters, few enough to stay in the cache.
const FLUSH: usize = 512;

/// Candidates after which the filter is chosen again.
const FILTER_CHUNK: usize = 128;

impl CandidateRows {
    /// Makes room for more candidates, and for the appends beyond them.
    #[inline(always)]
    pub fn reserve(&mut self, more: usize) {
        if self.uniform.len() < self.count + more + 9 {
            self.uniform.resize(self.count + 2 * more + 64, Candidate::default());
        }
    }

    /// Adds a candidate, for which there is room.
    #[inline(always)]
    pub fn push(&mut self, arena: &[u32], row: Candidate) {
        prefetch(arena, row.start());
        self.uniform[self.count] = row;
        self.count += 1;
    }

    /// Adds those of eight consecutive rows whose first test holds. Branchless append: write always, advance `kept` only
    /// if the test holds. There is room for nine.
    #[inline(always)]
    pub fn push_passing(
        &mut self,
        spaces: EventNarrowSpaces<'_>,
        mut row: Candidate,
        first_tests: &[u32; 8],
    ) {
        let (words, room) = (row.words(), &mut self.uniform[self.count..][..9]);
        let mut kept = 0;
        for first in first_tests {
            room[kept] = row;
            kept += usize::from(holds_narrow(spaces, *first));
            row = row.behind(words);
        }
        self.count += kept;
    }

    /// Adds the row a number of words behind the first, for each event with a bit. How many bits are set is
    /// unpredictable, so four are appended at a time, without a branch. There is room for 68.
    #[inline(always)]
    pub fn push_each(&mut self, of_events: &[Candidate; 64], behind: usize, mut here: u64) {
        let room = &mut self.uniform[self.count..][..68];
        let mut kept = 0;
        loop {
            for _ in 0..4 {
                room[kept] = of_events[here.trailing_zeros() as usize & 63].behind(behind);
                kept += usize::from(here != 0);
                here &= here.wrapping_sub(1);
            }
            if here == 0 {
                break;
            }
        }
        self.count += kept;
    }

    /// Whether there are enough to evaluate them.
    pub fn should_flush(&self) -> bool {
        self.count.max(self.variable.len()) >= FLUSH
    }

    /// Number of candidates of uniform length.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Prefetches the rows of the candidates from a position on.
    pub fn prefetch(&self, arena: &[u32], from: usize) {
        for row in &self.uniform[from..self.count] {
            prefetch(arena, row.start());
        }
    }

    /// Adds a row of any length.
    pub fn push_variable(&mut self, event: u32, (start, end): (usize, usize)) {
        self.variable.push((event, start as u32, end as u32));
    }

    /// Evaluates all candidates and reports the targets of those that match.
    pub fn evaluate<const WIDE: bool>(
        &mut self,
        input: MatchInput<'_, '_>,
        memos: &mut SubexpressionMemos,
        found: &mut [Vec<u32>],
    ) {
        // The number of a single event is a constant of its own instance.
        match input.spaces {
            [_] => self.filter_uniform::<true>(input),
            _ => self.filter_uniform::<false>(input),
        }
        let arena = input.view.arena;
        for row in self.uniform.iter().take(std::mem::take(&mut self.count)) {
            let (event, words) = (row.event(), read(arena, *row));
            let target = RowTarget::from_word(words[0]);
            if !target.has_complex_tests() || complex_hold(input.tests(event), words, *row, memos) {
                found[event].push(target.reported().word());
            }
        }
        self.filter_variable::<WIDE>(input);
        for (event, start, end) in self.variable.drain(..) {
            let (event, words) = (event as usize, &arena[start as usize..end as usize]);
            report::<WIDE>(input.tests(event), words, memos, &mut found[event]);
        }
    }

    /// Keeps the candidates whose tests hold, complex ones excepted.
    fn filter_uniform<const ONE: bool>(&mut self, input: MatchInput<'_, '_>) {
        let arena = input.view.arena;
        let all = input.narrow.view();
        let first = all.of(0);
        let spaces = |row: Candidate| if ONE { first } else { all.of(row.event()) };
        let CandidateRows { uniform, count, .. } = self;
        let rows = &mut uniform[..*count];
        let (mut kept, mut most_fail) = (0, true);
        for start in (0..*count).step_by(FILTER_CHUNK) {
            let end = (*count).min(start + FILTER_CHUNK);
            let mut left = end;
            if most_fail {
                // By the first test of the row, the least likely one.
                left = start;
                for at in start..end {
                    let row = rows[at];
                    let test = arena.get(row.start() + 1).copied().unwrap_or(0);
                    rows[left] = row;
                    left += usize::from(holds_narrow(spaces(row), test));
                }
            }
            let before = kept;
            for at in start..left {
                let row = rows[at];
                let words = read(arena, row);
                rows[kept] = row;
                // The bits of words that are no tests are set: the target, and what follows the row.
                let all = if most_fail && row.words() <= 6 {
                    let [_, _, tests @ .., _, _] = words;
                    (four_hold(spaces(row), tests) | 0xf << row.words().saturating_sub(2)) & 0xf == 0xf
                } else {
                    (eight_hold(spaces(row), words) | 1 | 0xff << row.words()) & 0xff == 0xff
                };
                kept += usize::from(all);
            }
            // Filtering by the first test pays if it drops a quarter. It is tried again if half of the rows failed.
            most_fail = match most_fail {
                true => 4 * (left - start) < 3 * (end - start),
                false => 2 * (kept - before) < end - start,
            };
        }
        *count = kept;
    }

    /// Keeps the rows of any length whose first two tests hold, or are complex.
    fn filter_variable<const WIDE: bool>(&mut self, input: MatchInput<'_, '_>) {
        let (arena, all) = (input.view.arena, input.narrow.view());
        for test in 0..2 {
            let mut kept = 0;
            for at in 0..self.variable.len() {
                let (event, start, end) = self.variable[at];
                let offset = start as usize + 1 + test * test_words::<WIDE>();
                let exists = offset < end as usize;
                let encoded = load::<WIDE>(arena, if exists { offset } else { start as usize });
                let may_hold = match WIDE {
                    true => may_hold_wide(input.spaces[event as usize].by_dimension(), encoded),
                    false => {
                        let spaces = all.of(event as usize);
                        holds_narrow(spaces, encoded as u32) | is_complex_narrow(encoded as u32)
                    }
                };
                self.variable[kept] = (event, start, end);
                kept += usize::from(may_hold | !exists);
            }
            self.variable.truncate(kept);
        }
    }
}

/// The words of a row, and what follows it up to the maximum length: the arena ends with that many words. Zeros for a row
/// outside the arena, as in a damaged file.
#[inline(always)]
fn read(arena: &[u32], row: Candidate) -> &[u32; MAX_UNIFORM_ROW] {
    let start = row.start();
    let words = arena.get(start..start + MAX_UNIFORM_ROW).and_then(<[u32]>::first_chunk);
    words.unwrap_or(&[0; MAX_UNIFORM_ROW])
}

/// Whether the complex tests of a row hold; its other tests do.
fn complex_hold(
    tests: EventTests<'_, '_>,
    words: &[u32; MAX_UNIFORM_ROW],
    row: Candidate,
    memos: &mut SubexpressionMemos,
) -> bool {
    let mut complex =
        words[1..row.words().min(MAX_UNIFORM_ROW)].iter().filter(|test| is_complex_narrow(**test));
    complex.all(|test| tests.complex_holds(complex_entry_narrow(*test), memos))
}

/// Reports the target of a row if all its tests hold.
#[inline(always)]
fn report<const WIDE: bool>(
    tests: EventTests<'_, '_>,
    row: &[u32],
    memos: &mut SubexpressionMemos,
    found: &mut Vec<u32>,
) {
    let Some((target, mut words)) = row.split_first() else { return };
    while words.len() >= test_words::<WIDE>() {
        if !tests.holds(encoding::<WIDE>(), load::<WIDE>(words, 0), memos) {
            return;
        }
        words = &words[test_words::<WIDE>()..];
    }
    found.push(RowTarget::from_word(*target).reported().word());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiled::limits::ArenaOffset;
    use crate::compiled::matching::bitmaps::MAX_BATCH;

    /// The largest offset, event and length, and the distance that a table adds to an offset.
    #[test]
    fn candidates_hold_what_they_were_given() {
        let (last, event) = (ArenaOffset::MAX as usize, MAX_BATCH as u32 - 1);
        for start in [4, last] {
            let candidate = Candidate::new(start, event, MAX_UNIFORM_ROW);
            for distance in [0, 64 * MAX_UNIFORM_ROW] {
                let behind = candidate.behind(distance);
                assert_eq!(behind.start(), start + distance);
                assert_eq!((behind.event(), behind.words()), (event as usize, MAX_UNIFORM_ROW));
            }
        }
    }
}
