//! One segment of all subscriptions, and a schema of the attributes that these use.
//!
//! Attribute numbers are in every segment, so a schema can drop attributes only where all segments are built again. A
//! compaction does that: its schema begins empty, in another generation, and gains the attributes of the members as they are
//! normalized. Readers keep the snapshot that they have pinned, with its schema; rows that were read with a schema of an
//! earlier generation are stale.
//!
//! Updates go on meanwhile. Segments that they add have the old numbers, so they are built again as well, in rounds: without
//! the writers' lock as long as they are large, with it once few members are left, and in the last round. The recent
//! subscriptions are normalized again, and the sample of observed events is renumbered, before the snapshot is published.
//!
//! The background thread compacts in this way once most attributes are likely to be unused
//! ([`Snapshot::has_many_unused`]). Its other compactions keep the numbers, so that rows that were read stay valid.

use super::Shared;
use super::background::SegmentReading;
use super::merging::{MergeEstimate, UNKNOWN_ATTRIBUTE, damaged};
use super::segment::Segment;
use super::snapshot::{LiveSegment, RecentSubscription, Snapshot};
use crate::error::{Error, Result};
use crate::expr::{Normalizer, parse};
use crate::schema::Schema;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Maximum rounds without the writers' lock.
const MAX_ROUNDS: usize = 4;

/// Unused attributes that are worth a compaction: at least 1,024, and 16 for each subscription.
const MIN_UNUSED: usize = 1_024;
const UNUSED_PER_SUBSCRIPTION: usize = 16;

/// Segments that were built again, with the segments they replace.
type Rebuilt = (Vec<LiveSegment>, Vec<Segment>);

/// What a compaction does with the numbers of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttributeNumbers {
    /// They stay, those of unused attributes included: nothing that was read becomes stale.
    Kept,
    /// The attributes in use are numbered anew if others may be unused.
    Anew,
}

impl Shared {
    /// Makes one segment of everything, or as few as the limits of a segment allow, and returns when it is done.
    pub fn compact(&self, numbers: AttributeNumbers) -> Result<()> {
        let _alone = self.background.alone();
        let reading = self.read_segments()?;
        let observed = self.sample.lock().observed();
        let (start, may_have_unused) = {
            let mut writing = self.writing.lock();
            let mut next = Snapshot::clone(&self.snapshot());
            let may_have_unused = next.may_have_unused && numbers == AttributeNumbers::Anew;
            let is_frozen = next.recent.is_empty();
            self.freeze(&mut next)?;
            // Removals from here on set it again.
            next.may_have_unused &= !may_have_unused;
            if may_have_unused || !is_frozen {
                self.publish(next.clone());
            }
            writing.busy = next.segments.iter().map(|live| live.segment.clone()).collect();
            (next, may_have_unused)
        };
        let is_fresh = |candidate: &LiveSegment| {
            candidate.tombstones.count() == 0 && candidate.segment.observed == observed
        };
        let is_compact = start.segments.iter().all(is_fresh) && !self.some_fit(&start);
        // An interrupted call unwinds out of building; the segments must not stay busy then.
        let outcome = Error::catch(|| match (may_have_unused, is_compact) {
            (false, true) => Ok(()),
            (false, false) => self.rebuild_as_numbered(&start, reading),
            (true, false) => self.rebuild(start, reading),
            (true, true) => match self.has_unused(&start) {
                Ok(true) => self.rebuild(start, reading),
                other => other.map(drop),
            },
        })
        .flatten();
        let mut writing = self.writing.lock();
        writing.busy.clear();
        if may_have_unused {
            let mut next = Snapshot::clone(&self.snapshot());
            if outcome.is_ok() {
                next.compacted_attributes = next.schema.len();
            } else {
                next.may_have_unused = true;
            }
            self.publish(next);
        }
        outcome
    }

    /// Builds all segments again, with the same attribute numbers.
    fn rebuild_as_numbered<'s>(&'s self, start: &Snapshot, reading: SegmentReading<'s>) -> Result<()> {
        let mut schema = start.schema.clone();
        let (segments, _reading) = self.merged(&start.segments, &mut schema, reading)?;
        if !schema.is_same(&start.schema) {
            return Err(damaged(UNKNOWN_ATTRIBUTE));
        }
        let _writing = self.writing.lock();
        let mut next = Snapshot::clone(&self.snapshot());
        next.substitute(&start.segments, segments);
        self.publish(next);
        self.compactions.fetch_add(1, Ordering::Relaxed);
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

