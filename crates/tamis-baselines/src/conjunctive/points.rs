//! Single values of attributes: which ones a predicate accepts or excludes, and a hash table that finds a list under each.
//!
//! Both baselines are built on equality: a predicate that accepts few values is found under each of them.
//!
//! Invariant of [`PointTable`]: a point in use has a list that is not empty, and is found under its own number.

use hashbrown::HashTable;
use smol_str::SmolStr;
use tamis_core::engine::shared::keyed_hash::keyed_hash;
use tamis_core::engine::shared::list_pool::{ListRef, shrink};
use tamis_core::expr::{Cut, OrderedSet, Over, Predicate, Test, ValueSet};
use tamis_core::{AttrId, Number, Value};

/// A value that equality can be tested with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Point {
    Bool(bool),
    Number(Number),
    /// In microseconds.
    Time(i64),
    Text(SmolStr),
}

impl Point {
    /// The point as a value of an event.
    pub fn value(&self) -> Value<'_> {
        match self {
            Point::Bool(value) => Value::Bool(*value),
            Point::Number(Number::Int(value)) => Value::Int(*value),
            Point::Number(Number::Float(value)) => Value::Float(*value),
            Point::Time(value) => Value::Time(*value),
            Point::Text(text) => Value::Text(text),
        }
    }
}

/// A number of an event; `None` if the value is none.
pub(super) fn number(value: Value<'_>) -> Option<Number> {
    match value {
        Value::Int(value) => Some(Number::Int(value)),
        Value::Float(value) => Number::from_f64(value),
        _ => None,
    }
}

/// Hash of an attribute and a value, without an allocation; `None` if no point equals the value.
fn hash_of(attribute: AttrId, value: Value<'_>) -> Option<u64> {
    Some(match value {
        Value::Bool(value) => keyed_hash(&(attribute, value)),
        Value::Int(_) | Value::Float(_) => keyed_hash(&(attribute, number(value)?)),
        Value::Time(value) => keyed_hash(&(attribute, 't', value)),
        Value::Text(text) => keyed_hash(&(attribute, text)),
        Value::Missing | Value::List(_) | Value::Other => return None,
    })
}

fn equals(point: &Point, value: Value<'_>) -> bool {
    match (point, value) {
        (Point::Bool(a), Value::Bool(b)) => *a == b,
        (Point::Number(a), Value::Int(_) | Value::Float(_)) => Some(*a) == number(value),
        (Point::Time(a), Value::Time(b)) => *a == b,
        (Point::Text(a), Value::Text(b)) => a == b,
        _ => false,
    }
}

/// The values that a predicate accepts, in ascending order; `None` if it accepts others than single values, or tests
/// elements of lists.
pub(super) fn accepted(predicate: &Predicate) -> Option<Vec<Point>> {
    if predicate.over != Over::Value {
        return None;
    }
    match &predicate.test {
        Test::Number { low, high } => (low == high).then(|| vec![Point::Number(*low)]),
        Test::Time { low, high } => (low == high).then(|| vec![Point::Time(*low)]),
        Test::Text(text) => Some(vec![Point::Text(text.clone())]),
        Test::Set(set) if !set.missing && !set.other => points_of(set),
        _ => None,
    }
}

/// Whether a predicate accepts exactly one value.
pub(super) fn is_equality(predicate: &Predicate) -> bool {
    match &predicate.test {
        Test::Set(_) => accepted(predicate).is_some_and(|points| points.len() == 1),
        Test::Number { low, high } => low == high && predicate.over == Over::Value,
        Test::Time { low, high } => low == high && predicate.over == Over::Value,
        Test::Text(_) => predicate.over == Over::Value,
        _ => false,
    }
}

/// What `!=` and NOT IN exclude.
pub(super) struct Excluded {
    /// In ascending order.
    pub points: Vec<Point>,
    /// Whether all other values satisfy the predicate, missing ones included.
    pub all_others: bool,
}

/// The values that a predicate excludes of kinds that it otherwise accepts as a whole; `None` if it is no such predicate.
pub(super) fn excluded(predicate: &Predicate) -> Option<Excluded> {
    if predicate.over != Over::Value {
        return None;
    }
    match &predicate.test {
        Test::Outside { low, high } => {
            (low == high).then(|| Excluded { points: vec![Point::Number(*low)], all_others: false })
        }
        Test::Set(set) => {
            let mut excluded = Excluded { points: Vec::new(), all_others: set.missing && set.other };
            match set.bools {
                [false, false] => excluded.all_others = false,
                bools => {
                    let missing = [false, true].into_iter().filter(|value| !bools[usize::from(*value)]);
                    excluded.points.extend(missing.map(Point::Bool));
                }
            }
            let whole = excluded.exclude(&set.numbers, |at| Point::Number(*at))
                && excluded.exclude(&set.times, |at| Point::Time(*at))
                && excluded.exclude(&set.texts, |at| Point::Text(at.clone()));
            (whole && !excluded.points.is_empty()).then_some(excluded)
        }
        _ => None,
    }
}

