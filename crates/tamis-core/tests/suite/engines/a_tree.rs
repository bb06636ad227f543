//! What is particular to the A-Tree: expressions that share their parts, whatever comes and goes, in whatever order.

use std::fmt::Debug;
use tamis_conformance::abe::Generator;
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::engine::registry::{OptionValue, Options};
use tamis_core::event::{JsonReader, Rows};
use tamis_core::expr::{Limits, Missing};
use tamis_core::index::{Id, Index, Settings};

const ENGINE: &str = "a_tree";

/// All are on unless said otherwise; none changes an answer.
const SWITCHES: [&str; 5] =
    ["zero_suppression", "propagation_on_demand", "unique_ids", "reorganize", "self_adjust"];

const WORLDS: [Missing; 2] = [Missing::Unknown, Missing::False];

fn off<'s>(switches: impl IntoIterator<Item = &'s str>) -> Options {
    switches.into_iter().map(|switch| (switch.to_owned(), OptionValue::Bool(false))).collect()
}

fn index(engine: &str, options: Options, missing: Missing) -> Index {
    Index::new(Settings { engine: engine.into(), options, missing, ..Settings::default() }).expect("an index")
}

fn tree(options: Options) -> Index {
    index(ENGINE, options, Missing::Unknown)
}

fn add<T: AsRef<str>>(index: &Index, texts: impl IntoIterator<Item = T>) {
    for text in texts {
        index.add(Id::from(index.len() as i64), text.as_ref().into()).expect("a valid expression");
    }
}

fn stat(index: &Index, name: &str) -> u64 {
    let stats = index.engine_stats();
    stats.iter().find(|(other, _)| *other == name).map(|(_, value)| *value).expect("a known figure")
}

/// Predicates, inner nodes and links.
fn size(index: &Index) -> [u64; 3] {
    ["predicates", "inner_nodes", "links"].map(|name| stat(index, name))
}

/// An index beside `scan` with the same history.
struct Twins {
    tested: Index,
    scan: Index,
}

impl Twins {
    fn new(options: Options, missing: Missing) -> Twins {
        Twins { tested: index(ENGINE, options, missing), scan: index("scan", Options::new(), missing) }
    }

    /// Both must give one answer.
    fn both<T: PartialEq + Debug>(&self, act: impl Fn(&Index) -> T) -> T {
        let found = act(&self.tested);
        assert_eq!(found, act(&self.scan), "{ENGINE} and scan disagree");
        found
    }

    fn add(&self, id: i64, text: &str) {
        self.both(|index| index.add(id.into(), text.into()).expect("a valid expression"));
    }

    fn remove(&self, id: i64) {
        self.both(|index| index.remove(&id.into()).expect("a present id"));
    }

    fn replace(&self, id: i64, text: &str) {
        self.both(|index| index.replace(&id.into(), text.into()).expect("a valid expression"));
    }

    /// How many subscriptions match.
    fn matches(&self, event: &str) -> usize {
        self.both(|index| index.match_json(event.as_bytes()).expect("valid JSON")).len()
    }

    fn observe(&self, events: &[String]) {
        self.both(|index| observe(index, events));
    }

    fn validate(&self) {
        self.tested.validate().expect("a sound index");
    }
}

fn observe(index: &Index, events: &[String]) {
    let schema = index.schema();
    let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
    events.iter().for_each(|event| reader.read(event.as_bytes(), &schema, &mut rows).expect("valid JSON"));
    index.observe_rows(&schema, &rows).expect("a fresh schema");
}

/// A random history of one pair of twins.
struct History {
    twins: Twins,
    make: Generator,
    /// By id: the expression it has or, if it is gone, had.
    texts: Vec<String>,
    present: Vec<i64>,
    gone: Vec<i64>,
    /// Whether events are observed now and then.
    observes: bool,
    /// Operations from one check of all invariants to the next.
    check_every: usize,
    operations: usize,
    matches: usize,
}

impl History {
    fn new(seed: u64, options: Options, missing: Missing, check_every: usize) -> History {
        println!("a history from seed {seed}, {missing:?} if missing, {options:?}");
        let (twins, make) = (Twins::new(options, missing), Generator::new(seed));
        let (texts, present, gone) = (Vec::new(), Vec::new(), Vec::new());
        let (observes, operations, matches) = (false, 0, 0);
        History { twins, make, texts, present, gone, observes, check_every, operations, matches }
    }

