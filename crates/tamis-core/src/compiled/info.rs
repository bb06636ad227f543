//! The entry in the registry, with the option table.

use crate::engine::registry::{Construction, EngineInfo, Family, OptionInfo, OptionKind, Takes};

/// The entry in the registry.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "compiled",
    description: "immutable mapped segments and a small delta: what `auto` stands for",
    family: Family::Product,
    takes: Takes::All,
    exact: true,
    options: &[
        OptionInfo {
            name: "path",
            description: "match one event at a time, or batches; `auto` measures both",
            kind: OptionKind::Choice { default: "auto", words: &["auto", "one_by_one", "together"] },
        },
        OptionInfo {
            name: "recent",
            description: "additions in the delta before they are frozen into a segment",
            kind: OptionKind::WholeNumber { default: 64, range: 1..=65_536 },
        },
        OptionInfo {
            name: "fanout",
            description: "size ratio of one class of segments to the next smaller one",
            kind: OptionKind::WholeNumber { default: 8, range: 2..=1_024 },
        },
    ],
    construction: Construction::Segments,
};
