//! Where is an expression found, and what is tested there?
//!
//! Read from the arrays of the segment by the traversal that matching uses, so it shows what events do.

use crate::compiled::arena::check::{self, StoredRow};
use crate::compiled::arena::complex_test::ComplexTest;
use crate::compiled::arena::test_encoding::ResidualTest;
use crate::compiled::arena::traversal::PlaceKind;
use crate::compiled::build::conditions::element_dimension;
use crate::compiled::segment::CompiledSegment;
use crate::compiled::values::spaces::SpaceSet;
use crate::expr::{Normal, Over, Predicate, Test};
use crate::schema::Schema;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::HashMap;

/// One way to find an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedAlternative {
    /// The kind of place: everywhere, scan, pair, node or group.
    pub place: &'static str,
    /// How many places of this kind list it: the spaces of an IN list, or the nodes of an interval.
    pub places: usize,
    /// The predicates that every event which reads the place satisfies.
    pub met: Vec<String>,
    /// Residual tests, in order.
    pub tests: Vec<String>,
    /// Estimated share of events that read the place, from 0 to 1.
    pub share: f64,
}

impl CompiledSegment {
    /// The alternatives of the expression with this number, which was normalized against this schema.
    pub fn explain(&self, number: u32, expression: &Normal, schema: &Schema) -> Vec<PlannedAlternative> {
        let text = PlanText::new(self, expression, schema);
        let mut alternatives: Vec<PlannedAlternative> = Vec::new();
        // Alternatives that differ in their place only, by everything else.
        let mut positions = HashMap::new();
        // A damaged segment explains what can be read of it.
        let _ = check::for_each_row(&self.view(), |row| {
            if row.target.number() == number {
                let planned = text.alternative(&row);
                let key = (planned.place, planned.met.clone(), planned.tests.clone());
                let position = *positions.entry(key).or_insert(alternatives.len());
                match alternatives.get_mut(position) {
                    Some(other) => {
                        other.places += 1;
                        other.share += planned.share;
                    }
                    None => alternatives.push(planned),
                }
            }
            Ok(())
        });
        alternatives
    }

    /// The dimension of a predicate and the spaces it accepts there; `None` if it is evaluated directly.
    fn spaces_of(&self, predicate: &Predicate) -> Option<(u32, SpaceSet)> {
        if let Some(dimension) = self.strings.dimension(predicate) {
            return Some((dimension, vec![(1, 1)]));
        }
        if let Test::Pattern { .. } | Test::Cidr { .. } = predicate.test {
            return None;
        }
        let dimension = match predicate.over {
            // A crafted file may have rules with attributes that its dimensions lack.
            Over::Value => Some(predicate.attribute.0).filter(|at| (*at as usize) < self.attributes)?,
            _ => element_dimension(&self.elements, predicate.attribute)?,
        };
        Some((dimension, self.spaces.accepted(dimension, &predicate.test)))
    }

    /// By space of a dimension: the weight of all spaces before it, if nothing is known of the events; the last is the
    /// weight of all.
    fn cumulative_weights(&self, dimension: u32) -> Vec<f64> {
        let (mut weights, mut sum) = (Vec::new(), 0.0);
        self.spaces.weights(dimension, &mut weights);
        let up_to = weights.iter().map(|weight| {
            sum += f64::from(*weight);
            sum
        });
        std::iter::once(0.0).chain(up_to).collect()
    }
}

/// A predicate of the expression: its text, its dimension and the spaces it accepts.
struct PredicateText {
    text: String,
    dimension: u32,
    accepted: SpaceSet,
}

/// Turns tests on spaces back into the predicates of an expression.
struct PlanText<'w> {
    segment: &'w CompiledSegment,
    schema: &'w Schema,
    /// Predicates that spaces decide.
    predicates: Vec<PredicateText>,
    /// By dimension, once it is needed: [`CompiledSegment::cumulative_weights`].
    weights: RefCell<FxHashMap<u32, Vec<f64>>>,
}

