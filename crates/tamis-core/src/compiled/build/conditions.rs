//! Predicates as conditions on spaces.
//!
//! A predicate that accepts one interval of spaces, or all present values but one interval, is one encoded test. Longer
//! sets, patterns that must not match and quantified predicates are entries of the table of complex tests.

use crate::compiled::arena::complex_test::ComplexTest;
use crate::compiled::arena::test_encoding::ResidualTest;
use crate::compiled::limits::{DimensionId, SegmentLimits, SegmentOverflow};
use crate::compiled::values::spaces::{DimensionCuts, SpaceSet, ValueSpaces, ValueSpacesBuilder};
use crate::compiled::values::string_predicates::StringPredicate;
use crate::engine::shared::predicates::{PredId, Predicates};
use crate::expr::{Over, Predicate, Test};
use crate::schema::AttrId;
use rustc_hash::FxHashMap;

/// A distinct predicate as a condition on the spaces of one dimension.
#[derive(Clone, Debug)]
pub(in crate::compiled) struct SpaceCondition {
    pub dimension: DimensionId,
    /// Spaces of which the event has one if it satisfies the predicate. Empty if the predicate accepts missing values:
    /// then it cannot be a witness.
    pub witnesses: SpaceSet,
    /// Whether every event with such a space satisfies the predicate.
    pub exact: bool,
    /// Whether an event may have several spaces in the dimension: those of list elements.
    pub many_valued: bool,
    pub test: ResidualTest,
    /// Estimated share of events that satisfy the predicate, from 0 to 1.
    pub selectivity: f32,
}

impl SpaceCondition {
    fn new(dimension: DimensionId, witnesses: SpaceSet, test: ResidualTest) -> SpaceCondition {
        SpaceCondition { dimension, witnesses, exact: true, many_valued: false, test, selectivity: 0.0 }
    }

    /// Whether events without a value in the dimension cannot satisfy the predicate.
    pub fn can_witness(&self) -> bool {
        !self.witnesses.is_empty()
    }

    /// The interval of spaces that the predicate accepts, if it is one interval.
    pub fn interval(&self) -> Option<(u32, u32)> {
        match self.test {
            ResidualTest::Interval { low, high, outside: false, .. } if low > 0 => Some((low, high)),
            _ => None,
        }
    }
}

/// All dimensions, and all predicates as conditions on them.
pub(in crate::compiled) struct SpaceConditions {
    pub spaces: ValueSpaces,
    /// By [`PredId`].
    pub conditions: Vec<SpaceCondition>,
    /// Table of complex tests so far.
    pub complex: Vec<ComplexTest>,
    /// Intervals of the table's entries.
    pub intervals: Vec<[u32; 2]>,
    /// Bitmaps of the table's entries.
    pub bits: Vec<u64>,
    /// Predicates on strings that are no ranges.
    pub strings: Vec<StringPredicate>,
    /// Attributes with a dimension for their list elements: attribute and dimension, ascending.
    pub elements: Vec<[u32; 2]>,
    limits: SegmentLimits,
}

/// The dimension of an attribute's list elements, from pairs that ascend by attribute.
pub(in crate::compiled) fn element_dimension(elements: &[[u32; 2]], attribute: AttrId) -> Option<u32> {
    let found = elements.binary_search_by_key(&attribute.0, |[attribute, _]| *attribute).ok()?;
    Some(elements[found][1])
}

