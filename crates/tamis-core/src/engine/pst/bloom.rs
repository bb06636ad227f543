//! PSTBloom: one access predicate leads to a subscription, signatures in the leaves of the others confirm it.
//!
//! Paper: section 5 (Algorithms 4 and 5).
//!
//! Idea: the most selective predicate of a conjunction is its access predicate; the conjunction is listed in each leaf
//! that predicate covers. Each leaf also has a signature, a Bloom filter of the conjunctions one of whose other
//! predicates covers it. An event is located in the PS-Trees of its attributes (1), the listed conjunctions whose
//! other attributes' leaves all have signed for them are candidates (2), and those are checked (3).
//!
//! Invariants: a conjunction is listed in exactly the leaves its access predicate covers, or in the leaf of a whole
//! dimension, or, if nothing of it needs a present attribute, in the list for every event. The signature of a leaf
//! has the bit of every conjunction one of whose signed predicates covers the leaf.
//!
//! Cost: matching O(event attributes + candidates); a conjunction's record lies once in every leaf its access
//! predicate covers, `max_spaces` at most, twice that after splits.
//!
//! Deviations from the paper:
//! - What is checked lies in the list (see `record`), so that a rejected candidate costs one sequential read. Ahead of
//!   the signatures, a filter of the attributes it needs dismisses most.
//! - Only predicates with at most `max_signed` values (`=`, IN), or in dimensions with so few leaves, sign. A wide
//!   range would have to sign in each of its leaves, only to let most events pass; it is left to the check, which
//!   costs no more than a look at a signature. `max_signed=1000000` signs everything, as the paper does.
//! - An access predicate that covers more than `max_spaces` leaves is not spread over them but leads through the leaf
//!   of its whole dimension, and is checked. A conjunction that later splits spread over twice as many is placed anew,
//!   first with only `=` and IN to be spread, then with nothing.
//! - Steps 2 and 3 are taken term by term: the signature, then the check. The first that fails decides.
//! - A signature cannot forget. Bits of removed conjunctions stay, which costs time, not truth, until as many are
//!   stale as are not; then the dimension's signatures are made anew, as they are in a larger size when they fill up.
//! - Patterns, networks and quantified predicates have no spaces: they are checked, or lead through the whole
//!   dimension. What also holds for missing values is checked.

use super::conjunctions::ConjId;
use super::record::{self, Attributes, HalfSteps, Records};
use super::signatures::{Place, Signatures, Signed};
use super::spaces::Changes;
use super::{Asking, Base, Choice, Found, Ranked, Seen};
use crate::engine::registry::{
    Construction, EngineInfo, Family, OptionInfo, OptionKind, OptionValues, Takes,
};
use crate::engine::shared::list_pool::{ListPool, ListRef};
use crate::engine::shared::predicates::PredId;
use crate::engine::{Engine, SubId};
use crate::error::Result;
use crate::event::Event;
use crate::expr::{Limits, Normal};
use crate::schema::AttrId;
use crate::space::{LeafId, LeafLookup};

/// Its entry in the registry.
pub(in crate::engine) const BLOOM_INFO: EngineInfo = EngineInfo {
    name: "pst_bloom",
    description: "PSTBloom: one access predicate, Bloom signatures in the leaves of PS-Trees",
    family: Family::Paper,
    takes: Takes::Conjunctions,
    exact: true,
    options: &[
        OptionInfo {
            name: "max_spaces",
            description: "maximum leaves that list a conjunction; an access predicate that covers more is tested instead",
            kind: OptionKind::WholeNumber { default: 128, range: 1..=1 << 20 },
        },
        OptionInfo {
            name: "max_signed",
            description: "maximum values of a predicate, or leaves of its attribute, for the predicate to sign",
            kind: OptionKind::WholeNumber { default: 8, range: 0..=1 << 20 },
        },
        OptionInfo {
            name: "signature_bits",
            description: "bits of a signature per conjunction that signs in the leaf, on average",
            kind: OptionKind::WholeNumber { default: 8, range: 1..=64 },
        },
    ],
    construction: Construction::InPlace(|options, limits| Box::new(PstBloom::new(options, limits))),
};

