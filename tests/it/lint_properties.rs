//! Lints on random specs, against brute force over all short traces; relations and classes, against the conformance cases.

use std::collections::BTreeSet;

use guard_automata::{self, Limits, eval, omega};
use guard_cli::mutate;
use guard_lang::diagnostic::{Code, Diagnostic};
use guard_lang::hir::Spec;
use guard_lang::ids::{FormulaId, PropertyId};
use guard_lang::lint::{self, Relation, Semantics};
use guard_lang::modules::NoFiles;
use guard_lang::source::SourceMap;
use guard_lang::translate::{atom, translate};
use guard_lang::{check, front};
use proptest::prelude::*;

/// Formulas over `a` and `b`, as text.
fn formula() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![Just("a".to_owned()), Just("b".to_owned())];
    leaf.prop_recursive(3, 8, 2, |inner| {
        let unary = prop::sample::select(vec![
            "!", "!", "X ", "N ", "F ", "G ", "G ", "Y ", "Z ", "O ", "H ", "F[0,1] ", "O[1,1] ",
        ]);
        let binary = prop::sample::select(vec!["&", "|", "->", "->", "<->", "U", "W", "S", "R"]);
        prop_oneof![
            (unary, inner.clone()).prop_map(|(op, f)| format!("{op}({f})")),
            (inner.clone(), binary, inner).prop_map(|(f, op, g)| format!("(({f}) {op} ({g}))")),
        ]
    })
}

fn text_of(fields: &[&str], formulas: &[&str]) -> String {
    let fields: Vec<String> = fields.iter().map(|name| format!("{name}: bool")).collect();
    let mut text = format!("event {{ {} }}\n", fields.join("\n  "));
    for (idx, formula) in formulas.iter().enumerate() {
        // In this form every formula is one about time, and means the same.
        text.push_str(&format!(
            "property p{idx} = ({formula}) and (true or last)\n"
        ));
    }
    text
}

fn spec_of(fields: &[&str], formulas: &[&str]) -> Result<Spec, String> {
    let text = text_of(fields, formulas);
    let checked = front("p.guard", &text, &NoFiles, check::Limits::default());
    checked
        .spec
        .ok_or_else(|| format!("{text}{:?}", checked.diagnostics))
}

/// Longest traces that are looked at.
const LONGEST: usize = 5;

/// A trace: per step, which of the two letters hold.
type Trace = Vec<u8>;

fn traces() -> Vec<Trace> {
    let mut all: Vec<Trace> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..LONGEST {
        let to = all.len();
        for idx in from..to {
            for letter in 0..4 {
                let longer = [all[idx].as_slice(), &[letter]].concat();
                all.push(longer);
            }
        }
        from = to;
    }
    all
}

/// The non-empty traces that satisfy a formula, by the definitions of the operators.
fn satisfying(spec: &Spec, formula: FormulaId, traces: &[Trace]) -> BTreeSet<Trace> {
    let mut formulas = guard_automata::Formulas::new();
    let root = translate(&spec.formulas, formula, atom, &mut formulas);
    let field = |atom: guard_automata::Atom| {
        let letter = &spec.formulas.atoms()[atom.0 as usize];
        u8::from(letter.text.trim_matches(['(', ')']) == "b")
    };
    traces
        .iter()
        .filter(|trace| !trace.is_empty())
        .filter(|trace| {
            let values = eval(&formulas, root, trace.len(), |position, atom| {
                trace[position] >> field(atom) & 1 == 1
            });
            values[0]
        })
        .cloned()
        .collect()
}

fn codes(found: &[Diagnostic], code: Code) -> Vec<&Diagnostic> {
    found
        .iter()
        .filter(|diagnostic| diagnostic.code == code)
        .collect()
}

/// Whether some satisfying trace begins so, the beginning itself included.
fn alive(sat: &BTreeSet<Trace>, beginning: &[u8]) -> bool {
    sat.range(beginning.to_vec()..)
        .next()
        .is_some_and(|trace| trace.starts_with(beginning))
}

