//! Arrays that hold the ids and texts of a segment, in memory or in a mapped file.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `ids` | which id has a member, and which member has an id? |
//! | `strings` | how are many strings stored in two arrays? |

mod ids;
mod strings;

pub(super) use ids::{Ids, IdsBuilder};
pub(super) use strings::{Strings, StringsBuilder};
