//! One debug session: requests in, responses and events out.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::expression::{Answer, Expressions};
use super::messages::{
    Breakpoint, BreakpointLocationsArguments, Capabilities, EvaluateArguments, ExceptionFilter,
    Incoming, InitializeArguments, LaunchArguments, Outgoing, Request, SetBreakpointsArguments,
    SetExceptionBreakpointsArguments, Source, StackFrame, StackTraceArguments, VariablesArguments,
};
use super::recording::{Recording, absolute};
use super::stops::{Stop, Stops, VIOLATED, words};
use super::variables::Containers;
use crate::cli::frames;
use crate::cli::limits::LimitArgs;
use crate::inert::inert;
use crate::report::human::why;
use crate::source::Span;
use crate::value::Cell;
use crate::verdict::Verdict;

/// The number of the only thread, which represents the trace.
const THREAD: i64 = 1;

/// The number of the first frame.
const FIRST: i64 = 1;

/// The greatest length in bytes of a value in the name of a frame.
const FRAME: usize = 60;

/// The exit codes of a debugged trace without and with a violated property, as of `guard audit`.
const EXIT: [i64; 2] = [0, 1];

/// A session with one client.
#[derive(Debug)]
pub(super) struct Session<W> {
    out: W,
    seq: i64,
    limits: LimitArgs,
    client: InitializeArguments,
    debuggee: Option<Debuggee>,
    over: bool,
}

/// A trace that is stepped through.
#[derive(Debug)]
struct Debuggee {
    recording: Recording,
    stops: Stops,
    expressions: Expressions,
    containers: Containers,
    stop_on_entry: bool,
    at: usize,
    /// The reason why the session is stopped; `None` before the start.
    stopped: Option<Stop>,
}

/// A response, and the events after it.
struct Reply {
    body: Json,
    events: Vec<(&'static str, Json)>,
}

impl Reply {
    fn of(body: impl Serialize) -> Result<Reply, String> {
        Ok(Reply {
            body: serde_json::to_value(body).map_err(|error| error.to_string())?,
            events: Vec::new(),
        })
    }

    fn with(events: Vec<(&'static str, Json)>) -> Result<Reply, String> {
        Ok(Reply {
            body: Json::Null,
            events,
        })
    }
}

/// A direction to move in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Next,
    Back,
    Continue,
    ReverseContinue,
}

impl<W: Write> Session<W> {
    pub(super) fn new(out: W, limits: LimitArgs) -> Session<W> {
        Session {
            out,
            seq: 0,
            limits,
            client: InitializeArguments::default(),
            debuggee: None,
            over: false,
        }
    }

    /// Whether the client ended the session.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Handles a message.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub(super) fn receive(&mut self, bytes: &[u8]) -> io::Result<()> {
        match serde_json::from_slice(bytes) {
            Ok(Incoming::Request(request)) => self.respond(&request),
            Ok(Incoming::Response {}) => Ok(()),
            Err(error) => {
                // A request is answered if at least its number can be read.
                let parts: Json = serde_json::from_slice(bytes).unwrap_or_default();
                match parts["seq"].as_i64() {
                    Some(seq) if parts["type"] == "request" => {
                        let command = parts["command"].as_str().unwrap_or_default().to_owned();
                        self.refuse(seq, &command, &format!("malformed request: {error}"))
                    }
                    _ => self.unreadable(&error.to_string()),
                }
            }
        }
    }

