//! The engine `compiled` against `scan`, one event after another and many together, on workloads that make it use every
//! kind of place and test it has.

use std::num::NonZeroUsize;
use tamis_conformance::event::{Given, GivenEvent, write_row};
use tamis_conformance::folder::Folder;
use tamis_conformance::generate::{event, expression};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::engine::registry::OptionValue;
use tamis_core::event::Rows;
use tamis_core::expr::Missing;
use tamis_core::index::{Id, Index, Settings, Source};

const PATHS: [&str; 2] = ["one_by_one", "together"];

fn compiled(path: &str, missing: Missing) -> Index {
    let options = [("path".to_owned(), OptionValue::Text(path.into()))].into();
    Index::new(Settings { engine: "compiled".into(), options, missing, ..Settings::default() })
        .expect("an index")
}

fn scan(missing: Missing) -> Index {
    Index::new(Settings { engine: "scan".into(), missing, ..Settings::default() }).expect("an index")
}

fn fill(index: &Index, texts: &[String]) {
    let all = (0..).zip(texts).map(|(id, text)| (Id::from(id), Source::from(text.as_str())));
    index.add_many(all).expect("expressions");
}

/// What each event matches, in order of insertion.
fn answers(index: &Index, events: &[GivenEvent]) -> Vec<Vec<Id>> {
    let view = index.pin();
    let mut rows = Rows::default();
    events.iter().for_each(|event| write_row(event, view.schema(), &mut rows));
    let matches = view.match_rows(&rows, NonZeroUsize::new(1), true).expect("not stale");
    let of_row = |row: usize| {
        let range = matches.offsets[row]..matches.offsets[row + 1];
        range.map(|at| matches.ids.get(at as usize)).collect()
    };
    (0..rows.len()).map(of_row).collect()
}

/// As [`answers`], event by event.
fn single_answers(index: &Index, events: &[GivenEvent]) -> Vec<Vec<Id>> {
    let view = index.pin();
    let mut rows = Rows::default();
    events.iter().for_each(|event| write_row(event, view.schema(), &mut rows));
    (0..rows.len()).map(|row| view.match_row(&rows, row).expect("not stale").to_vec()).collect()
}

fn figure(index: &Index, name: &str) -> u64 {
    index.engine_stats().iter().find(|(known, _)| *known == name).map_or(0, |(_, figure)| *figure)
}

/// Compares both ways of `compiled` with `scan`, before and after a file. Returns the indexes, for their figures.
fn compare(name: &str, texts: &[String], events: &[GivenEvent], missing: Missing) -> [Index; 2] {
    let reference = scan(missing);
    fill(&reference, texts);
    let expected = answers(&reference, events);
    let folder = Folder::new(&format!("compiled-{name}-{missing:?}"));
    PATHS.map(|path| {
        let index = compiled(path, missing);
        fill(&index, texts);
        index.compact().expect("compacted");
        assert_eq!(figure(&index, "segments"), 1, "{name}");
        index.validate().unwrap_or_else(|error| unreachable!("{name}: {error}"));
        check(&format!("{name}, {path}"), texts, events, &expected, &answers(&index, events));
        check(&format!("{name}, single"), texts, events, &expected, &single_answers(&index, events));
        let file = folder.path(path);
        index.save(&file).expect("saved");
        let loaded = Index::load(&file).expect("loaded");
        loaded.validate().expect("sound");
        check(&format!("{name}, {path}, loaded"), texts, events, &expected, &answers(&loaded, events));
        // With what the events teach, other places are chosen.
        let (schema, mut rows) = (index.schema(), Rows::default());
        events.iter().for_each(|event| write_row(event, &schema, &mut rows));
        index.observe_rows(&schema, &rows).expect("not stale");
        index.compact().expect("compacted");
        index.validate().expect("sound");
        check(&format!("{name}, {path}, observed"), texts, events, &expected, &answers(&index, events));
        index
    })
}

