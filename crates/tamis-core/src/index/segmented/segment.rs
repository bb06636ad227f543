//! A segment: immutable subscriptions with their ids and texts, and the arrays that match them.
//!
//! Members have local numbers from 0, in order of insertion. All arrays may be mapped from a file.
//!
//! A segment has limits ([`SegmentLimits`](crate::compiled::SegmentLimits)). Members beyond them become several segments:
//! a builder starts another segment after the maximum number of members; a segment that exceeds any other limit, which
//! only building it shows, is divided into halves that are built again from their texts.

use super::members::{Ids, IdsBuilder, Strings, StringsBuilder};
use crate::compiled::{CompiledBuilder, CompiledOptions, CompiledSegment, PatternBudget, SegmentOverflow};
use crate::engine::scoring::WeightedPredicates;
use crate::error::{Error, Result};
use crate::event::Rows;
use crate::expr::{Limits, Missing, Normal, Normalizer, Root, parse};
use crate::index::Id;
use crate::schema::Schema;
use crate::storage::{Array, Sections, SectionsWriter};
use std::sync::Arc;

/// Tags of the sections; those of the ids are smaller, those of the matching arrays larger.
const TEXTS: u32 = 16; // and 17
const SEQUENCES: u32 = 18;
const ALWAYS: u32 = 19;
const NEVER: u32 = 20;

/// See the module's head.
pub(super) struct Segment {
    /// Ids by local number, and local numbers by id.
    pub ids: Ids,
    /// Expressions as they were given, by local number.
    pub texts: Strings,
    /// Positions in the order of insertion, ascending: one per member, or only the first if there are no gaps.
    sequences: Array<u64>,
    /// Members that match every event, ascending; the matching arrays omit them.
    pub always: Array<u32>,
    /// Members that match no event, ascending; the matching arrays omit them.
    never: Array<u32>,
    /// The arrays that match all other members.
    pub compiled: CompiledSegment,
    /// Events observed when it was built; 0 if none of them was used.
    pub observed: u64,
}

impl Segment {
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// A member's position in the order of insertion.
    pub fn sequence(&self, local: u32) -> u64 {
        match self.sequences.as_slice() {
            [first] => first + u64::from(local),
            all => all.get(local as usize).copied().unwrap_or(0),
        }
    }

    /// Number of members before a position in the order of insertion.
    pub fn members_before(&self, sequence: u64) -> u32 {
        let before = match self.sequences.as_slice() {
            [first] => sequence.saturating_sub(*first).min(self.len() as u64) as usize,
            all => all.partition_point(|of_member| *of_member < sequence),
        };
        before as u32
    }

    /// Bytes of ids with their lookup table, and of texts.
    pub fn memory(&self) -> (usize, usize) {
        (self.ids.memory() + self.sequences.memory() + self.never.memory(), self.texts.memory())
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
    pub fn open(
        sections: &Sections,
        options: &CompiledOptions,
        limits: &Limits,
        budget: &PatternBudget,
    ) -> Result<Segment, String> {
        let texts = Strings::open(TEXTS, sections)?;
        let compiled = CompiledSegment::open(sections, options, limits, budget)?;
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
            return Err(format!("{} positions in the order of {len} members", segment.sequences.len()));
        }
        if segment.compiled.len() != len {
            return Err(format!("{} expressions for {len} members", segment.compiled.len()));
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

/// What building a segment depends on besides its members.
pub(super) struct SegmentInputs<'b> {
    /// Limits of expressions, with which the members were parsed.
    pub limits: &'b Limits,
    pub missing: Missing,
    /// Has the attributes of all members.
    pub schema: &'b Arc<Schema>,
    /// Attributes that events may have: at least those of the schema.
    pub attributes: usize,
    /// Typical events, if some are known.
    pub sample: Option<&'b Rows>,
    /// Events observed so far; 0 without a sample.
    pub observed: u64,
}

/// The segments of a [`SegmentsBuilder`].
#[derive(Default)]
pub(super) struct BuiltSegments {
    pub segments: Vec<Segment>,
    /// The smallest number of members that exceeded a limit, if some did.
    pub smallest_overflow: Option<usize>,
}

/// A member that is added to a segment.
#[derive(Clone, Copy)]
pub(super) struct NewMember<'m> {
    /// Not there yet.
    pub id: &'m Id,
    /// The expression as given.
    pub text: &'m str,
    /// Position in insertion order: greater than all before.
    pub sequence: u64,
    pub normal: &'m Normal,
    /// Its predicates as written.
    pub weighted: &'m WeightedPredicates,
}

/// Takes members in order of insertion and builds one segment of them, or several if they exceed its limits.
pub(super) struct SegmentsBuilder {
    options: CompiledOptions,
    /// Builders with the maximum number of members, and the current one last.
    builders: Vec<SegmentBuilder>,
    len: usize,
}

impl SegmentsBuilder {
    pub fn new(options: &CompiledOptions) -> SegmentsBuilder {
        SegmentsBuilder { options: *options, builders: Vec::new(), len: 0 }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn contains(&self, id: &Id) -> bool {
        self.builders.iter().any(|builder| builder.ids.contains(id))
    }

    /// Adds a member.
    pub fn push(&mut self, member: NewMember<'_>) {
        self.len += 1;
        let max_members = self.options.limits.expressions.max(1) as usize;
        match self.builders.last_mut() {
            Some(builder) if builder.sequences.len() < max_members => builder.push(member),
            _ => {
                let mut builder = SegmentBuilder::new(&self.options);
                builder.push(member);
                self.builders.push(builder);
            }
        }
    }

    /// Builds the segments. Fails only if a single member exceeds a limit, or the schema does.
    pub fn finish(self, inputs: &SegmentInputs<'_>) -> Result<BuiltSegments> {
        let mut built = BuiltSegments::default();
        for builder in self.builders {
            builder.finish_divided(&self.options, inputs, &mut built)?;
        }
        Ok(built)
    }
}

/// Takes the members of one segment in order of insertion.
struct SegmentBuilder {
    ids: IdsBuilder,
    texts: StringsBuilder,
    sequences: Vec<u64>,
    always: Vec<u32>,
    never: Vec<u32>,
    compiled: CompiledBuilder,
}

impl SegmentBuilder {
    fn new(options: &CompiledOptions) -> SegmentBuilder {
        SegmentBuilder {
            ids: IdsBuilder::new(),
            texts: StringsBuilder::new(),
            sequences: Vec::new(),
            always: Vec::new(),
            never: Vec::new(),
            compiled: CompiledBuilder::new(options),
        }
    }

