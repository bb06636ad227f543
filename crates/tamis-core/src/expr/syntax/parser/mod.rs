//! Tokens to syntax tree, by recursive descent: two stack frames per parenthesis, everything else is a loop.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `operand_groups` | which operands does each connective have, by precedence? |
//! | `predicates` | which operator and which literals follow an attribute? |
//! | `attributes` | which attribute is named, and is it quantified? |
//! | `literals` | which number, text, time, pattern or network is this? |

mod attributes;
mod literals;
mod operand_groups;
mod predicates;

use super::ast::{Connective, Expr};
use super::lexer::{Keyword, Lexer, Token, TokenKind};
use crate::error::ParseError;
use crate::expr::Limits;
use operand_groups::OpenGroups;

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
        TokenKind::End => Ok(expr),
        TokenKind::Caret => {
            Err(parser.unexpected("AND, OR, XOR, XNOR or the end; a weight belongs to a single predicate"))
        }
        _ => Err(parser.unexpected("AND, OR, XOR, XNOR or the end of the text")),
    }
}

/// The state of a parse.
struct Parser<'t> {
    lexer: Lexer<'t>,
    /// The token not yet consumed.
    token: Token,
    limits: &'t Limits,
}

type Parsed<T> = Result<T, ParseError>;

impl<'t> Parser<'t> {
    /// Operands and connectives, up to a closing parenthesis or the end. Returns the tree and its depth.
    fn expression(&mut self, depth: usize) -> Parsed<(Expr, usize)> {
        let start = self.token.start;
        let (mut operand, mut levels) = self.operand(depth)?;
        if !self.at_connective() {
            return Ok((operand, levels));
        }
        let mut groups = OpenGroups::default();
        loop {
            groups.and.push(operand, levels);
            match self.token.kind {
                TokenKind::Keyword(Keyword::And) => {}
                TokenKind::Keyword(Keyword::Xor) => groups.close_and(Connective::Xor),
                TokenKind::Keyword(Keyword::Xnor) => groups.close_and(Connective::Xnor),
                TokenKind::Keyword(Keyword::Or) => groups.close_xor(),
                _ => break,
            }
            self.advance()?;
            (operand, levels) = self.operand(depth)?;
        }
        let (expr, levels) = groups.finish();
        self.check_depth(start, levels)?;
        Ok((expr, levels))
    }

    /// Whether the next token is a connective.
    fn at_connective(&self) -> bool {
        use Keyword::{And, Or, Xnor, Xor};
        matches!(self.token.kind, TokenKind::Keyword(And | Or | Xor | Xnor))
    }

    /// `NOT`s, then a parenthesis or a predicate.
    fn operand(&mut self, depth: usize) -> Parsed<(Expr, usize)> {
        let start = self.token.start;
        let mut negations = 0;
        while self.token.kind == TokenKind::Keyword(Keyword::Not) {
            negations += 1;
            self.check_depth(self.token.start, depth + negations)?;
            self.advance()?;
        }
        let (mut expr, mut levels) = if self.token.kind == TokenKind::Open {
            self.check_depth(self.token.start, depth + negations + 1)?;
            self.advance()?;
            let inner = self.expression(depth + negations + 1)?;
            self.expect(TokenKind::Close, "AND, OR, XOR, XNOR or a closing parenthesis")?;
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

    /// Refuses a depth past `max_depth`.
    fn check_depth(&self, at: usize, depth: usize) -> Parsed<()> {
        if depth <= self.limits.max_depth {
            return Ok(());
        }
        let expected = format!("at most {} levels of nesting (max_depth)", self.limits.max_depth);
        Err(self.lexer.error(at, "a deeper level", expected))
    }

    /// Consumes the next token.
    fn advance(&mut self) -> Parsed<()> {
        self.token = self.lexer.next()?;
        Ok(())
    }

    /// Consumes the keyword if it comes next; says whether it did.
    fn accept(&mut self, keyword: Keyword) -> Parsed<bool> {
        let found = self.token.kind == TokenKind::Keyword(keyword);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Consumes a token of this kind.
    fn expect(&mut self, kind: TokenKind, expected: &str) -> Parsed<()> {
        if self.token.kind != kind {
            return Err(self.unexpected(expected));
        }
        self.advance()
    }

    /// The error that another token than the next was expected.
    fn unexpected(&self, expected: impl Into<String>) -> ParseError {
        self.lexer.error(self.token.start, self.lexer.describe(self.token), expected)
    }
}
