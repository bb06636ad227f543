//! How probable is an equality? The paper's statistics of events.
//!
//! With observed events: the share of them that satisfied it. Without: each value of an attribute that subscriptions ask
//! for is taken as equally probable, and each attribute as present. Attributes are taken as independent.

use tamis_core::AttrId;
use tamis_core::engine::shared::predicates::PredId;

/// See the module's head.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    /// Number of observed events.
    observed: u32,
    /// By attribute: number of observed events that have it.
    present: Vec<u32>,
    /// By predicate: number of observed events that satisfied it, if it is an equality.
    hits: Vec<u32>,
    /// By attribute: number of equalities in use.
    equalities: Vec<u32>,
}

fn count(counters: &mut Vec<u32>, at: usize) -> &mut u32 {
    if counters.len() <= at {
        counters.resize(at + 1, 0);
    }
    &mut counters[at]
}

impl Statistics {
    /// Begins an observed event.
    pub fn observe_event(&mut self) {
        self.observed = self.observed.saturating_add(1);
    }

    /// Counts an attribute of an observed event, and the equality that it satisfies.
    pub fn observe(&mut self, attribute: AttrId, equality: Option<PredId>) {
        let present = count(&mut self.present, attribute.index());
        *present = present.saturating_add(1);
        if let Some(id) = equality {
            let hits = count(&mut self.hits, id.index());
            *hits = hits.saturating_add(1);
        }
    }

    /// Counts an equality that is used from now on.
    pub fn add_equality(&mut self, attribute: AttrId, id: PredId) {
        *count(&mut self.equalities, attribute.index()) += 1;
        // The number may have been another predicate's.
        *count(&mut self.hits, id.index()) = 0;
    }

    pub fn remove_equality(&mut self, attribute: AttrId) {
        *count(&mut self.equalities, attribute.index()) -= 1;
    }

    /// Number of equalities in use on an attribute.
    pub fn equalities(&self, attribute: AttrId) -> u32 {
        self.equalities.get(attribute.index()).copied().unwrap_or(0)
    }

    /// The paper's nu of an equality: the probability that an event satisfies it.
    pub fn probability(&self, attribute: AttrId, id: PredId) -> f64 {
        if self.observed == 0 {
            return 1.0 / f64::from(self.equalities(attribute).max(1));
        }
        let hits = self.hits.get(id.index()).copied().unwrap_or(0);
        // Never observed is not impossible.
        f64::from(hits).max(0.5) / f64::from(self.observed)
    }

    /// The probability that an event has an attribute.
    pub fn presence(&self, attribute: AttrId) -> f64 {
        if self.observed == 0 {
            return 1.0;
        }
        f64::from(self.present.get(attribute.index()).copied().unwrap_or(0)) / f64::from(self.observed)
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        (self.present.capacity() + self.hits.capacity() + self.equalities.capacity()) * size_of::<u32>()
    }
}
