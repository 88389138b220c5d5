//! Renaming: over the protocol, in projects with past faults, and at random, where the meaning must stay the same.
use std::collections::BTreeMap;
use std::path::Path;

use guard_cli::editor::{Analysis, RenameError};
use guard_lang::check;
use guard_lang::front;
use guard_lang::report::automaton;
use guard_lang::source::FileId;
use serde_json::{Value, json};

use crate::support::editor::{Editor, Texts, address, edited};
use crate::support::judge;

/// A project on the disk, opened in an editor.
struct Opened {
    editor: Editor,
    folder: tempfile::TempDir,
    files: BTreeMap<String, String>,
}

impl Opened {
    fn new(files: &[(&str, &str)]) -> Opened {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (name, text) in files {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            std::fs::write(root.join(name), text).unwrap();
        }
        let (first, text) = files[0];
        let mut editor = Editor::open(&root);
        editor.opened(&address(&root.join(first)), text);
        let files = files
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Opened {
            editor,
            folder,
            files: files.collect(),
        }
    }

    fn address(&self, file: &str) -> String {
        address(&self.folder.path().canonicalize().unwrap().join(file))
    }

    /// Renames the name at the nth occurrence of a text; the texts of the files that change.
    fn rename(
        &mut self,
        file: &str,
        (needle, nth): (&str, usize),
        to: &str,
    ) -> Result<BTreeMap<String, String>, String> {
        let text = self.files[file].clone();
        let (at, _) = text.match_indices(needle).nth(nth).unwrap();
        let line = text[..at].matches('\n').count() as u32;
        let column = (at - text[..at].rfind('\n').map_or(0, |at| at + 1)) as u32;
        let uri = self.address(file);
        if !self
            .editor
            .told
            .iter()
            .any(|told| told["params"]["uri"] == uri.as_str())
        {
            self.editor.opened(&uri, &text);
        }
        let changes = self.editor.rename(&uri, (line, column), to)?;
        let changed = self.files.iter().filter_map(|(file, text)| {
            let edits: &Vec<Value> = changes.get(&self.address(file))?;
            Some((file.clone(), edited(text, edits)))
        });
        let changed: BTreeMap<String, String> = changed.collect();
        assert_eq!(
            changed.len(),
            changes.len(),
            "only files of the project change"
        );
        Ok(changed)
    }
}

#[test]
fn a_renamed_field_is_read_from_where_it_was() {
    let spec = "event { tool: string? }\nproperty no_pay = never tool == \"pay\"\n\
                test \"t\" {\n  given [{tool: \"pay\"}]\n  expect no_pay violated\n}\n";
    let mut project = Opened::new(&[("s.guard", spec)]);
    let changed = project.rename("s.guard", ("tool", 1), "call").unwrap();
    let now = &changed["s.guard"];
    assert_eq!(
        now,
        "event { call: string? from \"/tool\" }\nproperty no_pay = never call == \"pay\"\n\
         test \"t\" {\n  given [{call: \"pay\"}]\n  expect no_pay violated\n}\n"
    );
    let trace = br#"{"id":"t","events":[{"tool":"pay"}]}"#;
    for text in [spec, now] {
        let spec = front("s.guard", text, &Texts::default(), check::Limits::default())
            .spec
            .unwrap();
        let judged = judge(&spec, "t.jsonl", trace);
        assert_eq!(
            judged.reports[0].verdicts[0].verdict,
            guard_lang::Verdict::Violated
        );
    }
}

#[test]
fn a_module_and_its_importers_are_renamed_together() {
    let files = [
        (
            "a.guard",
            "use lib.mail.{mails as m, quiet}\nuse lib.base\nproperty p = never m\nproperty q = quiet(m)\n",
        ),
        (
            "b.guard",
            "use lib.mail\nuse lib.base\nproperty p = never mail.mails\n",
        ),
        (
            "lib/mail.guard",
            "use lib.base\npredicate mails = tool == \"mail\"\ntemplate quiet(p: pred()) = never (p and mails)\n",
        ),
        ("lib/base.guard", "event { tool: string }\n"),
        (
            "c.guard",
            "event { tool: string }\npredicate mails = tool == \"x\"\nproperty p = never mails\n",
        ),
    ];
    let mut project = Opened::new(&files);
    // From an importer, though the name is declared elsewhere and known here by another one only.
    let changed = project.rename("a.guard", ("mails", 0), "sends").unwrap();
    assert_eq!(changed["a.guard"], files[0].1.replace("mails", "sends"));
    assert_eq!(changed["b.guard"], files[1].1.replace("mails", "sends"));
    assert_eq!(
        changed["lib/mail.guard"],
        files[2].1.replace("mails", "sends")
    );
    assert_eq!(changed.len(), 3);
    let changed = project
        .rename("lib/mail.guard", ("mails", 0), "sends")
        .unwrap();
    assert_eq!(changed.len(), 3);
    // The other name is a matter of one file.
    let changed = project.rename("a.guard", ("m\n", 0), "sending").unwrap();
    assert_eq!(changed.len(), 1);
    assert_eq!(
        changed["a.guard"],
        files[0]
            .1
            .replace("as m,", "as sending,")
            .replace("never m\n", "never sending\n")
            .replace("(m)", "(sending)")
    );
    // A field of the event, used in modules that do not declare it.
    let changed = project
        .rename("lib/mail.guard", ("tool", 0), "called")
        .unwrap();
    assert_eq!(
        changed["lib/base.guard"],
        "event { called: string from \"/tool\" }\n"
    );
    assert_eq!(
        changed["lib/mail.guard"],
        files[2].1.replace("tool", "called")
    );
    // References are those of the project too.
    let place = project.address("lib/mail.guard");
    let mut params = crate::support::editor::at(&place, 1, 11);
    params["context"] = json!({"includeDeclaration": false});
    let places = project.editor.ask("textDocument/references", params);
    assert_eq!(places.as_array().unwrap().len(), 6, "{places}");
    project.editor.close();
}

