//! Tokens to syntax tree. Open parentheses are on a stack of their own, so that the stack of the thread does not limit them.
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
    let mut parser = Parser { lexer, token, limits, regex_bytes: 0 };
    let expr = parser.expression()?;
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
    /// Bytes of the regular expressions that were compiled so far.
    regex_bytes: usize,
}

type Parsed<T> = Result<T, ParseError>;

/// A tree and its depth in levels.
type Leveled = (Expr, usize);

/// An expression whose end is not reached: that of the text, or one in parentheses.
struct OpenExpression {
    /// Where it starts in the text.
    start: usize,
    /// Its level, from 1.
    depth: usize,
    /// Its operands so far; `None` before the first connective.
    groups: Option<OpenGroups>,
}

/// An operand of which only the `NOT`s are read.
#[derive(Clone, Copy)]
struct OpenOperand {
    /// Where it starts in the text.
    start: usize,
    negations: usize,
}

impl<'t> Parser<'t> {
    /// Operands and connectives, up to the end. Returns the tree.
    fn expression(&mut self) -> Parsed<Expr> {
        // Expressions around the current one, outermost first, and the operand that each waits for.
        let mut outer: Vec<(OpenExpression, OpenOperand)> = Vec::new();
        let mut current = OpenExpression { start: self.token.start, depth: 1, groups: None };
        loop {
            let open = self.negations(current.depth)?;
            if self.token.kind == TokenKind::Open {
                let depth = current.depth + open.negations + 1;
                self.check_depth(self.token.start, depth)?;
                self.advance()?;
                let inner = OpenExpression { start: self.token.start, depth, groups: None };
                outer.push((std::mem::replace(&mut current, inner), open));
                continue;
            }
            let predicate = (self.predicate()?, 1);
            let mut operand = self.negated(open, predicate)?;
            // Each turn ends the current expression, which is an operand of the one around it.
            while !self.at_connective() {
                let ended = self.ended(current, operand)?;
                let Some((around, open)) = outer.pop() else { return Ok(ended.0) };
                self.expect(TokenKind::Close, "AND, OR, XOR, XNOR or a closing parenthesis")?;
                operand = self.negated(open, ended)?;
                current = around;
            }
            self.connect(&mut current, operand)?;
        }
    }

    /// Reads `NOT`s before an operand.
    fn negations(&mut self, depth: usize) -> Parsed<OpenOperand> {
        let mut open = OpenOperand { start: self.token.start, negations: 0 };
        while self.token.kind == TokenKind::Keyword(Keyword::Not) {
            open.negations += 1;
            self.check_depth(self.token.start, depth + open.negations)?;
            self.advance()?;
        }
        Ok(open)
    }

    /// An operand with the `NOT`s before it.
    fn negated(&self, open: OpenOperand, (mut expr, mut levels): Leveled) -> Parsed<Leveled> {
        for _ in 0..open.negations {
            expr = Expr::Not(Box::new(expr));
        }
        levels += open.negations;
        self.check_depth(open.start, levels)?;
        Ok((expr, levels))
    }

    /// Adds an operand and reads the connective behind it.
    fn connect(&mut self, current: &mut OpenExpression, (operand, levels): Leveled) -> Parsed<()> {
        let groups = current.groups.get_or_insert_default();
        groups.and.push(operand, levels);
        match self.token.kind {
            TokenKind::Keyword(Keyword::Xor) => groups.close_and(Connective::Xor),
            TokenKind::Keyword(Keyword::Xnor) => groups.close_and(Connective::Xnor),
            TokenKind::Keyword(Keyword::Or) => groups.close_xor(),
            _ => {}
        }
        self.advance()
    }

    /// An expression that ends with this operand.
    fn ended(&self, current: OpenExpression, (operand, levels): Leveled) -> Parsed<Leveled> {
        let Some(mut groups) = current.groups else { return Ok((operand, levels)) };
        groups.and.push(operand, levels);
        let (expr, levels) = groups.finish();
        self.check_depth(current.start, levels)?;
        Ok((expr, levels))
    }

    /// Whether the next token is a connective.
    fn at_connective(&self) -> bool {
        use Keyword::{And, Or, Xnor, Xor};
        matches!(self.token.kind, TokenKind::Keyword(And | Or | Xor | Xnor))
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
        let expected = expected.into() + &self.lexer.hint_at(self.token);
        self.lexer.error(self.token.start, self.lexer.describe(self.token), expected)
    }
}
