//! Any text gives drafts, and the spec made of them compiles.
#![no_main]

use guard_english::draft::Document;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let document = Document::new(text);
    let spec = document.to_guard("a fuzzer");
    let checked = guard_lang::front(
        "draft.guard",
        &spec,
        &guard_lang::modules::NoFiles,
        guard_lang::check::Limits::default(),
    );
    assert!(checked.spec.is_some(), "{spec}\n{:?}", checked.diagnostics);
});
