//! The files of a session of hooks: bound to each other, private, and as old as the clocks say.

use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::{Value as Json, json};

use crate::support::hook::{Session, decision, outcome, tainted};
use crate::support::skip;

/// Changes the list of calls, and the last lines of the journal and of the log, which name it: what only somebody can do who has the
/// key, if there is one.
fn rebind(session: &Session, calls: &str) {
    let hash = |text: &[&str]| blake3::hash(text.concat().as_bytes()).to_hex().to_string();
    std::fs::write(session.file("calls"), calls).unwrap();
    let path = session.file("log");
    let text = std::fs::read_to_string(&path).unwrap();
    let last = text.trim_end().rsplit('\n').next().unwrap();
    let (body, end) = last.split_once(",\"calls\":\"").unwrap();
    let (_, end) = end.split_once("\",\"prev\":\"").unwrap();
    let (prev, _) = end.split_once('"').unwrap();
    let body = format!(
        "{body},\"calls\":\"{}\",\"prev\":\"{prev}\"",
        hash(&[calls])
    );
    let line = format!("{body},\"hash\":\"{}\"}}", hash(&[prev, &body]));
    std::fs::write(&path, text.replace(last, &line)).unwrap();
    let path = session.file("journal");
    let text = std::fs::read_to_string(&path).unwrap();
    let (kept, last) = text.trim_end().rsplit_once('\n').unwrap();
    let fields: Vec<&str> = last.splitn(6, ' ').collect();
    let mut beside: Json = serde_json::from_str(fields[5]).unwrap();
    beside["calls"] = json!(hash(&[calls]));
    let line = journal_line(&fields[..3], &beside.to_string());
    std::fs::write(&path, format!("{kept}\n{line}\n")).unwrap();
}

/// A line of a journal: number, time and kind, and what it holds, with its checksum.
fn journal_line(fields: &[&str], text: &str) -> String {
    let head = format!("{} {} ", fields.join(" "), text.len());
    let sum = blake3::hash(format!("{head}{text}").as_bytes()).to_hex();
    format!("{head}{} {text}", &sum[..16])
}

/// A session with two calls. After a call that took long to judge, as on a busy machine, a state is written and the journal is begun
/// anew; then there is another session.
fn journalled() -> Session {
    loop {
        let session = tainted(&[]);
        session.before("a", "Read", json!({}));
        session.before("b", "Read", json!({}));
        let journal = std::fs::read_to_string(session.file("journal")).unwrap();
        // Two calls, and the ends of what was written together.
        if journal.lines().count() > 4 {
            return session;
        }
    }
}

/// A system clock that is wrong after a restart cannot be noticed, so a person is told what it says.
#[cfg(target_os = "linux")]
#[test]
fn a_restart_of_the_machine_is_told() {
    let session = journalled();
    let calls = session.file("calls");
    let mut kept: Json = serde_json::from_slice(&std::fs::read(&calls).unwrap()).unwrap();
    kept["clock"]["boot"] = json!("another");
    let origin: i128 = kept["clock"]["origin"].as_str().unwrap().parse().unwrap();
    kept["clock"]["origin"] = json!((origin - 7_200_000_000_000).to_string());
    rebind(&session, &kept.to_string());
    // Nobody reads what is said at the end of a session.
    assert_eq!(session.ask("SessionEnd", None, json!({})), Json::Null);
    let told = session.before("b", "Read", json!({}));
    let message = told["systemMessage"].as_str().unwrap();
    assert!(
        message.contains("restarted") && message.contains("720"),
        "{message}"
    );
    assert_eq!(session.before("c", "Read", json!({})), Json::Null);
}

/// A folder of another user holds no history: only root can try it.
#[test]
fn a_folder_of_another_user_is_refused() {
    let session = tainted(&[]);
    std::fs::create_dir(session.state()).unwrap();
    if std::os::unix::fs::chown(session.state(), Some(12_345), None).is_err() {
        return skip("only root can give a folder to another user");
    }
    let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
    let (code, _, err) = session.raw(input.to_string().as_bytes());
    assert_eq!(code, 2, "{err}");
    assert!(
        err.contains("belongs to user 12345, expected user"),
        "{err}"
    );
}

