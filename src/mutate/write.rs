//! Reports of mutants as text and JSON Lines.

use std::io::{self, Write};

use serde_json::json;

use super::{Mutant, Report, SubjectReport, Unproposed};
use crate::hir::Spec;
use crate::report::Paint;
use crate::report::automaton::word_json;
use crate::report::text::wrap;
use crate::translate::Steps;

/// The greatest width of a sentence in columns.
const COLUMNS: usize = 92;

/// The greatest number of survivors of one property in text output.
const SHOWN: usize = 10;

/// Writes the text report: for each property the number of killed mutants, the survivors, and a test that kills all of them.
///
/// # Errors
/// If `out` cannot be written.
pub fn human(
    out: &mut impl Write,
    paint: Paint,
    file: &str,
    spec: &Spec,
    report: &Report,
) -> io::Result<()> {
    writeln!(out, "{}", paint.name(file))?;
    if report.subjects.is_empty() {
        writeln!(
            out,
            "  nothing to mutate: no property, and no template used by a test"
        )?;
    }
    for subject in &report.subjects {
        of_subject(out, paint, spec, subject)?;
    }
    let (all, survivors) = (report.mutants(), report.survivors());
    let line = format!("{} of {all} mutants killed", all - survivors);
    if survivors == 0 {
        writeln!(out, "{}", paint.good(&line))
    } else {
        writeln!(
            out,
            "{line}, {}",
            paint.bad(&format!("{survivors} survive"))
        )
    }
}

fn of_subject(
    out: &mut impl Write,
    paint: Paint,
    spec: &Spec,
    subject: &SubjectReport,
) -> io::Result<()> {
    let kind = if subject.template { "template " } else { "" };
    let head = format!("{kind}{}", subject.name);
    if let Some(error) = &subject.error {
        return writeln!(
            out,
            "  {}  {}",
            paint.name(&head),
            paint.open(&format!("not mutated: {error}"))
        );
    }
    let survivors: Vec<&Mutant> = subject
        .mutants
        .iter()
        .filter(|mutant| mutant.killed_by.is_none())
        .collect();
    let killed = subject.mutants.len() - survivors.len();
    let mut notes = vec![format!(
        "{} equivalent",
        subject.equivalent + subject.duplicate
    )];
    if subject.left_out > 0 {
        notes.push(format!("{} left out", subject.left_out));
    }
    if subject.tests == 0 {
        notes.push("no test expects a verdict on it".to_owned());
    }
    let score = format!("{killed} of {} killed", subject.mutants.len());
    let score = if survivors.is_empty() {
        paint.good(&score)
    } else {
        paint.bad(&score)
    };
    writeln!(
        out,
        "  {}  {score}  {}",
        paint.name(&head),
        paint.quiet(&format!("({})", notes.join("; ")))
    )?;
    for mutant in survivors.iter().take(SHOWN) {
        writeln!(out, "    {} {}", paint.open("survives:"), mutant.change)?;
        if mutant.example.test.is_none() {
            unshown(out, spec, mutant)?;
        }
    }
    if survivors.len() > SHOWN {
        writeln!(
            out,
            "    … and {} more (the JSON report lists all)",
            survivors.len() - SHOWN
        )?;
    }
    if let Some(reason) = subject.unproposed {
        let text = format!("no test is proposed: {}", reason.as_str());
        for line in wrap(&text, COLUMNS) {
            writeln!(out, "    {}", paint.quiet(&line))?;
        }
    }
    if let Some(proposal) = &subject.proposal {
        let kills = match proposal.kills {
            kills if kills == survivors.len() => "all of them".to_owned(),
            kills => format!("{kills} of them"),
        };
        let traces = match proposal.cases {
            1 => "a trace kills".to_owned(),
            cases => format!("{cases} traces kill"),
        };
        writeln!(out, "    {traces} {kills}:")?;
        writeln!(out)?;
        for line in proposal.test.lines() {
            writeln!(out, "{line}")?;
        }
    }
    if !survivors.is_empty() {
        writeln!(out)?;
    }
    Ok(())
}

/// Returns a difference for which no events were found, in the names of letters.
fn unshown(out: &mut impl Write, spec: &Spec, mutant: &Mutant) -> io::Result<()> {
    let which = if mutant.example.holds {
        "holds"
    } else {
        "fails"
    };
    let steps = Steps::new(&spec.formulas, &mutant.example.steps);
    writeln!(out, "      {}", mutant.formula)?;
    writeln!(
        out,
        "      the original {which}, but the mutant does not, on"
    )?;
    for line in steps.lines() {
        writeln!(out, "        {line}")?;
    }
    Ok(())
}

/// Writes one line per mutant, then one per property.
///
/// # Errors
/// If `out` cannot be written.
pub fn json(out: &mut impl Write, file: &str, spec: &Spec, report: &Report) -> io::Result<()> {
    for subject in &report.subjects {
        for mutant in &subject.mutants {
            let line = json!({
                "v": 1,
                "type": "mutant",
                "file": file,
                "property": subject.name,
                "change": mutant.change,
                "formula": mutant.formula,
                "status": if mutant.killed_by.is_some() { "killed" } else { "survived" },
                "killed_by": mutant.killed_by,
                "trace": word_json(spec, &mutant.example.steps),
                "original": if mutant.example.holds { "satisfied" } else { "violated" },
                "test": mutant.example.test,
            });
            writeln!(out, "{line}")?;
        }
        let survived = subject
            .mutants
            .iter()
            .filter(|mutant| mutant.killed_by.is_none())
            .count();
        let mutants = subject.mutants.len();
        let line = json!({
            "v": 1,
            "type": "mutation",
            "file": file,
            "property": subject.name,
            "template": subject.template,
            "formula": subject.formula,
            "tests": subject.tests,
            "mutants": mutants,
            "killed": mutants - survived,
            "survived": survived,
            "equivalent": subject.equivalent,
            "duplicate": subject.duplicate,
            "left_out": subject.left_out,
            "error": subject.error,
            "proposal": subject.proposal.as_ref().map(|proposal| &proposal.test),
            "unproposed": subject.unproposed.map(Unproposed::as_str),
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}
