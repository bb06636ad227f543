//! How text becomes an expression of the index.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `source` | what can be added to an index? |
//! | `parse_ahead` | how are many texts parsed on other cores? |

mod parse_ahead;
mod source;

pub(super) use parse_ahead::{Parsed, parse_ahead};
pub use source::Source;
