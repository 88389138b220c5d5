//! The requests of the page, and the answers.

use std::io::BufRead;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::http::Service;
use super::TEXT;
use super::audited::{Audited, Input};
use super::file::{SpecFile, Unsaved};
use super::list::Wanted;
use crate::audit::Progress;
use crate::diagnostic::{self, RenderOptions, Severity};
use crate::diff;
use crate::integrations::http::{RequestHead, Response};
use crate::load::{Loaded, folder_of};
use crate::report::html::tame;

/// The time limit for judging the traces by a changed spec; the remaining traces are left out.
const PATIENCE: Duration = Duration::from_secs(5);
/// The stack size of the thread that checks a changed spec, whose text may be nested up to the limits.
const STACK: usize = 64 << 20;

/// Answers the requests of the page.
pub(super) struct View {
    input: Input,
    /// Another one after the spec was saved.
    audited: RwLock<Arc<Audited>>,
    /// The hashes are compared, so that the time reveals nothing about the token.
    token: blake3::Hash,
    port: u16,
    /// The file that the page may replace.
    file: Option<SpecFile>,
    /// The number of the latest check: the result of an earlier check is no longer needed.
    latest: AtomicU64,
    checking: Mutex<()>,
}

/// The requests.
#[derive(Clone, Copy, Debug)]
pub(super) enum Route {
    Page,
    List,
    Trace(usize),
    Check,
    Save,
}

/// A text that is to replace that of the spec's file.
#[derive(Debug, Deserialize)]
struct Saving {
    /// The name of the text that was changed.
    base: String,
    spec: String,
}

impl View {
    pub(super) fn new(
        input: Input,
        audited: Audited,
        token: &str,
        port: u16,
        file: Option<SpecFile>,
    ) -> View {
        View {
            input,
            audited: RwLock::new(Arc::new(audited)),
            token: blake3::hash(token.as_bytes()),
            port,
            file,
            latest: AtomicU64::new(0),
            checking: Mutex::new(()),
        }
    }

    fn audited(&self) -> Arc<Audited> {
        Arc::clone(&self.audited.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Begins to collect what the first change of the spec is compared with.
    pub(super) fn prepare(self: &Arc<View>) {
        let view = Arc::clone(self);
        // Without the thread, the first check takes longer.
        let thread = std::thread::Builder::new().stack_size(STACK);
        let _ = thread.spawn(move || {
            view.audited().before(&view.input.sources);
        });
    }

    /// Whether a request comes from the page itself, or from the address bar.
    fn is_own(&self, head: &RequestHead) -> bool {
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        let mut named = head.fields("Host");
        let host = named
            .next()
            .filter(|host| hosts.iter().any(|own| own == host));
        let Some(host) = host else {
            return false;
        };
        let origin = format!("http://{host}");
        named.next().is_none()
            && head.fields("Origin").all(|given| given == origin)
            && head
                .fields("Sec-Fetch-Site")
                .all(|site| site == "none" || site == "same-origin")
    }

    /// Checks a text of the spec. Returns it with its diagnostics.
    fn load(&self, text: &str) -> (Loaded, Value) {
        let name = self.input.path.display().to_string();
        let mut loaded = Loaded::from_source(&name, text, &folder_of(&self.input.path));
        loaded.lint();
        let shown = loaded.diagnostics.clone();
        let mut told = json!({});
        if !shown.is_empty() {
            let text = diagnostic::render(&shown, &loaded.sources, RenderOptions { color: false });
            told["diagnostics"] = tame(&text);
        }
        (loaded, told)
    }

    /// Checks a changed text of the spec, and judges the traces by it.
    fn check(&self, text: &str) -> Value {
        let number = self.latest.fetch_add(1, Ordering::AcqRel) + 1;
        let _turn = self.checking.lock().unwrap_or_else(PoisonError::into_inner);
        let is_late = || self.latest.load(Ordering::Acquire) != number;
        if is_late() {
            return json!({"error": "a later text is checked"});
        }
        let (mut loaded, mut told) = self.load(text);
        let Some(spec) = loaded.spec.take() else {
            return told;
        };
        let judge = match self.input.judge(&spec) {
            Ok(judge) => judge,
            Err(error) => {
                told["error"] = json!(error);
                return told;
            }
        };
        let audited = self.audited();
        let before = audited.before(&self.input.sources);
        let until = Instant::now() + PATIENCE;
        let stops = || Instant::now() > until || is_late();
        let progress = Progress::default();
        let sources = &self.input.sources;
        let after = diff::collect(
            &judge,
            sources,
            &progress,
            Some(before),
            &mut |_| {},
            &stops,
        );
        let pairs = diff::same_names(&audited.spec, &spec);
        let mut runs = diff::compare_runs(before, &after, &pairs).to_json();
        let mut changes: Vec<Value> = Vec::new();
        for kind in ["decisions", "verdicts"] {
            if let Value::Array(found) = runs[kind].take() {
                changes.extend(found);
            }
        }
        for change in &mut changes {
            let examples = change["examples"].as_array_mut();
            for example in examples.into_iter().flatten() {
                let text = |name: &str| example[name].as_str().unwrap_or_default();
                let line = example["line"].as_u64().unwrap_or_default();
                let number = audited.list.number(text("file"), line, text("trace"));
                example["n"] = json!(number);
            }
        }
        told["traces"] = runs["traces"].take();
        told["changes"] = Value::Array(changes);
        told
    }

    /// Saves a text to the file of the spec, if it has no errors, and judges the traces by it.
    fn save(&self, body: &str) -> Response {
        let Some(file) = &self.file else {
            let why = "nothing is written: start `guard view` with `--write` to save the spec";
            return Response::refusal(403, why);
        };
        let Ok(Saving { base, spec: text }) = serde_json::from_str(body) else {
            return Response::refusal(400, "expected an object with `base` and `spec`");
        };
        if text.len() > TEXT {
            return Response::refusal(413, "the text is too long");
        }
        let (loaded, _) = self.load(&text);
        let is_error = |found: &diagnostic::Diagnostic| found.severity == Severity::Error;
        if loaded.spec.is_none() || loaded.diagnostics.iter().any(is_error) {
            return Response::refusal(422, "the spec has errors, so it was not saved");
        }
        let written = match file.save(&base, &text) {
            Ok(written) => written,
            Err(Unsaved::Changed) => {
                let why = "the file was changed meanwhile, so it was not saved: copy your text, and load this page again";
                return Response::refusal(409, why);
            }
            Err(Unsaved::Failed(error)) => {
                return Response::refusal(500, &format!("the file cannot be saved: {error}"));
            }
        };
        let (mut loaded, _) = self.load(&written);
        let audited = match loaded.spec.take() {
            Some(spec) => Audited::new(&self.input, spec, &loaded),
            None => Err("it has errors".to_owned()),
        };
        match audited {
            Ok(audited) => {
                let mut current = self.audited.write().unwrap_or_else(PoisonError::into_inner);
                *current = Arc::new(audited);
                Response::json(&json!({"saved": true}))
            }
            Err(error) => {
                let why = format!("the file is saved, but the traces cannot be judged: {error}");
                Response::json(&json!({"saved": true, "error": why}))
            }
        }
    }

    /// Does work on a thread whose stack is large enough for any spec.
    fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK);
            let thread = thread.spawn_scoped(scope, work);
            thread.ok().and_then(|thread| thread.join().ok())
        })
    }
}

