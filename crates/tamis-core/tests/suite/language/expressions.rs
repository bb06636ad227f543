//! Laws of the language: printing and parsing, three-valued logic, normalization, disjunctive normal form.

use proptest::prelude::*;
use tamis_conformance::event::{GivenEvent, truth, write_row};
use tamis_conformance::generate::{condition, event, expression};
use tamis_core::event::{EventSlots, Rows};
use tamis_core::expr::{
    Connective, Expr, Limits, Missing, Node, Normal, Normalizer, Over, Root, Truth, parse,
};
use tamis_core::index::{Id, Index, Settings, Source};
use tamis_core::{Error, Schema};

const BOTH: [Missing; 2] = [Missing::Unknown, Missing::False];

fn not(expr: &Expr) -> Expr {
    Expr::Not(Box::new(expr.clone()))
}

fn join(connective: Connective, operands: &[&Expr]) -> Expr {
    Expr::join(connective, operands.iter().map(|&operand| operand.clone()).collect())
}

/// Evaluates a normalized expression by its definition.
fn holds(normal: &Normal, event: &tamis_core::event::Event<'_>) -> bool {
    let mut held: Vec<bool> = Vec::new();
    for &node in normal.nodes() {
        let mut children = normal.children(node).iter().map(|&child| held[child as usize]);
        let value = match node {
            Node::Leaf(predicate) => normal.predicates()[predicate as usize].holds(event),
            Node::And { .. } => children.all(|held| held),
            Node::Or { .. } => children.any(|held| held),
        };
        held.push(value);
    }
    match normal.root() {
        Root::Never => false,
        Root::Always => true,
        Root::Node(root) => held[root as usize],
    }
}

