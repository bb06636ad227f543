//! Predicates: an attribute, an operator, an optional weight; or a literal first.

use super::attributes::NameOrCall;
use super::{Parsed, Parser};
use crate::expr::pattern::PatternKind;
use crate::expr::syntax::ast::{Attribute, Condition, Expr, Op};
use crate::expr::syntax::lexer::{Keyword, Token, TokenKind};
use crate::value::Literal;

/// What a call is: a quantified attribute, or a whole predicate.
enum Call {
    Attribute(Attribute),
    Predicate(Attribute, Op),
}

impl Parser<'_> {
    /// A predicate or a constant. Not inlined into `operand`, which has one stack frame per level.
    #[inline(never)]
    pub(super) fn predicate(&mut self) -> Parsed<Expr> {
        let word = self.token;
        if !matches!(word.kind, TokenKind::Word | TokenKind::QuotedName { .. }) {
            let literal = self.literal("an attribute, a literal, NOT or a parenthesis")?;
            return self.literal_first(literal);
        }
        let attribute = match self.name_or_call()? {
            NameOrCall::Attribute(name)
                if matches!(self.token.kind, TokenKind::String { .. })
                    && self.is_instant(word)
                    && name.len() == word.end - word.start =>
            {
                let literal = self.instant(word)?;
                return self.literal_first(literal);
            }
            NameOrCall::Attribute(name) => Attribute { name, quantifier: None },
            NameOrCall::Call => match self.call(word)? {
                Call::Attribute(attribute) => attribute,
                Call::Predicate(attribute, op) => return self.weighted(attribute, op),
            },
        };
        let op = self.operator(&attribute)?;
        self.weighted(attribute, op)
    }

    /// `3 < a`, or a boolean constant.
    fn literal_first(&mut self, literal: Literal) -> Parsed<Expr> {
        let TokenKind::Compare(comparison) = self.token.kind else {
            return match literal {
                Literal::Bool(constant) => Ok(Expr::Const(constant)),
                _ => Err(self.unexpected("a comparison after the literal")),
            };
        };
        self.advance()?;
        let attribute = self.attribute()?;
        self.weighted(attribute, Op::Compare(comparison.flipped(), literal))
    }

    /// What follows an attribute; nothing means the attribute is a boolean by itself.
    fn operator(&mut self, attribute: &Attribute) -> Parsed<Op> {
        match self.token.kind {
            TokenKind::Compare(comparison) => {
                self.advance()?;
                Ok(Op::Compare(comparison, self.literal("a literal")?))
            }
            TokenKind::Keyword(Keyword::Is) => {
                if attribute.quantifier.is_some() {
                    return Err(self
                        .unexpected("another operator: IS NULL asks about the attribute, not its elements"));
                }
                self.advance()?;
                let negated = self.accept(Keyword::Not)?;
                self.expect(
                    TokenKind::Keyword(Keyword::Null),
                    if negated { "NULL" } else { "NULL or NOT NULL" },
                )?;
                Ok(Op::IsNull { negated })
            }
            TokenKind::Keyword(Keyword::Not) => {
                self.advance()?;
                self.negatable(true)
            }
            TokenKind::Keyword(
                Keyword::In | Keyword::Between | Keyword::Like | Keyword::ILike | Keyword::RLike,
            ) => self.negatable(false),
            _ => Ok(Op::IsTrue),
        }
    }

    /// The operators that may follow a NOT.
    fn negatable(&mut self, negated: bool) -> Parsed<Op> {
        let TokenKind::Keyword(keyword) = self.token.kind else {
            return Err(self.unexpected("IN, BETWEEN, LIKE, ILIKE or RLIKE"));
        };
        let kind = match keyword {
            Keyword::In => {
                self.advance()?;
                self.expect(TokenKind::Open, "an opening parenthesis")?;
                let mut literals = vec![self.literal("a literal")?];
                while self.token.kind == TokenKind::Comma {
                    self.advance()?;
                    literals.push(self.literal("a literal")?);
                }
                self.expect(TokenKind::Close, "a comma or a closing parenthesis")?;
                return Ok(Op::In { negated, literals });
            }
            Keyword::Between => {
                self.advance()?;
                let low = self.literal("a literal")?;
                self.expect(TokenKind::Keyword(Keyword::And), "AND")?;
                let high = self.literal("a literal")?;
                return Ok(Op::Between { negated, low, high });
            }
            Keyword::Like => PatternKind::Like,
            Keyword::ILike => PatternKind::ILike,
            Keyword::RLike => PatternKind::Regex,
            _ => return Err(self.unexpected("IN, BETWEEN, LIKE, ILIKE or RLIKE")),
        };
        self.advance()?;
        Ok(Op::Matches { negated, pattern: self.pattern(kind)? })
    }

    /// The inside of `name(...)`, up to and including the closing parenthesis. Calls nest at most once, without
    /// recursion.
    fn call(&mut self, name: Token) -> Parsed<Call> {
        if let Some(quantifier) = self.quantifier(name) {
            return Ok(Call::Attribute(self.quantified(quantifier)?));
        }
        let word = self.lexer.raw(name);
        let is = |function: &str| word.eq_ignore_ascii_case(function);
        let pattern = [
            ("startswith", PatternKind::Prefix),
            ("endswith", PatternKind::Suffix),
            ("contains", PatternKind::Contains),
        ];
        let pattern = pattern.into_iter().find(|(function, _)| is(function));
        if pattern.is_none() && !is("in_cidr") {
            let expected = "any, all, startswith, endswith, contains or in_cidr";
            return Err(self.lexer.error(name.start, format!("the function {word}"), expected));
        }
        self.expect(TokenKind::Open, "an opening parenthesis")?;
        let attribute = self.attribute()?;
        self.expect(TokenKind::Comma, "a comma")?;
        let op = match pattern {
            Some((_, kind)) => Op::Matches { negated: false, pattern: self.pattern(kind)? },
            None => {
                let mut networks = vec![self.network()?];
                while self.token.kind == TokenKind::Comma {
                    self.advance()?;
                    networks.push(self.network()?);
                }
                Op::InCidr(networks)
            }
        };
        self.expect(TokenKind::Close, "a closing parenthesis")?;
        Ok(Call::Predicate(attribute, op))
    }

    /// An optional `^ weight`, then the predicate is complete.
    fn weighted(&mut self, attribute: Attribute, op: Op) -> Parsed<Expr> {
        let mut weight = 1.0;
        if self.token.kind == TokenKind::Caret {
            self.advance()?;
            let value = match self.token.kind {
                TokenKind::Integer | TokenKind::Float => self.lexer.raw(self.token).parse().ok(),
                _ => None,
            };
            weight = match value {
                // Adding zero turns -0.0 into 0.0, which prints without a sign.
                Some(value) if f64::is_finite(value) && value >= 0.0 => value + 0.0,
                _ => return Err(self.unexpected("a weight: a finite number, not negative")),
            };
            self.advance()?;
        }
        Ok(Expr::Condition(Condition { attribute, op, weight }))
    }
}
