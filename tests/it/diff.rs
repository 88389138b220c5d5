//! `guard diff`: random pairs of specs against brute force, mutants of the library and the examples, and the command.

use std::collections::BTreeSet;

use guard_automata::eval;
use guard_cli::diff::{self, Diff, Direction, Limits, Moment, Relation, Status};
use guard_lang::hir::Spec;
use guard_lang::modules::NoFiles;
use guard_lang::monitor::{Monitor, Options};
use guard_lang::source::SourceMap;
use guard_lang::translate::{atom, translate};
use guard_lang::{check, front};
use proptest::prelude::*;

use crate::support::cli::Folder;

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

pub(crate) fn checked(text: &str) -> Option<(Spec, SourceMap)> {
    let checked = front("p.guard", text, &NoFiles, check::Limits::default());
    Some((checked.spec?, checked.sources))
}

pub(crate) fn diff_of(old: &str, new: &str) -> Diff {
    let (old, new) = (checked(old).expect(old), checked(new).expect(new));
    diff::diff(
        (&old.0, &old.1),
        (&new.0, &new.1),
        &Limits::default(),
        &guard_lang::Progress::default(),
    )
    .unwrap()
}

/// The elements of lists: one below the constants of conditions, to one above.
const ELEMENTS: usize = 6;

/// A condition on an element `x`, with its truth for each element from -1 on.
#[derive(Clone, Debug)]
struct Condition {
    text: String,
    truths: [bool; ELEMENTS],
}

/// `any` or `all` elements of a list have a condition, or not.
#[derive(Clone, Debug)]
struct Quantified {
    all: bool,
    negated: bool,
    body: Condition,
}

fn condition() -> impl Strategy<Value = Condition> {
    let leaf = (0..4_i64, 0..4_usize).prop_map(|(constant, op)| {
        let text = format!("x {} {constant}", ["<", ">", "==", "!="][op]);
        let truths = std::array::from_fn(|index| {
            let x = index as i64 - 1;
            [x < constant, x > constant, x == constant, x != constant][op]
        });
        Condition { text, truths }
    });
    leaf.prop_recursive(2, 4, 2, |inner| {
        let both = (inner.clone(), prop::bool::ANY, inner.clone());
        prop_oneof![
            inner.prop_map(|of| Condition {
                text: format!("not ({})", of.text),
                truths: of.truths.map(|truth| !truth),
            }),
            both.prop_map(|(a, and, b)| Condition {
                text: format!(
                    "({}) {} ({})",
                    a.text,
                    if and { "and" } else { "or" },
                    b.text
                ),
                truths: std::array::from_fn(|index| match and {
                    true => a.truths[index] && b.truths[index],
                    false => a.truths[index] || b.truths[index],
                }),
            }),
        ]
    })
}

fn quantified() -> impl Strategy<Value = Quantified> {
    let made = (prop::bool::ANY, prop::bool::ANY, condition());
    made.prop_map(|(all, negated, body)| Quantified { all, negated, body })
}

/// The longest traces of brute force.
const LONGEST: usize = 5;

fn traces(longest: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let to = all.len();
        for idx in from..to {
            for letter in 0..4 {
                all.push([all[idx].as_slice(), &[letter]].concat());
            }
        }
        from = to;
    }
    all.remove(0);
    all
}

/// The traces that satisfy the only property of a spec, by the definitions of the operators. Its conditions are `a` and `b`.
fn satisfying(spec: &Spec, traces: &[Vec<u8>]) -> BTreeSet<Vec<u8>> {
    let mut formulas = guard_automata::Formulas::new();
    let root = translate(
        &spec.formulas,
        spec.properties[0].formula,
        atom,
        &mut formulas,
    );
    let bit = |atom: guard_automata::Atom| {
        let text = &spec.formulas.atoms()[atom.0 as usize].text;
        u8::from(text.contains('b'))
    };
    let holds = |trace: &&Vec<u8>| {
        let letter = |at: usize, atom| trace[at] >> bit(atom) & 1 == 1;
        eval(&formulas, root, trace.len(), letter)[0]
    };
    traces.iter().filter(holds).cloned().collect()
}

