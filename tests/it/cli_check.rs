//! `guard check`, `guard compile`, `guard explain`.

use crate::support::cli::{Folder, SPEC};
use guard_automata::Limits;

#[test]
fn a_good_spec_is_counted() {
    let folder = Folder::new(&[("a.guard", SPEC)]);
    // Hints are shown and do not count.
    let run = folder.guard(&["check", "a.guard", "--deny", "warnings"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(
        run.out.ends_with("\nok: 1 file, 3 properties, 2 tests\n"),
        "{}",
        run.out
    );
    // The documentation of `approved` asks for the step before, so there is no hint about that.
    assert_eq!(run.out.matches("hint: ").count(), 2, "{}", run.out);
    let run = folder.guard_with(&["check", "-"], SPEC);
    assert_eq!(run.code, 0, "{run:?}");
}

/// A sentence that was not compared with its formula is not counted as one that agrees.
#[test]
fn compared_sentences_are_counted() {
    let event = "event { kind: string }\npredicate act = kind == \"act\"\npredicate ask = kind == \"ask\"\n";
    let compared = "requirement R1 \"`act` may happen only after `ask`.\" { formal always (act -> once ask) }\n";
    let open = "requirement R2 \"Be nice to everybody.\" { formal never act }\n";
    let differs = "requirement R3 \"`act` may happen only after `ask`.\" { formal always (ask -> once act) }\n";
    for (requirements, closing) in [
        (
            vec![compared],
            "ok: 1 file, 1 property, 0 tests; 1 of 1 requirement sentence compared with formulas\n",
        ),
        (
            vec![compared, open],
            "; 1 of 2 requirement sentences compared with formulas\n",
        ),
        (
            vec![open],
            "; 0 of 1 requirement sentence compared with formulas\n",
        ),
        (
            vec![open, differs],
            "1 warning in 1 file; 1 of 2 requirement sentences compared with formulas\n",
        ),
    ] {
        let folder = Folder::new(&[("a.guard", &(event.to_owned() + &requirements.concat()))]);
        let run = folder.guard(&["check", "a.guard"]);
        assert!(run.out.ends_with(closing), "{}", run.out);
    }
}

const POLICY: &str = "use std.agent\nproperty no_rm = never (kind == \"call\" and tool == \"rm\")\n\
    rule asks: when kind == \"call\" then kind == \"result\" within 5 steps\nenforce no_rm { violated => block }\n";

/// A clause or an expectation about what another module declares was dropped without a word.
#[test]
fn what_a_module_states_is_neither_enforced_nor_expected() {
    let test = "test \"t\" { given [{kind: \"call\", tool: \"rm\"}]\n  expect ";
    for (wrong, message) in [
        (
            "enforce no_rm { violated => block }",
            "`no_rm` is declared in `policy`",
        ),
        (
            "enforce asks { violated => block }",
            "`asks` is declared in `policy`",
        ),
        (
            "enforce on no_rm { >= 0.1 => block }",
            "`no_rm` is declared in `policy`",
        ),
        (
            &format!("{test}no_rm satisfied }}"),
            "`no_rm` is declared in `policy`",
        ),
        (
            &format!("{test}no_rm violated at 0 }}"),
            "`no_rm` is declared in `policy`",
        ),
    ] {
        let spec = format!("use std.agent\nuse policy.{{no_rm, asks}}\n{wrong}\n");
        let folder = Folder::new(&[("policy.guard", POLICY), ("a.guard", &spec)]);
        let run = folder.guard(&["check", "a.guard"]);
        assert_eq!(run.code, 2, "{wrong}: {run:?}");
        assert!(run.out.contains(message), "{wrong}: {}", run.out);
    }
    let as_whole = "`no_rm` is declared in `policy`";
    let dotted = "expected a property that this file declares, found `policy.no_rm`";
    for (wrong, message) in [
        ("enforce no_rm { violated => block }", as_whole),
        ("enforce on no_rm { >= 0.1 => block }", as_whole),
        ("enforce policy.no_rm { violated => block }", dotted),
        ("enforce on policy.no_rm { >= 0.1 => block }", dotted),
        (&format!("{test}no_rm violated at 0 }}"), as_whole),
        (&format!("{test}policy.no_rm violated at 0 }}"), as_whole),
        (
            "property other = policy.no_rm",
            "a property has this name, but a property is not a value",
        ),
    ] {
        let spec = format!("use std.agent\nuse policy\n{wrong}\n");
        let folder = Folder::new(&[("policy.guard", POLICY), ("a.guard", &spec)]);
        let run = folder.guard(&["check", "a.guard"]);
        assert_eq!(run.code, 2, "{wrong}: {run:?}");
        assert!(run.out.contains(message), "{wrong}: {}", run.out);
    }
    let spec = "use std.agent\nuse policy\nproperty other = never (tool == \"mv\")\n";
    for (allows, n) in [("", 1), ("@allow(unjudged_module)\n", 0)] {
        let spec = spec.replacen("use policy", &format!("{allows}use policy"), 1);
        let folder = Folder::new(&[("policy.guard", POLICY), ("a.guard", &spec)]);
        let run = folder.guard(&["check", "a.guard"]);
        let found = run.out.matches("are not part of this spec").count();
        assert_eq!((run.code, found), (0, n), "{}", run.out);
    }
}

/// An unsafe state is a property too, and modules import modules.
#[test]
fn all_that_modules_state_and_nobody_judges_is_reported() {
    let states = "use std.agent\nunsafe removes = kind == \"call\" and tool == \"rm\"\n";
    let between = "use std.agent\nuse states\npredicate calls = kind == \"call\"\n";
    for (spec, message) in [
        (
            "use states\nproperty other = never (tool == \"mv\")\n",
            Some("`states` has properties"),
        ),
        (
            "use between\nproperty other = never (between.calls and tool == \"mv\")\n",
            Some("`states`, which `between` imports, has properties"),
        ),
        (
            "use between\nuse states\nproperty other = never (between.calls and tool == \"mv\")\n",
            Some("`states`, which `between` imports, has properties"),
        ),
        (
            "@allow(unjudged_module)\nuse between\nproperty other = never between.calls\n",
            None,
        ),
        ("use states\nproperty kept = never states.removes\n", None),
        ("use states\nenforce when states.removes => block\n", None),
    ] {
        let spec = format!("use std.agent\n{spec}");
        let folder = Folder::new(&[
            ("states.guard", states),
            ("between.guard", between),
            ("a.guard", &spec),
        ]);
        let run = folder.guard(&["check", "a.guard"]);
        let found = run.out.matches("are not part of this spec").count();
        assert_eq!((run.code, found), (0, message.iter().len()), "{}", run.out);
        assert!(
            message.is_none_or(|message| run.out.contains(message)),
            "{}",
            run.out
        );
    }
}

/// A claim on a model has no verdict on a run: every expectation about it passed.
#[test]
fn what_a_test_expects_of_a_claim_is_an_error() {
    let spec = "event { kind: string }\npredicate leaks = kind == \"leak\"\nabstraction seen { over leaks }\n\
        model m = learn seen { }\nproperty rare = P<=0.05 [ F leaks ] on m\nquery often = P=? [ F leaks ] on m\n\
        test \"t\" { given [{kind: \"leak\"}]\n  expect NAME violated at 0 }\n";
    for (name, message) in [
        ("rare", "`rare` is about a model or system, not about runs"),
        ("often", "expected a property, found the query `often`"),
    ] {
        let folder = Folder::new(&[("a.guard", &spec.replace("NAME", name))]);
        let run = folder.guard(&["check", "a.guard"]);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.out.contains(message), "{}", run.out);
    }
}

#[test]
fn a_wrong_spec_is_exit_2_in_every_format() {
    let folder = Folder::new(&[("a.guard", &SPEC.replace("Y approval", "Y aproval"))]);
    let run = folder.guard(&["check", "a.guard"]);
    assert_eq!(run.code, 2);
    assert!(run.out.contains("unknown name `aproval`"), "{}", run.out);
    let run = folder.guard(&["check", "a.guard", "--format", "json"]);
    assert_eq!(run.code, 2);
    let line: serde_json::Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    assert_eq!(line["code"], "G0201");
    assert_eq!(line["span"]["line"], 14);
    let run = folder.guard(&["check", "a.guard", "--format", "sarif"]);
    assert_eq!(run.code, 2);
    let sarif: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "G0201");
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    let folder = Folder::new(&[("a.guard", SPEC), ("latin.guard", "")]);
    folder.write("latin.guard", b"event {\n  k: string // \xe9\n}\n");
    let run = folder.guard(&["check", "missing.guard", ".", "latin.guard", "a.guard"]);
    assert_eq!(run.code, 2);
    assert!(run.out.contains("ok: 1 file"), "{}", run.out);
    for part in ["`missing.guard`", "it is a folder", "not UTF-8 (line 2)"] {
        assert!(run.err.contains(part), "{}", run.err);
    }
}

