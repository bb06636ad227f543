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
            description: "match per event or batched, or measure which is faster; \"together\" has no effect where a test \
                          needs each event by itself",
            kind: OptionKind::Choice { default: "auto", words: &["auto", "one_by_one", "together"] },
        },
        OptionInfo {
            name: "recent",
            description: "maximum length of the recent list",
            kind: OptionKind::WholeNumber { default: 64, range: 1..=65_536 },
        },
        OptionInfo {
            name: "fanout",
            description: "ratio of neighbouring size classes",
            kind: OptionKind::WholeNumber { default: 8, range: 2..=1_024 },
        },
    ],
    construction: Construction::Segments,
};