impl SpaceConditions {
    /// Makes a dimension for each attribute, for the elements of each list that predicates test, and for each pattern.
    pub fn new(
        predicates: &Predicates,
        attributes: usize,
        limits: &SegmentLimits,
    ) -> Result<SpaceConditions, SegmentOverflow> {
        limits.attributes(attributes)?;
        limits.items(predicates.bound(), "distinct predicates")?;
        let all = || (0..predicates.bound() as u32).map(|id| predicates.get(PredId(id)));
        let (values, elements) = cuts(all(), attributes);
        let mut builder = ValueSpacesBuilder::new(limits);
        values.into_iter().try_for_each(|cuts| builder.add(cuts))?;
        let mut element_dimensions: Vec<[u32; 2]> = Vec::new();
        for (attribute, cuts) in elements {
            let dimension = DimensionId::new(builder.len(), limits)?;
            element_dimensions.push([attribute.0, dimension.get()]);
            builder.add(cuts)?;
        }
        let mut strings = Vec::new();
        for predicate in all().filter(|p| matches!(p.test, Test::Pattern { .. } | Test::Cidr { .. })) {
            let is_searched =
                matches!(predicate.test, Test::Pattern { negated: false, or_missing: false, .. })
                    && predicate.over != Over::AllElements;
            let dimension =
                if is_searched { Some(DimensionId::new(builder.add_flag(), limits)?.get()) } else { None };
            strings.push(StringPredicate { predicate: predicate.clone(), dimension });
        }
        let mut made = SpaceConditions {
            spaces: builder.finish(),
            conditions: Vec::with_capacity(predicates.bound()),
            complex: Vec::new(),
            intervals: Vec::new(),
            bits: Vec::new(),
            strings,
            elements: element_dimensions,
            limits: *limits,
        };
        let mut next_string = 0;
        for predicate in all() {
            let condition = made.condition(predicate, &mut next_string)?;
            made.conditions.push(condition);
        }
        Ok(made)
    }

    /// A dimension that was made, by its number.
    fn dimension(&self, number: u32) -> Result<DimensionId, SegmentOverflow> {
        DimensionId::new(number as usize, &self.limits)
    }

    fn condition(
        &mut self,
        predicate: &Predicate,
        next_string: &mut usize,
    ) -> Result<SpaceCondition, SegmentOverflow> {
        if let Test::Pattern { .. } | Test::Cidr { .. } = predicate.test {
            let number = *next_string;
            *next_string += 1;
            return self.string_condition(predicate, number);
        }
        let accepts_missing = |accepted: &SpaceSet| accepted.first().is_some_and(|first| first.0 == 0);
        if predicate.over == Over::Value {
            let dimension = self.dimension(predicate.attribute.0)?;
            let accepted = self.spaces.accepted(dimension.get(), &predicate.test);
            let test = self.shortest_test(dimension.get(), &accepted)?;
            let witnesses = if accepts_missing(&accepted) { SpaceSet::new() } else { accepted };
            return Ok(SpaceCondition::new(dimension, witnesses, test));
        }
        let elements = element_dimension(&self.elements, predicate.attribute).unwrap_or(0);
        let accepted = self.spaces.accepted(elements, &predicate.test);
        let (start, len) = self.add_intervals(&accepted)?;
        if predicate.over == Over::AllElements {
            let test = self.add_complex(ComplexTest::AllElementsIn { dimension: elements, start, len })?;
            return self.needs_list(predicate.attribute, test);
        }
        let test = self.add_complex(ComplexTest::AnyElementIn { dimension: elements, start, len })?;
        if accepts_missing(&accepted) {
            // A missing element has no space: only the list itself is a witness.
            return self.needs_list(predicate.attribute, test);
        }
        let condition = SpaceCondition::new(self.dimension(elements)?, accepted, test);
        Ok(SpaceCondition { many_valued: true, ..condition })
    }

    /// A condition that holds only if the attribute's value is a list.
    fn needs_list(&self, attribute: AttrId, test: ResidualTest) -> Result<SpaceCondition, SegmentOverflow> {
        let list = self.spaces.other(attribute.0);
        let condition = SpaceCondition::new(self.dimension(attribute.0)?, vec![(list, list)], test);
        Ok(SpaceCondition { exact: false, ..condition })
    }

