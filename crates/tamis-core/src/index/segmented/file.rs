//! A snapshot as a file, and back: sections as they are, mapped on loading.
//!
//! Group 0 has the settings (tag 1), the attribute names (tags 2 and 3), three counts (tag 4: segments, live
//! subscriptions, next place in the order of insertion) and the recent subscriptions (tag 5). Group `i` from 1 on has
//! segment `i`: ids (tags 1 to 5), texts (16, 17), places in the order of insertion (18), members that are always (19)
//! and never true (20), the bitmap of those that are gone (21), and the matching structure (from 64 on).

use super::Segmented;
use super::dead::Dead;
use super::segment::Segment;
use super::snapshot::{Entry, Part, Snapshot};
use super::strings::{Strings, StringsBuilder};
use crate::compiled::CompiledOptions;
use crate::expr::{Normalizer, parse};
use crate::index::file::{Reader, Writer};
use crate::index::{Id, Settings};
use crate::schema::Schema;
use crate::storage::{Sections, SectionsWriter, Target};
use std::sync::Arc;

/// Tags of group 0.
const SETTINGS: u32 = 1;
const ATTRIBUTES: u32 = 2; // and 3
const COUNTS: u32 = 4;
const RECENT: u32 = 5;
/// Tag of a segment's group.
const DEAD: u32 = 21;

impl Snapshot {
    /// Writes all there is; nothing is built.
    pub fn write(&self, settings: &Settings, target: &mut dyn Target) -> std::io::Result<()> {
        let mut out = SectionsWriter::new(target);
        let mut bytes = Writer::default();
        bytes.settings(settings);
        out.put(SETTINGS, &bytes.0);
        let mut names = StringsBuilder::new();
        self.schema.names().for_each(|name| names.push(name));
        names.finish().write(ATTRIBUTES, &mut out);
        out.put(COUNTS, &[self.parts.len() as u64, self.len as u64, self.next_sequence]);
        let mut recent = Writer::default();
        for entry in self.recent.iter() {
            recent.u64(entry.sequence);
            recent.id(&entry.id);
            recent.text(&entry.text);
        }
        out.put(RECENT, &recent.0);
        for (at, part) in self.parts.iter().enumerate() {
            out.group(at as u32 + 1);
            part.segment.write(&mut out);
            let dead = if part.dead.count() > 0 { part.dead.words(part.segment.len()) } else { Vec::new() };
            out.put(DEAD, &dead);
        }
        out.finish()
    }
}

impl Segmented {
    /// The settings of a written index.
    pub fn settings(sections: &Sections) -> Result<Settings, String> {
        let bytes = sections.take::<u8>(SETTINGS)?;
        let mut reader = Reader(&bytes);
        let settings = reader.settings()?;
        if reader.0.is_empty() { Ok(settings) } else { Err("content left over after the settings".into()) }
    }

    /// The index that [`Snapshot::write`] wrote. Only names and recent subscriptions are read, the rest stays where it
    /// is.
    pub fn open(sections: &Sections, settings: &Settings) -> Result<Segmented, String> {
        let mut schema = Schema::default();
        let names = Strings::open(ATTRIBUTES, sections)?;
        for at in 0..names.len() {
            let name = names.get(at).ok_or("an attribute's name is not UTF-8")?;
            if schema.intern(&name.into()).index() != at {
                return Err(format!("the attribute {name:?} is there twice"));
            }
        }
        let counts = sections.take::<u64>(COUNTS)?;
        let &[segments, len, next_sequence] = counts.as_slice() else {
            return Err(format!("{} counts", counts.len()));
        };
        // Nobody adds that many; what follows counts on from there.
        if next_sequence > 1 << 62 {
            return Err(format!("{next_sequence} places in the order of insertion"));
        }
        let mut snapshot = Snapshot { schema: Arc::new(schema), next_sequence, ..Snapshot::default() };
        let options = CompiledOptions::new(&settings.options).map_err(|error| error.to_string())?;
        for group in 1..=segments {
            let group = u32::try_from(group).map_err(|_| format!("{segments} segments"))?;
            let part = open_part(&sections.group(group), &options, settings)?;
            snapshot.len += part.live();
            snapshot.text_ids += part.live_texts();
            snapshot.parts.push(part);
        }
        snapshot.read_recent(&sections.take::<u8>(RECENT)?, settings)?;
        if snapshot.len as u64 != len {
            return Err(format!("{len} subscriptions announced, {} found", snapshot.len));
        }
        Segmented::with(settings, snapshot).map_err(|error| error.to_string())
    }
}

fn open_part(sections: &Sections, options: &CompiledOptions, settings: &Settings) -> Result<Part, String> {
    let segment = Segment::open(sections, options, &settings.limits)?;
    let words = sections.take::<u64>(DEAD)?;
    let dead = if words.is_empty() { Dead::default() } else { Dead::from_words(&words, segment.len())? };
    let part = Part { segment: Arc::new(segment), dead };
    if part.live() == 0 { Err("a segment without live members".into()) } else { Ok(part) }
}

impl Snapshot {
    fn read_recent(&mut self, bytes: &[u8], settings: &Settings) -> Result<(), String> {
        let mut reader = Reader(bytes);
        let (attributes, next_sequence) = (self.schema.len(), self.next_sequence);
        while !reader.0.is_empty() {
            let (sequence, id, text) = (reader.u64()?, reader.id()?, reader.text()?);
            if sequence >= next_sequence || self.find(&id).is_some() {
                return Err(format!("{id} is there twice or out of order"));
            }
            let expr = parse(text, &settings.limits).map_err(|error| error.to_string())?;
            let mut schema = self.schema.clone();
            let normal = Normalizer::default().normalize(&expr, &mut schema, settings.missing).clone();
            if schema.len() != attributes {
                return Err(format!("an attribute of {id} is unknown"));
            }
            self.push(Entry { id, text: text.into(), sequence, normal });
        }
        Ok(())
    }
}

impl Part {
    /// Live members whose id is a string.
    fn live_texts(&self) -> usize {
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
