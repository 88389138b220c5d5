#![no_main]

use guard_fuzz::formula::run;

libfuzzer_sys::fuzz_target!(|input: (Vec<u8>, Vec<u8>)| run(input));
