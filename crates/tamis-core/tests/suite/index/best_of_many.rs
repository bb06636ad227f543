//! Top-k is sorting all matches and cutting, with the lists long enough that ranking stops early: random weights, ties, zeros,
//! attribute weights, removals, replacements, several segments, loaded files, groups.
//!
//! `TAMIS_TOP_K_EVENTS` sets the number of events in all; the default is quick.

use super::top_k::{slice, sort_all};
use std::collections::HashMap;
use std::num::NonZeroUsize;
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::engine::registry::{OptionValue, Options, Registry};
use tamis_core::event::{JsonReader, Rows};
use tamis_core::expr::{Expr, Limits, Missing, parse};
use tamis_core::index::{EventWeights, Groups, Id, Index, LoadOptions, Settings, TopK, Weighting};

const RULES: usize = 1_200;
const ROUNDS: usize = 3;

/// Where the weights of predicates come from.
#[derive(Clone, Copy, Debug)]
enum Weights {
    /// All are 1: most scores are ties.
    Default,
    /// Few values, 0 among them.
    Few,
    /// Nearly all sums differ.
    Random,
}

fn events_in_all() -> usize {
    std::env::var("TAMIS_TOP_K_EVENTS").map_or(480, |events| events.parse().expect("a number of events"))
}

fn predicate(draw: &mut Draw, weights: Weights) -> String {
    let (attribute, value) = (["a", "b", "c", "d", "e"][draw.below(5)], draw.below(6));
    let test = match draw.below(8) {
        0..=2 => format!("{attribute} = {value}"),
        3 => format!("{attribute} <= {value}"),
        4 => format!("{attribute} between {value} and {}", value + 2),
        5 => format!("{attribute} in ({value}, {}, {})", value + 2, value + 4),
        6 => format!("any(tags) = 't{}'", draw.below(3)),
        _ => format!("{attribute} != {value}"),
    };
    match weights {
        Weights::Default => test,
        Weights::Few => format!("{test} ^ {}", ["0", "0.25", "1", "3.5"][draw.below(4)]),
        Weights::Random => format!("{test} ^ {}.{}", draw.below(9), draw.below(1_000_000)),
    }
}

fn rule(draw: &mut Draw, weights: Weights) -> String {
    let (many, form) = (1 + draw.below(3), draw.below(12));
    let parts: Vec<String> = (0..many).map(|_| predicate(draw, weights)).collect();
    let rest = [predicate(draw, weights), predicate(draw, weights)];
    match form {
        0..=6 => parts.join(" and "),
        7 => parts.join(" or "),
        8 => format!("({}) and not ({} and {})", parts.join(" or "), rest[0], rest[1]),
        9 => format!("{} xor ({})", rest[0], parts.join(" and ")),
        10 => format!("({} or {}) and {}", rest[0], rest[1], parts.join(" and ")),
        _ => ["true", "a = 1 or true", "a < 0 and a > 3"][draw.below(3)].into(),
    }
}

/// An index beside what it should hold, in order of insertion.
struct Ranked {
    index: Index,
    model: Vec<(Id, Expr)>,
}

impl Ranked {
    fn new(engine: &str, missing: Missing) -> Ranked {
        let small =
            [("recent", 16), ("fanout", 2)].map(|(name, value)| (name.into(), OptionValue::Int(value)));
        let options: Options =
            if engine == "compiled" { small.into_iter().collect() } else { Options::new() };
        let settings = Settings { engine: engine.into(), missing, options, ..Settings::default() };
        Ranked { index: Index::new(settings).expect("an index"), model: Vec::new() }
    }

    fn change(&mut self, draw: &mut Draw, weights: Weights, round: usize) {
        let parsed = |text: &str| parse(text, &Limits::default()).expect("an expression");
        let batch: Vec<(Id, String)> = (0..RULES / ROUNDS)
            .map(|n| (Id::from((round * RULES + n) as i64), rule(draw, weights)))
            .collect();
        // A part at once, which becomes a large segment, the rest one by one.
        let (many, few) = batch.split_at(batch.len() * 3 / 4);
        self.index.add_many(many.iter().map(|(id, text)| (id.clone(), text.as_str().into()))).expect("added");
        for (id, text) in few {
            self.index.add(id.clone(), text.as_str().into()).expect("added");
        }
        self.model.extend(batch.into_iter().map(|(id, text)| (id, parsed(&text))));
        for _ in 0..RULES / 20 {
            let (id, _) = self.model.remove(draw.below(self.model.len()));
            self.index.remove(&id).expect("present");
            let (at, text) = (draw.below(self.model.len()), rule(draw, weights));
            self.index.replace(&self.model[at].0, text.as_str().into()).expect("replaced");
            self.model[at].1 = parsed(&text);
        }
    }
}

fn event(draw: &mut Draw) -> String {
    let mut cells: Vec<String> = Vec::new();
    for attribute in ["a", "b", "c", "d", "e"] {
        if draw.below(6) > 0 {
            cells.push(format!("\"{attribute}\": {}", draw.below(8)));
        }
    }
    if draw.below(2) > 0 {
        cells.push(format!("\"tags\": [\"t{}\", \"t{}\"]", draw.below(3), draw.below(3)));
    }
    format!("{{{}}}", cells.join(", "))
}

