//! k-index: inverted lists by the size of conjunctions and by attribute and value.
//!
//! Paper: S. Whang, C. Brower, J. Shanmugasundaram, S. Vassilvitskii, E. Vee, R. Yerneni and H. Garcia-Molina, Indexing
//! Boolean Expressions, PVLDB 2(1), 2009, sections 3 to 5.
//!
//! Idea: a conjunction of K IN predicates is listed under every attribute and value that one of them accepts. An event
//! has one list per attribute and value; a conjunction that matches is in K of them, and one of size K > lists cannot
//! match. Lists ascend by size and number, so all are read in step, and whole stretches are skipped (Conjunction). A value
//! that NOT IN excludes has an entry that disqualifies; conjunctions without IN are in the list Z, which every event reads.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `keys` | under which keys is a predicate listed, and which keys does a value have? |
//! | `clauses` | which clauses is an expression made of, and how is each listed? |
//! | `expressions` | which expressions are indexed, and which subscriptions have them? |
//! | `lists` | what is an entry, and where is the list of a key? |
//! | `conjunction_algorithm` | which expressions does an event satisfy? |
//! | `check` | do the lists agree with the expressions? |
//!
//! Invariants: an expression has one entry under every key of each of its listed clauses, and one in Z if its size is 0;
//! lists ascend; equal conjunctions are indexed once.
//!
//! Cost: a predicate has an entry of 8 bytes per value it accepts, up to `max_keys`; matching O(lists of the event for
//! each entry that is not skipped).
//!
//! Deviations from the paper:
//! - The domain of a range is the integers from 0 to `domain - 1`; numbers outside share three keys, whose candidates are
//!   tested (see `keys`). A range over times or texts, a pattern, a network, `any` and `all`, and a predicate with more
//!   than `max_keys` values are not listed and not counted: candidates are tested at the end.
//! - Missing attributes: in the paper NOT IN holds without the attribute, here it is UNKNOWN. So a conjunction with NOT IN
//!   is tested at the end, unless `missing="false"` gives NOT IN the paper's meaning.
//! - One list per key has all partitions, ordered by size, instead of one index per size: one look-up per value of an
//!   event instead of one per value and size. All partitions are visited in one pass, the smallest K first.
//! - `form="dnf"` is the paper's section on DNF: a conjunction is matched once and reports all subscriptions that have it.
//!   `form="cnf"` indexes an AND of ORs of predicates by clauses, as its section on CNF; any other expression is expanded
//!   to a DNF. K counts clauses with disjoint attributes only, since one list may satisfy several clauses.
//! - Lists are updated in place; the paper builds them offline. Ranking is not part of it (the paper's section 6).

mod check;
mod clauses;
mod conjunction_algorithm;
mod expressions;
mod keys;
mod lists;

use clauses::{Clause, ListedExpression, clauses_of, cnf};
use conjunction_algorithm::KScratch;
use expressions::Expressions;
use lists::{Posting, PostingLists};
use tamis_core::engine::registry::{
    Construction, EngineInfo, Family, OptionInfo, OptionKind, OptionValues, Takes,
};
use tamis_core::engine::shared::predicates::Predicates;
use tamis_core::engine::{Engine, SubId};
use tamis_core::event::Event;
use tamis_core::expr::{Limits, Normal, Predicate};
use tamis_core::{Error, Result};

/// Its entry in the registry.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "k_index",
    description: "k-index: inverted lists by conjunction size, attribute and value",
    family: Family::Baseline,
    takes: Takes::Dnf,
    exact: true,
    options: &[
        OptionInfo {
            name: "form",
            description: "index the conjunctions of a DNF, or the clauses of a CNF where an expression is one",
            kind: OptionKind::Choice { default: "dnf", words: &["dnf", "cnf"] },
        },
        OptionInfo {
            name: "domain",
            description: "number of integers, from 0 on, that ranges are enumerated over",
            kind: OptionKind::WholeNumber { default: 128, range: 1..=1 << 24 },
        },
        OptionInfo {
            name: "max_keys",
            description: "maximum values that list a predicate; one with more is tested at the end",
            kind: OptionKind::WholeNumber { default: 1 << 20, range: 0..=1 << 24 },
        },
    ],
    construction: Construction::InPlace(|options, limits| Box::new(KIndex::new(options, limits))),
};

/// See the module's head.
#[derive(Debug)]
struct KIndex {
    predicates: Predicates,
    expressions: Expressions,
    lists: PostingLists,
    /// Whether an AND of ORs is indexed by its clauses.
    takes_cnf: bool,
    /// Number of integers, from 0 on, with a key of their own.
    domain: u32,
    /// Maximum keys of a predicate.
    max_keys: usize,
    /// Maximum conjunctions of a subscription.
    max_dnf: usize,
}