/// The invariants of [`Normal`]: children precede parents, every node is reachable, connectives alternate and have at
/// least two children.
fn check_form(normal: &Normal) {
    let nodes = normal.nodes();
    let mut parents = vec![0; nodes.len()];
    for (at, &node) in nodes.iter().enumerate() {
        let children = normal.children(node);
        assert!(matches!(node, Node::Leaf(_)) || children.len() >= 2, "a connective of {}", children.len());
        for &child in children {
            assert!((child as usize) < at, "a child after its parent");
            parents[child as usize] += 1;
            let same = std::mem::discriminant(&nodes[child as usize]) == std::mem::discriminant(&node);
            assert!(!same, "a connective directly inside the same connective");
        }
    }
    if let Root::Node(root) = normal.root() {
        parents[root as usize] += 1;
    } else {
        assert!(nodes.is_empty() && normal.predicates().is_empty(), "a constant has no nodes");
    }
    assert!(parents.iter().all(|&count| count > 0), "an unreachable node");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn printed_text_parses_back(expr in expression()) {
        let text = expr.to_string();
        let parsed = parse(&text, &Limits::default()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&parsed, &expr, "{}", text);
        prop_assert_eq!(parsed.to_string(), text);
    }

    #[test]
    fn rendered_predicates_accept_the_same_values(expr in expression(), events in prop::collection::vec(event(), 4)) {
        for missing in BOTH {
            let mut schema = Schema::default();
            let mut normalizer = Normalizer::default();
            for predicate in normalizer.normalize(&expr, &mut schema, missing).predicates() {
                let text = predicate.text(schema.name(predicate.attribute));
                // The language cannot express some predicates on elements of a list.
                if predicate.over != Over::Value && text.contains("): ") {
                    prop_assert!(predicate.to_expr("x").is_none());
                    continue;
                }
                let parsed = parse(&text, &Limits::default())
                    .map_err(|error| TestCaseError::fail(error.to_string()))?;
                for event in &events {
                    let mut rows = Rows::default();
                    write_row(event, &schema, &mut rows);
                    let held = predicate.holds(&EventSlots::default().load(&rows, 0, schema.len()));
                    prop_assert_eq!(truth(&parsed, event, Missing::Unknown) == Truth::True, held, "{}", text);
                }
            }
        }
    }

    #[test]
    fn normalization_preserves_truth(expr in expression(), event in event()) {
        for missing in BOTH {
            let mut schema = Schema::default();
            let mut normalizer = Normalizer::default();
            let normal = normalizer.normalize(&expr, &mut schema, missing);
            check_form(normal);
            let mut rows = Rows::default();
            write_row(&event, &schema, &mut rows);
            let mut slots = EventSlots::default();
            let held = holds(normal, &slots.load(&rows, 0, schema.len()));
            prop_assert_eq!(held, truth(&expr, &event, missing) == Truth::True, "{} ({:?})", expr, missing);
        }
    }

    #[test]
    fn a_reused_normalizer_has_no_state(first in expression(), second in expression()) {
        let (mut schema, mut fresh_schema) = (Schema::default(), Schema::default());
        for expr in [&first, &second] {
            expr.for_each_condition(false, &mut |condition, _| {
                schema.intern(&condition.attribute.name);
                fresh_schema.intern(&condition.attribute.name);
            });
        }
        let mut used = Normalizer::default();
        used.normalize(&first, &mut schema, Missing::Unknown);
        let again = format!("{:?}", used.normalize(&second, &mut schema, Missing::Unknown));
        let mut fresh = Normalizer::default();
        let once = format!("{:?}", fresh.normalize(&second, &mut fresh_schema, Missing::Unknown));
        prop_assert_eq!(again, once);
    }

    #[test]
    fn disjunctive_normal_form_preserves_truth(expr in expression(), events in prop::collection::vec(event(), 3)) {
        const MAX: usize = 200;
        let mut schema = Schema::default();
        let mut normalizer = Normalizer::default();
        let normal = normalizer.normalize(&expr, &mut schema, Missing::Unknown);
        let conjunctions = match normal.to_dnf(MAX) {
            Ok(conjunctions) => conjunctions,
            Err(Error::TooComplex { size, limit }) => {
                prop_assert!(size > MAX as u64 && limit == MAX as u64 && size == normal.dnf_size());
                return Ok(());
            }
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        };
        prop_assert!(conjunctions.len() as u64 <= normal.dnf_size());
        prop_assert!(normal.root() != Root::Never || conjunctions.is_empty());
        for event in &events {
            let mut rows = Rows::default();
            write_row(event, &schema, &mut rows);
            let mut slots = EventSlots::default();
            let event_row = slots.load(&rows, 0, schema.len());
            let held = conjunctions.iter().any(|all| all.iter().all(|predicate| predicate.holds(&event_row)));
            prop_assert_eq!(held, truth(&expr, event, Missing::Unknown) == Truth::True, "{}", &expr);
        }
    }

    #[test]
    fn laws_of_kleene_logic(a in expression(), b in expression(), c in expression(), event in event()) {
        use Connective::{And, Or, Xnor, Xor};
        let laws = [
            (not(&join(And, &[&a, &b])), join(Or, &[&not(&a), &not(&b)])),
            (not(&join(Or, &[&a, &b])), join(And, &[&not(&a), &not(&b)])),
            (not(&not(&a)), a.clone()),
            (join(And, &[&a, &join(Or, &[&b, &c])]), join(Or, &[&join(And, &[&a, &b]), &join(And, &[&a, &c])])),
            (join(Or, &[&a, &join(And, &[&b, &c])]), join(And, &[&join(Or, &[&a, &b]), &join(Or, &[&a, &c])])),
            (join(Or, &[&a, &join(And, &[&a, &b])]), a.clone()),
            (join(And, &[&a, &b]), join(And, &[&b, &a])),
            (join(Xor, &[&a, &b]), join(Xor, &[&b, &a])),
            (not(&join(Xor, &[&a, &b])), join(Xnor, &[&a, &b])),
            (join(Xor, &[&not(&a), &b]), join(Xnor, &[&a, &b])),
            (join(Xor, &[&a, &b]), join(Or, &[&join(And, &[&a, &not(&b)]), &join(And, &[&not(&a), &b])])),
            (Expr::Xor(vec![Expr::Xor(vec![a.clone(), b.clone()]), c.clone()]),
             Expr::Xor(vec![a.clone(), Expr::Xor(vec![b.clone(), c.clone()])])),
            (Expr::Xnor(vec![Expr::Xnor(vec![a.clone(), b.clone()]), c.clone()]),
             Expr::Xnor(vec![a.clone(), Expr::Xnor(vec![b.clone(), c.clone()])])),
            (join(And, &[&a, &Expr::Const(true)]), a.clone()),
            (join(Or, &[&a, &Expr::Const(false)]), a.clone()),
        ];
        for missing in BOTH {
            for (left, right) in &laws {
                prop_assert_eq!(truth(left, &event, missing), truth(right, &event, missing), "{} = {}", left, right);
            }
        }
    }

    #[test]
    fn a_predicate_and_its_negation_have_opposite_truths(condition in condition(), event in event()) {
        let positive = Expr::Condition(condition);
        for missing in BOTH {
            let pair = (truth(&positive, &event, missing), truth(&not(&positive), &event, missing));
            let allowed = [(Truth::True, Truth::False), (Truth::False, Truth::True), (Truth::Unknown, Truth::Unknown)];
            prop_assert!(allowed.contains(&pair), "{}: {:?}", positive, pair);
        }
    }

    /// Closed and open world differ only where an attribute or an element is missing.
    #[test]
    fn worlds_agree_on_complete_events(expr in expression(), event in event()) {
        use tamis_conformance::event::Given;
        let absent = |value: &Given| match value {
            Given::Missing => true,
            Given::Float(value) => value.is_nan(),
            _ => false,
        };
        let complete = event.iter().all(|(_, value)| match value {
            Given::List(elements) => !elements.iter().any(absent),
            value => !absent(value),
        });
        if complete {
            prop_assert_eq!(truth(&expr, &event, Missing::Unknown), truth(&expr, &event, Missing::False));
        }
    }
}

