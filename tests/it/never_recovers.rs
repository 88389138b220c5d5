//! Properties that stay violated: the form that the lint proposes for one is violated by the same traces, and denies only the steps that
//! violate it again.

use guard_lang::hir::Spec;
use guard_lang::monitor::{Monitor, Options, Ruling};
use guard_lang::verdict::Verdict;
use guard_lang::{check, front, lint, modules::NoFiles};
use proptest::prelude::*;

fn text(formula: &str) -> String {
    format!(
        "event {{ a: bool  b: bool  c: bool }}\nproperty p = {formula}\nenforce p {{ violated => block }}\n"
    )
}

fn spec(text: &str) -> Spec {
    let checked = front("t.guard", text, &NoFiles, check::Limits::default());
    let errors: Vec<_> = checked.diagnostics.iter().map(|d| &d.message).collect();
    checked.spec.unwrap_or_else(|| panic!("{text}: {errors:?}"))
}

/// The form that the lint proposes; `None` if it finds nothing.
fn proposed(formula: &str) -> Option<String> {
    let text = text(formula);
    let found = lint::lint(&spec(&text), &[], &lint::Limits::default()).diagnostics;
    let mut found = found.iter().filter(|of| of.code.name() == "never-recovers");
    let fixes = &found.next()?.fixes;
    Some(
        fixes
            .first()
            .map(|fix| fix.edits[0].1.clone())
            .unwrap_or_default(),
    )
}

/// A step: `a`, `b` and `c`.
type Step = [bool; 3];

/// The ruling and the verdict at each step of a trace that happens.
fn run(text: &str, steps: &[Step]) -> Vec<(bool, Verdict)> {
    let mut monitor = Monitor::new(&spec(text), Options::default()).unwrap();
    let steps = steps.iter().map(|[a, b, c]| {
        let line = format!("{{\"a\":{a},\"b\":{b},\"c\":{c}}}");
        let decided = monitor.line(line.as_bytes(), None);
        (decided.ruling == Ruling::Block, decided.verdicts[0].1)
    });
    steps.collect()
}

/// Formulas that stay violated, with the step at which they are violated again: by the step, and by those before it.
type Again = fn(&Step, &[Step]) -> bool;

const FORMS: [(&str, Again); 4] = [
    ("a precedes b", |now, before| {
        now[1] && !now[0] && before.iter().all(|step| !step[0])
    }),
    ("(b or c) unless a", |now, before| {
        !(now[1] || now[2] || now[0]) && before.iter().all(|step| !step[0])
    }),
    ("a release b", |now, before| {
        !now[1] && before.iter().all(|step| !step[0])
    }),
    ("(never c) and (a precedes b)", |now, before| {
        now[2] || now[1] && !now[0] && before.iter().all(|step| !step[0])
    }),
];

/// Formulas that clauses monitor again although they do not begin with `always`, and the same with `always`.
const MONITORED: [(&str, &str); 4] = [
    ("not eventually (a and b)", "never (a and b)"),
    (
        "not eventually (a and next eventually b)",
        "never (a and next eventually b)",
    ),
    (
        "(never a) and (always (b -> previously c))",
        "always (not a and (b -> previously c))",
    ),
    (
        "(never (a and eventually b)) and (not eventually (b and eventually a))",
        "always (not (a and eventually b) and not (b and eventually a))",
    ),
];

crate::random::tests! { 64 cases;
    #[test]
    fn the_form_that_is_proposed_recovers(steps in prop::collection::vec(any::<Step>(), 1..12)) {
        for (formula, again) in FORMS {
            let recovers = proposed(formula).unwrap_or_else(|| panic!("{formula}"));
            prop_assert_eq!(proposed(&recovers), None, "{}", &recovers);
            let (stays, recovers) = (run(&text(formula), &steps), run(&text(&recovers), &steps));
            let mut is_violated = false;
            for (at, (stays, recovers)) in stays.iter().zip(&recovers).enumerate() {
                let (before, now) = (&steps[..at], &steps[at]);
                is_violated |= again(now, before);
                prop_assert_eq!(stays.0, is_violated, "{} at {}", formula, at);
                prop_assert_eq!(recovers.0, again(now, before), "{} at {}", formula, at);
                prop_assert_eq!(stays.1, recovers.1, "{} at {}", formula, at);
            }
        }
    }

    #[test]
    fn what_is_required_of_every_step_is_monitored_again(steps in prop::collection::vec(any::<Step>(), 1..12)) {
        for (formula, always) in MONITORED {
            prop_assert_eq!(proposed(formula), None, "{}", formula);
            prop_assert_eq!(run(&text(formula), &steps), run(&text(always), &steps), "{}", formula);
        }
    }
}
