//! Does every engine answer as the reference does?

mod a_tree;
mod compiled;
mod filled;
mod gem_tree;
mod histories;
mod pst;