fn normal_nodes(text: &str) -> usize {
    let expr = parse(text, &Limits::default()).expect("an expression");
    Normalizer::default().normalize(&expr, &mut Schema::default(), Missing::Unknown).nodes().len()
}

fn flags(true_ones: impl IntoIterator<Item = usize>, of: usize) -> GivenEvent {
    use tamis_conformance::event::Given;
    let set: Vec<usize> = true_ones.into_iter().collect();
    (0..of).map(|n| (format!("f{n}"), Given::Bool(set.contains(&n)))).collect()
}

/// Matches through an index, as users do.
fn matches(text: &str, event: &GivenEvent) -> bool {
    let index = Index::new(Settings::default()).expect("an index");
    index.add(Id::from(0), text.into()).expect("added");
    let schema = index.schema();
    let mut rows = Rows::default();
    write_row(event, &schema, &mut rows);
    !index.match_row(&schema, &rows, 0).expect("a fresh schema").is_empty()
}

#[test]
fn xor_chains_normalize_to_linear_size() {
    for word in ["xor", "xnor"] {
        let chain = |n: usize| (0..n).map(|i| format!("f{i}")).collect::<Vec<_>>().join(&format!(" {word} "));
        let (small, large) = (normal_nodes(&chain(500)), normal_nodes(&chain(1_000)));
        assert!(large <= 8 * 1_000 && large <= small * 2 + 20, "{word}: {small} nodes, then {large}");
        for count in [0, 1, 2, 999, 1_000] {
            // XOR holds for an odd number of true operands, XNOR for an even number of false ones.
            let expected = if word == "xor" { count % 2 == 1 } else { (1_000 - count) % 2 == 0 };
            assert_eq!(matches(&chain(1_000), &flags(0..count, 1_000)), expected, "{count} of 1000 {word}");
        }
    }
}

#[test]
fn nested_xor_normalizes_to_linear_size() {
    let nested = |depth: usize| {
        // XOR, XNOR and OR alternate, so that no level is flattened into the next.
        (1..depth).fold("f0".to_owned(), |inner, n| match n % 3 {
            0 => format!("f{n} xor ({inner})"),
            1 => format!("f{n} xnor ({inner})"),
            _ => format!("f{n} or ({inner})"),
        })
    };
    let (small, large) = (normal_nodes(&nested(75)), normal_nodes(&nested(150)));
    assert!(large <= 10 * 150 && large <= small * 2 + 20, "{small} nodes, then {large}");
    let text = nested(150);
    let expr = parse(&text, &Limits::default()).expect("within max_depth");
    for step in [1, 2, 3, 7] {
        let event = flags((0..150).step_by(step), 150);
        assert_eq!(
            matches(&text, &event),
            truth(&expr, &event, Missing::Unknown) == Truth::True,
            "every {step}"
        );
    }
}