    /// Reports a message that was skipped.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(super) fn unreadable(&mut self, why: &str) -> io::Result<()> {
        let text = format!("skipped a message that cannot be read: {why}");
        let (event, body) = output("stderr", &text);
        self.event(event, body)
    }

    fn send(
        &mut self,
        message: impl FnOnce(i64) -> Result<Vec<u8>, serde_json::Error>,
    ) -> io::Result<()> {
        self.seq += 1;
        let bytes = message(self.seq)?;
        frames::write(&mut self.out, &bytes)
    }

    fn event(&mut self, event: &str, body: Json) -> io::Result<()> {
        self.send(|seq| serde_json::to_vec(&Outgoing::Event { seq, event, body }))
    }

    fn refuse(&mut self, request_seq: i64, command: &str, why: &str) -> io::Result<()> {
        let first = why.lines().next().unwrap_or_default();
        let error = json!({"id": 1, "format": why, "showUser": command == "launch"});
        self.send(|seq| {
            serde_json::to_vec(&Outgoing::Response {
                seq,
                request_seq,
                success: false,
                command,
                message: Some(first),
                body: json!({"error": error}),
            })
        })
    }

    fn respond(&mut self, request: &Request) -> io::Result<()> {
        let reply = match self.answer(request) {
            Ok(reply) => reply,
            Err(why) => return self.refuse(request.seq, &request.command, &why),
        };
        self.send(|seq| {
            serde_json::to_vec(&Outgoing::Response {
                seq,
                request_seq: request.seq,
                success: true,
                command: &request.command,
                message: None,
                body: reply.body,
            })
        })?;
        for (event, body) in reply.events {
            self.event(event, body)?;
        }
        Ok(())
    }

    fn answer(&mut self, request: &Request) -> Result<Reply, String> {
        let client = self.client;
        match request.command.as_str() {
            "initialize" => {
                self.client = arguments(request)?;
                Reply::of(capabilities())
            }
            "launch" => self.launch(&arguments(request)?),
            "attach" => Err("a recorded trace is over: expected `launch`".to_owned()),
            "disconnect" => {
                self.over = true;
                Reply::of(Json::Null)
            }
            "terminate" => Reply::with(vec![("terminated", Json::Null)]),
            command => {
                let debuggee = self.debuggee.as_mut();
                let debuggee = debuggee.ok_or_else(|| {
                    format!("no trace is open: expected `launch`, found `{command}`")
                })?;
                debuggee.answer(client, request)
            }
        }
    }

    /// Loads the spec and the trace. The client sets breakpoints after that.
    fn launch(&mut self, asked: &LaunchArguments) -> Result<Reply, String> {
        let recording = Recording::open(asked, &self.limits)?;
        let timeline = &recording.timeline;
        let mut text = match &recording.origin {
            Some((file, line)) => format!("{}, {}:{line}", timeline.name(), file.display()),
            None => format!("test {:?}", timeline.name().as_str()),
        };
        text.push_str(&format!(": {} steps", timeline.end()));
        let mut events = vec![output("console", &text)];
        events.extend(timeline.cut().map(|cut| output("important", cut)));
        let problems = timeline.report().problems.iter();
        events.extend(problems.map(|problem| output("stderr", &problem.to_string())));
        events.push(("initialized", Json::Null));
        self.debuggee = Some(Debuggee {
            recording,
            stops: Stops::new(),
            expressions: Expressions::new(self.limits.clone()),
            containers: Containers::default(),
            stop_on_entry: asked.stop_on_entry,
            at: 0,
            stopped: None,
        });
        Reply::with(events)
    }
}

impl Debuggee {
    fn answer(&mut self, client: InitializeArguments, request: &Request) -> Result<Reply, String> {
        match request.command.as_str() {
            "setBreakpoints" => self.set_breakpoints(client, arguments(request)?),
            "setExceptionBreakpoints" => {
                let asked: SetExceptionBreakpointsArguments = arguments(request)?;
                self.stops.set_filters(&asked.filters);
                Reply::of(json!({}))
            }
            "breakpointLocations" => self.breakpoint_locations(client, &arguments(request)?),
            "configurationDone" => Reply::with(self.start()),
            "restart" => {
                self.at = 0;
                Reply::with(self.start())
            }
            "threads" => {
                let name = self.recording.timeline.name().as_str();
                Reply::of(json!({"threads": [{"id": THREAD, "name": inert(name)}]}))
            }
            "stackTrace" => self.stack_trace(client, &arguments(request)?),
            "scopes" => {
                let scopes = self.containers.scopes(&self.recording, self.at);
                Reply::of(json!({"scopes": scopes}))
            }
            "variables" => self.variables(&arguments(request)?),
            "evaluate" => self.evaluate(&arguments(request)?),
            "exceptionInfo" => self.exception_info(),
            "next" | "stepIn" | "stepOut" => Ok(self.go(Move::Next, Json::Null)),
            "stepBack" => Ok(self.go(Move::Back, Json::Null)),
            "continue" => Ok(self.go(Move::Continue, json!({"allThreadsContinued": true}))),
            "reverseContinue" => Ok(self.go(Move::ReverseContinue, Json::Null)),
            // The session is already stopped.
            "pause" => Reply::with(vec![self.stopped_event("pause")]),
            other => Err(format!("unsupported command `{other}`")),
        }
    }

