//! Adding, replacing and removing subscriptions. Each update publishes one new snapshot, or none if it fails.

use super::Shared;
use super::segment::{NewMember, Segment, SegmentInputs, SegmentsBuilder};
use super::snapshot::{LiveSegment, RecentSubscription, Snapshot};
use crate::engine::scoring::WeightedPredicates;
use crate::error::{Error, Interruption, Result};
use crate::event::Rows;
use crate::expr::{Expr, Missing, Normalizer, Root};
use crate::index::changes::{NetChange, net_changes};
use crate::index::parsing::{Parsed, parse_ahead};
use crate::index::{Change, Id, Source};
use crate::schema::Schema;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// State that writers share, guarded by the writers' lock.
#[derive(Default)]
pub(super) struct WriterState {
    /// Segments that are being merged in the background: no writer merges them.
    pub busy: Vec<Arc<Segment>>,
}

/// The subscriptions of a batch that is being added.
enum AddedBatch {
    /// So far they fit into the list of recent subscriptions.
    Recent(Vec<RecentSubscription>),
    /// They become a segment, or several if they exceed its limits.
    Segments(Box<SegmentsBuilder>),
}

impl Shared {
    pub fn add(self: &Arc<Shared>, id: Id, (text, expr): Parsed) -> Result<bool> {
        self.update(|next| {
            if next.find(&id).is_some() {
                return Err(Error::DuplicateId(id));
            }
            let sequence = next.next_sequence;
            next.push_normalized((id, text, sequence), &expr, self.missing)
        })
    }

    pub fn replace(self: &Arc<Shared>, id: &Id, (text, expr): Parsed) -> Result<bool> {
        self.update(|next| {
            let location = next.find(id).ok_or_else(|| Error::UnknownId(id.clone()))?;
            let sequence = next.sequence(location);
            next.remove(location);
            next.push_normalized((id.clone(), text, sequence), &expr, self.missing)
        })
    }

    pub fn remove(self: &Arc<Shared>, id: &Id) -> Result<()> {
        self.update(|next| {
            let location = next.find(id).ok_or_else(|| Error::UnknownId(id.clone()))?;
            next.remove(location);
            Ok(())
        })
    }

    /// Blocks other writers, not readers, until the whole batch is added.
    pub fn add_many(self: &Arc<Shared>, batch: &mut dyn Iterator<Item = (Id, Source)>) -> Result<Vec<usize>> {
        self.update(|next| {
            let (mut normalizer, mut weighted) = (Normalizer::default(), WeightedPredicates::default());
            let mut never = Vec::new();
            let mut row = 0;
            let mut added = AddedBatch::Recent(Vec::new());
            let room = self.options.recent.saturating_sub(next.recent.len());
            let outcome = parse_ahead(
                batch,
                |source: Source| source.parsed(&self.limits),
                |id, parsed| {
                    Interruption::check()?;
                    let (text, expr) = parsed?;
                    if next.find(&id).is_some() || added.contains(&id) {
                        return Err(Error::DuplicateId(id));
                    }
                    let normal = normalizer.normalize(&expr, &mut next.schema, self.missing);
                    if normal.root() == Root::Never {
                        never.push(row);
                    }
                    next.text_ids += usize::from(matches!(id, Id::Text(_)));
                    let sequence = next.next_sequence + row as u64;
                    match &mut added {
                        AddedBatch::Recent(recent) => {
                            let (normal, weighted) =
                                (normal.clone(), WeightedPredicates::new(&expr, &next.schema, self.missing)?);
                            recent.push(RecentSubscription { id, text, sequence, normal, weighted });
                            if recent.len() > room {
                                added = AddedBatch::Segments(Box::new(self.segment_builder(recent.iter())));
                            }
                        }
                        AddedBatch::Segments(builder) => {
                            weighted.set(&expr, &next.schema, self.missing)?;
                            let (id, text, weighted) = (&id, &text, &weighted);
                            builder.push(NewMember { id, text, sequence, normal, weighted });
                        }
                    }
                    row += 1;
                    Ok(Some(expr))
                },
            );
            outcome.map_err(|error| error.at_row(row))?;
            next.len += row;
            next.next_sequence += row as u64;
            match added {
                AddedBatch::Recent(recent) => {
                    Arc::make_mut(&mut next.recent).extend(recent.into_iter().map(Arc::new));
                }
                AddedBatch::Segments(builder) => {
                    let (sample, observed) = self.sample_for(builder.len());
                    self.build(*builder, next, sample.as_deref(), observed)?;
                }
            }
            Ok(never)
        })
    }

    /// Applies several changes in one snapshot; returns the rows whose expression can never match.
    pub fn apply(self: &Arc<Shared>, changes: &mut dyn Iterator<Item = Change>) -> Result<Vec<usize>> {
        self.update(|next| {
            let net = net_changes(changes, &self.limits, |id| next.find(id).is_some())?;
            let mut never = Vec::new();
            let mut pushed = Vec::new();
            for NetChange { id, row, was_present, added_at, parsed } in net {
                let mut sequence = next.next_sequence;
                if was_present && let Some(location) = next.find(&id) {
                    if added_at.is_none() {
                        sequence = next.sequence(location);
                    }
                    next.remove(location);
                }
                let Some((text, expr)) = parsed else { continue };
                let named = (id, text, sequence);
                let recent = RecentSubscription::new(named, &expr, &mut next.schema, self.missing)
                    .map_err(|error| error.at_row(row))?;
                if recent.normal.root() == Root::Never {
                    never.push(row);
                }
                next.next_sequence = next.next_sequence.max(sequence + 1);
                pushed.push(recent);
            }
            if next.recent.len() + pushed.len() <= self.options.recent {
                pushed.into_iter().for_each(|recent| next.push(recent));
            } else {
                self.push_segment(pushed, next)?;
            }
            never.sort_unstable();
            Ok(never)
        })
    }

