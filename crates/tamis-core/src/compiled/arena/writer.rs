//! The arrays an event walks through, all in one arena of 32-bit words.
//!
//! ```text
//! list:   decided | flat | groups | directory        numbers of each (of the flat ones with the form of their rows),
//!                                                    and where the directory begins
//!         targets of the decided ones                no test is left: they match
//!         first tests of the flat ones               words, one after another
//!         where each row begins                      unless all rows have the same length
//!         rows                                       target, and the tests that are left
//!         directory: dimensions of the groups, then where their tables begin
//! table:  entries | form | 0 | 0                     number, lanes, keys and form of the rows
//!         blocks of sixteen intervals                of the first key and then, if there are two, of the second
//!         where each row begins                      unless all rows have the same length
//!         rows                                       target, and the tests that are left
//! ```
//!
//! The residual tests thus lie right behind what leads to them. A list stands for a node, or for everywhere; a table
//! for a scan, for a pair, or for a group: those of a long list that go on with the same dimension.

use crate::compiled::arena::reader::{TABLE_HEAD, firsts_words};
use crate::compiled::arena::test_encoding::{Format, as_complex, is_complex};
use crate::compiled::build::conditions::{Check, Complex, Condition, Conditions, UNSHARED};
use crate::compiled::build::cover::{Alternatives, Part, Programs, REPEATED};
use crate::compiled::build::placement::{Key, Place, Placed, Placement};
use crate::compiled::matching::simd::{BLOCK, Lane};
use bytemuck::{Pod, Zeroable};

/// What hangs on a dimension.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(in crate::compiled) struct Dimension {
    /// The tables of its scan: of those that match with it, and of those with more tests. 0 if there is none.
    pub scans: [u32; 2],
    /// The directory of its pairs: number, dimensions, tables; 0 if there are none.
    pairs: u32,
    /// Where its nodes begin in the array of nodes, level by level.
    pub nodes: u32,
    /// How many levels of nodes there are.
    pub levels: u32,
    /// How many spaces it has.
    pub spaces: u32,
    padding: [u32; 2],
}

impl Dimension {
    /// Dimensions that make pairs with this one, and their tables.
    #[inline(always)]
    pub fn pairs<'a>(&self, arena: &'a [u32]) -> (&'a [u32], &'a [u32]) {
        if self.pairs == 0 {
            return (&[], &[]);
        }
        let (at, len) = (self.pairs as usize + 1, arena[self.pairs as usize] as usize);
        (&arena[at..at + len], &arena[at + len..at + 2 * len])
    }
}

/// How many nodes a level has.
#[inline]
pub(in crate::compiled) fn nodes_of_level(spaces: u32, level: u32) -> u32 {
    (spaces >> level) + 1
}

/// Groups are made in lists of so many.
const LONG_LIST: usize = 96;

/// And of so many members.
const GROUP: usize = 8;

/// Where the first tests of rows are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Firsts {
    /// In front of all rows.
    Apart,
    /// In the rows.
    Within,
}

/// How row starts are kept.
pub(in crate::compiled) const SAME_LENGTH: u32 = 0;
pub(in crate::compiled) const SHORT_STARTS: u32 = 1;
pub(in crate::compiled) const LONG_STARTS: u32 = 2;

/// Rows with tests in four bytes that are at most this long all get the same length, that of the longest of a list or a
/// table, filled up with tests that always hold.
pub(in crate::compiled) const ROW: usize = 8;

/// Marks the target of such a row which has complex tests.
pub(in crate::compiled) const ODD: u32 = 1 << 30;

/// What the layout makes.
pub(in crate::compiled) struct Layout {
    pub format: Format,
    pub arena: Vec<u32>,
    pub dimensions: Vec<Dimension>,
    pub nodes: Vec<u32>,
    /// The list that every event walks through; 0 if there is none.
    pub everywhere: u32,
    pub complex: Vec<Complex>,
    pub programs: Vec<u64>,
    pub memos: u32,
    /// Figures for people.
    pub tables: u64,
    pub pairs: u64,
    pub groups: u64,
    pub lists: u64,
}

/// One alternative on its way into a list or a table.
#[derive(Clone, Copy)]
struct Entry {
    target: u32,
    keys: [Key; 2],
    /// Its tests in `Writer::tests`, without those that are met.
    start: u32,
    len: u32,
    /// So many of them are not complex; these come first.
    plain: u32,
}