/// Whether a formula holds of the trace in which letters have the values of a word; what the word leaves open is false.
fn holds(spec: &Spec, formula: FormulaId, word: &guard_automata::Word) -> bool {
    let mut formulas = guard_automata::Formulas::new();
    let root = translate(&spec.formulas, formula, atom, &mut formulas);
    eval(&formulas, root, word.len(), |position, atom| {
        word[position].contains(&(atom, true))
    })[0]
}

crate::random::tests! {
    40 cases;

    #[test]
    fn mutants_differ_and_the_tests_proposed_for_them_pass(f in formula()) {
        let spec = spec_of(&["a", "b"], &[&f]).unwrap();
        let report = mutate::run(&spec, &SourceMap::new(), &[], &mutate::Limits::default(), &guard_lang::Progress::default());
        let mut proposed = String::new();
        for mutant in &report.subjects[0].mutants {
            prop_assert_eq!(&mutant.killed_by, &None);
            let other = spec_of(&["a", "b"], &[&f, &mutant.formula]).unwrap();
            let values = [0, 1].map(|place| {
                holds(&other, other.properties[place].formula, &mutant.example.steps)
            });
            prop_assert_ne!(values[0], values[1], "{}", mutant.formula);
            prop_assert_eq!(values[0], mutant.example.holds);
            let Some(test) = &mutant.example.test else {
                return Err(TestCaseError::fail(format!("no test for {}", mutant.change)));
            };
            proposed.push_str(test);
        }
        // With the tests that were proposed, no mutant survives; and they pass.
        let text = format!("{}{proposed}", text_of(&["a", "b"], &[&f]));
        let checked = front("p.guard", &text, &NoFiles, check::Limits::default());
        let spec = checked.spec.ok_or_else(|| TestCaseError::fail(format!("{text}{:?}", checked.diagnostics)))?;
        let report = mutate::run(&spec, &checked.sources, &[], &mutate::Limits::default(), &guard_lang::Progress::default());
        prop_assert_eq!(report.survivors(), 0, "{}", text);
    }
}

crate::random::tests! {
    160 cases;

    #[test]
    fn findings_agree_with_brute_force(f in formula(), g in formula()) {
        let spec = spec_of(&["a", "b"], &[&f, &g]).unwrap();
        let found = lint::lint(&spec, &[], &lint::Limits::default()).diagnostics;
        let traces = traces();
        let n_traces = traces.len() - 1;
        let sat: Vec<BTreeSet<Trace>> = spec
            .properties
            .iter()
            .map(|property| satisfying(&spec, property.formula, &traces))
            .collect();
        for (idx, property) in spec.properties.iter().enumerate() {
            let told = |code| codes(&found, code).iter().any(|d| d.span() == property.formula_span);
            prop_assert_eq!(told(Code::G0910), sat[idx].is_empty(), "{} unsatisfiable", property.name);
            prop_assert_eq!(told(Code::G0911), sat[idx].len() == n_traces, "{} valid", property.name);
        }
        let trivial = |idx: usize| sat[idx].is_empty() || sat[idx].len() == n_traces;
        if !trivial(0) && !trivial(1) {
            let related = sat[0].is_subset(&sat[1]) || sat[1].is_subset(&sat[0]);
            prop_assert_eq!(!codes(&found, Code::G0914).is_empty(), related, "redundant");
            let dead = traces.iter().filter(|trace| trace.len() + 2 <= LONGEST).any(|beginning| {
                let both: BTreeSet<Trace> = sat[0].intersection(&sat[1]).cloned().collect();
                alive(&sat[0], beginning) && alive(&sat[1], beginning) && !alive(&both, beginning)
            });
            // Properties that share no letter meet in nothing but the end of the trace, and are not looked at together.
            let related = ["a", "b"].iter().any(|letter| f.contains(letter) && g.contains(letter));
            if dead && related {
                prop_assert!(!codes(&found, Code::G0913).is_empty(), "conflict");
            }
            // What is not dead may still be able to do nothing but end.
            let stuck = traces.iter().filter(|trace| trace.len() + 2 <= LONGEST).any(|beginning| {
                let on = |sat: &BTreeSet<Trace>| {
                    (0..4).any(|letter| alive(sat, &[beginning.as_slice(), &[letter]].concat()))
                };
                let both: BTreeSet<Trace> = sat[0].intersection(&sat[1]).cloned().collect();
                on(&sat[0]) && on(&sat[1]) && !on(&both)
            });
            if !codes(&found, Code::G0913).is_empty() {
                prop_assert!(dead || stuck, "conflict that is none");
            }
        }
    }

    #[test]
    fn what_makes_no_difference_can_be_left_out(f in formula()) {
        let spec = spec_of(&["a", "b"], &[&f]).unwrap();
        let traces = traces();
        let found = lint::lint(&spec, &[], &lint::Limits::default()).diagnostics;
        let sat = satisfying(&spec, spec.properties[0].formula, &traces);
        if sat.is_empty() || sat.len() == traces.len() - 1 {
            return Ok(());
        }
        let vacuous = codes(&found, Code::G0912);
        for diagnostic in &vacuous {
            let note = diagnostic.notes[0].clone();
            let shorter = note.trim_start_matches("equivalent to `").trim_end_matches('`');
            let other = spec_of(&["a", "b"], &[shorter]).unwrap();
            let same = satisfying(&other, other.properties[0].formula, &traces);
            prop_assert_eq!(&sat, &same, "{}", shorter);
        }
        // Where a letter can be anything, some part was told to make no difference.
        for (place, _) in f.char_indices().filter(|(_, c)| matches!(c, 'a' | 'b')) {
            let with = |constant: &str| format!("{}{constant}{}", &f[..place], &f[place + 1..]);
            let both = ["true", "false"].map(|constant| {
                let spec = spec_of(&["a", "b"], &[&with(constant)]).unwrap();
                satisfying(&spec, spec.properties[0].formula, &traces)
            });
            if both.iter().all(|other| *other == sat) {
                prop_assert!(!vacuous.is_empty(), "at {place}");
            }
        }
    }
}

