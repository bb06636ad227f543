//! Which conjunctions may have a predicate that covers a leaf? One Bloom filter per leaf, its signature.
//!
//! One hash function: a conjunction sets one bit, whose position follows from its number. Signatures of one dimension
//! have the same length, a power of two. Bits of removed conjunctions stay until the dimension's signatures are rebuilt;
//! they let candidates pass that a test then rejects.
//!
//! Entries are counted, not estimated, because the length of signatures follows from their number: an entry is a
//! conjunction in the signature of one leaf. A split copies a signature with its entries; a merge drops those of the
//! leaf that is gone.
//!
//! Invariants: `live` of a leaf is the number of conjunctions one of whose signed predicates covers it; the counts of a
//! dimension are the sums over its leaves; every signature of a dimension has its length.

use super::conjunctions::ConjId;
use crate::engine::shared::list_pool::{ListPool, ListRef, shrink};
use crate::schema::AttrId;
use crate::space::{LeafId, LeafMerge, LeafSplit};

/// The Bloom filters of all leaves.
#[derive(Debug)]
pub(crate) struct Signatures {
    words: ListPool<u64, 1>,
    /// By leaf; empty where no conjunction has signed.
    of_leaf: Vec<ListRef>,
    /// By leaf: the entries of its signature.
    entries: Vec<SignatureEntries>,
    /// By attribute.
    dimensions: Vec<DimensionSignatures>,
    /// Bits per conjunction that signs in a leaf, on average.
    bits: usize,
    /// A signature without bits. Never moves: scratches hold it.
    pub none: ListRef,
    /// A signature with all bits. Never moves.
    pub all: ListRef,
}

/// The entries of one signature, or of all signatures of a dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SignatureEntries {
    /// Entries of conjunctions in use.
    pub live: usize,
    /// Entries of removed conjunctions, whose bits are still set.
    pub stale: usize,
}

impl SignatureEntries {
    /// Live and stale entries: an upper bound of the bits that are set.
    pub fn total(self) -> usize {
        self.live + self.stale
    }

    fn add(&mut self, other: SignatureEntries) {
        self.live += other.live;
        self.stale += other.stale;
    }

    fn subtract(&mut self, other: SignatureEntries) {
        self.live -= other.live;
        self.stale -= other.stale;
    }
}

/// The signatures of one dimension.
#[derive(Clone, Debug)]
pub(crate) struct DimensionSignatures {
    /// Length of each signature in words of 64 bits, a power of two.
    pub words: usize,
    /// The sum over all leaves.
    pub entries: SignatureEntries,
    /// Number of conjunctions in use that have signed.
    pub signers: usize,
    /// Conjunctions that have signed; removed ones stay until the list is pruned, which bounds its length.
    pub members: Vec<ConjId>,
}

