//! The global adjustment: in which order do attributes lead to subscriptions?
//!
//! Every attribute has a triangle that counts all its predicates, wherever their conjunctions are stored: 4 bytes per cell.
//! From time to time the attributes are ordered by it and the tree is built again: conjunctions are then led by the
//! attribute that comes first, whatever the order of insertion was.
//!
//! Without observed events the order is the paper's: ascending sum of the number of predicates and of the standard
//! deviation of their number per cell. Observed events weight it by the measured match rate: the share of the attribute's
//! predicates in cells that an event leads to, 0 for events without the attribute.

use super::GemTree;
use super::insertion::Locator;
use super::triangle::{self, Cell};
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::ordinals::{Ordinal, Ordinals, choose_cuts, ends_of};
use crate::event::Event;
use crate::schema::AttrId;

/// What is known of an attribute.
#[derive(Debug, Default)]
struct AttributeStatistics {
    /// The ordinals at which columns begin, but the first.
    cuts: Vec<Ordinal>,
    /// By [`Cell::index`]: number of predicates.
    cells: Vec<u32>,
    /// By column: observed events with a value there, since the cuts were chosen.
    events: Vec<u32>,
    /// Number of predicates: the paper's n.
    count: u32,
    /// The match rate by the events observed before the last adjustment; 1.0 if there were none.
    match_rate: f64,
    /// Position in the global order; 0 for attributes that are newer than it.
    priority: u32,
}

/// What the global order follows from.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    attributes: Vec<AttributeStatistics>,
    /// Events observed since the last adjustment.
    observed: u32,
    /// Insertions and removals since the last adjustment.
    pub changes: usize,
    /// Whether attributes have been ordered.
    ordered: bool,
}

/// Maximum conjunctions whose predicates the cuts of statistics are chosen from.
const SAMPLE: usize = 20_000;

impl AttributeStatistics {
    fn cell_mut(&mut self, cell: Cell) -> &mut u32 {
        if self.cells.is_empty() {
            self.cells = vec![0; triangle::cell_count(self.cuts.len() + 1)];
        }
        &mut self.cells[cell.index()]
    }

    /// The paper's dispersion: the standard deviation of the number of predicates per cell.
    fn dispersion(&self) -> f64 {
        let cells = self.cells.len().max(1) as f64;
        let mean = f64::from(self.count) / cells;
        let squares: f64 = self.cells.iter().map(|count| (f64::from(*count) - mean).powi(2)).sum();
        (squares / cells).sqrt()
    }

    /// The share of its predicates in cells that an observed event leads to, on average.
    fn measured_rate(&self, observed: u32) -> f64 {
        let mut led = 0.0;
        for row in 0..=self.cuts.len() {
            for column in 0..=row {
                let cell = Cell { column: column as u8, row: row as u8 };
                let count = self.cells.get(cell.index()).copied().unwrap_or(0);
                let events: u64 = self.events.iter().take(row + 1).skip(column).map(|n| u64::from(*n)).sum();
                led += f64::from(count) * events as f64;
            }
        }
        led / (f64::from(self.count.max(1)) * f64::from(observed))
    }
}

impl Statistics {
    /// Whether there is a global order.
    pub fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// The position of an attribute in the global order.
    pub fn priority(&self, attribute: AttrId) -> u32 {
        self.attributes.get(attribute.index()).map_or(0, |statistics| statistics.priority)
    }

    /// Counts a predicate.
    pub fn add(&mut self, locator: &Locator) {
        if self.attributes.len() <= locator.attribute.index() {
            let made = || AttributeStatistics { match_rate: 1.0, ..AttributeStatistics::default() };
            self.attributes.resize_with(locator.attribute.index() + 1, made);
        }
        let statistics = &mut self.attributes[locator.attribute.index()];
        statistics.count += 1;
        let cell = triangle::locate(&statistics.cuts, locator.span);
        *statistics.cell_mut(cell) += 1;
    }

    /// Reverts [`Statistics::add`].
    pub fn remove(&mut self, locator: &Locator) {
        let statistics = &mut self.attributes[locator.attribute.index()];
        statistics.count -= 1;
        let cell = triangle::locate(&statistics.cuts, locator.span);
        *statistics.cell_mut(cell) -= 1;
    }

    /// Counts an event.
    pub fn observe(&mut self, event: &Event<'_>) {
        self.observed = self.observed.saturating_add(1);
        for cell in event.cells() {
            if let Some(statistics) = self.attributes.get_mut(cell.attribute.index()) {
                let at = Ordinals::default().of(event.resolve(cell.slot));
                let column = usize::from(triangle::column(&statistics.cuts, at));
                if statistics.events.len() <= column {
                    statistics.events.resize(column + 1, 0);
                }
                statistics.events[column] = statistics.events[column].saturating_add(1);
            }
        }
    }

    /// Number of predicates of each attribute, cell by cell.
    pub fn counts(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.attributes.iter().map(|statistics| (statistics.count, statistics.cells.as_slice()))
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let lists = |statistics: &AttributeStatistics| {
            statistics.cuts.capacity() * size_of::<Ordinal>()
                + (statistics.cells.capacity() + statistics.events.capacity()) * size_of::<u32>()
        };
        self.attributes.capacity() * size_of::<AttributeStatistics>()
            + self.attributes.iter().map(lists).sum::<usize>()
    }
}

impl GemTree {
    /// Adjusts once the changes since the last adjustment are `period` percent of the conjunctions.
    pub(super) fn adjust_if_due(&mut self) {
        const FEWEST: usize = 1_000;
        let due = (self.conjunctions.len() as u64 * self.period as u64 / 100) as usize;
        if self.adjusts && self.statistics.changes >= due.max(FEWEST) {
            self.adjust();
        }
    }

    /// The global adjustment: orders the attributes and builds the tree again.
    pub(super) fn adjust(&mut self) {
        let observed = std::mem::take(&mut self.statistics.observed);
        if observed > 0 {
            for statistics in &mut self.statistics.attributes {
                statistics.match_rate = statistics.measured_rate(observed);
            }
        }
        self.choose_statistics_cuts();
        let all: Vec<ConjId> = self.conjunctions.all().collect();
        for id in all {
            self.locators(id).iter().for_each(|locator| self.statistics.add(locator));
        }
        let keys: Vec<f64> = self
            .statistics
            .attributes
            .iter()
            .map(|statistics| statistics.match_rate * (f64::from(statistics.count) + statistics.dispersion()))
            .collect();
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by(|a, b| keys[*a].total_cmp(&keys[*b]));
        for (priority, attribute) in order.into_iter().enumerate() {
            self.statistics.attributes[attribute].priority = priority as u32;
        }
        self.statistics.ordered = true;
        self.statistics.changes = 0;
        self.rebuild();
    }

    /// Chooses the cuts of all attributes anew, from a sample; no predicate is counted after that.
    fn choose_statistics_cuts(&mut self) {
        let step = (self.conjunctions.len() / SAMPLE).max(1);
        let mut ends: Vec<Vec<Ordinal>> = vec![Vec::new(); self.statistics.attributes.len()];
        for id in self.conjunctions.all().step_by(step) {
            for locator in self.locators(id) {
                ends[locator.attribute.index()].extend(ends_of(locator.span));
            }
        }
        for (statistics, mut ends) in self.statistics.attributes.iter_mut().zip(ends) {
            let (match_rate, priority) = (statistics.match_rate, statistics.priority);
            let cuts = choose_cuts(&mut ends, self.lambda);
            *statistics =
                AttributeStatistics { cuts, match_rate, priority, ..AttributeStatistics::default() };
        }
    }
}
