//! Hostile text: a million random inputs, and the largest ones. No input may panic or overflow the stack, and every
//! error has a position in the text.

use std::time::Instant;
use tamis_conformance::seeded::seed;
use tamis_core::event::Rows;
use tamis_core::expr::{Expr, Limits, Missing, Normalizer, parse};
use tamis_core::index::{Id, Index, LoadOptions, Settings};
use tamis_core::{ParseError, Schema};

/// A generator with little state and few operations (SplitMix64): a million inputs need a hundred million draws.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }
}

/// Number of inputs, a third from each source: bytes, tokens, mutations.
const INPUTS: usize = 1_000_000;

const TOKENS: &[&str] = &[
    "a",
    "b.c",
    "\"q n\"",
    "`t`",
    "größe",
    "and",
    "OR",
    "not",
    "XOR",
    "xnor",
    "in",
    "between",
    "is",
    "null",
    "like",
    "ilike",
    "rlike",
    "true",
    "FALSE",
    "(",
    ")",
    "((",
    "))",
    ",",
    ".",
    "^",
    "=",
    "==",
    "!=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "!",
    "&&",
    "||",
    "1",
    "-2",
    "+3.5",
    "1e9",
    "1e999",
    ".5",
    "99999999999999999999",
    "'x'",
    "''",
    "'it''s'",
    "'%a_\\'",
    "'(a|b)*'",
    "'['",
    "'10.0.0.0/8'",
    "date",
    "DATE '2026-11-15'",
    "timestamp '2026-11-15 10:00:00'",
    "'2026-02-30'",
    "any(",
    "all(t)",
    "startswith(",
    "contains(s,'a')",
    "in_cidr(ip,",
    "in_cidr",
    "\n",
    "\t",
    "'",
    "\"",
    "`",
    "é",
    "😀",
    "\0",
    "--",
    ";",
    "&",
    "|",
    "~",
    "#",
    "\\",
    "0x1",
    "a.",
    "..",
    "^0.5",
    "^ -1",
];

const VALID: &[&str] = &[
    "age between 18 and 35 and (country in ('US','DE') or not device = 'tv')",
    "a = 1 ^ 0.5 or b != 'it''s' and c is not null",
    "x like 'a%b_c' xor y not ilike '%é' xnor z rlike '^(a|b)+$'",
    "startswith(any(tags), 'eu-') and all(n) >= -1.5e3",
    "in_cidr(ip, '10.0.0.0/8', '2001:db8::/32') and !flag || \"my attr\".`x` <> TRUE",
    "d >= DATE '2026-11-15' and TIMESTAMP '2026-11-15 10:00:00.5' > t",
    "not (not (a and b) or not (c xor d)) and 3 < user.home.zip",
];

/// The position of an error is inside the text or at its end.
fn check_position(text: &str, error: &ParseError) {
    let lines = text.split('\n').count();
    assert!((1..=lines).contains(&error.line), "{text:?}: {error}");
    let line = text.split('\n').nth(error.line - 1).unwrap_or_default();
    assert!((1..=line.chars().count() + 1).contains(&error.column), "{text:?}: {error}");
    assert!(!error.found.is_empty() && !error.expected.is_empty(), "{text:?}: {error}");
}

/// Parses; an accepted text must print to text that parses to the same expression. Returns whether it was accepted.
fn parse_and_check(text: &str, limits: &Limits) -> bool {
    match parse(text, limits) {
        Ok(expr) => {
            let printed = expr.to_string();
            assert_eq!(parse(&printed, limits).as_ref(), Ok(&expr), "{text:?} printed as {printed:?}");
            true
        }
        Err(error) => {
            check_position(text, &error);
            false
        }
    }
}

fn run(source: &str, mut make: impl FnMut(&mut Random, &mut Vec<u8>)) {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let mut random = Random(seed);
    let limits = Limits { max_depth: 50, ..Limits::default() };
    let (started, mut accepted, mut bytes) = (Instant::now(), 0, Vec::new());
    for _ in 0..INPUTS.div_ceil(3) {
        bytes.clear();
        make(&mut random, &mut bytes);
        accepted += usize::from(parse_and_check(&String::from_utf8_lossy(&bytes), &limits));
    }
    println!("{source}: {} inputs, {accepted} accepted, {:.1?}", INPUTS.div_ceil(3), started.elapsed());
    assert!(accepted > 0, "{source} yields no valid expression");
}

