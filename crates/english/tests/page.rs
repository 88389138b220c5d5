//! `docs/english.md`: its tables are the table of the grammar.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use std::fmt::Write as _;
use std::path::PathBuf;

use guard_english::controlled::forms;
use guard_english::draft::{Trace, draft};

const BEGIN: &str = "<!-- forms -->\n";
const END: &str = "<!-- end of forms -->";

/// `{p} {} {q}`, with times if there are some.
fn shown(trace: Option<&Trace>) -> String {
    let Some(trace) = trace else {
        return "–".to_owned();
    };
    let steps: Vec<String> = trace.iter().map(ToString::to_string).collect();
    format!("`{}`", steps.join(" "))
}

fn tables() -> String {
    let mut out = String::new();
    let mut group = "";
    for form in forms() {
        if form.group != group {
            group = form.group;
            let _ = write!(
                out,
                "\n### {group}\n\n| sentence | formula | satisfied by | violated by |\n| --- | --- | --- | --- |\n"
            );
        }
        let reading = draft(&form.words).reading.unwrap();
        let _ = writeln!(
            out,
            "| {} | `{}` | {} | {} |",
            form.words,
            reading.formula.replace('|', "\\|"),
            shown(reading.accepts.as_ref()),
            shown(reading.rejects.as_ref())
        );
    }
    out.push('\n');
    out
}

/// Run with `UPDATE_PAGE=1` to write the tables into the page; then read the difference.
#[test]
fn the_page_shows_the_table_of_the_grammar() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/english.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    let tables = tables();
    if std::env::var_os("UPDATE_PAGE").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{tables}{END}{after}")).unwrap();
        return;
    }
    assert!(
        shown == tables,
        "docs/english.md is not up to date: UPDATE_PAGE=1 cargo test -p guard-english --test page"
    );
}
