#![no_main]

use guard_fuzz::hoa::run;

libfuzzer_sys::fuzz_target!(|text: &str| run(text));
