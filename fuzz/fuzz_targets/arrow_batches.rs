#![no_main]
//! libFuzzer's entry to [`tamis_fuzz::arrow_batches`].

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::arrow_batches::check(data));
