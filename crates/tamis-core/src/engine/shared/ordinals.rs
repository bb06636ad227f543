//! Values as numbers of 128 bits that sort as the values do, so that all values of an attribute are in one order and places
//! among cuts are found by comparing integers.
//!
//! | bits | content |
//! | --- | --- |
//! | 120..128 | kind: list or object, Boolean, number, time, text |
//! | below, number | the nearest float, its bits rearranged to sort, then the distance to it in 16 bits: exact for all `i64` |
//! | below, time | microseconds, offset to be positive: exact |
//! | below, text | the first 14 bytes, then one more than the length, at most 16: exact up to 14 bytes |
//!
//! Longer texts with equal beginnings are equal here. A structure over such texts may skip a beginning that all of them
//! share: its ordinals describe what follows it.

use crate::expr::{Cut, OrderedSet, Over, Predicate, Test, ValueSet};
use crate::number::Number;
use crate::space::ordered_bits;
use crate::value::Value;

/// A present value; greater values have ordinals that are greater or equal.
pub type Ordinal = u128;

const KIND: u32 = 120;
const OTHER: Ordinal = 1 << KIND;
const BOOL: Ordinal = 2 << KIND;
const NUMBER: Ordinal = 3 << KIND;
const TIME: Ordinal = 4 << KIND;
const TEXT: Ordinal = 5 << KIND;
/// All bits below the kind: no value of a kind is above.
const HIGHEST: Ordinal = (1 << KIND) - 1;

/// Bytes of a text in its ordinal.
const TEXT_BYTES: usize = 14;

/// How values become ordinals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ordinals<'p> {
    /// A beginning that most texts share; empty for ordinals of whole texts.
    pub prefix: &'p str,
}

impl Ordinals<'_> {
    /// The ordinal of a present value.
    pub fn of(self, value: Value<'_>) -> Ordinal {
        match value {
            Value::Missing => 0,
            Value::List(_) | Value::Other => OTHER,
            Value::Bool(value) => BOOL | Ordinal::from(value),
            Value::Int(value) => of_number(Number::Int(value)),
            Value::Float(value) => Number::from_f64(value).map_or(0, of_number),
            Value::Time(instant) => of_time(instant),
            Value::Text(text) => self.of_text(text),
        }
    }

    fn of_text(self, text: &str) -> Ordinal {
        let Some(rest) = text.as_bytes().strip_prefix(self.prefix.as_bytes()) else {
            return if text < self.prefix { TEXT } else { TEXT | HIGHEST };
        };
        let known = rest.len().min(TEXT_BYTES);
        let mut bytes = [0; 16];
        bytes[1..=known].copy_from_slice(&rest[..known]);
        // One more: texts below the prefix have the lowest ordinal, which that of the prefix itself must not be.
        bytes[15] = 1 + rest.len().min(TEXT_BYTES + 1) as u8;
        TEXT | Ordinal::from_be_bytes(bytes)
    }

    /// Whether no other text has the ordinal of this one.
    fn is_exact(self, text: &str) -> bool {
        text.as_bytes().strip_prefix(self.prefix.as_bytes()).is_some_and(|rest| rest.len() <= TEXT_BYTES)
    }

    /// The values between which all accepted ones lie; `None` if a missing value is accepted.
    pub fn span(self, predicate: &Predicate) -> Option<Span> {
        match &predicate.test {
            Test::Set(set) if predicate.over == Over::Value => {
                let (mut low, mut high, mut ranges) = (Ordinal::MAX, 0, 0);
                self.each_range(set, |range, parts| {
                    (low, high, ranges) = (low.min(range.0), high.max(range.1), ranges + parts);
                });
                (!set.missing).then_some(Span { low, high, interval: ranges == 1, exact: false })
            }
            _ => self.single_span(predicate),
        }
    }

    /// As [`Ordinals::span`], with one span per range of a set: ascending, and together a superset of what is accepted.
    pub fn spans(self, predicate: &Predicate) -> Option<Vec<Span>> {
        match &predicate.test {
            Test::Outside { low, high } if predicate.over == Over::Value => {
                let (low, high) = (of_number(*low), of_number(*high));
                Some(vec![Span::interval(NUMBER, low - 1), Span::interval(high + 1, NUMBER | HIGHEST)])
            }
            Test::Set(set) if predicate.over == Over::Value => {
                let mut spans = Vec::new();
                self.each_range(set, |(low, high), parts| {
                    spans.push(Span { low, high, interval: parts == 1, exact: false });
                });
                (!set.missing).then_some(spans)
            }
            _ => self.single_span(predicate).map(|span| vec![span]),
        }
    }

    fn single_span(self, predicate: &Predicate) -> Option<Span> {
        if predicate.over != Over::Value {
            // Only lists satisfy any() and all().
            return Some(Span::hull(OTHER, OTHER));
        }
        match &predicate.test {
            Test::Number { low, high } => Some(Span::interval(of_number(*low), of_number(*high))),
            Test::Outside { .. } => Some(Span::hull(NUMBER, NUMBER | HIGHEST)),
            Test::Time { low, high } => Some(Span::interval(of_time(*low), of_time(*high))),
            Test::Text(text) => {
                let at = self.of_text(text);
                Some(Span { exact: self.is_exact(text), ..Span::interval(at, at) })
            }
            Test::Set(_) => Some(Span::hull(OTHER, Ordinal::MAX - 1)),
            Test::Pattern { or_missing, .. } | Test::Cidr { or_missing, .. } => {
                (!or_missing).then_some(Span::hull(TEXT, TEXT | HIGHEST))
            }
        }
    }

    /// Visits the ranges of a set, ascending, with 1 for ranges of ordered values and 2 for others.
    fn each_range(self, set: &ValueSet, mut visit: impl FnMut((Ordinal, Ordinal), usize)) {
        if set.other {
            visit((OTHER, OTHER), 2);
        }
        for value in [false, true] {
            if set.bools[usize::from(value)] {
                let at = BOOL | Ordinal::from(value);
                visit((at, at), 2);
            }
        }
        ranges(&set.numbers, NUMBER, |number| of_number(*number), &mut visit);
        ranges(&set.times, TIME, |instant| of_time(*instant), &mut visit);
        ranges(&set.texts, TEXT, |text| self.of_text(text), &mut visit);
    }
}

