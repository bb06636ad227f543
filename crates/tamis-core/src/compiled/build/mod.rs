//! From expressions to postings.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `conditions` | what is a predicate in spaces? |
//! | `profile` | how selective is a predicate? |
//! | `expressions` | how are expressions kept until all predicates are known? |
//! | `cover` | which predicates must hold, one at least, for an expression to be TRUE? |
//! | `alternatives` | which conjunctions and shared subexpressions does that make? |
//! | `placement` | through which lists and tables is a conjunction found? |

pub(in crate::compiled) mod alternatives;
pub(in crate::compiled) mod conditions;
pub(in crate::compiled) mod cover;
pub(in crate::compiled) mod expressions;
pub(in crate::compiled) mod placement;
pub(in crate::compiled) mod profile;
