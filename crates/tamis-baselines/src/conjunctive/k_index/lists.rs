//! The posting lists, by key.
//!
//! An entry is one word that orders as the paper does: by partition, then by expression, then NOT IN before IN.
//!
//! | bits | content |
//! | --- | --- |
//! | 48..58 | size of the expression: the K of its partition |
//! | 17..48 | number of the expression |
//! | 16 | 1 for IN, 0 for NOT IN |
//! | 0..16 | number of the clause |
//!
//! The integers of the domain find their list in an array by value, other points in a hash table.
//!
//! Invariant: every list ascends.

use super::super::points::{PointTable, number};
use super::keys::{Key, within};
use tamis_core::engine::shared::list_pool::{ListPool, ListRef, shrink};
use tamis_core::{AttrId, Number, Value};

/// An entry of a posting list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Posting(u64);

const SIZE: u32 = 48;
const EXPRESSION: u32 = 17;
const IN: u64 = 1 << 16;

impl Posting {
    /// Maximum expressions: a number has 31 bits.
    pub const MAX_EXPRESSIONS: usize = 1 << 31;

    pub fn new(size: u16, expression: u32, is_in: bool, clause: u16) -> Posting {
        let sign = if is_in { IN } else { 0 };
        Posting(u64::from(size) << SIZE | u64::from(expression) << EXPRESSION | sign | u64::from(clause))
    }

    /// The K of its partition.
    #[inline]
    pub fn size(self) -> usize {
        (self.0 >> SIZE) as usize
    }

    #[inline]
    pub fn expression(self) -> u32 {
        (self.0 >> EXPRESSION) as u32 & (u32::MAX >> 1)
    }

    #[inline]
    pub fn is_in(self) -> bool {
        self.0 & IN != 0
    }

    #[inline]
    pub fn clause(self) -> usize {
        self.0 as usize & 0xFFFF
    }

    /// Whether both are of the same expression.
    #[inline]
    pub fn is_same_expression(self, other: Posting) -> bool {
        self.0 >> EXPRESSION == other.0 >> EXPRESSION
    }

    /// The least entry that its expression can have.
    #[inline]
    pub fn first_of_expression(self) -> Posting {
        Posting(self.0 >> EXPRESSION << EXPRESSION)
    }

    /// The least entry that the next expression can have.
    #[inline]
    pub fn first_of_next(self) -> Posting {
        Posting(((self.0 >> EXPRESSION) + 1) << EXPRESSION)
    }
}

/// The lists of one attribute's numbers.
#[derive(Debug, Default)]
struct NumberLists {
    /// The integer of the domain that the array begins with.
    first: u32,
    /// By integer of the domain, from `first` on.
    integers: Vec<ListRef>,
    below: ListRef,
    fraction: ListRef,
    above: ListRef,
}

/// All posting lists.
#[derive(Debug)]
pub(super) struct PostingLists {
    postings: ListPool<Posting, 1>,
    /// By attribute.
    numbers: Vec<NumberLists>,
    points: PointTable,
    /// The paper's key Z: the expressions of size 0.
    zero: ListRef,
    /// Number of integers, from 0 on, with a key of their own.
    domain: u32,
}

impl PostingLists {
    pub fn new(domain: u32) -> PostingLists {
        PostingLists {
            postings: ListPool::default(),
            numbers: Vec::new(),
            points: PointTable::default(),
            zero: ListRef::EMPTY,
            domain,
        }
    }

    #[inline]
    pub fn get(&self, list: ListRef) -> &[Posting] {
        self.postings.get(list)
    }

    pub fn zero(&self) -> ListRef {
        self.zero
    }

    /// Visits the lists of a value, at most two; false if they list a superset of the predicates that hold.
    #[inline]
    pub fn find(&self, attribute: AttrId, value: Value<'_>, mut visit: impl FnMut(ListRef)) -> bool {
        let Some(number) = number(value) else {
            visit(self.points.find(attribute, value));
            return true;
        };
        let lists = self.numbers.get(attribute.index());
        if let Number::Int(value) = number
            && let Some(value) = within(value, self.domain)
        {
            if let Some(lists) = lists {
                visit(lists.of(value));
            }
            return true;
        }
        visit(self.points.find(attribute, value));
        let Some(lists) = lists else { return true };
        visit(match number {
            number if number < Number::Int(0) => lists.below,
            number if number > Number::Int(i64::from(self.domain) - 1) => lists.above,
            _ => lists.fraction,
        });
        false
    }

    /// Adds an entry under all keys.
    pub fn insert(&mut self, attribute: AttrId, key: &Key, posting: Posting) {
        self.change(attribute, key, |postings, list| insert(postings, list, posting));
    }

    /// Removes an entry under all keys.
    pub fn remove(&mut self, attribute: AttrId, key: &Key, posting: Posting) {
        self.change(attribute, key, |postings, list| remove(postings, list, posting));
        if let Key::Point(point) = key {
            self.points.remove_if_empty(attribute, point);
        }
    }

