//! Short forms of the language against their long forms: joins, conditional updates of tracks, `where` after a formula,
//! templates in their own arguments.

use guard_lang::modules::NoFiles;
use guard_lang::source::SourceFile;
use guard_lang::{check, front, hir, syntax};
use serde_json::Value;

use crate::support::cli::Folder;

const EVENT: &str = "event { kind: string  id: string?  args: json?  n: int? }\n";

const JOINED: &str = "event { kind: string  id: string?  args: json? }
trace { join call on id when kind == \"call\" }
property small = never (kind == \"result\" and (call.args.n as int? ?? 0) > 3)
enforce small { violated => block \"{call.args.n} was asked for\" }
";

fn spec(text: &str) -> hir::Spec {
    let checked = front("a.guard", text, &NoFiles, check::Limits::default());
    assert!(checked.spec.is_some(), "{:?}", checked.diagnostics);
    checked.spec.unwrap()
}

fn formula(text: &str) -> String {
    let spec = spec(&format!("{EVENT}{text}\n"));
    hir::print::formula(&spec.formulas, spec.properties[0].formula)
}

#[test]
fn joins_are_followed_live_and_kept_in_snapshots() {
    let event = |kind: &str, id: &str, n: i64| {
        serde_json::json!({"trace": "t", "kind": kind, "id": id, "args": {"n": n}}).to_string()
    };
    let proposal = |id: &str| {
        format!(
            "{{\"phase\":\"act\",\"event\":{}}}\n",
            event("result", id, 0)
        )
    };
    let folder = Folder::new(&[("s.guard", JOINED)]);
    let monitor = |args: &[&str], lines: &str| -> Vec<Value> {
        let all = [&["monitor", "s.guard", "--clock", "none"], args].concat();
        let run = folder.guard_with(&all, lines);
        let lines = run
            .out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    };
    let calls = format!("{}\n{}\n", event("call", "1", 2), event("call", "2", 9));
    let first = monitor(&["--snapshot", "state"], &(calls + &proposal("1")));
    assert_eq!(first[2]["decision"], "allow", "{first:?}");
    let second = monitor(&["--resume", "state"], &(proposal("2") + &proposal("3")));
    let decisions: Vec<&Value> = second
        .iter()
        .filter(|line| line["decision"].is_string())
        .collect();
    assert_eq!(decisions[0]["decision"], "block", "{second:?}");
    assert_eq!(decisions[0]["clauses"][0]["message"], "9 was asked for");
    assert_eq!(decisions[1]["decision"], "allow", "{second:?}");
}

#[test]
fn steps_without_a_key_are_not_joined() {
    let text = format!(
        "{EVENT}trace {{ join call on id when kind == \"call\" }}
property p = never call.n == 1
test \"null\" {{
  given [{{kind: \"call\", n: 1}}]
  expect p satisfied
  expect call.n == null
  given [{{kind: \"call\", id: \"x\", n: 1}}]
  expect p violated at 0
}}
test \"unknown\" {{
  given [{{kind: \"call\", id: \"x\", n: 1}}, {{kind: \"result\", id: unknown}}]
  expect p violated at 0
  given [{{kind: \"call\", id: unknown, n: 1}}, {{kind: \"result\", id: \"x\"}}]
  expect p unknown
}}
"
    );
    let folder = Folder::new(&[("a.guard", &text)]);
    let run = folder.guard(&["test", "a.guard"]);
    assert_eq!(run.code, 0, "{}", run.out);
}

#[test]
fn what_is_printed_is_read_again() {
    let text = format!(
        "{EVENT}trace {{ events from \"/e\" join call on id when kind == \"call\" where n == 1 }}
track t(k: string): int = 0 when id == k then 1 when kind == \"x\" then t(k) + 1
track u: int = 0 then u + 1
property p = always (n == 1 -> next n == 2) where kind == \"call\" message \"no\"
rule r: when n == 1 then n == 2 within 3 steps or end where once n == 3 message \"no\"
requirement R1 \"words\" {{ formal always n == 1 where kind == \"x\" }}
"
    );
    let (tree, diagnostics) = syntax::parse(&SourceFile::new("a", text.as_str()));
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let printed = crate::support::print::print_file(&tree);
    let (again, diagnostics) = syntax::parse(&SourceFile::new("a", printed.as_str()));
    assert!(diagnostics.is_empty(), "{printed}\n{diagnostics:?}");
    assert_eq!(again, tree, "{printed}");
    let laid_out = syntax::format(&text).unwrap();
    assert_eq!(syntax::format(&laid_out).unwrap(), laid_out);
    assert_eq!(
        syntax::parse(&SourceFile::new("a", laid_out.as_str())).0,
        tree
    );
}

#[test]
fn explanations_show_which_steps_a_formula_is_about() {
    let text = format!(
        "{EVENT}property p = always n == 1 where kind == \"call\"\nrule r: when n == 1 then n == 2 within 3 steps where n == 3\n"
    );
    let folder = Folder::new(&[("a.guard", &text)]);
    for (name, shown) in [("p", "where kind == \"call\""), ("r", "where n == 3")] {
        let run = folder.guard(&["explain", "a.guard", name, "--format", "json"]);
        let line: Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
        assert!(line["formula"].as_str().unwrap().ends_with(shown), "{line}");
    }
}

#[test]
fn a_formula_about_some_steps_is_written_out() {
    for (short, long) in [
        ("always n == 1 where n == 2", "always (n == 2 -> n == 1)"),
        (
            "always (n == 1 -> eventually n == 3) where n == 2",
            "always (n == 2 and n == 1 -> eventually (n == 2 and n == 3))",
        ),
        ("never n == 1 where n == 2", "never (n == 2 and n == 1)"),
        (
            "eventually n == 1 where n == 2",
            "eventually (n == 2 and n == 1)",
        ),
        (
            "next n == 1 where n == 2",
            "not n == 2 until (n == 2 and next (not n == 2 until (n == 2 and n == 1)))",
        ),
    ] {
        let short = formula(&format!("property p = {short}"));
        assert_eq!(short, formula(&format!("property p = {long}")));
    }
}

/// Each level uses its argument twice: without a memory of what an argument became, forty levels would never end.
#[test]
fn templates_nest_in_their_own_arguments() {
    let nested = (0..40).fold("n == 1".to_owned(), |inner, _| format!("twice({inner})"));
    let spec = spec(&format!(
        "{EVENT}template twice(p: pred): ltl = X (p or X p)\nproperty p = always {nested}\n"
    ));
    assert!(spec.formulas.len() < 200, "{}", spec.formulas.len());
    let text = format!(
        "{EVENT}template endless(p: pred): ltl = X endless(endless(p))\nproperty p = endless(n == 1)\n"
    );
    let checked = front("a.guard", &text, &NoFiles, check::Limits::default());
    assert!(
        checked
            .diagnostics
            .iter()
            .all(|found| found.code.as_str() == "G0208")
    );
    assert!(checked.spec.is_none());
}

#[test]
fn editors_offer_the_fields_of_a_join() {
    use guard_cli::editor::Analysis;
    let text = format!(
        "{EVENT}trace {{ join call on id when kind == \"call\" }}\nproperty p = never call.n == 1\n"
    );
    let at = u32::try_from(text.rfind("call.").unwrap()).unwrap();
    let analysis = Analysis::new("a.guard", &text, &NoFiles);
    let names = |offset: u32| -> Vec<String> {
        let candidates = analysis.candidates(offset, &[]);
        candidates
            .into_iter()
            .map(|candidate| candidate.name)
            .collect()
    };
    for field in ["kind", "id", "args", "n"] {
        assert!(names(at + 5).contains(&field.to_owned()), "{field}");
    }
    assert!(names(at).contains(&"call".to_owned()));
}
