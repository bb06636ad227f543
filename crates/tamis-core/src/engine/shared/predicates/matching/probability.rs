//! How likely a predicate is satisfied: from the observed events, or from its operator and the spaces it covers.

use super::{FoundBy, PredicateKey, PredicateMatching};
use crate::engine::shared::selectivity::Shape;
use crate::event::Event;
use crate::expr::Predicate;

impl<K: PredicateKey> PredicateMatching<K> {
    /// Estimated probability that an event satisfies a predicate, which `covered` leaves list.
    pub fn probability(&self, predicate: &Predicate, covered: u32) -> f32 {
        let Some(Some(attribute)) = self.attributes.get(predicate.attribute.index()) else { return 1.0 };
        let accepts_missing = predicate.accepts_missing();
        let prior = Shape::of(predicate).likelihood();
        let present = f64::from(self.leaves.get(attribute.dimension.whole()).events);
        if self.observed == 0 {
            return match covered {
                _ if accepts_missing => 0.99,
                0 => prior,
                covered => prior.min((covered as f32 + 1.0) / (attribute.dimension.spaces() as f32 + 2.0)),
            };
        }
        let satisfied = match FoundBy::of(predicate) {
            FoundBy::Region(region) if covered > 0 => {
                let mut events = 0.0;
                attribute.dimension.cover(&region, &self.leaves, |leaf| {
                    events += f64::from(self.leaves.get(leaf).events);
                });
                events
            }
            FoundBy::Presence => present,
            _ => present * f64::from(prior),
        };
        let missing = if accepts_missing { f64::from(self.observed) - present } else { 0.0 };
        // Additive smoothing: a predicate that no observed event satisfied is unlikely, not impossible.
        ((satisfied + missing + 0.5) / (f64::from(self.observed) + 1.0)).min(1.0) as f32
    }

    /// Counts an event in the leaves of its values.
    pub fn observe(&mut self, event: &Event<'_>) {
        self.observed = self.observed.saturating_add(1);
        for cell in event.cells() {
            let Some(Some(attribute)) = self.attributes.get(cell.attribute.index()) else { continue };
            attribute.dimension.observe(event.resolve(cell.slot), &mut self.leaves);
        }
    }
}
