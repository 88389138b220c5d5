//! The process that judges: reads a call, judges it by the history of its session, and answers.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use serde_json::Value as Json;

use super::Args;
use super::agents;
use super::earlier::{put_on_record, with_answer};
use super::session::{Mark, Session};
use crate::cli::clock::Witness;
use crate::cli::durable::calls::{CallList, Kept};
use crate::cli::durable::monitor::{DurableMonitor, Setup};
use crate::cli::durable::paths::Files;
use crate::cli::durable::state::{ONLY_ME, Sync};
use crate::cli::failure::{Failure, Outcome, code, complain, hear_errors, say};
use crate::cli::lines;
use crate::inert::push_json;
use crate::integrations::hook::{self, Call, Scope, Sessions, with_note};
use crate::monitor::intake::Intake;
use crate::monitor::lenient::Outline;

/// The longest input that is kept, in bytes; of a longer one the longest member is unknown.
const MAX_INPUT: usize = 64 * 1024 * 1024;

/// Inputs that take longer to judge are not replayed by later calls.
const SLOW: Duration = Duration::from_millis(50);

/// The first line of the judging process: whether it can deny the call.
pub(super) const DECIDES: &[u8] = b"decides\n";
pub(super) const TELLS: &[u8] = b"tells\n";

/// Reads a call, and judges it.
pub(super) fn judge_input(args: &Args) -> Result<Outcome, Failure> {
    let call = read_input().and_then(|outline| Ok(Call::of(outline, args.scope())?));
    let mut call = match call {
        Ok(call) => call,
        Err(reason) => return Err(denied(None, &reason)),
    };
    let decides = hook::decides(call.hook());
    let mut answer = None;
    if call.matters() {
        let (decided, told) = hear_errors(|| decide(args, &mut call));
        // Claude Code shows the error output to nobody if the call is let through, and the answer to a call that ends the session neither.
        let is_answered = decided.is_ok() && call.hook() != "SessionEnd";
        if !is_answered {
            told.iter().cloned().for_each(say);
        }
        answer = decided.map_err(|reason| denied(Some(call.hook()), &reason))?;
        for line in told.iter().filter(|_| is_answered) {
            answer = Some(with_note(answer, line));
        }
    }
    let answer = answer.map(|json| {
        let mut line = String::new();
        push_json(&mut line, &json.to_string());
        line
    });
    let mut out = std::io::stdout().lock();
    let written = out
        .write_all(if decides { DECIDES } else { TELLS })
        .and_then(|()| match answer {
            Some(json) => writeln!(out, "{json}"),
            None => Ok(()),
        })
        .and_then(|()| out.flush());
    written.map_err(|error| {
        denied(
            Some(call.hook()),
            &format!("cannot write the answer: {error}"),
        )
    })?;
    Ok(Outcome::Holds)
}

/// Returns the input. Of what is too long, cut off or damaged, the rest.
fn read_input() -> Result<Outline, String> {
    let mut input = Vec::new();
    let mut stdin = std::io::stdin().lock();
    let failed = |error: std::io::Error| format!("cannot read the input: {error}");
    let mut read = |input: &mut Vec<u8>, most: usize| {
        let mut stdin = stdin.by_ref().take(most as u64);
        stdin.read_to_end(input).map_err(failed)
    };
    if read(&mut input, lines::LONG)? == lines::LONG {
        let rest = MAX_INPUT + 1 - lines::LONG;
        let _ = input.try_reserve_exact(rest);
        read(&mut input, rest)?;
    }
    if input.len() <= MAX_INPUT {
        return Outline::read(input);
    }
    let mut intake = Intake::new(MAX_INPUT);
    intake.take(&input);
    loop {
        input.clear();
        let read = stdin.by_ref().take(1 << 20).read_to_end(&mut input);
        if read.map_err(failed)? == 0 {
            return intake.finish();
        }
        intake.take(&input);
    }
}

