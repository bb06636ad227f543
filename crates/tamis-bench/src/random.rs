//! The only source of random numbers: xorshift, so that every workload can be reproduced bit for bit.

/// Marsaglia's xorshift with 64 bits of state.
pub struct Random(u64);

impl Default for Random {
    fn default() -> Random {
        Random::new()
    }
}

impl Random {
    /// The seed of every workload whose definition has none.
    pub const SEED: u64 = 88_172_645_463_325_252;

    /// Starts from [`Random::SEED`].
    pub fn new() -> Random {
        Random(Random::SEED)
    }

    /// Starts from another seed. Zero is a fixed point of xorshift, so it stands for [`Random::SEED`].
    pub fn seeded(seed: u64) -> Random {
        Random(if seed == 0 { Random::SEED } else { seed })
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A whole number from 0 to `bound - 1`.
    pub fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound
    }

    /// A whole number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// A number from 0 up to, not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with a probability of `chance` percent.
    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// A whole number below `bound`, the smaller the likelier: the first tenth is drawn in almost half of all cases.
    /// Products instead of a power, which not every machine computes to the same last bit.
    pub fn skewed(&mut self, bound: u64) -> u64 {
        let unit = self.unit();
        (bound as f64 * (unit * unit * unit)) as u64
    }

    /// One element of a slice, each with the same probability.
    pub fn pick<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        &things[self.below(things.len() as u64) as usize]
    }

    /// `count` distinct results of `draw`, in the order drawn. Does not end if `draw` has fewer.
    pub fn distinct<T: PartialEq>(&mut self, count: usize, mut draw: impl FnMut(&mut Random) -> T) -> Vec<T> {
        let mut found: Vec<T> = Vec::with_capacity(count);
        while found.len() < count {
            let thing = draw(self);
            if !found.contains(&thing) {
                found.push(thing);
            }
        }
        found
    }
}
