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
use super::segment::{BuiltSegments, Segment, SegmentInputs, SegmentsBuilder};
use super::snapshot::{LiveSegment, Snapshot};
use super::update::WriterState;
use crate::compiled::{SegmentLimits, SegmentSize};
use crate::error::{Error, Result};
use crate::expr::{Normalizer, parse};
use crate::index::parsing::parse_ahead;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Number of segments from which on writers merge small ones: more than there are size classes.
const CROWDED: usize = 12;

/// What a merge of some segments would need.
#[derive(Clone, Copy, Debug, Default)]
struct MergeEstimate {
    /// Members of the result.
    live: usize,
    /// Sums over the segments; the attributes are those of the schema.
    size: SegmentSize,
}

impl MergeEstimate {
    /// Of no segments of a snapshot.
    fn new(snapshot: &Snapshot) -> MergeEstimate {
        let attributes = snapshot.schema.len();
        MergeEstimate { live: 0, size: SegmentSize { attributes, ..SegmentSize::default() } }
    }

    /// With one segment more.
    fn with(&self, candidate: &LiveSegment) -> MergeEstimate {
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
    fn fits(&self, estimate: &MergeEstimate) -> bool {
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
        match self.merged(next, &chosen) {
            Ok(segments) => next.substitute(&chosen, segments),
            Err(error) => self.background.fail(error.to_string()),
        }
    }

    /// Merges segments and publishes the result. One merge at a time; writers see which segments are `busy`.
    pub fn merge(&self, choose: impl FnOnce(&mut Snapshot) -> Result<Vec<LiveSegment>>) -> Result<bool> {
        let _alone = self.background.alone();
        let (snapshot, chosen) = {
            let mut writing = self.writing.lock();
            let mut next = Snapshot::clone(&self.snapshot());
            let recent = next.recent.len();
            let chosen = choose(&mut next)?;
            // Choosing may have frozen the recent subscriptions.
            if next.recent.len() != recent {
                self.publish(next.clone());
            }
            if chosen.is_empty() {
                return Ok(false);
            }
            writing.busy = chosen.iter().map(|candidate| candidate.segment.clone()).collect();
            (next, chosen)
        };
        let merged = self.merged(&snapshot, &chosen);
        let mut writing = self.writing.lock();
        writing.busy.clear();
        let mut next = Snapshot::clone(&self.snapshot());
        next.substitute(&chosen, merged?);
        self.publish(next);
        self.compactions.fetch_add(1, Ordering::Relaxed);
        Ok(true)
    }

    /// Segments of all live members of some segments of a snapshot, of which there are some: one segment, or several if
    /// they exceed its limits.
    fn merged(&self, snapshot: &Snapshot, chosen: &[LiveSegment]) -> Result<Vec<Segment>> {
        let damaged = |what: &str| Error::Internal(format!("a segment is damaged: {what}"));
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
        let mut normalizer = Normalizer::default();
        let mut schema = snapshot.schema.clone();
        parse_ahead(
            batch,
            |text| {
                let text = text.ok_or_else(|| damaged("a text is not UTF-8"))?;
                Ok((text.into(), parse(text, &self.limits)?))
            },
            |(sequence, segment, local), parsed| {
                let (text, expr) = parsed?;
                if self.stopped.load(Ordering::Relaxed) {
                    return Err(Error::Internal("the index was dropped".into()));
                }
                let normal = normalizer.normalize(&expr, &mut schema, self.missing);
                let id = segment.ids.get(local as usize);
                if schema.len() != snapshot.schema.len() || builder.contains(&id) {
                    return Err(damaged("an attribute is unknown, or an id is there twice"));
                }
                builder.push(&id, &text, sequence, normal);
                Ok(expr)
            },
        )?;
        let (sample, observed) = self.sample_for(builder.len());
        let BuiltSegments { segments, smallest_overflow } = builder.finish(&SegmentInputs {
            limits: &self.limits,
            missing: self.missing,
            schema: &schema,
            // Events of the sample may have attributes that are newer than the snapshot.
            attributes: self.snapshot().schema.len().max(schema.len()),
            sample: sample.as_deref(),
            observed,
        })?;
        self.background.note_overflow(smallest_overflow);
        Ok(segments)
    }

    /// Makes one segment of everything, or as few as the limits of a segment allow, and returns when it is done.
    pub fn compact(self: &Arc<Shared>) -> Result<()> {
        let observed = self.sample.lock().observed();
        self.merge(|next| {
            self.freeze(next)?;
            let is_fresh = |candidate: &LiveSegment| {
                candidate.tombstones.count() == 0 && candidate.segment.observed == observed
            };
            let is_compact = next.segments.iter().all(is_fresh) && !self.some_fit(next);
            Ok(if is_compact { Vec::new() } else { next.segments.clone() })
        })?;
        Ok(())
    }

    /// Whether the two smallest segments fit into one.
    fn some_fit(&self, snapshot: &Snapshot) -> bool {
        let mut candidates: Vec<&LiveSegment> = snapshot.segments.iter().collect();
        candidates.sort_by_key(|candidate| candidate.live());
        match candidates.as_slice() {
            [first, second, ..] => self.fits(&MergeEstimate::new(snapshot).with(first).with(second)),
            _ => false,
        }
    }
}

impl Snapshot {
    /// Replaces some segments by those of their live members. Members that were removed since are marked in them.
    fn substitute(&mut self, chosen: &[LiveSegment], segments: Vec<Segment>) {
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