/// See the module's head.
#[derive(Debug)]
pub(in crate::engine) struct PstBloom {
    base: Base,
    /// By leaf: the records of the conjunctions it leads to.
    lists: Vec<ListRef>,
    /// The records that every event must be checked with.
    everywhere: ListRef,
    records: ListPool<u32, 4>,
    signatures: Signatures,
    /// Conjunctions that splits may have spread too far.
    crowded: Vec<ConjId>,
    changes: Changes,
    max_spaces: usize,
    max_signed: usize,
    max_dnf: usize,
}

/// What a thread needs to match.
#[derive(Default)]
pub(in crate::engine) struct BloomScratch {
    steps: HalfSteps,
    /// By attribute: the signature of the event's leaf.
    signs: Vec<ListRef>,
    located: Vec<(AttrId, (LeafLookup, LeafId))>,
    found: Vec<Found>,
    seen: Seen,
}

impl PstBloom {
    /// An empty engine.
    pub fn new(options: &OptionValues, limits: &Limits) -> PstBloom {
        PstBloom {
            base: Base::default(),
            lists: Vec::new(),
            everywhere: ListRef::default(),
            records: ListPool::default(),
            signatures: Signatures::new(options.whole_number("signature_bits")),
            crowded: Vec::new(),
            changes: Changes::default(),
            max_spaces: options.whole_number("max_spaces"),
            max_signed: options.whole_number("max_signed"),
            max_dnf: limits.max_dnf,
        }
    }

    fn choose(&self, id: ConjId) -> Choice {
        let mut ranked = self.base.ranked(id);
        let crowded = self.base.conjunctions.get(id).crowded;
        let spread = ranked
            .iter()
            .position(|ranked| ranked.may_spread(crowded) && self.base.spaces.fits(ranked, self.max_spaces));
        let access = spread.or_else(|| ranked.iter().position(Ranked::needs_presence));
        let mut order: Vec<Ranked> = access.map(|at| ranked.remove(at)).into_iter().collect();
        let (signed, rest): (Vec<_>, Vec<_>) = ranked.into_iter().partition(|ranked| self.signs(ranked));
        let count = signed.len() as u32;
        order.extend(signed.into_iter().chain(rest));
        Choice {
            access: u8::from(access.is_some()),
            spread: u8::from(spread.is_some()),
            signed: count,
            order,
        }
    }

    /// Whether a predicate that is not the access predicate is worth a signature: a few values, or leaves of which
    /// there are only a few.
    fn signs(&self, ranked: &Ranked) -> bool {
        ranked.region().is_some_and(|region| {
            let few = ranked.selectivity.shape.points().is_some_and(|points| points <= self.max_signed);
            few || self.base.spaces.leaf_count(ranked.attribute) + 2 * region.parts() <= self.max_signed
        })
    }

    /// Lists and signs a conjunction.
    fn place(&mut self, id: ConjId) {
        let choice = self.choose(id);
        self.base.conjunctions.reorder(id, choice.order.iter().map(|ranked| ranked.id));
        self.base.know_attributes(&choice.order);
        self.make_room();
        let conjunction = self.base.conjunctions.get_mut(id);
        (conjunction.access, conjunction.spread) = (choice.access, choice.spread);
        conjunction.signed = choice.signed;
        let signed = usize::from(choice.access)..usize::from(choice.access) + choice.signed as usize;
        for (at, ranked) in choice.order.iter().enumerate() {
            if at == 0 && choice.spread == 1 || signed.contains(&at) {
                self.place_predicate(ranked);
            }
        }
        let record = self.record(id);
        match (choice.access, choice.spread) {
            (0, _) => self.records.extend(&mut self.everywhere, &record),
            (_, 0) => {
                let leaf = self.base.spaces.whole(choice.order[0].attribute);
                self.records.extend(&mut self.lists[leaf.index()], &record);
                self.base.conjunctions.get_mut(id).copies = 1;
            }
            _ => {
                let Self { base, lists, records, .. } = self;
                let mut copies = 0;
                if let Some(region) = choice.order[0].region() {
                    base.spaces.cover_region(choice.order[0].attribute, region, |leaf| {
                        records.extend(&mut lists[leaf.index()], &record);
                        copies += 1;
                    });
                }
                base.conjunctions.get_mut(id).copies = copies;
            }
        }
        for ranked in &choice.order[signed] {
            self.sign(id, ranked);
        }
    }