fn ranges<T: Ord + Clone>(
    set: &OrderedSet<T>,
    kind: Ordinal,
    ordinal: impl Fn(&T) -> Ordinal,
    visit: &mut impl FnMut((Ordinal, Ordinal), usize),
) {
    let end = |cut: Option<&Cut<T>>, open| cut.map_or(open, |cut| ordinal(&cut.at));
    for (low, high) in set.ranges() {
        visit((end(low, kind), end(high, kind | HIGHEST)), 1);
    }
}

/// The values between which all values lie that a predicate accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// No accepted value has a lower ordinal.
    pub low: Ordinal,
    /// No accepted value has a higher ordinal.
    pub high: Ordinal,
    /// Every value with an ordinal strictly between the ends is accepted.
    pub interval: bool,
    /// Every value with the ordinal of an end is accepted, too.
    pub exact: bool,
}

impl Span {
    fn interval(low: Ordinal, high: Ordinal) -> Span {
        Span { low, high, interval: true, exact: true }
    }

    fn hull(low: Ordinal, high: Ordinal) -> Span {
        Span { low, high, interval: false, exact: false }
    }
}

fn of_number(number: Number) -> Ordinal {
    const ZERO_DISTANCE: i128 = 1 << 15;
    let (nearest, distance) = match number {
        Number::Int(value) => {
            let nearest = value as f64;
            (nearest, i128::from(value) - nearest as i128)
        }
        Number::Float(value) => (value, 0),
    };
    NUMBER | Ordinal::from(ordered_bits(nearest)) << 16 | (distance + ZERO_DISTANCE) as Ordinal
}

fn of_time(instant: i64) -> Ordinal {
    TIME | Ordinal::from(instant as u64 ^ 1 << 63)
}

/// Cuts that divide values into at most `parts` parts, each with about the same number of ends of spans. Sorts `ends`, the
/// ordinals at which parts may begin: see [`ends_of`].
pub fn choose_cuts(ends: &mut [Ordinal], parts: usize) -> Vec<Ordinal> {
    ends.sort_unstable();
    let mut cuts: Vec<Ordinal> = Vec::with_capacity(ends.len().min(parts - 1));
    // With few distinct ends, all of them: then every span is aligned.
    for end in ends.iter() {
        if cuts.last() != Some(end) {
            if cuts.len() + 1 == parts {
                cuts.clear();
                break;
            }
            cuts.push(*end);
        }
    }
    if cuts.is_empty() && !ends.is_empty() {
        for part in 1..parts {
            let cut = ends[part * ends.len() / parts];
            if cuts.last() != Some(&cut) {
                cuts.push(cut);
            }
        }
    }
    cuts
}