/// What the allocator reserves and does not use counts for nothing.
#[test]
fn a_small_limit_on_memory_allows_small_calls() {
    let session = tainted(&["--max-memory", "64"]);
    assert_eq!(session.before("a", "Read", json!({})), Json::Null);
    assert_eq!(
        session.after("a", "Read", json!({}), json!("x")),
        Json::Null
    );
}

/// A folder in which others can put files holds no history.
#[test]
fn a_folder_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let session = tainted(&[]);
    std::fs::create_dir(session.state()).unwrap();
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(session.state(), open).unwrap();
    let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
    let (code, out, err) = session.raw(input.to_string().as_bytes());
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("others can write the folder"), "{err}");
    // An outcome is marked all the same, and on record once the folder is as it should be.
    session.raw(&outcome(r#""PRIVATE KEY""#));
    let shut = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(session.state(), shut).unwrap();
    let mail = session.before("m", "mail", json!({}));
    assert_eq!(decision(&mail).0, "deny");
}

/// A file that others can write holds no history either.
#[test]
fn files_that_others_can_write_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    for ending in ["lock", "calls", "state", "journal", "log"] {
        let session = tainted(&[]);
        session.before("a", "Read", json!({}));
        let open = std::fs::Permissions::from_mode(0o666);
        std::fs::set_permissions(session.file(ending), open).unwrap();
        let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
        let (code, out, err) = session.raw(input.to_string().as_bytes());
        assert_eq!((code, out.as_str()), (2, ""), "{ending}");
        assert!(err.contains("can write it"), "{ending}: {err}");
    }
}

/// Outcomes are marked at the same time as other calls look for marks that nobody holds: none is taken for lost.
#[test]
fn marks_that_are_being_made_are_not_lost() {
    let session = tainted(&[]);
    session.before("0", "Read", json!({}));
    std::thread::scope(|scope| {
        for worker in 0..6 {
            let session = &session;
            scope.spawn(move || {
                for number in 0..5 {
                    let id = format!("{worker}-{number}");
                    session.before(&id, "Read", json!({}));
                    session.after(&id, "Read", json!({}), json!("fine"));
                }
            });
        }
    });
    assert_eq!(session.before("m", "mail", json!({})), Json::Null);
}

