//! The public interface: load, audit, monitor, learn, query, and error messages.

use std::sync::Arc;

use guard_lang::{
    AuditOptions, Error, FormatChoice, Progress, ReportFormat, Spec, Summary, Traces, Verdict,
};
use miette::NarratableReportHandler;
use serde_json::json;

use crate::support::cli::Folder;

const SPEC: &str = "event { tool: string }\nproperty no_mail = never (tool == \"mail\")\n";

const MODEL: &str = "event { tool: string }
track leaked: bool = false then leaked or tool == \"mail\"
abstraction steps {
  over leaked
}
model run = learn steps { }
query risk = P=? [ F leaked ] on run
";

fn trace(id: &str, tools: &[&str]) -> String {
    let events: Vec<_> = tools.iter().map(|tool| json!({"tool": tool})).collect();
    format!("{}\n", json!({"id": id, "events": events}))
}

#[test]
fn a_spec_is_shared_between_threads() {
    fn shared<T: Send + Sync + Clone + 'static>() {}
    shared::<Spec>();
}

#[test]
fn an_audit_gives_traces_in_order_and_problems_between_them() {
    let runs = trace("a", &["read"]) + "{broken\n" + &trace("b", &["read", "mail"]);
    let folder = Folder::new(&[("runs/one.jsonl", &runs), ("no.guard", SPEC)]);
    let spec = Spec::from_path(folder.path().join("no.guard")).unwrap();
    let (mut traces, mut problems) = (Vec::new(), Vec::new());
    for item in spec.audit([folder.path().join("runs")]).unwrap() {
        match item {
            Ok(trace) => {
                let at = trace.violations().map(|(_, verdict)| verdict.at).next();
                traces.push((trace.name().to_owned(), at));
            }
            Err(problem) => problems.push(problem.line),
        }
    }
    let expected = [("a".to_owned(), None), ("b".to_owned(), Some(Some(1)))];
    assert_eq!(traces, expected);
    assert_eq!(problems, [2]);
}

/// The fields that no event had are in the counts, however traces are handed over; an audit knows nothing of the one before it.
#[test]
fn fields_that_no_event_has_are_noted() {
    let spec =
        "event { tool: string  to: string? from \"/args/too\"  cc: string? from \"/args/cc\" }
property no_mail = never (tool == \"mail\" and (to == \"x\" or cc == \"x\"))\n";
    let spec = Spec::from_source("a.guard", spec).unwrap();
    let event = |args: serde_json::Value| {
        let events = [json!({"tool": "mail", "args": args})];
        format!("{}\n", json!({"events": events}))
    };
    let (bare, full) = (event(json!({"to": "x"})), event(json!({"cc": "y"})));
    let absent = |summary: &Summary| -> Vec<String> {
        let absent = summary.absent_fields.iter();
        absent
            .map(|field| format!("{} {}", field.field, field.from))
            .collect()
    };
    let (both, one) = (["to /args/too", "cc /args/cc"], ["to /args/too"]);
    for _ in 0..2 {
        assert_eq!(absent(&spec.judge("f", full.as_bytes()).summary), one);
        assert_eq!(absent(&spec.judge("b", bare.as_bytes()).summary), both);
        let texts = [("b", bare.as_bytes()), ("f", full.as_bytes())];
        for order in [[0, 1], [1, 0]] {
            let texts = order.map(|at| texts[at]);
            let (_, summary) = spec.judge_texts(texts, FormatChoice::Auto).unwrap();
            assert_eq!(absent(&summary), one);
        }
        for (text, expected) in [(&full, &one[..]), (&bare, &both)] {
            let reader = std::io::Cursor::new(text.clone().into_bytes());
            let traces = Traces::from_reader("t", reader);
            let audit = spec.audit_traces(traces, &AuditOptions::default(), Arc::default());
            assert_eq!(absent(&audit.unwrap().summary()), expected);
        }
    }
    let folder = Folder::new(&[("t.jsonl", &bare)]);
    let audit = spec.audit([folder.path().join("t.jsonl")]).unwrap();
    let mut text = Vec::new();
    let summary = audit.summary();
    spec.write_report(ReportFormat::Text, &[], &summary, &mut text)
        .unwrap();
    let text = String::from_utf8(text).unwrap();
    let note = "field `to` (`/args/too`) was absent at all 1 step";
    assert!(text.contains(note), "{text}");
}

#[test]
fn traces_serialize_as_the_lines_of_the_command() {
    let runs = trace("a", &["mail"]);
    let folder = Folder::new(&[("runs.jsonl", &runs), ("no.guard", SPEC)]);
    let lines = folder
        .guard(&["audit", "no.guard", "runs.jsonl", "--format", "json"])
        .out;
    let lines: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &serde_json::Value| line["type"] != "summary")
        .collect();
    let spec = Spec::from_path(folder.path().join("no.guard")).unwrap();
    let mut audit = spec.audit([folder.path().join("runs.jsonl")]).unwrap();
    let mut trace = serde_json::to_value(audit.next().unwrap().unwrap()).unwrap();
    for line in trace.as_array_mut().unwrap() {
        // The command was given a relative path.
        if line.get("file").is_some() {
            line["file"] = json!("runs.jsonl");
        }
    }
    assert_eq!(trace, serde_json::Value::from(lines));
    assert_eq!(audit.summary().traces, 1);
}