    /// Takes a conjunction out of lists and spaces; it keeps its number and its predicates.
    fn unplace(&mut self, id: ConjId) {
        let conjunction = *self.base.conjunctions.get(id);
        let placements: Vec<_> = self.base.placements(id).collect();
        match (conjunction.access, conjunction.spread) {
            (0, _) => remove_record(&mut self.records, &mut self.everywhere, id),
            (_, 0) => {
                let attribute = self.base.predicates.get(placements[0].0).attribute;
                let leaf = self.base.spaces.whole(attribute);
                remove_record(&mut self.records, &mut self.lists[leaf.index()], id);
            }
            _ => {
                let Self { base, lists, records, .. } = self;
                base.spaces.cover(base.predicates.get(placements[0].0), |leaf| {
                    remove_record(records, &mut lists[leaf.index()], id);
                });
            }
        }
        let signed = usize::from(conjunction.access)..;
        for &(predicate, _) in placements[signed].iter().take(conjunction.signed as usize) {
            self.forget_signature(predicate);
        }
        let conjunction = self.base.conjunctions.get_mut(id);
        (conjunction.access, conjunction.spread, conjunction.signed, conjunction.copies) = (0, 0, 0, 0);
        for (predicate, placed) in placements {
            if placed {
                self.base.spaces.unplace(predicate, self.base.predicates.get(predicate), &mut self.changes);
                self.apply_merges();
            }
        }
    }

    fn make_room(&mut self) {
        let leaves = self.base.spaces.leaf_bound();
        if self.lists.len() < leaves {
            self.lists.resize(leaves, ListRef::default());
            self.signatures.of_leaf.resize(leaves, ListRef::default());
        }
    }

    fn place_predicate(&mut self, ranked: &Ranked) {
        if let Some(region) = ranked.region() {
            self.base.spaces.place(ranked.id, ranked.attribute, region, &mut self.changes);
        }
        self.make_room();
        for split in self.changes.splits.drain(..) {
            let list = self.records.copy(self.lists[split.kept.index()]);
            self.lists[split.made.index()] = list;
            for record in Records(self.records.get(list)) {
                let conjunction = self.base.conjunctions.get_mut(record.conjunction);
                conjunction.copies += 1;
                if conjunction.copies as usize > 2 * self.max_spaces {
                    self.crowded.push(record.conjunction);
                }
            }
            // How many signed there is not known; on average, as many as in any leaf.
            let leaves = self.base.spaces.leaf_count(ranked.attribute);
            let signed = self.signatures.dimension(ranked.attribute);
            signed.live += signed.live / leaves;
            let signature = self.signatures.words.copy(self.signatures.of_leaf[split.kept.index()]);
            self.signatures.of_leaf[split.made.index()] = signature;
        }
    }

    fn apply_merges(&mut self) {
        for merge in self.changes.merges.drain(..) {
            let list = std::mem::take(&mut self.lists[merge.gone.index()]);
            for record in Records(self.records.get(list)) {
                self.base.conjunctions.get_mut(record.conjunction).copies -= 1;
            }
            self.records.release(list);
            let signature = std::mem::take(&mut self.signatures.of_leaf[merge.gone.index()]);
            self.signatures.words.release(signature);
        }
    }

