//! Runs the fuzz targets on a fixed set of random inputs: they compile with the compiler of the tests, and faults that a fuzzer
//! finds within a second fail here.
#![allow(
    unreachable_pub,
    reason = "the crate of the fuzz targets has these modules too"
)]

#[path = "../../fuzz/src/artifact.rs"]
mod artifact;
#[path = "../../fuzz/src/chains.rs"]
mod chains;
#[path = "../../fuzz/src/draft.rs"]
mod draft;
#[path = "../../fuzz/src/evaluation.rs"]
mod evaluation;
#[path = "../../fuzz/src/formats.rs"]
mod formats;
#[path = "../../fuzz/src/formatter.rs"]
mod formatter;
#[path = "../../fuzz/src/formula.rs"]
mod formula;
#[path = "../../fuzz/src/hoa.rs"]
mod hoa;
#[path = "../../fuzz/src/hook.rs"]
pub(crate) mod hook;
#[path = "../../fuzz/src/input_read.rs"]
mod input_read;
#[path = "../../fuzz/src/journal.rs"]
mod journal;
#[path = "../../fuzz/src/lexer.rs"]
mod lexer;
#[path = "../../fuzz/src/omega.rs"]
mod omega;
#[path = "../../fuzz/src/parser.rs"]
mod parser;
#[path = "../../fuzz/src/polish.rs"]
mod polish;
#[path = "../../fuzz/src/proxy.rs"]
mod proxy;
#[path = "../../fuzz/src/serve.rs"]
mod serve;
#[path = "../../fuzz/src/shell.rs"]
mod shell;

use std::collections::BTreeSet;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::support::print;

/// A change of an input at a random place.
#[derive(Clone, Debug)]
enum Change {
    Insert(&'static str),
    Remove(usize),
    Repeat(Index, usize),
    Byte(u8),
}

/// Returns the files with which the fuzzer begins, too.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/seeds")
        .join(target);
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| std::fs::read(file).unwrap())
        .collect()
}

