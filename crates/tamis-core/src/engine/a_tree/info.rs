//! The engine's entry in the registry, with its option table.

use super::ATree;
use crate::engine::registry::{Construction, EngineInfo, Family, OptionInfo, OptionKind, Takes};

const fn switch(name: &'static str, description: &'static str) -> OptionInfo {
    OptionInfo { name, description, kind: OptionKind::Switch { default: true } }
}

/// Its entry in the registry.
pub(in crate::engine) const INFO: EngineInfo = EngineInfo {
    name: "a_tree",
    description: "A-Tree: predicates and subexpressions shared by all expressions, matched from the bottom up",
    family: Family::Paper,
    takes: Takes::All,
    exact: true,
    options: &[
        switch("unique_ids", "equal subexpressions are one node"),
        switch("reorganize", "new nodes reuse existing ones as child nodes"),
        switch("self_adjust", "existing nodes reuse new ones as child nodes"),
        switch(
            "zero_suppression",
            "only satisfied nodes propagate to parents; if false, FALSE results do as well",
        ),
        switch("propagation_on_demand", "an AND is evaluated only when its access child is satisfied"),
        OptionInfo {
            name: "access",
            description: "choice of the access child",
            kind: OptionKind::Choice { default: "selective", words: &["selective", "random"] },
        },
        OptionInfo {
            name: "max_spaces",
            description: "maximum leaves that list a predicate when it is inserted; twice as many after later splits",
            kind: OptionKind::WholeNumber { default: 128, range: 0..=1 << 20 },
        },
    ],
    construction: Construction::InPlace(|options, _| Box::new(ATree::new(options))),
};
