//! Translation: every expression becomes a disjunction of conjunctions, and an engine for conjunctions matches those.
//!
//! Paper: S. Ji and H.-A. Jacobsen, A-Tree, SIGMOD 2021, sections 2 and 6: the authors' own baseline, on PSTBloom.
//!
//! Idea: an expression is expanded to its disjunctive normal form, predicates on one attribute of a conjunction are merged
//! and contradictory conjunctions dropped. Each conjunction is a subscription of its own in the inner engine. An event
//! matches an expression iff it matches one of its conjunctions; each expression is reported once.
//!
//! Invariants: every number of the inner engine belongs to one expression, and is in its list.
//!
//! Cost: as the inner engine, on as many conjunctions as the expansion has: up to the product of the operands of all ORs
//! below an AND. `max_dnf` bounds it; the size is known before anything is expanded, and an expression with more is
//! refused.
//!
//! Deviations from the paper:
//! - The inner engine is an option.
//! - The translated conjunctions are not kept beside the inner engine, which stores what it needs of them; the paper counts
//!   4,592 MB for them in its Table 4.

use tamis_core::Result;
use tamis_core::engine::registry::{
    Construction, EngineInfo, Family, OptionInfo, OptionKind, OptionValues, Options, Takes,
};
use tamis_core::engine::shared::dedup::SubscriptionDedup;
use tamis_core::engine::shared::list_pool::{ListPool, ListRef, shrink};
use tamis_core::engine::{DynEngine, Engine, Scratch, SubId};
use tamis_core::event::Event;
use tamis_core::expr::{Limits, Normal};

/// Engines that match conjunctions without an error.
const CONJUNCTIVE: &[&str] =
    &["pst_bloom", "pst_hash", "op_index", "be_star_tree", "be_tree", "gem_tree", "k_index", "propagation"];

/// Its entry in the registry.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "translation",
    description: "Translation: expands expressions to DNF, for an engine that matches conjunctions",
    family: Family::Baseline,
    takes: Takes::Dnf,
    exact: true,
    options: &[
        OptionInfo {
            name: "engine",
            description: "engine that matches the conjunctions, with its default options",
            kind: OptionKind::Choice { default: "pst_bloom", words: CONJUNCTIVE },
        },
        OptionInfo {
            name: "max_dnf",
            description: "maximum conjunctions of an expression; larger ones are refused",
            kind: OptionKind::WholeNumber { default: 1_000, range: 1..=1 << 20 },
        },
    ],
    construction: Construction::InPlace(|options, limits| Box::new(Translation::new(options, limits))),
};

/// What is known of a translated expression.
#[derive(Clone, Copy, Debug, Default)]
struct Translated {
    /// The numbers of its conjunctions in the inner engine.
    conjunctions: ListRef,
    /// Distinct predicates before the translation.
    predicates_before: u32,
    /// Predicates of all conjunctions.
    predicates_after: u32,
    /// Whether the number is in use.
    is_used: bool,
}

/// See the module's head.
struct Translation {
    inner: Box<dyn DynEngine>,
    /// By subscription.
    translated: Vec<Translated>,
    /// The items of [`Translated::conjunctions`].
    numbers: ListPool<u32, 1>,
    /// By number of the inner engine: the subscription; [`UNUSED`] for free numbers.
    owners: Vec<u32>,
    /// Free numbers of the inner engine.
    free: Vec<u32>,
    max_dnf: usize,
}

const UNUSED: u32 = u32::MAX;

/// The buffers of matching.
#[derive(Default)]
struct TranslationScratch {
    /// That of the inner engine; made for the first event.
    inner: Option<Scratch>,
    /// Matching conjunctions.
    matches: Vec<SubId>,
    /// Expressions reported for this event.
    reported: SubscriptionDedup,
}

impl Translation {
    fn new(options: &OptionValues, limits: &Limits) -> Translation {
        let name = options.choice("engine");
        let inner = crate::ALL.find(name).and_then(|info| info.create(&Options::new(), limits));
        let Ok(inner) = inner else {
            unreachable!("{name} is an engine of the registry, and its defaults are accepted")
        };
        Translation {
            inner,
            translated: Vec::new(),
            numbers: ListPool::default(),
            owners: Vec::new(),
            free: Vec::new(),
            max_dnf: options.whole_number("max_dnf"),
        }
    }

