//! Drafts as text for people.

use std::io::{self, Write};

use super::Paint;
use guard_english::draft::{Document, Draft, Status, Trace};

/// Writes one paragraph per requirement, and what was found about all of them.
///
/// # Errors
/// The output cannot be written.
pub fn write(document: &Document, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
    for (index, draft) in document.drafts.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{} {}", paint.name(&draft.id), draft.text)?;
        if draft.status == Status::Unclear {
            let question = draft.question.as_deref().unwrap_or_default();
            writeln!(out, "  {} {question}", paint.open("unclear:"))?;
            continue;
        }
        reading(draft, out, paint)?;
        for (_, other) in draft.choices().into_iter().take(2) {
            writeln!(out, "  {:<11} {}", "or", other.formula)?;
        }
        if let Some(first) = document.duplicate_of(index) {
            writeln!(out, "  {} {}", paint.open("same meaning as"), first.id)?;
        }
    }
    for (first, second, trace) in document.conflicts() {
        writeln!(
            out,
            "\n{} {} and {} contradict each other once their events happen",
            paint.bad("conflict:"),
            first.id,
            second.id
        )?;
        writeln!(
            out,
            "  meets {}, breaks {}: {}",
            first.id,
            second.id,
            steps(trace)
        )?;
    }
    let unclear = document
        .drafts
        .iter()
        .filter(|draft| draft.status == Status::Unclear)
        .count();
    let formal = document.drafts.len() - unclear;
    writeln!(out, "\n{formal} drafted, {unclear} unclear")
}

/// Writes how a requirement is read: formula, words, kind, atoms and shortest examples.
///
/// # Errors
/// The output cannot be written.
pub fn reading(draft: &Draft, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
    let mut line = |label: &str, text: &str| writeln!(out, "  {label:<11} {text}");
    line(
        "formula",
        draft
            .parametric()
            .as_deref()
            .or(draft.formula.as_deref())
            .unwrap_or_default(),
    )?;
    line("in words", draft.readback.as_deref().unwrap_or_default())?;
    let template = draft
        .template
        .map_or_else(String::new, |template| format!(", template {template}"));
    line(
        "kind",
        &format!(
            "{}, {}{template}, confidence {:.0} %",
            draft.modality.as_str().replace('_', " "),
            draft.domain.as_str(),
            draft.confidence * 100.0
        ),
    )?;
    for atom in &draft.atoms {
        line(
            "atom",
            &format!("{}: {}", paint.name(&atom.name), atom.phrase),
        )?;
    }
    for trace in &draft.accepts {
        line("accepts", &steps(trace))?;
    }
    for trace in &draft.rejects {
        line("rejects", &steps(trace))?;
    }
    Ok(())
}

/// `{read}, {}, {check}`: what holds at each step.
fn steps(trace: &Trace) -> String {
    let steps: Vec<String> = trace
        .iter()
        .map(|step| {
            let holds = step.holds.join(", ");
            match &step.at {
                Some(at) => format!("{at}s {{{holds}}}"),
                None => format!("{{{holds}}}"),
            }
        })
        .collect();
    steps.join(" ")
}
