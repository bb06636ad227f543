//! Expressions on their way into an index.

use super::parsing::Parsed;
use crate::error::{Error, Result};
use crate::expr::{Expr, Limits, parse};
use std::sync::Arc;

/// An expression on its way into an index.
#[derive(Clone, Debug)]
pub enum Source {
    /// Text to be parsed.
    Text(Box<str>),
    /// Parsed or built already.
    Expr(Arc<Expr>),
}

impl From<&str> for Source {
    fn from(text: &str) -> Source {
        Source::Text(text.into())
    }
}

impl Source {
    /// The text of a source and what it means. A built expression goes through its text, too: what is stored must
    /// parse again under the limits of the index, whatever limits it was built under.
    pub(super) fn parsed(self, limits: &Limits) -> Result<Parsed> {
        let text = match self {
            Source::Text(text) => text,
            Source::Expr(expr) if expr.depth() > limits.max_depth => {
                let message = format!("the expression nests deeper than max_depth = {}", limits.max_depth);
                return Err(Error::Expression(message));
            }
            Source::Expr(expr) => expr.to_string().into(),
        };
        let expr = parse(&text, limits)?;
        Ok((text, expr))
    }
}
