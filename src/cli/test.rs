//! `guard test`: runs the `test` blocks of specs.

use std::cell::OnceCell;
use std::io::{Read, Stderr, stderr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use smol_str::SmolStr;

use super::failure::{Failure, Outcome, complain};
use super::limits::{LimitArgs, explain};
use super::output::{Output, stderr_paint};
use super::{jobs, progress, spec};
use crate::audit::{Progress, Readers, judge_text, test_record};
use crate::eval::{LimitError, Limits, Program};
use crate::hir::{Spec, Test};
use crate::input::formats::FormatChoice;
use crate::input::limits::InputLimits;
use crate::input::open;
use crate::mutate::{self, Recording};
use crate::problem::{Problem, ProblemKind};
use crate::replay::{self, Replay};
use crate::report::problems::ProblemLog;
use crate::report::spec_test::{self, Outcome as Run, TestReport};
use crate::source::{FileId, SourceMap};

#[derive(Debug, clap::Args)]
pub(super) struct TestArgs {
    /// Specs to test
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Run only tests whose name contains this
    #[arg(short = 'k', value_name = "SUBSTR")]
    filter: Option<String>,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = TestFormat::Human)]
    format: TestFormat,
    /// Change properties in small ways and list the changes that no test detects
    #[arg(long)]
    mutants: bool,
    /// Recorded traces that may detect them too
    #[arg(long, value_name = "TRACE", requires = "mutants")]
    traces: Vec<String>,
    /// Limit the mutants per property
    #[arg(long, value_name = "N", requires = "mutants", default_value_t = 200)]
    max_mutants: usize,
    /// Number of threads for mutants; the report does not depend on it
    #[arg(long, short, value_name = "N", requires = "mutants")]
    jobs: Option<usize>,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TestFormat {
    /// Text
    Human,
    /// JSON Lines
    Json,
    /// JUnit XML
    Junit,
}

impl TestArgs {
    /// Whether the filter selects a test.
    fn selects(&self, test: &Test) -> bool {
        let mut filter = self.filter.iter();
        filter.all(|part| test.name.contains(part.as_str()))
    }

    /// Reports an error if the filter selects none of the tests.
    fn has_selected(&self, selected: usize, left: usize) -> Result<(), Failure> {
        match &self.filter {
            Some(part) if selected == 0 && left > 0 => Err(Failure::Usage(format!(
                "no test name contains `{part}` ({left} tests skipped)"
            ))),
            _ => Ok(()),
        }
    }
}

pub(super) fn run(args: TestArgs) -> Result<Outcome, Failure> {
    if args.mutants {
        return jobs::with(args.jobs, || {
            progress::during("properties mutated", |progress| mutants(&args, progress))
        });
    }
    let mut reports: Vec<TestReport> = Vec::new();
    let (mut wrong, mut left) = (None, 0);
    for file in &args.files {
        // If one spec has errors, the tests of the others still run.
        let (spec, checked) = match spec::usable(file) {
            Ok(usable) => usable,
            Err(failure) => {
                failure.report();
                wrong = Some(Outcome::WrongSpec);
                continue;
            }
        };
        let limits = args.limits.eval();
        let runner = match Runner::new(&spec, &checked.sources, &limits) {
            Ok(runner) => runner,
            Err(error) => {
                complain(&format!(
                    "cannot test `{}`: {}",
                    file.display(),
                    explain(&error)
                ));
                wrong = Some(Outcome::WrongSpec);
                continue;
            }
        };
        for test in &spec.tests {
            match args.selects(test) {
                true => reports.push(runner.run(test)),
                false => left += 1,
            }
        }
    }
    args.has_selected(reports.len(), left)?;
    let mut output = Output::open(None)?;
    let paint = output.paint;
    match args.format {
        TestFormat::Human => spec_test::human(&mut output, paint, &reports, left)?,
        TestFormat::Json => spec_test::json(&mut output, &reports)?,
        TestFormat::Junit => spec_test::junit(&mut output, &reports)?,
    }
    output.close()?;
    let failed = reports.iter().any(|report| report.outcome != Run::Pass);
    Ok(wrong.unwrap_or(if failed {
        Outcome::Violated
    } else if reports.is_empty() {
        Outcome::Unreadable
    } else {
        Outcome::Holds
    }))
}

/// Runs the tests of a spec.
pub(super) struct Runner<'a> {
    spec: &'a Spec,
    sources: &'a SourceMap,
    limits: &'a Limits,
    program: Program,
    /// Made for the first test that fails.
    replay: OnceCell<Option<Replay>>,
}

impl<'a> Runner<'a> {
    /// Compiles a spec.
    ///
    /// # Errors
    /// A formula exceeds the limits on automata.
    pub(super) fn new(
        spec: &'a Spec,
        sources: &'a SourceMap,
        limits: &'a Limits,
    ) -> Result<Runner<'a>, LimitError> {
        Ok(Runner {
            spec,
            sources,
            limits,
            program: Program::compile(spec, limits)?,
            replay: OnceCell::new(),
        })
    }

    /// Runs a test. The report of one that fails has the conditions that hold at its steps.
    pub(super) fn run(&self, test: &Test) -> TestReport {
        let record = || test_record(test, self.sources);
        let start = Instant::now();
        let judged = self.program.judge(record());
        let took = start.elapsed();
        let mut report = spec_test::compare(self.spec, self.sources, test, judged.as_ref(), took);
        if report.outcome == Run::Fail
            && let Some(replay) = self.replay()
        {
            let steps = replay.steps(&record()).steps;
            report.add_letters(self.spec, test, |step, atom| {
                let values = steps.iter().find(|values| values.place == step as usize)?;
                *values.atoms.get(atom.index())?
            });
        }
        report
    }

    fn replay(&self) -> Option<&Replay> {
        let made = || Replay::new(self.spec, self.limits, replay::Limits::default()).ok();
        self.replay.get_or_init(made).as_ref()
    }
}