    /// Adds so many expressions, removes half of all in random order and brings them back, with events and
    /// replacements in between.
    fn run(&mut self, count: usize) {
        for _ in 0..count {
            let id = self.texts.len() as i64;
            let text = self.make.expression();
            self.texts.push(text);
            self.add(id);
        }
        for _ in 0..self.present.len() / 2 {
            self.remove_one();
        }
        self.make.draw.shuffle(&mut self.gone);
        while let Some(id) = self.gone.pop() {
            self.add(id);
        }
        self.look(10);
    }

    fn add(&mut self, id: i64) {
        self.twins.add(id, &self.texts[id as usize]);
        self.present.push(id);
        self.done();
        self.interlude();
    }

    fn remove_one(&mut self) {
        let id = self.present.swap_remove(self.make.draw.below(self.present.len()));
        self.twins.remove(id);
        self.gone.push(id);
        self.done();
        self.interlude();
    }

    fn interlude(&mut self) {
        match self.make.draw.below(12) {
            0 | 1 => self.look(1),
            2 if !self.present.is_empty() => {
                let id = self.present[self.make.draw.below(self.present.len())];
                let text = self.make.expression();
                self.twins.replace(id, &text);
                self.texts[id as usize] = text;
                self.done();
            }
            3 if self.observes => {
                let events: Vec<String> = (0..self.make.draw.below(20)).map(|_| self.make.event()).collect();
                self.twins.observe(&events);
                self.done();
                self.look(2);
            }
            _ => {}
        }
    }

    fn look(&mut self, events: usize) {
        for _ in 0..events {
            let event = self.make.event();
            self.matches += self.twins.matches(&event);
            self.done();
        }
    }

    fn done(&mut self) {
        self.operations += 1;
        if self.operations.is_multiple_of(self.check_every) {
            self.twins.validate();
        }
    }
}

#[test]
fn short_histories() {
    let seed = seed();
    for missing in WORLDS {
        for round in 0..60 {
            History::new(seed.wrapping_add(round), Options::new(), missing, 1).run(30);
        }
    }
}

#[test]
fn long_histories() {
    let seed = seed();
    let (mut operations, mut matches) = (0, 0);
    for missing in WORLDS {
        for round in 0..16 {
            let mut history = History::new(seed.wrapping_add(round), Options::new(), missing, 1_000);
            history.run(1_300);
            history.twins.validate();
            operations += history.operations;
            matches += history.matches;
        }
    }
    assert!(operations > 100_000, "{operations} operations");
    assert!(matches > 1_000_000, "matches are frequent: {matches}");
}

#[test]
fn observations_change_no_answer() {
    let seed = seed();
    for (round, missing) in WORLDS.into_iter().enumerate() {
        for (size, check_every) in [(25, 1), (400, 50)] {
            for access in ["selective", "random"] {
                let options = [("access".to_owned(), OptionValue::Text(access.into()))].into();
                let seed = seed.wrapping_add((round * 1_000 + size) as u64);
                let mut history = History::new(seed, options, missing, check_every);
                history.observes = true;
                history.run(size);
                history.twins.validate();
            }
        }
    }
}

#[test]
fn options_change_no_answer() {
    let seed = seed();
    let mut all: Vec<Options> = (0..1 << SWITCHES.len())
        .map(|chosen: u32| off((0..SWITCHES.len()).filter(|n| chosen >> n & 1 == 1).map(|n| SWITCHES[n])))
        .collect();
    let random = || ("access".to_owned(), OptionValue::Text("random".into()));
    all.push([random()].into());
    all.extend(SWITCHES.map(|switch| off([switch]).into_iter().chain([random()]).collect()));
    all.extend([0, 1, 3].map(|spaces| [("max_spaces".to_owned(), OptionValue::Int(spaces))].into()));
    for (round, options) in all.into_iter().enumerate() {
        for missing in WORLDS {
            let mut history = History::new(seed.wrapping_add(round as u64), options.clone(), missing, 10);
            history.run(120);
            history.twins.validate();
        }
    }
}

#[test]
fn wrong_options_are_refused() {
    for (option, value) in [
        ("reorganize", OptionValue::Int(1)),
        ("unique_ids", OptionValue::Text("yes".into())),
        ("access", OptionValue::Text("greedy".into())),
        ("access", OptionValue::Bool(true)),
        ("max_spaces", OptionValue::Int(-1)),
        ("max_spaces", OptionValue::Text("many".into())),
        ("max_dnf", OptionValue::Int(4)),
    ] {
        let options = [(option.to_owned(), value.clone())].into();
        let error = Index::new(Settings { engine: ENGINE.into(), options, ..Settings::default() });
        let error = error.err().expect("an error").to_string();
        assert!(error.contains(option), "{option}={value}: {error}");
    }
}

