//! What covers make of expressions: conjunctions, the *alternatives*, over predicates and shared subexpressions.

use crate::compiled::arena::header::RowTarget;
use crate::compiled::limits::{SegmentLimits, SegmentOverflow};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// An operand of a conjunction or a subexpression: bit 31 distinguishes a subexpression from a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::compiled) struct Operand(u32);

/// What an operand refers to, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) enum OperandKind {
    Predicate(usize),
    Subexpression(usize),
}

impl Operand {
    const SUBEXPRESSION: u32 = 1 << 31;

    pub fn of_predicate(predicate: u32) -> Operand {
        Operand(predicate)
    }

    pub fn of_subexpression(subexpression: u32) -> Operand {
        Operand(subexpression | Operand::SUBEXPRESSION)
    }

    pub fn kind(self) -> OperandKind {
        if self.0 & Operand::SUBEXPRESSION == 0 {
            OperandKind::Predicate(self.0 as usize)
        } else {
            OperandKind::Subexpression((self.0 & !Operand::SUBEXPRESSION) as usize)
        }
    }

    /// The predicate's number, if it is one.
    pub fn predicate(self) -> Option<usize> {
        if let OperandKind::Predicate(predicate) = self.kind() { Some(predicate) } else { None }
    }

    /// The subexpression's number, if it is one.
    pub fn subexpression(self) -> Option<usize> {
        if let OperandKind::Subexpression(subexpression) = self.kind() { Some(subexpression) } else { None }
    }
}

/// A subexpression: all, or some, of its operands hold.
#[derive(Clone, Copy, Debug)]
pub(in crate::compiled) struct Subexpression {
    /// Where its operands begin in [`Subexpressions::operands`].
    start: u32,
    len: u32,
    pub all: bool,
    /// How many alternatives and subexpressions refer to it. From 2 on its result has a memo.
    pub uses: u32,
}

/// Each distinct subexpression once. Operands have smaller numbers.
#[derive(Debug, Default)]
pub(in crate::compiled) struct Subexpressions {
    all: Vec<Subexpression>,
    operands: Vec<Operand>,
    /// Numbers by hash of the content.
    numbers: HashTable<u32>,
}

impl Subexpressions {
    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn get(&self, number: usize) -> Subexpression {
        self.all[number]
    }

    pub fn operands(&self, number: usize) -> &[Operand] {
        let Subexpression { start, len, .. } = self.all[number];
        &self.operands[start as usize..][..len as usize]
    }

    /// Counts a reference to each subexpression among some operands.
    pub fn count_uses(&mut self, operands: &[Operand]) {
        for subexpression in operands.iter().filter_map(|operand| operand.subexpression()) {
            self.all[subexpression].uses += 1;
        }
    }

    /// The number of a subexpression, which is added if it is not there.
    pub fn intern(
        &mut self,
        all: bool,
        operands: &[Operand],
        limits: &SegmentLimits,
    ) -> Result<Operand, SegmentOverflow> {
        let Subexpressions { all: known, operands: known_operands, numbers } = self;
        let content = |number: u32| {
            let known: Subexpression = known[number as usize];
            (known.all, &known_operands[known.start as usize..][..known.len as usize])
        };
        let hash = |all: bool, operands: &[Operand]| FxBuildHasher.hash_one((all, operands));
        let place = numbers.entry(
            hash(all, operands),
            |number| content(*number) == (all, operands),
            |number| {
                let (all, operands) = content(*number);
                hash(all, operands)
            },
        );
        let vacant = match place {
            Entry::Occupied(found) => return Ok(Operand::of_subexpression(*found.get())),
            Entry::Vacant(vacant) => vacant,
        };
        let number = limits.items(known.len(), "subexpressions")?;
        limits.items(known_operands.len() + operands.len(), "operands of subexpressions")?;
        vacant.insert(number);
        let (start, len) = (known_operands.len() as u32, operands.len() as u32);
        known.push(Subexpression { start, len, all, uses: 0 });
        known_operands.extend(operands);
        self.count_uses(operands);
        Ok(Operand::of_subexpression(number))
    }
}

/// Conjunctions, each with the expression it belongs to.
#[derive(Debug, Default)]
pub(in crate::compiled) struct Alternatives {
    /// Where the operands of each one end.
    ends: Vec<u32>,
    operands: Vec<Operand>,
    targets: Vec<RowTarget>,
}

impl Alternatives {
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    pub fn operands(&self, number: usize) -> &[Operand] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.operands[start as usize..self.ends[number] as usize]
    }

    pub fn target(&self, number: usize) -> RowTarget {
        self.targets[number]
    }

    pub fn push(
        &mut self,
        target: RowTarget,
        operands: impl IntoIterator<Item = Operand>,
        limits: &SegmentLimits,
    ) -> Result<(), SegmentOverflow> {
        self.operands.extend(operands);
        self.ends.push(limits.items(self.operands.len(), "operands of conjunctions")?);
        self.targets.push(target);
        limits.items(self.targets.len(), "conjunctions").map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_round_trip() {
        let last = SegmentLimits::default().array_items - 1;
        for number in [0, 7, last] {
            let (predicate, subexpression) =
                (Operand::of_predicate(number), Operand::of_subexpression(number));
            assert_eq!(predicate.kind(), OperandKind::Predicate(number as usize));
            assert_eq!(subexpression.kind(), OperandKind::Subexpression(number as usize));
        }
    }

    #[test]
    fn equal_subexpressions_are_kept_once_up_to_the_limit() {
        let limits = SegmentLimits { array_items: 4, ..SegmentLimits::default() };
        let mut all = Subexpressions::default();
        let [a, b, c] = [0, 1, 2].map(Operand::of_predicate);
        let first = all.intern(true, &[a, b], &limits).expect("within the limit");
        assert_eq!(all.intern(true, &[a, b], &limits), Ok(first));
        assert_ne!(all.intern(false, &[a, b], &limits).expect("within the limit"), first);
        let overflow = all.intern(true, &[a, c], &limits).expect_err("six operands");
        assert_eq!((overflow.limit, overflow.divisible), (4, true));
        assert_eq!(all.len(), 2);
    }
}
