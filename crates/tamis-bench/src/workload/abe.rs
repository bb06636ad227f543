//! Arbitrary expressions, of three levels by default: 40% AND, 40% OR, 10% NOT, 5% XOR, 5% XNOR. Predicates and
//! subexpressions are reused with skew: by default a predicate occurs in about 18 places, a subexpression in about 4.
//! [`Parameters`] has what the A-Tree paper varies (its Table 3).

use super::{Answer, CARDINALITY, Predicate, TypedEvent, Workload, draw_events, tally};
use crate::random::Random;
use serde::Deserialize;

/// A node, with negation already pushed to the predicates.
enum Node {
    Leaf(Predicate),
    All(Vec<u32>),
    Any(Vec<u32>),
}

/// How a node is written as text; a fragment of an XOR has no text of its own.
enum TextForm {
    Predicate,
    Joined(&'static str, Vec<u32>),
    NotOf(u32),
    Fragment,
}

/// What a definition sets; the defaults are the paper's.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {
    /// Number of attributes.
    pub dimensions: u64,
    /// Levels of an expression, that of predicates included.
    pub depth: usize,
    /// Mean number of operands of AND and OR.
    pub children: u64,
    /// Skew of sharing: 0 shares nothing, more reuses earlier parts more often.
    pub alpha: f64,
    /// Distinct values per attribute.
    pub cardinality: u64,
    /// Skew of the attributes of predicates; 0 is uniform.
    pub attribute_skew: f64,
    /// Pairs of an event.
    pub pairs: usize,
    /// Expressions have 1 to `depth` levels, and only the first operand of a connective has the full level below it.
    pub uneven: bool,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            dimensions: 1_000,
            depth: 3,
            children: 4,
            alpha: 0.6,
            cardinality: CARDINALITY,
            attribute_skew: 0.0,
            pairs: 20,
            uneven: false,
        }
    }
}

/// The expressions and events of some [`Parameters`].
pub struct Abe {
    parameters: Parameters,
    events: Vec<TypedEvent>,
    nodes: Vec<Node>,
    /// By node.
    text_forms: Vec<TextForm>,
    /// By level: all pairs of a node and its negation made so far.
    levels: Vec<Vec<NodePair>>,
    roots: Vec<u32>,
}

#[derive(Clone, Copy)]
struct NodePair {
    positive: u32,
    negative: u32,
}

const EVENTS: usize = 200;
/// Minimum nodes of a level before some of them are reused.
const POOL: usize = 2_000;

impl Abe {
    /// Generates events, then expressions, with the defaults but for the number of attributes.
    pub fn new(subscriptions: usize, dimensions: u64) -> Abe {
        Abe::with(subscriptions, Parameters { dimensions, ..Parameters::default() })
    }

    /// Generates events, then expressions.
    pub fn with(subscriptions: usize, parameters: Parameters) -> Abe {
        let mut random = Random::new();
        let Parameters { dimensions, depth, pairs, cardinality, .. } = parameters;
        let events = draw_events(&mut random, EVENTS, dimensions, pairs, cardinality);
        let levels = (0..depth).map(|_| Vec::new()).collect();
        let (nodes, text_forms) = (Vec::new(), Vec::new());
        let mut abe = Abe { parameters, events, nodes, text_forms, levels, roots: Vec::new() };
        for _ in 0..subscriptions {
            let level = if abe.parameters.uneven { random.below(depth as u64) as usize } else { depth - 1 };
            let root = abe.make(&mut random, level).positive;
            abe.roots.push(root);
        }
        abe
    }

    fn push(&mut self, node: Node, text_form: TextForm) -> u32 {
        self.nodes.push(node);
        self.text_forms.push(text_form);
        self.nodes.len() as u32 - 1
    }

    fn make(&mut self, random: &mut Random, level: usize) -> NodePair {
        let repeat_percent = match level {
            0 => 94,
            level if level + 1 == self.parameters.depth => 10,
            _ => 77,
        };
        // 0.6 is the default of the paper, for which the percentages above give its numbers of places.
        let alpha = self.parameters.alpha;
        let repeat_percent = (f64::from(repeat_percent) * alpha / 0.6).round().min(99.0) as u64;
        let pool = &self.levels[level];
        if pool.len() >= POOL && random.below(100) < repeat_percent {
            // Earlier nodes are reused more often.
            return pool[(pool.len() as f64 * random.unit().powf(1.0 + alpha)) as usize];
        }
        let made = if level == 0 { self.predicate(random) } else { self.connective(random, level) };
        self.levels[level].push(made);
        made
    }