#[test]
fn captures_and_clashes_are_refused_by_name() {
    let files = [
        (
            "s.guard",
            "enum Kind { call, answer }\nrecord Mail { to: string }\nevent { kind: Kind  args: Mail?  n: int }\n\
             predicate g = kind == call\nlet f(x: bool): bool = g or x\n\
             predicate calls = f(n > 1)\npredicate answers = kind == answer\n\
             property p = forall c: never (calls and n == c and answers) message \"{c}\"\n\
             property q = never (args.to == \"x\" and g)\nproperty old = never g\n",
        ),
        (
            "other.guard",
            "use s.{g}\nuse s\npredicate h = g\nproperty p = never h\n",
        ),
    ];
    let mut project = Opened::new(&files);
    let mut refused = |name, to: &str| project.rename("s.guard", name, to).unwrap_err();
    let capture = refused(("g =", 0), "x");
    assert!(
        capture.contains("`x`") && capture.contains("s.guard:5"),
        "{capture}"
    );
    let clash = refused(("calls", 0), "answers");
    assert!(
        clash.contains("`answers`") && clash.contains("declared twice"),
        "{clash}"
    );
    let elsewhere = refused(("g =", 0), "h");
    assert!(elsewhere.contains("other.guard"), "{elsewhere}");
    // Names that are in the data: the value of an enum and the member of a record.
    let value = refused(("answer", 0), "reply");
    assert!(
        value.contains("`answer` is a name in the data") && value.contains("`kind`"),
        "{value}"
    );
    let member = refused(("to: string", 0), "receiver");
    assert!(
        member.contains("`to` is a name in the data") && member.contains("`args`"),
        "{member}"
    );
    let variable = project.rename("s.guard", ("c: never", 0), "d").unwrap();
    assert!(
        variable["s.guard"]
            .contains("forall d: never (calls and n == d and answers) message \"{d}\"")
    );
    let ty = project.rename("s.guard", ("Kind", 1), "What").unwrap();
    assert_eq!(ty["s.guard"], files[0].1.replace("Kind", "What"));
    project.editor.close();
}

#[test]
fn members_and_values_that_no_data_names_are_renamed_with_their_keys() {
    let spec = "enum Reach { near, far }\nrecord Pair { low: int, high: int }\nevent { n: int }\n\
                let reach: Reach = if n > 1 then far else near\nlet pair: Pair = {low: n, high: n + 1}\n\
                property p = never (reach == Reach.far and pair.low > 3)\n";
    let mut project = Opened::new(&[("s.guard", spec)]);
    let changed = project.rename("s.guard", ("low", 0), "least").unwrap();
    assert_eq!(changed["s.guard"], spec.replace("low", "least"));
    let changed = project.rename("s.guard", ("far", 2), "distant").unwrap();
    assert_eq!(changed["s.guard"], spec.replace("far", "distant"));
    project.editor.close();
}

#[test]
fn nothing_is_renamed_while_a_file_of_the_project_has_errors() {
    let mut project = Opened::new(&[
        (
            "lib.guard",
            "event { tool: string }\npredicate a = tool == \"x\"\nproperty q = never a\n",
        ),
        ("s.guard", "use lib.{a}\nproperty p = never (a and\n"),
    ]);
    let refused = project.rename("lib.guard", ("a =", 0), "b").unwrap_err();
    assert!(
        refused.contains("fix this error first") && refused.contains("s.guard:"),
        "{refused}"
    );
    project.editor.close();
}

// ---------------------------------------------------------------- at random

