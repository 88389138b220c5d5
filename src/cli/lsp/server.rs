//! The session with one client: dispatch of messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    ClientCapabilities, CodeActionKind, CodeActionOptions, CodeLensOptions, CompletionOptions,
    DiagnosticOptions, DiagnosticServerCapabilities, DidChangeWatchedFilesRegistrationOptions,
    DocumentDiagnosticParams, DocumentDiagnosticReport, DocumentLinkOptions, ExecuteCommandOptions,
    FileChangeType, FileSystemWatcher, FoldingRangeProviderCapability,
    FullDocumentDiagnosticReport, GlobPattern, HoverProviderCapability, InitializeParams, OneOf,
    Registration, RegistrationParams, RelatedFullDocumentDiagnosticReport,
    RelatedUnchangedDocumentDiagnosticReport, RenameOptions, SelectionRangeProviderCapability,
    SemanticTokensFullOptions, SemanticTokensLegend, SemanticTokensOptions, ServerCapabilities,
    ShowMessageParams, SignatureHelpOptions, TextDocumentSyncCapability, TextDocumentSyncKind,
    UnchangedDocumentDiagnosticReport, WorkDoneProgressOptions, WorkspaceFoldersServerCapabilities,
    WorkspaceServerCapabilities,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::answer::{self, Tokens};
use super::commands::{self, Values};
use super::diagnostics::{self, Published};
use super::documents::Documents;
use super::transport::Cancelled;
use super::{convert, documents};
use crate::audit::Progress;
use crate::cli::failure::warn;

/// The stack size of a thread that runs a command: that of the main thread.
const STACK: usize = 8 << 20;

/// The end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// After `shutdown`, or at the end of the input.
    Orderly,
    /// By `exit` without `shutdown` before it.
    WithoutShutdown,
}

/// The capabilities of the client that responses depend on.
#[derive(Clone, Debug)]
struct Client {
    /// The client accepts definitions with the span of the whole declaration.
    takes_links: bool,
    /// The client accepts completions with placeholders.
    takes_snippets: bool,
    /// The client requests diagnostics and can be told that they changed; they are not published then.
    pulls: bool,
    /// The client can watch files on request.
    watches: bool,
    /// The client can request hints again.
    refreshes_hints: bool,
    /// The commands that the client implements, as listed under `experimental.commands.commands`.
    commands: Vec<String>,
}

impl Client {
    fn new(can: &ClientCapabilities) -> Client {
        let texts = can.text_document.as_ref();
        let workspace = can.workspace.as_ref();
        let links = texts.and_then(|texts| texts.definition.as_ref()?.link_support);
        let snippets = texts.and_then(|texts| {
            let items = texts.completion.as_ref()?.completion_item.as_ref()?;
            items.snippet_support
        });
        let refreshes = workspace.and_then(|all| all.diagnostic.as_ref()?.refresh_support);
        let watches =
            workspace.and_then(|all| all.did_change_watched_files.as_ref()?.dynamic_registration);
        let hints = workspace.and_then(|all| all.inlay_hint.as_ref()?.refresh_support);
        let commands = can.experimental.as_ref();
        let commands = commands.map(|all| all["commands"]["commands"].clone());
        Client {
            refreshes_hints: hints == Some(true),
            commands: commands
                .and_then(|all| serde_json::from_value(all).ok())
                .unwrap_or_default(),
            takes_links: links == Some(true),
            takes_snippets: snippets == Some(true),
            pulls: refreshes == Some(true) && texts.is_some_and(|texts| texts.diagnostic.is_some()),
            watches: watches == Some(true),
        }
    }
}

/// One session, after `initialize`.
pub(super) struct Server {
    connection: Connection,
    cancelled: Cancelled,
    client: Client,
    documents: Documents,
    published: Published,
    tokens: Tokens,
    values: Values,
    /// The commands that run on other threads.
    running: Arc<Progress>,
    /// The number of requests that were sent to the client.
    asked: Arc<AtomicI32>,
}

