//! Attribute names, interned: past the parser, attributes are dense numbers.

use crate::value::heap_of;
use hashbrown::HashMap;
use smol_str::SmolStr;
use std::sync::Arc;

/// Maximum dots of a name that is also read as a path into nested objects. A name with more is read as one key only.
const MAX_DOTS: usize = 64;

/// An attribute of one index, numbered from 0 in order of first use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttrId(pub u32);

impl AttrId {
    /// Position in an array with one entry per attribute.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What the index reads at a path of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventPath {
    /// The attribute with exactly this name.
    pub attribute: Option<AttrId>,
    /// Whether the name of an attribute continues this path after a dot, so that a nested object has to be read.
    pub has_subpaths: bool,
}

/// The attributes that the expressions of an index refer to. Grows only, except that a failed batch is rolled back, and
/// that a compaction drops the attributes that no expression uses, which begins another generation.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// Number of times that attributes were dropped and the others numbered anew.
    generation: u64,
    /// By [`AttrId`].
    names: Vec<SmolStr>,
    /// Every name, and every prefix of a name that ends before a dot.
    /// Hashed with a random key, as users choose names; this map tells its size in bytes.
    paths: HashMap<SmolStr, EventPath>,
}

/// Numbers attributes, unknown ones included.
pub trait Attributes {
    /// The number of the attribute with this name.
    fn number(&mut self, name: &SmolStr) -> AttrId;
}

impl Attributes for Schema {
    fn number(&mut self, name: &SmolStr) -> AttrId {
        self.intern(name)
    }
}

/// Readers share the schema that they read events with, so it is copied before it grows (copy on write).
impl Attributes for Arc<Schema> {
    fn number(&mut self, name: &SmolStr) -> AttrId {
        match self.get(name) {
            Some(attribute) => attribute,
            None => Arc::make_mut(self).intern(name),
        }
    }
}

impl Schema {
    /// Number of attributes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no attributes.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The attribute's name.
    pub fn name(&self, attribute: AttrId) -> &str {
        &self.names[attribute.index()]
    }

    /// All names, in the order of their numbers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(SmolStr::as_str)
    }

    /// The attribute with this name, if an expression refers to it.
    pub fn get(&self, name: &str) -> Option<AttrId> {
        self.paths.get(name)?.attribute
    }

    /// What is read at a path of an event; `None` if nothing.
    pub fn path(&self, path: &str) -> Option<EventPath> {
        self.paths.get(path).copied()
    }

    /// The paths below a path, without it and the dot, in any order.
    pub fn subpaths<'s>(&'s self, path: &'s str) -> impl Iterator<Item = &'s str> {
        self.paths.keys().filter_map(move |name| name.strip_prefix(path)?.strip_prefix('.'))
    }

    /// The attribute with this name; an unknown one gets the next number.
    pub fn intern(&mut self, name: &SmolStr) -> AttrId {
        if let Some(EventPath { attribute: Some(attribute), .. }) = self.paths.get(name) {
            return *attribute;
        }
        let attribute = AttrId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(name.clone());
        self.paths.entry(name.clone()).or_default().attribute = Some(attribute);
        // Prefixes are stored, so a name of dots would take the square of its length.
        let dots = name.bytes().filter(|byte| *byte == b'.').count();
        for (dot, _) in name.match_indices('.').filter(|_| dots <= MAX_DOTS) {
            self.paths.entry(SmolStr::new(&name[..dot])).or_default().has_subpaths = true;
        }
        attribute
    }

    /// Number of times that attributes were dropped and the others numbered anew.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// An empty schema of the next generation.
    pub(crate) fn next_generation(&self) -> Schema {
        Schema { generation: self.generation + 1, ..Schema::default() }
    }

    /// Whether two schemas of one index are equal. Within a generation a schema only grows, so equal lengths mean equal
    /// attributes.
    pub fn is_same(&self, other: &Schema) -> bool {
        (self.generation, self.len()) == (other.generation, other.len())
    }

    /// Removes the attributes past the first `len`.
    pub fn truncate(&mut self, len: usize) {
        if len < self.names.len() {
            let kept: Vec<SmolStr> = self.names.drain(..).take(len).collect();
            *self = Schema { generation: self.generation, ..Schema::default() };
            kept.iter().for_each(|name| {
                self.intern(name);
            });
        }
    }

    /// Approximate bytes in use.
    pub fn memory(&self) -> usize {
        let names: usize = self.names.iter().map(heap_of).sum();
        // The key of an attribute is its name, which both share.
        let prefixes = self.paths.iter().filter(|(_, path)| path.attribute.is_none());
        self.names.capacity() * size_of::<SmolStr>()
            + self.paths.allocation_size()
            + names
            + prefixes.map(|(prefix, _)| heap_of(prefix)).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_have_subpaths() {
        let mut schema = Schema::default();
        let age = schema.intern(&"user.home.zip".into());
        let user = schema.intern(&"user".into());
        assert_eq!(schema.path("user"), Some(EventPath { attribute: Some(user), has_subpaths: true }));
        assert_eq!(schema.path("user.home"), Some(EventPath { attribute: None, has_subpaths: true }));
        assert_eq!(
            schema.path("user.home.zip"),
            Some(EventPath { attribute: Some(age), has_subpaths: false })
        );
        assert_eq!(schema.path("other"), None);
        schema.truncate(1);
        assert_eq!(schema.get("user"), None);
        assert_eq!(schema.intern(&"user.home.zip".into()), age);
    }

    /// As many bytes as half a rule may have: its prefixes would take 31 GB.
    #[test]
    fn a_name_of_dots_takes_no_more_than_its_length() {
        let mut schema = Schema::default();
        let dots = ".".repeat(250_000);
        let attribute = schema.intern(&dots.as_str().into());
        assert_eq!(schema.get(&dots), Some(attribute));
        assert_eq!(schema.paths.len(), 1);
        let path = ["a"; MAX_DOTS + 1].join(".");
        schema.intern(&path.as_str().into());
        assert_eq!(schema.paths.len(), 2 + MAX_DOTS);
    }
}
