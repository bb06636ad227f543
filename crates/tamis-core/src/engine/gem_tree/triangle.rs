//! The right triangle structure: an interval is a point, its lower end the column and its upper end the row; a cell is a
//! range of columns by a range of rows.
//!
//! At most `lambda - 1` cuts divide the values of an attribute into columns; rows are the same ranges. An interval lies in
//! the cell (column of its low end, row of its high end), so column <= row: the cells form a triangle. For a value in column
//! `i`, candidates are in the cells with column <= i <= row. With both unequal, every interval of the cell contains the
//! value; with one equal, the cell is intersected and its intervals have to be tested.
//!
//! | words of 4 bytes | content of a stored triangle |
//! | --- | --- |
//! | 1 per column | bitmap of the rows whose cell is not empty |
//! | 1 per cell that is not empty | its node; by column, then by row |
//!
//! Cost: locating a value compares it with all cuts, at most 31; visiting reads one bitmap per column up to the value's
//! and touches no cell but the candidates.

use crate::engine::shared::ordinals::{Ordinal, Span};

/// A cell of a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// The column of the low end.
    pub column: u8,
    /// The row of the high end; at least `column`.
    pub row: u8,
}

impl Cell {
    /// Number of columns whose values lead to it.
    pub fn width(self) -> u64 {
        u64::from(self.row - self.column) + 1
    }

    /// Position in an array of all cells of a triangle.
    pub fn index(self) -> usize {
        let row = usize::from(self.row);
        row * (row + 1) / 2 + usize::from(self.column)
    }
}

/// Number of cells of a triangle with this many columns.
pub(super) fn cell_count(columns: usize) -> usize {
    columns * (columns + 1) / 2
}

/// The column of an ordinal: column `i` begins at cut `i - 1`.
#[inline]
pub(super) fn column(cuts: &[Ordinal], at: Ordinal) -> u8 {
    cuts.iter().map(|cut| u8::from(*cut <= at)).sum()
}

/// The cell of a span.
pub(super) fn locate(cuts: &[Ordinal], span: Span) -> Cell {
    Cell { column: column(cuts, span.low), row: column(cuts, span.high) }
}

/// Whether a span is exactly the columns of its cell, so that every value that leads to the cell is accepted.
pub(super) fn is_aligned(cuts: &[Ordinal], span: Span) -> bool {
    let Cell { column, row } = locate(cuts, span);
    let begins = column > 0 && cuts[usize::from(column) - 1] == span.low;
    let ends = cuts.get(usize::from(row)).is_some_and(|cut| *cut == span.high + 1);
    span.exact && begins && ends
}

/// Visits the cells that a value in a column leads to, with whether every interval there contains the value.
#[inline]
pub(super) fn visit(words: &[u32], columns: usize, at: u8, mut visit: impl FnMut(u32, bool)) {
    let (bitmaps, nodes) = words.split_at(columns);
    let mut first = 0;
    for (column, &rows) in bitmaps[..=usize::from(at)].iter().enumerate() {
        let reached = rows >> at;
        // Rows below `at` come first.
        let mut node = first + (rows & !(u32::MAX << at)).count_ones() as usize;
        first += rows.count_ones() as usize;
        let mut left = reached;
        while left != 0 {
            let inside = column < usize::from(at) && left & 1 == 0;
            visit(nodes[node], inside);
            node += 1;
            left &= left - 1;
        }
    }
}

/// Where the node of a cell is, or would be, among the words; whether it is there.
pub(super) fn find(words: &[u32], columns: usize, cell: Cell) -> (usize, bool) {
    let (column, bit) = (usize::from(cell.column), 1u32 << cell.row);
    let before: u32 = words[..column].iter().map(|rows| rows.count_ones()).sum();
    let below = (words[column] & (bit - 1)).count_ones();
    (columns + (before + below) as usize, words[column] & bit != 0)
}

/// Every cell that is not empty, and its node.
pub(super) fn cells(words: &[u32], columns: usize) -> impl Iterator<Item = (Cell, u32)> + '_ {
    let (bitmaps, nodes) = words.split_at(columns);
    let all = bitmaps.iter().enumerate().flat_map(|(column, &rows)| {
        (0..32u8).filter(move |row| rows & 1 << row != 0).map(move |row| Cell { column: column as u8, row })
    });
    all.zip(nodes.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::shared::ordinals::{choose_cuts, ends_of};

    fn span(low: Ordinal, high: Ordinal) -> Span {
        Span { low, high, interval: true, exact: true }
    }

    /// A triangle with a node per cell, numbered as [`Cell::index`].
    fn full(columns: u8) -> Vec<u32> {
        let mut words: Vec<u32> = (0..columns).map(|c| (c..columns).map(|r| 1 << r).sum()).collect();
        for column in 0..columns {
            words.extend((column..columns).map(|row| Cell { column, row }.index() as u32));
        }
        words
    }

    #[test]
    fn a_value_visits_exactly_the_cells_that_may_contain_it() {
        for columns in [1u8, 2, 8, 32] {
            let words = full(columns);
            assert_eq!(words.len(), usize::from(columns) + cell_count(usize::from(columns)));
            for at in 0..columns {
                let mut visited = Vec::new();
                visit(&words, usize::from(columns), at, |node, inside| visited.push((node, inside)));
                visited.sort_unstable();
                let mut expected: Vec<(u32, bool)> = cells(&words, usize::from(columns))
                    .filter(|(cell, _)| cell.column <= at && at <= cell.row)
                    .map(|(cell, node)| (node, cell.column < at && at < cell.row))
                    .collect();
                expected.sort_unstable();
                assert_eq!(visited, expected, "{columns} columns, at {at}");
            }
            for (cell, node) in cells(&words, usize::from(columns)) {
                let (at, there) = find(&words, usize::from(columns), cell);
                assert!(there && words[at] == node);
            }
        }
    }

    #[test]
    fn few_distinct_ends_align_all_spans() {
        let spans = [span(3, 3), span(3, 9), span(7, 9)];
        let cuts = choose_cuts(&mut spans.iter().flat_map(|s| ends_of(*s)).collect::<Vec<_>>(), 8);
        assert_eq!(cuts, [3, 4, 7, 10]);
        assert!(spans.iter().all(|span| is_aligned(&cuts, *span)));
        assert!(!is_aligned(&cuts, span(4, 8)));
        assert_eq!(locate(&cuts, span(3, 9)), Cell { column: 1, row: 3 });
    }
}
