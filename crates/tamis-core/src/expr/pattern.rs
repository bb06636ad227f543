//! String patterns: LIKE, ILIKE, RLIKE, `startswith`, `endswith`, `contains`.
//!
//! A LIKE is classified when it is compiled: without wildcards it is an equality, `x%` a prefix, `%x` a suffix, `%x%` a
//! substring search; all others run as regular expressions, in time linear in the string.

use super::Limits;
use memchr::memmem::Finder;
use regex::{Regex, RegexBuilder};
use smol_str::SmolStr;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};

/// The operator a pattern was written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PatternKind {
    /// `LIKE`: `%` matches any string, `_` one character, a backslash escapes.
    Like,
    /// `ILIKE`: as LIKE under Unicode simple case folding.
    ILike,
    /// `RLIKE`: a regular expression that matches anywhere in the string.
    Regex,
    /// `startswith`.
    Prefix,
    /// `endswith`.
    Suffix,
    /// `contains`.
    Contains,
}

/// The compiled form of a pattern.
#[derive(Clone, Debug)]
pub enum Matcher {
    /// The whole string is equal.
    Equals(SmolStr),
    /// The string begins with it.
    Prefix(SmolStr),
    /// The string ends with it.
    Suffix(SmolStr),
    /// The string contains it.
    Contains(Box<Finder<'static>>),
    /// All other patterns.
    Regex(Regex),
}

/// A pattern and its compiled form. Two patterns are equal if operator and text are.
#[derive(Clone, Debug)]
pub struct TextPattern {
    /// The operator it was written with.
    kind: PatternKind,
    /// The pattern as written.
    source: SmolStr,
    /// Compiled from `kind` and `source`.
    matcher: Matcher,
}

impl TextPattern {
    /// Compiles a pattern; the error says what is wrong with it.
    pub fn new(kind: PatternKind, source: &str, limits: &Limits) -> Result<TextPattern, String> {
        let matcher = match kind {
            PatternKind::Prefix => Matcher::Prefix(source.into()),
            PatternKind::Suffix => Matcher::Suffix(source.into()),
            PatternKind::Contains => contains(source),
            PatternKind::Regex => Matcher::Regex(compile(source, false, limits)?),
            PatternKind::Like => like(source, limits)?,
            PatternKind::ILike => Matcher::Regex(compile(&like_regex(&like_tokens(source)?), true, limits)?),
        };
        Ok(TextPattern { kind, source: source.into(), matcher })
    }

    /// The operator it was written with.
    pub fn kind(&self) -> PatternKind {
        self.kind
    }

    /// The pattern as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Its compiled form.
    pub fn matcher(&self) -> &Matcher {
        &self.matcher
    }

    /// Whether a string matches.
    pub fn matches(&self, text: &str) -> bool {
        match &self.matcher {
            Matcher::Equals(whole) => text == whole,
            Matcher::Prefix(prefix) => text.starts_with(prefix.as_str()),
            Matcher::Suffix(suffix) => text.ends_with(suffix.as_str()),
            Matcher::Contains(finder) => finder.find(text.as_bytes()).is_some(),
            Matcher::Regex(regex) => regex.is_match(text),
        }
    }
}

impl PartialEq for TextPattern {
    fn eq(&self, other: &TextPattern) -> bool {
        self.kind == other.kind && self.source == other.source
    }
}

impl Eq for TextPattern {}

impl Hash for TextPattern {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
        self.source.hash(state);
    }
}

fn contains(needle: &str) -> Matcher {
    Matcher::Contains(Box::new(Finder::new(needle).into_owned()))
}

fn compile(pattern: &str, fold_case: bool, limits: &Limits) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .case_insensitive(fold_case)
        .size_limit(limits.max_regex_size)
        .dfa_size_limit(limits.max_regex_size)
        .nest_limit(100)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(limit) => {
                format!("a regular expression that compiles to at most {limit} bytes (max_regex_size)")
            }
            // The regex crate's message shows the position over several lines; the last line is the reason.
            other => {
                let text = other.to_string();
                let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
                format!("a valid regular expression ({reason})")
            }
        })
}

/// One element of a LIKE pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LikeToken {
    Char(char),
    AnyChar,
    AnyString,
}

