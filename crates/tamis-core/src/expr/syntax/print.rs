//! Canonical text: it parses back to the same expression.

use super::ast::{Attribute, Condition, Expr, Op, Quantifier};
use super::lexer::is_plain_name;
use crate::expr::pattern::PatternKind;
use crate::value::Literal;
use std::fmt::{self, Display, Formatter};

/// Precedence of an expression; an operand of lower precedence needs parentheses.
fn precedence(expr: &Expr) -> u8 {
    match expr {
        Expr::Or(_) => 1,
        Expr::Xor(_) | Expr::Xnor(_) => 2,
        Expr::And(_) => 3,
        Expr::Not(_) => 4,
        Expr::Const(_) | Expr::Condition(_) => 5,
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let own = precedence(self);
        match self {
            Expr::Const(constant) => Display::fmt(&Literal::Bool(*constant), f),
            Expr::Condition(condition) => Display::fmt(condition, f),
            Expr::Not(inner) => {
                f.write_str("NOT ")?;
                operand(inner, own, f)
            }
            Expr::And(operands) => joined(operands, " AND ", own + 1, f),
            Expr::Or(operands) => joined(operands, " OR ", own + 1, f),
            // XOR and XNOR have the same precedence, so one inside the other is always parenthesized.
            Expr::Xor(operands) => joined(operands, " XOR ", own + 1, f),
            Expr::Xnor(operands) => joined(operands, " XNOR ", own + 1, f),
        }
    }
}

fn joined(operands: &[Expr], connective: &str, at_least: u8, f: &mut Formatter<'_>) -> fmt::Result {
    for (i, expr) in operands.iter().enumerate() {
        if i > 0 {
            f.write_str(connective)?;
        }
        operand(expr, at_least, f)?;
    }
    Ok(())
}

fn operand(expr: &Expr, at_least: u8, f: &mut Formatter<'_>) -> fmt::Result {
    if precedence(expr) >= at_least { write!(f, "{expr}") } else { write!(f, "({expr})") }
}

impl Display for Attribute {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = Name(&self.name);
        match self.quantifier {
            None => write!(f, "{name}"),
            Some(Quantifier::Any) => write!(f, "any({name})"),
            Some(Quantifier::All) => write!(f, "all({name})"),
        }
    }
}

/// An attribute name, quoted unless it is plain.
struct Name<'a>(pub &'a str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.split('.').all(is_plain_name) {
            f.write_str(self.0)
        } else {
            write!(f, "\"{}\"", self.0.replace('"', "\"\""))
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let attribute = &self.attribute;
        let name = self.op.name();
        match &self.op {
            Op::Compare(_, literal) => write!(f, "{attribute} {name} {literal}")?,
            Op::Between { low, high, .. } => write!(f, "{attribute} {name} {low} AND {high}")?,
            Op::In { literals, .. } => {
                write!(f, "{attribute} {name} (")?;
                for (i, literal) in literals.iter().enumerate() {
                    write!(f, "{}{literal}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(")")?;
            }
            Op::IsNull { .. } => write!(f, "{attribute} {name}")?,
            Op::Matches { pattern, .. } => {
                let text = Literal::Text(pattern.source().into());
                match pattern.kind() {
                    PatternKind::Like | PatternKind::ILike | PatternKind::Regex => {
                        write!(f, "{attribute} {name} {text}")?;
                    }
                    _ => write!(f, "{name}({attribute}, {text})")?,
                }
            }
            Op::InCidr(networks) => {
                write!(f, "{name}({attribute}")?;
                for network in networks {
                    write!(f, ", '{network}'")?;
                }
                f.write_str(")")?;
            }
            Op::IsTrue => write!(f, "{attribute}")?,
        }
        if self.weight != 1.0 {
            write!(f, " ^ {:?}", self.weight)?;
        }
        Ok(())
    }
}
