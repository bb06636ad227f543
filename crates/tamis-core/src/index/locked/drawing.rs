//! The engine's structure as a graph in DOT, the language of Graphviz.
//!
//! Predicates are boxes at the bottom, AND and OR are ellipses on the level that the engine assigns; attributes whose values
//! divide subscriptions are triangles, and the parts are boxes. Arrows lead in the direction of matching; dashed ones are not
//! followed. A node that is the whole expression of a subscription, or where one is stored, has a thick border and its id.

use super::LockedState;
use super::subscriptions::Decision;
use crate::engine::{Graph, GraphNode, GraphNodeKind, SubId};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Maximum characters per line; longer texts are cut.
const WIDTH: usize = 60;

impl LockedState {
    /// The engine's structure in DOT.
    pub(super) fn dot(&self, title: &str, graph: &Graph) -> String {
        let mut dot = format!("digraph {title} {{\n  rankdir=BT;\n  node [fontname=\"Helvetica\"];\n");
        let mut levels: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for (place, node) in graph.nodes.iter().enumerate() {
            let text = match &node.kind {
                GraphNodeKind::Predicate(predicate) => predicate.text(self.schema.name(predicate.attribute)),
                GraphNodeKind::And => "and".into(),
                GraphNodeKind::Or => "or".into(),
                GraphNodeKind::Attribute(attribute) => self.schema.name(*attribute).into(),
                GraphNodeKind::Partition(text) => text.clone(),
            };
            let shape = match node.kind {
                GraphNodeKind::Predicate(_) | GraphNodeKind::Partition(_) => "box",
                GraphNodeKind::And | GraphNodeKind::Or => "ellipse",
                GraphNodeKind::Attribute(_) => "triangle",
            };
            self.node(&mut dot, &format!("n{place}"), shape, &text, &node.subscriptions);
            levels.entry(node.level).or_default().push(format!("n{place}; "));
        }
        for (name, text, decision) in
            [("always", "TRUE", Decision::Always), ("never", "FALSE", Decision::Never)]
        {
            let constant = self.subscriptions.in_order().into_iter().filter(|(_, s)| s.decision == decision);
            let constant: Vec<SubId> = constant.map(|(sub, _)| sub).collect();
            if !constant.is_empty() {
                self.node(&mut dot, name, "plaintext", text, &constant);
            }
        }
        for nodes in levels.values() {
            let _ = writeln!(dot, "  {{ rank=same; {}}}", nodes.concat());
        }
        for (place, node) in graph.nodes.iter().enumerate() {
            write_links(&mut dot, place, node);
        }
        dot + "}\n"
    }

    fn node(&self, dot: &mut String, name: &str, shape: &str, text: &str, subscriptions: &[SubId]) {
        let mut label = label(text);
        let mut style = "";
        if !subscriptions.is_empty() {
            let mut subscriptions = subscriptions.to_vec();
            self.subscriptions.sort(&mut subscriptions);
            let ids = subscriptions.iter().filter_map(|sub| self.subscriptions.get(*sub));
            let ids: Vec<String> = ids.map(|subscription| subscription.id.to_string()).collect();
            label = format!("{label}\\n{}", self::label(&format!("id {}", ids.join(", "))));
            style = ", penwidth=2";
        }
        let _ = writeln!(dot, "  {name} [shape={shape}{style}, label=\"{label}\"];");
    }
}

fn write_links(dot: &mut String, place: usize, node: &GraphNode) {
    for &child in &node.children {
        let followed = node.access.is_none_or(|access| access == child);
        let style = if followed { "" } else { " [style=dashed]" };
        let _ = writeln!(dot, "  n{child} -> n{place}{style};");
    }
}

/// Text for a quoted label: cut to [`WIDTH`], with characters escaped that Graphviz or a terminal would interpret.
fn label(text: &str) -> String {
    let mut label = String::new();
    let long = text.chars().nth(WIDTH).is_some();
    for c in text.chars().take(if long { WIDTH - 3 } else { WIDTH }) {
        match c {
            '"' => label.push_str("\\\""),
            '\\' => label.push_str("\\\\"),
            // Graphviz decodes HTML entities in labels.
            '&' => label.push_str("&amp;"),
            c if c.is_control() => {
                let _ = write!(label, "\\{}", c.escape_default());
            }
            c => label.push(c),
        }
    }
    label + if long { "..." } else { "" }
}

