#![no_main]

use guard_fuzz::draft::run;

libfuzzer_sys::fuzz_target!(|text: &str| run(text));
