//! The tree as a graph: from the root, attributes and cells in turn.

use super::GemTree;
use super::nodes::{Nodes, ROOT};
use super::triangle;
use crate::engine::shared::records::Records;
use crate::engine::{Graph, GraphNodeKind};

impl GemTree {
    /// All nodes, parents before what is below them.
    pub(super) fn draw(&self) -> Graph {
        let mut graph = Graph::default();
        // Attribute nodes, each with its text and the position of the value node above.
        let (mut work, mut next) = (vec![(ROOT, "root".to_owned(), None)], 0);
        while let Some((at, text, above)) = work.get_mut(next).map(std::mem::take) {
            next += 1;
            let node = self.nodes.node(at);
            let place = graph.push(GraphNodeKind::Partition(text), above);
            let records = Records(self.nodes.records.get(node.bucket));
            let stored = records.map(|record| self.conjunctions.owner(record.conjunction));
            graph.nodes[place].subscriptions = stored.collect();
            for &[_, value_node] in self.nodes.directories.get(node.directory).as_chunks::<2>().0 {
                let child = self.nodes.value_node(value_node);
                let middle = graph.push(GraphNodeKind::Attribute(child.attribute), Some(place));
                for (cell, node) in triangle::cells(self.nodes.triangle(child), Nodes::columns(child)) {
                    let text = format!("column {}, row {}", cell.column, cell.row);
                    work.push((node, text, Some(middle)));
                }
            }
        }
        graph
    }
}
