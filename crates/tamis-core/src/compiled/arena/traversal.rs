//! The one traversal of the arena: from selected spaces to the lists and tables they lead to.
//!
//! ```text
//! list that every event reads
//! each selected dimension:   scan tables
//!                            per level, the lists of the selected nodes
//!                            pair tables whose second dimension is selected too
//! groups of a list:          tables whose dimension is selected
//! ```
//!
//! Matching selects the spaces of one event or of a batch; checking and explaining select all spaces. Selection and
//! visitor are type parameters: each use is monomorphised, and what it ignores costs nothing.

use crate::compiled::arena::header::TableDirectory;
use crate::compiled::limits::ArenaOffset;
use crate::compiled::segment::SegmentView;

/// Which spaces are selected.
pub(in crate::compiled) trait SpaceSelection: Copy {
    /// The selected spaces of one dimension, of which there is one at least.
    type Spaces: Copy;
    /// The selected spaces below one node.
    type Node: Copy;

    /// What the list that every event reads is visited with.
    fn everywhere(self) -> Self::Node;

    /// Dimensions with selected spaces. An event's list has its dimension once per element.
    fn dimensions(self) -> impl Iterator<Item = (u32, Self::Spaces)>;

    /// The selected spaces of a dimension.
    fn spaces(self, dimension: u32) -> Option<Self::Spaces>;

    /// The nodes of a level, of which there are `count`, that cover selected spaces.
    fn nodes(
        self,
        dimension: u32,
        spaces: Self::Spaces,
        level: u32,
        count: u32,
    ) -> impl Iterator<Item = (u32, Self::Node)>;
}

/// How a list or a table is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) enum PlaceKind {
    Everywhere,
    Scan,
    Pair,
    Node,
    Group,
}

/// What an interval table is reached with.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct TableVisit<S: SpaceSelection> {
    pub kind: PlaceKind,
    /// Dimension and selected spaces of the first key.
    pub first: (u32, S::Spaces),
    /// The same of the second key, if there is one.
    pub second: Option<(u32, S::Spaces)>,
    /// Of a group: the node of its list.
    pub within: Option<S::Node>,
}

/// What is done with each list and table.
pub(in crate::compiled) trait PlaceVisitor<S: SpaceSelection> {
    /// [`Infallible`](std::convert::Infallible) where nothing ends the traversal.
    type Error;

    fn list(&mut self, at: ArenaOffset, kind: PlaceKind, node: S::Node) -> Result<(), Self::Error>;

    fn table(&mut self, at: ArenaOffset, visit: TableVisit<S>) -> Result<(), Self::Error>;

    /// The pair tables of a dimension.
    #[inline(always)]
    fn pairs(
        &mut self,
        selection: S,
        first: (u32, S::Spaces),
        directory: TableDirectory<'_>,
    ) -> Result<(), Self::Error> {
        for (second, table) in directory.iter() {
            if let Some(spaces) = selection.spaces(second) {
                let second = Some((second, spaces));
                self.table(table, TableVisit { kind: PlaceKind::Pair, first, second, within: None })?;
            }
        }
        Ok(())
    }

    /// Something leads outside its array, as in a damaged file. It is skipped unless this returns an error.
    fn damaged(&mut self, what: &'static str) -> Result<(), Self::Error>;
}

/// Visits everything that the selected spaces lead to, except the groups of lists: a visitor reaches these with
/// [`visit_groups`] when it reads the list.
#[inline(always)]
pub(in crate::compiled) fn traverse<S: SpaceSelection, V: PlaceVisitor<S>>(
    view: &SegmentView<'_>,
    selection: S,
    visitor: &mut V,
) -> Result<(), V::Error> {
    if view.everywhere.is_some() {
        visitor.list(view.everywhere, PlaceKind::Everywhere, selection.everywhere())?;
    }
    for (dimension, spaces) in selection.dimensions() {
        let record = &view.dimensions[dimension as usize];
        let first = (dimension, spaces);
        for scan in record.scans {
            if scan.is_some() {
                let visit = TableVisit { kind: PlaceKind::Scan, first, second: None, within: None };
                visitor.table(scan, visit)?;
            }
        }
        let mut level_start = record.nodes as usize;
        for level in 0..record.levels {
            let count = record.nodes_in_level(level);
            for (number, node) in selection.nodes(dimension, spaces, level, count) {
                match view.nodes.get(level_start + number as usize) {
                    Some(list) if list.is_some() => visitor.list(*list, PlaceKind::Node, node)?,
                    Some(_) => {}
                    None => visitor.damaged("the nodes of a dimension")?,
                }
            }
            level_start += count as usize;
        }
        match record.pair_directory(view.arena) {
            Some(directory) => visitor.pairs(selection, first, directory)?,
            None => visitor.damaged("the pairs of a dimension")?,
        }
    }
    Ok(())
}

/// Visits the groups of a list that was reached with a node.
#[inline(always)]
pub(in crate::compiled) fn visit_groups<S: SpaceSelection, V: PlaceVisitor<S>>(
    selection: S,
    groups: TableDirectory<'_>,
    node: S::Node,
    visitor: &mut V,
) -> Result<(), V::Error> {
    for (dimension, table) in groups.iter() {
        if let Some(spaces) = selection.spaces(dimension) {
            let (first, within) = ((dimension, spaces), Some(node));
            visitor.table(table, TableVisit { kind: PlaceKind::Group, first, second: None, within })?;
        }
    }
    Ok(())
}