#[test]
fn random_bytes() {
    run("bytes", |random, bytes| {
        for _ in 0..1 + random.below(24) {
            // Mostly bytes of the grammar, so that the parser reads more than the first.
            let byte = match random.below(4) {
                0 => random.next() as u8,
                1 => b"()'\"`=<>!&|^.,+- \n"[random.below(18)],
                _ => b' ' + random.below(95) as u8,
            };
            bytes.push(byte);
        }
    });
}

#[test]
fn random_tokens() {
    run("tokens", |random, bytes| {
        for _ in 0..1 + random.below(14) {
            bytes.extend(random.pick(TOKENS).as_bytes());
            bytes.extend(random.pick(&[" ", " ", " ", "", "\n"]).as_bytes());
        }
    });
}

#[test]
fn mutated_expressions() {
    run("mutations", |random, bytes| {
        bytes.extend(random.pick(VALID).as_bytes());
        for _ in 0..1 + random.below(3) {
            let at = random.below(bytes.len().max(1)).min(bytes.len());
            match random.below(5) {
                0 => bytes.truncate(at),
                1 => {
                    let end = (at + random.below(6)).min(bytes.len());
                    bytes.drain(at..end);
                }
                2 => {
                    let token = random.pick(TOKENS);
                    bytes.splice(at..at, token.bytes());
                }
                3 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
                _ => {
                    let end = (at + random.below(20)).min(bytes.len());
                    let copy = bytes[at..end].to_vec();
                    bytes.extend(copy);
                }
            }
        }
    });
}

fn refused(text: &str, because: &str) {
    let error = parse(text, &Limits::default()).expect_err(because);
    check_position(text, &error);
    assert!(error.expected.contains(because), "{}", error.expected);
}

#[test]
fn huge_inputs_are_refused() {
    let megabyte = "a = 1 and ".repeat(100_000) + "a = 1";
    refused(&megabyte, "max_length");
    refused(&format!("a in ({})", vec!["1"; 1_000_000].join(",")), "max_length");
    refused(&"(".repeat(100_000), "max_depth");
    refused(&("(".repeat(100_000) + "a" + &")".repeat(100_000)), "max_depth");
    refused(&("not ".repeat(100_000) + "a"), "max_depth");
    refused(&("!".repeat(100_000) + "a"), "max_depth");
    refused(&format!("a = {}", "9".repeat(400_000)), "64 bits");
    refused(&format!("a rlike '{}'", "(".repeat(400_000)), "regular expression");
    refused(&format!("a rlike '{}'", "a{1000}".repeat(1_000)), "max_regex_size");
    refused(&vec!["a"; 200_000].join("."), "bytes for an attribute's name");
    refused(&"a".repeat(400_000), "bytes for an attribute's name");
    refused(&vec!["a"; 33].join("."), "at most 32 parts for an attribute's name");
    refused(&format!("\"{}\" = 1", vec!["a"; 33].join(".")), "at most 32 parts");
    let regexes: Vec<String> = (0..40).map(|n| format!(r"a rlike '\w{{10}}{n}'")).collect();
    refused(&regexes.join(" or "), "16 times max_regex_size");
    refused(&"'".repeat(399_999), "a closing '");
}

#[test]
fn large_legal_inputs_are_accepted() {
    for (part, between) in [("a = 1", " and "), ("b != 'x'", " or "), ("c", " xor "), ("d > 0.5", " xnor ")] {
        let count = 400_000 / (part.len() + between.len());
        let text = vec![part; count].join(between);
        let expr = parse(&text, &Limits::default()).expect(between);
        assert_eq!(expr.children().len(), count);
        Normalizer::default().normalize(&expr, &mut Schema::default(), Missing::Unknown);
    }
    let long_text = "x".repeat(400_000);
    for text in [
        format!("a = '{long_text}'"),
        format!("contains(a, '{long_text}')"),
        format!("a like '{long_text}%'"),
    ] {
        let index = Index::new(Settings::default()).expect("an index");
        index.add(Id::from(0), text.as_str().into()).expect("a long text");
        let found = index.match_json(format!("{{\"a\": \"{long_text}\"}}").as_bytes()).expect("an event");
        assert_eq!(found, [Id::from(0)]);
    }
    // Half a megabyte in one token, one byte below the limit.
    let limit = Limits::default().max_length;
    let exact = format!("a = '{}'", "x".repeat(limit - 6));
    assert_eq!(exact.len(), limit);
    assert!(parse(&exact, &Limits::default()).is_ok());
    refused(&exact.replace("a =", "ab ="), "max_length");
}

