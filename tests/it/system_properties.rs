//! Systems against an interpreter that enumerates valuations, and proofs about components against their composition.
use std::collections::{BTreeMap, BTreeSet};

use guard_lang::hir;
use guard_lang::modules::NoFiles;
use guard_lang::system::{Limits, Method, Question, Verdict, Verifier, questions};
use guard_lang::{check, front};
use proptest::prelude::*;

fn spec(text: &str) -> hir::Spec {
    let checked = front("test.guard", text, &NoFiles, check::Limits::default());
    checked
        .spec
        .unwrap_or_else(|| panic!("{text}\n{:#?}", checked.diagnostics))
}

/// The size of a variable: values are `0..size`, and two values are written as a Boolean.
type Sizes = Vec<i64>;

#[derive(Clone, Debug)]
enum Condition {
    True,
    Is(usize, i64),
    Less(usize, usize),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

#[derive(Clone, Debug)]
enum Update {
    To(i64),
    /// Another variable's value, or one more, kept within the range.
    Copy(usize),
    Next,
    Any(BTreeSet<i64>),
}

#[derive(Clone, Debug)]
struct Command {
    guard: Condition,
    updates: BTreeMap<usize, Update>,
}

#[derive(Clone, Debug)]
struct Model {
    sizes: Sizes,
    initial: Vec<Option<i64>>,
    init: Condition,
    commands: Vec<Command>,
}

fn condition(sizes: Sizes) -> impl Strategy<Value = Condition> {
    let n = sizes.len();
    let leaf = prop_oneof![
        Just(Condition::True),
        (0..n, 0i64..4).prop_map(move |(var, value)| Condition::Is(var, value.min(sizes[var] - 1))),
        (0..n, 0..n).prop_map(|(a, b)| Condition::Less(a, b)),
    ];
    leaf.prop_recursive(3, 6, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|c| Condition::Not(Box::new(c))),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| Condition::And(Box::new(a), Box::new(b))),
            (inner.clone(), inner).prop_map(|(a, b)| Condition::Or(Box::new(a), Box::new(b))),
        ]
    })
}

fn model() -> impl Strategy<Value = Model> {
    prop::collection::vec(prop_oneof![Just(2i64), 1i64..5], 1..4).prop_flat_map(|sizes| {
        let update = prop_oneof![
            (0i64..4).prop_map(Update::To),
            (0..sizes.len()).prop_map(Update::Copy),
            Just(Update::Next),
            prop::collection::btree_set(0i64..4, 1..4).prop_map(Update::Any),
        ];
        let updates = prop::collection::btree_map(0..sizes.len(), update, 0..=sizes.len());
        let command = (condition(sizes.clone()), updates)
            .prop_map(|(guard, updates)| Command { guard, updates });
        let initial = prop::collection::vec(prop::option::of(0i64..4), sizes.len());
        (
            Just(sizes.clone()),
            initial,
            condition(sizes),
            prop::collection::vec(command, 1..5),
        )
            .prop_map(|(sizes, initial, init, commands)| {
                let initial = initial
                    .into_iter()
                    .zip(&sizes)
                    .map(|(value, size)| value.map(|value| value.min(size - 1)));
                Model {
                    initial: initial.collect(),
                    sizes,
                    init,
                    commands,
                }
            })
    })
}

/// The first name that is a Boolean, and how its values are written.
fn value(sizes: &Sizes, var: usize, value: i64) -> String {
    match sizes[var] {
        2 => (value == 1).to_string(),
        _ => value.to_string(),
    }
}

fn text_of(sizes: &Sizes, condition: &Condition) -> String {
    let number = |var: usize| match sizes[var] {
        2 => format!("(if v{var} then 1 else 0)"),
        _ => format!("v{var}"),
    };
    match condition {
        Condition::True => "true".to_owned(),
        Condition::Is(var, is) => format!("(v{var} == {})", value(sizes, *var, *is)),
        Condition::Less(a, b) => format!("({} < {})", number(*a), number(*b)),
        Condition::Not(c) => format!("(not {})", text_of(sizes, c)),
        Condition::And(a, b) => format!("({} and {})", text_of(sizes, a), text_of(sizes, b)),
        Condition::Or(a, b) => format!("({} or {})", text_of(sizes, a), text_of(sizes, b)),
    }
}