fn check(name: &str, texts: &[String], events: &[GivenEvent], expected: &[Vec<Id>], found: &[Vec<Id>]) {
    for (row, (expected, found)) in expected.iter().zip(found).enumerate() {
        if expected == found {
            continue;
        }
        let text = |id: &Id| match id {
            Id::Int(id) => texts[*id as usize].as_str(),
            Id::Text(_) => "",
        };
        let lost: Vec<&str> = expected.iter().filter(|id| !found.contains(id)).map(text).take(3).collect();
        let wrong: Vec<&str> = found.iter().filter(|id| !expected.contains(id)).map(text).take(3).collect();
        let twice: Vec<&str> =
            found.windows(2).filter(|two| two[0] == two[1]).map(|two| text(&two[0])).take(3).collect();
        unreachable!(
            "{name}: event {row} {:?}: lost {lost:?}, wrong {wrong:?}, found twice {twice:?}",
            events[row]
        );
    }
    assert_eq!(expected.len(), found.len());
}

fn pick<T: Copy>(draw: &mut Draw, from: &[T]) -> T {
    from[draw.below(from.len())]
}

/// What a workload is made of.
struct Workload {
    /// Attributes of each kind.
    attributes: usize,
    /// Numbers and strings are drawn from so many.
    values: usize,
    /// Whether there are predicates that every event has to be asked by itself: then none walk together.
    asked: bool,
    /// Whether there are lists and patterns, which with NOT before them ask each event, too.
    lists: bool,
    /// How deep expressions nest; conjunctions if 0.
    depth: usize,
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

