//! `scan`: evaluate every expression on every event.
//!
//! Idea: each subscription is a short program, all programs lie behind one another in one array, and an event is
//! matched by running them all. A program is the expression's tree in preorder; a connective knows where it ends,
//! so evaluation reads forward and jumps over what is decided. The outermost connective stands in the list of
//! programs: most subscriptions fail at their first predicate, which is then the only step that is read.
//!
//! Invariants: `programs` holds every live subscription once, at the place `places` says; program bodies are
//! disjoint stretches of `steps`; `dead` counts the steps no live program covers.
//!
//! Cost: time proportional to all subscriptions, 48 bytes a step. Nothing is indexed, on purpose: this is the
//! oracle of every test and the baseline of every benchmark.

use super::registry::{Construction, EngineInfo, Family, Takes};
use super::{Engine, SubId};
use crate::error::Result;
use crate::event::Event;
use crate::expr::{Node, NodeId, Normal, Predicate, Root};

/// One element of a program. Positions count from the program's first step, so programs can be moved.
#[derive(Clone, Debug)]
enum Step {
    Test(Predicate),
    /// All operands up to `end` hold.
    All {
        end: u32,
    },
    /// Some operand up to `end` holds.
    Any {
        end: u32,
    },
    /// An operand with several parents: evaluated once per event, at `target`.
    Shared {
        memo: u32,
        target: u32,
    },
}

#[derive(Clone, Copy, Debug)]
struct Program {
    id: SubId,
    start: u32,
    len: u32,
    /// Where the operands of the outermost connective end; the bodies of shared operands follow.
    tree: u32,
    /// What must come of every operand up to `tree`, or else the opposite is the result: TRUE for AND.
    wanted: bool,
    /// How many memos its shared operands use.
    memos: u32,
}

/// Its entry in the registry.
pub(super) const INFO: EngineInfo = EngineInfo {
    name: "scan",
    description: "evaluates every expression: the oracle and the baseline",
    family: Family::Baseline,
    takes: Takes::All,
    exact: true,
    options: &[],
    construction: Construction::InPlace(|_, _| Box::new(Scan::default())),
};

/// See the module's head.
#[derive(Debug, Default)]
pub(super) struct Scan {
    programs: Vec<Program>,
    steps: Vec<Step>,
    /// By subscription: its place in `programs`, or `NOWHERE`.
    places: Vec<u32>,
    dead: usize,
}

const NOWHERE: u32 = u32::MAX;

/// What is known of a shared operand while one program runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Memo {
    Open,
    Known(bool),
}