/// The same fields in another order, and read under other names.
fn pair_of(old: &str, new: &str) -> [String; 2] {
    let renamed = |text: &str| text.replace('a', "this_a").replace('b', "that_b");
    [
        format!("event {{ a: bool  b: bool }}\nproperty p = ({old}) and (true or last)\n"),
        format!(
            "event {{ that_b: bool from \"/b\"  this_a: bool from \"/a\" }}\nproperty p = ({}) and (true or last)\n",
            renamed(new)
        ),
    ]
}

crate::random::tests! {
    150 cases;

    /// What is excluded does not occur among all short traces, and what is found is a shortest one.
    #[test]
    fn relations_agree_with_brute_force(old in formula(), new in formula()) {
        let [old, new] = pair_of(&old, &new);
        let (Some(first), Some(second)) = (checked(&old), checked(&new)) else {
            return Ok(());
        };
        let all = traces(LONGEST);
        let languages = [satisfying(&first.0, &all), satisfying(&second.0, &all)];
        let diff = diff::diff((&first.0, &first.1), (&second.0, &second.1), &Limits::default(), &guard_lang::Progress::default()).unwrap();
        let Status::Compared(directions) = &diff.properties[0].status else {
            panic!("{diff:?}");
        };
        for (side, direction) in directions.iter().enumerate() {
            let shortest = languages[side].difference(&languages[1 - side]).map(Vec::len).min();
            match direction {
                Direction::Excluded => prop_assert_eq!(shortest, None, "{}{}", old, new),
                Direction::Found(witness) => match shortest {
                    Some(shortest) => prop_assert_eq!(witness.events.len(), shortest, "{}{}", old, new),
                    None => prop_assert!(witness.events.len() > LONGEST, "{}{}", old, new),
                },
                undecided => prop_assert!(false, "{undecided:?}: {old}{new}"),
            }
        }
    }

    /// Quantifiers over one list: what is excluded does not occur with any list, and what does not occur is excluded.
    #[test]
    fn quantifiers_over_elements_agree_with_brute_force(old in quantified(), new in quantified()) {
        let text = |quantified: &Quantified| {
            let Quantified { all, negated, body } = quantified;
            let word = if *all { "all" } else { "any" };
            let sign = if *negated { "not " } else { "" };
            format!("event {{ xs: list<int> }}\nproperty p = never {sign}({word} x in xs: {})\n", body.text)
        };
        let diff = diff_of(&text(&old), &text(&new));
        let Status::Compared(directions) = &diff.properties[0].status else {
            panic!("{diff:?}");
        };
        let lists = || (0..=ELEMENTS).flat_map(|a| (0..=ELEMENTS).map(move |b| [a, b]));
        // An index past the elements is no element.
        let holds = |quantified: &Quantified, list: [usize; 2]| {
            let mut truths = list.iter().filter_map(|index| quantified.body.truths.get(*index));
            let truth = match quantified.all {
                true => truths.all(|truth| *truth),
                false => truths.any(|truth| *truth),
            };
            truth != quantified.negated
        };
        for (direction, [kept, broken]) in directions.iter().zip([[&old, &new], [&new, &old]]) {
            let occurs = lists().any(|list| !holds(kept, list) && holds(broken, list));
            prop_assert_eq!(matches!(direction, Direction::Excluded), !occurs, "{}{}{:?}", text(&old), text(&new), diff);
        }
    }

    /// Decisions of two clauses on each side: what is not reported does not occur, and what is reported does.
    #[test]
    fn decisions_agree_with_brute_force(
        parts in prop::array::uniform4((formula(), prop::bool::ANY, 0..4_u8)),
    ) {
        let text = |parts: &[(String, bool, u8)]| {
            let mut text = "event { a: bool  b: bool }\n".to_owned();
            for (idx, (formula, always, action)) in parts.iter().enumerate() {
                let head = if *always { "G (" } else { "(" };
                text.push_str(&format!("property p{idx} = {head}{formula}) and (true or last)\n"));
                if *always {
                    text = text.replace(&format!("p{idx} = G ({formula}) and (true or last)"), &format!("p{idx} = G ({formula})"));
                }
                let action = ["block", "warn", "stop", "block"][usize::from(*action)];
                text.push_str(&format!("enforce p{idx} {{ violated => {action} }}\n"));
            }
            text
        };
        let [old, new] = [text(&parts[..2]), text(&parts[2..])];
        let (Some(first), Some(second)) = (checked(&old), checked(&new)) else {
            return Ok(());
        };
        let diff = diff::diff((&first.0, &first.1), (&second.0, &second.1), &Limits::default(), &guard_lang::Progress::default()).unwrap();
        let mut monitors = [&first.0, &second.0].map(|spec| Monitor::new(spec, Options::default()).unwrap());
        // By moment: whether only the new one denies, and only the old one.
        let mut found = [[false; 2]; 2];
        for trace in traces(4) {
            let denied = monitors.each_mut().map(|monitor| {
                let mut denies = [false; 2];
                for letter in &trace {
                    let event = format!(r#"{{"trace":"t","a":{},"b":{}}}"#, letter & 1 == 1, letter >> 1 == 1);
                    denies[0] = monitor.observe(event.as_bytes(), None).ruling.denies();
                }
                denies[1] = monitor.end("t", None).ruling.denies();
                denies
            });
            for moment in 0..2 {
                found[moment][0] |= !denied[0][moment] && denied[1][moment];
                found[moment][1] |= denied[0][moment] && !denied[1][moment];
            }
        }
        for (moment, found) in [Moment::Event, Moment::End].into_iter().zip(found) {
            for (added, found) in [(true, found[0]), (false, found[1])] {
                let told = diff.decisions.iter().filter(|change| (change.added, change.moment) == (added, moment));
                let shown: Vec<_> = told.map(|change| &change.found).collect();
                prop_assert!(shown.iter().all(|one| matches!(one, Direction::Found(_))), "{old}{new}{diff:?}");
                let longer = |one: &&Direction| matches!(one, Direction::Found(witness) if witness.events.len() > 4);
                // Of what was denied before the end, the difference is there.
                let is_told = !shown.is_empty() || moment == Moment::End
                    && diff.decisions.iter().any(|change| change.added == added);
                prop_assert!(!found || is_told, "{old}{new}{diff:?}");
                prop_assert!(found || shown.iter().all(longer), "{old}{new}{diff:?}");
            }
        }
    }
}

/// Changes of one word or number of a spec.
fn mutants(text: &str) -> Vec<(String, String)> {
    const CHANGES: &[(&str, &str)] = &[
        (" -> ", " <-> "),
        (" and ", " or "),
        (" or ", " and "),
        ("once ", "previously "),
        ("always (", "eventually ("),
        ("eventually (", "next ("),
        ("not ", ""),
        (" == ", " != "),
        (" < ", " <= "),
        (" > ", " >= "),
        (" <= ", " < "),
        (" >= ", " > "),
        ("never (", "always ("),
        ("block ", "warn "),
        ("violated => ask", "violated => block"),
    ];
    let mut mutants = Vec::new();
    for (from, to) in CHANGES {
        for (at, _) in text.match_indices(from) {
            let line = text[..at].lines().count();
            let changed = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
            mutants.push((format!("line {line}: `{to}` for `{from}`"), changed));
        }
    }
    mutants
}

/// Every mutant of the specs of the examples and of the library's tests is proven different from its original, or equal; what is
/// not decided is named.
#[test]
fn mutants_are_told_from_their_originals() {
    let mut decided = 0;
    let mut undecided: Vec<String> = Vec::new();
    let mut equal: Vec<String> = Vec::new();
    // What is found must not depend on how busy the machine is.
    let mut limits = Limits::default();
    limits.search_seconds = 600;
    for file in [
        "examples/mail_assistant/mail_assistant.guard",
        "examples/live/mail.guard",
        "examples/live/coding.guard",
        "stdlib/tests/patterns.guard",
        "stdlib/tests/tools.guard",
        "stdlib/tests/privacy.guard",
    ] {
        let Ok(text) = std::fs::read_to_string(file) else {
            panic!("{file} is missing");
        };
        let Some(original) = checked(&text) else {
            panic!("{file} is wrong");
        };
        // Each change at some of its places: all of them would take minutes.
        for (idx, (change, mutant)) in mutants(&text).into_iter().enumerate() {
            if idx % 3 != 0 {
                continue;
            }
            let Some(mutant) = checked(&mutant) else {
                continue;
            };
            let told = diff::diff(
                (&original.0, &original.1),
                (&mutant.0, &mutant.1),
                &limits,
                &guard_lang::Progress::default(),
            )
            .unwrap();
            let properties = told
                .properties
                .iter()
                .filter_map(|property| match &property.status {
                    Status::Compared(directions) => Some(directions),
                    Status::Added | Status::Removed => None,
                });
            let decisions = told.decisions.iter().map(|decision| &decision.found);
            let mut answers = properties.flatten().chain(decisions);
            if !answers.any(|answer| matches!(answer, Direction::Found(_))) {
                equal.push(format!("{file}, {change}"));
            }
            for property in &told.properties {
                match &property.status {
                    Status::Compared(directions) => {
                        decided += 1;
                        for direction in directions {
                            if let Direction::Unknown(reason) = direction {
                                undecided
                                    .push(format!("{file}, {change}: {}: {reason}", property.name));
                            }
                        }
                    }
                    Status::Added | Status::Removed => panic!("{file}: {change}"),
                }
            }
            for decision in &told.decisions {
                if let Direction::Unknown(reason) = &decision.found {
                    undecided.push(format!("{file}, {change}: {}: {reason}", decision.clause));
                }
            }
        }
    }
    assert!(decided > 150, "{decided}");
    // Not told from their originals by a trace: each of these is proven to mean the same.
    insta::assert_snapshot!("equal_mutants", equal.join("\n"));
    insta::assert_snapshot!(
        "undecided",
        format!("{} of {decided}\n{}", undecided.len(), undecided.join("\n"))
    );
}

fn relation(diff: &Diff, name: &str) -> (Relation, String) {
    let change = diff.properties.iter().find(|change| change.name == name);
    let change = change.unwrap_or_else(|| panic!("{name}: {diff:?}"));
    let reason = match &change.status {
        Status::Compared(directions) => directions.iter().find_map(|direction| match direction {
            Direction::Unknown(reason) => Some(reason.clone()),
            _ => None,
        }),
        _ => None,
    };
    (change.status.relation(), reason.unwrap_or_default())
}

/// Two specs that differ in every way that the comparison knows.
const OLD: &str = r#"
enum Kind { call, result, approval }
event {
  kind: Kind
  tool: string?
  args: json?
  user: string?
  amount: int?
  at: time?
}
predicate pays = kind == call and tool == "pay"
track paid: int = 0 when pays then paid + 1
/// Approved at some time before.
property approved = G (pays -> once kind == approval)
property limit = never (paid > 3)
property few = never (count(tool == "rm") > 2)
property answered = forall u: G (kind == call and user == u -> F (kind == result and user == u))
property wider = forall u: G (kind == call and user == u -> F (kind == result and user == u))
property soon = G (pays -> F[0s,10s] (kind == result))
property numbers = G (tool == "x" -> args.n > 3)
property gone = never (tool == "rm")
property old_name = G (kind == call -> tool != "format")
property shell = G (kind == call -> !(any c in commands(tool): c[0] == "rm"))
property small = G (amount < 100)
property unwritten = G (kind == call -> todo("is polite"))
enforce approved { violated => block "no" }
enforce when tool == "rm" => ask "sure?"
enforce limit { violated => block }
"#;
const NEW: &str = r#"
enum Kind { call, result, approval }
event {
  user: string?
  kind: Kind
  tool: string?
  args: json?
  amount: float?
  at: time?
  extra: bool?
}
predicate paying = tool == "pay" and kind == call
track paid: int = 0 when paying then paid + 1
/// Approved right before.
@severity(high)
property approved = G (paying -> Y kind == approval)
property limit = never (paid > 4)
property few = never (count(tool == "rm") > 3)
property answered = forall u: G (kind == call and user == u -> X (kind == result and user == u))
property wider = forall u: G (kind == call and (user == u or tool == u) -> F (kind == result and user == u))
property soon = G (paying -> F[0s,20s] (kind == result))
property numbers = G (!(args.n > 3) -> tool != "x")
property new_name = G (tool == "format" -> kind != call)
property shell = G (kind == call -> !(any d in commands(tool): d[0] == "rm"))
property small = G (amount < 100)
property unwritten = G (kind == call -> todo("is short"))
property extra_rule = G !(extra == true)
enforce approved { violated => block "no" }
enforce when tool == "rm" => block "sure?"
enforce limit { violated => block on error allow }
"#;

#[test]
fn each_kind_of_change_is_decided_or_named() {
    let new = NEW.replace(
        "{ violated => block on error allow }",
        "{ violated => block }",
    );
    let diff = diff_of(OLD, &new);
    let is = |name: &str| relation(&diff, name);
    assert_eq!(is("approved").0, Relation::Stricter);
    assert_eq!(is("limit").0, Relation::Looser);
    assert_eq!(is("few").0, Relation::Looser);
    assert_eq!(is("answered").0, Relation::Stricter);
    assert_eq!(is("soon").0, Relation::Looser);
    assert_eq!(is("numbers").0, Relation::Equal);
    assert_eq!(is("gone").0, Relation::Removed);
    assert_eq!(is("new_name").0, Relation::Equal);
    assert_eq!(is("shell").0, Relation::Equal);
    assert_eq!(is("extra_rule").0, Relation::Added);
    let (relation, reason) = is("small");
    assert_eq!(relation, Relation::Undecided);
    assert!(
        reason.contains("`amount` is `int?` in the old spec and `float?`"),
        "{reason}"
    );
    let (relation, reason) = is("unwritten");
    assert_eq!(relation, Relation::Undecided);
    assert!(reason.contains("todo"), "{reason}");
    let renamed = diff
        .properties
        .iter()
        .find(|change| change.name == "new_name");
    assert_eq!(renamed.unwrap().old_name.as_deref(), Some("old_name"));
    let notes = &diff
        .properties
        .iter()
        .find(|change| change.name == "approved")
        .unwrap()
        .notes;
    assert_eq!(notes, &["severity high, was medium"]);
    insta::assert_snapshot!("text", diff.to_text());
    insta::assert_snapshot!("markdown", diff.to_markdown());
    insta::assert_snapshot!(
        "json",
        serde_json::to_string_pretty(&diff.to_json()).unwrap()
    );
}

/// Automata of many parts have too many states: the parts are compared.
#[test]
fn properties_of_many_parts_are_decided() {
    let spec = |n: usize, last: u32, part: &dyn Fn(String) -> String, joint: &str| {
        let fields: String = (0..n).map(|place| format!("  x{place}: int\n")).collect();
        let bound = |place: usize| if place + 1 == n { last } else { 1 };
        let parts: Vec<String> = (0..n)
            .map(|place| part(format!("x{place} > {}", bound(place))))
            .collect();
        format!(
            "event {{\n  call: bool\n{fields}}}\nproperty p = {}\n",
            parts.join(joint)
        )
    };
    type Part<'a> = &'a dyn Fn(String) -> String;
    let shapes: [(Part<'_>, &str); 4] = [
        (&|c| format!("(eventually {c})"), " and "),
        (&|c| format!("(always {c})"), " or "),
        (&|c| format!("(G (call -> F[0,4] {c}))"), " and "),
        (&|c| format!("(F (call and {c}))"), " or "),
    ];
    for n in [12, 16, 32] {
        for (part, joint) in shapes {
            let (old, new) = (spec(n, 1, part, joint), spec(n, 2, part, joint));
            let forth = diff_of(&old, &new);
            assert_eq!(relation(&forth, "p").0, Relation::Stricter, "{forth:?}");
            let back = diff_of(&new, &old);
            assert_eq!(relation(&back, "p").0, Relation::Looser, "{back:?}");
        }
    }
}

/// Conditions that exclude one another take a round each; their automata are small enough as a whole.
#[test]
fn parts_that_exclude_one_another_are_decided() {
    let spec = |last: &str| {
        let tools = ["t0", "t1", "t2", "t3", "t4", "t5", "t6", last];
        let parts = tools.map(|tool| format!("(eventually tool == \"{tool}\")"));
        let parts = parts.join(" and ");
        format!("event {{ tool: string }}\nproperty p = {parts}\n")
    };
    let (found, reason) = relation(&diff_of(&spec("y"), &spec("z")), "p");
    assert_eq!(found, Relation::Different, "{reason}");
}

/// Instances of a property without an automaton are judged in a short time: whether a verdict is final is not searched for long.
#[test]
fn quantified_properties_of_many_parts_are_decided() {
    let spec = |last: u32| {
        let n = 16;
        let fields: String = (0..n).map(|place| format!("  x{place}: int\n")).collect();
        let bound = |place: usize| if place + 1 == n { last } else { 1 };
        let parts: Vec<String> = (0..n)
            .map(|place| {
                let bound = bound(place);
                format!("(G (opens and id == c -> F (id == c and x{place} > {bound})))")
            })
            .collect();
        let parts = parts.join(" and ");
        format!(
            "event {{\n  opens: bool\n  id: string\n{fields}}}\nproperty p = forall c: {parts}\n"
        )
    };
    let begun = std::time::Instant::now();
    let (found, reason) = relation(&diff_of(&spec(1), &spec(2)), "p");
    assert_eq!(found, Relation::Stricter, "{reason}");
    // It took minutes.
    assert!(begun.elapsed().as_secs() < 60);
}

/// Beyond the limits on automata and searches, nothing is decided, and the limits are named.
#[test]
fn exceeded_limits_are_named() {
    let spec = |last: &str| {
        let tools = (0..11).map(|place| place.to_string());
        let parts: Vec<String> = tools
            .chain([last.to_owned()])
            .map(|tool| format!("(eventually tool == \"{tool}\")"))
            .collect();
        let parts = parts.join(" and ");
        checked(&format!("event {{ tool: string }}\nproperty p = {parts}\n")).unwrap()
    };
    let (old, new) = (spec("y"), spec("z"));
    let mut limits = Limits::default();
    limits.automata.work = 50_000;
    limits.search_seconds = 0;
    let progress = guard_lang::Progress::default();
    let diff = diff::diff((&old.0, &old.1), (&new.0, &new.1), &limits, &progress).unwrap();
    let (found, reason) = relation(&diff, "p");
    assert_eq!(found, Relation::Undecided);
    for part in [
        "needs at least 50001 steps of work, but the limit is 50000 (limit: `work`)",
        "was stopped (limit: `search_seconds`)",
    ] {
        assert!(reason.contains(part), "{reason}");
    }
}

/// Conditions that are written with other operators, constants and names are related by the values of the fields.
#[test]
fn conditions_are_related_by_the_values_of_fields() {
    let event = "event { kind: string  amount: int  tool: string }\n";
    for (old, new, wanted) in [
        (
            "never (amount > 100)",
            "never (amount >= 101)",
            Relation::Equal,
        ),
        (
            "never (amount > 10 and amount < 20)",
            "never (amount >= 11 and amount <= 19)",
            Relation::Equal,
        ),
        (
            "G (amount > 100 or amount < 5 -> once kind == \"ok\")",
            "G (not (amount >= 5 and amount <= 100) -> once kind == \"ok\")",
            Relation::Equal,
        ),
        (
            "never (tool in [\"a\", \"b\", \"c\"])",
            "never (tool == \"c\" or tool == \"b\" or tool == \"a\")",
            Relation::Equal,
        ),
        (
            "never (amount > 100)",
            "never (amount > 99)",
            Relation::Stricter,
        ),
        (
            "never (tool in [\"a\", \"b\"] and amount > 7)",
            "never (tool == \"a\" and amount > 6)",
            Relation::Different,
        ),
    ] {
        let diff = diff_of(
            &format!("{event}property p = {old}\n"),
            &format!("{event}property p = {new}\n"),
        );
        assert_eq!(relation(&diff, "p").0, wanted, "{old}, {new}");
    }
    let many = |n: usize, condition: &dyn Fn(usize) -> String| {
        let fields: Vec<String> = (0..n).map(|i| format!("f{i}: int")).collect();
        let conditions: Vec<String> = (0..n).map(condition).collect();
        let (fields, conditions) = (fields.join(" "), conditions.join(" and "));
        format!("event {{ {fields} }}\nproperty p = never ({conditions})\n")
    };
    for n in [3, 10, 16] {
        let old = many(n, &|i| format!("f{i} > {i}"));
        let new = many(n, &|i| format!("f{i} >= {}", i + 1));
        let (found, reason) = relation(&diff_of(&old, &new), "p");
        assert_eq!(found, Relation::Equal, "{n}: {reason}");
    }
}

#[test]
fn a_spec_does_not_differ_from_itself() {
    for text in [OLD, NEW.replace(" on error allow", "").as_str()] {
        let diff = diff_of(text, text);
        let equal = |change: &diff::PropertyChange| change.status.relation() == Relation::Equal;
        assert!(diff.properties.iter().all(equal), "{diff:?}");
        assert!(diff.decisions.is_empty(), "{diff:?}");
        assert!(!diff.may_be_looser() && !diff.may_be_stricter() && !diff.has_undecided());
    }
}

#[test]
fn other_steps_leave_everything_undecided() {
    let text =
        "event { kind: string }\nproperty p = G kind != \"x\"\nenforce p { violated => block }\n";
    let filtered = format!("{text}trace {{ where kind != \"y\" }}\n");
    let diff = diff_of(text, &filtered);
    let (relation, reason) = relation(&diff, "p");
    assert_eq!(relation, Relation::Undecided);
    assert!(reason.contains("`where`"), "{reason}");
    assert!(diff.may_be_looser() && diff.has_undecided());
    assert!(
        diff.decisions
            .iter()
            .all(|change| matches!(change.found, Direction::Unknown(_)))
    );
    assert_eq!(diff.decisions.len(), 2);
}

#[test]
fn claims_about_models_are_compared_as_texts() {
    let text = |bound: &str, extra: &str| {
        format!(
            "event {{ bad: bool }}\nabstraction states {{ over bad }}\nmodel m = learn states {{ }}\nproperty q = P<={bound} [ F bad ] on m\n{extra}"
        )
    };
    let base = text("0.1", "");
    if checked(&base).is_none() {
        panic!("{base}");
    }
    assert!(diff_of(&base, &base).claims.is_empty());
    let looser = diff_of(&base, &text("0.2", ""));
    assert_eq!(looser.claims[0].relation, Relation::Undecided);
    assert!(looser.has_undecided());
    let other = diff_of(&base, &text("0.1", "predicate more = bad\n"));
    assert_eq!(other.claims[0].relation, Relation::Undecided);
}

#[test]
fn the_command_compares_specs_and_recorded_runs() {
    let old = "event { kind: string  tool: string? }\nproperty approved = G (tool == \"pay\" -> once kind == \"ok\")\nenforce approved { violated => block }\n";
    let new = old.replace("once", "previously");
    let runs = r#"{"id":"t1","events":[{"kind":"ok"},{"kind":"call","tool":"pay"}]}
{"id":"t2","events":[{"kind":"ok"},{"kind":"call","tool":"ls"},{"kind":"call","tool":"pay"}]}
{"id":"t3","events":[{"kind":"call","tool":"pay"}]}
"#;
    let folder = Folder::new(&[
        ("old.guard", old),
        ("new.guard", &new),
        ("runs.jsonl", runs),
    ]);
    let run = folder.guard(&["diff", "old.guard", "new.guard", "--traces", "runs.jsonl"]);
    assert_eq!(run.code, 0, "{}", run.err);
    insta::assert_snapshot!("command", run.out);
    let looser = ["diff", "new.guard", "old.guard", "--fail-on", "looser"];
    assert_eq!(folder.guard(&looser).code, 1);
    assert_eq!(
        folder
            .guard(&["diff", "old.guard", "new.guard", "--fail-on", "looser"])
            .code,
        0
    );
    let both = [
        "diff",
        "old.guard",
        "new.guard",
        "--fail-on",
        "looser",
        "--fail-on",
        "stricter",
    ];
    assert_eq!(folder.guard(&both).code, 1);
    folder.write("wrong.guard", "property p = G nothing\n");
    assert_eq!(folder.guard(&["diff", "old.guard", "wrong.guard"]).code, 2);
    folder.write("cut.jsonl", "{\"id\":\"t1\",\"events\":[\n");
    let cut = folder.guard(&["diff", "old.guard", "new.guard", "--traces", "cut.jsonl"]);
    assert_eq!(cut.code, 3, "{}", cut.err);
    let json = folder.guard(&[
        "diff",
        "old.guard",
        "new.guard",
        "--format",
        "json",
        "--traces",
        "runs.jsonl",
    ]);
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let page = [
        "diff",
        "old.guard",
        "new.guard",
        "--format",
        "html",
        "--traces",
        "runs.jsonl",
    ];
    let page = folder.guard(&page).out;
    assert!(
        page.starts_with("<!DOCTYPE html>") && !page.contains("<script") && !page.contains("src="),
        "{page}"
    );
    for part in [
        "approved",
        "newly violated at step 0 by",
        "{kind: &quot;ok&quot;, tool: &quot;pay&quot;}",
        "1 trace newly stopped",
        "t2 (runs.jsonl:2)",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(json["runs"]["traces"], 3);
    assert_eq!(json["runs"]["decisions"][0]["change"], "newly_stopped");
    assert_eq!(json["runs"]["decisions"][0]["examples"][0]["trace"], "t2");
    assert_eq!(
        json["properties"][0]["newly_violated"]["events"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(json["properties"][0]["no_longer_violated"], false);
}

/// The order of a text and a number is unknown, and so is its negation: it is not as if there was no such comparison.
#[test]
fn what_is_unknown_is_not_taken_for_false() {
    let spec = |condition: &str| {
        format!(
            "event {{ tool: string?  args: json? }}\nproperty p = never (tool == \"pay\" and {condition})\n"
        )
    };
    for (old, new) in [
        ("args.n == \"x\" and not (args.n > 3)", "args.n == \"x\""),
        (
            "args.n != null and not (args.n > 3)",
            "args.n != null and args.n <= 3",
        ),
    ] {
        let diff = diff_of(&spec(old), &spec(new));
        assert_ne!(relation(&diff, "p").0, Relation::Equal, "{old}: {diff:?}");
    }
}

/// Errors in the data of either spec are reported, each once.
#[test]
fn errors_in_the_data_of_either_spec_are_told() {
    let kind = "event { kind: string  bad: int? }\nproperty p = G !(kind == \"rm\" and bad != 1)\n";
    let count = kind
        .replace("bad: int?", "n: int?  bad: int?")
        .replace("and", "and n > 0 and");
    let run = r#"{"id":"t","events":[{"kind":"rm","n":"x","bad":"y"}]}"#;
    let folder = Folder::new(&[("a.guard", kind), ("b.guard", &count), ("runs.jsonl", run)]);
    for (old, new) in [("a.guard", "b.guard"), ("b.guard", "a.guard")] {
        let run = folder.guard(&["diff", old, new, "--traces", "runs.jsonl"]);
        let told = |field: &str| run.err.matches(&format!("field `{field}`")).count();
        assert_eq!((run.code, told("n"), told("bad")), (3, 1, 1), "{run:?}");
    }
}

/// A window in time of a count is searched at times beyond and within it, in events whose fields are known.
#[test]
fn a_threshold_of_a_window_is_stricter() {
    let spec = |most: u32| {
        format!(
            "use std.agent\npredicate pays = kind == \"call\" and tool == \"pay\"\n\
             property rate = always (count[0,60s](pays) <= {most})\nenforce rate {{ violated => ask \"y\" }}\n"
        )
    };
    let diff = diff_of(&spec(2), &spec(1));
    assert_eq!(
        relation(&diff, "rate").0,
        Relation::Stricter,
        "{}",
        diff.to_text()
    );
    let [decision] = diff.decisions.as_slice() else {
        panic!("{}", diff.to_text());
    };
    let Direction::Found(witness) = &decision.found else {
        panic!("{}", diff.to_text());
    };
    let pays = |event: &&String| event.contains("tool: \"pay\"");
    assert_eq!(witness.events.iter().filter(pays).count(), 2, "{witness:?}");
}

/// A recorded run that satisfies one property and violates the other decides what the comparison leaves open.
#[test]
fn a_recorded_run_decides_a_direction() {
    let spec = |sum: u32| {
        format!("event {{ n: int  m: int }}\nproperty p = never (n * n + m * m == {sum})\n")
    };
    let folder = Folder::new(&[
        ("old.guard", &spec(3535)),
        ("new.guard", &spec(3737)),
        (
            "runs.jsonl",
            "{\"id\":\"t\",\"events\":[{\"n\":59,\"m\":16}]}\n",
        ),
    ]);
    let args = [
        "diff",
        "old.guard",
        "new.guard",
        "--max-search-seconds",
        "0",
    ];
    let alone = folder.guard(&args).out;
    assert!(
        alone.contains("  not decided: ") && !alone.contains("newly violated"),
        "{alone}"
    );
    let run = folder.guard(&[&args[..], &["--traces", "runs.jsonl"]].concat());
    assert!(
        run.out.contains(
            "newly violated, as a recorded run shows: t (runs.jsonl:1) at step 0: violated, was satisfied"
        ),
        "{}",
        run.out
    );
}