/// Whatever came and went leaves nothing behind, and the place is as good as new.
#[test]
fn nothing_is_left_behind() {
    let seed = seed();
    for options in [off([])].into_iter().chain(SWITCHES.map(|switch| off([switch]))) {
        let mut history = History::new(seed, options, Missing::Unknown, 200);
        for _ in 0..2 {
            history.run(150);
            while !history.present.is_empty() {
                history.remove_one();
            }
            history.twins.validate();
            assert_eq!(size(&history.twins.tested), [0, 0, 0]);
            assert_eq!(stat(&history.twins.tested, "roots"), 0);
        }
    }
}

/// The order of insertion decides neither what is shared nor what it costs.
#[test]
fn any_order_gives_one_structure() {
    let mut make = Generator::new(seed());
    let mut texts = make.expressions(3_000);
    let events: Vec<String> = (0..20).map(|_| make.event()).collect();
    let mut built = Vec::new();
    for _ in 0..5 {
        let index = tree(Options::new());
        // In one batch: after it, the room that lists left behind while they grew is given back.
        let batch = texts.iter().enumerate().map(|(n, text)| (Id::from(n as i64), text.as_str().into()));
        index.add_many(batch).expect("valid expressions");
        index.validate().expect("a sound index");
        let [predicates, inner, links] = size(&index);
        let found: usize =
            events.iter().map(|event| index.match_json(event.as_bytes()).expect("valid JSON").len()).sum();
        built.push((predicates, inner, found, links, index.memory().engine as u64));
        make.draw.shuffle(&mut texts);
    }
    println!("(predicates, inner nodes, matches, links, bytes) by order: {built:?}");
    let spread = |figure: fn(&(u64, u64, usize, u64, u64)) -> u64| {
        let figures = || built.iter().map(figure);
        let (least, most) = (figures().min().expect("five"), figures().max().expect("five"));
        (most - least) as f64 / least as f64
    };
    let counts: Vec<_> =
        built.iter().map(|(predicates, inner, found, ..)| (predicates, inner, found)).collect();
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    assert!(spread(|built| built.3) < 0.02, "links: {built:?}");
    assert!(spread(|built| built.4) < 0.02, "bytes: {built:?}");
}

/// Order and repetition make no other expression.
#[test]
fn equal_parts_are_one_node() {
    for (first, again) in [
        ("a = 1 and b = 2", "b = 2 and a = 1 and b = 2"),
        ("a = 1 and b = 2", "not (b != 2 or a != 1)"),
        ("a = 1 or b = 2", "(b = 2 or a = 1) and (a = 1 or b = 2)"),
        ("c = 3 and (a = 1 or b = 2)", "(b = 2 or a = 1 or b = 2) and c = 3 and (a = 1 or b = 2)"),
        ("a = 1 xor b = 2", "b = 2 xor a = 1"),
        ("a = 1 xor b = 2", "not (a = 1 xnor b = 2)"),
        (
            "(a = 1 and (b = 2 or c = 3)) or (d in (4, 5) and e < 6)",
            "(e < 6 and d between 4 and 5 and d in (5, 4)) or ((c = 3 or b = 2) and a = 1)",
        ),
    ] {
        let index = tree(Options::new());
        add(&index, [first]);
        let before = size(&index);
        add(&index, [again]);
        assert_eq!(size(&index), before, "{first}; {again}");
        index.validate().expect("a sound index");
        index.remove(&Id::from(0)).expect("a present id");
        index.validate().expect("a sound index");
        assert_eq!(size(&index), before, "{again} keeps what it shares");
        index.remove(&Id::from(1)).expect("a present id");
        assert_eq!(size(&index), [0, 0, 0]);
    }
}

/// A part within an expression is the node of the expression that says the same by itself.
#[test]
fn parts_are_expressions() {
    let index = tree(Options::new());
    add(&index, ["x = 0 and (a = 1 or (b = 2 and c = 3))"]);
    let before = size(&index);
    add(&index, ["c = 3 and b = 2", "(c = 3 and b = 2) or a = 1", "c = 3", "not (x != 0)"]);
    assert_eq!(size(&index), before);
    let event = r#"{"x": 0, "b": 2, "c": 3}"#.as_bytes();
    index.remove(&Id::from(0)).expect("a present id");
    index.validate().expect("a sound index");
    assert_eq!(index.match_json(event).expect("valid JSON"), [1, 2, 3, 4].map(Id::from));
    index.remove(&Id::from(2)).expect("a present id");
    index.validate().expect("a sound index");
    assert_eq!(index.match_json(event).expect("valid JSON"), [1, 3, 4].map(Id::from));
}

