//! The first phase: which predicates does an event satisfy? Sets their bits in the predicate bit vector.
//!
//! Equalities and IN lists are found under their values in a hash table, ranges by their ends. Every other predicate on a
//! present attribute is evaluated, once per event whatever number of subscriptions have it.
//!
//! Invariant: every indexed predicate is in the one place that [`FoundBy`] says.

use super::super::points::{self, Point, PointTable, number};
use super::bounds::{RangeEnds, Ranges};
use tamis_core::engine::shared::list_pool::{ListPool, shrink};
use tamis_core::engine::shared::predicates::{PredId, Predicates};
use tamis_core::event::{Event, Slot};
use tamis_core::expr::{Over, Predicate, Test};
use tamis_core::{AttrId, Number, Value};

/// The predicate bit vector of one event. Between events only the words that were set are cleared.
#[derive(Debug, Default)]
pub(super) struct BitVector {
    words: Vec<u64>,
    /// Words that are not 0.
    touched: Vec<u32>,
}

impl BitVector {
    /// Begins an event with bits below a number.
    pub fn begin(&mut self, bound: usize) {
        for at in self.touched.drain(..) {
            self.words[at as usize] = 0;
        }
        if self.words.len() * 64 < bound {
            self.words.resize(bound.div_ceil(64), 0);
        }
    }

    #[inline]
    fn set(&mut self, id: PredId) {
        let word = &mut self.words[id.index() / 64];
        if *word == 0 {
            self.touched.push(id.0 / 64);
        }
        *word |= 1 << (id.0 % 64);
    }

    /// 1 if the bit is set, otherwise 0.
    #[inline]
    pub fn get(&self, bit: u32) -> u32 {
        (self.words[bit as usize / 64] >> (bit % 64)) as u32 & 1
    }
}

/// In a list under a value: the predicate is the equality with this value.
const EQUALITY: u32 = 1 << 31;

/// How a predicate is found for a present value.
enum FoundBy {
    Points(Vec<Point>),
    Numbers(RangeEnds<Number>),
    Times(RangeEnds<i64>),
    Test,
}

impl FoundBy {
    fn of(predicate: &Predicate) -> FoundBy {
        if let Some(points) = points::accepted(predicate) {
            return FoundBy::Points(points);
        }
        match (predicate.over, &predicate.test) {
            (Over::Value, &Test::Number { low, high }) => {
                FoundBy::Numbers(RangeEnds { low, high, is_open: low == Number::MIN })
            }
            (Over::Value, &Test::Time { low, high }) => {
                FoundBy::Times(RangeEnds { low, high, is_open: low == i64::MIN })
            }
            _ => FoundBy::Test,
        }
    }
}

/// The predicates on one attribute that are not found by value.
#[derive(Debug, Default)]
struct AttributeIndex {
    numbers: Ranges<Number>,
    times: Ranges<i64>,
    /// Evaluated for every present value.
    tested: Vec<PredId>,
    /// Hold if the value is missing.
    if_missing: Vec<PredId>,
}

/// See the module's head.
#[derive(Debug, Default)]
pub(super) struct PredicateIndex {
    points: PointTable,
    /// Numbers of predicates under a value, with the flag [`EQUALITY`].
    listed: ListPool<u32, 1>,
    /// By attribute.
    attributes: Vec<AttributeIndex>,
    /// Attributes with a predicate that holds if the value is missing.
    may_be_missing: Vec<AttrId>,
}

impl PredicateIndex {
    pub fn insert(&mut self, id: PredId, predicate: &Predicate) {
        let at = predicate.attribute.index();
        if self.attributes.len() <= at {
            self.attributes.resize_with(at + 1, AttributeIndex::default);
        }
        let attribute = &mut self.attributes[at];
        if predicate.accepts_missing() {
            if attribute.if_missing.is_empty() {
                self.may_be_missing.push(predicate.attribute);
            }
            attribute.if_missing.push(id);
        }
        match FoundBy::of(predicate) {
            FoundBy::Points(points) => {
                let word = id.0 | if points.len() == 1 { EQUALITY } else { 0 };
                for point in &points {
                    self.listed.extend(self.points.list_mut(predicate.attribute, point), &[word]);
                }
            }
            FoundBy::Numbers(ends) => attribute.numbers.insert(ends, id),
            FoundBy::Times(ends) => attribute.times.insert(ends, id),
            FoundBy::Test => attribute.tested.push(id),
        }
    }

    pub fn remove(&mut self, id: PredId, predicate: &Predicate) {
        let attribute = &mut self.attributes[predicate.attribute.index()];
        if predicate.accepts_missing() {
            attribute.if_missing.retain(|other| *other != id);
            if attribute.if_missing.is_empty() {
                self.may_be_missing.retain(|other| *other != predicate.attribute);
            }
        }
        match FoundBy::of(predicate) {
            FoundBy::Points(points) => {
                for point in &points {
                    let list = self.points.list_mut(predicate.attribute, point);
                    let found = self.listed.get(*list).iter().position(|word| word & !EQUALITY == id.0);
                    if let Some(at) = found {
                        self.listed.swap_remove(list, at);
                    }
                    self.points.remove_if_empty(predicate.attribute, point);
                }
            }
            FoundBy::Numbers(ends) => attribute.numbers.remove(ends, id),
            FoundBy::Times(ends) => attribute.times.remove(ends, id),
            FoundBy::Test => attribute.tested.retain(|other| *other != id),
        }
    }

