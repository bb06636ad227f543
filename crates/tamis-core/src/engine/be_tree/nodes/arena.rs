//! The arrays that all nodes of a tree are in, and the hash table of its partitions.
//!
//! Invariants: a partition is in its parent's directory, at its position, and in the table. Freed numbers own no lists.

use super::{Cluster, ClusterId, ClusterInfo, DirectoryEntry, NO_ATTRIBUTE, Parent, Partition, PartitionId};
use crate::engine::be_tree::interval::Interval;
use crate::engine::be_tree::weights::AttributeBound;
use crate::engine::shared::list_pool::{ListPool, ListRef, shrink};
use crate::schema::AttrId;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// All nodes of a tree.
#[derive(Debug)]
pub(in crate::engine::be_tree) struct Nodes {
    pub clusters: Vec<Cluster>,
    /// By cluster.
    pub infos: Vec<ClusterInfo>,
    pub partitions: Vec<Partition>,
    /// The records of all leaves.
    pub records: ListPool<u32, 4>,
    /// The entries of all partition directories.
    pub entries: ListPool<DirectoryEntry, 1>,
    /// The boxes of all clusters.
    pub boxes: ListPool<Interval, 1>,
    /// The weight summaries of all partitions.
    pub summaries: ListPool<AttributeBound, 1>,
    free_clusters: Vec<ClusterId>,
    free_partitions: Vec<PartitionId>,
    /// Partitions by parent and attribute.
    table: HashTable<PartitionId>,
}

fn hash(parent: ClusterId, attribute: AttrId) -> u64 {
    FxBuildHasher.hash_one((parent.0, attribute.0))
}

impl Nodes {
    /// A root without conjunctions. `capacity` is that of its leaf.
    pub fn new(capacity: u32) -> Nodes {
        let mut nodes = Nodes {
            clusters: Vec::new(),
            infos: Vec::new(),
            partitions: Vec::new(),
            records: ListPool::default(),
            entries: ListPool::default(),
            boxes: ListPool::default(),
            summaries: ListPool::default(),
            free_clusters: Vec::new(),
            free_partitions: Vec::new(),
            table: HashTable::new(),
        };
        let root = nodes.add_cluster(NO_ATTRIBUTE, Parent::None, PartitionId::NONE, capacity);
        nodes.cluster_mut(root).own = Interval::ALL;
        nodes
    }

    pub fn cluster(&self, id: ClusterId) -> &Cluster {
        &self.clusters[id.0 as usize]
    }

    pub fn cluster_mut(&mut self, id: ClusterId) -> &mut Cluster {
        &mut self.clusters[id.0 as usize]
    }

    pub fn info(&self, id: ClusterId) -> &ClusterInfo {
        &self.infos[id.0 as usize]
    }

    pub fn info_mut(&mut self, id: ClusterId) -> &mut ClusterInfo {
        &mut self.infos[id.0 as usize]
    }

    pub fn partition(&self, id: PartitionId) -> &Partition {
        &self.partitions[id.0 as usize]
    }

    pub fn partition_mut(&mut self, id: PartitionId) -> &mut Partition {
        &mut self.partitions[id.0 as usize]
    }

    /// A cluster without conjunctions, which its parent does not know yet.
    pub fn add_cluster(
        &mut self,
        attribute: AttrId,
        parent: Parent,
        partition: PartitionId,
        capacity: u32,
    ) -> ClusterId {
        let cluster = Cluster {
            own: Interval::EMPTY,
            side_ranges: [Interval::EMPTY; 2],
            sides: [ClusterId::NONE; 2],
            attribute,
            leaf: ListRef::EMPTY,
            directory: ListRef::EMPTY,
            leaf_bound: 0.0,
            bound: 0.0,
        };
        let (own_box, whole_box) = (ListRef::EMPTY, ListRef::EMPTY);
        let info = ClusterInfo { parent, partition, count: 0, capacity, own_box, whole_box };
        match self.free_clusters.pop() {
            Some(id) => {
                (*self.cluster_mut(id), *self.info_mut(id)) = (cluster, info);
                id
            }
            None => {
                self.clusters.push(cluster);
                self.infos.push(info);
                ClusterId(self.clusters.len() as u32 - 1)
            }
        }
    }

