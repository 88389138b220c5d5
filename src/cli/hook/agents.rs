//! The sub-agents of a session, where each is judged by itself (`--scope agent`).

use super::session::Session;
use crate::cli::durable::calls::{CallList, Kept};
use crate::integrations::hook::{Call, Memory};
use crate::monitor::Identity;
use crate::monitor::journal::Journal;

/// Takes an outcome that names no agent for one of the sub-agent that made its call, and turns to the files of that one.
///
/// # Errors
/// A list of calls cannot be read.
pub(super) fn adopt(session: &mut Session, call: &mut Call) -> Result<(), String> {
    let agents = session.agents()?;
    if agents.is_empty() {
        return Ok(());
    }
    session.check_files()?;
    let is_of_main = |list: CallList| call.is_in(&list.kept.memory);
    if CallList::read(session.file("calls"))?.is_some_and(is_of_main) {
        return Ok(());
    }
    for agent in agents {
        agent.check_files()?;
        let list = CallList::read(agent.file("calls"))?;
        list.iter()
            .for_each(|list| call.adopt_from(&list.kept.memory));
        if call.agent().is_some() {
            break;
        }
    }
    session.turn_to(call);
    Ok(())
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
        let path = agent.file("calls");
        let missing = format!("`{}` is missing", path.display());
        let mut list = CallList::read(path)?.ok_or(missing)?;
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
        let is_whole = agent.marked(None)?.is_empty();
        memory.add_given(is_whole.then_some(&list.kept.memory));
    }
    Ok(())
}