#[cfg(test)]
mod tests {
    use super::label;
    use crate::engine::{Engine, Graph, GraphNode, GraphNodeKind, SubId};
    use crate::error::Result;
    use crate::event::Event;
    use crate::expr::{Limits, Node, Normal};
    use crate::index::backend::Backend;
    use crate::index::locked::Locked;
    use crate::index::{Id, Index, Settings, Source};

    /// Draws its expressions side by side, with the last child as the access child of an AND.
    #[derive(Default)]
    struct Drawn(Graph);

    impl Engine for Drawn {
        type Scratch = ();

        fn name(&self) -> &'static str {
            "drawn"
        }

        fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
            let first = self.0.nodes.len();
            for &node in expression.nodes() {
                let children: Vec<usize> =
                    expression.children(node).iter().map(|child| first + *child as usize).collect();
                let (kind, access) = match node {
                    Node::Leaf(predicate) => {
                        (GraphNodeKind::Predicate(expression.predicates()[predicate as usize].clone()), None)
                    }
                    Node::And { .. } => (GraphNodeKind::And, children.last().copied()),
                    Node::Or { .. } => (GraphNodeKind::Or, None),
                };
                let level = 1 + children.iter().map(|child| self.0.nodes[*child].level).max().unwrap_or(0);
                self.0.nodes.push(GraphNode { kind, level, children, access, subscriptions: Vec::new() });
            }
            if let Some(root) = self.0.nodes.last_mut() {
                root.subscriptions.push(id);
            }
            Ok(())
        }

        fn remove(&mut self, _id: SubId) {}

        fn match_event(&self, _event: &Event<'_>, _scratch: &mut (), _matches: &mut Vec<SubId>) {}

        fn validate(&self) -> Result<(), String> {
            Ok(())
        }

        fn memory(&self) -> usize {
            0
        }

        fn stats(&self) -> Vec<(&'static str, u64)> {
            Vec::new()
        }

        fn graph(&self) -> Option<Graph> {
            Some(self.0.clone())
        }
    }

    fn drawn(expressions: &[(Id, &str)]) -> String {
        let index = Locked::new(Box::new(Drawn::default()), &Settings::default());
        for (id, text) in expressions {
            let parsed = Source::from(*text).parsed(&Limits::default()).expect("an expression");
            index.add(id.clone(), parsed).expect("added");
        }
        index.dot("drawn").expect("a drawing")
    }

    #[test]
    fn a_drawing_shows_levels_links_and_ids() {
        let dot = drawn(&[
            (Id::from("adults"), "age >= 18 and (country = 'US' or vip)"),
            (Id::from(7), "any(tags) = 'a'"),
            (Id::from(8), "TRUE"),
            (Id::from(9), "age < 1 and age > 2"),
        ]);
        assert_eq!(
            dot,
            r#"digraph drawn {
  rankdir=BT;
  node [fontname="Helvetica"];
  n0 [shape=box, label="age >= 18"];
  n1 [shape=box, label="country = 'US'"];
  n2 [shape=box, label="vip = TRUE"];
  n3 [shape=ellipse, label="or"];
  n4 [shape=ellipse, penwidth=2, label="and\nid 'adults'"];
  n5 [shape=box, penwidth=2, label="any(tags) = 'a'\nid 7"];
  always [shape=plaintext, penwidth=2, label="TRUE\nid 8"];
  never [shape=plaintext, penwidth=2, label="FALSE\nid 9"];
  { rank=same; n0; n1; n2; n5; }
  { rank=same; n3; }
  { rank=same; n4; }
  n1 -> n3;
  n2 -> n3;
  n0 -> n4 [style=dashed];
  n3 -> n4;
}
"#
        );
    }

    #[test]
    fn nothing_draws_as_nothing() {
        assert_eq!(drawn(&[]), "digraph drawn {\n  rankdir=BT;\n  node [fontname=\"Helvetica\"];\n}\n");
    }

    #[test]
    fn labels_are_harmless_and_short() {
        assert_eq!(label("a\"b\\N & c\n\u{1b}[0m"), r#"a\"b\\N &amp; c\\n\\u{1b}[0m"#);
        assert_eq!(label(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(label(&"é".repeat(61)), "é".repeat(57) + "...");
    }

    #[test]
    fn the_error_of_an_engine_without_a_graph_names_one_that_has() {
        let settings = Settings { engine: "scan".into(), ..Settings::default() };
        let index = Index::new(settings).expect("an index");
        let error = index.dot().expect_err("scan has no graph");
        assert_eq!(
            error.to_string(),
            "engine scan has no graph to draw; a_tree, be_star_tree, be_tree and gem_tree have one"
        );
    }
}
