//! Every kind of list and table, and every kind of predicate.

use super::workload::Workload;
use super::{BOTH, compare, statistic};
use tamis_conformance::event::GivenEvent;
use tamis_conformance::generate::{event, expression};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::expr::Missing;

#[test]
fn few_attributes_and_values() {
    for missing in BOTH {
        for (name, depth) in [("conjunctions", 0), ("nested", 3)] {
            let workload = Workload {
                attributes: 2,
                values: 12,
                direct: false,
                lists: depth == 0 && missing == Missing::Unknown,
                depth,
            };
            let [index, _] = workload.compare(name, 3_000, missing);
            assert!(statistic(&index, "lists") > 0);
            assert!(statistic(&index, "patterns") > 0 || !workload.lists);
            assert!(statistic(&index, "subexpressions") > 0 || depth == 0);
        }
    }
}

#[test]
fn many_values() {
    for missing in BOTH {
        let workload = Workload { attributes: 3, values: 1_000, direct: false, lists: false, depth: 1 };
        let [index, _] = workload.compare("many", 8_000, missing);
        for part in ["scans", "pairs", "lists"] {
            assert!(statistic(&index, part) > 0, "no {part}");
        }
    }
}

/// Many conjunctions are posted at one string and continue with a few other attributes.
#[test]
fn long_lists_are_grouped() {
    let mut draw = Draw::new(seed());
    let workload = Workload { attributes: 2, values: 40, direct: false, lists: true, depth: 0 };
    let text = |draw: &mut Draw| {
        let (low, more) = (draw.below(40), workload.predicate(draw));
        format!("s0 = 'w{}' and n0 between {low} and {} and {more}", draw.below(30), low + 15)
    };
    let texts: Vec<String> = (0..9_000).map(|_| text(&mut draw)).collect();
    let events: Vec<GivenEvent> = (0..600).map(|_| workload.event(&mut draw)).collect();
    for index in compare("grouped", &texts, &events, Missing::Unknown) {
        assert!(statistic(&index, "groups") > 0);
    }
}

#[test]
fn few_expressions_are_scanned() {
    for missing in BOTH {
        let workload = Workload { attributes: 6, values: 30, direct: false, lists: false, depth: 2 };
        let [index, _] = workload.compare("scanned", 150, missing);
        assert!(statistic(&index, "scans") > 0);
    }
}

#[test]
fn predicates_evaluated_directly() {
    for missing in BOTH {
        Workload { attributes: 2, values: 12, direct: true, lists: true, depth: 2 }
            .compare("direct", 2_000, missing);
        Workload { attributes: 40, values: 30, direct: true, lists: true, depth: 1 }
            .compare("apart", 2_000, missing);
    }
}

#[test]
fn everything_the_language_has() {
    for missing in BOTH {
        let mut draw = Draw::new(seed());
        let texts: Vec<String> = (0..1_500).map(|_| draw.one(&expression()).to_string()).collect();
        let events: Vec<GivenEvent> = (0..600).map(|_| draw.one(&event())).collect();
        compare("language", &texts, &events, missing);
    }
}
