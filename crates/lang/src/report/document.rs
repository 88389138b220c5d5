//! The frame of every page: one HTML document with nothing from elsewhere.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::inert::inert;

/// Returns a page with this title, style sheet and body. Its content security policy allows the style sheet and what `directives`
/// name, each of which ends in `; `; no address of another origin, no form, and no other script or style.
pub fn document(title: &str, style: &str, directives: &str, body: &Markup) -> Markup {
    let policy = format!(
        "default-src 'none'; {directives}style-src {}; base-uri 'none'; form-action 'none'",
        source(style)
    );
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (inert(title)) }
                style { (PreEscaped(style)) }
            }
            body { (body) }
        }
    }
}

/// Returns the source of a content security policy that allows this script or style sheet alone.
pub(super) fn source(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}