    /// Adds a member. There are fewer than the limit of expressions, so its number fits.
    fn push(&mut self, NewMember { id, text, sequence, normal, weighted }: NewMember<'_>) {
        let local = self.sequences.len() as u32;
        self.ids.push(id);
        self.texts.push(text);
        self.sequences.push(sequence);
        match normal.root() {
            Root::Node(_) => self.compiled.add(normal, weighted),
            constant => {
                self.compiled.skip(weighted);
                let list = if constant == Root::Always { &mut self.always } else { &mut self.never };
                list.push(local);
            }
        }
    }

    /// Builds a segment, or segments of both halves if it exceeds a limit.
    fn finish_divided(
        self,
        options: &CompiledOptions,
        inputs: &SegmentInputs<'_>,
        built: &mut BuiltSegments,
    ) -> Result<()> {
        let members = self.sequences.len();
        let (overflow, (ids, texts, sequences)) = match self.finish(inputs) {
            Ok(segment) => {
                built.segments.push(segment);
                return Ok(());
            }
            Err(overflow) => *overflow,
        };
        if members < 2 || !overflow.divisible {
            return Err(overflow.into());
        }
        built.smallest_overflow = Some(built.smallest_overflow.map_or(members, |least| least.min(members)));
        let (mut normalizer, mut weighted) = (Normalizer::default(), WeightedPredicates::default());
        let mut schema = inputs.schema.clone();
        for half in [0..members / 2, members / 2..members] {
            let mut builder = SegmentBuilder::new(options);
            for local in half {
                let text = texts.get(local).ok_or_else(|| Error::Internal("a text is not UTF-8".into()))?;
                let expr = parse(text, inputs.limits)?;
                let normal = normalizer.normalize(&expr, &mut schema, inputs.missing);
                weighted.set(&expr, &schema, inputs.missing)?;
                let (id, sequence) = (&ids.get(local), sequences[local]);
                builder.push(NewMember { id, text, sequence, normal, weighted: &weighted });
            }
            builder.finish_divided(options, inputs, built)?;
        }
        Ok(())
    }

    /// Builds a segment; gives the members back if it exceeds a limit.
    fn finish(self, inputs: &SegmentInputs<'_>) -> Result<Segment, Box<(SegmentOverflow, Members)>> {
        let (ids, texts) = (self.ids.finish(), self.texts.finish());
        let compiled = match self.compiled.finish(inputs.attributes, inputs.sample) {
            Ok(compiled) => compiled,
            Err(overflow) => return Err(Box::new((overflow, (ids, texts, self.sequences)))),
        };
        let without_gaps = self.sequences.is_sorted_by(|a, b| a.checked_add(1) == Some(*b));
        let kept = if without_gaps { 1 } else { self.sequences.len() };
        let mut sequences = self.sequences;
        sequences.truncate(kept);
        Ok(Segment {
            ids,
            texts,
            sequences: sequences.into(),
            always: self.always.into(),
            never: self.never.into(),
            compiled,
            observed: inputs.observed,
        })
    }
}

/// Ids, texts and sequences.
type Members = (Ids, Strings, Vec<u64>);