fn system_text(model: &Model) -> String {
    let sizes = &model.sizes;
    let mut text = "system s {\n".to_owned();
    for (var, size) in sizes.iter().enumerate() {
        let ty = if *size == 2 {
            "bool".to_owned()
        } else {
            format!("int 0..{}", size - 1)
        };
        let init = model.initial[var].map_or(String::new(), |init| {
            format!(" = {}", value(sizes, var, init))
        });
        text += &format!("  state v{var}: {ty}{init}\n");
    }
    text += &format!("  init {}\n", text_of(sizes, &model.init));
    for (at, command) in model.commands.iter().enumerate() {
        let updates: Vec<String> = command
            .updates
            .iter()
            .map(|(var, update)| {
                let (size, boolean) = (sizes[*var], sizes[*var] == 2);
                let number = |from: usize| match sizes[from] {
                    2 => format!("(if v{from} then 1 else 0)"),
                    _ => format!("v{from}"),
                };
                match update {
                    Update::To(to) => {
                        format!("v{var}' == {}", value(sizes, *var, (*to).min(size - 1)))
                    }
                    Update::Copy(from) if boolean => format!("v{var}' == ({} > 0)", number(*from)),
                    Update::Copy(from) => {
                        format!("v{var}' == min({}, {})", number(*from), size - 1)
                    }
                    Update::Next if boolean => format!("v{var}' == (not v{var})"),
                    Update::Next => format!("v{var}' == mod(v{var} + 1, {size})"),
                    Update::Any(values) => {
                        let all: BTreeSet<i64> =
                            values.iter().map(|any| (*any).min(size - 1)).collect();
                        let all: Vec<String> =
                            all.into_iter().map(|any| value(sizes, *var, any)).collect();
                        format!("v{var}' in {{ {} }}", all.join(", "))
                    }
                }
            })
            .collect();
        let updates = if updates.is_empty() {
            "true".to_owned()
        } else {
            updates.join(", ")
        };
        text += &format!(
            "  step c{at} when {} => {updates}\n",
            text_of(sizes, &command.guard)
        );
    }
    text + "}\n"
}

fn is(condition: &Condition, state: &[i64]) -> bool {
    match condition {
        Condition::True => true,
        Condition::Is(var, value) => state[*var] == *value,
        Condition::Less(a, b) => state[*a] < state[*b],
        Condition::Not(c) => !is(c, state),
        Condition::And(a, b) => is(a, state) && is(b, state),
        Condition::Or(a, b) => is(a, state) || is(b, state),
    }
}

fn all(sizes: &Sizes) -> Vec<Vec<i64>> {
    sizes.iter().fold(vec![Vec::new()], |states, size| {
        states
            .iter()
            .flat_map(|state| (0..*size).map(|value| [state.as_slice(), &[value]].concat()))
            .collect()
    })
}

fn successors(model: &Model, state: &[i64]) -> BTreeSet<Vec<i64>> {
    let mut found = BTreeSet::new();
    for command in model
        .commands
        .iter()
        .filter(|command| is(&command.guard, state))
    {
        // Every valuation that agrees with every update.
        for next in all(&model.sizes) {
            let agrees = (0..state.len()).all(|var| {
                let top = model.sizes[var] - 1;
                match command.updates.get(&var) {
                    None => next[var] == state[var],
                    Some(Update::To(to)) => next[var] == (*to).min(top),
                    Some(Update::Copy(from)) if top == 1 => {
                        next[var] == i64::from(state[*from] > 0)
                    }
                    Some(Update::Copy(from)) => next[var] == state[*from].min(top),
                    Some(Update::Next) => next[var] == (state[var] + 1) % (top + 1),
                    Some(Update::Any(values)) => {
                        values.iter().any(|any| next[var] == (*any).min(top))
                    }
                }
            });
            if agrees {
                found.insert(next);
            }
        }
    }
    found
}

