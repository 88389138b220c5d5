//! The files for editors know the lexer's words and are valid.
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use guard_lang::diagnostic::Code;
use guard_lang::modules::NoFiles;
use guard_lang::source::SourceFile;
use guard_lang::syntax::ast::PrimitiveType;
use guard_lang::syntax::token::{
    CONTEXTUAL_WORDS, ITEM_WORDS, LOOK_AHEAD_WORDS, RESERVED_WORDS, temporal_words,
};
use guard_lang::{check, front, syntax};
use serde_json::Value;

/// Lists of words by name.
type Lists = BTreeMap<String, BTreeSet<String>>;

/// The parts that reserved words are coloured by.
const RESERVED_PARTS: &[&str] = &[
    "temporal_words",
    "temporal_letters",
    "operators",
    "reserved",
    "generic_types",
    "constants",
];

fn read(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("editors")
        .join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json(path: &str) -> Value {
    serde_json::from_str(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn words<'w>(words: impl IntoIterator<Item = &'w str>) -> BTreeSet<String> {
    words.into_iter().map(str::to_owned).collect()
}

/// The lists of the TextMate grammar: the first group of each rule, by the names that the Vim files give them.
fn textmate() -> Lists {
    let grammar = json("vscode/syntaxes/guard.tmLanguage.json");
    let between = |rule: &str, before: &str, after: &str| {
        let pattern = grammar["repository"][rule]["match"].as_str().unwrap();
        let (_, rest) = pattern.rsplit_once(before).unwrap();
        words(rest.split(after).next().unwrap().split('|'))
    };
    let list = |rule: &str| {
        let pattern = grammar["repository"][rule]["match"].as_str().unwrap();
        let group = pattern
            .split_once("(?:")
            .and_then(|(_, rest)| rest.split_once(')'));
        words(group.unwrap().0.split('|'))
    };
    [
        ("items", "item-words"),
        ("temporal_words", "temporal-words"),
        ("temporal_letters", "temporal-letters"),
        ("operators", "word-operators"),
        ("reserved", "reserved-words"),
        ("generic_types", "generic-types"),
        ("constants", "constants"),
        ("look_ahead", "list-quantifiers"),
        ("contextual", "contextual-words"),
        ("functions", "functions"),
    ]
    .into_iter()
    .map(|(name, rule)| (name.to_owned(), list(rule)))
    .chain([
        ("types".to_owned(), between("types", ")(?:", ")")),
        (
            "infix".to_owned(),
            between("contextual-words", "(?!(?:", ")"),
        ),
    ])
    .collect()
}

/// The lists of the Vim files: `let s:name = '…'`, with continuation lines.
fn vim() -> Lists {
    let text = read("vim/syntax/guard.vim") + &read("vim/autoload/guard.vim");
    let text = text.replace("\n  \\", "");
    text.lines()
        .filter_map(|line| {
            let named = line
                .strip_prefix("let s:")
                .or(line.strip_prefix("let guard#"));
            named?.split_once(" = '")
        })
        .map(|(name, list)| {
            let list = list.trim_end_matches('\'');
            (name.to_owned(), words(list.split_whitespace()))
        })
        .collect()
}

#[test]
fn words_are_those_of_the_lexer() {
    for (editor, lists) in [("vscode", textmate()), ("vim", vim())] {
        let items = words(ITEM_WORDS.iter().copied());
        assert_eq!(lists["items"], items, "{editor}: items");

        let mut temporal = words(temporal_words().map(|(word, _)| word));
        temporal.insert("never".to_owned());
        assert_eq!(
            lists["temporal_words"], temporal,
            "{editor}: temporal words"
        );
        let letters = words(temporal_words().map(|(_, letter)| letter));
        assert!(
            lists["temporal_letters"].is_superset(&letters),
            "{editor}: temporal letters"
        );

        let mut reserved = BTreeSet::new();
        for part in RESERVED_PARTS {
            for word in &lists[*part] {
                assert!(reserved.insert(word.clone()), "{editor}: `{word}` twice");
            }
        }
        assert_eq!(
            reserved,
            words(RESERVED_WORDS.iter().copied()),
            "{editor}: reserved words"
        );

        let contextual = words(CONTEXTUAL_WORDS.iter().copied());
        assert_eq!(
            lists["contextual"],
            contextual.difference(&items).cloned().collect(),
            "{editor}: contextual words"
        );
        assert_eq!(
            lists["look_ahead"],
            words(LOOK_AHEAD_WORDS.iter().copied()),
            "{editor}: words of look-ahead"
        );
    }
}

#[test]
fn functions_and_types_are_those_of_the_language() {
    let functions = words(check::functions().chain(["count"]));
    // A parameter of a template may be a predicate.
    let types = words(PrimitiveType::ALL.map(PrimitiveType::as_str));
    let types: BTreeSet<String> = types.into_iter().chain(["pred".to_owned()]).collect();
    for (editor, lists) in [("vscode", textmate()), ("vim", vim())] {
        assert_eq!(lists["functions"], functions, "{editor}: functions");
        assert_eq!(lists["types"], types, "{editor}: types");
    }
    let query = read("tree-sitter/queries/highlights.scm");
    let coloured = strings(&query, "#any-of? @type.builtin", ")");
    assert_eq!(coloured, types, "tree-sitter: types");
    let generic = vim()["generic_types"].clone();
    let all = types.union(&generic).cloned().collect();
    let emacs = read("emacs/guard-mode.el");
    assert_eq!(
        strings(&emacs, "guard-mode--types", "\"Types"),
        all,
        "emacs: types"
    );
}

/// A name before one of these words is an operand, whatever it means elsewhere.
#[test]
fn both_editors_know_the_words_between_operands() {
    let infix = vim()["infix"].clone();
    assert_eq!(textmate()["infix"], infix);
    for (word, letter) in temporal_words() {
        // The formula `a word b` parses if the word stands between operands.
        let (tree, found) =
            syntax::parse(&SourceFile::new("f", format!("property p = a {word} b\n")));
        let is_infix = found.is_empty() && tree.items.len() == 1;
        for form in [word, letter] {
            assert_eq!(infix.contains(form), is_infix, "{form}");
        }
    }
    let known = words(RESERVED_WORDS.iter().copied());
    let unknown: Vec<_> = infix.difference(&known).collect();
    assert_eq!(unknown, ["leads"]);
}

/// Every rule that a grammar includes.
fn includes(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                match (key.as_str(), member.as_str()) {
                    ("include", Some(rule)) => {
                        found.extend(rule.strip_prefix('#').map(str::to_owned))
                    }
                    _ => includes(member, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| includes(item, found)),
        _ => {}
    }
}

#[test]
fn the_textmate_grammar_is_whole() {
    let grammar = json("vscode/syntaxes/guard.tmLanguage.json");
    let rules = grammar["repository"].as_object().unwrap();
    let mut included = BTreeSet::new();
    includes(&grammar, &mut included);
    assert_eq!(included, rules.keys().cloned().collect());

    // Items with a name of their own.
    let named = rules["named-items"]["match"].as_str().unwrap();
    let named = named
        .rsplit_once(")\\s+")
        .unwrap()
        .0
        .rsplit_once('(')
        .unwrap()
        .1;
    for word in named.split('|') {
        assert!(ITEM_WORDS.contains(&word), "{word}");
    }
}

#[test]
fn the_extension_names_files_that_are_there() {
    let package = json("vscode/package.json");
    let contributes = &package["contributes"];
    let configuration = &contributes["languages"][0]["configuration"];
    let grammar = &contributes["grammars"][0];
    for path in [configuration, &grammar["path"]] {
        let path = path.as_str().unwrap().trim_start_matches("./");
        json(&format!("vscode/{path}"));
    }
    assert_eq!(
        grammar["scopeName"],
        json("vscode/syntaxes/guard.tmLanguage.json")["scopeName"]
    );
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
    // Commands and settings of the manifest are those of the program.
    let program = read("vscode/src/extension.ts") + &read("vscode/src/server.ts");
    for command in contributes["commands"].as_array().unwrap() {
        let command = command["command"].as_str().unwrap();
        let registered = format!("registerCommand(\"{command}\"");
        assert!(program.contains(&registered), "{command}");
    }
    let asked = contributes["configuration"]["properties"]
        .as_object()
        .unwrap();
    assert!(
        asked.contains_key("guard.path")
            && program.contains("affectsConfiguration(\"guard.path\")")
    );
    assert!(
        !read("vscode/package-lock.json").contains("\"resolved\""),
        "no addresses of registries"
    );
}

/// The words in a list of strings of a program.
fn strings(text: &str, from: &str, to: &str) -> BTreeSet<String> {
    let (_, list) = text.split_once(from).unwrap();
    let (list, _) = list.split_once(to).unwrap();
    words(list.split('"').skip(1).step_by(2))
}

#[test]
fn emacs_knows_the_words_of_the_lexer() {
    let mode = read("emacs/guard-mode.el");
    let items = words(ITEM_WORDS.iter().copied());
    assert_eq!(strings(&mode, "guard-mode--items", "\"Words"), items);
    let lists = vim();
    let coloured_otherwise: BTreeSet<_> = ["constants", "generic_types", "temporal_letters"]
        .iter()
        .flat_map(|list| lists[*list].clone())
        .collect();
    let reserved = words(RESERVED_WORDS.iter().copied());
    let mut known: BTreeSet<_> = reserved.difference(&coloured_otherwise).cloned().collect();
    known.extend(words(
        LOOK_AHEAD_WORDS.iter().copied().chain(["leads", "to"]),
    ));
    assert_eq!(strings(&mode, "guard-mode--words", "\"Words"), known);
}

#[test]
fn the_tree_sitter_mode_of_emacs_knows_the_keywords_of_the_grammar() {
    let mode = strings(
        &read("emacs/guard-ts-mode.el"),
        ":feature 'keyword",
        "@font-lock",
    );
    let query = read("tree-sitter/queries/highlights.scm");
    let lists = query.split("\n[").skip(1).filter_map(|rest| {
        let (list, rest) = rest.split_once(']')?;
        let is_word = list
            .chars()
            .all(|c| c.is_alphabetic() || "_\" \n".contains(c));
        (is_word && rest.starts_with(" @keyword")).then_some(list)
    });
    let known = words(lists.flat_map(|list| list.split('"').skip(1).step_by(2)));
    let items = words(ITEM_WORDS.iter().copied());
    assert_eq!(mode, known.difference(&items).cloned().collect());
}

/// The words of `array` in the scanner of the tree-sitter grammar.
fn scanner_words(array: &str) -> BTreeSet<String> {
    let scanner = read("tree-sitter/src/scanner.c");
    strings(&scanner, &format!("{array}[] = {{"), "NULL")
}

#[test]
fn the_tree_sitter_grammar_has_the_words_of_the_lexer() {
    let grammar = read("tree-sitter/grammar.js");
    let (_, rules) = grammar.split_once("rules: {").unwrap();
    let is_word =
        |text: &&str| !text.is_empty() && text.chars().all(|c| c.is_alphabetic() || c == '_');
    // Names of fields of nodes stand in quotes too.
    let fields: BTreeSet<&str> = rules
        .split("field('")
        .skip(1)
        .map(|rest| rest.split('\'').next().unwrap())
        .collect();
    let found = words(rules.split('\'').filter(is_word));
    let mut known = words([RESERVED_WORDS, CONTEXTUAL_WORDS, LOOK_AHEAD_WORDS].concat());
    known.extend(words(["leads", "to"]));
    let missing: Vec<_> = known.difference(&found).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let unknown: Vec<_> = found
        .difference(&known)
        .filter(|word| !fields.contains(word.as_str()))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");

    let items = words(ITEM_WORDS.iter().copied());
    assert_eq!(scanner_words("ITEM_WORDS"), items);
    let reserved = words(RESERVED_WORDS.iter().copied());
    assert!(scanner_words("CONTINUING_WORDS").is_subset(&reserved));
    for manifest in ["tree-sitter/package.json", "tree-sitter/tree-sitter.json"] {
        let manifest = json(manifest);
        let version = manifest["version"]
            .as_str()
            .or(manifest["metadata"]["version"].as_str());
        assert_eq!(version, Some(env!("CARGO_PKG_VERSION")));
    }
}

/// The functions of the C library that tree-sitter offers to scanners in WebAssembly, as which Zed runs grammars: a scanner that calls
/// another one is not loaded (`src/wasm/stdlib-symbols.txt` of tree-sitter 0.25 and 0.26).
const IN_WEB_ASSEMBLY: &[&str] = &[
    "calloc",
    "free",
    "iswalnum",
    "iswalpha",
    "iswblank",
    "iswdigit",
    "iswlower",
    "iswspace",
    "iswupper",
    "iswxdigit",
    "malloc",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "realloc",
    "strcmp",
    "strlen",
    "strncat",
    "strncmp",
    "strncpy",
    "towlower",
    "towupper",
];

#[test]
fn the_scanner_calls_only_what_grammars_in_web_assembly_have() {
    let text = read("tree-sitter/src/scanner.c");
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap().to_owned() + "\n")
        .collect();
    let name = |text: &str| {
        let start = text.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        text[start.map_or(0, |at| at + 1)..].to_owned()
    };
    // Definitions stand in column 0; members of the lexer are called through it.
    let defined: BTreeSet<String> = code
        .lines()
        .filter(|line| line.starts_with(char::is_alphabetic) && line.contains('('))
        .map(|line| name(line.split('(').next().unwrap()))
        .collect();
    let called: BTreeSet<String> = code
        .match_indices('(')
        .map(|(at, _)| &code[..at])
        .filter(|before| !name(before).is_empty())
        .filter(|before| !before[..before.len() - name(before).len()].ends_with("->"))
        .map(name)
        .filter(|called| {
            !defined.contains(called)
                && !["if", "for", "while", "return"].contains(&called.as_str())
        })
        .collect();
    let other: Vec<&String> = called
        .iter()
        .filter(|called| !IN_WEB_ASSEMBLY.contains(&called.as_str()))
        .collect();
    assert_eq!(other, Vec::<&String>::new());
    assert!(
        called.contains("strcmp") && called.contains("memchr"),
        "{called:?}"
    );
}

/// Whether the checker takes a file of CloudFormation Guard with this line for one of ours.
fn is_ours(line: &str) -> bool {
    let theirs = "let b = Resources.*[ Type == 'AWS::S3::Bucket' ]\n";
    let text = format!("{theirs}{line}\n");
    let checked = front("x.guard", &text, &NoFiles, check::Limits::default());
    checked
        .diagnostics
        .iter()
        .all(|found| found.code != Code::G0114)
}

#[test]
fn editors_tell_the_two_languages_apart_by_the_lines_of_the_checker() {
    let detect = read("vim/ftdetect/guard.vim");
    let (_, list) = detect.split_once(r"'^\%(event {").unwrap();
    let (list, _) = list.split_once(r"\)'").unwrap();
    let begins: Vec<&str> = std::iter::once("event {")
        .chain(list.split(r"\|").skip(1))
        .collect();
    let extension = read("vscode/src/foreign.ts");
    let (_, list) = extension.split_once("/^(").unwrap();
    let list = list.split_once(")/").unwrap().0.replace('\\', "");
    assert_eq!(
        list.split('|').collect::<Vec<_>>(),
        begins,
        "VS Code and Vim"
    );
    for word in ITEM_WORDS {
        for line in [
            format!("{word} {{"),
            format!("{word} x = 1"),
            format!("{word} std.agent"),
        ] {
            let vim = begins.iter().any(|begin| line.starts_with(begin));
            assert_eq!(vim, is_ours(&line), "{line}");
        }
    }
    assert!(is_ours("rule r: when a then b within 2 steps"));
    assert!(!is_ours("rule r when %b !empty {"));
}
