//! Tokens to tree. The stack holds two frames per parenthesis; everything else is a loop.
//!
//! `groups` collects operands by precedence, `literals` reads what stands on the right of an operator.

mod groups;
mod literals;

use super::Limits;
use super::ast::{Attribute, Condition, Connective, Expr, Op, Quantifier};
use super::lexer::{Keyword, Kind, Lexer, Token};
use super::pattern::PatternKind;
use crate::error::ParseError;
use crate::value::Literal;
use groups::Pending;
use literals::unquote;
use smol_str::SmolStr;
use std::borrow::Cow;

/// Bytes of an attribute's name. An index keeps every prefix of a dotted name and readers recurse once a dot, so a
/// name of half a megabyte of dots would cost gigabytes and the stack.
const MAX_NAME: usize = 1_000;

/// Parses an expression.
///
/// ```
/// use tamis_core::expr::{Limits, parse};
/// let expr = parse("age>=18 and not country in ('US', 'DE')", &Limits::default()).unwrap();
/// assert_eq!(expr.to_string(), "age >= 18 AND NOT country IN ('US', 'DE')");
/// ```
pub fn parse(text: &str, limits: &Limits) -> Result<Expr, ParseError> {
    if text.len() > limits.max_length {
        let found = format!("a text of {} bytes", text.len());
        let expected = format!("at most {} bytes (max_length)", limits.max_length);
        return Err(ParseError::at(text, limits.max_length, found, expected));
    }
    let mut lexer = Lexer::new(text);
    let token = lexer.next()?;
    let mut parser = Parser { lexer, token, limits };
    let (expr, _) = parser.expression(1)?;
    match parser.token.kind {
        Kind::End => Ok(expr),
        Kind::Caret => {
            Err(parser.unexpected("AND, OR, XOR, XNOR or the end; a weight belongs to a single predicate"))
        }
        _ => Err(parser.unexpected("AND, OR, XOR, XNOR or the end of the text")),
    }
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    /// The token not yet consumed.
    token: Token,
    limits: &'t Limits,
}

type Parsed<T> = Result<T, ParseError>;

impl<'t> Parser<'t> {
    /// Operands joined by connectives, up to a closing parenthesis or the end. Returns the tree and its depth.
    ///
    /// `AND` binds tighter than `XOR`/`XNOR`, which bind tighter than `OR`; `pending` holds one open group a level.
    fn expression(&mut self, depth: usize) -> Parsed<(Expr, usize)> {
        let start = self.token.start;
        let (mut operand, mut levels) = self.operand(depth)?;
        if !self.at_connective() {
            return Ok((operand, levels));
        }
        let mut pending = Pending::default();
        loop {
            pending.and.push(operand, levels);
            match self.token.kind {
                Kind::Keyword(Keyword::And) => {}
                Kind::Keyword(Keyword::Xor) => pending.close_and(Connective::Xor),
                Kind::Keyword(Keyword::Xnor) => pending.close_and(Connective::Xnor),
                Kind::Keyword(Keyword::Or) => pending.close_xor(),
                _ => break,
            }
            self.advance()?;
            (operand, levels) = self.operand(depth)?;
        }
        let (expr, levels) = pending.finish();
        self.check_depth(start, levels)?;
        Ok((expr, levels))
    }

    fn at_connective(&self) -> bool {
        use Keyword::{And, Or, Xnor, Xor};
        matches!(self.token.kind, Kind::Keyword(And | Or | Xor | Xnor))
    }

    /// `NOT`s, then a parenthesis or a predicate.
    fn operand(&mut self, depth: usize) -> Parsed<(Expr, usize)> {
        let start = self.token.start;
        let mut negations = 0;
        while self.token.kind == Kind::Keyword(Keyword::Not) {
            negations += 1;
            self.check_depth(self.token.start, depth + negations)?;
            self.advance()?;
        }
        let (mut expr, mut levels) = if self.token.kind == Kind::Open {
            self.check_depth(self.token.start, depth + negations + 1)?;
            self.advance()?;
            let inner = self.expression(depth + negations + 1)?;
            self.expect(Kind::Close, "AND, OR, XOR, XNOR or a closing parenthesis")?;
            inner
        } else {
            (self.predicate()?, 1)
        };
        for _ in 0..negations {
            expr = Expr::Not(Box::new(expr));
        }
        levels += negations;
        self.check_depth(start, levels)?;
        Ok((expr, levels))
    }