fn attribute_weights(draw: &mut Draw) -> (HashMap<String, f64>, EventWeights) {
    let (mut named, mut weights) = (HashMap::new(), EventWeights::default());
    for attribute in ["a", "b", "tags"] {
        if draw.below(2) > 0 {
            let weight = [0.0, 0.1, 1.0, 2.5, 1e-320][draw.below(5)];
            weights.set(attribute, weight).expect("a weight");
            named.insert(attribute.to_owned(), weight);
        }
    }
    (named, weights)
}

/// The first `k` of a sorted list, at most `per_group` of each group.
fn cut(sorted: &[(Id, f64)], k: usize, groups: &Groups, per_group: usize) -> Vec<(Id, f64)> {
    let (mut counts, mut kept) = (HashMap::<Id, usize>::new(), Vec::new());
    for (id, score) in sorted {
        // An id without a group is one of its own.
        let full = groups.get(id).is_some_and(|group| {
            let count = counts.entry(group.clone()).or_default();
            *count += 1;
            *count > per_group
        });
        if kept.len() < k && !full {
            kept.push((id.clone(), *score));
        }
    }
    kept
}

fn check(ranked: &Ranked, index: &Index, draw: &mut Draw, events: usize, missing: Missing) -> usize {
    let (schema, mut rows, mut reader) = (index.schema(), Rows::default(), JsonReader::default());
    let texts: Vec<String> = (0..events).map(|_| event(draw)).collect();
    texts.iter().for_each(|text| reader.read(text.as_bytes(), &schema, &mut rows).expect("an event"));
    let divisor = 1 + draw.below(40) as i64;
    let grouped = ranked.model.iter().filter_map(|(id, _)| match id {
        Id::Int(id) if id % 7 > 0 => Some((Id::Int(*id), Id::Int(id % divisor))),
        _ => None,
    });
    let groups = Groups::new(grouped);
    let (named, weights): (Vec<_>, Vec<_>) = (0..events)
        .map(|_| if draw.below(2) > 0 { attribute_weights(draw) } else { Default::default() })
        .unzip();
    let mut matches = 0;
    for own_weights in [false, true] {
        let none = EventWeights::default();
        let weighting = if own_weights { Weighting::Each(&weights) } else { Weighting::Same(&none) };
        let sorted: Vec<Vec<(Id, f64)>> = (0..events)
            .map(|row| {
                let weight =
                    |name: &str| named[row].get(name).copied().filter(|_| own_weights).unwrap_or(1.0);
                let truth = |expr: &Expr| expr.evaluate_row(&schema, &rows, row, missing);
                sort_all(&ranked.model, truth, |condition| weight(&condition.attribute.name))
            })
            .collect();
        matches += sorted.iter().map(Vec::len).sum::<usize>();
        for k in [1, 2, 5, 20, 300, usize::MAX] {
            let found = index.top_k_rows(&schema, &rows, k, weighting, NonZeroUsize::new(1));
            let found = found.expect("a fresh schema").expect("scores");
            for (row, sorted) in sorted.iter().enumerate() {
                assert_eq!(slice(&found, row), sorted[..k.min(sorted.len())], "{k} of {}", texts[row]);
            }
            for per_group in [1, 3] {
                let limit = (&groups, NonZeroUsize::new(per_group).expect("not 0"));
                let top_k = TopK { k, groups: Some(limit) };
                let found = index.top_k_rows(&schema, &rows, top_k, weighting, NonZeroUsize::new(2));
                let found = found.expect("a fresh schema").expect("scores");
                for (row, sorted) in sorted.iter().enumerate() {
                    let expected = cut(sorted, k, &groups, per_group);
                    assert_eq!(slice(&found, row), expected, "{k}, {per_group} of a group: {}", texts[row]);
                }
            }
        }
    }
    matches
}

#[test]
fn the_best_are_the_first_of_all_sorted() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let engines: Vec<&str> = Registry::CORE.iter().map(|engine| engine.name).collect();
    let checks = engines.len() * 3 * ROUNDS;
    let events = events_in_all().div_ceil(checks).max(4);
    let mut matches = 0;
    for (at, engine) in engines.into_iter().enumerate() {
        for weights in [Weights::Default, Weights::Few, Weights::Random] {
            let missing = if at % 2 == 0 { Missing::Unknown } else { Missing::False };
            let (mut draw, mut ranked) = (Draw::new(seed), Ranked::new(engine, missing));
            for round in 0..ROUNDS {
                ranked.change(&mut draw, weights, round);
                ranked.index.validate().expect("sound");
                let loaded = Index::from_bytes(&ranked.index.to_bytes()).expect("what was written");
                let verified = LoadOptions { verify: true, ..LoadOptions::default() };
                let verified = Index::from_bytes_with(&ranked.index.to_bytes(), &verified).expect("rebuilt");
                if round == 1 {
                    ranked.index.compact().expect("compacted");
                }
                let third = events.div_ceil(3);
                for index in [&ranked.index, &loaded, &verified] {
                    matches += check(&ranked, index, &mut draw, third, missing);
                }
            }
        }
    }
    assert!(matches > 10_000, "{matches} matches are too few to be ranked");
}

#[test]
fn weights_below_zero_are_refused() {
    assert!(parse("a = 1 ^ -0.5", &Limits::default()).is_err());
    assert!(EventWeights::default().set("a", -0.5).is_err());
    assert!(EventWeights::default().set("a", f64::NAN).is_err());
    assert!(EventWeights::default().set("a", f64::INFINITY).is_err());
}
