//! `guard draft` on real files; its specs are checked again.
use std::collections::BTreeMap;

use assert_cmd::Command;
use guard_english::draft::{Accept, Document};
use guard_lang::diagnostic::Code;
use guard_lang::modules::NoFiles;
use guard_lang::syntax::token::{
    CONTEXTUAL_WORDS, ITEM_WORDS, LOOK_AHEAD_WORDS, RESERVED_WORDS, temporal_words,
};
use guard_lang::{check, front};

fn guard(args: &[&str], stdin: &str) -> (String, String, i32) {
    let output = Command::cargo_bin("guard")
        .unwrap()
        .args(args)
        .write_stdin(stdin)
        .output()
        .unwrap();
    (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
        output.status.code().unwrap(),
    )
}

#[test]
fn a_list_becomes_a_spec_that_checks() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("rules.md");
    let text = "# Rules\n\n- R1: For every `id`: Whenever `request` happens, `response` must happen within 30 seconds.\n- R2: Be nice.\n- R3: Never send \"secret\" files.\n- R4: Bookings cost money.\n";
    std::fs::write(&list, text).unwrap();
    let spec = folder.path().join("rules.guard");
    let written = |accept: &str| {
        let (list, spec) = (list.to_str().unwrap(), spec.to_str().unwrap());
        let (_, err, code) = guard(&["draft", list, "--accept", accept, "-o", spec], "");
        assert_eq!(code, 0, "{err}");
        let (out, err, code) = guard(&["check", spec, "--format", "json"], "");
        assert_eq!(code, 0, "{out}{err}");
        for line in out.lines() {
            assert!(line.contains("\"G0950\""), "{line}");
        }
        std::fs::read_to_string(spec).unwrap()
    };
    let open = written("none");
    assert!(
        open.contains("formal forall x: G (request(x) -> F[0,30s] response(x))"),
        "{open}"
    );
    assert!(open.contains("// R2: Be nice.\n// unclear:"), "{open}");
    assert!(open.contains("// proposed;"), "{open}");
    assert!(open.contains("// no requirement:"), "{open}");
    assert!(!open.contains("requirement R3"), "{open}");
    let first = written("first");
    assert!(
        first.contains("@cites(\"Never send \\\"secret\\\" files.\")"),
        "{first}"
    );
    assert!(first.contains("requirement R3"), "{first}");
}

/// The end forgives a deadline only if the run ends before it: at exactly 30 seconds, nothing is forgiven. So it is in the formula
/// of plain temporal logic, too.
#[test]
fn a_deadline_that_the_end_cuts_off_is_drafted_exactly() {
    let sentence = "Whenever `asks` holds, `answers` must hold within 30 seconds, unless the trace ends before that.";
    let (spec, err, code) = guard(&["draft", "-", "--format", "guard"], sentence);
    assert_eq!(code, 0, "{err}");
    assert!(
        spec.contains("formal asks leads to answers within 30s or end"),
        "{spec}"
    );
    let (line, _, _) = guard(&["draft", "-", "--format", "json"], sentence);
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        line["reading"]["formula"],
        "G (asks -> F[0,30s] answers | F[0,29.999999999999999999s] !X true)"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.guard");
    let spec = spec.replace("todo(\"asks\")", "kind == \"u\"");
    let spec = spec.replace("todo(\"answers\")", "kind == \"a\"");
    let cases = |at: &str, verdict: &str| {
        format!(
            "\ntest \"{at}\" {{\n  given [{{kind: \"u\", at: 0}}, {{kind: \"x\", at: {at}}}]\n  expect R1 {verdict}\n}}\n"
        )
    };
    std::fs::write(
        &file,
        spec + &cases("30", "violated") + &cases("29.9", "satisfied"),
    )
    .unwrap();
    let (out, err, code) = guard(&["test", file.to_str().unwrap()], "");
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn lines_are_one_object_each() {
    let input = "{\"id\":\"a\",\"text\":\"Never do that.\"}\n{\"id\":\"b\",\"text\":\"`write` must be directly followed by `acknowledged`.\"}\n{\"id\":\"c\",\"text\":\"Be nice.\"}\n";
    let (out, err, code) = guard(&["draft", "-", "--format", "json"], input);
    assert_eq!(code, 0, "{err}");
    let lines: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(
        (lines[0]["id"].as_str(), lines[0]["status"].as_str()),
        (Some("a"), Some("proposed"))
    );
    assert_eq!(lines[0]["reading"], serde_json::Value::Null);
    assert_eq!(lines[1]["status"], "formal");
    assert_eq!(
        lines[1]["reading"]["formula"],
        "G (write -> X acknowledged)"
    );
    assert!(lines[2]["reason"].is_string());
}

#[test]
fn a_sentence_is_an_argument_and_nothing_is_an_error() {
    let (out, _, code) = guard(
        &[
            "draft",
            "Whenever `request` happens, `response` must happen within 5 steps.",
        ],
        "",
    );
    assert_eq!(code, 0);
    assert!(out.contains("F[1,5]"), "{out}");
    let (_, err, code) = guard(&["draft", "-"], "\n\n");
    assert_eq!(code, 2);
    assert!(err.contains("no requirement"), "{err}");
    let (_, err, code) = guard(&["draft", "no/such/file.md"], "");
    assert_eq!(code, 2);
    assert!(err.contains("file.md"), "{err}");
}

/// A slip of the pen is shown with its remedy.
#[test]
fn the_nearest_sentence_is_shown() {
    let (out, _, code) = guard(
        &[
            "draft",
            "Whenever `request` happens, `response` must hapen.",
        ],
        "",
    );
    assert_eq!(code, 0);
    assert!(out.contains("found `hapen`"), "{out}");
    assert!(
        out.contains("did you mean Whenever `request` happens, `response` must happen."),
        "{out}"
    );
}

#[test]
fn what_is_unclear_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("rules.txt");
    std::fs::write(&list, "Respond to users quickly.\n").unwrap();
    let answers = "Whenever `question` happens, `answer` must happen within 10 steps.\n\n";
    let (out, err, code) = guard(
        &[
            "draft",
            list.to_str().unwrap(),
            "--interactive",
            "--format",
            "json",
        ],
        answers,
    );
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("Within how many"), "{err}");
    assert!(out.contains("F[1,10]"), "{out}");
}