impl Service for View {
    type Grant = Route;

    fn admit(&self, head: &RequestHead) -> Result<Route, Response> {
        if !self.is_own(head) {
            let why = "only the page that this program serves may ask, by the address it was given";
            return Err(Response::refusal(403, why));
        }
        let path = head.path.strip_prefix('/').unwrap_or_default();
        let (token, rest) = path.split_once('/').unwrap_or((path, ""));
        if blake3::hash(token.as_bytes()) != self.token {
            return Err(Response::refusal(401, "missing or wrong token"));
        }
        let number = rest
            .strip_prefix("trace/")
            .and_then(|number| number.parse().ok());
        let (route, method) = match (rest, number) {
            ("", _) => (Route::Page, "GET"),
            ("list", _) => (Route::List, "POST"),
            ("check", _) => (Route::Check, "POST"),
            ("save", _) => (Route::Save, "POST"),
            (_, Some(number)) => (Route::Trace(number), "GET"),
            _ => return Err(Response::refusal(404, "unknown path")),
        };
        if head.method != method {
            return Err(Response::refusal(
                405,
                "another method is needed for this path",
            ));
        }
        Ok(route)
    }

    fn answer(&self, _: &RequestHead, route: Route, body: Vec<u8>) -> Response {
        let Ok(body) = String::from_utf8(body) else {
            return Response::refusal(400, "the text is not UTF-8");
        };
        match route {
            Route::Page => Response {
                status: 200,
                body: self.audited().html.clone(),
                kind: "text/html; charset=utf-8",
            },
            Route::List => match serde_json::from_str::<Wanted>(&body) {
                Ok(wanted) => Response::json(&self.audited().list.part(&wanted)),
                Err(error) => Response::refusal(400, &error.to_string()),
            },
            Route::Trace(number) => {
                let audited = self.audited();
                if number >= audited.list.len() {
                    return Response::refusal(404, "there is no such trace");
                }
                match audited.trace(&self.input, number) {
                    Some(body) => Response {
                        status: 200,
                        body,
                        kind: "application/json",
                    },
                    None => {
                        Response::refusal(404, "the file has changed: start `guard view` again")
                    }
                }
            }
            Route::Check if body.len() > TEXT => Response::refusal(413, "the text is too long"),
            Route::Check => match View::with_stack(|| self.check(&body)) {
                Some(checked) => Response::json(&checked),
                None => Response::refusal(500, "the spec could not be checked"),
            },
            Route::Save => {
                let saved = View::with_stack(|| self.save(&body));
                saved.unwrap_or_else(|| Response::refusal(500, "the spec could not be saved"))
            }
        }
    }

    fn answer_cut(
        &self,
        _: &RequestHead,
        _: Route,
        _: &mut dyn BufRead,
        refusal: Response,
    ) -> Response {
        refusal
    }
}
