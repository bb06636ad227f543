//! Removal, on which the paper is silent: nodes that have become empty are removed, and a value node that has lost most of
//! its conjunctions gives the rest back to the bucket above.
//!
//! A value node is made for at least `split_threshold` conjunctions and dissolved at half as many, if the bucket above has
//! room: so adding and removing the same subscription does not split and dissolve again and again.

use super::GemTree;
use super::nodes::{BucketChange, ROOT};
use super::triangle;
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::records;

impl GemTree {
    /// Takes a conjunction out of its bucket.
    pub(super) fn withdraw(&mut self, id: ConjId) {
        let at = self.conjunctions.state(id).node;
        let residual = self.residual(id, self.nodes.path(at).count());
        let mut bucket = self.nodes.node(at).bucket;
        records::remove(&mut self.nodes.records, &mut bucket, id);
        let capacity = self.capacity as u32;
        let node = self.nodes.node_mut(at);
        node.bucket = bucket;
        node.stored -= 1;
        if node.stored <= capacity / 2 {
            node.capacity = capacity;
        }
        self.nodes.update_ranking(at, BucketChange { conjunctions: -1, residual: -(residual as i64) });
        self.collapse_path(at);
    }

    /// Removes what is empty or small on the path to the root.
    fn collapse_path(&mut self, mut at: u32) {
        while at != ROOT {
            let node = self.nodes.node(at);
            let value_node = node.parent;
            let parent = self.nodes.value_node(value_node).parent;
            if node.count == 0 {
                self.nodes.remove_attribute_node(at);
            }
            let count = self.nodes.value_node(value_node).load.count;
            if count == 0 {
                self.nodes.remove_value_node(value_node);
            } else {
                let above = self.nodes.node(parent);
                if count as usize <= self.split_threshold / 2 && above.stored + count <= above.capacity {
                    self.dissolve(value_node);
                }
            }
            at = parent;
        }
    }

    /// Removes a value node and inserts its conjunctions again, from the attribute node above on.
    fn dissolve(&mut self, value_node: u32) {
        let parent = self.nodes.value_node(value_node).parent;
        // Parents before children.
        let (mut attribute_nodes, mut value_nodes) = (Vec::new(), vec![value_node]);
        let mut next = 0;
        while let Some(&at) = value_nodes.get(next) {
            next += 1;
            let node = self.nodes.value_node(at);
            let columns = node.cuts.len() + 1;
            for (_, cell) in triangle::cells(self.nodes.triangle(node), columns) {
                attribute_nodes.push(cell);
                let directory = self.nodes.directories.get(self.nodes.node(cell).directory);
                value_nodes.extend(directory.as_chunks::<2>().0.iter().map(|entry| entry[1]));
            }
        }
        let mut ids = Vec::new();
        for &at in &attribute_nodes {
            ids.extend(self.take_bucket(at));
        }
        // The last value node has no value nodes below it; its cells come last as well.
        for &at in value_nodes.iter().rev() {
            while let Some(cell) = attribute_nodes.pop_if(|cell| self.nodes.node(*cell).parent == at) {
                self.nodes.remove_attribute_node(cell);
            }
            self.nodes.remove_value_node(at);
        }
        for id in ids {
            self.insert_below(parent, id);
        }
    }
}
