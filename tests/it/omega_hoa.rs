//! The Hanoi format: written automata are read again, files of other tools are read, and errors have positions.

use crate::support::ltl::parse_one;
use guard_automata::omega::{self, hoa};
use guard_automata::{Atom, Limits};

/// All words of a stem of at most one letter and a cycle of at most two, over two atoms.
fn words() -> Vec<(usize, Vec<u8>)> {
    let mut words = Vec::new();
    for stem in 0..=1 {
        for cycle in 1..=2 {
            for code in 0..4u32.pow(stem + cycle) {
                let letter = |i: u32| (code / 4u32.pow(i) % 4) as u8;
                words.push((stem as usize, (0..stem + cycle).map(letter).collect()));
            }
        }
    }
    words
}

const FORMULAS: [&str; 9] = [
    "G F a",
    "F G a | G F b",
    "G (a -> F b)",
    "a U b",
    "G a & G F b & F G (a | b)",
    "G F a -> G F b",
    "X X (a <-> b)",
    "G (a -> Y b)",
    "false",
];

#[test]
fn what_is_written_is_read_again() {
    let limits = Limits::default();
    for text in FORMULAS {
        let parsed = parse_one(text);
        let names: Vec<&String> = parsed.names.keys().collect();
        let name = |atom: Atom| names[atom.0 as usize].clone();
        let buchi = omega::translate(&parsed.formulas, parsed.root, &limits).unwrap();
        let states = buchi.with_accepting_states(&limits).unwrap();
        let deterministic = omega::deterministic(&parsed.formulas, parsed.root, &limits).unwrap();
        for (kind, written) in [
            ("edges", buchi.to_hoa(text, name)),
            ("states", states.to_hoa(text, name)),
        ] {
            let read = hoa::parse(&written, &limits).unwrap_or_else(|e| panic!("{e}\n{written}"));
            assert_eq!(read.name.as_deref(), Some(text));
            let again = read.to_buchi(&limits).unwrap();
            for (stem, letters) in words() {
                let holds = |i: usize, Atom(atom): Atom| letters[i] >> atom & 1 == 1;
                let cycle = letters.len() - stem;
                assert_eq!(
                    again.accepts(stem, cycle, holds),
                    buchi.accepts(stem, cycle, holds),
                    "{text} by {kind} on {stem} {letters:?}\n{written}"
                );
            }
        }
        let written = deterministic.to_hoa(text, name);
        let read = hoa::parse(&written, &limits).unwrap_or_else(|e| panic!("{e}\n{written}"));
        let again = read.to_deterministic(&limits).unwrap();
        for (stem, letters) in words() {
            let holds = |i: usize, Atom(atom): Atom| letters[i] >> atom & 1 == 1;
            let cycle = letters.len() - stem;
            assert_eq!(
                again.accepts(stem, cycle, holds),
                deterministic.accepts(stem, cycle, holds),
                "{text} on {stem} {letters:?}\n{written}"
            );
        }
    }
}

/// The written form itself, which other tools read.
#[test]
fn the_written_form() {
    let parsed = parse_one("G (a -> F b)");
    let buchi = omega::translate(&parsed.formulas, parsed.root, &Limits::default()).unwrap();
    let written = buchi.to_hoa("answered", |atom| ["a \"b\"", "c"][atom.0 as usize]);
    let version = format!("tool: \"guard\" \"{}\"\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        written.replace(&version, ""),
        r#"HOA: v1
name: "answered"
States: 2
Start: 0
AP: 2 "a \"b\"" "c"
acc-name: Buchi
Acceptance: 1 Inf(0)
properties: trans-labels explicit-labels trans-acc deterministic
--BODY--
State: 0
[!0 | 0&1] 0 {0}
[0&!1] 1 {0}
State: 1
[1] 0 {0}
[!1] 1
--END--
"#
    );
}