/// Runs mutation testing (`--mutants`).
fn mutants(args: &TestArgs, progress: &Progress) -> Result<Outcome, Failure> {
    if args.format == TestFormat::Junit {
        return Err(Failure::Usage(
            "`--mutants` supports only the formats `human` and `json`".to_owned(),
        ));
    }
    let limits = mutate::Limits {
        mutants: args.max_mutants,
        eval: args.limits.eval(),
        input: args.limits.input(),
        ..mutate::Limits::default()
    };
    let mut data = Data::find(&args.traces, &limits.input);
    let mut output = Output::open(None)?;
    let paint = output.paint;
    let (mut wrong, mut survivors, mut left, mut kept) = (None, 0, 0, 0);
    let mut is_judged = true;
    for file in &args.files {
        let (mut spec, checked) = match spec::usable(file) {
            Ok(usable) => usable,
            Err(failure) => {
                failure.report();
                wrong = Some(Outcome::WrongSpec);
                continue;
            }
        };
        let all = spec.tests.len();
        spec.tests.retain(|test| args.selects(test));
        kept += spec.tests.len();
        left += all - spec.tests.len();
        if spec.tests.is_empty() && all > 0 {
            continue;
        }
        let program = Program::compile(&spec, &limits.eval)
            .map_err(|error| Failure::Usage(explain(&error)))?;
        if let Some(failing) = failing(&spec, &program, &checked.sources) {
            complain(&format!(
                "`{}`: test \"{failing}\" fails; mutants need tests that pass",
                file.display()
            ));
            wrong = Some(Outcome::Violated);
            continue;
        }
        data.check(&program, &limits.input)?;
        let traces = &data.recordings;
        let report = mutate::run(&spec, &checked.sources, traces, &limits, progress);
        survivors += report.survivors();
        is_judged &= report.is_judged();
        let name = checked.sources.get(FileId(0)).name();
        match args.format {
            TestFormat::Json => mutate::json(&mut output, name, &spec, &report)?,
            _ => mutate::human(&mut output, paint, name, &spec, &report)?,
        }
    }
    args.has_selected(kept, left)?;
    output.close()?;
    Ok(wrong.unwrap_or(if survivors > 0 {
        Outcome::Violated
    } else if data.errors() > 0 || !is_judged {
        Outcome::Unreadable
    } else {
        Outcome::Holds
    }))
}

/// Returns the name of a failing test.
fn failing(spec: &Spec, program: &Program, sources: &SourceMap) -> Option<SmolStr> {
    let fails = |test: &&Test| {
        let judged = program.judge(test_record(test, sources));
        let report = spec_test::compare(spec, sources, test, judged.as_ref(), Duration::ZERO);
        report.outcome != Run::Pass
    };
    spec.tests.iter().find(fails).map(|test| test.name.clone())
}

/// Recorded traces for mutants, and the problems with them.
struct Data {
    recordings: Vec<Recording>,
    log: ProblemLog<progress::Clearing<Stderr>>,
    errors: u64,
}

impl Data {
    /// Reads the files that the arguments name; the others are used if one cannot be read.
    fn find(traces: &[String], limits: &InputLimits) -> Data {
        let mut data = Data {
            recordings: Vec::new(),
            log: ProblemLog::new(progress::Clearing(stderr()), stderr_paint()),
            errors: 0,
        };
        let (sources, problems) = open::Selection::default().find(traces);
        problems.iter().for_each(|problem| data.tell(problem));
        for source in sources {
            let mut text = Vec::new();
            let read = source
                .open(limits)
                .and_then(|mut from| from.read_to_end(&mut text));
            match read {
                Ok(_) => data.recordings.push(Recording {
                    name: source.name.path.to_string(),
                    text,
                }),
                Err(error) => {
                    let why = format!("cannot be read: {error}");
                    let path = &source.name.path;
                    data.tell(&Problem::new(ProblemKind::Unreadable, path, 0, why));
                }
            }
        }
        data
    }

    /// Reports problems with the data that a spec reads, and files without traces.
    fn check(&mut self, program: &Program, limits: &InputLimits) -> Result<(), Failure> {
        let schema = &program.spec().schema;
        let readers = Readers::new(schema, FormatChoice::Auto, *limits)
            .map_err(|error| Failure::Usage(error.to_string()))?;
        let mut problems = Vec::new();
        for Recording { name, text } in &self.recordings {
            let judged = judge_text(program, &readers, name, text);
            if judged.reports.is_empty() {
                let path = Arc::from(name.as_str());
                problems.push(Problem::new(ProblemKind::Odd, &path, 0, "no traces found"));
            }
            problems.extend(judged.problems);
            problems.extend(
                judged
                    .reports
                    .into_iter()
                    .flat_map(|report| report.problems),
            );
        }
        problems.iter().for_each(|problem| self.tell(problem));
        Ok(())
    }

    fn tell(&mut self, problem: &Problem) {
        self.errors += u64::from(problem.kind.is_error());
        // An error on standard error does not make the command fail.
        let _ = self.log.write(problem);
    }

    /// Ends the messages, and returns the number of errors.
    fn errors(&mut self) -> u64 {
        let _ = self.log.finish();
        self.errors
    }
}
