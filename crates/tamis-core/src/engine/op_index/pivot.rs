//! A pivot attribute: the predicate lists of the members that it leads to, and what their counters begin with.
//!
//! Each member has a slot. A satisfied predicate of a clause with one predicate counts for the slot. A clause with several
//! predicates, of which an event may satisfy more than one, has a number of its own and counts for the slot once: this
//! is the paper's bit of a clause.

use super::lists::{Entry, Operator, OperatorLists, Tuning};
use super::operand::{Field, OperandKind, Wide};
use super::record::{ClauseWords, Clauses, Content};
use crate::engine::shared::list_pool::shrink;
use crate::engine::shared::members::MemberId;
use crate::engine::shared::records::AttributeFilter;
use crate::schema::AttrId;

/// Targets from here on are clauses, below are slots.
pub(super) const CLAUSE: u32 = 1 << 31;

/// A member in the partition of a pivot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slot {
    /// [`MemberId::NONE`] if the slot is free.
    pub member: MemberId,
    /// Number of predicates to be satisfied besides the one on the pivot attribute, and flags.
    pub need: u32,
    /// Attributes without which a clause fails.
    pub attributes: AttributeFilter,
    /// The half steps that the predicate on the pivot attribute accepts, from low to high; none if it is [`Slot::LISTED`].
    pub access: [u32; 2],
}

impl Slot {
    /// Flag: the subscription may be found several times for an event.
    pub const SEVERAL: u32 = 1 << 31;
    /// Flag: open clauses are to be evaluated.
    pub const OPEN: u32 = 1 << 30;
    /// Flag: what the pivot clause accepts is only in the lists, as it is no range of half steps.
    pub const LISTED: u32 = 1 << 29;
    /// The number without the flags.
    pub const COUNT: u32 = Slot::LISTED - 1;
    /// No half step is accepted.
    const NOTHING: [u32; 2] = [1, 0];
    const FREE: Slot =
        Slot { member: MemberId::NONE, need: 0, attributes: AttributeFilter::ALL, access: Slot::NOTHING };
}

/// A pivot attribute.
#[derive(Debug, Default)]
pub(super) struct Pivot {
    /// Numbers in half steps, Booleans and symbols.
    pub narrow: OperatorLists<u32>,
    /// Other numbers, instants, ranges of strings; `None` if there are none.
    pub wide: Option<Box<OperatorLists<Wide>>>,
    /// The counter array: members by slot.
    pub slots: Vec<Slot>,
    /// Number of members with [`Slot::LISTED`].
    listed: u32,
    free_slots: Vec<u32>,
    /// The slot of each clause with several predicates; [`FREE`] if the number is free.
    pub clauses: Vec<u32>,
    free_clauses: Vec<u32>,
}

const FREE: u32 = u32::MAX;

/// How the entries of a member follow from its record.
#[derive(Clone, Copy)]
pub(super) struct MemberEntries<'r> {
    pub record: &'r [u32],
    /// The position of the pivot clause among the clauses.
    pub pivot_clause: usize,
    /// The attribute whose partition the entries are in.
    pub pivot: AttrId,
    /// Whether BETWEEN is one entry; otherwise it is `>=` and `<=` where it is a clause by itself.
    pub intervals: bool,
}

/// An entry, and the clause with several predicates that it belongs to, counted from 0; `None` in other clauses.
struct PlannedEntry {
    content: Content,
    attribute: AttrId,
    access: bool,
    clause: Option<usize>,
}

impl<'r> MemberEntries<'r> {
    /// Number of clauses with several predicates, besides the pivot clause.
    pub fn marked_clauses(self) -> usize {
        self.counted().filter(|clause| clause.has_several_predicates()).count()
    }