fn like_tokens(source: &str) -> Result<Vec<LikeToken>, String> {
    let mut tokens = Vec::with_capacity(source.len());
    let mut chars = source.chars();
    while let Some(c) = chars.next() {
        tokens.push(match c {
            '%' if tokens.last() == Some(&LikeToken::AnyString) => continue,
            '%' => LikeToken::AnyString,
            '_' => LikeToken::AnyChar,
            '\\' => LikeToken::Char(chars.next().ok_or("a character after the escaping backslash")?),
            c => LikeToken::Char(c),
        });
    }
    Ok(tokens)
}

fn like(source: &str, limits: &Limits) -> Result<Matcher, String> {
    use LikeToken::{AnyString, Char};
    let tokens = like_tokens(source)?;
    let literal = |tokens: &[LikeToken]| -> Option<String> {
        tokens.iter().map(|t| if let Char(c) = t { Some(*c) } else { None }).collect()
    };
    let matcher = match tokens.as_slice() {
        [AnyString] => Some(Matcher::Prefix(SmolStr::default())),
        [AnyString, middle @ .., AnyString] => literal(middle).map(|text| contains(&text)),
        [AnyString, rest @ ..] => literal(rest).map(|text| Matcher::Suffix(text.into())),
        [rest @ .., AnyString] => literal(rest).map(|text| Matcher::Prefix(text.into())),
        whole => literal(whole).map(|text| Matcher::Equals(text.into())),
    };
    match matcher {
        Some(matcher) => Ok(matcher),
        None => Ok(Matcher::Regex(compile(&like_regex(&tokens), false, limits)?)),
    }
}

fn like_regex(tokens: &[LikeToken]) -> String {
    let mut regex = String::from("(?s)^");
    for token in tokens {
        match token {
            LikeToken::AnyString => regex.push_str(".*"),
            LikeToken::AnyChar => regex.push('.'),
            LikeToken::Char(c) => {
                let mut buffer = [0; 4];
                let _ = write!(regex, "{}", regex::escape(c.encode_utf8(&mut buffer)));
            }
        }
    }
    regex.push('$');
    regex
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(kind: PatternKind, source: &str) -> TextPattern {
        TextPattern::new(kind, source, &Limits::default()).expect("a valid pattern")
    }

    #[test]
    fn like_follows_sql() {
        for (source, yes, no) in [
            ("abc", vec!["abc"], vec!["abcd", "Abc", ""]),
            ("a%", vec!["a", "abc", "a\nb"], vec!["ba", ""]),
            ("%a", vec!["a", "ba"], vec!["ab"]),
            ("%a%", vec!["a", "xay", "ay"], vec!["b", ""]),
            ("%%", vec!["", "x"], vec![]),
            ("a_c", vec!["abc", "aéc", "a\nc"], vec!["ac", "abbc"]),
            ("a%b_c", vec!["abxc", "axxbyc"], vec!["abc"]),
            (r"100\%", vec!["100%"], vec!["100x", r"100\%"]),
            (r"a\_b%", vec!["a_b", "a_bc"], vec!["axb"]),
            ("a.c", vec!["a.c"], vec!["abc"]),
            ("", vec![""], vec!["x"]),
            ("%$", vec!["x$"], vec!["x"]),
        ] {
            let like = pattern(PatternKind::Like, source);
            yes.iter().for_each(|text| assert!(like.matches(text), "{text:?} LIKE {source:?}"));
            no.iter().for_each(|text| assert!(!like.matches(text), "{text:?} LIKE {source:?}"));
        }
        assert!(TextPattern::new(PatternKind::Like, "abc\\", &Limits::default()).is_err());
    }

    #[test]
    fn ilike_folds_case_beyond_ascii() {
        let like = pattern(PatternKind::ILike, "straSSE%é");
        assert!(like.matches("STRASSE É"));
        assert!(!like.matches("strase é"));
    }

    #[test]
    fn regexes_are_bounded() {
        let huge = TextPattern::new(PatternKind::Regex, r"\w{1000}{1000}", &Limits::default());
        assert!(huge.is_err_and(|reason| reason.contains("max_regex_size")));
        let broken = TextPattern::new(PatternKind::Regex, "a(b", &Limits::default());
        assert!(broken.is_err_and(|reason| reason.contains("unclosed group")));
        // Exponential in backtracking engines, linear here.
        assert!(!pattern(PatternKind::Regex, "^(a+)+$").matches(&("a".repeat(10_000) + "!")));
    }
}
