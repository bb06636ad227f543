//! The engines there are, by name. A registry is composed of slices: this crate's engines, and those of other crates,
//! which this crate does not know. Nothing registers itself at run time.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `options` | which options does an engine have, and which values are accepted? |
//! | `erased` | how does an index hold an engine whose type it does not know? |

mod erased;
mod options;

use super::{a_tree, be_tree, gem_tree, op_index, pst, scan};
use crate::compiled;
use crate::error::{Error, Result};
use crate::expr::Limits;
use std::fmt;

pub use erased::{DynEngine, DynRankingEngine, Scratch};
pub use options::{OptionInfo, OptionKind, OptionValue, OptionValues, Options};

/// An engine's entry in the registry.
pub struct EngineInfo {
    /// What users write.
    pub name: &'static str,
    /// What it is, in a line.
    pub description: &'static str,
    /// What it is there for; listings are grouped by it.
    pub family: Family,
    /// Which expressions it takes.
    pub takes: Takes,
    /// Whether it returns the matching subscriptions only. An engine that is not exact may return others as well; no
    /// engine ever misses one.
    pub exact: bool,
    /// Its option table.
    pub options: &'static [OptionInfo],
    /// How an index makes and holds it.
    pub construction: Construction,
}

/// What an engine is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Made for users: what `auto` chooses from.
    Product,
    /// The system of a paper.
    Paper,
    /// What papers compare with.
    Baseline,
}

impl Family {
    /// All families, in the order of listings.
    pub const ALL: [Family; 3] = [Family::Product, Family::Paper, Family::Baseline];
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::Product => "product",
            Family::Paper => "paper",
            Family::Baseline => "baseline",
        })
    }
}

/// Which expressions an engine takes as they are. Displays as text for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Every expression.
    All,
    /// Every expression whose stored form is within a bound.
    Bounded,
    /// Conjunctions of disjunctions.
    Cnf,
    /// Disjunctions of conjunctions.
    Dnf,
    /// Conjunctions of disjunctions, and disjunctions of conjunctions.
    NormalForms,
    /// Conjunctions.
    Conjunctions,
}

impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Takes::All => "all",
            Takes::Bounded => "all, up to a bound on their size",
            Takes::Cnf => "CNF; others through a bounded DNF",
            Takes::Dnf => "DNF; others through a bounded DNF",
            Takes::NormalForms => "CNF and DNF; others through a bounded CNF or DNF",
            Takes::Conjunctions => "conjunctions; others through a bounded DNF",
        })
    }
}

/// How an index makes and holds an engine.
#[derive(Clone, Copy)]
pub enum Construction {
    /// Makes an empty engine, which is updated in place.
    InPlace(fn(&OptionValues, &Limits) -> Box<dyn DynEngine>),
    /// Makes an empty engine, which is updated in place and finds the best k matches by itself.
    Ranking(fn(&OptionValues, &Limits) -> Box<dyn DynRankingEngine>),
    /// Immutable segments, which the index builds and merges.
    Segments,
}

impl EngineInfo {
    /// What the user gave for its options, and defaults for the rest; see [`OptionValues::new`].
    pub fn resolve(&self, options: &Options) -> Result<OptionValues> {
        OptionValues::new(self.name, self.options, options)
    }

    /// Whether it finds the best k matches by itself.
    pub fn ranks(&self) -> bool {
        matches!(self.construction, Construction::Ranking(_))
    }

    /// Makes an empty engine. An error if an option is wrong, or if the engine works only within an index.
    pub fn create(&self, options: &Options, limits: &Limits) -> Result<Box<dyn DynEngine>> {
        let options = self.resolve(options)?;
        match self.construction {
            Construction::InPlace(make) => Ok(make(&options, limits)),
            Construction::Ranking(make) => Ok(make(&options, limits)),
            Construction::Segments => {
                Err(Error::Option(format!("engine {} works only within an index", self.name)))
            }
        }
    }
}

/// The engines of this crate.
pub const CORE_ENGINES: &[EngineInfo] = &[
    scan::INFO,
    pst::BLOOM_INFO,
    pst::HASH_INFO,
    a_tree::INFO,
    op_index::INFO,
    be_tree::STAR_INFO,
    be_tree::INFO,
    gem_tree::INFO,
    compiled::INFO,
];

/// Users may write this instead of a name; it stands for [`AUTO_ENGINE`].
const AUTO: &str = "auto";
const AUTO_ENGINE: &str = "compiled";

/// Engines of one or more crates, found by name.
pub struct Registry {
    slices: &'static [&'static [EngineInfo]],
}

impl Registry {
    /// The engines of this crate.
    pub const CORE: &'static Registry = &Registry::new(&[CORE_ENGINES]);

