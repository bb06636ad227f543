//! The syntax tree: what the user wrote.

use crate::expr::pattern::TextPattern;
use crate::value::Literal;
use ipnet::IpNet;
use smol_str::SmolStr;
use std::cmp::Ordering;
use std::sync::Arc;

/// A Boolean expression over an event's attributes.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// `TRUE` or `FALSE`.
    Const(bool),
    /// A single predicate.
    Condition(Condition),
    /// `NOT e`.
    Not(Box<Expr>),
    /// `e AND e ...`, two or more, none of them an `And`.
    And(Vec<Expr>),
    /// `e OR e ...`, two or more, none of them an `Or`.
    Or(Vec<Expr>),
    /// `e XOR e ...`, two or more, evaluated from left to right, none of them an `Xor`.
    Xor(Vec<Expr>),
    /// `e XNOR e ...`, two or more, evaluated from left to right, none of them an `Xnor`.
    Xnor(Vec<Expr>),
}

/// A predicate as written: an attribute, an operator, a weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The attribute it tests.
    pub attribute: Attribute,
    /// The operator with its literals.
    pub op: Op,
    /// Added to the score if the predicate is satisfied; finite and >= 0, 1 by default.
    pub weight: f64,
}

/// An attribute, optionally quantified over the elements of its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Dotted path: `user.age`.
    pub name: SmolStr,
    /// `any(...)` or `all(...)`.
    pub quantifier: Option<Quantifier>,
}

/// Over which elements of a list a predicate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// Some element.
    Any,
    /// Every element.
    All,
}

/// The operators of the language.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// `attr < literal` and the like.
    Compare(Comparison, Literal),
    /// `attr [NOT] BETWEEN low AND high`, both included.
    Between {
        /// `NOT BETWEEN`.
        negated: bool,
        /// Lower bound.
        low: Literal,
        /// Upper bound.
        high: Literal,
    },
    /// `attr [NOT] IN (...)`: the OR of equalities, or its negation.
    In {
        /// `NOT IN`.
        negated: bool,
        /// The list, not empty.
        literals: Vec<Literal>,
    },
    /// `attr IS [NOT] NULL`.
    IsNull {
        /// `IS NOT NULL`.
        negated: bool,
    },
    /// `[NOT] LIKE`, `[NOT] ILIKE`, `[NOT] RLIKE`, `startswith`, `endswith`, `contains`.
    Matches {
        /// `NOT LIKE` and the like.
        negated: bool,
        /// The compiled pattern.
        pattern: Arc<TextPattern>,
    },
    /// `in_cidr(attr, '10.0.0.0/8', ...)`.
    InCidr(Vec<IpNet>),
    /// A boolean attribute by itself.
    IsTrue,
}

/// The six comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Comparison {
    /// Whether a value in this order to the literal satisfies the comparison.
    pub fn accepts(self, order: Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::LessEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterEqual => order.is_ge(),
        }
    }

    /// The comparison with its sides swapped: `3 < a` is `a > 3`.
    pub fn flipped(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessEqual => Comparison::GreaterEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterEqual => Comparison::LessEqual,
            same => same,
        }
    }

    /// The negation: TRUE where this comparison is FALSE.
    pub fn negated(self) -> Comparison {
        match self {
            Comparison::Equal => Comparison::NotEqual,
            Comparison::NotEqual => Comparison::Equal,
            Comparison::Less => Comparison::GreaterEqual,
            Comparison::LessEqual => Comparison::Greater,
            Comparison::Greater => Comparison::LessEqual,
            Comparison::GreaterEqual => Comparison::Less,
        }
    }

    /// The symbol in canonical text.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
        }
    }
}

/// The four connectives of two or more operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connective {
    /// All are true.
    And,
    /// An odd number is true, evaluated from left to right.
    Xor,
    /// The negation of XOR, from left to right.
    Xnor,
    /// Some is true.
    Or,
}

impl Expr {
    /// Connects expressions; operands of the same connective are flattened into it, because all four are associative.
    pub fn join(connective: Connective, mut operands: Vec<Expr>) -> Expr {
        if operands.len() == 1 {
            return operands.swap_remove(0);
        }
        if operands.iter().any(|operand| operand.connective() == Some(connective)) {
            operands = operands
                .into_iter()
                .flat_map(|operand| {
                    if operand.connective() == Some(connective) {
                        operand.into_children()
                    } else {
                        vec![operand]
                    }
                })
                .collect();
        }
        match connective {
            Connective::And => Expr::And(operands),
            Connective::Or => Expr::Or(operands),
            Connective::Xor => Expr::Xor(operands),
            Connective::Xnor => Expr::Xnor(operands),
        }
    }

    fn connective(&self) -> Option<Connective> {
        match self {
            Expr::And(_) => Some(Connective::And),
            Expr::Or(_) => Some(Connective::Or),
            Expr::Xor(_) => Some(Connective::Xor),
            Expr::Xnor(_) => Some(Connective::Xnor),
            Expr::Const(_) | Expr::Condition(_) | Expr::Not(_) => None,
        }
    }

    fn into_children(self) -> Vec<Expr> {
        match self {
            Expr::And(operands) | Expr::Or(operands) | Expr::Xor(operands) | Expr::Xnor(operands) => operands,
            other => vec![other],
        }
    }

    /// The operands of a connective; none for a predicate or constant.
    pub fn children(&self) -> &[Expr] {
        match self {
            Expr::Const(_) | Expr::Condition(_) => &[],
            Expr::Not(inner) => std::slice::from_ref(inner),
            Expr::And(operands) | Expr::Or(operands) | Expr::Xor(operands) | Expr::Xnor(operands) => operands,
        }
    }

    /// Levels of nesting; a predicate has one.
    pub fn depth(&self) -> usize {
        1 + self.children().iter().map(Expr::depth).max().unwrap_or(0)
    }

    /// Visits every predicate from left to right, with whether an odd number of NOTs encloses it.
    pub fn for_each_condition<'a>(&'a self, negated: bool, visit: &mut impl FnMut(&'a Condition, bool)) {
        match self {
            Expr::Condition(condition) => visit(condition, negated),
            Expr::Not(inner) => inner.for_each_condition(!negated, visit),
            _ => self.children().iter().for_each(|child| child.for_each_condition(negated, visit)),
        }
    }
}