/// Automata in the style of other tools: what each accepts, as a formula over the atoms in their order.
#[test]
fn files_of_others_are_read() {
    let limits = Limits::default();
    for (text, formula) in [
        // Aliases, state labels, state-based acceptance, comments that nest.
        (
            r#"HOA: v1 /* a /* nested */ comment */
tool: "other" "1.0"
name: "GFa"
States: 2
Start: 1
AP: 2 "a" "b"
Alias: @a 0
Alias: @not-a !@a
acc-name: Buchi
Acceptance: 1 Inf(0)
properties: state-labels explicit-labels state-acc colored
--BODY--
State: [@a] 0 "yes" {0}
0 1
State: [@not-a] 1 "no"
0 1
--END--"#,
            "G F a & !a",
        ),
        // Implicit labels: one edge per letter, the first atom the lowest bit.
        (
            r#"HOA: v1 States: 1 Start: 0 AP: 2 "a" "b" Acceptance: 1 Inf(0)
--BODY--
State: 0 0 0 {0} 0 0 {0}
--END--"#,
            "G F a",
        ),
        // A negated set, and several initial states.
        (
            r#"HOA: v1 States: 3 Start: 0 Start: 2 AP: 2 "a" "b"
Acceptance: 1 Inf(!0)
--BODY--
State: 0 [t] 0 {0} [0] 1
State: 1 [0] 1
State: 2 [1] 2
--END--"#,
            "F G a | G b",
        ),
        // No number of states, no name, everything on one line; a constant condition.
        (
            r#"HOA: v1 Start: 0 AP: 2 "a" "b" Acceptance: 0 t --BODY-- State: 0 [0|1&!0] 0 --END--"#,
            "G (a | b)",
        ),
        // Generalised Büchi, marks on states and on edges together.
        (
            r#"HOA: v1 States: 2 Start: 0 AP: 2 "a" "b" acc-name: generalized-Buchi 2
Acceptance: 2 Inf(0)&Inf(1)
--BODY--
State: 0 {0} [0&1] 0 {1} [0&!1] 0 [!0&1] 1 {1} [!0&!1] 1
State: 1 [0&1] 0 {1} [0&!1] 0 [!0&1] 1 {1} [!0&!1] 1
--END--"#,
            "G F a & G F b",
        ),
    ] {
        let read = hoa::parse(text, &limits).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(read.atoms, ["a", "b"], "{text}");
        let buchi = read
            .to_buchi(&limits)
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        let wanted = parse_one(&format!("({formula}) & (a | !a) & (b | !b)"));
        for (stem, letters) in words() {
            let holds = |i: usize, Atom(atom): Atom| letters[i] >> atom & 1 == 1;
            let cycle = letters.len() - stem;
            let value = omega::eval(&wanted.formulas, wanted.root, stem, cycle, holds);
            assert_eq!(
                buchi.accepts(stem, cycle, holds),
                value,
                "{formula} on {stem} {letters:?}"
            );
        }
    }
}

#[test]
fn any_condition_of_a_deterministic_automaton_is_read() {
    let text = r#"HOA: v1 States: 2 Start: 1 AP: 2 "a" "b" acc-name: Rabin 1
Acceptance: 2 Fin(0) & Inf(1)
--BODY--
State: 1 [!0&!1] 1 [0] 0 {1} [!0&1] 1 {0}
State: 0 [0] 0 {1} [!0&1] 1 {0} [!0&!1] 0
--END--"#;
    let limits = Limits::default();
    let read = hoa::parse(text, &limits).unwrap();
    let automaton = read.to_deterministic(&limits).unwrap();
    let wanted = parse_one("G F a & F G (a | !b)");
    for (stem, letters) in words() {
        let holds = |i: usize, Atom(atom): Atom| letters[i] >> atom & 1 == 1;
        let cycle = letters.len() - stem;
        let value = omega::eval(&wanted.formulas, wanted.root, stem, cycle, holds);
        assert_eq!(
            automaton.accepts(stem, cycle, holds),
            value,
            "{stem} {letters:?}"
        );
    }
}

