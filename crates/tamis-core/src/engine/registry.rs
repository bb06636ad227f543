//! The engines there are, by name. One line each.

use super::Engine;
use super::a_tree::ATree;
use super::pst::{PstBloom, PstHash};
use super::scan::Scan;
use crate::error::{Error, Result};
use crate::expr::Limits;
use std::collections::BTreeMap;
use std::fmt;

/// The value of an engine option.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// A switch.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A word.
    Text(String),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::Bool(value) => write!(f, "{value}"),
            OptionValue::Int(value) => write!(f, "{value}"),
            OptionValue::Float(value) => write!(f, "{value}"),
            OptionValue::Text(value) => write!(f, "{value:?}"),
        }
    }
}

/// Engine options by name.
pub type Options = BTreeMap<String, OptionValue>;

/// An engine's entry in the registry.
pub struct EngineInfo {
    /// What users write.
    pub name: &'static str,
    /// What it is, in a line.
    pub description: &'static str,
    /// Which expressions it takes.
    pub takes: &'static str,
    /// The options it knows.
    pub options: &'static [&'static str],
    /// How an index keeps its subscriptions with this engine.
    pub kept: Kept,
}

/// How an index keeps its subscriptions.
pub enum Kept {
    /// In an [`Engine`], which changes in place. This makes an empty one; the options are known ones.
    Locked(fn(&Options, &Limits) -> Result<Box<dyn Engine>>),
    /// In immutable segments, which the index makes and merges.
    Segmented,
}

/// Every engine. `auto` is resolved by [`find`].
pub static ENGINES: &[EngineInfo] = &[
    EngineInfo {
        name: "scan",
        description: "evaluates every expression: the oracle and the baseline",
        takes: "all",
        options: &[],
        kept: Kept::Locked(|_, _| Ok(Box::new(Scan::default()))),
    },
    EngineInfo {
        name: "pst_bloom",
        description: "PSTBloom: one access predicate, Bloom signatures in the leaves of PS-Trees",
        takes: "conjunctions; others through a bounded DNF",
        options: &["max_spaces", "max_signed", "signature_bits"],
        kept: Kept::Locked(|options, limits| Ok(Box::new(PstBloom::new(options, limits)?))),
    },
    EngineInfo {
        name: "pst_hash",
        description: "PSTHash: several access predicates, a hash table of the spaces of PS-Trees",
        takes: "conjunctions; others through a bounded DNF",
        options: &["access_predicates", "max_cells", "max_spaces", "long_list"],
        kept: Kept::Locked(|options, limits| Ok(Box::new(PstHash::new(options, limits)?))),
    },
    EngineInfo {
        name: "a_tree",
        description: "A-Tree: predicates and subexpressions shared by all expressions, matched from the bottom up",
        takes: "all",
        options: ATree::OPTIONS,
        kept: Kept::Locked(|options, _| Ok(Box::new(ATree::new(options)?))),
    },
    EngineInfo {
        name: "compiled",
        description: "immutable mapped segments and a small delta: what `auto` stands for",
        takes: "all",
        options: &["fanout", "path", "recent"],
        kept: Kept::Segmented,
    },
];

/// What `auto` stands for.
pub const AUTO: &str = "compiled";

/// The engine with this name.
pub fn find(name: &str) -> Result<&'static EngineInfo> {
    let wanted = if name == "auto" { AUTO } else { name };
    ENGINES.iter().find(|engine| engine.name == wanted).ok_or_else(|| {
        let known: Vec<_> = ["auto"].into_iter().chain(ENGINES.iter().map(|engine| engine.name)).collect();
        Error::Option(format!("unknown engine {name:?}; there are: {}", known.join(", ")))
    })
}

/// The engine that is kept in segments; whoever reads a file of segments needs it, whatever `auto` stands for.
pub(crate) fn segmented() -> &'static EngineInfo {
    const PLACE: usize = {
        let mut at = 0;
        while !matches!(ENGINES[at].kept, Kept::Segmented) {
            at += 1;
        }
        at
    };
    &ENGINES[PLACE]
}

impl EngineInfo {
    /// Makes an empty engine; an option it does not know is an error.
    pub fn create(&self, options: &Options, limits: &Limits) -> Result<Box<dyn Engine>> {
        self.check(options)?;
        match self.kept {
            Kept::Locked(make) => make(options, limits),
            Kept::Segmented => Err(Error::Option(format!("engine {} works only within an index", self.name))),
        }
    }

    /// Whether all options are known; the error names one that is not.
    pub fn check(&self, options: &Options) -> Result<()> {
        if let Some(unknown) = options.keys().find(|name| !self.options.contains(&name.as_str())) {
            let known = if self.options.is_empty() { "none".into() } else { self.options.join(", ") };
            return Err(Error::Option(format!(
                "engine {} has no option {unknown:?}; it takes: {known}",
                self.name
            )));
        }
        Ok(())
    }
}

/// An option that is a whole number in a range.
pub(crate) fn whole_number(
    options: &Options,
    name: &str,
    default: usize,
    range: std::ops::RangeInclusive<usize>,
) -> Result<usize> {
    let wrong = |value: &OptionValue| {
        let (low, high) = (range.start(), range.end());
        Err(Error::Option(format!("{name} is {value}, must be a whole number from {low} to {high}")))
    };
    match options.get(name) {
        None => Ok(default),
        Some(OptionValue::Int(value)) => match usize::try_from(*value) {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => wrong(&OptionValue::Int(*value)),
        },
        Some(other) => wrong(other),
    }
}

/// An option that is on unless it is switched off.
pub(super) fn switch(options: &Options, name: &str) -> Result<bool> {
    match options.get(name) {
        None => Ok(true),
        Some(OptionValue::Bool(value)) => Ok(*value),
        Some(other) => Err(Error::Option(format!("{name} is {other}, must be true or false"))),
    }
}
