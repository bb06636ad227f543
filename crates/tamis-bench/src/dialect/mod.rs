//! Expressions in the languages of other systems.
//!
//! | file | system |
//! | --- | --- |
//! | `a_tree` | the published crate of that name |
//! | `python` | an expression for `eval` |
//!
//! Negations are pushed to the predicates and XOR and XNOR are spelled out, so that a predicate on a missing attribute
//! may simply be false: an expression without NOT that is TRUE stays TRUE, and one that is UNKNOWN is no match.

pub mod a_tree;
pub mod python;

use tamis_core::expr::{Condition, Expr};

/// The part that differs from one language to the other.
trait Dialect {
    /// Appends a predicate or its negation; neither holds if the attribute is missing. The error says what the
    /// language lacks.
    fn condition(&self, condition: &Condition, negated: bool, out: &mut String) -> Result<(), String>;
}

fn write(expr: &Expr, negated: bool, dialect: &dyn Dialect, out: &mut String) -> Result<(), String> {
    match expr {
        Expr::Const(_) => Err("constants".into()),
        Expr::Condition(condition) => dialect.condition(condition, negated, out),
        Expr::Not(inner) => write(inner, !negated, dialect, out),
        Expr::And(operands) => join(operands, negated, if negated { " or " } else { " and " }, dialect, out),
        Expr::Or(operands) => join(operands, negated, if negated { " and " } else { " or " }, dialect, out),
        Expr::Xor(operands) => different(operands, negated, false, dialect, out),
        // Each of the XNORs, from left to right, is a negated XOR.
        Expr::Xnor(operands) => different(operands, negated, true, dialect, out),
    }
}

fn join(
    operands: &[Expr],
    negated: bool,
    connective: &str,
    dialect: &dyn Dialect,
    out: &mut String,
) -> Result<(), String> {
    for (n, operand) in operands.iter().enumerate() {
        out.push_str(if n > 0 { connective } else { "" });
        out.push('(');
        write(operand, negated, dialect, out)?;
        out.push(')');
    }
    Ok(())
}

/// `(rest and not last) or (not rest and last)`, or with `negated`, `(rest and last) or (not rest and not last)`;
/// `same` says that every step is an XNOR.
fn different(
    operands: &[Expr],
    negated: bool,
    same: bool,
    dialect: &dyn Dialect,
    out: &mut String,
) -> Result<(), String> {
    let Some((last, rest)) = operands.split_last() else { return Err("nothing to join".into()) };
    if rest.is_empty() {
        return write(last, negated, dialect, out);
    }
    for (n, (of_rest, of_last)) in [(false, negated == same), (true, negated != same)].into_iter().enumerate()
    {
        out.push_str(if n > 0 { ") or ((" } else { "((" });
        different(rest, of_rest, same, dialect, out)?;
        out.push_str(") and (");
        write(last, of_last, dialect, out)?;
        out.push(')');
    }
    out.push(')');
    Ok(())
}
