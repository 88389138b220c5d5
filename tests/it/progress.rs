//! Progress is shown on a terminal, for work that takes over a second, and never in a pipe.

use std::process::{Command, Stdio};

use crate::support::cli::Folder;
use crate::support::skip;

/// Returns all that a line of the shell writes, with its error output on a terminal (a pseudo-terminal of `script`) or in a
/// pipe. `GUARD` stands for the command.
fn output(folder: &Folder, line: &str, on_terminal: bool) -> Option<String> {
    let guard = assert_cmd::cargo::cargo_bin("guard");
    let line = line.replace("GUARD", &format!("'{}'", guard.display()));
    let mut command = if on_terminal {
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]);
        script
    } else {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("({line}) 2>&1")]);
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
fn check(folder: &Folder, line: &str, told: &str) {
    match output(folder, line, true) {
        Some(terminal) => check_shown(folder, line, told, &terminal),
        None => skip("no `script` for a pseudo-terminal"),
    }
}

/// The same, of what was written to a terminal.
fn check_shown(folder: &Folder, line: &str, told: &str, terminal: &str) {
    let shown = format!("{told}, ");
    assert!(
        terminal.contains(&shown),
        "{line}: no {shown:?} in {terminal:?}"
    );
    let last = terminal.rfind(&shown).unwrap();
    assert!(
        terminal[last..].contains("\r\u{1b}[K"),
        "{line}: {terminal:?}"
    );
    let pipe = output(folder, line, false).unwrap();
    assert!(
        !pipe.contains(&shown) && !pipe.contains('\r'),
        "{line}: {pipe:?}"
    );
}

/// A chain on which a query takes long if its bound is large: every state leads to some others.
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
    let chain = head + &transitions.join("\n");
    let labels = format!("0=\"init\" 1=\"bad\"\n0: 0\n{}: 1\n", states - 1);
    let folder = |count: u32| {
        // Each step of `G` is computed; those of `F` only until the rest is known.
        let bound = 500 * count;
        let spec = format!(
            "event {{ kind: string }}\nmodel m = import \"c.tra\"\nquery far = P=? [ G<={bound} not bad ] on m\n"
        );
        let question = format!("P=? [ G<={bound} !\"bad\" ]");
        Folder::new(&[
            ("c.guard", &spec),
            ("c.pctl", &question),
            ("c.tra", &chain),
            ("c.lab", &labels),
        ])
    };
    let told = |_| "0 of 1 claims answered".to_owned();
    check_growing("GUARD query c.guard", folder, told);
    let told = |_| "0 of 1 properties answered".to_owned();
    let line = "GUARD query --chain c.tra \"$(cat c.pctl)\"";
    check_growing(line, folder, told);
}

#[test]
fn a_verification_shows_how_many_claims_are_checked() {
    let folder = |count: u32| {
        let system = format!(
            "\
system counting {{
  state a: int 0..{count} = 0
  state b: int 0..{count} = 0
  step more_a when a < {count} => a' == a + 1
  step more_b when b < {count} => b' == b + 1
}}
property low = AG (a + b < 3999) on counting
"
        );
        Folder::new(&[("s.guard", &system)])
    };
    let told = |_| "0 of 1 claims checked".to_owned();
    check_growing("GUARD verify s.guard", folder, told);
}

/// Checks the same of work that grows with a count, until it takes so long that progress is shown: how much takes over a second
/// depends on the machine.
fn check_growing(line: &str, folder: impl Fn(u32) -> Folder, told: impl Fn(u32) -> String) {
    for count in [10, 30, 60, 120, 240, 480, 960, 1_920] {
        let (folder, told) = (folder(count), told(count));
        let Some(terminal) = output(&folder, line, true) else {
            return skip("no `script` for a pseudo-terminal");
        };
        if terminal.contains(&told) || count == 1_920 {
            return check_shown(&folder, line, &told, &terminal);
        }
    }
}

#[test]
fn mutants_show_how_many_properties_are_mutated() {
    let folder = |count: u32| {
        let properties: String = (0..count)
            .map(|n| {
                format!(
                    "property p{n} = G (a -> F[0,{}] (b and not a)) and (b W a)\n\
                     test \"t{n}\" {{ given [ {{a: true, b: true}} ]  expect p{n} violated }}\n",
                    n + 9
                )
            })
            .collect();
        let spec = format!("event {{ a: bool  b: bool }}\n{properties}");
        Folder::new(&[("s.guard", &spec)])
    };
    check_growing("GUARD test --mutants s.guard", folder, |count| {
        format!("of {count} properties mutated")
    });
}

#[test]
fn a_comparison_shows_how_many_parts_are_compared() {
    let spec = |count: u32, first: &str| {
        let properties: String = (0..count)
            .map(|n| {
                let window = n + WINDOW;
                format!("property p{n} = G (a -> F[0,{window}] (b and not a)) and (b W {first})\n")
            })
            .collect();
        format!("event {{ a: bool  b: bool }}\n{properties}")
    };
    let folder = |count| {
        let (old, new) = (spec(count, "a"), spec(count, "(a and b)"));
        Folder::new(&[("s.guard", &old), ("t.guard", &new)])
    };
    check_growing("GUARD diff s.guard t.guard", folder, |count| {
        format!("of {} parts compared", count + 1)
    });
}

/// Windows of which the automata take a while to compare.
const WINDOW: u32 = 2_000;

/// A slow language model.
#[test]
fn a_draft_shows_how_many_questions_are_answered() {
    let folder = Folder::new(&[
        ("model.sh", "cat >/dev/null; sleep 2; echo nothing"),
        ("requirements.md", "- Try to keep the balance healthy.\n"),
    ]);
    let line = "GUARD draft requirements.md --with 'sh model.sh' --samples 1";
    check(&folder, line, "questions answered");
}
