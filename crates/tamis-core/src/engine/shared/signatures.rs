//! Which conjunctions may have a predicate that covers a leaf? One Bloom filter per leaf, its signature.
//!
//! One hash function: a conjunction sets one bit, whose position follows from its number. Signatures of one dimension
//! have the same length, a power of two. Bits of removed conjunctions stay until the dimension's signatures are rebuilt;
//! they let candidates pass that a test then rejects.

use super::conjunctions::ConjId;
use crate::engine::shared::list_pool::{ListPool, ListRef, shrink};
use crate::schema::AttrId;
use crate::space::{LeafId, LeafSplit};

/// The Bloom filters of all leaves.
#[derive(Debug)]
pub(crate) struct Signatures {
    words: ListPool<u64, 1>,
    /// By leaf; empty where no conjunction has signed.
    of_leaf: Vec<ListRef>,
    /// By attribute.
    dimensions: Vec<DimensionSignatures>,
    /// Bits per conjunction that signs in a leaf, on average.
    bits: usize,
    /// A signature without bits. Never moves: scratches hold it.
    pub none: ListRef,
    /// A signature with all bits. Never moves.
    pub all: ListRef,
}

/// The signatures of one dimension.
#[derive(Clone, Debug)]
pub(crate) struct DimensionSignatures {
    /// Length of each signature in words of 64 bits, a power of two.
    pub words: usize,
    /// Bits set for conjunctions in use, over all leaves; estimated after splits.
    pub live: usize,
    /// Bits set for removed conjunctions, over all leaves.
    pub stale: usize,
    /// Conjunctions that have signed; removed ones stay until the signatures are rebuilt.
    pub members: Vec<ConjId>,
}

const UNSIGNED: DimensionSignatures =
    DimensionSignatures { words: 1, live: 0, stale: 0, members: Vec::new() };

/// The bit of a conjunction.
#[derive(Clone, Copy)]
struct SignatureBit {
    /// Its word, modulo the length of the signature.
    word: usize,
    /// A word with the bit set.
    bit: u64,
}

impl SignatureBit {
    #[inline]
    fn of(id: ConjId) -> SignatureBit {
        let hash = id.0.wrapping_mul(0x9E37_79B9);
        SignatureBit { word: (hash >> 5) as usize, bit: 1 << (hash >> 26) }
    }
}

impl Signatures {
    pub fn new(bits: usize) -> Signatures {
        let mut words = ListPool::default();
        let (none, all) = (words.allocate_default(1), words.allocate_default(1));
        words.get_mut(all).fill(u64::MAX);
        Signatures { words, of_leaf: Vec::new(), dimensions: Vec::new(), bits, none, all }
    }

    /// Makes room for leaves below a number.
    pub fn reserve_leaves(&mut self, leaves: usize) {
        if self.of_leaf.len() < leaves {
            self.of_leaf.resize(leaves, ListRef::EMPTY);
        }
    }

    /// The signature of a leaf; empty if no conjunction has signed there.
    #[inline]
    pub fn of_leaf(&self, leaf: LeafId) -> ListRef {
        self.of_leaf[leaf.index()]
    }

    /// Whether a conjunction may have signed; a signature that is not empty.
    #[inline]
    pub fn may_contain(&self, signature: ListRef, id: ConjId) -> bool {
        let (words, SignatureBit { word, bit }) = (self.words.get(signature), SignatureBit::of(id));
        words[word & (words.len() - 1)] & bit != 0
    }

    /// Sets a conjunction's bit in a leaf of a dimension whose signatures have `words` words.
    pub fn sign(&mut self, leaf: LeafId, words: usize, id: ConjId) {
        let signature = &mut self.of_leaf[leaf.index()];
        if signature.is_empty() {
            *signature = self.words.allocate_default(words);
        }
        let SignatureBit { word, bit } = SignatureBit::of(id);
        self.words.get_mut(*signature)[word & (words - 1)] |= bit;
    }

    /// Copies the signature of a leaf to the leaf that was split off.
    pub fn split(&mut self, split: LeafSplit) {
        let signature = self.words.copy(self.of_leaf[split.kept.index()]);
        self.of_leaf[split.made.index()] = signature;
    }

    /// Clears the signature of a leaf.
    pub fn clear(&mut self, leaf: LeafId) {
        self.words.release(std::mem::take(&mut self.of_leaf[leaf.index()]));
    }

    /// The signatures of all dimensions, by attribute.
    pub fn dimensions(&self) -> &[DimensionSignatures] {
        &self.dimensions
    }

    /// The signatures of a dimension.
    pub fn dimension(&mut self, attribute: AttrId) -> &mut DimensionSignatures {
        if self.dimensions.len() <= attribute.index() {
            self.dimensions.resize(attribute.index() + 1, UNSIGNED);
        }
        &mut self.dimensions[attribute.index()]
    }

    /// The length of signatures in words if `entries` bits are set over `leaves` leaves.
    pub fn words_for(&self, entries: usize, leaves: usize) -> usize {
        (self.bits * entries).div_ceil(64 * leaves).next_power_of_two()
    }

    /// Moves signatures together and frees memory reserved for growth.
    pub fn defragment(&mut self) {
        shrink(&mut self.of_leaf);
        self.dimensions.iter_mut().for_each(|dimension| shrink(&mut dimension.members));
        // `none` and `all` come first, so that they stay where they are.
        self.words.defragment([&mut self.none, &mut self.all].into_iter().chain(&mut self.of_leaf));
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let members: usize = self.dimensions.iter().map(|dimension| dimension.members.capacity()).sum();
        self.words.memory()
            + self.of_leaf.capacity() * size_of::<ListRef>()
            + self.dimensions.capacity() * size_of::<DimensionSignatures>()
            + members * size_of::<ConjId>()
    }
}
