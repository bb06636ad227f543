//! Workloads, competitors and measurements.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `random` | where do random numbers come from? |
//! | `workload` | what are conjunctions and arbitrary expressions over small integers, and what do they match? |
//! | `generate` | what do the other workloads look like? |
//! | `definition` | what does a file in `benchmarks/` say? |
//! | `case` | which subscriptions, events and right answers does that make? |
//! | `dialect` | how is an expression translated for another system? |
//! | `competitor` | how does each system match an event? |
//! | `measure` | how long does that take? |
//! | `report` | which JSON is written? |
//!
//! `main` runs the definitions and writes JSON; `tools/bench.py` calls it, adds what only Python can measure, and
//! draws tables and pictures. `benches/` holds special benchmarks of one part each.

pub mod case;
pub mod competitor;
pub mod definition;
pub mod dialect;
pub mod generate;
pub mod measure;
pub mod random;
pub mod report;
pub mod workload;