    fn predicate(&self, draw: &mut Draw) -> String {
        let n = draw.below(self.attributes);
        let number = |draw: &mut Draw| self.number(draw);
        let list = |draw: &mut Draw, one: &dyn Fn(&mut Draw) -> String| {
            let all: Vec<String> = (0..=draw.below(9)).map(|_| one(draw)).collect();
            all.join(", ")
        };
        let quoted = |draw: &mut Draw| format!("'{}'", self.text(draw));
        let kinds = if self.asked { 26 } else { 22 };
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

    fn event(&self, draw: &mut Draw) -> GivenEvent {
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

    fn compare(&self, name: &str, expressions: usize, missing: Missing) -> [Index; 2] {
        let seed = seed();
        println!("TAMIS_SEED={seed}");
        let mut draw = Draw::new(seed);
        let texts: Vec<String> = (0..expressions).map(|_| self.expression(&mut draw)).collect();
        let events: Vec<GivenEvent> = (0..600).map(|_| self.event(&mut draw)).collect();
        let indexes = compare(name, &texts, &events, missing);
        let together = if self.asked { 0 } else { 600 };
        assert_eq!(figure(&indexes[1], "events_together"), together, "{name}");
        assert_eq!(figure(&indexes[0], "events_together"), 0, "{name}");
        indexes
    }
}

const BOTH: [Missing; 2] = [Missing::Unknown, Missing::False];

#[test]
fn few_attributes_and_values() {
    for missing in BOTH {
        for (name, depth) in [("conjunctions", 0), ("nested", 3)] {
            let workload = Workload {
                attributes: 2,
                values: 12,
                asked: false,
                lists: depth == 0 && missing == Missing::Unknown,
                depth,
            };
            let [index, _] = workload.compare(name, 3_000, missing);
            assert!(figure(&index, "lists") > 0);
            assert!(figure(&index, "patterns") > 0 || !workload.lists);
            assert!(figure(&index, "subexpressions") > 0 || depth == 0);
        }
    }
}

#[test]
fn many_values() {
    for missing in BOTH {
        let workload = Workload { attributes: 3, values: 1_000, asked: false, lists: false, depth: 1 };
        let [index, _] = workload.compare("many", 8_000, missing);
        for part in ["scans", "pairs", "lists"] {
            assert!(figure(&index, part) > 0, "no {part}");
        }
    }
}

/// Many wait for one string and go on with a few other attributes.
#[test]
fn long_lists_are_grouped() {
    let mut draw = Draw::new(seed());
    let workload = Workload { attributes: 2, values: 40, asked: false, lists: true, depth: 0 };
    let text = |draw: &mut Draw| {
        let (low, more) = (draw.below(40), workload.predicate(draw));
        format!("s0 = 'w{}' and n0 between {low} and {} and {more}", draw.below(30), low + 15)
    };
    let texts: Vec<String> = (0..9_000).map(|_| text(&mut draw)).collect();
    let events: Vec<GivenEvent> = (0..600).map(|_| workload.event(&mut draw)).collect();
    for index in compare("grouped", &texts, &events, Missing::Unknown) {
        assert!(figure(&index, "groups") > 0);
    }
}

#[test]
fn few_expressions_are_scanned() {
    for missing in BOTH {
        let workload = Workload { attributes: 6, values: 30, asked: false, lists: false, depth: 2 };
        let [index, _] = workload.compare("scanned", 150, missing);
        assert!(figure(&index, "scans") > 0);
    }
}

#[test]
fn predicates_that_ask_each_event() {
    for missing in BOTH {
        Workload { attributes: 2, values: 12, asked: true, lists: true, depth: 2 }
            .compare("asked", 2_000, missing);
        Workload { attributes: 40, values: 30, asked: true, lists: true, depth: 1 }
            .compare("apart", 2_000, missing);
    }
}

#[test]
fn everything_the_language_has() {
    for missing in BOTH {
        let mut draw = Draw::new(seed());
        let texts: Vec<String> = (0..1_500).map(|_| draw.one(&expression()).to_string()).collect();
        let events: Vec<GivenEvent> = (0..600).map(|_| draw.one(&event())).collect();
        compare("language", &texts, &events, missing);
    }
}

/// More than 65,536 spaces in a dimension: ends of four bytes, and tests that no word holds.
#[test]
fn more_spaces_than_a_word_holds() {
    const MANY: i64 = 70_000;
    let mut draw = Draw::new(seed());
    let mut texts: Vec<String> = Vec::new();
    for n in 0..MANY {
        let (small, far) = (draw.below(50), n + draw.below(40_000) as i64);
        texts.push(match draw.below(6) {
            0 => format!("big = {n} and small = {small}"),
            1 => format!("big between {n} and {far} and small < {small} and other > {}", draw.below(300)),
            2 => format!("big != {n} and small = {small} and name = 'w{n}'"),
            3 => format!("small = {small} and (big < {n} or name != 'w{n}') and other = {}", draw.below(300)),
            4 => format!("any(list) = {n} and small > {small} or name = 'w{n}'"),
            _ => {
                format!("big not between {n} and {far} and other = {} and small >= {small}", draw.below(300))
            }
        });
    }
    let event = |draw: &mut Draw| -> GivenEvent {
        let big = draw.below(MANY as usize) as i64;
        let near = |draw: &mut Draw| Given::Int(draw.below(MANY as usize) as i64);
        vec![
            ("big".into(), if draw.below(9) == 0 { Given::Float(big as f64 + 0.5) } else { Given::Int(big) }),
            ("small".into(), Given::Int(draw.below(52) as i64)),
            ("other".into(), Given::Int(draw.below(302) as i64)),
            ("name".into(), Given::Text(format!("w{}", draw.below(MANY as usize)))),
            ("list".into(), Given::List((0..draw.below(4)).map(|_| near(draw)).collect())),
        ]
    };
    let events: Vec<GivenEvent> = (0..600).map(|_| event(&mut draw)).collect();
    let indexes = compare("large", &texts, &events, Missing::Unknown);
    assert_eq!(figure(&indexes[1], "events_together"), 600);
}

/// As many spaces as a byte tells apart, some fewer and some more: tests that end there, that go round, and beyond.
#[test]
fn as_many_spaces_as_a_byte_holds() {
    for values in [120, 126, 127, 128, 130, 260] {
        let mut draw = Draw::new(seed());
        // Of the numbers from 0 on, each is a space, and what lies between two of them is another one.
        let mut texts: Vec<String> = (0..values).map(|n| format!("a = {n} or b = {n} or c = {n}")).collect();
        let predicate = |draw: &mut Draw, attribute: &str| {
            let (low, more) = (draw.below(values + 2), draw.below(values / 2));
            match draw.below(5) {
                0 => format!("{attribute} = {low}"),
                1 => format!("{attribute} != {low}"),
                2 => format!("{attribute} >= {low}"),
                3 => format!("{attribute} not between {low} and {}", low + more),
                _ => format!("{attribute} between {low} and {}", low + more),
            }
        };
        for _ in 0..3_000 {
            let both: Vec<String> = (0..2 + draw.below(5))
                .map(|_| {
                    let of = pick(&mut draw, &["a", "b", "c", "d"]);
                    predicate(&mut draw, of)
                })
                .collect();
            texts.push(both.join(" and "));
        }
        let value = |draw: &mut Draw| match draw.below(3) {
            0 => Given::Float(draw.below(values + 3) as f64 - 0.5),
            _ => Given::Int(draw.below(values + 3) as i64),
        };
        let event = |draw: &mut Draw| -> GivenEvent {
            let names = ["a", "b", "c", "d"].into_iter().filter(|_| draw.below(3) > 0).collect::<Vec<_>>();
            names.into_iter().map(|name| (name.into(), value(draw))).collect()
        };
        let events: Vec<GivenEvent> = (0..600).map(|_| event(&mut draw)).collect();
        for missing in BOTH {
            compare(&format!("{values} values"), &texts, &events, missing);
        }
    }
}

/// Entries of the table that come with programs: more than a test in four bytes can refer to.
#[test]
fn more_entries_than_a_short_word_refers_to() {
    let text = |n: i64| format!("a = {} and (big between {n} and {} or b = 1)", n % 100, 60_000 + n);
    let texts: Vec<String> = (0..50_000).map(text).collect();
    let mut draw = Draw::new(seed());
    let events: Vec<GivenEvent> = (0..64)
        .map(|_| {
            let (a, big) = (draw.below(100) as i64, draw.below(110_000) as i64);
            vec![("a".into(), Given::Int(a)), ("big".into(), Given::Int(big))]
        })
        .collect();
    compare("entries", &texts, &events, Missing::Unknown);
}

/// Several elements of a list lead to one expression, which is reported once.
#[test]
fn several_elements_match_once() {
    let texts = ["any(l) in (1, 3, 5, 7, 9, 11)", "any(l) in (1, 3)", "any(l) > 2 and any(l) < 8"];
    let list =
        |numbers: &[i64]| vec![("l".into(), Given::List(numbers.iter().map(|n| Given::Int(*n)).collect()))];
    let events: Vec<GivenEvent> =
        [&[1, 3, 5][..], &[2, 4], &[1, 1, 9, 12], &[]].iter().map(|numbers| list(numbers)).collect();
    let events: Vec<GivenEvent> = events.iter().cycle().take(600).cloned().collect();
    compare("elements", &texts.map(str::to_owned), &events, Missing::Unknown);
}

/// In the closed world an element may be missing, too.
#[test]
fn missing_elements_are_elements() {
    let texts = ["any(l) != 3", "a = 1 and any(l) not in (1, 2)", "a = 1 or not all(m) = 1"];
    let lists = [vec![Given::Missing], vec![Given::Int(3), Given::Missing], vec![Given::Int(3)], vec![]];
    let events: Vec<GivenEvent> = (0..600)
        .map(|n| {
            let list = Given::List(lists[n % 4].clone());
            vec![("l".into(), list.clone()), ("m".into(), list), ("a".into(), Given::Int(n as i64 % 3))]
        })
        .collect();
    for missing in BOTH {
        compare("missing", &texts.map(str::to_owned), &events, missing);
    }
}

/// Tables of integers that end with the greatest or begin with the smallest.
#[test]
fn integers_at_the_ends() {
    let ends = [i64::MAX, i64::MAX - 1, i64::MAX - 2, i64::MIN, i64::MIN + 1];
    for end in ends {
        let texts: Vec<String> = ["=", "!=", "<=", ">=", "<", ">"].map(|op| format!("a {op} {end}")).into();
        let values = ends.into_iter().map(Given::Int).chain(
            [0.5, -0.5, 9.223_372_036_854_775e18, -9.223_372_036_854_776e18, 1e300, f64::INFINITY]
                .map(Given::Float),
        );
        let events: Vec<GivenEvent> = values.map(|value| vec![("a".into(), value)]).collect();
        compare("ends", &texts, &events, Missing::Unknown);
        compare("point", &texts[..1], &events, Missing::Unknown);
        compare("range", &texts[2..4], &events, Missing::Unknown);
    }
}
