//! Long bounds in `guard audit`: counters and unrolled automata give identical output, and the length of a bound does not
//! increase the cost.

use std::fmt::Write as _;

use crate::support::cli::Folder;

/// With bounds small enough to be unrolled; nested, late, past, quantified, recurring.
const SPEC: &str = r#"
event {
  kind: string
  id: string? = unknown
  n: int? = unknown
}
predicate asked = kind == "ask"
predicate told = kind == "tell"
predicate paid = n == 1
property soon = G (asked -> F[0,7] told)
property late = G (asked -> F[2,6] told)
property again = G (asked -> F[0,5] (told and F[0,6] paid))
property calm = G (paid -> G[1,4] not asked)
property held = G (told -> (not paid U[0,5] asked))
property was = G (paid -> O[1,6] asked)
property each = forall x: G (kind == "ask" and id == x -> F[1,8] (kind == "tell" and id == x))
property some = exists x: F (kind == "ask" and id == x and G[0,5] (id == x))
rule prompt: when asked then told within 2..9 steps
rule forgiving: when asked then told within 6 steps or end
"#;

/// Traces from a generator of numbers; some fields are missing.
fn traces(n: usize, len: usize) -> String {
    let mut seed = 20_240_611u64;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005);
        seed = seed.wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut text = String::new();
    for trace in 0..n {
        let complete = trace % 3 != 0;
        write!(
            text,
            "{{\"id\":\"t{trace}\",\"complete\":{complete},\"events\":["
        )
        .unwrap();
        let sparse = 2 + next(6);
        for event in 0..len {
            let kind = match next(sparse) {
                0 => "ask",
                1 => "tell",
                _ => "other",
            };
            let comma = if event > 0 { "," } else { "" };
            write!(text, "{comma}{{\"kind\":\"{kind}\"").unwrap();
            if next(10) > 0 {
                write!(text, ",\"id\":\"{}\"", ["x", "y", "z"][next(3) as usize]).unwrap();
            }
            if next(12) > 0 {
                write!(text, ",\"n\":{}", next(4)).unwrap();
            }
            text.push('}');
        }
        text.push_str("]}\n");
    }
    text
}

#[test]
fn counted_and_unrolled_bounds_say_the_same() {
    let folder = Folder::new(&[("a.guard", SPEC)]);
    folder.write("runs.jsonl", traces(150, 24));
    let audit = |unrolled: &str| {
        let args = [
            "audit",
            "a.guard",
            "runs.jsonl",
            "--format",
            "json",
            "--max-unrolled",
            unrolled,
        ];
        let run = folder.guard(&args);
        assert_eq!(run.code, 1, "{}", run.err);
        // What shows a violation, and what would decide, is found in different ways.
        let lines: Vec<serde_json::Value> = run
            .out
            .lines()
            .map(|line| {
                let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
                if let Some(object) = line.as_object_mut() {
                    object.remove("counterexample");
                    object.remove("undecided_by");
                }
                line
            })
            .collect();
        lines
    };
    let (unrolled, counted) = (audit("512"), audit("0"));
    assert_eq!(unrolled.len(), counted.len());
    for (unrolled, counted) in unrolled.iter().zip(&counted) {
        assert_eq!(unrolled, counted);
    }
}

#[test]
fn a_deadline_far_away_is_met_or_missed_at_its_step() {
    const K: usize = 100_000;
    let spec = format!(
        "event {{ kind: string }}\nproperty soon = G (kind == \"ask\" -> F[0,{K}] kind == \"tell\")\n"
    );
    let folder = Folder::new(&[("a.guard", &spec)]);
    // Asked at 5 and 9; told in time, and one step too late.
    for (told, at) in [(5 + K, None), (6 + K, Some(5 + K))] {
        let mut text = "{\"id\":\"t\",\"events\":[".to_owned();
        for event in 0..K + 20 {
            let kind = match event {
                5 | 9 => "ask",
                _ if event == told => "tell",
                _ => "other",
            };
            let comma = if event > 0 { "," } else { "" };
            write!(text, "{comma}{{\"kind\":\"{kind}\"}}").unwrap();
        }
        text.push_str("]}\n");
        folder.write("run.jsonl", text);
        let run = folder.guard(&["audit", "a.guard", "run.jsonl", "--format", "json"]);
        let first: serde_json::Value =
            serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
        match at {
            None => assert_eq!(first["verdict"], "satisfied", "{first}"),
            Some(at) => {
                assert_eq!(first["verdict"], "violated", "{first}");
                assert_eq!(
                    (&first["at"], &first["from"]),
                    (&at.into(), &5.into()),
                    "{first}"
                );
                assert_eq!(
                    first["counterexample"],
                    serde_json::json!([5, at]),
                    "{first}"
                );
            }
        }
    }
}

