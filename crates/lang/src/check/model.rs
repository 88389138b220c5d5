//! `model` items: the source of a chain, and whether its states decide the claims about it.

use std::collections::HashSet;

use smol_str::SmolStr;

use super::Checker;
use super::branching::Place;
use super::names::{ItemRef, Space};
use super::scope::Scope;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::hir::{
    Abstraction, Branching, Claim, ClaimFormula, Component, Domain, Expr, Learn, Model,
    ModelSource, Pac, Source, Subject, reads,
};
use crate::ids::{AbstractionId, ExprId, ModelId};
use crate::source::Span;
use crate::syntax::ast::{self, LearnSettingKind};
use crate::types::Type;

/// The greatest number of steps that a state may remember.
const MAX_ORDER: u32 = 8;

impl<'a> Checker<'a> {
    /// Returns the model that an item declares.
    pub(super) fn model(&mut self, item_ref: ItemRef) -> Option<ModelId> {
        if let Some(known) = self.models.get(&item_ref) {
            return *known;
        }
        let item = self.names.item(item_ref);
        let ast::ItemKind::Model(def) = &item.kind else {
            return None;
        };
        self.attributes(item, &["allow"]);
        let scope = Scope::module(item_ref.module);
        let source = match &def.source {
            ast::ModelSource::Learn {
                abstraction,
                settings,
            } => self
                .learned_over(&scope, def, abstraction.as_ref(), *item.span)
                .map(|abstraction| {
                    ModelSource::Learn(self.settings(&scope, abstraction, settings))
                }),
            ast::ModelSource::Load(path) => {
                let names = self.names.all(item_ref.module, Space::Model);
                let items = names
                    .iter()
                    .filter_map(|name| self.names.get(item_ref.module, Space::Model, name));
                let found: Vec<ItemRef> = items
                    .filter(|item| {
                        matches!(self.names.item(*item).kind, ast::ItemKind::Abstraction(_))
                    })
                    .collect();
                let only = match found.as_slice() {
                    [one] => Some(*one),
                    _ => None,
                };
                let abstraction = only.and_then(|only| self.abstraction(only));
                Some(ModelSource::Load(path.value.clone(), abstraction))
            }
            ast::ModelSource::Import(path) => Some(ModelSource::Import(path.value.clone())),
        };
        let Some(source) = source else {
            self.models.insert(item_ref, None);
            return None;
        };
        let id = ModelId::new(self.spec.models.len());
        self.spec.models.push(Model {
            name: def.name.text.clone(),
            source,
            span: *item.span,
        });
        self.models.insert(item_ref, Some(id));
        Some(id)
    }

    /// Returns the abstraction that `learn` names, or one to be derived from the claims about the model.
    fn learned_over(
        &mut self,
        scope: &Scope<'a>,
        def: &'a ast::Model,
        named: Option<&'a ast::Name>,
        span: Span,
    ) -> Option<AbstractionId> {
        let Some(name) = named else {
            let id = AbstractionId::new(self.spec.abstractions.len());
            let name = def.name.text.clone();
            let derived = Abstraction::empty(name, true, span);
            self.spec.abstractions.push(derived);
            return Some(id);
        };
        let item = self.find(scope.module, Space::Model, name);
        match item.map(|item| (item, &self.names.item(item).kind)) {
            Some((item, ast::ItemKind::Abstraction(_))) => self.abstraction(item),
            Some((_, ast::ItemKind::Broken(_))) => None,
            Some(_) => {
                self.report(
                    Diagnostic::new(
                        Code::G0209,
                        name.span,
                        format!("`{name}` is not an abstraction"),
                    )
                    .label("`learn` takes an abstraction"),
                );
                None
            }
            None => {
                let mut diagnostic = Diagnostic::new(
                    Code::G0201,
                    name.span,
                    format!("unknown abstraction `{name}`"),
                )
                .label("not declared");
                if let Some(near) =
                    did_you_mean(&name.text, self.names.all(scope.module, Space::Model))
                {
                    diagnostic = diagnostic.fix(format!("write `{near}`"), name.span, near);
                } else {
                    diagnostic = diagnostic
                        .note("without a name, `learn { … }` uses the predicates of the formulas on the model");
                }
                self.report(diagnostic);
                None
            }
        }
    }

