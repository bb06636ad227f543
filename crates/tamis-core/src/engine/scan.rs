//! `scan`: evaluate every expression on every event.
//!
//! Idea: each subscription is a short program; all programs are adjacent in one array; matching runs them all. A program
//! is the expression's tree in preorder; a connective stores where it ends, so evaluation reads forward and skips
//! operands that no longer matter. The outermost connective is in the list of programs: most subscriptions fail at their
//! first predicate, which is then the only step that is read.
//!
//! Invariants: `programs` has every subscription once, at its position in `positions`; programs are disjoint ranges of
//! `steps`; `removed_steps` counts the steps of no program.
//!
//! Cost: matching O(subscriptions), 48 bytes per step. Nothing is indexed, on purpose: this is the oracle of every test
//! and the baseline of every benchmark.

use super::registry::{Construction, EngineInfo, Family, Takes};
use super::shared::list_pool::shrink;
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

/// The program of a subscription.
#[derive(Clone, Copy, Debug)]
struct Program {
    id: SubId,
    /// Its first step.
    start: u32,
    /// Its length in steps.
    len: u32,
    /// Where the operands of the outermost connective end; the bodies of shared operands follow.
    tree_end: u32,
    /// TRUE for AND, FALSE for OR: the value that every operand must have for the program to have it.
    neutral: bool,
    /// Number of its shared operands.
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
    /// The steps of all programs.
    steps: Vec<Step>,
    /// By subscription: its position in `programs`, or [`NONE`].
    positions: Vec<u32>,
    /// Number of steps that belong to no program.
    removed_steps: usize,
}

const NONE: u32 = u32::MAX;

/// The value of a shared operand while one program runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Memo {
    Unknown,
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
        let program = ProgramBuilder::new(expression, &mut self.steps).compile(id, root);
        if self.positions.len() <= id.index() {
            self.positions.resize(id.index() + 1, NONE);
        }
        self.positions[id.index()] = self.programs.len() as u32;
        self.programs.push(program);
        Ok(())
    }

    fn remove(&mut self, id: SubId) {
        let position = std::mem::replace(&mut self.positions[id.index()], NONE);
        let removed = self.programs.swap_remove(position as usize);
        if let Some(moved) = self.programs.get(position as usize) {
            self.positions[moved.id.index()] = position;
        }
        if (removed.start + removed.len) as usize == self.steps.len() {
            // The last program leaves no gap, so undoing a batch leaves none.
            self.steps.truncate(removed.start as usize);
        } else {
            self.removed_steps += removed.len as usize;
        }
        if self.removed_steps > self.steps.len() / 2 {
            self.compact();
        }
    }

    fn match_event(&self, event: &Event<'_>, memos: &mut Vec<Memo>, matches: &mut Vec<SubId>) {
        for program in &self.programs {
            let steps = &self.steps[program.start as usize..][..program.len as usize];
            memos.clear();
            memos.resize(program.memos as usize, Memo::Unknown);
            let every = every_operand(steps, 0, program.tree_end as usize, program.neutral, event, memos);
            if every == program.neutral {
                matches.push(program.id);
            }
        }
    }

    fn defragment(&mut self) {
        self.compact();
        shrink(&mut self.steps);
        shrink(&mut self.programs);
        shrink(&mut self.positions);
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
        for (position, program) in self.programs.iter().enumerate() {
            covered += program.len as usize;
            if self.positions.get(program.id.index()) != Some(&(position as u32)) {
                return Err(format!("scan: the position of {:?} is wrong", program.id));
            }
            let steps = self.steps.get(program.start as usize..(program.start + program.len) as usize);
            let Some(steps) = steps else {
                return Err(format!("scan: the program of {:?} is outside of steps", program.id));
            };
            check_program(steps, program)?;
        }
        let live = self.positions.iter().filter(|position| **position != NONE).count();
        if live != self.programs.len() {
            return Err(format!("scan: {live} positions for {} programs", self.programs.len()));
        }
        if covered + self.removed_steps != self.steps.len() {
            return Err(format!(
                "scan: {covered} used and {} removed of {} steps",
                self.removed_steps,
                self.steps.len()
            ));
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        let heap: usize =
            self.steps.iter().map(|step| if let Step::Test(p) = step { p.heap() } else { 0 }).sum();
        self.steps.capacity() * size_of::<Step>()
            + self.programs.capacity() * size_of::<Program>()
            + self.positions.capacity() * size_of::<u32>()
            + heap
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let predicates = self.steps.iter().filter(|step| matches!(step, Step::Test(_))).count();
        vec![
            ("steps", self.steps.len() as u64),
            ("predicates", predicates as u64),
            ("removed_steps", self.removed_steps as u64),
        ]
    }
}

