//! Predicates as tests on spaces.
//!
//! A predicate that accepts one interval of spaces, or all present values but one, is a *word*: dimension and both ends
//! in four or eight bytes. Everything else is a word that refers to a table: longer sets, patterns that must not
//! match, quantified predicates, and whole subexpressions.

use crate::compiled::arena::test_encoding::Format;
use crate::compiled::values::spaces::{Cuts, Intervals, Spaces, SpacesBuilder};
use crate::engine::shared::predicates::{PredId, Predicates};
use crate::expr::{Over, Predicate, Test};
use crate::schema::AttrId;
use crate::storage::{Array, Sections, SectionsWriter};
use rustc_hash::FxHashMap;

/// How a residual test is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) enum Check {
    /// The space is in the interval, or, if `outside`, present and not in it.
    Interval { dimension: u32, low: u32, high: u32, outside: bool },
    /// By an entry of the table.
    Complex(u32),
}

/// What is known of a distinct predicate.
#[derive(Clone, Debug)]
pub(in crate::compiled) struct Condition {
    /// Where a value that satisfies it lies. Empty if nothing can be said: it accepts missing values.
    pub dimension: u32,
    pub witnesses: Intervals,
    /// Whether every value there satisfies it.
    pub exact: bool,
    /// Whether an event may have several values in the dimension: those of a list.
    pub many_valued: bool,
    pub check: Check,
    /// The estimated share of events that satisfy it.
    pub share: f32,
}

impl Condition {
    /// Whether a present value is needed, so that events without one need not ask.
    pub fn can_witness(&self) -> bool {
        !self.witnesses.is_empty()
    }

    /// The one interval that it is, if it is one.
    pub fn interval(&self) -> Option<(u32, u32)> {
        match self.check {
            Check::Interval { low, high, outside: false, .. } if low > 0 => Some((low, high)),
            _ => None,
        }
    }
}

/// An entry of the table of tests that are no words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) enum Complex {
    /// The space is in one of `len` intervals.
    Within { dimension: u32, start: u32, len: u32 },
    /// The bit of the space is set.
    Listed { dimension: u32, start: u32 },
    /// The space of some element is in one of the intervals.
    AnyWithin { dimension: u32, start: u32, len: u32 },
    /// The value is a list, and the spaces of all elements are in one of the intervals.
    AllWithin { dimension: u32, start: u32, len: u32 },
    /// An interval too large for a word.
    Between { dimension: u32, low: u32, high: u32 },
    /// Present and outside an interval too large for a word.
    Outside { dimension: u32, low: u32, high: u32 },
    /// What only the predicate itself can tell.
    Asked { predicate: u32 },
    /// All, or some, of `len` words hold; `memo` is where the result is kept for others that ask.
    Program { start: u32, len: u32, memo: u32, all: bool },
}

/// No memo.
pub(in crate::compiled) const UNSHARED: u32 = u32::MAX;

impl Complex {
    /// Whether each event has to be asked by itself. Elements that are missing are in no mask, so who accepts them
    /// has to look at the list.
    pub fn asks_each_event(&self, intervals: &[[u32; 2]]) -> bool {
        match self {
            Complex::AllWithin { .. } | Complex::Asked { .. } => true,
            Complex::AnyWithin { start, len, .. } => {
                *len > 0 && intervals.get(*start as usize).is_some_and(|[low, _]| *low == 0)
            }
            _ => false,
        }
    }

    pub fn to_words(self) -> [u32; 4] {
        match self {
            Complex::Within { dimension, start, len } => [0, dimension, start, len],
            Complex::Listed { dimension, start } => [1, dimension, start, 0],
            Complex::AnyWithin { dimension, start, len } => [2, dimension, start, len],
            Complex::AllWithin { dimension, start, len } => [3, dimension, start, len],
            Complex::Between { dimension, low, high } => [4, dimension, low, high],
            Complex::Outside { dimension, low, high } => [5, dimension, low, high],
            Complex::Asked { predicate } => [6, predicate, 0, 0],
            Complex::Program { start, len, memo, all } => [7 + u32::from(all), start, len, memo],
        }
    }

    pub fn from_words([kind, a, b, c]: [u32; 4]) -> Complex {
        match kind {
            0 => Complex::Within { dimension: a, start: b, len: c },
            1 => Complex::Listed { dimension: a, start: b },
            2 => Complex::AnyWithin { dimension: a, start: b, len: c },
            3 => Complex::AllWithin { dimension: a, start: b, len: c },
            4 => Complex::Between { dimension: a, low: b, high: c },
            5 => Complex::Outside { dimension: a, low: b, high: c },
            6 => Complex::Asked { predicate: a },
            kind => Complex::Program { start: a, len: b, memo: c, all: kind == 8 },
        }
    }
}

/// A predicate that only itself can tell, or whose pattern is looked for in every text.
#[derive(Clone, Debug)]
pub(in crate::compiled) struct Textual {
    pub predicate: Predicate,
    /// The dimension that is TRUE where it matches; `None` if it is asked.
    pub flag: Option<u32>,
}

