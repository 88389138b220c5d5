//! The spec and the trace of a debug session.

use std::path::{Path, PathBuf};

use smol_str::SmolStr;

use super::messages::LaunchArguments;
use crate::audit::test_record;
use crate::cli::limits::{LimitArgs, explain};
use crate::cli::trace_search::{self, Sought};
use crate::diagnostic::{self, RenderOptions, Severity};
use crate::hir::{PropertyKind, Spec, Test};
use crate::ids::PropertyId;
use crate::load::Loaded;
use crate::replay::{self, Timeline, Watch};
use crate::source::Span;
use crate::verdict::Verdict;

/// The greatest number of steps that are shown, and the greatest length of a value.
pub(super) const SHOWN: replay::Limits = replay::Limits {
    steps: 20_000,
    value: 4_000,
};

/// A spec with one trace, stepped through.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) loaded: Loaded,
    pub(super) timeline: Timeline,
    /// The property that is shown first.
    pub(super) focus: Option<PropertyId>,
    /// The test that the trace belongs to.
    pub(super) test: Option<Test>,
    /// The file of the recorded trace, with the line where it begins.
    pub(super) origin: Option<(PathBuf, u64)>,
}

impl Recording {
    /// Reads the spec, finds the trace and steps through it.
    ///
    /// # Errors
    /// A message of one or more lines.
    pub(super) fn open(asked: &LaunchArguments, limits: &LimitArgs) -> Result<Recording, String> {
        let path = absolute(&asked.spec)?;
        let mut loaded = Loaded::from_path(&path).map_err(|error| error.to_string())?;
        let Some(mut spec) = loaded.spec.take() else {
            let errors = loaded.diagnostics.iter();
            let errors: Vec<_> = errors
                .filter(|found| found.severity == Severity::Error)
                .cloned()
                .collect();
            let options = RenderOptions { color: false };
            let drawn = diagnostic::render(&errors, &loaded.sources, options);
            return Err(format!("the spec has errors\n{drawn}"));
        };
        let test = match (&asked.test, &asked.runs) {
            (Some(name), None) => Some(find_test(&spec, name)?),
            (None, Some(_)) => None,
            (Some(_), Some(_)) => {
                return Err("expected `runs` or `test`, found both".to_owned());
            }
            (None, None) => {
                return Err(
                    "expected `runs`, the path of recorded traces, or `test`, the name of a test"
                        .to_owned(),
                );
            }
        };
        let expected = test.iter().flat_map(|test| &test.expects);
        let expected: Vec<PropertyId> = expected.map(|expect| expect.property).collect();
        spec.retain_properties(|id, property| {
            property.kind != PropertyKind::Condition || expected.contains(&id)
        });
        let focus = match &asked.property {
            Some(name) => {
                let known = spec.find_property(name);
                Some(known.ok_or_else(|| format!("the spec has no property `{name}`"))?)
            }
            None => None,
        };
        let replay =
            Timeline::replay(&spec, &limits.eval(), SHOWN).map_err(|error| explain(&error))?;
        let record = match (&test, &asked.runs) {
            (Some(test), _) => test_record(test, &loaded.sources),
            (None, runs) => {
                let runs = runs.as_deref().unwrap_or_default();
                let runs = absolute(runs)?.display().to_string();
                let sought = Sought {
                    runs: &runs,
                    trace: asked.trace.as_deref(),
                    from: asked.from.as_deref(),
                    property: focus,
                };
                trace_search::find(&replay, sought, limits)?
            }
        };
        let origin = test.is_none().then(|| {
            let file = PathBuf::from(&*record.origin.file);
            (file, record.origin.line)
        });
        let timeline = Timeline::new(replay, record)
            .ok_or("`records where` rejects the record, so there is nothing to step through")?;
        let mut recording = Recording {
            loaded,
            timeline,
            focus,
            test,
            origin,
        };
        recording.focus = focus.or_else(|| recording.first_subject());
        Ok(recording)
    }

    /// Returns the property that is shown if none was requested: the first violated one or, for a test, the first
    /// expected one.
    fn first_subject(&self) -> Option<PropertyId> {
        let timeline = &self.timeline;
        let expected = self.test.as_ref().and_then(|test| test.expects.first());
        if let Some(expected) = expected {
            let all = timeline.watches();
            let own = all.iter().find_map(|(watch, _, span)| match watch {
                Watch::Property(id) if *span == expected.span => Some(*id),
                _ => None,
            });
            // Conditions are shown at their expectations; other properties come before all conditions.
            return own.or(Some(expected.property));
        }
        let end = timeline.end();
        let all = (0..timeline.spec().properties.len()).map(PropertyId::new);
        let violated = |id: &PropertyId| timeline.verdict(*id, end) == Verdict::Violated;
        all.clone().find(violated).or(all.clone().next())
    }

    /// Returns everything that can be watched, with its name and span, including the steps of the test.
    pub(super) fn watches(&self) -> Vec<(Watch, SmolStr, Span)> {
        let steps = self.test.iter().flat_map(|test| &test.step_spans);
        let steps = steps.enumerate().map(|(place, span)| {
            let name = SmolStr::from(format!("step {place}"));
            (Watch::Step(place), name, *span)
        });
        let mut all = self.timeline.watches();
        all.extend(steps);
        all
    }
}

/// Returns a path from the root.
pub(super) fn absolute(path: &str) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|error| format!("cannot use the path `{path}`: {error}"))
}

fn find_test(spec: &Spec, name: &str) -> Result<Test, String> {
    let found = spec.tests.iter().find(|test| test.name == name);
    found.cloned().ok_or_else(|| {
        let names: Vec<String> = spec
            .tests
            .iter()
            .map(|test| format!("{:?}", &*test.name))
            .collect();
        match names.as_slice() {
            [] => "the spec has no tests".to_owned(),
            names => format!("the spec has no test {name:?}; it has {}", names.join(", ")),
        }
    })
}

/// Whether two paths name the same file.
pub(super) fn is_same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}