/// Two calls are two steps, contractions are words, and the form that is shown for a declined sentence is about its words.
#[test]
fn declined_sentences_show_a_form_of_their_kind() {
    for (sentence, said) in [
        (
            "Never call `a` and `b` in the same run.",
            "`a` and `b` are two steps; write a sentence about each; in controlled English, for example: \
             After `a`, `b` must never happen. After `b`, `a` must never happen.",
        ),
        (
            "It's forbidden to run shell commands as root.",
            "\"run shell commands as root\" must never happen.",
        ),
        (
            "All questions of the user must eventually be answered.",
            "Whenever \"…\" happens, \"…\" must happen.",
        ),
        (
            "The agent must call at least one tool.",
            "\"…\" must happen at least 3 times.",
        ),
        (
            "Exactly one invoice must be sent.",
            "\"…\" must happen exactly 3 times.",
        ),
        (
            "Between two logins, the password must not be changed.",
            "Between \"…\" and \"…\", \"…\" must never happen.",
        ),
    ] {
        let (out, err, _) = guard(&["draft", "-", "--format", "json"], sentence);
        let said = said.replace('"', "\\\"");
        assert!(out.contains(&said), "{sentence}: {out} {err}");
    }
    // What a list of names belongs to is no call of each.
    let (out, ..) = guard(&["draft", "-"], "Never push to `main` and `develop`.");
    assert!(out.contains("must never happen"), "{out}");
}

/// Another wording may have several sentences: each takes the place of the line.
#[test]
fn all_sentences_of_another_wording_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("rules.txt");
    std::fs::write(&list, "Respond to users quickly.\nNever call `rm`.\n").unwrap();
    let args = [
        "draft",
        list.to_str().unwrap(),
        "--interactive",
        "--format",
        "json",
    ];
    let answers =
        "`question` must happen at least once. `answer` must happen at least once.\n\n\n\n";
    let (out, err, code) = guard(&args, answers);
    assert_eq!(code, 0, "{err}");
    let drafts = out.lines().map(|line| {
        let draft: serde_json::Value = serde_json::from_str(line).unwrap();
        format!(
            "{} {}",
            draft["id"].as_str().unwrap(),
            draft["text"].as_str().unwrap()
        )
    });
    let expected = [
        "R1 `question` must happen at least once.",
        "R1.2 `answer` must happen at least once.",
        "R2 Never call `rm`.",
    ];
    assert_eq!(drafts.collect::<Vec<_>>(), expected);
}

