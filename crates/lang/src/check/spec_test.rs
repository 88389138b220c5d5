//! `test` blocks.

use smol_str::{SmolStr, format_smolstr};

use super::Checker;
use super::enforce::of_claim;
use super::name::Qualifier;
use super::names::Space;
use super::scope::Scope;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::hir::{
    Atom, Bound, Expect, Expected, Formula, Property, PropertyKind, Quantified, Severity, Test,
    Unary,
};
use crate::ids::{FormulaId, PropertyId};
use crate::input_schema::{Absent, Field};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind, OutcomeKind, TestClause};
use crate::types::Type;
use crate::value::{Cell, Value};

impl<'a> Checker<'a> {
    /// Elaborates a test. Every `given` begins a case, which is judged separately; its expectations follow it.
    pub(super) fn test(&mut self, scope: &Scope<'a>, test: &'a ast::Test, span: Span) {
        let first = self.spec.tests.len();
        // Expectations before the first `given` belong to that case.
        let mut before = Vec::new();
        for clause in &test.clauses {
            match clause {
                TestClause::Given(given, given_span) => {
                    let mut meta: Vec<Cell> = self
                        .spec
                        .schema
                        .meta
                        .iter()
                        .map(|field| absent_cell(&field.absent))
                        .collect();
                    let steps = self.given(scope, given, &mut meta);
                    self.spec.tests.push(Test {
                        name: test.name.value.clone(),
                        meta,
                        steps,
                        step_spans: events_of(given).iter().map(|event| *event.span).collect(),
                        expects: std::mem::take(&mut before),
                        span: **given_span,
                    });
                }
                TestClause::Expect(expect) => {
                    let Some(expect) = self.expect(scope, expect) else {
                        // The error was reported; no second message says that nothing is expected.
                        continue;
                    };
                    match self
                        .spec
                        .tests
                        .get_mut(first..)
                        .and_then(|all| all.last_mut())
                    {
                        Some(case) => case.expects.push(expect),
                        None => before.push(expect),
                    }
                }
            }
        }
        self.test_cases(test, first, span);
    }

    /// Names the cases of a test, and reports a case that judges nothing or expects nothing.
    fn test_cases(&mut self, test: &'a ast::Test, first: usize, span: Span) {
        let Some(cases) = self.spec.tests.get_mut(first..) else {
            return;
        };
        if let [case] = cases {
            case.span = span;
        } else {
            for (idx, case) in cases.iter_mut().enumerate() {
                case.name = format_smolstr!("{} (case {})", test.name.value, idx + 1);
            }
        }
        if cases.is_empty() {
            self.report(
                Diagnostic::new(Code::G0319, span, "a test without `given`")
                    .label("no events to check")
                    .note("state the events before what is expected: `given [{…}, {…}]`"),
            );
        }
        self.steps_that_are_not_given(test, first);
        let is_given = |clause: &TestClause| matches!(clause, TestClause::Given(..));
        let expected: Vec<&[TestClause]> = test.clauses.split(is_given).collect();
        if expected.iter().all(|clauses| clauses.is_empty()) {
            self.report(
                Diagnostic::new(Code::G0319, span, "a test without `expect`")
                    .label("it would always pass")
                    .note("state a verdict, `expect PROPERTY violated at 1`, or a condition, `expect CONDITION at 1`"),
            );
            return;
        }
        let givens = test.clauses.iter().filter_map(|clause| match clause {
            TestClause::Given(_, span) => Some(**span),
            TestClause::Expect(_) => None,
        });
        let givens: Vec<Span> = givens.collect();
        for (idx, (given, clauses)) in givens.into_iter().zip(expected.iter().skip(1)).enumerate() {
            let before = expected.first().is_some_and(|clauses| !clauses.is_empty());
            if clauses.is_empty() && !(idx == 0 && before) {
                self.report(
                    Diagnostic::new(Code::G0319, given, "a `given` without `expect`")
                        .label("the verdict on these events is not checked")
                        .note("each `given` begins a new case; its `expect` lines follow it"),
                );
            }
        }
    }

