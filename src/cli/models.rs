//! The model files of a live run: those given, and those that the spec loads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use smol_str::SmolStr;

use super::failure::Failure;
use super::learn;
use crate::artifact::KeptModel;
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{ModelSource, Spec, Subject, Watched};
use crate::learn::Model;
use crate::lint;
use crate::monitor::{Monitor, TrainedModel, Unreached};

#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct ModelArgs {
    /// Learned model for `enforce on QUERY` clauses; repeatable
    #[arg(long = "model", value_name = "MODEL.json")]
    given: Vec<PathBuf>,
}

impl ModelArgs {
    /// Whether a file is given.
    pub(super) fn is_given(&self) -> bool {
        !self.given.is_empty()
    }

    /// Returns the files of models: those that are given, and those that the spec loads.
    pub(super) fn files(&self, spec: &Spec, path: &Path) -> Vec<PathBuf> {
        let of_spec = spec.models.iter().filter_map(|model| match &model.source {
            ModelSource::Load(file, _) | ModelSource::Import(file) => Some(beside(path, file)),
            ModelSource::Learn(_) => None,
        });
        self.given.iter().cloned().chain(of_spec).collect()
    }

    /// Returns the models that clauses of a spec use, by name: from a given file, from a compiled spec, or from the file that
    /// the spec loads.
    ///
    /// # Errors
    /// A model is missing or cannot be read.
    pub(super) fn read(
        &self,
        spec: &Spec,
        path: &Path,
        kept: &[KeptModel],
    ) -> Result<BTreeMap<SmolStr, TrainedModel>, Failure> {
        let mut given = Vec::with_capacity(self.given.len());
        for path in &self.given {
            given.push((path.display().to_string(), learn::read(path)?));
        }
        assigned(&given, spec, path, kept)
    }
}

/// Returns the models that clauses of a spec use, by name: a given model with its file name, the one in a compiled spec, or the
/// one that the spec loads.
///
/// # Errors
/// A model is missing or cannot be read.
pub(super) fn assigned(
    given: &[(String, Model)],
    spec: &Spec,
    path: &Path,
    kept: &[KeptModel],
) -> Result<BTreeMap<SmolStr, TrainedModel>, Failure> {
    let asked = asked(spec);
    let mut models = BTreeMap::new();
    for name in &asked {
        let named = |(_, model): &&(String, Model)| model.header.model == *name;
        let found = match (given.iter().find(named), given, &asked[..]) {
            (Some((_, model)), ..) => TrainedModel::Learned(model.clone()),
            // A loaded model may have had another name when it was learned.
            (None, [(_, one)], [_]) => TrainedModel::Learned(one.clone()),
            _ => match kept.iter().find(|kept| kept.name == *name) {
                Some(kept) => kept
                    .source()
                    .map_err(|reason| Failure::Usage(format!("`{}` {reason}", path.display())))?,
                None => TrainedModel::Learned(loaded(spec, path, name)?),
            },
        };
        models.insert(name.clone(), found);
    }
    let known = |model: &Model| {
        asked.len() == 1 || spec.models.iter().any(|of| of.name == model.header.model)
    };
    match given.iter().find(|(_, model)| !known(model)) {
        Some((path, model)) => Err(Failure::Usage(format!(
            "`{path}` contains model `{}`, which the spec does not declare",
            model.header.model
        ))),
        None => Ok(models),
    }
}

/// Returns warnings about the tiers that no state of a monitor's models reaches.
pub(super) fn unreached(monitor: &Monitor) -> Vec<Diagnostic> {
    let spec = monitor.spec();
    let told = |tier: Unreached| {
        let arm = spec.enforces.get(tier.clause)?.arms.get(tier.arm)?;
        let when = match tier.elsewhere {
            true => "acts only in a state that is not in the model and alone decides the query",
            false => "never acts",
        };
        let told = Diagnostic::new(Code::G0943, arm.span, tier.why).label(when);
        (!lint::is_allowed(spec, told.code, arm.span)).then_some(told)
    };
    monitor.unreached().into_iter().filter_map(told).collect()
}

/// Returns the names of the models that clauses use.
fn asked(spec: &Spec) -> Vec<SmolStr> {
    let mut names: Vec<SmolStr> = Vec::new();
    for clause in &spec.enforces {
        if let Watched::Query(claim) = &clause.watched
            && let Subject::Model(model) = spec.claim(*claim).on
        {
            let name = &spec.model(model).name;
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    names
}

/// Returns the path of a file that a spec names.
pub(super) fn beside(spec: &Path, file: &str) -> PathBuf {
    spec.parent().unwrap_or(Path::new("")).join(file)
}

/// Returns the model that a spec loads from a file beside it.
fn loaded(spec: &Spec, path: &Path, name: &str) -> Result<Model, Failure> {
    let model = spec.models.iter().find(|model| model.name == name);
    match model.map(|model| &model.source) {
        Some(ModelSource::Load(file, _)) => learn::read(&beside(path, file)),
        _ => Err(must_be_learned(spec, path, name)),
    }
}

/// Returns the message for a model whose file was not given, with the commands that make and give it.
pub(super) fn must_be_learned(spec: &Spec, path: &Path, name: &str) -> Failure {
    let learned = spec.models.iter();
    let learned = learned.filter(|model| matches!(model.source, ModelSource::Learn(_)));
    let select = match learned.count() {
        1 => String::new(),
        _ => format!(" --model {name}"),
    };
    Failure::Usage(format!(
        "model `{name}` is learned from traces: run `guard learn {}{select} TRACE… -o {name}.json`, then give `--model {name}.json`",
        path.display(),
    ))
}
