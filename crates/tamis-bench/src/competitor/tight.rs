//! The fastest scan that fits a few lines: typed arrays of small integers, no kinds, no ids, one workload only.

use super::Competitor;
use crate::workload::Workload;
use std::time::Duration;

/// The tight scan of a typed workload.
pub struct TightScan<'w> {
    workload: &'w dyn Workload,
}

impl TightScan<'_> {
    /// Nothing needs to be built.
    pub fn new(workload: &dyn Workload) -> TightScan<'_> {
        TightScan { workload }
    }
}

impl Competitor for TightScan<'_> {
    fn one(&mut self, event: usize) -> usize {
        self.workload.answer(&self.workload.events()[event]).0 as usize
    }

    fn many(&mut self, _: usize) -> bool {
        false
    }

    fn numbers(&mut self, event: usize) -> Vec<u32> {
        let values = self.workload.spread(&self.workload.events()[event]);
        (0..self.workload.len() as u32).filter(|n| self.workload.holds(*n as usize, &values)).collect()
    }

    fn numbers_of_many(&mut self, _: usize) -> Option<Vec<Vec<u32>>> {
        None
    }

    fn build(&self) -> Option<Duration> {
        None
    }

    fn bytes(&self) -> Option<(usize, usize)> {
        None
    }
}
