//! Witness cover: which predicates must an event satisfy, one at least, to satisfy an expression?
//!
//! For a conjunction the cover of its cheapest part is enough, for a disjunction it takes the covers of all parts. Each
//! predicate of the cover stands for an *alternative*: the conjunction of everything on the way to it. The expression
//! is TRUE exactly if one of its alternatives is. So arbitrary expressions become conjunctions without ever being
//! multiplied out: what hangs off the way stays a subexpression, a *program*, written once for all that share it.
//!
//! This generalizes the access predicate of PSTHash, the pivot of OpIndex and A-Tree's propagation on demand.

use crate::compiled::build::conditions::Condition;
use crate::engine::shared::predicates::Predicates;
use crate::expr::{Node, Normal, Root};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// A part of a conjunction or of a program: a predicate by its number, or a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::compiled) struct Part(u32);

const PROGRAM: u32 = 1 << 31;

impl Part {
    fn program(number: u32) -> Part {
        Part(number | PROGRAM)
    }

    /// The predicate's number, or else the program's.
    pub fn either(self) -> Result<usize, usize> {
        if self.0 & PROGRAM == 0 { Ok(self.0 as usize) } else { Err((self.0 & !PROGRAM) as usize) }
    }
}

/// Marks alternatives of expressions that have several, or may be found several times: reported once all the same.
pub(in crate::compiled) const REPEATED: u32 = 1 << 31;

/// Expressions as they were added, with numbers for their predicates.
#[derive(Debug, Default)]
pub(in crate::compiled) struct Expressions {
    /// Where each one begins in `tokens`; conjunctions of predicates, the common case, in a short form.
    starts: Vec<usize>,
    tokens: Vec<u32>,
}

/// First token of a conjunction: the number of its predicates. Of others: this and the number of nodes.
const GRAPH: u32 = 1 << 31;
const NO_EXPRESSION: u32 = 0;

/// Kinds of nodes, in the lowest bits of their first token; the rest is how many children follow.
const LEAF: u32 = 0;
const ALL: u32 = 1;
const ANY: u32 = 2;

impl Expressions {
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// A number without an expression.
    pub fn skip(&mut self) {
        self.starts.push(self.tokens.len());
        self.tokens.push(NO_EXPRESSION);
    }

    pub fn add(&mut self, expression: &Normal, predicates: &mut Predicates) {
        let Root::Node(root) = expression.root() else { return self.skip() };
        self.starts.push(self.tokens.len());
        let mut number =
            |predicate: u32| predicates.acquire_ref(&expression.predicates()[predicate as usize]).0;
        let nodes = expression.nodes();
        let leaf = |node: Node| if let Node::Leaf(predicate) = node { Some(predicate) } else { None };
        let root = nodes[root as usize];
        if let Some(predicate) = leaf(root) {
            self.tokens.push(1);
            self.tokens.push(number(predicate));
            return;
        }
        let children = expression.children(root);
        if let Node::And { .. } = root
            && children.iter().all(|child| leaf(nodes[*child as usize]).is_some())
        {
            self.tokens.push(children.len() as u32);
            self.tokens.extend(children.iter().filter_map(|child| leaf(nodes[*child as usize])).map(number));
            return;
        }
        // Children come before parents, so that the root is last.
        self.tokens.push(GRAPH | nodes.len() as u32);
        for node in nodes {
            let children = expression.children(*node);
            let first = |kind: u32| (children.len() as u32) << 2 | kind;
            match node {
                Node::Leaf(predicate) => self.tokens.extend([LEAF, number(*predicate)]),
                Node::And { .. } => self.tokens.push(first(ALL)),
                Node::Or { .. } => self.tokens.push(first(ANY)),
            }
            self.tokens.extend(children);
        }
    }

    /// The parts of a conjunction; `None` if the expression is none.
    fn tokens(&self, number: usize) -> &[u32] {
        let end = self.starts.get(number + 1).copied().unwrap_or(self.tokens.len());
        &self.tokens[self.starts[number]..end]
    }
}

/// A subexpression: all, or some, of its parts hold.
#[derive(Clone, Copy, Debug)]
pub(in crate::compiled) struct Program {
    start: u32,
    len: u32,
    pub all: bool,
    /// How many alternatives and programs refer to it.
    pub uses: u32,
}

