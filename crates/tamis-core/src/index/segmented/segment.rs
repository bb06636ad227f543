//! A segment: subscriptions that do not change any more, and the structure that matches them.
//!
//! Members have local numbers, 0 and up, in order of insertion. All arrays may lie in a mapped file.

use super::members::{Ids, IdsBuilder, Strings, StringsBuilder};
use crate::compiled::{Builder, Compiled, CompiledOptions};
use crate::event::Rows;
use crate::expr::{Limits, Normal, Root};
use crate::index::Id;
use crate::storage::{Array, Sections, SectionsWriter};

/// Tags of the sections; those of the ids are smaller, those of the structure greater.
const TEXTS: u32 = 16; // and 17
const SEQUENCES: u32 = 18;
const ALWAYS: u32 = 19;
const NEVER: u32 = 20;

/// See the module's head.
pub(super) struct Segment {
    pub ids: Ids,
    /// Expressions as they were given.
    pub texts: Strings,
    /// Places in the order of insertion, ascending: one per member, or only the first if they have no gaps.
    sequences: Array<u64>,
    /// Members that match every event, ascending; the structure has not got them.
    pub always: Array<u32>,
    /// Members that match no event, ascending; the structure has not got them.
    never: Array<u32>,
    pub compiled: Compiled,
    /// How many events had been observed when it was built; 0 if they were not asked.
    pub observed: u64,
}

impl Segment {
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// A member's place in the order of insertion.
    pub fn sequence(&self, local: u32) -> u64 {
        match self.sequences.as_slice() {
            [first] => first + u64::from(local),
            all => all.get(local as usize).copied().unwrap_or(0),
        }
    }

    /// Bytes of ids with all that finds them, and of texts.
    pub fn memory(&self) -> (usize, usize) {
        (self.ids.memory() + self.sequences.memory(), self.texts.memory())
    }

    /// Writes all sections into the current group.
    pub fn write(&self, out: &mut SectionsWriter<'_>) {
        self.ids.write(out);
        self.texts.write(TEXTS, out);
        out.put(SEQUENCES, &self.sequences);
        out.put(ALWAYS, &self.always);
        out.put(NEVER, &self.never);
        self.compiled.write(out);
    }

    /// The segment that a group of sections holds.
    pub fn open(sections: &Sections, options: &CompiledOptions, limits: &Limits) -> Result<Segment, String> {
        let texts = Strings::open(TEXTS, sections)?;
        let compiled = Compiled::open(sections, options, limits)?;
        let segment = Segment {
            ids: Ids::open(texts.len(), sections)?,
            texts,
            sequences: sections.take(SEQUENCES)?,
            always: sections.take(ALWAYS)?,
            never: sections.take(NEVER)?,
            compiled,
            observed: 0,
        };
        let len = segment.len();
        if len == 0 || u32::try_from(len).is_err() {
            return Err(format!("a segment of {len} members"));
        }
        let last = segment.sequences.last().and_then(|last| last.checked_add(len as u64));
        if ![1, len].contains(&segment.sequences.len()) || last.is_none() {
            return Err(format!("{} places in the order of {len} members", segment.sequences.len()));
        }
        if segment.compiled.len() != len {
            return Err(format!("a structure of {} expressions for {len} members", segment.compiled.len()));
        }
        for constant in [&segment.always, &segment.never] {
            let ascends = constant.is_sorted_by(|a, b| a < b);
            if !ascends || constant.last().is_some_and(|last| *last as usize >= len) {
                return Err("a list of constant members that does not ascend within the segment".into());
            }
        }
        Ok(segment)
    }

    pub fn validate(&self) -> Result<(), String> {
        self.ids.validate(self.len())?;
        self.texts.validate()?;
        self.compiled.validate()?;
        let sequences: Vec<u64> = (0..self.len() as u32).map(|local| self.sequence(local)).collect();
        if !sequences.is_sorted_by(|a, b| a < b) {
            return Err("segment: local numbers are not in order of insertion".into());
        }
        if self.always.iter().any(|local| self.never.binary_search(local).is_ok()) {
            return Err("segment: a member is always and never true".into());
        }
        Ok(())
    }
}

/// Takes members in order of insertion.
pub(super) struct SegmentBuilder {
    ids: IdsBuilder,
    texts: StringsBuilder,
    sequences: Vec<u64>,
    always: Vec<u32>,
    never: Vec<u32>,
    compiled: Builder,
}

impl SegmentBuilder {
    pub fn new(options: &CompiledOptions) -> SegmentBuilder {
        SegmentBuilder {
            ids: IdsBuilder::new(),
            texts: StringsBuilder::new(),
            sequences: Vec::new(),
            always: Vec::new(),
            never: Vec::new(),
            compiled: Builder::new(options),
        }
    }

    pub fn len(&self) -> usize {
        self.sequences.len()
    }

    pub fn contains(&self, id: &Id) -> bool {
        self.ids.contains(id)
    }

    /// Takes the next member, which is not there yet and whose sequence is greater than all before. At most 2^32 - 1.
    pub fn push(&mut self, id: &Id, text: &str, sequence: u64, normal: &Normal) {
        let local = self.sequences.len() as u32;
        self.ids.push(id);
        self.texts.push(text);
        self.sequences.push(sequence);
        match normal.root() {
            Root::Node(_) => self.compiled.add(normal),
            constant => {
                self.compiled.skip();
                let list = if constant == Root::Always { &mut self.always } else { &mut self.never };
                list.push(local);
            }
        }
    }

    /// `attributes` is the size of the schema, `sample` are some of the `observed` events.
    pub fn finish(self, attributes: usize, sample: Option<&Rows>, observed: u64) -> Segment {
        let without_gaps = self.sequences.is_sorted_by(|a, b| a.checked_add(1) == Some(*b));
        let kept = if without_gaps { 1 } else { self.sequences.len() };
        let mut sequences = self.sequences;
        sequences.truncate(kept);
        Segment {
            ids: self.ids.finish(),
            texts: self.texts.finish(),
            sequences: sequences.into(),
            always: self.always.into(),
            never: self.never.into(),
            compiled: self.compiled.finish(attributes, sample),
            observed,
        }
    }
}