/// Returns the end of a call that was not judged: the reason on the error output, and the code that fits the hook.
fn denied(hook: Option<&str>, reason: &str) -> Failure {
    complain(&format!("the call was not checked: {reason}"));
    let denies = hook.is_none_or(hook::decides);
    Failure::AlreadyReported(if denies {
        code::HOOK_DENIES
    } else {
        code::HOOK_TELLS
    })
}

fn decide(args: &Args, call: &mut Call) -> Result<Option<Json>, String> {
    let mut session = Session::of(args.state.as_deref(), call)?;
    // Whatever becomes of this process, an outcome is not forgotten: the next call puts on record what is marked.
    let mark = call
        .is_outcome()
        .then(|| session.mark(&call.unread()))
        .transpose()?;
    session.lock()?;
    let id = call.session().to_owned();
    let refused = |why: &str| Session::remedy(why, &id);
    if session.has_lost() {
        return Err(refused("an earlier outcome could not be marked"));
    }
    if let Err(why) = session.check_scope(call.scope()) {
        if call.is_outcome() {
            // The calls of either scope find it there.
            session.main().mark(&call.unread())?;
        }
        return Err(refused(&why));
    }
    if call.scope() == Scope::Agent {
        agents::attribute(&mut session, call).map_err(|why| refused(&why))?;
    }
    session.check_files().map_err(|why| refused(&why))?;
    // No client reads the answer to `SessionEnd`: the next call reports earlier outcomes and a restart.
    let is_end = call.hook() == "SessionEnd";
    let marked = match is_end {
        true => Vec::new(),
        false => session.marked(mark.as_ref())?,
    };
    let (mut before, is_first) = read_list(&mut session, args, &refused)?;
    let witness = before.kept.clock.clone();
    let mut monitor = open(args, &session, witness, is_first, &refused)?;
    // No line names the list that a session begins with.
    let named = match monitor.calls() {
        Some(named) => named.to_owned(),
        None => Kept::first_hash()?,
    };
    let checked = before.check(&named, &session.file("journal"));
    checked.map_err(|why| refused(&why))?;
    let next = before.make_room(ONLY_ME)?;
    let mut memory = before.kept.memory.clone();
    if call.hook() == "UserPromptSubmit" {
        let added = agents::add_given(&mut session, &mut memory);
        added.map_err(|why| refused(&why))?;
    }
    let lost = |why| refused(&format!("an earlier outcome could not be recorded: {why}"));
    let mut said = Vec::new();
    for mark in &marked {
        let answer = put_on_record(mark, call, &mut monitor, &mut memory);
        said.extend(answer.map_err(lost)?);
    }
    let answer = call.judge(&mut monitor, &mut memory)?;
    let witness = before.kept.clock.as_ref();
    let since_restart = witness.and_then(Witness::elapsed_across_restart);
    let clock = match since_restart {
        Some(_) if is_end => before.kept.clock.clone(),
        _ => monitor.witness(),
    };
    // An answer is given only after this.
    if monitor.has_more() {
        let after = Kept {
            memory,
            stem: Some(session.stem().to_owned()),
            sessions: Sessions::default(),
            log: length_of_log(&session),
            clock,
        };
        let keep = |calls: &str| {
            monitor
                .keep_with(calls)
                .map_err(|failure| failure.to_string())
        };
        next.replace(&after, args.sync, keep)?;
        monitor.snapshot();
    }
    let late = std::mem::take(&mut monitor.late);
    monitor.end();
    marked.into_iter().chain(mark).for_each(Mark::remove);
    if is_end {
        let keep = Duration::from_secs(args.keep.saturating_mul(24 * 60 * 60));
        session.forget_older(keep, |calls| Kept::read(calls)?.clock);
        return Ok(answer.json);
    }
    let with = |answer, decision: &_| call.with_deadline(answer, decision);
    let answer = late.iter().fold(answer.json, with);
    let answer = said.into_iter().fold(answer, with_answer);
    Ok(match since_restart {
        Some(elapsed) => Some(with_note(answer, &restart_note(elapsed))),
        None => answer,
    })
}