#[test]
fn warnings_can_be_denied() {
    let unused = "event { a: int?\n  b: int?\n}\nproperty p = never (a == b)\n";
    let folder = Folder::new(&[("a.guard", unused)]);
    let run = folder.guard(&["check", "a.guard"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.out.contains("1 warning"), "{}", run.out);
    let run = folder.guard(&["check", "a.guard", "--deny", "warnings"]);
    assert_eq!(run.code, 2);
}

#[test]
fn imports_come_from_the_folder_of_the_spec_and_from_nowhere_else() {
    let main = "use lib.mail.{sends}\nevent { tool: string }\nproperty p = never sends\n";
    let folder = Folder::new(&[
        ("sub/a.guard", main),
        ("sub/lib/mail.guard", "predicate sends = tool == \"mail\"\n"),
    ]);
    let run = folder.guard(&["check", "sub/a.guard"]);
    assert_eq!(run.code, 0, "{run:?}");
    let run = folder.guard(&["compile", "sub/a.guard", "-o", "a.guardc"]);
    assert_eq!(run.code, 0, "{run:?}");
    let run = folder.guard(&["check", "a.guardc"]);
    assert_eq!(run.code, 0, "{run:?}");
    #[cfg(unix)]
    {
        folder.write("outside.guard", "predicate sends = tool == \"mail\"\n");
        std::fs::remove_file(folder.path().join("sub/lib/mail.guard")).unwrap();
        let target = folder.path().join("outside.guard");
        std::os::unix::fs::symlink(target, folder.path().join("sub/lib/mail.guard")).unwrap();
        let run = folder.guard(&["check", "sub/a.guard"]);
        assert_eq!(run.code, 2);
        assert!(
            run.out.contains("a link points outside the folder"),
            "{}",
            run.out
        );
        std::fs::remove_file(folder.path().join("sub/lib/mail.guard")).unwrap();
        let pipe = std::process::Command::new("mkfifo")
            .arg(folder.path().join("sub/lib/mail.guard"))
            .status();
        assert!(pipe.unwrap().success());
        let run = folder.guard(&["check", "sub/a.guard"]);
        assert_eq!(run.code, 2);
        assert!(run.out.contains("expected a regular file"), "{}", run.out);
    }
}

/// The build that compiled a spec reads the checked form, and any other one checks the sources again.
#[test]
fn a_compiled_spec_is_checked_once() {
    let trace = r#"{"id":"t","events":[{"kind":"call","tool":"pay","amount":5000}]}"#;
    let folder = Folder::new(&[("a.guard", SPEC), ("t.jsonl", trace)]);
    let audited = |spec: &str| folder.guard(&["audit", spec, "t.jsonl", "--format", "json"]);
    let run = folder.guard(&["compile", "a.guard", "-o", "a.guardc"]);
    assert_eq!(run.code, 0, "{run:?}");
    let meant = audited("a.guard");
    assert_eq!(audited("a.guardc").out, meant.out);
    assert_eq!(folder.guard(&["check", "a.guardc"]).code, 0);
    let artifact: serde_json::Value = serde_json::from_str(&folder.read("a.guardc")).unwrap();
    let changed = |member: &str, value: &str| {
        let mut artifact = artifact.clone();
        artifact["checked"][member] = value.into();
        folder.write("b.guardc", artifact.to_string());
        audited("b.guardc")
    };
    // Another build does not look at what this one checked.
    assert_eq!(changed("build", "another").out, meant.out);
    assert_eq!(folder.guard(&["check", "b.guardc"]).code, 0);
    let kept = artifact["checked"]["bytes"].as_str().unwrap();
    for (member, value) in [("blake3", "0"), ("bytes", &kept[4..]), ("bytes", "")] {
        let run = changed(member, value);
        assert_eq!(run.code, 2, "{member}: {run:?}");
        assert!(run.err.contains("is damaged or was modified"), "{run:?}");
    }
    // What another spec compiles to is not what this one does.
    folder.write(
        "other.guard",
        SPEC.replacen("property", "@cites(\"x\")\nproperty", 1),
    );
    let run = folder.guard(&["compile", "other.guard", "-o", "other.guardc"]);
    assert_eq!(run.code, 0, "{run:?}");
    let other: serde_json::Value = serde_json::from_str(&folder.read("other.guardc")).unwrap();
    let mut mixed = artifact.clone();
    mixed["checked"] = other["checked"].clone();
    folder.write("mixed.guardc", mixed.to_string());
    assert_eq!(audited("mixed.guardc").code, 2);
}

/// What an editor shows of such a text is what `check` says of the file.
#[test]
fn a_text_that_begins_with_a_brace_is_a_spec() {
    let text = "{kind: \"call\"}\nproperty p = never\n";
    let folder = Folder::new(&[("a.guard", text)]);
    let run = folder.guard(&["check", "a.guard", "--format", "json"]);
    assert_eq!(run.code, 2);
    assert!(run.out.contains("\"code\":\"G0"), "{run:?}");
}

/// A compiled spec of which a byte was changed is refused, or means the same.
#[test]
fn a_damaged_compiled_spec_is_refused() {
    let text = "event { a: bool  b: string }\nproperty p = G (a -> X (b matches /x+/))\n";
    let spec = guard_lang::Spec::from_source("a.guard", text).unwrap();
    let compiled = spec.to_compiled().unwrap();
    let meant = format!("{:?}", spec.parts().0);
    let mut n_refused = 0;
    for place in 0..compiled.len() {
        for change in [1, 0x10] {
            let mut bytes = compiled.clone().into_bytes();
            bytes[place] ^= change;
            let damaged = String::from_utf8(bytes).unwrap();
            match guard_lang::Spec::from_compiled("a.guardc", &damaged) {
                Ok(read) => assert_eq!(format!("{:?}", read.parts().0), meant, "{damaged}"),
                Err(_) => n_refused += 1,
            }
        }
    }
    assert!(n_refused > compiled.len(), "{n_refused}");
}

/// What is kept is the whole spec, whatever it consists of.
#[test]
fn a_checked_spec_is_kept_whole() {
    let mut n_specs = 0;
    // Regular expressions are compiled at first use.
    let compiled = r#"OnceLock\(Some\(Regex\("(?:[^"\\]|\\.)*"\)\)\)"#;
    let compiled = regex::Regex::new(compiled).unwrap();
    let folders = [
        "examples/live",
        "examples/risk",
        "examples/systems",
        "stdlib",
        "stdlib/tests",
    ];
    for folder in folders {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path
                .extension()
                .is_none_or(|extension| extension != "guard")
            {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let limits = guard_lang::check::Limits::default();
            let files = guard_lang::modules::NoFiles;
            let Some(spec) = guard_lang::front("a.guard", &text, &files, limits).spec else {
                continue;
            };
            let bytes = postcard::to_stdvec(&spec).unwrap();
            let again: guard_lang::hir::Spec = postcard::from_bytes(&bytes).unwrap();
            let shown = |spec: &guard_lang::hir::Spec| {
                let shown = format!("{spec:?}");
                compiled
                    .replace_all(&shown, "OnceLock(<uninit>)")
                    .into_owned()
            };
            assert_eq!(shown(&again), shown(&spec), "{}", path.display());
            n_specs += 1;
        }
    }
    assert!(n_specs > 15, "{n_specs}");
}

#[test]
fn a_compiled_spec_stands_for_its_source() {
    let folder = Folder::new(&[("a.guard", SPEC)]);
    assert_eq!(
        folder.guard(&["compile", "a.guard", "-o", "a.guardc"]).code,
        0
    );
    let text = folder.read("a.guardc");
    std::fs::remove_file(folder.path().join("a.guard")).unwrap();
    let run = folder.guard(&["explain", "a.guardc", "approved"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.out.contains("a.guard:14"), "{}", run.out);

    folder.write(
        "new.guardc",
        text.replace("\"version\": 1", "\"version\": 9"),
    );
    let run = folder.guard(&["check", "new.guardc"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("format version 9"), "{}", run.err);

    folder.write(
        "changed.guardc",
        text.replace("high_risk -> Y approval", "high_risk -> O approval"),
    );
    let run = folder.guard(&["check", "changed.guardc"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("compile the spec again"), "{}", run.err);

    folder.write("cut.guardc", &text[..text.len() / 2]);
    assert_eq!(folder.guard(&["check", "cut.guardc"]).code, 2);
}

#[test]
fn an_unknown_name_of_the_library_is_reported_with_its_module() {
    let head = "event { kind: string  tool: string? }\npredicate a = kind == \"a\"\n";
    for (name, property) in [
        ("at_next", "property p = always (a -> at_next(a, a))\n"),
        (
            "weak_at_next",
            "property p = always (a -> weak_at_next(a, a))\n",
        ),
    ] {
        let folder = Folder::new(&[("a.guard", &format!("{head}{property}"))]);
        let run = folder.guard(&["check", "a.guard"]);
        let import = format!("use std.patterns.{{{name}}}");
        assert!(run.out.contains(&format!("`{import}`")), "{}", run.out);
        folder.write("a.guard", format!("{import}\n{head}{property}"));
        assert_eq!(folder.guard(&["check", "a.guard"]).code, 0, "{property}");
    }
}

#[test]
fn only_forms_that_exist_are_emitted() {
    let folder = Folder::new(&[("a.guard", SPEC)]);
    for form in ["ast", "hir", "automata"] {
        let run = folder.guard(&["compile", "a.guard", "--emit", form]);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(!run.out.is_empty());
    }
    let run = folder.guard(&["compile", "a.guard", "--automata", "hoa"]);
    assert_eq!(run.code, 0);
    insta::assert_snapshot!("hoa", run.out.split_inclusive("--END--\n").next().unwrap());
    let run = folder.guard(&["compile", "a.guard", "--automata", "dot"]);
    insta::assert_snapshot!("dot", run.out.split_inclusive("}\n").next().unwrap());
    let run = folder.guard(&["compile", "a.guard", "--automata", "json"]);
    insta::assert_snapshot!("automaton_json", run.out.lines().next().unwrap());
    let infinite = |format: &str| {
        let args = [
            "compile",
            "a.guard",
            "--semantics",
            "infinite",
            "--automata",
            format,
        ];
        let run = folder.guard(&args);
        assert_eq!(run.code, 0, "{run:?}");
        run.out
    };
    let hoa = infinite("hoa");
    let read = guard_automata::omega::hoa::parse_all(&hoa, &Limits::default());
    assert!(read.is_ok_and(|automata| !automata.is_empty()), "{hoa}");
    assert!(infinite("dot").starts_with("digraph "));
    for line in infinite("json").lines() {
        let automaton: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(automaton["buchi"]["states"].is_array(), "{line}");
    }
}

#[test]
fn a_property_is_explained_by_name_and_by_id() {
    let folder = Folder::new(&[("a.guard", SPEC)]);
    let run = folder.guard(&["explain", "a.guard", "approved"]);
    assert_eq!(run.code, 0, "{run:?}");
    insta::assert_snapshot!("explain_approved", run.out);
    let run = folder.guard(&["explain", "a.guard", "answered"]);
    insta::assert_snapshot!("explain_answered", run.out);
    let run = folder.guard(&["explain", "a.guard", "phi7", "--format", "json"]);
    insta::assert_snapshot!("explain_json", run.out);
    let run = folder.guard(&["explain", "a.guard", "aproved"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("did you mean `approved`?"), "{}", run.err);
    let run = folder.guard(&["explain", "a.guard"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("give the name of a property"),
        "{}",
        run.err
    );
}

const RELATED: &str = r#"event {
  kind: string
  tool: string
  id: string
  at: time
}
predicate request = kind == "request"
predicate answer = kind == "answer"
property answered = G (request -> F answer)
property soon = G (request -> F[0,3] answer)
property forgiving = G (request -> F (answer or last))
property no_net = never (tool in ["mail", "post"])
property no_mail = never (tool == "mail")
property often = G F answer
property each = forall x: G (request and id == x -> O (answer and id == x))
rule in_two: when request then answer within 2s
rule in_five: when request then answer within 5s
"#;

#[test]
fn two_properties_are_compared() {
    let folder = Folder::new(&[("a.guard", RELATED)]);
    let relation = |name: &str, against: &str, more: &[&str]| {
        let args = [
            "explain",
            "a.guard",
            name,
            "--against",
            against,
            "--format",
            "json",
        ];
        let run = folder.guard(&[&args, more].concat());
        assert_eq!(run.code, 0, "{run:?}");
        let object: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        (object["relation"].as_str().unwrap().to_owned(), object)
    };
    let (found, object) = relation("soon", "answered", &[]);
    assert_eq!(found, "implies");
    assert_eq!(object["witness_satisfies"], "answered");
    assert_eq!(object["witness"].as_array().unwrap().len(), 5);
    assert_eq!(relation("answered", "soon", &[]).0, "implied_by");
    // By what the conditions read, not by their text.
    assert_eq!(relation("no_net", "no_mail", &[]).0, "implies");
    let (found, object) = relation("answered", "G (request -> answer or X F answer)", &[]);
    assert_eq!(
        (found.as_str(), &object["witness"]),
        ("equivalent", &serde_json::json!([]))
    );
    assert_eq!(relation("often", "F G request", &[]).0, "disjoint");
    assert_eq!(
        relation("often", "G F answer and F request", &[]).0,
        "implied_by"
    );
    // Only a trace that never ends tells them apart, or only one that does.
    let infinite = ["--semantics", "infinite"];
    let (found, object) = relation("often", "F G answer", &infinite);
    assert_eq!(found, "implied_by");
    assert!(object["witness_repeats_from"].is_number(), "{object}");
    assert_eq!(relation("often", "F G answer", &[]).0, "equivalent");
    assert_eq!(relation("forgiving", "answered", &infinite).0, "equivalent");
    assert_eq!(relation("forgiving", "answered", &[]).0, "implied_by");
    // With bounds in time, by the clock.
    let (found, object) = relation("in_two", "in_five", &[]);
    assert_eq!(found, "implies");
    assert_eq!(object["witness_satisfies"], "in_five");
    let times = object["witness_times"].as_array().unwrap();
    assert_eq!(times.len(), object["witness"].as_array().unwrap().len());
    let last = times.last().unwrap().as_f64().unwrap();
    assert!(2.0 < last && last <= 5.0, "{object}");
    assert_eq!(relation("in_five", "answered", &[]).0, "implies");
    let same = "G (request -> answer or F[0,5s] answer)";
    assert_eq!(relation("in_five", same, &[]).0, "equivalent");
    let never = "F (request and G[0,6s] not answer)";
    assert_eq!(relation("in_five", never, &[]).0, "disjoint");
    // A property of another spec, by the names of this one.
    let other = RELATED.replace("F[0,3]", "F[0,4]");
    folder.write("b.guard", other);
    assert_eq!(relation("soon", "b.guard:soon", &[]).0, "implies");
    assert_eq!(relation("each", "b.guard:each", &[]).0, "equivalent");
    let quantified = "forall y: G (request and id == y -> Y O (answer and id == y))";
    assert_eq!(relation("each", quantified, &[]).0, "equivalent");
}

#[test]
fn what_cannot_be_compared_is_said() {
    let folder = Folder::new(&[("a.guard", RELATED), ("b.guard", RELATED)]);
    for (name, against, part) in [
        ("answered", "son", "did you mean `soon`"),
        ("answered", "G (request ->", "_against"),
        ("answered", "each", "only one of them is quantified"),
        ("answered", "b.guard:son", "did you mean `soon`"),
    ] {
        let run = folder.guard(&["explain", "a.guard", name, "--against", against]);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.err.contains(part), "{}", run.err);
    }
    let run = folder.guard(&["explain", "a.guard", "--against", "soon"]);
    assert_eq!(run.code, 2, "{run:?}");
    let args = [
        "explain",
        "a.guard",
        "in_five",
        "--against",
        "in_two",
        "--semantics",
        "infinite",
    ];
    let run = folder.guard(&args);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains("bounds in time"), "{}", run.err);
}

/// A property against automata in the Hanoi format: those of others over infinite words, our own over traces that end.
#[test]
fn a_property_is_compared_with_an_automaton() {
    let body = |name: &str, often: &str| {
        format!(
            "HOA: v1 States: 2 Start: 0 AP: 2 \"answer\" \"{name}\" acc-name: Buchi Acceptance: 1 Inf(0)\n--BODY--\n\
             State: 0 {{0}} [!1 | 0] 0 [1 & !0] 1\nState: 1 [0] {often} [!0] 1\n--END--\n"
        )
    };
    let folder = Folder::new(&[
        ("a.guard", RELATED),
        ("response.hoa", &body("request", "0")),
        // A condition of the language for a name, and another automaton: an answer is never enough.
        ("never.hoa", &body("kind == \\\"request\\\"", "1")),
        ("unknown.hoa", &body("p1", "0")),
        (
            "broken.hoa",
            "HOA: v1\nStates: 1\nStart: 0\nAP: 1 \"answer\"\nAcceptance: 1 Inf(3)\n--BODY--\n",
        ),
        (
            "silent.hoa",
            "HOA: v1 States: 1 Start: 0 AP: 1 \"kind == \\\"other\\\"\" Acceptance: 0 t --BODY-- State: 0 [0] 0 --END--",
        ),
        // Guesses, so that its complement must be determinised: from some step on, always an answer.
        (
            "settles.hoa",
            "HOA: v1 States: 2 Start: 0 AP: 1 \"answer\" Acceptance: 1 Inf(0) --BODY-- State: 0 [t] 0 [0] 1 State: 1 {0} [0] 1 --END--",
        ),
    ]);
    let explain = |name: &str, against: &str, more: &[&str]| {
        let args = [
            "explain",
            "a.guard",
            name,
            "--against",
            against,
            "--format",
            "json",
        ];
        folder.guard(&[&args, more].concat())
    };
    let relation = |name: &str, against: &str| {
        let run = explain(name, against, &[]);
        assert_eq!(run.code, 0, "{run:?}");
        let told: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        (told["relation"].as_str().unwrap().to_owned(), told)
    };
    let (word, told) = relation("answered", "response.hoa");
    assert_eq!(
        (word.as_str(), &told["semantics"]),
        ("equivalent", &"infinite".into())
    );
    let (word, told) = relation("answered", "never.hoa");
    assert_eq!(word, "implied_by");
    assert_eq!(told["witness_satisfies"], "answered", "{told}");
    assert!(told["witness_repeats_from"].is_number(), "{told}");
    let (word, told) = relation("soon", "response.hoa");
    assert_eq!(
        (word.as_str(), &told["witness_satisfies"]),
        ("implies", &"response.hoa".into())
    );
    assert_eq!(relation("often", "settles.hoa").0, "implied_by");
    // What no event makes true together is known: `other` is no answer.
    assert_eq!(relation("often", "silent.hoa").0, "disjoint");

    // What this tool writes, it reads: all properties in one file, each by its name. Bounds in time have no automaton.
    let untimed: String = RELATED
        .lines()
        .filter(|line| !line.starts_with("rule"))
        .map(|line| format!("{line}\n"))
        .collect();
    folder.write("b.guard", untimed);
    for semantics in ["finite", "infinite"] {
        let run = folder.guard(&[
            "compile",
            "b.guard",
            "--automata",
            "hoa",
            "--semantics",
            semantics,
        ]);
        assert_eq!(run.code, 0, "{run:?}");
        folder.write(&format!("{semantics}.hoa"), &run.out);
        for name in ["answered", "soon", "no_net", "often", "each"] {
            let (word, told) = relation(name, &format!("{semantics}.hoa"));
            assert_eq!(
                (word.as_str(), &told["semantics"]),
                ("equivalent", &semantics.into()),
                "{name}"
            );
        }
        assert_eq!(
            relation("soon", &format!("{semantics}.hoa:answered")).0,
            "implies"
        );
    }

    for (against, more, wanted) in [
        (
            "unknown.hoa",
            &[][..],
            "its atomic proposition `p1` is not a condition of the spec; rename it to a predicate (`answered` reads request, answer)",
        ),
        ("broken.hoa", &[], "broken.hoa`: line 5"),
        ("missing.hoa", &[], "missing.hoa"),
        (
            "finite.hoa:nothing",
            &[],
            "contains no automaton named `nothing`, but answered, soon,",
        ),
        (
            "response.hoa",
            &["--semantics", "finite"],
            "accepts infinite traces",
        ),
        (
            "finite.hoa",
            &["--semantics", "infinite"],
            "accepts finite traces",
        ),
    ] {
        let run = explain("answered", against, more);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.err.contains(wanted), "{against}: {}", run.err);
    }
    let run = explain("in_two", "response.hoa", &[]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains("bounds in time"), "{}", run.err);
}

/// The clock is read by bounds and windows in time, and by nothing else.
#[test]
fn an_explanation_names_the_clock() {
    let spec = r#"event { kind: string, at: time? }
predicate a = kind == "a"
rule bounded: when a then kind == "b" within 5s
property counted = always (count[0,60s](a) <= 2)
property stepped = always (count[0,5](a) <= 2)
"#;
    let folder = Folder::new(&[("a.guard", spec)]);
    for (name, expected) in [
        ("bounded", r#"["/kind","/at"]"#),
        ("counted", r#"["/kind","/at"]"#),
        ("stepped", r#"["/kind"]"#),
    ] {
        let run = folder.guard(&["explain", "a.guard", name, "--format", "json"]);
        let explained: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(explained["reads"].to_string(), expected, "{name}");
    }
}
