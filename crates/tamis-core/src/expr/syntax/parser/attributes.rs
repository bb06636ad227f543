//! Attributes: dotted names, quoted names, quantifiers.

use super::literals::unquote;
use super::{Parsed, Parser};
use crate::expr::syntax::ast::{Attribute, Quantifier};
use crate::expr::syntax::lexer::{Token, TokenKind};
use smol_str::SmolStr;
use std::borrow::Cow;

/// Maximum bytes of an attribute's name. An index stores every prefix of a dotted name and readers recurse once per
/// dot, so a name of half a megabyte of dots would cost gigabytes of memory and overflow the stack.
const MAX_NAME: usize = 1_000;

/// Maximum parts of a dotted name. Its prefixes take at most 16 times the memory of the name itself.
const MAX_PARTS: usize = 32;

/// What begins with a name.
pub(super) enum NameOrCall {
    /// An attribute.
    Attribute(SmolStr),
    /// A function or quantifier; its opening parenthesis is the next token.
    Call,
}

impl<'t> Parser<'t> {
    /// The quantifier that a word is, in any case.
    pub(super) fn quantifier(&self, word: Token) -> Option<Quantifier> {
        let word = self.lexer.raw(word);
        let quantifiers = [("any", Quantifier::Any), ("all", Quantifier::All)];
        quantifiers
            .into_iter()
            .find(|(name, _)| word.eq_ignore_ascii_case(name))
            .map(|(_, quantifier)| quantifier)
    }

    /// The parenthesized attribute after `any` or `all`.
    pub(super) fn quantified(&mut self, quantifier: Quantifier) -> Parsed<Attribute> {
        self.expect(TokenKind::Open, "an opening parenthesis")?;
        let word = self.token;
        let NameOrCall::Attribute(name) = self.expect_name_or_call()? else {
            let is_quantifier = self.quantifier(word).is_some();
            let found = if is_quantifier { "a quantifier inside a quantifier" } else { "a function" };
            return Err(self.lexer.error(word.start, found, "an attribute"));
        };
        self.expect(TokenKind::Close, "a closing parenthesis")?;
        Ok(Attribute { name, quantifier: Some(quantifier) })
    }

    /// An attribute, quantified or not.
    pub(super) fn attribute(&mut self) -> Parsed<Attribute> {
        let word = self.token;
        match (self.expect_name_or_call()?, self.quantifier(word)) {
            (NameOrCall::Attribute(name), _) => Ok(Attribute { name, quantifier: None }),
            (NameOrCall::Call, Some(quantifier)) => self.quantified(quantifier),
            (NameOrCall::Call, None) => Err(self.lexer.error(word.start, "a function", "an attribute")),
        }
    }

    /// As [`Parser::name_or_call`], or an error if the next token is not a name.
    fn expect_name_or_call(&mut self) -> Parsed<NameOrCall> {
        match self.token.kind {
            TokenKind::Word | TokenKind::QuotedName { .. } => self.name_or_call(),
            _ => Err(self.unexpected("an attribute")),
        }
    }

    /// A dotted name, or only the first word of a call.
    pub(super) fn name_or_call(&mut self) -> Parsed<NameOrCall> {
        let first = self.token;
        self.advance()?;
        if self.token.kind == TokenKind::Open && first.kind == TokenKind::Word {
            return Ok(NameOrCall::Call);
        }
        let part = self.name(first)?;
        if self.token.kind != TokenKind::Dot {
            self.check_name(first, &part)?;
            return Ok(NameOrCall::Attribute(SmolStr::new(part)));
        }
        let mut name = part.into_owned();
        while self.token.kind == TokenKind::Dot {
            self.advance()?;
            let part = match self.token.kind {
                TokenKind::Word | TokenKind::QuotedName { .. } => self.name(self.token)?,
                // A keyword is a name here, but not if it is written `!`, `&&` or `||`.
                TokenKind::Keyword(_) if is_word(self.lexer.raw(self.token)) => {
                    Cow::Borrowed(self.lexer.raw(self.token))
                }
                _ => return Err(self.unexpected("a name after the dot")),
            };
            name.push('.');
            name.push_str(&part);
            self.advance()?;
        }
        self.check_name(first, &name)?;
        Ok(NameOrCall::Attribute(name.into()))
    }

    /// Refuses a name of more than [`MAX_NAME`] bytes or [`MAX_PARTS`] parts.
    fn check_name(&self, first: Token, name: &str) -> Parsed<()> {
        if name.len() <= MAX_NAME {
            let parts = name.split('.').count();
            if parts <= MAX_PARTS {
                return Ok(());
            }
            let (found, expected) =
                (format!("a name of {parts} parts"), format!("at most {MAX_PARTS} parts"));
            return Err(self.lexer.error(first.start, found, format!("{expected} for an attribute's name")));
        }
        let found = format!("a name of {} bytes", name.len());
        Err(self.lexer.error(first.start, found, format!("at most {MAX_NAME} bytes for an attribute's name")))
    }

    /// The part of a name that a token is, unquoted.
    fn name(&self, token: Token) -> Parsed<Cow<'t, str>> {
        let raw = self.lexer.raw(token);
        let TokenKind::QuotedName { doubled } = token.kind else {
            return Ok(Cow::Borrowed(raw));
        };
        if raw.len() == 2 {
            return Err(self.lexer.error(token.start, "an empty name", "an attribute"));
        }
        Ok(unquote(raw, doubled))
    }
}

fn is_word(raw: &str) -> bool {
    raw.bytes().all(|b| b.is_ascii_alphabetic())
}
