//! Text to tokens, one at a time, without allocation.

use super::ast::Comparison;
use crate::error::ParseError;
use memchr::memchr;

/// The kind of a token. Its text is [`Lexer::raw`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A word that is not a keyword.
    Word,
    /// A reserved word.
    Keyword(Keyword),
    /// `"name"` or `` `name` ``; whether it contains a doubled quote.
    QuotedName {
        doubled: bool,
    },
    /// `'text'`; whether it contains a doubled quote.
    String {
        doubled: bool,
    },
    /// Digits only, with or without a sign.
    Integer,
    /// With a point or an exponent.
    Float,
    Compare(Comparison),
    Open,
    Close,
    Comma,
    Dot,
    Caret,
    End,
}

/// Words that are attribute names only if quoted. `DATE`, `any`, `contains` and the like are not among them: they
/// have a meaning only before a string or a parenthesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    And,
    Or,
    Not,
    Xor,
    Xnor,
    In,
    Between,
    Is,
    Null,
    Like,
    ILike,
    RLike,
    True,
    False,
}

/// A token and the bytes it covers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
}

/// Reads tokens from left to right.
pub(super) struct Lexer<'t> {
    text: &'t str,
    /// Byte offset of the next token, or of the white space before it.
    at: usize,
}

/// The keyword that a word is, in any case.
pub(super) fn keyword(word: &str) -> Option<Keyword> {
    use Keyword::*;
    let is = |name: &str| word.eq_ignore_ascii_case(name);
    match word.len() {
        2 if is("in") => Some(In),
        2 if is("or") => Some(Or),
        2 if is("is") => Some(Is),
        3 if is("and") => Some(And),
        3 if is("not") => Some(Not),
        3 if is("xor") => Some(Xor),
        4 if is("like") => Some(Like),
        4 if is("null") => Some(Null),
        4 if is("true") => Some(True),
        4 if is("xnor") => Some(Xnor),
        5 if is("false") => Some(False),
        5 if is("ilike") => Some(ILike),
        5 if is("rlike") => Some(RLike),
        7 if is("between") => Some(Between),
        _ => None,
    }
}

/// Whether a word needs no quotes as (a part of) an attribute name.
pub(super) fn is_plain_name(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(starts_word) && chars.all(continues_word) && keyword(word).is_none()
}

fn starts_word(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || (!c.is_ascii() && c.is_alphabetic())
}

fn continues_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || (!c.is_ascii() && c.is_alphanumeric())
}

impl<'t> Lexer<'t> {
    pub fn new(text: &'t str) -> Lexer<'t> {
        Lexer { text, at: 0 }
    }

    /// The next token; from the end of the text on, `End`.
    pub fn next(&mut self) -> Result<Token, ParseError> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
        let start = self.at;
        let Some(&first) = bytes.get(start) else {
            return Ok(Token { kind: TokenKind::End, start, end: start });
        };
        let second = bytes.get(start + 1).copied();
        let (kind, length) = match (first, second) {
            (b'(', _) => (TokenKind::Open, 1),
            (b')', _) => (TokenKind::Close, 1),
            (b',', _) => (TokenKind::Comma, 1),
            (b'^', _) => (TokenKind::Caret, 1),
            (b'=', Some(b'=')) => (TokenKind::Compare(Comparison::Equal), 2),
            (b'=', _) => (TokenKind::Compare(Comparison::Equal), 1),
            (b'!', Some(b'=')) => (TokenKind::Compare(Comparison::NotEqual), 2),
            (b'!', _) => (TokenKind::Keyword(Keyword::Not), 1),
            (b'<', Some(b'>')) => (TokenKind::Compare(Comparison::NotEqual), 2),
            (b'<', Some(b'=')) => (TokenKind::Compare(Comparison::LessEqual), 2),
            (b'<', _) => (TokenKind::Compare(Comparison::Less), 1),
            (b'>', Some(b'=')) => (TokenKind::Compare(Comparison::GreaterEqual), 2),
            (b'>', _) => (TokenKind::Compare(Comparison::Greater), 1),
            (b'&', Some(b'&')) => (TokenKind::Keyword(Keyword::And), 2),
            (b'|', Some(b'|')) => (TokenKind::Keyword(Keyword::Or), 2),
            (b'\'', _) => return self.quoted(b'\'', "a closing '", |doubled| TokenKind::String { doubled }),
            (b'"', _) => {
                return self.quoted(b'"', "a closing \"", |doubled| TokenKind::QuotedName { doubled });
            }
            (b'`', _) => {
                return self.quoted(b'`', "a closing `", |doubled| TokenKind::QuotedName { doubled });
            }
            (b'0'..=b'9', _) | (b'-' | b'+' | b'.', Some(b'0'..=b'9')) => self.number(),
            (b'-' | b'+', Some(b'.')) if bytes.get(start + 2).is_some_and(u8::is_ascii_digit) => {
                self.number()
            }
            (b'.', _) => (TokenKind::Dot, 1),
            _ => match self.word() {
                0 => {
                    let c = self.text[start..].chars().next().unwrap_or_default();
                    let hint = self.quoting_hint(start);
                    let expected = format!("a predicate, an operator or a literal{hint}");
                    return Err(self.error(start, format!("{c:?}"), expected));
                }
                length => match keyword(&self.text[start..start + length]) {
                    Some(keyword) => (TokenKind::Keyword(keyword), length),
                    None => (TokenKind::Word, length),
                },
            },
        };
        self.at = start + length;
        Ok(Token { kind, start, end: self.at })
    }

