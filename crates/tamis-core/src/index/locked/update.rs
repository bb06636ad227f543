//! Adding, replacing and removing subscriptions. A failed update leaves the index as it was.

use super::subscriptions::Decision;
use super::{InPlaceEngine, Locked, LockedState};
use crate::engine::SubId;
use crate::engine::scoring::WeightedPredicates;
use crate::error::{Error, Interruption, Result};
use crate::expr::{Expr, Limits, Missing, Normal, Normalizer, parse};
use crate::index::changes::{NetChange, net_changes};
use crate::index::parsing::{Parsed, parse_ahead};
use crate::index::ranking::ExpressionTexts;
use crate::index::{Change, Id, Source};
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
                Ok(Some(expr))
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
        let sequence = state.subscriptions.sequence(sub);
        let decision = state.replace((sub, sequence), text, &expr, &self.limits, self.missing)?;
        Ok(decision != Decision::Never)
    }

    /// Applies several changes; matching is blocked until all are done. Removals come last, as nothing of them can fail.
    pub(super) fn apply_batch(&self, changes: &mut dyn Iterator<Item = Change>) -> Result<Vec<usize>> {
        let mut state = self.state.write();
        let attributes = state.schema.len();
        let net = net_changes(changes, &self.limits, |id| state.subscriptions.find(id).is_some())?;
        let mut normalizer = Normalizer::default();
        let (mut never, mut removed, mut done) = (Vec::new(), Vec::new(), Vec::new());
        for NetChange { id, row, added_at, parsed, .. } in net {
            let present = state.subscriptions.find(&id);
            let Some((text, expr)) = parsed else {
                removed.extend(present);
                continue;
            };
            let outcome = match present {
                Some(sub) => {
                    let before =
                        state.subscriptions.get(sub).map(|before| (before.text.clone(), before.sequence));
                    let kept = state.subscriptions.sequence(sub);
                    let sequence =
                        if added_at.is_some() { state.subscriptions.next_sequence() } else { kept };
                    let decision = state.replace((sub, sequence), text, &expr, &self.limits, self.missing);
                    decision.map(|decision| (sub, before, decision))
                }
                None => {
                    let added = state.insert(id, text, &expr, &mut normalizer, self.missing);
                    added.map(|(sub, decision)| (sub, None, decision))
                }
            };
            match outcome {
                Ok((sub, before, decision)) => {
                    done.push((sub, before));
                    if decision == Decision::Never {
                        never.push(row);
                    }
                }
                Err(error) => {
                    for (sub, before) in done.into_iter().rev() {
                        state.undo(sub, before, &self.limits, self.missing);
                    }
                    state.truncate_attributes(attributes);
                    return Err(error.at_row(row));
                }
            }
        }
        removed.into_iter().for_each(|sub| state.remove(sub));
        never.sort_unstable();
        Ok(never)
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

    /// Puts back what a change of a failed batch replaced, or removes what it added.
    fn undo(&mut self, sub: SubId, before: Option<(Box<str>, u64)>, limits: &Limits, missing: Missing) {
        let Some((text, sequence)) = before else {
            self.remove(sub);
            return;
        };
        // Accepted before, so it is again: an engine with a bound keeps room for that.
        if let Ok(expr) = parse(&text, limits) {
            let _ = self.replace((sub, sequence), text, &expr, limits, missing);
        }
    }

    /// Replaces the expression and the position in insertion order of a subscription.
    fn replace(
        &mut self,
        (sub, sequence): (SubId, u64),
        text: Box<str>,
        expr: &Expr,
        limits: &Limits,
        missing: Missing,
    ) -> Result<Decision> {
        let mut normalizer = Normalizer::default();
        let was_in_engine = self.decision(sub) == Some(Decision::ByEngine);
        let old_sequence = self.subscriptions.sequence(sub);
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
                self.insert_in_engine(sub, old_sequence, &old, normal, missing)?;
            }
            return Err(error);
        }
        self.subscriptions.replace(sub, text, decision, sequence);
        Ok(decision)
    }

    fn decision(&self, sub: SubId) -> Option<Decision> {
        self.subscriptions.get(sub).map(|subscription| subscription.decision)
    }
}