/// Numbers that are the same in every run (Steele and others, "Fast splittable pseudorandom number generators", 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }
}

/// Names, few enough that a new one is often in use.
const NAMES: &[&str] = &["a", "b", "c", "d", "e", "f", "g", "h", "k", "steps"];

/// A random project: a spec with a module, in which all names are of `NAMES`.
fn project(random: &mut Random) -> Texts {
    let name = |random: &mut Random| NAMES[random.below(NAMES.len())];
    let fields: Vec<&str> = {
        let mut all = NAMES.to_vec();
        (0..3)
            .map(|_| all.remove(random.below(all.len())))
            .collect()
    };
    let event = format!(
        "event {{ {}: bool  {}: int  {}: string }}\n",
        fields[0], fields[1], fields[2]
    );
    let atom = |random: &mut Random, own: &[String]| -> String {
        match random.below(4) {
            0 => fields[0].to_owned(),
            1 => format!("{} > {}", fields[1], random.below(3)),
            2 => format!("{} == \"{}\"", fields[2], name(random)),
            _ if !own.is_empty() => own[random.below(own.len())].clone(),
            _ => format!("(any {0} in [1, 2]: {0} == {1})", name(random), fields[1]),
        }
    };
    let mut declared: Vec<String> = Vec::new();
    let mut calls: Vec<String> = Vec::new();
    let mut module = String::new();
    let exported = loop {
        let name = name(random);
        if !fields.contains(&name) {
            break name.to_owned();
        }
    };
    module.push_str(&format!("predicate {exported} = {}\n", atom(random, &[])));
    let mut spec = match random.below(3) {
        0 => format!("use m.{{{exported}}}\n"),
        1 => format!("use m.{{{exported} as {}}}\n", name(random)),
        _ => "use m\n".to_owned(),
    } + &event;
    if spec.starts_with("use m\n") {
        calls.push(format!("m.{exported}"));
    }
    for _ in 0..random.below(4) + 1 {
        let new = name(random).to_owned();
        let known: Vec<String> = declared.iter().chain(&calls).cloned().collect();
        if random.below(2) == 0 {
            spec.push_str(&format!(
                "predicate {new} = {} and not {}\n",
                atom(random, &known),
                atom(random, &known)
            ));
            declared.push(new);
        } else {
            let param = name(random);
            spec.push_str(&format!(
                "predicate {new}({param}: bool) = {param} or {}\n",
                atom(random, &known)
            ));
            calls.push(format!("{new}({})", atom(random, &known)));
        }
    }
    let known: Vec<String> = declared.into_iter().chain(calls).collect();
    for _ in 0..random.below(2) + 1 {
        let (first, second) = (atom(random, &known), atom(random, &known));
        let formula = match random.below(4) {
            0 => format!("always ({first} -> eventually {second})"),
            1 => format!("never ({first} and previously {second})"),
            2 => format!(
                "forall {0}: always ({0} == {1} -> once {first})",
                name(random),
                fields[1]
            ),
            _ => format!("{first} until {second}"),
        };
        spec.push_str(&format!("property {} = {formula}\n", name(random)));
    }
    let subject = spec
        .rsplit_once("property ")
        .unwrap()
        .1
        .split(' ')
        .next()
        .unwrap()
        .to_owned();
    spec.push_str(&format!(
        "test \"t\" {{\n  given [{{{}: true, {}: 1, {}: \"a\"}}]\n  expect {subject} unknown\n}}\n",
        fields[0], fields[1], fields[2]
    ));
    Texts::of(&[("m.guard", &module), ("s.guard", &spec)])
}

fn checked(project: &Texts) -> Option<guard_lang::hir::Spec> {
    front(
        "s.guard",
        project.text_of("s.guard"),
        project,
        check::Limits::default(),
    )
    .spec
}

/// What a spec says of data, without the names that it uses: the automata of its properties over numbered conditions, and its
/// verdicts about traces whose members have the names of `NAMES`.
fn meaning(spec: &guard_lang::hir::Spec, traces: &[u8]) -> Vec<String> {
    let mut all: Vec<String> = spec
        .properties
        .iter()
        .map(|property| {
            let dfa = automaton::build(spec, property.formula).unwrap();
            let mut json = automaton::to_json(spec, &dfa);
            let atoms = json["atoms"].as_array().unwrap().clone();
            let number = |text: &str| {
                let bare = text.trim_start_matches(['!', '(']).trim_end_matches(')');
                let at = atoms
                    .iter()
                    .position(|atom| atom.as_str().unwrap().trim_matches(['(', ')']) == bare);
                format!("{}{at:?}", if text.starts_with('!') { "!" } else { "" })
            };
            for state in json["states"].as_array_mut().unwrap() {
                for edge in state["edges"].as_array_mut().unwrap() {
                    for literal in edge["when"].as_array_mut().unwrap() {
                        *literal = json!(number(literal.as_str().unwrap()));
                    }
                }
            }
            json["atoms"] = json!(atoms.len());
            json.to_string()
        })
        .collect();
    for report in &judge(spec, "t.jsonl", traces).reports {
        for verdict in &report.verdicts {
            all.push(format!("{:?} {:?}", verdict.verdict, verdict.at));
        }
    }
    all
}

