//! `guard check`: parses, resolves, type-checks and lints specs.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::durable::monitor;
use super::failure::{Failure, Outcome};
use super::models::{self, ModelArgs};
use super::output::{Output, stderr_paint};
use crate::diagnostic::{self, RenderOptions, Severity};
use crate::hir::{ClaimKind, PropertyKind};
use crate::load::Loaded;
use crate::monitor::{Monitor, Options};
use crate::report;

#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// Specs to check; `-` reads the standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Format of the diagnostics
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    format: CheckFormat,
    #[command(flatten)]
    models: ModelArgs,
    /// Fail on these findings too
    #[arg(long, value_enum, value_name = "WHAT")]
    deny: Option<Deny>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum CheckFormat {
    Human,
    Json,
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Deny {
    Warnings,
}

pub(super) fn run(args: CheckArgs) -> Result<Outcome, Failure> {
    let mut output = Output::open(None)?;
    let mut checked: Vec<Loaded> = Vec::new();
    // If one file cannot be read, the others are still checked.
    let mut unread = false;
    let mut compared = 0;
    for file in &args.files {
        match Loaded::rechecked(file) {
            Ok(mut found) => {
                compared += found.lint();
                if args.models.is_given()
                    && let Err(failure) = tiers(file, &args.models, &mut found)
                {
                    failure.report();
                    unread = true;
                }
                checked.push(found);
            }
            Err(error) => {
                Failure::from(error).report();
                unread = true;
            }
        }
    }
    let count = |severity: Severity| {
        let all = checked.iter().flat_map(|checked| &checked.diagnostics);
        all.filter(|diagnostic| diagnostic.severity == severity)
            .count()
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    match args.format {
        CheckFormat::Human => {
            let options = RenderOptions {
                color: output.paint.colour,
            };
            for checked in &checked {
                output.write_all(
                    diagnostic::render(&checked.diagnostics, &checked.sources, options).as_bytes(),
                )?;
            }
            if !checked.is_empty() {
                closing(&mut output, errors, warnings, &checked, compared)?;
            }
        }
        CheckFormat::Json => {
            for checked in &checked {
                output.write_all(
                    diagnostic::json_lines(&checked.diagnostics, &checked.sources).as_bytes(),
                )?;
            }
        }
        CheckFormat::Sarif => {
            let base = std::env::current_dir()
                .ok()
                .map(|path| path.display().to_string());
            let found = checked
                .iter()
                .map(|checked| (checked.diagnostics.as_slice(), &checked.sources));
            report::sarif::diagnostics(&mut output, found, base.as_deref())?;
        }
    }
    output.close()?;
    let denied = args.deny == Some(Deny::Warnings) && warnings > 0;
    if errors == 0 && denied && args.format == CheckFormat::Human {
        let paint = stderr_paint();
        let _ = writeln!(
            std::io::stderr(),
            "{}: warnings are treated as errors (`--deny warnings`)",
            paint.bad("error")
        );
    }
    Ok(if errors > 0 || denied || unread {
        Outcome::WrongSpec
    } else {
        Outcome::Holds
    })
}

/// Adds the findings about thresholds that no state of the given models reaches.
fn tiers(path: &Path, models: &ModelArgs, checked: &mut Loaded) -> Result<(), Failure> {
    let Some(spec) = &checked.spec else {
        return Ok(());
    };
    let options = Options {
        models: models.read(spec, path, &checked.models)?,
        ..Options::default()
    };
    let monitor = Monitor::new(spec, options).map_err(|error| monitor::unusable(path, &error))?;
    checked.diagnostics.extend(models::unreached(&monitor));
    diagnostic::sort(&mut checked.diagnostics);
    Ok(())
}

fn closing(
    out: &mut Output,
    errors: usize,
    warnings: usize,
    checked: &[Loaded],
    compared: usize,
) -> Result<(), Failure> {
    let paint = out.paint;
    let plural =
        |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let files = plural(checked.len(), "file");
    let specs = || checked.iter().filter_map(|checked| checked.spec.as_ref());
    let line = match (errors, warnings) {
        (0, 0) => {
            let (properties, tests) = specs().fold((0, 0), |(p, t), spec| {
                let declared = spec.properties.iter();
                let declared = declared.filter(|property| property.kind != PropertyKind::Condition);
                let claims = spec.claims.iter();
                let claims = claims.filter(|claim| claim.kind != ClaimKind::Query);
                let n_properties = declared.count() + claims.count();
                (p + n_properties, t + spec.tests.len())
            });
            let what = match (properties, tests) {
                (1, 1) => "1 property, 1 test".to_owned(),
                (1, tests) => format!("1 property, {}", plural(tests, "test")),
                (count, tests) => format!("{count} properties, {}", plural(tests, "test")),
            };
            format!("{}: {files}, {what}", paint.good("ok"))
        }
        (0, warnings) => format!("{} in {files}", paint.open(&plural(warnings, "warning"))),
        (errors, 0) => format!("{} in {files}", paint.bad(&plural(errors, "error"))),
        (errors, warnings) => {
            format!(
                "{}, {} in {files}",
                paint.bad(&plural(errors, "error")),
                plural(warnings, "warning")
            )
        }
    };
    let sentences = specs().flat_map(|spec| &spec.properties);
    let sentences = sentences.filter(|property| property.requirement.is_some());
    let note = match sentences.count() {
        0 => String::new(),
        count => format!(
            "; {compared} of {} compared with formulas",
            plural(count, "requirement sentence")
        ),
    };
    writeln!(out, "{line}{note}")?;
    Ok(())
}
