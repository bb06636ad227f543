use super::*;
use crate::expr::{Limits, PatternKind};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn pattern(kind: PatternKind, source: &str) -> Arc<TextPattern> {
    Arc::new(TextPattern::new(kind, source, &Limits::default()).expect("a valid pattern"))
}

/// The set under test next to what it must answer like.
#[derive(Default)]
struct Checked {
    patterns: Patterns,
    live: BTreeMap<u32, Arc<TextPattern>>,
    scratch: PatternScratch,
}

impl Checked {
    /// The patterns twenty times over, so that all but a few are in segments.
    fn of(sources: &[(PatternKind, &str)]) -> Checked {
        let mut checked = Checked::default();
        for (kind, source) in sources.iter().cycle().take(20 * sources.len()) {
            checked.insert(checked.live.len() as u32, pattern(*kind, source));
        }
        checked
    }

    fn insert(&mut self, number: u32, pattern: Arc<TextPattern>) {
        self.patterns.insert(number, &pattern);
        self.live.insert(number, pattern);
    }

    fn remove(&mut self, number: u32) {
        self.patterns.remove(number);
        self.live.remove(&number);
    }

    /// The numbers that match, compared with asking one by one.
    fn find(&mut self, text: &str) -> Vec<u32> {
        let mut found = Vec::new();
        self.patterns.find(text, &mut self.scratch, |number| found.push(number));
        found.sort_unstable();
        let expected = self.live.iter().filter(|(_, pattern)| pattern.matches(text));
        let expected: Vec<u32> = expected.map(|(number, _)| *number).collect();
        let sources = |numbers: &[u32]| -> Vec<String> {
            let name = |n| self.live.get(n).map_or("removed", |pattern| pattern.source());
            numbers.iter().map(|n| format!("{n}: {:?}", name(n))).collect()
        };
        assert_eq!(sources(&found), sources(&expected), "{text:?}");
        found
    }

    fn validate(&self) {
        self.patterns.validate().expect("sound");
        assert_eq!(self.patterns.len(), self.live.len());
        assert_eq!(self.patterns.is_empty(), self.live.is_empty());
    }
}

/// As written: compiled ones would fill pages where a test fails.
fn any_pattern() -> impl Strategy<Value = (PatternKind, String)> {
    use PatternKind::{Contains, ILike, Like, Prefix, Regex, Suffix};
    let part = prop::sample::select(vec![
        "a",
        "b",
        "A",
        "ab",
        "1",
        "é",
        "É",
        "ß",
        "K",
        "k",
        "s",
        ".",
        "^",
        "$",
        "\\d",
        "\\b",
        "\\n",
        "a?",
        "b*",
        "[ab]",
        "[a-z]",
        "[^a]",
        "(a|bé)",
        "(|b)",
        "(?:a1|b+s)+",
        "(?i:k)",
        "(?i:ßs)",
        "(?-u:\\w)",
        "b{2,3}",
        "(?s:.)",
        "(?x: a b # c\n)",
        "|",
        "[a&&b]",
        "\\pL",
        "(?m:^a$)",
        "(?i)",
        "(?x)",
        "i",
        "İ",
    ]);
    let regex = prop::collection::vec(part, 0..6).prop_map(|parts| (Regex, parts.concat()));
    let literal =
        (prop::sample::select(vec![Prefix, Suffix, Contains]), "[abAB1kK\u{212a}sſSßẞéÉİiı\n]{0,3}");
    let like = (prop::sample::select(vec![Like, ILike]), "[abABkK\u{212a}sſSßẞéÉİiı\n1_%%%]{0,6}");
    prop_oneof![regex, literal, like]
}

const TEXT: &str = "[abABkK\u{212a}sſSßẞéÉİiı1 \r\n]{0,12}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A number in the set is taken out, any other put in: so numbers come again with other patterns.
    #[test]
    fn answers_as_one_by_one(steps in prop::collection::vec((0..90_u32, any_pattern(), TEXT), 1..160)) {
        let mut checked = Checked::default();
        for (number, (kind, source), text) in steps {
            match checked.live.contains_key(&number) {
                true => checked.remove(number),
                false => checked.insert(number, pattern(kind, &source)),
            }
            checked.validate();
            checked.find(&text);
        }
        for number in checked.live.keys().copied().collect::<Vec<_>>() {
            checked.remove(number);
            checked.validate();
        }
        prop_assert!(checked.patterns.segments.is_empty());
    }

    #[test]
    fn many_answer_as_one_by_one(
        patterns in prop::collection::vec(any_pattern(), 100..300),
        texts in prop::collection::vec(TEXT, 20),
    ) {
        let mut checked = Checked::default();
        for (number, (kind, source)) in (0..).zip(patterns) {
            checked.insert(number, pattern(kind, &source));
        }
        checked.validate();
        texts.iter().for_each(|text| { checked.find(text); });
    }
}