impl Server {
    /// Serves one client until it ends the session.
    pub(super) fn serve(connection: Connection, cancelled: Cancelled) -> End {
        let Some(params) = initialize(&connection) else {
            return End::WithoutShutdown;
        };
        let mut server = Server {
            client: Client::new(&params.capabilities),
            documents: Documents::new(&params),
            published: Published::default(),
            tokens: Tokens::default(),
            connection,
            cancelled,
            values: Values::default(),
            running: Arc::default(),
            asked: Arc::default(),
        };
        let end = server.run();
        server.running.stop.store(true, Ordering::Relaxed);
        end
    }

    fn run(&mut self) -> End {
        let mut shut_down = false;
        loop {
            self.publish();
            let Ok(message) = self.connection.receiver.recv() else {
                return End::Orderly;
            };
            match message {
                Message::Request(request) if shut_down => {
                    let reason = "the session was shut down";
                    self.send(error(request.id, ErrorCode::InvalidRequest, reason));
                }
                Message::Request(request) if request.method == request::Shutdown::METHOD => {
                    shut_down = true;
                    self.send(Response::new_ok(request.id, Json::Null));
                }
                Message::Request(request) if request.method == request::ExecuteCommand::METHOD => {
                    self.execute(request);
                }
                Message::Request(request) => {
                    let response = self.answer(request);
                    self.send(response);
                }
                Message::Notification(sent) if sent.method == notification::Exit::METHOD => {
                    return if shut_down {
                        End::Orderly
                    } else {
                        End::WithoutShutdown
                    };
                }
                Message::Notification(sent) => self.take(sent),
                Message::Response(_) => {}
            }
        }
    }

    /// Sends a message. If the client is gone, the end of the input will show it.
    fn send(&self, message: impl Into<Message>) {
        drop(self.connection.sender.send(message.into()));
    }

    fn ask<R: request::Request>(&mut self, params: R::Params) {
        self.send(request_to_client::<R>(&self.asked, params));
    }

    /// Starts a command; its response is sent when it is done.
    fn execute(&mut self, asked: Request) {
        let id = asked.id;
        if self.cancelled.take(&id) {
            return self.send(error(id, ErrorCode::RequestCanceled, "cancelled"));
        }
        let work = serde_json::from_value(asked.params)
            .map_err(|reason| (ErrorCode::InvalidParams, reason.to_string()))
            .and_then(|params| {
                commands::prepare(&mut self.documents, &self.values, &self.running, params)
                    .map_err(|reason| (ErrorCode::RequestFailed, reason))
            });
        let work = match work {
            Ok(work) => work,
            Err((code, reason)) => return self.send(error(id, code, &reason)),
        };
        let sender = self.connection.sender.clone();
        let (asked, refreshes) = (Arc::clone(&self.asked), self.client.refreshes_hints);
        let failed = id.clone();
        let begun = thread::Builder::new().stack_size(STACK).spawn(move || {
            // If the client is gone, the result is dropped.
            let send = |message: Message| drop(sender.send(message));
            match work() {
                Ok(done) => {
                    send(Response::new_ok(id, done.result).into());
                    if let Some((typ, message)) = done.message {
                        let params = ShowMessageParams { typ, message };
                        let method = notification::ShowMessage::METHOD.to_owned();
                        send(Notification::new(method, params).into());
                    }
                    if done.refreshes && refreshes {
                        send(
                            request_to_client::<request::InlayHintRefreshRequest>(&asked, ())
                                .into(),
                        );
                    }
                }
                Err(reason) => send(error(id, ErrorCode::RequestFailed, &reason).into()),
            }
        });
        if let Err(reason) = begun {
            self.send(error(failed, ErrorCode::InternalError, &reason.to_string()));
        }
    }

