//! Ranges of values of one kind, as operators of the language.

use super::{Term, one_of};
use crate::expr::Limits;
use crate::expr::normal::accepted::after_prefix;
use crate::expr::normal::ordered_set::{Cut, highest_number, highest_time, lowest_number, lowest_time};
use crate::expr::pattern::{PatternKind, TextPattern};
use crate::expr::syntax::{Comparison, Op};
use crate::number::Number;
use crate::time;
use crate::value::Literal;
use smol_str::SmolStr;
use std::sync::Arc;

/// A range of values of one kind.
pub(super) enum LiteralRange {
    /// A single value.
    Point(Literal),
    /// The strings with this prefix.
    Prefix(SmolStr),
    /// The values between two ends; `None` is an open end.
    Span { low: Option<RangeEnd>, high: Option<RangeEnd> },
}

/// An end of a range.
pub(super) struct RangeEnd {
    at: Literal,
    /// Whether `at` belongs to the range.
    closed: bool,
}

impl RangeEnd {
    /// The end at `at`, which belongs to the range, or at the adjacent `beyond`, which does not: whichever is shorter by
    /// more than a character. Normalization turns `x < 5` into `x <= 4.999999999999999`; this reverts it.
    fn shorter(at: Literal, beyond: Literal) -> RangeEnd {
        let is_shorter = beyond.to_string().len() + 1 < at.to_string().len();
        RangeEnd { at: if is_shorter { beyond } else { at }, closed: !is_shorter }
    }

    /// The comparison with the low or the high end of a range, or its negation.
    fn compare(&self, low: bool, negated: bool) -> Op {
        let comparison = match (low != negated, self.closed != negated) {
            (true, true) => Comparison::GreaterEqual,
            (true, false) => Comparison::Greater,
            (false, true) => Comparison::LessEqual,
            (false, false) => Comparison::Less,
        };
        Op::Compare(comparison, self.at.clone())
    }
}

impl LiteralRange {
    /// The value, if it is a single one.
    pub fn point(&self) -> Option<Literal> {
        if let LiteralRange::Point(at) = self { Some(at.clone()) } else { None }
    }

    /// The values inside, or outside, if one term expresses them.
    pub fn term(&self, negated: bool) -> Option<Term> {
        Some(match self {
            LiteralRange::Point(at) => one_of(vec![at.clone()], negated),
            LiteralRange::Prefix(prefix) => {
                let pattern = TextPattern::new(PatternKind::Prefix, prefix, &Limits::default()).ok()?;
                Term::matches(Arc::new(pattern), negated)
            }
            LiteralRange::Span { low: Some(low), high: Some(high) } if low.closed && high.closed => {
                Op::Between { negated, low: low.at.clone(), high: high.at.clone() }.into()
            }
            LiteralRange::Span { low: Some(low), high: None } => low.compare(true, negated).into(),
            LiteralRange::Span { low: None, high: Some(high) } => high.compare(false, negated).into(),
            LiteralRange::Span { .. } => return None,
        })
    }

    /// The values inside, as a conjunction.
    pub fn terms(&self) -> Vec<Term> {
        match (self.term(false), self) {
            (Some(term), _) => vec![term],
            (None, LiteralRange::Span { low: Some(low), high: Some(high) }) => {
                vec![low.compare(true, false).into(), high.compare(false, false).into()]
            }
            (None, _) => Vec::new(),
        }
    }
}

/// The numbers between two cuts; `None` if there is no number between them.
pub(super) fn number_range(low: Option<&Cut<Number>>, high: Option<&Cut<Number>>) -> Option<LiteralRange> {
    let (low, high) = (lowest_number(low), highest_number(high));
    let infinite = |number| number == Number::MIN || number == Number::MAX;
    let end = |at: Number, beyond: Number| match (Literal::Number(at), Literal::Number(beyond)) {
        // The language has no literal for infinity.
        (_, beyond) if infinite(at) => RangeEnd { at: beyond, closed: false },
        (at, _) if infinite(beyond) => RangeEnd { at, closed: true },
        (at, beyond) => RangeEnd::shorter(at, beyond),
    };
    (low <= high).then(|| {
        if low == high && !infinite(low) {
            return LiteralRange::Point(Literal::Number(low));
        }
        LiteralRange::Span {
            low: (low != Number::MIN).then(|| end(low, low.next_down())),
            high: (high != Number::MAX).then(|| end(high, high.next_up())),
        }
    })
}

/// The instants between two cuts; `None` if there is no instant between them.
pub(super) fn time_range(low: Option<&Cut<i64>>, high: Option<&Cut<i64>>) -> Option<LiteralRange> {
    let (low, high) = (lowest_time(low), highest_time(high));
    (low <= high).then(|| {
        if low == high {
            return LiteralRange::Point(instant(low));
        }
        LiteralRange::Span {
            low: (low != i64::MIN).then(|| RangeEnd::shorter(instant(low), instant(low - 1))),
            high: (high != i64::MAX).then(|| RangeEnd::shorter(instant(high), instant(high + 1))),
        }
    })
}

/// The shortest literal of an instant: a date for midnight.
fn instant(micros: i64) -> Literal {
    match i32::try_from(micros / time::DAY) {
        Ok(days) if micros % time::DAY == 0 => Literal::Date(days),
        _ => Literal::Timestamp(micros),
    }
}

/// The strings between two cuts.
pub(super) fn text_range(low: Option<&Cut<SmolStr>>, high: Option<&Cut<SmolStr>>) -> Option<LiteralRange> {
    if let (Some(low), Some(high)) = (low, high) {
        if low.at == high.at {
            return Some(LiteralRange::Point(Literal::Text(low.at.clone())));
        }
        if !low.after && !high.after && after_prefix(&low.at).as_ref() == Some(&high.at) {
            return Some(LiteralRange::Prefix(low.at.clone()));
        }
    }
    Some(LiteralRange::Span {
        low: low.map(|cut| RangeEnd { at: Literal::Text(cut.at.clone()), closed: !cut.after }),
        high: high.map(|cut| RangeEnd { at: Literal::Text(cut.at.clone()), closed: cut.after }),
    })
}