/// A longer connective is built on a shorter one, whichever comes first, and outlives it.
#[test]
fn long_connectives_stand_on_short_ones() {
    for word in ["and", "or"] {
        let join = |names: &[&str]| {
            let parts: Vec<String> = names.iter().map(|name| format!("{name} = 1")).collect();
            parts.join(&format!(" {word} "))
        };
        let (short, long) = (join(&["a", "b", "c"]), join(&["a", "b", "c", "d"]));
        let built = |options: Options, texts: [&str; 2]| {
            let index = tree(options);
            add(&index, texts);
            index.validate().expect("a sound index");
            index
        };
        let links = |index: &Index| stat(index, "links");
        let reused = built(Options::new(), [&short, &long]);
        assert_eq!((links(&reused), stat(&reused, "inner_nodes")), (5, 2), "{word}");
        assert_eq!(links(&built(off(["reorganize", "self_adjust"]), [&short, &long])), 7, "{word}");
        let reverse = built(Options::new(), [&long, &short]);
        assert_eq!(size(&reverse), size(&reused), "{word}");
        // Ids go by order: what is 0 in one is 1 in the other.
        for (index, short) in [(&reused, 0), (&reverse, 1)] {
            index.remove(&Id::from(short)).expect("a present id");
            index.validate().expect("a sound index");
            let all = r#"{"a": 1, "b": 1, "c": 1, "d": 1}"#.as_bytes();
            assert_eq!(index.match_json(all).expect("valid JSON"), [Id::from(1 - short)], "{word}");
            let one = r#"{"d": 1}"#.as_bytes();
            assert_eq!(index.match_json(one).expect("valid JSON").len(), usize::from(word == "or"));
        }
    }
}