/// Each distinct subexpression once.
#[derive(Debug, Default)]
pub(in crate::compiled) struct Programs {
    programs: Vec<Program>,
    parts: Vec<Part>,
    table: HashTable<u32>,
}

impl Programs {
    pub fn len(&self) -> usize {
        self.programs.len()
    }

    pub fn get(&self, number: usize) -> Program {
        self.programs[number]
    }

    pub fn parts(&self, program: Program) -> &[Part] {
        &self.parts[program.start as usize..][..program.len as usize]
    }

    fn take(&mut self, all: bool, parts: &[Part]) -> u32 {
        let Programs { programs, parts: known, table } = self;
        let of = |number: u32| {
            let program: Program = programs[number as usize];
            (program.all, &known[program.start as usize..][..program.len as usize])
        };
        let hash = |all: bool, parts: &[Part]| FxBuildHasher.hash_one((all, parts));
        let place = table.entry(
            hash(all, parts),
            |number| of(*number) == (all, parts),
            |number| {
                let (all, parts) = of(*number);
                hash(all, parts)
            },
        );
        match place {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(vacant) => {
                let number = programs.len() as u32;
                vacant.insert(number);
                programs.push(Program { start: known.len() as u32, len: parts.len() as u32, all, uses: 0 });
                for part in parts {
                    if let Err(inner) = part.either() {
                        programs[inner].uses += 1;
                    }
                }
                known.extend(parts);
                number
            }
        }
    }
}

/// Conjunctions, one after another, each with the expression it belongs to.
#[derive(Debug, Default)]
pub(in crate::compiled) struct Alternatives {
    /// Where each one ends in `parts`.
    ends: Vec<u32>,
    parts: Vec<Part>,
    /// The expression's number, with [`REPEATED`] where it has several.
    targets: Vec<u32>,
}

impl Alternatives {
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    pub fn parts(&self, number: usize) -> &[Part] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.parts[start as usize..self.ends[number] as usize]
    }

    pub fn target(&self, number: usize) -> u32 {
        self.targets[number]
    }

    fn push(&mut self, target: u32, parts: impl IntoIterator<Item = Part>) {
        self.parts.extend(parts);
        self.ends.push(self.parts.len() as u32);
        self.targets.push(target);
    }
}

/// So many alternatives are always worth it; more only if they are no more than twice the predicates.
const FEW_ALTERNATIVES: usize = 16;

/// Finds the alternatives of expressions.
pub(in crate::compiled) struct Cover<'c> {
    conditions: &'c [Condition],
    pub alternatives: Alternatives,
    pub programs: Programs,
    nodes: Vec<CoverNode>,
    children: Vec<u32>,
}

/// A node of the expression in hand.
#[derive(Clone, Copy)]
struct CoverNode {
    kind: u32,
    /// Place of the first child, or the predicate.
    start: u32,
    len: u32,
    /// What its cover is expected to cost: how many events satisfy one of its predicates.
    cost: f32,
    /// How many alternatives it has.
    alternatives: usize,
    /// Which child's cover an ALL takes.
    best: u32,
    /// The program it became, if it did.
    program: u32,
    /// Whether a search for predicates was here.
    seen: bool,
}

const NO_PROGRAM: u32 = u32::MAX;