/// What a property with a long bound is, is told from its automaton with counters; nothing is unrolled.
#[test]
fn a_long_bound_is_explained() {
    let spec = "event { kind: string  at: time }\npredicate asked = kind == \"ask\"\npredicate told = kind == \"tell\"\n\
        property soon = G (asked -> F[0,100000] told)\nproperty later = G (asked -> F[0,200000] told)\n\
        property once_told = F[0,1000000] told\nproperty was = G (told -> O[0,500000] asked)\n\
        property late = G (asked -> F[30,100000] told)\n\
        property near = G (asked -> F[30,1000] told)\nproperty far = G (asked -> F[30,2000] told)\nrule clocked: when asked then told within 2s\n";
    let folder = Folder::new(&[("a.guard", spec)]);
    let explain = |name: &str, more: &[&str]| {
        let args = [&["explain", "a.guard", name, "--format", "json"], more].concat();
        let run = folder.guard(&args);
        assert_eq!(run.code, 0, "{run:?}");
        serde_json::from_str::<serde_json::Value>(&run.out).unwrap()
    };
    let human = folder.guard(&["explain", "a.guard", "soon"]);
    insta::assert_snapshot!("explain_long", human.out);
    let class = |told: &serde_json::Value| {
        let class = &told["class"];
        let words =
            [&class["finite"], &class["enforce"]].map(|word| word.as_str().unwrap().to_owned());
        (words.join(" "), class["monitorable"].as_bool())
    };
    let length = |runs: &serde_json::Value| {
        let runs = runs.as_array().unwrap().iter();
        runs.map(|run| run["times"].as_u64().unwrap()).sum::<u64>()
    };
    let soon = explain("soon", &["--against", "later"]);
    assert_eq!(class(&soon), ("neither detected".to_owned(), Some(true)));
    assert_eq!(
        soon["counted"],
        serde_json::json!({"states": 4, "counters": 1, "complete": true})
    );
    assert_eq!(soon["good"], serde_json::json!([["!asked"]]));
    assert_eq!(
        (&soon["bad"], length(&soon["bad_runs"])),
        (&serde_json::Value::Null, 100_001)
    );
    assert_eq!(soon["relation"], "implies");
    let once = explain("once_told", &[]);
    assert_eq!(class(&once), ("cosafety detected".to_owned(), Some(true)));
    assert_eq!(length(&once["bad_runs"]), 1_000_001);
    let was = explain("was", &["--against", "G (told -> O[0,500000] asked)"]);
    assert_eq!(class(&was), ("safety blocked".to_owned(), Some(true)));
    assert_eq!(
        (&was["bad"], &was["relation"]),
        (
            &serde_json::json!([["!asked", "told"]]),
            &"equivalent".into()
        )
    );
    // However many requests may wait at once, all states are looked at.
    let late = explain("late", &[]);
    assert_eq!(class(&late), ("neither detected".to_owned(), Some(true)));
    assert_eq!(late["counted"]["complete"], true);
    assert_eq!(length(&late["bad_runs"]), 100_001);
    // Neither has an automaton that could be built, and which says more is told.
    let near = explain("near", &["--against", "far"]);
    assert_eq!(near["relation"], "implies");
    let far = explain("far", &["--against", "near"]);
    assert_eq!(far["relation"], "implied_by");
    // Bounds in time have counters in any case.
    let clocked = explain("clocked", &[]);
    assert_eq!(class(&clocked), ("neither detected".to_owned(), Some(true)));
    let last = clocked["bad_runs"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert!(last["at"].as_f64().unwrap() > 2.0, "{clocked}");
}
