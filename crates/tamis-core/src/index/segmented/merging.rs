//! Which segments become one, and how, while updates go on.
//!
//! Segments fall into classes by their number of live members: up to `recent * fanout`, up to `recent * fanout^2`, and
//! so on. Two in one class are merged, which often makes one of the next class. So there is about one segment per
//! class, and a subscription is written again a few times per class.
//!
//! A merge starts from the texts: they are parsed and normalized against the schema, which has all their attributes.
//! That happens aside. Whoever is removed or replaced meanwhile is marked as gone in the result before it takes its
//! place.

use super::Shared;
use super::segment::{Segment, SegmentBuilder};
use super::snapshot::{LiveSegment, Snapshot};
use super::update::WriterState;
use crate::error::{Error, Result};
use crate::expr::{Normalizer, parse};
use crate::index::parsing::parse_ahead;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// More segments than this many classes hold, and writers help.
const CROWDED: usize = 12;

impl Shared {
    /// The class of a segment with this many live members, from 0.
    fn class(&self, live: usize) -> u32 {
        let (mut class, mut largest) = (0, self.options.recent.saturating_mul(self.options.fanout));
        while live > largest {
            class += 1;
            largest = largest.saturating_mul(self.options.fanout);
        }
        class
    }

    /// The segments to be merged next, or the one to be written again; empty if all is well.
    pub fn plan(&self, snapshot: &Snapshot) -> Vec<LiveSegment> {
        self.plan_within(snapshot, &[], usize::MAX)
    }

    /// As [`Shared::plan`], without segments that are busy and for at most `most` live members.
    fn plan_within(&self, snapshot: &Snapshot, busy: &[Arc<Segment>], most: usize) -> Vec<LiveSegment> {
        let is_free = |part: &&LiveSegment| !busy.iter().any(|segment| Arc::ptr_eq(segment, &part.segment));
        let mut parts: Vec<&LiveSegment> = snapshot.segments.iter().filter(is_free).collect();
        parts.sort_by_key(|part| part.live());
        let mut chosen: Vec<LiveSegment> = Vec::new();
        let mut live = 0;
        for part in &parts {
            if live + part.live() > most {
                break;
            }
            if !chosen.is_empty() && self.class(part.live()) > self.class(live) {
                if chosen.len() > 1 {
                    break;
                }
                chosen.clear();
                live = 0;
            }
            chosen.push(LiveSegment::clone(part));
            live += part.live();
        }
        if chosen.len() > 1 {
            return chosen;
        }
        let is_worn =
            |part: &&&LiveSegment| part.tombstones.count() * 3 > part.segment.len() && part.live() <= most;
        let worn = parts.iter().find(is_worn);
        worn.map(|part| LiveSegment::clone(part)).into_iter().collect()
    }

    /// Merges small segments as a writer, if the background does not keep up. Takes milliseconds at most.
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
            Ok(segment) => next.substitute(&chosen, segment),
            Err(error) => self.background.fail(error.to_string()),
        }
    }

    /// Merges segments and publishes the result. One merge at a time; `busy` is told to writers.
    pub fn merge(&self, choose: impl FnOnce(&mut Snapshot) -> Vec<LiveSegment>) -> Result<bool> {
        let _alone = self.background.alone();
        let (snapshot, chosen) = {
            let mut writing = self.writing.lock();
            let mut next = Snapshot::clone(&self.snapshot());
            let recent = next.recent.len();
            let chosen = choose(&mut next);
            // Choosing may have frozen the recent ones.
            if next.recent.len() != recent {
                self.publish(next.clone());
            }
            if chosen.is_empty() {
                return Ok(false);
            }
            writing.busy = chosen.iter().map(|part| part.segment.clone()).collect();
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

    /// A segment of all that is live in these parts of a snapshot, of which there is something.
    fn merged(&self, snapshot: &Snapshot, chosen: &[LiveSegment]) -> Result<Segment> {
        let damaged = |what: &str| Error::Internal(format!("a segment is damaged: {what}"));
        let mut members: Vec<(u64, usize, u32)> = Vec::new();
        for (at, LiveSegment { segment, .. }) in chosen.iter().enumerate() {
            members.extend(chosen[at].live_members().map(|local| (segment.sequence(local), at, local)));
        }
        if members.len() >= u32::MAX as usize {
            return Err(Error::Expression("more than 2^32 - 2 subscriptions in one segment".into()));
        }
        // A single segment is in order already, which the sort sees at once.
        members.sort_unstable();
        let batch = members.into_iter().map(|(sequence, at, local)| {
            let segment = &chosen[at].segment;
            ((sequence, segment, local), segment.texts.get(local as usize))
        });
        let mut builder = SegmentBuilder::new(&self.options.compiled);
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
                    return Err(Error::Internal("the index is gone".into()));
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
        let (sample, seen) = self.sample_for(builder.len());
        // Events may have been observed since that have newer attributes.
        Ok(builder.finish(self.snapshot().schema.len().max(schema.len()), sample.as_deref(), seen))
    }

    /// Makes one segment of everything and waits for it.
    pub fn compact(self: &Arc<Shared>) -> Result<()> {
        let observed = self.sample.lock().observed();
        self.merge(|next| {
            self.freeze(next);
            match next.segments.as_slice() {
                // Nothing would become better.
                [part] if part.tombstones.count() == 0 && part.segment.observed == observed => Vec::new(),
                parts => parts.to_vec(),
            }
        })?;
        Ok(())
    }
}

impl Snapshot {
    /// Puts a segment of what was live in some parts in their place. Whoever of them went since goes in it, too.
    fn substitute(&mut self, chosen: &[LiveSegment], segment: Segment) {
        let mut merged = LiveSegment::new(Arc::new(segment));
        for then in chosen {
            let gone = match self.segments.iter().position(|now| Arc::ptr_eq(&now.segment, &then.segment)) {
                Some(at) => self.segments.swap_remove(at).tombstones.since(&then.tombstones),
                // The last of it went.
                None => then.live_members().collect(),
            };
            for local in gone {
                let id = then.segment.ids.get(local as usize);
                if let Some(local) = merged.segment.ids.find(&id) {
                    merged.tombstones.insert(local);
                }
            }
        }
        if merged.live() > 0 {
            self.segments.push(merged);
        }
    }
}
