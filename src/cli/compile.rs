//! `guard compile`: writes a compiled spec to one file, or prints an intermediate form.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use serde_json::value::RawValue;
use smol_str::SmolStr;

use super::durable::monitor;
use super::failure::{Failure, Outcome};
use super::limits::LimitArgs;
use super::models::ModelArgs;
use super::output::{Output, spares};
use super::{models as model_files, plan, spec};
use crate::artifact::{Artifact, KeptModel, is_artifact};
use crate::hir::{PropertyKind, Spec};
use crate::ids::{AbstractionId, PropertyId};
use crate::load::{self, Loaded};
use crate::monitor::{Monitor, Options, Table};
use crate::report::explanation::Explanation;
use crate::report::{automaton, buchi};
use crate::source::{FileId, SourceMap};
use crate::syntax;

#[derive(Debug, clap::Args)]
pub(super) struct CompileArgs {
    /// Spec to compile
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// Output file, usually `.guardc`; `-` writes to the standard output
    #[arg(short, long, value_name = "OUT", required_unless_present_any = ["emit", "automata"])]
    output: Option<PathBuf>,
    /// Print an intermediate form instead
    #[arg(long, value_enum, value_name = "FORM")]
    emit: Option<Emit>,
    /// Format of automata (implies `--emit automata`)
    #[arg(long, value_enum, value_name = "FORMAT")]
    automata: Option<AutomataFormat>,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    limits: LimitArgs,
    /// Semantics of traces for automata
    #[arg(long, value_enum, default_value_t = Traces::Finite)]
    semantics: Traces,
}

