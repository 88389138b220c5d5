//! The editor features, through the public interface, on the examples and the library, and by position in small texts.
use std::path::{Path, PathBuf};

use guard_cli::editor::{Analysis, Candidate, FoldKind, Kind, RenameError};

use crate::support::editor::Texts;
use guard_lang::check;
use guard_lang::modules::{Loader, NoFiles};
use guard_lang::source::FileId;
use guard_lang::syntax::token::ITEM_WORDS;
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
            let _ = (
                analysis.candidates(offset, &[]),
                analysis.signature(offset),
                analysis.selections(offset),
            );
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
            analysis.candidates(at, &[]),
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
    let files = Texts::of(&[("a.guard", &text)]);
    let renamed = |offset: u32, to: &str| {
        let changes = analysis.rename(&files, offset, to).unwrap();
        files.changed(&changes).text_of("a.guard").to_owned()
    };
    let once = renamed(place(&text, "mails_out", 0), "leaks");
    assert_eq!(once, text.replace("mails_out", "leaks"));
    // The `t` of a predicate is not the `t` of a formula.
    let once = renamed(place(&text, "(t: string)", 0) + 1, "name");
    assert!(once.contains("to_tool(name: string) = tool == name"));
    assert!(once.contains("forall t in tool: never to_tool(t)"));
    let once = renamed(place(&text, "tool: string", 0), "called");
    assert!(once.contains("kind == call and called ==") && once.contains("forall t in called:"));
    // The data is read by the name of the field: it must be read from the same place afterwards.
    assert!(once.contains("called: string from \"/tool\"\n"), "{once}");
    assert!(analyse(&once).diagnostics().is_empty());
    for wrong in ["", "2", "always", "a b", "any", "X"] {
        assert_eq!(
            analysis.rename(&files, place(&text, "quiet", 0), wrong),
            Err(RenameError::NotAName(wrong.to_owned()))
        );
    }
    assert_eq!(
        analysis.rename(&files, place(&text, "never", 0), "x"),
        Err(RenameError::NoName)
    );
}

