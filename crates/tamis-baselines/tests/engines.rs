//! The suite of all engines, run over this crate's, with `scan` beside them. Longer, on one seed after the other:
//! `TAMIS_SEED=1 cargo test -p tamis-baselines --test engines -- --ignored`.

use tamis_baselines::{BASELINE_ENGINES, BASELINES};
use tamis_conformance::cases::run;
use tamis_conformance::histories::Setting::{Float, Int, On, Word};
use tamis_conformance::histories::{self, OptionTrial};
use tamis_conformance::lives;
use tamis_conformance::seeded::seed;
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
    histories::short(ENGINES, 60);
}

#[test]
fn long_histories() {
    histories::long(ENGINES, 600);
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

/// Random options and histories, until 100,000 operations are compared with the reference.
#[test]
#[ignore = "takes minutes"]
fn a_hundred_thousand_operations() {
    let (seed, wanted) = (seed(), 100_000);
    println!("TAMIS_SEED={seed}");
    let totals = lives::run(BASELINES, seed, 0, |totals| totals.operations < wanted).expect("right answers");
    println!("{totals:?}");
}

macro_rules! files {
    ($($name:ident: $least:expr;)*) => {
        $(#[test]
        fn $name() {
            run(ENGINES, concat!(stringify!($name), ".json"), $least);
        })*
    };
}

files! {
    numbers: 100;
    text: 100;
    null_logic: 80;
    lists: 80;
    patterns: 120;
    time: 40;
    cidr: 30;
    boolean_connectives: 120;
    closed_world: 60;
    nested_paths: 40;
    weights: 15;
}

/// Options that take subscriptions where defaults seldom do.
const TRIALS: &[OptionTrial] = &[
    ("k_index", &[("form", Word("cnf"))]),
    ("k_index", &[("form", Word("cnf")), ("domain", Int(3))]),
    ("k_index", &[("domain", Int(1)), ("max_keys", Int(2))]),
    ("k_index", &[("domain", Int(5)), ("max_keys", Int(0))]),
    ("tama", &[("level", Int(0))]),
    ("tama", &[("level", Int(2))]),
    ("tama", &[("level", Int(3)), ("final_check", On)]),
    ("tama", &[("level", Int(20)), ("final_check", On)]),
    ("interval_id", &[("max_spaces", Int(1)), ("max_leaves", Int(4))]),
    ("interval_id", &[("max_leaves", Int(32_767))]),
    ("dewey_id", &[("max_spaces", Int(0)), ("max_leaves", Int(6))]),
    ("bop", &[("max_spaces", Int(2)), ("max_leaves", Int(5))]),
    ("bdd", &[("order", Word("attribute")), ("max_spaces", Int(1))]),
    ("bdd", &[("order", Word("reverse")), ("max_steps", Int(20))]),
    ("bdd", &[("max_nodes", Int(120)), ("max_steps", Int(50))]),
    ("translation", &[("engine", Word("pst_hash")), ("max_dnf", Int(5))]),
    ("translation", &[("engine", Word("k_index"))]),
    ("translation", &[("engine", Word("op_index"))]),
    ("translation", &[("engine", Word("be_star_tree"))]),
    ("translation", &[("engine", Word("be_tree"))]),
    ("translation", &[("engine", Word("gem_tree"))]),
    ("translation", &[("engine", Word("propagation"))]),
    ("propagation", &[("max_schema", Int(1))]),
    ("propagation", &[("max_schema", Int(2)), ("probe_cost", Float(0.0))]),
    ("propagation", &[("max_schema", Int(4)), ("probe_cost", Float(0.0)), ("max_tables", Int(3))]),
    ("propagation", &[("max_schema", Int(3)), ("probe_cost", Float(0.1))]),
];

#[test]
fn options_change_no_answer() {
    histories::options(ENGINES, TRIALS, 300);
}
