#![no_main]

use guard_fuzz::hook::run;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| run(bytes));
