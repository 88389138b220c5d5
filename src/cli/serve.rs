//! `guard serve`: a small daemon for programs in other languages, over HTTP on this machine or a Unix socket.

use std::io::{Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tiny_http::{Header, Method, Request, Response, Server};

use super::desk::{Clock, Desk, FileArgs, Setup};
use super::failure::{Failure, Outcome, code};
use super::limits::LimitArgs;
use super::models::ModelArgs;
use crate::ways::hook::{self, Call, Memory};

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
    /// Requests that are answered at once; more wait
    #[arg(long, value_name = "N", default_value_t = 16)]
    threads: usize,
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// What all requests share.
struct Shared {
    desk: Mutex<(Desk, Memory)>,
    token: Option<String>,
    max_body: usize,
}

/// What is answered: a status and a body.
struct Answer {
    status: u16,
    body: String,
    kind: &'static str,
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
    let server = Arc::new(listen(&args, token.is_some())?);
    let desk = Desk::open(Setup {
        spec: &args.spec,
        models: &args.models,
        limits: &args.limits,
        files: args.files.files(),
        clock: Clock::Wall,
        options: &|_| {},
    })?;
    let shared = Arc::new(Shared {
        desk: Mutex::new((desk, Memory::default())),
        token,
        max_body: args.max_body,
    });
    let place = match &args.socket {
        Some(path) => path.display().to_string(),
        None => format!("http://{}", server.server_addr()),
    };
    // That nobody reads it is no reason not to serve.
    let _ = writeln!(std::io::stderr(), "listening at {place}");
    let workers: Vec<_> = (0..args.threads.max(1))
        .map(|_| {
            let (server, shared) = (Arc::clone(&server), Arc::clone(&shared));
            std::thread::spawn(move || {
                while let Ok(request) = server.recv() {
                    // What a fault leaves behind is not to be trusted with further decisions.
                    if std::panic::catch_unwind(AssertUnwindSafe(|| serve(&shared, request)))
                        .is_err()
                    {
                        super::failure::internal_fault();
                        std::process::exit(i32::from(code::INTERNAL));
                    }
                }
            })
        })
        .collect();
    for worker in workers {
        if worker.join().is_err() {
            return Err(Failure::Told(code::INTERNAL));
        }
    }
    lock(&shared).0.close();
    Ok(Outcome::Holds)
}

fn lock(shared: &Shared) -> std::sync::MutexGuard<'_, (Desk, Memory)> {
    shared.desk.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens the address. Beyond this machine a token is needed.
fn listen(args: &Args, token: bool) -> Result<Server, Failure> {
    let cannot = |at: &str, why: &dyn std::fmt::Display| {
        Failure::Usage(format!("cannot listen at `{at}`: {why}"))
    };
    if let Some(path) = &args.socket {
        let shown = path.display().to_string();
        // A socket that a daemon left behind when it was killed.
        if path.exists() && std::os::unix::net::UnixStream::connect(path).is_err() {
            std::fs::remove_file(path).map_err(|error| cannot(&shown, &error))?;
        }
        let server = Server::http_unix(path).map_err(|error| cannot(&shown, &error))?;
        let only_me = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(path, only_me).map_err(|error| cannot(&shown, &error))?;
        return Ok(server);
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
    Server::http(addresses.as_slice()).map_err(|error| cannot(&args.listen, &error))
}

fn serve(shared: &Shared, mut request: Request) {
    let answer = answer(shared, &mut request);
    let mut response = Response::from_string(answer.body).with_status_code(answer.status);
    if let Ok(header) = Header::from_bytes("Content-Type", answer.kind) {
        response.add_header(header);
    }
    // A client that has gone needs no answer; what was decided is kept.
    let _ = request.respond(response);
}

fn refusal(status: u16, why: &str) -> Answer {
    let body = serde_json::json!({"v": 1, "error": why}).to_string();
    Answer {
        status,
        body,
        kind: "application/json",
    }
}

fn header<'r>(request: &'r Request, name: &'static str) -> Option<&'r str> {
    let found = request
        .headers()
        .iter()
        .find(|header| header.field.equiv(name));
    found.map(|header| header.value.as_str())
}

fn answer(shared: &Shared, request: &mut Request) -> Answer {
    // A page in a browser may send to this machine what its user never meant to.
    if header(request, "Origin").is_some() {
        return refusal(403, "requests of web pages are not answered");
    }
    let path = request
        .url()
        .split('?')
        .next()
        .unwrap_or_default()
        .to_owned();
    if path == "/v1/health" {
        let traces = lock(shared).0.monitor.n_traces();
        let body = serde_json::json!({"v": 1, "ok": true, "traces": traces}).to_string();
        return Answer {
            status: 200,
            body,
            kind: "application/json",
        };
    }
    if let Some(token) = &shared.token {
        let given =
            header(request, "Authorization").and_then(|value| value.strip_prefix("Bearer "));
        // Hashes are compared, so that the time taken says nothing of the token.
        let right = given.is_some_and(|given| {
            blake3::hash(given.trim().as_bytes()) == blake3::hash(token.as_bytes())
        });
        if !right {
            return refusal(401, "the token is missing or wrong");
        }
    }
    if !["/v1/decide", "/v1/hook"].contains(&path.as_str()) {
        return refusal(404, "there is /v1/decide, /v1/hook and /v1/health");
    }
    if *request.method() != Method::Post {
        return refusal(405, "this is asked with POST");
    }
    let mut body = Vec::new();
    let limit = shared.max_body as u64 + 1;
    match request.as_reader().take(limit).read_to_end(&mut body) {
        Err(error) => return refusal(400, &format!("the body cannot be read: {error}")),
        Ok(_) if body.len() > shared.max_body => {
            let why = format!(
                "the body is longer than {} bytes; `--max-body` raises that",
                shared.max_body
            );
            return refusal(413, &why);
        }
        Ok(_) => {}
    }
    if path == "/v1/hook" {
        hook_answer(shared, &body)
    } else {
        decide(shared, &body)
    }
}

/// One decision per line; deadlines that passed before make lines of their own.
fn decide(shared: &Shared, body: &[u8]) -> Answer {
    let mut desk = lock(shared);
    let mut out = String::new();
    for line in body
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty())
    {
        let decision = match desk.0.decide(line) {
            Ok(decision) => decision,
            Err(failure) => return refusal(500, &failure.to_string()),
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

/// A hook that cannot be judged gets a status that its caller takes for an error, and a body that denies.
fn hook_answer(shared: &Shared, body: &[u8]) -> Answer {
    let mut desk = lock(shared);
    let (desk, memory) = &mut *desk;
    let json = |value: &serde_json::Value| Answer {
        status: 200,
        body: value.to_string(),
        kind: "application/json",
    };
    let call = match Call::read(body) {
        Ok(call) => call,
        Err(reason) => return json(&hook::denial("PreToolUse", &reason)),
    };
    match call.judge(desk, memory) {
        Ok(answer) => {
            desk.late.clear();
            json(&answer.json.unwrap_or_else(|| serde_json::json!({})))
        }
        Err(reason) => json(&hook::denial(call.hook(), &reason)),
    }
}