/// 20,000 operands of one connective: neither quadratic time nor a stack frame per operand.
#[test]
fn wide_expressions_are_added_and_matched() {
    let joined = |connective: &str, part: &dyn Fn(usize) -> String| {
        (0..20_000).map(part).collect::<Vec<_>>().join(connective)
    };
    let texts = [
        ("one attribute", joined(" or ", &|n| format!("a = {n}"))),
        ("unequal", joined(" and ", &|n| format!("a != {n}"))),
        ("patterns", joined(" or ", &|n| format!("a like '%{n}'"))),
        ("quantified", joined(" or ", &|n| format!("any(a) = {n}"))),
        ("many attributes", joined(" and ", &|n| format!("a{n} = {n}"))),
        ("conjunctions", joined(" or ", &|n| format!("(a and b={n})"))),
        ("xor", joined(" xor ", &|n| format!("a{n} > {n}"))),
        ("xnor", joined(" xnor ", &|n| format!("(a{n} and b)"))),
        ("in", format!("a in ({})", joined(", ", &|n| n.to_string()))),
    ];
    for (name, text) in texts {
        let index = Index::new(Settings::default()).expect("an index");
        index.add(Id::from(0), text.as_str().into()).unwrap_or_else(|error| unreachable!("{name}: {error}"));
        index.match_json(br#"{"a": 5, "b": 7, "a1": 5}"#).expect("an event");
        index.validate().expect("a valid index");
    }
}

#[test]
fn sizes_of_disjunctive_normal_forms_saturate() {
    let text = (0..80).map(|n| format!("(a{n} or b{n})")).collect::<Vec<_>>().join(" and ");
    let expr = parse(&text, &Limits::default()).expect("an expression");
    let mut normalizer = Normalizer::default();
    let normal = normalizer.normalize(&expr, &mut Schema::default(), Missing::Unknown);
    assert_eq!(normal.dnf_size(), u64::MAX);
    assert!(matches!(normal.to_dnf(1_000), Err(Error::TooComplex { size: u64::MAX, limit: 1_000 })));
    let exact = parse("(a or b) and (c or d) and e", &Limits::default()).expect("an expression");
    let normal = normalizer.normalize(&exact, &mut Schema::default(), Missing::Unknown);
    assert_eq!(normal.dnf_size(), 4);
    assert_eq!(normal.to_dnf(4).expect("at the bound").len(), 4);
    assert!(normal.to_dnf(3).is_err());
}

/// The index returns expressions built in code unchanged, or refuses them by the same limits as text.
#[test]
fn built_expressions_obey_the_limits() {
    let limits = Limits { max_length: 100, max_depth: 5, ..Limits::default() };
    let index = Index::new(Settings { limits, ..Settings::default() }).expect("an index");
    let built = |text: &str| Source::Expr(parse(text, &Limits::default()).expect("an expression").into());
    index.add(Id::from(1), built("a = 1 and b = 2")).expect("small");
    assert_eq!(index.text(&Id::from(1)).expect("present"), "a = 1 AND b = 2");
    let deep = index.add(Id::from(2), built("not not not not not a"));
    assert!(matches!(deep, Err(Error::Expression(message)) if message.contains("max_depth")));
    // 96 bytes as written, more than 100 as printed.
    let long = (0..16).map(|_| "abc<1").collect::<Vec<_>>().join("or ");
    let long = index.add(Id::from(3), built(&long.replace("or", " or")));
    assert!(matches!(long, Err(Error::Parse(error)) if error.expected.contains("max_length")));
    assert_eq!(index.len(), 1);
}

#[test]
fn disjunctive_normal_forms_drop_contradictions_and_merge_attributes() {
    let shape = |text: &str| {
        let expr = parse(text, &Limits::default()).expect("an expression");
        let mut normalizer = Normalizer::default();
        let normal = normalizer.normalize(&expr, &mut Schema::default(), Missing::Unknown);
        let conjunctions = normal.to_dnf(100).expect("few conjunctions");
        conjunctions.iter().map(Vec::len).collect::<Vec<_>>()
    };
    assert_eq!(
        shape("(a = 1 or b = 2) and (a = 3 or b = 4)"),
        [2, 2],
        "a = 1 and a = 3 is a contradiction, as is b = 2 and b = 4"
    );
    assert_eq!(shape("(a > 1 or b = 2) and (a < 9 or b = 4)"), [1, 2, 2], "a > 1 and a < 9 is one range");
    assert_eq!(
        shape("(any(a) = 1 or b) and (any(a) = 3 or b)"),
        [2, 2, 2, 1],
        "different elements may satisfy the two"
    );
}
