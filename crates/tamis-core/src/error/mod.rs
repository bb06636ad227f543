//! The one error type of the core. `interruption` is how a long call ends early on request.

mod interruption;

pub use interruption::Interruption;

use crate::index::Id;
use std::path::PathBuf;

/// All errors of the core. Each names what caused it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// Text that is not an expression.
    #[error("{0}")]
    Parse(Box<ParseError>),
    /// An expression built in code that breaks a limit or a rule of the language.
    #[error("{0}")]
    Expression(String),
    /// An id that the index already holds.
    #[error("id {0} is already in use")]
    DuplicateId(Id),
    /// An id that the index does not hold.
    #[error("id {0} is not in the index")]
    UnknownId(Id),
    /// An event with a value that is not supported.
    #[error("{}", event_message(.attribute.as_deref(), .message))]
    Event {
        /// The attribute or column that caused it, if a single one did.
        attribute: Option<String>,
        /// What is wrong with it.
        message: String,
    },
    /// A disjunctive normal form larger than the engine accepts.
    #[error(
        "the expression expands to {size} conjunctions, more than max_dnf = {limit}; an engine that takes arbitrary expressions (such as auto) has no such bound"
    )]
    TooComplex {
        /// Conjunctions needed (saturating).
        size: u64,
        /// Conjunctions allowed.
        limit: u64,
    },
    /// An expression that is larger in the form an engine stores than the engine accepts.
    #[error(
        "the expression takes {size} {what}, more than {option} = {limit}; raise the option, or use an engine without such a bound (such as auto)"
    )]
    ExpressionTooLarge {
        /// What there would be too many of.
        what: &'static str,
        /// How many are needed; at least as many if counting stopped at the bound.
        size: u64,
        /// The option that sets the bound.
        option: &'static str,
        /// How many are allowed.
        limit: u64,
    },
    /// Rules that no segment of the engine `compiled` can hold: a field of its format has too few bits.
    #[error(
        "more than {limit} {what} in one segment; split the largest rules into several, or spread the rules over several indexes"
    )]
    SegmentTooLarge {
        /// What there would be too many of.
        what: &'static str,
        /// How many are allowed.
        limit: u64,
    },
    /// An unknown engine, option or option value; an operation that the engine does not support.
    #[error("{0}")]
    Option(String),
    /// A file that cannot be read or written, or is not an index.
    #[error("{}: {message}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// One row of a batch failed; the index is unchanged.
    #[error("row {row}: {error}")]
    Row {
        /// Position in the batch, from 0.
        row: usize,
        /// What is wrong with that row.
        error: Box<Error>,
    },
    /// The caller has requested the end of the call; the index is unchanged.
    #[error("interrupted")]
    Interrupted,
    /// A broken invariant: a defect of tamis.
    #[error("internal error, please report it: {0}")]
    Internal(String),
}

/// Shorthand used throughout the core.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The result of `work`, or an internal error if it panics; [`Error::Interrupted`] if it unwinds on request. For work
    /// that unwinding leaves whole: matching changes nothing but its scratch.
    pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T> {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).map_err(|cause| {
            if cause.is::<interruption::Interrupted>() {
                return Error::Interrupted;
            }
            let text = cause.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
            Error::Internal(format!("a panic: {text}"))
        })
    }

    /// A stored part of an index contradicts another. Only damage under a fitting checksum leads here.
    pub(crate) fn damaged(what: &str) -> Error {
        Error::Internal(format!("the index is damaged: {what}"))
    }

    /// An event error that names its attribute.
    pub fn event(attribute: &str, message: impl Into<String>) -> Error {
        Error::Event { attribute: Some(attribute.to_owned()), message: message.into() }
    }

    /// Whether an engine refuses an expression for its size: others take it.
    pub fn is_too_complex(&self) -> bool {
        matches!(self, Error::TooComplex { .. } | Error::ExpressionTooLarge { .. })
    }

    /// The same error, attributed to a row of a batch.
    pub fn at_row(self, row: usize) -> Error {
        match self {
            Error::Row { .. } | Error::Interrupted => self,
            error => Error::Row { row, error: Box::new(error) },
        }
    }
}

fn event_message(attribute: Option<&str>, message: &str) -> String {
    match attribute {
        Some(attribute) => format!("attribute {attribute:?}: {message}"),
        None => message.to_owned(),
    }
}

/// Where and why a text is not an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The token at that position.
    pub found: String,
    /// What would be accepted there, or the rule that is broken.
    pub expected: String,
    /// The line's text around the position, with a caret below it.
    pub snippet: String,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ParseError { line, column, found, expected, snippet } = self;
        write!(f, "line {line}, column {column}: found {found}, expected {expected}\n{snippet}")
    }
}

/// Maximum characters of the line on either side of the caret.
const CONTEXT: usize = 60;

impl ParseError {
    /// An error at a byte offset of `text` (rounded down to a character).
    pub fn at(
        text: &str,
        offset: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> ParseError {
        let offset = (0..=offset.min(text.len())).rfind(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let before = &text[..offset];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
        let left: Vec<char> = text[start..offset].chars().rev().take(CONTEXT + 1).collect();
        let cut_left = left.len() > CONTEXT;
        let mut shown: String = if cut_left { "…".into() } else { String::new() };
        shown.extend(left.iter().take(CONTEXT).rev().map(|&c| visible(c)));
        let caret = shown.chars().count();
        let mut right = text[offset..end].chars();
        shown.extend(right.by_ref().take(CONTEXT).map(visible));
        if right.next().is_some() {
            shown.push('…');
        }
        ParseError {
            line: before.bytes().filter(|&b| b == b'\n').count() + 1,
            column: text[start..offset].chars().count() + 1,
            found: found.into(),
            expected: expected.into(),
            snippet: format!("  {shown}\n  {}^", " ".repeat(caret)),
        }
    }
}

/// Replaces control characters by blanks: they would shift the caret.
fn visible(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Error {
        Error::Parse(Box::new(error))
    }
}