    /// Places anew what splits have spread too far.
    fn settle(&mut self) {
        while let Some(id) = self.crowded.pop() {
            let crowded = |copies| copies as usize > 2 * self.max_spaces;
            if self.base.conjunctions.contains(id) && crowded(self.base.conjunctions.get(id).copies) {
                self.base.conjunctions.get_mut(id).crowded += 1;
                self.unplace(id);
                self.place(id);
            }
        }
    }

    /// What lists say of a conjunction. The access predicate needs no check where its leaves lead.
    fn record(&self, id: ConjId) -> Vec<u32> {
        let mut record = Vec::with_capacity(16);
        record::begin(&mut record, id, self.base.conjunctions.is_one_of_several(id));
        let conjunction = self.base.conjunctions.get(id);
        let guaranteed = usize::from(conjunction.spread);
        let access = usize::from(conjunction.access);
        let signed = access..access + conjunction.signed as usize;
        for (at, predicate) in self.base.conjunctions.predicates(id).enumerate().skip(guaranteed) {
            let predicate_at = self.base.predicates.get(predicate);
            record::add_term(&mut record, predicate, predicate_at, signed.contains(&at));
        }
        record::finish(&mut record);
        record
    }

    /// Signs for a conjunction in the leaves of a predicate.
    fn sign(&mut self, id: ConjId, ranked: &Ranked) {
        let (Self { base, signatures, .. }, Some(region)) = (&mut *self, ranked.region()) else { return };
        let words = signatures.dimension(ranked.attribute).words;
        let mut entries = 0;
        base.spaces.cover_region(ranked.attribute, region, |leaf| {
            signatures.sign(leaf, words, id);
            entries += 1;
        });
        let signed = signatures.dimension(ranked.attribute);
        signed.members.push(id);
        signed.live += entries;
        let total = signed.live + signed.stale;
        if signatures.words_for(total, base.spaces.leaf_count(ranked.attribute)) > 2 * words {
            self.sign_anew(ranked.attribute);
        }
    }

    /// A conjunction's predicate is about to go; its bits stay.
    fn forget_signature(&mut self, predicate: PredId) {
        let predicate = self.base.predicates.get(predicate);
        let mut entries = 0;
        self.base.spaces.cover(predicate, |_| entries += 1);
        let signed = self.signatures.dimension(predicate.attribute);
        signed.live = signed.live.saturating_sub(entries);
        signed.stale += entries;
    }

    /// Makes the signatures of dimensions anew in which as many are stale as are not.
    fn freshen(&mut self, attributes: impl Iterator<Item = AttrId>) {
        for attribute in attributes {
            let signed = self.signatures.dimension(attribute);
            if signed.stale > signed.live.max(64) {
                self.sign_anew(attribute);
            }
        }
    }

    fn sign_anew(&mut self, attribute: AttrId) {
        let Self { base, signatures, .. } = self;
        let Some(dimension) = base.spaces.dimension(attribute) else { return };
        base.spaces.each_leaf(dimension, |leaf| {
            let signature = std::mem::take(&mut signatures.of_leaf[leaf.index()]);
            signatures.words.release(signature);
        });
        let mut members = std::mem::take(&mut signatures.dimension(attribute).members);
        members.sort_unstable();
        members.dedup();
        let signed_here = |id: &ConjId| -> Option<PredId> {
            if !base.conjunctions.contains(*id) {
                return None;
            }
            let conjunction = base.conjunctions.get(*id);
            let signed = base.conjunctions.predicates(*id).skip(usize::from(conjunction.access));
            signed.take(conjunction.signed as usize).find(|p| base.predicates.get(*p).attribute == attribute)
        };
        let entries = signatures.dimension(attribute).live;
        let words = signatures.words_for(entries, base.spaces.leaf_count(attribute));
        let mut live = 0;
        members.retain(|id| {
            let predicate = signed_here(id);
            if let Some(predicate) = predicate {
                base.spaces.cover(base.predicates.get(predicate), |leaf| {
                    signatures.sign(leaf, words, *id);
                    live += 1;
                });
            }
            predicate.is_some()
        });
        *signatures.dimension(attribute) = Signed { words, live, stale: 0, members };
    }
}

