//! The expression language: text in, normalized expressions out.
//!
//! ```text
//! text ──syntax──▶ Expr ──normal──▶ Normal ──dnf──▶ conjunctions
//! ```
//!
//! | file or folder | question it answers |
//! | --- | --- |
//! | `syntax` | is this text an expression, what did the user write, and what is its canonical text? |
//! | `normal` | which values satisfy each predicate, and how do AND and OR combine them? |
//! | `dnf` | which conjunctions, or which clauses, is the expression equivalent to, and how many are they? |
//! | `evaluation` | TRUE, FALSE or UNKNOWN, and why (the reference semantics)? |
//! | `explanation` | which words explain a result? |
//! | `pattern` | does a string match this LIKE, RLIKE, suffix, ...? |
//! | `limits` | which expressions are refused as too large? |

mod dnf;
mod evaluation;
mod explanation;
mod limits;
mod normal;
mod pattern;
mod syntax;

pub use dnf::{Clause, Conjunction};
pub use evaluation::{Explanation, Truth};
pub use limits::Limits;
pub(crate) use normal::after_prefix;
pub use normal::{
    Cut, Missing, Node, NodeId, Normal, Normalizer, OrderedSet, Over, Predicate, Root, Test, ValueSet,
};
pub use pattern::{Matcher, PatternKind, TextPattern};
pub use syntax::{Attribute, Comparison, Condition, Connective, Expr, Op, OperandKind, Quantifier, parse};
