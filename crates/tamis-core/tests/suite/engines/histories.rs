//! The suite of all engines, run over this crate's.

use tamis_conformance::histories::Setting::{Float, Int, Off, Word};
use tamis_conformance::histories::{self, OptionTrial};
use tamis_core::engine::registry::Registry;

#[test]
fn short_histories() {
    histories::short(Registry::CORE, 160);
}

#[test]
fn long_histories() {
    histories::long(Registry::CORE, 1_600);
}

#[test]
fn waves() {
    histories::waves(Registry::CORE);
}

#[test]
fn cycles_leave_nothing_behind() {
    histories::cycles(Registry::CORE);
}

#[test]
fn engines_agree_with_scan() {
    histories::agreement_with_scan(Registry::CORE);
}

/// Options that take subscriptions where defaults seldom do.
const TRIALS: &[OptionTrial] = &[
    ("pst_bloom", &[("max_spaces", Int(1)), ("max_signed", Int(0))]),
    ("pst_bloom", &[("max_spaces", Int(2)), ("max_signed", Int(1000)), ("signature_bits", Int(1))]),
    ("pst_bloom", &[("max_signed", Int(1000)), ("signature_bits", Int(64))]),
    ("pst_hash", &[("access_predicates", Int(1)), ("max_spaces", Int(2))]),
    (
        "pst_hash",
        &[
            ("access_predicates", Int(2)),
            ("long_list", Int(0)),
            ("max_cells", Int(3)),
            ("max_spaces", Int(1)),
        ],
    ),
    ("pst_hash", &[("access_predicates", Int(2)), ("long_list", Int(3)), ("max_cells", Int(1000))]),
    ("pst_hash", &[("access_predicates", Int(3)), ("long_list", Int(0)), ("max_cells", Int(8))]),
    ("pst_hash", &[("access_predicates", Int(4)), ("long_list", Int(0)), ("max_cells", Int(1000))]),
    ("a_tree", &[("max_spaces", Int(1)), ("reorganize", Off)]),
    ("a_tree", &[("max_spaces", Int(3)), ("access", Word("random"))]),
    ("a_tree", &[("zero_suppression", Off)]),
    ("a_tree", &[("propagation_on_demand", Off), ("self_adjust", Off)]),
    ("a_tree", &[("unique_ids", Off)]),
    ("op_index", &[("segments", Int(1)), ("signature_bits", Int(1))]),
    ("op_index", &[("segments", Int(4_096)), ("form", Word("dnf"))]),
    ("op_index", &[("directory", Off), ("form", Word("cnf"))]),
    ("op_index", &[("intervals", Off)]),
    ("op_index", &[("intervals", Off), ("form", Word("cnf")), ("segments", Int(3))]),
    ("op_index", &[("form", Word("cnf"))]),
    ("gem_tree", &[("capacity", Int(1)), ("lambda", Int(2))]),
    ("gem_tree", &[("capacity", Int(2)), ("lambda", Int(32)), ("global_adjustment", Off)]),
    ("gem_tree", &[("capacity", Int(4)), ("lambda", Int(5)), ("adjustment_period", Int(1))]),
    ("gem_tree", &[("capacity", Int(6)), ("lambda", Int(3)), ("global_adjustment", Off)]),
    ("be_star_tree", &[("leaf_size", Int(1))]),
    ("be_star_tree", &[("leaf_size", Int(2)), ("split", Word("approximate")), ("alpha", Float(0.5))]),
    ("be_star_tree", &[("leaf_size", Int(3)), ("beta", Float(1.0)), ("window", Int(1))]),
    ("be_star_tree", &[("leaf_size", Int(2)), ("ranking", Word("popularity")), ("alpha", Float(0.0))]),
    ("be_star_tree", &[("leaf_size", Int(160)), ("ranking", Word("popularity"))]),
    ("be_tree", &[("leaf_size", Int(1)), ("window", Int(3))]),
    ("be_tree", &[("leaf_size", Int(4)), ("ranking", Word("popularity"))]),
    ("compiled", &[("recent", Int(1)), ("fanout", Int(2))]),
    ("compiled", &[("recent", Int(3)), ("fanout", Int(2))]),
    ("compiled", &[("recent", Int(7)), ("fanout", Int(5)), ("path", Word("together"))]),
    ("compiled", &[("recent", Int(4)), ("path", Word("one_by_one"))]),
];

#[test]
fn options_change_no_answer() {
    histories::options(Registry::CORE, TRIALS, 400);
}
