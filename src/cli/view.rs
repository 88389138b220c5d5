//! `guard view`: the page of an audit over any number of traces, served to a browser on this machine, with a text of the spec
//! that may be changed.
//!
//! The address contains a token, without which every request is rejected. Requests from other pages and for other host names
//! are rejected too. Nothing is written: a changed spec is checked and judged, then dropped.

use std::io::{self, BufRead, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::failure::{Failure, Outcome};
use super::http::{ConnectionLimits, Listener, Service};
use super::limits::{LimitArgs, explain};
use super::output::stderr_paint;
use super::sources::Reading;
use super::{jobs, plot, progress, spec};
use crate::audit::{self, Progress, Readers, Records};
use crate::diagnostic::{self, RenderOptions};
use crate::diff::{self, Collected, Judge};
use crate::eval::{Program, Wanted};
use crate::hir::{PropertyKind, Spec};
use crate::ids::PropertyId;
use crate::input::formats::FormatChoice;
use crate::input::limits::Accounting;
use crate::input::open::Source;
use crate::input::record::Record;
use crate::integrations::http::{RequestHead, Response};
use crate::load::{Loaded, folder_of};
use crate::problem::Problem;
use crate::replay::{self, Replay};
use crate::report::html::{PageData, codes, found, page};
use crate::report::problems::ProblemLog;
use crate::report::{Headings, Reporter, Summary};
use crate::value::Truth;
use crate::verdict::{TraceReport, Verdict};

/// The time limit for judging the traces by a changed spec; the remaining traces are left out.
const PATIENCE: Duration = Duration::from_secs(5);
/// The greatest length of the text of a spec.
const TEXT: usize = 1 << 20;
/// The stack size of the thread that checks a changed spec, whose text may be nested up to the limits.
const STACK: usize = 64 << 20;
/// The greatest length of a value, and the greatest number of steps, of a trace that is shown.
const STEPS: replay::Limits = replay::Limits {
    steps: 20_000,
    value: 200_000,
};
/// The greatest number of violations of a property whose reasons are shown.
const REASONS: u64 = 10_000;

const AFTER_HELP: &str = "\
Prints the address of the page; open it in a browser on this machine. The token in it is new each time. Nothing is written.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ViewArgs {
    /// Spec
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// Recorded traces
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<String>,
    /// Learned model, whose pictures are shown below the traces; chains that the spec loads or imports are drawn without it
    #[arg(long, value_name = "MODEL.json")]
    model: Option<PathBuf>,
    /// Port on 127.0.0.1; by default the system chooses one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(super) fn run(args: ViewArgs) -> Result<Outcome, Failure> {
    jobs::with(args.reading.jobs, || serve(args))
}

