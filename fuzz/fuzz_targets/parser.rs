#![no_main]

use guard_fuzz::parser::run;

libfuzzer_sys::fuzz_target!(|text: &str| run(text));