/// Opens the monitor of a session from its files. `witness`: when the last call was judged; `is_first`: this is the first one.
fn open(
    args: &Args,
    session: &Session,
    witness: Option<Witness>,
    is_first: bool,
    refused: &impl Fn(&str) -> String,
) -> Result<DurableMonitor, String> {
    let files = Files {
        resume: None,
        snapshot: Some(session.file("state")),
        continues: true,
        // A journal is replayed at every call.
        snapshot_every: if args.redact.is_some() { 1 } else { 16 },
        snapshot_after: Some(SLOW),
        journal: Some(session.file("journal")),
        log: Some(session.file("log")),
        calls: Some(session.file("calls")),
        others: Vec::new(),
        key: args.key.clone(),
        secrets: args.secrets,
        sync: args.sync,
        redact: args.redact.clone(),
    };
    let mut monitor = DurableMonitor::open(Setup {
        // Once for each session, since each call is a process of its own.
        warns: is_first,
        witness,
        options: &|options| args.questions.set(options),
        ..Setup::new(&args.spec, &args.models, &args.limits, files)
    })
    .map_err(|failure| match failure {
        Failure::Files(why) => refused(&why),
        Failure::Foreign(why) => refused(&format!(
            "{why}; if hooks of several specs judge the session, give each its own folder (`--state DIR`)"
        )),
        other => other.to_string(),
    })?;
    // A person may answer late: an asked call counts until its outcome or the end of the turn.
    monitor.set_hooked(true);
    monitor.wait(true);
    Ok(monitor)
}

/// Returns the list of calls of a session, and whether this is its first call. A list that is not of this session, or not of its
/// whole log, is refused.
fn read_list(
    session: &mut Session,
    args: &Args,
    refused: &dyn Fn(&str) -> String,
) -> Result<(CallList, bool), String> {
    let calls = session.file("calls");
    let read = CallList::read(calls.clone()).map_err(|why| refused(&why))?;
    let is_first = read.is_none();
    let list = match read {
        Some(list) => list,
        None => first_list(session, args.sync, refused)?,
    };
    // Also if the first call ended before this.
    session.begin(args.scope())?;
    let stem = list.kept.stem.as_deref();
    if stem.is_some_and(|stem| stem != session.stem()) {
        let calls = calls.display();
        return Err(refused(&format!("`{calls}` is of another session")));
    }
    if length_of_log(session) < list.kept.log {
        let log = session.file("log");
        return Err(refused(&format!("`{}` was cut", log.display())));
    }
    Ok((list, is_first))
}

/// Returns the bytes of the log of a session.
fn length_of_log(session: &Session) -> u64 {
    std::fs::metadata(session.file("log")).map_or(0, |log| log.len())
}

/// Begins the list of calls of a session that has none, before all its other files, so that its absence says something.
fn first_list(
    session: &mut Session,
    sync: Sync,
    refused: &dyn Fn(&str) -> String,
) -> Result<CallList, String> {
    let calls = session.file("calls");
    let others = ["state", "journal", "log"].map(|ending| session.file(ending));
    if let Some(other) = others.iter().find(|path| path.exists()) {
        let (calls, other) = (calls.display(), other.display());
        return Err(refused(&format!("`{calls}` is missing, `{other}` is not")));
    }
    if let Some(why) = session.had_history()? {
        return Err(refused(&why));
    }
    CallList::begin(calls, sync)
}

/// Returns the message for the first call after a restart of the machine: a system clock that is wrong empties windows.
fn restart_note(elapsed: Duration) -> String {
    format!(
        "guard: the machine was restarted; by its clock, the last call of this session was {} s ago, and limits in time go by that",
        elapsed.as_secs()
    )
}
