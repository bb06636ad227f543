//! The stabbing query: which of the stored intervals contain a point?
//!
//! One question, several structures, so that they can be tested and timed alike. [`StabbingScan`] looks at every
//! interval: it is the oracle of the tests and the baseline of the benchmark.

/// Closed intervals `low..=high` with `low <= high`, each under a number of its own.
pub trait Stabbing {
    /// Stores the intervals, numbered from 0 in the order given.
    fn build(intervals: &[(i64, i64)]) -> Self
    where
        Self: Sized;

    /// Appends the numbers of the intervals that contain the point, each once, in any order.
    fn stab(&self, point: i64, found: &mut Vec<u32>);

    /// How many intervals contain the point.
    fn count(&self, point: i64) -> usize;

    /// Bytes in use on the heap.
    fn memory(&self) -> usize;

    /// Checks the invariants of the structure and names the first broken one.
    fn validate(&self) -> Result<(), String>;
}

/// A structure that can also change.
pub trait DynamicStabbing: Stabbing {
    /// Stores an interval under a number that is free. Numbers need not be dense.
    fn insert(&mut self, number: u32, interval: (i64, i64));

    /// Forgets the interval of a number. Without this number, or with another interval there, nothing changes.
    fn remove(&mut self, number: u32, interval: (i64, i64));
}

/// The naive answer: look at every interval.
///
/// Invariant: `numbers` and `intervals` run in parallel, and no number stands there twice.
/// Cost: time proportional to all intervals for every operation but insertion, 20 bytes an interval.
#[derive(Clone, Debug)]
pub struct StabbingScan {
    numbers: Vec<u32>,
    intervals: Vec<(i64, i64)>,
}

impl StabbingScan {
    fn found(&self, point: i64) -> impl Iterator<Item = u32> {
        let contains = move |&(low, high): &(i64, i64)| low <= point && point <= high;
        self.intervals.iter().zip(&self.numbers).filter(move |(i, _)| contains(i)).map(|(_, number)| *number)
    }
}

impl Stabbing for StabbingScan {
    fn build(intervals: &[(i64, i64)]) -> StabbingScan {
        StabbingScan { numbers: (0..intervals.len() as u32).collect(), intervals: intervals.to_vec() }
    }

    fn stab(&self, point: i64, found: &mut Vec<u32>) {
        found.extend(self.found(point));
    }

    fn count(&self, point: i64) -> usize {
        self.found(point).count()
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
            Some(pair) => Err(format!("stabbing scan: number {} is there twice", pair[0])),
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
        let place = self.numbers.iter().position(|other| *other == number);
        if let Some(place) = place.filter(|&place| self.intervals[place] == interval) {
            self.numbers.swap_remove(place);
            self.intervals.swap_remove(place);
        }
    }
}
