//! Documentation of a module of Guard: its items with their comments, and the automata of its formulas.
//!
//! ```text
//! text ──▶ Page (items, docs, words, automata) ──▶ HTML or Markdown
//! ```
//!
//! A template has no formula; it is shown with predicates named like its parameters ([`instance`]). Everything is
//! computed from text: no files are read, and the same text gives the same page.

mod draw;
mod html;
mod instance;
mod markdown;

use serde_json::Value as Json;

use crate::hir::Spec;
use crate::modules::Loader;
use crate::report::automaton;
use crate::report::explanation::Explanation;
use crate::report::plot::Picture;
use crate::source::{SourceFile, SourceMap};
use crate::syntax::{self, ast};

pub(crate) use html::{index as html_index, page as html};
pub(crate) use markdown::{fenced, index as markdown_index, inert, page as markdown};

/// The greatest number of states of an automaton that is drawn.
const DRAWN_STATES: usize = 12;

/// A module, ready to be written.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// Its title: `std.drift`, or the name of the file.
    pub title: String,
    /// Its `//!` documentation, in Markdown.
    pub intro: String,
    /// Its items, in order.
    pub entries: Vec<Entry>,
}

/// An item of a module.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Its keyword: `template`, `property`, ….
    pub kind: String,
    /// The name that it declares.
    pub name: String,
    /// Its text, without documentation.
    pub text: String,
    /// Its `///` documentation, in Markdown.
    pub doc: String,
    /// The facts about its formula, if it has one.
    pub facts: Option<Facts>,
    /// Pictures of the model that it uses.
    pub pictures: Vec<Picture>,
}

/// The facts about a formula.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// The formula in words.
    pub words: String,
    /// Whether violations can be blocked, detected or only audited.
    pub enforce: Option<String>,
    /// The number of states that its minimal automaton has.
    pub states: Option<usize>,
    /// The automaton as a graph, if it is small.
    pub graph: Option<draw::Graph>,
}

/// Returns the page of a module.
///
/// `spec` is the module checked as a spec, if it is one; properties are explained with it. `loader` finds the imports
/// of the module.
pub(crate) fn page(
    title: &str,
    file: &SourceFile,
    spec: Option<(&Spec, &SourceMap)>,
    loader: &dyn Loader,
) -> Page {
    let (tree, _) = syntax::parse(file);
    let entries = tree.items.iter().filter_map(|item| {
        let (kind, name) = declared(&item.kind)?;
        let facts = match &item.kind {
            ast::ItemKind::Template(template) => instance::facts(template, file.text(), loader),
            _ => spec.and_then(|(spec, sources)| facts(spec, sources, name)),
        };
        Some(Entry {
            kind: kind.to_owned(),
            name: name.to_owned(),
            text: file.slice(*item.span).trim_end().to_owned(),
            doc: docs(&item.docs),
            facts,
            pictures: Vec::new(),
        })
    });
    Page {
        title: title.to_owned(),
        intro: docs(&tree.docs),
        entries: entries.collect(),
    }
}

/// Returns the facts about the formula of a property of this name; `None` if there is no such property.
pub(crate) fn facts(spec: &Spec, sources: &SourceMap, name: &str) -> Option<Facts> {
    let id = spec.find_property(name)?;
    let explanation: Json =
        serde_json::from_str(&Explanation::new(spec, sources, id).to_json()).ok()?;
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let dfa = automaton::build(spec, spec.property(id).formula).ok();
    Some(Facts {
        words: text(&explanation["words"])?,
        enforce: text(&explanation["class"]["enforce"]),
        states: dfa.as_ref().map(|dfa| dfa.len()),
        graph: dfa
            .filter(|dfa| dfa.len() <= DRAWN_STATES)
            .map(|dfa| draw::Graph::new(spec, &dfa)),
    })
}

/// Returns the keyword of an item and the name it declares; `None` for imports and tests.
fn declared(kind: &ast::ItemKind) -> Option<(&str, &str)> {
    let word = kind.word();
    match kind {
        ast::ItemKind::Broken(_) => None,
        ast::ItemKind::Event(_) | ast::ItemKind::Trace(_) => Some((word, word)),
        kind => Some((word, kind.name()?.as_str())),
    }
}

/// Joins lines of documentation into one text in Markdown.
pub(crate) fn docs(lines: &[ast::Doc]) -> String {
    let lines = lines
        .iter()
        .map(|line| line.text.strip_prefix(' ').unwrap_or(&line.text));
    lines.collect::<Vec<_>>().join("\n")
}
