//! Differences as one page of HTML, with nothing from elsewhere.

use maud::{Markup, html};

use super::write::{
    change_text, claim_text, decision_text, details, events_text, lenient_text, runs_head, title,
};
use super::{Diff, PropertyChange, Relation, Witness};
use crate::inert::inert;
use crate::report::document::document;

/// The style of the page, in light and dark.
const STYLE: &str = "\
:root{color-scheme:light dark}body{margin:1rem auto;max-width:60rem;padding:0 1rem;font:15px/1.5 system-ui,\"DejaVu Sans\",sans-serif}\
h1{font-size:1.3rem}h2{font-size:1.1rem}table{border-collapse:collapse}th,td{border-bottom:1px solid #8888;padding:.2rem 1rem .2rem 0;text-align:left;vertical-align:top}\
pre{overflow:auto;padding:.5rem;border:1px solid #8888;border-radius:6px}.looser,.removed,.different{color:light-dark(#b3261e,#ff8a80);font-weight:700}.undecided{color:light-dark(#7a5200,#ffc46b);font-weight:700}";

impl Diff {
    /// Returns the differences as a page of HTML.
    pub fn to_html(&self) -> String {
        let body = html! {
            main {
                h1 { (inert(&self.summary())) }
                (self.properties_table())
                @if !self.decisions.is_empty() || !self.lenient.is_empty() {
                    h2 { "Decisions" }
                    @for change in &self.decisions {
                        (statement(&decision_text(change), change.found.witness()))
                    }
                    @for name in &self.lenient { (statement(&lenient_text(name), None)) }
                }
                @if !self.claims.is_empty() {
                    h2 { "Models and systems" }
                    @for claim in &self.claims { (statement(&claim_text(claim), None)) }
                }
                @if let Some(runs) = &self.runs {
                    h2 { "Recorded runs" }
                    p { (inert(&runs_head(runs))) }
                    @for change in runs.changes() {
                        p { (inert(&change_text(change))) }
                        ul { @for example in &change.examples { li { (inert(&example.text())) } } }
                    }
                }
            }
        };
        document("guard diff", STYLE, "", &body).into_string()
    }

    fn properties_table(&self) -> Markup {
        html! {
            table {
                thead { tr { th scope="col" { "property" } th scope="col" { "change" } } }
                tbody {
                    @for change in self.in_order() {
                        tr {
                            th scope="row" { (inert(&title(change))) }
                            td { (property(change)) }
                        }
                    }
                }
            }
        }
    }
}

fn property(change: &PropertyChange) -> Markup {
    let relation: Relation = change.status.relation();
    html! {
        span class=(relation.as_str()) { (relation.as_str()) }
        @for part in details(change) { (statement(&part.says, part.witness)) }
    }
}

/// Returns a sentence with the trace that shows it.
fn statement(says: &str, witness: Option<&Witness>) -> Markup {
    html! {
        p { (inert(says)) }
        @if let Some(witness) = witness { pre tabindex="0" { (events_text(witness)) } }
    }
}
