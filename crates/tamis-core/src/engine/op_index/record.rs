//! Records: the clauses of a member as words, from which its entries in predicate lists are made and found again.
//!
//! A member is a conjunction of clauses; a clause is a disjunction of predicates; a predicate is rewritten to *pieces*, one
//! per value or range that it accepts. The pieces of a predicate are disjoint: a value satisfies at most one, so an IN
//! counts once. A clause is *open* if an event without some attribute may satisfy it: its predicates are no pieces, they
//! are evaluated once the other clauses hold.
//!
//! | words | content of a piece |
//! | --- | --- |
//! | 1 | bit 31: first of its clause; bit 30: first of its predicate; code in bits 27 to 29; attribute |
//! | 1 | `=`, `<=`, `>=` on half steps: the operand; Boolean, symbol or open predicate: its number |
//! | 2 | BETWEEN on half steps: low, high |
//! | 7 | wide: operator and kind; low, high |

use super::lists::Operator;
use super::operand::{Operand, OperandKind, Wide, from_steps};
use super::symbols::{Symbols, is_prefix};
use crate::engine::shared::predicates::PredId;
use crate::engine::shared::records::{HIGHEST, LOWEST, half_steps_between};
use crate::expr::{Cut, OrderedSet, Over, Predicate, Test, ValueSet};
use crate::number::Number;
use crate::schema::AttrId;
use smol_str::SmolStr;

const FIRST_OF_CLAUSE: u32 = 1 << 31;
const FIRST_OF_PREDICATE: u32 = 1 << 30;
const CODE: u32 = 27;
const ATTRIBUTE: u32 = (1 << CODE) - 1;

/// Codes; those below 4 are the operators on half steps.
const BETWEEN: u32 = Operator::Between as u32;
const BOOL: u32 = 4;
const SYMBOL: u32 = 5;
const WIDE: u32 = 6;
const OPEN: u32 = 7;

/// A piece of a predicate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub attribute: AttrId,
    /// Whether it is the first of its predicate.
    pub first_of_predicate: bool,
    pub content: Content,
}

/// What a piece accepts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// Narrow operands from low to high.
    Narrow(Operator, OperandKind, u32, u32),
    /// Wide operands from low to high.
    Wide(Operator, OperandKind, Wide, Wide),
    /// What a predicate accepts; part of an open clause.
    Open(PredId),
}

/// A clause of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClauseWords<'r>(&'r [u32]);

/// Iterates over the clauses of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clauses<'r>(pub &'r [u32]);

impl<'r> Iterator for Clauses<'r> {
    type Item = ClauseWords<'r>;

    fn next(&mut self) -> Option<ClauseWords<'r>> {
        if self.0.is_empty() {
            return None;
        }
        let mut end = words_of(self.0[0]);
        while end < self.0.len() && self.0[end] & FIRST_OF_CLAUSE == 0 {
            end += words_of(self.0[end]);
        }
        let (clause, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(ClauseWords(clause))
    }
}

/// Number of words of the piece that begins with a word.
fn words_of(head: u32) -> usize {
    match head >> CODE & 7 {
        BETWEEN => 3,
        WIDE => 8,
        _ => 2,
    }
}

impl<'r> ClauseWords<'r> {
    /// Whether an event may satisfy it without having an attribute.
    pub fn is_open(self) -> bool {
        self.0[0] >> CODE & 7 == OPEN
    }

    /// Its pieces.
    pub fn pieces(self) -> impl Iterator<Item = Piece> + use<'r> {
        let mut words = self.0;
        std::iter::from_fn(move || {
            let head = *words.first()?;
            let (piece, rest) = words.split_at(words_of(head));
            words = rest;
            Some(decode(head, &piece[1..]))
        })
    }

    /// Whether it has several predicates, of which an event may satisfy more than one.
    pub fn has_several_predicates(self) -> bool {
        self.pieces().filter(|piece| piece.first_of_predicate).nth(1).is_some()
    }

    /// Visits its attributes, each once. Most clauses have one piece.
    pub fn for_each_attribute(self, mut visit: impl FnMut(AttrId)) {
        if words_of(self.0[0]) == self.0.len() {
            return visit(AttrId(self.0[0] & ATTRIBUTE));
        }
        let mut attributes: Vec<AttrId> = self.pieces().map(|piece| piece.attribute).collect();
        attributes.sort_unstable();
        attributes.dedup();
        attributes.into_iter().for_each(visit);
    }

    /// Its attributes, each once.
    pub fn attributes(self) -> Vec<AttrId> {
        let mut attributes = Vec::with_capacity(1);
        self.for_each_attribute(|attribute| attributes.push(attribute));
        attributes
    }
}