    fn number_for(&mut self, id: SubId) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.owners[number as usize] = id.0;
                number
            }
            None => {
                self.owners.push(id.0);
                self.owners.len() as u32 - 1
            }
        }
    }

    fn free_number(&mut self, number: u32) {
        self.owners[number as usize] = UNUSED;
        self.free.push(number);
    }

    fn used(&self) -> impl Iterator<Item = &Translated> {
        self.translated.iter().filter(|translated| translated.is_used)
    }
}

impl Engine for Translation {
    type Scratch = TranslationScratch;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        let dnf = expression.to_dnf(self.max_dnf)?;
        let predicates_before = expression.predicates().len() as u32;
        let mut numbers = Vec::with_capacity(dnf.len());
        let mut predicates_after = 0;
        for conjunction in dnf {
            predicates_after += conjunction.len() as u32;
            let number = self.number_for(id);
            if let Err(error) = self.inner.insert(SubId(number), &Normal::of_conjunction(conjunction)) {
                self.free_number(number);
                for number in numbers {
                    self.inner.remove(SubId(number));
                    self.free_number(number);
                }
                return Err(error);
            }
            numbers.push(number);
        }
        let mut conjunctions = ListRef::EMPTY;
        self.numbers.extend(&mut conjunctions, &numbers);
        if self.translated.len() <= id.index() {
            self.translated.resize(id.index() + 1, Translated::default());
        }
        self.translated[id.index()] =
            Translated { conjunctions, predicates_before, predicates_after, is_used: true };
        Ok(())
    }

    fn remove(&mut self, id: SubId) {
        let removed = std::mem::take(&mut self.translated[id.index()]).conjunctions;
        for at in 0..removed.len() {
            let number = self.numbers.get(removed)[at];
            self.inner.remove(SubId(number));
            self.free_number(number);
        }
        self.numbers.release(removed);
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut TranslationScratch, matches: &mut Vec<SubId>) {
        let TranslationScratch { inner, matches: conjunctions, reported } = scratch;
        let inner = inner.get_or_insert_with(|| self.inner.scratch());
        conjunctions.clear();
        self.inner.match_event(event, inner, conjunctions);
        reported.begin_event();
        for number in conjunctions {
            let owner = SubId(self.owners[number.index()]);
            if reported.insert(owner) {
                matches.push(owner);
            }
        }
    }

    fn observe(&mut self, event: &Event<'_>) {
        self.inner.observe(event);
    }

    fn adapt(&mut self) {
        self.inner.adapt();
    }

    fn defragment(&mut self) {
        self.inner.defragment();
        shrink(&mut self.translated);
        shrink(&mut self.owners);
        self.numbers.defragment(self.translated.iter_mut().map(|translated| &mut translated.conjunctions));
    }

    fn validate(&self) -> Result<(), String> {
        self.inner.validate()?;
        let mut owned = 0;
        for (id, translated) in self.translated.iter().enumerate() {
            let numbers = self.numbers.get(translated.conjunctions);
            owned += numbers.len();
            if let Some(number) = numbers.iter().find(|number| self.owners[**number as usize] != id as u32) {
                return Err(format!("translation: conjunction {number} is not owned by subscription {id}"));
            }
        }
        if owned + self.free.len() != self.owners.len() {
            return Err(format!("translation: {owned} of {} conjunctions have an owner", self.owners.len()));
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.inner.memory()
            + self.translated.capacity() * size_of::<Translated>()
            + self.numbers.memory()
            + (self.owners.capacity() + self.free.capacity()) * size_of::<u32>()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let sum = |count: fn(&Translated) -> u64| self.used().map(count).sum::<u64>();
        let mut stats = vec![
            ("expressions", self.used().count() as u64),
            ("translated_conjunctions", sum(|translated| translated.conjunctions.len() as u64)),
            ("predicates_before", sum(|translated| translated.predicates_before.into())),
            ("predicates_after", sum(|translated| translated.predicates_after.into())),
            (
                "largest_translation",
                self.used().map(|translated| translated.conjunctions.len()).max().unwrap_or(0) as u64,
            ),
        ];
        stats.extend(self.inner.stats());
        stats
    }
}
