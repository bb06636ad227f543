//! A snapshot as a file, and back: arrays are written without conversion and mapped on loading.
//!
//! Group 0 has the settings (tag 1), the attribute names (tags 2 and 3), three counts (tag 4: segments, live
//! subscriptions, position of the next addition in insertion order) and the recent subscriptions (tag 5). Group `i >= 1`
//! has segment `i`: ids (tags 1 to 5), texts (16, 17), positions in insertion order (18), members that are always (19) and
//! never TRUE (20), tombstones (21), and the matching structure (64 and above).

use super::members::{Strings, StringsBuilder};
use super::segment::Segment;
use super::snapshot::{LiveSegment, Location, RecentSubscription, Snapshot, Tombstones};
use super::{Segmented, SegmentedOptions};
use crate::compiled::{CompiledOptions, PatternBudget};
use crate::engine::registry::OptionValues;
use crate::error::Error;
use crate::expr::parse;
use crate::index::file::{ByteReader, ByteWriter};
use crate::index::parsing::parse_ahead;
use crate::index::{Id, Settings};
use crate::schema::Schema;
use crate::storage::{Sections, SectionsWriter, Target};
use std::collections::HashSet;
use std::sync::Arc;

/// Tags of group 0.
const SETTINGS: u32 = 1;
const ATTRIBUTES: u32 = 2; // and 3
const COUNTS: u32 = 4;
const RECENT: u32 = 5;
/// Tag of a segment's group.
const TOMBSTONES: u32 = 21;

impl Snapshot {
    /// Writes the whole state; builds nothing.
    pub fn write(&self, settings: &Settings, target: &mut dyn Target) -> std::io::Result<()> {
        let mut out = SectionsWriter::new(target);
        let mut bytes = ByteWriter::default();
        bytes.settings(settings);
        out.put(SETTINGS, &bytes.0);
        let mut names = StringsBuilder::new();
        self.schema.names().for_each(|name| names.push(name));
        names.finish().write(ATTRIBUTES, &mut out);
        out.put(COUNTS, &[self.segments.len() as u64, self.len as u64, self.next_sequence]);
        let mut recent = ByteWriter::default();
        for subscription in self.recent.iter() {
            recent.u64(subscription.sequence);
            recent.id(&subscription.id);
            recent.text(&subscription.text);
        }
        out.put(RECENT, &recent.0);
        for (at, LiveSegment { segment, tombstones }) in self.segments.iter().enumerate() {
            out.group(at as u32 + 1);
            segment.write(&mut out);
            let words = if tombstones.count() > 0 { tombstones.words(segment.len()) } else { Vec::new() };
            out.put(TOMBSTONES, &words);
        }
        out.finish()
    }
}

impl Segmented {
    /// The settings of a written index.
    pub fn settings(sections: &Sections) -> Result<Settings, String> {
        let bytes = sections.take::<u8>(SETTINGS)?;
        let mut reader = ByteReader(&bytes);
        let settings = reader.settings()?;
        if reader.0.is_empty() { Ok(settings) } else { Err("content left over after the settings".into()) }
    }