#[test]
fn an_audit_that_is_dropped_ends() {
    let runs: String = (0..5000)
        .map(|i| trace(&format!("t{i}"), &["read"]))
        .collect();
    let folder = Folder::new(&[("runs.jsonl", &runs)]);
    let spec = Spec::from_source("no.guard", SPEC).unwrap();
    let mut options = AuditOptions::default();
    options.jobs = Some(1);
    let mut audit = spec
        .audit_with([folder.path().join("runs.jsonl")], &options)
        .unwrap();
    assert_eq!(audit.next().unwrap().unwrap().name(), "t0");
    drop(audit);
    // The spec is still good for another one.
    let audit = spec.audit([folder.path().join("runs.jsonl")]).unwrap();
    let summary = audit.summary();
    assert_eq!(
        (summary.traces, summary.properties[0].satisfied),
        (5000, 5000)
    );
}

#[test]
fn files_are_selected_as_by_the_command() {
    let folder = Folder::new(&[
        ("runs/a.jsonl", &trace("a", &["read"])),
        ("runs/b.jsonl", &trace("b", &["read"])),
        ("runs/c.json", &trace("c", &["read"])),
    ]);
    let spec = Spec::from_source("no.guard", SPEC).unwrap();
    let mut options = AuditOptions::default();
    options.include = vec!["*.jsonl".to_owned()];
    options.exclude = vec!["b.*".to_owned()];
    let paths = [folder.path().join("runs"), folder.path().join("absent")];
    let audit = spec.audit_with(&paths, &options).unwrap();
    let (traces, problems): (Vec<_>, Vec<_>) = audit.partition(Result::is_ok);
    let names: Vec<String> = traces
        .into_iter()
        .map(|trace| trace.unwrap().name().to_owned())
        .collect();
    assert_eq!(names, ["a"]);
    let messages: Vec<String> = problems
        .into_iter()
        .map(|problem| problem.unwrap_err().message)
        .collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!(
        messages[0],
        "1 file of this folder does not match `*.jsonl` and was not read"
    );
    assert!(messages[1].starts_with("cannot be read"), "{messages:?}");
    assert!(matches!(
        spec.learn([folder.path().join("absent")]),
        Err(Error::Models(0))
    ));
    options.include = vec!["[".to_owned()];
    assert!(matches!(
        spec.audit_with(&paths, &options),
        Err(Error::Glob(_))
    ));
}

#[test]
fn errors_render_themselves() {
    let error = Spec::from_source(
        "no.guard",
        "event { tool: string }\nproperty p = never (tol == 1)\n",
    )
    .unwrap_err();
    let mut text = String::new();
    NarratableReportHandler::new()
        .render_report(&mut text, &error)
        .unwrap();
    assert!(text.contains("tol") && text.contains("line 2"), "{text}");
    assert!(matches!(error, Error::Spec(_)));
    let missing = Spec::from_path("nowhere/no.guard").unwrap_err();
    assert!(
        missing.to_string().contains("nowhere/no.guard"),
        "{missing}"
    );
}

#[test]
fn a_model_is_learned_and_queried() {
    let spec = Spec::from_source("drift.guard", MODEL)
        .map_err(miette::Report::new)
        .unwrap();
    let runs = trace("a", &["read"]) + &trace("b", &["read", "mail", "read"]);
    let folder = Folder::new(&[("runs.jsonl", &runs)]);
    let model = spec.learn([folder.path().join("runs.jsonl")]).unwrap();
    let answers = spec.query(&model).unwrap();
    assert_eq!(answers.len(), 1);
    let value = answers[0].answer.value.as_ref().unwrap().finite().unwrap();
    // From the state before the leak one step stays, one leaks, one ends the run: half of the runs leak.
    assert!((value - 0.5).abs() < 1e-9, "{value}");
}

