//! How is an overflowing bucket divided into a left, an overlapping and a right bucket? (Paper, section V-A3.)
//!
//! | algorithm | left and right | cost for n intervals |
//! | --- | --- | --- |
//! | exhaustive | the division with the least overlap, of those with the least coverage | O(n log n + n min(n, 64)) |
//! | approximate | taken from both ends in turns | O(n log n) |
//! | space clustering | halves of the space, if the others leave a side with less than alpha of all | O(n) |
//! | rigid | halves of a fixed cell (BE-Tree) | O(n) |
//!
//! Every division is overlap-free: no interval of the left bucket intersects the hull of the right one, and conversely.

use super::interval::Interval;

/// The bucket of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bucket {
    Left,
    Right,
    /// Between both, or across the cut.
    Overlap,
}

/// How overlap-free buckets are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SplitAlgorithm {
    Exhaustive,
    Approximate,
}

/// Divisions that the exhaustive algorithm compares per direction; more are sampled at equal distances.
const CANDIDATES: usize = 64;

/// Divides intervals into buckets; `None` if every division leaves all in one bucket, as of equal intervals. `alpha` is the
/// minimum share of each side.
pub(super) fn split(intervals: &[Interval], algorithm: SplitAlgorithm, alpha: f64) -> Option<Vec<Bucket>> {
    let minimum = ((alpha * intervals.len() as f64).ceil() as usize).max(1);
    let by_data = match algorithm {
        SplitAlgorithm::Exhaustive => exhaustive(intervals, minimum),
        SplitAlgorithm::Approximate => approximate(intervals, minimum),
    };
    by_data.or_else(|| halve(intervals, center(intervals)?))
}

/// A division of the exhaustive algorithm, less is better.
#[derive(PartialEq, PartialOrd)]
struct DivisionCost {
    /// Length of the overlapping bucket.
    overlap: f64,
    /// Minus the length between the sides that no bucket covers. The hull of all is the same for all divisions, so the
    /// least coverage has the longest gap.
    coverage: f64,
}

fn exhaustive(intervals: &[Interval], minimum: usize) -> Option<Vec<Bucket>> {
    let mirrored: Vec<Interval> =
        intervals.iter().map(|interval| Interval { low: -interval.high, high: -interval.low }).collect();
    let from_left = best_division(intervals, minimum);
    let from_right = best_division(&mirrored, minimum);
    let is_left = match (&from_left, &from_right) {
        (Some((left, _)), Some((right, _))) => left <= right,
        (left, _) => left.is_some(),
    };
    if is_left {
        return from_left.map(|(_, limit)| divide(intervals, limit));
    }
    let (_, limit) = from_right?;
    let mut buckets = divide(&mirrored, limit);
    for bucket in &mut buckets {
        *bucket = match bucket {
            Bucket::Left => Bucket::Right,
            Bucket::Right => Bucket::Left,
            Bucket::Overlap => Bucket::Overlap,
        };
    }
    Some(buckets)
}

/// The best upper end of the left bucket: intervals up to it are left, intervals above it right.
fn best_division(intervals: &[Interval], minimum: usize) -> Option<(DivisionCost, f64)> {
    let mut ends: Vec<f64> = intervals.iter().map(|interval| interval.high).collect();
    ends.sort_unstable_by(f64::total_cmp);
    let candidates = minimum - 1..ends.len().saturating_sub(minimum);
    let step = candidates.len().div_ceil(CANDIDATES).max(1);
    let mut best: Option<(DivisionCost, f64)> = None;
    for at in candidates.step_by(step) {
        let limit = ends[at];
        // Intervals with the same end stay together.
        if ends.get(at + 1) == Some(&limit) && step == 1 {
            continue;
        }
        let (mut left, mut right, mut overlap, mut start) = (0, 0, Interval::EMPTY, f64::INFINITY);
        for interval in intervals {
            if interval.high <= limit {
                left += 1;
            } else if interval.low > limit {
                right += 1;
                start = start.min(interval.low);
            } else {
                overlap = overlap.union(*interval);
            }
        }
        if left < minimum || right < minimum {
            continue;
        }
        let gap = (start - limit.max(overlap.high)).max(0.0);
        let cost = DivisionCost { overlap: overlap.length(), coverage: -gap };
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, limit));
        }
    }
    best
}

fn divide(intervals: &[Interval], limit: f64) -> Vec<Bucket> {
    let bucket = |interval: &Interval| match interval {
        interval if interval.high <= limit => Bucket::Left,
        interval if interval.low > limit => Bucket::Right,
        _ => Bucket::Overlap,
    };
    intervals.iter().map(bucket).collect()
}

fn approximate(intervals: &[Interval], minimum: usize) -> Option<Vec<Bucket>> {
    let count = intervals.len();
    let (mut by_high, mut by_low): (Vec<usize>, Vec<usize>) = ((0..count).collect(), (0..count).collect());
    by_high.sort_unstable_by(|a, b| intervals[*a].high.total_cmp(&intervals[*b].high));
    by_low.sort_unstable_by(|a, b| intervals[*b].low.total_cmp(&intervals[*a].low));
    let mut buckets = vec![Bucket::Overlap; count];
    let (mut left_end, mut right_start) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut left, mut right) = (0, 0);
    for (leftmost, rightmost) in by_high.into_iter().zip(by_low) {
        if buckets[leftmost] == Bucket::Overlap && intervals[leftmost].high < right_start {
            buckets[leftmost] = Bucket::Left;
            left_end = left_end.max(intervals[leftmost].high);
            left += 1;
        }
        if buckets[rightmost] == Bucket::Overlap && intervals[rightmost].low > left_end {
            buckets[rightmost] = Bucket::Right;
            right_start = right_start.min(intervals[rightmost].low);
            right += 1;
        }
    }
    (left >= minimum && right >= minimum).then_some(buckets)
}

