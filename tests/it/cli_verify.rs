//! `guard verify`.

use crate::support::cli::Folder;
use serde_json::{Value, json};

const AGENT: &str = include_str!("../../examples/systems/agent.guard");
const OFFICE: &str = include_str!("../../examples/systems/approval.guard");

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The time that it took differs from run to run.
fn without_ms(text: &str) -> String {
    let mut all = String::new();
    for mut line in lines(text) {
        assert!(line.as_object_mut().unwrap().remove("ms").unwrap().is_u64());
        all.push_str(&line.to_string());
        all.push('\n');
    }
    all
}

#[test]
fn the_report_for_people_shows_runs_as_tables() {
    let folder = Folder::new(&[("agent.guard", AGENT), ("office.guard", OFFICE)]);
    let run = folder.guard(&["verify", "agent.guard"]);
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    insta::assert_snapshot!("agent", run.out);
    let run = folder.guard(&["verify", "office.guard"]);
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    insta::assert_snapshot!("office", run.out);
}

#[test]
fn the_json_report_is_stable() {
    let folder = Folder::new(&[("office.guard", OFFICE)]);
    let run = folder.guard(&["verify", "office.guard", "--format", "json", "--all-states"]);
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    insta::assert_snapshot!("office_json", without_ms(&run.out));
}

