//! How the threads and forks of a process share an index.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `forking` | how does a fork wait until no lock of an index is held? |
//! | `locks` | which locks take part in that? |

mod forking;
mod locks;

pub(super) use forking::Inside;
pub use forking::{after_fork_in_child, after_fork_in_parent, before_fork};
pub(super) use locks::{Mutex, RwLock};