#[test]
fn a_text_is_judged_with_the_compiled_spec() {
    let spec = Spec::from_source("no.guard", SPEC).unwrap();
    for (tools, expected) in [
        (&["read"], Verdict::Satisfied),
        (&["mail"], Verdict::Violated),
    ] {
        let judged = spec.judge("runs.jsonl", trace("t", tools).as_bytes());
        assert_eq!(judged.reports[0].verdicts[0].verdict, expected);
    }
}

#[test]
fn a_stream_and_a_report_are_those_of_the_command() {
    let runs = trace("a", &["read"]) + "{broken\n" + &trace("b", &["mail"]);
    let folder = Folder::new(&[("runs.jsonl", &runs), ("no.guard", SPEC)]);
    let spec = Spec::from_source("no.guard", SPEC).unwrap();
    let traces = Traces::from_reader("runs.jsonl", std::io::Cursor::new(runs.into_bytes()));
    let mut audit = spec
        .audit_traces(traces, &AuditOptions::default(), Arc::default())
        .unwrap();
    let items: Vec<_> = audit.by_ref().collect();
    let summary = audit.summary();
    for (name, format) in [
        ("json", ReportFormat::Json),
        ("human", ReportFormat::Text),
        ("junit", ReportFormat::Junit),
    ] {
        let mut own = Vec::new();
        spec.write_report(format, &items, &summary, &mut own)
            .unwrap();
        let told = folder.guard(&["audit", "no.guard", "runs.jsonl", "--format", name]);
        assert_eq!(String::from_utf8(own).unwrap(), told.out, "{name}");
    }
    let mut page = Vec::new();
    spec.write_report(ReportFormat::Html, &items, &summary, &mut page)
        .unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("1 of 2 traces violate a property"), "{page}");
}

#[test]
fn an_audit_leaves_out_conditions_of_tests() {
    let text = format!(
        "{SPEC}test \"t\" {{ given [ {{tool: \"x\"}} ] expect G (tool == \"x\") satisfied }}\n"
    );
    let spec = Spec::from_source("no.guard", &text).unwrap();
    let names: Vec<_> = spec
        .properties()
        .iter()
        .map(|of| of.name.as_str())
        .collect();
    assert_eq!(names, ["no_mail"]);
}

#[test]
fn a_query_is_asked_in_passing() {
    let spec = Spec::from_source("m.guard", MODEL).unwrap();
    let runs = trace("a", &["read", "mail"]) + &trace("b", &["read", "read"]);
    let traces = Traces::from_reader("runs.jsonl", std::io::Cursor::new(runs.into_bytes()));
    let options = AuditOptions::default();
    let learned = spec
        .learn_traces(traces, &options, &Progress::default())
        .unwrap();
    assert_eq!((learned.traces, learned.problems.len()), (2, 0));
    let whole = spec.query(&learned.model).unwrap();
    let asked = spec.ask(&learned.model, "P=? [ F leaked ]").unwrap();
    assert_eq!(asked[0].name, "P=? [ F leaked ]");
    assert_eq!(asked[0].answer.value, whole[0].answer.value);
    assert!(spec.ask(&learned.model, "P=? [ F no_such ]").is_err());
}

#[test]
fn an_error_of_a_spec_renders_itself_as_the_command_does() {
    let folder = Folder::new(&[(
        "bad.guard",
        "event { tool: string }\nproperty p = never (tol == \"x\")\n",
    )]);
    let text = folder.read("bad.guard");
    let Err(Error::Spec(error)) = Spec::from_source("bad.guard", &text) else {
        panic!("the spec is wrong");
    };
    let told = folder.guard(&["check", "bad.guard", "--format", "json"]);
    assert_eq!(error.json_lines(), told.out);
    assert!(error.rendered().contains("bad.guard:2:21"));
}

