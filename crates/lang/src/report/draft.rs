//! Drafts as text for people.

use std::io::{self, Write};

use super::Paint;
use guard_english::draft::{Document, Draft, Reading, Status, Trace};

/// Writes one paragraph for each line that needs attention, the findings about all of them, and a table of all lines.
///
/// # Errors
/// The output cannot be written.
pub fn write(document: &Document, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
    let many = document.drafts.len() > 1;
    for (index, draft) in document.drafts.iter().enumerate() {
        // The table contains the reason for a declined line.
        let brief = draft.rewordings.is_empty() && draft.notes.is_empty();
        let declined = matches!(draft.status, Status::Unclear | Status::NoRequirement);
        if draft.status == Status::Context || many && declined && brief {
            continue;
        }
        line(draft, out, paint)?;
        if let Some(first) = document.duplicate_of(index) {
            writeln!(out, "  {} {}", paint.open("same meaning as"), first.id)?;
        }
        writeln!(out)?;
    }
    for (first, second, trace) in document.conflicts() {
        writeln!(
            out,
            "{} {} and {} contradict each other once their events happen",
            paint.bad("conflict:"),
            first.id,
            second.id
        )?;
        writeln!(
            out,
            "  meets {}, breaks {}: {}\n",
            first.id,
            second.id,
            steps(trace)
        )?;
    }
    for (name, remark) in document.observed() {
        writeln!(out, "{}: {remark}", paint.name(name))?;
    }
    if document.observed().next().is_some() {
        writeln!(out)?;
    }
    table(document, out)
}

/// Writes every line of the document with its result, and the reason if it was declined.
fn table(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    /// The greatest number of characters of a line.
    const SHOWN: usize = 60;
    if document.drafts.len() > 1 {
        for draft in &document.drafts {
            let mut text: String = draft.text.chars().take(SHOWN).collect();
            if draft.text.chars().nth(SHOWN).is_some() {
                text.push('…');
            }
            let status = name(draft);
            writeln!(
                out,
                "{:>5}  {:<14}  {:<6}  {text}",
                draft.line, status, draft.id
            )?;
            if let Some(reason) = &draft.reason {
                writeln!(out, "{:>31}{reason}", "")?;
            }
        }
        writeln!(out)?;
    }
    let counts: Vec<String> = [
        (Status::Formal, "drafted"),
        (Status::Proposed, "proposed"),
        (Status::Unclear, "declined"),
        (Status::NoRequirement, "no requirement"),
        (Status::Context, "context"),
    ]
    .into_iter()
    .map(|(status, name)| (document.count(status), name))
    .filter(|(count, name)| *count > 0 || *name == "drafted")
    .map(|(count, name)| format!("{count} {name}"))
    .collect();
    writeln!(out, "{}", counts.join(", "))
}

fn name(draft: &Draft) -> String {
    match draft.status {
        Status::Formal => "drafted".to_owned(),
        Status::Proposed if draft.proposals.len() == 1 => "1 proposal".to_owned(),
        Status::Proposed => format!("{} proposals", draft.proposals.len()),
        Status::Unclear => "declined".to_owned(),
        Status::NoRequirement => "no requirement".to_owned(),
        Status::Context => "context".to_owned(),
    }
}

/// Writes the result of one line: its formula, its possible meanings, or the missing information.
///
/// # Errors
/// The output cannot be written.
pub fn line(draft: &Draft, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
    writeln!(out, "{} {}", paint.name(&draft.id), draft.text)?;
    if let Some(composed) = &draft.composed {
        writeln!(out, "  {:<11} {composed}", "read as")?;
    }
    if let Some(read) = &draft.reading {
        return reading(read, out, paint);
    }
    for (at, proposal) in draft.proposals.iter().enumerate() {
        writeln!(
            out,
            "  {} {}",
            paint.open(&format!("{}?", at + 1)),
            proposal.words
        )?;
        writeln!(out, "     formula  {}", proposal.formula)?;
        if let Some(told) = draft.tellings.get(at).and_then(Option::as_ref) {
            let (accepts, rejects) = if told.first_accepts {
                (at + 1, at + 2)
            } else {
                (at + 2, at + 1)
            };
            writeln!(
                out,
                "     accepted by {accepts}, not by {rejects}: {}",
                steps(&told.trace)
            )?;
        }
    }
    if let Some(reason) = &draft.reason {
        let label = match draft.status {
            Status::NoRequirement => "no requirement:",
            _ => "declined:",
        };
        writeln!(out, "  {} {reason}", paint.open(label))?;
    }
    for words in &draft.rewordings {
        writeln!(out, "  {:<11} {words}", "did you mean")?;
    }
    for note in &draft.notes {
        writeln!(out, "  {:<11} {note}", "model")?;
    }
    Ok(())
}

/// Writes a reading: formula, words, kind, situations and shortest examples.
fn reading(reading: &Reading, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
    let mut line = |label: &str, text: &str| writeln!(out, "  {label:<11} {text}");
    let parametric = reading.parametric();
    line("formula", parametric.as_deref().unwrap_or(&reading.formula))?;
    line("in words", &reading.readback())?;
    for situation in &reading.controlled.situations {
        if situation.name != situation.phrase {
            line(
                "situation",
                &format!("{}: {}", paint.name(&situation.name), situation.phrase),
            )?;
        }
    }
    // A bound on a probability accepts no single trace: its formula says which traces have the event.
    let (has, lacks) = match reading.controlled.chance {
        None => ("accepts", "rejects"),
        Some(_) => ("event on", "no event on"),
    };
    if let Some(trace) = &reading.accepts {
        line(has, &steps(trace))?;
    }
    if let Some(trace) = &reading.rejects {
        line(lacks, &steps(trace))?;
    }
    Ok(())
}

/// Formats a trace as `{read}, {}, {check}`: the situations at each step.
fn steps(trace: &Trace) -> String {
    let steps: Vec<String> = trace.iter().map(ToString::to_string).collect();
    steps.join(" ")
}
