#![no_main]
//! libFuzzer's entry to [`tamis_fuzz::parse`].

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::parse::check(data));
