//! Engines as trait objects. [`Engine`] has a scratch type of its own and is no object; [`DynEngine`] is, and every
//! engine has it by a blanket implementation.
//!
//! Cost: one comparison of type ids and one virtual call per event.

use crate::engine::scoring::{TopKQuery, WeightedPredicates};
use crate::engine::{Engine, Graph, RankingEngine, SubId};
use crate::error::Result;
use crate::event::Event;
use crate::expr::Normal;
use std::any::Any;
use std::marker::PhantomData;

/// The scratch of some engine, made by [`DynEngine::scratch`].
pub struct Scratch {
    /// The name of the engine that made it.
    engine: &'static str,
    /// A [`ScratchOf`] that engine's type.
    state: Box<dyn Any + Send>,
}

/// Tells the scratches of two engines apart even if their scratch types are equal.
struct ScratchOf<E: Engine> {
    state: E::Scratch,
    engine: PhantomData<fn() -> E>,
}

impl Scratch {
    fn new<E: Engine>(engine: &E) -> Scratch {
        let state = ScratchOf::<E> { state: E::Scratch::default(), engine: PhantomData };
        Scratch { engine: engine.name(), state: Box::new(state) }
    }

    /// The state for an engine. Panics if another kind of engine made it: that is a mistake of the caller, and without
    /// a state there is no right answer.
    #[inline]
    fn state_for<E: Engine>(&mut self, engine: &E) -> &mut E::Scratch {
        match self.state.downcast_mut::<ScratchOf<E>>() {
            Some(scratch) => &mut scratch.state,
            None => wrong_scratch(engine.name(), self.engine),
        }
    }
}

#[cold]
#[allow(clippy::panic, reason = "the caller mixed up two engines; no answer would be right")]
fn wrong_scratch(engine: &str, owner: &str) -> ! {
    panic!("engine {engine} was given a scratch of engine {owner}")
}

/// An [`Engine`] as a trait object; see there for what each method does.
#[expect(missing_docs, reason = "the methods of `Engine` with the same names have the documentation")]
pub trait DynEngine: Send + Sync {
    fn name(&self) -> &'static str;
    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()>;
    fn remove(&mut self, id: SubId);
    /// A scratch for [`DynEngine::match_event`] of this kind of engine. It serves any number of events, also after
    /// updates.
    fn scratch(&self) -> Scratch;
    /// Panics if another kind of engine made the scratch.
    fn match_event(&self, event: &Event<'_>, scratch: &mut Scratch, matches: &mut Vec<SubId>);
    fn observe(&mut self, event: &Event<'_>);
    fn adapt(&mut self);
    fn defragment(&mut self);
    fn validate(&self) -> Result<(), String>;
    fn memory(&self) -> usize;
    fn stats(&self) -> Vec<(&'static str, u64)>;
    fn graph(&self) -> Option<Graph>;
}

impl<E: Engine> DynEngine for E {
    fn name(&self) -> &'static str {
        Engine::name(self)
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        Engine::insert(self, id, expression)
    }

    fn remove(&mut self, id: SubId) {
        Engine::remove(self, id);
    }

    fn scratch(&self) -> Scratch {
        Scratch::new(self)
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut Scratch, matches: &mut Vec<SubId>) {
        Engine::match_event(self, event, scratch.state_for(self), matches);
    }

    fn observe(&mut self, event: &Event<'_>) {
        Engine::observe(self, event);
    }

    fn adapt(&mut self) {
        Engine::adapt(self);
    }

    fn defragment(&mut self) {
        Engine::defragment(self);
    }

    fn validate(&self) -> Result<(), String> {
        Engine::validate(self)
    }

    fn memory(&self) -> usize {
        Engine::memory(self)
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        Engine::stats(self)
    }

    fn graph(&self) -> Option<Graph> {
        Engine::graph(self)
    }
}

/// A [`RankingEngine`] as a trait object; see there for what each method does.
#[expect(missing_docs, reason = "the methods of `RankingEngine` with the same names have the documentation")]
pub trait DynRankingEngine: DynEngine {
    fn set_weights(&mut self, id: SubId, sequence: u64, predicates: WeightedPredicates);
    /// Panics if another kind of engine made the scratch.
    fn top_k(&self, query: &TopKQuery<'_>, scratch: &mut Scratch, best: &mut Vec<(SubId, f64)>);
}

impl<E: RankingEngine> DynRankingEngine for E {
    fn set_weights(&mut self, id: SubId, sequence: u64, predicates: WeightedPredicates) {
        RankingEngine::set_weights(self, id, sequence, predicates);
    }

    fn top_k(&self, query: &TopKQuery<'_>, scratch: &mut Scratch, best: &mut Vec<(SubId, f64)>) {
        RankingEngine::top_k(self, query, scratch.state_for(self), best);
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::registry::{Options, Registry};
    use crate::event::{EventSlots, Rows};
    use crate::expr::Limits;

    #[test]
    #[should_panic(expected = "engine scan was given a scratch of engine a_tree")]
    fn the_scratch_of_another_engine_is_refused() {
        let [scan, a_tree] = ["scan", "a_tree"].map(|name| {
            let info = Registry::CORE.find(name).expect("an engine");
            info.create(&Options::new(), &Limits::default()).expect("no options")
        });
        let mut rows = Rows::default();
        rows.finish_row();
        let mut slots = EventSlots::default();
        let event = slots.load(&rows, 0, 0);
        scan.match_event(&event, &mut a_tree.scratch(), &mut Vec::new());
    }

    #[test]
    fn the_scratch_of_an_equal_engine_serves() {
        let made = || {
            let info = Registry::CORE.find("scan").expect("an engine");
            info.create(&Options::new(), &Limits::default()).expect("no options")
        };
        let mut rows = Rows::default();
        rows.finish_row();
        let mut slots = EventSlots::default();
        made().match_event(&slots.load(&rows, 0, 0), &mut made().scratch(), &mut Vec::new());
    }
}