fn owned(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Returns seeds with up to eight changes; `tokens` are inserted.
fn inputs(seeds: Vec<Vec<u8>>, tokens: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let change = prop_oneof![
        3 => select(tokens).prop_map(Change::Insert),
        1 => (1usize..30).prop_map(Change::Remove),
        1 => (any::<Index>(), 1usize..80).prop_map(|(from, len)| Change::Repeat(from, len)),
        1 => any::<u8>().prop_map(Change::Byte),
    ];
    let changes = vec((any::<Index>(), change), 0..8);
    (select(seeds), changes).prop_map(|(mut bytes, changes)| {
        for (place, change) in changes {
            let at = place.index(bytes.len() + 1);
            match change {
                Change::Insert(token) => drop(bytes.splice(at..at, token.bytes())),
                Change::Remove(len) => drop(bytes.drain(at..bytes.len().min(at + len))),
                Change::Repeat(from, len) => {
                    let from = from.index(bytes.len() + 1);
                    let part = bytes[from..bytes.len().min(from + len)].to_vec();
                    bytes.splice(at..at, part);
                }
                Change::Byte(byte) => {
                    if let Some(there) = bytes.get_mut(at) {
                        *there = byte;
                    }
                }
            }
        }
        bytes
    })
}

fn texts(seeds: Vec<Vec<u8>>, tokens: &'static [&'static str]) -> impl Strategy<Value = String> {
    inputs(seeds, tokens).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

const SPECS: &[&str] = &[
    include_str!("../../examples/live/coding.guard"),
    include_str!("../../stdlib/agent.guard"),
    "property p = G (a -> F[0, 5s] b) // why\n",
    "forall x: G (p(x) and not q -> O[1, 3] r)",
];
const SPEC_TOKENS: &[&str] = &[
    "(",
    ")",
    "{",
    "\"",
    "/",
    "not ",
    "always ",
    "[0,99999999999]",
    "1e999999",
    "///",
    "\n",
    "if ",
    "cases {",
    "\u{0}",
    "\u{202e}",
    "/*",
];
const JSON_TOKENS: &[&str] = &[
    "[[[[",
    "]",
    "}",
    "{\"a\":",
    "\\ud800",
    "\u{0}",
    "1e999",
    "-0",
    "\"",
    "null",
    ",",
    "\n",
    "\r",
    "\u{2028}",
    "\u{feff}",
    "\"id\":1,",
    "NaN",
    "\"text\":\"SECRET\",",
    "\"kind\":\"call\",",
];
const TRACES: &[&str] = &[
    "{\"id\":\"t\",\"events\":[{\"kind\":\"call\",\"tool\":\"a\",\"t\":1},{\"kind\":\"result\",\"text\":\"x\"}]}\n",
    "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}]}",
    "[{\"a\":[1,{\"a\":2}],\"m\":{},\"t\":1700000000000}]",
    "id,kind,tool\n1,call,\"a\"\"b\"\n",
];
const REQUEST_TOKENS: &[&str] = &[
    "\r\n",
    "\n",
    "\r",
    "Content-Length: 5\r\n",
    "Transfer-Encoding: chunked\r\n",
    "0\r\n\r\n",
    "ffffffffffffffff\r\n",
    "-1",
    "+1",
    ";",
    " ",
    "\t",
    "\u{0}",
    "GET / HTTP/1.1\r\n\r\n",
    "{\"kind\":\"result\",\"text\":\"SECRET\"}\n",
];
const LINE_TOKENS: &[&str] = &[
    "$(", "`", "'", "\"", "<<E\n", "eval ", "{a,", "${", "\\\n", "|", "&&", ";", "$((", "sudo ",
    "xargs ", "(", ")", "}", "* ", "done\n",
];
const AUTOMATA_TOKENS: &[&str] = &[
    "[0]",
    "[!0 & 1]",
    "State: 0\n",
    "Inf(0)",
    "Fin(1)",
    "{0}",
    "--BODY--",
    "--END--\n",
    "\"",
    "99999999999",
];
const PROSE_TOKENS: &[&str] = &[
    "never ",
    "until ",
    "\"",
    ".",
    "\n",
    "{",
    "within 3 ",
    "\u{202e}",
    "\u{0}",
];
const FORMULAS: &[&str] = &[
    "G (a -> F b) and a\n\u{1}\u{2}\u{3}\u{0}\u{1}",
    "seen has \"x\" or n > 1\n\u{1}",
];

crate::random::tests! {
    256 cases;

    #[test]
    fn lexer(text in texts(owned(SPECS), SPEC_TOKENS)) {
        lexer::run(&text);
    }

    #[test]
    fn parser(text in texts(owned(SPECS), SPEC_TOKENS)) {
        parser::run(&text);
    }

    #[test]
    fn formatter(text in texts(owned(SPECS), SPEC_TOKENS)) {
        formatter::run(&text);
    }

    #[test]
    fn input_read(bytes in inputs(owned(TRACES), JSON_TOKENS)) {
        input_read::run(&bytes);
    }

    #[test]
    fn formats(bytes in inputs(owned(TRACES), JSON_TOKENS)) {
        formats::run(&bytes);
    }

    #[test]
    fn evaluation(bytes in inputs(owned(FORMULAS), SPEC_TOKENS)) {
        evaluation::run(&bytes);
    }

    #[test]
    fn hoa(text in texts(seeds("hoa"), AUTOMATA_TOKENS)) {
        hoa::run(&text);
    }

    #[test]
    fn chains(bytes in inputs(seeds("chains"), AUTOMATA_TOKENS)) {
        chains::run(&bytes);
    }

    #[test]
    fn draft(text in texts(seeds("draft"), PROSE_TOKENS)) {
        draft::run(&text);
    }

    #[test]
    fn hook(bytes in inputs(seeds("hook"), JSON_TOKENS)) {
        hook::run(&bytes);
    }

    #[test]
    fn proxy(bytes in inputs(seeds("proxy"), JSON_TOKENS)) {
        proxy::run(&bytes);
    }

    #[test]
    fn serve(bytes in inputs(seeds("serve"), REQUEST_TOKENS)) {
        serve::run(&bytes);
    }

    #[test]
    fn journal(bytes in inputs(seeds("journal"), JSON_TOKENS)) {
        journal::run(&bytes);
    }

    #[test]
    fn shell(text in texts(seeds("shell"), LINE_TOKENS)) {
        shell::run(&text);
    }
}

// Automata are built of each input, which takes long.
crate::random::tests! {
    64 cases;

    #[test]
    fn formula(input in (vec(any::<u8>(), 0..10), vec(any::<u8>(), 0..8))) {
        formula::run(input);
    }

    #[test]
    fn artifact(input in vec(any::<u8>(), 0..30)) {
        artifact::run(&input);
    }

    #[test]
    fn omega(input in (vec(any::<u8>(), 0..10), vec(any::<u8>(), 0..6))) {
        omega::run(input);
    }
}

/// Each target has a module with what it does, a file for the fuzzer, an entry in the manifest, and a test here.
#[test]
fn every_target_is_run_here() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let stems = |folder: &str| -> BTreeSet<String> {
        let files = std::fs::read_dir(fuzz.join(folder)).unwrap();
        let stem = |path: std::path::PathBuf| path.file_stem()?.to_str().map(str::to_owned);
        files
            .filter_map(|file| stem(file.unwrap().path()))
            .collect()
    };
    let targets = stems("fuzz_targets");
    let mut modules = stems("src");
    assert!(modules.remove("lib") && modules.remove("polish"));
    assert_eq!(targets, modules);
    let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    for target in &targets {
        assert!(
            manifest.contains(&format!("name = \"{target}\"")),
            "{target}"
        );
        let file = format!("fuzz_targets/{target}.rs");
        let file = std::fs::read_to_string(fuzz.join(file)).unwrap();
        assert!(
            file.contains(&format!("use guard_fuzz::{target}::run;")),
            "{target}"
        );
        assert!(
            include_str!("fuzz_targets.rs").contains(&format!("fn {target}(")),
            "{target}"
        );
    }
}