    /// The clauses that are counted: neither the pivot clause nor open.
    fn counted(self) -> impl Iterator<Item = ClauseWords<'r>> {
        let clauses = Clauses(self.record).enumerate();
        let pivot_clause = self.pivot_clause;
        clauses.filter(move |(at, clause)| *at != pivot_clause && !clause.is_open()).map(|(_, clause)| clause)
    }

    /// The halves of a clause that is a BETWEEN and nothing else, unless intervals are one entry.
    fn halved(self, clause: ClauseWords<'_>) -> Option<(AttrId, [Content; 2])> {
        let mut pieces = clause.pieces();
        let only = pieces.next().filter(|_| !self.intervals && pieces.next().is_none())?;
        Some((only.attribute, halves(only.content)?))
    }

    /// What the counter of the member begins with, with [`Slot::OPEN`].
    pub fn need(self) -> u32 {
        let halved = Clauses(self.record).filter(|clause| self.halved(*clause).is_some()).count();
        let open = if Clauses(self.record).any(ClauseWords::is_open) { Slot::OPEN } else { 0 };
        (self.counted().count() + halved) as u32 | open
    }

    /// The attributes that an event needs for the clauses that are counted, as far as a clause has only one.
    fn attributes(self) -> AttributeFilter {
        let mut filter = AttributeFilter::default();
        for clause in self.counted() {
            if let [attribute] = *clause.attributes() {
                filter.add(attribute);
            }
        }
        filter
    }

    /// The range of half steps that the pivot clause accepts of the pivot attribute; `None` if that is no single range.
    fn access(self) -> Option<[u32; 2]> {
        let clause = Clauses(self.record).nth(self.pivot_clause)?;
        let mut pieces = clause.pieces().filter(|piece| piece.attribute == self.pivot);
        let only = pieces.next().filter(|_| pieces.next().is_none() && self.halved(clause).is_none())?;
        match only.content {
            Content::Narrow(operator, OperandKind::Steps, low, high) => Some(match operator {
                Operator::AtMost => [u32::MIN, high],
                Operator::AtLeast => [low, u32::MAX],
                Operator::Equal | Operator::Between => [low, high],
            }),
            _ => None,
        }
    }

    /// The slot of the member; `several` is the flag or 0.
    pub fn slot(self, member: MemberId, several: u32) -> Slot {
        let access = self.access();
        let listed = if access.is_none() { Slot::LISTED } else { 0 };
        Slot {
            member,
            need: self.need() | several | listed,
            attributes: self.attributes(),
            access: access.unwrap_or(Slot::NOTHING),
        }
    }

    /// Visits the entries of the member in the pivot's lists.
    fn for_each(self, mut visit: impl FnMut(PlannedEntry)) {
        let mut marked = 0;
        for (at, clause) in Clauses(self.record).enumerate().filter(|(_, clause)| !clause.is_open()) {
            let access = at == self.pivot_clause;
            if let Some((attribute, [at_least, at_most])) = self.halved(clause) {
                visit(PlannedEntry { content: at_least, attribute, access, clause: None });
                visit(PlannedEntry { content: at_most, attribute, access: false, clause: None });
                continue;
            }
            let several = !access && clause.has_several_predicates();
            for piece in clause.pieces().filter(|piece| !access || piece.attribute == self.pivot) {
                let clause = several.then_some(marked);
                visit(PlannedEntry { content: piece.content, attribute: piece.attribute, access, clause });
            }
            marked += usize::from(several);
        }
    }

    /// Visits the entries with their targets. `places` are the slot and then the numbers of the marked clauses.
    pub fn with_targets(
        self,
        places: &[u32],
        mut narrow: impl FnMut(Operator, Entry<u32>),
        mut wide: impl FnMut(Operator, Entry<Wide>),
    ) {
        self.for_each(|entry| {
            let target = entry.clause.map_or(places[0], |clause| CLAUSE | places[1 + clause]);
            let field = |kind: OperandKind| Field::new(entry.attribute, kind, entry.access);
            match entry.content {
                Content::Narrow(operator, kind, low, high) => {
                    narrow(operator, Entry::new(operator, field(kind), (low, high), target));
                }
                Content::Wide(operator, kind, low, high) => {
                    wide(operator, Entry::new(operator, field(kind), (low, high), target));
                }
                Content::Open(_) => {}
            }
        });
    }
}

/// A BETWEEN as `>=` and `<=`.
fn halves(content: Content) -> Option<[Content; 2]> {
    match content {
        Content::Narrow(Operator::Between, kind, low, high) => Some([
            Content::Narrow(Operator::AtLeast, kind, low, low),
            Content::Narrow(Operator::AtMost, kind, high, high),
        ]),
        Content::Wide(Operator::Between, kind, low, high) => Some([
            Content::Wide(Operator::AtLeast, kind, low, low),
            Content::Wide(Operator::AtMost, kind, high, high),
        ]),
        _ => None,
    }
}

fn allocate<T>(items: &mut Vec<T>, free: &mut Vec<u32>, item: T) -> u32 {
    match free.pop() {
        Some(at) => {
            items[at as usize] = item;
            at
        }
        None => {
            items.push(item);
            items.len() as u32 - 1
        }
    }
}