    /// Reports each `expect … at N` for a step that its case does not have: no spec could meet it.
    fn steps_that_are_not_given(&mut self, test: &'a ast::Test, first: usize) {
        let mut n_given = 0_usize;
        let mut is_list = true;
        for clause in &test.clauses {
            let expect = match clause {
                TestClause::Given(given, _) => {
                    n_given += 1;
                    is_list = matches!(given.kind, ExprKind::List(_) | ExprKind::Record(_));
                    continue;
                }
                TestClause::Expect(expect) => expect,
            };
            let case = first + n_given.saturating_sub(1);
            let (Some(at), Some(case)) = (&expect.at, self.spec.tests.get(case)) else {
                continue;
            };
            let number = match &at.kind {
                ExprKind::Int(digits) => digits.parse::<u32>(),
                _ => continue,
            };
            // An invalid number was already reported.
            let Some(number) = number.ok().filter(|_| is_list) else {
                continue;
            };
            let n_steps = case.steps.len();
            if (number as usize) < n_steps {
                continue;
            }
            let steps = match n_steps {
                0 => "the case has no events".to_owned(),
                1 => "the case has one event: step 0".to_owned(),
                n => format!("the case has {n} events: steps 0 to {}", n - 1),
            };
            let message = format!("step {number} does not exist");
            self.report(Diagnostic::new(Code::G0319, *at.span, message).label(steps));
        }
    }

    /// `given [ {…}, … ]`, or `given {meta: {…}, events: [ … ]}`.
    fn given(
        &mut self,
        scope: &Scope<'a>,
        given: &'a ast::Expr,
        meta: &mut [Cell],
    ) -> Vec<Vec<Cell>> {
        match &given.kind {
            ExprKind::List(events) => events.iter().map(|event| self.step(scope, event)).collect(),
            ExprKind::Record(_) if is_event(given) => {
                let whole = *given.span;
                let edits = vec![
                    (whole.before(), "[".to_owned()),
                    (whole.after(), "]".to_owned()),
                ];
                self.report(
                    Diagnostic::new(
                        Code::G0319,
                        whole,
                        "expected a list of events, found one event",
                    )
                    .label("expected `[ … ]`")
                    .fix_all("write `[ ]`", edits),
                );
                vec![self.step(scope, given)]
            }
            ExprKind::Record(entries) => {
                let mut steps = Vec::new();
                let mut given = vec![false; meta.len()];
                for (place, entry) in entries.iter().enumerate() {
                    if entries[..place]
                        .iter()
                        .any(|other| other.key.text == entry.key.text)
                    {
                        self.duplicate(&entry.key);
                        continue;
                    }
                    match (entry.key.as_str(), &entry.value.kind) {
                        ("events", ExprKind::List(events)) => {
                            steps = events.iter().map(|event| self.step(scope, event)).collect();
                        }
                        ("meta", ExprKind::Record(members)) => {
                            for member in members {
                                let fields = self.spec.schema.meta.clone();
                                if let Some(idx) = self.field_of(&fields, &member.key, "meta field")
                                {
                                    if let Some(declared) = self.meta_spans.get(idx) {
                                        self.link(*member.key.span, *declared);
                                    }
                                    meta[idx] = self.cell(scope, &member.value, &fields[idx].ty);
                                    if std::mem::replace(&mut given[idx], true) {
                                        self.duplicate(&member.key);
                                    }
                                }
                            }
                        }
                        ("events", _) => self.report(
                            Diagnostic::new(
                                Code::G0319,
                                *entry.value.span,
                                "expected a list of events",
                            )
                            .label("write `[ {kind: \"…\", …}, … ]`"),
                        ),
                        ("meta", _) => self.report(
                            Diagnostic::new(
                                Code::G0319,
                                *entry.value.span,
                                "expected the facts of the trace",
                            )
                            .label("write `{name: value, …}`"),
                        ),
                        _ => {
                            self.report(
                                Diagnostic::new(
                                    Code::G0319,
                                    entry.key.span,
                                    format!("unknown argument `{}`", entry.key),
                                )
                                .label("expected `events: [ … ]` or `meta: { … }`"),
                            );
                        }
                    }
                }
                steps
            }
            _ => {
                self.report(
                    Diagnostic::new(Code::G0319, *given.span, "expected a list of events")
                        .label("write `[ {kind: \"…\", …}, … ]`"),
                );
                Vec::new()
            }
        }
    }

