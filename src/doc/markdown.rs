//! Pages as Markdown, with automata as Mermaid charts.

use std::fmt::Write;

use pulldown_cmark::{Event, Options, Parser, Tag};

use super::html::is_safe_link;
use super::{Entry, Page};

/// Returns a module.
pub(crate) fn page(page: &Page) -> String {
    let mut out = format!("# {}\n\n", page.title);
    if !page.intro.is_empty() {
        let _ = writeln!(out, "{}\n", inert(&page.intro));
    }
    for entry in &page.entries {
        write_entry(&mut out, entry);
    }
    out
}

fn write_entry(out: &mut String, entry: &Entry) {
    let _ = writeln!(out, "## {} `{}`\n", entry.kind, entry.name);
    if !entry.doc.is_empty() {
        let _ = writeln!(out, "{}\n", inert(&entry.doc));
    }
    let _ = writeln!(out, "{}", fenced("guard", &entry.text));
    for picture in &entry.pictures {
        let _ = writeln!(out, "{}\n", inert(&picture.markdown()));
    }
    let Some(facts) = &entry.facts else {
        return;
    };
    let _ = writeln!(out, "{}\n", inert(&facts.words));
    let states = facts.states.map(|n| format!("{n} states"));
    let notes: Vec<&str> = [facts.enforce.as_deref(), states.as_deref()]
        .into_iter()
        .flatten()
        .collect();
    if !notes.is_empty() {
        let _ = writeln!(out, "*{}*\n", notes.join(", "));
    }
    if let Some(graph) = &facts.graph {
        let _ = writeln!(out, "{}", fenced("mermaid", graph.mermaid().trim_end()));
    }
}

/// Returns a block of code, with a fence that is longer than any run of backticks in it.
pub(crate) fn fenced(language: &str, text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or_default().max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// Returns Markdown without raw HTML: characters that begin a tag are escaped. The brackets of pictures and of links
/// with schemes other than those of the web and of mail are escaped, so that they are shown as written.
pub(crate) fn inert(text: &str) -> String {
    let mut marks = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let harmful = match &event {
            Event::Html(_) | Event::InlineHtml(_) => true,
            Event::Start(Tag::Link { dest_url, .. }) => !is_safe_link(dest_url),
            Event::Start(Tag::Image { .. }) => true,
            _ => false,
        };
        if harmful {
            let part = text.get(range.clone()).unwrap_or_default();
            let places = part
                .match_indices(['<', '[', '!'])
                .map(|(at, _)| range.start + at);
            marks.extend(places);
        }
        // definitions of links produce no events
    }
    for (_, definition) in Parser::new_ext(text, Options::ENABLE_TABLES)
        .reference_definitions()
        .iter()
    {
        if !is_safe_link(&definition.dest) {
            marks.push(definition.span.start);
        }
    }
    marks.sort_unstable();
    marks.dedup();
    let mut out = String::with_capacity(text.len() + marks.len());
    let mut from = 0;
    for mark in marks {
        out.push_str(text.get(from..mark).unwrap_or_default());
        out.push('\\');
        from = mark;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// Returns the list of pages, with the file of each.
pub(crate) fn index(pages: &[(String, &Page)]) -> String {
    let mut out = String::from("# Contents\n\n");
    for (file, page) in pages {
        let intro = inert(&page.intro);
        let first = intro
            .split("\n\n")
            .next()
            .unwrap_or_default()
            .replace('\n', " ");
        let _ = writeln!(out, "- [{}]({file}): {first}", page.title);
    }
    out
}