#[test]
fn one_property_or_system_can_be_asked_for() {
    let folder = Folder::new(&[("agent.guard", AGENT), ("office.guard", OFFICE)]);
    let run = folder.guard(&[
        "verify",
        "agent.guard",
        "--property",
        "returns",
        "--format",
        "json",
    ]);
    assert_eq!(run.code, 0, "{run:?}");
    let found = lines(&run.out);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["property"], "returns");
    assert_eq!(found[0]["holds"], true);
    assert_eq!(found[0]["logic"], "ctl");
    let run = folder.guard(&[
        "verify",
        "office.guard",
        "--property",
        "human.guarantee",
        "--format",
        "json",
    ]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(lines(&run.out)[0]["property"], "human.guarantee");
    let run = folder.guard(&["verify", "agent.guard", "--property", "return"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("did you mean `returns`?"), "{}", run.err);
}

#[test]
fn counterexamples_are_valuations() {
    let folder = Folder::new(&[("agent.guard", AGENT)]);
    let run = folder.guard(&[
        "verify",
        "agent.guard",
        "--property",
        "gated",
        "--format",
        "json",
    ]);
    assert_eq!(run.code, 1, "{run:?}");
    let line = &lines(&run.out)[0];
    assert_eq!(line["v"], 1);
    assert_eq!(line["states"], 7);
    assert_eq!(
        line["counterexample"]["stem"][0],
        json!({ "mode": "idle", "high": false })
    );
    assert!(
        !line["counterexample"]["loop"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

const LIMITS: &str = "system big {
  state n: int 0..999999999 = 0
  step up when n < 999999999 => n' == n + 1
  step down when n > 0 => n' == n - 1
}
property low = G (n >= 0) on big
system wide {
  state a: int 0..99999 = 0
  state b: int 0..99999 = 0
  step any when a == 0 => a' in { 0, 1 }, b' == b
}
property small = G (a <= 1) on wide
";

#[test]
fn what_is_too_large_is_refused_with_the_limit() {
    let folder = Folder::new(&[("a.guard", LIMITS)]);
    let run = folder.guard(&["verify", "a.guard", "--max-states", "5000"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(
        run.err
            .contains("`low`: more than 5000 states are reachable"),
        "{}",
        run.err
    );
    assert!(
        run.err.contains("1000000000 valuations") && run.err.contains("`--max-states`"),
        "{}",
        run.err
    );
    // What else is asked is still answered.
    assert!(
        run.out
            .contains("small on wide: holds (ltl, 2 states, 3 transitions)"),
        "{}",
        run.out
    );
}

#[test]
fn what_is_wrong_with_a_system_shows_when_it_is_explored() {
    let cases = [
        (
            "system s {\n  state n: int 0..9 = 3\n  init n == 4\n  step up => true\n}\n",
            "no initial state",
        ),
        (
            "system s {\n  state n: int 0..9 = 9\n  step up => n' == n + 1\n}\n",
            "`up` sets `n` to 10, which is not in its range 0..9, in state n = 9",
        ),
        (
            "system s {\n  state n: int 0..9 = 0\n  state m: int 0..9 = 0\n  step up when mod(m, n) == 0 => n' == 1\n}\n",
            "the guard of `up` has no value in state n = 0, m = 0: division by zero",
        ),
        (
            "system s {\n  state n: int 0..9 = 0\n  step up when n < 9 => n' == n + 1\n  assume G F (n == 4)\n}\n\
             property p = G (n <= 9) on s\n",
            "the assumptions exclude every run from initial state n = 0",
        ),
    ];
    for (text, message) in cases {
        let folder = Folder::new(&[("a.guard", text)]);
        let run = folder.guard(&["verify", "a.guard"]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{text}");
        assert!(run.err.contains(message), "{}", run.err);
    }
    let folder = Folder::new(&[("a.guard", "event { n: int }\nproperty p = G (n > 0)\n")]);
    let run = folder.guard(&["verify", "a.guard"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("declares no system"), "{}", run.err);
}

#[test]
fn fairness_decides_which_runs_count() {
    let text = |assume: &str| {
        format!(
            "system s {{\n  state n: int 0..2 = 0\n  step stay => true\n  step up when n < 2 => n' == n + 1\n  \
             step again when n == 2 => n' == 0\n{assume}}}\nproperty returns = G F (n == 0) on s\nproperty all = AG AF (n == 2) on s\n"
        )
    };
    let folder = Folder::new(&[
        ("a.guard", &text("")),
        (
            "b.guard",
            &text("  assume G F (n == 2)\n  assume G F (n == 0)\n"),
        ),
    ]);
    let run = folder.guard(&["verify", "a.guard", "--format", "json"]);
    assert_eq!(run.code, 1);
    assert!(
        lines(&run.out).iter().all(|line| line["holds"] == false),
        "{}",
        run.out
    );
    let run = folder.guard(&["verify", "b.guard", "--format", "json"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        lines(&run.out).iter().all(|line| line["holds"] == true),
        "{}",
        run.out
    );
}

#[test]
fn deadlocks_are_told() {
    let text = "system s {\n  state n: int 0..2 = 0\n  step up when n < 2 => n' == n + 1\n}\n";
    let folder = Folder::new(&[("a.guard", text)]);
    let run = folder.guard(&["verify", "a.guard"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    insta::assert_snapshot!("deadlock", run.out);
    let run = folder.guard(&["verify", "a.guard", "--format", "json"]);
    let line = &lines(&run.out)[0];
    assert_eq!(
        (&line["property"], &line["states"], &line["deadlocks"]),
        (&Value::Null, &json!(3), &json!(1))
    );
}

/// What no system decides is watched where the agent runs.
#[test]
fn assumptions_about_events_are_watched_by_audits() {
    let text = "event { kind: string }\npredicate request = kind == \"request\"\npredicate approval = kind == \"approval\"\n\
         component tools {\n  state busy: bool = false\n  assume G (request -> F approval)\n  guarantee G (busy or not busy)\n  \
         step toggle => busy' == !busy\n}\ncompose all = tools\n";
    let folder = Folder::new(&[
        ("a.guard", text),
        (
            "t.jsonl",
            "{\"id\":\"t1\",\"events\":[{\"kind\":\"request\"},{\"kind\":\"other\"}]}\n",
        ),
    ]);
    let run = folder.guard(&["verify", "a.guard", "--format", "json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let line = &lines(&run.out)[0];
    assert_eq!(line["property"], "tools.guarantee");
    assert_eq!(
        line["trusted"],
        json!(["tools assumes G (request -> F approval)"])
    );
    let run = folder.guard(&["audit", "a.guard", "t.jsonl", "--format", "json"]);
    assert_eq!(run.code, 1, "{run:?}");
    let line = &lines(&run.out)[0];
    assert_eq!(
        (&line["property"], &line["verdict"]),
        (&json!("tools.assume"), &json!("violated"))
    );
}

const RETRY: &str = "system retry {
  state tries: int 0..3 = 0
  state mode: { trying, done, failed } = trying
  step attempt when mode == trying and tries < 3 => 0.7: mode' == done | 30%: tries' == tries + 1
  step give_up when mode == trying and tries == 3 => mode' == failed
  step rest when mode != trying => true
  reward = if mode == trying then 1 else 0
  reward cost = tries * 0.5
}
property mostly = P>=0.97 [ F (mode == done) ] on retry
property surely = P>=1 [ F (mode == done) ] on retry
property ends = P>=1 [ F (mode == done or mode == failed) ] on retry
property stays = AG (mode == done -> AG (mode == done)) on retry
property linear = F (mode != trying) on retry
query fails = P=? [ F (mode == failed) ] on retry
query soon = P=? [ F<=1 (mode == done) ] on retry
query effort = R=? [ F (mode != trying) ] on retry
";

#[test]
fn systems_with_probabilities_are_chains() {
    let folder = Folder::new(&[("a.guard", RETRY)]);
    let run = folder.guard(&["verify", "a.guard", "--format", "json"]);
    assert_eq!((run.code, run.err.as_str()), (1, ""), "{run:?}");
    let found = lines(&run.out);
    let of = |name: &str| found.iter().find(|line| line["property"] == name).unwrap();
    for (name, holds) in [
        ("mostly", true),
        ("surely", false),
        ("ends", true),
        ("stays", true),
        ("linear", true),
    ] {
        assert_eq!(of(name)["holds"], holds, "{name}");
    }
    assert_eq!(of("mostly")["logic"], "pctl");
    // 0.3^3, 0.7, and 1 + 0.3 + 0.09 + 0.027 attempts, the last of which gives up.
    for (name, value) in [("fails", 0.027), ("soon", 0.7), ("effort", 1.417)] {
        let found = of(name)["value"].as_f64().unwrap();
        assert!((found - value).abs() < 1e-9, "{name}: {found}");
        assert_eq!(of(name)["holds"], Value::Null);
        assert!(of(name).get("exact").is_none());
    }
    // The same as fractions, where a threshold is met to the digit.
    let exact = RETRY.replace("P>=0.97", "P>=0.973");
    folder.write("b.guard", exact);
    let run = folder.guard(&["verify", "b.guard", "--exact", "--format", "json"]);
    assert_eq!((run.code, run.err.as_str()), (1, ""), "{run:?}");
    let found = lines(&run.out);
    let of = |name: &str| found.iter().find(|line| line["property"] == name).unwrap();
    assert_eq!(of("mostly")["holds"], true);
    for (name, value) in [
        ("fails", "27/1000"),
        ("soon", "7/10"),
        ("effort", "1417/1000"),
    ] {
        assert_eq!(of(name)["exact"], value, "{name}");
    }
}

#[test]
fn a_system_with_probabilities_leaves_no_choice() {
    let cases = [
        (
            "  step a => 0.5: n' == 1 | 0.5: n' == 0\n  step b when n == 1 => n' == 0\n",
            "in state n = 1 these are: a, b",
        ),
        (
            "  step a when n == 0 => 0.5: n' == 1 | 0.5: n' == 0\n",
            "in state n = 1 no command is enabled",
        ),
        (
            "  step a => (n / 2): n' == 1 | 0.5: n' == 0\n",
            "`a` has probabilities with sum 0.5 instead of 1, in state n = 0",
        ),
    ];
    for (steps, message) in cases {
        let text = format!(
            "system s {{\n  state n: int 0..1 = 0\n{steps}}}\nquery q = P=? [ F (n == 1) ] on s\n"
        );
        let folder = Folder::new(&[("a.guard", &text)]);
        let run = folder.guard(&["verify", "a.guard"]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{text}");
        assert!(run.err.contains(message), "{}", run.err);
    }
    let text = "system s {\n  state n: int 0..1 = 0\n  step a => n' == 1\n}\nquery q = P=? [ F (n == 1) ] on s\n";
    let folder = Folder::new(&[("a.guard", text)]);
    let run = folder.guard(&["verify", "a.guard"]);
    assert!(
        run.err
            .contains("the steps of the system have no probabilities"),
        "{}",
        run.err
    );
}
