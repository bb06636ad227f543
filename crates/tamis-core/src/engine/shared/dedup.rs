//! Reports each subscription once per event, although several lists or conjunctions may lead to it.

use crate::engine::SubId;

/// Subscriptions reported for the current event. An event number per subscription instead of a bit: nothing is cleared
/// between events.
#[derive(Debug, Default)]
pub struct SubscriptionDedup {
    /// By subscription: the number of the last event it was reported for; 0 for none.
    last_event: Vec<u32>,
    /// The number of the current event, from 1 on.
    event: u32,
}

impl SubscriptionDedup {
    /// Begins an event: no subscription is reported.
    pub fn begin_event(&mut self) {
        self.event = self.event.wrapping_add(1);
        if self.event == 0 {
            self.last_event.fill(0);
            self.event = 1;
        }
    }

    /// Marks a subscription as reported; false if it was before.
    pub fn insert(&mut self, sub: SubId) -> bool {
        if self.last_event.len() <= sub.index() {
            self.last_event.resize(sub.index() + 1, 0);
        }
        std::mem::replace(&mut self.last_event[sub.index()], self.event) != self.event
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_numbers_may_overflow() {
        let mut dedup = SubscriptionDedup::default();
        dedup.begin_event();
        assert!(dedup.insert(SubId(3)) && !dedup.insert(SubId(3)));
        dedup.event = u32::MAX;
        dedup.begin_event();
        assert!(dedup.insert(SubId(3)) && dedup.insert(SubId(0)) && !dedup.insert(SubId(0)));
    }
}
