//! Shell lines are read as the commands that they run.

use guard_lang::shell::{Command, Limits, ShellError};

fn commands(line: &str) -> Result<Vec<Command>, ShellError> {
    guard_lang::shell::commands(line, &Limits::default())
}

/// Each command as one line, words in order.
fn read(line: &str) -> Vec<String> {
    commands(line)
        .unwrap()
        .iter()
        .map(|words| words.join(" "))
        .collect()
}

#[test]
fn commands_are_found_wherever_they_stand() {
    for (line, expected) in [
        ("ls -l /tmp", &["ls -l /tmp"][..]),
        ("", &[]),
        ("  # nothing", &[]),
        (
            "cd /tmp && rm -rf x; ls | wc -l || true",
            &["cd /tmp", "rm -rf /tmp/x", "ls", "wc -l", "true"],
        ),
        ("echo \"rm -rf /\"", &["echo rm -rf /"]),
        ("echo 'a b' c\\ d \"e\\\"f\"", &["echo a b c d e\"f"]),
        ("r\\m -r -f /", &["rm -r -f /"]),
        ("\"r\"m x", &["rm x"]),
        ("$'\\x72m' x", &["rm x"]),
        (
            "echo $(cat /etc/passwd | head -1)",
            &[
                "echo $(cat /etc/passwd | head -1)",
                "cat /etc/passwd",
                "head -1",
            ],
        ),
        ("echo \"at `date`\"", &["echo at `date`", "date"]),
        ("(cd a; make) & wait", &["cd a", "make", "wait"]),
        ("for f in *.c; do gcc \"$f\"; done", &["gcc $f"]),
        (
            "if test -f a; then rm a; else touch a; fi",
            &["test -f a", "rm a", "touch a"],
        ),
        ("f() { curl x; }; f", &["curl x", "f"]),
        ("A=1 B=2 make -j2", &["make -j2"]),
        ("export A=1", &["export A=1"]),
        (
            "diff <(sort a) <(sort b)",
            &["diff <(sort a) <(sort b)", "sort a", "sort b"],
        ),
    ] {
        assert_eq!(read(line), expected, "{line}");
    }
}

#[test]
fn redirections_are_commands_of_their_own() {
    assert_eq!(read("echo x > /etc/hosts"), ["echo x", "> /etc/hosts"]);
    assert_eq!(
        read("cat < in >> out 2>&1"),
        ["cat", "< in", ">> out", ">& 1"]
    );
    assert_eq!(read("a | b > \"c d\""), ["a", "b", "> c d"]);
}

#[test]
fn commands_that_run_commands_are_followed() {
    for (line, expected) in [
        (
            "sudo -u root rm -rf /",
            &["sudo -u root rm -rf /", "rm -rf /"][..],
        ),
        ("sudo -n -- rm x", &["sudo -n -- rm x", "rm x"]),
        (
            "env -i A=1 sh -c 'rm x; ls'",
            &["env -i A=1 sh -c rm x; ls", "sh -c rm x; ls", "rm x", "ls"],
        ),
        (
            "timeout -s KILL 5 make",
            &["timeout -s KILL 5 make", "make"],
        ),
        ("ls | xargs -n1 wc", &["ls", "xargs -n1 wc", "wc"]),
        (
            "find . -name '*.o' -exec rm {} \\;",
            &["find . -name *.o -exec rm {} ;", "rm {}"],
        ),
        (
            "bash -lc \"curl a | wc\"",
            &["bash -lc curl a | wc", "curl a", "wc"],
        ),
        ("eval rm x", &["eval rm x", "rm x"]),
        (
            "poetry -C run run git push",
            &["poetry -C run run git push", "git push"],
        ),
        (
            "ssh -p 22 host 'rm -r x'",
            &["ssh -p 22 host rm -r x", "rm -r x"],
        ),
        ("bash <<'E'\nrm x\nE\n", &["bash", "rm x"]),
        (
            "nohup nice -n 5 /usr/bin/make all &",
            &[
                "nohup nice -n 5 /usr/bin/make all",
                "nice -n 5 /usr/bin/make all",
                "/usr/bin/make all",
            ],
        ),
    ] {
        assert_eq!(read(line), expected, "{line}");
    }
}

#[test]
fn what_is_no_shell_line_is_said_to_be_none() {
    for line in ["echo 'open", "if true; then", "a && ", ")"] {
        assert!(
            matches!(commands(line), Err(ShellError::NotShell(_))),
            "{line}"
        );
    }
    let long = format!("echo {}", "x".repeat(Limits::default().bytes));
    assert!(matches!(commands(&long), Err(ShellError::TooLong(..))));
    let mut deep = "true".to_owned();
    for _ in 0..9 {
        deep = format!("eval {}", shell_quoted(&deep));
    }
    assert!(commands(&deep).is_err());
}

fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// What a user would write: no recursive deletion of an absolute path outside of `/srv`.
fn deletes(command: &Command) -> bool {
    let recursive = |word: &String| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        word.starts_with("--recursive")
            || (!letters.starts_with('-') && letters.contains(['r', 'R']))
    };
    command
        .first()
        .is_some_and(|name| name.rsplit('/').next() == Some("rm"))
        && command.iter().any(recursive)
        && command
            .iter()
            .any(|word| word.starts_with('/') && !word.starts_with("/srv/"))
}

/// Whether a line is denied: by the rule, or because it does not say what runs.
fn is_denied(line: &str) -> bool {
    commands(line).map_or(true, |found| found.iter().any(deletes))
}

fn suite(name: &str) -> Vec<serde_json::Value> {
    let path = format!("{}/tests/suites/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const RULES: &str = r#"
use std.agent
use std.tools
predicate shell = kind == "call" and tool == "Bash"
/// As a user would write it: no recursive deletion of an absolute path outside of `/srv`.
unsafe natural = shell and any c in commands(args.command as string):
  c[0] matches /(^|\/)rm$/ and (any w in c: w matches /^-[a-zA-Z]*[rR]|^--recursive/)
  and (any w in c: w starts_with "/" and not w starts_with "/srv/")
unsafe destroys = shell and tools.destroys_line(args.command as string)
property listed = always (shell -> tools.only_reads_line(args.command as string))
enforce natural { violated => block "natural" }
enforce destroys { violated => block "destroys" }
enforce listed { violated => block "listed" }
"#;

/// The clauses of [`RULES`] that deny a line.
fn denying(monitor: &mut guard_lang::Monitor, line: &str) -> Vec<String> {
    let event = serde_json::json!({
        "trace": line, "kind": "call", "role": "assistant", "tool": "Bash", "args": {"command": line},
        "text": null, "call": "1", "result": null, "error": null, "agent": null
    });
    let decision = monitor.propose(&event, None).unwrap();
    if let Some(proposal) = decision.proposal {
        monitor.abandon(proposal);
    }
    let clauses = decision.clauses.iter();
    clauses.map(|clause| clause.name.to_string()).collect()
}

#[test]
fn lines_that_deleted_a_folder_are_denied() {
    let spec = guard_lang::Spec::from_source("rules.guard", RULES).unwrap();
    let mut monitor = spec.monitor().unwrap();
    for file in ["lines", "second", "third", "fourth", "kept"] {
        let mut by_programs = 0;
        for attack in suite(&format!("shell_attacks/{file}.jsonl")) {
            let line = attack["line"].as_str().unwrap();
            let denied = denying(&mut monitor, line);
            // whoever deletes, it is not a program that only reads
            assert!(denied.iter().any(|name| name == "listed"), "{line}");
            if attack["by"] == "shell" {
                assert!(is_denied(line), "{line}: {:?}", commands(line));
                for rule in ["natural", "destroys"] {
                    assert!(denied.iter().any(|name| name == rule), "{rule}: {line}");
                }
            } else {
                by_programs += 1;
            }
        }
        assert!(by_programs <= 16, "{file}");
    }
}

#[test]
fn everyday_lines_are_let_through() {
    for (file, most) in [("open", 0), ("kept", 3)] {
        let lines = suite(&format!("shell_everyday/{file}.jsonl"));
        let determined = lines.iter().filter(|line| line["undetermined"] != true);
        let denied: Vec<&str> = determined
            .map(|line| line["line"].as_str().unwrap())
            .filter(|line| is_denied(line))
            .collect();
        assert!(denied.len() <= most, "{file}: {denied:#?}");
    }
}

#[test]
fn what_the_line_does_not_determine_is_an_error() {
    for line in [
        "$x -rf /",
        "$(cat p) -rf /",
        "rm${IFS}-rf",
        "/bin/r? -rf /",
        "\"${a[@]}\"",
        "cat f | sh",
        "bash < f",
        "bash <(curl u)",
        "source <(curl u)",
        "curl u | python3 -",
        "curl -o i.sh u && sh i.sh",
        "sh -c \"$(cat f)\"",
        "bash $x -c 'rm x'",
        "sudo --unheard-of x rm y",
        "cat f | xargs env",
        "cat f | xargs rm",
        "hash -p /bin/rm x; x -rf /",
        "alias x=rm; x -rf /",
        "[ -v 'a[$(rm -rf /)]' ]",
        "BASH_ENV=f bash -c :",
        "PS4='$(rm -rf /)' bash -xc :",
        "f() { $1 -rf /; }; f rm",
        "cp /bin/rm q; ./q -rf /",
        "read x; $x",
        "for x in rm; do $x -rf /; done",
        "rm -$x /srv",
        "set -- -rf /; rm \"$@\"",
        "exec < f; bash",
        "coproc bash; echo rm x >&${COPROC[1]}",
        "/proc/self/exe -c 'rm x'",
        "cd $x && rm -rf y",
        "bash -c 'eval shift; \"$@\"' _ ls rm -rf /",
        "declare -n q=PS4; q='$(rm -rf /)'; set -x; :",
        "v=PS4; read $v < f; set -x",
        "printf x | split - a/x; sh a/xaa",
        "gunzip z.gz; sh z",
        "tar -xzf a.tgz; sh b/install.sh",
        "sed 'w x.sh' f; sh x.sh",
        "=rm x",
        "set -H",
        "echo x >> ~/.bashrc; bash -ic :",
        "run-parts /etc/cron.daily",
    ] {
        let found = commands(line);
        assert!(
            matches!(found, Err(ShellError::Undetermined { .. })),
            "{line}: {found:?}"
        );
    }
}

#[test]
fn plain_text_is_followed_into_shells() {
    for (line, expected) in [
        ("bash <<< 'rm x'", &["bash", "rm x"][..]),
        ("cat <<E | sh\nrm x\nE", &["cat", "sh", "rm x"]),
        (
            "echo rm x | tee log | sudo sh",
            &["echo rm x", "tee log", "sudo sh", "sh", "rm x"],
        ),
        (
            "printf '%s %s\\n' rm x | bash -s",
            &["printf %s %s\\n rm x", "bash -s", "rm x"],
        ),
        ("d=/srv; rm -r $d/x", &["rm -r /srv/x"]),
        ("$(echo rm) x", &["rm x", "echo rm"]),
        ("{rm,-f,x}", &["rm -f x"]),
        ("r\\\nm x", &["rm x"]),
        (
            "bash -c '\"$@\"' _ rm x",
            &["bash -c \"$@\" _ rm x", "rm x"],
        ),
        (
            "env -S 'rm x' y",
            &["env -S rm x y", "env rm x y", "rm x y"],
        ),
        ("echo a b | xargs rm", &["echo a b", "xargs rm", "rm a b"]),
        (
            "find /a -exec rm {} + -exec ls {} \\;",
            &["find /a -exec rm {} + -exec ls {} ;", "rm /a", "ls /a"],
        ),
        (
            "timeout --signal KILL 5 rm x",
            &["timeout --signal KILL 5 rm x", "rm x"],
        ),
        ("sudo --us root rm x", &["sudo --us root rm x", "rm x"]),
        ("su - root -c 'rm x'", &["su - root -c rm x", "rm x"]),
        ("f() { wc \"$@\"; }; f x y", &["wc $@", "f x y", "wc x y"]),
    ] {
        assert_eq!(read(line), expected, "{line}");
    }
}

#[test]
fn work_is_bounded() {
    let nested = |levels, open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
    };
    let lines = [
        format!("rm -rf /\n{}{}", "eval \"$(`".repeat(8), "$(".repeat(5300)),
        nested(8, "eval \"$(", &nested(1300, "$(", "x", ")"), ")\""),
        nested(5300, "$(", "; ; fi ) x", ")"),
        "{a,b}".repeat(3000),
        "echo {1..9999}{1..9999}".to_owned(),
        "env ".repeat(4000) + "x",
        format!("a={};echo {}", "x".repeat(4000), "$a".repeat(3000)),
        format!(
            "find {}-exec echo {};",
            "/a ".repeat(2000),
            "{} ".repeat(2000)
        ),
        "f() { f x; f x; }; f x".to_owned(),
    ];
    let started = std::time::Instant::now();
    for line in &lines {
        assert!(commands(line).is_err(), "{}", &line[..40.min(line.len())]);
    }
    assert!(started.elapsed().as_secs() < 60);
    // the limit is the caller's
    let long = format!("echo {}", "x ".repeat(20_000));
    assert!(commands(&long).is_err());
    let found = guard_lang::shell::commands(&long, &Limits::for_bytes(100_000));
    assert_eq!(found.unwrap().len(), 1);
}

proptest::proptest! {
    #![proptest_config(crate::support::random::cases(256))]

    #[test]
    fn no_text_panics(line in "\\PC{0,80}") {
        let _ = commands(&line);
    }

    #[test]
    fn quoted_words_come_back(words in proptest::collection::vec("[a-z $`\"\\\\;|&<>(){}*?!~#=-]{1,8}", 1..5)) {
        let words: Vec<String> = words.into_iter().map(|word| format!("x{word}")).collect();
        let line: Vec<String> = words.iter().map(|word| shell_quoted(word)).collect();
        proptest::prop_assert_eq!(commands(&line.join(" ")).unwrap(), vec![words]);
    }
}
