//! What editors are told about specs: from outside, on the examples and the library, and by position in small texts.
use std::path::{Path, PathBuf};

use guard_lang::editor::{Analysis, Candidate, Kind, RenameError};
use guard_lang::modules::{Loader, NoFiles};
use guard_lang::source::FileId;
use walkdir::WalkDir;

/// Imports from a folder.
struct Folder(PathBuf);

impl Loader for Folder {
    fn load(&self, path: &str) -> Result<(String, String), String> {
        let file = self.0.join(path);
        let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        Ok((text, file.display().to_string()))
    }
}

fn specs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["examples", "stdlib"].map(|folder| root.join(folder));
    let mut all: Vec<PathBuf> = folders
        .iter()
        .flat_map(WalkDir::new)
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "guard"))
        .collect();
    all.sort();
    assert!(all.len() > 20, "the examples are there");
    all
}

fn analysis_of(path: &Path) -> Analysis {
    let text = std::fs::read_to_string(path).unwrap();
    let folder = Folder(path.parent().unwrap().to_owned());
    Analysis::new(&path.display().to_string(), &text, &folder)
}

fn analyse(text: &str) -> Analysis {
    Analysis::new("a.guard", text, &NoFiles)
}

/// The text without its mark `¦`, and where the mark stood.
fn marked(text: &str) -> (String, u32) {
    let at = text.find('¦').unwrap();
    (text.replacen('¦', "", 1), u32::try_from(at).unwrap())
}

#[test]
fn a_name_means_a_declaration_of_the_same_name() {
    let mut count = 0;
    for path in specs() {
        let analysis = analysis_of(&path);
        let sources = analysis.sources();
        for file in sources.iter() {
            for (name, target) in analysis.links().of_file(file.id()) {
                count += 1;
                let declared = sources.slice(target);
                let written = sources.slice(name);
                let alias = file.text().contains(&format!("{declared} as {written}"));
                let quoted = written.trim_matches('"') == declared.trim_matches('"');
                assert!(
                    target.is_empty() || quoted || alias,
                    "{}: `{written}` is said to mean `{declared}`",
                    path.display()
                );
            }
        }
    }
    assert!(count > 3_000, "{count} links");
}

#[test]
fn every_name_of_a_sound_spec_is_coloured_once() {
    for path in specs() {
        let analysis = analysis_of(&path);
        let colours = analysis.colours();
        for pair in colours.windows(2) {
            assert!(pair[0].span.end <= pair[1].span.start, "{}", path.display());
        }
        assert!(
            colours.iter().any(|coloured| coloured.declares),
            "{}: nothing is declared",
            path.display()
        );
    }
}

#[test]
fn every_place_of_every_example_can_be_asked_about() {
    for path in specs() {
        let analysis = analysis_of(&path);
        let length = analysis.file().text().len();
        // Every place would be thorough and slow: 97 is prime to the lengths of lines.
        for offset in (0..length).step_by(97) {
            let offset = u32::try_from(offset).unwrap();
            let _ = analysis.hover(offset);
            let _ = analysis.candidates(offset);
            let _ = analysis.rename(offset, "another");
            for name in analysis.references(offset) {
                assert_eq!(name.file, FileId(0));
            }
        }
    }
}

#[test]
fn cut_off_texts_are_answered_too() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mail_assistant/mail_assistant.guard");
    let whole = std::fs::read_to_string(path).unwrap();
    for end in (0..whole.len())
        .filter(|end| whole.is_char_boundary(*end))
        .step_by(23)
    {
        let analysis = analyse(&whole[..end]);
        let at = u32::try_from(end).unwrap();
        let _ = (
            analysis.hover(at),
            analysis.candidates(at),
            analysis.outline(),
            analysis.folds(),
        );
    }
}

const SPEC: &str = r#"enum Kind { call, answer }
/// One step of a run.
event {
  /// What happened.
  kind: Kind
  tool: string
  to: string?
}
const home = "corp.example"
/// A mail leaves the house.
predicate mails_out = kind == call and tool == "mail" and not to ends_with home
predicate to_tool(t: string) = tool == t
template once_only(p: pred()) = always (p -> weak_next never p)
/// Nothing leaves the house.
property quiet = never mails_out
property single = once_only(to_tool("mail"))
property all_tools = forall t in tool: never to_tool(t)
enforce quiet { violated => block "no" }
"#;

fn place(text: &str, needle: &str, nth: usize) -> u32 {
    let (at, _) = text.match_indices(needle).nth(nth).unwrap();
    u32::try_from(at).unwrap()
}

