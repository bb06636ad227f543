#![no_main]
//! libFuzzer's entry to [`tamis_fuzz::history`].

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::history::check(data));
