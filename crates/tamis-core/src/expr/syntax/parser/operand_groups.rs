//! Operands by connective while they are read: AND has a higher precedence than XOR and XNOR, these than OR.

use crate::expr::syntax::ast::{Connective, Expr};

/// The operands of one connective.
#[derive(Default)]
pub(super) struct OperandGroup {
    operands: Vec<Expr>,
    /// Depth of the deepest operand, in levels.
    levels: usize,
}

impl OperandGroup {
    /// Appends an operand of this depth.
    pub(super) fn push(&mut self, operand: Expr, levels: usize) {
        if self.operands.is_empty() {
            self.operands.reserve(4);
        }
        self.operands.push(operand);
        self.levels = self.levels.max(levels);
    }

    /// Empties the group; returns the connective of its operands, and its depth.
    fn close(&mut self, connective: Connective) -> (Expr, usize) {
        let group = std::mem::take(self);
        let levels = group.levels + usize::from(group.operands.len() > 1);
        (Expr::join(connective, group.operands), levels)
    }
}

/// The groups that may take further operands: one per precedence.
pub(super) struct OpenGroups {
    pub(super) and: OperandGroup,
    xor: OperandGroup,
    /// The connective between the operands of `xor`.
    xor_kind: Connective,
    or: OperandGroup,
}

impl Default for OpenGroups {
    fn default() -> OpenGroups {
        OpenGroups {
            and: OperandGroup::default(),
            xor: OperandGroup::default(),
            xor_kind: Connective::Xor,
            or: OperandGroup::default(),
        }
    }
}

impl OpenGroups {
    /// Before an XOR or XNOR: the AND group becomes one of its operands.
    pub(super) fn close_and(&mut self, next: Connective) {
        let (term, levels) = self.and.close(Connective::And);
        self.xor.push(term, levels);
        if self.xor.operands.len() > 1 && self.xor_kind != next {
            // Left to right: `a XOR b XNOR c` is `(a XOR b) XNOR c`.
            let (left, levels) = self.xor.close(self.xor_kind);
            self.xor.push(left, levels);
        }
        self.xor_kind = next;
    }

    /// Before an OR or the end: the XOR group becomes an operand of the OR group.
    pub(super) fn close_xor(&mut self) {
        let (term, levels) = self.and.close(Connective::And);
        self.xor.push(term, levels);
        let (term, levels) = self.xor.close(self.xor_kind);
        self.or.push(term, levels);
    }

    /// The whole expression and its depth.
    pub(super) fn finish(mut self) -> (Expr, usize) {
        if self.or.operands.is_empty() && self.xor.operands.is_empty() {
            return self.and.close(Connective::And);
        }
        self.close_xor();
        self.or.close(Connective::Or)
    }
}