/// Any condition, also of an automaton that guesses; what it accepts, what its complement does, and the same over other
/// atoms.
#[test]
fn any_condition_becomes_one_of_buchi() {
    let limits = Limits::default();
    for (text, formula) in [
        // It guesses when `a` has come for good.
        (
            r#"HOA: v1 States: 2 Start: 0 AP: 2 "a" "b" acc-name: co-Buchi Acceptance: 1 Fin(0)
--BODY--
State: 0 {0} [t] 0 [0] 1
State: 1 [0] 1
--END--"#,
            "F G a",
        ),
        (
            r#"HOA: v1 States: 1 Start: 0 AP: 2 "a" "b" acc-name: Streett 1 Acceptance: 2 Fin(0) | Inf(1)
--BODY--
State: 0 [0&1] 0 {0 1} [0&!1] 0 {0} [!0&1] 0 {1} [!0&!1] 0
--END--"#,
            "G F a -> G F b",
        ),
        (
            r#"HOA: v1 States: 1 Start: 0 AP: 2 "a" "b" acc-name: Rabin 2
Acceptance: 4 (Fin(0) & Inf(1)) | (Fin(2) & Inf(3))
--BODY--
State: 0 [0&1] 0 {1 2} [0&!1] 0 {1 3} [!0&1] 0 {0 2} [!0&!1] 0 {0 3}
--END--"#,
            "F G a | F G !b",
        ),
        (
            r#"HOA: v1 States: 1 Start: 0 AP: 2 "a" "b" acc-name: parity max even 3
Acceptance: 3 Inf(2) | (Fin(1) & Inf(0))
--BODY--
State: 0 [0&1] 0 {2} [0&!1] 0 {1} [!0] 0 {0}
--END--"#,
            "G F (a & b) | F G !(a & !b)",
        ),
        (
            r#"HOA: v1 States: 1 Start: 0 AP: 2 "a" "b" acc-name: none Acceptance: 0 f
--BODY--
State: 0 [t] 0
--END--"#,
            "false",
        ),
        // Not deterministic, several starts, a negated set.
        (
            r#"HOA: v1 States: 3 Start: 0 Start: 2 AP: 2 "a" "b" Acceptance: 2 Inf(!0) & Fin(1)
--BODY--
State: 0 [t] 0 {0} [0] 1
State: 1 [0] 1
State: 2 [1] 2 [!1] 2 {1}
--END--"#,
            "F G a | F G b",
        ),
    ] {
        let read = hoa::parse(text, &limits).unwrap();
        let (buchi, others) = (
            read.to_buchi(&limits).unwrap(),
            read.complement(&limits).unwrap(),
        );
        // The atoms change places, and a third is not read.
        let swapped = buchi
            .renamed(|Atom(atom)| Atom(2 - 2 * atom), &limits)
            .unwrap();
        let wanted = parse_one(&format!("({formula}) & (a | !a) & (b | !b)"));
        for (stem, letters) in words() {
            let holds = |i: usize, Atom(atom): Atom| letters[i] >> atom & 1 == 1;
            let cycle = letters.len() - stem;
            let value = omega::eval(&wanted.formulas, wanted.root, stem, cycle, holds);
            let told = format!("{formula} on {stem} {letters:?}");
            assert_eq!(buchi.accepts(stem, cycle, holds), value, "{told}");
            assert_eq!(
                others.accepts(stem, cycle, holds),
                !value,
                "complement of {told}"
            );
            let moved = |i: usize, Atom(atom): Atom| holds(i, Atom(1 - atom / 2));
            assert_eq!(swapped.accepts(stem, cycle, moved), value, "renamed {told}");
        }
    }
}

/// A file about words that end, as `guard compile --emit automata` writes it.
#[test]
fn words_that_end() {
    let text = r#"HOA: v1 States: 3 Start: 0 AP: 2 "b" "a" Acceptance: 1 Inf(0)
guard-semantics: "finite"
--BODY--
State: 0 "open" {0} [!1] 0 [1] 1
State: 1 [!0] 1 [0&!1] 2 [0&1] 1
State: 2 {0} [!1] 2 [1] 1
--END--"#;
    let limits = Limits::default();
    let read = hoa::parse(text, &limits).unwrap();
    assert!(read.finite);
    let made = read.to_dfa(|Atom(atom)| Atom(1 - atom), &limits).unwrap();
    let wanted = parse_one("G (a -> X F b)");
    let wanted = guard_automata::compile(&wanted.formulas, wanted.root, &limits).unwrap();
    assert_eq!(made, wanted);
    let guesses = text.replace("[!1] 0 [1] 1\n", "[t] 0 [1] 1\n");
    let read = hoa::parse(&guesses, &limits).unwrap();
    let refused = read.to_dfa(|atom| atom, &limits);
    assert_eq!(refused, Err(hoa::Unsupported::Nondeterministic));
    assert!(
        !hoa::parse(&text.replace("\"finite\"", "\"other\""), &limits)
            .unwrap()
            .finite
    );
}

#[test]
fn streams_and_aborted_automata() {
    let one = "HOA: v1 Start: 0 AP: 0 Acceptance: 0 t --BODY-- State: 0 [t] 0";
    let text = format!("{one} --END-- {one} --ABORT-- /* next */ {one} --END--");
    assert_eq!(hoa::parse_all(&text, &Limits::default()).unwrap().len(), 2);
    let error = hoa::parse(&text, &Limits::default()).unwrap_err();
    assert_eq!(error.message, "expected one automaton, found 2");
    assert!(hoa::parse_all("", &Limits::default()).unwrap().is_empty());
}

