//! From the values of an event to spaces.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `spaces` | which space does a value belong to, and which spaces does a predicate accept? |
//! | `event_spaces` | which spaces does an event have? |
//! | `narrow_spaces` | what do tests of 4 bytes see of them? |
//! | `string_predicates` | which patterns does a string match? |
//! | `pattern_budget` | how much memory may the patterns of a file take? |

pub(in crate::compiled) mod event_spaces;
pub(in crate::compiled) mod narrow_spaces;
pub(in crate::compiled) mod pattern_budget;
pub(in crate::compiled) mod spaces;
pub(in crate::compiled) mod string_predicates;
