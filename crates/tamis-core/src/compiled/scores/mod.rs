//! How much does a match count, and at most? Compiled from the weights of the rules, so that ranking parses no text.
//!
//! The *bound* of a member is the sum of the weights of its predicates, from left to right: no event without attribute
//! weights gives it a greater score. For a member all of whose predicates are in every match, as of a conjunction, the bound
//! is the score. Members are *ranked* by bound, ties by number, which is insertion order: of two members that can only reach
//! their bounds, the one with the smaller rank is the better. The arena stores the entries of every list and table by
//! ascending rank, so ranking reads a prefix of each.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `ranks` | which rank and bound has a member, and from which rank on is no member good enough? |
//! | `tokens` | which weighted predicates does a member have, and which of them does an event satisfy? |
//! | `builder` | how are both collected while a segment is built? |
//!
//! Cost: 4 bytes of rank, 4 bytes of token start and 1 to 3 bytes per predicate with the default weight; 12 bytes per distinct
//! bound and 8 per distinct weight of a segment.

mod builder;
mod ranks;
mod tokens;

pub(in crate::compiled) use builder::{ScoreTest, ScoresBuilder};
pub(crate) use ranks::RankFloor;
pub(in crate::compiled) use ranks::{Ranks, RanksView};
pub(in crate::compiled) use tokens::{TokensView, WeightedTokens};

use crate::compiled::arena::test_costs::TestCosts;
use crate::compiled::arena::test_encoding::{ResidualTest, TestEncoding};
use crate::compiled::values::spaces::ValueSpacesView;
use crate::storage::{Sections, SectionsWriter};

/// The first format version with scores.
const FIRST_VERSION: u32 = 3;

/// The scores of a segment's members. Empty if the segment is of a file without them: then texts are parsed for ranking.
#[derive(Clone, Debug, Default)]
pub(in crate::compiled) struct Scores {
    pub ranks: Ranks,
    pub tokens: WeightedTokens,
}

impl Scores {
    pub fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    pub fn memory(&self) -> usize {
        self.ranks.memory() + self.tokens.memory()
    }

    /// Writes seven sections from a tag on.
    pub fn write(&self, out: &mut SectionsWriter, tags: u32) {
        self.ranks.write(out, tags);
        self.tokens.write(out, tags + 3);
    }

    /// What [`Scores::write`] wrote for a segment of `len` members and `attributes`; files of format 2 have none.
    pub fn open(sections: &Sections, tags: u32, len: usize, attributes: usize) -> Result<Scores, String> {
        if sections.version() < FIRST_VERSION {
            return Ok(Scores::default());
        }
        let scores =
            Scores { ranks: Ranks::open(sections, tags)?, tokens: WeightedTokens::open(sections, tags + 3)? };
        if !scores.is_empty() {
            scores.ranks.check(len)?;
            scores.tokens.check(len, attributes)?;
        }
        Ok(scores)
    }

    /// Checks that the tests of weighted predicates refer to spaces and entries that exist, and adds what an event evaluates
    /// if it scores every member.
    pub fn check_tests(
        &self,
        spaces: &ValueSpacesView<'_>,
        complex: usize,
        costs: &mut TestCosts,
    ) -> Result<(), String> {
        for encoded in self.tokens.tests.iter() {
            let is_sound = match TestEncoding::Wide.decode(*encoded) {
                ResidualTest::Interval { dimension, low, high, .. } => {
                    low <= high && spaces.get_count(dimension).is_some_and(|count| high < count)
                }
                ResidualTest::Complex(entry) => (entry as usize) < complex,
            };
            if !is_sound {
                return Err("the test of a weighted predicate leads outside".into());
            }
        }
        let view = self.tokens.view();
        view.for_each_test(|encoded| {
            if let ResidualTest::Complex(entry) = TestEncoding::Wide.decode(encoded) {
                costs.add_row_test(entry);
            }
        });
        Ok(())
    }
}
