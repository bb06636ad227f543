//! The subscriptions whose expression a node is.

use super::{NodeStore, TreeNodeId};
use crate::engine::SubId;

/// The subscriptions of a node in 4 bytes: none, the number of one, or the position of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::a_tree) struct NodeSubscriptions(u32);

/// Maximum number of a subscription; larger ones would look like positions of lists.
pub(in crate::engine::a_tree) const MAX_SUBSCRIPTIONS: u32 = NodeSubscriptions::LIST - 1;

impl NodeSubscriptions {
    pub const NONE: NodeSubscriptions = NodeSubscriptions(u32::MAX);

    /// Set for several subscriptions; the other bits are the position of their list.
    const LIST: u32 = 1 << 31;

    pub fn is_none(self) -> bool {
        self == NodeSubscriptions::NONE
    }
}

impl NodeStore {
    /// Adds a subscription to a node.
    pub fn add_subscription(&mut self, id: TreeNodeId, subscription: SubId) {
        let node = &mut self.nodes[id.index()];
        match node.subscriptions {
            NodeSubscriptions::NONE => node.subscriptions = NodeSubscriptions(subscription.0),
            NodeSubscriptions(list) if list & NodeSubscriptions::LIST != 0 => {
                self.subscription_lists[(list ^ NodeSubscriptions::LIST) as usize].push(subscription);
            }
            NodeSubscriptions(first) => {
                let list = vec![SubId(first), subscription];
                let position = match self.free_lists.pop() {
                    Some(position) => {
                        self.subscription_lists[position as usize] = list;
                        position
                    }
                    None => {
                        self.subscription_lists.push(list);
                        self.subscription_lists.len() as u32 - 1
                    }
                };
                node.subscriptions = NodeSubscriptions(position | NodeSubscriptions::LIST);
            }
        }
    }

    /// Removes a subscription from its node.
    pub fn remove_subscription(&mut self, id: TreeNodeId, subscription: SubId) {
        let node = &mut self.nodes[id.index()];
        let NodeSubscriptions(list) = node.subscriptions;
        if list & NodeSubscriptions::LIST == 0 {
            node.subscriptions = NodeSubscriptions::NONE;
            return;
        }
        let position = (list ^ NodeSubscriptions::LIST) as usize;
        let list = &mut self.subscription_lists[position];
        if let Some(at) = list.iter().rposition(|other| *other == subscription) {
            list.swap_remove(at);
        }
        if let [last] = list.as_slice() {
            node.subscriptions = NodeSubscriptions(last.0);
            *list = Vec::new();
            self.free_lists.push(position as u32);
        }
    }

    /// Appends the subscriptions of a node.
    #[inline]
    pub fn append_subscriptions(&self, subscriptions: NodeSubscriptions, matches: &mut Vec<SubId>) {
        match subscriptions {
            NodeSubscriptions::NONE => {}
            NodeSubscriptions(list) if list & NodeSubscriptions::LIST != 0 => {
                matches
                    .extend_from_slice(&self.subscription_lists[(list ^ NodeSubscriptions::LIST) as usize]);
            }
            NodeSubscriptions(single) => matches.push(SubId(single)),
        }
    }
}