/// All dimensions, and what predicates look like in them.
pub(in crate::compiled) struct Conditions {
    pub spaces: Spaces,
    /// By [`PredId`].
    pub conditions: Vec<Condition>,
    pub complex: Vec<Complex>,
    /// Intervals of the table's entries.
    pub intervals: Vec<[u32; 2]>,
    /// Bits of the table's entries.
    pub bits: Vec<u64>,
    pub textual: Vec<Textual>,
    /// Attributes with a dimension for their elements: the attribute and the dimension, ascending.
    pub elements: Vec<[u32; 2]>,
}

impl Conditions {
    /// Makes a dimension for each attribute, for the elements of each list that predicates ask for, and for each
    /// pattern.
    pub fn new(predicates: &Predicates, attributes: usize) -> Conditions {
        let all = || (0..predicates.bound() as u32).map(|id| predicates.get(PredId(id)));
        let mut values: Vec<Cuts> = (0..attributes).map(|_| Cuts::default()).collect();
        let mut elements: FxHashMap<AttrId, Cuts> = FxHashMap::default();
        for predicate in all() {
            let of_value = &mut values[predicate.attribute.index()];
            match (predicate.over, &predicate.test) {
                (Over::Value, test) => of_value.add(test),
                (_, Test::Pattern { .. } | Test::Cidr { .. }) => of_value.needs_lists(),
                (over, test) => {
                    elements.entry(predicate.attribute).or_default().add(test);
                    if over == Over::AllElements || test.accepts_missing() {
                        of_value.needs_lists();
                    }
                }
            }
        }
        let mut builder = SpacesBuilder::default();
        values.into_iter().for_each(|cuts| builder.add(cuts));
        let mut elements: Vec<(AttrId, Cuts)> = elements.into_iter().collect();
        elements.sort_unstable_by_key(|(attribute, _)| *attribute);
        let mut element_dimensions: Vec<[u32; 2]> = Vec::new();
        for (attribute, cuts) in elements {
            element_dimensions.push([attribute.0, (attributes + element_dimensions.len()) as u32]);
            builder.add(cuts);
        }
        let mut flags = (attributes + element_dimensions.len()) as u32;
        let mut textual = Vec::new();
        for predicate in all().filter(|p| matches!(p.test, Test::Pattern { .. } | Test::Cidr { .. })) {
            let found_in_passing =
                matches!(predicate.test, Test::Pattern { negated: false, or_missing: false, .. })
                    && predicate.over != Over::AllElements;
            let flag = found_in_passing.then(|| {
                builder.add_flag();
                flags += 1;
                flags - 1
            });
            textual.push(Textual { predicate: predicate.clone(), flag });
        }
        let mut made = Conditions {
            spaces: builder.finish(),
            conditions: Vec::with_capacity(predicates.bound()),
            complex: Vec::new(),
            intervals: Vec::new(),
            bits: Vec::new(),
            textual,
            elements: element_dimensions,
        };
        let mut next_textual = 0;
        for predicate in all() {
            let condition = made.condition(predicate, &mut next_textual);
            made.conditions.push(condition);
        }
        made
    }

    /// The dimension of an attribute's elements.
    pub fn elements_among(elements: &[[u32; 2]], attribute: AttrId) -> u32 {
        let found = elements.binary_search_by_key(&attribute.0, |[attribute, _]| *attribute);
        found.map_or(0, |at| elements[at][1])
    }

    fn elements_of(&self, attribute: AttrId) -> u32 {
        Conditions::elements_among(&self.elements, attribute)
    }

    fn condition(&mut self, predicate: &Predicate, next_textual: &mut usize) -> Condition {
        let dimension = predicate.attribute.0;
        if let Test::Pattern { .. } | Test::Cidr { .. } = predicate.test {
            let number = *next_textual;
            *next_textual += 1;
            return self.textual_condition(predicate, number);
        }
        match predicate.over {
            Over::Value => {
                let accepted = self.spaces.accepted(dimension, &predicate.test);
                let check = self.check(dimension, &accepted);
                let witnesses =
                    if accepted.first().is_some_and(|first| first.0 == 0) { Vec::new() } else { accepted };
                Condition { dimension, witnesses, exact: true, many_valued: false, check, share: 0.0 }
            }
            Over::AnyElement => {
                let dimension = self.elements_of(predicate.attribute);
                let accepted = self.spaces.accepted(dimension, &predicate.test);
                let (start, len) = self.keep(&accepted);
                let check = self.table(Complex::AnyWithin { dimension, start, len });
                if accepted.first().is_some_and(|first| first.0 == 0) {
                    // Elements may be missing, too. All that is known is that there is a list.
                    return self.listed(predicate.attribute.0, check);
                }
                Condition {
                    dimension,
                    witnesses: accepted,
                    exact: true,
                    many_valued: true,
                    check,
                    share: 0.0,
                }
            }
            Over::AllElements => {
                let of_elements = self.elements_of(predicate.attribute);
                let accepted = self.spaces.accepted(of_elements, &predicate.test);
                let (start, len) = self.keep(&accepted);
                let check = self.table(Complex::AllWithin { dimension: of_elements, start, len });
                self.listed(dimension, check)
            }
        }
    }

