//! tamis answers one question fast: which of millions of Boolean expressions does this event satisfy?
//!
//! The naive answer is four lines: for each expression, evaluate it on the event, keep it if TRUE. That is
//! [`engine::scan`](engine), the oracle of every test and a competitor in every benchmark. Every other engine must
//! return exactly the same ids, faster.
//!
//! ```
//! use tamis_core::index::{Id, Index, Settings};
//! let index = Index::new(Settings::default())?;
//! index.add(Id::from("ad-17"), "age between 18 and 35 and country in ('US', 'DE')".into())?;
//! assert_eq!(index.match_json(br#"{"age": 24, "country": "US"}"#)?, [Id::from("ad-17")]);
//! # Ok::<(), tamis_core::Error>(())
//! ```

mod compiled;
pub mod engine;
mod error;
pub mod event;
pub mod expr;
pub mod index;
mod number;
mod schema;
pub mod space;
mod storage;
mod time;
mod value;

pub use error::{Error, Interruption, ParseError, Result};
pub use number::Number;
pub use schema::{AttrId, Attributes, EventPath, Schema};
pub use time::{DAY as MICROS_PER_DAY, micros_of_date};
pub use value::{Kind, Literal, Value};