impl Engine for Scan {
    /// By shared operand of the program that runs.
    type Scratch = Vec<Memo>;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        let Root::Node(root) = expression.root() else {
            return Ok(());
        };
        let program = Compiler::new(expression, &mut self.steps).compile(id, root);
        if self.places.len() <= id.index() {
            self.places.resize(id.index() + 1, NOWHERE);
        }
        self.places[id.index()] = self.programs.len() as u32;
        self.programs.push(program);
        Ok(())
    }

    fn remove(&mut self, id: SubId) {
        let place = std::mem::replace(&mut self.places[id.index()], NOWHERE);
        let removed = self.programs.swap_remove(place as usize);
        if let Some(moved) = self.programs.get(place as usize) {
            self.places[moved.id.index()] = place;
        }
        if (removed.start + removed.len) as usize == self.steps.len() {
            // The last one leaves no gap, so taking back a batch leaves no trace.
            self.steps.truncate(removed.start as usize);
        } else {
            self.dead += removed.len as usize;
        }
        if self.dead > self.steps.len() / 2 {
            self.compact();
        }
    }

    fn match_event(&self, event: &Event<'_>, memos: &mut Vec<Memo>, matches: &mut Vec<SubId>) {
        for program in &self.programs {
            let steps = &self.steps[program.start as usize..][..program.len as usize];
            memos.clear();
            memos.resize(program.memos as usize, Memo::Open);
            let every = every_operand(steps, 0, program.tree as usize, program.wanted, event, memos);
            if every == program.wanted {
                matches.push(program.id);
            }
        }
    }

    fn validate(&self) -> Result<(), String> {
        let mut covered = 0;
        let mut by_start = self.programs.clone();
        by_start.sort_by_key(|program| program.start);
        for pair in by_start.windows(2) {
            if pair[0].start + pair[0].len > pair[1].start {
                return Err(format!("scan: programs {:?} and {:?} overlap", pair[0].id, pair[1].id));
            }
        }
        for (place, program) in self.programs.iter().enumerate() {
            covered += program.len as usize;
            if self.places.get(program.id.index()) != Some(&(place as u32)) {
                return Err(format!("scan: places does not lead to {:?}", program.id));
            }
            let steps = self.steps.get(program.start as usize..(program.start + program.len) as usize);
            let Some(steps) = steps else {
                return Err(format!("scan: the program of {:?} lies outside steps", program.id));
            };
            check_program(steps, program)?;
        }
        let live = self.places.iter().filter(|place| **place != NOWHERE).count();
        if live != self.programs.len() {
            return Err(format!("scan: {live} places for {} programs", self.programs.len()));
        }
        if covered + self.dead != self.steps.len() {
            return Err(format!("scan: {covered} live and {} dead of {} steps", self.dead, self.steps.len()));
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        let heap: usize =
            self.steps.iter().map(|step| if let Step::Test(p) = step { p.heap() } else { 0 }).sum();
        self.steps.capacity() * size_of::<Step>()
            + self.programs.capacity() * size_of::<Program>()
            + self.places.capacity() * size_of::<u32>()
            + heap
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let predicates = self.steps.iter().filter(|step| matches!(step, Step::Test(_))).count();
        vec![
            ("steps", self.steps.len() as u64),
            ("predicates", predicates as u64),
            ("dead_steps", self.dead as u64),
        ]
    }
}

impl Scan {
    /// Closes the gaps that removed programs left.
    fn compact(&mut self) {
        // Read from front to back once; draining would move the rest for every program.
        let mut old = std::mem::take(&mut self.steps).into_iter();
        self.programs.sort_by_key(|program| program.start);
        let mut at = 0;
        for (place, program) in self.programs.iter_mut().enumerate() {
            let gap = (program.start - at) as usize;
            at = program.start + program.len;
            program.start = self.steps.len() as u32;
            self.steps.extend(old.by_ref().skip(gap).take(program.len as usize));
            self.places[program.id.index()] = place as u32;
        }
        self.dead = 0;
    }
}

fn holds(steps: &[Step], at: usize, event: &Event<'_>, memos: &mut [Memo]) -> bool {
    match &steps[at] {
        Step::Test(predicate) => predicate.holds(event),
        Step::All { end } => every_operand(steps, at + 1, *end as usize, true, event, memos),
        Step::Any { end } => !every_operand(steps, at + 1, *end as usize, false, event, memos),
        Step::Shared { memo, target } => match memos[*memo as usize] {
            Memo::Known(held) => held,
            Memo::Open => {
                let held = holds(steps, *target as usize, event, memos);
                memos[*memo as usize] = Memo::Known(held);
                held
            }
        },
    }
}

/// Whether every operand from `at` to `end` comes out as `wanted`; stops at the first that does not.
fn every_operand(
    steps: &[Step],
    mut at: usize,
    end: usize,
    wanted: bool,
    event: &Event<'_>,
    memos: &mut [Memo],
) -> bool {
    while at < end {
        // The common operand is read in place, the rest through recursion.
        let held = match &steps[at] {
            Step::Test(predicate) => predicate.holds(event),
            _ => holds(steps, at, event, memos),
        };
        if held != wanted {
            return false;
        }
        at = after(steps, at);
    }
    true
}