#[test]
fn case_is_ignored_beyond_ascii_only_if_asked() {
    use PatternKind::{Contains, ILike, Like, Regex};
    for (kind, source, yes, no) in [
        (ILike, "%straße%", vec!["STRAẞE", "die Straße"], vec!["STRASSE"]),
        (ILike, "%k", vec!["273 \u{212a}", "K", "ok"], vec!["\u{212a}elvin"]),
        (ILike, "%\u{212a}_", vec!["OKO", "oki"], vec!["ok"]),
        (ILike, "%ſ%t%", vec!["Set", "sT", "ſt"], vec!["ts"]),
        (ILike, "%ПРИВЕТ, мир%", vec!["Привет, МИР!"], vec!["Привет"]),
        (ILike, "%İ%", vec!["İ"], vec!["i", "I", "ı"]),
        (Like, "%\u{212a}_", vec!["\u{212a}x"], vec!["Kx", "kx"]),
        (Contains, "Straße", vec!["Straße", "STRAßE Straße"], vec!["straße", "STRAßE"]),
        (Contains, "привет", vec!["привет"], vec!["Привет"]),
        (Regex, "(?i)k$", vec!["\u{212a}", "k", "K"], vec!["kx"]),
        (Regex, "a(?i:k)", vec!["a\u{212a}"], vec!["A\u{212a}"]),
    ] {
        let mut checked = Checked::of(&[(kind, source)]);
        yes.iter().for_each(|text| assert_eq!(checked.find(text).len(), 20, "{source:?} on {text:?}"));
        no.iter().for_each(|text| assert!(checked.find(text).is_empty(), "{source:?} on {text:?}"));
    }
}

#[test]
fn empty_needles_match_everything() {
    use PatternKind::{Contains, ILike, Like, Prefix, Regex, Suffix};
    let all =
        [(Contains, ""), (Like, "%%"), (ILike, "%"), (Prefix, ""), (Suffix, ""), (Regex, ""), (Like, "%")];
    let mut checked = Checked::of(&all);
    for text in ["", "x", "ß\n"] {
        assert_eq!(checked.find(text).len(), checked.live.len());
    }
    let mut checked = Checked::of(&[(Like, ""), (Regex, "^$")]);
    assert_eq!(checked.find("").len(), checked.live.len());
    assert!(checked.find("\n").is_empty());
}

#[test]
fn flags_and_comments_stay_in_their_pattern() {
    use PatternKind::{Like, Regex};
    let mut checked = Checked::of(&[
        (Regex, "(?x) a b # a comment )"),
        (Regex, "(?x)a#\n(?i)b"),
        (Regex, "(?i)ab"),
        (Regex, "ab"),
        (Regex, "(?s)a.b"),
        (Regex, "a.b"),
        (Regex, "(?m)^b$"),
        (Regex, "(?mR)^b$"),
        (Regex, "b$"),
        (Like, "a%b_"),
    ]);
    for text in ["ab", "aB", "AB", "a b", "a\nb", "a\r\nb\r\n", "b\n", "b", "a\nb\n", "a # a comment )"] {
        checked.find(text);
    }
}

#[test]
fn huge_regexes_are_taken() {
    use PatternKind::{Contains, Regex};
    let long = "0123456789".repeat(1_000);
    let mut checked = Checked::of(&[
        (Regex, "^(a{1,200}){1,20}$"),
        (Regex, "(b{2,50}c?){1,20}a"),
        (Regex, r"^\w{1,20}$"),
        (Regex, &format!("^{long}(x|yz)")),
        (Regex, "[ab][cd][ef][gh][ij][kl][mn]"),
        (Contains, &long),
        (Contains, &long[1..]),
        (Contains, &long[..9_999]),
        (Regex, "[a&&b]"),
    ]);
    checked.validate();
    for text in ["aaaa", "bbca", "bca", &"a".repeat(5_000), "bdfhjln", &long, &long[1..], &long[..9_999]] {
        checked.find(text);
    }
    checked.find(&(long + "yz"));
}

#[test]
fn thousands_come_and_go() {
    use PatternKind::{Contains, ILike, Like, Regex, Suffix};
    let mut checked = Checked::default();
    let texts = ["item 17 of 170", "ITEM 1234, part 5", "a.item999", "nothing", "part 5 of item 3"];
    for number in 0..3_000 {
        let (kind, source) = match number % 5 {
            0 => (Contains, format!("item {}", number / 10)),
            1 => (Like, format!("%item {number}%part%{}", number % 10)),
            2 => (ILike, format!("%Item {}%", number / 3)),
            3 => (Suffix, format!("item{number}")),
            _ => (Regex, format!(r"(part|piece) \d+ of item {}$", number / 700)),
        };
        checked.insert(number, pattern(kind, &source));
    }
    checked.validate();
    assert!(checked.patterns.segments.len() <= 8);
    assert!(texts.iter().map(|text| checked.find(text).len()).sum::<usize>() > 100);
    let full = checked.patterns.memory();
    for number in (0..3_000).filter(|number| number % 100 != 2) {
        checked.remove(number);
    }
    checked.validate();
    assert!(checked.patterns.memory() < full / 10);
    texts.iter().for_each(|text| drop(checked.find(text)));
}

#[test]
fn marks_survive_the_wrap_of_the_count() {
    let mut checked = Checked::of(&[(PatternKind::Contains, "a"), (PatternKind::Regex, "a|b")]);
    checked.find("ab");
    checked.scratch.pass = u32::MAX - 1;
    (0..4).for_each(|_| assert_eq!(checked.find("ab").len(), 40));
}
