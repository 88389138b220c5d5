//! Imports: files beside the spec, the library, cycles, and unreadable files.
use std::collections::HashMap;

use guard_lang::check::Limits;
use guard_lang::front;
use guard_lang::modules::Loader;

struct Files(HashMap<&'static str, &'static str>);

impl Loader for Files {
    fn load(&self, path: &str) -> Result<(String, String), String> {
        match self.0.get(path) {
            Some(text) => Ok(((*text).to_owned(), path.to_owned())),
            None => Err("no such file".to_owned()),
        }
    }
}

fn check(spec: &str, files: &[(&'static str, &'static str)]) -> Vec<String> {
    let files = Files(files.iter().copied().collect());
    let checked = front("main.guard", spec, &files, Limits::default());
    checked
        .diagnostics
        .iter()
        .map(|diagnostic| format!("{} {}", diagnostic.code, diagnostic.message))
        .collect()
}

const EVENT: &str = "event { tool: string }\n";

#[test]
fn definitions_come_from_files_below_the_spec() {
    let spec = format!("use lib.mail.{{sends as mails}}\n{EVENT}property p = never mails\n");
    let found = check(
        &spec,
        &[("lib/mail.guard", "predicate sends = tool == \"mail\"\n")],
    );
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_module_is_named_by_its_path_or_alias() {
    let spec = format!(
        "use lib.mail as m\n{EVENT}property p = never m.sends\nproperty q = never m.to(\"x\")\n"
    );
    let library =
        "predicate sends = tool == \"mail\"\npredicate to(t: string) = sends and tool == t\n";
    assert_eq!(
        check(&spec, &[("lib/mail.guard", library)]),
        Vec::<String>::new()
    );
}

#[test]
fn the_event_may_come_from_an_import() {
    let spec = "use base\nproperty p = never (tool == \"rm\")\n";
    assert_eq!(check(spec, &[("base.guard", EVENT)]), Vec::<String>::new());
}

#[test]
fn a_missing_file_is_named() {
    let found = check(
        &format!("use lib.mail\n{EVENT}property p = never (tool == \"rm\")\n"),
        &[],
    );
    assert_eq!(found, ["G0204 cannot read module `lib.mail`"]);
}

#[test]
fn a_circle_is_reported_once() {
    let files = [
        ("a.guard", "use b\nenum First { x }\n"),
        ("b.guard", "use a\nenum Second { y }\n"),
    ];
    let found = check(
        &format!("use a\n{EVENT}property p = never (tool == \"rm\")\n"),
        &files,
    );
    assert_eq!(
        found,
        [
            "G0902 module `a` is imported but never used",
            "G0205 circular import of `a`"
        ]
    );
}

#[test]
fn two_ways_to_one_module_are_one_module() {
    let files = [
        (
            "a.guard",
            "use shared.{Level}\nlet high(l: Level): bool = l == top\n",
        ),
        (
            "b.guard",
            "use shared.{Level}\nlet level(t: string): Level = if t == \"rm\" then top else low\n",
        ),
        ("shared.guard", "enum Level { low, top }\n"),
    ];
    let spec =
        format!("use a.{{high}}\nuse b.{{level}}\n{EVENT}property p = never high(level(tool))\n");
    assert_eq!(check(&spec, &files), Vec::<String>::new());
}

#[test]
fn mistakes_in_imports_are_reported_in_their_file() {
    let spec = format!("use lib.{{sends}}\n{EVENT}property p = never sends\n");
    let found = check(
        &spec,
        &[("lib.guard", "predicate sends = tol == \"mail\"\n")],
    );
    assert_eq!(found, ["G0201 unknown name `tol`"]);
}

#[test]
fn the_whole_library_is_sound() {
    for module in guard_lang::stdlib::modules() {
        let (name, text) =
            guard_lang::stdlib::module(&module.split('/').collect::<Vec<_>>()).unwrap();
        let checked = front(name, text, &Files(HashMap::new()), Limits::default());
        assert!(
            checked.diagnostics.is_empty(),
            "{name}: {:?}",
            checked.diagnostics
        );
    }
}
