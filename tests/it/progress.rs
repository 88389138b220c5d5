//! Progress: on a terminal, for work that takes over a second, and nothing in a pipe.

use std::process::{Command, Stdio};

use crate::support::cli::Folder;
use crate::support::skip;

/// Returns all that the command writes, with its error output on a terminal (a pseudo-terminal of `script`) or in a pipe.
fn output(folder: &Folder, args: &[&str], on_terminal: bool) -> Option<String> {
    let guard = assert_cmd::cargo::cargo_bin("guard");
    let line: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
    let line = format!("'{}' {}", guard.display(), line.join(" "));
    let mut command = if on_terminal {
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]);
        script
    } else {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{line} 2>&1")]);
        shell
    };
    let output = command
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Checks that progress is shown on a terminal and taken off again, and that a pipe has what is left without it.
fn check(folder: &Folder, args: &[&str], told: &str) {
    let Some(terminal) = output(folder, args, true) else {
        skip("no `script` for a pseudo-terminal");
        return;
    };
    let shown = format!("{told}, ");
    assert!(
        terminal.contains(&shown),
        "{args:?}: no {shown:?} in {terminal:?}"
    );
    let last = terminal.rfind(&shown).unwrap();
    assert!(
        terminal[last..].contains("\r\u{1b}[K"),
        "{args:?}: {terminal:?}"
    );
    let pipe = output(folder, args, false).unwrap();
    assert!(
        !pipe.contains(&shown) && !pipe.contains('\r'),
        "{args:?}: {pipe:?}"
    );
}

/// A chain on which a query takes seconds without optimisation: every state leads to some others.
#[test]
fn a_query_shows_how_many_claims_are_answered() {
    let states = 3_000_u32;
    let mut transitions = Vec::new();
    for from in 0..states {
        let mut to = [
            (from + 1) % states,
            (from * 7 + 1) % states,
            (from * 31 + 5) % states,
            0,
        ];
        to.sort_unstable();
        let mut row = to.to_vec();
        row.dedup();
        for other in &row {
            let times = to.iter().filter(|one| *one == other).count();
            transitions.push(format!("{from} {other} {}", times as f64 / 4.0));
        }
    }
    let head = format!("{states} {}\n", transitions.len());
    let folder = Folder::new(&[
        (
            "c.guard",
            "event { kind: string }\nmodel m = import \"c.tra\"\nquery far = P=? [ F<=200000 bad ] on m\n",
        ),
        ("c.tra", &(head + &transitions.join("\n"))),
        (
            "c.lab",
            &format!("0=\"init\" 1=\"bad\"\n0: 0\n{}: 1\n", states - 1),
        ),
    ]);
    check(&folder, &["query", "c.guard"], "0 of 1 claims answered");
}

#[test]
fn a_verification_shows_how_many_claims_are_checked() {
    let folder = Folder::new(&[("s.guard", SYSTEM)]);
    check(&folder, &["verify", "s.guard"], "0 of 1 claims checked");
}

/// A system whose states take seconds to explore without optimisation.
const SYSTEM: &str = "\
system counting {
  state a: int 0..599 = 0
  state b: int 0..599 = 0
  step more_a when a < 599 => a' == a + 1
  step more_b when b < 599 => b' == b + 1
}
property low = AG (a + b < 1999) on counting
";

#[test]
fn mutants_and_differences_show_how_many_properties_are_done() {
    let spec = |first: &str| {
        let properties: String = (0..60)
            .map(|n| {
                format!(
                    "property p{n} = G (a -> F[0,{}] (b and not a)) and (b W {first})\n\
                     test \"t{n}\" {{ given [ {{a: true, b: true}} ]  expect p{n} violated }}\n",
                    n + 9
                )
            })
            .collect();
        format!("event {{ a: bool  b: bool }}\n{properties}")
    };
    let folder = Folder::new(&[("s.guard", &spec("a")), ("t.guard", &spec("(a and b)"))]);
    check(
        &folder,
        &["test", "--mutants", "s.guard"],
        "of 60 properties mutated",
    );
    check(
        &folder,
        &["diff", "s.guard", "t.guard"],
        "of 61 parts compared",
    );
}

#[test]
fn reading_shows_how_much_is_read() {
    let spec = "event { a: bool }\ntrack n: int = 0 then n + 1\nabstraction s { over n in [0, 100, 1000] }\n\
                model m = learn s\nquery q = P=? [ F a ] on m\nproperty p = G not a\n";
    let event = "{\"a\":false},".repeat(200_000);
    let event = event.trim_end_matches(',');
    let run: String = (0..6)
        .map(|n| format!("{{\"id\":\"t{n}\",\"events\":[{event}]}}\n"))
        .collect();
    let folder = Folder::new(&[("s.guard", spec), ("t.jsonl", &run)]);
    check(&folder, &["audit", "s.guard", "t.jsonl"], "traces judged");
}
