//! Which segments are merged, and how, while updates go on.
//!
//! Segments fall into size classes by their number of live members: up to `recent * fanout`, up to `recent * fanout^2`,
//! and so on. Two of one class are merged, which often makes one of the next class. So there is about one segment per
//! class, and a subscription is rewritten a few times per class.
//!
//! Segments are merged only if the sum of their sizes is within the limits of a segment ([`MergeEstimate`]): members,
//! dimensions and strings are upper bounds of the result, the words of the arena an estimate with a margin of two. A
//! merge that exceeds a limit all the same is divided, and no merge of as many members is planned again.
//!
//! A merge starts from the texts: they are parsed and normalized against the schema, which has all their attributes. No
//! lock is held meanwhile. Members that are removed or replaced in the meantime are marked in the result before it is
//! published.

use super::Shared;
use super::background::SegmentReading;
use super::sample::renumbered;
use super::segment::{BuiltSegments, NewMember, Segment, SegmentInputs, SegmentsBuilder};
use super::snapshot::{LiveSegment, Snapshot};
use super::update::WriterState;
use crate::compiled::{SegmentLimits, SegmentSize};
use crate::engine::scoring::WeightedPredicates;
use crate::error::{Error, Interruption, Result};
use crate::expr::{Normalizer, parse};
use crate::index::parsing::parse_ahead;
use crate::schema::Schema;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Number of segments from which on writers merge small ones: more than there are size classes.
const CROWDED: usize = 12;

/// What is damaged if a member has an attribute that the schema does not have.
pub(super) const UNKNOWN_ATTRIBUTE: &str = "an attribute is unknown";

/// A segment contradicts itself or the snapshot.
pub(super) fn damaged(what: &str) -> Error {
    Error::Internal(format!("a segment is damaged: {what}"))
}

/// What a merge of some segments would need.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MergeEstimate {
    /// Members of the result.
    live: usize,
    /// Sums over the segments; the attributes are those of the schema.
    size: SegmentSize,
}

impl MergeEstimate {
    /// Of no segments of a snapshot.
    pub fn new(snapshot: &Snapshot) -> MergeEstimate {
        let attributes = snapshot.schema.len();
        MergeEstimate { live: 0, size: SegmentSize { attributes, ..SegmentSize::default() } }
    }

    /// With one segment more.
    pub fn with(&self, candidate: &LiveSegment) -> MergeEstimate {
        let (size, more) = (&self.size, candidate.segment.compiled.size());
        MergeEstimate {
            live: self.live + candidate.live(),
            size: SegmentSize {
                arena_words: size.arena_words + more.arena_words,
                attributes: size.attributes.max(more.attributes),
                extra_dimensions: size.extra_dimensions + more.extra_dimensions,
                string_bytes: size.string_bytes + more.string_bytes,
            },
        }
    }

    /// Whether one segment can hold the result. Where alternatives are placed depends on all of them, so the arena may
    /// become larger than the sum: half of the limit is left for that.
    fn fits(&self, limits: &SegmentLimits) -> bool {
        let dimensions = self.size.attributes + self.size.extra_dimensions;
        self.live <= limits.expressions as usize
            && self.size.arena_words <= limits.arena_words as usize / 2
            && dimensions <= limits.dimensions as usize
            && self.size.string_bytes <= limits.string_bytes as usize
    }
}

impl Shared {
    /// The size class of a segment with this many live members, from 0.
    fn class(&self, live: usize) -> u32 {
        let (mut class, mut largest) = (0, self.options.recent.saturating_mul(self.options.fanout));
        while live > largest {
            class += 1;
            largest = largest.saturating_mul(self.options.fanout);
        }
        class
    }

    /// Whether a merge is expected to make one segment.
    pub fn fits(&self, estimate: &MergeEstimate) -> bool {
        let below_overflow =
            self.background.smallest_overflow().is_none_or(|members| estimate.live < members);
        below_overflow && estimate.fits(&self.options.compiled.limits)
    }

    /// The segments to be merged next, or the one to be rewritten; empty if there is nothing to do.
    pub fn plan(&self, snapshot: &Snapshot) -> Vec<LiveSegment> {
        self.plan_within(snapshot, &[], usize::MAX)
    }

