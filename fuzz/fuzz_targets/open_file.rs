#![no_main]
//! libFuzzer's entry to [`tamis_fuzz::open_file`].

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::open_file::check(data));
