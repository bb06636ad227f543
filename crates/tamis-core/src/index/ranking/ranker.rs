//! The k highest scores among an event's matches, for engines that do not rank by themselves.
//!
//! An expression is parsed when it is first scored; its scorer is cached for the other events that it matches, because
//! parsing takes a hundred times as long as scoring. Often the cache holds one number: without attribute weights, all
//! matches of a conjunction have the same score.

use super::{BestMatches, RankingRequest};
use crate::engine::scoring::{AttributeWeights, WeightedPredicates};
use crate::error::{Error, Result};
use crate::event::{Event, EventSlots};
use crate::expr::parse;
use crate::index::Id;
use crate::index::matching::EventContext;
use rustc_hash::FxHashMap;

/// Maximum estimated bytes of a thread's scorer cache. Expressions that do not fit are parsed each time.
const MAX_CACHE_BYTES: usize = 128 << 20;

/// Subscriptions with their texts.
pub(in crate::index) trait ExpressionTexts {
    /// How a subscription is addressed.
    type Location: Copy;

    /// Identifies a subscription in the cache; valid until a subscription is replaced or removed.
    fn key(&self, location: Self::Location) -> u64;

    /// `None` where a damaged file has no text.
    fn text(&self, location: Self::Location) -> Option<&str>;

    /// Position in insertion order.
    fn sequence(&self, location: Self::Location) -> u64;

    fn id(&self, location: Self::Location) -> Id;
}

/// Ranks the matches of one event after another.
pub(in crate::index) struct Ranker<L> {
    cache: ScorerCache,
    /// The event being ranked.
    slots: EventSlots,
    /// Its attribute weights.
    weights: AttributeWeights,
    /// The best matches so far. Empty between events.
    best: BestMatches<L>,
}

/// Scorers of expressions that were parsed before.
#[derive(Default)]
pub(in crate::index) struct ScorerCache {
    /// By [`ExpressionTexts::key`].
    by_key: FxHashMap<u64, CachedScorer>,
    /// Estimated bytes of `by_key`.
    bytes: usize,
}

enum CachedScorer {
    /// The score of every match; valid without attribute weights.
    Constant(f64),
    /// Valid with any weights.
    Predicates(Box<WeightedPredicates>),
}

impl<L> Default for Ranker<L> {
    fn default() -> Ranker<L> {
        Ranker {
            cache: ScorerCache::default(),
            slots: EventSlots::default(),
            weights: AttributeWeights::default(),
            best: BestMatches::default(),
        }
    }
}

impl<L: Copy> Ranker<L> {
    /// Empties the cache. Required when keys may identify other expressions.
    pub fn clear_cache(&mut self) {
        // Dropped, not cleared: the next calls may need far less memory.
        self.cache = ScorerCache::default();
    }

    /// Calls `emit` with the best of a row's matches and their scores, best first; ties in insertion order. After an
    /// error `emit` was not called.
    pub fn rank(
        &mut self,
        context: &EventContext<'_>,
        texts: &impl ExpressionTexts<Location = L>,
        matches: impl Iterator<Item = L>,
        request: &RankingRequest<'_>,
        emit: impl FnMut(L, f64),
    ) -> Result<()> {
        let top_k = request.top_k;
        if top_k.k == 0 {
            return Ok(());
        }
        self.best.begin(top_k);
        self.weights.load(request.weights.of(context.row).iter(), context.schema);
        let event = self.slots.load(context.rows, context.row, context.schema.len());
        for location in matches {
            let score = self.cache.score(context, texts, location, &event, &self.weights)?;
            self.best.offer(top_k, score, texts, location);
        }
        self.best.drain(top_k, emit);
        Ok(())
    }
}

impl ScorerCache {
    /// The score of a match; its text is parsed unless the scorer is cached.
    pub fn score<L: Copy>(
        &mut self,
        context: &EventContext<'_>,
        texts: &impl ExpressionTexts<Location = L>,
        location: L,
        event: &Event<'_>,
        weights: &AttributeWeights,
    ) -> Result<f64> {
        match self.by_key.get(&texts.key(location)) {
            Some(CachedScorer::Constant(score)) if weights.is_empty() => Ok(*score),
            Some(CachedScorer::Predicates(predicates)) => Ok(predicates.score(event, weights)),
            _ => {
                let text = texts.text(location).ok_or_else(|| Error::damaged("a text is not UTF-8"))?;
                let expr = parse(text, context.limits)?;
                let predicates = WeightedPredicates::new(&expr, context.schema, context.missing)?;
                let score = predicates.score(event, weights);
                self.insert(texts.key(location), predicates, weights);
                Ok(score)
            }
        }
    }

    /// Caches a constant if that is valid for these weights, the scorer otherwise; nothing if there is no room.
    fn insert(&mut self, key: u64, predicates: WeightedPredicates, weights: &AttributeWeights) {
        // Hash tables are half full on average.
        let entry_bytes = 2 * size_of::<(u64, CachedScorer)>();
        let (cached, bytes) = match predicates.constant_score() {
            Some(score) if weights.is_empty() => (CachedScorer::Constant(score), entry_bytes),
            _ => {
                let bytes = entry_bytes + predicates.memory();
                (CachedScorer::Predicates(Box::new(predicates)), bytes)
            }
        };
        if self.bytes + bytes <= MAX_CACHE_BYTES {
            self.bytes += bytes;
            self.by_key.insert(key, cached);
        }
    }
}