/// To open a pipe waits for its other end; a link leads elsewhere.
#[test]
fn what_is_no_file_of_a_session_is_refused_at_once() {
    for ending in ["lock", "calls", "state", "journal", "log", "open/1-1"] {
        for is_link in [false, true] {
            let session = tainted(&[]);
            session.before("a", "Read", json!({}));
            let lock = session.file("lock").display().to_string();
            let path = PathBuf::from(lock.replace(".lock", &format!(".{ending}")));
            let _ = std::fs::remove_file(&path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if is_link {
                let other = session.folder.path().join("other");
                std::os::unix::fs::symlink(other, &path).unwrap();
            } else {
                let made = std::process::Command::new("mkfifo").arg(&path).status();
                assert!(made.unwrap().success());
            }
            let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
            let start = std::time::Instant::now();
            let (code, out, err) = session.raw(input.to_string().as_bytes());
            assert_eq!((code, out.as_str()), (2, ""), "{ending}: {err}");
            assert!(err.contains("not a regular file"), "{ending}: {err}");
            assert!(
                start.elapsed() < std::time::Duration::from_secs(15),
                "{ending}"
            );
        }
    }
}

#[test]
fn a_list_of_calls_that_was_not_put_in_place_is_found() {
    let session = tainted(&[]);
    session.before("a", "Glob", json!({}));
    let calls = session.file("calls");
    let next = calls.with_extension("calls.next");
    let before = std::fs::read(&calls).unwrap();
    session.before("b", "Read", json!({}));
    // The process was ended after the log was written.
    std::fs::rename(&calls, &next).unwrap();
    std::fs::write(&calls, &before).unwrap();
    session.before("c", "Glob", json!({}));
    assert!(!next.exists());
    let count = || {
        let text = std::fs::read_to_string(&calls).unwrap();
        text.matches("\"key\"").count()
    };
    assert_eq!(count(), 3);
    // The process was ended before the log was written: what it judged did not happen.
    std::fs::write(&next, &before).unwrap();
    session.before("d", "Glob", json!({}));
    assert_eq!((count(), next.exists()), (4, false));
}

/// Files of different times are refused, but for what a process leaves that ended between journal and log: then the list is the one that
/// the journal names, and the log is completed.
#[test]
fn files_of_different_times_are_refused() {
    // A state is written after a call that took long, as on a busy machine; it goes with its journal.
    const FILES: [&str; 4] = ["calls", "journal", "log", "state"];
    let spec = "use std.agent\nproperty asked = never (kind == \"call\" and tool == \"deploy\" and \
        not once (kind == \"message\" and role == \"user\" and text contains \"deploy it now please\"))\n\
        enforce asked { violated => block \"ask first\" }\n";
    let session = Session::new();
    std::fs::write(&session.spec, spec).unwrap();
    let mut times: Vec<[Option<Vec<u8>>; 4]> = vec![[const { None }; 4]];
    let mut paths = FILES.map(PathBuf::from);
    for (id, tool) in [("a", "Read"), ("b", "Agent")] {
        session.before(id, tool, json!({"prompt": "deploy it now please"}));
        let calls = session.file("calls");
        paths = FILES.map(|ending| calls.with_extension(ending));
        times.push(paths.each_ref().map(|path| std::fs::read(path).ok()));
    }
    let next = paths[0].with_extension("calls.next");
    let put = |calls: usize, journal: usize, log: usize| {
        for (place, of) in [calls, journal, log, journal].into_iter().enumerate() {
            let _ = std::fs::remove_file(&paths[place]);
            if let Some(bytes) = &times[of][place] {
                std::fs::write(&paths[place], bytes).unwrap();
            }
        }
        let _ = std::fs::remove_file(&next);
    };
    let prompt = json!({"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": "deploy it now please"});
    let prompt = prompt.to_string();
    let deploy = of_session("s1", "PreToolUse", "deploy");
    // After a state the journal holds no call.
    let holds_call = String::from_utf8_lossy(times[2][1].as_ref().unwrap()).contains(" - end ");
    for (calls, journal, log) in (0..27).map(|n| (n / 9, n / 3 % 3, n % 3)) {
        if calls == journal && journal == log {
            continue;
        }
        put(calls, journal, log);
        let (code, _, err) = session.raw(prompt.as_bytes());
        if holds_call && (calls, journal, log) == (2, 2, 1) {
            assert_eq!(code, 0, "{err}");
            assert!(session.raw(deploy.as_bytes()).1.contains("ask first"));
        } else {
            let at = (calls, journal, log);
            assert!(code == 2 && err.contains("--reset s1"), "{at:?}: {err}");
        }
    }
    // The process ended after the journal had the call, and before log and list had it.
    put(1, 2, 1);
    std::fs::write(&next, times[2][0].as_ref().unwrap()).unwrap();
    let (code, _, err) = session.raw(prompt.as_bytes());
    if holds_call {
        assert_eq!((code, next.exists()), (0, false), "{err}");
        assert!(session.raw(deploy.as_bytes()).1.contains("ask first"));
        let log = std::fs::read(&paths[2]).unwrap();
        assert!(
            log.starts_with(times[2][2].as_ref().unwrap()),
            "it would be the same"
        );
    }
}

/// The files of one session are no history of another one, also if all of them are put in place.
#[test]
fn the_files_of_another_session_are_refused() {
    let session = journalled();
    session.raw(of_session("s2", "PreToolUse", "Read").as_bytes());
    let own = blake3::hash(b"s1").to_hex().to_string();
    let files = std::fs::read_dir(session.state()).unwrap();
    let files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    let is_own = |path: &&PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        own.starts_with(name.split('.').next().unwrap())
    };
    let stem = files.iter().find(is_own).unwrap().with_extension("");
    for other in files.iter().filter(|path| !is_own(path)) {
        let ending = other.extension().unwrap();
        if ending != "lock" {
            std::fs::rename(other, stem.with_extension(ending)).unwrap();
        }
    }
    let (code, _, err) = session.raw(of_session("s1", "PreToolUse", "Read").as_bytes());
    assert!(code == 2 && err.contains("is of another session"), "{err}");
}

