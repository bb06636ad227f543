//! The arrays of a segment as sections of a file, and back.

use crate::compiled::arena::bounds;
use crate::compiled::arena::complex_test::ComplexTests;
use crate::compiled::arena::test_costs::TestCosts;
use crate::compiled::arena::test_encoding::TestEncoding;
use crate::compiled::limits::ArenaOffset;
use crate::compiled::matching::strategy::ModeChooser;
use crate::compiled::options::CompiledOptions;
use crate::compiled::scores::Scores;
use crate::compiled::segment::CompiledSegment;
use crate::compiled::values::pattern_budget::PatternBudget;
use crate::compiled::values::spaces::ValueSpaces;
use crate::compiled::values::string_predicates::StringPredicates;
use crate::expr::Limits;
use crate::schema::AttrId;
use crate::storage::{Array, Sections, SectionsWriter};

/// Tags of the sections. Smaller ones belong to the index around the segment.
const HEAD: u32 = 64;
const STATISTICS: u32 = 65;
const ELEMENTS: u32 = 66;
const DIMENSIONS: u32 = 67;
const NODES: u32 = 68;
const ARENA: u32 = 69;
const SPACES: u32 = 70; // to 78
const COMPLEX: u32 = 80; // to 83
const STRINGS: u32 = 90; // to 92
const PRESENCE: u32 = 93;
const SCORES: u32 = 94; // to 100

/// Flags of the head.
const NEEDS_DEDUP: u64 = 1;
const BATCHABLE: u64 = 2;

impl CompiledSegment {
    /// Writes all arrays.
    pub fn write(&self, out: &mut SectionsWriter) {
        let flag = |is_set: bool, flag: u64| if is_set { flag } else { 0 };
        let head = [
            self.len as u64,
            self.attributes as u64,
            u64::from(self.encoding.to_number()),
            u64::from(self.everywhere.get()),
            flag(self.needs_dedup, NEEDS_DEDUP) | flag(self.batchable, BATCHABLE),
            u64::from(self.complex.memos),
        ];
        out.put(HEAD, &head);
        out.put(STATISTICS, &self.statistics);
        out.put(PRESENCE, &self.presence);
        out.put(ELEMENTS, &self.elements);
        out.put(DIMENSIONS, &self.dimensions);
        out.put(NODES, &self.nodes);
        out.put(ARENA, &self.arena);
        self.spaces.write(out, SPACES);
        self.complex.write(out, COMPLEX);
        self.strings.write(out, STRINGS);
        self.scores.write(out, SCORES);
    }

    /// What [`CompiledSegment::write`] wrote. Nothing is built except the automata of patterns.
    pub fn open(
        sections: &Sections,
        options: &CompiledOptions,
        limits: &Limits,
        budget: &PatternBudget,
    ) -> Result<CompiledSegment, String> {
        let head: Array<u64> = sections.take(HEAD)?;
        let &[len, attributes, encoding, everywhere, flags, memos] = head.as_slice() else {
            return Err("the head of a segment is damaged".into());
        };
        let small =
            |number: u64| u32::try_from(number).map_err(|_| "a number in a segment's head is too large");
        let spaces = ValueSpaces::open(sections, SPACES)?;
        let mut segment = CompiledSegment {
            len: len as usize,
            attributes: attributes as usize,
            encoding: TestEncoding::from_number(small(encoding)?)?,
            everywhere: ArenaOffset::from_word(small(everywhere)?),
            needs_dedup: flags & NEEDS_DEDUP != 0,
            batchable: flags & BATCHABLE != 0,
            elements: sections.take(ELEMENTS)?,
            complex: ComplexTests::open(sections, COMPLEX, small(memos)?)?,
            strings: StringPredicates::open(sections, STRINGS, limits, budget)?,
            dimensions: sections.take(DIMENSIONS)?,
            nodes: sections.take(NODES)?,
            arena: sections.take(ARENA)?,
            statistics: sections.take(STATISTICS)?,
            presence: sections.take(PRESENCE)?,
            scores: Scores::open(sections, SCORES, len as usize, attributes as usize)?,
            chooser: ModeChooser::new(options.mode),
            spaces,
        };
        if segment.dimensions.len() != segment.spaces.len() || segment.attributes > segment.spaces.len() {
            return Err("the dimensions of a segment do not fit together".into());
        }
        segment.check_extra_dimensions()?;
        segment.check_tests()?;
        Ok(segment)
    }

    /// Checks that list elements and patterns have attributes that exist, and dimensions of their own.
    fn check_extra_dimensions(&self) -> Result<(), String> {
        let elements = self.elements.iter().map(|[attribute, dimension]| (AttrId(*attribute), *dimension));
        let mut taken = vec![false; self.spaces.len()];
        for (attribute, dimension) in elements.chain(self.strings.dimensions()) {
            let own = dimension as usize >= self.attributes && attribute.index() < self.attributes;
            match taken.get_mut(dimension as usize) {
                Some(taken) if own && !*taken => *taken = true,
                _ => {
                    return Err(format!(
                        "dimension {dimension} belongs to no pattern or list, or to several"
                    ));
                }
            }
        }
        if !self.elements.is_sorted_by(|a, b| a[0] < b[0]) {
            return Err("the attributes of lists do not ascend".into());
        }
        Ok(())
    }

    /// Checks the tests and the arena, and keeps what events evaluate proportional to the segment.
    fn check_tests(&mut self) -> Result<(), String> {
        let nesting = self.complex.check_bounds(&self.spaces.view(), self.strings.len())?;
        let mut costs = TestCosts::new(&self.complex, nesting);
        bounds::check(&self.view(), &mut costs)?;
        self.scores.check_tests(&self.spaces.view(), self.complex.entries.len(), &mut costs)?;
        let tokens = self.scores.tokens.tokens.len() / 4;
        let words = self.arena.len() + self.complex.subexpression_tests.len() + tokens;
        if !costs.fit_events(words) {
            self.complex = self.complex.with_memos();
        }
        self.batchable &= costs.fit_batches(words);
        Ok(())
    }
}