    fn check_depth(&self, at: usize, depth: usize) -> Parsed<()> {
        if depth <= self.limits.max_depth {
            return Ok(());
        }
        let expected = format!("at most {} levels of nesting (max_depth)", self.limits.max_depth);
        Err(self.lexer.error(at, "a deeper level", expected))
    }

    // Kept out of `operand`, whose frame stands on the stack once a level.
    #[inline(never)]
    fn predicate(&mut self) -> Parsed<Expr> {
        let word = self.token;
        if !matches!(word.kind, Kind::Word | Kind::QuotedName { .. }) {
            let literal = self.literal("an attribute, a literal, NOT or a parenthesis")?;
            return self.literal_first(literal);
        }
        let attribute = match self.path()? {
            Path::Attribute(name)
                if matches!(self.token.kind, Kind::String { .. })
                    && self.is_instant(word)
                    && name.len() == word.end - word.start =>
            {
                let literal = self.instant(word)?;
                return self.literal_first(literal);
            }
            Path::Attribute(name) => Attribute { name, quantifier: None },
            Path::Call => match self.call(word)? {
                Call::Attribute(attribute) => attribute,
                Call::Predicate(attribute, op) => return self.weighted(attribute, op),
            },
        };
        let op = self.operator(&attribute)?;
        self.weighted(attribute, op)
    }

    /// `3 < a`, or a boolean constant.
    fn literal_first(&mut self, literal: Literal) -> Parsed<Expr> {
        let Kind::Compare(comparison) = self.token.kind else {
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
            Kind::Compare(comparison) => {
                self.advance()?;
                Ok(Op::Compare(comparison, self.literal("a literal")?))
            }
            Kind::Keyword(Keyword::Is) => {
                if attribute.quantifier.is_some() {
                    return Err(self
                        .unexpected("another operator: IS NULL asks about the attribute, not its elements"));
                }
                self.advance()?;
                let negated = self.accept(Keyword::Not)?;
                self.expect(Kind::Keyword(Keyword::Null), if negated { "NULL" } else { "NULL or NOT NULL" })?;
                Ok(Op::IsNull { negated })
            }
            Kind::Keyword(Keyword::Not) => {
                self.advance()?;
                self.negatable(true)
            }
            Kind::Keyword(
                Keyword::In | Keyword::Between | Keyword::Like | Keyword::ILike | Keyword::RLike,
            ) => self.negatable(false),
            _ => Ok(Op::IsTrue),
        }
    }

