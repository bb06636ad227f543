//! The entries of one place: which residual tests are left, in which order, and which entries form a group.

use super::ArenaWriter;
use crate::compiled::arena::header::RowTarget;
use crate::compiled::build::alternatives::Operand;
use crate::compiled::build::placement::{AccessKey, Posting, Postings};
use crate::compiled::limits::SegmentOverflow;
use std::ops::Range;

/// Minimum entries with residual tests in a list before some of them become groups.
const MIN_GROUPED_LIST: usize = 96;

/// Minimum entries of a group.
const MIN_GROUP: usize = 8;

/// One alternative that is about to be written into a list or a table.
#[derive(Clone, Copy)]
pub(super) struct PendingEntry {
    pub target: RowTarget,
    /// The rank of its member: entries ascend by it.
    pub rank: u32,
    pub keys: [AccessKey; 2],
    /// Where its residual tests begin in `ArenaWriter::tests`.
    start: u32,
    /// Number of its residual tests.
    pub len: u32,
    /// How many of them are not complex; these come first.
    pub plain: u32,
}

/// Entries that continue with the same dimension.
pub(super) struct EntryGroup {
    pub dimension: u32,
    pub entries: Vec<PendingEntry>,
}

impl PendingEntry {
    /// Its residual tests in `ArenaWriter::tests`.
    pub fn tests(&self) -> Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

impl ArenaWriter<'_> {
    /// Collects the entries of a place by rank, with their residual tests: the least likely first, complex ones last.
    pub(super) fn gather(&mut self, postings: &Postings, placed: &[Posting]) -> Result<(), SegmentOverflow> {
        self.entries.clear();
        self.tests.clear();
        for posting in placed {
            let alternative = posting.alternative as usize;
            let start = self.limits.items(self.tests.len(), "residual tests of one place")?;
            let keys = postings.keys(self.conditions, posting);
            let is_key = |operand: &Operand| keys.iter().any(|key| key.satisfies(*operand));
            let operands = self.alternatives.operands(alternative).iter();
            self.tests.extend(operands.filter(|operand| !is_key(operand)));
            // Subexpressions take longest, so they come behind all predicates.
            let selectivity = |operand: &Operand| {
                operand.predicate().map_or(2.0, |predicate| self.conditions[predicate].selectivity)
            };
            self.tests[start as usize..].sort_by(|a, b| selectivity(a).total_cmp(&selectivity(b)));
            let plain = self.move_complex_last(start as usize)?;
            // Each of several list elements may lead here.
            let many_valued = postings
                .access_predicate(posting)
                .is_some_and(|predicate| self.conditions[predicate].many_valued);
            let target = self.alternatives.target(alternative);
            let target = if many_valued { target.repeated() } else { target };
            let end = self.limits.items(self.tests.len(), "residual tests of one place")?;
            let rank = self.ranks.of(target.number()).rank();
            self.entries.push(PendingEntry { target, rank, keys, start, len: end - start, plain });
        }
        self.entries.sort_by_key(|entry| entry.rank);
        Ok(())
    }

    /// Moves the complex tests from `start` on behind the others, as they take about ten times as long. Returns how many
    /// others there are.
    fn move_complex_last(&mut self, start: usize) -> Result<u32, SegmentOverflow> {
        let mut plain = start;
        for at in start..self.tests.len() {
            if !self.encoder.is_complex(self.tests[at])? {
                self.tests[plain..=at].rotate_right(1);
                plain += 1;
            }
        }
        Ok((plain - start) as u32)
    }

    /// Divides the entries of a long list by the dimension of their least likely interval. Returns those in no group.
    pub(super) fn group(&self, entries: Vec<PendingEntry>) -> (Vec<PendingEntry>, Vec<EntryGroup>) {
        if entries.len() < MIN_GROUPED_LIST {
            return (entries, Vec::new());
        }
        let mut flat = Vec::new();
        let mut keyed: Vec<(u32, AccessKey, PendingEntry)> = Vec::new();
        for entry in entries {
            // Tests are sorted by selectivity, so the first that can be a key is the least likely.
            let key = self.tests[entry.tests()].iter().find_map(|operand| {
                let predicate = operand.predicate()?;
                let condition = &self.conditions[predicate];
                let interval = condition.interval().filter(|_| !condition.many_valued)?;
                Some((condition.dimension.get(), AccessKey { interval, predicate: Some(predicate as u32) }))
            });
            match key {
                Some((dimension, key)) => keyed.push((dimension, key, entry)),
                None => flat.push(entry),
            }
        }
        keyed.sort_by_key(|(dimension, _, _)| *dimension);
        let mut groups = Vec::new();
        for members in keyed.chunk_by(|a, b| a.0 == b.0) {
            if members.len() < MIN_GROUP {
                flat.extend(members.iter().map(|(_, _, entry)| *entry));
                continue;
            }
            let keyed = |(_, key, entry): &(u32, AccessKey, PendingEntry)| PendingEntry {
                keys: [*key, AccessKey::NONE],
                ..*entry
            };
            groups.push(EntryGroup { dimension: members[0].0, entries: members.iter().map(keyed).collect() });
        }
        // Groups that are too small were appended.
        flat.sort_by_key(|entry| entry.rank);
        (flat, groups)
    }

    /// Removes the test that an entry's key satisfies: that of a group is still among the tests.
    pub(super) fn without_key_test(&mut self, entry: &PendingEntry, keys: usize) -> PendingEntry {
        let mut entry = *entry;
        let tests = &mut self.tests[entry.tests()];
        let is_key = |operand: &Operand| entry.keys[..keys].iter().any(|key| key.satisfies(*operand));
        if let Some(at) = tests.iter().position(is_key) {
            tests[..=at].rotate_right(1);
            entry.plain -= u32::from(at < entry.plain as usize);
            entry.start += 1;
            entry.len -= 1;
        }
        entry
    }
}
