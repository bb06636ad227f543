//! One arena of 32-bit words with all posting lists, interval tables and rows of a segment.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `header` | how is each record packed? |
//! | `interval_block` | how do sixteen intervals lie in a SIMD block? |
//! | `test_encoding` | how does a residual test fit into 4 or 8 bytes? |
//! | `complex_test` | what of a test that does not fit? |
//! | `writer` | how are lists, tables and rows laid out? |
//! | `reader` | where are the parts of a list or table? |
//! | `traversal` | which lists and tables do some spaces lead to? |
//! | `check` | which rows are there, and does all of it lead inside the arrays? |
//! | `bounds` | the same for a file that is opened, in one pass |
//! | `order` | are entries in the order of ranks? |
//! | `test_costs` | how many tests does an event evaluate at most? |

pub(in crate::compiled) mod bounds;
pub(in crate::compiled) mod check;
pub(in crate::compiled) mod complex_test;
pub(in crate::compiled) mod header;
pub(in crate::compiled) mod interval_block;
pub(in crate::compiled) mod order;
pub(in crate::compiled) mod reader;
pub(in crate::compiled) mod test_costs;
pub(in crate::compiled) mod test_encoding;
pub(in crate::compiled) mod traversal;
pub(in crate::compiled) mod writer;
