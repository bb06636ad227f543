//! The best k of each event's matches.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `weights` | how much does each attribute of an event count? |
//! | `ranker` | which matches of an event have the k highest scores, if all of them are scored? |
//! | `groups` | which group does an id belong to, and which matches are the best with some of each? |
//!
//! [`crate::engine::scoring`] defines the score of a match: engines that rank by themselves use the same definition.

mod groups;
mod ranker;
mod weights;

pub(super) use groups::BestMatches;
pub use groups::{Groups, TopK};
pub(super) use ranker::{ExpressionTexts, Ranker, ScorerCache};
pub use weights::{EventWeights, Weighting};

use super::Matches;
use std::num::NonZeroUsize;

/// The best matches of many events.
#[derive(Clone, Debug, Default)]
pub struct RankedMatches {
    /// Each event's ids, highest score first.
    pub matches: Matches,
    /// The score of each id, at the same position.
    pub scores: Vec<f64>,
}

impl RankedMatches {
    /// Appends the matches of further events.
    pub fn append(&mut self, other: RankedMatches) {
        self.matches.append(other.matches);
        self.scores.extend(other.scores);
    }
}

/// The parameters of a ranking.
#[derive(Clone, Copy)]
pub(super) struct RankingRequest<'r> {
    /// Maximum matches per row, in all and of each group.
    pub top_k: TopK<'r>,
    /// Attribute weights of the rows.
    pub weights: Weighting<'r>,
    /// Number of workers; by default one per core.
    pub threads: Option<NonZeroUsize>,
}