    fn set_breakpoints(
        &mut self,
        client: InitializeArguments,
        mut asked: SetBreakpointsArguments,
    ) -> Result<Reply, String> {
        let path = asked.source.path.ok_or("expected `source.path`")?;
        let base = first_line(client);
        for breakpoint in &mut asked.breakpoints {
            breakpoint.line = breakpoint.line.saturating_add(1 - base);
        }
        let path = absolute(&path)?;
        let (recording, expressions) = (&self.recording, &mut self.expressions);
        let answers = self
            .stops
            .set(recording, expressions, path, asked.breakpoints);
        let answers = answers.into_iter().map(|answer| Breakpoint {
            line: answer.line.saturating_sub(1 - base),
            ..answer
        });
        let answers: Vec<Breakpoint> = answers.collect();
        Reply::of(json!({"breakpoints": answers}))
    }

    fn breakpoint_locations(
        &self,
        client: InitializeArguments,
        asked: &BreakpointLocationsArguments,
    ) -> Result<Reply, String> {
        let path = asked
            .source
            .path
            .as_deref()
            .ok_or("expected `source.path`")?;
        let shift = 1 - first_line(client);
        let first = asked.line.saturating_add(shift);
        let last = asked.end_line.unwrap_or(asked.line).saturating_add(shift);
        let lines = Stops::lines(&self.recording, &absolute(path)?, first, last);
        let lines: Vec<Json> = lines
            .into_iter()
            .map(|line| json!({"line": line - shift}))
            .collect();
        Reply::of(json!({"breakpoints": lines}))
    }

    /// Stops at the first step, or runs from there.
    fn start(&mut self) -> Vec<(&'static str, Json)> {
        self.containers.clear();
        let stop = match self.stop_on_entry {
            true => Some(Stop::new("entry", self.moment())),
            false => self
                .stops
                .at(&self.recording, &mut self.expressions, self.at),
        };
        match stop {
            Some(stop) => {
                self.stopped = Some(stop);
                vec![self.stopped_event("entry")]
            }
            None => self.go(Move::Continue, Json::Null).events,
        }
    }

    /// Moves and returns the resulting event; at the end the session is over.
    fn go(&mut self, way: Move, body: Json) -> Reply {
        self.containers.clear();
        let end = self.recording.timeline.end();
        let forward = matches!(way, Move::Next | Move::Continue);
        if forward && self.stopped.is_some() && self.at == end {
            let timeline = &self.recording.timeline;
            let mut verdicts = timeline.report().verdicts.iter();
            let violated = verdicts.any(|found| found.verdict == Verdict::Violated);
            let exited = ("exited", json!({"exitCode": EXIT[usize::from(violated)]}));
            return Reply {
                body,
                events: vec![exited, ("terminated", Json::Null)],
            };
        }
        let stop = loop {
            let next = match forward {
                true => self.at + 1,
                false => self.at.saturating_sub(1),
            };
            let is_moved = next != self.at && next <= end;
            self.at = next.min(end);
            let stop = self
                .stops
                .at(&self.recording, &mut self.expressions, self.at);
            let stop = stop.filter(|_| is_moved);
            let at_border = self.at == end && forward || self.at == 0 && !forward;
            if stop.is_some() || at_border || matches!(way, Move::Next | Move::Back) {
                break stop.unwrap_or_else(|| Stop::new("step", self.moment()));
            }
        };
        self.stopped = Some(stop);
        Reply {
            body,
            events: vec![self.stopped_event("step")],
        }
    }

    /// Returns the event that reports that the session is stopped.
    fn stopped_event(&self, reason: &'static str) -> (&'static str, Json) {
        let stop = self.stopped.clone();
        let stop = stop.unwrap_or_else(|| Stop::new(reason, self.moment()));
        let description = inert(&stop.description);
        let body = json!({
            "reason": stop.reason,
            "description": description,
            "text": description,
            "threadId": THREAD,
            "allThreadsStopped": true,
            "hitBreakpointIds": stop.hit,
        });
        ("stopped", body)
    }

