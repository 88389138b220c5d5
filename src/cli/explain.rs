//! `guard explain`: explains a property or a diagnostic code.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::failure::{Failure, Outcome, unknown_property};
use super::output::Output;
use super::{foreign, plan, spec};
use crate::diagnostic::{Code, Severity, did_you_mean};
use crate::hir::{Property, PropertyKind, Spec, print};
use crate::ids::PropertyId;
use crate::lint::{self, Comparison, Semantics};
use crate::load::Loaded;
use crate::monitor::{Clause, Table};
use crate::report::explanation::{Against, Explanation};
use guard_automata::Limits;

#[derive(Debug, clap::Args)]
pub(super) struct ExplainArgs {
    /// Spec; or, alone, a diagnostic code such as G0301
    #[arg(value_name = "SPEC|CODE")]
    subject: PathBuf,
    /// Property, rule, unsafe state, requirement or query of the spec
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Compare with another property of this or another spec (SPEC:NAME), a formula over its names, or an automaton in
    /// the Hanoi format
    #[arg(
        long,
        value_name = "NAME|SPEC:NAME|FORMULA|FILE.hoa",
        requires = "name"
    )]
    against: Option<String>,
    /// Semantics of traces for the comparison (default: finite, or that of the automaton)
    #[arg(long, value_enum, requires = "against")]
    semantics: Option<Traces>,
    /// Learned model, for the plan of a query on it
    #[arg(long, value_name = "MODEL.json", requires = "name")]
    model: Option<PathBuf>,
    /// Format of the explanation
    #[arg(long, value_enum, default_value_t = ExplainFormat::Human)]
    format: ExplainFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ExplainFormat {
    /// Text
    Human,
    /// JSON, one object
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Traces {
    /// Finite traces
    Finite,
    /// Infinite traces
    Infinite,
}

pub(super) fn run(args: ExplainArgs) -> Result<Outcome, Failure> {
    match &args.name {
        Some(name) => property(&args, name),
        None => code(&args.subject, args.format),
    }
}

fn property(args: &ExplainArgs, name: &str) -> Result<Outcome, Failure> {
    let (mut spec, mut checked) = spec::usable(&args.subject)?;
    let mut other = None;
    let automaton = match &args.against {
        Some(against) if find(&spec, against).is_none() => foreign::file(against)?,
        _ => None,
    };
    if let (Some(against), Some(file)) = (&args.against, &automaton) {
        let id = find(&spec, name).ok_or_else(|| Failure::Usage(not_found(&spec, name)))?;
        let read = foreign::read(file, spec, checked, id)?;
        return against_automaton(args, against, &read, id);
    }
    if let Some(against) = &args.against {
        other = find(&spec, against);
        if other.is_none() {
            if is_name(against) {
                return Err(Failure::Usage(not_found(&spec, against)));
            }
            let formula = elsewhere(against)?;
            // The formula is added to the spec as a property, so that names are resolved as in the spec.
            let item = format!(
                "property {AGAINST} = {}\n",
                formula.as_ref().unwrap_or(against)
            );
            (spec, checked) = spec::with_item(&checked, &item)?;
            other = spec.find_property(AGAINST);
        }
    }
    let Some(id) = find(&spec, name) else {
        if let (Some(_), None) = (plan::claim(&spec, name), &args.against) {
            return query(args, spec, &checked, name);
        }
        return Err(Failure::Usage(not_found(&spec, name)));
    };
    let mut explanation = Explanation::new(&spec, &checked.sources, id);
    if let (Some(other), Some(name)) = (other, &args.against) {
        let traces = args.semantics.unwrap_or(Traces::Finite);
        explanation = explanation.against(Against {
            name: name.clone(),
            semantics: traces.into(),
            comparison: comparison(&spec, id, other, traces)?,
        });
    }
    write_explanation(
        &explanation,
        &clauses(&spec, &spec.property(id).name),
        args.format,
    )
}

/// Returns the explanation of a property, compared with an automaton from elsewhere.
fn against_automaton(
    args: &ExplainArgs,
    path: &str,
    read: &foreign::Read,
    id: PropertyId,
) -> Result<Outcome, Failure> {
    let property = read.spec.property(id);
    if let Some(wanted) = args.semantics
        && Semantics::from(wanted) != read.semantics
    {
        return Err(Failure::Usage(match read.semantics {
            Semantics::Infinite => format!(
                "`{path}` accepts infinite traces; omit `--semantics finite`, or, if its \
                    accepting states are those in which a trace may end, add the header \
                    `guard-semantics: \"finite\"`"
            ),
            Semantics::Finite => {
                format!("`{path}` accepts finite traces; omit `--semantics infinite`")
            }
        }));
    }
    let limits = Limits::default();
    let found = lint::compare_automaton(&read.spec, property.formula, &read.automaton, &limits);
    let comparison = found.map_err(|reason| {
        Failure::Usage(format!(
            "cannot compare `{}` with `{path}`: {reason}",
            property.name
        ))
    })?;
    let explanation = Explanation::new(&read.spec, &read.checked.sources, id).against(Against {
        name: path.to_owned(),
        semantics: read.semantics,
        comparison,
    });
    write_explanation(
        &explanation,
        &clauses(&read.spec, &property.name),
        args.format,
    )
}

fn write_explanation(
    explanation: &Explanation<'_>,
    clauses: &[Clause],
    format: ExplainFormat,
) -> Result<Outcome, Failure> {
    let mut output = Output::open(None)?;
    let paint = output.paint;
    match format {
        ExplainFormat::Human => {
            explanation.write(&mut output, paint)?;
            write_clauses(&mut output, clauses)?;
        }
        ExplainFormat::Json => {
            writeln!(output, "{}", with_clauses(&explanation.to_json(), clauses))?;
        }
    }
    output.close()?;
    Ok(Outcome::Holds)
}

/// Returns the clauses on a property or query.
fn clauses(spec: &Spec, name: &str) -> Vec<Clause> {
    let all = Table::new(spec).clauses.into_iter();
    all.filter(|clause| clause.name == name).collect()
}

fn write_clauses(output: &mut Output, clauses: &[Clause]) -> io::Result<()> {
    let mut head = "enforce";
    for clause in clauses {
        for arm in &clause.arms {
            let invoked = arm.invoke.as_ref().map(|name| format!(" {name}"));
            let (when, action) = (&arm.when, arm.action.as_str());
            let invoked = invoked.unwrap_or_default();
            writeln!(output, "  {head:<9}  {when} => {action}{invoked}")?;
            head = "";
        }
        if clause.on_error_allow {
            writeln!(output, "  {head:<9}  on error allow")?;
        }
    }
    Ok(())
}

/// Adds the clauses to a JSON object as one more member, if there are any.
fn with_clauses(json: &str, clauses: &[Clause]) -> String {
    match json.strip_suffix('}') {
        Some(open) if !clauses.is_empty() => {
            format!("{open},\"enforce\":{}}}", serde_json::json!(clauses))
        }
        _ => json.to_owned(),
    }
}

/// Prints the plan of a claim about a model.
fn query(args: &ExplainArgs, spec: Spec, checked: &Loaded, name: &str) -> Result<Outcome, Failure> {
    let spec = Arc::new(spec);
    let plans = plan::plans(&spec, args.model.as_deref())?;
    let mut output = Output::open(None)?;
    if let Some(claim) = plan::claim(&spec, name) {
        match args.format {
            ExplainFormat::Human => {
                plan::write(&mut output, &spec, &checked.sources, &plans, claim)?;
                write_clauses(&mut output, &clauses(&spec, &claim.name))?;
            }
            ExplainFormat::Json => {
                let found = plan::to_json(&spec, &checked.sources, &plans, claim);
                let clauses = clauses(&spec, &claim.name);
                writeln!(output, "{}", with_clauses(&found.to_string(), &clauses))?;
            }
        }
    }
    output.close()?;
    Ok(Outcome::Holds)
}

/// Returns the formula of a property of another spec, from `SPEC:NAME`; `None` if that is not a file.
fn elsewhere(against: &str) -> Result<Option<String>, Failure> {
    let Some((path, name)) = against.rsplit_once(':') else {
        return Ok(None);
    };
    let (path, name) = (Path::new(path.trim()), name.trim());
    if !is_name(name) || !path.is_file() {
        return Ok(None);
    }
    let (spec, _) = spec::usable(path)?;
    let Some(id) = find(&spec, name) else {
        return Err(Failure::Usage(format!(
            "`{}`: {}",
            path.display(),
            not_found(&spec, name)
        )));
    };
    let property = spec.property(id);
    let formula = print::formula(&spec.formulas, property.formula);
    let Some(quantified) = &property.quantified else {
        return Ok(Some(formula));
    };
    if quantified.vars.iter().any(|var| var.range.is_some()) {
        return Err(Failure::Usage(format!(
            "`{name}` of `{}` depends on the values of an expression in that spec; to \
                    compare it, copy it into one spec",
            path.display()
        )));
    }
    Ok(Some(format!(
        "{}{formula}",
        foreign::quantifier(quantified)
    )))
}

/// The name of the property that a formula to compare with becomes.
const AGAINST: &str = "_against";

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn comparison(
    spec: &Spec,
    first: PropertyId,
    second: PropertyId,
    traces: Traces,
) -> Result<Comparison, Failure> {
    let (first, second) = (spec.property(first), spec.property(second));
    let universal = |property: &Property| {
        property
            .quantified
            .as_ref()
            .map(|quantified| quantified.universal)
    };
    let unlike = |reason: &str| {
        Failure::Usage(format!(
            "cannot compare `{}` with `{}`: {reason}",
            first.name, second.name
        ))
    };
    if universal(first) != universal(second) {
        return Err(unlike("only one of them is quantified in this way"));
    }
    lint::compare(
        spec,
        first.formula,
        second.formula,
        &lint::occurrences(spec, first),
        traces.into(),
        &Limits::default(),
    )
    .map_err(|reason| unlike(&reason))
}

impl From<Traces> for Semantics {
    fn from(traces: Traces) -> Semantics {
        match traces {
            Traces::Finite => Semantics::Finite,
            Traces::Infinite => Semantics::Infinite,
        }
    }
}

/// Returns the property with this name or `@id`.
fn find(spec: &Spec, name: &str) -> Option<PropertyId> {
    let by_id = || spec.properties.iter().position(|of| of.is_named(name));
    spec.find_property(name)
        .or_else(|| by_id().map(PropertyId::new))
}

fn not_found(spec: &Spec, name: &str) -> String {
    let names: Vec<&str> = spec
        .properties
        .iter()
        .filter(|property| property.kind != PropertyKind::Condition)
        .map(|property| property.name.as_str())
        .chain(
            spec.claims
                .iter()
                .filter(|claim| matches!(claim.on, crate::hir::Subject::Model(_)))
                .map(|claim| claim.name.as_str()),
        )
        .collect();
    match names.as_slice() {
        [] if !spec.claims.is_empty() => {
            "the spec contains formulas about systems only: use `guard verify`".to_owned()
        }
        names => unknown_property(name, names),
    }
}

/// Returns the page of a diagnostic code, found by its number or its name.
fn code(subject: &Path, format: ExplainFormat) -> Result<Outcome, Failure> {
    let text = subject.to_string_lossy();
    let Some(code) = Code::named(&text) else {
        if subject.exists() {
            return Err(Failure::Usage(format!(
                "give the name of a property: `guard explain {text} NAME`"
            )));
        }
        let known = Code::ALL
            .iter()
            .flat_map(|code| [code.as_str(), code.name()]);
        let near = did_you_mean(&text, known)
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(Failure::Usage(format!(
            "unknown diagnostic code `{text}`{near}"
        )));
    };
    let mut output = Output::open(None)?;
    match format {
        ExplainFormat::Human => {
            let head = format!(
                "{} {} ({})",
                code.as_str(),
                code.name(),
                code.severity().as_str()
            );
            writeln!(
                output,
                "{}\n\n{}",
                output.paint.name(&head),
                code.page().trim_end()
            )?;
            if code.severity() != Severity::Error {
                let name = code.name().replace('-', "_");
                writeln!(
                    output,
                    "\nTurned off for one item by `@allow({name})` before it."
                )?;
            }
        }
        ExplainFormat::Json => {
            let line = serde_json::json!({
                "v": 1,
                "code": code.as_str(),
                "name": code.name(),
                "severity": code.severity().as_str(),
                "summary": code.summary(),
                "page": code.page(),
            });
            writeln!(output, "{line}")?;
        }
    }
    output.close()?;
    Ok(Outcome::Holds)
}
