//! The suite of all engines, run over this crate's, with `scan` beside them.

use tamis_baselines::BASELINE_ENGINES;
use tamis_conformance::histories::Setting::{Int, Word};
use tamis_conformance::histories::{self, OptionTrial};
use tamis_core::engine::registry::{CORE_ENGINES, EngineInfo, Registry};

/// `scan` is the first engine of tamis-core.
const SCAN: &[EngineInfo] = CORE_ENGINES.split_at(1).0;
const ENGINES: &Registry = &Registry::new(&[SCAN, BASELINE_ENGINES]);

#[test]
fn scan_is_the_reference() {
    assert_eq!(SCAN[0].name, "scan");
}

#[test]
fn short_histories() {
    histories::short(ENGINES, 400);
}

#[test]
fn long_histories() {
    histories::long(ENGINES, 4_000);
}

#[test]
fn waves() {
    histories::waves(ENGINES);
}

#[test]
fn cycles_leave_nothing_behind() {
    histories::cycles(ENGINES);
}

#[test]
fn engines_agree_with_scan() {
    histories::agreement_with_scan(ENGINES);
}

/// Options that take subscriptions where defaults seldom do.
const TRIALS: &[OptionTrial] = &[
    ("k_index", &[("form", Word("cnf"))]),
    ("k_index", &[("form", Word("cnf")), ("domain", Int(3))]),
    ("k_index", &[("domain", Int(1)), ("max_keys", Int(2))]),
    ("k_index", &[("domain", Int(5)), ("max_keys", Int(0))]),
    ("interval_id", &[("max_spaces", Int(1)), ("max_leaves", Int(4))]),
    ("interval_id", &[("max_leaves", Int(32_767))]),
    ("dewey_id", &[("max_spaces", Int(0)), ("max_leaves", Int(6))]),
    ("bop", &[("max_spaces", Int(2)), ("max_leaves", Int(5))]),
    ("bdd", &[("order", Word("attribute")), ("max_spaces", Int(1))]),
    ("bdd", &[("order", Word("reverse")), ("max_steps", Int(20))]),
    ("bdd", &[("max_nodes", Int(120)), ("max_steps", Int(50))]),
    ("translation", &[("engine", Word("pst_hash")), ("max_dnf", Int(5))]),
    ("translation", &[("engine", Word("k_index"))]),
];

#[test]
fn options_change_no_answer() {
    histories::options(ENGINES, TRIALS, 1_000);
}
