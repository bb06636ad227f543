//! The one suite of all stabbing structures, those of tamis-core and of this crate: each returns the answers of the
//! scan, on intervals of every shape and, if it supports updates, after every step of random histories.

use tamis_baselines::stabbing::{IntervalTree, SegmentTree};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::space::{DynamicStabbing, PsStabbing, Stabbing, StabbingScan};

type Interval = (i64, i64);

/// The tests of a structure, in a module of its own; those of updates for `dynamic` structures only.
macro_rules! suite {
    (static $name:ident $structure:ident) => {
        suite!($name $structure: answers_by_hand every_shape);
    };
    (dynamic $name:ident $structure:ident) => {
        suite!($name $structure: answers_by_hand every_shape random_histories ordered_histories absent_removed
            cycles_leave_nothing_behind);
    };
    ($name:ident $structure:ident: $($test:ident)+) => {
        mod $name {
            $(#[test]
            fn $test() {
                super::$test::<super::$structure>();
            })+
        }
    };
}

suite!(dynamic scan StabbingScan);
suite!(dynamic interval_tree IntervalTree);
suite!(static segment_tree SegmentTree);
suite!(dynamic ps_tree PsStabbing);

/// How the intervals of a set relate to one another.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Points,
    Nested,
    Equal,
    Disjoint,
    /// Each begins right after the end of its predecessor.
    Adjacent,
    /// Few different ends, so that most are shared.
    SharedEnds,
    Negative,
    /// Ends at and next to the smallest and the largest value.
    Extreme,
    /// Any two ends.
    Wide,
    Mixed,
}

const SHAPES: [Shape; 10] = [
    Shape::Points,
    Shape::Nested,
    Shape::Equal,
    Shape::Disjoint,
    Shape::Adjacent,
    Shape::SharedEnds,
    Shape::Negative,
    Shape::Extreme,
    Shape::Wide,
    Shape::Mixed,
];

impl Shape {
    fn interval(self, n: i64, draw: &mut Draw) -> Interval {
        let mut below = |bound: usize| draw.below(bound) as i64;
        let (a, b) = match self {
            Shape::Points => [below(50) - 25; 2].into(),
            Shape::Nested => (-n - below(2), n + below(2)),
            Shape::Equal => (-3, 4 + below(20) / 19),
            Shape::Disjoint => (10 * n, 10 * n + below(9)),
            Shape::Adjacent => (10 * n, 10 * n + 9),
            Shape::SharedEnds => (below(9), below(9)),
            Shape::Negative => (-below(1000) - 1, -below(1000) - 1),
            Shape::Extreme => (extreme(draw), extreme(draw)),
            Shape::Wide => {
                let any = proptest::arbitrary::any::<(i64, i64)>();
                draw.one(&any)
            }
            Shape::Mixed => return SHAPES[draw.below(SHAPES.len() - 1)].interval(n, draw),
        };
        (a.min(b), a.max(b))
    }

    fn intervals(self, count: usize, draw: &mut Draw) -> Vec<Interval> {
        (0..count as i64).map(|n| self.interval(n, draw)).collect()
    }
}

fn extreme(draw: &mut Draw) -> i64 {
    let distance = draw.below(3) as i64;
    [i64::MIN + distance, i64::MAX - distance, distance - 1][draw.below(3)]
}

/// All points where an answer can change, and 20 random ones.
fn points(intervals: &[Interval], draw: &mut Draw) -> Vec<i64> {
    let mut points = vec![i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX];
    for &(low, high) in intervals {
        points.extend([low.saturating_sub(1), low, low.midpoint(high), high, high.saturating_add(1)]);
    }
    points.extend((0..20).map(|_| draw.one(&proptest::arbitrary::any::<i64>())));
    points.sort_unstable();
    points.dedup();
    points
}

/// Compares all answers with those of a scan; returns the number of intervals found.
fn compare<S: Stabbing>(structure: &S, scan: &StabbingScan, points: &[i64], context: &str) -> usize {
    structure.validate().unwrap_or_else(|broken| unreachable!("{context}: {broken}"));
    let (mut found, mut expected, mut matches) = (Vec::new(), Vec::new(), 0);
    for &point in points {
        // `stab` appends: what is in the buffer stays.
        found.clear();
        found.push(u32::MAX);
        expected.clear();
        structure.stab(point, &mut found);
        scan.stab(point, &mut expected);
        assert_eq!(found.remove(0), u32::MAX, "{context}");
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{context}: stab {point}");
        assert_eq!(structure.count(point), expected.len(), "{context}: count {point}");
        matches += found.len();
    }
    matches
}

fn answers_by_hand<S: Stabbing>() {
    let structure = S::build(&[(3, 7), (5, 5), (-2, 4), (i64::MIN, i64::MAX), (3, 7), (8, i64::MAX)]);
    let expected: [(i64, &[u32]); 8] = [
        (i64::MIN, &[3]),
        (-2, &[2, 3]),
        (3, &[0, 2, 3, 4]),
        (5, &[0, 1, 3, 4]),
        (6, &[0, 3, 4]),
        (7, &[0, 3, 4]),
        (8, &[3, 5]),
        (i64::MAX, &[3, 5]),
    ];
    for (point, numbers) in expected {
        let mut found = Vec::new();
        structure.stab(point, &mut found);
        found.sort_unstable();
        assert_eq!(found, numbers, "{point}");
        assert_eq!(structure.count(point), numbers.len(), "{point}");
    }
    assert!(structure.memory() >= 6 * 2 * size_of::<i64>());
    let empty = S::build(&[]);
    assert_eq!((empty.count(0), empty.validate()), (0, Ok(())));
}

