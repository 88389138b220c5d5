//! Compiled specs contain the solutions of models: monitors decide the same without the model, and modified files are rejected.

use crate::support::cli::Folder;
use serde_json::Value as Json;

/// A folder with the example of SafetyDrift, and its compiled form.
fn drift() -> (Folder, String, String) {
    let live = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/live");
    let read = |name: &str| std::fs::read_to_string(live.join(name)).unwrap();
    let folder = Folder::new(&[
        ("drift.guard", &read("drift.guard")),
        ("m.json", &read("drift.model.json")),
    ]);
    let args = [
        "compile",
        "drift.guard",
        "--model",
        "m.json",
        "-o",
        "drift.guardc",
    ];
    let compiled = folder.guard(&args);
    assert_eq!((compiled.code, compiled.err.as_str()), (0, ""));
    (folder, read("drift.jsonl"), read("drift.decisions"))
}

#[test]
fn a_compiled_spec_decides_without_its_model() {
    let (folder, input, decisions) = drift();
    let human = [
        "monitor",
        "drift.guardc",
        "--clock",
        "none",
        "--format",
        "human",
    ];
    let run = folder.guard_with(&human, &input);
    assert_eq!(run.out, decisions, "{}", run.err);
    // It is the same monitor: what one left the other continues, and numbers agree to the last digit.
    let (first, rest) = input.split_at(input.lines().take(5).map(|line| line.len() + 1).sum());
    let plain = [
        "monitor",
        "drift.guard",
        "--model",
        "m.json",
        "--clock",
        "none",
    ];
    let compiled = ["monitor", "drift.guardc", "--clock", "none"];
    let whole = folder.guard_with(&plain, &input).out;
    for (before, after) in [(&plain[..], &compiled[..]), (&compiled[..], &plain[..])] {
        let begun = folder
            .guard_with(&[before, &["--snapshot", "s"]].concat(), first)
            .out;
        let ended = folder
            .guard_with(&[after, &["--resume", "s"]].concat(), rest)
            .out;
        let ended = ended.split_once('\n').unwrap().1;
        assert_eq!(format!("{begun}{ended}"), whole);
        std::fs::remove_file(folder.path().join("s")).unwrap();
    }
    // Compiled again from itself it is the same file.
    let again = folder.guard(&["compile", "drift.guardc", "-o", "again.guardc"]);
    assert_eq!(again.code, 0, "{}", again.err);
    let models = |name: &str| -> Json {
        let file: Json = serde_json::from_str(&folder.read(name)).unwrap();
        file["models"].clone()
    };
    assert_eq!(models("again.guardc"), models("drift.guardc"));
}

#[test]
fn tables_that_were_changed_are_refused() {
    let (folder, input, _) = drift();
    let mut file: Json = serde_json::from_str(&folder.read("drift.guardc")).unwrap();
    let tables = file["models"][0]["tables"].as_str().unwrap().to_owned();
    let other = if tables.as_bytes()[40] == b'A' {
        "B"
    } else {
        "A"
    };
    file["models"][0]["tables"] = format!("{}{other}{}", &tables[..40], &tables[41..]).into();
    folder.write("drift.guardc", file.to_string());
    let run = folder.guard_with(&["monitor", "drift.guardc"], &input);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.contains("damaged tables of `run`"), "{}", run.err);
    // Those of another version of the tool.
    file["models"][0]["tables"] = tables.into();
    file["tool"] = "0.0.1".into();
    folder.write("drift.guardc", file.to_string());
    let run = folder.guard_with(&["monitor", "drift.guardc"], &input);
    assert!(run.err.contains("compile the spec again"), "{}", run.err);
}

/// A tier that no state of the model reaches is warned of where the model is known.
#[test]
fn tiers_that_are_never_reached() {
    let (folder, _, _) = drift();
    let long =
        "\nquery long = R=? [ C<=3 ] on run\nenforce on long { >= 5 => warn \"{long} steps\" }\n";
    let spec = folder.read("drift.guard") + long;
    folder.write("high.guard", &spec);
    let told = "the model never reaches `>= 5` of `long`";
    let check = folder.guard(&[
        "check",
        "high.guard",
        "--model",
        "m.json",
        "--format",
        "json",
    ]);
    let found: Json = serde_json::from_str(check.out.lines().next().unwrap()).unwrap();
    assert_eq!(found["code"], "G0943", "{}", check.out);
    assert!(
        found["message"].as_str().unwrap().starts_with(told),
        "{found}"
    );
    assert_eq!(
        folder
            .guard(&[
                "check",
                "high.guard",
                "--model",
                "m.json",
                "--deny",
                "warnings"
            ])
            .code,
        2
    );
    let monitor = folder.guard_with(&["monitor", "high.guard", "--model", "m.json"], "");
    assert!(monitor.err.contains(told), "{}", monitor.err);
    let compile = folder.guard(&[
        "compile",
        "high.guard",
        "--model",
        "m.json",
        "-o",
        "high.guardc",
    ]);
    assert!(
        compile.code == 0 && compile.err.contains(told),
        "{}",
        compile.err
    );
    // All tiers of the example are reached, and what is allowed is not told.
    let fine = folder.guard(&[
        "check",
        "drift.guard",
        "--model",
        "m.json",
        "--deny",
        "warnings",
    ]);
    assert_eq!(fine.code, 0, "{}", fine.out);
    folder.write(
        "allowed.guard",
        spec.replace("enforce on long", "@allow(unreached_tier)\nenforce on long"),
    );
    let allowed = folder.guard(&[
        "check",
        "allowed.guard",
        "--model",
        "m.json",
        "--deny",
        "warnings",
    ]);
    assert_eq!(allowed.code, 0, "{}", allowed.out);
}
