//! What users choose for `compiled` segments.

use crate::compiled::limits::SegmentLimits;
use crate::compiled::matching::strategy::MatchMode;
use crate::engine::registry::OptionValues;

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
