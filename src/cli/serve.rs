//! `guard serve`: a small daemon for programs in other languages, over HTTP on this machine or a Unix socket.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::durable_monitor::{DurableMonitor, FileArgs, Setup};
use super::failure::{Failure, Outcome, code};
use super::http::{Answer, Head, Limits, Listener, Service};
use super::limits::LimitArgs;
use super::models::ModelArgs;
use crate::integrations::hook::{self, Call, Memory};

const AFTER_HELP: &str = "\
POST /v1/decide   lines as `guard monitor` reads them; one decision per line comes back
POST /v1/hook     one hook call of Claude Code or the Agent SDK; its answer comes back
GET  /v1/health   {\"v\":1,\"ok\":true,\"traces\":n}

Where a token is set, every request but /v1/health carries `Authorization: Bearer TOKEN`.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// The spec, or what `guard compile` made of it
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// The address to listen at
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:7437",
        conflicts_with = "socket"
    )]
    listen: String,
    /// Listen at a Unix socket instead
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// A file whose first line is the token that requests must carry; needed where others can reach the address
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The longest body of a request, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20)]
    max_body: usize,
    /// Connections at once; more are refused
    #[arg(long, value_name = "N", default_value_t = 256)]
    max_clients: usize,
    /// How long a request may take to arrive, and its answer to be taken
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    patience: u64,
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// What all requests share.
struct Shared {
    desk: Mutex<(DurableMonitor, Memory)>,
    token: Option<String>,
}

pub(super) fn run(args: Args) -> Result<Outcome, Failure> {
    let token = match &args.token_file {
        None => None,
        Some(path) => {
            let wrong = |why: String| {
                Failure::Usage(format!(
                    "cannot use the token in `{}`: {why}",
                    path.display()
                ))
            };
            let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
            let token = text.lines().next().unwrap_or_default().trim().to_owned();
            if token.len() < 16 {
                return Err(wrong("it has fewer than 16 characters".to_owned()));
            }
            Some(token)
        }
    };
    let listener = listen(&args, token.is_some())?;
    let (models, limits, files) = (&args.models, &args.limits, args.files.files());
    let desk = DurableMonitor::open(Setup::new(&args.spec, models, limits, files))?;
    let shared = Arc::new(Shared {
        desk: Mutex::new((desk, Memory::default())),
        token,
    });
    let place = match (&args.socket, listener.address()) {
        (Some(path), _) => path.display().to_string(),
        (None, Some(address)) => format!("http://{address}"),
        (None, None) => args.listen.clone(),
    };
    // That nobody reads it is no reason not to serve.
    let _ = writeln!(std::io::stderr(), "listening at {place}");
    let limits = Limits {
        body: args.max_body,
        clients: args.max_clients.max(1),
        patience: Duration::from_secs(args.patience.max(1)),
    };
    let ended = listener.serve(&shared, limits);
    shared.lock().0.close();
    ended
        .map_err(|error| Failure::Usage(format!("cannot listen at `{place}` any more: {error}")))?;
    Ok(Outcome::Holds)
}

/// Opens the address. Beyond this machine a token is needed.
fn listen(args: &Args, token: bool) -> Result<Listener, Failure> {
    let cannot = |at: &str, why: &dyn std::fmt::Display| {
        Failure::Usage(format!("cannot listen at `{at}`: {why}"))
    };
    if let Some(path) = &args.socket {
        let shown = path.display().to_string();
        // A socket that a daemon left behind when it was killed.
        if path.exists() && UnixStream::connect(path).is_err() {
            std::fs::remove_file(path).map_err(|error| cannot(&shown, &error))?;
        }
        let listener = UnixListener::bind(path).map_err(|error| cannot(&shown, &error))?;
        let only_me = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(path, only_me).map_err(|error| cannot(&shown, &error))?;
        return Ok(Listener::Unix(listener));
    }
    let addresses = args
        .listen
        .to_socket_addrs()
        .map_err(|error| cannot(&args.listen, &error))?;
    let addresses: Vec<SocketAddr> = addresses.collect();
    if !token && !addresses.iter().all(|address| address.ip().is_loopback()) {
        return Err(cannot(
            &args.listen,
            &"others can reach it; name a token with `--token-file`",
        ));
    }
    let listener = TcpListener::bind(addresses.as_slice());
    listener
        .map(Listener::Tcp)
        .map_err(|error| cannot(&args.listen, &error))
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, (DurableMonitor, Memory)> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One decision per line; deadlines that passed before make lines of their own.
    fn decide(&self, body: &[u8]) -> Answer {
        let mut desk = self.lock();
        let mut out = String::new();
        for line in body
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::trim_ascii)
            .filter(|line| !line.is_empty())
        {
            let decision = match desk.0.decide(line) {
                Ok(decision) => decision,
                Err(failure) => return Answer::refusal(500, &failure.to_string()),
            };
            for decision in std::mem::take(&mut desk.0.late).iter().chain([&decision]) {
                decision.write_json(&mut out);
                out.push('\n');
            }
        }
        Answer {
            status: 200,
            body: out,
            kind: "application/x-ndjson",
        }
    }

    /// A hook that cannot be judged is answered with what denies it: no status is sure to do so.
    fn hook(&self, body: &[u8]) -> Answer {
        let mut desk = self.lock();
        let (desk, memory) = &mut *desk;
        let call = match Call::read(body) {
            Ok(call) => call,
            Err(reason) => return Answer::json(&hook::denial("PreToolUse", &reason)),
        };
        match call.judge(desk, memory) {
            Ok(answer) => {
                desk.late.clear();
                Answer::json(&answer.json.unwrap_or_else(|| serde_json::json!({})))
            }
            Err(reason) => Answer::json(&hook::denial(call.hook(), &reason)),
        }
    }

    fn health(&self) -> Answer {
        let traces = self.lock().0.monitor.n_traces();
        Answer::json(&serde_json::json!({"v": 1, "ok": true, "traces": traces}))
    }
}

impl Service for Shared {
    fn admit(&self, head: &Head) -> Result<(), Answer> {
        let refused = |status, why| Err(Answer::refusal(status, why));
        // A page in a browser may send to this machine what its user never meant to.
        if head.field("Origin").is_some() {
            return refused(403, "requests of web pages are not answered");
        }
        if head.path == "/v1/health" {
            return Ok(());
        }
        if let Some(token) = &self.token {
            let given = head.field("Authorization");
            let given = given.and_then(|value| value.strip_prefix("Bearer "));
            // Hashes are compared, so that the time taken says nothing of the token.
            let right = given.is_some_and(|given| {
                blake3::hash(given.trim().as_bytes()) == blake3::hash(token.as_bytes())
            });
            if !right {
                return refused(401, "the token is missing or wrong");
            }
        }
        if !["/v1/decide", "/v1/hook"].contains(&head.path.as_str()) {
            return refused(404, "there is /v1/decide, /v1/hook and /v1/health");
        }
        if head.method != "POST" {
            return refused(405, "this is asked with POST");
        }
        Ok(())
    }

    fn answer(&self, head: &Head, body: &[u8]) -> Answer {
        let answered = std::panic::catch_unwind(AssertUnwindSafe(|| match head.path.as_str() {
            "/v1/health" => self.health(),
            "/v1/hook" => self.hook(body),
            _ => self.decide(body),
        }));
        answered.unwrap_or_else(|_| {
            // What a fault leaves behind is not to be trusted with further decisions.
            super::failure::internal_fault();
            std::process::exit(i32::from(code::INTERNAL))
        })
    }
}
