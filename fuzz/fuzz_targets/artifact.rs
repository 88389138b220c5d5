#![no_main]

use guard_fuzz::artifact::run;

libfuzzer_sys::fuzz_target!(|data: &[u8]| run(data));
