//! Formulas of specs rendered in controlled English and parsed again, and drafts of arbitrary text.

use guard_english::controlled::{Vocabulary, read};
use guard_english::draft::{Accept, Document, Status, draft};
use guard_english::words::sentence;
use proptest::prelude::*;

crate::random::tests! {
    64 cases;

    /// Any text gives a draft or a question, never a panic, and always the same.
    #[test]
    fn any_text_is_survived(text in "\\PC{0,80}") {
        let document = Document::new(&text, Accept::First);
        let again = Document::new(&text, Accept::First);
        prop_assert_eq!(document.json_lines(), again.json_lines());
        for draft in &document.drafts {
            prop_assert_eq!(draft.status == Status::Formal, draft.reading.is_some());
            let open = matches!(draft.status, Status::Unclear | Status::NoRequirement);
            prop_assert_eq!(open, draft.reason.is_some());
        }
    }

    /// Words of requirements in any order.
    #[test]
    fn any_order_of_words_is_survived(
        words in prop::collection::vec(prop::sample::select(vec![
            "the", "agent", "must", "not", "never", "if", "when", "after", "before", "until", "unless", "only", "within", "5",
            "steps", "at", "most", "twice", "and", "or", "no", "every", "request", "response", ",", ":", "=>", "that", "it",
            "is", "once", "with", "probability", "below", "10%", "`x_y`", "for", "longer", "than", "since", "again", "own", "`a`", "\"b c\"", "happen", "hold", "holds", ".", "whenever", "(", ")",
        ]), 0..18)
    ) {
        let text = words.join(" ");
        let document = Document::new(&text, Accept::First);
        let spec = document.to_guard("a test");
        let checked = guard_lang::front("draft.guard", &spec, &guard_lang::modules::NoFiles, guard_lang::check::Limits::default());
        prop_assert!(checked.spec.is_some(), "{text}\n{spec}\n{:?}", checked.diagnostics);
    }
}

/// The formula in English, with these names.
fn said(formula: &str, names: &[&str]) -> String {
    let spec = format!(
        "event {{ kind: string\n at: time? }}\npredicate a = kind == \"a\"\npredicate b = kind == \"b\"\npredicate c = kind == \"c\"\nproperty p = {formula}\nproperty q = never (a and b and c)\n"
    );
    let checked = guard_lang::front(
        "p.guard",
        &spec,
        &guard_lang::modules::NoFiles,
        guard_lang::check::Limits::default(),
    );
    let spec = checked
        .spec
        .unwrap_or_else(|| panic!("{formula}: {:?}", checked.diagnostics));
    let property = spec.property(spec.find_property("p").unwrap());
    let mut words = guard_lang::report::words::property(&spec, property);
    for (letter, name) in ["`a`", "`b`", "`c`"].iter().zip(names) {
        words = words.replace(letter, &format!("`{name}`"));
    }
    words
}

/// Names by the order in which they appear, for drafts name predicates anew.
fn numbered(words: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut out = String::new();
    for (index, part) in words.split('`').enumerate() {
        if index % 2 == 0 {
            out.push_str(part);
            continue;
        }
        let at = names.iter().position(|name| *name == part);
        let at = at.unwrap_or_else(|| {
            names.push(part);
            names.len() - 1
        });
        out.push_str(&format!("`{at}`"));
    }
    out
}

/// What is read in the words of a formula, read out again.
fn again(words: &str) -> String {
    let found =
        read(words, &Vocabulary::default()).unwrap_or_else(|fault| panic!("{words}\n{fault}"));
    sentence(&found.logic, &|atom| {
        format!("`{}`", found.situations[atom].phrase)
    })
}

/// Every formula of the library that speaks of no quantified value is read out, drafted, and read out in the same words.
#[test]
fn the_formulas_of_the_library_draft_back() {
    let mut formulas = 0;
    for module in guard_lang::stdlib::modules() {
        let name = format!("stdlib/tests/{module}.guard");
        let text = std::fs::read_to_string(&name).unwrap();
        let limits = guard_lang::check::Limits::default();
        let checked = guard_lang::front(&name, &text, &guard_lang::modules::NoFiles, limits);
        let spec = checked.spec.unwrap();
        for property in spec.properties.iter().filter(|p| p.quantified.is_none()) {
            let words = guard_lang::report::words::property(&spec, property);
            assert_eq!(
                numbered(&again(&words)),
                numbered(&words),
                "{}",
                property.name
            );
            formulas += 1;
        }
    }
    assert!(formulas > 150, "{formulas}");
}

