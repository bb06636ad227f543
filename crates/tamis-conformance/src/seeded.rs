//! Draws from a seed, so that long random runs can be repeated.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The seed of long runs: the environment variable `TAMIS_SEED`, by default a constant.
pub fn seed() -> u64 {
    std::env::var("TAMIS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_115)
}

/// Draws from strategies without shrinking.
pub struct Draw(TestRunner);

impl Draw {
    /// Draws that repeat for a seed.
    pub fn new(seed: u64) -> Draw {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Draw(TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)))
    }

    /// A value of a strategy.
    pub fn one<S: Strategy>(&mut self, strategy: &S) -> S::Value {
        strategy.new_tree(&mut self.0).expect("the strategy has values").current()
    }

    /// Shuffles items.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// A number from 0 to below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.one(&(0..bound))
    }
}
