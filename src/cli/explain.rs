//! `guard explain`: one page on a property, or on a diagnostic code.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::failure::{Failure, Outcome};
use super::output::Output;
use super::spec;
use crate::diagnostic::{Code, did_you_mean};
use crate::hir::{PropertyKind, Spec};
use crate::ids::PropertyId;
use crate::report::explanation::Explanation;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A spec; or, alone, a diagnostic code such as G0301
    #[arg(value_name = "SPEC|CODE")]
    subject: PathBuf,
    /// A property, rule, unsafe state or requirement of the spec
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// The form of the explanation
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text for people
    Human,
    /// One JSON object
    Json,
}

pub(super) fn run(args: Args) -> Result<Outcome, Failure> {
    match &args.name {
        Some(name) => property(&args.subject, name, args.format),
        None => code(&args.subject, args.format),
    }
}

fn property(path: &Path, name: &str, format: Format) -> Result<Outcome, Failure> {
    let (spec, checked) = spec::usable(path)?;
    let Some(id) = find(&spec, name) else {
        return Err(Failure::Usage(not_found(&spec, name)));
    };
    let explanation = Explanation::new(&spec, &checked.sources, id);
    let mut output = Output::open(None)?;
    let paint = output.paint;
    match format {
        Format::Human => explanation.write(&mut output, paint)?,
        Format::Json => writeln!(output, "{}", explanation.to_json())?,
    }
    output.close()?;
    Ok(Outcome::Holds)
}

/// By its name, or by its `@id`.
fn find(spec: &Spec, name: &str) -> Option<PropertyId> {
    let by_id = || {
        spec.properties
            .iter()
            .position(|property| property.id.as_deref() == Some(name))
    };
    spec.find_property(name)
        .or_else(|| by_id().map(PropertyId::new))
}

fn not_found(spec: &Spec, name: &str) -> String {
    let names: Vec<&str> = spec
        .properties
        .iter()
        .filter(|property| property.kind != PropertyKind::Condition)
        .map(|property| property.name.as_str())
        .collect();
    if let Some(near) = did_you_mean(name, names.iter().copied()) {
        return format!("the spec has no property `{name}`; did you mean `{near}`?");
    }
    match names.as_slice() {
        [] => "the spec has no properties".to_owned(),
        names => format!(
            "the spec has no property `{name}`; it has {}",
            names.join(", ")
        ),
    }
}

/// The page of a diagnostic code, found by its number or its name.
fn code(subject: &Path, format: Format) -> Result<Outcome, Failure> {
    let text = subject.to_string_lossy();
    let Some(code) = Code::parse(&text).or_else(|| Code::by_name(&text)) else {
        if subject.exists() {
            return Err(Failure::Usage(format!(
                "name the property to explain: `guard explain {text} NAME`"
            )));
        }
        let known = Code::ALL
            .iter()
            .flat_map(|code| [code.as_str(), code.name()]);
        let near = did_you_mean(&text, known)
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(Failure::Usage(format!(
            "there is no diagnostic code `{text}`{near}"
        )));
    };
    let mut output = Output::open(None)?;
    match format {
        Format::Human => {
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
        }
        Format::Json => {
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
