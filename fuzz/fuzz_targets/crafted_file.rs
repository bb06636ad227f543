#![no_main]
//! libFuzzer's entry to [`tamis_fuzz::crafted_file`].

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::crafted_file::check(data));