/// A number takes a proposal, told from the next one by a trace; and the spec has it.
#[test]
fn a_proposal_is_chosen_by_its_number() {
    let text = "Once a secret has been read, the agent must not send email.\n";
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("rules.txt");
    std::fs::write(&list, text).unwrap();
    let list = list.to_str().unwrap();
    let (first, _, _) = guard(&["draft", list, "--format", "json"], "");
    let first: serde_json::Value = serde_json::from_str(first.trim()).unwrap();
    assert_eq!(first["status"], "proposed");
    let told = &first["proposals"][0]["tells_from_next"];
    assert!(told["trace"].is_array(), "{first}");
    let other = &first["proposals"][1]["formula"];
    let args = ["draft", list, "--interactive", "--format", "json"];
    let (out, err, code) = guard(&args, "9\n2\n\n");
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("unknown proposal 9"), "{err}");
    assert!(err.contains("accepted by"), "{err}");
    let chosen: serde_json::Value = serde_json::from_str(out.trim()).unwrap();
    assert_eq!(&chosen["reading"]["formula"], other);
    assert_eq!(
        (&chosen["status"], &chosen["chosen"]),
        (&"formal".into(), &true.into())
    );
    // What was settled can be kept as lines, and is read again without asking.
    let line = serde_json::json!({"id": "R1", "text": text.trim(), "reading": 2}).to_string();
    let (out, _, _) = guard(&["draft", "-", "--format", "json"], &line);
    let again: serde_json::Value = serde_json::from_str(out.trim()).unwrap();
    assert_eq!(&again["reading"]["formula"], other);
}

/// A bound on a probability is asked of a model that the spec declares.
#[test]
fn bounds_on_probabilities_compile() {
    let text = "- R1: With probability less than 5 %, `leak` must happen at some point.\n- R2: With probability at least 99 %, whenever `request` happens, `answer` must happen.\n- R3: With probability at most 1 %, some `request` is never followed by `answer`.\n- R4: With probability at most 0.1, `send_email` must happen at least 3 times.\n";
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("rules.guard");
    let args = ["draft", "-", "-o", spec.to_str().unwrap()];
    let (_, err, code) = guard(&args, text);
    assert_eq!(code, 0, "{err}");
    let written = std::fs::read_to_string(&spec).unwrap();
    assert_eq!(written.matches("requirement R").count(), 4, "{written}");
    assert_eq!(
        written.matches("] on recorded_runs").count(),
        4,
        "{written}"
    );
    assert!(written.contains("P<=0.1 [ F (send"), "{written}");
    let (out, err, code) = guard(&["check", spec.to_str().unwrap(), "--format", "json"], "");
    assert_eq!(code, 0, "{out}{err}");
    // What is still to be written: predicates, and what counts as a step.
    assert!(out.lines().all(|line| line.contains("\"G0950\"")), "{out}");
    assert!(out.contains("an event that counts as a step"), "{out}");
    let (_, _, code) = guard(&["fmt", "--check", spec.to_str().unwrap()], "");
    assert_eq!(code, 0, "{written}");
}

/// Whatever is no plain sentence of English: each is read, declined or passed over, and told.
#[test]
fn odd_input_is_told() {
    let lines = |text: &str| -> Vec<serde_json::Value> {
        let (out, err, code) = guard(&["draft", "-", "--format", "json"], text);
        assert_eq!(code, 0, "{text}: {err}");
        let lines = out.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    };
    for foreign in [
        "Der Agent darf niemals Daten ohne Freigabe des Menschen löschen.",
        "L'agent ne doit jamais supprimer les données avant la confirmation.",
        "エージェントはデータを削除してはならない。",
    ] {
        let found = lines(foreign);
        assert_eq!(found[0]["proposals"], serde_json::json!([]), "{foreign}");
        assert!(found[0]["reason"].is_string(), "{foreign}");
    }
    // Quotes and code spans name things.
    let found = lines("The agent must never call `rm -rf` or send \"secret.txt\".\n");
    assert_eq!(found[0]["status"], "proposed");
    // Bullets of all kinds, numbers and quotations are requirements; headings and code are context.
    let found = lines(
        "# Rules\n* Never pay.\n+ Never lie.\n2) Never wait.\n> Never hide.\n```\nnever()\n```\n",
    );
    let status = |status: &str| found.iter().filter(|line| line["status"] == status).count();
    assert_eq!((status("proposed"), status("context")), (4, 2), "{found:?}");
    // A contradiction is told with a trace that shows it; what is said twice is told, too.
    let found = lines(
        "- `stop` must be directly followed by `call`.\n- After `stop`, `call` must never happen.\n- Whenever `stop` happens, `call` must happen at the next step.\n",
    );
    assert_eq!(found[1]["conflicts"][0]["with"], "R1", "{found:?}");
    let trace = found[1]["conflicts"][0]["trace"].as_array().unwrap();
    assert!(trace.len() >= 2, "{trace:?}");
    assert_eq!(found[2]["duplicate_of"], "R1", "{found:?}");
    // A megabyte is declined with the remedy.
    let found = lines(&format!(
        "The agent must {} stop.",
        "really ".repeat(150_000)
    ));
    assert_eq!(found[0]["status"], "unclear");
    assert!(found[0]["reason"].as_str().unwrap().contains("split"));
    // A byte that is no text is an error of the file, not a panic.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.md");
    std::fs::write(&file, b"Never \xff pay.\n").unwrap();
    let (_, err, code) = guard(&["draft", file.to_str().unwrap()], "");
    assert!(
        code == 0 || code == 2 && err.contains("rules.md"),
        "{code} {err}"
    );
}

