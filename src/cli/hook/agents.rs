//! The sub-agents of a session, where each is judged by itself (`--scope agent`).

use super::session::Session;
use crate::cli::durable::calls::{CallList, Kept};
use crate::integrations::hook::{Call, Maker, Memory};
use crate::monitor::Identity;
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
        let mut outcome = match mark.text() {
            [] => None,
            text => Some(Call::read(text.to_vec(), call.scope())?),
        };
        let is_anybodys = match &mut outcome {
            // Each agent has it already.
            Some(outcome) if outcome.is_any() => continue,
            Some(outcome) => !adopt(outcome, &main, &agents)?,
            // There was no room to say whose it is.
            None => true,
        };
        if is_anybodys {
            session.note_anybodys()?;
            for one in agents.iter().chain([&main]) {
                one.mark(&call.any_outcome())?;
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
        if !adopt(call, &main, &agents)? {
            *call = call.of_anybody()?;
            is_anybodys = true;
        }
        session.turn_to(call);
    }
    let any = call.any_outcome();
    if is_anybodys {
        session.note_anybodys()?;
        let others = agents.iter().chain([&main]);
        for other in others.filter(|other| other.stem() != session.stem()) {
            other.mark(&any)?;
        }
    } else if session.begins_after_anybodys()? {
        session.mark(&any)?;
    }
    Ok(())
}

/// Takes an outcome that names no agent for one of the agent that made its call; returns false if any may have made it.
fn adopt(outcome: &mut Call, main: &Session, agents: &[Session]) -> Result<bool, String> {
    if agents.is_empty() && !outcome.is_doubtful() {
        return Ok(true);
    }
    let mut makers: Vec<Maker> = Vec::new();
    for agent in [main].into_iter().chain(agents) {
        agent.check_files()?;
        let list = CallList::read(agent.file("calls"))?;
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
/// A sub-agent has begun, and its list of calls cannot be read or is not the one that its journal names.
pub(super) fn add_given(
    session: &mut Session,
    identity: &Identity,
    memory: &mut Memory,
) -> Result<(), String> {
    for agent in session.agents()? {
        agent.check_files()?;
        let is_whole = agent.marked(None)?.is_empty();
        let path = agent.file("calls");
        let missing = format!("`{}` is missing", path.display());
        let mut list = match CallList::read(path)? {
            Some(list) => list,
            // The first thing that it did has not been put on record.
            None if !session.has_begun(&agent)? => {
                if !is_whole {
                    memory.add_given(None);
                }
                continue;
            }
            None => return Err(missing),
        };
        let journal = agent.file("journal");
        let named = match std::fs::read(&journal) {
            // Its first call has not been put on record.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            bytes => {
                let wrong = |why| format!("`{}`: {why}", journal.display());
                let bytes = bytes.map_err(|error| wrong(error.to_string()))?;
                let read = Journal::read(&bytes, identity);
                read.map_err(|error| wrong(error.to_string()))?.beside.calls
            }
        };
        let named = named.map_or_else(Kept::first_hash, Ok)?;
        list.check(&named, &journal)?;
        memory.add_given(is_whole.then_some(&list.kept.memory));
    }
    Ok(())
}
