//! The tree as a graph: from the root, buckets and the partitions by attribute below them, in turn.

use super::BeTree;
use super::interval::Interval;
use super::nodes::{ClusterId, NO_ATTRIBUTE};
use crate::engine::shared::records::Records;
use crate::engine::{Graph, GraphNodeKind};
use crate::schema::AttrId;

impl BeTree {
    /// All nodes, parents before what is below them.
    pub(super) fn draw(&self) -> Graph {
        let mut graph = Graph::default();
        // Clusters, each with its name and the position of the node above.
        let mut work = vec![(ClusterId::ROOT, "root", None)];
        let mut next = 0;
        while let Some(&(id, name, above)) = work.get(next) {
            next += 1;
            let cluster = self.nodes.cluster(id);
            let text = match cluster.attribute {
                NO_ATTRIBUTE => name.to_owned(),
                _ => format!("{name} {}", range(self.whole_range(id))),
            };
            let place = graph.push(GraphNodeKind::Partition(text), above);
            let records = Records(self.nodes.records.get(cluster.leaf));
            let stored = records.map(|record| self.conjunctions.owner(record.conjunction));
            graph.nodes[place].subscriptions = stored.collect();
            for entry in self.nodes.directory(id) {
                let attribute = GraphNodeKind::Attribute(AttrId(entry.attribute));
                let partition = graph.push(attribute, Some(place));
                work.push((ClusterId(entry.root), "bucket", Some(partition)));
            }
            let sides = cluster.sides.into_iter().zip(["left", "right"]);
            for (side, name) in sides.filter(|(side, _)| *side != ClusterId::NONE) {
                work.push((side, name, Some(place)));
            }
        }
        graph
    }

    /// The interval of a cluster with its sides, on the active dimension.
    fn whole_range(&self, id: ClusterId) -> Interval {
        let cluster = self.nodes.cluster(id);
        cluster.side_ranges.into_iter().fold(cluster.own, Interval::union)
    }
}

/// An interval as a reader writes it. Coordinates of strings are numbers, too.
fn range(interval: Interval) -> String {
    match interval {
        _ if interval.is_empty() => "of nothing".into(),
        Interval::ALL => "of all values".into(),
        Interval { low, high } if low == high => format!("{low}"),
        Interval { low, high: f64::INFINITY } => format!("from {low}"),
        Interval { low: f64::NEG_INFINITY, high } => format!("to {high}"),
        Interval { low, high } => format!("{low} to {high}"),
    }
}
