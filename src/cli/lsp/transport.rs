//! Transport of messages between the standard streams and the server, and tracking of cancelled requests.
//!
//! A thread reads ahead, so that a cancellation is known before its request is answered. An invalid message is reported
//! and skipped.

use std::collections::HashSet;
use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use lsp_server::{Connection, Message, RequestId};
use lsp_types::notification::{Cancel, Notification as _};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::Value as Json;

use crate::cli::failure::warn;
use crate::cli::frames;

/// The requests that the client no longer waits for.
#[derive(Clone, Debug, Default)]
pub(super) struct Cancelled {
    ids: Arc<Mutex<HashSet<RequestId>>>,
}

impl Cancelled {
    fn add(&self, id: RequestId) {
        self.lock().insert(id);
    }

    /// Whether a request was cancelled; the entry is removed.
    pub(super) fn take(&self, id: &RequestId) -> bool {
        self.lock().remove(id)
    }

    /// Forgets cancellations that came after the answer.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<RequestId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts reading and writing the standard streams. The server's end of the connection is returned; the writer ends after
/// everything was written and the connection was dropped.
pub(super) fn start() -> (Connection, Cancelled, thread::JoinHandle<io::Result<()>>) {
    let (server, client) = Connection::memory();
    let cancelled = Cancelled::default();
    let (to, known) = (client.sender, cancelled.clone());
    // The thread waits for input that may never come, so it is not joined.
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(message) = next(&mut input) {
            if let Some(id) = cancelled_id(&message) {
                known.add(id);
            } else if to.send(message).is_err() {
                break;
            }
        }
    });
    let from = client.receiver;
    let writer = thread::spawn(move || {
        let mut output = io::stdout().lock();
        for message in from {
            message.write(&mut output)?;
        }
        output.flush()
    });
    (server, cancelled, writer)
}

/// Reads the next valid message; `None` at the end of the input.
fn next(input: &mut impl BufRead) -> Option<Message> {
    loop {
        let why = match frames::read(input).ok()?? {
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(message) => return Some(mended(message)),
                Err(error) => error.to_string(),
            },
            Err(why) => why,
        };
        warn(&format!("skipped a message that cannot be read: {why}"));
    }
}

fn cancelled_id(message: &Message) -> Option<RequestId> {
    let Message::Notification(notification) = message else {
        return None;
    };
    (notification.method == Cancel::METHOD)
        .then(|| serde_json::from_value(notification.params["id"].clone()).ok())
        .flatten()
}

/// The characters that an address must escape, and that some clients do not escape (RFC 3986). `%` begins an escape.
const UNSAFE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b']')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Escapes addresses if necessary, and gives documents without a version the version 0.
fn mended(mut message: Message) -> Message {
    match &mut message {
        Message::Request(request) => mend(&mut request.params),
        Message::Notification(notification) => mend(&mut notification.params),
        Message::Response(_) => {}
    }
    message
}

fn mend(value: &mut Json) {
    match value {
        Json::Object(members) => {
            for (key, member) in members {
                match member {
                    Json::String(uri)
                        if key.eq_ignore_ascii_case("uri") || key.ends_with("Uri") =>
                    {
                        *uri = utf8_percent_encode(uri, UNSAFE).to_string();
                    }
                    Json::Null if key == "version" => *member = Json::from(0),
                    member => mend(member),
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(mend),
        _ => {}
    }
}