    fn step(&mut self, scope: &Scope<'a>, event: &'a ast::Expr) -> Vec<Cell> {
        let fields = self.spec.schema.fields.clone();
        let mut cells: Vec<Option<Cell>> = vec![None; fields.len()];
        match &event.kind {
            ExprKind::Record(entries) => {
                for entry in entries {
                    if let Some(idx) = self.field_of(&fields, &entry.key, "field") {
                        self.link(*entry.key.span, self.field_spans[idx].0);
                        let cell = self.cell(scope, &entry.value, &fields[idx].ty);
                        if cells[idx].replace(cell).is_some() {
                            self.duplicate(&entry.key);
                        }
                    }
                }
            }
            ExprKind::EmptyBraces => {}
            _ => {
                self.report(
                    Diagnostic::new(Code::G0319, *event.span, "expected an event")
                        .label("write `{field: value, …}`"),
                );
            }
        }
        cells
            .into_iter()
            .zip(&fields)
            .map(|(cell, field)| cell.unwrap_or_else(|| absent_cell(&field.absent)))
            .collect()
    }

    fn duplicate(&mut self, key: &ast::Name) {
        self.error(Code::G0202, key.span, format!("duplicate `{key}`"));
    }

    fn field_of(&mut self, fields: &[Field], name: &ast::Name, what: &str) -> Option<usize> {
        let found = fields.iter().position(|field| field.name == name.text);
        // Any field may be declared in an `event` block that could not be read.
        if found.is_none() && !self.has_lost_names() {
            let mut diagnostic =
                Diagnostic::new(Code::G0305, name.span, format!("unknown {what} `{name}`"))
                    .label("not declared");
            if let Some(near) =
                did_you_mean(&name.text, fields.iter().map(|field| field.name.as_str()))
            {
                diagnostic = diagnostic.fix(format!("write `{near}`"), name.span, near);
            } else {
                diagnostic = diagnostic.note(
                    "tests use the names of fields in the `event` block, not those of the record",
                );
            }
            self.report(diagnostic);
        }
        found
    }

    fn expect(&mut self, scope: &Scope<'a>, expect: &'a ast::Expect) -> Option<Expect> {
        let at = match &expect.at {
            None => None,
            Some(at) => match &at.kind {
                ExprKind::Int(digits) => match digits.parse::<u32>() {
                    Ok(at) => Some(at),
                    Err(_) => {
                        self.error(Code::G0322, *at.span, "step number out of range");
                        return None;
                    }
                },
                _ => {
                    self.error(Code::G0319, *at.span, "expected a step number");
                    return None;
                }
            },
        };
        let Some(outcome) = expect.outcome else {
            return self.condition(scope, expect, at);
        };
        let verdict = match outcome {
            OutcomeKind::Satisfied => "satisfied",
            OutcomeKind::Violated => "violated",
            OutcomeKind::PresumablySatisfied => "presumably_satisfied",
            OutcomeKind::PresumablyViolated => "presumably_violated",
            OutcomeKind::Unknown => "unknown",
        };
        let ExprKind::Name(name) = &expect.subject.kind else {
            return self.formula_in_place(scope, expect, verdict, at);
        };
        let declared = self.declared_property(name);
        match self.spec.find_property(&name.text) {
            Some(property) => Some(Expect {
                form: Expected::Verdict,
                property,
                verdict: SmolStr::new_static(verdict),
                at,
                span: *expect.span,
            }),
            None => {
                if let Some(item) = declared {
                    match self.spec.find_claim(&name.text) {
                        Some(claim) => self.report(of_claim(name, self.spec.claim(claim).kind)),
                        // A declaration in this file has an error, which is reported there.
                        None => drop(self.rejects_of_module(name, item)),
                    }
                    return None;
                }
                let diagnostic = self.undeclared_property(Code::G0201, name);
                self.report(diagnostic);
                None
            }
        }
    }