    /// Frees a cluster, whose lists are freed as well.
    pub fn free_cluster(&mut self, id: ClusterId) {
        let (cluster, info) = (self.cluster(id).clone(), self.info(id).clone());
        self.records.release(cluster.leaf);
        self.entries.release(cluster.directory);
        self.boxes.release(info.own_box);
        self.boxes.release(info.whole_box);
        let cluster = self.cluster_mut(id);
        (cluster.leaf, cluster.directory) = (ListRef::EMPTY, ListRef::EMPTY);
        let info = self.info_mut(id);
        (info.own_box, info.whole_box, info.parent) = (ListRef::EMPTY, ListRef::EMPTY, Parent::None);
        self.free_clusters.push(id);
    }

    /// A partition of a cluster, with an empty cluster as the root of its clustering directory.
    pub fn add_partition(&mut self, parent: ClusterId, attribute: AttrId, capacity: u32) -> PartitionId {
        let above = self.info(parent).partition;
        let level = if above == PartitionId::NONE { 1 } else { self.partition(above).level + 1 };
        let partition = Partition {
            attribute,
            parent,
            position: self.cluster(parent).directory.len() as u32,
            level,
            root: ClusterId::NONE,
            size: 0,
            removed: 0,
            loss: 0.0,
            visits: 0,
            weights: ListRef::EMPTY,
            counts_missing: false,
        };
        let id = match self.free_partitions.pop() {
            Some(id) => {
                *self.partition_mut(id) = partition;
                id
            }
            None => {
                self.partitions.push(partition);
                PartitionId(self.partitions.len() as u32 - 1)
            }
        };
        let root = self.add_cluster(attribute, Parent::Partition(id), id, capacity);
        self.partition_mut(id).root = root;
        let entry = DirectoryEntry { range: Interval::EMPTY, attribute: attribute.0, root: root.0 };
        let mut list = self.cluster(parent).directory;
        self.entries.extend(&mut list, &[entry]);
        self.cluster_mut(parent).directory = list;
        let partitions = &self.partitions;
        let rehash = |id: &PartitionId| {
            let partition = &partitions[id.0 as usize];
            hash(partition.parent, partition.attribute)
        };
        self.table.insert_unique(hash(parent, attribute), id, rehash);
        id
    }

    /// Frees a partition; its clusters must have been freed.
    pub fn free_partition(&mut self, id: PartitionId) {
        let Partition { attribute, parent, position, weights, .. } = *self.partition(id);
        if let Ok(found) = self.table.find_entry(hash(parent, attribute), |other| *other == id) {
            found.remove();
        }
        self.summaries.release(weights);
        let mut list = self.cluster(parent).directory;
        self.entries.swap_remove(&mut list, position as usize);
        self.cluster_mut(parent).directory = list;
        if let Some(moved) = self.entries.get(list).get(position as usize) {
            let moved = self.info(ClusterId(moved.root)).partition;
            self.partition_mut(moved).position = position;
        }
        let partition = self.partition_mut(id);
        (partition.parent, partition.weights) = (ClusterId::NONE, ListRef::EMPTY);
        self.free_partitions.push(id);
    }

    /// The partition of a cluster on an attribute.
    #[inline]
    pub fn find_partition(&self, parent: ClusterId, attribute: AttrId) -> Option<PartitionId> {
        let is_it = |id: &PartitionId| {
            let partition = self.partition(*id);
            partition.parent == parent && partition.attribute == attribute
        };
        self.table.find(hash(parent, attribute), is_it).copied()
    }

    /// The entries of a cluster's partition directory.
    pub fn directory(&self, id: ClusterId) -> &[DirectoryEntry] {
        self.entries.get(self.cluster(id).directory)
    }

    /// The entry of a partition in its parent's directory.
    pub fn entry_mut(&mut self, id: PartitionId) -> &mut DirectoryEntry {
        let Partition { parent, position, .. } = *self.partition(id);
        let list = self.cluster(parent).directory;
        &mut self.entries.get_mut(list)[position as usize]
    }