/// What is nested as deep as it can be said is read as it was meant.
#[test]
fn nested_formulas_draft_back() {
    for formula in [
        "G (a -> F[0,4] (b or not c))",
        "G (a -> H[0,3] b)",
        "G (a -> Y (not b S c))",
        "G (a -> N (b or F (c and not X b)))",
        "F (a and X (not b U (c and not b)))",
        "not F (a and (b B c))",
        "G (a -> O[2,5] (b <-> c))",
        "(a W (b W c)) and F a",
        "G (a -> (b R c) or G[1,3] not b)",
        "G (not a -> b M c)",
        "F[2,9] (a -> Z b)",
        "G (a -> F[0s,90s] (b and Y c))",
    ] {
        let words = said(formula, &["pay_invoice", "user_ok", "lock_held"]);
        assert_eq!(numbered(&again(&words)), numbered(&words), "{formula}");
    }
}

#[test]
fn what_is_said_twice_and_what_contradicts_is_told() {
    let pairs = |text: &str| -> Vec<(String, String)> {
        let document = Document::new(text, Accept::None);
        document
            .conflicts()
            .map(|(a, b, _)| (a.id.clone(), b.id.clone()))
            .collect()
    };
    let twice = "- `stop` must be followed by `call`.\n- Whenever `stop` happens, `call` must happen afterwards.\n";
    let document = Document::new(twice, Accept::None);
    assert_eq!(
        document.duplicate_of(1).map(|first| first.id.as_str()),
        Some("R1")
    );
    let one_step = "- After `stop`, `call` must never happen.\n- Whenever `stop` happens, `call` must happen.\n";
    assert_eq!(pairs(one_step), [], "both can be met in one step");
    let strict = "- After `stop`, `call` must never happen.\n- `stop` must be directly followed by `call`.\n";
    assert_eq!(pairs(strict), [("R1".to_owned(), "R2".to_owned())]);
}

/// Every line that is not blank is there, as what it is.
#[test]
fn every_line_of_a_document_is_accounted_for() {
    let text = "# Rules\n\nThe rules:\n\n- **S1** Never do x.\n- S2: Never\n  do y.\n\n```\ncode\n```\n\nNever:\n- Send `secret` files\n\nThe agent is friendly.\nBe careful when you delete files.\n`a` must never happen.\n";
    let document = Document::new(text, Accept::None);
    let found: Vec<(usize, &str, Status)> = document
        .drafts
        .iter()
        .map(|draft| {
            (
                draft.line,
                draft.composed.as_deref().unwrap_or(&draft.text),
                draft.status,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (1, "Rules", Status::Context),
            (3, "The rules:", Status::Context),
            (5, "Never do x.", Status::Proposed),
            (6, "Never do y.", Status::Proposed),
            (10, "code", Status::Context),
            (13, "Never:", Status::Context),
            (14, "Never send `secret` files", Status::Proposed),
            (16, "The agent is friendly.", Status::NoRequirement),
            (17, "Be careful when you delete files.", Status::Unclear),
            (18, "`a` must never happen.", Status::Formal),
        ]
    );
}

#[test]
fn lists_tables_and_lines_are_read() {
    let ids = |text: &str| -> Vec<(String, String)> {
        guard_english::draft::lines(text)
            .into_iter()
            .filter(|line| !line.id.is_empty())
            .map(|line| (line.id, line.text))
            .collect()
    };
    let pair = |id: &str, text: &str| (id.to_owned(), text.to_owned());
    assert_eq!(
        ids("| id | requirement |\n| --- | --- |\n| A1 | Never do x. |\n| A2 | Never do y. |\n"),
        [pair("A1", "Never do x."), pair("A2", "Never do y.")]
    );
    assert_eq!(
        ids("id,text\nB1,\"Never do x, or y.\"\n"),
        [pair("B1", "Never do x, or y.")]
    );
    assert_eq!(
        ids("{\"id\":\"C1\",\"text\":\"Never do x.\"}\n"),
        [pair("C1", "Never do x.")]
    );
    assert_eq!(
        ids("Never do x. Always do y.\n"),
        [pair("R1", "Never do x."), pair("R2", "Always do y.")]
    );
    assert_eq!(ids(" \n\n"), []);
}

#[test]
fn a_very_long_sentence_is_declined() {
    let text = "the agent must never ever do it ".repeat(32_000);
    let found = draft(&text);
    assert_eq!(found.status, Status::Unclear);
    assert!(found.reason.is_some());
}