    /// Adds an expression of size 0.
    pub fn insert_zero(&mut self, posting: Posting) {
        insert(&mut self.postings, &mut self.zero, posting);
    }

    /// Removes an expression of size 0.
    pub fn remove_zero(&mut self, posting: Posting) {
        remove(&mut self.postings, &mut self.zero, posting);
    }

    fn change(
        &mut self,
        attribute: AttrId,
        key: &Key,
        mut change: impl FnMut(&mut ListPool<Posting, 1>, &mut ListRef),
    ) {
        let PostingLists { postings, numbers, points, .. } = self;
        if let Key::Point(point) = key {
            return change(postings, points.list_mut(attribute, point));
        }
        if numbers.len() <= attribute.index() {
            numbers.resize_with(attribute.index() + 1, NumberLists::default);
        }
        let lists = &mut numbers[attribute.index()];
        match key {
            Key::Integers(first, last) => {
                lists.cover(*first, *last);
                let at = (first - lists.first) as usize;
                let integers = &mut lists.integers[at..at + (last - first) as usize + 1];
                integers.iter_mut().for_each(|list| change(postings, list));
            }
            Key::Below => change(postings, &mut lists.below),
            Key::Fraction => change(postings, &mut lists.fraction),
            Key::Above => change(postings, &mut lists.above),
            Key::Point(_) => {}
        }
    }

    /// Whether an entry is listed under all keys.
    pub fn contains(&self, attribute: AttrId, key: &Key, posting: Posting) -> bool {
        let listed = |list: ListRef| self.get(list).binary_search(&posting).is_ok();
        let lists = self.numbers.get(attribute.index());
        match (key, lists) {
            (Key::Point(point), _) => listed(self.points.find(attribute, point.value())),
            (Key::Integers(first, last), Some(lists)) => {
                (*first..=*last).all(|value| listed(lists.of(value)))
            }
            (Key::Below, Some(lists)) => listed(lists.below),
            (Key::Fraction, Some(lists)) => listed(lists.fraction),
            (Key::Above, Some(lists)) => listed(lists.above),
            (_, None) => false,
        }
    }

    /// Every list under a key that has entries.
    pub fn iter(&self) -> impl Iterator<Item = &[Posting]> {
        let numbers = self.numbers.iter().flat_map(|lists| {
            lists.integers.iter().copied().chain([lists.below, lists.fraction, lists.above])
        });
        let all = numbers.chain(self.points.iter().map(|(.., list)| list));
        all.filter(|list| !list.is_empty()).map(|list| self.get(list))
    }

    /// Moves the lists together and frees memory reserved for growth.
    pub fn defragment(&mut self) {
        self.points.defragment();
        shrink(&mut self.numbers);
        self.numbers.iter_mut().for_each(|lists| lists.integers.shrink_to_fit());
        let lists = self.numbers.iter_mut().flat_map(|lists| {
            let NumberLists { integers, below, fraction, above, .. } = lists;
            integers.iter_mut().chain([below, fraction, above])
        });
        self.postings.defragment(lists.chain(self.points.lists_mut()).chain([&mut self.zero]));
    }

    pub fn validate(&self) -> Result<(), String> {
        self.points.validate()?;
        match self.iter().chain([self.get(self.zero)]).find(|list| !list.is_sorted()) {
            Some(list) => Err(format!("k_index: a list descends: {list:?}")),
            None => Ok(()),
        }
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let integers: usize = self.numbers.iter().map(|lists| lists.integers.capacity()).sum();
        self.postings.memory()
            + self.numbers.capacity() * size_of::<NumberLists>()
            + integers * size_of::<ListRef>()
            + self.points.memory()
    }
}

impl NumberLists {
    /// The list of an integer of the domain.
    #[inline]
    fn of(&self, value: u32) -> ListRef {
        let at = (value as usize).wrapping_sub(self.first as usize);
        self.integers.get(at).copied().unwrap_or_default()
    }

    /// Makes room for the integers from `first` to `last`.
    fn cover(&mut self, first: u32, last: u32) {
        if self.integers.is_empty() {
            self.first = first;
        }
        if first < self.first {
            let room = (self.first - first) as usize;
            self.integers.splice(0..0, std::iter::repeat_n(ListRef::EMPTY, room));
            self.first = first;
        }
        let needed = (last - self.first) as usize + 1;
        if self.integers.len() < needed {
            self.integers.resize(needed, ListRef::EMPTY);
        }
    }
}

fn insert(postings: &mut ListPool<Posting, 1>, list: &mut ListRef, posting: Posting) {
    let at = match postings.get(*list).last() {
        Some(last) if *last > posting => postings.get(*list).partition_point(|other| *other < posting),
        _ => list.len(),
    };
    postings.extend(list, &[posting]);
    postings.get_mut(*list)[at..].rotate_right(1);
}

fn remove(postings: &mut ListPool<Posting, 1>, list: &mut ListRef, posting: Posting) {
    if let Ok(at) = postings.get(*list).binary_search(&posting) {
        postings.remove_range(list, at, 1);
    }
}
