//! The law of acceptance: a rule that was accepted can be printed, parsed back, merged, compacted, saved and loaded. At the
//! limits of the language, where printing is longest and literals are extreme.

use tamis_conformance::seeded::{Draw, seed};
use tamis_core::engine::registry::{OptionValue, Options, Registry};
use tamis_core::expr::{Expr, Limits, parse};
use tamis_core::index::{Id, Index, LoadOptions, Settings, Source};

/// No limit but those that protect the stack: what the library has written itself is read with these.
const WIDE: Limits = Limits {
    max_length: usize::MAX,
    max_depth: Limits::DEPTH_CAP,
    max_regex_size: usize::MAX,
    max_dnf: 1_000,
};

fn accepted(text: &str, limits: &Limits) -> Expr {
    parse(text, limits).unwrap_or_else(|error| unreachable!("{}: {error}", &text[..text.len().min(200)]))
}

/// Checks the law for rules that all must be accepted.
fn check(rules: &[String], limits: Limits) {
    let expressions: Vec<Expr> = rules.iter().map(|text| accepted(text, &limits)).collect();
    for expr in &expressions {
        let printed = expr.to_string();
        let again = accepted(&printed, &WIDE);
        assert_eq!(again, *expr, "{}", &printed[..printed.len().min(200)]);
        assert_eq!(again.to_string(), printed);
    }
    for engine in Registry::CORE.iter() {
        let mut options = Options::new();
        if engine.name == "compiled" {
            // Segments of two rules, merged over and over.
            options
                .extend([("recent", 2), ("fanout", 2)].map(|(name, n)| (name.into(), OptionValue::Int(n))));
        }
        let settings = Settings { engine: engine.name.into(), options, limits, ..Settings::default() };
        let index = Index::new(settings).expect("an index");
        let mut kept = Vec::new();
        for (n, (text, expr)) in (0i64..).zip(rules.iter().zip(&expressions)) {
            // An engine for conjunctions may refuse a rule as too complex.
            if index.add(Id::from(n), Source::from(text.as_str())).is_ok() {
                kept.push((Id::from(n), expr));
            }
        }
        assert!(kept.len() * 2 > rules.len(), "{}: most rules are taken", engine.name);
        index.compact().expect("compacted");
        let loaded = Index::from_bytes(&index.to_bytes()).expect("a saved index");
        loaded.compact().expect("compacted");
        let again = Index::from_bytes(&loaded.to_bytes()).expect("a saved index");
        for index in [&index, &loaded, &again] {
            index.validate().expect("a sound index");
            for (id, expr) in &kept {
                assert_eq!(index.expression(id).expect("a present id"), **expr, "{}", engine.name);
            }
        }
    }
}

/// Instants around both ends of the calendar, with offsets that move them across.
fn instants(draw: &mut Draw) -> Vec<String> {
    let mut texts: Vec<String> = [
        "DATE '0000-01-01'",
        "DATE '0001-01-01'",
        "DATE '9999-12-31'",
        "TIMESTAMP '-009999-01-01 00:00:00'",
        "TIMESTAMP '-009999-01-01 05:00:00+05:00'",
        "TIMESTAMP '0000-12-31 23:59:59.999999-05:00'",
        "TIMESTAMP '9999-12-31 23:59:59.999999'",
        "TIMESTAMP '9999-12-31 23:59:59.999999+05:00'",
        "TIMESTAMP '9999-12-31 18:59:59-05:00'",
        // Past the ends.
        "TIMESTAMP '9999-12-31 23:59:59-05:00'",
        "TIMESTAMP '-009999-01-01 00:00:00+05:00'",
    ]
    .map(str::to_owned)
    .into();
    for _ in 0..60 {
        let day = ["9999-12-31", "9999-12-30", "-009999-01-01", "-009999-01-02", "0001-01-01"][draw.below(5)];
        let (hour, minute, micros) = (draw.below(24), draw.below(60), draw.below(1_000_000));
        let sign = ["+", "-"][draw.below(2)];
        let (hours, minutes) = (draw.below(24), draw.below(60));
        texts.push(format!(
            "TIMESTAMP '{day} {hour:02}:{minute:02}:59.{micros:06}{sign}{hours:02}:{minutes:02}'"
        ));
    }
    texts
}

#[test]
fn extreme_instants() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let limits = Limits::default();
    let (mut rules, mut refused) = (Vec::new(), 0);
    for instant in instants(&mut Draw::new(seed)) {
        for rule in
            [format!("t > {instant}"), format!("{instant} = t and b = 1"), format!("t not in ({instant})")]
        {
            match parse(&rule, &limits) {
                Ok(_) => rules.push(rule),
                Err(error) => {
                    refused += 1;
                    assert_eq!(error.expected, "an instant from year -9999 to year 9999 in UTC", "{rule}");
                    assert!(instant.contains(&error.found), "{error}");
                }
            }
        }
    }
    assert!(rules.len() > 60 && refused >= 6, "{} accepted, {refused} refused", rules.len());
    check(&rules, limits);
}

#[test]
fn an_instant_past_the_calendar_is_refused_at_its_place() {
    let rule = "a = 1 and t < TIMESTAMP '9999-12-31 23:59:59-05:00'";
    let error = parse(rule, &Limits::default()).expect_err("the year 10000 in UTC");
    assert_eq!((error.line, error.column), (1, 25));
    assert_eq!(error.found, "'9999-12-31 23:59:59-05:00'");
}

