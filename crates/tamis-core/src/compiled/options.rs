//! The entry in the registry, with the option table, and what users choose for segments.

use crate::compiled::limits::SegmentLimits;
use crate::compiled::matching::strategy::MatchMode;
use crate::engine::registry::{
    Construction, EngineInfo, Family, OptionInfo, OptionKind, OptionValues, Takes,
};

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

/// Options of segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CompiledOptions {
    /// How many events are matched at a time; `None`: whichever is faster.
    pub(in crate::compiled) mode: Option<MatchMode>,
    /// How large a segment may be. No option of users: tests use smaller segments than the format allows.
    pub limits: SegmentLimits,
}

impl CompiledOptions {
    /// Reads the options of the engine's table.
    pub fn new(options: &OptionValues) -> CompiledOptions {
        let mode = match options.choice("path") {
            "one_by_one" => Some(MatchMode::PerEvent),
            "together" => Some(MatchMode::Batched),
            _ => None,
        };
        CompiledOptions { mode, limits: SegmentLimits::default() }
    }
}
