//! Are the entries of all lists and tables in the order of ranks, and do their blocks have the right ranks? For tests.

use crate::compiled::arena::check::{AllSpaces, KnownInterval, outside};
use crate::compiled::arena::header::RowTarget;
use crate::compiled::arena::interval_block::BLOCK;
use crate::compiled::arena::reader::{IntervalTable, PostingList, RowRegion};
use crate::compiled::arena::traversal::{PlaceKind, PlaceVisitor, TableVisit, traverse, visit_groups};
use crate::compiled::limits::ArenaOffset;
use crate::compiled::scores::RanksView;
use crate::compiled::segment::SegmentView;

/// Checks every list and table.
pub(in crate::compiled) fn check(view: &SegmentView<'_>, ranks: RanksView<'_>) -> Result<(), String> {
    let selection = AllSpaces { dimensions: view.dimensions.len() as u32 };
    traverse(view, selection, &mut OrderChecker { view, ranks, selection })
}

struct OrderChecker<'r, 'a> {
    view: &'r SegmentView<'a>,
    ranks: RanksView<'r>,
    selection: AllSpaces,
}

impl PlaceVisitor<AllSpaces> for OrderChecker<'_, '_> {
    type Error = String;

    fn list(&mut self, at: ArenaOffset, _kind: PlaceKind, node: Option<KnownInterval>) -> Result<(), String> {
        let (at, words) = (at.index(), self.view.encoding.test_words());
        let list = PostingList::read(self.view.arena, at, words).ok_or_else(|| outside("list", at))?;
        self.check_targets(at, list.decided.iter().copied(), list.ranks[0].iter().copied())?;
        let targets = self.targets(&list.rows, list.entries);
        self.check_targets(at, targets, list.ranks[1].iter().copied())?;
        visit_groups(self.selection, list.groups, node, self)
    }

    fn table(&mut self, at: ArenaOffset, _visit: TableVisit<AllSpaces>) -> Result<(), String> {
        let at = at.index();
        let table = IntervalTable::read(self.view.arena, at).ok_or_else(|| outside("table", at))?;
        let (first, further) =
            table.ranks.ok_or_else(|| format!("compiled: the table at {at} has no ranks"))?;
        let targets = self.targets(&table.rows, table.entries);
        self.check_targets(at, targets, std::iter::once(first).chain(further.iter().copied()))
    }

    fn damaged(&mut self, what: &'static str) -> Result<(), String> {
        Err(format!("compiled: {what} lead outside their array"))
    }
}

impl OrderChecker<'_, '_> {
    fn targets(&self, rows: &RowRegion, entries: usize) -> impl Iterator<Item = u32> {
        let (arena, rows) = (self.view.arena, *rows);
        (0..entries).map(move |entry| arena[rows.row(arena, entry).0])
    }

    fn check_targets(
        &self,
        at: usize,
        targets: impl Iterator<Item = u32>,
        of_blocks: impl Iterator<Item = u32>,
    ) -> Result<(), String> {
        let ranks: Vec<u32> =
            targets.map(|word| self.ranks.of(RowTarget::from_word(word).number()).rank()).collect();
        if !ranks.is_sorted() {
            return Err(format!("compiled: the entries at {at} are not in the order of ranks"));
        }
        if !ranks.chunks(BLOCK).map(|block| block[0]).eq(of_blocks) {
            return Err(format!("compiled: the blocks at {at} have the ranks of other entries"));
        }
        Ok(())
    }
}