    /// Length in bytes of the word at the current offset; 0 if no word starts there.
    fn word(&self) -> usize {
        let rest = &self.text[self.at..];
        let ascii = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        if rest.as_bytes().get(ascii).is_none_or(u8::is_ascii) {
            let starts = rest.as_bytes().first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
            return if starts { ascii } else { 0 };
        }
        if !rest.chars().next().is_some_and(starts_word) {
            return 0;
        }
        rest.find(|c| !continues_word(c)).unwrap_or(rest.len())
    }

    /// Kind and length in bytes of the number at the current offset.
    fn number(&self) -> (TokenKind, usize) {
        let rest = &self.text.as_bytes()[self.at..];
        let digits = |from: usize| rest[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut length = usize::from(matches!(rest[0], b'-' | b'+'));
        let mut kind = TokenKind::Integer;
        length += digits(length);
        if rest.get(length) == Some(&b'.') && rest.get(length + 1).is_some_and(u8::is_ascii_digit) {
            kind = TokenKind::Float;
            length += 1 + digits(length + 1);
        }
        if matches!(rest.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(rest.get(length + 1), Some(b'-' | b'+')));
            let exponent = digits(length + 1 + sign);
            if exponent > 0 {
                kind = TokenKind::Float;
                length += 1 + sign + exponent;
            }
        }
        (kind, length)
    }

    /// A token between quotes; a doubled quote inside does not end it.
    fn quoted(
        &mut self,
        quote: u8,
        expected: &str,
        kind: impl Fn(bool) -> TokenKind,
    ) -> Result<Token, ParseError> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut doubled = false;
        let mut from = start + 1;
        loop {
            let Some(found) = memchr(quote, &bytes[from..]) else {
                return Err(self.error(start, "a quote that is never closed", expected));
            };
            from += found + 1;
            if bytes.get(from) != Some(&quote) {
                break;
            }
            doubled = true;
            from += 1;
        }
        self.at = from;
        Ok(Token { kind: kind(doubled), start, end: from })
    }

    /// The text of a token, quotes included.
    pub fn raw(&self, token: Token) -> &'t str {
        &self.text[token.start..token.end]
    }

    /// The name of a token in error messages: at most 40 characters of it.
    pub fn describe(&self, token: Token) -> String {
        const SHOWN: usize = 40;
        if token.kind == TokenKind::End {
            return "the end of the text".into();
        }
        let raw = self.raw(token);
        match raw.char_indices().nth(SHOWN) {
            Some((cut, _)) => format!("{}…", &raw[..cut]),
            None => raw.to_owned(),
        }
    }

    /// An error at a byte offset.
    /// Advice to quote a name, if a token is the rest of one, as in `user-1`; else nothing.
    pub fn hint_at(&self, token: Token) -> String {
        let follows_name = self.text[..token.start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        match token.kind {
            TokenKind::Integer | TokenKind::Float if follows_name => self.quoting_hint(token.start),
            _ => String::new(),
        }
    }

    /// Advice to quote a name, if the character at a position is within one, as in `user-id` or `@timestamp`; else nothing.
    fn quoting_hint(&self, at: usize) -> String {
        let is_part = |c: char| c.is_alphanumeric() || "_.-:/@$#".contains(c);
        let before =
            self.text[..at].chars().rev().take_while(|c| is_part(*c)).map(char::len_utf8).sum::<usize>();
        let after = self.text[at..].chars().take_while(|c| is_part(*c)).map(char::len_utf8).sum::<usize>();
        let name = &self.text[at - before..at + after];
        let begins = name.starts_with(|c: char| c.is_alphabetic() || "_@$#".contains(c));
        if begins && after > 0 && name.len() > 1 {
            format!("; if the attribute is {name}, quote the name: \"{name}\"")
        } else {
            String::new()
        }
    }

    pub fn error(&self, at: usize, found: impl Into<String>, expected: impl Into<String>) -> ParseError {
        ParseError::at(self.text, at, found, expected)
    }
}