/// The names in a formula of the conformance cases.
fn names(texts: &[&str]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for text in texts {
        for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            let letter = word.starts_with(|c: char| c.is_ascii_lowercase());
            if letter && word != "true" && word != "false" {
                names.insert(word.to_owned());
            }
        }
    }
    names
}

#[test]
fn relations_are_those_of_the_conformance_cases() {
    let mut asked = 0;
    for case in crate::support::suite("relations.jsonl") {
        let text = |key: &str| case[key].as_str().unwrap_or("true").to_owned();
        let (f, g) = (text("f"), text("g"));
        let names = names(&[&f, &g]);
        let fields: Vec<&str> = names.iter().map(String::as_str).chain(["none_"]).collect();
        // The constants stand for "some trace" and "all traces".
        let kind = text("kind");
        let other = match kind.as_str() {
            "satisfiable" => "false".to_owned(),
            "valid" => "true".to_owned(),
            _ => g,
        };
        let Ok(spec) = spec_of(&fields, &[&f, &other]) else {
            panic!("{case}");
        };
        let (first, second) = (
            spec.property(PropertyId::new(0)).formula,
            spec.property(PropertyId::new(1)).formula,
        );
        let semantics = match text("semantics").as_str() {
            "finite" => Semantics::Finite,
            _ => Semantics::Infinite,
        };
        let limits = Limits::default();
        let relation = lint::compare(&spec, first, second, &[], semantics, &limits)
            .unwrap()
            .relation;
        let class = || {
            let mut formulas = guard_automata::Formulas::new();
            let root = translate(&spec.formulas, first, atom, &mut formulas);
            let negation = formulas.not(root);
            // Of what is both, safety is named.
            [root, negation]
                .map(|root| omega::class(&formulas, root, &limits).unwrap() == omega::Class::Safety)
        };
        let holds = match (kind.as_str(), semantics) {
            ("equivalent" | "valid", _) => relation == Relation::Equivalent,
            ("satisfiable", _) => relation != Relation::Equivalent,
            ("implies", _) => matches!(relation, Relation::Equivalent | Relation::Implies),
            ("safety", Semantics::Infinite) => class()[0],
            ("cosafety", Semantics::Infinite) => class()[1],
            // Over finite traces this is tested with the automata.
            _ => continue,
        };
        asked += 1;
        assert_eq!(
            holds,
            case["expect"].as_bool().unwrap(),
            "{case}: {relation:?}"
        );
    }
    println!("{asked} relations");
}
