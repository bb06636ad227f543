//! The values for which an operator, or its negation, is TRUE.

use super::ordered_set::{Cut, OrderedSet};
use super::predicate::Test;
use super::value_set::ValueSet;
use crate::expr::pattern::{Matcher, TextPattern};
use crate::expr::syntax::{Comparison, Op};
use crate::number::Number;
use crate::value::Literal;
use smol_str::SmolStr;

/// What an operator accepts: a set, which may be empty or full, or a test, which is neither.
pub(super) enum Accepted {
    Set(ValueSet),
    Test(Test),
}

/// The values for which an operator (its negation, with `outer_not`) is TRUE.
pub(super) fn accepted(op: &Op, outer_not: bool, closed_world: bool) -> Accepted {
    if let Some(test) = plain_range(op, outer_not, closed_world) {
        return Accepted::Test(test);
    }
    let (negated, mut set) = match op {
        Op::IsNull { negated } => {
            let set = if *negated == outer_not { ValueSet::missing() } else { ValueSet::present() };
            return Accepted::Set(set);
        }
        Op::Compare(comparison, literal) => {
            let negated = outer_not != (*comparison == Comparison::NotEqual);
            let comparison = if outer_not { comparison.negated() } else { *comparison };
            (negated, ValueSet::compared(comparison, literal))
        }
        Op::Between { negated, low, high } => {
            let negated = *negated != outer_not;
            let set = if negated {
                ValueSet::compared(Comparison::Less, low)
                    .union(&ValueSet::compared(Comparison::Greater, high))
            } else {
                ValueSet::compared(Comparison::GreaterEqual, low)
                    .intersection(&ValueSet::compared(Comparison::LessEqual, high))
            };
            (negated, set)
        }
        Op::In { negated, literals } => {
            let negated = *negated != outer_not;
            (negated, if negated { ValueSet::none_of(literals) } else { ValueSet::one_of(literals) })
        }
        Op::IsTrue => (outer_not, ValueSet::compared(Comparison::Equal, &Literal::Bool(!outer_not))),
        Op::Matches { negated, pattern } => {
            let negated = *negated != outer_not;
            let Some(texts) = as_range(pattern) else {
                let or_missing = negated && closed_world;
                return Accepted::Test(Test::Pattern { pattern: pattern.clone(), negated, or_missing });
            };
            let texts = if negated { texts.complement() } else { texts };
            (negated, ValueSet { texts, ..ValueSet::empty() })
        }
        Op::InCidr(networks) => {
            let or_missing = outer_not && closed_world;
            let networks = networks.as_slice().into();
            return Accepted::Test(Test::Cidr { networks, negated: outer_not, or_missing });
        }
    };
    set.missing = negated && closed_world;
    Accepted::Set(set)
}

/// A fast path for the most frequent predicates, which builds no set. Not for negated ones in a closed world: these
/// accept a missing value, too.
fn plain_range(op: &Op, outer_not: bool, closed_world: bool) -> Option<Test> {
    let (low, high, negated) = match op {
        Op::Compare(Comparison::Equal, Literal::Text(text)) if !outer_not => {
            return Some(Test::Text(text.clone()));
        }
        Op::Compare(comparison, Literal::Number(at)) => match comparison {
            Comparison::Equal => (*at, *at, outer_not),
            Comparison::NotEqual => (*at, *at, !outer_not),
            _ if outer_not => return None,
            Comparison::Less => (Number::MIN, at.next_down(), false),
            Comparison::LessEqual => (Number::MIN, *at, false),
            Comparison::Greater => (at.next_up(), Number::MAX, false),
            Comparison::GreaterEqual => (*at, Number::MAX, false),
        },
        Op::Between { negated, low: Literal::Number(low), high: Literal::Number(high) } if low <= high => {
            (*low, *high, *negated != outer_not)
        }
        _ => return None,
    };
    match negated {
        false => Some(Test::Number { low, high }),
        true if closed_world => None,
        true => Some(Test::Outside { low, high }),
    }
}

/// The strings that match, for a pattern that is an equality or a prefix: one range.
fn as_range(pattern: &TextPattern) -> Option<OrderedSet<SmolStr>> {
    match pattern.matcher() {
        Matcher::Equals(whole) => Some(OrderedSet::points(vec![whole.clone()])),
        Matcher::Prefix(prefix) => {
            let low = (!prefix.is_empty()).then(|| Cut { at: prefix.clone(), after: false });
            let high = after_prefix(prefix).map(|at| Cut { at, after: false });
            Some(OrderedSet::between(low, high))
        }
        _ => None,
    }
}

/// The first string greater than all that begin with `prefix`; `None` if there is none.
pub(crate) fn after_prefix(prefix: &str) -> Option<SmolStr> {
    let mut chars: Vec<char> = prefix.chars().collect();
    while let Some(last) = chars.pop() {
        let next = match last {
            // The code points in between are surrogates, which no string contains.
            '\u{D7FF}' => Some('\u{E000}'),
            last => char::from_u32(last as u32 + 1),
        };
        if let Some(next) = next {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}
