//! Random conjunctions and nested expressions over attributes of every kind, and random events.

use super::{compare, statistic};
use tamis_conformance::event::{Given, GivenEvent};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::expr::Missing;
use tamis_core::index::Index;

pub fn pick<T: Copy>(draw: &mut Draw, from: &[T]) -> T {
    from[draw.below(from.len())]
}

/// What a workload consists of.
pub struct Workload {
    /// Attributes of each kind.
    pub attributes: usize,
    /// Number of distinct numbers and strings.
    pub values: usize,
    /// Whether there are predicates that are evaluated directly on each event: then events are not batched.
    pub direct: bool,
    /// Whether there are lists and patterns, which under NOT are evaluated directly too.
    pub lists: bool,
    /// Maximum nesting; 0 for conjunctions.
    pub depth: usize,
}

impl Workload {
    fn number(&self, draw: &mut Draw) -> String {
        let whole = draw.below(self.values) as i64 - 3;
        match draw.below(24) {
            0 => format!("{whole}.5"),
            1 => pick(draw, &["9223372036854775807", "-9223372036854775808", "1e300", "-1e300"]).to_owned(),
            _ => whole.to_string(),
        }
    }

    fn text(&self, draw: &mut Draw) -> String {
        format!("w{}", draw.below(self.values))
    }

    fn comparison(draw: &mut Draw) -> &'static str {
        pick(draw, &["=", "=", "=", "!=", "<", "<=", ">", ">="])
    }

    pub fn predicate(&self, draw: &mut Draw) -> String {
        let n = draw.below(self.attributes);
        let number = |draw: &mut Draw| self.number(draw);
        let list = |draw: &mut Draw, one: &dyn Fn(&mut Draw) -> String| {
            let all: Vec<String> = (0..=draw.below(9)).map(|_| one(draw)).collect();
            all.join(", ")
        };
        let quoted = |draw: &mut Draw| format!("'{}'", self.text(draw));
        let kinds = if self.direct { 26 } else { 22 };
        let kind = match draw.below(kinds) {
            15..19 if !self.lists => 10,
            kind => kind,
        };
        match kind {
            0..6 => format!("n{n} {} {}", Workload::comparison(draw), number(draw)),
            6..9 => {
                let low = draw.below(self.values) as i64 - 3;
                let high = low + draw.below(self.values / 3 + 1) as i64;
                format!("n{n} {}between {low} and {high}", pick(draw, &["", "", "", "not "]))
            }
            9 => format!("n{n} {}in ({})", pick(draw, &["", "", "not "]), list(draw, &number)),
            10..12 => format!("s{n} {} {}", pick(draw, &["=", "=", "!="]), quoted(draw)),
            12 => format!("s{n} {}in ({})", pick(draw, &["", "", "not "]), list(draw, &quoted)),
            13 => format!("o{n} {} {}", Workload::comparison(draw), quoted(draw)),
            14 => format!("startswith(o{n}, 'w{}')", draw.below(10)),
            15 => format!("s{n} like '%{}'", draw.below(10)),
            16 => format!("any(l{n}) {} {}", Workload::comparison(draw), number(draw)),
            17 => format!("any(l{n}) {}in ({})", pick(draw, &["", "", "not "]), list(draw, &number)),
            18 => format!("any(t{n}) = {}", quoted(draw)),
            19 => format!("{}b{n}", pick(draw, &["", "not "])),
            20 => format!("d{n} {} DATE '2026-11-{:02}'", Workload::comparison(draw), 1 + draw.below(28)),
            21 => {
                format!("{}{n} is {}null", pick(draw, &["n", "s", "l", "b", "d"]), pick(draw, &["", "not "]))
            }
            22 => format!("all(l{n}) {} {}", Workload::comparison(draw), number(draw)),
            23 => format!("s{n} not like '%{}%'", draw.below(10)),
            24 => format!("{}in_cidr(s{n}, '10.0.{}.0/24')", pick(draw, &["", "not "]), draw.below(4)),
            _ => format!("any(t{n}) like '%{}'", draw.below(10)),
        }
    }

    fn joined(&self, draw: &mut Draw, depth: usize) -> String {
        if depth == 0 {
            let parts: Vec<String> = (0..=draw.below(5)).map(|_| self.predicate(draw)).collect();
            return parts.join(" and ");
        }
        let connective = pick(draw, &[" and ", " and ", " or ", " or ", " xor "]);
        let parts: Vec<String> = (0..2 + draw.below(2))
            .map(|_| match draw.below(3) {
                0 => self.predicate(draw),
                1 => format!("({})", self.joined(draw, depth - 1)),
                _ => format!("not ({})", self.joined(draw, depth - 1)),
            })
            .collect();
        parts.join(connective)
    }

    fn expression(&self, draw: &mut Draw) -> String {
        let depth = draw.below(self.depth + 1);
        self.joined(draw, depth)
    }

    fn number_value(&self, draw: &mut Draw) -> Given {
        let whole = draw.below(self.values + 4) as i64 - 5;
        match draw.below(20) {
            0 => Given::Float(whole as f64 + 0.5),
            1 => Given::Float(whole as f64),
            2 => Given::Int(pick(draw, &[i64::MIN, i64::MAX, i64::MAX - 1])),
            3 => Given::Float(pick(draw, &[f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0, 1e300])),
            _ => Given::Int(whole),
        }
    }

    fn text_value(&self, draw: &mut Draw) -> Given {
        match draw.below(12) {
            0 => Given::Text(String::new()),
            1 => Given::Text(format!("10.0.{}.7", draw.below(4))),
            _ => Given::Text(self.text(draw)),
        }
    }

    fn value(&self, kind: &str, draw: &mut Draw) -> Given {
        match draw.below(40) {
            0 => return Given::Missing,
            1 => return Given::Object,
            2 => return self.value(pick(draw, &["n", "s", "l", "b", "d"]), draw),
            _ => {}
        }
        match kind {
            "n" => self.number_value(draw),
            "s" | "o" => self.text_value(draw),
            "b" => Given::Bool(draw.below(2) == 0),
            "d" => Given::Time(1_793_491_200_000_000 + draw.below(30 * 24) as i64 * 3_600_000_000),
            _ => {
                let element = |draw: &mut Draw| match (draw.below(10), kind) {
                    (0, _) => Given::Missing,
                    (_, "l") => self.number_value(draw),
                    _ => self.text_value(draw),
                };
                Given::List((0..draw.below(5)).map(|_| element(draw)).collect())
            }
        }
    }

    pub fn event(&self, draw: &mut Draw) -> GivenEvent {
        let mut event = GivenEvent::new();
        for n in 0..self.attributes {
            for kind in ["n", "s", "o", "l", "t", "b", "d"] {
                if draw.below(4) > 0 {
                    event.push((format!("{kind}{n}"), self.value(kind, draw)));
                }
            }
        }
        event
    }

    /// Compares on random expressions and 600 random events.
    pub fn compare(&self, name: &str, expressions: usize, missing: Missing) -> [Index; 2] {
        let seed = seed();
        println!("TAMIS_SEED={seed}");
        let mut draw = Draw::new(seed);
        let texts: Vec<String> = (0..expressions).map(|_| self.expression(&mut draw)).collect();
        let events: Vec<GivenEvent> = (0..600).map(|_| self.event(&mut draw)).collect();
        let indexes = compare(name, &texts, &events, missing);
        let batched = if self.direct { 0 } else { 600 };
        assert_eq!(statistic(&indexes[1], "events_together"), batched, "{name}");
        assert_eq!(statistic(&indexes[0], "events_together"), 0, "{name}");
        indexes
    }
}
