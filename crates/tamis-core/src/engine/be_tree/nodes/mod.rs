//! The nodes of a tree in flat arrays: clusters (a c-node with its l-node and its place in a clustering directory) and
//! partitions (a p-node with its place in a partition directory).
//!
//! | part of the paper | here |
//! | --- | --- |
//! | clustering directory | clusters linked by `sides`; its first cluster is the root of a partition |
//! | c-node: the overlapping bucket and its subtree | a cluster without its sides |
//! | l-node | `leaf`, a list of records |
//! | partition directory | `directory`, a list of entries, and one hash table for all clusters |
//! | bucket of k dimensions | `own_box` and `whole_box`: one interval per partition on the path, the active one last |

mod arena;

pub(super) use arena::Nodes;

use super::interval::Interval;
use crate::engine::shared::list_pool::ListRef;
use crate::schema::AttrId;

/// A cluster. Numbers of removed ones are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClusterId(pub u32);

impl ClusterId {
    pub const NONE: ClusterId = ClusterId(u32::MAX);
    /// The cluster without an active dimension, from which every path begins.
    pub const ROOT: ClusterId = ClusterId(0);
}

/// A partition. Numbers of removed ones are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartitionId(pub u32);

impl PartitionId {
    pub const NONE: PartitionId = PartitionId(u32::MAX);
}

/// The active dimension of the root.
pub(super) const NO_ATTRIBUTE: AttrId = AttrId(u32::MAX);

/// What matching reads of a cluster.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    /// Encloses, on the active dimension, the conjunctions of the leaf and of all partitions; empty if there are none.
    pub own: Interval,
    /// By side: encloses its cluster and all below, on the active dimension; empty without a cluster. The two are
    /// disjoint (descendant-repelling).
    pub side_ranges: [Interval; 2],
    /// By side: its cluster, or [`ClusterId::NONE`].
    pub sides: [ClusterId; 2],
    /// The active dimension; [`NO_ATTRIBUTE`] for the root.
    pub attribute: AttrId,
    /// The l-node: the records of its conjunctions.
    pub leaf: ListRef,
    /// The entries of its partitions, in any order.
    pub directory: ListRef,
    /// At least the total weight of every conjunction of the leaf.
    pub leaf_bound: f32,
    /// At least the total weight of every conjunction of the leaf, the partitions and the sides.
    pub bound: f32,
}

/// What only updates read of a cluster.
#[derive(Clone, Debug)]
pub(super) struct ClusterInfo {
    pub parent: Parent,
    /// The partition whose clustering directory it is part of; [`PartitionId::NONE`] for the root.
    pub partition: PartitionId,
    /// Conjunctions of the leaf.
    pub count: u32,
    /// Conjunctions that the leaf may have before it is split; more than the option's after a split that failed.
    pub capacity: u32,
    /// Of the leaf and all partitions, by partition of the path. Empty with rigid cutting.
    pub own_box: ListRef,
    /// As `own_box`, with the sides. With rigid cutting: only the cell.
    pub whole_box: ListRef,
}

/// What leads to a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parent {
    /// Nothing: it is the root, or its number is free.
    None,
    /// It is the root of a clustering directory.
    Partition(PartitionId),
    /// It is a side of a cluster.
    Side(ClusterId),
}

/// A p-node.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    /// The dimension.
    pub attribute: AttrId,
    /// The cluster that is partitioned; [`ClusterId::NONE`] if the number is free.
    pub parent: ClusterId,
    /// Position of its entry in the parent's directory.
    pub position: u32,
    /// Number of partitions on the path to it, itself included.
    pub level: u32,
    /// The root of its clustering directory.
    pub root: ClusterId,
    /// Conjunctions below.
    pub size: u32,
    /// Conjunctions removed since `weights` was computed.
    pub removed: u32,
    /// Mean of discarded predicate evaluations per observed event that reached it.
    pub loss: f32,
    /// Observed events that reached it, at most the window.
    pub visits: u32,
    /// The weight summary, by attribute in ascending order.
    pub weights: ListRef,
    /// Whether a weight of the summary counts for events without the attribute.
    pub counts_missing: bool,
}

/// An entry of a partition directory: what matching reads of a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DirectoryEntry {
    /// The whole interval of the clustering directory.
    pub range: Interval,
    /// The dimension.
    pub attribute: u32,
    /// The root of the clustering directory.
    pub root: u32,
}