/// States, transitions and deadlocks of the reachable part; a deadlock stays as it is.
fn explored(model: &Model) -> Option<(usize, usize, usize)> {
    let starts = all(&model.sizes).into_iter().filter(|state| {
        is(&model.init, state)
            && (0..state.len()).all(|var| model.initial[var].is_none_or(|init| init == state[var]))
    });
    let mut open: Vec<Vec<i64>> = starts.collect();
    let mut seen: BTreeSet<Vec<i64>> = open.iter().cloned().collect();
    if seen.is_empty() {
        return None;
    }
    let (mut transitions, mut deadlocks) = (0, 0);
    while let Some(state) = open.pop() {
        let next = successors(model, &state);
        deadlocks += usize::from(next.is_empty());
        transitions += next.len().max(1);
        for state in next {
            if seen.insert(state.clone()) {
                open.push(state);
            }
        }
    }
    Some((seen.len(), transitions, deadlocks))
}

/// Two or three components that read one another, with contracts.
#[derive(Clone, Debug)]
struct Office {
    components: Vec<Part>,
}

#[derive(Clone, Debug)]
struct Part {
    commands: Vec<(u8, u8, u8, bool)>,
    assumes: Vec<(u8, u8, u8)>,
    guarantees: Vec<(u8, u8, u8)>,
}

fn office() -> impl Strategy<Value = Office> {
    let contract = (0u8..7, any::<u8>(), any::<u8>());
    let part = (
        prop::collection::vec((0u8..3, any::<u8>(), any::<u8>(), any::<bool>()), 1..4),
        prop::collection::vec(contract.clone(), 0..3),
        prop::collection::vec(contract, 1..3),
    )
        .prop_map(|(commands, assumes, guarantees)| Part {
            commands,
            assumes,
            guarantees,
        });
    prop::collection::vec(part, 2..4).prop_map(|components| Office { components })
}

/// A literal over the variables `x0 y0 x1 y1 …`.
fn literal(parts: usize, seed: u8) -> String {
    let var = seed as usize / 2 % (2 * parts);
    let name = format!("{}{}", ["x", "y"][var % 2], var / 2);
    if seed.is_multiple_of(2) {
        name
    } else {
        format!("(not {name})")
    }
}

fn contract(parts: usize, (kind, p, q): (u8, u8, u8)) -> String {
    let (p, q) = (literal(parts, p), literal(parts, q));
    match kind {
        0 => format!("G {p}"),
        1 => format!("G ({p} -> F {q})"),
        2 => format!("F {p}"),
        3 => format!("G F {p}"),
        4 => format!("G ({p} -> X {q})"),
        5 => format!("G ({p} -> O {q})"),
        _ => format!("G ({p} or {q})"),
    }
}

fn office_text(office: &Office) -> String {
    let n = office.components.len();
    let mut text = String::new();
    let mut claims = String::new();
    for (at, part) in office.components.iter().enumerate() {
        text += &format!(
            "component c{at} {{\n  state x{at}: bool = false\n  state y{at}: bool = false\n"
        );
        for (name, guard, update, both) in &part.commands {
            let own = if *both {
                format!(", y{at}' == (not y{at})")
            } else {
                String::new()
            };
            let to = literal(n, *update);
            text += &format!(
                "  step s{name} when {} => x{at}' == {to}{own}\n",
                literal(n, *guard)
            );
        }
        for assume in &part.assumes {
            text += &format!("  assume {}\n", contract(n, *assume));
        }
        for (nth, guarantee) in part.guarantees.iter().enumerate() {
            let formula = contract(n, *guarantee);
            text += &format!("  guarantee {formula}\n");
            claims += &format!("property g{at}_{nth} = {formula} on office\n");
        }
        for (nth, assume) in part.assumes.iter().enumerate() {
            claims += &format!(
                "property a{at}_{nth} = {} on office\n",
                contract(n, *assume)
            );
        }
        text += "}\n";
    }
    let parts: Vec<String> = (0..n).map(|at| format!("c{at}")).collect();
    text + &format!("compose office = {}\n", parts.join(" || ")) + &claims
}

crate::random::tests! {
    300 cases;

    #[test]
    fn systems_have_the_states_that_their_commands_give(model in model()) {
        let text = system_text(&model);
        let spec = spec(&text);
        let mut verifier = Verifier::new(&spec, Limits::default());
        let asked = questions(&spec);
        prop_assert_eq!(asked.len(), 1);
        match (verifier.answer(asked[0]), explored(&model)) {
            (Ok(found), Some(expected)) => {
                let found = &found[0];
                prop_assert_eq!((found.states, found.transitions, found.deadlocks), expected, "{}", text);
            }
            (Err(error), None) => prop_assert!(error.to_string().contains("no initial state"), "{}", error),
            (found, expected) => prop_assert!(false, "{}\n{:?} instead of {:?}", text, found, expected),
        }
    }

    #[test]
    fn proofs_about_components_are_sound(office in office()) {
        are_sound(&office)?;
    }
}

