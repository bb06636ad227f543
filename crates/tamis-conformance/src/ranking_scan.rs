//! `ranking_scan`: evaluates every expression, scores the matches and returns the best k. The simplest engine that ranks by
//! itself: it proves the ranking interface against an index that scores all matches of another engine, and that a
//! registry composed of two crates' slices works.

use tamis_core::Result;
use tamis_core::engine::registry::{CORE_ENGINES, Construction, EngineInfo, Family, Registry, Takes};
use tamis_core::engine::scoring::{BestK, TopKQuery, WeightedPredicates};
use tamis_core::engine::{Engine, RankingEngine, SubId};
use tamis_core::event::Event;
use tamis_core::expr::Normal;

/// This crate's engines.
pub const ENGINES: &[EngineInfo] = &[EngineInfo {
    name: "ranking_scan",
    description: "evaluates every expression and ranks the matches: the oracle of ranking engines",
    family: Family::Baseline,
    takes: Takes::All,
    exact: true,
    options: &[],
    construction: Construction::Ranking(|_, _| Box::new(RankingScan::default())),
}];

/// This crate's engines alone.
pub const ALONE: &Registry = &Registry::new(&[ENGINES]);

/// The core's engines and this crate's.
pub const WITH_CORE: &Registry = &Registry::new(&[CORE_ENGINES, ENGINES]);

/// See the module's head.
#[derive(Default)]
struct RankingScan {
    /// By number; `None` where the number is not in use.
    members: Vec<Option<Member>>,
}

struct Member {
    expression: Normal,
    /// Position in the order of insertion; 0 until weights are set.
    sequence: u64,
    /// `None` until weights are set.
    predicates: Option<WeightedPredicates>,
}

/// The buffers of one matching thread.
#[derive(Default)]
struct RankingScratch {
    /// By node of the expression that is evaluated.
    memo: Vec<Option<bool>>,
    best: BestK<SubId>,
}

impl RankingScan {
    fn matching<'s>(
        &'s self,
        event: &'s Event<'s>,
        memo: &'s mut Vec<Option<bool>>,
    ) -> impl Iterator<Item = (SubId, &'s Member)> {
        let members = self.members.iter().enumerate();
        let members = members.filter_map(|(n, member)| Some((SubId(n as u32), member.as_ref()?)));
        members.filter(|(_, member)| member.expression.holds(event, memo))
    }
}

impl Engine for RankingScan {
    type Scratch = RankingScratch;

    fn name(&self) -> &'static str {
        ENGINES[0].name
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        if self.members.len() <= id.index() {
            self.members.resize_with(id.index() + 1, || None);
        }
        let member = Member { expression: expression.clone(), sequence: 0, predicates: None };
        self.members[id.index()] = Some(member);
        Ok(())
    }

    fn remove(&mut self, id: SubId) {
        self.members[id.index()] = None;
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut RankingScratch, matches: &mut Vec<SubId>) {
        matches.extend(self.matching(event, &mut scratch.memo).map(|(id, _)| id));
    }

    fn validate(&self) -> Result<(), String> {
        let unweighted = self.members.iter().flatten().filter(|member| member.predicates.is_none()).count();
        if unweighted > 0 { Err(format!("{unweighted} subscriptions have no weights")) } else { Ok(()) }
    }

    fn memory(&self) -> usize {
        let heap = self.members.iter().flatten().map(|member| {
            member.expression.memory() + member.predicates.as_ref().map_or(0, WeightedPredicates::memory)
        });
        self.members.capacity() * size_of::<Option<Member>>() + heap.sum::<usize>()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

impl RankingEngine for RankingScan {
    fn set_weights(&mut self, id: SubId, sequence: u64, predicates: WeightedPredicates) {
        if let Some(member) = &mut self.members[id.index()] {
            (member.sequence, member.predicates) = (sequence, Some(predicates));
        }
    }

    fn top_k(&self, query: &TopKQuery<'_>, scratch: &mut RankingScratch, best: &mut Vec<(SubId, f64)>) {
        let RankingScratch { memo, best: heap } = scratch;
        heap.begin(query.k);
        for (id, member) in self.matching(query.event, memo) {
            let predicates = member.predicates.as_ref();
            let score = predicates.map_or(0.0, |predicates| predicates.score(query.event, query.weights));
            if score >= query.floor {
                heap.offer(score, || member.sequence, id);
            }
        }
        heap.drain(|id, score| best.push((id, score)));
    }
}
