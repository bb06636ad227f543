//! Do cells and counters agree with the conjunctions?

use super::PstHash;
use super::cells::{MAX_COORDINATES, each_cell};

impl PstHash {
    pub(super) fn check(&self) -> Result<(), String> {
        self.base.validate()?;
        let bound = self.base.placed.leaf_bound();
        let (mut members, mut uses) = (vec![Vec::new(); bound], vec![0; bound]);
        let (mut expected, mut unconditional) = (Vec::new(), Vec::new());
        let mut by_coordinates = [0; MAX_COORDINATES + 1];
        for id in self.base.conjunctions.all() {
            let plan = self.base.conjunctions.state(id);
            by_coordinates[usize::from(plan.access)] += 1;
            if plan.access == 0 {
                unconditional.push(id);
                continue;
            }
            let axes = self.axes(id);
            for axis in &axes {
                for leaf in axis {
                    uses[leaf.index()] += 1;
                    if axes.len() > 1 {
                        members[leaf.index()].push(id.0);
                    }
                }
            }
            let mut count = 0;
            each_cell(&axes, |cell| {
                count += 1;
                expected.push((cell.to_vec(), id));
            });
            if count != plan.records {
                return Err(format!("pst_hash: {id:?} has {count} cells, counted {}", plan.records));
            }
        }
        if by_coordinates != self.by_coordinates {
            let counted = self.by_coordinates;
            return Err(format!("pst_hash: by_coordinates is {by_coordinates:?}, counted {counted:?}"));
        }
        self.cells.validate(&expected, |id| self.record(id))?;
        unconditional.sort_unstable();
        if self.cells.conjunctions(self.unconditional) != unconditional {
            return Err("pst_hash: the list for every event is wrong".into());
        }
        for leaf in 0..bound {
            let list = self.members.get(leaf).copied().unwrap_or_default();
            let mut listed = self.member_lists.get(list).to_vec();
            listed.sort_unstable();
            members[leaf].sort_unstable();
            if listed != members[leaf] || self.uses.get(leaf).copied().unwrap_or(0) != uses[leaf] {
                return Err(format!("pst_hash: the members or uses of leaf {leaf} are wrong"));
            }
        }
        Ok(())
    }
}