    fn settings(
        &mut self,
        scope: &Scope<'a>,
        abstraction: AbstractionId,
        settings: &'a [ast::LearnSetting],
    ) -> Learn {
        let mut learn = Learn {
            abstraction,
            smoothing: 0.0,
            by: None,
            order: 1,
            pac: None,
        };
        let mut seen = HashSet::new();
        for setting in settings {
            if !seen.insert(std::mem::discriminant(&setting.kind)) {
                self.error(Code::G0324, *setting.span, "duplicate setting");
                continue;
            }
            match &setting.kind {
                LearnSettingKind::Smoothing(value) => {
                    if let Some(number) = self.number_between(scope, value, Some((0.0, 1e9))) {
                        learn.smoothing = number.to_f64();
                    }
                }
                LearnSettingKind::By(value) => {
                    let typed = self.value(scope, value, None);
                    let read = reads::reads(&self.spec, [typed.id]);
                    let steady = read.fields.is_empty() && read.tracks.is_empty() && !read.history;
                    if typed.ty != Type::Error && (!steady || read.meta.is_empty()) {
                        self.report(
                            Diagnostic::new(Code::G0338, value.span, "`by` must depend on fields of the record only")
                                .label(if steady { "the same for every trace" } else { "changes from step to step" })
                                .note("use a field of the record: `by meta.category`; a value that changes from \
                    step to step belongs in `over`"),
                        );
                        continue;
                    }
                    learn.by = Some(typed.id);
                }
                LearnSettingKind::Order(value) => {
                    let most = f64::from(MAX_ORDER);
                    if let Some(number) = self.number_between(scope, value, Some((1.0, most))) {
                        match number.to_int().and_then(|order| u32::try_from(order).ok()) {
                            Some(order) => learn.order = order,
                            None => self.report(
                                Diagnostic::new(
                                    Code::G0338,
                                    value.span,
                                    "`order` must be a number of steps",
                                )
                                .label(format!("expected a whole number from 1 to {MAX_ORDER}")),
                            ),
                        }
                    }
                }
                LearnSettingKind::Pac { epsilon, delta } => {
                    let epsilon = self.share(scope, epsilon, "epsilon");
                    let delta = self.share(scope, delta, "delta");
                    if let (Some(epsilon), Some(delta)) = (epsilon, delta) {
                        learn.pac = Some(Pac { epsilon, delta });
                    }
                }
            }
        }
        learn
    }

    /// Returns a number above 0 and below 1.
    fn share(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr, what: &str) -> Option<f64> {
        let value = self.number_between(scope, expr, Some((0.0, 1.0)))?.to_f64();
        if value <= 0.0 || value >= 1.0 {
            self.report(
                Diagnostic::new(
                    Code::G0338,
                    expr.span,
                    format!("`{what}` must be above 0 and below 1"),
                )
                .label(format!("found {value}")),
            );
            return None;
        }
        Some(value)
    }

    /// Returns the meaning of names in claims about a model.
    pub(super) fn model_place(&mut self, scope: &Scope<'a>, model: ModelId) -> (Place, Scope<'a>) {
        let found = self.spec.model(model);
        if matches!(found.source, ModelSource::Import(_)) {
            return (Place::Imported, scope.clone());
        }
        let mut inner = scope.clone();
        if let Some(names) = found
            .abstraction()
            .and_then(|abstraction| self.abstraction_names.get(&abstraction))
        {
            inner = inner.with_all(names);
        }
        (Place::Model(model), inner)
    }

    /// Returns the conditions on single states in a claim, with their texts if known.
    fn conditions(&self, formula: ClaimFormula) -> Vec<(ExprId, Option<SmolStr>)> {
        let spec = &self.spec;
        let atoms = |path| {
            let atoms = spec.formulas.atoms_of(path).into_iter();
            atoms.map(|atom| {
                let atom = spec.formulas.atom(atom);
                (atom.expr, Some(atom.text.clone()))
            })
        };
        let mut todo: Vec<(ExprId, Option<SmolStr>)> = match formula {
            ClaimFormula::State(state) => vec![(state, None)],
            ClaimFormula::Path(path) => atoms(path).collect(),
        };
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        while let Some((id, text)) = todo.pop() {
            if !seen.insert(id) {
                continue;
            }
            let Some(branchings) = self.branchings_below(id) else {
                found.push((id, text));
                continue;
            };
            // The expressions around operators are connectives.
            match spec.exprs.get(id) {
                Expr::Branching(_) => {}
                _ => todo.extend(
                    spec.exprs
                        .operands(id)
                        .into_iter()
                        .map(|operand| (operand, None)),
                ),
            }
            for branching in branchings {
                let (paths, states) = branching.parts();
                todo.extend(states.into_iter().map(|state| (state, None)));
                todo.extend(paths.into_iter().flat_map(atoms));
            }
        }
        found.sort_by_key(|(id, _)| *id);
        found
    }

    /// Returns the branching-time operator that an expression is; an empty list if it only contains one; else `None`.
    fn branchings_below(&self, id: ExprId) -> Option<Vec<Branching>> {
        let spec = &self.spec;
        if let Expr::Branching(branching) = spec.exprs.get(id) {
            return Some(vec![spec.branchings.get(*branching).clone()]);
        }
        let is_operator = |part: &Expr| matches!(part, Expr::Branching(_));
        spec.exprs.any_part(id, is_operator).then(Vec::new)
    }

