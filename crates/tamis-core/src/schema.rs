//! Attribute names, interned once: everything behind the parser speaks dense numbers.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::Arc;

/// An attribute of one index, numbered from 0 in order of first use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttrId(pub u32);

impl AttrId {
    /// As a position in an array with one place per attribute.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a path of an event means to the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// The attribute with exactly this name.
    pub attribute: Option<AttrId>,
    /// Whether some attribute's name continues this path after a dot, so that a nested object is worth entering.
    pub leads_on: bool,
}

/// The attributes an index refers to. Only grows, except when a failed batch is taken back.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// By [`AttrId`].
    names: Vec<SmolStr>,
    /// Every name, and every proper prefix of a name that ends before a dot.
    paths: FxHashMap<SmolStr, Path>,
}

/// Gives attributes their numbers, new ones included.
pub trait Attributes {
    /// The number of the attribute with this name.
    fn number(&mut self, name: &SmolStr) -> AttrId;
}

impl Attributes for Schema {
    fn number(&mut self, name: &SmolStr) -> AttrId {
        self.intern(name)
    }
}

/// Readers hold on to the schema they read events with, so it is copied before it grows; but only then.
impl Attributes for Arc<Schema> {
    fn number(&mut self, name: &SmolStr) -> AttrId {
        match self.get(name) {
            Some(attribute) => attribute,
            None => Arc::make_mut(self).intern(name),
        }
    }
}

impl Schema {
    /// How many attributes there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether no expression has named an attribute yet.
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

    /// The attribute with this name, if an expression uses it.
    pub fn get(&self, name: &str) -> Option<AttrId> {
        self.paths.get(name)?.attribute
    }

    /// What a path of an event means; `None` if nothing.
    pub fn path(&self, path: &str) -> Option<Path> {
        self.paths.get(path).copied()
    }

    /// The attribute with this name, made if need be.
    pub fn intern(&mut self, name: &SmolStr) -> AttrId {
        if let Some(Path { attribute: Some(attribute), .. }) = self.paths.get(name) {
            return *attribute;
        }
        let attribute = AttrId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(name.clone());
        self.paths.entry(name.clone()).or_default().attribute = Some(attribute);
        for (dot, _) in name.match_indices('.') {
            self.paths.entry(SmolStr::new(&name[..dot])).or_default().leads_on = true;
        }
        attribute
    }

    /// Forgets the attributes past the first `len`.
    pub fn truncate(&mut self, len: usize) {
        if len < self.names.len() {
            let kept: Vec<SmolStr> = self.names.drain(..).take(len).collect();
            *self = Schema::default();
            kept.iter().for_each(|name| {
                self.intern(name);
            });
        }
    }

    /// Bytes in use, near enough.
    pub fn memory(&self) -> usize {
        let text: usize =
            self.names.iter().filter(|name| name.is_heap_allocated()).map(|name| name.len()).sum();
        let entry = size_of::<SmolStr>() + size_of::<Path>() + 1;
        self.names.capacity() * size_of::<SmolStr>() + self.paths.capacity() * entry + 2 * text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_lead_on() {
        let mut schema = Schema::default();
        let age = schema.intern(&"user.home.zip".into());
        let user = schema.intern(&"user".into());
        assert_eq!(schema.path("user"), Some(Path { attribute: Some(user), leads_on: true }));
        assert_eq!(schema.path("user.home"), Some(Path { attribute: None, leads_on: true }));
        assert_eq!(schema.path("user.home.zip"), Some(Path { attribute: Some(age), leads_on: false }));
        assert_eq!(schema.path("other"), None);
        schema.truncate(1);
        assert_eq!(schema.get("user"), None);
        assert_eq!(schema.intern(&"user.home.zip".into()), age);
    }
}
