//! Expressions to be added to an index.

use super::Parsed;
use crate::error::{Error, ParseError, Result};
use crate::expr::{Expr, Limits, parse};
use std::sync::Arc;

/// An expression to be added to an index.
#[derive(Clone, Debug)]
pub enum Source {
    /// Text to be parsed.
    Text(Box<str>),
    /// An expression that was parsed or built before.
    Expr(Arc<Expr>),
}

impl From<&str> for Source {
    fn from(text: &str) -> Source {
        Source::Text(text.into())
    }
}

impl Source {
    /// The text and its expression. A built expression is printed and parsed: the stored text must parse under the limits
    /// of this index, whatever limits the expression was built under.
    pub(in crate::index) fn parsed(self, limits: &Limits) -> Result<Parsed> {
        let text = match self {
            Source::Text(text) => text,
            Source::Expr(expr) if expr.depth() > limits.max_depth => {
                let message = format!("the expression nests deeper than max_depth = {}", limits.max_depth);
                return Err(Error::Expression(message));
            }
            Source::Expr(expr) => {
                let text = expr.to_string();
                if text.len() > limits.max_length {
                    let found = format!("a canonical text of {} bytes", text.len());
                    let limit = limits.max_length;
                    let expected =
                        format!("at most {limit} bytes (max_length); raise max_length, or split the rule");
                    return Err(ParseError::at(&text, limit, found, expected).into());
                }
                text.into()
            }
        };
        let expr = parse(&text, limits)?;
        Ok((text, expr))
    }
}