    /// As [`Shared::plan`], without segments that are being merged and for at most `max_live` live members.
    fn plan_within(&self, snapshot: &Snapshot, busy: &[Arc<Segment>], max_live: usize) -> Vec<LiveSegment> {
        let is_free =
            |candidate: &&LiveSegment| !busy.iter().any(|segment| Arc::ptr_eq(segment, &candidate.segment));
        let mut candidates: Vec<&LiveSegment> = snapshot.segments.iter().filter(is_free).collect();
        candidates.sort_by_key(|candidate| candidate.live());
        let mut chosen: Vec<LiveSegment> = Vec::new();
        let mut estimate = MergeEstimate::new(snapshot);
        for candidate in &candidates {
            if estimate.live + candidate.live() > max_live {
                break;
            }
            let is_larger = self.class(candidate.live()) > self.class(estimate.live);
            if !chosen.is_empty() && (is_larger || !self.fits(&estimate.with(candidate))) {
                if chosen.len() > 1 {
                    break;
                }
                chosen.clear();
                estimate = MergeEstimate::new(snapshot);
            }
            chosen.push(LiveSegment::clone(candidate));
            estimate = estimate.with(candidate);
        }
        if chosen.len() > 1 {
            return chosen;
        }
        let is_worn = |candidate: &&&LiveSegment| {
            candidate.tombstones.count() * 3 > candidate.segment.len() && candidate.live() <= max_live
        };
        let worn = candidates.iter().find(is_worn);
        worn.map(|candidate| LiveSegment::clone(candidate)).into_iter().collect()
    }

    /// Merges small segments as a writer, if the background falls behind. Takes milliseconds at most.
    pub fn merge_in_passing(&self, next: &mut Snapshot, writing: &WriterState) {
        if next.segments.len() <= CROWDED || self.background.fault().is_some() {
            return;
        }
        let few = self.options.recent.saturating_mul(self.options.fanout.pow(2));
        let chosen = self.plan_within(next, &writing.busy, few);
        if chosen.is_empty() {
            return;
        }
        let members = self.members_as_numbered(next, &chosen);
        match members.and_then(|(builder, schema)| self.built(builder, &schema)) {
            Ok(segments) => next.substitute(&chosen, segments),
            // The next writer merges.
            Err(Error::Interrupted) => {}
            Err(error) => self.background.fail(error.to_string()),
        }
    }

    /// Merges the segments that [`Shared::plan`] chooses and publishes the result; whether there were some. One merge at a
    /// time; writers see which segments are `busy`.
    pub fn merge(&self) -> Result<bool> {
        let _alone = self.background.alone();
        let reading = self.read_segments()?;
        let (snapshot, chosen) = {
            let mut writing = self.writing.lock();
            let snapshot = self.snapshot();
            let chosen = self.plan(&snapshot);
            if chosen.is_empty() {
                return Ok(false);
            }
            writing.busy = chosen.iter().map(|candidate| candidate.segment.clone()).collect();
            (snapshot, chosen)
        };
        let mut schema = snapshot.schema.clone();
        let merged = self.merged(&chosen, &mut schema, reading);
        let mut writing = self.writing.lock();
        writing.busy.clear();
        let mut next = Snapshot::clone(&self.snapshot());
        let (merged, _reading) = merged?;
        if !schema.is_same(&snapshot.schema) {
            return Err(damaged(UNKNOWN_ATTRIBUTE));
        }
        next.substitute(&chosen, merged);
        self.publish(next);
        self.compactions.fetch_add(1, Ordering::Relaxed);
        Ok(true)
    }

