//! `compiled`: what the papers teach, laid out flat, immutable and shareable.
//!
//! Idea:
//! 1. Every value of an event becomes the number of a space (PS-Tree); after that a predicate is
//!    `low <= space <= high`, whatever its type ([`values::spaces`], [`build::conditions`]).
//! 2. Every expression is found through few of its predicates, of which one must hold ([`build::cover`]); the least likely
//!    ones, by observed events or by the subscriptions themselves ([`build::profile`]).
//! 3. Conjunctions wait where few events come by ([`build::placement`]), with the rest of their tests right beside what leads to
//!    them ([`arena::writer`]); sixteen intervals are compared at once, and eight tests ([`matching::simd`]).
//! 4. Subexpressions are kept once; those that several refer to are evaluated once an event ([`cover::Programs`]).
//! 5. Up to 512 events walk through together where that is faster, with one bit each where several meet ([`matching::batch`]).
//!
//! | file | question it answers |
//! | --- | --- |
//! | `spaces` | which space does a value belong to? |
//! | `conditions` | what is a predicate in spaces? |
//! | `words` | how does a test fit into four or eight bytes? |
//! | `textual` | which patterns does a text match? |
//! | `cover` | through which predicates is an expression found? |
//! | `profile` | how likely is a predicate? |
//! | `plan` | where does a conjunction wait for its events? |
//! | `layout` | how do lists and tables lie in memory? |
//! | `lanes` | which of sixteen intervals contain a value, which of eight tests hold? |
//! | `records` | how are they read? |
//! | `rows` | which rows hold? |
//! | `located` | what is an event in spaces? |
//! | `shorts` | what do tests in four bytes see of it? |
//! | `evaluating` | does a test hold for an event? |
//! | `matching` | what does one event match? |
//! | `seen` | how is an expression reported once? |
//! | `batch` | what do many events match together? |
//! | `company` | which of a few have keys that fit? |
//! | `masks` | which of many satisfy a test? |
//! | `paths` | one by one, or together? |
//! | `view` | what do all of these see of a segment? |
//! | `check` | does everything that is laid out lead to something? |
//! | `explain` | what was laid out for an expression? |
//!
//! Invariants: every expression is TRUE exactly if one of its alternatives is; every alternative is reachable from
//! each event that satisfies it; an expression with several alternatives is marked, so that it is reported once.
//!
//! Cost: a few tens of bytes a subscription, in arrays that can be mapped from a file; nothing can be changed.
//! Additions, removals and merging are the index's business.

mod arena;
mod build;
mod explain;
mod info;
mod matching;
mod values;
mod view;

pub use explain::PlannedAlternative;
pub(crate) use info::INFO;
pub(crate) use matching::batch::Batch;
pub(crate) use matching::single::CompiledScratch;

use crate::engine::registry::OptionValues;
use crate::engine::shared::predicates::Predicates;
use crate::error::Result;
use crate::event::Rows;
use crate::expr::{Limits, Normal};
use crate::storage::{Array, Sections, SectionsWriter};
use arena::test_encoding::Format;
use arena::writer::Dimension;
use build::conditions::{Conditions, Table};
use build::cover::{Cover, Expressions, REPEATED};
use build::profile::Profile;
use matching::strategy::Paths;
use std::ops::Range;
use values::spaces::Spaces;
use values::string_predicates::Textuals;
use view::View;

/// What users choose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CompiledOptions {
    /// Whether many events are matched together, or one by one; `None`: whichever is faster.
    together: Option<bool>,
}

impl CompiledOptions {
    /// Reads the options of the engine's table.
    pub fn new(options: &OptionValues) -> CompiledOptions {
        let together = match options.choice("path") {
            "one_by_one" => Some(false),
            "together" => Some(true),
            _ => None,
        };
        CompiledOptions { together }
    }
}

/// Takes expressions one after another and lays them out.
pub(crate) struct Builder {
    options: CompiledOptions,
    predicates: Predicates,
    expressions: Expressions,
}

impl Builder {
    pub fn new(options: &CompiledOptions) -> Builder {
        Builder { options: *options, predicates: Predicates::default(), expressions: Expressions::default() }
    }

    /// The next expression; the first has number 0.
    pub fn add(&mut self, expression: &Normal) {
        self.expressions.add(expression, &mut self.predicates);
    }

