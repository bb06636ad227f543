//! Options: none changes an answer, wrong ones are refused.

use super::histories::History;
use super::{ENGINE, SWITCHES, WORLDS, off};
use tamis_conformance::seeded::seed;
use tamis_core::engine::registry::{OptionValue, Options};
use tamis_core::index::{Index, Settings};

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
            history.pair.validate();
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
