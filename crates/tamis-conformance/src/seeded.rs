//! Long random runs from one number.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The seed of a long run: `TAMIS_SEED`, or always the same.
pub fn seed() -> u64 {
    std::env::var("TAMIS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_115)
}

/// Draws from strategies without shrinking.
pub struct Draw(TestRunner);

impl Draw {
    pub fn new(seed: u64) -> Draw {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Draw(TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)))
    }

    pub fn one<S: Strategy>(&mut self, strategy: &S) -> S::Value {
        strategy.new_tree(&mut self.0).expect("the strategy has values").current()
    }

    /// Puts items into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.one(&(0..bound))
    }
}