fn serve(args: ViewArgs) -> Result<Outcome, Failure> {
    if args.traces.iter().any(|trace| trace == "-") || args.spec.as_os_str() == "-" {
        return Err(Failure::Usage(
            "the standard input cannot be read again: give files".to_owned(),
        ));
    }
    let from = args.reading.format()?;
    let (mut spec, loaded) = spec::usable(&args.spec)?;
    let text = loaded.sources.get(spec.outline.file).text().to_owned();
    let full = spec.clone();
    spec.properties
        .retain(|property| property.kind != PropertyKind::Condition);
    spec.tests.clear();
    spec.enforces.clear();
    let unusable = |error: &crate::eval::LimitError| Failure::Usage(explain(error));
    let eval = args.limits.eval();
    let program = Program::compile(&spec, &eval).map_err(|error| unusable(&error))?;
    let replay = Replay::new(&spec, &eval, STEPS).map_err(|error| unusable(&error))?;
    let readers = || {
        Readers::new(&spec.schema, from, args.limits.input())
            .map_err(|error| Failure::Usage(error.to_string()))
    };
    let judge = Judge::new(&full, readers()?, &eval).map_err(Failure::Usage)?;
    let mut headings = Headings::new(&spec, &loaded.sources);
    headings.explain(&spec);
    headings.word(&spec);
    let (sources, missing) = args.reading.find(&args.traces)?;
    let mut log = ProblemLog::new(progress::Clearing(io::stderr()), stderr_paint());
    let mut on_problem = |problem: &Problem| {
        // An error on standard error does not make the command fail.
        let _ = log.write(problem);
    };
    let mut gathered = Gathered {
        headings: &headings,
        page: PageData::default(),
        places: Vec::new(),
        explained: vec![0; headings.properties.len()],
    };
    let mut summary = Summary::new(headings.properties.len());
    let readers = readers()?;
    let before = progress::during("", |counted| {
        for problem in &missing {
            summary.problem(problem);
            on_problem(problem);
            gathered.page.problem(problem);
        }
        audit::audit(
            &&program,
            &sources,
            &readers,
            counted,
            &|_| None,
            &mut summary,
            &mut gathered,
            &mut on_problem,
        )?;
        let before = diff::collect(&judge, &sources, counted, &mut |_| {}, &|| false);
        Ok::<Collected, io::Error>(before)
    })?;
    let _ = log.finish();
    let Gathered {
        page: mut data,
        places,
        ..
    } = gathered;
    let live = Some(json!({ "spec": text }));
    let data = data.json(&headings, &summary, Some(&replay.schema()), live);
    let pictures = plot::of_spec(&args.spec, args.model.as_deref())?;
    let pictures: Vec<_> = pictures.into_iter().map(|(_, picture)| picture).collect();
    let html = page(&summary, &data, "", &pictures).into_string();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))
        .map_err(|error| Failure::Usage(format!("cannot listen on port {}: {error}", args.port)))?;
    let listener = Listener::Tcp(listener);
    let port = listener
        .address()
        .map_or(args.port, |address| address.port());
    let token = token().map_err(|error| Failure::Usage(format!("cannot make a token: {error}")))?;
    let view = Arc::new(View {
        html,
        token: blake3::hash(token.as_bytes()),
        port,
        spec: full,
        path: args.spec.clone(),
        program,
        replay,
        readers,
        sources,
        places,
        before,
        from,
        limits: args.limits,
        latest: AtomicU64::new(0),
        checking: Mutex::new(()),
    });
    let mut out = io::stdout();
    writeln!(out, "http://127.0.0.1:{port}/{token}/")?;
    out.flush()?;
    let limits = ConnectionLimits {
        body: TEXT,
        clients: 32,
        patience: Duration::from_secs(30),
    };
    listener
        .serve(&view, limits)
        .map_err(|error| Failure::Usage(format!("cannot continue listening: {error}")))?;
    Ok(Outcome::Holds)
}

/// Returns a new unguessable token.
fn token() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(blake3::hash(&bytes).to_hex().as_str()[..32].to_owned())
}

/// Collects the verdicts of all traces for the page, and the location of each trace.
struct Gathered<'h> {
    headings: &'h Headings,
    page: PageData,
    places: Vec<Place>,
    explained: Vec<u64>,
}

/// A trace: its file, and its number among the traces of the file.
struct Place {
    file: Arc<str>,
    number: u64,
}

impl Reporter for Gathered<'_> {
    fn trace(&mut self, report: &TraceReport) -> io::Result<()> {
        let number = match self.places.last() {
            Some(last) if last.file == report.file => last.number + 1,
            _ => 0,
        };
        self.places.push(Place {
            file: Arc::clone(&report.file),
            number,
        });
        let explained = &mut self.explained;
        let verdicts = found(report, self.headings, |property, _| {
            explained.get_mut(property.index()).is_some_and(|count| {
                *count += 1;
                *count <= REASONS
            })
        });
        let codes = codes(report, self.headings.properties.len());
        self.page.trace(report, verdicts, codes, None);
        Ok(())
    }

    fn explains(&self, property: PropertyId, _: Verdict) -> bool {
        let count = self.explained.get(property.index());
        count.is_none_or(|count| *count < REASONS)
    }

    fn problem(&mut self, problem: &Problem) -> io::Result<()> {
        self.page.problem(problem);
        Ok(())
    }

    fn finish(&mut self, _: &Summary) -> io::Result<()> {
        Ok(())
    }
}

/// Answers the requests of the page.
struct View {
    html: String,
    /// The hashes are compared, so that the time reveals nothing about the token.
    token: blake3::Hash,
    port: u16,
    spec: Spec,
    path: PathBuf,
    program: Program,
    replay: Replay,
    readers: Readers,
    sources: Vec<Source>,
    places: Vec<Place>,
    before: Collected,
    from: FormatChoice,
    limits: LimitArgs,
    /// The number of the latest check: the result of an earlier check is no longer needed.
    latest: AtomicU64,
    checking: Mutex<()>,
}

/// The requests.
#[derive(Clone, Copy, Debug)]
enum Route {
    Page,
    Trace(usize),
    Check,
}

