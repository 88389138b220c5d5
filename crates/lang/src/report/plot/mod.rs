//! Pictures as SVG: graphs with states and labelled edges, curves, reliability diagrams, ROC curves, drift.
//!
//! Input: plain numbers and names; output: an SVG element with a title and a description, and its numbers as a table for
//! programs that do not show pictures. Colours are classes of `plot.css`, which follow the theme of the browser or page;
//! information shown by colour is also shown as text. Names are inert. Nothing depends on fonts, clocks or hash order: the same
//! input gives the same bytes.

mod chain;
mod charts;
mod graph;
mod layers;

use maud::{Markup, PreEscaped, html};

use super::document::document;
use super::text::{cut, width};
use crate::inert::inert;

pub use chain::{ChainDrawing, chain};
pub use charts::{
    CurvePoint, DriftRow, Horizon, ReliabilityBin, RocPoint, curve, drift, reliability, roc,
};
use graph::graph;
pub use graph::{Edge, Node, Shape};

/// The style sheet of pictures.
pub const STYLE: &str = include_str!("plot.css");

/// A finished picture.
#[derive(Clone, Debug)]
pub struct Picture {
    width: f64,
    height: f64,
    body: String,
    title: String,
    /// Sentences that describe the picture.
    description: String,
    /// Whether the picture itself contains the description.
    is_described: bool,
    /// Its numbers: the names of the columns, and the rows.
    table: (Vec<&'static str>, Vec<Vec<String>>),
}

impl Picture {
    /// Returns a graph as a picture.
    pub fn graph(title: &str, description: &str, nodes: &[Node], edges: &[Edge]) -> Picture {
        let (body, width, height) = graph(nodes, edges);
        Picture {
            width,
            height,
            body,
            title: title.to_owned(),
            description: description.to_owned(),
            is_described: false,
            table: (Vec::new(), Vec::new()),
        }
    }

    /// Returns the picture as an SVG element at this distance from the top of the enclosing element.
    fn svg(&self, top: f64) -> Markup {
        let [width, height, top] = [self.width, self.height, top].map(f64::ceil);
        html! {
            svg class="picture" xmlns="http://www.w3.org/2000/svg" role="img" aria-label=(inert(&self.title)) y=(top)
                width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
                title { (inert(&self.title)) }
                desc { (inert(&self.description)) }
                (PreEscaped(&self.body))
            }
        }
    }