    fn string_condition(
        &mut self,
        predicate: &Predicate,
        number: usize,
    ) -> Result<SpaceCondition, SegmentOverflow> {
        if let Some(dimension) = self.strings[number].dimension {
            let test = ResidualTest::Interval { dimension, low: 1, high: 1, outside: false };
            return Ok(SpaceCondition::new(self.dimension(dimension)?, vec![(1, 1)], test));
        }
        let dimension = predicate.attribute.0;
        let test = self.add_complex(ComplexTest::Direct { predicate: number as u32 })?;
        let witnesses = match predicate.over {
            Over::Value if predicate.accepts_missing() => SpaceSet::new(),
            Over::Value => self.spaces.texts(dimension).into_iter().collect(),
            _ => return self.needs_list(predicate.attribute, test),
        };
        let condition = SpaceCondition::new(self.dimension(dimension)?, witnesses, test);
        Ok(SpaceCondition { exact: false, ..condition })
    }

    /// The shortest test for a set of spaces: an interval, its complement, a bitmap or a list of intervals.
    fn shortest_test(
        &mut self,
        dimension: u32,
        accepted: &[(u32, u32)],
    ) -> Result<ResidualTest, SegmentOverflow> {
        let last = self.spaces.count(dimension) - 1;
        match *accepted {
            [(low, high)] => Ok(ResidualTest::Interval { dimension, low, high, outside: false }),
            [(1, before), (behind, end)] if end == last => {
                Ok(ResidualTest::Interval { dimension, low: before + 1, high: behind - 1, outside: true })
            }
            _ if (last as usize + 1).div_ceil(64) <= accepted.len() => {
                let start = self.add_bitmap(last, accepted)?;
                self.add_complex(ComplexTest::InBitmap { dimension, start })
            }
            _ => {
                let (start, len) = self.add_intervals(accepted)?;
                self.add_complex(ComplexTest::InIntervals { dimension, start, len })
            }
        }
    }

    fn add_bitmap(&mut self, last: u32, accepted: &[(u32, u32)]) -> Result<u32, SegmentOverflow> {
        let start = self.bits.len();
        let end = start + (last as usize + 1).div_ceil(64);
        self.limits.items(end, "words of bitmaps")?;
        self.bits.resize(end, 0);
        for space in accepted.iter().flat_map(|(low, high)| *low..=*high) {
            self.bits[start + space as usize / 64] |= 1 << (space % 64);
        }
        Ok(start as u32)
    }

    /// Appends intervals; returns where they begin and how many there are.
    fn add_intervals(&mut self, intervals: &[(u32, u32)]) -> Result<(u32, u32), SegmentOverflow> {
        let start = self.intervals.len();
        self.limits.items(start + intervals.len(), "intervals of value sets")?;
        self.intervals.extend(intervals.iter().map(|(low, high)| [*low, *high]));
        Ok((start as u32, intervals.len() as u32))
    }

    fn add_complex(&mut self, complex: ComplexTest) -> Result<ResidualTest, SegmentOverflow> {
        let number = self.limits.items(self.complex.len(), "complex tests")?;
        self.complex.push(complex);
        Ok(ResidualTest::Complex(number))
    }
}

/// Cuts of a list's elements.
type ElementCuts = Vec<(AttrId, DimensionCuts)>;

/// The cuts of each attribute's values, and of the list elements of some, ascending by attribute.
fn cuts<'p>(
    predicates: impl Iterator<Item = &'p Predicate>,
    attributes: usize,
) -> (Vec<DimensionCuts>, ElementCuts) {
    let mut values: Vec<DimensionCuts> = (0..attributes).map(|_| DimensionCuts::default()).collect();
    let mut elements: FxHashMap<AttrId, DimensionCuts> = FxHashMap::default();
    for predicate in predicates {
        let of_value = &mut values[predicate.attribute.index()];
        match (predicate.over, &predicate.test) {
            (Over::Value, test) => of_value.add(test),
            (_, Test::Pattern { .. } | Test::Cidr { .. }) => of_value.distinguish_lists(),
            (over, test) => {
                elements.entry(predicate.attribute).or_default().add(test);
                if over == Over::AllElements || test.accepts_missing() {
                    of_value.distinguish_lists();
                }
            }
        }
    }
    let mut elements: ElementCuts = elements.into_iter().collect();
    elements.sort_unstable_by_key(|(attribute, _)| *attribute);
    (values, elements)
}
