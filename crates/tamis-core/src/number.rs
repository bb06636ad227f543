//! Numbers that compare exactly across `i64` and `f64`.
//!
//! `1 = 1.0`, but `9007199254740993` and `9007199254740992.0` are different: converting either side to the
//! other's type would lose that. [`Number`] orders the union of both types as real numbers.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// An integer or a float that is not NaN.
///
/// Canonical: a float with an integral value inside the `i64` range is stored as `Int`, so equal numbers are
/// equal bit for bit and hash alike.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// Any 64-bit integer.
    Int(i64),
    /// A float that is not equal to any `i64`; infinities included.
    Float(f64),
}

/// 2^63, the first float above every `i64`.
const TWO_63: f64 = 9_223_372_036_854_775_808.0;

impl Number {
    /// Below or equal to every number.
    pub const MIN: Number = Number::Float(f64::NEG_INFINITY);
    /// Above or equal to every number.
    pub const MAX: Number = Number::Float(f64::INFINITY);

    /// The number of a float; `None` for NaN.
    pub fn from_f64(value: f64) -> Option<Number> {
        if value.is_nan() {
            None
        } else if value.trunc() == value && (-TWO_63..TWO_63).contains(&value) {
            Some(Number::Int(value as i64))
        } else {
            Some(Number::Float(value))
        }
    }

    /// The smallest representable number above this one; infinity is its own successor.
    pub fn next_up(self) -> Number {
        match self {
            Number::Float(f) => Number::canonical(f.next_up()),
            Number::Int(i) => {
                let above = Number::canonical(float_above(i));
                match i.checked_add(1) {
                    Some(next) => above.min(Number::Int(next)),
                    None => above,
                }
            }
        }
    }

    /// The largest representable number below this one; minus infinity is its own predecessor.
    pub fn next_down(self) -> Number {
        match self {
            Number::Float(f) => {
                let below = Number::canonical(f.next_down());
                // 2^63 has i64::MAX between itself and the next float down.
                if f == TWO_63 { below.max(Number::Int(i64::MAX)) } else { below }
            }
            Number::Int(i) => {
                let below = Number::canonical(float_below(i));
                match i.checked_sub(1) {
                    Some(next) => below.max(Number::Int(next)),
                    None => below,
                }
            }
        }
    }

    fn canonical(value: f64) -> Number {
        Number::from_f64(value).unwrap_or(Number::Float(value))
    }
}

/// The smallest float strictly above an integer.
fn float_above(i: i64) -> f64 {
    let f = i as f64;
    if compare_int_float(i, f) == Ordering::Less { f } else { f.next_up() }
}

/// The largest float strictly below an integer.
fn float_below(i: i64) -> f64 {
    let f = i as f64;
    if compare_int_float(i, f) == Ordering::Greater { f } else { f.next_down() }
}

/// Exact order of an integer and a float that is not NaN.
pub fn compare_int_float(i: i64, f: f64) -> Ordering {
    if f >= TWO_63 {
        Ordering::Less
    } else if f < -TWO_63 {
        Ordering::Greater
    } else {
        let whole = f.trunc();
        i.cmp(&(whole as i64)).then_with(|| whole.partial_cmp(&f).unwrap_or(Ordering::Equal))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        match (*self, *other) {
            (Number::Int(a), Number::Int(b)) => a.cmp(&b),
            (Number::Int(a), Number::Float(b)) => compare_int_float(a, b),
            (Number::Float(a), Number::Int(b)) => compare_int_float(b, a).reverse(),
            (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Number::Int(i) => i.hash(state),
            Number::Float(f) => f.to_bits().hash(state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = Number> {
        let edge = prop::sample::select(vec![
            0,
            1,
            -1,
            (1 << 53) - 1,
            1 << 53,
            (1 << 53) + 1,
            i64::MAX,
            i64::MAX - 1,
            i64::MIN,
            i64::MIN + 1,
        ]);
        prop_oneof![
            any::<i64>().prop_map(Number::Int),
            edge.prop_map(Number::Int),
            any::<f64>().prop_filter_map("NaN", Number::from_f64),
            Just(Number::MIN),
            Just(Number::MAX),
            Just(Number::Float(TWO_63)),
        ]
    }

    #[test]
    fn integers_beyond_2_53_stay_apart_from_floats() {
        let exact = Number::Int(9_007_199_254_740_993);
        let rounded = Number::from_f64(9_007_199_254_740_992.0).expect("not NaN");
        assert_ne!(exact, rounded);
        assert_eq!(Number::from_f64(1.0), Some(Number::Int(1)));
        assert_eq!(Number::from_f64(-0.0), Some(Number::Int(0)));
    }

    proptest! {
        #[test]
        fn order_is_total(a in number(), b in number(), c in number()) {
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            if a <= b && b <= c {
                prop_assert!(a <= c);
            }
        }

        #[test]
        fn neighbours_leave_no_gap(a in number(), b in number()) {
            if a != Number::MAX {
                prop_assert!(a.next_up() > a);
                prop_assert!(!(b > a && b < a.next_up()));
            }
            if a != Number::MIN {
                prop_assert!(a.next_down() < a);
                prop_assert!(!(b < a && b > a.next_down()));
            }
            if a != Number::MAX {
                prop_assert_eq!(a.next_up().next_down(), a);
            }
        }
    }
}
