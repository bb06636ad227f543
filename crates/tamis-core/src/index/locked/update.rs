//! Adding, replacing and removing subscriptions. A failed update leaves the index as it was.

use super::subscriptions::Decision;
use super::{InPlaceEngine, Locked, LockedState};
use crate::engine::SubId;
use crate::engine::scoring::WeightedPredicates;
use crate::error::{Error, Interruption, Result};
use crate::expr::{Expr, Limits, Missing, Normal, Normalizer, parse};
use crate::index::parsing::{Parsed, parse_ahead};
use crate::index::ranking::ExpressionTexts;
use crate::index::{Id, Source};
use std::sync::Arc;

impl Locked {
    pub(super) fn add_parsed(&self, id: Id, (text, expr): Parsed) -> Result<bool> {
        let mut state = self.state.write();
        let (_, decision) = state.insert(id, text, &expr, &mut Normalizer::default(), self.missing)?;
        Ok(decision != Decision::Never)
    }

    pub(super) fn add_batch(&self, batch: &mut dyn Iterator<Item = (Id, Source)>) -> Result<Vec<usize>> {
        let mut state = self.state.write();
        let attributes = state.schema.len();
        let mut normalizer = Normalizer::default();
        let mut never = Vec::new();
        let mut added: Vec<SubId> = Vec::new();
        state.subscriptions.reserve(batch.size_hint().0);
        let mut row = 0;
        let outcome = parse_ahead(
            batch,
            |source: Source| source.parsed(&self.limits),
            |id, parsed| {
                Interruption::check()?;
                let (text, expr) = parsed?;
                let (sub, decision) = state.insert(id, text, &expr, &mut normalizer, self.missing)?;
                added.push(sub);
                if decision == Decision::Never {
                    never.push(row);
                }
                row += 1;
                Ok(expr)
            },
        );
        match outcome {
            Ok(()) => {
                // Compaction takes time proportional to all subscriptions; worth it after a batch of a quarter of them.
                if row >= 1_000 && row > state.subscriptions.len() / 4 {
                    state.engine.defragment();
                }
                Ok(never)
            }
            Err(error) => {
                added.into_iter().rev().for_each(|sub| state.remove(sub));
                state.truncate_attributes(attributes);
                Err(error.at_row(row))
            }
        }
    }

    pub(super) fn replace_parsed(&self, id: &Id, (text, expr): Parsed) -> Result<bool> {
        let mut state = self.state.write();
        let sub = state.subscriptions.find(id).ok_or_else(|| Error::UnknownId(id.clone()))?;
        let decision = state.replace(sub, text, &expr, &self.limits, self.missing)?;
        Ok(decision != Decision::Never)
    }

    pub(super) fn remove_id(&self, id: &Id) -> Result<()> {
        let mut state = self.state.write();
        let sub = state.subscriptions.find(id).ok_or_else(|| Error::UnknownId(id.clone()))?;
        state.remove(sub);
        Ok(())
    }
}

impl LockedState {
    fn insert(
        &mut self,
        id: Id,
        text: Box<str>,
        expr: &Expr,
        normalizer: &mut Normalizer,
        missing: Missing,
    ) -> Result<(SubId, Decision)> {
        if self.subscriptions.find(&id).is_some() {
            return Err(Error::DuplicateId(id));
        }
        let number = self.subscriptions.next_number();
        let sub = number.ok_or_else(|| Error::Expression("the index is full: 2^32 subscriptions".into()))?;
        let attributes = self.schema.len();
        let normal = normalizer.normalize(expr, &mut self.schema, missing);
        let decision = Decision::from(normal.root());
        let sequence = self.subscriptions.next_sequence();
        if decision == Decision::ByEngine
            && let Err(error) = self.insert_in_engine(sub, sequence, expr, normal, missing)
        {
            self.truncate_attributes(attributes);
            return Err(error);
        }
        self.subscriptions.insert(id, text, decision);
        Ok((sub, decision))
    }

    /// Inserts an expression into the engine, with its weights if the engine ranks. After an error the engine is as it
    /// was.
    fn insert_in_engine(
        &mut self,
        sub: SubId,
        sequence: u64,
        expr: &Expr,
        normal: &Normal,
        missing: Missing,
    ) -> Result<()> {
        match &mut self.engine {
            InPlaceEngine::Plain(engine) => engine.insert(sub, normal),
            InPlaceEngine::Ranking(engine) => {
                let predicates = WeightedPredicates::new(expr, &self.schema, missing)?;
                engine.insert(sub, normal)?;
                engine.set_weights(sub, sequence, predicates);
                Ok(())
            }
        }
    }

    /// Removes the attributes that a failed update added, so that events already read do not become stale.
    fn truncate_attributes(&mut self, from: usize) {
        if self.schema.len() > from {
            Arc::make_mut(&mut self.schema).truncate(from);
        }
    }

    fn remove(&mut self, sub: SubId) {
        if self.decision(sub) == Some(Decision::ByEngine) {
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
    ) -> Result<Decision> {
        let mut normalizer = Normalizer::default();
        let was_in_engine = self.decision(sub) == Some(Decision::ByEngine);
        let sequence = self.subscriptions.sequence(sub);
        if was_in_engine {
            self.engine.remove(sub);
        }
        let attributes = self.schema.len();
        let normal = normalizer.normalize(expr, &mut self.schema, missing);
        let decision = Decision::from(normal.root());
        if decision == Decision::ByEngine
            && let Err(error) = self.insert_in_engine(sub, sequence, expr, normal, missing)
        {
            self.truncate_attributes(attributes);
            if was_in_engine && let Some(old) = self.subscriptions.get(sub) {
                let old = parse(&old.text, limits)?;
                let normal = normalizer.normalize(&old, &mut self.schema, missing);
                self.insert_in_engine(sub, sequence, &old, normal, missing)?;
            }
            return Err(error);
        }
        self.subscriptions.replace(sub, text, decision);
        Ok(decision)
    }

    fn decision(&self, sub: SubId) -> Option<Decision> {
        self.subscriptions.get(sub).map(|subscription| subscription.decision)
    }
}
