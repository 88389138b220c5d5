//! Long bounds through `guard audit` itself: counted and unrolled they say the same, byte for byte, and their length costs
//! nothing.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cli_common;

use std::fmt::Write as _;

use cli_common::Folder;

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