fn traces(random: &mut Random) -> Vec<u8> {
    let mut text = String::new();
    for trace in 0..6 {
        let events: Vec<Value> = (0..random.below(5) + 1)
            .map(|_| {
                let members = NAMES.iter().map(|name| {
                    // Each name is a member of each type in some events, so that a field read elsewhere shows.
                    let value = match random.below(3) {
                        0 => json!(random.below(2) == 0),
                        1 => json!(random.below(3)),
                        _ => json!(NAMES[random.below(NAMES.len())]),
                    };
                    ((*name).to_owned(), value)
                });
                Value::Object(members.collect())
            })
            .collect();
        text.push_str(&format!("{}\n", json!({"id": trace, "events": events})));
    }
    text.into_bytes()
}

#[test]
fn a_renaming_that_is_carried_out_changes_no_meaning() {
    let mut random = Random(0x5eed_1e55);
    let (mut made, mut refused, mut specs) = (0, BTreeMap::<String, usize>::new(), 0);
    while specs < 150 {
        let texts = project(&mut random);
        let Some(spec) = checked(&texts) else {
            continue;
        };
        specs += 1;
        let traces = traces(&mut random);
        let before = meaning(&spec, &traces);
        for file in ["s.guard", "m.guard"] {
            let analysis = Analysis::new(file, texts.text_of(file), &texts);
            let mut places: Vec<u32> = analysis
                .links()
                .of_file(FileId(0))
                .map(|(name, _)| name.start)
                .collect();
            places.extend(analysis.colours().iter().map(|name| name.span.start));
            for offset in places {
                let fresh = random.below(3) == 0;
                let to = if fresh {
                    "fresh"
                } else {
                    NAMES[random.below(NAMES.len())]
                };
                match analysis.rename(&texts, offset, to) {
                    Ok(changes) => {
                        made += 1;
                        let after = texts.changed(&changes);
                        let spec =
                            checked(&after).unwrap_or_else(|| panic!("{texts:?}\n{after:?}"));
                        assert_eq!(meaning(&spec, &traces), before, "{texts:#?}\n{after:#?}");
                        if changes.is_empty() {
                            continue;
                        }
                        // The way back is as open as the way there, but for the places in the data.
                        assert_ne!(after, texts);
                    }
                    Err(error) => {
                        let known = matches!(error, RenameError::NoName);
                        assert!(!fresh || known, "{error}: {texts:#?} at {offset}");
                        let kind = format!("{error:?}");
                        *refused
                            .entry(kind.split('(').next().unwrap().to_owned())
                            .or_default() += 1;
                    }
                }
            }
        }
    }
    assert!(made > 500, "{made} renamed, refused: {refused:?}");
    assert!(
        refused["Clash"] > 50 && refused["Capture"] > 20,
        "{refused:?}"
    );
}

/// Every name that is declared in an example can be given a name that is in use nowhere, unless the data names it.
#[test]
fn names_of_the_examples_can_be_renamed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let (mut made, mut data, mut refused) = (0, 0, Vec::new());
    let specs = walkdir::WalkDir::new(&root)
        .sort_by_file_name()
        .into_iter()
        .filter_map(Result::ok);
    for entry in specs.filter(|entry| {
        entry
            .path()
            .extension()
            .is_some_and(|ending| ending == "guard")
    }) {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let texts = Texts::of(&[("s.guard", &text)]);
        let analysis = Analysis::new("s.guard", &text, &texts);
        if analysis.diagnostics().iter().any(|found| found.is_error()) || text.len() > 4_000 {
            continue;
        }
        let declared: Vec<u32> = analysis
            .colours()
            .iter()
            .filter(|name| name.declares)
            .map(|name| name.span.start)
            .collect();
        // Each costs several checks of the spec: every fifth is enough.
        for offset in declared.into_iter().step_by(5) {
            match analysis.rename(&texts, offset, "zzz_fresh") {
                Ok(changes) => {
                    made += 1;
                    let after = texts.changed(&changes);
                    assert!(
                        checked(&after).is_some(),
                        "{}: {changes:?}",
                        entry.path().display()
                    );
                }
                Err(RenameError::Data(..)) => data += 1,
                Err(error) => {
                    refused.push(format!("{}: {error} at {offset}", entry.path().display()))
                }
            }
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
    assert!(made > 60, "{made} renamed, {data} in the data");
}
