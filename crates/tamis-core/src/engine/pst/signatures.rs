//! Signatures: which conjunctions have a predicate that covers a leaf? Bloom filters, one to a leaf.

use super::conjunctions::ConjId;
use crate::engine::shared::list_pool::{ListPool, ListRef};
use crate::schema::AttrId;
use crate::space::LeafId;

/// The Bloom filters. One hash: each conjunction is one bit, its place given by its number.
#[derive(Debug)]
pub(super) struct Signatures {
    pub words: ListPool<u64, 1>,
    /// By leaf; empty where nobody signed.
    pub of_leaf: Vec<ListRef>,
    /// By attribute.
    pub dimensions: Vec<Signed>,
    /// Bits for each signed conjunction.
    pub bits: usize,
    /// A signature without bits, and one with all.
    pub nobody: ListRef,
    pub everybody: ListRef,
}

/// What was signed in a dimension.
#[derive(Clone, Debug)]
pub(super) struct Signed {
    /// The length of its signatures, a power of two.
    pub words: usize,
    /// How many signatures its conjunctions are in, and how many of removed ones there are besides.
    pub live: usize,
    pub stale: usize,
    /// Who signed; removed ones stay until the signatures are made anew.
    pub members: Vec<ConjId>,
}

const UNSIGNED: Signed = Signed { words: 1, live: 0, stale: 0, members: Vec::new() };

/// Where signatures have a conjunction's bit.
#[derive(Clone, Copy)]
pub(super) struct Place {
    word: usize,
    bit: u64,
}

impl Place {
    #[inline]
    pub fn of(id: ConjId) -> Place {
        let hash = id.0.wrapping_mul(0x9E37_79B9);
        Place { word: (hash >> 5) as usize, bit: 1 << (hash >> 26) }
    }
}

impl Signatures {
    pub fn new(bits: usize) -> Signatures {
        let mut words = ListPool::default();
        let (nobody, everybody) = (words.allocate_default(1), words.allocate_default(1));
        words.get_mut(everybody).fill(u64::MAX);
        Signatures { words, of_leaf: Vec::new(), dimensions: Vec::new(), bits, nobody, everybody }
    }

    #[inline]
    pub fn has(&self, signature: ListRef, place: Place) -> bool {
        let words = self.words.get(signature);
        words[place.word & (words.len() - 1)] & place.bit != 0
    }

    pub fn sign(&mut self, leaf: LeafId, words: usize, id: ConjId) {
        let signature = &mut self.of_leaf[leaf.index()];
        if signature.is_empty() {
            *signature = self.words.allocate_default(words);
        }
        let place = Place::of(id);
        self.words.get_mut(*signature)[place.word & (words - 1)] |= place.bit;
    }

    pub fn dimension(&mut self, attribute: AttrId) -> &mut Signed {
        if self.dimensions.len() <= attribute.index() {
            self.dimensions.resize(attribute.index() + 1, UNSIGNED);
        }
        &mut self.dimensions[attribute.index()]
    }

    /// How long signatures should be for so many entries.
    pub fn words_for(&self, entries: usize, leaves: usize) -> usize {
        (self.bits * entries).div_ceil(64 * leaves).next_power_of_two()
    }

    pub fn memory(&self) -> usize {
        let members: usize = self.dimensions.iter().map(|signed| signed.members.capacity()).sum();
        self.words.memory()
            + self.of_leaf.capacity() * size_of::<ListRef>()
            + self.dimensions.capacity() * size_of::<Signed>()
            + members * size_of::<ConjId>()
    }
}