    /// A condition that needs a list as the attribute's value.
    fn listed(&self, dimension: u32, check: Check) -> Condition {
        let list = self.spaces.other(dimension);
        let witnesses = vec![(list, list)];
        Condition { dimension, witnesses, exact: false, many_valued: false, check, share: 0.0 }
    }

    fn textual_condition(&mut self, predicate: &Predicate, number: usize) -> Condition {
        let dimension = predicate.attribute.0;
        if let Some(dimension) = self.textual[number].flag {
            let check = Check::Interval { dimension, low: 1, high: 1, outside: false };
            let witnesses = vec![(1, 1)];
            return Condition { dimension, witnesses, exact: true, many_valued: false, check, share: 0.0 };
        }
        let check = self.table(Complex::Asked { predicate: number as u32 });
        let witnesses = match predicate.over {
            Over::Value if predicate.accepts_missing() => Vec::new(),
            Over::Value => self.spaces.texts(dimension).into_iter().collect(),
            _ => return self.listed(dimension, check),
        };
        Condition { dimension, witnesses, exact: false, many_valued: false, check, share: 0.0 }
    }

    /// The shortest way to test for a set of spaces.
    fn check(&mut self, dimension: u32, accepted: &[(u32, u32)]) -> Check {
        let last = self.spaces.count(dimension) - 1;
        match *accepted {
            [(low, high)] => Check::Interval { dimension, low, high, outside: false },
            [(1, before), (behind, end)] if end == last => {
                Check::Interval { dimension, low: before + 1, high: behind - 1, outside: true }
            }
            _ => {
                let bitmap = (last as usize + 1).div_ceil(64);
                if bitmap <= accepted.len() {
                    let start = self.bits.len() as u32;
                    self.bits.resize(self.bits.len() + bitmap, 0);
                    for space in accepted.iter().flat_map(|(low, high)| *low..=*high) {
                        self.bits[start as usize + space as usize / 64] |= 1 << (space % 64);
                    }
                    return self.table(Complex::Listed { dimension, start });
                }
                let (start, len) = self.keep(accepted);
                self.table(Complex::Within { dimension, start, len })
            }
        }
    }

    fn keep(&mut self, intervals: &[(u32, u32)]) -> (u32, u32) {
        let start = self.intervals.len() as u32;
        self.intervals.extend(intervals.iter().map(|(low, high)| [*low, *high]));
        (start, intervals.len() as u32)
    }

    fn table(&mut self, complex: Complex) -> Check {
        self.complex.push(complex);
        Check::Complex(self.complex.len() as u32 - 1)
    }
}

/// As deep as subexpressions get under any limits: a XOR of many operands is a tree of its own.
const MOST_NESTED: u16 = 25_000;

/// The table as it is kept.
#[derive(Clone, Debug, Default)]
pub(in crate::compiled) struct Table {
    pub entries: Array<[u32; 4]>,
    pub intervals: Array<[u32; 2]>,
    pub bits: Array<u64>,
    /// Words of all programs, in the form of eight bytes.
    pub programs: Array<u64>,
    /// How many results are kept during an event.
    pub memos: u32,
}

impl Table {
    pub fn memory(&self) -> usize {
        self.entries.memory() + self.intervals.memory() + self.bits.memory() + self.programs.memory()
    }

    pub fn write(&self, out: &mut SectionsWriter, tags: u32) {
        out.put(tags, &self.entries);
        out.put(tags + 1, &self.intervals);
        out.put(tags + 2, &self.bits);
        out.put(tags + 3, &self.programs);
    }

    pub fn open(sections: &Sections, tags: u32, memos: u32) -> Result<Table, String> {
        let table = Table {
            entries: sections.take(tags)?,
            intervals: sections.take(tags + 1)?,
            bits: sections.take(tags + 2)?,
            programs: sections.take(tags + 3)?,
            memos,
        };
        table.check_nesting()?;
        Ok(table)
    }

    /// Programs refer to earlier ones only, and nest no deeper than expressions do: evaluating them ends.
    pub fn check_nesting(&self) -> Result<(), String> {
        let mut depths = vec![0_u16; self.entries.len()];
        for (entry, words) in self.entries.iter().enumerate() {
            let Complex::Program { start, len, .. } = Complex::from_words(*words) else { continue };
            let words = self.programs.get(start as usize..start as usize + len as usize);
            for word in words.ok_or("a subexpression outside its array")? {
                if let Check::Complex(inner) = Format::Wide.decode(*word) {
                    let before = depths[..entry].get(inner as usize);
                    let depth = before.ok_or("a subexpression that refers to a later one")? + 1;
                    depths[entry] = depths[entry].max(depth);
                }
            }
            if depths[entry] > MOST_NESTED {
                return Err(format!("subexpressions nest deeper than {MOST_NESTED}"));
            }
        }
        Ok(())
    }
}
