//! PSTBloom and PSTHash: conjunctions found through the predicate spaces of an event.
//!
//! Paper: S. Ji and H.-A. Jacobsen, PS-Tree-based Efficient Boolean Expression Matching for High-Dimensional and
//! Dense Workloads, PVLDB 12(3), 2018, sections 5 and 6. The PS-Tree itself is [`crate::space`].
//!
//! | file | question it answers |
//! | --- | --- |
//! | `bloom` | one access predicate, Bloom signatures in the leaves: PSTBloom |
//! | `hash` | several access predicates, a hash table of their spaces: PSTHash |
//! | `base` | what do both know of a conjunction, and how do both test a candidate? |

mod base;
mod bloom;
mod hash;

pub(super) use bloom::INFO as BLOOM_INFO;
pub(super) use hash::INFO as HASH_INFO;