pub(in crate::compiled) struct Writer<'w> {
    conditions: &'w [Condition],
    alternatives: &'w Alternatives,
    spaces: &'w crate::compiled::values::spaces::Spaces,
    layout: Layout,
    /// By predicate: its word, once it is known.
    words: Vec<u64>,
    program_words: Vec<u64>,
    tests: Vec<Part>,
    entries: Vec<Entry>,
}

const UNKNOWN: u64 = u64::MAX;

/// Writes everything.
pub(in crate::compiled) fn write(
    conditions: &mut Conditions,
    alternatives: &Alternatives,
    programs: &Programs,
    placement: &Placement,
) -> Layout {
    let complex = std::mem::take(&mut conditions.complex);
    let format = choose_format(conditions, alternatives, programs, complex.len());
    let layout = Layout {
        format,
        // Nothing begins at 0, which stands for none.
        arena: vec![0; 4],
        dimensions: (0..conditions.spaces.len() as u32)
            .map(|dimension| Dimension { spaces: conditions.spaces.count(dimension), ..Dimension::default() })
            .collect(),
        nodes: Vec::new(),
        everywhere: 0,
        complex,
        programs: Vec::new(),
        memos: 0,
        tables: 0,
        pairs: 0,
        groups: 0,
        lists: 0,
    };
    let mut writer = Writer {
        conditions: &conditions.conditions,
        alternatives,
        spaces: &conditions.spaces,
        layout,
        words: vec![UNKNOWN; conditions.conditions.len()],
        program_words: Vec::new(),
        tests: Vec::new(),
        entries: Vec::new(),
    };
    writer.write_programs(programs);
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    let mut pairs_of = 0;
    for of_place in placement.placed.chunk_by(|a, b| a.place() == b.place()) {
        let place = of_place[0].place();
        let goes_on = matches!(place, Place::Pair { first, .. } if first == pairs_of);
        if !goes_on && !pairs.is_empty() {
            writer.write_pairs(pairs_of, &pairs);
            pairs.clear();
        }
        writer.gather(placement, of_place);
        let entries = std::mem::take(&mut writer.entries);
        match place {
            Place::Everywhere => writer.layout.everywhere = writer.list(&entries, false),
            Place::Scan { dimension } => {
                let lane = Lane::for_spaces(writer.spaces.count(dimension));
                let (decided, undecided): (Vec<Entry>, Vec<Entry>) =
                    entries.iter().partition(|entry| entry.len == 0);
                for (scan, entries) in [decided, undecided].into_iter().enumerate() {
                    if !entries.is_empty() {
                        let table = writer.table(&entries, lane, 1);
                        writer.layout.dimensions[dimension as usize].scans[scan] = table;
                    }
                }
                writer.layout.tables += 1;
            }
            Place::Pair { first, second } => {
                let lane = |dimension| Lane::for_spaces(writer.spaces.count(dimension));
                let lane = lane(first).max(lane(second));
                let table = writer.table(&entries, lane, 2);
                writer.layout.pairs += 1;
                pairs_of = first;
                pairs.push((second, table));
            }
            Place::Node { dimension, level, at } => {
                let list = writer.list(&entries, true);
                writer.set_node(dimension, level, at, list);
            }
        }
        writer.entries = entries;
    }
    if !pairs.is_empty() {
        writer.write_pairs(pairs_of, &pairs);
    }
    // Whoever reads the last row reads as much as the longest.
    writer.layout.arena.extend([0; ROW]);
    writer.layout
}

/// Four bytes a word if nearly all tests fit.
fn choose_format(
    conditions: &Conditions,
    alternatives: &Alternatives,
    programs: &Programs,
    complex: usize,
) -> Format {
    let narrow = Format::Narrow;
    if !narrow.holds_dimensions(conditions.spaces.len()) {
        return Format::Wide;
    }
    let too_large =
        |part: &Part, format: Format| match part.either().map(|id| conditions.conditions[id].check) {
            Ok(Check::Interval { dimension, low, high, .. }) => !format.holds(dimension, low, high),
            _ => false,
        };
    let (mut tests, mut through_table) = (0_usize, 0_usize);
    let mut distinct = vec![false; conditions.conditions.len()];
    for part in (0..alternatives.len()).flat_map(|number| alternatives.parts(number)) {
        tests += 1;
        if too_large(part, narrow) {
            through_table += 1;
            part.either().into_iter().for_each(|predicate| distinct[predicate] = true);
        }
    }
    let in_programs = (0..programs.len()).flat_map(|number| programs.parts(programs.get(number)));
    let in_programs = in_programs.filter(|part| too_large(part, Format::Wide)).count();
    // More entries than there will be, since predicates may be counted twice.
    let entries =
        complex + programs.len() + in_programs + distinct.into_iter().filter(|large| *large).count();
    let fits = u32::try_from(entries).is_ok_and(|entries| narrow.holds_entry(entries));
    if fits && through_table <= tests / 10 { narrow } else { Format::Wide }
}

