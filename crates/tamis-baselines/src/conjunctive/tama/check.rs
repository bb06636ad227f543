//! Do the tables agree with the conjunctions?

use super::{Slot, Tama};

impl Tama {
    pub(super) fn check(&self) -> Result<(), String> {
        self.predicates.validate()?;
        let lists = self.tables.iter().map(|table| vec![Vec::new(); table.lists().len()]);
        let mut expected: Vec<Vec<Vec<u32>>> = lists.collect();
        let mut unconditional = Vec::new();
        for id in self.conjunctions.all() {
            let slot = self.conjunctions.state(id).slot;
            let Slot { conjunction, needed } = self.slots[slot as usize];
            if conjunction != id || needed as usize != self.counted(id).count() {
                return Err(format!("tama: slot {slot} is not that of {id:?}"));
            }
            if needed == 0 {
                unconditional.push(slot);
            }
            for (attribute, number) in self.listed(id) {
                expected[attribute.index()][number].push(slot);
            }
        }
        let sorted = |slots: &[u32]| {
            let mut slots = slots.to_vec();
            slots.sort_unstable();
            slots
        };
        if sorted(self.postings.get(self.unconditional)) != sorted(&unconditional) {
            return Err("tama: the list for every event is wrong".into());
        }
        for (attribute, (table, expected)) in self.tables.iter().zip(&expected).enumerate() {
            for (number, (list, expected)) in table.lists().iter().zip(expected).enumerate() {
                if sorted(self.postings.get(*list)) != sorted(expected) {
                    return Err(format!("tama: attribute {attribute}, subrange {number}: wrong list"));
                }
            }
        }
        match self.slots.len() - self.free_slots.len() == self.conjunctions.len() {
            true => Ok(()),
            false => Err("tama: a slot is lost".into()),
        }
    }
}
