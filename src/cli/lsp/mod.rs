//! `guard lsp`: a language server on the standard input and output, for any editor that speaks the Language Server
//! Protocol (3.17).
//!
//! ```text
//! stdin ──▶ transport ──▶ server ──▶ documents ──▶ answer/…, diagnostics
//!           (reads ahead,  (one message            (analyses, kept while
//!            cancellations) after another)          nothing that they read changes)
//! ```
//!
//! A text that changed is analysed when no other message waits, or when a question about it is asked, so fast typing causes one
//! analysis per pause. Requests that were cancelled while they waited are not computed.

mod answer;
mod commands;
mod convert;
mod diagnostics;
mod documents;
mod server;
mod shown;
mod transport;

use std::io;

use super::failure::{Failure, Outcome};
use server::{End, Server};

#[derive(Debug, clap::Args)]
pub(super) struct LspArgs {
    /// Accepted for editors that say so; there is no other way
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(super) fn run(_args: LspArgs) -> Result<Outcome, Failure> {
    let (connection, cancelled, writer) = transport::start();
    let ended = Server::serve(connection, cancelled);
    shown::remove();
    let lost = || Failure::Output(io::Error::other("the thread that writes has ended"));
    writer
        .join()
        .map_err(|_| lost())?
        .map_err(Failure::Output)?;
    match ended {
        End::Orderly => Ok(Outcome::Holds),
        // The protocol requires exit code 1.
        End::WithoutShutdown => Err(Failure::AlreadyReported(1)),
    }
}
