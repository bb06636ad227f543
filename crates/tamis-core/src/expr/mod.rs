//! The expression language: text in, normalized expressions out.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `lexer`, `parser` | is this text an expression, and if not, where does it break? |
//! | `ast` | what did the user write? |
//! | `anatomy` | what are its predicates made of, and how large is it as a disjunction? |
//! | `pattern` | does this string match this LIKE, RLIKE, suffix, ...? |
//! | `print` | how is an expression written canonically? |
//! | `eval` | TRUE, FALSE or UNKNOWN, and why (the reference semantics)? |
//! | `set` | which values satisfy these predicates on one attribute? |
//! | `normal` | what do engines see? |
//! | `accepted` | for which values is this operator TRUE? |
//! | `normalize` | how is what the user wrote turned into that? |
//! | `dnf` | which conjunctions is it made of, if not too many? |
//! | `wording` | how is a normalized predicate said to people? |

mod accepted;
mod anatomy;
mod ast;
mod dnf;
mod eval;
mod lexer;
mod limits;
mod normal;
mod normalize;
mod parser;
mod pattern;
mod print;
mod set;
mod wording;

pub use anatomy::Asked;
pub use ast::{Attribute, Comparison, Condition, Connective, Expr, Op, Quantifier};
pub use dnf::Conjunction;
pub use eval::{Explanation, Truth};
pub use limits::Limits;
pub use normal::{Node, NodeId, Normal, Over, Predicate, Root, Test};
pub use normalize::{Missing, Normalizer};
pub use parser::parse;
pub use pattern::{Matcher, PatternKind, TextPattern};
pub use set::{Cut, OrderedSet, ValueSet};
