//! What the fuzz targets check, as functions of bytes. Each panics if and only if tamis is wrong.
//!
//! The functions know no fuzzer: libFuzzer calls them (`fuzz_targets/`), and `tests/seeds.rs` calls them for every
//! file in `seeds/`, so that each input that once found a fault is replayed by `cargo test`.

pub mod arrow_batches;
mod arrow_columns;
pub mod crafted_file;
pub mod history;
pub mod json_events;
pub mod open_file;
pub mod parse;
pub mod seal;

/// The function of a target.
pub type Check = fn(&[u8]);

/// Every target: its name, which is also that of its binary and of its folder of seeds, and its function.
pub const TARGETS: &[(&str, Check)] = &[
    ("parse", parse::check),
    ("open_file", open_file::check),
    ("crafted_file", crafted_file::check),
    ("history", history::check),
    ("json_events", json_events::check),
    ("arrow_batches", arrow_batches::check),
];
