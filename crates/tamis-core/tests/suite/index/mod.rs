//! The index under updates, threads, files, and every source of events.

mod batches;
mod best_of_many;
mod concurrency;
mod crafted;
mod files;
mod loading;
mod near_misses;
mod saving;
mod segmented;
mod sources;
pub mod top_k;
