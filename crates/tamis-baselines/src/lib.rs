//! The baselines of the papers: the systems that the engines of tamis-core are measured against.
//!
//! A paper's claim is a ratio to a baseline, so checking the claim takes the baseline too, on the same semantics, the
//! same events and the same interfaces as the engines.
//!
//! | folder | baselines | interface |
//! | --- | --- | --- |
//! | [`stabbing`] | Interval-Tree, Segment-Tree | [`Stabbing`](tamis_core::space::Stabbing) |
//!
//! Baselines that match whole expressions join as engines, grouped by what they take: k-index, Propagation and TAMA in
//! `conjunctive` (conjunctions); Interval ID, Dewey ID, BoP, BDD and Translation in `boolean` (arbitrary expressions).
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

pub mod stabbing;
