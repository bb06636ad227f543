//! What was laid out for an expression, in words: where its alternatives wait, what is known there, what is tested then.
//!
//! Read from the arrays themselves, so that it tells what is, not what was meant.

use crate::compiled::Compiled;
use crate::compiled::arena::check::{self, Found, Through};
use crate::compiled::build::conditions::{Check, Complex, Conditions};
use crate::compiled::build::cover::REPEATED;
use crate::compiled::values::spaces::Intervals;
use crate::expr::{Normal, Test};
use crate::schema::Schema;

/// One way to find an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedAlternative {
    /// The kind of place: everywhere, scan, pair, node or group.
    pub place: &'static str,
    /// How many places of this kind it waits at: the spaces of a list of values, or the nodes of an interval.
    pub places: usize,
    /// The predicates that are met by coming there.
    pub met: Vec<String>,
    /// What is left to be tested, in order.
    pub tests: Vec<String>,
    /// The estimated share of events that come there.
    pub share: f64,
}

impl Compiled {
    /// What was laid out for the expression with this number. It was normalized against this schema.
    pub fn explain(&self, number: u32, expression: &Normal, schema: &Schema) -> Vec<PlannedAlternative> {
        let view = self.view();
        let words = Words::new(self, expression, schema);
        let mut alternatives: Vec<PlannedAlternative> = Vec::new();
        // Without faults: whoever opened or built the segment can walk over it.
        let _ = check::rows(&view, &mut |found| {
            if found.target & !REPEATED == number {
                let told = words.tell(&found);
                match alternatives.iter_mut().find(|other| other.is_like(&told)) {
                    Some(other) => {
                        other.places += 1;
                        other.share += told.share;
                    }
                    None => alternatives.push(told),
                }
            }
            Ok(())
        });
        alternatives
    }
}

impl PlannedAlternative {
    fn is_like(&self, other: &PlannedAlternative) -> bool {
        self.place == other.place && self.met == other.met && self.tests == other.tests
    }
}

/// The predicates of an expression, and what they are in the spaces of a segment.
struct Words<'w> {
    compiled: &'w Compiled,
    schema: &'w Schema,
    /// Text, dimension and accepted spaces of each predicate.
    predicates: Vec<(String, u32, Intervals)>,
}

