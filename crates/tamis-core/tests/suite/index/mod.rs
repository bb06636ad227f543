//! The index under updates, threads, files, and every source of events.

mod batches;
mod concurrency;
mod files;
mod near_misses;
mod segmented;
mod sources;
mod top_k;
