//! What is allocated and kept, counted by an allocator of its own, hence a binary of its own.

mod allocation;
mod soak;

use tamis_conformance::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