fn decode(head: u32, operands: &[u32]) -> Piece {
    let content = match head >> CODE & 7 {
        BOOL => Content::Narrow(Operator::Equal, OperandKind::Bool, operands[0], operands[0]),
        SYMBOL => Content::Narrow(Operator::Equal, OperandKind::Symbol, operands[0], operands[0]),
        OPEN => Content::Open(PredId(operands[0])),
        WIDE => {
            let operator = Operator::ALL[(operands[0] >> 8) as usize];
            let kind = OperandKind::from_number(operands[0] & 255);
            let wide = |at: usize| Wide::from_words([operands[at], operands[at + 1], operands[at + 2]]);
            Content::Wide(operator, kind, wide(1), wide(4))
        }
        code => {
            let high = if code == BETWEEN { operands[1] } else { operands[0] };
            Content::Narrow(Operator::ALL[code as usize], OperandKind::Steps, operands[0], high)
        }
    };
    let first_of_predicate = head & FIRST_OF_PREDICATE != 0;
    Piece { attribute: AttrId(head & ATTRIBUTE), first_of_predicate, content }
}

/// The clauses of a member as a record. Symbols and open predicates are acquired.
pub(super) fn encode<'p, C>(clauses: impl Iterator<Item = C>, symbols: &mut Symbols) -> Vec<u32>
where
    C: IntoIterator<Item = &'p Predicate> + Copy,
{
    let mut writer = RecordWriter { words: Vec::with_capacity(24), flags: 0, symbols };
    for clause in clauses {
        let open = clause.into_iter().any(Predicate::accepts_missing);
        writer.flags = FIRST_OF_CLAUSE;
        for predicate in clause {
            writer.flags |= FIRST_OF_PREDICATE;
            if open {
                let id = writer.symbols.predicates.acquire_ref(predicate);
                writer.piece(predicate.attribute, OPEN, &[id.0]);
            } else {
                writer.predicate(predicate);
            }
        }
    }
    writer.words
}

/// Releases the symbols and open predicates of a record.
pub(super) fn release(record: &[u32], symbols: &mut Symbols) {
    for piece in Clauses(record).flat_map(ClauseWords::pieces) {
        match piece.content {
            Content::Narrow(_, OperandKind::Symbol, symbol, _) => symbols.release(PredId(symbol)),
            Content::Open(predicate) => symbols.predicates.release(predicate),
            _ => {}
        }
    }
}

struct RecordWriter<'s> {
    words: Vec<u32>,
    /// The flags of the next piece.
    flags: u32,
    symbols: &'s mut Symbols,
}

