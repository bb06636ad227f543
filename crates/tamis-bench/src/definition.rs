//! What a file in `benchmarks/` says: a generator, its parameters, and the cases to make with it.

use crate::generate::{ads, detection, equalities, ranges, wide};
use crate::random::Random;
use serde::Deserialize;
use std::path::Path;

/// One workload, in all its sizes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The file's name without its ending.
    #[serde(skip)]
    pub name: String,
    /// What it stands for, in a line.
    pub title: String,
    /// The generator's name and parameters.
    generator: toml::Table,
    /// The sizes it is run in.
    #[serde(rename = "case")]
    pub cases: Vec<CaseDefinition>,
    /// Who does not compete.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
}

/// One size of a workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseDefinition {
    /// What tells it from the other cases of the same size.
    #[serde(default)]
    pub label: String,
    /// How many subscriptions.
    pub subscriptions: usize,
    /// How many events.
    pub events: usize,
    /// Where chance starts. The typed workloads of [`crate::workload`] always start from the default.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Parameters that differ from the definition's.
    #[serde(default)]
    generator: toml::Table,
    /// Run by `--quick` instead of the others.
    #[serde(default)]
    pub quick: bool,
    /// Small enough to be run from Python too.
    #[serde(default)]
    pub python: bool,
    /// Drawn in the picture.
    #[serde(default)]
    pub picture: bool,
    /// What all events match in all, where known.
    pub expected: Option<Totals>,
}

/// What all events of a case match: a fingerprint of subscriptions, events and answers.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Matches of all events together.
    pub matches: u64,
    /// The sum of the matching numbers.
    pub sum: u64,
}

/// A competitor that stays away from a workload.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Its name.
    pub competitor: String,
    /// Only from this many subscriptions on; always if not given.
    #[serde(default)]
    pub from: usize,
    /// Why.
    pub reason: String,
}

/// Who draws a workload, and with which parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "name", rename_all = "lowercase")]
pub enum Generator {
    /// [`crate::workload::conj`]
    Conj {
        /// Attributes there are.
        dimensions: u64,
    },
    /// [`crate::workload::abe`]
    Abe {
        /// Attributes there are.
        dimensions: u64,
    },
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

/// The most subscriptions that a loop in Python is worth waiting for.
const MOST_IN_PYTHON: usize = 10_000;

impl CaseDefinition {
    /// The same with another number of subscriptions. What it matches is then unknown.
    pub fn resized(&self, subscriptions: usize) -> CaseDefinition {
        let expected = self.expected.filter(|_| self.subscriptions == subscriptions);
        let python = subscriptions <= MOST_IN_PYTHON;
        CaseDefinition { subscriptions, expected, python, ..self.clone() }
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

    /// Why a competitor stays away from this size, if it does.
    pub fn left_out(&self, competitor: &str, subscriptions: usize) -> Option<&str> {
        let concerns = |out: &&LeftOut| out.competitor == competitor && subscriptions >= out.from;
        self.left_out.iter().find(concerns).map(|out| out.reason.as_str())
    }
}
