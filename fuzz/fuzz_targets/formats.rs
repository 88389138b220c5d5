#![no_main]

use guard_fuzz::formats::run;

libfuzzer_sys::fuzz_target!(|data: &[u8]| run(data));