/// A state is the one that the log names: not that of another session, nor an earlier one, whatever the journal says.
#[test]
fn a_state_is_the_one_that_the_log_names() {
    const SPEC: &str = "use std.agent\n\
        property few = G (count(kind == \"call\" and tool == \"pay\") <= 2)\n\
        enforce few { violated => block \"two payments only\" }\n";
    let paid = || {
        let session = Session::with(&["--redact"]);
        std::fs::write(&session.spec, SPEC).unwrap();
        session
    };
    let save = |session: &Session, ending: &str| std::fs::read(session.file(ending)).unwrap();
    let other = paid();
    for id in ["1", "2", "3"] {
        assert_eq!(other.before(id, "ls", json!({})), Json::Null);
    }
    let [of_other, journal_of_other] = ["state", "journal"].map(|ending| save(&other, ending));
    let hash = |state: &[u8]| -> String {
        let sum = &state[state.len() - 32..];
        sum.iter().map(|byte| format!("{byte:02x}")).collect()
    };
    type Damage<'d> = &'d dyn Fn(&Session, &[Vec<u8>; 2]);
    let write = |session: &Session, ending: &str, bytes: &[u8]| {
        std::fs::write(session.file(ending), bytes).unwrap();
    };
    let remove = |session: &Session, ending: &str| {
        std::fs::remove_file(session.file(ending)).unwrap();
    };
    let damage: [(&str, Damage<'_>); 7] = [
        ("is missing", &|session, _| remove(session, "journal")),
        ("not the state that the log names", &|session, _| {
            remove(session, "state");
        }),
        ("is missing", &|session, _| {
            write(session, "state", &of_other);
            remove(session, "journal");
        }),
        ("not the state that the log names", &|session, _| {
            write(session, "state", &of_other);
        }),
        ("not the state that the log names", &|session, _| {
            write(session, "state", &of_other);
            write(session, "journal", &journal_of_other);
        }),
        ("not the state that the log names", &|session, earlier| {
            write(session, "state", &earlier[0]);
            write(session, "journal", &earlier[1]);
        }),
        // A journal says what its writer wants.
        ("not the state that the log names", &|session, _| {
            let journal = String::from_utf8(save(session, "journal")).unwrap();
            let [from, to] = [hash(&save(session, "state")), hash(&of_other)];
            assert!(journal.contains(&from));
            write(session, "state", &of_other);
            let journal = journal.replace(&from, &to);
            let (body, _) = journal.trim_end().rsplit_once(' ').unwrap();
            let (_, json) = body.split_once(' ').unwrap();
            let sum = blake3::hash(json.as_bytes()).to_hex();
            let journal = format!("{body} {}\n", &sum[..16]);
            write(session, "journal", journal.as_bytes());
        }),
    ];
    for (why, damage) in damage {
        let session = paid();
        assert_eq!(session.before("1", "pay", json!({})), Json::Null);
        let earlier = ["state", "journal"].map(|ending| save(&session, ending));
        assert_eq!(session.before("2", "pay", json!({})), Json::Null);
        assert_eq!(decision(&session.before("3", "pay", json!({}))).0, "deny");
        damage(&session, &earlier);
        let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "pay", "tool_input": {}});
        for _ in 0..2 {
            let (code, out, err) = session.raw(input.to_string().as_bytes());
            assert_eq!((code, out.as_str()), (2, ""), "{why}");
            assert!(
                err.contains(why) && err.contains("--reset s1"),
                "{why}: {err}"
            );
        }
    }
    // A process that ended after the log had named a state, and before the state was put in its place.
    let session = paid();
    assert_eq!(session.before("1", "pay", json!({})), Json::Null);
    let earlier = ["state", "journal"].map(|ending| save(&session, ending));
    assert_eq!(session.before("2", "pay", json!({})), Json::Null);
    let state = session.file("state");
    std::fs::rename(&state, state.with_extension("state.next")).unwrap();
    std::fs::write(&state, &earlier[0]).unwrap();
    // The journal that was to be replaced holds the input of the state too.
    let calls = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "pay", "tool_input": {}});
    let (code, out, err) = session.raw(calls.to_string().as_bytes());
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("two payments only"), "{out}");
}