#[test]
fn names_of_the_library_lead_to_their_file_and_are_not_renamed() {
    let text = "use std.agent.{phi5}\nuse std.agent\nproperty p = phi5(tool == \"x\")\n";
    let analysis = analyse(text);
    let meant = analysis.definition(place(text, "phi5", 1)).unwrap();
    assert_eq!(
        analysis.sources().get(meant.target.file).name(),
        "std/agent.guard"
    );
    assert!(matches!(
        analysis.rename(
            &Texts::of(&[("a.guard", text)]),
            place(text, "phi5", 1),
            "x"
        ),
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
        ("use lib.¦", vec!["mail"], vec!["agent", "std"]),
        ("@severity(¦", vec!["low", "critical"], vec!["tool", "abs"]),
        ("@allow(¦", vec!["unused", "strong_next"], vec!["low"]),
        ("trace {\n  ¦", vec!["events", "meta"], vec!["and", "state"]),
        (
            "abstraction a {\n  ¦",
            vec!["over", "absorbing"],
            vec!["and"],
        ),
        ("system s {\n  ¦", vec!["state", "init"], vec!["and"]),
        ("requirement R \"x\" {\n  ¦", vec!["formal"], vec!["and"]),
        (
            "enforce p {\n  ¦",
            vec!["violated", "presumably_violated"],
            vec!["block"],
        ),
        (
            "enforce p {\n  violated => ¦",
            vec!["block", "ask"],
            vec!["violated"],
        ),
        ("enforce p {\n  on ¦", vec!["error"], vec!["violated"]),
        ("rule r: ¦", vec!["when"], vec!["tool"]),
        ("property p: ¦", vec!["ltl", "ctl"], vec!["always"]),
        ("model m = ¦", vec!["learn", "import"], vec!["and"]),
        (
            "abstraction a { over x }\nmodel m = learn a { }\nquery q = P=? [ F x ] on ¦",
            vec!["m"],
            vec!["always"],
        ),
        (
            "event { tool: string }\ntest \"t\" {\n  given [{¦",
            vec!["tool"],
            vec!["always", "given"],
        ),
        (
            "event { tool: string }\ntrace { meta who: string }\ntest \"t\" {\n  given {meta: {¦",
            vec!["who"],
            vec!["tool"],
        ),
        ("test \"t\" {\n  ¦", vec!["given", "expect"], vec!["and"]),
        (
            "property quiet = never last\ntest \"t\" {\n  expect quiet ¦",
            vec!["violated", "at"],
            vec![],
        ),
        (
            "event { xs: list<int>? }\npredicate a = xs.¦",
            vec!["last", "drop", "len"],
            vec!["and", "add", "lower"],
        ),
        (
            "event { n: int }\npredicate a = n.¦",
            vec!["abs", "max"],
            vec!["and", "last", "lower"],
        ),
        (
            "event { tool: string }\npredicate a = tool.¦",
            vec!["lower", "split", "capture"],
            vec!["last", "abs"],
        ),
        (
            "event { tool: string }\ntrack seen: set<string> = {} then seen.add(tool)\nproperty p = never seen.¦",
            vec!["add", "remove"],
            vec!["last", "lower"],
        ),
        (
            "record Args { to: string }\nevent { args: Args? }\nlet inner = args\npredicate a = inner.¦",
            vec!["to"],
            vec!["last", "args"],
        ),
    ] {
        let (text, offset) = marked(text);
        let found = analyse(&text).candidates(offset, &["lib.mail".to_owned()]);
        let found = names(&found);
        for name in there {
            assert!(found.contains(&name), "{text}: no `{name}` in {found:?}");
        }
        for name in absent {
            assert!(!found.contains(&name), "{text}: `{name}` in {found:?}");
        }
    }
}

/// Within the sentence of a requirement, the words that controlled English has there, and the predicates it can speak of.
#[test]
fn sentences_of_requirements_are_completed() {
    let spec = |sentence: &str| {
        format!(
            "event {{ tool: string }}\npredicate pays = tool == \"pay\"\npredicate asks(x: string) = tool == x\n\
             requirement R \"{sentence}\" {{\n  formal always pays\n}}\n"
        )
    };
    for (sentence, there, absent) in [
        (
            "¦",
            vec!["whenever", "pays", "before"],
            vec!["asks", "must", "always"],
        ),
        ("Whenever ¦", vec!["pays"], vec!["asks", "whenever", "must"]),
        (
            "Whenever `pa¦` happens",
            vec!["pays"],
            vec!["happens", "must"],
        ),
        ("`pays` m¦", vec!["must", "may"], vec!["happens", "pays"]),
        (
            "`pays` must ¦",
            vec!["never", "not", "hold", "happen"],
            vec!["pays", "before"],
        ),
        (
            "`pays` may happen at most ¦ in a run",
            vec!["once", "twice"],
            vec!["pays"],
        ),
        ("\\\"a phrase\\\" must ¦", vec!["never"], vec!["pays"]),
        ("Be nice to ¦", vec![], vec!["pays", "must", "whenever"]),
    ] {
        let (text, offset) = marked(&spec(sentence));
        let found = analyse(&text).candidates(offset, &[]);
        let found = names(&found);
        for name in there {
            assert!(
                found.contains(&name),
                "{sentence}: no `{name}` in {found:?}"
            );
        }
        for name in absent {
            assert!(!found.contains(&name), "{sentence}: `{name}` in {found:?}");
        }
    }
    let (text, offset) = marked(&spec("Whenever ¦"));
    let found = analyse(&text).candidates(offset, &[]);
    let pays = found
        .iter()
        .find(|candidate| candidate.name == "pays")
        .unwrap();
    assert_eq!(pays.snippet.as_deref(), Some("`pays`"));
    // Other texts are free.
    let (text, offset) = marked("predicate a = tool == \"Whenever ¦\"");
    assert_eq!(analyse(&text).candidates(offset, &[]), []);
}

#[test]
fn what_fits_best_comes_first_and_words_are_explained() {
    let (text, offset) = marked(
        "enum Reach { near, far }\nevent { reach: Reach  tool: string }\npredicate a = reach == ¦",
    );
    let found = analyse(&text).candidates(offset, &[]);
    assert_eq!(names(&found[..2]), ["far", "near"]);
    let always = found.iter().find(|candidate| candidate.name == "always");
    assert!(always.unwrap().docs.contains("at every later one"));
    let slice = found.iter().find(|candidate| candidate.name == "slice");
    assert!(slice.unwrap().docs.contains("slice(x, from, to)"));
    for name in check::functions() {
        let function = found
            .iter()
            .find(|candidate| candidate.name == name)
            .unwrap();
        assert!(
            !function.docs.is_empty(),
            "`{name}` has no row in docs/language.md"
        );
    }
    let items = analyse("").candidates(0, &[]);
    for word in ITEM_WORDS {
        let item = items
            .iter()
            .find(|candidate| candidate.name == *word)
            .unwrap();
        assert!(item.snippet.is_some() && !item.docs.is_empty(), "{word}");
        // What is inserted, with its defaults, is read as the item that it is for.
        let text = filled(item.snippet.as_ref().unwrap());
        let outline = analyse(&text).outline();
        let is_item = *word == "use" || outline.iter().any(|symbol| symbol.word == *word);
        assert!(is_item, "{text}: {outline:?}");
    }
}

/// A snippet with its defaults.
fn filled(snippet: &str) -> String {
    let mut text = String::new();
    let mut rest = snippet;
    while let Some((before, place)) = rest.split_once('$') {
        text.push_str(before);
        rest = match place.strip_prefix('{') {
            Some(inner) => {
                let (inner, after) = inner.split_once('}').unwrap();
                let default = inner.trim_start_matches(|c: char| c.is_ascii_digit());
                let default = default.trim_matches([':', '|']);
                text.push_str(default.split(',').next().unwrap());
                after
            }
            None => {
                text.push('x');
                place.trim_start_matches(|c: char| c.is_ascii_digit())
            }
        };
    }
    text + rest + "\n"
}

/// `last` is a word and a function: each has its own text.
#[test]
fn words_and_functions_of_one_name_are_told_apart() {
    let text = "event { xs: list<int> }\nproperty p = always (xs.last(2) == [1] or last)\n";
    let analysis = analyse(text);
    let hover = |nth| analysis.hover(place(text, "last", nth)).unwrap().text;
    assert!(
        hover(0).contains("list.last(n)") && hover(0).contains("the last `n` elements"),
        "{}",
        hover(0)
    );
    assert!(
        hover(1).contains("this is the last step") && !hover(1).contains("list"),
        "{}",
        hover(1)
    );
    // In a test, what is expected is a verdict first of all.
    let (text, offset) =
        marked("event { a: int }\nproperty p = always a > 1\ntest \"t\" {\n  expect p ¦");
    let found = analyse(&text).candidates(offset, &[]);
    assert!(names(&found[..6]).contains(&"violated"), "{found:?}");
    // A function that takes more than the value before the dot has a place for it.
    let (text, offset) = marked("event { tool: string }\npredicate a = tool.¦");
    let found = analyse(&text).candidates(offset, &[]);
    let snippet = |name: &str| {
        let candidate = found.iter().find(|candidate| candidate.name == name);
        candidate.unwrap().snippet.clone().unwrap()
    };
    assert_eq!(
        (snippet("lower"), snippet("split")),
        ("lower()".to_owned(), "split($0)".to_owned())
    );
}

#[test]
fn calls_show_their_parameters() {
    for (text, label, active) in [
        (
            "event { a: list<int> }\npredicate p = a.slice(1, ¦",
            "slice(x, from, to)",
            2,
        ),
        (
            "event { a: list<int> }\npredicate p = a.last(¦",
            "list.last(n)",
            0,
        ),
        (
            "template t(p: pred(), n: int = 3) = always p\nproperty q = t(¦",
            "t(p: pred(), n: int = 3)",
            0,
        ),
        (
            "template t(p: pred(), n: int = 3) = always p\nproperty q = t(len(\"x\") > 1, ¦",
            "t(p: pred(), n: int = 3)",
            1,
        ),
        (
            "event { a: string }\npredicate p = slice(a, [1, 2], ¦",
            "slice(x, from, to)",
            2,
        ),
    ] {
        let (text, offset) = marked(text);
        let signature = analyse(&text).signature(offset).unwrap();
        assert_eq!(
            (signature.label.as_str(), signature.active),
            (label, active)
        );
        assert!(
            signature
                .params
                .iter()
                .all(|range| !label[range.clone()].contains(", ")
                    && !label[range.clone()].is_empty())
        );
    }
    let (text, offset) = marked("property q = always (¦");
    assert_eq!(analyse(&text).signature(offset), None);
}

#[test]
fn hints_and_selections() {
    let text = "event { a: int }\nlet twice = a * 2\nproperty p = always twice > 1\nproperty q = eventually a > 1\n";
    let analysis = analyse(text);
    let hints: Vec<String> = analysis
        .hints(0..u32::MAX)
        .into_iter()
        .map(|hint| hint.label)
        .collect();
    assert_eq!(hints, [": int", "blocked, 2 states", "audited, 2 states"]);
    let sources = analysis.sources();
    let ranges = analysis.selections(place(text, "twice > 1", 0));
    let texts: Vec<&str> = ranges
        .into_iter()
        .map(|span| sources.slice(span).trim_end())
        .collect();
    assert_eq!(
        texts,
        [
            "twice",
            "twice > 1",
            "always twice > 1",
            "property p = always twice > 1",
            text.trim_end()
        ]
    );
}

#[test]
fn no_symbol_is_without_a_name() {
    // Each beginning of a text is what an editor asks about while somebody types.
    let text = "@id(\"P-1\")\nproperty p = never x\ntest \"\" {}\ntest \"t\" {\n}\nfoo bar\nenum E { a, b }\n";
    for end in 0..=text.len() {
        for symbol in analyse(&text[..end]).outline() {
            assert!(!symbol.name.is_empty(), "{:?}", &text[..end]);
            assert!(symbol.parts.iter().all(|part| !part.name.is_empty()));
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

#[test]
fn items_brackets_comments_and_imports_fold() {
    let text = "use std.agent\nuse std.drift\n\n// One.\n// Two.\n\n// Alone.\nevent {\n  tool: string // At the end.\n  // Of a\n  // field.\n  \
                at: time?\n}\ntest \"t\" {\n  given [\n    {tool: \"x\"},\n  ]\n  expect p violated\n}\nproperty p = always (\n  tool == \"x\"\nproperty q = never (\n  last)\n";
    let analysis = analyse(text);
    let line = |offset: u32| analysis.file().location(offset).line;
    let folds: Vec<(u32, u32, FoldKind)> = analysis
        .folds()
        .into_iter()
        .map(|fold| (line(fold.span.start), line(fold.span.end), fold.kind))
        .collect();
    let block = |from, to| (from, to, FoldKind::Block);
    assert_eq!(
        folds,
        [
            (1, 2, FoldKind::Imports),
            (4, 5, FoldKind::Comment),
            block(8, 13),
            (10, 11, FoldKind::Comment),
            block(14, 19),
            block(15, 17),
            block(20, 21),
            block(22, 23),
        ]
    );
}