/// A text, an event a line, of traces that end and of one that does not.
const EVENTS: &str = r#"{"trace":"a","tool":"read"}
{"trace":"b","tool":"mail"}
{broken
{"trace":"a","tool":7}
{"trace":"a","end":true}
"#;

#[test]
fn texts_are_judged_as_files_are() {
    let whole = trace("c", &["read"]) + &trace("d", &["mail"]);
    let folder = Folder::new(&[("a.jsonl", EVENTS), ("b.jsonl", &whole), ("no.guard", SPEC)]);
    let spec = Spec::from_path(folder.path().join("no.guard")).unwrap();
    let names = ["a.jsonl", "b.jsonl"].map(|name| folder.path().join(name).display().to_string());
    let mut audit = spec.audit(&names).unwrap();
    let items: Vec<_> = audit.by_ref().collect();
    let (mut expected, mut found) = (Vec::new(), Vec::new());
    spec.write_report(ReportFormat::Json, &items, &audit.summary(), &mut expected)
        .unwrap();
    let texts = [
        (names[0].as_str(), EVENTS.as_bytes()),
        (&names[1], whole.as_bytes()),
    ];
    let (items, summary) = spec.judge_texts(texts, FormatChoice::Auto).unwrap();
    spec.write_report(ReportFormat::Json, &items, &summary, &mut found)
        .unwrap();
    let [expected, found] = [expected, found].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(found, expected);
    let lines: String = items
        .iter()
        .map(|item| spec.json_lines(item).unwrap())
        .collect();
    assert!(expected.starts_with(&lines) && expected[lines.len()..].lines().count() == 1);
}

/// However the texts are divided, and in whichever order the parts are added, the sums are the same.
#[test]
fn counts_of_parts_add_up() {
    let spec = Spec::from_source("no.guard", SPEC).unwrap();
    let drift = Spec::from_source("drift.guard", MODEL).unwrap();
    let texts: Vec<String> = (0..12)
        .map(|number| match number % 4 {
            0 => EVENTS.replace("\"a\"", &format!("\"a{number}\"")),
            1 => trace(&number.to_string(), &["mail", "read"]),
            2 => trace(&number.to_string(), &["read"; 3]),
            _ => "{broken\n".to_owned(),
        })
        .collect();
    let named = |part: &[usize]| -> Vec<(&str, &[u8])> {
        part.iter()
            .map(|idx| ("x", texts[*idx].as_bytes()))
            .collect()
    };
    let all: Vec<usize> = (0..texts.len()).collect();
    let (_, expected) = spec.judge_texts(named(&all), FormatChoice::Auto).unwrap();
    assert_eq!(
        (expected.traces, expected.violating, expected.errors()),
        (12, 6, 9)
    );
    let expected_model = drift.learn_texts(named(&all), FormatChoice::Auto).unwrap();
    for size in 1..=all.len() {
        let parts: Vec<&[usize]> = all.chunks(size).collect();
        let summaries = parts.iter().map(|part| {
            let (_, summary) = spec.judge_texts(named(part), FormatChoice::Auto).unwrap();
            // As it travels between machines.
            let text = serde_json::to_string(&summary).unwrap();
            serde_json::from_str::<Summary>(&text).unwrap()
        });
        let summaries: Vec<Summary> = summaries.collect();
        let mut forward = Summary::new(1);
        let mut backward = Summary::new(1);
        summaries
            .iter()
            .for_each(|part| forward.merge(part).unwrap());
        summaries
            .iter()
            .rev()
            .for_each(|part| backward.merge(part).unwrap());
        assert_eq!(forward, expected);
        assert_eq!(backward, expected);
        let mut model = drift.learn_texts([], FormatChoice::Auto).unwrap().model;
        let (mut traces, mut problems) = (0, 0);
        for part in parts.iter().rev() {
            let learned = drift.learn_texts(named(part), FormatChoice::Auto).unwrap();
            model.merge(&learned.model).unwrap();
            traces += learned.traces;
            problems += learned.problems.len();
        }
        assert_eq!(model.to_text(), expected_model.model.to_text());
        assert_eq!(
            (traces, problems),
            (expected_model.traces, expected_model.problems.len())
        );
    }
    let other = Summary::new(2);
    let mut sum = expected.clone();
    let error = sum.merge(&other).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a summary of 1 properties, found one of 2"
    );
    assert_eq!(sum, expected);
}

#[test]
fn a_spec_travels_as_text() {
    let library = "predicate mails(tool: string) = tool == \"mail\"\n";
    let spec = "use lib.{mails}\nevent { tool: string }\nproperty no_mail = never mails(tool)\n";
    let folder = Folder::new(&[("lib.guard", library), ("no.guard", spec)]);
    let spec = Spec::from_path(folder.path().join("no.guard")).unwrap();
    let text = spec.to_compiled().unwrap();
    drop(folder);
    let again = Spec::from_compiled("elsewhere", &text).unwrap();
    assert_eq!(again.properties()[0].name, "no_mail");
    assert_eq!(again.to_compiled().unwrap(), text);
    let run = trace("a", &["mail"]);
    let (_, summary) = again
        .judge_texts([("a", run.as_bytes())], FormatChoice::Auto)
        .unwrap();
    assert_eq!(summary.violating, 1);
    for damaged in [
        text.replace("== \\\"mail", "== \\\"post"),
        text.replace("lib.guard", "bil.guard"),
        text[..50].to_owned(),
    ] {
        assert!(
            Spec::from_compiled("elsewhere", &damaged).is_err(),
            "{damaged}"
        );
    }
}
