#![no_main]

use guard_fuzz::lexer::run;

libfuzzer_sys::fuzz_target!(|text: &str| run(text));