    /// Publishes diagnostics while no message waits.
    fn publish(&mut self) {
        while self.connection.receiver.is_empty() && !self.client.pulls {
            let Some(all) = self.published.next(&mut self.documents) else {
                break;
            };
            for params in all {
                let method = notification::PublishDiagnostics::METHOD.to_owned();
                self.send(Notification::new(method, params));
            }
        }
        if self.connection.receiver.is_empty() {
            self.cancelled.clear();
        }
    }

    /// Handles a notification. Unknown and invalid ones are ignored, as the protocol requires.
    fn take(&mut self, sent: Notification) {
        let method = sent.method.clone();
        if let Err(error) = self.take_known(sent) {
            warn(&format!("ignored `{method}`: {error}"));
        }
    }

    fn take_known(&mut self, sent: Notification) -> Result<(), serde_json::Error> {
        match sent.method.as_str() {
            notification::Initialized::METHOD => self.watch_files(),
            notification::DidOpenTextDocument::METHOD => {
                let params: lsp_types::DidOpenTextDocumentParams =
                    serde_json::from_value(sent.params)?;
                let document = params.text_document;
                self.documents
                    .open(document.uri, document.version, document.text);
                self.refresh();
            }
            notification::DidChangeTextDocument::METHOD => {
                let params: lsp_types::DidChangeTextDocumentParams =
                    serde_json::from_value(sent.params)?;
                let document = params.text_document;
                let others =
                    self.documents
                        .change(&document.uri, document.version, params.content_changes);
                if others {
                    self.refresh();
                }
            }
            notification::DidCloseTextDocument::METHOD => {
                let params: lsp_types::DidCloseTextDocumentParams =
                    serde_json::from_value(sent.params)?;
                self.tokens.forget(&params.text_document.uri);
                self.documents.close(&params.text_document.uri);
                self.refresh();
            }
            notification::DidChangeWorkspaceFolders::METHOD => {
                let params: lsp_types::DidChangeWorkspaceFoldersParams =
                    serde_json::from_value(sent.params)?;
                self.documents.folders_changed(&params.event);
                self.refresh();
            }
            notification::DidChangeWatchedFiles::METHOD => {
                let params: lsp_types::DidChangeWatchedFilesParams =
                    serde_json::from_value(sent.params)?;
                for change in params.changes {
                    let Some(path) = convert::path(&change.uri) else {
                        continue;
                    };
                    match change.typ {
                        // For an open file the text in the editor is used, not the text on disk.
                        _ if self.documents.is_open(&path) => {}
                        FileChangeType::CHANGED => {
                            self.documents.changed(&path);
                        }
                        _ => self.documents.came_or_went(&path),
                    }
                }
                self.refresh();
            }
            _ => {}
        }
        Ok(())
    }

    /// Asks the client, if it can, to report changes of specs on disk.
    fn watch_files(&mut self) {
        if !self.client.watches {
            return;
        }
        let options = DidChangeWatchedFilesRegistrationOptions {
            watchers: vec![FileSystemWatcher {
                glob_pattern: GlobPattern::String("**/*.guard".to_owned()),
                kind: None,
            }],
        };
        let registration = Registration {
            id: "specs".to_owned(),
            method: notification::DidChangeWatchedFiles::METHOD.to_owned(),
            register_options: serde_json::to_value(options).ok(),
        };
        self.ask::<request::RegisterCapability>(RegistrationParams {
            registrations: vec![registration],
        });
    }

    /// Tells a client that requests diagnostics that those of other texts may have changed.
    fn refresh(&mut self) {
        if self.client.pulls {
            self.ask::<request::WorkspaceDiagnosticRefresh>(());
        }
    }