    /// Returns the name of the moment.
    fn moment(&self) -> String {
        match self.recording.timeline.step(self.at) {
            Some(step) => format!("step {}", step.index),
            None => "end of the trace".to_owned(),
        }
    }

    fn stack_trace(
        &self,
        client: InitializeArguments,
        asked: &StackTraceArguments,
    ) -> Result<Reply, String> {
        let frames = self.frames(client);
        let total = frames.len();
        let levels = asked.levels.filter(|levels| *levels > 0).unwrap_or(total);
        let frames = frames.into_iter().skip(asked.start_frame.unwrap_or(0));
        let frames: Vec<StackFrame> = frames.take(levels).collect();
        Reply::of(json!({"stackFrames": frames, "totalFrames": total}))
    }

    /// Returns the step at its place in the spec, the property that is shown, and the recorded trace.
    fn frames(&self, client: InitializeArguments) -> Vec<StackFrame> {
        let recording = &self.recording;
        let timeline = &recording.timeline;
        let focus = recording.focus.map(|id| (id, timeline.spec().property(id)));
        let mut frames = vec![self.frame(client, self.summary(), self.place())];
        if let (Some(_), Some((id, property))) = (&recording.test, focus) {
            let verdict = words(timeline.verdict(id, self.at));
            let name = format!("{}: {verdict}", property.name);
            frames.push(self.frame(client, name, Some(property.formula_span)));
        }
        if let Some((file, line)) = &recording.origin {
            let name = format!("trace {}", timeline.name());
            let mut frame = self.frame(client, name, None);
            frame.source = Some(source(file));
            frame.line = i64::try_from(*line).unwrap_or(1).max(1) - 1 + first_line(client);
            frame.presentation_hint = Some("subtle");
            frames.push(frame);
        }
        for (id, frame) in (FIRST..).zip(&mut frames) {
            frame.id = id;
        }
        frames
    }

    /// Returns the location of the first frame: the event of the test, the reason for the stop, or the property that is
    /// shown.
    fn place(&self) -> Option<Span> {
        let recording = &self.recording;
        let timeline = &recording.timeline;
        let given = timeline.values(self.at).and_then(|values| {
            let spans = &recording.test.as_ref()?.step_spans;
            spans.get(values.place).copied()
        });
        let stopped = self.stopped.as_ref().and_then(|stop| stop.place);
        let focus = recording.focus.map(|id| timeline.spec().property(id));
        given
            .or(stopped)
            .or(focus.map(|property| property.formula_span))
    }

    /// Returns the value of a name in the module of the first frame; in the spec it may have another meaning.
    fn in_module(&self, name: &str) -> Option<Answer> {
        let file = self.place()?.file;
        let timeline = &self.recording.timeline;
        if file == timeline.spec().outline.file {
            return None;
        }
        let watches = timeline.watches();
        let (watch, ..) = watches
            .iter()
            .find(|(_, own, whole)| own == name && whole.file == file)?;
        let cell = timeline.value(*watch, self.at)?;
        Some(Answer::Cell(cell.clone()))
    }

    /// Returns the name of the moment with the first recorded value, which usually is the kind of the event.
    fn summary(&self) -> String {
        let timeline = &self.recording.timeline;
        let fields = &timeline.spec().schema.fields;
        let cells = timeline.step(self.at).map(|step| &step.cells[..]);
        let mut known = fields.iter().zip(cells.unwrap_or_default());
        let first = known.find(|(_, cell)| matches!(cell, Cell::Known(value) if !value.is_null()));
        match first {
            Some((field, cell)) => {
                let value = timeline.text(cell, FRAME);
                format!("{}: {} = {value}", self.moment(), field.name)
            }
            None => self.moment(),
        }
    }

    fn frame(&self, client: InitializeArguments, name: String, place: Option<Span>) -> StackFrame {
        let mut frame = StackFrame {
            id: 0,
            name: inert(&name).to_string(),
            source: None,
            line: 0,
            column: 0,
            end_line: None,
            end_column: None,
            presentation_hint: None,
        };
        let Some(span) = place else {
            return frame;
        };
        let file = self.recording.loaded.sources.get(span.file);
        let path = Path::new(file.name());
        // The standard library is not in a file.
        if path.is_absolute() {
            let at = |offset| {
                let (line, column) = file.lines().utf16_position(file.text(), offset);
                let line = i64::from(line) + first_line(client);
                (
                    line,
                    i64::from(column) + i64::from(client.columns_start_at1),
                )
            };
            let ((line, column), (end_line, end_column)) = (at(span.start), at(span.end));
            frame.source = Some(source(path));
            (frame.line, frame.column) = (line, column);
            (frame.end_line, frame.end_column) = (Some(end_line), Some(end_column));
        }
        frame
    }

