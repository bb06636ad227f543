//! An allocator that counts. A test binary that needs it declares it as its global allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

static HELD: AtomicUsize = AtomicUsize::new(0);

/// Counts the allocations of the current thread, and the bytes that all threads hold.
pub struct Counting;

#[allow(unsafe_code, reason = "an allocator cannot be written without; every call is handed on as it came")]
// SAFETY: all methods forward their arguments unchanged to the system's allocator. One counter is a constant-initialised
// thread local without a destructor, the other an atomic, so counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        HELD.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the pointer came from `System` through `alloc` or `realloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        HELD.fetch_add(size, Ordering::Relaxed);
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the pointer came from `System` through `alloc` or `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

fn count() {
    ALLOCATIONS.with(|allocations| allocations.set(allocations.get() + 1));
}

/// The number of allocations of this thread while `work` runs.
pub fn allocations_of(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    work();
    ALLOCATIONS.with(Cell::get) - before
}

/// Bytes that are allocated and not freed.
pub fn held() -> usize {
    HELD.load(Ordering::Relaxed)
}
