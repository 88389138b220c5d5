#![no_main]

use guard_fuzz::formatter::run;

libfuzzer_sys::fuzz_target!(|text: &str| run(text));