impl Pivot {
    /// Inserts a member and appends its places: the slot, then the numbers of its marked clauses.
    pub fn insert(
        &mut self,
        member: MemberId,
        several: u32,
        entries: MemberEntries<'_>,
        tuning: Tuning,
        places: &mut Vec<u32>,
    ) {
        let from = places.len();
        let added = entries.slot(member, several);
        self.listed += u32::from(added.need & Slot::LISTED != 0);
        let slot = allocate(&mut self.slots, &mut self.free_slots, added);
        places.push(slot);
        for _ in 0..entries.marked_clauses() {
            places.push(allocate(&mut self.clauses, &mut self.free_clauses, slot));
        }
        let Pivot { narrow, wide, .. } = self;
        entries.with_targets(
            &places[from..],
            |operator, entry| narrow.get_mut(operator).insert(operator, entry, tuning),
            |operator, entry| {
                wide.get_or_insert_default().get_mut(operator).insert(operator, entry, tuning);
            },
        );
    }

    /// Removes a member, given its places.
    pub fn remove(&mut self, entries: MemberEntries<'_>, places: &[u32], tuning: Tuning) {
        let Pivot { narrow, wide, .. } = self;
        entries.with_targets(
            places,
            |operator, entry| narrow.get_mut(operator).remove(operator, entry, tuning),
            |operator, entry| {
                if let Some(wide) = wide {
                    wide.get_mut(operator).remove(operator, entry, tuning);
                }
            },
        );
        if wide.as_ref().is_some_and(|wide| wide.all().all(|(_, list)| list.is_empty())) {
            *wide = None;
        }
        let removed = std::mem::replace(&mut self.slots[places[0] as usize], Slot::FREE);
        self.listed -= u32::from(removed.need & Slot::LISTED != 0);
        self.free_slots.push(places[0]);
        for &clause in &places[1..] {
            self.clauses[clause as usize] = FREE;
            self.free_clauses.push(clause);
        }
    }

    /// Whether members are tested one by one: they are few, and what they accept is beside their counters.
    #[inline]
    pub fn is_small(&self) -> bool {
        /// Maximum members: 4 KiB of slots.
        const SMALL: usize = 128;
        self.slots.len() <= SMALL && self.listed == 0
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free_slots.len()
    }

    /// Frees memory reserved for growth.
    pub fn defragment(&mut self) {
        self.narrow.all_mut().for_each(|list| list.defragment());
        self.wide.iter_mut().flat_map(|wide| wide.all_mut()).for_each(|list| list.defragment());
        shrink(&mut self.slots);
        shrink(&mut self.clauses);
    }

    /// Checks slots, clauses and lists, but not that the entries are those of the members.
    pub fn validate(&self, tuning: Tuning) -> Result<(), String> {
        for (operator, list) in self.narrow.all() {
            list.validate(operator, tuning).map_err(|error| format!("{operator:?}: {error}"))?;
        }
        for (operator, list) in self.wide.iter().flat_map(|wide| wide.all()) {
            list.validate(operator, tuning).map_err(|error| format!("wide {operator:?}: {error}"))?;
        }
        let listed = self.slots.iter().filter(|slot| slot.need & Slot::LISTED != 0).count();
        if listed != self.listed as usize {
            return Err(format!("{listed} members are listed only, {} counted", self.listed));
        }
        let free = self.slots.iter().filter(|slot| slot.member == MemberId::NONE).count();
        let free_clauses = self.clauses.iter().filter(|slot| **slot == FREE).count();
        if (free, free_clauses) != (self.free_slots.len(), self.free_clauses.len()) || self.len() == 0 {
            return Err("a free slot or clause is not listed, or there is no member".into());
        }
        Ok(())
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let narrow: usize = self.narrow.all().map(|(_, list)| list.memory()).sum();
        let wide = self.wide.as_ref().map_or(0, |wide| {
            size_of::<OperatorLists<Wide>>() + wide.all().map(|(_, list)| list.memory()).sum::<usize>()
        });
        let words = [&self.free_slots, &self.clauses, &self.free_clauses];
        size_of::<Pivot>()
            + narrow
            + wide
            + self.slots.capacity() * size_of::<Slot>()
            + words.iter().map(|words| words.capacity() * size_of::<u32>()).sum::<usize>()
    }
}