    fn answer(&mut self, asked: Request) -> Response {
        if self.cancelled.take(&asked.id) {
            return error(asked.id, ErrorCode::RequestCanceled, "cancelled");
        }
        let client = &self.client;
        let documents = &mut self.documents;
        let tokens = &mut self.tokens;
        match asked.method.as_str() {
            request::HoverRequest::METHOD => with(asked, |params| answer::hover(documents, params)),
            request::GotoDefinition::METHOD => with(asked, |params| {
                answer::definition(documents, client.takes_links, params)
            }),
            request::References::METHOD => {
                with(asked, |params| answer::references(documents, params))
            }
            request::DocumentHighlightRequest::METHOD => {
                with(asked, |params| answer::highlights(documents, params))
            }
            request::DocumentSymbolRequest::METHOD => {
                with(asked, |params| answer::symbols(documents, params))
            }
            request::WorkspaceSymbolRequest::METHOD => with(asked, |params| {
                answer::workspace_symbols(documents, &params)
            }),
            request::Completion::METHOD => with(asked, |params| {
                answer::completion(documents, client.takes_snippets, params)
            }),
            request::SignatureHelpRequest::METHOD => {
                with(asked, |params| answer::signature(documents, params))
            }
            request::InlayHintRequest::METHOD => with(asked, |params| {
                answer::hints(documents, &self.values, params)
            }),
            request::InlineValueRequest::METHOD => {
                with(asked, |params| answer::inline_values(documents, params))
            }
            request::CodeLensRequest::METHOD => with(asked, |params| {
                answer::lenses(documents, &client.commands, &params)
            }),
            request::Formatting::METHOD => {
                with(asked, |params| answer::formatting(documents, params))
            }
            request::RangeFormatting::METHOD => {
                with(asked, |params| answer::range_formatting(documents, params))
            }
            request::CodeActionRequest::METHOD => {
                with(asked, |params| answer::actions(documents, params))
            }
            request::FoldingRangeRequest::METHOD => {
                with(asked, |params| answer::folds(documents, params))
            }
            request::SelectionRangeRequest::METHOD => {
                with(asked, |params| answer::selections(documents, params))
            }
            request::DocumentLinkRequest::METHOD => {
                with(asked, |params| answer::links(documents, params))
            }
            request::SemanticTokensFullRequest::METHOD => with(asked, |params| {
                answer::tokens_full(documents, tokens, params)
            }),
            request::SemanticTokensFullDeltaRequest::METHOD => with(asked, |params| {
                answer::tokens_delta(documents, tokens, params)
            }),
            request::SemanticTokensRangeRequest::METHOD => {
                with(asked, |params| answer::tokens_range(documents, params))
            }
            request::DocumentDiagnosticRequest::METHOD => {
                with(asked, |params| pulled(documents, &params))
            }
            request::PrepareRenameRequest::METHOD => {
                with(asked, |params| answer::prepare_rename(documents, params))
            }
            request::Rename::METHOD => match serde_json::from_value(asked.params) {
                Err(reason) => error(asked.id, ErrorCode::InvalidParams, &reason.to_string()),
                Ok(params) => match answer::rename(documents, &params) {
                    Ok(edit) => Response::new_ok(asked.id, edit),
                    Err(reason) => error(asked.id, ErrorCode::RequestFailed, &reason),
                },
            },
            other => {
                let reason = format!("unsupported method `{other}`");
                error(asked.id, ErrorCode::MethodNotFound, &reason)
            }
        }
    }
}

fn request_to_client<R: request::Request>(asked: &AtomicI32, params: R::Params) -> Request {
    let id = RequestId::from(asked.fetch_add(1, Ordering::Relaxed) + 1);
    Request::new(id, R::METHOD.to_owned(), params)
}

