//! The sub-agents of a session, where each is judged by itself (`--scope agent`).

use super::session::Session;
use crate::cli::durable::calls::{CallList, Kept};
use crate::integrations::hook::{Call, Maker, Memory};
use crate::monitor::journal::Journal;

/// Gives outcomes that name no agent to the one that made their calls: the call itself, and those that an earlier process could not
/// put on record. If nothing says who that is, any agent may have made it: each has an outcome of which nothing is known. Turns to
/// the files of the agent of the call.
///
/// # Errors
/// A list of calls cannot be read, or an outcome not be marked.
pub(super) fn attribute(session: &mut Session, call: &mut Call) -> Result<(), String> {
    let (main, agents) = (session.main(), session.agents()?);
    for mark in main.marked(None)? {
        if mark.is_of_any() {
            // Each agent has it already.
            continue;
        }
        let mut outcome = match mark.text() {
            [] => None,
            text => Some(Call::read(text.to_vec(), call.scope())?),
        };
        let is_anybodys = match &mut outcome {
            Some(outcome) => !adopt(outcome, session, &agents)?,
            // There was no room to say whose it is.
            None => true,
        };
        if is_anybodys {
            session.note_anybodys()?;
            for one in agents.iter().chain([&main]) {
                one.mark_any()?;
            }
        } else if let Some(outcome) = outcome.filter(|outcome| outcome.agent().is_some()) {
            let mut agent = session.main();
            agent.turn_to(&outcome);
            agent.mark(&outcome.unread())?;
        } else {
            continue;
        }
        mark.remove();
    }
    let mut is_anybodys = call.may_hide_outcome();
    if call.is_outcome() && call.agent().is_none() {
        if !adopt(call, session, &agents)? {
            *call = call.of_anybody()?;
            is_anybodys = true;
        }
        session.turn_to(call);
    }
    if is_anybodys {
        session.note_anybodys()?;
        let others = agents.iter().chain([&main]);
        for other in others.filter(|other| other.stem() != session.stem()) {
            other.mark_any()?;
        }
    } else if session.begins_after_anybodys()? {
        session.mark_any()?;
    }
    Ok(())
}

/// Takes an outcome that names no agent for one of the agent that made its call; returns false if any may have made it. As long as no
/// sub-agent has begun, it is one of the main agent.
fn adopt(outcome: &mut Call, session: &mut Session, agents: &[Session]) -> Result<bool, String> {
    if agents.is_empty() && !outcome.is_doubtful() {
        return Ok(true);
    }
    let mut makers: Vec<Maker> = Vec::new();
    for agent in [&session.main()].into_iter().chain(agents) {
        agent.check_files()?;
        // To read all journals with every outcome takes time, and only a process that ended leaves another list.
        let list = match agent.file("calls.next").exists() {
            true => list_in_force(session, agent)?,
            false => CallList::read(agent.file("calls"))?,
        };
        makers.extend(list.and_then(|list| outcome.maker_in(&list.kept.memory)));
    }
    // Of calls without ids, equal ones of several agents may have ended.
    if makers.iter().any(|maker| maker.is_open) {
        makers.retain(|maker| maker.is_open);
    }
    let [maker] = &makers[..] else {
        return Ok(false);
    };
    outcome.adopt_by(maker);
    Ok(true)
}

/// Adds the texts that the sub-agents of a session gave to tools: what one schedules comes back as a prompt to the main agent. After an
/// outcome that its process did not put on record, any prompt may be such a text.
///
/// # Errors
/// Those of [`list_in_force`].
pub(super) fn add_given(session: &mut Session, memory: &mut Memory) -> Result<(), String> {
    for agent in session.agents()? {
        let is_whole = agent.marked(None)?.is_empty();
        match list_in_force(session, &agent)? {
            Some(list) => memory.add_given(is_whole.then_some(&list.kept.memory)),
            // The first thing that it did has not been put on record.
            None if !is_whole => memory.add_given(None),
            None => {}
        }
    }
    Ok(())
}

/// Returns the list of calls of an agent by which its next call is judged, with the lock of the session held: after a process ended, it
/// may be the one that was about to replace the other. `None` if the agent has not begun.
///
/// # Errors
/// The agent has begun, and its list cannot be read or is not the one that its journal names.
fn list_in_force(session: &mut Session, agent: &Session) -> Result<Option<CallList>, String> {
    agent.check_files()?;
    let path = agent.file("calls");
    let missing = format!("`{}` is missing", path.display());
    let Some(mut list) = CallList::read(path)? else {
        return match session.has_begun(agent)? {
            true => Err(missing),
            false => Ok(None),
        };
    };
    let journal = agent.file("journal");
    let named = match std::fs::read(&journal) {
        // Its first call has not been put on record.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        bytes => {
            let wrong = |why| format!("`{}`: {why}", journal.display());
            let bytes = bytes.map_err(|error| wrong(error.to_string()))?;
            let beside = Journal::beside(&bytes);
            beside.map_err(|error| wrong(error.to_string()))?.calls
        }
    };
    let named = named.map_or_else(Kept::first_hash, Ok)?;
    list.check(&named, &journal)?;
    Ok(Some(list))
}