impl<'c> Cover<'c> {
    pub fn new(conditions: &'c [Condition]) -> Cover<'c> {
        let (alternatives, programs) = (Alternatives::default(), Programs::default());
        Cover { conditions, alternatives, programs, nodes: Vec::new(), children: Vec::new() }
    }

    /// Adds the alternatives of an expression.
    pub fn add(&mut self, expressions: &Expressions, number: usize) {
        let tokens = expressions.tokens(number);
        let target = number as u32;
        if tokens[0] & GRAPH == 0 {
            if tokens[0] != NO_EXPRESSION {
                self.alternatives.push(target, tokens[1..].iter().map(|id| Part(*id)));
            }
            return;
        }
        self.read(&tokens[1..]);
        let root = self.nodes.len() - 1;
        let leaves = self.nodes.iter().filter(|node| node.kind == LEAF).count();
        let CoverNode { alternatives, .. } = self.nodes[root];
        let target = if alternatives > 1 { target | REPEATED } else { target };
        if alternatives <= FEW_ALTERNATIVES.max(2 * leaves) {
            self.collect(root, &mut Vec::new(), target);
        } else {
            // Shared parts make for too many ways. One program for all, behind each predicate of the cover.
            let program = self.part(root);
            let mut witnesses = Vec::new();
            self.witnesses(root, &mut witnesses);
            for witness in witnesses {
                self.refer(&[program]);
                self.alternatives.push(target | REPEATED, [witness, program]);
            }
        }
    }

    /// Reads the nodes and what their covers cost; children come before parents.
    fn read(&mut self, mut tokens: &[u32]) {
        self.nodes.clear();
        self.children.clear();
        while let [first, rest @ ..] = tokens {
            let (kind, len) = (first & 3, first >> 2);
            let start = self.children.len() as u32;
            let mut node = CoverNode {
                kind,
                start,
                len,
                cost: 0.0,
                alternatives: 1,
                best: 0,
                program: NO_PROGRAM,
                seen: false,
            };
            if kind == LEAF {
                node.start = rest[0];
                let condition = &self.conditions[rest[0] as usize];
                node.cost = if condition.can_witness() { condition.share } else { f32::INFINITY };
                tokens = &rest[1..];
            } else {
                let (children, rest) = rest.split_at(len as usize);
                let cost = |child: &u32| self.nodes[*child as usize].cost;
                if kind == ANY {
                    node.cost = children.iter().map(cost).sum();
                    let counts = children.iter().map(|child| self.nodes[*child as usize].alternatives);
                    node.alternatives = counts.fold(0, usize::saturating_add);
                } else {
                    let cheapest = children.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)));
                    node.best = cheapest.copied().unwrap_or(0);
                    node.cost = self.nodes[node.best as usize].cost;
                    node.alternatives = self.nodes[node.best as usize].alternatives;
                }
                self.children.extend(children);
                tokens = rest;
            }
            self.nodes.push(node);
        }
    }

    fn children(&self, node: CoverNode) -> std::ops::Range<usize> {
        node.start as usize..(node.start + node.len) as usize
    }

    /// Walks to every predicate of the cover, with what lies beside the way.
    fn collect(&mut self, node: usize, beside: &mut Vec<Part>, target: u32) {
        let it = self.nodes[node];
        match it.kind {
            LEAF => {
                let parts: Vec<Part> =
                    std::iter::once(Part(it.start)).chain(beside.iter().copied()).collect();
                self.refer(&parts);
                self.alternatives.push(target, parts);
            }
            ALL => {
                let before = beside.len();
                for place in self.children(it) {
                    let child = self.children[place];
                    if child != it.best {
                        let part = self.part(child as usize);
                        beside.push(part);
                    }
                }
                self.collect(it.best as usize, beside, target);
                beside.truncate(before);
            }
            _ => {
                for place in self.children(it) {
                    self.collect(self.children[place] as usize, beside, target);
                }
            }
        }
    }

    fn refer(&mut self, parts: &[Part]) {
        for part in parts {
            if let Err(program) = part.either() {
                self.programs.programs[program].uses += 1;
            }
        }
    }

    /// A node as a part: its predicate, or a program.
    fn part(&mut self, node: usize) -> Part {
        let it = self.nodes[node];
        if it.kind == LEAF {
            return Part(it.start);
        }
        if it.program != NO_PROGRAM {
            return Part::program(it.program);
        }
        let mut parts: Vec<Part> = Vec::with_capacity(it.len as usize);
        for place in self.children(it) {
            let part = self.part(self.children[place] as usize);
            parts.push(part);
        }
        // What decides soonest comes first, and equal subexpressions look alike.
        let share = |part: &Part| part.either().map_or(2.0, |id| self.conditions[id].share);
        let all = it.kind == ALL;
        parts.sort_by(|a, b| {
            let order = share(a).total_cmp(&share(b));
            let order = if all || share(a) > 1.0 || share(b) > 1.0 { order } else { order.reverse() };
            order.then(a.0.cmp(&b.0))
        });
        let program = self.programs.take(all, &parts);
        self.nodes[node].program = program;
        Part::program(program)
    }

    /// The predicates of the cover, each once.
    fn witnesses(&mut self, node: usize, found: &mut Vec<Part>) {
        if std::mem::replace(&mut self.nodes[node].seen, true) {
            return;
        }
        let it = self.nodes[node];
        match it.kind {
            LEAF => found.push(Part(it.start)),
            ALL => self.witnesses(it.best as usize, found),
            _ => {
                for place in self.children(it) {
                    self.witnesses(self.children[place] as usize, found);
                }
            }
        }
    }
}
