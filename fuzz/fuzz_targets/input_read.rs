#![no_main]

use guard_fuzz::input_read::run;

libfuzzer_sys::fuzz_target!(|data: &[u8]| run(data));