/// A situation may be called like any word of the language: the predicate has a name that the language accepts.
#[test]
fn words_of_the_language_are_not_used_as_names() {
    let lists = [
        RESERVED_WORDS,
        CONTEXTUAL_WORDS,
        ITEM_WORDS,
        LOOK_AHEAD_WORDS,
    ];
    let operators = temporal_words().flat_map(|(word, letter)| [word, letter]);
    let fixed = [
        "int", "string", "json", "time", "meta", "before", "start", "capture", "todo",
    ];
    for word in lists
        .into_iter()
        .flatten()
        .copied()
        .chain(operators)
        .chain(fixed)
    {
        let text = format!("For every `{word}`: Whenever `{word}` happens, `b` must happen.");
        let plain = format!("Whenever `{word}` happens, `b` must happen.");
        for text in [text, plain] {
            let spec = Document::new(&text, Accept::None).to_guard("a sentence");
            let checked = front("draft.guard", &spec, &NoFiles, check::Limits::default());
            let faults = checked
                .diagnostics
                .iter()
                .filter(|found| found.code != Code::G0950);
            let faults: Vec<String> = faults.map(|found| found.message.clone()).collect();
            assert!(faults.is_empty(), "{text}\n{spec}\n{faults:?}");
        }
    }
}

/// With a list of tools, sentences about calls are conditions that judge recorded runs as they are; the rest is unknown.
#[test]
fn tools_ground_predicates() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let tools = file(
        "tools.json",
        r#"{"tools": [{"name": "cancel_reservation", "description": "Cancel the whole reservation.", "inputSchema": {"properties": {"reservation_id": {"type": "string"}}}},
            {"name": "get_reservation_details", "inputSchema": {"properties": {"reservation_id": {"type": "string"}}}},
            {"name": "transfer_to_human_agents", "inputSchema": {}}]}"#,
    );
    let rules = file(
        "rules.md",
        "- R1: For every `reservation_id`: `cancel_reservation` may happen only after `get_reservation_details`.\n\
         - R2: After transfer to human agents, cancel reservation must never happen.\n\
         - R3: \"cancel a reservation\" may happen only after \"the user has confirmed\".\n\
         - R4: \"text\" and \"result\" must never happen together.\n",
    );
    let event = |tool: &str, id: &str| {
        format!(
            r#"{{"kind":"call","role":"assistant","tool":"{tool}","args":{{"reservation_id":"{id}"}}}}"#
        )
    };
    let run = |name: &str, events: &[String]| file(name, &format!("{}\n", events.join("\n")));
    let wrong = run(
        "wrong.jsonl",
        &[
            event("get_reservation_details", "A"),
            event("transfer_to_human_agents", ""),
            event("cancel_reservation", "B"),
        ],
    );
    let right = run("right.jsonl", &[event("get_reservation_details", "A")]);
    let spec = folder.path().join("rules.guard");
    let spec = spec.to_str().unwrap();
    let (_, err, code) = guard(&["draft", &rules, "--tools", &tools, "-o", spec], "");
    assert_eq!(code, 0, "{err}");
    let written = std::fs::read_to_string(spec).unwrap();
    let (out, err, code) = guard(&["check", spec, "--format", "json"], "");
    assert_eq!(code, 0, "{out}{err}\n{written}");
    assert!(out.lines().all(|line| line.contains("\"G0950\"")), "{out}");
    // One predicate for each tool, however it is spoken of.
    assert_eq!(
        written.matches("tool == \"cancel_reservation\"").count(),
        3,
        "{written}"
    );
    let verdict = |run: &str, rule: &str| {
        let (out, err, _) = guard(
            &["audit", spec, run, "--from", "native", "--format", "json"],
            "",
        );
        let lines: Vec<serde_json::Value> = out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let text = serde_json::to_string(&lines).unwrap();
        let found = lines.iter().find(|line| line["property"] == rule);
        found.map_or_else(
            || panic!("{rule}: {text}{err}"),
            |line| line["verdict"].as_str().unwrap().to_owned(),
        )
    };
    assert_eq!(verdict(&wrong, "R1"), "violated");
    assert_eq!(verdict(&wrong, "R2"), "violated");
    assert_eq!(verdict(&wrong, "R3"), "violated");
    for (text, expected) in [("Yes.", "satisfied"), ("No, do not proceed.", "violated")] {
        let said = format!(r#"{{"kind":"message","role":"user","text":"{text}"}}"#);
        let said = run("said.jsonl", &[said, event("cancel_reservation", "B")]);
        assert_eq!(verdict(&said, "R3"), expected, "{text}");
    }
    assert_eq!(verdict(&right, "R2"), "presumably_satisfied");
    // How often each predicate is true on recorded runs.
    let (out, err, code) = guard(
        &[
            "draft", &rules, "--tools", &tools, "--traces", &wrong, "--traces", &right,
        ],
        "",
    );
    assert_eq!(code, 0, "{err}");
    for remark in [
        "get_reservation_details: true at 2 steps in 2 of 2 runs\n",
        "transfer_to_human_agents: true at 1 steps in 1 of 2 runs\n",
        "user_has_confirmed: never true in 2 runs: look at it\n",
    ] {
        assert!(out.contains(remark), "{remark}: {out}");
    }
    let (out, _, _) = guard(
        &[
            "draft", &rules, "--tools", &tools, "--traces", &wrong, "--format", "guard",
        ],
        "",
    );
    assert!(
        out.contains("// true at 1 steps in 1 of 1 runs\npredicate"),
        "{out}"
    );
    for (text, reason) in [("{", "EOF"), ("{}", "expected a list of tools")] {
        let broken = file("broken.json", text);
        let (_, err, code) = guard(&["draft", &rules, "--tools", &broken], "");
        assert!(
            code == 2 && err.contains(reason) && err.contains("broken.json"),
            "{err}"
        );
    }
}