    /// The equality that a value of an event satisfies.
    pub fn equality(&self, attribute: AttrId, value: Value<'_>) -> Option<PredId> {
        let list = self.listed.get(self.points.find(attribute, value));
        list.iter().find(|word| *word & EQUALITY != 0).map(|word| PredId(word & !EQUALITY))
    }

    /// Sets the bits of all predicates that an event satisfies; visits the equalities among them.
    #[inline]
    pub fn set_bits(
        &self,
        event: &Event<'_>,
        predicates: &Predicates,
        bits: &mut BitVector,
        mut equality: impl FnMut(AttrId, PredId),
    ) {
        for cell in event.cells() {
            let Some(attribute) = self.attributes.get(cell.attribute.index()) else { continue };
            let value = event.resolve(cell.slot);
            for word in self.listed.get(self.points.find(cell.attribute, value)) {
                let id = PredId(word & !EQUALITY);
                bits.set(id);
                if word & EQUALITY != 0 {
                    equality(cell.attribute, id);
                }
            }
            if let Some(number) = number(value) {
                attribute.numbers.stab(number, |id| bits.set(id));
            } else if let Value::Time(instant) = value {
                attribute.times.stab(instant, |id| bits.set(id));
            }
            for id in &attribute.tested {
                if predicates.get(*id).holds(event) {
                    bits.set(*id);
                }
            }
        }
        for attribute in &self.may_be_missing {
            if event.slot(*attribute) == Slot::Missing {
                self.attributes[attribute.index()].if_missing.iter().for_each(|id| bits.set(*id));
            }
        }
    }

    /// Moves lists together and frees memory reserved for growth.
    pub fn defragment(&mut self) {
        self.points.defragment();
        self.listed.defragment(self.points.lists_mut());
        shrink(&mut self.attributes);
        for attribute in &mut self.attributes {
            attribute.numbers.defragment();
            attribute.times.defragment();
        }
    }

    /// Checks that exactly these predicates are indexed.
    pub fn validate<'p>(
        &self,
        predicates: impl Iterator<Item = (PredId, &'p Predicate)>,
    ) -> Result<(), String> {
        self.points.validate()?;
        let (mut places, mut missing) = (0, 0);
        for (id, predicate) in predicates {
            let attribute = self.attributes.get(predicate.attribute.index());
            let attribute = attribute.ok_or_else(|| format!("propagation: no index for {predicate:?}"))?;
            let is_listed = |point: &Point| {
                let list = self.points.find(predicate.attribute, point.value());
                self.listed.get(list).iter().any(|word| word & !EQUALITY == id.0)
            };
            let is_found = match FoundBy::of(predicate) {
                FoundBy::Points(points) => {
                    places += points.len();
                    points.iter().all(is_listed)
                }
                FoundBy::Numbers(ends) => attribute.numbers.contains(ends, id),
                FoundBy::Times(ends) => attribute.times.contains(ends, id),
                FoundBy::Test => attribute.tested.contains(&id),
            };
            places += usize::from(!matches!(FoundBy::of(predicate), FoundBy::Points(_)));
            missing += usize::from(predicate.accepts_missing());
            if !is_found || predicate.accepts_missing() != attribute.if_missing.contains(&id) {
                return Err(format!("propagation: predicate {id:?} is not indexed"));
            }
        }
        let listed: usize = self.points.iter().map(|(.., list)| list.len()).sum();
        let others = |attribute: &AttributeIndex| {
            attribute.numbers.len() + attribute.times.len() + attribute.tested.len()
        };
        let found = listed + self.attributes.iter().map(others).sum::<usize>();
        let found_missing: usize = self.attributes.iter().map(|attribute| attribute.if_missing.len()).sum();
        if (found, found_missing) != (places, missing) {
            return Err(format!("propagation: {found} places of predicates, {places} are right"));
        }
        match self.attributes.iter().all(|index| index.numbers.is_sorted() && index.times.is_sorted()) {
            true => Ok(()),
            false => Err("propagation: ranges are not in order".into()),
        }
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let of = |attribute: &AttributeIndex| {
            let lists = attribute.tested.capacity() + attribute.if_missing.capacity();
            attribute.numbers.memory() + attribute.times.memory() + lists * size_of::<PredId>()
        };
        self.points.memory()
            + self.listed.memory()
            + self.attributes.capacity() * size_of::<AttributeIndex>()
            + self.attributes.iter().map(of).sum::<usize>()
            + self.may_be_missing.capacity() * size_of::<AttrId>()
    }
}
