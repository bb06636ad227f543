//! Does the index keep its word under updates, threads, files?

mod batches;
mod concurrency;
mod files;
mod near_misses;
mod segmented;
mod top_k;