    /// Whether the cluster has neither sides nor partitions.
    pub fn is_open_leaf(&self, id: ClusterId) -> bool {
        let cluster = self.cluster(id);
        cluster.directory.is_empty() && cluster.sides == [ClusterId::NONE; 2]
    }

    /// The attributes of the partitions on the path to a cluster, the first level first.
    pub fn path(&self, id: ClusterId, path: &mut Vec<AttrId>) {
        path.clear();
        let mut partition = self.info(id).partition;
        while partition != PartitionId::NONE {
            let Partition { attribute, parent, .. } = *self.partition(partition);
            path.push(attribute);
            partition = self.info(parent).partition;
        }
        path.reverse();
    }

    /// Replaces a cluster by another in what leads to it.
    pub fn relink(&mut self, old: ClusterId, new: ClusterId) {
        let parent = self.info(old).parent;
        match parent {
            Parent::None => {}
            Parent::Partition(partition) => {
                self.partition_mut(partition).root = new;
                self.entry_mut(partition).root = new.0;
            }
            Parent::Side(above) => {
                let sides = &mut self.cluster_mut(above).sides;
                sides[usize::from(sides[1] == old)] = new;
            }
        }
        self.info_mut(new).parent = parent;
    }

    /// The clusters in use, each before those below it.
    pub fn in_order(&self) -> Vec<ClusterId> {
        let (mut order, mut stack) = (Vec::with_capacity(self.clusters.len()), vec![ClusterId::ROOT]);
        while let Some(id) = stack.pop() {
            order.push(id);
            stack.extend(self.directory(id).iter().map(|entry| ClusterId(entry.root)));
            stack.extend(self.cluster(id).sides.into_iter().filter(|side| *side != ClusterId::NONE));
        }
        order
    }

    /// The partitions in use.
    pub fn live_partitions(&self) -> impl Iterator<Item = PartitionId> + '_ {
        let live = |id: &PartitionId| self.partition(*id).parent != ClusterId::NONE;
        (0..self.partitions.len() as u32).map(PartitionId).filter(live)
    }

    /// Moves lists together in the order of the tree and frees memory reserved for growth.
    pub fn defragment(&mut self) {
        let order = self.in_order();
        let at = |id: &ClusterId| id.0 as usize;
        let mut leaves: Vec<ListRef> = order.iter().map(|id| self.cluster(*id).leaf).collect();
        self.records.defragment(leaves.iter_mut());
        let mut directories: Vec<ListRef> = order.iter().map(|id| self.cluster(*id).directory).collect();
        self.entries.defragment(directories.iter_mut());
        for (id, (leaf, directory)) in order.iter().zip(leaves.into_iter().zip(directories)) {
            let cluster = &mut self.clusters[at(id)];
            (cluster.leaf, cluster.directory) = (leaf, directory);
        }
        let boxes = self.infos.iter_mut().flat_map(|info| [&mut info.own_box, &mut info.whole_box]);
        self.boxes.defragment(boxes);
        self.summaries.defragment(self.partitions.iter_mut().map(|partition| &mut partition.weights));
        shrink(&mut self.clusters);
        shrink(&mut self.infos);
        shrink(&mut self.partitions);
    }

    pub fn memory(&self) -> usize {
        self.clusters.capacity() * size_of::<Cluster>()
            + self.infos.capacity() * size_of::<ClusterInfo>()
            + self.partitions.capacity() * size_of::<Partition>()
            + (self.free_clusters.capacity() + self.free_partitions.capacity()) * size_of::<u32>()
            + self.table.allocation_size()
            + self.records.memory()
            + self.entries.memory()
            + self.boxes.memory()
            + self.summaries.memory()
    }

    /// Clusters and partitions in use.
    pub fn counts(&self) -> (usize, usize) {
        let free = (self.free_clusters.len(), self.free_partitions.len());
        (self.clusters.len() - free.0, self.partitions.len() - free.1)
    }
}
