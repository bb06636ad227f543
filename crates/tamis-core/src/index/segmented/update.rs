//! How subscriptions come and go. Each update makes one new snapshot, or none if it fails.

use super::Shared;
use super::segment::{Segment, SegmentBuilder};
use super::snapshot::{Entry, Part, Snapshot};
use crate::error::{Error, Result};
use crate::expr::{Expr, Missing, Normalizer, Root};
use crate::index::parsing::{Parsed, parse_ahead};
use crate::index::{Id, Source};
use crate::schema::Schema;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What writers know of each other.
#[derive(Default)]
pub(super) struct Writing {
    /// Segments that are being merged in the background.
    pub busy: Vec<Arc<Segment>>,
}

/// A batch on its way in. Few subscriptions join the recent ones, many become a segment of their own.
enum Arrived {
    Few(Vec<Entry>),
    Many(Box<SegmentBuilder>),
}

impl Shared {
    pub fn add(self: &Arc<Shared>, id: Id, (text, expr): Parsed) -> Result<bool> {
        self.update(|next| {
            if next.find(&id).is_some() {
                return Err(Error::DuplicateId(id));
            }
            let sequence = next.next_sequence;
            Ok(next.push_normalized(id, text, sequence, &expr, self.missing))
        })
    }

    pub fn replace(self: &Arc<Shared>, id: &Id, (text, expr): Parsed) -> Result<bool> {
        self.update(|next| {
            let place = next.find(id).ok_or_else(|| Error::UnknownId(id.clone()))?;
            let sequence = next.sequence(place);
            next.kill(place);
            Ok(next.push_normalized(id.clone(), text, sequence, &expr, self.missing))
        })
    }

    pub fn remove(self: &Arc<Shared>, id: &Id) -> Result<()> {
        self.update(|next| {
            let place = next.find(id).ok_or_else(|| Error::UnknownId(id.clone()))?;
            next.kill(place);
            Ok(())
        })
    }

    /// Other writers wait until all are in; readers do not.
    pub fn add_many(self: &Arc<Shared>, batch: &mut dyn Iterator<Item = (Id, Source)>) -> Result<Vec<usize>> {
        self.update(|next| {
            let mut normalizer = Normalizer::default();
            let mut never = Vec::new();
            let mut row = 0;
            let mut arrived = Arrived::Few(Vec::new());
            let room = self.options.recent.saturating_sub(next.recent.len());
            let outcome = parse_ahead(
                batch,
                |source: Source| source.parsed(&self.limits),
                |id, parsed| {
                    let (text, expr) = parsed?;
                    if next.find(&id).is_some() || arrived.contains(&id) {
                        return Err(Error::DuplicateId(id));
                    }
                    let normal = normalizer.normalize(&expr, &mut next.schema, self.missing);
                    if normal.root() == Root::Never {
                        never.push(row);
                    }
                    next.text_ids += usize::from(matches!(id, Id::Text(_)));
                    let sequence = next.next_sequence + row as u64;
                    match &mut arrived {
                        Arrived::Few(entries) => {
                            entries.push(Entry { id, text, sequence, normal: normal.clone() });
                            if entries.len() > room {
                                arrived = Arrived::Many(Box::new(self.gathered(entries)));
                            }
                        }
                        Arrived::Many(builder) if builder.len() == u32::MAX as usize => {
                            let message = "more than 2^32 - 1 subscriptions in one batch";
                            return Err(Error::Expression(message.into()));
                        }
                        Arrived::Many(builder) => builder.push(&id, &text, sequence, normal),
                    }
                    row += 1;
                    Ok(expr)
                },
            );
            outcome.map_err(|error| error.at_row(row))?;
            next.len += row;
            next.next_sequence += row as u64;
            match arrived {
                Arrived::Few(entries) => {
                    Arc::make_mut(&mut next.recent).extend(entries.into_iter().map(Arc::new));
                }
                Arrived::Many(builder) => {
                    let (sample, seen) = self.sample_for(builder.len());
                    let segment = builder.finish(next.schema.len(), sample.as_deref(), seen);
                    next.parts.push(Part::new(Arc::new(segment)));
                }
            }
            Ok(never)
        })
    }

    /// Makes the next snapshot from the current one. Whatever fails leaves the index as it was.
    fn update<T>(self: &Arc<Shared>, change: impl FnOnce(&mut Snapshot) -> Result<T>) -> Result<T> {
        let writing = self.writing.lock();
        let mut next = Snapshot::clone(&self.snapshot());
        let outcome = change(&mut next)?;
        if next.recent.len() >= self.options.recent {
            self.freeze(&mut next);
            self.merge_in_passing(&mut next, &writing);
        }
        self.publish(next);
        drop(writing);
        self.wake();
        Ok(outcome)
    }

    /// Makes a segment of the recent subscriptions. They are few and normalized already, so this takes little time.
    pub fn freeze(&self, next: &mut Snapshot) {
        let mut entries: Vec<Arc<Entry>> = next.recent.to_vec();
        if entries.is_empty() {
            return;
        }
        // Replacements have kept their places.
        entries.sort_unstable_by_key(|entry| entry.sequence);
        let mut builder = SegmentBuilder::new(&self.options.compiled);
        for entry in &entries {
            builder.push(&entry.id, &entry.text, entry.sequence, &entry.normal);
        }
        next.parts.push(Part::new(Arc::new(builder.finish(next.schema.len(), None, 0))));
        next.recent = Arc::default();
        self.freezes.fetch_add(1, Ordering::Relaxed);
    }

    fn gathered(&self, entries: &[Entry]) -> SegmentBuilder {
        let mut builder = SegmentBuilder::new(&self.options.compiled);
        for Entry { id, text, sequence, normal } in entries {
            builder.push(id, text, *sequence, normal);
        }
        builder
    }
}

impl Arrived {
    fn contains(&self, id: &Id) -> bool {
        match self {
            Arrived::Few(entries) => entries.iter().any(|entry| entry.id == *id),
            Arrived::Many(builder) => builder.contains(id),
        }
    }
}

impl Snapshot {
    /// Puts in an expression under an id that is not there; tells whether some event could match it.
    fn push_normalized(
        &mut self,
        id: Id,
        text: Box<str>,
        sequence: u64,
        expr: &Expr,
        missing: Missing,
    ) -> bool {
        let mut schema: Arc<Schema> = self.schema.clone();
        let normal = Normalizer::default().normalize(expr, &mut schema, missing).clone();
        self.schema = schema;
        let can_match = normal.root() != Root::Never;
        self.push(Entry { id, text, sequence, normal });
        can_match
    }
}

#[cfg(test)]
mod tests {
    use super::super::Segmented;
    use crate::index::backing::Backing;
    use crate::index::{Id, Settings, Source};

    #[test]
    fn a_failed_update_leaves_the_very_snapshot() {
        let index = Segmented::new(&Settings::default()).expect("an index");
        let parsed = |text: &str| Source::from(text).parsed(&index.0.limits).expect("an expression");
        index.add(Id::from(1), parsed("a = 1")).expect("added");
        let before = index.0.snapshot();
        assert!(index.add(Id::from(1), parsed("b = 1")).is_err());
        assert!(index.replace(&Id::from(2), parsed("c = 1")).is_err());
        assert!(index.remove(&Id::from(2)).is_err());
        let batch = [(Id::from(3), Source::from("d = 1")), (Id::from(3), Source::from("e = 1"))];
        assert!(index.add_many(&mut batch.into_iter()).is_err());
        assert!(std::sync::Arc::ptr_eq(&before, &index.0.snapshot()));
    }
}