#[test]
fn what_is_wrong_has_its_place() {
    let head = "HOA: v1\nStates: 2\nStart: 0\nAP: 1 \"a\"\nAcceptance: 1 Inf(0)\n";
    let body = |text: &str| format!("{head}--BODY--\n{text}\n--END--");
    for (text, line, column, message) in [
        (
            "States: 1".to_owned(),
            1,
            1,
            "expected `HOA:`, found `States:`",
        ),
        (
            "HOA: v2".to_owned(),
            1,
            6,
            "expected the version `v1`, found `v2`",
        ),
        (
            "HOA: v1\nStart: 0&1".to_owned(),
            2,
            9,
            "alternation is not supported: a run must begin in one state",
        ),
        (
            "HOA: v1\nMagic: 3".to_owned(),
            2,
            8,
            "unknown header `Magic:` (headers with a capital letter cannot be ignored)",
        ),
        (
            "HOA: v1\nAcceptance: 65 t".to_owned(),
            2,
            13,
            "the number of acceptance sets 65 exceeds the maximum 64",
        ),
        (
            "HOA: v1\nAcceptance: 1 Inf(1)".to_owned(),
            2,
            19,
            "the acceptance set 1 exceeds the maximum 0",
        ),
        (
            "HOA: v1\nAP: 2 \"a\" \"a\"".to_owned(),
            2,
            11,
            "duplicate atomic proposition `a`",
        ),
        (
            "HOA: v1\nAP: 2 \"a\"\n--BODY--".to_owned(),
            3,
            1,
            "expected the name of an atomic proposition, in quotes, found `--BODY--`",
        ),
        (
            "HOA: v1\nAlias: @a t".to_owned(),
            2,
            11,
            "`AP:` must come before the aliases that use it",
        ),
        (
            "HOA: v1\nAP: 0\n--BODY--".to_owned(),
            3,
            1,
            "missing header `Acceptance:`",
        ),
        (
            "HOA: v1 /* open".to_owned(),
            1,
            9,
            "unterminated comment: missing `*/`",
        ),
        (
            "HOA: v1 name: \"open".to_owned(),
            1,
            15,
            "unterminated string: missing `\"`",
        ),
        ("HOA: v1 name: é".to_owned(), 1, 15, "unexpected `é`"),
        (body("State: 2"), 7, 8, "the state 2 exceeds the maximum 1"),
        (
            body("State: 0\n[t] 5"),
            8,
            5,
            "the target 5 exceeds the maximum 1",
        ),
        (body("State: 0\nState: 0"), 9, 1, "duplicate state 0"),
        (
            body("State: 0\n[1] 0"),
            8,
            2,
            "the atomic proposition 1 exceeds the maximum 0",
        ),
        (
            body("State: 0\n[@x] 0"),
            8,
            2,
            "the alias `@x` is used before its definition",
        ),
        (
            body("State: 0\n[0&] 0"),
            8,
            4,
            "expected a label: a number, an alias, `t`, `f`, `!` or `(`, found `]`",
        ),
        (
            body("State: 0\n[t] 0 0"),
            9,
            1,
            "either all edges of a state have labels or none",
        ),
        (
            body("State: 0\n0"),
            9,
            1,
            "the state has 1 edges without labels; with 1 atomic propositions, it needs one for each of the 2^1 letters",
        ),
        (
            body("State: [0] 0\n[0] 0"),
            9,
            1,
            "edges of a labelled state cannot have labels",
        ),
        (
            body("State: 0 {1}"),
            7,
            11,
            "the acceptance set 1 exceeds the maximum 0",
        ),
        (
            body("State: 0 [t] 0&1"),
            7,
            15,
            "alternation is not supported: an edge must lead to one state",
        ),
        (
            format!("{head}--BODY--\nState: 0"),
            7,
            9,
            "expected `State:` or `--END--`, found the end of the text",
        ),
        (
            format!("{head}Start: 7\n--BODY--\n--END--"),
            8,
            1,
            "the initial state 7 is not one of the states",
        ),
        (
            "HOA: v1 States: 99999999999999999999".to_owned(),
            1,
            17,
            "number out of range",
        ),
    ] {
        let error = hoa::parse(&text, &Limits::default())
            .map(|_| ())
            .unwrap_err();
        let found = (error.line, error.column, error.message.as_str());
        assert_eq!(found, (line, column, message), "{text}");
    }
}

#[test]
fn limits_are_kept() {
    let text = "HOA: v1 States: 1000 Start: 0 AP: 1 \"a\" Acceptance: 0 t --BODY-- --END--";
    let few = Limits {
        states: 100,
        ..Limits::default()
    };
    let error = hoa::parse(text, &few).map(|_| ()).unwrap_err();
    assert_eq!(
        error.message,
        "the number of states 1000 exceeds the maximum 100"
    );
    let deep = format!(
        "HOA: v1 Start: 0 AP: 1 \"a\" Acceptance: 0 t --BODY-- State: 0 [{}0] 0 --END--",
        "!(".repeat(100_000)
    );
    let error = hoa::parse(&deep, &Limits::default())
        .map(|_| ())
        .unwrap_err();
    assert_eq!(error.message, "the label is nested too deeply");
}
