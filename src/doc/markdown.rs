//! Pages as Markdown, with automata as Mermaid charts.

use std::fmt::Write;

use super::{Entry, Page};

/// A module.
pub fn page(page: &Page) -> String {
    let mut out = format!("# {}\n\n", page.title);
    if !page.intro.is_empty() {
        let _ = writeln!(out, "{}\n", page.intro);
    }
    for entry in &page.entries {
        write_entry(&mut out, entry);
    }
    out
}

fn write_entry(out: &mut String, entry: &Entry) {
    let _ = writeln!(out, "## {} `{}`\n", entry.kind, entry.name);
    if !entry.doc.is_empty() {
        let _ = writeln!(out, "{}\n", entry.doc);
    }
    let _ = writeln!(out, "```guard\n{}\n```\n", entry.text);
    let Some(facts) = &entry.facts else {
        return;
    };
    let _ = writeln!(out, "{}\n", facts.words);
    let states = facts.states.map(|n| format!("{n} states"));
    let told: Vec<&str> = [facts.enforce.as_deref(), states.as_deref()]
        .into_iter()
        .flatten()
        .collect();
    if !told.is_empty() {
        let _ = writeln!(out, "*{}*\n", told.join(", "));
    }
    if let Some(graph) = &facts.graph {
        let _ = writeln!(out, "```mermaid\n{}```\n", graph.mermaid());
    }
}

/// The list of pages, with the file of each.
pub fn index(pages: &[(String, &Page)]) -> String {
    let mut out = String::from("# Contents\n\n");
    for (file, page) in pages {
        let first = page
            .intro
            .split("\n\n")
            .next()
            .unwrap_or_default()
            .replace('\n', " ");
        let _ = writeln!(out, "- [{}]({file}): {first}", page.title);
    }
    out
}