/// The ordinals at which parts may begin: where a span begins, and behind it.
pub fn ends_of(span: Span) -> [Ordinal; 2] {
    [span.low, span.high + 1]
}

/// The longest beginning that all texts at the ends of the predicates share; empty if a predicate is no set of strings.
pub fn shared_prefix<'t>(predicates: impl Iterator<Item = &'t Predicate>) -> &'t str {
    let mut shared: Option<&str> = None;
    for predicate in predicates {
        match &predicate.test {
            Test::Text(text) => shorten(&mut shared, text),
            Test::Set(set) if !set.texts.is_empty() => {
                for (low, high) in set.texts.ranges() {
                    [low, high]
                        .into_iter()
                        .for_each(|cut| shorten(&mut shared, cut.map_or("", |cut| &cut.at)));
                }
            }
            _ => return "",
        }
    }
    shared.unwrap_or("")
}

fn shorten<'t>(shared: &mut Option<&'t str>, text: &'t str) {
    let before = shared.unwrap_or(text);
    let mut length = before.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
    while !before.is_char_boundary(length) {
        length -= 1;
    }
    *shared = Some(&before[..length]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = Number> {
        let float = |f| Number::from_f64(f).unwrap_or(Number::Int(0));
        prop_oneof![
            any::<i64>().prop_map(Number::Int),
            (-9i64..9).prop_map(Number::Int),
            prop::sample::select(vec![i64::MAX, i64::MAX - 1, i64::MIN, (1 << 53) + 1, 1 << 53])
                .prop_map(Number::Int),
            any::<f64>().prop_map(float),
            (-40i32..40).prop_map(move |n| float(f64::from(n) / 4.0)),
            Just(Number::MIN),
            Just(Number::MAX),
        ]
    }

    proptest! {
        #[test]
        fn numbers_sort_as_their_ordinals(a in number(), b in number()) {
            prop_assert_eq!(a.cmp(&b), of_number(a).cmp(&of_number(b)), "{:?} {:?}", a, b);
        }

        #[test]
        fn texts_sort_as_their_ordinals(a in "[a-c\0]{0,18}", b in "[a-c\0]{0,18}", prefix in "[a-c]{0,2}") {
            let ordinals = Ordinals { prefix: &prefix };
            let (x, y) = (ordinals.of_text(&a), ordinals.of_text(&b));
            prop_assert!(x == y || x.cmp(&y) == a.cmp(&b), "{:?} {:?}", a, b);
            if ordinals.is_exact(&a) && !prefix.is_empty() || a.len() <= TEXT_BYTES && prefix.is_empty() {
                prop_assert_eq!(x == y, a == b, "{:?} {:?}", a, b);
            }
        }
    }

    /// Below the prefix is another ordinal than at it.
    #[test]
    fn the_prefix_itself_has_an_ordinal_of_its_own() {
        let ordinals = Ordinals { prefix: "a" };
        assert!(ordinals.of_text("A") < ordinals.of_text("a"));
        assert!(ordinals.of_text("a") < ordinals.of_text("a\0"));
        assert!(ordinals.of_text("az") < ordinals.of_text("b"));
    }

    #[test]
    fn shared_beginnings() {
        let test = |text: &str| Predicate {
            attribute: crate::schema::AttrId(0),
            over: Over::Value,
            test: Test::Text(text.into()),
        };
        let of = |texts: &[&str]| {
            let predicates: Vec<_> = texts.iter().map(|text| test(text)).collect();
            shared_prefix(predicates.iter()).to_owned()
        };
        assert_eq!(of(&["http://a", "http://b"]), "http://");
        assert_eq!(of(&["é", "è"]), "");
        assert_eq!(of(&[]), "");
    }

    #[test]
    fn many_ends_are_divided_evenly() {
        let mut ends: Vec<Ordinal> = (0..1_000).collect();
        let cuts = choose_cuts(&mut ends, 8);
        assert_eq!(cuts, [125, 250, 375, 500, 625, 750, 875]);
        assert_eq!(choose_cuts(&mut [5; 100], 8), [5]);
        assert_eq!(choose_cuts(&mut [], 8), [0u128; 0]);
    }
}