    /// The index that [`Snapshot::write`] wrote. Reads the attribute names and the recent subscriptions; all else stays
    /// mapped.
    pub fn open(
        sections: &Sections,
        settings: &Settings,
        options: &OptionValues,
    ) -> Result<Segmented, String> {
        let mut schema = Schema::default();
        let names = Strings::open(ATTRIBUTES, sections)?;
        for at in 0..names.len() {
            let name = names.get(at).ok_or("an attribute's name is not UTF-8")?;
            if schema.intern(&name.into()).index() != at {
                return Err(format!("the attribute {name:?} occurs twice"));
            }
        }
        let counts = sections.take::<u64>(COUNTS)?;
        let &[segments, len, next_sequence] = counts.as_slice() else {
            return Err(format!("{} counts", counts.len()));
        };
        // A larger number is damage, and additions would overflow it.
        if next_sequence > 1 << 62 {
            return Err(format!("{next_sequence} positions in insertion order"));
        }
        let mut snapshot = Snapshot {
            compacted_attributes: schema.len(),
            schema: Arc::new(schema),
            // The file does not say.
            may_have_unused: true,
            next_sequence,
            ..Snapshot::default()
        };
        let compiled = CompiledOptions::new(options);
        let budget = PatternBudget::new(&settings.limits);
        for group in 1..=segments {
            let group = u32::try_from(group).map_err(|_| format!("{segments} segments"))?;
            let live = open_segment(&sections.group(group), &compiled, settings, &budget)?;
            snapshot.len += live.live();
            snapshot.text_ids += live.live_text_ids();
            snapshot.segments.push(live);
        }
        snapshot.read_recent(&sections.take::<u8>(RECENT)?, settings)?;
        // Every event evaluates them, and every lookup of an id compares them.
        let max_recent = SegmentedOptions::new(options).recent;
        if snapshot.recent.len() > max_recent {
            return Err(format!("{} recent subscriptions, at most {max_recent}", snapshot.recent.len()));
        }
        if snapshot.len as u64 != len {
            return Err(format!("{len} subscriptions announced, {} found", snapshot.len));
        }
        Ok(Segmented::with(settings, options, snapshot))
    }
}

impl Segmented {
    /// Parses every live subscription that is in a segment; recent ones were parsed when they were read. The error names
    /// the first that exceeds the limits.
    pub fn check_rules(&self) -> crate::error::Result<()> {
        let snapshot = self.0.snapshot();
        let members = snapshot.locations().filter(|location| matches!(location, Location::Segment(..)));
        parse_ahead(
            members.map(|location| (location, snapshot.text(location))),
            |text| {
                let text = text.ok_or_else(|| Error::damaged("a text is not UTF-8"))?;
                Ok(parse(text, &self.0.limits)?)
            },
            |location, parsed| {
                let named =
                    |error: Error| Error::Expression(format!("the rule {}: {error}", snapshot.id(location)));
                parsed.map(Some).map_err(named)
            },
        )
    }
}

fn open_segment(
    sections: &Sections,
    options: &CompiledOptions,
    settings: &Settings,
    budget: &PatternBudget,
) -> Result<LiveSegment, String> {
    let segment = Segment::open(sections, options, &settings.limits, budget)?;
    let words = sections.take::<u64>(TOMBSTONES)?;
    let tombstones = match words.is_empty() {
        true => Tombstones::default(),
        false => Tombstones::from_words(&words, segment.len())?,
    };
    let live = LiveSegment { segment: Arc::new(segment), tombstones };
    if live.live() == 0 { Err("a segment without live members".into()) } else { Ok(live) }
}

impl Snapshot {
    fn read_recent(&mut self, bytes: &[u8], settings: &Settings) -> Result<(), String> {
        let mut reader = ByteReader(bytes);
        let (attributes, next_sequence) = (self.schema.len(), self.next_sequence);
        let mut ids = HashSet::new();
        while !reader.0.is_empty() {
            let (sequence, id, text) = (reader.u64()?, reader.id()?, reader.text()?);
            if sequence >= next_sequence || !ids.insert(id.clone()) {
                return Err(format!("{id} occurs twice or out of order"));
            }
            let expr = parse(text, &settings.limits).map_err(|error| error.to_string())?;
            let mut schema = self.schema.clone();
            let named = (id.clone(), text.into(), sequence);
            let recent = RecentSubscription::new(named, &expr, &mut schema, settings.missing);
            if schema.len() != attributes {
                return Err(format!("an attribute of {id} is unknown"));
            }
            self.push(recent.map_err(|error| error.to_string())?);
        }
        Ok(())
    }
}

impl LiveSegment {
    /// Number of live members whose id is a string.
    fn live_text_ids(&self) -> usize {
        match (self.segment.ids.is_uniform(), self.segment.ids.is_text(0)) {
            (true, true) => self.live(),
            (true, false) => 0,
            (false, _) => self
                .live_members()
                .filter(|at| matches!(self.segment.ids.get(*at as usize), Id::Text(_)))
                .count(),
        }
    }
}