#[test]
fn hovers_tell_what_is_declared_and_what_it_means() {
    let text = SPEC.to_owned();
    let analysis = analyse(&text);
    assert!(
        analysis.diagnostics().is_empty(),
        "{:?}",
        analysis.diagnostics()
    );
    let mut told = String::new();
    for (needle, nth) in [
        ("mails_out", 1),
        ("quiet", 1),
        ("kind", 1),
        ("home", 1),
        ("t\ntemplate", 0),
        ("call", 1),
        ("once_only", 1),
        ("never", 0),
        ("forall", 0),
    ] {
        let hover = analysis.hover(place(&text, needle, nth));
        let hover = hover.map_or("(nothing)".to_owned(), |hover| hover.text);
        told.push_str(&format!("== {needle}\n{}\n", hover.trim_end()));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn names_are_renamed_where_they_are_used_and_declared() {
    let text = SPEC.to_owned();
    let analysis = analyse(&text);
    let renamed = |offset: u32, to: &str| {
        let mut text = text.clone();
        for span in analysis.rename(offset, to).unwrap().into_iter().rev() {
            text.replace_range(span.range(), to);
        }
        text
    };
    let once = renamed(place(&text, "mails_out", 0), "leaks");
    assert_eq!(once, text.replace("mails_out", "leaks"));
    // The `t` of a predicate is not the `t` of a formula.
    let once = renamed(place(&text, "(t: string)", 0) + 1, "name");
    assert!(once.contains("to_tool(name: string) = tool == name"));
    assert!(once.contains("forall t in tool: never to_tool(t)"));
    let once = renamed(place(&text, "tool: string", 0), "called");
    assert!(once.contains("kind == call and called ==") && once.contains("forall t in called:"));
    assert!(analyse(&once).diagnostics().is_empty());
    for wrong in ["", "2", "always", "a b", "any", "X"] {
        assert_eq!(
            analysis.rename(place(&text, "quiet", 0), wrong),
            Err(RenameError::NotAName(wrong.to_owned()))
        );
    }
    assert_eq!(
        analysis.rename(place(&text, "never", 0), "x"),
        Err(RenameError::NoName)
    );
}

#[test]
fn imported_names_lead_to_their_file_and_are_not_renamed() {
    let text = "use std.agent.{phi5}\nuse std.agent\nproperty p = phi5(tool == \"x\")\n";
    let analysis = analyse(text);
    let meant = analysis.definition(place(text, "phi5", 1)).unwrap();
    assert_eq!(
        analysis.sources().get(meant.target.file).name(),
        "std/agent.guard"
    );
    assert!(matches!(
        analysis.rename(place(text, "phi5", 1), "x"),
        Err(RenameError::Elsewhere(..))
    ));
    let module = analysis.definition(place(text, "std.agent", 1)).unwrap();
    assert!(module.target.is_empty());
}

fn names(candidates: &[Candidate]) -> Vec<&str> {
    candidates
        .iter()
        .map(|candidate| candidate.name.as_str())
        .collect()
}

#[test]
fn candidates_fit_the_place() {
    for (text, there, absent) in [
        ("¦", vec!["property", "predicate", "use"], vec!["and"]),
        ("pro¦", vec!["property"], vec!["and"]),
        (
            "event { tool: string }\n@¦",
            vec!["severity", "owner"],
            vec!["tool"],
        ),
        ("use ¦", vec!["std"], vec!["property"]),
        ("use std.¦", vec!["agent", "patterns"], vec!["std"]),
        ("use std.agent.{¦}", vec!["phi5"], vec!["always"]),
        (
            "use std.agent.{phi5}\nuse std.agent\nproperty p = never ¦",
            vec!["phi5", "always", "len", "tool"],
            vec!["severity", "property"],
        ),
        (
            "enum Kind { call, answer }\nevent { kind: Kind }\npredicate a = kind == Kind.¦",
            vec!["answer", "call"],
            vec!["kind"],
        ),
        (
            "record Args { to: string }\nevent { args: Args? }\npredicate a = args.¦",
            vec!["to"],
            vec!["args"],
        ),
        (
            "event { tool: string }\nproperty quiet = never tool == \"x\"\nenforce ¦",
            vec!["quiet"],
            vec!["tool"],
        ),
        (
            "enum Kind { call }\nevent { kind: ¦",
            vec!["Kind", "string", "list"],
            vec!["kind", "always"],
        ),
        (
            "event { tool: string }\npredicate f(named: string) = tool == na¦",
            vec!["named", "tool"],
            vec!["severity"],
        ),
        (
            "event { tool: string } // and ¦",
            vec![],
            vec!["and", "tool"],
        ),
        (
            "event { tool: string }\npredicate a = tool == \"¦",
            vec![],
            vec!["tool"],
        ),
        ("predicate ¦", vec![], vec!["and"]),
    ] {
        let (text, offset) = marked(text);
        let found = analyse(&text).candidates(offset);
        let found = names(&found);
        for name in there {
            assert!(found.contains(&name), "{text}: no `{name}` in {found:?}");
        }
        for name in absent {
            assert!(!found.contains(&name), "{text}: `{name}` in {found:?}");
        }
    }
}

#[test]
fn the_outline_holds_items_and_their_parts() {
    let text = SPEC.to_owned();
    let analysis = analyse(&text);
    let outline = analysis.outline();
    let told: Vec<String> = outline
        .iter()
        .map(|symbol| {
            let parts: Vec<&str> = symbol.parts.iter().map(|part| part.name.as_str()).collect();
            format!("{} {} [{}]", symbol.word, symbol.name, parts.join(", "))
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
    assert_eq!(outline[0].kind, Some(Kind::Enum));
    assert_eq!(
        analysis.folds().len(),
        1,
        "only `event` has more than one line"
    );
}