impl<'w> Words<'w> {
    fn new(compiled: &'w Compiled, expression: &Normal, schema: &'w Schema) -> Words<'w> {
        let tell = |predicate: &crate::expr::Predicate| {
            let text = predicate.text(schema.name(predicate.attribute));
            let (dimension, spaces) = compiled.spaces_of(predicate);
            (text, dimension, spaces)
        };
        Words { compiled, schema, predicates: expression.predicates().iter().map(tell).collect() }
    }

    fn tell(&self, found: &Found) -> PlannedAlternative {
        let place = match found.through {
            Through::Everywhere => "everywhere",
            Through::Scan => "scan",
            Through::Pair => "pair",
            Through::Node => "node",
            Through::Group => "group",
        };
        let met =
            found.known.iter().map(|(dimension, interval)| self.interval(*dimension, *interval)).collect();
        let tests = found.tests.iter().map(|check| self.test(*check)).collect();
        let share =
            found.known.iter().map(|(dimension, interval)| self.compiled.share(*dimension, *interval));
        PlannedAlternative { place, places: 1, met, tests, share: share.product() }
    }

    /// The predicate that accepts an interval of spaces; of several, the one that accepts the fewest.
    fn interval(&self, dimension: u32, (low, high): (u32, u32)) -> String {
        let size =
            |spaces: &[(u32, u32)]| spaces.iter().map(|(low, high)| u64::from(high - low) + 1).sum::<u64>();
        let accepts = self.predicates.iter().filter(|(_, other, spaces)| {
            *other == dimension && spaces.iter().any(|(first, last)| *first <= low && high <= *last)
        });
        match accepts.min_by_key(|(_, _, spaces)| size(spaces)) {
            Some((text, ..)) => text.clone(),
            None => format!("{} is present", self.name(dimension)),
        }
    }

    fn name(&self, dimension: u32) -> String {
        let elements = self.compiled.elements.iter().find(|[_, elements]| *elements == dimension);
        let attribute = elements.map_or(dimension, |[attribute, _]| *attribute) as usize;
        let name = self.schema.names().nth(attribute).map_or_else(|| "a pattern".into(), str::to_owned);
        if elements.is_some() { format!("an element of {name}") } else { name }
    }

    fn test(&self, check: Check) -> String {
        let exactly = |dimension: u32, accepted: &[(u32, u32)]| {
            let same =
                self.predicates.iter().find(|(_, other, spaces)| *other == dimension && spaces == accepted);
            same.map(|(text, ..)| text.clone())
        };
        let entries = &self.compiled.table.entries;
        match check {
            Check::Interval { dimension, low, high, outside: false } => {
                exactly(dimension, &[(low, high)]).unwrap_or_else(|| self.interval(dimension, (low, high)))
            }
            Check::Interval { dimension, low, high, outside: true } => {
                let last = self.compiled.spaces.count(dimension) - 1;
                exactly(dimension, &[(1, low - 1), (high + 1, last)])
                    .unwrap_or_else(|| format!("{} is outside", self.name(dimension)))
            }
            Check::Complex(entry) => {
                match entries.get(entry as usize).map(|entry| Complex::from_words(*entry)) {
                    Some(Complex::Program { len, all, .. }) => {
                        format!("{} of {len} parts", if all { "all" } else { "one" })
                    }
                    Some(
                        Complex::Within { dimension, start, len }
                        | Complex::AnyWithin { dimension, start, len }
                        | Complex::AllWithin { dimension, start, len },
                    ) => {
                        let intervals = &self.compiled.table.intervals[start as usize..][..len as usize];
                        let accepted: Vec<_> = intervals.iter().map(|[low, high]| (*low, *high)).collect();
                        exactly(dimension, &accepted).unwrap_or_else(|| self.name(dimension))
                    }
                    Some(Complex::Between { dimension, low, high }) => self.interval(dimension, (low, high)),
                    Some(Complex::Outside { dimension, low, high }) => {
                        self.test(Check::Interval { dimension, low, high, outside: true })
                    }
                    Some(Complex::Listed { dimension, start }) => {
                        let bits = &self.compiled.table.bits[start as usize..];
                        let listed = |space: u32| bits[space as usize / 64] >> (space % 64) & 1 == 1;
                        let fits = |spaces: &[(u32, u32)]| {
                            let inside =
                                |space: u32| spaces.iter().any(|(low, high)| (*low..=*high).contains(&space));
                            (0..self.compiled.spaces.count(dimension))
                                .all(|space| listed(space) == inside(space))
                        };
                        let same = self
                            .predicates
                            .iter()
                            .find(|(_, other, spaces)| *other == dimension && fits(spaces));
                        same.map_or_else(|| self.name(dimension), |(text, ..)| text.clone())
                    }
                    Some(Complex::Asked { predicate }) => {
                        self.compiled.textuals.text(predicate as usize, self.schema)
                    }
                    None => "nothing".into(),
                }
            }
        }
    }
}

impl Compiled {
    /// The dimension that tells whether a predicate holds, and the spaces it accepts there.
    fn spaces_of(&self, predicate: &crate::expr::Predicate) -> (u32, Vec<(u32, u32)>) {
        if let Some(flag) = self.textuals.flag(predicate) {
            return (flag, vec![(1, 1)]);
        }
        if let Test::Pattern { .. } | Test::Cidr { .. } = predicate.test {
            // Asked by itself; no space tells.
            return (u32::MAX, Vec::new());
        }
        let dimension = match predicate.over {
            crate::expr::Over::Value => predicate.attribute.0,
            _ => Conditions::elements_among(&self.elements, predicate.attribute),
        };
        (dimension, self.spaces.accepted(dimension, &predicate.test))
    }

    /// The estimated share of events with a space in an interval: how many have the dimension is known from the sample,
    /// if there was one; within it all spaces count alike.
    fn share(&self, dimension: u32, (low, high): (u32, u32)) -> f64 {
        let mut weights = Vec::new();
        self.spaces.weights(dimension, &mut weights);
        let total: f32 = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        let last = weights.len().saturating_sub(1).min(high as usize);
        let inside: f32 = weights.get(low as usize..=last).map_or(0.0, |inside| inside.iter().sum());
        let presence = self.presence.get(dimension as usize).copied().unwrap_or(1.0);
        f64::from(presence * inside.max(0.25) / total)
    }
}
