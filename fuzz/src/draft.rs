//! Any text gives drafts, and the spec made of them compiles.

use guard_english::draft::{Accept, Document};

pub fn run(text: &str) {
    let document = Document::new(text, Accept::First);
    let spec = document.to_guard("a fuzzer");
    let checked = guard_lang::front(
        "draft.guard",
        &spec,
        &guard_lang::modules::NoFiles,
        guard_lang::check::Limits::default(),
    );
    assert!(checked.spec.is_some(), "{spec}\n{:?}", checked.diagnostics);
}
