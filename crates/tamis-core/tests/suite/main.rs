//! The tests of the core in one binary, so that everything is linked once.

mod engines;
mod events;
mod index;
mod language;
mod regressions;
mod saved_files;
mod space;