/// The drafted spec of a page of `examples/desks`, with the first proposal of each sentence.
fn desk(name: &str, folder: &std::path::Path) -> (String, String) {
    let spec = folder.join(format!("{name}.guard"));
    let spec = spec.to_str().unwrap().to_owned();
    let page = format!("examples/desks/{name}.md");
    let tools = format!("examples/desks/{name}_tools.json");
    let arguments = [
        "draft", &page, "--tools", &tools, "--accept", "first", "-o", &spec,
    ];
    let (out, err, code) = guard(&arguments, "");
    assert_eq!(code, 0, "{out}{err}");
    let text = std::fs::read_to_string(&spec).unwrap();
    (spec, text)
}

/// The verdicts of a spec on events, by property.
fn verdicts(spec: &str, events: &[serde_json::Value]) -> BTreeMap<String, String> {
    let lines: Vec<String> = events.iter().map(ToString::to_string).collect();
    let run = format!("{spec}.jsonl");
    std::fs::write(&run, format!("{}\n", lines.join("\n"))).unwrap();
    let arguments = ["audit", spec, &run, "--from", "native", "--format", "json"];
    let (out, err, _) = guard(&arguments, "");
    let lines = out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let found: BTreeMap<String, String> = lines
        .filter_map(|line| {
            let name = line["property"].as_str()?.to_owned();
            Some((name, line["verdict"].as_str()?.to_owned()))
        })
        .collect();
    assert!(!found.is_empty(), "{out}{err}");
    found
}

fn call(tool: &str, id: &str) -> serde_json::Value {
    serde_json::json!({"kind": "call", "role": "assistant", "tool": tool, "args": {"reservation_id": id, "order_id": id}})
}

