//! `guard verify`: model-checks the systems and components of a spec.

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::failure::{Failure, Outcome, complain};
use super::output::Output;
use super::{progress, spec};
use crate::audit::Progress;
use crate::diagnostic::did_you_mean;
use crate::report::verify as report;
use crate::system::{Limits, Question, SystemError, Verdict, Verifier, VerifyError, questions};

#[derive(Debug, clap::Args)]
pub(super) struct VerifyArgs {
    /// Spec; `-` reads the standard input
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// Check only these properties, or all properties of these systems
    #[arg(long, value_name = "NAME", num_args = 1..)]
    property: Vec<String>,
    /// List the states that satisfy a branching-time formula
    #[arg(long)]
    all_states: bool,
    /// Compute probabilities and rewards as exact fractions
    #[arg(long)]
    exact: bool,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = VerifyFormat::Human)]
    format: VerifyFormat,
    /// Limit the states of a system
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_states: Option<usize>,
    /// Limit the transitions of a system
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_transitions: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum VerifyFormat {
    /// Text
    Human,
    /// JSON Lines, one object per property
    Json,
}

pub(super) fn run(args: VerifyArgs) -> Result<Outcome, Failure> {
    progress::during("claims checked", |progress| verify(args, progress))
}

fn verify(args: VerifyArgs, progress: &Progress) -> Result<Outcome, Failure> {
    let (spec, _) = spec::usable(&args.spec)?;
    let mut limits = Limits::default();
    limits.states = args.max_states.unwrap_or(limits.states);
    limits.transitions = args.max_transitions.unwrap_or(limits.transitions);
    limits.exact = args.exact;
    let asked = questions(&spec);
    if asked.is_empty() {
        let instead = match spec.claims.is_empty() {
            true => "to check recorded traces, use `guard audit`",
            false => "to ask a model of recorded traces, use `guard query`",
        };
        return Err(Failure::Usage(format!(
            "`{}` declares no system to verify; {instead}",
            args.spec.display()
        )));
    }
    let mut verifier = Verifier::new(&spec, limits);
    let wanted = selected(&spec, &verifier, &asked, &args.property)?;
    let mut output = Output::open(None)?;
    let paint = output.paint;
    let mut outcome = Outcome::Holds;
    let mut first = true;
    // Deadlocks are reported once for each system, after its results.
    let mut reported: Vec<String> = Vec::new();
    let mut deadlocked: Vec<Verdict> = Vec::new();
    progress.parts.store(wanted.len() as u64, Ordering::Relaxed);
    for (place, question) in wanted.iter().enumerate() {
        progress.done.store(place as u64, Ordering::Relaxed);
        let start = Instant::now();
        let verdicts = match verifier.answer(*question) {
            Ok(verdicts) => verdicts,
            Err(error) => {
                output.flush()?;
                complain(&format!(
                    "`{}`: {}",
                    verifier.name(*question),
                    explain(&error)
                ));
                outcome = Outcome::WrongSpec;
                continue;
            }
        };
        let ms = start.elapsed().as_millis();
        for verdict in verdicts {
            if !args.property.is_empty() && !is_wanted(&verdict, &args.property) {
                continue;
            }
            if outcome == Outcome::Holds && !holds(&verdict) {
                outcome = Outcome::Violated;
            }
            match args.format {
                VerifyFormat::Human => {
                    if !std::mem::take(&mut first) {
                        writeln!(output)?;
                    }
                    report::human(&mut output, paint, &verdict, args.all_states)?;
                }
                VerifyFormat::Json => {
                    writeln!(output, "{}", report::json(&verdict, args.all_states, ms))?
                }
            }
            if verdict.deadlocks > 0 && !reported.contains(&verdict.system) {
                reported.push(verdict.system.clone());
                deadlocked.push(verdict);
            }
        }
    }
    if args.format == VerifyFormat::Human {
        for verdict in &deadlocked {
            writeln!(output)?;
            report::deadlocks(&mut output, paint, verdict)?;
        }
    }
    output.close()?;
    Ok(outcome)
}

/// Whether a verdict holds. An unproved one does not hold; a requested number neither holds nor fails.
pub(in crate::cli) fn holds(verdict: &Verdict) -> bool {
    match verdict.holds {
        Some(holds) => holds,
        None => {
            verdict.property.is_empty() || (verdict.value.is_some() && verdict.satisfying.is_none())
        }
    }
}

pub(in crate::cli) fn is_wanted(verdict: &Verdict, names: &[String]) -> bool {
    let names_it = |name: &String| *name == verdict.property || *name == verdict.system;
    verdict.property.is_empty() || names.iter().any(names_it)
}

/// Returns the named questions, or all if none is named.
fn selected(
    spec: &crate::hir::Spec,
    verifier: &Verifier<'_>,
    asked: &[Question],
    names: &[String],
) -> Result<Vec<Question>, Failure> {
    let known: Vec<(String, Vec<String>)> = asked
        .iter()
        .map(|question| (verifier.name(*question), verifier.names(*question)))
        .collect();
    for name in names {
        if known.iter().any(|(_, names)| names.contains(name)) {
            continue;
        }
        let all = known
            .iter()
            .flat_map(|(_, names)| names)
            .map(String::as_str);
        let mut message = format!("unknown system property `{name}`");
        if let Some(near) = did_you_mean(name, all) {
            message.push_str(&format!("; did you mean `{near}`?"));
        } else if spec.find_property(name).is_some() {
            message.push_str(": it is a property of traces; to check it, use `guard audit`");
        }
        return Err(Failure::Usage(message));
    }
    let is_wanted =
        |place: &usize| names.is_empty() || known[*place].1.iter().any(|name| names.contains(name));
    Ok((0..asked.len())
        .filter(is_wanted)
        .map(|place| asked[place])
        .collect())
}

/// Returns an error, with the flag that raises the limit.
fn explain(error: &VerifyError) -> String {
    let flag = match error {
        VerifyError::System(SystemError::States { .. } | SystemError::InitialWork { .. })
        | VerifyError::Product { .. } => "; to raise the limit, use `--max-states`",
        VerifyError::System(SystemError::Transitions { .. }) => {
            "; to raise the limit, use `--max-transitions`"
        }
        _ => "",
    };
    format!("{error}{flag}")
}