impl Excluded {
    /// Adds the excluded values of one kind; false if the set neither is empty nor has all values but single ones.
    fn exclude<T: Ord + Clone>(&mut self, set: &OrderedSet<T>, point: impl Fn(&T) -> Point) -> bool {
        if set.is_empty() {
            self.all_others = false;
            return true;
        }
        let others = set.clone().complement();
        others.is_points() && {
            self.points.extend(others.ranges().filter_map(|(low, _)| Some(point(&low?.at))));
            true
        }
    }
}

/// The values of a set; `None` if it has a range.
fn points_of(set: &ValueSet) -> Option<Vec<Point>> {
    if !set.numbers.is_points() || !set.times.is_points() || !set.texts.is_points() {
        return None;
    }
    fn lows<T: Ord + Clone>(set: &OrderedSet<T>) -> impl Iterator<Item = &T> {
        set.ranges().filter_map(|(low, _)| low).map(|Cut { at, .. }| at)
    }
    let bools = [false, true].into_iter().filter(|value| set.bools[usize::from(*value)]).map(Point::Bool);
    let numbers = lows(&set.numbers).map(|at| Point::Number(*at));
    let times = lows(&set.times).map(|at| Point::Time(*at));
    let texts = lows(&set.texts).map(|at| Point::Text(at.clone()));
    Some(bools.chain(numbers).chain(times).chain(texts).collect())
}

/// A point of an attribute and the list under it.
#[derive(Debug)]
struct PointEntry {
    attribute: AttrId,
    /// `None` if the number is free.
    point: Option<Point>,
    list: ListRef,
}

/// Lists by attribute and point.
#[derive(Debug, Default)]
pub(super) struct PointTable {
    /// By number.
    entries: Vec<PointEntry>,
    /// Numbers by hash.
    table: HashTable<u32>,
    /// Free numbers.
    free: Vec<u32>,
}

impl PointEntry {
    fn hash(&self) -> u64 {
        self.point.as_ref().and_then(|point| hash_of(self.attribute, point.value())).unwrap_or(0)
    }

    fn is(&self, attribute: AttrId, value: Value<'_>) -> bool {
        self.attribute == attribute && self.point.as_ref().is_some_and(|point| equals(point, value))
    }
}

impl PointTable {
    fn number_of(&self, attribute: AttrId, value: Value<'_>) -> Option<u32> {
        let hash = hash_of(attribute, value)?;
        self.table.find(hash, |at| self.entries[*at as usize].is(attribute, value)).copied()
    }

    /// The list under a value of an event; empty if there is none.
    #[inline]
    pub fn find(&self, attribute: AttrId, value: Value<'_>) -> ListRef {
        self.number_of(attribute, value).map_or(ListRef::EMPTY, |at| self.entries[at as usize].list)
    }

    /// The list under a point, which the caller is about to extend.
    pub fn list_mut(&mut self, attribute: AttrId, point: &Point) -> &mut ListRef {
        let at = self.number_of(attribute, point.value()).unwrap_or_else(|| {
            let entry = PointEntry { attribute, point: Some(point.clone()), list: ListRef::EMPTY };
            let hash = entry.hash();
            let at = match self.free.pop() {
                Some(at) => {
                    self.entries[at as usize] = entry;
                    at
                }
                None => {
                    self.entries.push(entry);
                    self.entries.len() as u32 - 1
                }
            };
            self.table.insert_unique(hash, at, |other| self.entries[*other as usize].hash());
            at
        });
        &mut self.entries[at as usize].list
    }

    /// Frees a point whose list is empty.
    pub fn remove_if_empty(&mut self, attribute: AttrId, point: &Point) {
        let Some(at) = self.number_of(attribute, point.value()) else { return };
        let entry = &mut self.entries[at as usize];
        if !entry.list.is_empty() {
            return;
        }
        if let Ok(found) = self.table.find_entry(entry.hash(), |other| *other == at) {
            found.remove();
        }
        entry.point = None;
        self.free.push(at);
    }

    /// Every list.
    pub fn lists_mut(&mut self) -> impl Iterator<Item = &mut ListRef> {
        self.entries.iter_mut().map(|entry| &mut entry.list)
    }

    /// Every point in use, with its list.
    pub fn iter(&self) -> impl Iterator<Item = (AttrId, &Point, ListRef)> {
        self.entries.iter().filter_map(|entry| Some((entry.attribute, entry.point.as_ref()?, entry.list)))
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Frees memory reserved for growth.
    pub fn defragment(&mut self) {
        shrink(&mut self.entries);
    }

    /// Checks the invariant.
    pub fn validate(&self) -> Result<(), String> {
        for (at, entry) in self.entries.iter().enumerate() {
            let Some(point) = &entry.point else { continue };
            if self.number_of(entry.attribute, point.value()) != Some(at as u32) || entry.list.is_empty() {
                return Err(format!("point {point:?} of {:?} is not found, or has no list", entry.attribute));
            }
        }
        if self.table.len() != self.len() {
            return Err(format!("{} points in the table, {} in use", self.table.len(), self.len()));
        }
        Ok(())
    }

    /// Bytes in use, without the lists. Long texts are shared with the predicates, which count them.
    pub fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<PointEntry>()
            + self.table.allocation_size()
            + self.free.capacity() * size_of::<u32>()
    }
}