/// The middle of all ends that are finite.
fn center(intervals: &[Interval]) -> Option<f64> {
    let ends = intervals.iter().flat_map(|interval| [interval.low, interval.high]);
    let finite = ends.filter(|end| end.is_finite());
    let hull = finite.fold(Interval::EMPTY, |hull, at| hull.union(Interval { low: at, high: at }));
    (!hull.is_empty()).then(|| hull.low / 2.0 + hull.high / 2.0)
}

/// Intervals below the cut are left, above it right, and others overlap; `None` if a bucket has all.
fn halve(intervals: &[Interval], cut: f64) -> Option<Vec<Bucket>> {
    let bucket = |interval: &Interval| match interval {
        interval if interval.high < cut => Bucket::Left,
        interval if interval.low > cut => Bucket::Right,
        _ => Bucket::Overlap,
    };
    let buckets: Vec<Bucket> = intervals.iter().map(bucket).collect();
    let is_divided = buckets.iter().any(|bucket| *bucket != buckets[0]);
    is_divided.then_some(buckets)
}

/// The halves of a cell, which share no coordinate; `None` if the cell is too small.
pub(super) fn halves(cell: Interval) -> Option<[Interval; 2]> {
    let middle = cell.low / 2.0 + cell.high.next_up() / 2.0;
    let least = (cell.low.abs() + cell.high.abs()) * f64::EPSILON + SMALLEST_CELL;
    let is_divisible = cell.length() > 4.0 * least && cell.length().is_finite();
    is_divisible.then(|| {
        [Interval { low: cell.low, high: middle.next_down() }, Interval { low: middle, high: cell.high }]
    })
}

/// Cells of rigid cutting are not halved below this length, which bounds their depth.
const SMALLEST_CELL: f64 = 1.0 / (1u64 << 40) as f64;

#[cfg(test)]
mod tests {
    use super::*;

    fn intervals(ends: &[(f64, f64)]) -> Vec<Interval> {
        ends.iter().map(|&(low, high)| Interval { low, high }).collect()
    }

    fn hull(intervals: &[Interval], buckets: &[Bucket], bucket: Bucket) -> Interval {
        let members = intervals.iter().zip(buckets).filter(|(_, other)| **other == bucket);
        members.fold(Interval::EMPTY, |hull, (interval, _)| hull.union(*interval))
    }

    #[test]
    fn sides_repel_each_other_and_have_their_minimum() {
        let mut state = 7u32;
        let mut random = |bound: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from((state >> 8) % bound)
        };
        let mut divided = 0;
        for round in 0..3_000 {
            let count = 2 + round % 150;
            let width = [1, 20, 400][round % 3];
            let mut interval = || {
                let low = random(300);
                Interval { low, high: low + random(width) }
            };
            let given: Vec<Interval> = (0..count).map(|_| interval()).collect();
            for algorithm in [SplitAlgorithm::Exhaustive, SplitAlgorithm::Approximate] {
                let Some(buckets) = split(&given, algorithm, 0.1) else { continue };
                divided += 1;
                let [left, right] = [Bucket::Left, Bucket::Right].map(|side| hull(&given, &buckets, side));
                assert!(!left.intersects(right), "{given:?}");
                assert!(buckets.iter().any(|bucket| *bucket != buckets[0]));
            }
        }
        assert!(divided > 3_000, "{divided}");
    }

    #[test]
    fn the_exhaustive_algorithm_prefers_no_overlap_then_the_longest_gap() {
        let given = intervals(&[(0.0, 1.0), (2.0, 3.0), (10.0, 12.0), (11.0, 13.0)]);
        let buckets = split(&given, SplitAlgorithm::Exhaustive, 0.1).expect("a division");
        assert_eq!(buckets, [Bucket::Left, Bucket::Left, Bucket::Right, Bucket::Right]);
        let given = intervals(&[(0.0, 1.0), (0.5, 9.0), (8.0, 9.0), (0.2, 1.0)]);
        let buckets = split(&given, SplitAlgorithm::Exhaustive, 0.1).expect("a division");
        assert_eq!(buckets, [Bucket::Left, Bucket::Overlap, Bucket::Right, Bucket::Left]);
    }

    #[test]
    fn equal_intervals_are_not_divided() {
        for given in [intervals(&[(3.0, 3.0); 9]), intervals(&[(1.0, 5.0); 9]), vec![Interval::ALL; 9]] {
            assert_eq!(split(&given, SplitAlgorithm::Exhaustive, 0.1), None);
            assert_eq!(split(&given, SplitAlgorithm::Approximate, 0.1), None);
        }
    }

    #[test]
    fn halves_of_a_cell_are_disjoint_and_end() {
        let mut cell = Interval { low: -8.0, high: 8.0 };
        for depth in 0.. {
            let Some([left, right]) = halves(cell) else {
                assert!((30..80).contains(&depth), "{depth}");
                break;
            };
            assert!(!left.intersects(right) && left.union(right) == cell);
            cell = if depth % 2 == 0 { left } else { right };
        }
    }
}
