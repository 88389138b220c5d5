//! Controlled English against `std.patterns`: each pattern of Dwyer, Avrunin and Corbett has the same meaning in both,
//! in each scope.

use std::fmt::Write as _;

use guard_english::controlled::{Controlled, Vocabulary, read};
use guard_english::draft::equivalent;
use guard_english::words::Logic;

/// Template, its arguments, and the sentence.
const PATTERNS: &[(&str, &str, &str)] = &[
    ("absence", "p", "`p` must never hold."),
    ("existence", "p", "`p` must hold at some point."),
    ("universality", "p", "`p` must always hold."),
    ("precedence", "q, p", "`p` may happen only after `q`."),
    ("response", "p, q", "Whenever `p` happens, `q` must happen."),
    (
        "precedence_of_chain",
        "q, r, p",
        "`p` may happen only after `q` and then `r`.",
    ),
    (
        "precedence_before_chain",
        "r, p, q",
        "`p` and then `q` may happen only after `r`.",
    ),
    (
        "response_to_chain",
        "p, q, r",
        "Whenever `p` is followed by `q`, `r` must happen.",
    ),
    (
        "response_with_chain",
        "p, q, r",
        "Whenever `p` happens, `q` and then `r` must happen.",
    ),
];

/// Suffix of the template, its further arguments, and the words of the scope.
const SCOPES: &[(&str, &str, &str)] = &[
    ("", "", ""),
    ("_before", ", b", "Before `b`, "),
    ("_after", ", a", "From the first `a` on, "),
    ("_between", ", a, b", "Between `a` and `b`, "),
    ("_after_until", ", a, b", "From `a` until `b`, "),
];

const NAMES: [&str; 5] = ["a", "b", "p", "q", "r"];

/// The formula with the number of each situation by its name.
fn by_name(words: &str) -> Logic {
    let Controlled {
        logic, situations, ..
    } = read(words, &Vocabulary::default()).unwrap_or_else(|fault| panic!("{words}: {fault}"));
    logic.renamed(&|atom| {
        let name = situations[atom].phrase.as_str();
        NAMES.iter().position(|known| *known == name).unwrap()
    })
}

#[test]
fn patterns_say_what_the_library_says() {
    let mut text = "use std.patterns\nevent { kind: string }\n".to_owned();
    for name in NAMES {
        let _ = writeln!(text, "predicate {name} = kind == \"{name}\"");
    }
    let mut cases = Vec::new();
    for (template, arguments, words) in PATTERNS {
        for (suffix, more, scope) in SCOPES {
            let index = cases.len();
            let _ = writeln!(
                text,
                "property t{index} = patterns.{template}{suffix}({arguments}{more})"
            );
            let mut chars = words.chars();
            let lower = chars.next().unwrap().to_lowercase().to_string() + chars.as_str();
            let begin = if scope.is_empty() {
                (*words).to_owned()
            } else {
                format!("{scope}{lower}")
            };
            cases.push(begin);
        }
    }
    let checked = guard_lang::front(
        "patterns.guard",
        &text,
        &guard_lang::modules::NoFiles,
        guard_lang::check::Limits::default(),
    );
    let spec = checked
        .spec
        .unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    for (index, words) in cases.iter().enumerate() {
        let property = spec.property(spec.find_property(&format!("t{index}")).unwrap());
        let library = guard_lang::report::words::property(&spec, property);
        assert_eq!(
            equivalent(&by_name(words), &by_name(&library)),
            Some(true),
            "{words}\n{library}"
        );
    }
}
