//! Random histories: the answers of `scan`, and valid invariants, after every operation.

use super::{IndexPair, SWITCHES, WORLDS, off, size, stat};
use tamis_conformance::abe::Generator;
use tamis_conformance::seeded::seed;
use tamis_core::engine::registry::{OptionValue, Options};
use tamis_core::expr::Missing;

/// A random history of a pair of indexes.
pub(super) struct History {
    pub(super) pair: IndexPair,
    make: Generator,
    /// By id: its expression, or its last one if it was removed.
    texts: Vec<String>,
    present: Vec<i64>,
    removed: Vec<i64>,
    /// Whether the history includes observations of events.
    observes: bool,
    /// Operations between two checks of all invariants.
    check_every: usize,
    operations: usize,
    matches: usize,
}

impl History {
    pub(super) fn new(seed: u64, options: Options, missing: Missing, check_every: usize) -> History {
        println!("a history from seed {seed}, {missing:?} if missing, {options:?}");
        let (pair, make) = (IndexPair::new(options, missing), Generator::new(seed));
        let (texts, present, removed) = (Vec::new(), Vec::new(), Vec::new());
        let (observes, operations, matches) = (false, 0, 0);
        History { pair, make, texts, present, removed, observes, check_every, operations, matches }
    }

    /// Adds `count` expressions, removes half of all in random order and adds them again, with matches and replacements
    /// in between.
    pub(super) fn run(&mut self, count: usize) {
        for _ in 0..count {
            let id = self.texts.len() as i64;
            let text = self.make.expression();
            self.texts.push(text);
            self.add(id);
        }
        for _ in 0..self.present.len() / 2 {
            self.remove_one();
        }
        self.make.draw.shuffle(&mut self.removed);
        while let Some(id) = self.removed.pop() {
            self.add(id);
        }
        self.match_events(10);
    }

    fn add(&mut self, id: i64) {
        self.pair.add(id, &self.texts[id as usize]);
        self.present.push(id);
        self.count_operation();
        self.interlude();
    }

    fn remove_one(&mut self) {
        let id = self.present.swap_remove(self.make.draw.below(self.present.len()));
        self.pair.remove(id);
        self.removed.push(id);
        self.count_operation();
        self.interlude();
    }

    /// A match, a replacement, an observation, or nothing.
    fn interlude(&mut self) {
        match self.make.draw.below(12) {
            0 | 1 => self.match_events(1),
            2 if !self.present.is_empty() => {
                let id = self.present[self.make.draw.below(self.present.len())];
                let text = self.make.expression();
                self.pair.replace(id, &text);
                self.texts[id as usize] = text;
                self.count_operation();
            }
            3 if self.observes => {
                let events: Vec<String> = (0..self.make.draw.below(20)).map(|_| self.make.event()).collect();
                self.pair.observe(&events);
                self.count_operation();
                self.match_events(2);
            }
            _ => {}
        }
    }

    fn match_events(&mut self, events: usize) {
        for _ in 0..events {
            let event = self.make.event();
            self.matches += self.pair.matches(&event);
            self.count_operation();
        }
    }

    /// Counts an operation, and checks the invariants if it is time.
    fn count_operation(&mut self) {
        self.operations += 1;
        if self.operations.is_multiple_of(self.check_every) {
            self.pair.validate();
        }
    }
}

#[test]
fn short_histories() {
    let seed = seed();
    for missing in WORLDS {
        for round in 0..60 {
            History::new(seed.wrapping_add(round), Options::new(), missing, 1).run(30);
        }
    }
}

#[test]
fn long_histories() {
    let seed = seed();
    let (mut operations, mut matches) = (0, 0);
    for missing in WORLDS {
        for round in 0..16 {
            let mut history = History::new(seed.wrapping_add(round), Options::new(), missing, 1_000);
            history.run(1_300);
            history.pair.validate();
            operations += history.operations;
            matches += history.matches;
        }
    }
    assert!(operations > 100_000, "{operations} operations");
    assert!(matches > 1_000_000, "{matches} matches");
}

#[test]
fn observations_change_no_answer() {
    let seed = seed();
    for (round, missing) in WORLDS.into_iter().enumerate() {
        for (size, check_every) in [(25, 1), (400, 50)] {
            for access in ["selective", "random"] {
                let options = [("access".to_owned(), OptionValue::Text(access.into()))].into();
                let seed = seed.wrapping_add((round * 1_000 + size) as u64);
                let mut history = History::new(seed, options, missing, check_every);
                history.observes = true;
                history.run(size);
                history.pair.validate();
            }
        }
    }
}

/// An index whose subscriptions were all removed has no nodes, and is filled again.
#[test]
fn removing_all_subscriptions_removes_all_nodes() {
    let seed = seed();
    for options in [off([])].into_iter().chain(SWITCHES.map(|switch| off([switch]))) {
        let mut history = History::new(seed, options, Missing::Unknown, 200);
        for _ in 0..2 {
            history.run(150);
            while !history.present.is_empty() {
                history.remove_one();
            }
            history.pair.validate();
            assert_eq!(size(&history.pair.tested), [0, 0, 0]);
            assert_eq!(stat(&history.pair.tested, "roots"), 0);
        }
    }
}
