//! Shell lines are parsed to the commands that they run.

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

/// What a user would write: no recursive deletion of an absolute path outside of `/srv`, or of one with `..`.
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
        && command.iter().any(|word| {
            let is_outside = word.starts_with('/') && !word.starts_with("/srv/");
            is_outside || word.split('/').any(|part| part == "..")
        })
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
/// As a user would write it: no recursive deletion of an absolute path outside of `/srv`, or of one with `..`.
unsafe natural = shell and any c in commands(args.command as string):
  c[0] matches /(^|\/)rm$/ and (any w in c: w matches /^-[a-zA-Z]*[rR]|^--recursive/)
  and (any w in c: w starts_with "/" and not w starts_with "/srv/" or w matches /(^|\/)\.\.(\/|$)/)
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
    for file in [
        "lines", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
        "tenth", "eleventh", "twelfth", "kept",
    ] {
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
    for (file, most) in [("open", 0), ("kept", 3), ("scripts", 1)] {
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
        "f() { $1 -rf /; }; f \"$(cat p)\"",
        "f() { $1 -rf /; }; trap 'f rm' EXIT",
        "cp /bin/rm q; ./q -rf /",
        "read x; $x",
        "for x in $(cat p); do $x -rf /; done",
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

/// Variables that name a program, or make one load code or write a file, are listed, or their value is no harmless command.
#[test]
fn variables_that_run_or_load_code_are_seen() {
    for name in [
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "PAGER",
        "EDITOR",
        "VISUAL",
        "GIT_ASKPASS",
        "BROWSER",
        "LESSOPEN",
        "RSYNC_RSH",
        "TAR_OPTIONS",
        "MANPAGER",
        "GIT_EXEC_PATH",
        "GIT_CONFIG_GLOBAL",
        "GIT_TEMPLATE_DIR",
        "HOME",
        "XDG_CONFIG_HOME",
        "RUSTC_WRAPPER",
        "CARGO_HOME",
        "CC",
        "MAKEFLAGS",
        "npm_config_script_shell",
        "NODE_OPTIONS",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PERL5OPT",
        "RUBYOPT",
        "JAVA_TOOL_OPTIONS",
        "CLASSPATH",
        "GCONV_PATH",
        "GOFLAGS",
        "OPENSSL_CONF",
        "ENV",
        "SHELLOPTS",
        "LD_PRELOAD",
        "LD_DEBUG",
        "LD_DEBUG_OUTPUT",
        "LD_PROFILE_OUTPUT",
    ] {
        for line in [
            format!("{name}=/tmp/x git fetch"),
            format!("export {name}=/tmp/x; ls"),
            format!("env {name}=/tmp/x ls"),
        ] {
            let listed = |command: &Command| command[0] == format!("{name}=");
            let seen = commands(&line).map_or(true, |found| found.iter().any(listed));
            assert!(seen, "{line}: {:?}", commands(&line));
        }
    }
    for line in [
        "compgen -W '$(rm -rf /a)'",
        "compgen -W '`rm -rf /a`'",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!rm -rf /a' git x",
        "r\0m -rf /a",
        "bash -c 'r\0m -rf /a'",
    ] {
        assert!(commands(line).is_err(), "{line:?}: {:?}", commands(line));
    }
}

#[test]
fn a_program_is_what_a_variable_of_the_line_holds() {
    for (line, expected) in [
        ("x=ls; $x", &["ls"][..]),
        ("PY=python3; $PY -V", &["python3 -V"]),
        ("cmd=\"ls -la\"; $cmd", &["ls -la"]),
        ("foo=/bin/ls && $foo", &["/bin/ls"]),
        ("bash -c 'x=ls; $x'", &["bash -c x=ls; $x", "ls"]),
        ("x=rm; $x -r /a", &["rm -r /a"]),
        ("x=ls; x=rm; $x", &["ls", "rm"]),
    ] {
        assert_eq!(read(line), expected, "{line}");
    }
    for line in [
        "x=eval; $x 'rm y'",
        "x=read; $x y",
        "x='command -p'; $x eval y",
        "x=cd; $x /etc",
        "{eval,'rm y'}",
        "x=let; $x 'a[$(rm y)]'",
        "if a; then x=ls; fi; $x",
        "x=ls; x+=rm; $x",
        "x=$(cat f); $x",
    ] {
        assert!(commands(line).is_err(), "{line}: {:?}", commands(line));
    }
}

/// Every way in which a variable gets a value counts as an assignment: `$x` is followed only if all of them are plain.
#[test]
fn names_are_assigned_in_many_ways() {
    for assigning in [
        "{read,x} <<< /etc",
        "read {x,y} <<< '/etc b'",
        "v=x; read $v <<< /etc",
        "read -ax <<< /etc",
        "command {read,x} <<< /etc",
        "command read {x,} <<< /etc",
        "time read x <<< /etc",
        "declare {x,y}=/etc",
        "export x{,}=/etc",
        "builtin declare x{,}=/etc",
        "declare -n y=x; y=/etc",
        "f() { local -n y=$1; y=/etc; }; f x",
        "printf -v {x,} /etc",
        "printf -vx /etc",
        "o=-vx; printf $o /etc",
        "exec {x}>/dev/null",
        "coproc x { :; }",
        "wait -n -p x",
        "x+=/../etc",
        "x[0]=/etc",
        "unset \"$v\"",
    ] {
        let line = format!("x=/srv/a; {assigning}; rm -r $x");
        assert!(is_denied(&line), "{line}: {:?}", commands(&line));
    }
    for line in [
        "REPLY=/srv/a; read <<< /etc; rm -r $REPLY",
        "_=/srv/a; : /etc; rm -r $_",
        "PWD=/srv; cd /etc; rm -r $PWD/x",
        "x=~/; cd /srv; rm -r $x",
        "alias {a,b}=rm; a -r /etc",
    ] {
        assert!(is_denied(line), "{line}: {:?}", commands(line));
    }
}

/// A name is completed by the folders in which the command may run; a folder that is not known is an error.
#[test]
fn what_is_deleted_depends_on_the_folder() {
    for (line, expected) in [
        ("cd /a && rm -r x", &["cd /a", "rm -r /a/x"][..]),
        ("cd /a; rm -r x", &["cd /a", "rm -r /a/x"]),
        // the second one may fail
        (
            "cd /a; cd /b; rm -r x",
            &["cd /a", "cd /b", "rm -r /a/x /b/x"],
        ),
        ("cd /a; cd b && rm -r x", &["cd /a", "cd b", "rm -r /a/b/x"]),
        (
            "cd /a; ! cd /b && rm -r x",
            &["cd /a", "cd /b", "rm -r /b/x /a/x"],
        ),
        // where `..` leads to depends on whether the first one failed
        ("cd /a && cd .. && rm -r x", &["cd /a", "cd ..", "rm -r /x"]),
        ("cd /a; rm -r ../x", &["cd /a", "rm -r /x ../x"]),
        (
            "cd /a; if false; then cd /b; fi; rm -r x",
            &["cd /a", "false", "cd /b", "rm -r /a/x /b/x"],
        ),
        (
            "for i in 1 2; do rm -r x; cd /a; done",
            &["rm -r /a/x", "cd /a"],
        ),
        ("cd /a && rm -r x &", &["cd /a", "rm -r /a/x"]),
        ("cd /a & rm -r x", &["cd /a", "rm -r x"]),
        (
            "f() { rm -r x; }; cd /a; f",
            &["rm -r x", "cd /a", "f", "rm -r /a/x"],
        ),
        (
            "f() { cd /a; }; f; rm -r x",
            &["cd /a", "f", "cd /a", "rm -r /a/x"],
        ),
        (
            "eval cd /a; rm -r x",
            &["eval cd /a", "cd /a", "rm -r /a/x"],
        ),
        (
            "cd /a; bash -c 'rm -r x'",
            &["cd /a", "bash -c rm -r x", "rm -r /a/x"],
        ),
        (
            "trap 'rm -r x' EXIT; make",
            &["trap rm -r x EXIT", "rm -r x", "make"],
        ),
        (
            "cd /a; ssh h rm -r x",
            &["cd /a", "ssh h rm -r x", "rm -r x"],
        ),
    ] {
        assert_eq!(read(line), expected, "{line}");
    }
    for line in [
        "CDPATH=/; cd etc; rm -r x",
        "env CDPATH=/ bash -c 'cd etc; rm -r x'",
        "shopt -s cdable_vars; v=/; cd v; rm -r etc",
        "bash -O cdable_vars -c 'v=/; cd v; rm -r etc'",
        "shopt -s lastpipe; true | cd /etc; rm -r x",
        "cd /a; cd ..; rm -r x",
        "cd /etc; trap 'rm -r x' EXIT",
        "trap 'rm -r x' EXIT; cd /etc",
        "trap 'cd /etc' DEBUG; rm -r x",
        "f() { rm -r x; }; cd /etc; eval f",
        "cd /a; for i in 1 2; do rm -r x; cd ..; done",
        "env -C /etc rm -r x",
        "env --chdir=/etc rm -r x",
        "sudo -D /etc rm -r x",
        "sudo -i rm -r x",
        "su - -c 'rm -r x'",
        "pkexec rm -r x",
        "systemd-run rm -r x",
        "unshare -w /etc rm -r x",
        "chroot / rm -r etc",
        "uv run --directory /etc rm -r x",
        "poetry -C /etc run rm -r x",
        "conda run --cwd /etc rm -r x",
        "parallel --wd /etc rm -r ::: x",
        "find /etc -execdir rm -r x \\;",
        "git -C /etc -c alias.x='!rm -r x' x",
    ] {
        assert!(
            commands(line).map_or(true, |all| all.iter().any(deletes)),
            "{line}: {:?}",
            commands(line)
        );
    }
}

#[test]
fn plain_text_is_followed_into_shells() {
    for (line, expected) in [
        ("bash <<< 'rm x'", &["bash", "rm x"][..]),
        ("cat <<E | sh\nrm x\nE", &["cat", "sh", "rm x"]),
        (
            "echo rm x | tee /dev/null | sudo sh",
            &["echo rm x", "tee /dev/null", "sudo sh", "sh", "rm x"],
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

crate::random::tests! {
    256 cases;

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