impl Scan {
    /// Closes the gaps of removed programs.
    fn compact(&mut self) {
        // One pass from front to back; draining would move the rest once per program.
        let mut old = std::mem::take(&mut self.steps).into_iter();
        self.programs.sort_by_key(|program| program.start);
        let mut at = 0;
        for (position, program) in self.programs.iter_mut().enumerate() {
            let gap = (program.start - at) as usize;
            at = program.start + program.len;
            program.start = self.steps.len() as u32;
            self.steps.extend(old.by_ref().skip(gap).take(program.len as usize));
            self.positions[program.id.index()] = position as u32;
        }
        self.removed_steps = 0;
    }
}

fn holds(steps: &[Step], at: usize, event: &Event<'_>, memos: &mut [Memo]) -> bool {
    match &steps[at] {
        Step::Test(predicate) => predicate.holds(event),
        Step::All { end } => every_operand(steps, at + 1, *end as usize, true, event, memos),
        Step::Any { end } => !every_operand(steps, at + 1, *end as usize, false, event, memos),
        Step::Shared { memo, target } => match memos[*memo as usize] {
            Memo::Known(held) => held,
            Memo::Unknown => {
                let held = holds(steps, *target as usize, event, memos);
                memos[*memo as usize] = Memo::Known(held);
                held
            }
        },
    }
}

/// Whether every operand from `at` to `end` has the value `neutral`; stops at the first that does not.
fn every_operand(
    steps: &[Step],
    mut at: usize,
    end: usize,
    neutral: bool,
    event: &Event<'_>,
    memos: &mut [Memo],
) -> bool {
    while at < end {
        // Most operands are predicates, which need no recursion.
        let held = match &steps[at] {
            Step::Test(predicate) => predicate.holds(event),
            _ => holds(steps, at, event, memos),
        };
        if held != neutral {
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
    if program.tree_end == 0 || program.tree_end > program.len {
        return Err(format!("scan: the operands of {:?} end outside of its program", program.id));
    }
    for (at, step) in steps.iter().enumerate() {
        let sound = match step {
            Step::Test(_) => true,
            Step::All { end } | Step::Any { end } => (at + 1..=steps.len()).contains(&(*end as usize)),
            Step::Shared { memo, target } => *memo < program.memos && (*target as usize) < steps.len(),
        };
        if !sound {
            return Err(format!("scan: step {at} of {:?} leads outside of its program", program.id));
        }
    }
    Ok(())
}

/// Appends an expression as a program.
struct ProgramBuilder<'c> {
    expression: &'c Normal,
    /// The steps of all programs.
    steps: &'c mut Vec<Step>,
    /// Where the program begins.
    start: usize,
    /// By node: number of parents.
    parents: Vec<u32>,
    /// Shared nodes in the order of their memos; their bodies follow the tree.
    shared: Vec<NodeId>,
    /// By node: its memo, or [`NONE`].
    memos: Vec<u32>,
}

impl<'c> ProgramBuilder<'c> {
    fn new(expression: &'c Normal, steps: &'c mut Vec<Step>) -> ProgramBuilder<'c> {
        let mut parents = vec![0; expression.nodes().len()];
        for node in expression.nodes() {
            expression.children(*node).iter().for_each(|child| parents[*child as usize] += 1);
        }
        let start = steps.len();
        let memos = vec![NONE; parents.len()];
        ProgramBuilder { expression, steps, start, parents, shared: Vec::new(), memos }
    }

    fn compile(mut self, id: SubId, root: NodeId) -> Program {
        let root_node = self.expression.nodes()[root as usize];
        match root_node {
            Node::Leaf(_) => self.body(root),
            _ => self.expression.children(root_node).iter().for_each(|&child| self.operand(child)),
        }
        let tree_end = self.len();
        let mut targets = Vec::new();
        while let Some(node) = self.shared.get(targets.len()).copied() {
            targets.push(self.len());
            self.body(node);
        }
        for step in &mut self.steps[self.start..] {
            if let Step::Shared { memo, target } = step {
                *target = targets[*memo as usize];
            }
        }
        let (start, len, memos) = (self.start as u32, self.len(), targets.len() as u32);
        Program { id, start, len, tree_end, neutral: !matches!(root_node, Node::Or { .. }), memos }
    }

    /// Number of steps of the program so far.
    fn len(&self) -> u32 {
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
        let after = self.len();
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
        if *memo == NONE {
            *memo = self.shared.len() as u32;
            self.shared.push(node);
        }
        let memo = *memo;
        self.steps.push(Step::Shared { memo, target: 0 });
    }
}
