//! Which strings does every text contain that matches a pattern?
//!
//! Derived from the structure of the regex: adjacent literals and small classes are joined; optional parts contribute
//! nothing; of alternatives, each must have a needle. All needles are in ASCII lower case.

use crate::expr::{Matcher, PatternKind, TextPattern};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Maximum needles of a choice: the spellings of `colo[ur]`, or of letters with case beyond ASCII.
const MAX_NEEDLES: usize = 32;

/// Maximum bytes of a needle. Of longer ones only the first and the last bytes are used, which bounds the automaton.
const MAX_NEEDLE_BYTES: usize = 64;

/// Strings of which at least one occurs in every text that matches.
pub(super) type Needles = Vec<Vec<u8>>;

/// The choices of needles of a pattern, each sufficient by itself.
pub(super) fn choices(pattern: &TextPattern) -> Vec<Needles> {
    let language = match pattern.matcher() {
        Matcher::Equals(text) | Matcher::Prefix(text) | Matcher::Suffix(text) => literal(text.as_bytes()),
        Matcher::Contains(finder) => literal(finder.needle()),
        Matcher::Regex(regex) => {
            let fold_case = pattern.kind() == PatternKind::ILike;
            match ParserBuilder::new().case_insensitive(fold_case).build().parse(regex.source()) {
                Ok(regex) => language(&regex),
                Err(_) => Language::Around(Vec::new()),
            }
        }
    };
    language.into_choices()
}

/// What is known of the strings that a regex or a part of it matches, in lower case.
enum Language {
    /// These and no others.
    Exactly(Needles),
    /// Strings that contain one of each of these choices.
    Around(Vec<Needles>),
}

impl Language {
    /// The choices of needles.
    fn into_choices(self) -> Vec<Needles> {
        match self {
            Language::Around(choices) => choices,
            Language::Exactly(needles) if needles.iter().any(Vec::is_empty) => Vec::new(),
            Language::Exactly(needles) if longest(&needles) <= MAX_NEEDLE_BYTES => vec![needles],
            Language::Exactly(needles) => {
                let head = |needle: &Vec<u8>| needle[..needle.len().min(MAX_NEEDLE_BYTES)].to_vec();
                let tail =
                    |needle: &Vec<u8>| needle[needle.len().saturating_sub(MAX_NEEDLE_BYTES)..].to_vec();
                vec![distinct(needles.iter().map(head)), distinct(needles.iter().map(tail))]
            }
        }
    }
}

/// One string.
fn literal(bytes: &[u8]) -> Language {
    Language::Exactly(vec![bytes.to_ascii_lowercase()])
}

/// Bytes of the longest needle.
fn longest(needles: &Needles) -> usize {
    needles.iter().map(Vec::len).max().unwrap_or(0)
}

/// Removes duplicates.
fn distinct(needles: impl Iterator<Item = Vec<u8>>) -> Needles {
    let mut needles: Needles = needles.collect();
    needles.sort_unstable();
    needles.dedup();
    needles
}

/// What is known of the strings that a regex matches.
fn language(regex: &Hir) -> Language {
    match regex.kind() {
        // An assertion consumes nothing: the needles around it still occur.
        HirKind::Empty | HirKind::Look(_) => literal(b""),
        HirKind::Literal(text) => literal(&text.0),
        HirKind::Class(class) => characters(class),
        HirKind::Capture(group) => language(&group.sub),
        HirKind::Repetition(repeated) if repeated.min == 0 => Language::Around(Vec::new()),
        HirKind::Repetition(repeated) => Language::Around(language(&repeated.sub).into_choices()),
        HirKind::Concat(parts) => concatenation(parts),
        HirKind::Alternation(parts) => alternation(parts),
    }
}

/// The characters of a class, if they are few.
fn characters(class: &Class) -> Language {
    // A class with more characters, counting both cases, has too many needles.
    let few = 2 * MAX_NEEDLES + 1;
    let utf8 = |c: char| c.encode_utf8(&mut [0; 4]).to_ascii_lowercase().into_bytes();
    let needles = match class {
        Class::Unicode(class) => {
            distinct(class.iter().flat_map(|range| range.start()..=range.end()).take(few).map(utf8))
        }
        Class::Bytes(class) => {
            let bytes = class.iter().flat_map(|range| range.start()..=range.end());
            distinct(bytes.take(few).map(|byte| vec![byte.to_ascii_lowercase()]))
        }
    };
    if needles.len() > MAX_NEEDLES { Language::Around(Vec::new()) } else { Language::Exactly(needles) }
}

