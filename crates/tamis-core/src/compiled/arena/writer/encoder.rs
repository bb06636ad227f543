//! Predicates and subexpressions as encoded tests; what does not fit becomes an entry of the table of complex tests.

use crate::compiled::arena::complex_test::{ComplexTest, NO_MEMO};
use crate::compiled::arena::test_encoding::{ResidualTest, TestEncoding};
use crate::compiled::build::alternatives::{Alternatives, Operand, OperandKind, Subexpressions};
use crate::compiled::build::conditions::{SpaceCondition, SpaceConditions};
use crate::compiled::limits::{SegmentLimits, SegmentOverflow};

/// Chooses 4 bytes per test if all dimensions and table entries fit, and at most a tenth of the tests go through the
/// table.
pub(super) fn choose_encoding(
    conditions: &SpaceConditions,
    alternatives: &Alternatives,
    subexpressions: &Subexpressions,
    complex: usize,
) -> TestEncoding {
    let narrow = TestEncoding::Narrow;
    if !narrow.fits_dimensions(conditions.spaces.len()) {
        return TestEncoding::Wide;
    }
    let too_large = |operand: &Operand, encoding: TestEncoding| match operand
        .predicate()
        .map(|predicate| conditions.conditions[predicate].test)
    {
        Some(ResidualTest::Interval { dimension, low, high, .. }) => !encoding.fits(dimension, low, high),
        _ => false,
    };
    let (mut tests, mut through_table) = (0_usize, 0_usize);
    let mut distinct = vec![false; conditions.conditions.len()];
    for operand in (0..alternatives.len()).flat_map(|number| alternatives.operands(number)) {
        tests += 1;
        if too_large(operand, narrow) {
            through_table += 1;
            operand.predicate().into_iter().for_each(|predicate| distinct[predicate] = true);
        }
    }
    let inner = (0..subexpressions.len()).flat_map(|number| subexpressions.operands(number));
    let inner = inner.filter(|operand| too_large(operand, TestEncoding::Wide)).count();
    // An upper bound: a predicate may be counted twice.
    let entries =
        complex + subexpressions.len() + inner + distinct.into_iter().filter(|large| *large).count();
    let fits = u32::try_from(entries).is_ok_and(|entries| narrow.fits_entry(entries));
    if fits && through_table <= tests / 10 { narrow } else { TestEncoding::Wide }
}

/// No encoded test: a dimension of all ones with the flag of an exclusion does not occur.
const NOT_ENCODED: u64 = u64::MAX;

/// Encodes tests, each distinct one once.
pub(super) struct TestEncoder<'w> {
    /// By predicate.
    conditions: &'w [SpaceCondition],
    /// Of tests in the arena; those of subexpressions have 8 bytes.
    pub encoding: TestEncoding,
    limits: &'w SegmentLimits,
    /// The table of complex tests.
    pub complex: Vec<ComplexTest>,
    /// Encoded tests of all subexpressions, 8 bytes each.
    pub subexpression_tests: Vec<u64>,
    /// Number of memo slots.
    pub memos: u32,
    /// By predicate: its encoded test, or [`NOT_ENCODED`] so far.
    predicates: Vec<u64>,
    /// By subexpression: its encoded test.
    subexpressions: Vec<u64>,
}

impl<'w> TestEncoder<'w> {
    pub fn new(
        conditions: &'w [SpaceCondition],
        encoding: TestEncoding,
        complex: Vec<ComplexTest>,
        limits: &'w SegmentLimits,
    ) -> TestEncoder<'w> {
        TestEncoder {
            conditions,
            encoding,
            limits,
            complex,
            subexpression_tests: Vec::new(),
            memos: 0,
            predicates: vec![NOT_ENCODED; conditions.len()],
            subexpressions: Vec::new(),
        }
    }

    /// Adds an entry for each subexpression. Inner ones come first, so entries refer to earlier ones only.
    pub fn add_subexpressions(&mut self, subexpressions: &Subexpressions) -> Result<(), SegmentOverflow> {
        let mut wide_subexpressions: Vec<u64> = Vec::with_capacity(subexpressions.len());
        let mut wide_predicates = vec![NOT_ENCODED; self.conditions.len()];
        for number in 0..subexpressions.len() {
            let start = self.limits.items(self.subexpression_tests.len(), "tests of subexpressions")?;
            for operand in subexpressions.operands(number) {
                let encoded = match operand.kind() {
                    OperandKind::Predicate(predicate) => {
                        if wide_predicates[predicate] == NOT_ENCODED {
                            let test = self.conditions[predicate].test;
                            wide_predicates[predicate] = self.encode(test, TestEncoding::Wide)?;
                        }
                        wide_predicates[predicate]
                    }
                    OperandKind::Subexpression(inner) => wide_subexpressions[inner],
                };
                self.subexpression_tests.push(encoded);
            }
            let end = self.limits.items(self.subexpression_tests.len(), "tests of subexpressions")?;
            let subexpression = subexpressions.get(number);
            let is_shared = subexpression.uses >= 2;
            let memo = if is_shared { self.memos } else { NO_MEMO };
            self.memos += u32::from(is_shared);
            let entry = ComplexTest::Subexpression { start, len: end - start, memo, all: subexpression.all };
            let test = self.add_complex(entry)?;
            wide_subexpressions.push(TestEncoding::Wide.encode(test));
            self.subexpressions.push(self.encoding.encode(test));
        }
        Ok(())
    }

    fn add_complex(&mut self, entry: ComplexTest) -> Result<ResidualTest, SegmentOverflow> {
        let number = self.limits.items(self.complex.len(), "complex tests")?;
        self.complex.push(entry);
        Ok(ResidualTest::Complex(number))
    }

    fn encode(&mut self, test: ResidualTest, encoding: TestEncoding) -> Result<u64, SegmentOverflow> {
        match (test, test.as_complex()) {
            (ResidualTest::Interval { dimension, low, high, .. }, Some(entry))
                if !encoding.fits(dimension, low, high) =>
            {
                let test = self.add_complex(entry)?;
                Ok(encoding.encode(test))
            }
            _ => Ok(encoding.encode(test)),
        }
    }

    /// The encoded test of an operand, as it stands in the arena.
    pub fn operand(&mut self, operand: Operand) -> Result<u64, SegmentOverflow> {
        match operand.kind() {
            OperandKind::Subexpression(subexpression) => Ok(self.subexpressions[subexpression]),
            OperandKind::Predicate(predicate) => {
                if self.predicates[predicate] == NOT_ENCODED {
                    let test = self.conditions[predicate].test;
                    self.predicates[predicate] = self.encode(test, self.encoding)?;
                }
                Ok(self.predicates[predicate])
            }
        }
    }

    /// The encoded test of an operand in 8 bytes, whatever the arena has.
    pub fn operand_wide(&mut self, operand: Operand) -> Result<u64, SegmentOverflow> {
        match operand.kind() {
            // Always an entry of the table.
            OperandKind::Subexpression(subexpression) => {
                let test = self.encoding.decode(self.subexpressions[subexpression]);
                Ok(TestEncoding::Wide.encode(test))
            }
            OperandKind::Predicate(predicate) => {
                self.encode(self.conditions[predicate].test, TestEncoding::Wide)
            }
        }
    }

    /// Whether an operand's test is a complex one.
    pub fn is_complex(&mut self, operand: Operand) -> Result<bool, SegmentOverflow> {
        let encoded = self.operand(operand)?;
        Ok(matches!(self.encoding.decode(encoded), ResidualTest::Complex(_)))
    }
}
