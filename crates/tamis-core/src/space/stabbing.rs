//! The stabbing query: which of the stored intervals contain a point?
//!
//! One trait for all structures, so that one suite tests them and one benchmark times them. [`StabbingScan`] tests every
//! interval: it is the oracle of the suite and a competitor in the benchmark.

/// A set of closed intervals `low..=high` with `low <= high`, each with a unique number.
pub trait Stabbing {
    /// Stores the intervals, numbered from 0 in the order given.
    fn build(intervals: &[(i64, i64)]) -> Self
    where
        Self: Sized;

    /// Appends the numbers of the intervals that contain the point, each once, in any order.
    fn stab(&self, point: i64, found: &mut Vec<u32>);

    /// Number of intervals that contain the point.
    fn count(&self, point: i64) -> usize;

    /// Bytes in use on the heap.
    fn memory(&self) -> usize;

    /// Checks the invariants of the structure and names the first broken one.
    fn validate(&self) -> Result<(), String>;
}

/// A stabbing structure that supports updates.
pub trait DynamicStabbing: Stabbing {
    /// Stores an interval under an unused number. Numbers need not be dense.
    fn insert(&mut self, number: u32, interval: (i64, i64));

    /// Removes the interval with this number. No effect if the number is unused or has another interval.
    fn remove(&mut self, number: u32, interval: (i64, i64));
}

/// The naive implementation: tests every interval.
///
/// Invariant: `numbers` and `intervals` are parallel arrays; numbers are distinct.
/// Cost: insertion O(1), every other operation O(n); 20 bytes per interval.
#[derive(Clone, Debug)]
pub struct StabbingScan {
    /// The number of each interval, in no order.
    numbers: Vec<u32>,
    /// By position in `numbers`.
    intervals: Vec<(i64, i64)>,
}

impl StabbingScan {
    fn containing(&self, point: i64) -> impl Iterator<Item = u32> {
        let contains = move |&(low, high): &(i64, i64)| low <= point && point <= high;
        self.intervals.iter().zip(&self.numbers).filter(move |(i, _)| contains(i)).map(|(_, number)| *number)
    }
}

impl Stabbing for StabbingScan {
    fn build(intervals: &[(i64, i64)]) -> StabbingScan {
        StabbingScan { numbers: (0..intervals.len() as u32).collect(), intervals: intervals.to_vec() }
    }

    fn stab(&self, point: i64, found: &mut Vec<u32>) {
        found.extend(self.containing(point));
    }

    fn count(&self, point: i64) -> usize {
        self.containing(point).count()
    }

    fn memory(&self) -> usize {
        self.numbers.capacity() * size_of::<u32>() + self.intervals.capacity() * size_of::<(i64, i64)>()
    }

    fn validate(&self) -> Result<(), String> {
        if self.numbers.len() != self.intervals.len() {
            let (numbers, intervals) = (self.numbers.len(), self.intervals.len());
            return Err(format!("stabbing scan: {numbers} numbers for {intervals} intervals"));
        }
        let mut sorted = self.numbers.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("stabbing scan: number {} is stored twice", pair[0])),
            None => Ok(()),
        }
    }
}

impl DynamicStabbing for StabbingScan {
    fn insert(&mut self, number: u32, interval: (i64, i64)) {
        self.numbers.push(number);
        self.intervals.push(interval);
    }

    fn remove(&mut self, number: u32, interval: (i64, i64)) {
        let position = self.numbers.iter().position(|other| *other == number);
        if let Some(position) = position.filter(|&position| self.intervals[position] == interval) {
            self.numbers.swap_remove(position);
            self.intervals.swap_remove(position);
        }
    }
}