impl View {
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

    /// Returns a trace step by step.
    fn trace(&self, number: usize) -> Response {
        let place = self.places.get(number);
        let source = place.and_then(|place| {
            let mut sources = self.sources.iter();
            sources.find(|source| source.name.path == place.file)
        });
        let (Some(place), Some(source)) = (place, source) else {
            return Response::refusal(404, "there is no such trace");
        };
        let mut one = One {
            left: place.number,
            found: None,
        };
        let records = Records(|record: Record, _: &Wanted| {
            let is_trace = self.program.is_trace(&record.meta) != Truth::False;
            is_trace.then_some(record)
        });
        let progress = Progress::default();
        audit::visit(
            &records,
            std::slice::from_ref(source),
            &self.readers,
            &progress,
            &mut one,
        );
        match one.found {
            Some(record) => Response {
                status: 200,
                body: self.replay.detail(&record),
                kind: "application/json",
            },
            None => Response::refusal(404, "the file has changed: start `guard view` again"),
        }
    }

    /// Checks a changed text of the spec, and judges the traces by it.
    fn check(&self, text: &str) -> Value {
        let number = self.latest.fetch_add(1, Ordering::AcqRel) + 1;
        let _turn = self.checking.lock().unwrap_or_else(PoisonError::into_inner);
        let is_late = || self.latest.load(Ordering::Acquire) != number;
        if is_late() {
            return json!({"error": "a later text is checked"});
        }
        let name = self.path.display().to_string();
        let mut loaded = Loaded::from_source(&name, text, &folder_of(&self.path));
        loaded.lint();
        let shown = loaded.diagnostics.clone();
        let diagnostics = match shown.is_empty() {
            true => String::new(),
            false => diagnostic::render(&shown, &loaded.sources, RenderOptions { color: false }),
        };
        let mut told = json!({});
        if !diagnostics.is_empty() {
            told["diagnostics"] = crate::report::html::tame(&diagnostics);
        }
        let Some(spec) = loaded.spec.take() else {
            return told;
        };
        let judge = Readers::new(&spec.schema, self.from, self.limits.input())
            .map_err(|error| error.to_string())
            .and_then(|readers| Judge::new(&spec, readers, &self.limits.eval()));
        let judge = match judge {
            Ok(judge) => judge,
            Err(error) => {
                told["error"] = json!(error);
                return told;
            }
        };
        let until = Instant::now() + PATIENCE;
        let stops = || Instant::now() > until || is_late();
        let progress = Progress::default();
        let after = diff::collect(&judge, &self.sources, &progress, &mut |_| {}, &stops);
        let pairs = diff::same_names(&self.spec, &spec);
        let runs = diff::compare_runs(&self.before, after, &pairs).to_json();
        let mut changes: Vec<Value> = Vec::new();
        for kind in ["decisions", "verdicts"] {
            changes.extend(runs[kind].as_array().cloned().unwrap_or_default());
        }
        told["traces"] = runs["traces"].clone();
        told["changes"] = Value::Array(changes);
        told
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
            ("check", _) => (Route::Check, "POST"),
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
        match route {
            Route::Page => Response {
                status: 200,
                body: self.html.clone(),
                kind: "text/html; charset=utf-8",
            },
            Route::Trace(number) => self.trace(number),
            Route::Check => {
                let Ok(text) = String::from_utf8(body) else {
                    return Response::refusal(400, "the text is not UTF-8");
                };
                let checked = std::thread::scope(|scope| {
                    let thread = std::thread::Builder::new().stack_size(STACK);
                    let thread = thread.spawn_scoped(scope, || self.check(&text));
                    thread.ok().and_then(|thread| thread.join().ok())
                });
                match checked {
                    Some(checked) => Response::json(&checked),
                    None => Response::refusal(500, "the spec could not be checked"),
                }
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

/// Takes one trace of a file.
struct One {
    left: u64,
    found: Option<Record>,
}

impl audit::Listener<Record> for One {
    fn report(&mut self, record: Record) {
        if self.found.is_some() {
            return;
        }
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => self.found = Some(record),
        }
    }

    fn problem(&mut self, _: &Problem) {}

    fn input(&mut self, _: &Accounting) {}

    fn wanted(&self) -> Wanted {
        Wanted::new(0, |_, _| false)
    }

    fn stopped(&self) -> bool {
        self.found.is_some()
    }
}