impl RecordWriter<'_> {
    fn piece(&mut self, attribute: AttrId, code: u32, operands: &[u32]) {
        self.words.push(self.flags | code << CODE | attribute.0);
        self.words.extend_from_slice(operands);
        self.flags = 0;
    }

    /// Writes the pieces of a predicate that needs its attribute, at least one.
    fn predicate(&mut self, predicate: &Predicate) {
        let before = self.words.len();
        self.pieces(predicate);
        if self.words.len() == before {
            // No value is in its ranges; a symbol that no value satisfies keeps the clause.
            self.symbol(predicate.clone());
        }
    }

    fn pieces(&mut self, predicate: &Predicate) {
        let attribute = predicate.attribute;
        match &predicate.test {
            _ if predicate.over != Over::Value => self.symbol(predicate.clone()),
            Test::Number { low, high } => self.numbers(attribute, *low, *high),
            Test::Outside { low, high } => {
                if *low != Number::MIN {
                    self.numbers(attribute, Number::MIN, low.next_down());
                }
                if *high != Number::MAX {
                    self.numbers(attribute, high.next_up(), Number::MAX);
                }
            }
            Test::Time { low, high } => self.times(attribute, *low, *high),
            Test::Set(set) if is_divisible(set) => self.set(attribute, set),
            Test::Text(_) | Test::Set(_) | Test::Pattern { .. } | Test::Cidr { .. } => {
                self.symbol(predicate.clone());
            }
        }
    }

    fn symbol(&mut self, predicate: Predicate) {
        let attribute = predicate.attribute;
        let symbol = self.symbols.acquire(predicate);
        self.piece(attribute, SYMBOL, &[symbol.0]);
    }

    fn set(&mut self, attribute: AttrId, set: &ValueSet) {
        for value in [false, true].into_iter().filter(|value| set.bools[usize::from(*value)]) {
            self.piece(attribute, BOOL, &[u32::from(value)]);
        }
        for (low, high) in set.numbers.ranges() {
            let low = low.map_or(Number::MIN, |cut| if cut.after { cut.at.next_up() } else { cut.at });
            let high = high.map_or(Number::MAX, |cut| if cut.after { cut.at } else { cut.at.next_down() });
            self.numbers(attribute, low, high);
        }
        for (low, high) in set.times.ranges() {
            let low = low.map_or(Some(i64::MIN), Cut::instant_above);
            let high = high.map_or(Some(i64::MAX), |cut| cut.at.checked_sub(i64::from(!cut.after)));
            if let (Some(low), Some(high)) = (low, high)
                && low <= high
            {
                self.times(attribute, low, high);
            }
        }
        for (low, high) in set.texts.ranges() {
            self.texts(attribute, low, high);
        }
    }

    fn numbers(&mut self, attribute: AttrId, low: Number, high: Number) {
        let Some((first, last)) = half_steps_between(low, high) else {
            let open = (low == Number::MIN, high == Number::MAX);
            let (low, high) = (Wide::of_number(low), Wide::of_number(high));
            return self.wide(attribute, OperandKind::Number, low, high, open);
        };
        let (low, high) = (from_steps(first), from_steps(last));
        match operator((low, high), (first == LOWEST, last == HIGHEST)) {
            Operator::Between => self.piece(attribute, BETWEEN, &[low, high]),
            Operator::AtMost => self.piece(attribute, Operator::AtMost as u32, &[high]),
            operator => self.piece(attribute, operator as u32, &[low]),
        }
    }

    fn times(&mut self, attribute: AttrId, low: i64, high: i64) {
        let open = (low == i64::MIN, high == i64::MAX);
        self.wide(attribute, OperandKind::Time, Wide::of_time(low), Wide::of_time(high), open);
    }

    fn texts(&mut self, attribute: AttrId, low: Option<&Cut<SmolStr>>, high: Option<&Cut<SmolStr>>) {
        if let (Some(low), Some(high)) = (low, high) {
            let is_point = low.at == high.at;
            if is_point || is_prefix(low, high) {
                let range = OrderedSet::between(Some(low.clone()), Some(high.clone()));
                let test = Test::from(ValueSet { texts: range, ..ValueSet::empty() });
                return self.symbol(Predicate { attribute, over: Over::Value, test });
            }
        }
        let lowest = low.map(|cut| (Wide::of_text(&cut.at), cut.after));
        let highest = high.map(|cut| (Wide::of_text(&cut.at), cut.after));
        let first = lowest.map_or(Some(Wide::MIN), |(at, after)| if after { at.next() } else { Some(at) });
        let last =
            highest.map_or(Some(Wide::MAX), |(at, after)| if after { Some(at) } else { at.previous() });
        // Without a first or a last, no string is in between.
        if let (Some(first), Some(last)) = (first, last) {
            self.wide(attribute, OperandKind::Text, first, last, (low.is_none(), high.is_none()));
        }
    }

    fn wide(&mut self, attribute: AttrId, kind: OperandKind, low: Wide, high: Wide, open: (bool, bool)) {
        let operator = operator((low, high), open);
        let mut words = [0; 7];
        words[0] = (operator as u32) << 8 | kind as u32;
        words[1..4].copy_from_slice(&low.to_words());
        words[4..7].copy_from_slice(&high.to_words());
        self.piece(attribute, WIDE, &words);
    }
}

/// The operator of a range, with whether it is open below and above.
fn operator<T: PartialEq>(ends: (T, T), open: (bool, bool)) -> Operator {
    match open {
        (false, false) if ends.0 == ends.1 => Operator::Equal,
        (false, false) => Operator::Between,
        (true, false) => Operator::AtMost,
        (_, true) => Operator::AtLeast,
    }
}

/// Whether a set is rewritten to ranges: it has no lists or objects, and no range between long strings.
fn is_divisible(set: &ValueSet) -> bool {
    let fits = |cut: Option<&Cut<SmolStr>>| cut.is_none_or(|cut| cut.at.len() <= Wide::TEXT);
    let divisible = |(low, high): (Option<&Cut<SmolStr>>, Option<&Cut<SmolStr>>)| {
        let is_symbol =
            matches!((low, high), (Some(low), Some(high)) if low.at == high.at || is_prefix(low, high));
        is_symbol || fits(low) && fits(high)
    };
    !set.other && set.texts.ranges().all(divisible)
}
