//! `guard test`: runs the `test` blocks of specs.

use std::path::PathBuf;
use std::time::Instant;

use super::failure::{Failure, Outcome, complain};
use super::limits::{LimitArgs, explain};
use super::output::Output;
use super::spec;
use crate::audit::test_record;
use crate::eval::Program;
use crate::report::tests::{self, Outcome as Run, TestReport};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Specs whose tests are run
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Run only tests whose name contains this
    #[arg(short = 'k', value_name = "SUBSTR")]
    filter: Option<String>,
    /// The form of the report
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text for people
    Human,
    /// JSON Lines
    Json,
    /// JUnit XML
    Junit,
}

pub(super) fn run(args: Args) -> Result<Outcome, Failure> {
    let mut reports: Vec<TestReport> = Vec::new();
    let (mut wrong, mut left) = (None, 0);
    for file in &args.files {
        // One spec that is wrong does not hide the tests of the others.
        let (spec, checked) = match spec::usable(file) {
            Ok(usable) => usable,
            Err(failure) => {
                failure.tell();
                wrong = Some(Outcome::WrongSpec);
                continue;
            }
        };
        let program = match Program::compile(&spec, &args.limits.eval()) {
            Ok(program) => program,
            Err(error) => {
                complain(&format!(
                    "`{}` cannot be judged: {}",
                    file.display(),
                    explain(&error)
                ));
                wrong = Some(Outcome::WrongSpec);
                continue;
            }
        };
        for test in &spec.tests {
            if args
                .filter
                .as_ref()
                .is_some_and(|part| !test.name.contains(part.as_str()))
            {
                left += 1;
                continue;
            }
            let start = Instant::now();
            let judged = program.judge(test_record(test, &checked.sources));
            reports.push(tests::compare(
                &spec,
                &checked.sources,
                test,
                judged.as_ref(),
                start.elapsed(),
            ));
        }
    }
    if let (Some(part), true, true) = (&args.filter, reports.is_empty(), left > 0) {
        return Err(Failure::Usage(format!(
            "no test has `{part}` in its name ({left} have not)"
        )));
    }
    let mut output = Output::open(None)?;
    let paint = output.paint;
    match args.format {
        Format::Human => tests::human(&mut output, paint, &reports, left)?,
        Format::Json => tests::json(&mut output, &reports)?,
        Format::Junit => tests::junit(&mut output, &reports)?,
    }
    output.close()?;
    let failed = reports.iter().any(|report| report.outcome != Run::Pass);
    Ok(wrong.unwrap_or(if failed {
        Outcome::Violated
    } else {
        Outcome::Holds
    }))
}