impl Writer<'_> {
    /// Programs in order: inner ones come first.
    fn write_programs(&mut self, programs: &Programs) {
        let mut in_programs: Vec<u64> = Vec::with_capacity(programs.len());
        let mut wide = vec![UNKNOWN; self.conditions.len()];
        for number in 0..programs.len() {
            let program = programs.get(number);
            let start = self.layout.programs.len() as u32;
            for part in programs.parts(program) {
                let word = match part.either() {
                    Ok(predicate) => {
                        if wide[predicate] == UNKNOWN {
                            wide[predicate] = self.encode(self.conditions[predicate].check, Format::Wide);
                        }
                        wide[predicate]
                    }
                    Err(inner) => in_programs[inner],
                };
                self.layout.programs.push(word);
            }
            let len = self.layout.programs.len() as u32 - start;
            let memo = if program.uses < 2 { UNSHARED } else { self.layout.memos };
            self.layout.memos += u32::from(program.uses >= 2);
            self.layout.complex.push(Complex::Program { start, len, memo, all: program.all });
            let check = Check::Complex(self.layout.complex.len() as u32 - 1);
            in_programs.push(Format::Wide.encode(check));
            self.program_words.push(self.layout.format.encode(check));
        }
    }

    fn encode(&mut self, check: Check, format: Format) -> u64 {
        match (check, as_complex(check)) {
            (Check::Interval { dimension, low, high, .. }, Some(entry))
                if !format.holds(dimension, low, high) =>
            {
                self.layout.complex.push(entry);
                format.encode(Check::Complex(self.layout.complex.len() as u32 - 1))
            }
            _ => format.encode(check),
        }
    }

    fn word(&mut self, part: Part) -> u64 {
        match part.either() {
            Err(program) => self.program_words[program],
            Ok(predicate) => {
                if self.words[predicate] == UNKNOWN {
                    self.words[predicate] = self.encode(self.conditions[predicate].check, self.layout.format);
                }
                self.words[predicate]
            }
        }
    }

    fn push_word(&mut self, part: Part) {
        let word = self.word(part);
        self.layout.arena.push(word as u32);
        if self.layout.format.is_wide() {
            self.layout.arena.push((word >> 32) as u32);
        }
    }

    /// Entries with the tests that are left, the least likely first; behind them the complex ones.
    fn gather(&mut self, placement: &Placement, placed: &[Placed]) {
        self.entries.clear();
        self.tests.clear();
        for one in placed {
            let alternative = one.alternative as usize;
            let start = self.tests.len();
            let keys = placement.keys(self.conditions, one);
            let met = |part: &Part| part.either().is_ok_and(|id| keys.iter().any(|key| key.met == id as u32));
            let parts = self.alternatives.parts(alternative).iter();
            self.tests.extend(parts.filter(|part| !met(part)));
            let share = |part: &Part| part.either().map_or(2.0, |id| self.conditions[id].share);
            self.tests[start..].sort_by(|a, b| share(a).total_cmp(&share(b)));
            let plain = self.complex_last(start);
            // Several elements of a list may come by, each by itself.
            let many_valued = placement.home(one).is_some_and(|home| self.conditions[home].many_valued);
            let target = self.alternatives.target(alternative) | if many_valued { REPEATED } else { 0 };
            let len = (self.tests.len() - start) as u32;
            self.entries.push(Entry { target, keys, start: start as u32, len, plain });
        }
    }

    /// Puts the complex ones of the tests from `start` on behind the others: they take ten times as long. Returns how
    /// many others there are.
    fn complex_last(&mut self, start: usize) -> u32 {
        let mut plain = start;
        for at in start..self.tests.len() {
            let word = self.word(self.tests[at]);
            if let Check::Interval { .. } = self.layout.format.decode(word) {
                self.tests[plain..=at].rotate_right(1);
                plain += 1;
            }
        }
        (plain - start) as u32
    }

    fn tests_of(&self, entry: &Entry) -> std::ops::Range<usize> {
        entry.start as usize..(entry.start + entry.len) as usize
    }

    /// Sixteen-byte boundaries.
    fn align(&mut self) {
        let len = self.layout.arena.len().next_multiple_of(4);
        self.layout.arena.resize(len, 0);
    }

    /// Rows and where they begin; returns how the starts are kept, and the length if it is the same.
    fn rows(&mut self, entries: &[Entry], firsts: Firsts) -> (u32, usize) {
        let (format, size) = (self.layout.format, self.layout.format.size());
        // Tests in four bytes begin with one that is not complex, or always holds.
        let narrow = format == Format::Narrow;
        let skipped = |entry: &Entry| {
            u32::from(firsts == Firsts::Apart).min(if narrow { entry.plain } else { entry.len })
        };
        let filled = |entry: &Entry| narrow && entry.plain == skipped(entry) && entry.len > entry.plain;
        let length =
            |entry: &Entry| 1 + usize::from(filled(entry)) + (entry.len - skipped(entry)) as usize * size;
        let longest = entries.iter().map(length).max().unwrap_or(1);
        let total: usize = entries.iter().map(length).sum();
        let same = match (longest, format) {
            // Behind a first test there is always another one.
            (1, Format::Narrow) if firsts == Firsts::Apart => 2,
            (1, _) => 1,
            (0..=ROW, Format::Narrow) => longest,
            _ => 0,
        };
        let kind = if same > 0 {
            SAME_LENGTH
        } else if total <= 0xffff {
            SHORT_STARTS
        } else {
            LONG_STARTS
        };
        let mut start = 0;
        let starts = entries.iter().map(length).chain([0]).map(|length| {
            start += length;
            (start - length) as u32
        });
        match kind {
            SAME_LENGTH => {}
            SHORT_STARTS => {
                let starts: Vec<u32> = starts.collect();
                let halves = starts.chunks(2).map(|two| two[0] | two.get(1).unwrap_or(&0) << 16);
                self.layout.arena.extend(halves);
            }
            _ => self.layout.arena.extend(starts),
        }
        let always = Format::always(self.spaces.len());
        for entry in entries {
            let start = self.layout.arena.len();
            self.layout.arena.push(entry.target);
            self.layout.arena.extend(filled(entry).then_some(always));
            for at in self.tests_of(entry).skip(skipped(entry) as usize) {
                self.push_word(self.tests[at]);
            }
            self.layout.arena.extend((length(entry)..same).map(|_| always));
            if same > 1 && self.layout.arena[start + 1..].iter().any(|word| is_complex(*word)) {
                self.layout.arena[start] |= ODD;
            }
        }
        (kind, same)
    }

    /// Writes a list and returns where it begins.
    fn list(&mut self, entries: &[Entry], may_group: bool) -> u32 {
        self.layout.lists += 1;
        let (decided, undecided): (Vec<Entry>, Vec<Entry>) = entries.iter().partition(|entry| entry.len == 0);
        let (flat, groups) = match may_group && undecided.len() >= LONG_LIST {
            true => self.groups(undecided),
            false => (undecided, Vec::new()),
        };
        let mut directory: Vec<(u32, u32)> = Vec::with_capacity(groups.len());
        for (dimension, members) in &groups {
            let lane = Lane::for_spaces(self.spaces.count(*dimension));
            directory.push((*dimension, self.table(members, lane, 1)));
            self.layout.groups += 1;
        }
        self.align();
        let start = self.layout.arena.len();
        self.layout.arena.extend([decided.len() as u32, flat.len() as u32, groups.len() as u32, 0]);
        self.layout.arena.extend(decided.iter().map(|entry| entry.target));
        for entry in &flat {
            if entry.plain == 0 && self.layout.format == Format::Narrow {
                self.layout.arena.push(Format::always(self.spaces.len()));
            } else {
                self.push_word(self.tests[self.tests_of(entry).start]);
            }
        }
        let size = self.layout.format.size();
        let missing = firsts_words(flat.len(), size) - flat.len() * size;
        let never = Format::never(self.spaces.len());
        self.layout.arena.extend((0..missing).map(|_| never));
        let (kind, same) = self.rows(&flat, Firsts::Apart);
        self.layout.arena[start + 1] = (flat.len() as u32) << 6 | (same as u32) << 2 | kind;
        self.layout.arena[start + 3] = (self.layout.arena.len() - start) as u32;
        self.layout.arena.extend(directory.iter().map(|(dimension, _)| dimension));
        self.layout.arena.extend(directory.iter().map(|(_, table)| table));
        start as u32
    }

    /// Divides the entries of a long list by the dimension they go on with.
    fn groups(&self, entries: Vec<Entry>) -> (Vec<Entry>, Vec<(u32, Vec<Entry>)>) {
        let mut flat = Vec::new();
        let mut keyed: Vec<(u32, Part, Entry)> = Vec::new();
        for entry in entries {
            // Tests are in order, so the first one that can be a key is the least likely.
            let key = self.tests[self.tests_of(&entry)].iter().find_map(|part| {
                let condition = &self.conditions[part.either().ok()?];
                let usable = condition.interval().is_some() && !condition.many_valued;
                usable.then_some((condition.dimension, *part))
            });
            match key {
                Some((dimension, part)) => keyed.push((dimension, part, entry)),
                None => flat.push(entry),
            }
        }
        keyed.sort_by_key(|(dimension, _, _)| *dimension);
        let mut groups = Vec::new();
        for members in keyed.chunk_by(|a, b| a.0 == b.0) {
            if members.len() < GROUP {
                flat.extend(members.iter().map(|(_, _, entry)| *entry));
                continue;
            }
            let keyed_entry = |(_, part, entry): &(u32, Part, Entry)| {
                let met = part.either().unwrap_or(0);
                let interval = self.conditions[met].interval().unwrap_or_default();
                Entry { keys: [Key { interval, met: met as u32 }, Key::NOTHING], ..*entry }
            };
            groups.push((members[0].0, members.iter().map(keyed_entry).collect()));
        }
        (flat, groups)
    }

    /// Writes a table and returns where it begins.
    fn table(&mut self, entries: &[Entry], lane: Lane, keys: usize) -> u32 {
        // A group's key is still among the tests.
        let mut entries = entries.to_vec();
        for entry in &mut entries {
            let at = self.tests_of(entry);
            let met = |part: &Part| {
                part.either().is_ok_and(|id| entry.keys[..keys].iter().any(|key| key.met == id as u32))
            };
            let tests = &mut self.tests[at];
            if let Some(place) = tests.iter().position(met) {
                tests[..=place].rotate_right(1);
                entry.plain -= u32::from(place < entry.plain as usize);
                entry.start += 1;
                entry.len -= 1;
            }
        }
        self.align();
        let start = self.layout.arena.len();
        self.layout.arena.extend([0; TABLE_HEAD]);
        for block in entries.chunks(BLOCK) {
            for key in 0..keys {
                let intervals: Vec<(u32, u32)> = block.iter().map(|entry| entry.keys[key].interval).collect();
                lane.write(&intervals, &mut self.layout.arena);
            }
        }
        let (kind, same) = self.rows(&entries, Firsts::Within);
        self.layout.arena[start] = entries.len() as u32;
        self.layout.arena[start + 1] = lane.bits() | (keys as u32 - 1) << 2 | kind << 3 | (same as u32) << 8;
        start as u32
    }

    fn write_pairs(&mut self, dimension: u32, pairs: &[(u32, u32)]) {
        self.align();
        self.layout.dimensions[dimension as usize].pairs = self.layout.arena.len() as u32;
        self.layout.arena.push(pairs.len() as u32);
        self.layout.arena.extend(pairs.iter().map(|(second, _)| second));
        self.layout.arena.extend(pairs.iter().map(|(_, table)| table));
    }

    /// Nodes come in order of dimension and level, so that the array grows at its end.
    fn set_node(&mut self, dimension: u32, level: u32, at: u32, list: u32) {
        let spaces = self.spaces.count(dimension);
        let of_dimension = &mut self.layout.dimensions[dimension as usize];
        if of_dimension.levels == 0 {
            of_dimension.nodes = self.layout.nodes.len() as u32;
        }
        while of_dimension.levels <= level {
            let more = nodes_of_level(spaces, of_dimension.levels) as usize;
            self.layout.nodes.resize(self.layout.nodes.len() + more, 0);
            of_dimension.levels += 1;
        }
        let before: u32 = (0..level).map(|level| nodes_of_level(spaces, level)).sum();
        self.layout.nodes[(of_dimension.nodes + before + at) as usize] = list;
    }
}