    /// Whether no subscription of a snapshot uses some attribute. Parses all texts.
    fn has_unused(&self, snapshot: &Snapshot) -> Result<bool> {
        let (mut used, mut normalizer) = (Schema::default(), Normalizer::default());
        for location in snapshot.locations() {
            let text = snapshot.text(location).ok_or_else(|| damaged("a text is not UTF-8"))?;
            normalizer.normalize(&parse(text, &self.limits)?, &mut used, self.missing);
            if used.len() == snapshot.schema.len() {
                return Ok(false);
            }
            if self.stopped.load(Ordering::Relaxed) {
                return Err(Error::Option("the index was closed during a compaction".into()));
            }
        }
        Ok(used.len() < snapshot.schema.len())
    }

    /// Builds all segments again, with a schema of the attributes that they use.
    fn rebuild<'s>(&'s self, start: Snapshot, mut reading: SegmentReading<'s>) -> Result<()> {
        let mut schema = Arc::new(start.schema.next_generation());
        let mut rebuilt: Vec<Rebuilt> = Vec::new();
        let mut rest = start.segments;
        loop {
            let (segments, taken_again) = self.merged(&rest, &mut schema, reading)?;
            reading = taken_again;
            rebuilt.push((rest, segments));
            let mut writing = self.writing.lock();
            let next = Snapshot::clone(&self.snapshot());
            rest = next.segments_without(&rebuilt);
            let members: usize = rest.iter().map(LiveSegment::live).sum();
            let few = self.options.recent.saturating_mul(self.options.fanout.pow(2));
            if members <= few || rebuilt.len() == MAX_ROUNDS {
                return self.publish_renumbered(next, rebuilt, rest, schema);
            }
            writing.busy.extend(rest.iter().map(|live| live.segment.clone()));
        }
    }

    /// Publishes a snapshot with segments that were built again, and the rest, which is built here. The caller holds
    /// `writing` and the right to read segments.
    fn publish_renumbered(
        &self,
        mut next: Snapshot,
        mut rebuilt: Vec<Rebuilt>,
        rest: Vec<LiveSegment>,
        mut schema: Arc<Schema>,
    ) -> Result<()> {
        if !rest.is_empty() {
            let builder = self.members_of(&rest, &mut schema)?;
            rebuilt.push((rest, self.built(builder, &schema)?));
        }
        rebuilt.into_iter().for_each(|(chosen, segments)| next.substitute(&chosen, segments));
        self.renumber_recent(&mut next, &mut schema)?;
        if schema.names().any(|name| next.schema.get(name).is_none()) {
            return Err(damaged(UNKNOWN_ATTRIBUTE));
        }
        self.sample.lock().renumber(&next.schema, &schema);
        next.schema = schema;
        self.publish(next);
        self.compactions.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Normalizes the recent subscriptions of a snapshot again, with another schema.
    fn renumber_recent(&self, next: &mut Snapshot, schema: &mut Arc<Schema>) -> Result<()> {
        let mut recent = Vec::with_capacity(next.recent.len());
        for old in next.recent.iter() {
            let (named, expr) =
                ((old.id.clone(), old.text.clone(), old.sequence), parse(&old.text, &self.limits)?);
            recent.push(Arc::new(RecentSubscription::new(named, &expr, schema, self.missing)?));
        }
        next.recent = Arc::new(recent);
        Ok(())
    }
}

impl Snapshot {
    /// The segments that were not built again.
    fn segments_without(&self, rebuilt: &[Rebuilt]) -> Vec<LiveSegment> {
        let done = |live: &&LiveSegment| {
            let mut chosen = rebuilt.iter().flat_map(|(chosen, _)| chosen);
            !chosen.any(|then| Arc::ptr_eq(&then.segment, &live.segment))
        };
        self.segments.iter().filter(done).cloned().collect()
    }

    /// Whether most attributes are likely to be unused, so that a compaction pays by itself.
    pub fn has_many_unused(&self) -> bool {
        let used = UNUSED_PER_SUBSCRIPTION.saturating_mul(self.len);
        let attributes = self.schema.len();
        self.may_have_unused
            && attributes > used.saturating_add(MIN_UNUSED)
            && attributes > self.compacted_attributes.saturating_mul(2)
    }
}
