//! `guard lsp`: a language server on the standard input and output, for any editor that speaks the Language Server
//! Protocol (3.17).
//!
//! Messages are handled one after another on one thread. Texts come whole; a text that changed is analysed when no other
//! message waits, or when a question about it is asked, so fast typing costs one analysis a pause.

mod answer;
mod convert;
mod documents;

use std::error::Error;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CodeActionProviderCapability, CompletionOptions, FoldingRangeProviderCapability,
    HoverProviderCapability, InitializeParams, OneOf, PublishDiagnosticsParams, RenameOptions,
    SemanticTokensFullOptions, SemanticTokensLegend, SemanticTokensOptions, ServerCapabilities,
    TextDocumentSyncCapability, TextDocumentSyncKind, WorkDoneProgressOptions,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::failure::{Failure, Outcome};
use documents::Documents;

#[derive(Debug, clap::Args)]
pub(super) struct LspArgs {
    /// Accepted for editors that say so; there is no other way
    #[arg(long, hide = true)]
    stdio: bool,
}

/// The error that ends the server before its client does.
type Fault = Box<dyn Error + Send + Sync>;

pub(super) fn run(_args: LspArgs) -> Result<Outcome, Failure> {
    let (connection, threads) = Connection::stdio();
    let served = serve(&connection);
    documents::remove_embedded();
    // The threads end when nobody can send to them any more.
    drop(connection);
    served.map_err(|fault| Failure::Usage(format!("invalid message from the editor: {fault}")))?;
    threads.join().map_err(Failure::Output)?;
    Ok(Outcome::Holds)
}

/// Serves one client until it ends the session.
fn serve(connection: &Connection) -> Result<(), Fault> {
    let (id, params) = connection.initialize_start()?;
    let params: InitializeParams = serde_json::from_value(params)?;
    let answer = serde_json::json!({
        "capabilities": capabilities(),
        "serverInfo": { "name": "guard", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, answer)?;
    let mut server = Server {
        connection,
        documents: Documents::new(&params),
    };
    loop {
        if connection.receiver.is_empty() {
            server.publish()?;
        }
        let Ok(message) = connection.receiver.recv() else {
            return Ok(());
        };
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request)? {
                    return Ok(());
                }
                let response = server.answer(request);
                connection.sender.send(Message::Response(response))?;
            }
            Message::Notification(notification) => server.take(notification)?,
            Message::Response(_) => {}
        }
    }
}

fn capabilities() -> ServerCapabilities {
    let progress = WorkDoneProgressOptions::default();
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::FULL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec![".".to_owned(), "@".to_owned()]),
            ..CompletionOptions::default()
        }),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: progress,
        })),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                work_done_progress_options: progress,
                legend: SemanticTokensLegend {
                    token_types: convert::TOKEN_TYPES.to_vec(),
                    token_modifiers: convert::TOKEN_MODIFIERS.to_vec(),
                },
                range: None,
                full: Some(SemanticTokensFullOptions::Bool(true)),
            }
            .into(),
        ),
        ..ServerCapabilities::default()
    }
}

struct Server<'c> {
    connection: &'c Connection,
    documents: Documents,
}

impl Server<'_> {
    /// Handles a notification. Unknown ones are ignored, as the protocol requires.
    fn take(&mut self, told: Notification) -> Result<(), Fault> {
        match told.method.as_str() {
            notification::DidOpenTextDocument::METHOD => {
                let params: lsp_types::DidOpenTextDocumentParams =
                    serde_json::from_value(told.params)?;
                let document = params.text_document;
                self.documents
                    .set(document.uri, document.version, document.text);
            }
            notification::DidChangeTextDocument::METHOD => {
                let params: lsp_types::DidChangeTextDocumentParams =
                    serde_json::from_value(told.params)?;
                let document = params.text_document;
                if let Some(change) = params.content_changes.into_iter().next_back() {
                    self.documents
                        .set(document.uri, document.version, change.text);
                }
            }
            notification::DidCloseTextDocument::METHOD => {
                let params: lsp_types::DidCloseTextDocumentParams =
                    serde_json::from_value(told.params)?;
                self.documents.close(&params.text_document.uri);
            }
            notification::DidSaveTextDocument::METHOD
            | notification::DidChangeWatchedFiles::METHOD => self.documents.files_changed(),
            _ => {}
        }
        Ok(())
    }

    /// Publishes the diagnostics of the texts that changed.
    fn publish(&mut self) -> Result<(), Fault> {
        for params in self.documents.findings() {
            self.notify::<notification::PublishDiagnostics>(params)?;
        }
        Ok(())
    }

    fn notify<N>(&self, params: PublishDiagnosticsParams) -> Result<(), Fault>
    where
        N: notification::Notification<Params = PublishDiagnosticsParams>,
    {
        let message = Notification::new(N::METHOD.to_owned(), params);
        Ok(self
            .connection
            .sender
            .send(Message::Notification(message))?)
    }

    fn answer(&mut self, asked: Request) -> Response {
        let documents = &mut self.documents;
        match asked.method.as_str() {
            request::HoverRequest::METHOD => with(asked, |params| answer::hover(documents, params)),
            request::GotoDefinition::METHOD => {
                with(asked, |params| answer::definition(documents, params))
            }
            request::References::METHOD => {
                with(asked, |params| answer::references(documents, params))
            }
            request::DocumentHighlightRequest::METHOD => {
                with(asked, |params| answer::highlights(documents, params))
            }
            request::DocumentSymbolRequest::METHOD => {
                with(asked, |params| answer::symbols(documents, params))
            }
            request::Completion::METHOD => {
                with(asked, |params| answer::completion(documents, params))
            }
            request::Formatting::METHOD => {
                with(asked, |params| answer::formatting(documents, params))
            }
            request::CodeActionRequest::METHOD => {
                with(asked, |params| answer::actions(documents, params))
            }
            request::FoldingRangeRequest::METHOD => {
                with(asked, |params| answer::folds(documents, params))
            }
            request::SemanticTokensFullRequest::METHOD => {
                with(asked, |params| answer::tokens(documents, params))
            }
            request::PrepareRenameRequest::METHOD => {
                with(asked, |params| answer::prepare_rename(documents, params))
            }
            request::Rename::METHOD => {
                let id = asked.id.clone();
                match serde_json::from_value(asked.params) {
                    Err(error) => invalid(id, &error.to_string()),
                    Ok(params) => match answer::rename(documents, &params) {
                        Ok(edit) => Response::new_ok(id, edit),
                        Err(reason) => Response::new_err(id, REQUEST_FAILED, reason),
                    },
                }
            }
            other => Response::new_err(
                asked.id,
                ErrorCode::MethodNotFound as i32,
                format!("unsupported method `{other}`"),
            ),
        }
    }
}

/// `RequestFailed` of the protocol: the question was understood, and the answer is a reason for people.
const REQUEST_FAILED: i32 = -32803;

fn with<P, A>(asked: Request, answer: impl FnOnce(P) -> A) -> Response
where
    P: DeserializeOwned,
    A: Serialize,
{
    match serde_json::from_value(asked.params) {
        Ok(params) => Response::new_ok(asked.id, answer(params)),
        Err(error) => invalid(asked.id, &error.to_string()),
    }
}

fn invalid(id: lsp_server::RequestId, reason: &str) -> Response {
    Response::new_err(id, ErrorCode::InvalidParams as i32, reason.to_owned())
}