    /// Returns the picture with its description and its numbers, for a page that contains [`STYLE`].
    pub fn figure(&self) -> Markup {
        let (head, rows) = &self.table;
        html! {
            figure.plot {
                div.scroll tabindex="0" role="region" aria-label=(inert(&self.title)) { (self.svg(0.0)) }
                @if !self.is_described { figcaption { (inert(&self.description)) } }
                @if !rows.is_empty() {
                    details {
                        summary { "Numbers" }
                        div.scroll tabindex="0" role="region" aria-label={ "Numbers of " (inert(&self.title)) } {
                            table {
                                thead { tr { @for name in head { th scope="col" { (name) } } } }
                                tbody { @for row in rows { tr { @for cell in row { td { (inert(cell)) } } } } }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Returns the title, the description and the numbers as Markdown, without the picture.
    pub fn markdown(&self) -> String {
        let (head, rows) = &self.table;
        let cells = |cells: &[String]| {
            let safe = cells.iter().map(|cell| inert(cell).replace('|', "\\|"));
            format!("| {} |\n", safe.collect::<Vec<_>>().join(" | "))
        };
        let head: Vec<String> = head.iter().map(|name| (*name).to_owned()).collect();
        let rule = format!("|{}\n", " --- |".repeat(head.len()));
        let rows: String = rows.iter().map(|row| cells(row)).collect();
        format!(
            "**{}.** {}\n\n{}{rule}{rows}",
            self.title,
            self.description,
            cells(&head)
        )
    }

    /// Returns pictures below one another as an SVG document.
    pub fn document(pictures: &[Picture]) -> String {
        let width = pictures
            .iter()
            .map(|one| one.width)
            .fold(0.0, f64::max)
            .ceil();
        let mut height = 0.0;
        let mut parts = Vec::with_capacity(pictures.len());
        for picture in pictures {
            parts.push(picture.svg(height));
            height += picture.height.ceil() + 16.0;
        }
        let page = html! {
            svg class="picture" xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
                style { (PreEscaped(STYLE)) }
                rect class="paper" width="100%" height="100%" {}
                @for part in &parts { (part) }
            }
        };
        page.into_string()
    }

    /// Returns pictures as a page for a browser, without scripts or external resources.
    pub fn page(title: &str, pictures: &[Picture]) -> String {
        let body = html! {
            main {
                h1 { (inert(title)) }
                @for picture in pictures { (picture.figure()) }
            }
        };
        document(title, &[STYLE, PAGE].concat(), "", &body).into_string()
    }
}

/// The style of a page with nothing but pictures.
const PAGE: &str = "\
:root{color-scheme:light dark}body{margin:1rem;background:var(--p-paper);color:var(--p-ink);font:15px/1.5 system-ui,\"DejaVu Sans\",sans-serif}\
h1{font-size:1.3rem}figure{margin:0 0 2rem}.scroll{overflow:auto}table{border-collapse:collapse}\
th,td{border-bottom:1px solid var(--p-line);padding:.15rem .8rem .15rem 0;text-align:left}";

/// An upper estimate of the width of a text at 12 pixels.
fn breadth(text: &str) -> f64 {
    7.2 * width(text) as f64
}

/// Returns a text on one line of at most this many columns, without characters that a page may interpret.
fn label(text: &str, columns: usize) -> String {
    cut(&inert(text), columns)
}

/// Returns a probability with three digits, or its order of magnitude; never 0 or 1 if it is neither.
fn share(value: f64) -> String {
    if value > 0.0 && value < 0.001 {
        return format!("{value:.0e}");
    }
    if value < 1.0 && value > 0.999 {
        return ">0.999".to_owned();
    }
    trimmed(&format!("{value:.3}"))
}

/// Returns a number without zeros at its end.
fn trimmed(digits: &str) -> String {
    match digits.contains('.') {
        true => digits
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned(),
        false => digits.to_owned(),
    }
}

/// Returns a text element.
fn text((x, y): (f64, f64), anchor: &str, class: Option<&str>, text: &str) -> Markup {
    html! { text x=(px(x)) y=(px(y)) text-anchor=(anchor) class=[class] { (text) } }
}

/// Returns a coordinate: a tenth of a pixel is enough.
fn px(value: f64) -> String {
    trimmed(&format!("{value:.1}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_inert_in_every_picture() {
        let hostile = "</svg><script>\"&'\u{1}\u{202e}";
        let named = || hostile.to_owned();
        let bins = [ReliabilityBin {
            predicted: 0.2,
            observed: 0.25,
            interval: (0.1, 0.4),
            forecasts: 40,
        }];
        let points = [RocPoint {
            threshold: 0.3,
            false_alarms: 0.1,
            detected: 0.7,
            rule: Some(named()),
        }];
        let curve_points = [0.0, 1.0, 2.0].map(|x| CurvePoint {
            x,
            y: x / 10.0,
            band: Some((x / 20.0, x / 5.0)),
        });
        let states = ChainDrawing {
            names: vec![named(), "b".to_owned()],
            start: 0,
            edges: vec![(0, 0, 0.5), (0, 1, 0.5), (1, 1, 1.0)],
            event: "the event",
            risk: vec![Some(f64::NAN), Some(1.0)],
            reached: vec![false, true],
            paths: vec![(0.5, vec![0, 1])],
        };
        let rows = [DriftRow {
            state: named(),
            p: 0.0,
            differs: true,
        }];
        let pictures = [
            curve(hostile, Horizon::Within, &curve_points),
            reliability(hostile, &bins),
            roc(hostile, (0.8, (0.7, 0.9)), &points),
            chain(hostile, &states),
            drift(hostile, &rows),
        ];
        for text in [
            Picture::document(&pictures),
            Picture::page(hostile, &pictures),
        ] {
            for harmful in ["<script", "\u{1}", "\u{202e}", "\"NaN"] {
                assert!(!text.contains(harmful), "{harmful:?} in {text}");
            }
            for element in ["svg", "g", "text", "title"] {
                let open = [format!("<{element} "), format!("<{element}>")];
                let opened: usize = open.iter().map(|tag| text.matches(tag).count()).sum();
                let closed = text.matches(&format!("</{element}>")).count();
                assert_eq!(opened, closed, "{element}");
            }
        }
        assert!(pictures[3].markdown().lines().count() > 4);
    }
}
