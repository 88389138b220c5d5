#![no_main]

use guard_fuzz::serve::run;

libfuzzer_sys::fuzz_target!(|data: &[u8]| run(data));
