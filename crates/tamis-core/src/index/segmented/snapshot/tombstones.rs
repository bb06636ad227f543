//! Removed members of a segment: a bitmap with copy-on-write chunks.
//!
//! A copy shares all chunks; setting a bit copies one chunk of 4 KiB.

use std::sync::Arc;

/// 64-bit words per chunk: 4 KiB.
const WORDS: usize = 512;
const BITS: usize = WORDS * 64;

type Chunk = [u64; WORDS];

/// A set of local numbers.
#[derive(Clone, Default)]
pub(in crate::index::segmented) struct Tombstones {
    /// Chunk `i` has the bits of numbers `i * BITS..(i + 1) * BITS`. `None`, or past the end, if no bit is set.
    chunks: Arc<Vec<Option<Arc<Chunk>>>>,
    /// Number of bits set.
    count: usize,
}

impl Tombstones {
    /// Number of removed members.
    pub fn count(&self) -> usize {
        self.count
    }

    #[inline]
    pub fn contains(&self, local: u32) -> bool {
        let local = local as usize;
        match self.chunks.get(local / BITS) {
            Some(Some(chunk)) => chunk[local % BITS / 64] >> (local % 64) & 1 == 1,
            _ => false,
        }
    }

    /// Adds a number that is not in the set.
    pub fn insert(&mut self, local: u32) {
        let local = local as usize;
        let chunks = Arc::make_mut(&mut self.chunks);
        if chunks.len() <= local / BITS {
            chunks.resize(local / BITS + 1, None);
        }
        let chunk = chunks[local / BITS].get_or_insert_with(|| Arc::new([0; WORDS]));
        Arc::make_mut(chunk)[local % BITS / 64] |= 1 << (local % 64);
        self.count += 1;
    }

    /// The numbers in this set that are not in an earlier state of it.
    pub fn since(&self, earlier: &Tombstones) -> Vec<u32> {
        let mut fresh = Vec::new();
        for (at, chunk) in self.chunks.iter().enumerate() {
            let Some(chunk) = chunk else { continue };
            let old = earlier.chunks.get(at).and_then(Option::as_ref);
            if old.is_some_and(|old| Arc::ptr_eq(old, chunk)) {
                continue;
            }
            for (word, bits) in chunk.iter().enumerate() {
                let mut bits = bits & !old.map_or(0, |old| old[word]);
                while bits != 0 {
                    fresh.push((at * BITS + word * 64) as u32 + bits.trailing_zeros());
                    bits &= bits - 1;
                }
            }
        }
        fresh
    }

    /// The bitmap of a segment of `len` members, 64 bits per word.
    pub fn words(&self, len: usize) -> Vec<u64> {
        let mut words = vec![0; len.div_ceil(64)];
        for (chunk, words) in self.chunks.iter().zip(words.chunks_mut(WORDS)) {
            if let Some(chunk) = chunk {
                words.copy_from_slice(&chunk[..words.len()]);
            }
        }
        words
    }

    /// The set of a bitmap for a segment of `len` members.
    pub fn from_words(words: &[u64], len: usize) -> Result<Tombstones, String> {
        let beyond =
            if len.is_multiple_of(64) { 0 } else { words.last().map_or(0, |last| last >> (len % 64)) };
        if words.len() != len.div_ceil(64) || beyond != 0 {
            return Err(format!("{} words of tombstones for {len} members", words.len()));
        }
        let count = words.iter().map(|word| word.count_ones() as usize).sum();
        let chunk = |words: &[u64]| {
            let mut chunk = [0; WORDS];
            chunk[..words.len()].copy_from_slice(words);
            words.iter().any(|word| *word != 0).then(|| Arc::new(chunk))
        };
        Ok(Tombstones { chunks: Arc::new(words.chunks(WORDS).map(chunk).collect()), count })
    }

    pub fn memory(&self) -> usize {
        self.chunks.iter().flatten().count() * size_of::<Chunk>()
            + self.chunks.capacity() * size_of::<Option<Arc<Chunk>>>()
    }

    pub fn validate(&self, len: usize) -> Result<(), String> {
        let set = self.chunks.iter().flatten().flat_map(|chunk| chunk.iter());
        let set: usize = set.map(|word| word.count_ones() as usize).sum();
        let within = (0..len as u32).filter(|local| self.contains(*local)).count();
        if (set, within) != (self.count, self.count) {
            return Err(format!("tombstones: {set} set, {within} of them members, {} counted", self.count));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_stay_as_they_are() {
        let len = 3 * BITS + 10;
        let mut tombstones = Tombstones::default();
        let numbers: Vec<u32> = (0..len as u32).step_by(997).collect();
        let mut states = vec![tombstones.clone()];
        for (at, number) in numbers.iter().enumerate() {
            assert!(!tombstones.contains(*number));
            tombstones.insert(*number);
            assert!(tombstones.contains(*number));
            if at % 17 == 0 {
                states.push(tombstones.clone());
            }
        }
        tombstones.validate(len).expect("sound");
        for state in states {
            assert_eq!(state.since(&Tombstones::default()), numbers[..state.count()]);
            assert_eq!(tombstones.since(&state), numbers[state.count()..]);
            let copy = Tombstones::from_words(&state.words(len), len).expect("words");
            assert_eq!((copy.count(), copy.since(&state)), (state.count(), vec![]));
        }
    }

    #[test]
    fn words_that_do_not_fit_are_refused() {
        assert!(Tombstones::from_words(&[0, 0], 64).is_err());
        assert!(Tombstones::from_words(&[0], 65).is_err());
        assert!(Tombstones::from_words(&[1 << 10], 10).is_err());
        assert!(Tombstones::from_words(&[1 << 9], 10).is_ok());
    }
}
