//! The baselines of the papers: the systems that the engines of tamis-core are measured against.
//!
//! A paper's claim is a ratio to a baseline, so checking the claim takes the baseline too, on the same semantics, the
//! same events and the same interfaces as the engines.
//!
//! | folder | baselines | interface |
//! | --- | --- | --- |
//! | `conjunctive` | k-index, Propagation, TAMA | [`Engine`](tamis_core::engine::Engine), in [`BASELINE_ENGINES`] |
//! | `boolean` | Interval ID, Dewey ID, BoP, BDD, Translation | the same |
//! | [`stabbing`] | Interval-Tree, Segment-Tree | [`Stabbing`](tamis_core::space::Stabbing) |
//!
//! Engines are grouped by what they take: `conjunctive` has those for conjunctions, `boolean` those for arbitrary
//! expressions.
//!
//! How a baseline joins:
//! 1. One module, named after the baseline. Its head has the source, the idea, the invariants, the cost and the
//!    deviations from the source.
//! 2. It implements the trait: [`Stabbing`](tamis_core::space::Stabbing), and
//!    [`DynamicStabbing`](tamis_core::space::DynamicStabbing) if it supports updates, or
//!    [`Engine`](tamis_core::engine::Engine). `validate` checks every invariant.
//! 3. One line lists it. A stabbing structure gets a `suite!` line in `tests/stabbing.rs` and a line in the table of
//!    the `stabbing` benchmark. An engine gets a line in this crate's slice of the engine registry, through which the
//!    conformance suite and the benchmarks find it.

mod boolean;
mod conjunctive;
pub mod stabbing;

use tamis_core::engine::registry::{CORE_ENGINES, EngineInfo, Registry};

/// The engines of this crate.
pub const BASELINE_ENGINES: &[EngineInfo] = &[
    conjunctive::K_INDEX_INFO,
    conjunctive::PROPAGATION_INFO,
    conjunctive::TAMA_INFO,
    boolean::INTERVAL_INFO,
    boolean::DEWEY_INFO,
    boolean::BOP_INFO,
    boolean::BDD_INFO,
    boolean::TRANSLATION_INFO,
];

/// The engines of this crate alone.
pub const BASELINES: &Registry = &Registry::new(&[BASELINE_ENGINES]);

/// The engines of tamis-core and of this crate: what Python and the benchmarks list.
pub const ALL: &Registry = &Registry::new(&[CORE_ENGINES, BASELINE_ENGINES]);