    /// Adds many subscriptions whose ids are not present as one segment.
    fn push_segment(&self, mut pushed: Vec<RecentSubscription>, next: &mut Snapshot) -> Result<()> {
        pushed.sort_unstable_by_key(|subscription| subscription.sequence);
        next.len += pushed.len();
        next.text_ids += pushed.iter().filter(|added| matches!(added.id, Id::Text(_))).count();
        let (sample, observed) = self.sample_for(pushed.len());
        self.build(self.segment_builder(&pushed), next, sample.as_deref(), observed)
    }

    /// Publishes a changed copy of the current snapshot; none if `change` fails.
    fn update<T>(self: &Arc<Shared>, change: impl FnOnce(&mut Snapshot) -> Result<T>) -> Result<T> {
        let writing = self.writing.lock();
        let mut next = Snapshot::clone(&self.snapshot());
        let outcome = change(&mut next)?;
        if next.recent.len() >= self.options.recent {
            self.freeze(&mut next)?;
            self.merge_in_passing(&mut next, &writing);
        }
        self.publish(next);
        drop(writing);
        self.wake();
        Ok(outcome)
    }

    /// Builds a segment of the recent subscriptions. They are at most the option `recent` and normalized already.
    pub fn freeze(&self, next: &mut Snapshot) -> Result<()> {
        let mut recent: Vec<Arc<RecentSubscription>> = next.recent.to_vec();
        if recent.is_empty() {
            return Ok(());
        }
        // A replacement keeps its position but is appended to the list.
        recent.sort_unstable_by_key(|subscription| subscription.sequence);
        let builder = self.segment_builder(recent.iter().map(|subscription| &**subscription));
        self.build(builder, next, None, 0)?;
        next.recent = Arc::default();
        self.freezes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Adds the segments of a builder to a snapshot.
    fn build(
        &self,
        builder: SegmentsBuilder,
        next: &mut Snapshot,
        sample: Option<&Rows>,
        observed: u64,
    ) -> Result<()> {
        let built = builder.finish(&SegmentInputs {
            limits: &self.limits,
            missing: self.missing,
            schema: &next.schema,
            attributes: next.schema.len(),
            sample,
            observed,
        })?;
        self.background.note_overflow(built.smallest_overflow);
        next.segments.extend(built.segments.into_iter().map(|segment| LiveSegment::new(Arc::new(segment))));
        Ok(())
    }

    /// A builder with these subscriptions, which are in insertion order.
    fn segment_builder<'r>(
        &self,
        recent: impl IntoIterator<Item = &'r RecentSubscription>,
    ) -> SegmentsBuilder {
        let mut builder = SegmentsBuilder::new(&self.options.compiled);
        recent.into_iter().for_each(|subscription| builder.push(subscription.as_member()));
        builder
    }
}

impl AddedBatch {
    fn contains(&self, id: &Id) -> bool {
        match self {
            AddedBatch::Recent(recent) => recent.iter().any(|subscription| subscription.id == *id),
            AddedBatch::Segments(builder) => builder.contains(id),
        }
    }
}

impl Snapshot {
    /// Adds an expression with its text under an id that is not present, at a position in insertion order; returns whether some event could match it.
    fn push_normalized(&mut self, named: (Id, Box<str>, u64), expr: &Expr, missing: Missing) -> Result<bool> {
        let mut schema: Arc<Schema> = self.schema.clone();
        let recent = RecentSubscription::new(named, expr, &mut schema, missing)?;
        self.schema = schema;
        let can_match = recent.normal.root() != Root::Never;
        self.push(recent);
        Ok(can_match)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Segmented;
    use crate::compiled::INFO;
    use crate::engine::registry::OptionValues;
    use crate::index::backend::Backend;
    use crate::index::{Change, Id, Settings, Source};

    #[test]
    fn a_failed_update_leaves_the_same_snapshot() {
        let index = Segmented::new(&Settings::default(), &OptionValues::defaults(INFO.options));
        let parsed = |text: &str| Source::from(text).parsed(&index.0.limits).expect("an expression");
        index.add(Id::from(1), parsed("a = 1")).expect("added");
        let before = index.0.snapshot();
        assert!(index.add(Id::from(1), parsed("b = 1")).is_err());
        assert!(index.replace(&Id::from(2), parsed("c = 1")).is_err());
        assert!(index.remove(&Id::from(2)).is_err());
        let batch = [(Id::from(3), Source::from("d = 1")), (Id::from(3), Source::from("e = 1"))];
        assert!(index.add_many(&mut batch.into_iter()).is_err());
        let batch = [Change::Remove(Id::from(1)), Change::Remove(Id::from(1))];
        assert!(index.apply(&mut batch.into_iter()).is_err());
        assert!(std::sync::Arc::ptr_eq(&before, &index.0.snapshot()));
    }
}
