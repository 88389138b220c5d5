#![no_main]

use guard_fuzz::omega::run;

libfuzzer_sys::fuzz_target!(|input: (Vec<u8>, Vec<u8>)| run(input));
