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

/// Returns seeds with up to eight changes; `tokens` are inserted.
fn inputs(
    seeds: &'static [&'static str],
    tokens: &'static [&'static str],
) -> impl Strategy<Value = Vec<u8>> {
    let change = prop_oneof![
        3 => select(tokens).prop_map(Change::Insert),
        1 => (1usize..30).prop_map(Change::Remove),
        1 => (any::<Index>(), 1usize..80).prop_map(|(from, len)| Change::Repeat(from, len)),
        1 => any::<u8>().prop_map(Change::Byte),
    ];
    let changes = vec((any::<Index>(), change), 0..8);
    (select(seeds), changes).prop_map(|(seed, changes)| {
        let mut bytes = seed.as_bytes().to_vec();
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

fn texts(
    seeds: &'static [&'static str],
    tokens: &'static [&'static str],
) -> impl Strategy<Value = String> {
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
const HOOKS: &[&str] = &[
    "{\"session_id\":\"s\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"},\"tool_use_id\":\"1\"}\n{\"session_id\":\"s\",\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{},\"tool_response\":{\"stdout\":\"SECRET\"},\"tool_use_id\":\"1\"}\n{\"session_id\":\"s\",\"agent_id\":\"a\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Mail\",\"tool_input\":{}}",
    "{\"session_id\":\"s\",\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"x\"}\n{\"session_id\":\"s\",\"hook_event_name\":\"Stop\",\"stop_hook_active\":false}\n{\"session_id\":\"s\",\"hook_event_name\":\"SessionEnd\"}",
];
const MESSAGES: &[&str] = &[
    ">{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"read\",\"arguments\":{\"a\":1},\"_meta\":{\"progressToken\":1}}}\n<{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"INJECT\"}]}}\n<{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"message\":\"INJECT\"}}",
    ">[{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"a\"}}]\n<{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"x\"}}]}}\n>{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":{\"type\":\"text\",\"text\":\"y\"}}}\n({\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":1",
];
const REQUESTS: &[&str] = &[
    "\u{7f}POST /v1/decide HTTP/1.1\r\nHost: x\r\nContent-Length: 52\r\n\r\n{\"trace\":\"t\",\"kind\":\"call\",\"tool\":\"a\",\"text\":\"SECRET\"}GET /v1/health HTTP/1.1\r\n\r\n",
    "\u{3}POST /v1/hook HTTP/1.1\r\nContent-Length: 66\r\n\r\n{\"session_id\":\"s\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"a\"}",
    "\u{10}POST /v1/decide HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\n{\"a\":\r\n2\r\n1}\r\n0\r\nT: u\r\n\r\n",
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
const JOURNALS: &[&str] = &[
    "\u{0}{\"v\":1}\n",
    "\u{1}{\"v\":1}\n{\"n\":1}\n",
    "\u{2}\u{40}\u{0}\u{3}{\"trace\":\"t\",\"kind\":\"pay\",\"id\":\"1\"}\n{\"phase\":\"before\",\"event\":{}}\n",
    "\u{3}\u{0}\u{1}\u{2}",
];
const LINES: &[&str] = &[
    "for f in $(ls); do rm -rf \"$f\"; done | tee x && cat <<E | sh\nrm -rf /\nE\n",
    "env -S 'bash -c \"rm -rf /\"' ; x=${y:-$(z)} `w` <(v) {a,b}{c,d} $((1+2)) [[ -v a ]]",
];
const LINE_TOKENS: &[&str] = &[
    "$(", "`", "'", "\"", "<<E\n", "eval ", "{a,", "${", "\\\n", "|", "&&", ";", "$((", "sudo ",
    "xargs ", "(", ")", "}", "* ", "done\n",
];
const CHAINS: &[&str] = &[
    "\u{0}0 0 0.5\n0 1 1/2\n1 1 1\n",
    "\u{1}@type: DTMC\n@parameters\n\n@reward_models\n\n@nr_states\n1\n@model\nstate 0 init\n\taction 0\n\t\t0 : 1\n",
    "\u{2}{\"states\":[{\"to\":[[0,1.0]]}]}",
    "\u{4}dtmc module m s : [0..2]; [] s<2 -> 0.5:(s'=s+1) + 0.5:true; endmodule",
    "\u{5}P=? [ F<=3 \"a\" ]; R=? [ C<=2 ];",
];
const AUTOMATA: &[&str] = &[
    "HOA: v1\nStates: 2\nStart: 0\nAP: 1 \"a\"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n--BODY--\nState: 0\n[0] 1\n[!0] 0\nState: 1 {0}\n[t] 1\n--END--\n",
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
const PROSE: &[&str] = &[
    "The agent must never delete files. After it has read a secret, it does not send mail within 5 seconds unless a person approves.",
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
    fn lexer(text in texts(SPECS, SPEC_TOKENS)) {
        lexer::run(&text);
    }

    #[test]
    fn parser(text in texts(SPECS, SPEC_TOKENS)) {
        parser::run(&text);
    }

    #[test]
    fn formatter(text in texts(SPECS, SPEC_TOKENS)) {
        formatter::run(&text);
    }

    #[test]
    fn input_read(bytes in inputs(TRACES, JSON_TOKENS)) {
        input_read::run(&bytes);
    }

    #[test]
    fn formats(bytes in inputs(TRACES, JSON_TOKENS)) {
        formats::run(&bytes);
    }

    #[test]
    fn evaluation(bytes in inputs(FORMULAS, SPEC_TOKENS)) {
        evaluation::run(&bytes);
    }

    #[test]
    fn hoa(text in texts(AUTOMATA, AUTOMATA_TOKENS)) {
        hoa::run(&text);
    }

    #[test]
    fn chains(bytes in inputs(CHAINS, AUTOMATA_TOKENS)) {
        chains::run(&bytes);
    }

    #[test]
    fn draft(text in texts(PROSE, PROSE_TOKENS)) {
        draft::run(&text);
    }

    #[test]
    fn hook(bytes in inputs(HOOKS, JSON_TOKENS)) {
        hook::run(&bytes);
    }

    #[test]
    fn proxy(bytes in inputs(MESSAGES, JSON_TOKENS)) {
        proxy::run(&bytes);
    }

    #[test]
    fn serve(bytes in inputs(REQUESTS, REQUEST_TOKENS)) {
        serve::run(&bytes);
    }

    #[test]
    fn journal(bytes in inputs(JOURNALS, JSON_TOKENS)) {
        journal::run(&bytes);
    }

    #[test]
    fn shell(text in texts(LINES, LINE_TOKENS)) {
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
    let fuzz = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
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
