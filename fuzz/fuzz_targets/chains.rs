#![no_main]

use guard_fuzz::chains::run;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| run(bytes));
