#![no_main]

use guard_fuzz::shell::run;

libfuzzer_sys::fuzz_target!(|text: &str| run(text));
