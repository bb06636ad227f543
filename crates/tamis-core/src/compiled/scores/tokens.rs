//! The weighted predicates of each member, as written, from left to right.
//!
//! A predicate is up to three numbers, each in 7 bits per byte, the lowest first; the highest bit says that a byte follows:
//!
//! ```text
//! attribute << 2 | has a test << 1 | has a weight
//! position of its weight among the distinct weights      1.0 without one
//! position of its test among the distinct tests          without one it is in every match
//! ```

use crate::compiled::arena::test_encoding::TestEncoding;
use crate::compiled::matching::evaluation::{EventTests, SubexpressionMemos};
use crate::engine::scoring::AttributeWeights;
use crate::schema::AttrId;
use crate::storage::{Array, Sections, SectionsWriter};

pub(super) const HAS_WEIGHT: u64 = 1;
pub(super) const HAS_TEST: u64 = 2;

/// See the module's head.
#[derive(Clone, Debug, Default)]
pub(in crate::compiled) struct WeightedTokens {
    /// Where the tokens of each member begin, and the end.
    pub starts: Array<u32>,
    pub tokens: Array<u8>,
    /// Distinct weights other than 1.0, finite and not negative.
    pub weights: Array<f64>,
    /// Distinct tests, encoded in 8 bytes.
    pub tests: Array<u64>,
}

/// Appends a number.
pub(super) fn write_number(mut number: u64, tokens: &mut Vec<u8>) {
    while number >= 0x80 {
        tokens.push(number as u8 | 0x80);
        number >>= 7;
    }
    tokens.push(number as u8);
}

/// Takes a number off the front; `None` at the end, and where a damaged file has no end of a number.
#[inline(always)]
fn read_number(tokens: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = tokens.split_first()?;
        *tokens = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
        if shift > 56 {
            return None;
        }
    }
}

impl WeightedTokens {
    pub fn view(&self) -> TokensView<'_> {
        TokensView { starts: &self.starts, tokens: &self.tokens, weights: &self.weights, tests: &self.tests }
    }

    pub fn memory(&self) -> usize {
        self.starts.memory() + self.tokens.memory() + self.weights.memory() + self.tests.memory()
    }

    /// Writes four sections from a tag on.
    pub fn write(&self, out: &mut SectionsWriter, tags: u32) {
        out.put(tags, &self.starts);
        out.put(tags + 1, &self.tokens);
        out.put(tags + 2, &self.weights);
        out.put(tags + 3, &self.tests);
    }

    pub fn open(sections: &Sections, tags: u32) -> Result<WeightedTokens, String> {
        Ok(WeightedTokens {
            starts: sections.take(tags)?,
            tokens: sections.take(tags + 1)?,
            weights: sections.take(tags + 2)?,
            tests: sections.take(tags + 3)?,
        })
    }

    /// Checks that every member has its own tokens, and that these name attributes, weights and tests that exist.
    pub fn check(&self, len: usize, attributes: usize) -> Result<(), String> {
        let ends = self.starts.last().map_or(0, |end| *end as usize);
        if self.starts.len() != len + 1
            || self.starts[0] != 0
            || ends != self.tokens.len()
            || !self.starts.is_sorted()
        {
            return Err("the weighted predicates of a segment do not fit its members".into());
        }
        if !self.weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0) {
            return Err("a weight is not finite and >= 0".into());
        }
        let view = self.view();
        for member in self.starts.windows(2) {
            let mut tokens = &self.tokens[member[0] as usize..member[1] as usize];
            while !tokens.is_empty() {
                let is_sound =
                    view.next(&mut tokens).is_some_and(|token| token.attribute.index() < attributes);
                if !is_sound {
                    return Err("a weighted predicate leads outside".into());
                }
            }
        }
        Ok(())
    }
}

/// A weighted predicate.
struct Token {
    attribute: AttrId,
    weight: f64,
    /// Encoded in 8 bytes; `None` if the predicate is in every match.
    test: Option<u64>,
}

/// Borrowed [`WeightedTokens`].
#[derive(Clone, Copy)]
pub(in crate::compiled) struct TokensView<'a> {
    starts: &'a [u32],
    tokens: &'a [u8],
    weights: &'a [f64],
    tests: &'a [u64],
}

impl TokensView<'_> {
    /// Takes a predicate off the front; `None` at the end.
    #[inline(always)]
    fn next(&self, tokens: &mut &[u8]) -> Option<Token> {
        let first = read_number(tokens)?;
        let attribute = AttrId(u32::try_from(first >> 2).ok()?);
        let weight = match first & HAS_WEIGHT {
            0 => 1.0,
            _ => *self.weights.get(read_number(tokens)? as usize)?,
        };
        let test = match first & HAS_TEST {
            0 => None,
            _ => Some(*self.tests.get(read_number(tokens)? as usize)?),
        };
        Some(Token { attribute, weight, test })
    }

    fn of(&self, number: u32) -> &[u8] {
        let at = number as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(start), Some(end)) => self.tokens.get(*start as usize..*end as usize).unwrap_or_default(),
            _ => &[],
        }
    }

    /// The score of a member for an event that it matches.
    pub fn score(
        &self,
        number: u32,
        weights: &AttributeWeights,
        tests: EventTests<'_, '_>,
        memos: &mut SubexpressionMemos,
    ) -> f64 {
        let (mut sum, mut tokens) = (0.0, self.of(number));
        while let Some(Token { attribute, weight, test }) = self.next(&mut tokens) {
            if test.is_none_or(|test| tests.holds(TestEncoding::Wide, test, memos)) {
                sum += weight * weights.get(attribute);
            }
        }
        sum
    }

    /// Calls a function with every test of every member.
    pub fn for_each_test(&self, mut each: impl FnMut(u64)) {
        let mut tokens = self.tokens;
        while let Some(token) = self.next(&mut tokens) {
            token.test.into_iter().for_each(&mut each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_round_trip(numbers in prop::collection::vec(0_u64..1 << 40, 0..20)) {
            let mut tokens = Vec::new();
            numbers.iter().for_each(|number| write_number(*number, &mut tokens));
            let mut rest = tokens.as_slice();
            let read: Vec<u64> = std::iter::from_fn(|| read_number(&mut rest)).collect();
            prop_assert_eq!(read, numbers);
        }
    }

    #[test]
    fn a_number_without_an_end_is_none() {
        assert_eq!(read_number(&mut [0x80_u8; 20].as_slice()), None);
        assert_eq!(read_number(&mut [0x80_u8].as_slice()), None);
    }
}