fn every_shape<S: Stabbing>() {
    let seed = seed();
    let mut draw = Draw::new(seed);
    for shape in SHAPES {
        let mut matches = 0;
        // All sizes below 20 cover the few forms of small trees; the larger ones make trees of several levels.
        for size in (0..20).chain([31, 32, 33, 64, 100, 300]) {
            let intervals = shape.intervals(size, &mut draw);
            let points = points(&intervals, &mut draw);
            let context = format!("TAMIS_SEED={seed}, {shape:?}, {size}");
            let (structure, scan) = (S::build(&intervals), StabbingScan::build(&intervals));
            matches += compare(&structure, &scan, &points, &context);
        }
        assert!(matches > 500, "{shape:?}: only {matches} matches");
    }
}

/// Inserts and removes; numbers of removed intervals are reused; the set grows and shrinks in turns.
fn random_histories<S: DynamicStabbing>() {
    let seed = seed();
    let mut draw = Draw::new(seed);
    let (mut inserts, mut removals, mut emptied) = (0, 0, 0);
    for shape in SHAPES {
        let built = draw.below(30);
        let first = shape.intervals(built, &mut draw);
        let (mut structure, mut scan) = (S::build(&first), StabbingScan::build(&first));
        let mut live: Vec<(u32, Interval)> = (0..).zip(first).collect();
        let mut free: Vec<u32> = vec![1_000_000];
        let mut growing = true;
        for step in 0..400 {
            if live.is_empty() || live.len() > 60 {
                growing = live.is_empty();
                emptied += usize::from(growing);
            }
            if live.is_empty() || (draw.below(4) > 0) == growing {
                let number = free.pop().unwrap_or((built + step) as u32);
                let interval = shape.interval(draw.below(60) as i64, &mut draw);
                structure.insert(number, interval);
                scan.insert(number, interval);
                live.push((number, interval));
                inserts += 1;
            } else {
                let (number, interval) = live.swap_remove(draw.below(live.len()));
                structure.remove(number, interval);
                scan.remove(number, interval);
                free.push(number);
                removals += 1;
            }
            let stored: Vec<Interval> = live.iter().map(|(_, interval)| *interval).collect();
            let points = points(&stored, &mut draw);
            compare(&structure, &scan, &points, &format!("TAMIS_SEED={seed}, {shape:?}, step {step}"));
        }
    }
    assert!(
        inserts > 1_000 && removals > 1_000 && emptied > 5,
        "{inserts} inserts, {removals} removals, {emptied} times empty"
    );
}

/// Orders that turn an unbalanced search tree into a list.
fn ordered_histories<S: DynamicStabbing>() {
    const COUNT: u32 = 3_000;
    let interval = |n: u32| (i64::from(n), i64::from(n) + 3);
    let ascending: Vec<u32> = (0..COUNT).collect();
    let descending: Vec<u32> = (0..COUNT).rev().collect();
    let inwards: Vec<u32> = (0..COUNT / 2).flat_map(|n| [n, COUNT - 1 - n]).collect();
    let orders = [ascending, descending, inwards];
    for inserted in &orders {
        for removed in &orders {
            let mut structure = S::build(&[]);
            for &n in inserted {
                structure.insert(n, interval(n));
            }
            assert_eq!(structure.validate(), Ok(()));
            assert!((3..i64::from(COUNT)).all(|point| structure.count(point) == 4));
            for (step, &n) in removed.iter().enumerate() {
                structure.remove(n, interval(n));
                if step % 100 == 0 {
                    assert_eq!(structure.validate(), Ok(()));
                }
            }
            assert_eq!(structure.validate(), Ok(()));
            assert!((0..i64::from(COUNT)).all(|point| structure.count(point) == 0));
        }
    }
}

fn absent_removed<S: DynamicStabbing>() {
    let mut structure = S::build(&[(1, 5), (1, 5), (2, 2)]);
    structure.remove(3, (1, 5));
    structure.remove(0, (1, 4));
    structure.remove(0, (0, 5));
    structure.remove(2, (1, 5));
    assert_eq!((structure.count(2), structure.validate()), (3, Ok(())));
    structure.remove(1, (1, 5));
    structure.remove(1, (1, 5));
    let mut found = Vec::new();
    structure.stab(2, &mut found);
    found.sort_unstable();
    assert_eq!((found, structure.validate()), (vec![0, 2], Ok(())));
}

/// Intervals that come and go at one spot: memory after 10,000 cycles is memory after 100.
fn cycles_leave_nothing_behind<S: DynamicStabbing>() {
    let kept: Vec<Interval> = (0..20).map(|n| (10 * n, 10 * n + 15)).collect();
    let (mut structure, scan) = (S::build(&kept), StabbingScan::build(&kept));
    let mut run = |cycles: usize| {
        for _ in 0..cycles {
            for (number, interval) in [(100, (57, 57)), (101, (40, 61)), (102, (57, 90))] {
                structure.insert(number, interval);
            }
            for (number, interval) in [(101, (40, 61)), (100, (57, 57)), (102, (57, 90))] {
                structure.remove(number, interval);
            }
        }
        structure.memory()
    };
    let early = run(100);
    assert_eq!(run(9_900), early);
    compare(&structure, &scan, &points(&kept, &mut Draw::new(seed())), "after 10,000 cycles");
}