fn remove_record(records: &mut ListPool<u32, 4>, list: &mut ListRef, id: ConjId) {
    if let Some((at, length)) = record::find(records.get(*list), id) {
        records.remove_range(list, at, length);
    }
}

impl Engine for PstBloom {
    type Scratch = BloomScratch;

    fn name(&self) -> &'static str {
        BLOOM_INFO.name
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        let mut ids = Vec::new();
        self.base.conjunctions.insert(id, expression, self.max_dnf, &mut self.base.predicates, &mut ids)?;
        for id in ids {
            self.place(id);
        }
        self.settle();
        Ok(())
    }

    fn remove(&mut self, id: SubId) {
        for id in self.base.conjunctions.of(id) {
            let attributes: Vec<AttrId> = self
                .base
                .conjunctions
                .predicates(id)
                .map(|p| self.base.predicates.get(p).attribute)
                .collect();
            self.unplace(id);
            self.base.conjunctions.remove(id, &mut self.base.predicates);
            self.freshen(attributes.into_iter());
        }
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut BloomScratch, matches: &mut Vec<SubId>) {
        let BloomScratch { steps, located, signs, found, seen } = scratch;
        let attributes = event.attributes();
        steps.begin(attributes);
        seen.begin_event();
        signs.resize(attributes, self.signatures.nobody);
        found.clear();
        located.clear();
        found.push(Found::new(self.everywhere, true));
        // Step 1: the leaves of the event. Each loop reads what the one before found, for all attributes: so the
        // memory is waited for once, not once an attribute.
        let mut present = Attributes::default();
        for cell in event.cells() {
            let value = event.resolve(cell.slot);
            steps.set(cell.attribute, value);
            present.add(cell.attribute);
            located
                .extend(self.base.spaces.locate(cell.attribute, value).map(|found| (cell.attribute, found)));
        }
        for &(attribute, (located, whole)) in located.iter() {
            if !located.exact {
                signs[attribute.index()] = self.signatures.everybody;
            } else if located.leaf != LeafId::NONE {
                let signature = self.signatures.of_leaf[located.leaf.index()];
                if !signature.is_empty() {
                    signs[attribute.index()] = signature;
                }
            }
            for (leaf, exact) in [(located.leaf, located.exact), (located.next_integer, false), (whole, true)]
            {
                if leaf != LeafId::NONE && !self.lists[leaf.index()].is_empty() {
                    found.push(Found::new(self.lists[leaf.index()], exact));
                }
            }
        }
        for list in found.iter_mut() {
            list.touched = self.records.get(list.list).first().copied().unwrap_or(0);
        }
        // Steps 2 and 3, term by term: the signature of its leaf, then the check.
        let asking = Asking { event, present, steps };
        let signed = |id: ConjId, attribute: u32| {
            let sign = signs.get(attribute as usize);
            sign.is_some_and(|sign| self.signatures.has(*sign, Place::of(id)))
        };
        for &Found { list, exact, .. } in found.iter() {
            self.base.check(self.records.get(list), exact, &asking, signed, seen, matches);
        }
        for cell in event.cells() {
            signs[cell.attribute.index()] = self.signatures.nobody;
        }
    }

    fn observe(&mut self, event: &Event<'_>) {
        self.base.spaces.observe(event);
    }

    fn adapt(&mut self) {
        let ids: Vec<ConjId> = self.base.conjunctions.all().collect();
        for id in ids {
            let choice = self.choose(id);
            let conjunction = self.base.conjunctions.get(id);
            let same = (choice.access, choice.spread) == (conjunction.access, conjunction.spread)
                && choice.order.first().map(|ranked| ranked.id)
                    == self.base.conjunctions.predicates(id).next();
            if !same {
                self.unplace(id);
                self.place(id);
            }
        }
        self.settle();
        let attributes = self.signatures.dimensions.len() as u32;
        self.freshen((0..attributes).map(AttrId));
    }

    fn validate(&self) -> Result<(), String> {
        self.base.validate()?;
        // What should be where, from the conjunctions alone.
        let mut expected: Vec<Vec<ConjId>> = vec![Vec::new(); self.base.spaces.leaf_bound()];
        let mut everywhere = Vec::new();
        for id in self.base.conjunctions.all() {
            let conjunction = self.base.conjunctions.get(id);
            let placements: Vec<_> = self.base.placements(id).collect();
            let mut copies = 0;
            match (conjunction.access, conjunction.spread) {
                (0, _) => everywhere.push(id),
                (_, 0) => {
                    let attribute = self.base.predicates.get(placements[0].0).attribute;
                    let dimension = self.base.spaces.dimension(attribute).ok_or("pst_bloom: no dimension")?;
                    expected[dimension.whole().index()].push(id);
                    copies = 1;
                }
                _ => self.base.spaces.cover(self.base.predicates.get(placements[0].0), |leaf| {
                    expected[leaf.index()].push(id);
                    copies += 1;
                }),
            }
            if conjunction.copies != copies {
                return Err(format!(
                    "pst_bloom: {id:?} has {copies} records, counted {}",
                    conjunction.copies
                ));
            }
            let signed =
                placements.iter().skip(usize::from(conjunction.access)).take(conjunction.signed as usize);
            for (predicate, _) in signed {
                let mut missing = None;
                self.base.spaces.cover(self.base.predicates.get(*predicate), |leaf| {
                    let signature = self.signatures.of_leaf[leaf.index()];
                    if signature.is_empty() || !self.signatures.has(signature, Place::of(id)) {
                        missing = Some(leaf);
                    }
                });
                if let Some(leaf) = missing {
                    return Err(format!("pst_bloom: leaf {} has not signed for {id:?}", leaf.0));
                }
            }
        }
        let listed = |list: ListRef| -> Vec<ConjId> {
            let mut ids: Vec<_> = Records(self.records.get(list)).map(|record| record.conjunction).collect();
            ids.sort_unstable();
            ids
        };
        for (at, list) in self.lists.iter().enumerate() {
            let mut wanted = expected.get(at).cloned().unwrap_or_default();
            wanted.sort_unstable();
            if listed(*list) != wanted {
                return Err(format!("pst_bloom: leaf {at} lists {:?}, should {wanted:?}", listed(*list)));
            }
            for record in Records(self.records.get(*list)) {
                if self.record(record.conjunction)[record::HEAD..] != *record.terms {
                    return Err(format!("pst_bloom: the record of {:?} is out of date", record.conjunction));
                }
            }
        }
        everywhere.sort_unstable();
        if listed(self.everywhere) != everywhere {
            return Err("pst_bloom: the list for every event is wrong".into());
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.base.memory()
            + self.lists.capacity() * size_of::<ListRef>()
            + self.records.memory()
            + self.signatures.memory()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let mut stats = self.base.stats();
        let live: usize = self.signatures.dimensions.iter().map(|signed| signed.live).sum();
        let stale: usize = self.signatures.dimensions.iter().map(|signed| signed.stale).sum();
        let copies =
            self.base.conjunctions.all().map(|id| u64::from(self.base.conjunctions.get(id).copies)).sum();
        stats.extend([
            ("records", copies),
            ("record_bytes", self.records.memory() as u64),
            ("signature_entries", live as u64),
            ("signature_entries_stale", stale as u64),
            ("signature_bytes", self.signatures.memory() as u64),
        ]);
        stats
    }
}