    /// The next number has no expression here.
    pub fn skip(&mut self) {
        self.expressions.skip();
    }

    /// Lays everything out for events with so many attributes; `sample` says what they are like.
    pub fn finish(self, attributes: usize, sample: Option<&Rows>) -> Compiled {
        let Builder { options, predicates, expressions } = self;
        let mut conditions = Conditions::new(&predicates, attributes);
        let textuals = Textuals::new(std::mem::take(&mut conditions.textual));
        let profile = Profile::new(&mut conditions, &textuals, &predicates, attributes, sample);
        let distinct = predicates.len() as u64;
        drop(predicates);
        let mut cover = Cover::new(&conditions.conditions);
        (0..expressions.len()).for_each(|number| cover.add(&expressions, number));
        let (alternatives, programs) = (cover.alternatives, cover.programs);
        let len = expressions.len();
        drop(expressions);
        let placement = build::placement::place(&conditions, &alternatives, &profile);
        let places = placement.placed.len() as u64;
        let repeats = (0..alternatives.len()).any(|number| alternatives.target(number) & REPEATED != 0)
            || !conditions.elements.is_empty();
        let count = alternatives.len() as u64;
        let layout = arena::writer::write(&mut conditions, &alternatives, &programs, &placement);
        let together = !layout.complex.iter().any(|complex| complex.asks_each_event(&conditions.intervals));
        let figures = [
            distinct,
            count,
            places,
            programs.len() as u64,
            layout.tables,
            layout.pairs,
            layout.groups,
            layout.lists,
        ];
        Compiled {
            len,
            attributes,
            format: layout.format,
            everywhere: layout.everywhere,
            repeats,
            together,
            spaces: conditions.spaces,
            elements: conditions.elements.into(),
            table: Table {
                entries: layout
                    .complex
                    .into_iter()
                    .map(build::conditions::Complex::to_words)
                    .collect::<Vec<_>>()
                    .into(),
                intervals: conditions.intervals.into(),
                bits: conditions.bits.into(),
                programs: layout.programs.into(),
                memos: layout.memos,
            },
            textuals,
            dimensions: layout.dimensions.into(),
            nodes: layout.nodes.into(),
            arena: layout.arena.into(),
            figures: figures.to_vec().into(),
            presence: profile.presence.into(),
            paths: Paths::new(options.together),
        }
    }
}

/// Many expressions, laid out. See the module's head.
#[derive(Debug)]
pub(crate) struct Compiled {
    len: usize,
    attributes: usize,
    format: Format,
    everywhere: u32,
    repeats: bool,
    /// Whether every test can be put to many events at once.
    together: bool,
    spaces: Spaces,
    /// Attributes with a dimension for their elements.
    elements: Array<[u32; 2]>,
    table: Table,
    textuals: Textuals,
    dimensions: Array<Dimension>,
    nodes: Array<u32>,
    arena: Array<u32>,
    figures: Array<u64>,
    /// By dimension: the estimated share of events that have it.
    presence: Array<f32>,
    /// What both ways to match many events have cost so far.
    paths: Paths,
}

/// Names of the figures, in the order of [`Compiled::figures`].
const FIGURES: [&str; 8] =
    ["distinct_predicates", "alternatives", "places", "subexpressions", "scans", "pairs", "groups", "lists"];

impl Compiled {
    pub fn scratch() -> CompiledScratch {
        CompiledScratch::default()
    }