/// Semantics of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Traces {
    /// Finite traces: a minimal deterministic automaton
    Finite,
    /// Infinite traces: a Büchi automaton
    Infinite,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Emit {
    /// Syntax tree
    Ast,
    /// Typed core language
    Hir,
    /// Automaton of each property
    Automata,
    /// State space of each abstraction
    Abstraction,
    /// Evaluation plan of each query and other formula on a model
    Plan,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum AutomataFormat {
    /// Hanoi format
    Hoa,
    /// Graphviz
    Dot,
    /// JSON Lines, one object per property
    #[default]
    Json,
}

pub(super) fn run(args: CompileArgs) -> Result<Outcome, Failure> {
    let emit = args.emit.or(args.automata.map(|_| Emit::Automata));
    if let (Some(form), Some(_)) = (emit, args.automata)
        && form != Emit::Automata
    {
        return Err(Failure::Usage(
            "`--automata` requires `--emit automata`".to_owned(),
        ));
    }
    if emit == Some(Emit::Ast) {
        return ast(&args);
    }
    let (spec, checked) = spec::usable(&args.spec)?;
    let spec = Arc::new(spec);
    spares(args.output.as_deref(), [&args.spec])?;
    let mut output = Output::open(args.output.as_deref())?;
    match emit {
        None => {
            let properties = (0..spec.properties.len())
                .filter(|idx| spec.properties[*idx].kind != PropertyKind::Condition)
                .map(|idx| {
                    Explanation::new(&spec, &checked.sources, PropertyId::new(idx)).to_json()
                })
                .filter_map(|text| RawValue::from_string(text).ok())
                .collect();
            let models = solved(&args, &spec, &checked)?;
            let artifact = Artifact {
                models,
                plans: plan_lines(&spec, &checked.sources)?
                    .into_iter()
                    .filter_map(|line| RawValue::from_string(line).ok())
                    .collect(),
                decisions: Table::new(&spec)
                    .clauses
                    .iter()
                    .filter_map(|clause| serde_json::value::to_raw_value(clause).ok())
                    .collect(),
                properties,
                ..checked.artifact(&spec, &checked.diagnostics)
            };
            serde_json::to_writer_pretty(&mut output, &artifact).map_err(std::io::Error::from)?;
            writeln!(output)?;
        }
        Some(Emit::Automata) => {
            let format = args.automata.unwrap_or_default();
            automata(&mut output, &spec, args.semantics, format)?;
        }
        Some(Emit::Plan) => {
            for line in plan_lines(&spec, &checked.sources)? {
                writeln!(output, "{line}")?;
            }
        }
        Some(Emit::Abstraction) => {
            for id in (0..spec.abstractions.len()).map(AbstractionId::new) {
                writeln!(output, "{}", plan::abstraction(&spec, id)?)?;
            }
        }
        Some(Emit::Hir | Emit::Ast) => writeln!(output, "{spec:#?}")?,
    }
    output.close()?;
    Ok(Outcome::Holds)
}

/// Solves the models that clauses use, if they are given or loaded by the spec.
fn solved(args: &CompileArgs, spec: &Spec, checked: &Loaded) -> Result<Vec<KeptModel>, Failure> {
    if !args.models.is_given() && checked.models.is_empty() {
        return Ok(Vec::new());
    }
    let models = args.models.read(spec, &args.spec, &checked.models)?;
    let hashes: BTreeMap<SmolStr, String> = models
        .iter()
        .map(|(name, model)| (name.clone(), model.hash()))
        .collect();
    let options = Options {
        models,
        eval: args.limits.eval(),
        rows: args.limits.rows(),
        ..Options::default()
    };
    let monitor =
        Monitor::new(spec, options).map_err(|error| monitor::unusable(&args.spec, &error))?;
    spec::print_diagnostics(&model_files::unreached(&monitor), &checked.sources);
    let kept = monitor.solved().into_iter();
    kept.map(|(name, solved)| {
        let hash = hashes.get(&name).cloned().unwrap_or_default();
        KeptModel::new(name, &solved, hash)
    })
    .collect::<Result<_, _>>()
    .map_err(Failure::Usage)
}

/// Returns the plan of each claim on a model as a line of JSON.
fn plan_lines(spec: &Arc<Spec>, sources: &SourceMap) -> Result<Vec<String>, Failure> {
    let plans = plan::plans(spec, None)?;
    let claims = plans.names().filter_map(|name| plan::claim(spec, name));
    let line = |claim| plan::to_json(spec, sources, &plans, claim).to_string();
    Ok(claims.map(line).collect())
}

fn ast(args: &CompileArgs) -> Result<Outcome, Failure> {
    let text = load::text_of(&args.spec)?;
    if is_artifact(&text) {
        return Err(Failure::Usage(
            "a compiled spec supports only `--emit hir` and `--emit automata`".to_owned(),
        ));
    }
    let checked = Loaded::from_path(&args.spec)?;
    let file = checked.sources.get(FileId(0));
    let (tree, _) = syntax::parse(file);
    let mut output = Output::open(args.output.as_deref())?;
    writeln!(output, "{tree:#?}")?;
    output.close()?;
    Ok(if checked.spec.is_some() {
        Outcome::Holds
    } else {
        Outcome::WrongSpec
    })
}

fn automata(
    out: &mut impl Write,
    spec: &Spec,
    traces: Traces,
    format: AutomataFormat,
) -> Result<(), Failure> {
    let properties = spec.properties.iter();
    for property in properties.filter(|property| property.kind != PropertyKind::Condition) {
        let name = property.name.as_str();
        let written = match traces {
            Traces::Finite => automaton::build(spec, property.formula).map(|dfa| match format {
                AutomataFormat::Hoa => automaton::to_hoa(spec, name, &dfa),
                AutomataFormat::Dot => automaton::to_dot(spec, name, &dfa),
                AutomataFormat::Json => line(name, "dfa", automaton::to_json(spec, &dfa)),
            }),
            Traces::Infinite => buchi::build(spec, property.formula).map(|found| match format {
                AutomataFormat::Hoa => buchi::to_hoa(spec, name, &found),
                AutomataFormat::Dot => buchi::to_dot(spec, name, &found),
                AutomataFormat::Json => line(name, "buchi", buchi::to_json(spec, &found)),
            }),
        };
        let written = written.unwrap_or_else(|reason| match format {
            AutomataFormat::Hoa => format!("/* {name}: {reason} */\n"),
            AutomataFormat::Dot => format!("// {name}: {reason}\n"),
            AutomataFormat::Json => {
                let key = match traces {
                    Traces::Finite => "dfa",
                    Traces::Infinite => "buchi",
                };
                format!(
                    "{}\n",
                    json!({"v": 1, "name": name, key: null, "no_automaton": reason})
                )
            }
        });
        write!(out, "{written}")?;
    }
    Ok(())
}

/// Returns one automaton as a line of JSON.
fn line(name: &str, key: &str, automaton: serde_json::Value) -> String {
    format!("{}\n", json!({"v": 1, "name": name, key: automaton}))
}
