//! What expressions refer to in a batch: columns, fields of structs, entries of maps. Dotted names are paths, as in nested
//! dicts.

use super::cells::{self, CellReader};
use super::strings::arrow_text;
use crate::error::{Error, Result};
use crate::event::rows::Rows;
use crate::schema::{AttrId, Schema};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, MapArray, StructArray};
use arrow_schema::DataType;
use hashbrown::HashMap;
use std::sync::Arc;

/// A column, a field of a struct or the entries of a map that an expression refers to.
pub(super) struct ReferredColumn {
    /// Dotted name, for errors.
    name: String,
    /// The enclosing structs: where one of them is null, there is nothing to read.
    parents: Vec<Arc<StructArray>>,
    content: Content,
}

enum Content {
    /// The values of an attribute.
    Values { attribute: AttrId, read: CellReader },
    /// Attributes in the entries of maps.
    Entries(Box<MapEntries>),
}

impl ReferredColumn {
    /// Sets what a row has in this column.
    #[inline]
    pub fn read(&self, row: usize, rows: &mut Rows) -> Result<()> {
        if self.parents.iter().any(|parent| parent.is_null(row)) {
            return Ok(());
        }
        match &self.content {
            Content::Values { attribute, read } => {
                let slot = read(row, rows).map_err(|message| Error::event(&self.name, message))?;
                rows.set(*attribute, slot);
                Ok(())
            }
            Content::Entries(entries) => entries.read(&self.name, row, rows),
        }
    }
}

/// The entries of a map column.
struct MapEntries {
    maps: MapArray,
    /// By key: what expressions refer to in the value of an entry with this key. Hashed with a random key, as users
    /// choose names.
    by_key: HashMap<String, Vec<ReferredColumn>>,
}

impl MapEntries {
    /// Of several entries with the same key the last one counts.
    fn read(&self, name: &str, row: usize, rows: &mut Rows) -> Result<()> {
        if self.maps.is_null(row) {
            return Ok(());
        }
        let (offsets, keys) = (self.maps.value_offsets(), self.maps.keys());
        let range = usize::try_from(offsets[row]).ok().zip(usize::try_from(offsets[row + 1]).ok());
        let range = range.filter(|(start, end)| start <= end && *end <= keys.len());
        let (start, end) = range.ok_or_else(|| {
            let message =
                format!("a map whose offsets leave its {} entries: the data is damaged", keys.len());
            Error::event(name, message)
        })?;
        for entry in start..end {
            if keys.is_null(entry) {
                continue;
            }
            let key = arrow_text(keys, entry).unwrap_or(Ok(""));
            let key = key.map_err(|fault| Error::event(name, format!("a key that is {fault}")))?;
            for column in self.by_key.get(key).into_iter().flatten() {
                column.read(entry, rows)?;
            }
        }
        Ok(())
    }
}

/// Appends what expressions refer to in a column: its values, the fields of a struct, the entries of a map. `parents` are
/// the enclosing structs.
pub(super) fn resolve(
    name: String,
    array: &ArrayRef,
    parents: &[Arc<StructArray>],
    schema: &Schema,
    columns: &mut Vec<ReferredColumn>,
) -> Result<()> {
    let Some(path) = schema.path(&name) else {
        return Ok(());
    };
    if let Some(attribute) = path.attribute {
        let read = cells::reader(array).map_err(|message| Error::event(&name, message))?;
        let content = Content::Values { attribute, read };
        columns.push(ReferredColumn { name: name.clone(), parents: parents.to_vec(), content });
    }
    if !path.has_subpaths {
        return Ok(());
    }
    match array.data_type() {
        DataType::Struct(fields) => {
            let parent = array.as_struct().clone();
            let mut parents = parents.to_vec();
            parents.push(Arc::new(parent.clone()));
            for (field, child) in fields.iter().zip(parent.columns()) {
                resolve(format!("{name}.{}", field.name()), child, &parents, schema, columns)?;
            }
        }
        DataType::Map(_, _) => {
            let content = Content::Entries(Box::new(entries(&name, array.as_map(), schema)?));
            columns.push(ReferredColumn { name, parents: parents.to_vec(), content });
        }
        _ => {}
    }
    Ok(())
}

/// What expressions refer to in the entries of maps. The values are resolved once per key, with entries as rows.
fn entries(name: &str, maps: &MapArray, schema: &Schema) -> Result<MapEntries> {
    if !matches!(maps.keys().data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
        let keys = maps.keys().data_type();
        return Err(Error::event(name, format!("a map with keys of Arrow type {keys}; strings are needed")));
    }
    let mut by_key = HashMap::new();
    for key in schema.subpaths(name) {
        let mut columns = Vec::new();
        resolve(format!("{name}.{key}"), maps.values(), &[], schema, &mut columns)?;
        by_key.insert(key.to_owned(), columns);
    }
    Ok(MapEntries { maps: maps.clone(), by_key })
}