    fn variables(&mut self, asked: &VariablesArguments) -> Result<Reply, String> {
        let reference = asked.variables_reference;
        let all = self
            .containers
            .variables(&self.recording, self.at, reference);
        let all = all.ok_or_else(|| format!("unknown `variablesReference` {reference}"))?;
        let start = asked.start.unwrap_or(0);
        let count = asked.count.filter(|count| *count > 0).unwrap_or(all.len());
        let all: Vec<_> = all.into_iter().skip(start).take(count).collect();
        Reply::of(json!({"variables": all}))
    }

    fn evaluate(&mut self, asked: &EvaluateArguments) -> Result<Reply, String> {
        let recording = &self.recording;
        let in_module = match asked.frame_id {
            Some(FIRST) => self.in_module(asked.expression.trim()),
            _ => None,
        };
        let answer = match in_module {
            Some(answer) => answer,
            None => self
                .expressions
                .evaluate(recording, &asked.expression, self.at)?,
        };
        let body = match answer {
            Answer::Verdict(verdict) => json!({"result": words(verdict), "variablesReference": 0}),
            Answer::Cell(cell) => {
                let shown = self.containers.variable(recording, "", &cell);
                let whole = asked.context.as_deref() == Some("clipboard");
                let result = match whole {
                    true => recording.timeline.text(&cell, usize::MAX),
                    false => shown.value,
                };
                let mut body =
                    json!({"result": result, "variablesReference": shown.variables_reference});
                if let Some(size) = shown.indexed_variables {
                    body["indexedVariables"] = json!(size);
                }
                body
            }
        };
        Reply::of(body)
    }

    /// Returns the message and the reasons of the violation that begins here.
    fn exception_info(&self) -> Result<Reply, String> {
        let timeline = &self.recording.timeline;
        let property = timeline.violated_at(self.at).next();
        let property = property.ok_or("no violation begins here")?;
        let name = timeline.spec().property(property).name.as_str();
        let found: Vec<_> = timeline.violations(property).collect();
        let lines = |texts: Vec<String>| {
            let texts: Vec<_> = texts.iter().map(|text| inert(text)).collect();
            texts.join("\n")
        };
        let messages = found.iter().filter_map(|found| found.message.clone());
        let mut description = lines(messages.collect());
        if description.is_empty() {
            description = format!("{name} is violated");
        }
        let reasons = lines(found.iter().flat_map(|found| why(found, &[])).collect());
        Reply::of(json!({
            "exceptionId": name,
            "description": description,
            "breakMode": "always",
            "details": {"message": description, "stackTrace": reasons},
        }))
    }
}

/// Returns the event that prints a line.
fn output(category: &str, line: &str) -> (&'static str, Json) {
    let body = json!({"category": category, "output": format!("{}\n", inert(line))});
    ("output", body)
}

fn first_line(client: InitializeArguments) -> i64 {
    i64::from(client.lines_start_at1)
}

fn source(path: &Path) -> Source {
    Source {
        name: path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned()),
        path: Some(path.display().to_string()),
    }
}

fn arguments<T: DeserializeOwned>(request: &Request) -> Result<T, String> {
    let given = match &request.arguments {
        Json::Null => json!({}),
        given => given.clone(),
    };
    serde_json::from_value(given).map_err(|error| format!("`{}`: {error}", request.command))
}

fn capabilities() -> Capabilities {
    Capabilities {
        supports_configuration_done_request: true,
        supports_conditional_breakpoints: true,
        supports_evaluate_for_hovers: true,
        supports_step_back: true,
        supports_restart_request: true,
        supports_terminate_request: true,
        supports_exception_info_request: true,
        supports_breakpoint_locations_request: true,
        supports_clipboard_context: true,
        exception_breakpoint_filters: vec![ExceptionFilter {
            filter: VIOLATED,
            label: "Violations",
            description: "Stops at the step where a property becomes violated",
            default: true,
        }],
    }
}
