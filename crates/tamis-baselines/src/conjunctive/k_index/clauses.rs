//! Which clauses is an expression made of, and how is each listed?

use super::keys::{Key, Keying, keying};
use rustc_hash::FxHashSet;
use tamis_core::AttrId;
use tamis_core::engine::shared::predicates::{PredId, Predicates};
use tamis_core::expr::{Node, Normal, Predicate, Root};

/// Predicates of which one must hold. In a conjunction, each clause has one.
pub(super) type Clause = Vec<PredId>;

/// Maximum clauses that are listed; an expression with more is only tested.
const MAX_LISTED: usize = 1_000;

/// In a word of [`ListedExpression::words`]: the last predicate of its clause.
const LAST: u32 = 1 << 31;

/// The predicates of an expression that is an AND of ORs of predicates, clause by clause; `None` if it is none.
pub(super) fn cnf(expression: &Normal) -> Option<Vec<Vec<&Predicate>>> {
    let Root::Node(root) = expression.root() else { return None };
    let nodes = expression.nodes();
    let clause = |node: Node| -> Option<Vec<&Predicate>> {
        let leaf = |node: Node| match node {
            Node::Leaf(at) => Some(&expression.predicates()[at as usize]),
            _ => None,
        };
        match node {
            Node::Leaf(_) => Some(vec![leaf(node)?]),
            Node::Or { .. } => {
                expression.children(node).iter().map(|child| leaf(nodes[*child as usize])).collect()
            }
            Node::And { .. } => None,
        }
    };
    match nodes[root as usize] {
        node @ Node::And { .. } => {
            expression.children(node).iter().map(|child| clause(nodes[*child as usize])).collect()
        }
        node => Some(vec![clause(node)?]),
    }
}

/// What is stored of an expression, and under which keys it is listed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ListedExpression {
    /// Predicates, clause by clause; [`LAST`] marks the end of a clause. Equal expressions have equal words.
    pub words: Vec<u32>,
    /// Number of words, at the beginning, of the clauses that the lists do not decide.
    pub tested: u32,
    /// The paper's K: number of clauses that hold only if one of their lists is found, no two by the same list.
    pub size: u16,
    /// Whether finding `size` lists does not mean that all clauses hold, so that counters decide.
    pub has_choices: bool,
    /// By clause: the counter's value before any list is found; empty without choices.
    pub counters: Vec<i32>,
    /// Keys with the clause, and whether the entry is IN.
    pub keys: Vec<(AttrId, Key, bool, u16)>,
}

/// What the lists decide of a clause.
struct ClauseKeys {
    clause: Clause,
    /// Whether every predicate is listed; otherwise none is.
    is_listed: bool,
    /// Whether it is tested at the end.
    is_tested: bool,
    /// Number of predicates that are NOT IN.
    not_in: i32,
    keys: Vec<(AttrId, Key, bool)>,
}

impl ClauseKeys {
    fn new(clause: Clause, predicates: &Predicates, domain: u32, max_keys: usize) -> ClauseKeys {
        let mut keys = Vec::new();
        let (mut is_tested, mut not_in) = (false, 0);
        for id in &clause {
            let predicate = predicates.get(*id);
            let (found, is_in) = match keying(predicate, domain, max_keys) {
                Keying::In(found) => (found, true),
                Keying::NotIn { keys, exact } => {
                    is_tested |= !exact;
                    not_in += 1;
                    (keys, false)
                }
                Keying::Unkeyed => return ClauseKeys::unlisted(clause),
            };
            keys.extend(found.into_iter().map(|key| (predicate.attribute, key, is_in)));
        }
        ClauseKeys { clause, is_listed: true, is_tested, not_in, keys }
    }

    fn unlisted(clause: Clause) -> ClauseKeys {
        ClauseKeys { clause, is_listed: false, is_tested: true, not_in: 0, keys: Vec::new() }
    }

    /// As in the paper: a clause whose counter is 0 after all lists does not hold. An IN entry makes it 1; a NOT IN entry
    /// adds 1 to a negative one, so that it is 0 once all NOT IN predicates are known not to hold.
    fn initial_counter(&self) -> i32 {
        if self.is_listed { -self.not_in } else { 1 }
    }
}

impl ListedExpression {
    /// Decides how clauses are listed.
    pub fn new(
        clauses: Vec<Clause>,
        predicates: &Predicates,
        domain: u32,
        max_keys: usize,
    ) -> ListedExpression {
        let too_many = clauses.len() > MAX_LISTED;
        let keys_of = |mut clause: Clause| {
            clause.sort_unstable();
            match too_many {
                true => ClauseKeys::unlisted(clause),
                false => ClauseKeys::new(clause, predicates, domain, max_keys),
            }
        };
        let mut clauses: Vec<ClauseKeys> = clauses.into_iter().map(keys_of).collect();
        clauses.sort_by(|a, b| b.is_tested.cmp(&a.is_tested).then_with(|| a.clause.cmp(&b.clause)));
        let mut listed = ListedExpression {
            words: Vec::new(),
            tested: 0,
            size: 0,
            has_choices: clauses.iter().any(|keys| keys.clause.len() > 1),
            counters: Vec::new(),
            keys: Vec::new(),
        };
        let mut counted: FxHashSet<AttrId> = FxHashSet::default();
        for (at, keys) in clauses.into_iter().enumerate() {
            let last = keys.clause.len() - 1;
            let word = |(at, id): (usize, &PredId)| id.0 | if at == last { LAST } else { 0 };
            listed.words.extend(keys.clause.iter().enumerate().map(word));
            if keys.is_tested {
                listed.tested = listed.words.len() as u32;
            }
            listed.counters.push(keys.initial_counter());
            // One list leads to all clauses with its attribute: these count once.
            if keys.is_listed && keys.not_in == 0 {
                let attributes = || keys.clause.iter().map(|id| predicates.get(*id).attribute);
                if attributes().all(|name| !counted.contains(&name)) {
                    counted.extend(attributes());
                    listed.size += 1;
                } else {
                    listed.has_choices = true;
                }
            }
            let entries = keys.keys.into_iter();
            listed.keys.extend(entries.map(|(name, key, is_in)| (name, key, is_in, at as u16)));
        }
        if !listed.has_choices {
            listed.counters.clear();
        }
        listed
    }
}

/// The clauses of stored words.
pub(super) fn clauses_of(words: &[u32]) -> Vec<Clause> {
    let split = words.split_inclusive(|word| word & LAST != 0);
    split.map(|clause| clause.iter().map(|word| PredId(word & !LAST)).collect()).collect()
}

/// Whether the clauses of stored words hold, where `holds` tells of each predicate.
#[inline]
pub(super) fn all_hold(words: &[u32], mut holds: impl FnMut(PredId) -> bool) -> bool {
    let mut one_holds = false;
    for word in words {
        one_holds = one_holds || holds(PredId(word & !LAST));
        if word & LAST != 0 {
            if !one_holds {
                return false;
            }
            one_holds = false;
        }
    }
    true
}
