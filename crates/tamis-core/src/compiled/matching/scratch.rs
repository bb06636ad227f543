//! What a thread reuses from event to event, so that matching allocates nothing in steady state.

use crate::compiled::matching::batch::BatchScratch;
use crate::compiled::matching::dedup::Dedup;
use crate::compiled::matching::ranking::RankedSearch;
use crate::compiled::matching::single::CandidateSearch;
use crate::compiled::values::event_spaces::EventSpaces;
use crate::compiled::values::narrow_spaces::NarrowSpaces;
use crate::engine::shared::patterns::PatternScratch;

/// Buffers of one thread, whichever segments it matches.
#[derive(Debug, Default)]
pub(crate) struct CompiledScratch {
    /// Spaces of the event in hand.
    pub(in crate::compiled) spaces: EventSpaces,
    /// Spaces of all events in hand, for tests of 4 bytes.
    pub(in crate::compiled) narrow: NarrowSpaces,
    pub(in crate::compiled) patterns: PatternScratch,
    pub(in crate::compiled) search: CandidateSearch,
    pub(in crate::compiled) dedup: Dedup,
    pub(in crate::compiled) ranking: RankedSearch,
    pub(in crate::compiled) batch: BatchScratch,
}
