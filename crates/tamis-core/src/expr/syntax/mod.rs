//! Text to syntax tree and back.
//!
//! | file or folder | question it answers |
//! | --- | --- |
//! | `lexer` | what is the next token? |
//! | `parser` | is this text an expression, and if not, where is the error? |
//! | `ast` | what did the user write? |
//! | `operators` | which name, literals and kind of value does an operator have? |
//! | `print` | what is the canonical text of an expression? |

mod ast;
mod lexer;
mod operators;
mod parser;
mod print;

pub use ast::{Attribute, Comparison, Condition, Connective, Expr, Op, Quantifier};
pub use operators::OperandKind;
pub use parser::parse;
