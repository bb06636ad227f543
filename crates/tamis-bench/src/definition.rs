//! The content of a file in `benchmarks/`: a generator, its parameters, and the cases to generate.

use crate::generate::{ads, detection, equalities, ranges, wide};
use crate::random::Random;
use crate::workload::{abe, op};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use tamis_core::engine::registry::{OptionValue, Options};

/// One workload, in all its sizes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The file's name without its ending.
    #[serde(skip)]
    pub name: String,
    /// One line that describes the workload.
    pub title: String,
    /// The generator's name and parameters.
    generator: toml::Table,
    /// The sizes it is run in.
    #[serde(rename = "case")]
    pub cases: Vec<CaseDefinition>,
    /// Competitors that are not measured.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
}

/// One size of a workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseDefinition {
    /// Tells cases of one size apart.
    #[serde(default)]
    pub label: String,
    /// Number of subscriptions.
    pub subscriptions: usize,
    /// Number of events.
    pub events: usize,
    /// Seed of the random numbers. The typed workloads of [`crate::workload`] always use the default.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Parameters that differ from the definition's.
    #[serde(default)]
    generator: toml::Table,
    /// By engine: options that differ from the defaults.
    #[serde(default)]
    options: BTreeMap<String, BTreeMap<String, i64>>,
    /// Run by `--quick` instead of the others.
    #[serde(default)]
    pub quick: bool,
    /// Small enough to be run from Python too.
    #[serde(default)]
    pub python: bool,
    /// Shown in the chart.
    #[serde(default)]
    pub picture: bool,
    /// Totals over all events, where known.
    pub expected: Option<Totals>,
}

/// Totals over all events of a case: a fingerprint of subscriptions, events and answers.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Matches of all events together.
    pub matches: u64,
    /// The sum of the matching numbers.
    pub sum: u64,
}

/// A competitor that is not measured on a workload.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Its name.
    pub competitor: String,
    /// Minimum number of subscriptions from which it is left out; 0: always.
    #[serde(default)]
    pub from: usize,
    /// Why.
    pub reason: String,
}

/// A generator and its parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "name", rename_all = "lowercase")]
pub enum Generator {
    /// [`crate::workload::conj`]
    Conj {
        /// Number of attributes.
        dimensions: u64,
    },
    /// [`crate::workload::abe`]
    Abe(abe::Parameters),
    /// [`crate::workload::op`]
    Op(op::Parameters),
    /// [`equalities`]
    Equalities(equalities::Parameters),
    /// [`ads`]
    Ads(ads::Parameters),
    /// [`detection`]
    Detection(detection::Parameters),
    /// [`ranges`]
    Ranges(ranges::Parameters),
    /// [`wide`]
    Wide(wide::Parameters),
}

/// Maximum subscriptions of a case that Python runs as well: Python's `eval` is linear in them.
const MOST_IN_PYTHON: usize = 10_000;

impl CaseDefinition {
    /// The same with another number of subscriptions. What it matches is then unknown.
    pub fn resized(&self, subscriptions: usize) -> CaseDefinition {
        let expected = self.expected.filter(|_| self.subscriptions == subscriptions);
        let python = subscriptions <= MOST_IN_PYTHON;
        CaseDefinition { subscriptions, expected, python, ..self.clone() }
    }

    /// The options of an engine.
    pub fn options(&self, engine: &str) -> Options {
        let given = self.options.get(engine).into_iter().flatten();
        given.map(|(name, value)| (name.clone(), OptionValue::Int(*value))).collect()
    }
}

fn default_seed() -> u64 {
    Random::SEED
}

impl Definition {
    /// Reads one file; the error names it.
    pub fn read(path: &Path) -> Result<Definition, String> {
        let fault = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| fault(&error))?;
        let mut definition: Definition = toml::from_str(&text).map_err(|error| fault(&error))?;
        definition.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for case in &definition.cases {
            definition.generator(case).map_err(|error| fault(&error))?;
        }
        Ok(definition)
    }

    /// All definitions of a folder, by name.
    pub fn read_all(folder: &Path) -> Result<Vec<Definition>, String> {
        let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
        paths.sort();
        paths.iter().map(|path| Definition::read(path)).collect()
    }

    /// The generator of a case: the definition's, with the case's own parameters.
    pub fn generator(&self, case: &CaseDefinition) -> Result<Generator, toml::de::Error> {
        let mut table = self.generator.clone();
        table.extend(case.generator.clone());
        table.try_into()
    }

    /// Why a competitor is not measured in this size, if so.
    pub fn left_out(&self, competitor: &str, subscriptions: usize) -> Option<&str> {
        let concerns = |out: &&LeftOut| out.competitor == competitor && subscriptions >= out.from;
        self.left_out.iter().find(concerns).map(|out| out.reason.as_str())
    }
}
