//! MatchEvent and CheckaNode (Algorithms 3 and 4).
//!
//! The paper's set of intersection attributes is a bitmap here: one bit per attribute of the event, set on the way through
//! an intersected cell. A flagged term of a record, which the path guarantees otherwise, is tested only if the bit of its
//! attribute is set. Events with more than 64 attributes share bits, which costs tests, not correctness.
//!
//! First all buckets are found, then all are tested: the cache misses of different buckets overlap.

use super::GemTree;
use super::nodes::{Nodes, ROOT};
use super::triangle;
use crate::engine::SubId;
use crate::engine::shared::dedup::SubscriptionDedup;
use crate::engine::shared::list_pool::ListRef;
use crate::engine::shared::ordinals::{Ordinal, Ordinals};
use crate::engine::shared::records::{self, AttributeFilter, HalfSteps, Known, Records};
use crate::event::Event;
use crate::schema::AttrId;

/// An attribute of the current event.
#[derive(Clone, Copy, Debug, Default)]
struct EventAttribute {
    /// The ordinal of its value.
    at: Ordinal,
    /// Its bit in sets of intersection attributes; 0 if the event does not have it.
    bit: u64,
}

/// A bucket to test.
#[derive(Clone, Copy, Debug)]
struct Candidates {
    bucket: ListRef,
    /// Bits of the intersection attributes.
    intersected: u64,
}

/// The buffers of one matching thread.
#[derive(Debug, Default)]
pub(super) struct GemScratch {
    steps: HalfSteps,
    /// By attribute; only those of the current event have a bit.
    attributes: Vec<EventAttribute>,
    /// Attributes of the current event, ascending.
    present: Vec<AttrId>,
    /// Attribute nodes to visit, each with its intersection attributes.
    stack: Vec<(u32, u64)>,
    candidates: Vec<Candidates>,
    dedup: SubscriptionDedup,
}

impl GemScratch {
    fn begin_event(&mut self, event: &Event<'_>) -> AttributeFilter {
        for attribute in self.present.drain(..) {
            self.attributes[attribute.index()].bit = 0;
        }
        let attributes = event.attributes();
        if self.attributes.len() < attributes {
            self.attributes.resize(attributes, EventAttribute::default());
        }
        self.steps.begin(attributes);
        self.dedup.begin_event();
        self.candidates.clear();
        self.stack.clear();
        let mut filter = AttributeFilter::default();
        for (n, cell) in event.cells().iter().enumerate() {
            let value = event.resolve(cell.slot);
            self.steps.set(cell.attribute, value);
            filter.add(cell.attribute);
            self.present.push(cell.attribute);
            let at = Ordinals::default().of(value);
            self.attributes[cell.attribute.index()] = EventAttribute { at, bit: 1 << (n % 64) };
        }
        filter
    }
}

impl GemTree {
    pub(super) fn match_tree(&self, event: &Event<'_>, scratch: &mut GemScratch, matches: &mut Vec<SubId>) {
        let present = scratch.begin_event(event);
        scratch.stack.push((ROOT, 0));
        while let Some((at, intersected)) = scratch.stack.pop() {
            let node = self.nodes.node(at);
            if !node.bucket.is_empty() {
                scratch.candidates.push(Candidates { bucket: node.bucket, intersected });
            }
            let directory = self.nodes.directories.get(node.directory).as_chunks::<2>().0;
            // The shorter side is iterated.
            if directory.len() <= 4 * scratch.present.len() {
                for &[attribute, value_node] in directory {
                    let attribute = scratch.attributes.get(attribute as usize).copied().unwrap_or_default();
                    if attribute.bit != 0 {
                        self.visit(value_node, attribute, intersected, event, scratch);
                    }
                }
            } else {
                for n in 0..scratch.present.len() {
                    let attribute = scratch.present[n];
                    if let Some(value_node) = self.nodes.find_value_node(node, attribute) {
                        let attribute = scratch.attributes[attribute.index()];
                        self.visit(value_node, attribute, intersected, event, scratch);
                    }
                }
            }
        }
        self.check_nodes(event, present, scratch, matches);
    }

    /// Puts the cells of a value node that the event's value leads to on the stack.
    #[inline]
    fn visit(
        &self,
        value_node: u32,
        attribute: EventAttribute,
        intersected: u64,
        event: &Event<'_>,
        scratch: &mut GemScratch,
    ) {
        let node = self.nodes.value_node(value_node);
        let at = match node.prefix.is_empty() {
            true => attribute.at,
            false => Nodes::ordinals(node).of(event.value(node.attribute)),
        };
        let column = triangle::column(self.nodes.cuts_of(node), at);
        // Inside a cell every interval contains the value. An attribute that is divided again may have been intersected
        // above, where its bit stands for it alone unless the event has more than 64 attributes.
        let inside = match node.nested && scratch.present.len() <= 64 {
            true => intersected & !attribute.bit,
            false => intersected,
        };
        let crossed = if node.nested { intersected } else { intersected | attribute.bit };
        triangle::visit(self.nodes.triangle(node), Nodes::columns(node), column, |child, is_inside| {
            scratch.stack.push((child, if is_inside { inside } else { crossed }));
        });
    }

    /// Tests the records of all buckets found (Algorithm 4).
    fn check_nodes(
        &self,
        event: &Event<'_>,
        present: AttributeFilter,
        scratch: &mut GemScratch,
        matches: &mut Vec<SubId>,
    ) {
        let GemScratch { steps, attributes, candidates, dedup, .. } = scratch;
        for &Candidates { bucket, intersected } in candidates.iter() {
            let known = |attribute: u32| match intersected & attributes[attribute as usize].bit {
                0 => Known::True,
                _ => Known::Nothing,
            };
            for record in Records(self.nodes.records.get(bucket)) {
                if record.needs.may_be_within(present)
                    && records::holds(record.terms, steps, event, &self.predicates, known)
                {
                    let sub = self.conjunctions.owner(record.conjunction);
                    if !record.several || dedup.insert(sub) {
                        matches.push(sub);
                    }
                }
            }
        }
    }
}
