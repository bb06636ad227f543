//! Does every engine answer as the reference does?

mod a_tree;
mod be_tree;
mod compiled;
mod histories;
mod pst;
