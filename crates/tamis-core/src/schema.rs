//! Attribute names, interned: past the parser, attributes are dense numbers.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::Arc;

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

/// The attributes that the expressions of an index refer to. Grows only, except that a failed batch is rolled back.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// By [`AttrId`].
    names: Vec<SmolStr>,
    /// Every name, and every prefix of a name that ends before a dot.
    paths: FxHashMap<SmolStr, EventPath>,
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

    /// The attribute with this name; an unknown one gets the next number.
    pub fn intern(&mut self, name: &SmolStr) -> AttrId {
        if let Some(EventPath { attribute: Some(attribute), .. }) = self.paths.get(name) {
            return *attribute;
        }
        let attribute = AttrId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(name.clone());
        self.paths.entry(name.clone()).or_default().attribute = Some(attribute);
        for (dot, _) in name.match_indices('.') {
            self.paths.entry(SmolStr::new(&name[..dot])).or_default().has_subpaths = true;
        }
        attribute
    }

    /// Removes the attributes past the first `len`.
    pub fn truncate(&mut self, len: usize) {
        if len < self.names.len() {
            let kept: Vec<SmolStr> = self.names.drain(..).take(len).collect();
            *self = Schema::default();
            kept.iter().for_each(|name| {
                self.intern(name);
            });
        }
    }

    /// Approximate bytes in use.
    pub fn memory(&self) -> usize {
        let text: usize =
            self.names.iter().filter(|name| name.is_heap_allocated()).map(|name| name.len()).sum();
        let entry = size_of::<SmolStr>() + size_of::<EventPath>() + 1;
        self.names.capacity() * size_of::<SmolStr>() + self.paths.capacity() * entry + 2 * text
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
}