/// Texts whose tree has exactly `depth` levels: parentheses, NOTs, and alternating connectives.
fn nested(depth: usize) -> [String; 4] {
    let levels = depth - 1;
    let alternating = (0..levels).fold("a".to_owned(), |inner, level| match level % 3 {
        0 => format!("b and ({inner})"),
        1 => format!("b or ({inner})"),
        _ => format!("b xor ({inner})"),
    });
    [
        "(".repeat(levels) + "a" + &")".repeat(levels),
        "not ".repeat(levels) + "a",
        // The innermost parentheses enclose a single predicate, which adds no level to the tree.
        alternating.replace("(a)", "a"),
        (0..levels).map(|level| ["a xor ", "a xnor "][level % 2]).collect::<String>() + "a",
    ]
}

#[test]
fn max_depth_is_exact() {
    for max_depth in [1, 2, 3, 10, 200] {
        let limits = Limits { max_depth, ..Limits::default() };
        for text in nested(max_depth) {
            let expr =
                parse(&text, &limits).unwrap_or_else(|error| unreachable!("{max_depth}: {text}: {error}"));
            assert!(expr.depth() <= max_depth, "{text}");
            assert_eq!(
                parse(&expr.to_string(), &limits).as_ref(),
                Ok(&expr),
                "printing adds no level: {text}"
            );
        }
        for text in nested(max_depth + 1) {
            let error = parse(&text, &limits).expect_err(&text);
            assert!(error.expected.contains("max_depth"), "{text}: {error}");
        }
    }
}

#[test]
fn max_depth_is_validated() {
    for (max_depth, valid) in
        [(0, false), (1, true), (Limits::DEPTH_CAP, true), (Limits::DEPTH_CAP + 1, false)]
    {
        let limits = Limits { max_depth, ..Limits::default() };
        assert_eq!(Index::new(Settings { limits, ..Settings::default() }).is_ok(), valid, "{max_depth}");
    }
}

/// Expressions at the cap of `max_depth`, on a stack of 2 MB: the smallest default of threads in Rust and Python.
#[test]
fn the_deepest_expressions_fit_a_small_stack() {
    let work = || {
        let limits = Limits { max_depth: Limits::DEPTH_CAP, ..Limits::default() };
        for (form, text) in nested(Limits::DEPTH_CAP).into_iter().enumerate() {
            let expr: Expr = parse(&text, &limits).expect("at the cap");
            let schema = expr.schema();
            let mut rows = Rows::default();
            tamis_conformance::event::write_row(
                &vec![("a".into(), tamis_conformance::event::Given::Bool(true))],
                &schema,
                &mut rows,
            );
            let truth = expr.evaluate_row(&schema, &rows, 0, Missing::Unknown);
            assert_eq!(expr.explain_row(&schema, &rows, 0, Missing::Unknown).truth, truth);
            assert_eq!(parse(&expr.to_string(), &limits).as_ref(), Ok(&expr), "form {form}");
            let copy = expr.clone();
            assert_eq!(copy.depth(), expr.depth());
            let index = Index::new(Settings { limits, ..Settings::default() }).expect("an index");
            index.add(Id::from(1), text.as_str().into()).expect("at the cap");
            index.match_json(br#"{"a": true, "b": false}"#).expect("an event");
            let (bytes, options) =
                (index.to_bytes(), LoadOptions { limits: Some(limits), ..LoadOptions::default() });
            assert_eq!(Index::from_bytes_with(&bytes, &options).expect("its own bytes").len(), 1);
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread");
    thread.join().expect("no overflow, no panic");
}
