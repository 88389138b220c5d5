//! `guard fmt` on real files.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use crate::support::cli::{Folder, SPEC};

const UGLY: &str = "event {\n    tool:string\n}\n\n\n\nproperty p=never (tool==\"x\") // why\n";

#[test]
fn a_file_is_laid_out_in_place_and_only_where_it_changes() {
    let folder = Folder::new(&[("ugly.guard", UGLY)]);
    let run = folder.guard(&["fmt", "ugly.guard"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", ""));
    let text = folder.read("ugly.guard");
    assert!(text.contains("tool: string"), "{text}");
    assert!(
        text.contains("never (tool == \"x\")") && text.contains("// why"),
        "{text}"
    );
    let before = std::fs::metadata(folder.path().join("ugly.guard"))
        .unwrap()
        .modified()
        .unwrap();
    assert_eq!(folder.guard(&["fmt", "ugly.guard"]).code, 0);
    let after = std::fs::metadata(folder.path().join("ugly.guard"))
        .unwrap()
        .modified()
        .unwrap();
    assert_eq!(before, after);
    let names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["ugly.guard"], "nothing else is left behind");
}

#[test]
fn check_lists_and_changes_nothing() {
    let folder = Folder::new(&[
        ("ugly.guard", UGLY),
        ("good.guard", "event { tool: string }\n"),
    ]);
    let run = folder.guard(&["fmt", "--check", "good.guard", "ugly.guard"]);
    assert_eq!((run.code, run.out.as_str()), (1, "ugly.guard\n"));
    assert_eq!(folder.read("ugly.guard"), UGLY);
    assert_eq!(folder.guard(&["fmt", "--check", "good.guard"]).code, 0);
}

#[test]
fn the_standard_input_goes_to_the_output() {
    let folder = Folder::new(&[]);
    let run = folder.guard_with(&["fmt", "-"], UGLY);
    assert_eq!(run.code, 0);
    assert!(run.out.contains("tool: string"), "{}", run.out);
}

#[test]
fn a_broken_file_is_told_and_left_as_it_is() {
    let folder = Folder::new(&[("broken.guard", "property p = G (\n"), ("ugly.guard", UGLY)]);
    let run = folder.guard(&["fmt", "missing.guard", "broken.guard", "ugly.guard"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("broken.guard:1"), "{}", run.err);
    assert!(run.err.contains("`missing.guard`"), "{}", run.err);
    assert_eq!(folder.read("broken.guard"), "property p = G (\n");
    assert_ne!(
        folder.read("ugly.guard"),
        UGLY,
        "the other one is formatted"
    );
    folder.write("spec.guard", SPEC);
    folder.guard(&["compile", "spec.guard", "-o", "spec.guardc"]);
    assert_eq!(folder.guard(&["fmt", "spec.guardc"]).code, 2);
}

#[test]
fn a_file_that_is_replaced_keeps_its_permissions() {
    let folder = Folder::new(&[("ugly.guard", UGLY), ("report.txt", "")]);
    let named = |name: &str| folder.path().join(name);
    for (name, mode) in [("ugly.guard", 0o700), ("report.txt", 0o606)] {
        std::fs::set_permissions(named(name), Permissions::from_mode(mode)).unwrap();
    }
    folder.guard(&["fmt", "ugly.guard"]);
    folder.guard(&["diff", "ugly.guard", "ugly.guard", "-o", "report.txt"]);
    let mode = |name: &str| std::fs::metadata(named(name)).unwrap().mode() & 0o777;
    assert_ne!(folder.read("report.txt"), "");
    assert_eq!((mode("ugly.guard"), mode("report.txt")), (0o700, 0o606));
}