#[test]
fn identical_expressions_are_one_node() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let mut draw = Draw::new(seed);
    let twins = Twins::new(Options::new(), Missing::Unknown);
    let text = "a = 1 and (b = 2 or c > 3)";
    twins.add(-1, "(c > 3 or b = 2) and d = 4");
    twins.add(0, text);
    let before = size(&twins.tested);
    (1..1_000).for_each(|id| twins.add(id, text));
    assert_eq!(size(&twins.tested), before);
    twins.validate();
    let mut present: Vec<i64> = (0..1_000).collect();
    draw.shuffle(&mut present);
    while let Some(id) = present.pop() {
        twins.remove(id);
        assert_eq!(twins.matches(r#"{"a": 1, "b": 2}"#), present.len());
        assert_eq!(twins.matches(r#"{"a": 1, "c": 9, "d": 4}"#), present.len() + 1);
        if !present.is_empty() {
            assert_eq!(size(&twins.tested), before);
        }
        if present.len().is_multiple_of(50) {
            twins.validate();
        }
    }
    assert_eq!(stat(&twins.tested, "predicates"), 3);
}

#[test]
fn many_children() {
    let twins = Twins::new(Options::new(), Missing::Unknown);
    let join = |count: usize, word: &str| {
        let parts: Vec<String> = (0..count).map(|n| format!("a{n} = 1")).collect();
        parts.join(word)
    };
    let event = |count: usize| {
        let fields: Vec<String> = (0..count).map(|n| format!("\"a{n}\": 1")).collect();
        format!("{{{}}}", fields.join(", "))
    };
    // The longest comes first, last, and in the middle of what it shares most with.
    for (id, count) in [5_000, 4_999, 10, 3_000, 2, 4_000].into_iter().enumerate() {
        twins.add(2 * id as i64, &join(count, " and "));
        twins.add(2 * id as i64 + 1, &join(count, " or "));
        twins.validate();
    }
    let look = || [0, 1, 2, 9, 10, 2_999, 3_000, 4_999, 5_000].map(|count| twins.matches(&event(count)));
    assert_eq!(look(), [0, 6, 7, 7, 8, 8, 9, 11, 12]);
    assert_eq!(twins.matches("{\"a4999\": 1}"), 1);
    for id in [0, 7, 4, 11, 2, 1, 10, 3, 8, 5, 6, 9] {
        twins.remove(id);
        twins.validate();
        look();
    }
    assert_eq!(size(&twins.tested), [0, 0, 0]);
}

#[test]
fn many_values() {
    let twins = Twins::new(Options::new(), Missing::Unknown);
    // Every other value: neighbours would be one range.
    let values: Vec<String> = (0..10_000).map(|n| (2 * n).to_string()).collect();
    let list = values.join(", ");
    twins.add(0, &format!("a in ({list}) and b = 1"));
    twins.add(1, &format!("a not in ({list}) and b = 1"));
    twins.add(2, &format!("b = 1 or c in ({list})"));
    for n in 3..300 {
        twins.add(n, &format!("a = {} and b = 1", 7 * n));
    }
    twins.validate();
    let look = || {
        for a in (0..400).chain(19_990..20_005) {
            twins.matches(&format!("{{\"a\": {a}, \"b\": 1}}"));
        }
        twins.matches("{\"a\": 8.5, \"b\": 1, \"c\": 19998}")
    };
    assert_eq!(look(), 2);
    twins.remove(0);
    twins.validate();
    look();
    (1..300).for_each(|n| twins.remove(n));
    twins.validate();
    assert_eq!(size(&twins.tested), [0, 0, 0]);
}

/// As deep as the language lets an expression be, at the default limit and at the highest there is.
#[test]
fn deep_nesting() {
    for max_depth in [Limits::default().max_depth, Limits::DEPTH_CAP] {
        let limits = Limits { max_depth, ..Limits::default() };
        let settings = Settings { engine: ENGINE.into(), limits, ..Settings::default() };
        let index = Index::new(settings).expect("an index");
        // Each expression is a part of the next: in the end all are one chain.
        let mut text = "a0 = 0".to_owned();
        let mut count: i64 = 0;
        while index.add(Id::from(count), text.as_str().into()).is_ok() {
            count += 1;
            text = format!("a{} = {count} {} ({text})", count % 9, if count % 2 == 0 { "and" } else { "or" });
        }
        assert!(count as usize > max_depth / 3, "{count} levels");
        index.validate().expect("a sound index");
        assert_eq!(size(&index), [count, count - 1, 2 * (count - 1)].map(|figure| figure as u64));
        assert!(stat(&index, "levels") >= count as u64 - 1);
        // From the innermost on, OR passes on what holds and AND stops it.
        let matches = |event: &str| index.match_json(event.as_bytes()).expect("valid JSON");
        assert_eq!(matches(r#"{"a0": 0}"#), [0, 1].map(Id::from));
        assert_eq!(matches(r#"{"a0": 0, "a2": 2}"#), [0, 1, 2, 3].map(Id::from));
        assert_eq!(matches("{}"), []);
        for id in (0..count).rev().step_by(2).chain((0..count - 1).rev().step_by(2)) {
            index.remove(&Id::from(id)).expect("a present id");
        }
        index.validate().expect("a sound index");
        assert_eq!(size(&index), [0, 0, 0]);
    }
}

/// One predicate is in every expression: whatever is done once for each of its parents must stay cheap.
#[test]
fn a_predicate_in_every_expression() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let mut draw = Draw::new(seed);
    let twins = Twins::new(Options::new(), Missing::Unknown);
    let text = |n: i64| match n % 4 {
        0 => format!("hot = 1 and a = {n}"),
        1 => format!("hot = 1 and (a = {n} or b > {n})"),
        2 => format!("hot = 1 or a = {n}"),
        _ => format!("(hot = 1 and b = {}) or (a = {n} and c = 1)", n / 100),
    };
    let look = || {
        let events = [
            r#"{"hot": 1}"#,
            r#"{"hot": 1, "a": 1001}"#,
            r#"{"hot": 2, "a": 1003, "c": 1}"#,
            r#"{"hot": 1, "b": 17}"#,
            r#"{"a": 1002, "b": 3}"#,
        ];
        events.map(|event| twins.matches(event))
    };
    let mut ids: Vec<i64> = (0..4_000).collect();
    for _ in 0..2 {
        draw.shuffle(&mut ids);
        for (n, &id) in ids.iter().enumerate() {
            twins.add(id, &text(id));
            if n % 200 == 0 {
                look();
            }
        }
        twins.validate();
        assert_eq!(look()[0], 1_000);
        draw.shuffle(&mut ids);
        for (n, &id) in ids.iter().enumerate() {
            twins.remove(id);
            if n % 200 == 0 {
                look();
            }
            if n % 1_000 == 0 {
                twins.validate();
            }
        }
        assert_eq!(size(&twins.tested), [0, 0, 0]);
    }
}