fn says(text: &str) -> serde_json::Value {
    serde_json::json!({"kind": "message", "role": "user", "text": text})
}

/// The policy pages of two desks are drafted without a `todo`: every predicate is a condition on calls, or on the words of the user.
#[test]
fn policies_of_desks_need_no_predicate_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let (airline, text) = desk("airline", folder.path());
    let (retail, other) = desk("retail", folder.path());
    for (spec, text, rules) in [(&airline, &text, 6), (&retail, &other, 6)] {
        assert!(!text.contains("todo("), "{text}");
        assert_eq!(text.matches("\nrequirement ").count(), rules, "{text}");
        let (out, err, code) = guard(&["check", spec, "--deny", "warnings"], "");
        assert_eq!(code, 0, "{out}{err}{text}");
    }
    let broken = |spec: &str, events: &[serde_json::Value]| -> Vec<String> {
        let found = verdicts(spec, events).into_iter();
        found
            .filter(|(_, verdict)| verdict == "violated")
            .map(|(name, _)| name)
            .collect()
    };
    let booked = |said: &[&str]| -> Vec<serde_json::Value> {
        let mut events = vec![call("get_user_details", "")];
        events.extend(said.iter().map(|text| says(text)));
        events.push(call("book_reservation", ""));
        events
    };
    let one = "R1".to_owned();
    assert_eq!(broken(&airline, &booked(&["Yes, please."])), [""; 0]);
    // The latest message has to agree, and what is negated does not.
    for said in [
        &["Yes, please.", "Wait."][..],
        &["No, do not proceed."],
        &["I'm not sure."],
        &[],
    ] {
        assert_eq!(
            broken(&airline, &booked(said)),
            std::slice::from_ref(&one),
            "{said:?}"
        );
    }
    for (events, rule) in [
        (vec![says("yes"), call("book_reservation", "")], "R2"),
        (
            vec![
                call("get_reservation_details", "A"),
                says("yes"),
                call("cancel_reservation", "B"),
            ],
            "R3",
        ),
        (
            vec![
                call("transfer_to_human_agents", ""),
                call("transfer_to_human_agents", ""),
            ],
            "R4",
        ),
        (
            vec![call("transfer_to_human_agents", ""), call("think", "")],
            "R5",
        ),
        (vec![call("send_certificate", "")], "R6"),
    ] {
        assert_eq!(broken(&airline, &events), [rule], "{events:?}");
    }
    let details = call("get_order_details", "A");
    for (events, rules) in [
        (vec![says("Yes"), call("cancel_pending_order", "A")], vec![]),
        // The page says which word it has to be.
        (
            vec![says("Go ahead"), call("cancel_pending_order", "A")],
            vec!["R1"],
        ),
        (vec![call("get_user_details", "")], vec!["R2"]),
        (
            vec![
                call("find_user_id_by_email", ""),
                call("get_user_details", ""),
            ],
            vec![],
        ),
        (
            vec![
                says("yes"),
                details.clone(),
                call("return_delivered_order_items", "A"),
            ],
            vec![],
        ),
        (
            vec![
                says("yes"),
                details,
                call("exchange_delivered_order_items", "B"),
            ],
            vec!["R4"],
        ),
        (
            vec![
                says("Stop! Stop it."),
                says("yes"),
                call("cancel_pending_order", "A"),
            ],
            vec!["R5"],
        ),
    ] {
        assert_eq!(broken(&retail, &events), rules, "{events:?}");
    }
}

/// On recorded runs of an airline desk, which are not part of the package, the drafted rule about consent is violated in the runs of the
/// published answer, and so are the rules about details and transfers.
#[test]
fn a_drafted_policy_answers_published_questions() {
    let Some(data) = crate::support::shared("data/tau-bench") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (spec, _) = desk("airline", folder.path());
    let runs = data.join("gpt-4o-airline.json");
    let (out, err, _) = guard(
        &["audit", &spec, runs.to_str().unwrap(), "--format", "json"],
        "",
    );
    let answers = std::fs::read_to_string(data.join("answers.json")).unwrap();
    let answers: serde_json::Value = serde_json::from_str(&answers).unwrap();
    for (rule, question) in [("R1", 0), ("R3", 1), ("R5", 2)] {
        let violated = out
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .filter(|line| line["property"] == rule && line["verdict"] == "violated")
            .count();
        let published = &answers["questions"][question]["violating_count"];
        assert_eq!(serde_json::json!(violated), *published, "{rule}: {err}");
    }
}