impl KIndex {
    fn new(options: &OptionValues, limits: &Limits) -> KIndex {
        // The table bounds it.
        let domain = options.whole_number("domain") as u32;
        KIndex {
            predicates: Predicates::default(),
            expressions: Expressions::default(),
            lists: PostingLists::new(domain),
            takes_cnf: options.choice("form") == "cnf",
            domain,
            max_keys: options.whole_number("max_keys"),
            max_dnf: limits.max_dnf,
        }
    }

    /// The expressions that are indexed for a subscription, as clauses of predicates.
    fn indexed_form(&self, expression: &Normal) -> Result<Vec<Vec<Vec<Predicate>>>> {
        if self.takes_cnf
            && let Some(clauses) = cnf(expression)
        {
            return Ok(vec![
                clauses.into_iter().map(|clause| clause.into_iter().cloned().collect()).collect(),
            ]);
        }
        let conjunctions = expression.to_dnf(self.max_dnf)?.into_iter();
        Ok(conjunctions.map(|all| all.into_iter().map(|one| vec![one]).collect()).collect())
    }

    /// The number of an expression, which is indexed if it is not.
    fn index(&mut self, clauses: Vec<Vec<Predicate>>) -> u32 {
        let Self { predicates, .. } = self;
        let mut acquire = |clause: Vec<Predicate>| -> Clause {
            clause.into_iter().map(|predicate| predicates.acquire(predicate)).collect()
        };
        let clauses: Vec<Clause> = clauses.into_iter().map(&mut acquire).collect();
        let listed = ListedExpression::new(clauses, &self.predicates, self.domain, self.max_keys);
        if let Some(number) = self.expressions.find(&listed.words) {
            self.release(&listed.words);
            return number;
        }
        let number = self.expressions.add(&listed);
        self.change_lists(&listed, number, PostingLists::insert, PostingLists::insert_zero);
        number
    }

    /// Removes an expression that no subscription has any more.
    fn unindex(&mut self, number: u32) {
        let words = self.expressions.words(number).to_vec();
        let listed = ListedExpression::new(clauses_of(&words), &self.predicates, self.domain, self.max_keys);
        self.change_lists(&listed, number, PostingLists::remove, PostingLists::remove_zero);
        self.expressions.remove(number);
        self.release(&words);
    }

    fn change_lists(
        &mut self,
        listed: &ListedExpression,
        number: u32,
        change: fn(&mut PostingLists, tamis_core::AttrId, &keys::Key, Posting),
        change_zero: fn(&mut PostingLists, Posting),
    ) {
        if listed.size == 0 {
            change_zero(&mut self.lists, Posting::new(0, number, true, 0));
        }
        for (attribute, key, is_in, clause) in &listed.keys {
            change(&mut self.lists, *attribute, key, Posting::new(listed.size, number, *is_in, *clause));
        }
    }

    fn release(&mut self, words: &[u32]) {
        clauses_of(words).into_iter().flatten().for_each(|id| self.predicates.release(id));
    }
}

impl Engine for KIndex {
    type Scratch = KScratch;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        let indexed = self.indexed_form(expression)?;
        if self.expressions.len() + indexed.len() > Posting::MAX_EXPRESSIONS {
            return Err(Error::Expression("the engine is full: 2^31 conjunctions".into()));
        }
        for clauses in indexed {
            let number = self.index(clauses);
            self.expressions.link(number, id);
        }
        Ok(())
    }

    fn remove(&mut self, id: SubId) {
        while let Some((number, is_unused)) = self.expressions.unlink_last(id) {
            if is_unused {
                self.unindex(number);
            }
        }
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut KScratch, matches: &mut Vec<SubId>) {
        self.conjunction_algorithm(event, scratch, matches);
    }

    fn defragment(&mut self) {
        self.predicates.defragment();
        self.expressions.defragment();
        self.lists.defragment();
    }

    fn validate(&self) -> Result<(), String> {
        self.check()
    }

    fn memory(&self) -> usize {
        self.predicates.memory() + self.expressions.memory() + self.lists.memory()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let (keys, postings) =
            self.lists.iter().fold((0, 0), |(keys, postings), list| (keys + 1, postings + list.len()));
        let largest = self.expressions.all().map(|number| self.expressions.get(number).size).max();
        vec![
            ("expressions", self.expressions.len() as u64),
            ("distinct_predicates", self.predicates.len() as u64),
            ("keys", keys),
            ("postings", postings as u64),
            ("partitions", largest.map_or(0, |size| u64::from(size) + 1)),
            ("size_zero", self.lists.get(self.lists.zero()).len() as u64),
        ]
    }
}
