//! String patterns: LIKE, ILIKE, RLIKE, `startswith`, `endswith`, `contains`.
//!
//! A LIKE is classified when it is compiled: without wildcards it is an equality, `x%` a prefix, `%x` a suffix, `%x%` a
//! substring search; all others run as regular expressions, in time linear in the string.

use super::Limits;
use crate::value::heap_of;
use memchr::memmem::Finder;
use regex_automata::meta;
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;
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
    Regex(Box<TextRegex>),
}

/// A compiled regular expression.
///
/// This is what the crate `regex` compiles, without its wrapper, which hides how much memory the program takes. The
/// buffers of searches, at most twice `max_regex_size` per thread that searches at the same time, belong to no program.
#[derive(Clone, Debug)]
pub struct TextRegex {
    /// The expression, in the syntax of the crate `regex-syntax`.
    source: Box<str>,
    program: meta::Regex,
}

impl TextRegex {
    /// Bytes that a program allocates besides what it reports, measured: configuration, properties of the expression, and
    /// the pool of search buffers. Less for a single string, which needs no automaton.
    const WITH_AUTOMATA: usize = 4_300;
    const WITHOUT_AUTOMATA: usize = 2_300;

    /// The expression it was compiled from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it matches somewhere in a string.
    pub fn is_match(&self, text: &str) -> bool {
        self.program.is_match(text)
    }

    /// Bytes on the heap, approximately, without the buffers of searches.
    pub fn heap(&self) -> usize {
        let reported = self.program.memory_usage();
        let has_automata = reported > 2 * self.source.len();
        let fixed = if has_automata { TextRegex::WITH_AUTOMATA } else { TextRegex::WITHOUT_AUTOMATA };
        fixed + self.source.len() + reported
    }
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
            PatternKind::Regex => regex(source, false, limits)?,
            PatternKind::Like => like(source, limits)?,
            PatternKind::ILike => regex(&like_regex(&like_tokens(source)?), true, limits)?,
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

    /// Bytes on the heap, approximately.
    pub fn heap(&self) -> usize {
        let matcher = match &self.matcher {
            Matcher::Equals(text) | Matcher::Prefix(text) | Matcher::Suffix(text) => heap_of(text),
            Matcher::Contains(finder) => size_of::<Finder<'static>>() + finder.needle().len(),
            Matcher::Regex(_) => self.regex_heap(),
        };
        heap_of(&self.source) + matcher
    }

    /// Bytes of its compiled regular expression, approximately; 0 if it has none.
    pub fn regex_heap(&self) -> usize {
        if let Matcher::Regex(regex) = &self.matcher { size_of::<TextRegex>() + regex.heap() } else { 0 }
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

fn regex(source: &str, fold_case: bool, limits: &Limits) -> Result<Matcher, String> {
    let config = meta::Config::new()
        .nfa_size_limit(Some(limits.max_regex_size))
        .hybrid_cache_capacity(limits.max_regex_size)
        // Only whether there is a match is asked, never where its groups are.
        .which_captures(WhichCaptures::Implicit);
    let syntax = syntax::Config::new().case_insensitive(fold_case).nest_limit(100);
    let program = meta::Builder::new().configure(config).syntax(syntax).build(source);
    let program = program.map_err(|error| match (error.size_limit(), error.syntax_error()) {
        (Some(limit), _) => {
            format!("a regular expression that compiles to at most {limit} bytes (max_regex_size)")
        }
        (None, found) => {
            // The message shows the position over several lines; the last line is the reason.
            let text = found.map_or_else(|| error.to_string(), ToString::to_string);
            let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
            format!("a valid regular expression ({reason})")
        }
    })?;
    Ok(Matcher::Regex(Box::new(TextRegex { source: source.into(), program })))
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
        None => regex(&like_regex(&tokens), false, limits),
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
                let _ = write!(regex, "{}", regex_syntax::escape(c.encode_utf8(&mut buffer)));
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
