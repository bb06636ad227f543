//! Properties of the A-Tree beyond the suite of all engines.
//!
//! | file | what it proves |
//! | --- | --- |
//! | `histories` | random insertions, deletions and observations give the answers of `scan` |
//! | `options` | no option changes an answer; wrong options are refused |
//! | `sharing` | equal subexpressions are one node, in any order of insertion |
//! | `extremes` | many child nodes, many values, deep nesting, a predicate with many parents |

mod extremes;
mod histories;
mod options;
mod sharing;

use std::fmt::Debug;
use tamis_core::engine::registry::{OptionValue, Options};
use tamis_core::event::{JsonReader, Rows};
use tamis_core::expr::Missing;
use tamis_core::index::{Id, Index, Settings};

const ENGINE: &str = "a_tree";

/// The Boolean options; all are on by default.
const SWITCHES: [&str; 5] =
    ["zero_suppression", "propagation_on_demand", "unique_ids", "reorganize", "self_adjust"];

const WORLDS: [Missing; 2] = [Missing::Unknown, Missing::False];

/// Options with these switches off.
fn off<'s>(switches: impl IntoIterator<Item = &'s str>) -> Options {
    switches.into_iter().map(|switch| (switch.to_owned(), OptionValue::Bool(false))).collect()
}

fn index(engine: &str, options: Options, missing: Missing) -> Index {
    Index::new(Settings { engine: engine.into(), options, missing, ..Settings::default() }).expect("an index")
}

fn tree(options: Options) -> Index {
    index(ENGINE, options, Missing::Unknown)
}

/// Adds expressions under the next ids.
fn add<T: AsRef<str>>(index: &Index, texts: impl IntoIterator<Item = T>) {
    for text in texts {
        index.add(Id::from(index.len() as i64), text.as_ref().into()).expect("a valid expression");
    }
}

fn stat(index: &Index, name: &str) -> u64 {
    let stats = index.engine_stats();
    stats.iter().find(|(other, _)| *other == name).map(|(_, value)| *value).expect("a known statistic")
}

/// Predicates, inner nodes and links.
fn size(index: &Index) -> [u64; 3] {
    ["predicates", "inner_nodes", "links"].map(|name| stat(index, name))
}

/// An index with this engine and one with `scan`, with the same history.
struct IndexPair {
    tested: Index,
    scan: Index,
}

impl IndexPair {
    fn new(options: Options, missing: Missing) -> IndexPair {
        IndexPair { tested: index(ENGINE, options, missing), scan: index("scan", Options::new(), missing) }
    }

    /// Applies an operation to both, whose results must be equal.
    fn both<T: PartialEq + Debug>(&self, operation: impl Fn(&Index) -> T) -> T {
        let found = operation(&self.tested);
        assert_eq!(found, operation(&self.scan), "{ENGINE} and scan disagree");
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

    /// Number of matching subscriptions.
    fn matches(&self, event: &str) -> usize {
        self.both(|index| index.match_json(event.as_bytes()).expect("valid JSON")).len()
    }

    fn observe(&self, events: &[String]) {
        self.both(|index| observe(index, events));
    }

    fn validate(&self) {
        self.tested.validate().expect("a valid index");
    }
}

fn observe(index: &Index, events: &[String]) {
    let schema = index.schema();
    let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
    events.iter().for_each(|event| reader.read(event.as_bytes(), &schema, &mut rows).expect("valid JSON"));
    index.observe_rows(&schema, &rows).expect("a fresh schema");
}