    fn predicate(&mut self, random: &mut Random) -> NodePair {
        let Parameters { dimensions, cardinality, attribute_skew, .. } = self.parameters;
        let attribute = if attribute_skew == 0.0 {
            random.below(dimensions) as u32
        } else {
            (dimensions as f64 * random.unit().powf(1.0 + attribute_skew)) as u32
        };
        let low = random.below(cardinality) as i16;
        let widest = (cardinality * 3 / 10).max(1);
        let is_equality = random.below(100) < 40;
        let high =
            if is_equality { low } else { (low as u64 + random.below(widest)).min(cardinality - 1) as i16 };
        let negated = random.below(100) < 10;
        let predicate = Predicate { attribute, low, high, negated };
        let opposite = Predicate { negated: !negated, ..predicate };
        NodePair {
            positive: self.push(Node::Leaf(predicate), TextForm::Predicate),
            negative: self.push(Node::Leaf(opposite), TextForm::Predicate),
        }
    }

    fn connective(&mut self, random: &mut Random, level: usize) -> NodePair {
        let kind = random.below(100);
        let count = match kind {
            0..80 => 2 + random.below(self.parameters.children * 2 - 3) as usize,
            80..90 => 1,
            _ => 2,
        };
        let uneven = self.parameters.uneven;
        let child_level = |n: usize, random: &mut Random| {
            if uneven && n > 0 { random.below(level as u64) as usize } else { level - 1 }
        };
        let mut children: Vec<NodePair> = Vec::with_capacity(count);
        for n in 0..count {
            let level = child_level(n, random);
            children.push(self.make(random, level));
        }
        let yes: Vec<u32> = children.iter().map(|child| child.positive).collect();
        let no: Vec<u32> = children.iter().map(|child| child.negative).collect();
        match kind {
            0..40 => self.pair(Node::All(yes.clone()), Node::Any(no), " and ", yes),
            40..80 => self.pair(Node::Any(yes.clone()), Node::All(no), " or ", yes),
            80..90 => NodePair { positive: no[0], negative: yes[0] },
            _ => {
                let mut both =
                    |left: u32, right: u32| self.push(Node::All(vec![left, right]), TextForm::Fragment);
                let different = Node::Any(vec![both(yes[0], no[1]), both(no[0], yes[1])]);
                let same = Node::Any(vec![both(yes[0], yes[1]), both(no[0], no[1])]);
                if kind < 95 {
                    self.pair(different, same, " xor ", yes)
                } else {
                    self.pair(same, different, " xnor ", yes)
                }
            }
        }
    }

    fn pair(
        &mut self,
        positive: Node,
        negative: Node,
        connective: &'static str,
        operands: Vec<u32>,
    ) -> NodePair {
        let positive = self.push(positive, TextForm::Joined(connective, operands));
        NodePair { positive, negative: self.push(negative, TextForm::NotOf(positive)) }
    }

    fn write(&self, node: u32, out: &mut String) {
        match (&self.text_forms[node as usize], &self.nodes[node as usize]) {
            (TextForm::Predicate, Node::Leaf(predicate)) => predicate.write(out),
            (TextForm::Joined(connective, operands), _) => {
                for (n, &operand) in operands.iter().enumerate() {
                    out.push_str(if n > 0 { connective } else { "" });
                    out.push('(');
                    self.write(operand, out);
                    out.push(')');
                }
            }
            (TextForm::NotOf(positive), _) => {
                out.push_str("not (");
                self.write(*positive, out);
                out.push(')');
            }
            (TextForm::Fragment | TextForm::Predicate, _) => {
                unreachable!("only whole expressions are operands")
            }
        }
    }

    /// As [`Workload::answer`], but with every node evaluated once: children come before parents.
    pub fn answer_once(&self, event: &TypedEvent) -> Answer {
        tally(self.matching(event).into_iter().map(|subscription| subscription as usize))
    }

    /// By node, whether it is true.
    fn truths(&self, event: &TypedEvent) -> Vec<bool> {
        let values = self.spread(event);
        let mut holds: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let held = match node {
                Node::Leaf(predicate) => predicate.holds(&values),
                Node::All(children) => children.iter().all(|&child| holds[child as usize]),
                Node::Any(children) => children.iter().any(|&child| holds[child as usize]),
            };
            holds.push(held);
        }
        holds
    }

    fn node_holds(&self, node: u32, values: &[i16]) -> bool {
        match &self.nodes[node as usize] {
            Node::Leaf(predicate) => predicate.holds(values),
            Node::All(children) => children.iter().all(|&child| self.node_holds(child, values)),
            Node::Any(children) => children.iter().any(|&child| self.node_holds(child, values)),
        }
    }
}

impl Workload for Abe {
    fn dimensions(&self) -> usize {
        self.parameters.dimensions as usize
    }

    fn len(&self) -> usize {
        self.roots.len()
    }

    fn events(&self) -> &[TypedEvent] {
        &self.events
    }

    fn text(&self, subscription: usize) -> String {
        let mut text = String::new();
        self.write(self.roots[subscription], &mut text);
        text
    }

    fn matching(&self, event: &TypedEvent) -> Vec<u32> {
        let holds = self.truths(event);
        (0..).zip(&self.roots).filter(|(_, root)| holds[**root as usize]).map(|(n, _)| n).collect()
    }

    fn holds(&self, subscription: usize, values: &[i16]) -> bool {
        self.node_holds(self.roots[subscription], values)
    }
}
