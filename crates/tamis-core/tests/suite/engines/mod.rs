//! Does every engine answer as the reference does?

mod a_tree;
mod be_tree;
mod checking;
mod compiled;
mod gem_tree;
mod histories;
mod op_index;
mod pst;
