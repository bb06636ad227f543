//! How many tests does an event evaluate at most? Computed when a file is opened.
//!
//! The [encoder](crate::compiled::arena::writer) gives a memo to every subexpression that is referred to more than once, so
//! an event evaluates it once. A file with another author may refer to subexpressions without memos again and again: entry
//! `n` twice to entry `n - 1`, that twice to the one before, and one row evaluates `2^n` tests. A batch evaluates
//! without memos, so it has that cost for every shared subexpression.
//!
//! Costs are sums with saturation, from the first entry to the last: entries refer to earlier ones only. A segment that
//! exceeds [`MAX_PER_ENTRY`] and [`MAX_PER_WORD`] gets memos for all subexpressions, or is not matched in batches; its
//! answers are the same.

use crate::compiled::arena::complex_test::{ComplexTest, ComplexTests, NO_MEMO};
use crate::compiled::arena::test_encoding::{ResidualTest, TestEncoding};

/// Tests of one entry that are accepted in any case.
const MAX_PER_ENTRY: u64 = 4_096;
/// Tests of all rows per word of the segment that are accepted in any case.
const MAX_PER_WORD: u64 = 64;
/// Maximum nesting of subexpressions in a batch: a level takes about 1 KiB of the stack.
const MAX_BATCH_NESTING: u16 = 500;

/// The tests that entries and rows evaluate, subexpressions included.
pub(in crate::compiled) struct TestCosts {
    /// By entry: tests for one event, where results with a memo are there already.
    per_event: Vec<u64>,
    /// By entry: tests for a batch, which has no memos.
    per_batch: Vec<u64>,
    /// The sum of `per_event` over the complex tests of all rows and all entries with a memo.
    all_per_event: u64,
    /// The sum of `per_batch` over the complex tests of all rows.
    all_per_batch: u64,
    /// The deepest nesting of subexpressions.
    nesting: u16,
}

impl TestCosts {
    /// The costs of all entries, whose references were checked; no rows yet.
    pub fn new(complex: &ComplexTests, nesting: u16) -> TestCosts {
        let mut costs = TestCosts {
            per_event: Vec::with_capacity(complex.entries.len()),
            per_batch: Vec::with_capacity(complex.entries.len()),
            all_per_event: 0,
            all_per_batch: 0,
            nesting,
        };
        let mut has_memo = Vec::with_capacity(complex.entries.len());
        for packed in complex.entries.iter() {
            let entry = ComplexTest::unpack(*packed);
            let (mut event, mut batch) = (1_u64, 1_u64);
            match entry {
                ComplexTest::Subexpression { start, len, .. } => {
                    let tests = complex.subexpression_tests.iter().skip(start as usize).take(len as usize);
                    for encoded in tests {
                        let (inner_event, inner_batch) = match TestEncoding::Wide.decode(*encoded) {
                            ResidualTest::Complex(inner) => costs.of(inner as usize, &has_memo),
                            ResidualTest::Interval { .. } => (1, 1),
                        };
                        event = event.saturating_add(inner_event);
                        batch = batch.saturating_add(inner_batch);
                    }
                }
                ComplexTest::InIntervals { len, .. } => batch += u64::from(len),
                _ => {}
            }
            let memo = matches!(entry, ComplexTest::Subexpression { memo, .. } if memo != NO_MEMO);
            if memo {
                costs.all_per_event = costs.all_per_event.saturating_add(event);
            }
            has_memo.push(memo);
            costs.per_event.push(event);
            costs.per_batch.push(batch);
        }
        // What a row adds for an entry with a memo is a lookup.
        for (cost, memo) in costs.per_event.iter_mut().zip(has_memo) {
            *cost = if memo { 1 } else { *cost };
        }
        costs
    }

    fn of(&self, entry: usize, has_memo: &[bool]) -> (u64, u64) {
        let event = if has_memo.get(entry) == Some(&true) { Some(&1) } else { self.per_event.get(entry) };
        (event.copied().unwrap_or(1), self.per_batch.get(entry).copied().unwrap_or(1))
    }

    /// Adds a complex test of a row.
    pub fn add_row_test(&mut self, entry: u32) {
        let (event, batch) = (self.per_event.get(entry as usize), self.per_batch.get(entry as usize));
        self.all_per_event = self.all_per_event.saturating_add(event.copied().unwrap_or(1));
        self.all_per_batch = self.all_per_batch.saturating_add(batch.copied().unwrap_or(1));
    }

    /// Whether an event evaluates few enough tests in a segment of this many words.
    pub fn fit_events(&self, words: usize) -> bool {
        fits(&self.per_event, self.all_per_event, words)
    }

    /// Whether a batch evaluates few enough tests in a segment of this many words, and on a stack of 2 MiB.
    pub fn fit_batches(&self, words: usize) -> bool {
        self.nesting <= MAX_BATCH_NESTING && fits(&self.per_batch, self.all_per_batch, words)
    }
}

fn fits(of_entries: &[u64], all: u64, words: usize) -> bool {
    let largest = of_entries.iter().max().copied().unwrap_or(0);
    largest <= MAX_PER_ENTRY || all <= MAX_PER_WORD.saturating_mul(words as u64)
}