    /// Elaborates `expect T(a, b) violated at 2`: a formula that is judged as a separate property. Templates are tested
    /// in this way.
    fn formula_in_place(
        &mut self,
        scope: &Scope<'a>,
        expect: &'a ast::Expect,
        verdict: &'static str,
        at: Option<u32>,
    ) -> Option<Expect> {
        let expr = &expect.subject;
        if let ExprKind::Member { base, name } = &expr.kind
            && let Some(Qualifier::Module(module)) = self.qualifier(scope, base)
            && let Some(item) = self.find(module, Space::Property, name)
            && self.rejects_of_module(name, item)
        {
            return None;
        }
        if !self.is_temporal(scope, expr) {
            self.report(
                Diagnostic::new(
                    Code::G0319,
                    *expr.span,
                    "expected a property or temporal formula before a verdict",
                )
                .label("a condition on one step")
                .note("for a condition, omit the verdict: `expect risk == safe at 2`"),
            );
            return None;
        }
        let taken = self.unquantified(scope, expr, 0)?;
        let quantified = self.quantified(
            taken.universal,
            taken.names,
            taken.range,
            taken.formula,
            *expr.span,
        );
        let property = self.tested(expect, quantified, taken.formula);
        if let ExprKind::Call { callee, .. } = &expr.kind
            && let Some(item) = self.item_of(scope, callee)
            && let ast::ItemKind::Template(def) = &self.names.item(item).kind
        {
            let template = def.name.text.clone();
            self.spec.outline.instances.push((property, template));
        }
        Some(Expect {
            form: Expected::Verdict,
            property,
            verdict: SmolStr::new_static(verdict),
            at,
            span: *expect.span,
        })
    }

    /// Returns a property that exists only for a test.
    fn tested(
        &mut self,
        expect: &ast::Expect,
        quantified: Option<Quantified>,
        formula: FormulaId,
    ) -> PropertyId {
        let expr = &expect.subject;
        let property = PropertyId::new(self.spec.properties.len());
        self.spec.properties.push(Property {
            name: self.snippet(*expr.span),
            id: None,
            kind: PropertyKind::Condition,
            quantified,
            formula,
            trigger: None,
            severity: Severity::default(),
            catastrophic: false,
            message: None,
            doc: SmolStr::default(),
            requirement: None,
            requirement_span: None,
            cites: Vec::new(),
            owner: None,
            span: *expect.span,
            formula_span: *expr.span,
        });
        property
    }

    /// Elaborates `expect risk == safe at 2` as a separate property: `F[2,2]` of the condition, or the condition at the
    /// last step.
    fn condition(
        &mut self,
        scope: &Scope<'a>,
        expect: &'a ast::Expect,
        at: Option<u32>,
    ) -> Option<Expect> {
        let expr = &expect.subject;
        let body = if self.is_temporal(scope, expr) {
            self.formula(scope, expr)
        } else {
            let typed = self.value(scope, expr, Some(&Type::Bool));
            self.require_boolean(&typed, *expr.span);
            if typed.ty != Type::Bool {
                return None;
            }
            let atom = Atom {
                expr: typed.id,
                text: self.snippet(*expr.span),
                span: *expr.span,
            };
            let atom = self.spec.formulas.add_atom(atom);
            self.spec.formulas.add(Formula::Atom(atom))
        };
        let formulas = &mut self.spec.formulas;
        let formula = match at {
            Some(at) => formulas.add(Formula::Unary(
                Unary::Eventually,
                Some(Bound::Steps(at, at)),
                body,
            )),
            None => {
                let last = formulas.add(Formula::Last);
                let both = formulas.add(Formula::And(last, body));
                formulas.add(Formula::Unary(Unary::Eventually, None, both))
            }
        };
        let property = self.tested(expect, None, formula);
        Some(Expect {
            form: Expected::Condition(at),
            property,
            verdict: SmolStr::new_static("satisfied"),
            at: None,
            span: *expect.span,
        })
    }
}

/// Returns the events of a `given`.
fn events_of(given: &ast::Expr) -> &[ast::Expr] {
    match &given.kind {
        ExprKind::List(events) => events,
        ExprKind::Record(_) if is_event(given) => std::slice::from_ref(given),
        ExprKind::Record(entries) => {
            let mut named = entries.iter();
            named
                .find_map(|entry| match (entry.key.as_str(), &entry.value.kind) {
                    ("events", ExprKind::List(events)) => Some(events.as_slice()),
                    _ => None,
                })
                .unwrap_or_default()
        }
        _ => &[],
    }
}

/// Whether a `given` is one event without the list around it.
fn is_event(given: &ast::Expr) -> bool {
    let ExprKind::Record(entries) = &given.kind else {
        return false;
    };
    let mut keys = entries.iter().map(|entry| entry.key.as_str());
    !keys.any(|key| ["events", "meta"].contains(&key))
}

fn absent_cell(absent: &Absent) -> Cell {
    match absent {
        Absent::Null => Cell::Known(Value::Null),
        Absent::Error | Absent::Unknown => Cell::Unknown,
        Absent::Default(value) => Cell::Known(value.clone()),
    }
}