const UNSIGNED: DimensionSignatures = DimensionSignatures {
    words: 1,
    entries: SignatureEntries { live: 0, stale: 0 },
    signers: 0,
    members: Vec::new(),
};

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
        Signatures {
            words,
            of_leaf: Vec::new(),
            entries: Vec::new(),
            dimensions: Vec::new(),
            bits,
            none,
            all,
        }
    }

    /// Makes room for leaves below a number.
    pub fn reserve_leaves(&mut self, leaves: usize) {
        if self.of_leaf.len() < leaves {
            self.of_leaf.resize(leaves, ListRef::EMPTY);
            self.entries.resize(leaves, SignatureEntries::default());
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

    /// Enters a conjunction into the signature of a leaf of a dimension.
    pub fn sign(&mut self, attribute: AttrId, leaf: LeafId, id: ConjId) {
        let dimension = self.dimension(attribute);
        dimension.entries.live += 1;
        let words = dimension.words;
        self.entries[leaf.index()].live += 1;
        let signature = &mut self.of_leaf[leaf.index()];
        if signature.is_empty() {
            *signature = self.words.allocate_default(words);
        }
        let SignatureBit { word, bit } = SignatureBit::of(id);
        self.words.get_mut(*signature)[word & (words - 1)] |= bit;
    }

    /// Counts the entry of a conjunction that is about to leave as stale; its bit stays.
    pub fn mark_stale(&mut self, attribute: AttrId, leaf: LeafId) {
        let leaf = leaf.index();
        for entries in [&mut self.entries[leaf], &mut self.dimensions[attribute.index()].entries] {
            entries.live -= 1;
            entries.stale += 1;
        }
    }

    /// Copies the signature of a leaf and its entries to the leaf that was split off: the predicates that cover the one
    /// cover the other.
    pub fn split(&mut self, attribute: AttrId, split: LeafSplit) {
        let signature = self.words.copy(self.of_leaf[split.kept.index()]);
        let entries = self.entries[split.kept.index()];
        self.of_leaf[split.made.index()] = signature;
        self.entries[split.made.index()] = entries;
        self.dimension(attribute).entries.add(entries);
    }

    /// Drops the signature and the entries of a leaf that was merged into its neighbour: the predicates that cover the one
    /// cover the other, so the neighbour's signature has them.
    pub fn merge(&mut self, attribute: AttrId, merge: LeafMerge) {
        let entries = self.clear(merge.gone);
        self.dimension(attribute).entries.subtract(entries);
    }

    /// Clears the signature of a leaf; the entries it had.
    fn clear(&mut self, leaf: LeafId) -> SignatureEntries {
        self.words.release(std::mem::take(&mut self.of_leaf[leaf.index()]));
        std::mem::take(&mut self.entries[leaf.index()])
    }

    /// Clears the signatures of a dimension, given all its leaves, and sets their length.
    pub fn restart(&mut self, attribute: AttrId, words: usize, leaves: &[LeafId]) {
        for leaf in leaves {
            self.clear(*leaf);
        }
        let dimension = self.dimension(attribute);
        (dimension.words, dimension.entries) = (words, SignatureEntries::default());
    }

    /// The entries of a leaf's signature.
    pub fn entries(&self, leaf: LeafId) -> SignatureEntries {
        self.entries.get(leaf.index()).copied().unwrap_or_default()
    }

    /// Checks the signatures of a dimension against its counts; `leaves` are all its leaves.
    pub fn validate(&self, attribute: AttrId, leaves: &[LeafId]) -> Result<(), String> {
        let Some(dimension) = self.dimensions.get(attribute.index()) else { return Ok(()) };
        let mut sum = SignatureEntries::default();
        for leaf in leaves {
            let (entries, words) = (self.entries(*leaf), self.words.get(self.of_leaf(*leaf)));
            let bits: usize = words.iter().map(|word| word.count_ones() as usize).sum();
            if bits > entries.total() || !words.is_empty() && words.len() != dimension.words {
                let (words, all) = (words.len(), dimension.words);
                return Err(format!(
                    "signatures: leaf {} has {words} words of {all} with {bits} bits of {entries:?}",
                    leaf.0
                ));
            }
            sum.add(entries);
        }
        if sum != dimension.entries {
            let counted = dimension.entries;
            return Err(format!("signatures: attribute {} has {sum:?}, counted {counted:?}", attribute.0));
        }
        Ok(())
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
        shrink(&mut self.entries);
        self.dimensions.iter_mut().for_each(|dimension| shrink(&mut dimension.members));
        // `none` and `all` come first, so that they stay where they are.
        self.words.defragment([&mut self.none, &mut self.all].into_iter().chain(&mut self.of_leaf));
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let members: usize = self.dimensions.iter().map(|dimension| dimension.members.capacity()).sum();
        self.words.memory()
            + self.of_leaf.capacity() * size_of::<ListRef>()
            + self.entries.capacity() * size_of::<SignatureEntries>()
            + self.dimensions.capacity() * size_of::<DimensionSignatures>()
            + members * size_of::<ConjId>()
    }
}
