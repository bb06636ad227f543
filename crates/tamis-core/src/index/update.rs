//! How subscriptions come and go. Whatever fails leaves the index as it was.

use super::parsing::parse_ahead;
use super::subscriptions::Standing;
use super::{Id, Index, State};
use crate::engine::SubId;
use crate::error::{Error, Result};
use crate::expr::{Expr, Limits, Missing, Normalizer, parse};
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

impl Index {
    /// Adds a subscription. Returns whether some event could match it: `false` for a contradiction.
    pub fn add(&self, id: Id, source: Source) -> Result<bool> {
        let (text, expr) = self.parsed(source)?;
        let mut state = self.state.write();
        let (_, standing) =
            state.insert(id, text, &expr, &mut Normalizer::default(), self.settings.missing)?;
        Ok(standing != Standing::Never)
    }

    /// Adds many subscriptions, or none if one fails; the error names the row. Returns the rows that can never
    /// match.
    pub fn add_many(&self, batch: impl IntoIterator<Item = (Id, Source)>) -> Result<Vec<usize>> {
        let mut state = self.state.write();
        let attributes = state.schema.len();
        let mut normalizer = Normalizer::default();
        let mut never = Vec::new();
        let mut added: Vec<SubId> = Vec::new();
        let batch = batch.into_iter();
        state.subscriptions.reserve(batch.size_hint().0);
        let mut row = 0;
        let outcome = parse_ahead(
            batch,
            |source| self.parsed(source),
            |id, parsed| {
                let (text, expr) = parsed?;
                let (sub, standing) =
                    state.insert(id, text, &expr, &mut normalizer, self.settings.missing)?;
                added.push(sub);
                if standing == Standing::Never {
                    never.push(row);
                }
                row += 1;
                Ok(expr)
            },
        );
        match outcome {
            Ok(()) => {
                // After a few it would not pay.
                if row >= 1_000 && row > state.subscriptions.len() / 4 {
                    state.engine.settle();
                }
                Ok(never)
            }
            Err(error) => {
                added.into_iter().rev().for_each(|sub| state.remove(sub));
                state.forget_attributes(attributes);
                Err(error.at_row(row))
            }
        }
    }

    /// Gives an id another expression; its place in the order of insertion stays. Returns as [`Index::add`] does.
    pub fn replace(&self, id: &Id, source: Source) -> Result<bool> {
        let (text, expr) = self.parsed(source)?;
        let mut state = self.state.write();
        let sub = state.subscriptions.find(id).ok_or_else(|| Error::UnknownId(id.clone()))?;
        let standing = state.replace(sub, text, &expr, &self.settings.limits, self.settings.missing)?;
        Ok(standing != Standing::Never)
    }

    /// Removes a subscription.
    pub fn remove(&self, id: &Id) -> Result<()> {
        let mut state = self.state.write();
        let sub = state.subscriptions.find(id).ok_or_else(|| Error::UnknownId(id.clone()))?;
        state.remove(sub);
        Ok(())
    }

    /// The text of a source and what it means. A built expression goes through its text, too: what is stored must
    /// parse again under the limits of this index, whatever limits it was built under.
    fn parsed(&self, source: Source) -> Result<(Box<str>, Expr)> {
        let limits = &self.settings.limits;
        let text = match source {
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

impl State {
    fn insert(
        &mut self,
        id: Id,
        text: Box<str>,
        expr: &Expr,
        normalizer: &mut Normalizer,
        missing: Missing,
    ) -> Result<(SubId, Standing)> {
        if self.subscriptions.find(&id).is_some() {
            return Err(Error::DuplicateId(id));
        }
        let number = self.subscriptions.next_number();
        let sub = number.ok_or_else(|| Error::Expression("the index is full: 2^32 subscriptions".into()))?;
        let attributes = self.schema.len();
        let normal = normalizer.normalize(expr, &mut self.schema, missing);
        let standing = Standing::from(normal.root());
        if standing == Standing::InEngine
            && let Err(error) = self.engine.insert(sub, normal)
        {
            self.forget_attributes(attributes);
            return Err(error);
        }
        self.subscriptions.insert(id, text, standing);
        Ok((sub, standing))
    }

    /// Takes back the attributes that a failed update brought, so that readers need not read again for nothing.
    fn forget_attributes(&mut self, from: usize) {
        if self.schema.len() > from {
            Arc::make_mut(&mut self.schema).truncate(from);
        }
    }

    fn remove(&mut self, sub: SubId) {
        if self.standing(sub) == Some(Standing::InEngine) {
            self.engine.remove(sub);
        }
        self.subscriptions.remove(sub);
    }

    fn replace(
        &mut self,
        sub: SubId,
        text: Box<str>,
        expr: &Expr,
        limits: &Limits,
        missing: Missing,
    ) -> Result<Standing> {
        let mut normalizer = Normalizer::default();
        let was_in_engine = self.standing(sub) == Some(Standing::InEngine);
        if was_in_engine {
            self.engine.remove(sub);
        }
        let attributes = self.schema.len();
        let normal = normalizer.normalize(expr, &mut self.schema, missing);
        let standing = Standing::from(normal.root());
        if standing == Standing::InEngine
            && let Err(error) = self.engine.insert(sub, normal)
        {
            self.forget_attributes(attributes);
            if was_in_engine && let Some(old) = self.subscriptions.get(sub) {
                let old = parse(&old.text, limits)?;
                let normal = normalizer.normalize(&old, &mut self.schema, missing);
                self.engine.insert(sub, normal)?;
            }
            return Err(error);
        }
        self.subscriptions.replace(sub, text, standing);
        Ok(standing)
    }

    fn standing(&self, sub: SubId) -> Option<Standing> {
        self.subscriptions.get(sub).map(|subscription| subscription.standing)
    }
}