impl<'w> PlanText<'w> {
    fn new(segment: &'w CompiledSegment, expression: &Normal, schema: &'w Schema) -> PlanText<'w> {
        let text = |predicate: &Predicate| {
            let (dimension, accepted) = segment.spaces_of(predicate)?;
            let text = predicate.text(schema.name(predicate.attribute));
            Some(PredicateText { text, dimension, accepted })
        };
        let predicates = expression.predicates().iter().filter_map(text).collect();
        PlanText { segment, schema, predicates, weights: RefCell::default() }
    }

    /// Estimated share of events with a space in an interval: the presence of the dimension times the weight of the
    /// interval.
    fn share(&self, dimension: u32, (low, high): (u32, u32)) -> f64 {
        let mut weights = self.weights.borrow_mut();
        let before = weights.entry(dimension).or_insert_with(|| self.segment.cumulative_weights(dimension));
        let spaces = before.len() - 1;
        let (low, end) = ((low as usize).min(spaces), (high as usize).saturating_add(1).min(spaces));
        let presence = self.segment.presence.get(dimension as usize).copied().unwrap_or(1.0);
        let inside = (before[end] - before[low]).max(0.25);
        f64::from(presence) * inside / before[spaces].max(f64::MIN_POSITIVE)
    }

    fn alternative(&self, row: &StoredRow) -> PlannedAlternative {
        let place = match row.kind {
            PlaceKind::Everywhere => "everywhere",
            PlaceKind::Scan => "scan",
            PlaceKind::Pair => "pair",
            PlaceKind::Node => "node",
            PlaceKind::Group => "group",
        };
        let known = row.known.iter();
        let share = known.clone().map(|(dimension, interval)| self.share(*dimension, *interval));
        PlannedAlternative {
            place,
            places: 1,
            met: known.map(|(dimension, interval)| self.interval(*dimension, *interval)).collect(),
            tests: row.tests.iter().map(|test| self.test(*test)).collect(),
            share: share.product(),
        }
    }

    /// The predicate that accepts an interval of spaces; of several, the one that accepts the fewest.
    fn interval(&self, dimension: u32, (low, high): (u32, u32)) -> String {
        let size =
            |spaces: &[(u32, u32)]| spaces.iter().map(|(low, high)| u64::from(high - low) + 1).sum::<u64>();
        let accepts = self.predicates.iter().filter(|predicate| {
            predicate.dimension == dimension
                && predicate.accepted.iter().any(|(first, last)| *first <= low && high <= *last)
        });
        match accepts.min_by_key(|predicate| size(&predicate.accepted)) {
            Some(predicate) => predicate.text.clone(),
            None => format!("{} is present", self.name(dimension)),
        }
    }

    /// The predicate whose accepted spaces satisfy a condition.
    fn predicate(&self, dimension: u32, is_it: impl Fn(&[(u32, u32)]) -> bool) -> Option<String> {
        let of_dimension = self.predicates.iter().filter(|predicate| predicate.dimension == dimension);
        of_dimension.into_iter().find(|predicate| is_it(&predicate.accepted)).map(|it| it.text.clone())
    }

    fn name(&self, dimension: u32) -> String {
        let elements = self.segment.elements.iter().find(|[_, elements]| *elements == dimension);
        let attribute = elements.map_or(dimension, |[attribute, _]| *attribute) as usize;
        let name = self.schema.names().nth(attribute).map_or_else(|| "a pattern".into(), str::to_owned);
        if elements.is_some() { format!("an element of {name}") } else { name }
    }

    fn test(&self, test: ResidualTest) -> String {
        match test {
            ResidualTest::Interval { dimension, low, high, outside: false } => self
                .predicate(dimension, |accepted| accepted == [(low, high)])
                .unwrap_or_else(|| self.interval(dimension, (low, high))),
            ResidualTest::Interval { dimension, low, high, outside: true } => {
                let last = self.segment.spaces.count(dimension).saturating_sub(1);
                self.predicate(dimension, |accepted| {
                    accepted == [(1, low.saturating_sub(1)), (high.saturating_add(1), last)]
                })
                .unwrap_or_else(|| format!("{} is outside", self.name(dimension)))
            }
            ResidualTest::Complex(entry) => {
                let entry = self.segment.complex.entries.get(entry as usize);
                entry.map_or_else(|| "nothing".into(), |entry| self.complex(ComplexTest::unpack(*entry)))
            }
        }
    }

    fn complex(&self, test: ComplexTest) -> String {
        let complex = &self.segment.complex;
        match test {
            ComplexTest::Subexpression { len, all, .. } => {
                format!("{} of {len} parts", if all { "all" } else { "one" })
            }
            ComplexTest::InIntervals { dimension, start, len }
            | ComplexTest::AnyElementIn { dimension, start, len }
            | ComplexTest::AllElementsIn { dimension, start, len } => {
                let intervals = &complex.intervals[start as usize..][..len as usize];
                let intervals: Vec<_> = intervals.iter().map(|[low, high]| (*low, *high)).collect();
                self.predicate(dimension, |accepted| accepted == intervals)
                    .unwrap_or_else(|| self.name(dimension))
            }
            ComplexTest::Interval { dimension, low, high } => self.interval(dimension, (low, high)),
            ComplexTest::OutsideInterval { dimension, low, high } => {
                self.test(ResidualTest::Interval { dimension, low, high, outside: true })
            }
            ComplexTest::InBitmap { dimension, start } => {
                let bits = &complex.bits[start as usize..];
                let in_bitmap = |space: u32| bits[space as usize / 64] >> (space % 64) & 1 == 1;
                let is_it = |accepted: &[(u32, u32)]| {
                    let accepts =
                        |space: u32| accepted.iter().any(|(low, high)| (*low..=*high).contains(&space));
                    let mut spaces = 0..self.segment.spaces.count(dimension);
                    spaces.all(|space| in_bitmap(space) == accepts(space))
                };
                self.predicate(dimension, is_it).unwrap_or_else(|| self.name(dimension))
            }
            ComplexTest::Direct { predicate } => self.segment.strings.text(predicate as usize, self.schema),
        }
    }
}