#[test]
fn log_journal_and_state_are_bound() {
    type Damage = (&'static str, fn(&Session));
    fn change(session: &Session, change: impl FnOnce(String) -> String) {
        let calls = session.file("calls");
        let text = std::fs::read_to_string(&calls).unwrap();
        std::fs::write(&calls, change(text)).unwrap();
    }
    let damage: [Damage; 16] = [
        ("is not the list of calls", |session| {
            change(session, |text| {
                let without = text.split_once("{\"key\"").unwrap().0;
                let rest = text.split_once("\"ended\"").unwrap().1;
                format!("{without}],\"ended\"{rest}")
            });
        }),
        ("is not the list of calls", |session| {
            change(session, |text| {
                text.replacen("\"content\":\"", "\"content\":\"0", 1)
            });
        }),
        ("is not the list of calls", |session| {
            change(session, |_| {
                "{\"calls\":[],\"ended\":[],\"denied\":[]}".to_owned()
            });
        }),
        ("is not the list of calls", |session| {
            // That of an earlier time.
            let calls = session.file("calls");
            let earlier = std::fs::read(&calls).unwrap();
            session.before("later", "Read", json!({}));
            std::fs::write(&calls, earlier).unwrap();
        }),
        ("EOF while parsing", |session| {
            change(session, |text| text[..text.len() - 2].to_owned());
        }),
        ("was cut", |session| {
            std::fs::remove_file(session.file("log")).unwrap();
        }),
        ("was cut", |session| {
            std::fs::remove_file(session.file("journal")).unwrap();
            std::fs::remove_file(session.file("log")).unwrap();
        }),
        ("is not the list of calls", |session| {
            for ending in ["journal", "log"] {
                let path = session.file(ending);
                let text = std::fs::read_to_string(&path).unwrap();
                let lines: Vec<&str> = text.split_inclusive('\n').collect();
                std::fs::write(&path, lines[..lines.len() - 1].concat()).unwrap();
            }
        }),
        ("is missing", |session| {
            std::fs::remove_file(session.file("calls")).unwrap();
        }),
        ("is missing", |session| {
            for ending in ["calls", "journal", "log"] {
                std::fs::remove_file(session.file(ending)).unwrap();
            }
        }),
        ("they were removed, cut or replaced", |session| {
            std::fs::remove_file(session.file("journal")).unwrap();
        }),
        ("is damaged", |session| {
            let journal = session.file("journal");
            let mut bytes = std::fs::read(&journal).unwrap();
            let last = bytes.len() - 3;
            bytes[last] ^= 1;
            std::fs::write(&journal, bytes).unwrap();
        }),
        ("they were removed, cut or replaced", |session| {
            let journal = session.file("journal");
            let text = std::fs::read_to_string(&journal).unwrap();
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            std::fs::write(&journal, lines[..2].concat()).unwrap();
        }),
        ("wrong hash", |session| {
            let log = session.file("log");
            let text = std::fs::read_to_string(&log).unwrap();
            std::fs::write(&log, text.replacen("allow", "block", 1)).unwrap();
        }),
        (
            "differs from the input of that number in the log",
            |session| {
                let journal = session.file("journal");
                let text = std::fs::read_to_string(&journal).unwrap();
                let line = text.lines().nth(1).unwrap();
                let fields: Vec<&str> = line.splitn(6, ' ').collect();
                assert!(fields[5].contains("Read"), "{line}");
                let other = journal_line(&fields[..3], &fields[5].replace("Read", "Glob"));
                std::fs::write(&journal, text.replace(line, &other)).unwrap();
            },
        ),
        (
            "it does not hold the line that the journal names",
            |session| {
                // The log of another session of the same spec. The digits of the times vary, and a shorter log is refused as
                // one that was cut.
                let size =
                    |session: &Session| std::fs::metadata(session.file("log")).unwrap().len();
                let other = loop {
                    let other = tainted(&[]);
                    other.before("p", "Glob", json!({}));
                    other.before("q", "Glob", json!({}));
                    if size(&other) >= size(session) {
                        break other;
                    }
                };
                std::fs::copy(other.file("log"), session.file("log")).unwrap();
            },
        ),
    ];
    for (why, damage) in damage {
        let session = journalled();
        damage(&session);
        let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
        let input = input.to_string();
        for _ in 0..2 {
            let (code, out, err) = session.raw(input.as_bytes());
            assert_eq!((code, out.as_str()), (2, ""), "{why}");
            assert!(
                err.contains(why) && err.contains("--reset s1"),
                "{why}: {err}"
            );
        }
        let had_log = std::fs::read_dir(session.state()).unwrap().any(|entry| {
            entry
                .unwrap()
                .path()
                .extension()
                .is_some_and(|of| of == "log")
        });
        session.reset();
        assert_eq!(session.raw(input.as_bytes()).0, 0);
        let logs = std::fs::read_dir(session.state()).unwrap();
        let logs =
            logs.filter(|entry| entry.as_ref().unwrap().path().extension().unwrap() == "log");
        let kept = 1 + usize::from(had_log);
        assert_eq!(logs.count(), kept, "the log before is kept");
    }
}

/// A misspelt id is not taken for a session that was reset.
#[test]
fn a_session_without_files_is_not_reset() {
    let session = tainted(&[]);
    session.before("t1", "search", json!({}));
    let failed = session.reset_of("s2").code(2);
    let err = String::from_utf8(failed.get_output().stderr.clone()).unwrap();
    assert!(err.contains("has no files of a session s2"), "{err}");
}

/// What one call answers if the system clock is so many seconds ahead; `None` if there is no C compiler to make it so.
fn with_clock(session: &Session, ahead: i64, input: &str) -> Option<(i32, String, String)> {
    const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME) time->tv_sec += atol(getenv("AHEAD"));
    return result;
}
"#;
    let library = session.folder.path().join("clock.so");
    if !library.exists() {
        let source = library.with_extension("c");
        std::fs::write(&source, CLOCK).unwrap();
        let mut cc = std::process::Command::new("cc");
        cc.args(["-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(&source);
        if !cfg!(target_os = "linux") || !cc.status().is_ok_and(|status| status.success()) {
            crate::support::skip("there is no C compiler");
            return None;
        }
    }
    let variables = [
        ("LD_PRELOAD", library.display().to_string()),
        ("AHEAD", ahead.to_string()),
    ];
    Some(session.raw_with(&variables, input.as_bytes()))
}

fn of_session(id: &str, hook: &str, tool: &str) -> String {
    json!({"session_id": id, "hook_event_name": hook, "tool_name": tool, "tool_input": {}})
        .to_string()
}

const DAY: i64 = 24 * 3600;

/// A machine may wake up with a clock that is wrong by a month.
#[test]
fn a_clock_that_is_ahead_makes_no_session_old() {
    let session = tainted(&[]);
    session.raw(&outcome(r#""PRIVATE KEY""#));
    let end = of_session("other", "SessionEnd", "");
    let Some(ended) = with_clock(&session, 31 * DAY, &end) else {
        return;
    };
    assert_eq!(ended.0, 0, "{}", ended.2);
    assert_eq!(decision(&session.before("m", "mail", json!({}))).0, "deny");
}

/// The history of a session that is too old is gone, and its agent may know what it read: it is refused by name.
#[test]
fn an_old_session_is_refused_rather_than_begun_anew() {
    let session = tainted(&["--keep", "0"]);
    session.raw(&outcome(r#""PRIVATE KEY""#));
    let call = of_session("s1", "PreToolUse", "mail");
    for _ in 0..3 {
        let end = of_session("other", "SessionEnd", "");
        assert_eq!(session.raw(end.as_bytes()).0, 0);
    }
    let (code, _, err) = session.raw(call.as_bytes());
    assert!(
        code == 2 && err.contains("(`--keep`)") && err.contains("--reset s1"),
        "{err}"
    );
    let names = std::fs::read_dir(session.state()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.collect();
    let log = names.iter().find(|name| name.ends_with(".1.log")).unwrap();
    let of_it = names
        .iter()
        .filter(|name| name.starts_with(log.trim_end_matches("1.log")));
    assert_eq!(of_it.count(), 2, "its log and its lock: {names:?}");
    session.reset();
    assert_eq!(session.raw(call.as_bytes()).0, 0);
}

/// All files but the log are gone, the lock with them: the log shows that there was a history.
#[test]
fn a_log_without_a_history_is_refused_by_name() {
    let session = tainted(&["--keep", "0"]);
    session.raw(&outcome(r#""PRIVATE KEY""#));
    session.raw(of_session("other", "SessionEnd", "").as_bytes());
    let remove_locks = || {
        for entry in std::fs::read_dir(session.state()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|of| of == "lock") {
                std::fs::remove_file(path).unwrap();
            }
        }
    };
    remove_locks();
    let call = of_session("s1", "PreToolUse", "mail");
    let (code, _, err) = session.raw(call.as_bytes());
    let why = "is the log of a history that is missing";
    assert!(
        code == 2 && err.contains(why) && err.contains("--reset s1"),
        "{err}"
    );
    session.reset();
    assert_eq!(session.raw(call.as_bytes()).0, 0);
}

/// In one run of the machine the time that passes is that of a clock that nobody sets.
#[test]
fn a_clock_that_jumps_empties_no_window() {
    let session = Session::new();
    let spec = "use std.agent\n\
        property few = always (count[0,60s](kind == \"call\" and tool == \"pay\") <= 2)\n\
        enforce few { violated => block \"too many\" }\n";
    std::fs::write(&session.spec, spec).unwrap();
    let denied = |ahead: i64, tool: &str| {
        let call = of_session("s1", "PreToolUse", tool);
        let (code, out, err) = with_clock(&session, ahead, &call)?;
        assert_eq!((code, err.as_str()), (0, ""));
        Some(out.contains("deny"))
    };
    if denied(0, "pay").is_none() {
        return;
    }
    for (ahead, tool, expected) in [
        (0, "pay", false),
        (36_500 * DAY, "x", false),
        (36_500 * DAY, "pay", true),
        (0, "pay", true),
        (-3600, "pay", true),
    ] {
        assert_eq!(denied(ahead, tool), Some(expected), "{ahead} {tool}");
    }
}

#[test]
fn nobody_else_reads_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let session = tainted(&[]);
    for n in 0..20 {
        session.before(&n.to_string(), "Read", json!({}));
    }
    session.raw(&outcome("1"));
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&session.state()), 0o700);
    for entry in std::fs::read_dir(session.state()).unwrap() {
        let path = entry.unwrap().path();
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), expected, "{}", path.display());
    }
}

#[test]
fn a_log_is_signed_and_verified_by_its_key() {
    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH\n-----END PRIVATE KEY-----\n";
    const OTHER: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI\n-----END PRIVATE KEY-----\n";
    let keys = tempfile::tempdir().unwrap();
    let key = |name: &str, pem: &str| {
        let path = keys.path().join(name);
        crate::support::write_private(&path, pem);
        path
    };
    let (right, wrong) = (key("right", KEY), key("wrong", OTHER));
    let session = tainted(&["--key", right.to_str().unwrap()]);
    session.before("a", "Read", json!({}));
    session.before("b", "Read", json!({}));
    let verify = |key: &std::path::Path| {
        let mut verify = Command::cargo_bin("guard").unwrap();
        verify
            .args(["monitor", "--verify-log"])
            .arg(session.file("log"))
            .arg("--key")
            .arg(key);
        verify.output().unwrap().status.code()
    };
    assert_eq!((verify(&right), verify(&wrong)), (Some(0), Some(1)));
    // A private key that others can read is refused, also where its public half is what matters.
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o640);
    std::fs::set_permissions(&right, readable).unwrap();
    assert_eq!(verify(&right), Some(2));
    let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
    let (code, _, err) = session.raw(input.to_string().as_bytes());
    let why = format!("(mode 0640); run `chmod 600 {}`", right.display());
    assert!(
        code == 2 && err.contains(&why) && !err.contains("--reset"),
        "{err}"
    );
    // Nobody goes on with it without the key.
    let unsigned = Session {
        args: Vec::new(),
        ..session
    };
    let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
    let (code, _, err) = unsigned.raw(input.to_string().as_bytes());
    assert!(code == 2 && err.contains("signed with the key"), "{err}");
}

/// The first call of a session warns about parts of the spec that have no effect, and later calls do not.
#[test]
fn a_spec_that_orders_events_is_told_of_once() {
    let session = Session::new();
    let spec = "event { kind: string  n: int? }\ntrace { order by n }\nenforce when kind == \"rm\" => block\n";
    std::fs::write(&session.spec, spec).unwrap();
    let told = session.before("a", "Read", json!({}));
    let message = told["systemMessage"].as_str().unwrap();
    assert!(message.contains("`order by`"), "{message}");
    assert_eq!(session.before("b", "Read", json!({})), Json::Null);
}

#[test]
fn two_specs_in_one_folder_are_told_to_part() {
    let session = tainted(&[]);
    assert_eq!(session.before("a", "Read", json!({})), Json::Null);
    let spec = "use std.agent\nenforce when kind == \"call\" and tool == \"rm\" => block\n";
    std::fs::write(&session.spec, spec).unwrap();
    let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
    let (code, _, err) = session.raw(input.to_string().as_bytes());
    assert!(
        code == 2
            && err.contains("another spec")
            && err.contains("give each its own folder (`--state DIR`)")
            && err.contains("--reset s1"),
        "{err}"
    );
}