    fn view(&self) -> View<'_> {
        View {
            format: self.format,
            attributes: self.attributes,
            len: self.len,
            spaces: self.spaces.view(),
            elements: &self.elements,
            dimensions: &self.dimensions,
            nodes: &self.nodes,
            arena: &self.arena,
            everywhere: self.everywhere,
            entries: &self.table.entries,
            intervals: &self.table.intervals,
            bits: &self.table.bits,
            programs: &self.table.programs,
            memos: self.table.memos,
            textuals: &self.textuals,
            repeats: self.repeats,
            together: self.together,
        }
    }

    /// Replaces what `found` holds by the matches of all rows of a range, which were read with so many attributes: the
    /// numbers of all expressions that an event satisfies, each once, in any order.
    pub fn match_rows(
        &self,
        rows: &Rows,
        range: Range<usize>,
        attributes: usize,
        scratch: &mut CompiledScratch,
        found: &mut Batch,
    ) {
        found.ends.clear();
        found.subs.clear();
        self.paths.match_rows(&self.view(), rows, range, attributes, scratch, found);
    }

    /// How many numbers were given, those without an expression included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes in use, near enough.
    pub fn memory(&self) -> usize {
        self.spaces.memory()
            + self.elements.memory()
            + self.table.memory()
            + self.textuals.memory()
            + self.dimensions.memory()
            + self.nodes.memory()
            + self.arena.memory()
            + self.presence.memory()
    }

    /// Figures for people.
    pub fn stats(&self) -> Vec<(&'static str, u64)> {
        let mut stats: Vec<_> = FIGURES.into_iter().zip(self.figures.iter().copied()).collect();
        stats.push(("patterns", self.textuals.len() as u64));
        stats.push(("dimensions", self.spaces.len() as u64));
        stats.extend(self.paths.stats());
        stats
    }

    /// Writes all arrays as sections.
    pub fn write(&self, out: &mut SectionsWriter) {
        let head = [
            self.len as u64,
            self.attributes as u64,
            u64::from(self.format.to_word()),
            u64::from(self.everywhere),
            u64::from(self.repeats) | u64::from(self.together) << 1,
            u64::from(self.table.memos),
        ];
        out.put(HEAD, &head);
        out.put(FIGURE_TAG, &self.figures);
        out.put(PRESENCE, &self.presence);
        out.put(ELEMENTS, &self.elements);
        out.put(DIMENSIONS, &self.dimensions);
        out.put(NODES, &self.nodes);
        out.put(ARENA, &self.arena);
        self.spaces.write(out, SPACES);
        self.table.write(out, TABLE);
        self.textuals.write(out, TEXTUALS);
    }

    /// What [`Compiled::write`] wrote, without building anything but the automata of patterns.
    pub fn open(sections: &Sections, options: &CompiledOptions, limits: &Limits) -> Result<Compiled, String> {
        let head: Array<u64> = sections.take(HEAD)?;
        let &[len, attributes, format, everywhere, flags, memos] = head.as_slice() else {
            return Err("the head of a segment is damaged".into());
        };
        let small =
            |number: u64| u32::try_from(number).map_err(|_| "a number in a segment's head is too large");
        let spaces = Spaces::open(sections, SPACES)?;
        let compiled = Compiled {
            len: len as usize,
            attributes: attributes as usize,
            format: Format::from_word(small(format)?)?,
            everywhere: small(everywhere)?,
            repeats: flags & 1 == 1,
            together: flags & 2 == 2,
            elements: sections.take(ELEMENTS)?,
            table: Table::open(sections, TABLE, small(memos)?)?,
            textuals: Textuals::open(sections, TEXTUALS, limits, spaces.len())?,
            dimensions: sections.take(DIMENSIONS)?,
            nodes: sections.take(NODES)?,
            arena: sections.take(ARENA)?,
            figures: sections.take(FIGURE_TAG)?,
            presence: sections.take(PRESENCE)?,
            paths: Paths::new(options.together),
            spaces,
        };
        if compiled.dimensions.len() != compiled.spaces.len() || compiled.attributes > compiled.spaces.len() {
            return Err("the dimensions of a segment do not fit together".into());
        }
        // There is room for as many results while an event is matched.
        if compiled.table.memos as usize > compiled.table.entries.len() {
            return Err("more results to keep than a segment has programs".into());
        }
        Ok(compiled)
    }

    /// Checks every invariant; the error names the broken one.
    pub fn validate(&self) -> Result<(), String> {
        self.spaces.validate()?;
        arena::check::check(&self.view())
    }
}

/// Tags of the sections. Smaller ones belong to the segment around this.
const HEAD: u32 = 64;
const FIGURE_TAG: u32 = 65;
const ELEMENTS: u32 = 66;
const DIMENSIONS: u32 = 67;
const NODES: u32 = 68;
const ARENA: u32 = 69;
const SPACES: u32 = 70;
const TABLE: u32 = 80;
const TEXTUALS: u32 = 90;
const PRESENCE: u32 = 93;
