#![no_main]
//! libFuzzer's entry to [`tamis_fuzz::json_events`].

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::json_events::check(data));