/// What is proved of components one by one is so in their composition.
fn are_sound(office: &Office) -> Result<(), TestCaseError> {
    let text = office_text(office);
    let spec = spec(&text);
    let mut verifier = Verifier::new(&spec, Limits::default());
    let mut direct: BTreeMap<String, bool> = BTreeMap::new();
    let mut composed: Vec<Verdict> = Vec::new();
    for question in questions(&spec) {
        let verdicts = verifier.answer(question).unwrap();
        match question {
            Question::Agreement(_) => composed.extend(verdicts),
            _ => direct.extend(
                verdicts
                    .into_iter()
                    .map(|verdict| (verdict.text, verdict.holds.unwrap())),
            ),
        }
    }
    prop_assert!(!composed.is_empty());
    for verdict in composed {
        // On trust means: not small enough to look, which these are.
        prop_assert!(verdict.method != Method::Trusted);
        prop_assert_eq!(
            verdict.holds,
            direct.get(&verdict.text).copied(),
            "{}\n{:#?}",
            text,
            verdict
        );
    }
    Ok(())
}

/// Offices about which something was once proved that is not so.
#[test]
fn proofs_about_these_components_are_sound() {
    let part = |commands: &[_], assumes: &[_], guarantees: &[_]| Part {
        commands: commands.to_vec(),
        assumes: assumes.to_vec(),
        guarantees: guarantees.to_vec(),
    };
    let offices = [
        vec![
            part(&[(0, 162, 0, false)], &[(4, 55, 122)], &[(1, 0, 0)]),
            part(&[(0, 0, 0, false)], &[(4, 29, 4)], &[(1, 0, 0)]),
        ],
        vec![
            part(&[(0, 13, 72, true)], &[], &[(2, 170, 0)]),
            part(&[(1, 161, 151, false)], &[], &[(0, 0, 0)]),
            part(&[(0, 53, 0, false)], &[], &[(0, 0, 0)]),
        ],
    ];
    for components in offices {
        are_sound(&Office { components }).unwrap();
    }
}

/// The two liars: each would keep its word if the other kept his.
#[test]
fn a_circle_of_promises_about_the_future_proves_nothing() {
    let text = "component a {\n  state p: bool = false\n  step go when q => p' == true\n  assume F q\n  guarantee F p\n}\n\
         component b {\n  state q: bool = false\n  step gone when p => q' == true\n  assume F p\n  guarantee F q\n}\n\
         compose both = a || b\n";
    let spec = spec(text);
    let mut verifier = Verifier::new(&spec, Limits::default());
    let verdicts = verifier.answer(questions(&spec)[0]).unwrap();
    for verdict in verdicts {
        assert_eq!(verdict.holds, Some(false), "{verdict:#?}");
        let refused = verdict.refused.join(" ");
        assert!(
            verdict.property.ends_with("assume")
                || refused.contains("cycle") && refused.contains("safety"),
            "{verdict:#?}"
        );
    }
}

/// The same circle about what never happens is sound, one step ahead.
#[test]
fn a_circle_of_safety_promises_is_proved_one_step_ahead() {
    let text = "component a {\n  state p: bool = false\n  step go when q => p' == true\n  assume G (not q)\n  guarantee G (not p)\n}\n\
         component b {\n  state q: bool = false\n  step gone when p => q' == true\n  assume G (not p)\n  guarantee G (not q)\n}\n\
         compose both = a || b\n";
    let spec = spec(text);
    let mut verifier = Verifier::new(&spec, Limits::default());
    for verdict in verifier.answer(questions(&spec)[0]).unwrap() {
        assert_eq!(verdict.holds, Some(true), "{verdict:#?}");
        if verdict.property.ends_with("guarantee") {
            assert!(
                matches!(verdict.method, Method::Composed { circular: true, .. }),
                "{verdict:#?}"
            );
        }
    }
}
