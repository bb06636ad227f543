//! Operands on their way into connectives: AND binds tighter than XOR and XNOR, which bind tighter than OR.

use crate::expr::ast::{Connective, Expr};

/// Operands collected for one connective, and the depth of the deepest.
#[derive(Default)]
pub(super) struct Group {
    operands: Vec<Expr>,
    levels: usize,
}

impl Group {
    pub(super) fn push(&mut self, operand: Expr, levels: usize) {
        if self.operands.is_empty() {
            self.operands.reserve(4);
        }
        self.operands.push(operand);
        self.levels = self.levels.max(levels);
    }

    fn close(&mut self, connective: Connective) -> (Expr, usize) {
        let group = std::mem::take(self);
        let levels = group.levels + usize::from(group.operands.len() > 1);
        (Expr::join(connective, group.operands), levels)
    }
}

/// The groups that are open while operands are read.
pub(super) struct Pending {
    pub(super) and: Group,
    xor: Group,
    /// The connective between the operands of `xor`.
    xor_kind: Connective,
    or: Group,
}

impl Default for Pending {
    fn default() -> Pending {
        Pending {
            and: Group::default(),
            xor: Group::default(),
            xor_kind: Connective::Xor,
            or: Group::default(),
        }
    }
}

impl Pending {
    /// An XOR or XNOR follows: the AND group is one of its operands.
    pub(super) fn close_and(&mut self, next: Connective) {
        let (term, levels) = self.and.close(Connective::And);
        self.xor.push(term, levels);
        if self.xor.operands.len() > 1 && self.xor_kind != next {
            // From left to right: `a XOR b XNOR c` is `(a XOR b) XNOR c`.
            let (left, levels) = self.xor.close(self.xor_kind);
            self.xor.push(left, levels);
        }
        self.xor_kind = next;
    }

    /// An OR follows, or the end.
    pub(super) fn close_xor(&mut self) {
        let (term, levels) = self.and.close(Connective::And);
        self.xor.push(term, levels);
        let (term, levels) = self.xor.close(self.xor_kind);
        self.or.push(term, levels);
    }

    pub(super) fn finish(mut self) -> (Expr, usize) {
        if self.or.operands.is_empty() && self.xor.operands.is_empty() {
            return self.and.close(Connective::And);
        }
        self.close_xor();
        self.or.close(Connective::Or)
    }
}