/// Joins adjacent parts whose strings are known to longer needles, as long as these stay few and short.
fn concatenation(parts: &[Hir]) -> Language {
    let nothing = || vec![Vec::new()];
    let (mut choices, mut run, mut exact) = (Vec::new(), nothing(), true);
    for part in parts {
        let (next, inside) = match language(part) {
            Language::Exactly(next)
                if run.len() * next.len() <= MAX_NEEDLES
                    && longest(&run) + longest(&next) <= MAX_NEEDLE_BYTES =>
            {
                let joined = run.iter().flat_map(|a| next.iter().map(|b| [a.as_slice(), b].concat()));
                run = distinct(joined);
                continue;
            }
            Language::Exactly(next) => (next, Vec::new()),
            Language::Around(inside) => (nothing(), inside),
        };
        exact = false;
        choices.extend(Language::Exactly(std::mem::replace(&mut run, next)).into_choices());
        choices.extend(inside);
    }
    if exact {
        return Language::Exactly(run);
    }
    choices.extend(Language::Exactly(run).into_choices());
    Language::Around(choices)
}

/// A match is one of the alternatives, so all their needles together are one choice.
fn alternation(parts: &[Hir]) -> Language {
    let mut needles = Vec::new();
    let mut exact = true;
    for part in parts {
        match language(part) {
            Language::Exactly(known) => needles.extend(known),
            Language::Around(choices) => {
                exact = false;
                // The choice whose shortest needle is longest; without a choice, any text may match.
                let shortest = |needles: &Needles| needles.iter().map(Vec::len).min();
                match choices.into_iter().max_by_key(shortest) {
                    Some(choice) => needles.extend(choice),
                    None => return Language::Around(Vec::new()),
                }
            }
        }
    }
    let needles = distinct(needles.into_iter());
    if needles.len() > MAX_NEEDLES {
        Language::Around(Vec::new())
    } else if exact {
        Language::Exactly(needles)
    } else {
        Language::Around(Language::Exactly(needles).into_choices())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Limits;

    #[test]
    fn needles_are_what_every_match_contains() {
        use PatternKind::{Contains, ILike, Like, Regex};
        let anything: &[&[&str]] = &[];
        for (kind, source, expected) in [
            (Contains, "FoO", [&["foo"] as &[&str]].as_slice()),
            (Contains, "", anything),
            (Like, "%foo%b_r%", &[&["foo"], &["b"], &["r"]]),
            (Like, "_%", anything),
            (ILike, "%Key É%", &[&["key \u{c9}", "key \u{e9}", "\u{212a}ey \u{c9}", "\u{212a}ey \u{e9}"]]),
            (Regex, "colou?r", &[&["colo"], &["r"]]),
            (Regex, "gr[ae]y|white", &[&["gray", "grey", "white"]]),
            (Regex, r"^(ab)+\b\d{2}$", &[&["ab"]]),
            (Regex, r"x[0-9]|\dy+z", &[&["x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "z"]]),
            (Regex, "a*|b", anything),
            (Regex, "[0-9a-zA-Zé]+@", &[&["@"]]),
            // Nothing matches, so there is no needle to look for.
            (Regex, "[a&&b]", &[&[]]),
        ] {
            let pattern = TextPattern::new(kind, source, &Limits::default()).expect("a valid pattern");
            let found = choices(&pattern);
            let text = |needle: &Vec<u8>| String::from_utf8(needle.clone()).expect("UTF-8");
            let found: Vec<Vec<String>> =
                found.iter().map(|needles| needles.iter().map(text).collect()).collect();
            assert_eq!(found, expected, "{source:?}");
        }
    }

    #[test]
    fn needles_stay_few_and_short() {
        for source in [
            "[ab]{3}[cd][ef][gh][ij][kl][mn]",
            "(?i)\u{e0}\u{e1}\u{e2}\u{e3}\u{e4}\u{e5}",
            &"[ab]c".repeat(90),
            &"x".repeat(999),
        ] {
            let pattern =
                TextPattern::new(PatternKind::Regex, source, &Limits::default()).expect("a valid pattern");
            let choices = choices(&pattern);
            assert!(!choices.is_empty(), "{source:?}");
            assert!(
                choices
                    .iter()
                    .all(|needles| needles.len() <= MAX_NEEDLES && longest(needles) <= MAX_NEEDLE_BYTES)
            );
        }
    }
}