    /// The engines of several crates. Panics, at compile time if the result is a constant, if two of them have the same
    /// name or one is named `auto`.
    pub const fn new(slices: &'static [&'static [EngineInfo]]) -> Registry {
        let registry = Registry { slices };
        let count = registry.count();
        let mut at = 0;
        while at < count {
            let name = registry.at(at).name;
            assert!(!is_same(name, AUTO), "no engine may be named auto");
            let mut other = at + 1;
            while other < count {
                assert!(!is_same(name, registry.at(other).name), "two engines have the same name");
                other += 1;
            }
            at += 1;
        }
        registry
    }

    const fn count(&self) -> usize {
        let (mut count, mut slice) = (0, 0);
        while slice < self.slices.len() {
            count += self.slices[slice].len();
            slice += 1;
        }
        count
    }

    /// The engine at a position in the concatenation of all slices.
    const fn at(&self, mut position: usize) -> &'static EngineInfo {
        let mut slice = 0;
        while position >= self.slices[slice].len() {
            position -= self.slices[slice].len();
            slice += 1;
        }
        &self.slices[slice][position]
    }

    /// Every engine, slice by slice.
    pub fn iter(&self) -> impl Iterator<Item = &'static EngineInfo> + use<> {
        self.slices.iter().flat_map(|slice| slice.iter())
    }

    /// The engines of a family.
    pub fn of_family(&self, family: Family) -> impl Iterator<Item = &'static EngineInfo> + use<> {
        self.iter().filter(move |engine| engine.family == family)
    }

    /// Every engine, family by family: the order of listings.
    pub fn by_family(&'static self) -> impl Iterator<Item = &'static EngineInfo> {
        Family::ALL.into_iter().flat_map(|family| self.of_family(family))
    }

    /// The engine with this name. `auto` is resolved.
    pub fn find(&'static self, name: &str) -> Result<&'static EngineInfo> {
        let resolved = if name == AUTO { AUTO_ENGINE } else { name };
        self.iter().find(|engine| engine.name == resolved).ok_or_else(|| {
            let known: Vec<_> =
                [AUTO].into_iter().chain(self.by_family().map(|engine| engine.name)).collect();
            Error::Option(format!("unknown engine {name:?}; there are: {}", known.join(", ")))
        })
    }

    /// The engine whose subscriptions lie in segments; a file of segments is read with it, whatever `auto` stands for.
    pub(crate) fn segments(&self) -> Result<&'static EngineInfo> {
        let is_segments = |engine: &&EngineInfo| matches!(engine.construction, Construction::Segments);
        self.iter()
            .find(is_segments)
            .ok_or_else(|| Error::Option("no engine of this registry reads segments".into()))
    }
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_begin_with_products() {
        let families: Vec<Family> = Registry::CORE.by_family().map(|engine| engine.family).collect();
        assert!(families.is_sorted());
        assert_eq!(families.len(), Registry::CORE.iter().count());
        assert_eq!(families[0], Family::Product);
    }

    #[test]
    fn auto_is_resolved() {
        assert_eq!(Registry::CORE.find("auto").expect("auto").name, "compiled");
    }

    #[test]
    fn unknown_engines_are_refused_with_a_list() {
        let error = Registry::CORE.find("sieve").err().expect("an error").to_string();
        assert_eq!(
            error,
            "unknown engine \"sieve\"; there are: auto, compiled, pst_bloom, pst_hash, a_tree, op_index, \
             be_star_tree, gem_tree, scan, be_tree"
        );
    }

    #[test]
    fn every_default_is_accepted() {
        for engine in Registry::CORE.iter() {
            let defaults =
                engine.options.iter().map(|o| (o.name.to_owned(), o.kind.default_value())).collect();
            engine.resolve(&defaults).expect("defaults");
        }
    }

    #[test]
    fn engines_know_the_name_they_are_registered_with() {
        for info in Registry::CORE.iter().filter(|info| !matches!(info.construction, Construction::Segments))
        {
            let engine = info.create(&Options::new(), &Limits::default()).expect("an engine");
            assert_eq!(engine.name(), info.name);
        }
    }

    #[test]
    #[should_panic(expected = "two engines have the same name")]
    fn two_slices_with_the_same_name_are_refused() {
        const AGAIN: &[EngineInfo] = &[scan::INFO];
        let _ = Registry::new(&[CORE_ENGINES, AGAIN]);
    }

    #[test]
    #[should_panic(expected = "no engine may be named auto")]
    fn auto_is_no_name() {
        const AUTO: &[EngineInfo] = &[EngineInfo { name: "auto", ..scan::INFO }];
        let _ = Registry::new(&[AUTO]);
    }
}
