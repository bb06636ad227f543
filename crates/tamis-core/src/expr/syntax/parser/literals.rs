//! Literals: numbers, texts, times, patterns, networks.

use super::{Parsed, Parser};
use crate::expr::Limits;
use crate::expr::pattern::{PatternKind, TextPattern};
use crate::expr::syntax::lexer::{Keyword, Token, TokenKind};
use crate::number::Number;
use crate::time;
use crate::value::Literal;
use ipnet::IpNet;
use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

impl<'t> Parser<'t> {
    /// A literal of any kind; `expected` describes it in error messages.
    pub(super) fn literal(&mut self, expected: &str) -> Parsed<Literal> {
        let token = self.token;
        let raw = self.lexer.raw(token);
        let literal = match token.kind {
            TokenKind::Integer => match raw.parse() {
                Ok(value) => Literal::Number(Number::Int(value)),
                Err(_) => return Err(self.unexpected("an integer of 64 bits, or a float such as 1e20")),
            },
            TokenKind::Float => {
                match raw.parse().ok().filter(|x: &f64| x.is_finite()).and_then(Number::from_f64) {
                    Some(number) => Literal::Number(number),
                    None => return Err(self.unexpected("a number that fits a 64-bit float")),
                }
            }
            TokenKind::String { doubled } => Literal::Text(unquote(raw, doubled).into()),
            TokenKind::Keyword(Keyword::True) => Literal::Bool(true),
            TokenKind::Keyword(Keyword::False) => Literal::Bool(false),
            TokenKind::Keyword(Keyword::Null) => {
                return Err(
                    self.unexpected(format!("{expected}; NULL is no value, write IS NULL or IS NOT NULL"))
                );
            }
            TokenKind::Word if self.is_instant(token) => {
                self.advance()?;
                return self.instant(token);
            }
            TokenKind::Word | TokenKind::QuotedName { .. } => {
                return Err(self.unexpected(format!(
                    "{expected}; attributes compare with literals, text stands in single quotes"
                )));
            }
            _ => return Err(self.unexpected(expected)),
        };
        self.advance()?;
        Ok(literal)
    }

    /// Whether a word begins a date or timestamp literal, provided that a text follows.
    pub(super) fn is_instant(&self, word: Token) -> bool {
        let raw = self.lexer.raw(word);
        raw.eq_ignore_ascii_case("date") || raw.eq_ignore_ascii_case("timestamp")
    }

    /// The text after `DATE` or `TIMESTAMP`.
    pub(super) fn instant(&mut self, word: Token) -> Parsed<Literal> {
        let is_date = self.lexer.raw(word).len() == "date".len();
        let form =
            if is_date { "a date such as '2026-11-15'" } else { "a timestamp such as '2026-11-15 10:00:00'" };
        let TokenKind::String { doubled } = self.token.kind else {
            return Err(self.unexpected(form));
        };
        let text = unquote(self.lexer.raw(self.token), doubled);
        let literal = if is_date {
            time::parse_date(&text).map(Literal::Date)
        } else {
            time::parse_timestamp(&text).map(Literal::Timestamp)
        };
        let Some(literal) = literal else {
            return Err(self.unexpected(form));
        };
        // An offset may move the last hours of the calendar past its end, where no text in UTC denotes them.
        if literal.micros().is_none_or(|micros| !time::is_writable(micros)) {
            return Err(self.unexpected("an instant from year -9999 to year 9999 in UTC"));
        }
        self.advance()?;
        Ok(literal)
    }

    /// A text, compiled as a pattern.
    pub(super) fn pattern(&mut self, kind: PatternKind) -> Parsed<Arc<TextPattern>> {
        let token = self.token;
        let source = self.string("a text in single quotes")?;
        let refused = |reason: String| self.lexer.error(token.start, self.lexer.describe(token), reason);
        let pattern = TextPattern::new(kind, &source, self.limits).map_err(refused)?;
        let limit = self.limits.max_regex_total();
        let total = self.regex_bytes.saturating_add(pattern.regex_heap());
        if total > limit {
            return Err(refused(format!(
                "the regular expressions of one rule to compile to at most {limit} bytes ({} times max_regex_size)",
                Limits::REGEXES
            )));
        }
        self.regex_bytes = total;
        Ok(Arc::new(pattern))
    }

    /// A network, or an address as a network of one.
    pub(super) fn network(&mut self) -> Parsed<IpNet> {
        let token = self.token;
        let text = self.string("a network such as '10.0.0.0/8'")?;
        let network = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        let expected = match network {
            Ok(network) if network.trunc() == network => return Ok(network),
            Ok(network) => format!("a network without host bits: '{}'", network.trunc()),
            Err(_) => "a network such as '10.0.0.0/8' or '2001:db8::/32'".into(),
        };
        Err(self.lexer.error(token.start, self.lexer.describe(token), expected))
    }

    /// A text in single quotes, unquoted.
    pub(super) fn string(&mut self, expected: &str) -> Parsed<Cow<'t, str>> {
        let TokenKind::String { doubled } = self.token.kind else {
            return Err(self.unexpected(expected));
        };
        let raw = self.lexer.raw(self.token);
        self.advance()?;
        Ok(unquote(raw, doubled))
    }
}

/// The text between the quotes, with doubled quotes replaced by single ones.
pub(super) fn unquote(raw: &str, doubled: bool) -> Cow<'_, str> {
    let inner = &raw[1..raw.len() - 1];
    if !doubled {
        return Cow::Borrowed(inner);
    }
    let quote = &raw[..1];
    Cow::Owned(inner.replace(&quote.repeat(2), quote))
}
