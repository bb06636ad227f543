//! From the values of an event to spaces.

pub(in crate::compiled) mod event_spaces;
pub(in crate::compiled) mod short_spaces;
pub(in crate::compiled) mod spaces;
pub(in crate::compiled) mod string_predicates;
