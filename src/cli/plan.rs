//! The plans of claims on models, for `guard explain`, `guard compile --emit` and compiled specs.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::failure::Failure;
use super::learn;
use super::limits::{explain_model, explain_space};
use super::output::Output;
use crate::abstraction::Space;
use crate::eval;
use crate::hir::{Claim, ClaimFormula, Domain, Spec, Subject};
use crate::ids::AbstractionId;
use crate::query::{CountedSizes, DeclaredSizes, Plans};
use crate::source::SourceMap;

/// The greatest number of states of an abstraction that are listed.
const MOST_LISTED: usize = 10_000;

/// Returns the plans of all claims; with a model file, with the sizes of its chains.
///
/// # Errors
/// The model file cannot be used.
pub(super) fn plans(spec: &Arc<Spec>, model: Option<&Path>) -> Result<Plans, Failure> {
    let Some(path) = model else {
        return Ok(Plans::new(spec, &DeclaredSizes::new(spec)));
    };
    let file = learn::read(path)?;
    let wrong = |what: String| Failure::Usage(format!("`{}`: {what}", path.display()));
    let named = spec.find_model(&file.header.model);
    let model = named.ok_or_else(|| {
        wrong(format!(
            "contains model `{}`, which the spec does not declare",
            file.header.model
        ))
    })?;
    let sizes =
        CountedSizes::new(spec, model, &file).map_err(|error| wrong(explain_model(&error)))?;
    Ok(Plans::new(spec, &sizes))
}

/// Returns the claim on a model with this name or `@id`.
pub(super) fn claim<'s>(spec: &'s Spec, name: &str) -> Option<&'s Claim> {
    let on_models = || {
        let claims = spec.claims.iter();
        claims.filter(|claim| matches!(claim.on, Subject::Model(_)))
    };
    let by_id = || on_models().find(|claim| claim.is_named(name));
    on_models().find(|claim| claim.name == name).or_else(by_id)
}

/// Returns one claim as JSON.
pub(super) fn to_json(spec: &Spec, sources: &SourceMap, plans: &Plans, claim: &Claim) -> Value {
    let is_query = claim.kind == crate::hir::ClaimKind::Query;
    let atoms: Vec<&str> = match claim.formula {
        ClaimFormula::Path(path) => letters(spec, &[path]),
        ClaimFormula::State(state) => match spec.exprs.get(state) {
            crate::hir::Expr::Branching(id) => letters(spec, &spec.branchings.get(*id).parts().0),
            _ => Vec::new(),
        },
    };
    json!({
        "v": 1,
        "name": claim.name,
        "kind": if is_query { "query" } else { claim.logic.as_str() },
        "formula": claim.text,
        "atoms": atoms,
        "place": place(sources, claim),
        "doc": claim.doc,
        "plan": plans.to_json(&claim.name),
    })
}

fn letters<'s>(spec: &'s Spec, paths: &[crate::ids::FormulaId]) -> Vec<&'s str> {
    let of = paths.iter().flat_map(|path| spec.formulas.atoms_of(*path));
    of.map(|letter| spec.atom(letter).text.as_str()).collect()
}

fn place(sources: &SourceMap, claim: &Claim) -> String {
    let file = sources.get(claim.formula_span.file);
    format!(
        "{}:{}",
        file.name(),
        file.location(claim.formula_span.start).line
    )
}

/// Writes the plan of one claim as text.
///
/// # Errors
/// If the output cannot be written.
pub(super) fn write(
    output: &mut Output,
    spec: &Spec,
    sources: &SourceMap,
    plans: &Plans,
    claim: &Claim,
) -> std::io::Result<()> {
    let on = match claim.on {
        Subject::Model(model) => spec.model(model).name.clone(),
        Subject::System(_) => Default::default(),
    };
    let paint = output.paint;
    writeln!(
        output,
        "{}  {} on `{on}`, {}",
        paint.name(&claim.name),
        claim.logic.as_str(),
        place(sources, claim)
    )?;
    for line in claim.doc.lines() {
        writeln!(output, "\n  {line}")?;
    }
    writeln!(output, "\n  formula    {}", claim.text)?;
    for (number, line) in plans
        .lines(&claim.name)
        .unwrap_or_default()
        .iter()
        .enumerate()
    {
        let head = if number == 0 { "plan" } else { "" };
        writeln!(output, "  {head:<9}  {line}")?;
    }
    Ok(())
}

/// Returns the state space of an abstraction as JSON: components, bits, and the states if they are few enough to list.
///
/// # Errors
/// The states cannot be computed.
pub(super) fn abstraction(spec: &Arc<Spec>, id: AbstractionId) -> Result<Value, Failure> {
    let of = spec.abstraction(id);
    let wrong = |error| Failure::Usage(format!("`{}`: {}", of.name, explain_space(&error)));
    let space = Space::new(spec, id, &eval::Limits::default()).map_err(wrong)?;
    let code = space.rule_code(&[]).map_err(|error| wrong(error.into()))?;
    let mut rules = space.rules(&code);
    let texts = |domain: &Domain| match domain {
        Domain::Nullable(inner) => **inner == Domain::Text,
        domain => *domain == Domain::Text,
    };
    let open = of
        .components
        .iter()
        .any(|component| texts(&component.domain));
    let listed = if open {
        None
    } else {
        rules.states(MOST_LISTED).ok()
    };
    let components: Vec<Value> = of
        .components
        .iter()
        .map(|component| json!({"name": component.name, "domain": domain(spec, &component.domain)}))
        .collect();
    let states = listed.map(|keys| {
        let state = |key: &_| {
            json!({
                "state": space.describe(*key),
                "absorbing": rules.is_absorbing(*key),
                "terminal": rules.is_terminal(*key),
            })
        };
        keys.iter().map(state).collect::<Vec<_>>()
    });
    Ok(json!({
        "v": 1,
        "name": of.name,
        "derived": of.derived,
        "components": components,
        "bits": space.bits(),
        "start": space.start().map(|key| space.describe(key)),
        "valid_states": states.as_ref().map(Vec::len),
        "states": states,
    }))
}

fn domain(spec: &Spec, of: &Domain) -> Value {
    match of {
        Domain::Bool => json!(["false", "true"]),
        Domain::Enum(number) => {
            let found = spec.enums.get(usize::from(*number));
            json!(found.map(|found| found.values.clone()))
        }
        Domain::Int(low, high) => json!({"from": low, "to": high}),
        Domain::Text => json!("the strings seen in training, or unseen"),
        Domain::Nullable(inner) => json!({"or_null": domain(spec, inner)}),
        Domain::Monitor => json!("the states of its monitor"),
    }
}
