//! One arena of 32-bit words: how it is written, read and checked.

pub(in crate::compiled) mod check;
pub(in crate::compiled) mod reader;
pub(in crate::compiled) mod test_encoding;
pub(in crate::compiled) mod writer;
