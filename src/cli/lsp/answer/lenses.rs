//! Code lenses of tests, properties and systems.

use lsp_types::{CodeLens, CodeLensParams, Command};
use serde_json::{Value as Json, json};

use super::super::commands;
use super::super::convert;
use super::super::documents::Documents;
use crate::editor::Runs;

/// Returns the lenses of a text. `client` are the commands that the client implements; for others the commands of the server
/// are offered.
pub(in super::super) fn lenses(
    documents: &mut Documents,
    client: &[String],
    params: &CodeLensParams,
) -> Option<Vec<CodeLens>> {
    let uri = &params.text_document.uri;
    let analysis = documents.analysis(uri)?;
    let takes = |command: &str| client.iter().any(|own| own == command);
    let mut lenses = Vec::new();
    for lens in analysis.lenses() {
        let range = convert::range(analysis.file(), lens.at);
        let arguments: Vec<Json> = vec![json!(uri), json!(lens.name)];
        let mut offer = |title: &str, command: &str| {
            lenses.push(CodeLens {
                range,
                command: Some(Command::new(
                    title.to_owned(),
                    command.to_owned(),
                    Some(arguments.clone()),
                )),
                data: None,
            });
        };
        let pick = |own: &'static str, server: &'static str| if takes(own) { own } else { server };
        match lens.runs {
            Runs::Test => {
                offer("Run test", pick("guard.runTest", commands::RUN_TEST));
                if takes("guard.debugTest") {
                    offer("Debug test", "guard.debugTest");
                }
            }
            Runs::Audit => offer(
                "Audit traces…",
                pick("guard.auditTraces", commands::AUDIT_TRACES),
            ),
            Runs::Verify => offer("Verify", pick("guard.verify", commands::VERIFY)),
        }
    }
    Some(lenses)
}