    /// Reports conditions in a claim that the states of the model do not decide.
    pub(super) fn decided_by(&mut self, model: ModelId, formula: ClaimFormula, span: Span) {
        let Some(abstraction) = self.spec.model(model).abstraction() else {
            return;
        };
        if self.spec.abstraction(abstraction).derived {
            return;
        }
        for (condition, text) in self.conditions(formula) {
            let made = self.spec.abstraction(abstraction);
            let leaves = made.undecided(&self.spec, condition, true);
            if !leaves.is_empty() {
                let made = made.clone();
                let text = text.unwrap_or_else(|| self.snippet(span));
                self.not_decided(&made, &text, &leaves, span);
            }
        }
        self.rewards_of(abstraction, formula, span);
    }

    /// Reports rewards that the abstraction does not declare.
    fn rewards_of(&mut self, abstraction: AbstractionId, formula: ClaimFormula, span: Span) {
        let spec = &self.spec;
        let roots = formula.states(&spec.formulas);
        let below =
            crate::hir::branching::below(&spec.exprs, &spec.formulas, &spec.branchings, roots);
        let declared: Vec<SmolStr> = spec
            .abstraction(abstraction)
            .rewards
            .iter()
            .filter_map(|reward| reward.name.clone())
            .collect();
        let mut missing = Vec::new();
        for id in below {
            if let Expr::Branching(branching) = spec.exprs.get(id)
                && let Branching::Reward {
                    name: Some(name), ..
                } = spec.branchings.get(*branching)
                && !declared.contains(name)
            {
                missing.push(name.clone());
            }
        }
        for name in missing {
            let mut diagnostic =
                Diagnostic::new(Code::G0201, span, format!("unknown reward `{name}`"))
                    .label("not declared in the abstraction");
            diagnostic = match did_you_mean(&name, declared.iter().map(SmolStr::as_str)) {
                Some(near) => diagnostic.note(format!("did you mean `{near}`?")),
                None => diagnostic.note(format!(
                    "declare it in the abstraction: `reward {name} = if leak then 1 else 0`"
                )),
            };
            self.report(diagnostic);
        }
    }

    /// Derives the abstractions of models without one: their components are the conditions on single states in claims.
    pub(super) fn derive(&mut self) {
        for model in (0..self.spec.models.len()).map(ModelId::new) {
            let Some(abstraction) = self.spec.model(model).abstraction() else {
                continue;
            };
            if !self.spec.abstraction(abstraction).derived {
                continue;
            }
            let mut components: Vec<Component> = Vec::new();
            let claims: Vec<Claim> = self
                .spec
                .claims
                .iter()
                .filter(|claim| claim.on == Subject::Model(model))
                .cloned()
                .collect();
            for claim in &claims {
                for (condition, text) in self.conditions(claim.formula) {
                    for part in self.atoms(condition) {
                        if components
                            .iter()
                            .any(|known| known.source == Source::Value(part))
                        {
                            continue;
                        }
                        let name = match &text {
                            Some(text) if part == condition => text.clone(),
                            _ => smol_str::format_smolstr!("p{}", components.len()),
                        };
                        components.push(Component {
                            name,
                            source: Source::Value(part),
                            domain: Domain::Bool,
                            span: claim.formula_span,
                        });
                    }
                }
            }
            let span = self.spec.model(model).span;
            if components.is_empty() && !self.has_error_within(span) && self.errors() == 0 {
                let name = self.spec.model(model).name.clone();
                self.report(
                    Diagnostic::new(Code::G0337, span, format!("model `{name}` has no components to distinguish its states"))
                        .label("it names no abstraction, and no formula refers to the model")
                        .note(format!("name an abstraction, `learn drift {{ }}`, or add a formula: `query q = P=? [ \
                    F leak ] on {name}`")),
                );
            }
            self.spec.abstractions[abstraction.index()].components = components;
        }
    }

    /// Returns the operands of a condition's connectives that read the step.
    fn atoms(&self, id: ExprId) -> Vec<ExprId> {
        let spec = &self.spec;
        let none = Abstraction::empty(SmolStr::default(), true, Span::default());
        if none.undecided(spec, id, true).is_empty() {
            return Vec::new();
        }
        let labelled =
            crate::hir::branching::below(&spec.exprs, &spec.formulas, &spec.branchings, [id])
                .into_iter()
                .any(|id| matches!(spec.exprs.get(id), Expr::Label(_) | Expr::Violated(_)));
        if labelled {
            let operands = spec.exprs.operands(id);
            return operands
                .into_iter()
                .flat_map(|operand| self.atoms(operand))
                .collect();
        }
        vec![id]
    }
}
