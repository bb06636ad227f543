//! From expressions to placed conjunctions.

pub(in crate::compiled) mod conditions;
pub(in crate::compiled) mod cover;
pub(in crate::compiled) mod placement;
pub(in crate::compiled) mod profile;