/// Answers `initialize`; `None` if the session ends before.
fn initialize(connection: &Connection) -> Option<InitializeParams> {
    loop {
        let response = match connection.receiver.recv().ok()? {
            Message::Notification(sent) if sent.method == notification::Exit::METHOD => {
                return None;
            }
            Message::Request(request) if request.method == request::Initialize::METHOD => {
                match serde_json::from_value::<InitializeParams>(request.params) {
                    Ok(params) => {
                        let answer = serde_json::json!({
                            "capabilities": capabilities(&Client::new(&params.capabilities)),
                            "serverInfo": { "name": "guard", "version": env!("CARGO_PKG_VERSION") },
                        });
                        let response = Response::new_ok(request.id, answer);
                        connection.sender.send(response.into()).ok()?;
                        return Some(params);
                    }
                    Err(reason) => error(request.id, ErrorCode::InvalidParams, &reason.to_string()),
                }
            }
            Message::Request(request) => error(
                request.id,
                ErrorCode::ServerNotInitialized,
                "`initialize` comes first",
            ),
            _ => continue,
        };
        connection.sender.send(response.into()).ok()?;
    }
}

fn capabilities(client: &Client) -> ServerCapabilities {
    let progress = WorkDoneProgressOptions::default();
    let words = |all: &[&str]| Some(all.iter().map(|word| (*word).to_owned()).collect());
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(
            TextDocumentSyncKind::INCREMENTAL,
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_range_formatting_provider: Some(OneOf::Left(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        inline_value_provider: Some(OneOf::Left(true)),
        code_lens_provider: Some(CodeLensOptions {
            resolve_provider: None,
        }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: words(&commands::ALL).unwrap_or_default(),
            work_done_progress_options: progress,
        }),
        selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: None,
            work_done_progress_options: progress,
        }),
        code_action_provider: Some(
            CodeActionOptions {
                code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, answer::FIX_ALL]),
                ..CodeActionOptions::default()
            }
            .into(),
        ),
        completion_provider: Some(CompletionOptions {
            trigger_characters: words(&[".", "@", "{", "("]),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: words(&["(", ","]),
            ..SignatureHelpOptions::default()
        }),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: progress,
        })),
        diagnostic_provider: client
            .pulls
            .then_some(DiagnosticServerCapabilities::Options(DiagnosticOptions {
                identifier: None,
                inter_file_dependencies: true,
                workspace_diagnostics: false,
                work_done_progress_options: progress,
            })),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                work_done_progress_options: progress,
                legend: SemanticTokensLegend {
                    token_types: convert::TOKEN_TYPES.to_vec(),
                    token_modifiers: convert::TOKEN_MODIFIERS.to_vec(),
                },
                range: Some(true),
                full: Some(SemanticTokensFullOptions::Delta { delta: Some(true) }),
            }
            .into(),
        ),
        ..ServerCapabilities::default()
    }
}

/// Returns the diagnostics of a text for a client that requests them, with those in files that only it imports.
fn pulled(
    documents: &mut Documents,
    params: &DocumentDiagnosticParams,
) -> Option<DocumentDiagnosticReport> {
    let path = convert::path(&params.text_document.uri)?;
    documents.analyse(&path)?;
    let (document, analysis): (&documents::Document, _) = documents.get(&path)?;
    let id = diagnostics::result_id(document);
    if params.previous_result_id.as_ref() == Some(&id) {
        let unchanged = RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport {
                result_id: id,
            },
        };
        return Some(DocumentDiagnosticReport::Unchanged(unchanged));
    }
    let mut found = diagnostics::by_file(analysis?, &path, documents);
    let own = FullDocumentDiagnosticReport {
        result_id: Some(id),
        items: found.remove(&path).unwrap_or_default(),
    };
    Some(DocumentDiagnosticReport::Full(
        RelatedFullDocumentDiagnosticReport {
            related_documents: diagnostics::related(found),
            full_document_diagnostic_report: own,
        },
    ))
}

fn with<P, A>(asked: Request, answer: impl FnOnce(P) -> A) -> Response
where
    P: DeserializeOwned,
    A: Serialize,
{
    match serde_json::from_value(asked.params) {
        Ok(params) => Response::new_ok(asked.id, answer(params)),
        Err(reason) => error(asked.id, ErrorCode::InvalidParams, &reason.to_string()),
    }
}

fn error(id: RequestId, code: ErrorCode, reason: &str) -> Response {
    Response::new_err(id, code as i32, reason.to_owned())
}
