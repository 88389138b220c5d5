//! Self-contained HTML pages: styles included, no scripts, nothing fetched.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{Alignment, Event, Options, Parser, Tag, TagEnd};

use super::{Entry, Facts, Page};
use crate::report::document::document;
use crate::report::plot;

const STYLE: &str = "\
:root{color-scheme:light dark;--soft:#8883}\
body{font:16px/1.5 system-ui,sans-serif;margin:0;display:grid;grid-template-columns:16rem minmax(0,54rem);gap:2rem}\
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1rem;box-sizing:border-box;border-right:1px solid var(--soft);font-size:.85rem}\
nav a{display:block;text-decoration:none;color:inherit;padding:.1rem 0}nav a:hover{text-decoration:underline}\
main{padding:1rem 1rem 6rem}section{border-top:1px solid var(--soft);padding:.5rem 0}\
code,pre{font:.85rem/1.45 ui-monospace,monospace}pre{background:var(--soft);padding:.6rem .8rem;border-radius:.4rem;overflow:auto}\
h2{font-size:1.1rem;margin:.6rem 0}h2 span{opacity:.6;font-weight:400}.facts{opacity:.8;font-size:.9rem}\
figure{margin:.5rem 0}figure .scroll{overflow:auto}figcaption,summary{font-size:.85rem;opacity:.8}\
table{border-collapse:collapse}td,th{border:1px solid var(--soft);padding:.2rem .5rem;text-align:left}\
@media(max-width:50rem){body{display:block}nav{position:static;height:auto}}";

/// Returns a module.
pub(crate) fn page(page: &Page) -> String {
    let nav = html! {
        a href="index.html" { "Contents" }
        @for entry in &page.entries { a href={"#" (entry.name)} { (entry.name) } }
    };
    let body = html! {
        h1 { (page.title) }
        (markdown(&page.intro))
        @for entry in &page.entries { (section(entry)) }
    };
    with_navigation(&page.title, &nav, &body)
}

/// Returns the list of pages, with the file of each.
pub(crate) fn index(pages: &[(String, &Page)]) -> String {
    let nav = html! { @for (file, page) in pages { a href=(file) { (page.title) } } };
    let body = html! {
        h1 { "Contents" }
        @for (file, page) in pages {
            section {
                h2 { a href=(file) { (page.title) } }
                (markdown(page.intro.split("\n\n").next().unwrap_or_default()))
            }
        }
    };
    with_navigation("Contents", &nav, &body)
}

fn section(entry: &Entry) -> Markup {
    html! {
        section id=(entry.name) {
            h2 { span { (entry.kind) " " } (entry.name) }
            (markdown(&entry.doc))
            pre { code { (entry.text) } }
            @if let Some(facts) = &entry.facts { (facts_markup(&entry.name, facts)) }
            @for picture in &entry.pictures { (picture.figure()) }
        }
    }
}

fn facts_markup(name: &str, facts: &Facts) -> Markup {
    html! {
        div class="facts" { (markdown(&facts.words)) }
        div class="facts" {
            @if let Some(enforce) = &facts.enforce { (enforce) }
            @if let Some(states) = facts.states { ", " (states) " states" }
        }
        @if let Some(graph) = &facts.graph { (graph.picture(name).figure()) }
    }
}

fn with_navigation(title: &str, nav: &Markup, body: &Markup) -> String {
    let body = html! { nav { (nav) } main { (body) } };
    document(title, &[STYLE, plot::STYLE].concat(), "", &body).into_string()
}

/// Returns markdown of a comment as HTML. Tags in it are shown as text. Links with schemes other than those of the web and of
/// mail are shown without their address, as are pictures, which a page would fetch.
fn markdown(text: &str) -> Markup {
    let mut open = Vec::new();
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        Event::Start(Tag::Link { ref dest_url, .. }) => {
            open.push(is_safe_link(dest_url));
            open.last().copied().unwrap_or(false).then_some(event)
        }
        Event::End(TagEnd::Link) => open.pop().unwrap_or(false).then_some(event),
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => None,
        // The alignment of columns would be a style of its own, which the page does not allow.
        Event::Start(Tag::Table(columns)) => {
            let plain = vec![Alignment::None; columns.len()];
            Some(Event::Start(Tag::Table(plain)))
        }
        event => Some(event),
    });
    let mut out = String::new();
    pulldown_cmark::html::push_html(&mut out, events);
    PreEscaped(out)
}

/// Whether an address is a web or mail address, or relative to the page.
pub(super) fn is_safe_link(address: &str) -> bool {
    // browsers remove white space and control characters before they parse the scheme
    let plain: String = address
        .chars()
        .filter(|c| !c.is_whitespace() && !c.is_control())
        .collect();
    let end = plain.find(['/', '?', '#']).unwrap_or(plain.len());
    match plain.get(..end).and_then(|head| head.split_once(':')) {
        Some((scheme, _)) => ["http", "https", "mailto"]
            .iter()
            .any(|safe| scheme.eq_ignore_ascii_case(safe)),
        None => !plain.starts_with("//"),
    }
}