    /// The operators that take a NOT before them.
    fn negatable(&mut self, negated: bool) -> Parsed<Op> {
        let Kind::Keyword(keyword) = self.token.kind else {
            return Err(self.unexpected("IN, BETWEEN, LIKE, ILIKE or RLIKE"));
        };
        let kind = match keyword {
            Keyword::In => {
                self.advance()?;
                self.expect(Kind::Open, "an opening parenthesis")?;
                let mut literals = vec![self.literal("a literal")?];
                while self.token.kind == Kind::Comma {
                    self.advance()?;
                    literals.push(self.literal("a literal")?);
                }
                self.expect(Kind::Close, "a comma or a closing parenthesis")?;
                return Ok(Op::In { negated, literals });
            }
            Keyword::Between => {
                self.advance()?;
                let low = self.literal("a literal")?;
                self.expect(Kind::Keyword(Keyword::And), "AND")?;
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

    /// The inside of `name(...)`, up to and including the closing parenthesis. Calls nest at most once, so nothing
    /// recurses here.
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
        self.expect(Kind::Open, "an opening parenthesis")?;
        let attribute = self.attribute()?;
        self.expect(Kind::Comma, "a comma")?;
        let op = match pattern {
            Some((_, kind)) => Op::Matches { negated: false, pattern: self.pattern(kind)? },
            None => {
                let mut networks = vec![self.network()?];
                while self.token.kind == Kind::Comma {
                    self.advance()?;
                    networks.push(self.network()?);
                }
                Op::InCidr(networks)
            }
        };
        self.expect(Kind::Close, "a closing parenthesis")?;
        Ok(Call::Predicate(attribute, op))
    }

    fn quantifier(&self, word: Token) -> Option<Quantifier> {
        let word = self.lexer.raw(word);
        let quantifiers = [("any", Quantifier::Any), ("all", Quantifier::All)];
        quantifiers
            .into_iter()
            .find(|(name, _)| word.eq_ignore_ascii_case(name))
            .map(|(_, quantifier)| quantifier)
    }

    /// The parenthesis behind `any` or `all`.
    fn quantified(&mut self, quantifier: Quantifier) -> Parsed<Attribute> {
        self.expect(Kind::Open, "an opening parenthesis")?;
        let word = self.token;
        let Path::Attribute(name) = self.attribute_path()? else {
            let is_quantifier = self.quantifier(word).is_some();
            let found = if is_quantifier { "a quantifier inside a quantifier" } else { "a function" };
            return Err(self.lexer.error(word.start, found, "an attribute"));
        };
        self.expect(Kind::Close, "a closing parenthesis")?;
        Ok(Attribute { name, quantifier: Some(quantifier) })
    }

    /// An attribute, perhaps quantified.
    fn attribute(&mut self) -> Parsed<Attribute> {
        let word = self.token;
        match (self.attribute_path()?, self.quantifier(word)) {
            (Path::Attribute(name), _) => Ok(Attribute { name, quantifier: None }),
            (Path::Call, Some(quantifier)) => self.quantified(quantifier),
            (Path::Call, None) => Err(self.lexer.error(word.start, "a function", "an attribute")),
        }
    }

    fn attribute_path(&mut self) -> Parsed<Path> {
        match self.token.kind {
            Kind::Word | Kind::QuotedName { .. } => self.path(),
            _ => Err(self.unexpected("an attribute")),
        }
    }

    /// A dotted path, or just the first word of a call.
    fn path(&mut self) -> Parsed<Path> {
        let first = self.token;
        self.advance()?;
        if self.token.kind == Kind::Open && first.kind == Kind::Word {
            return Ok(Path::Call);
        }
        let part = self.name(first)?;
        if self.token.kind != Kind::Dot {
            self.check_name(first, &part)?;
            return Ok(Path::Attribute(SmolStr::new(part)));
        }
        let mut name = part.into_owned();
        while self.token.kind == Kind::Dot {
            self.advance()?;
            let part = match self.token.kind {
                Kind::Word | Kind::QuotedName { .. } => self.name(self.token)?,
                // Not `!`, `&&` and `||`, which stand for keywords.
                Kind::Keyword(_) if is_word(self.lexer.raw(self.token)) => {
                    Cow::Borrowed(self.lexer.raw(self.token))
                }
                _ => return Err(self.unexpected("a name after the dot")),
            };
            name.push('.');
            name.push_str(&part);
            self.advance()?;
        }
        self.check_name(first, &name)?;
        Ok(Path::Attribute(name.into()))
    }

    fn check_name(&self, first: Token, name: &str) -> Parsed<()> {
        if name.len() <= MAX_NAME {
            return Ok(());
        }
        let found = format!("a name of {} bytes", name.len());
        Err(self.lexer.error(first.start, found, format!("at most {MAX_NAME} bytes for an attribute's name")))
    }

    fn name(&self, token: Token) -> Parsed<Cow<'t, str>> {
        let raw = self.lexer.raw(token);
        let Kind::QuotedName { doubled } = token.kind else {
            return Ok(Cow::Borrowed(raw));
        };
        if raw.len() == 2 {
            return Err(self.lexer.error(token.start, "an empty name", "an attribute"));
        }
        Ok(unquote(raw, doubled))
    }

    /// An optional `^ weight`, then the predicate is complete.
    fn weighted(&mut self, attribute: Attribute, op: Op) -> Parsed<Expr> {
        let mut weight = 1.0;
        if self.token.kind == Kind::Caret {
            self.advance()?;
            let value = match self.token.kind {
                Kind::Integer | Kind::Float => self.lexer.raw(self.token).parse().ok(),
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

    fn advance(&mut self) -> Parsed<()> {
        self.token = self.lexer.next()?;
        Ok(())
    }

    fn accept(&mut self, keyword: Keyword) -> Parsed<bool> {
        let found = self.token.kind == Kind::Keyword(keyword);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, kind: Kind, expected: &str) -> Parsed<()> {
        if self.token.kind != kind {
            return Err(self.unexpected(expected));
        }
        self.advance()
    }

    fn unexpected(&self, expected: impl Into<String>) -> ParseError {
        self.lexer.error(self.token.start, self.lexer.describe(self.token), expected)
    }
}

enum Path {
    Attribute(SmolStr),
    /// A word before a parenthesis, which is not consumed yet.
    Call,
}

enum Call {
    Attribute(Attribute),
    Predicate(Attribute, Op),
}

fn is_word(raw: &str) -> bool {
    raw.bytes().all(|b| b.is_ascii_alphabetic())
}