fn after(steps: &[Step], at: usize) -> usize {
    match &steps[at] {
        Step::All { end } | Step::Any { end } => *end as usize,
        Step::Test(_) | Step::Shared { .. } => at + 1,
    }
}

fn check_program(steps: &[Step], program: &Program) -> Result<(), String> {
    if program.tree == 0 || program.tree > program.len {
        return Err(format!("scan: the operands of {:?} end outside its program", program.id));
    }
    for (at, step) in steps.iter().enumerate() {
        let sound = match step {
            Step::Test(_) => true,
            Step::All { end } | Step::Any { end } => (at + 1..=steps.len()).contains(&(*end as usize)),
            Step::Shared { memo, target } => *memo < program.memos && (*target as usize) < steps.len(),
        };
        if !sound {
            return Err(format!("scan: step {at} of {:?} leads outside its program", program.id));
        }
    }
    Ok(())
}

/// Writes an expression as a program.
struct Compiler<'c> {
    expression: &'c Normal,
    steps: &'c mut Vec<Step>,
    start: usize,
    /// By node: how many parents it has.
    parents: Vec<u32>,
    /// Shared nodes in the order of their memos; each body is written after the main tree.
    shared: Vec<NodeId>,
    /// By node: its memo, or `NOWHERE`.
    memos: Vec<u32>,
}

impl<'c> Compiler<'c> {
    fn new(expression: &'c Normal, steps: &'c mut Vec<Step>) -> Compiler<'c> {
        let mut parents = vec![0; expression.nodes().len()];
        for node in expression.nodes() {
            expression.children(*node).iter().for_each(|child| parents[*child as usize] += 1);
        }
        let start = steps.len();
        let memos = vec![NOWHERE; parents.len()];
        Compiler { expression, steps, start, parents, shared: Vec::new(), memos }
    }

    fn compile(mut self, id: SubId, root: NodeId) -> Program {
        let root_node = self.expression.nodes()[root as usize];
        match root_node {
            Node::Leaf(_) => self.body(root),
            _ => self.expression.children(root_node).iter().for_each(|&child| self.operand(child)),
        }
        let tree = self.written();
        let mut targets = Vec::new();
        while let Some(node) = self.shared.get(targets.len()).copied() {
            targets.push(self.written());
            self.body(node);
        }
        for step in &mut self.steps[self.start..] {
            if let Step::Shared { memo, target } = step {
                *target = targets[*memo as usize];
            }
        }
        let (start, len, memos) = (self.start as u32, self.written(), targets.len() as u32);
        Program { id, start, len, tree, wanted: !matches!(root_node, Node::Or { .. }), memos }
    }

    /// How many steps the program has so far.
    fn written(&self) -> u32 {
        (self.steps.len() - self.start) as u32
    }

    fn body(&mut self, node: NodeId) {
        let at = self.steps.len();
        let node = self.expression.nodes()[node as usize];
        match node {
            Node::Leaf(predicate) => {
                self.steps.push(Step::Test(self.expression.predicates()[predicate as usize].clone()));
                return;
            }
            Node::And { .. } => self.steps.push(Step::All { end: 0 }),
            Node::Or { .. } => self.steps.push(Step::Any { end: 0 }),
        }
        for &child in self.expression.children(node) {
            self.operand(child);
        }
        let after = self.written();
        if let Step::All { end } | Step::Any { end } = &mut self.steps[at] {
            *end = after;
        }
    }

    fn operand(&mut self, node: NodeId) {
        let is_leaf = matches!(self.expression.nodes()[node as usize], Node::Leaf(_));
        if is_leaf || self.parents[node as usize] < 2 {
            return self.body(node);
        }
        let memo = &mut self.memos[node as usize];
        if *memo == NOWHERE {
            *memo = self.shared.len() as u32;
            self.shared.push(node);
        }
        let memo = *memo;
        self.steps.push(Step::Shared { memo, target: 0 });
    }
}