#[test]
fn extreme_numbers_and_strings() {
    let mut rules: Vec<String> = Vec::new();
    for number in [
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808.0",
        "1.7976931348623157e308",
        "-1.7976931348623157e308",
        "5e-324",
        "2.2250738585072011e-308",
        "0.1",
        "-0.0",
        "1e0",
        "9007199254740993.0",
        "123456789012345678901234567890.5",
    ] {
        rules.push(format!("n = {number}"));
        rules.push(format!("n between {number} and 1e300 or n in ({number}, 7) ^ 1e300"));
        rules.push(format!("n < {number} ^ 5e-324"));
    }
    let strings =
        (0..0x250u32).chain([0x2028, 0xfeff, 0xffff, 0x1f600, 0x10_ffff]).filter_map(char::from_u32);
    for chars in strings.collect::<Vec<char>>().chunks(37) {
        let text: String = chars.iter().flat_map(|c| [*c, if *c == '\'' { '\'' } else { 'x' }]).collect();
        rules.push(format!("s = '{text}' and startswith(s, '{text}')"));
        let name: String = chars.iter().flat_map(|c| [*c, if *c == '"' { '"' } else { 'x' }]).collect();
        rules.push(format!("\"{name}\" >= 3 and any(\"{name}\") != 4"));
        let like = text.replace('\\', "\\\\").replace('%', "\\%");
        rules.push(format!("s like '%{like}%_' or s not ilike '{like}'"));
    }
    for name in ["date", "any", "contains", "a.and", "\"and\"", "\"a..b\"", "\".\"", "`a``b`", "\"a\"\"b\""] {
        rules.push(format!("{name} and not {name} = 1 and {name} is not null"));
    }
    check(&rules, Limits::default());
}

#[test]
fn texts_as_long_as_the_limit() {
    // Blanks are all that these texts do without, so the canonical ones are longer than the limit.
    let tight = |n: usize| (0..n).map(|n| format!("a={}", n % 10)).collect::<Vec<_>>().join("or ");
    for parts in [1, 2, 40] {
        let rule = tight(parts);
        let limits = Limits { max_length: rule.len(), ..Limits::default() };
        assert!(accepted(&rule, &limits).to_string().len() > limits.max_length);
        check(std::slice::from_ref(&rule), limits);
        // An expression has no other text than the canonical one.
        let index = Index::new(Settings { limits, ..Settings::default() }).expect("an index");
        let built = Source::Expr(accepted(&rule, &limits).into());
        let error = index.add(Id::from(1), built).expect_err("too long").to_string();
        assert!(error.contains("canonical text") && error.contains("max_length"), "{error}");
    }
}

#[test]
fn trees_as_deep_as_the_limit() {
    for max_depth in [1, 2, 3, 7, 60] {
        let limits = Limits { max_depth, ..Limits::default() };
        let mut rules = vec!["a".to_owned()];
        for connectives in [["and", "or"], ["xor", "xnor"], ["or", "xor"], ["xnor", "and"]] {
            let mut rule = "a".to_owned();
            for level in 1..max_depth {
                rule = format!("b = {level} {} ({rule})", connectives[level % 2]);
            }
            rules.push(rule);
        }
        rules.push(format!("{}a", "not ".repeat(max_depth - 1)));
        // Without parentheses, each change between XOR and XNOR is a level.
        rules.push((0..max_depth).map(|n| format!("a = {n}")).collect::<Vec<_>>().join(" xor ").replacen(
            "a = 1 xor",
            "a = 1 xnor",
            usize::from(max_depth > 4),
        ));
        rules.retain(|rule| parse(rule, &limits).is_ok());
        assert!(rules.len() >= if max_depth > 1 { 5 } else { 2 }, "{max_depth}: {rules:?}");
        assert!(rules.iter().any(|rule| accepted(rule, &limits).depth() == max_depth));
        check(&rules, limits);
    }
}

#[test]
fn regular_expressions_as_large_as_the_limit() {
    for max_regex_size in [2_000, 50_000] {
        let limits = Limits { max_regex_size, ..Limits::default() };
        let rules = [r"\w", "[a-z]", "(ab|c)", "é"].map(|part| {
            let rule = |times: usize| format!("s rlike '^{part}{{{times}}}$' and b = 1");
            let largest = (1..1_000).rev().find(|times| parse(&rule(*times), &limits).is_ok());
            rule(largest.unwrap_or(1))
        });
        let rules: Vec<String> = rules.into_iter().filter(|rule| parse(rule, &limits).is_ok()).collect();
        assert!(rules.len() >= 3, "{rules:?}");
        check(&rules, limits);
    }
}

/// A file is refused where it is loaded, not where its rules are merged.
#[test]
fn a_loaded_rule_is_within_the_limits_of_its_reader() {
    let tests: Vec<String> = (0..60).map(|n| format!("s rlike '[a-z]+x{n}'")).collect();
    let rule = tests.join(" or ");
    let index = Index::new(Settings::default()).expect("an index");
    index.add(Id::from(1), Source::from(rule.as_str())).expect("added");
    index.compact().expect("compacted");
    // Each regular expression is small enough for the reader, all together are not.
    let limits = Limits { max_regex_size: 10_000, ..Limits::default() };
    assert!(parse(&tests[0], &limits).is_ok() && parse(&rule, &limits).is_err());
    let options = LoadOptions { limits: Some(limits), ..LoadOptions::default() };
    let error = Index::from_bytes_with(&index.to_bytes(), &options).err().expect("refused");
    assert!(error.contains("max_regex_size"), "{error}");
}