    /// Segments of all live members of some segments: one, or several if they exceed its limits. The right to read is given
    /// back while they are built, which takes long and needs only copies, and then taken again.
    pub fn merged<'s>(
        &'s self,
        chosen: &[LiveSegment],
        schema: &mut Arc<Schema>,
        reading: SegmentReading<'s>,
    ) -> Result<(Vec<Segment>, SegmentReading<'s>)> {
        let builder = self.members_of(chosen, schema)?;
        drop(reading);
        // An interrupted call of `compact` unwinds out of building; the segments must not stay busy then.
        let segments = Error::catch(|| self.built(builder, schema)).flatten()?;
        Ok((segments, self.read_segments()?))
    }

    /// All live members of some segments of a snapshot, and its schema, which has all their attributes.
    fn members_as_numbered(
        &self,
        snapshot: &Snapshot,
        chosen: &[LiveSegment],
    ) -> Result<(SegmentsBuilder, Arc<Schema>)> {
        let mut schema = snapshot.schema.clone();
        let builder = self.members_of(chosen, &mut schema)?;
        if schema.is_same(&snapshot.schema) { Ok((builder, schema)) } else { Err(damaged(UNKNOWN_ATTRIBUTE)) }
    }

    /// All live members of some segments, parsed from their texts. The schema, which may be of another generation than that
    /// of the snapshot, numbers their attributes and gains those that it does not have.
    pub fn members_of(&self, chosen: &[LiveSegment], schema: &mut Arc<Schema>) -> Result<SegmentsBuilder> {
        let mut members: Vec<(u64, usize, u32)> = Vec::new();
        for (at, LiveSegment { segment, .. }) in chosen.iter().enumerate() {
            members.extend(chosen[at].live_members().map(|local| (segment.sequence(local), at, local)));
        }
        // A single segment is in order already, which the sort detects in one pass.
        members.sort_unstable();
        let batch = members.into_iter().map(|(sequence, at, local)| {
            let segment = &chosen[at].segment;
            ((sequence, segment, local), segment.texts.get(local as usize))
        });
        let mut builder = SegmentsBuilder::new(&self.options.compiled);
        let (mut normalizer, mut weighted) = (Normalizer::default(), WeightedPredicates::default());
        parse_ahead(
            batch,
            |text| {
                let text = text.ok_or_else(|| damaged("a text is not UTF-8"))?;
                Ok((text, parse(text, &self.limits)?))
            },
            |(sequence, segment, local), parsed| {
                Interruption::check()?;
                let (text, expr) = parsed?;
                if self.stopped.load(Ordering::Relaxed) {
                    return Err(Error::Option("the index was closed during a merge".into()));
                }
                let normal = normalizer.normalize(&expr, schema, self.missing);
                let id = segment.ids.get(local as usize);
                if builder.contains(&id) {
                    return Err(damaged("an id is there twice"));
                }
                weighted.set(&expr, schema, self.missing)?;
                builder.push(NewMember { id: &id, text, sequence, normal, weighted: &weighted });
                Ok(Some(expr))
            },
        )?;
        Ok(builder)
    }

    /// Builds one segment, or several if the members exceed its limits.
    pub fn built(&self, builder: SegmentsBuilder, schema: &Arc<Schema>) -> Result<Vec<Segment>> {
        let (mut sample, observed) = self.sample_for(builder.len());
        let current = self.snapshot().schema.clone();
        let is_renumbered = schema.generation() != current.generation();
        if is_renumbered {
            sample = sample.map(|rows| Arc::new(renumbered(&rows, &current, schema)));
        }
        let BuiltSegments { segments, smallest_overflow } = builder.finish(&SegmentInputs {
            limits: &self.limits,
            missing: self.missing,
            schema,
            // Events of the sample may have attributes that are newer than the snapshot.
            attributes: if is_renumbered { schema.len() } else { current.len().max(schema.len()) },
            sample: sample.as_deref(),
            observed,
        })?;
        self.background.note_overflow(smallest_overflow);
        Ok(segments)
    }
}

impl Snapshot {
    /// Replaces some segments by those of their live members. Members that were removed since are marked in them.
    pub fn substitute(&mut self, chosen: &[LiveSegment], segments: Vec<Segment>) {
        let mut merged: Vec<LiveSegment> =
            segments.into_iter().map(|segment| LiveSegment::new(Arc::new(segment))).collect();
        for then in chosen {
            let gone = match self.segments.iter().position(|now| Arc::ptr_eq(&now.segment, &then.segment)) {
                Some(at) => self.segments.swap_remove(at).tombstones.since(&then.tombstones),
                // Its last member was removed.
                None => then.live_members().collect(),
            };
            for local in gone {
                let id = then.segment.ids.get(local as usize);
                let found = merged
                    .iter_mut()
                    .find_map(|candidate| Some((candidate.segment.ids.find(&id)?, candidate)));
                if let Some((local, candidate)) = found {
                    candidate.tombstones.insert(local);
                }
            }
        }
        self.segments.extend(merged.into_iter().filter(|candidate| candidate.live() > 0));
    }
}

#[cfg(test)]
mod tests;
