//! Names, types and well-formedness: a project of trees becomes a [`hir::Spec`].
//!
//! Input: [`Project`]; output: a spec, made only when there is no error, and diagnostics. Values and formulas have one
//! expression grammar; this pass separates them. An expression is *elaborated* in one of two ways:
//!
//! * as a **value** ([`Checker::value`]): a node of [`hir::Exprs`] with a type; past operators become expressions with
//!   history, future operators are errors;
//! * as a **formula** ([`Checker::formula`]): Boolean connectives and temporal operators become [`hir::Formula`]s, and
//!   the expressions between them, elaborated as values, become atoms. A named predicate without temporal operators is
//!   one atom, however complex it is.
//!
//! Definitions (`let`, `predicate`, `const`, `template`) are inlined where they are used, with their arguments
//! substituted; those of the spec itself are also elaborated once on their own, so that an unused one is checked too.
//! Equal expressions are one node, so inlining costs no size.
//!
//! One mistake gives one message: an erroneous expression has [`Type::Error`], which is compatible with every type.

mod abstraction;
mod bound;
mod branching;
mod calls;
mod choice;
mod claim;
mod command;
mod contract;
mod enforce;
mod expr;
mod formula;
mod functions;
mod habits;
mod join;
mod kept;
mod layout;
mod links;
mod literal;
mod member;
mod model;
mod name;
mod names;
mod narrow;
mod operators;
mod property;
mod quantified;
mod ranged;
mod regex;
mod scope;
mod spec_test;
mod system;
mod temporal;
mod text;
mod threshold_arm;
mod track;
mod trigger;
mod types;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use smol_str::SmolStr;

use crate::diagnostic::{Code, Diagnostic};
use crate::hir;
use crate::ids::{AbstractionId, ExprId, LocalId, ModelId, SystemId, TrackId};
use crate::modules::Project;
use crate::source::{SourceMap, Span};
use crate::syntax::ast;
use crate::types::{EnumType, RecordType, Type};

use branching::Place;
pub use functions::{functions, functions_for};
pub use links::Links;
use names::Names;
pub use property::ATTRIBUTES;
use scope::Scope;

/// Limits of this pass.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The greatest depth of an expression after definitions are inlined.
    pub depth: usize,
    /// The greatest nesting of definitions that use each other.
    pub definitions: usize,
    /// The greatest bound in steps in a formula with `where`, which is expanded step by step.
    pub kept_steps: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            depth: 2_000,
            definitions: 100,
            kept_steps: 256,
        }
    }
}

/// The result of the pass.
#[derive(Debug)]
pub struct Meaning {
    /// The core form; present exactly if no diagnostic is an error.
    pub spec: Option<hir::Spec>,
    /// The diagnostics, in no particular order.
    pub diagnostics: Vec<Diagnostic>,
    /// The declarations of resolved names.
    pub links: Links,
}

/// Checks a project.
pub fn check(project: &Project, sources: &SourceMap, limits: Limits) -> Meaning {
    let mut checker = Checker::new(project, sources, limits);
    checker.run();
    let Checker {
        spec,
        mut diagnostics,
        links,
        ..
    } = checker;
    diagnostics.retain(|diagnostic| {
        let mut allowed = spec.outline.allowed_at(diagnostic.span());
        diagnostic.is_error() || !allowed.any(|name| Code::named(name) == Some(diagnostic.code))
    });
    let sound = !diagnostics.iter().any(Diagnostic::is_error);
    Meaning {
        spec: sound.then_some(spec),
        diagnostics,
        links: links.into_inner(),
    }
}

/// A value with its type.
#[derive(Clone, Debug)]
struct Typed {
    id: ExprId,
    ty: Type,
}

/// The state of the pass.
struct Checker<'a> {
    project: &'a Project,
    sources: &'a SourceMap,
    limits: Limits,
    names: Names<'a>,
    spec: hir::Spec,
    diagnostics: Vec<Diagnostic>,
    reported: HashSet<(Code, Span, String)>,
    /// Enums and records that were elaborated, by module and item.
    types: HashMap<names::ItemRef, Type>,
    /// The spans of the declarations of event fields: the name, and the whole.
    field_spans: Vec<(Span, Span)>,
    /// The spans of the names in the declarations of fields of the record.
    meta_spans: Vec<Span>,
    /// Tracks that were elaborated or are being elaborated.
    tracks: HashMap<names::ItemRef, TrackId>,
    /// The joins of the `trace` block.
    joins: Vec<join::Join>,
    /// Systems, components and compositions that were declared.
    system_ids: HashMap<names::ItemRef, SystemId>,
    /// Results of inlined definitions by their arguments, so that using a definition twice costs no more than using it
    /// once.
    made: HashMap<(names::ItemRef, Vec<ExprId>), Typed>,
    /// The same for definitions that are formulas.
    made_formulas: HashMap<names::ItemRef, crate::ids::FormulaId>,
    /// Whether each definition is a formula, at events and at states.
    temporal: RefCell<HashMap<(names::ItemRef, bool), bool>>,
    /// The meaning of atoms at the current place.
    place: Place,
    /// The spans of the variables and labels of systems.
    member_spans: HashMap<(SystemId, SmolStr), Span>,
    /// Abstractions that were elaborated.
    abstractions: HashMap<names::ItemRef, AbstractionId>,
    /// The names that an abstraction declares in `over`.
    abstraction_names: HashMap<AbstractionId, Scope<'a>>,
    /// The models so far; `None` for one with an error.
    models: HashMap<names::ItemRef, Option<ModelId>>,
    /// Definitions being inlined, innermost last.
    open: Vec<names::ItemRef>,
    /// The depth of every expression, by id.
    depths: Vec<u32>,
    /// Expressions that an enclosing conjunct or condition guarantees not to be null.
    not_null: Vec<ExprId>,
    /// Expressions that are not null here: see [`narrow`].
    facts: Vec<ExprId>,
    /// The entries of `facts` that are not null at any step that φ of `φ where c` is about.
    facts_everywhere: Vec<ExprId>,
    /// The ranges of quantified names with `in`, by position; these names have a type.
    ranges: HashMap<usize, ExprId>,
    /// Whether the depth limit was reported.
    too_deep: bool,
    /// Whether a definition with parameters is checked on its own.
    generic: bool,
    /// Names that were used, for the lint.
    used: HashSet<names::ItemRef>,
    /// The declarations of names, for editors.
    links: RefCell<Links>,
    /// The spans of the values of enums, by the number of the enum.
    value_spans: HashMap<u16, Vec<Span>>,
}

impl<'a> Checker<'a> {
    fn new(project: &'a Project, sources: &'a SourceMap, limits: Limits) -> Checker<'a> {
        let mut diagnostics = Vec::new();
        let names = Names::collect(project, &mut diagnostics);
        Checker {
            project,
            sources,
            limits,
            names,
            spec: hir::Spec {
                schema: crate::input_schema::InputSchema::default(),
                enums: Vec::new(),
                exprs: hir::Exprs::default(),
                formulas: hir::Formulas::default(),
                local_names: Vec::new(),
                filter: hir::Filter::default(),
                tracks: Vec::new(),
                properties: Vec::new(),
                state_vars: Vec::new(),
                systems: Vec::new(),
                tests: Vec::new(),
                branchings: hir::Branchings::default(),
                claims: Vec::new(),
                abstractions: Vec::new(),
                models: Vec::new(),
                outline: hir::Outline {
                    file: project
                        .modules
                        .first()
                        .map_or_else(Default::default, |module| module.file),
                    ..hir::Outline::default()
                },
                enforces: Vec::new(),
                outcomes: Vec::new(),
            },
            diagnostics,
            reported: HashSet::new(),
            types: HashMap::new(),
            field_spans: Vec::new(),
            meta_spans: Vec::new(),
            tracks: HashMap::new(),
            joins: Vec::new(),
            system_ids: HashMap::new(),
            made: HashMap::new(),
            made_formulas: HashMap::new(),
            temporal: RefCell::new(HashMap::new()),
            place: Place::Events,
            member_spans: HashMap::new(),
            abstractions: HashMap::new(),
            abstraction_names: HashMap::new(),
            models: HashMap::new(),
            open: Vec::new(),
            depths: Vec::new(),
            not_null: Vec::new(),
            facts: Vec::new(),
            facts_everywhere: Vec::new(),
            ranges: HashMap::new(),
            too_deep: false,
            generic: false,
            used: HashSet::new(),
            links: RefCell::default(),
            value_spans: HashMap::new(),
        }
    }

    /// Runs the steps of the pass: first types, fields and layout, because expressions read them; then systems, then
    /// all declarations of the spec, in the order of its text.
    fn run(&mut self) {
        self.link_imports();
        self.layout();
        self.systems();
        let scope = Scope::module(0);
        let tree = &self.project.modules[0].tree;
        for (idx, item) in tree.items.iter().enumerate() {
            self.item(&scope, idx, item);
        }
        self.about_states(&scope);
        for item in &tree.items {
            match &item.kind {
                ast::ItemKind::Test(test) => self.test(&scope, test, *item.span),
                ast::ItemKind::Enforce(clause) => self.enforce(&scope, item, clause),
                _ => {}
            }
        }
        self.unused();
        self.unjudged_modules();
    }

    fn item(&mut self, scope: &Scope<'a>, idx: usize, item: &'a ast::Item) {
        let item_ref = names::ItemRef {
            module: 0,
            item: idx,
        };
        match &item.kind {
            ast::ItemKind::Use(_) => {
                self.attributes(item, &["allow"]);
            }
            ast::ItemKind::Trace(_) | ast::ItemKind::Event(_) => {
                self.attributes(item, &[]);
            }
            ast::ItemKind::Broken(_) | ast::ItemKind::Test(_) | ast::ItemKind::Enforce(_) => {}
            ast::ItemKind::Enum(_) | ast::ItemKind::Record(_) => {
                self.attributes(item, &["allow"]);
                self.declared_type(item_ref);
            }
            ast::ItemKind::Const(constant) => {
                self.attributes(item, &["allow"]);
                self.constant_alone(scope, constant);
            }
            ast::ItemKind::Let(def) => {
                self.attributes(item, &["allow"]);
                self.let_alone(scope, item_ref, def);
            }
            ast::ItemKind::Predicate(def) => {
                let comment: Vec<&str> = item.docs.iter().map(|doc| doc.text.as_str()).collect();
                let comment = SmolStr::new(comment.join(" "));
                let named = (def.name.text.clone(), comment);
                self.spec.outline.predicates.push(named);
                self.attributes(item, &["allow"]);
                self.predicate_alone(scope, item_ref, def);
            }
            ast::ItemKind::Track(_) => {
                self.attributes(item, &["allow"]);
                self.track(item_ref);
            }
            ast::ItemKind::Template(def) => {
                self.attributes(item, property::ATTRIBUTES);
                self.template_alone(scope, item_ref, def);
            }
            ast::ItemKind::Unsafe(def) => self.unsafe_state(scope, item, def),
            ast::ItemKind::Property(def) => self.property(scope, item, def),
            ast::ItemKind::Rule(def) => self.rule(scope, item, def),
            ast::ItemKind::Requirement(def) => self.requirement(scope, item, def),
            ast::ItemKind::Abstraction(_) | ast::ItemKind::Model(_) | ast::ItemKind::Query(_) => {}
            // All systems were declared before the claims about them.
            ast::ItemKind::System(_) | ast::ItemKind::Component(_) | ast::ItemKind::Compose(_) => {}
        }
    }

    /// Elaborates abstractions, models and the claims about them, after everything that they may refer to.
    fn about_states(&mut self, scope: &Scope<'a>) {
        let tree = &self.project.modules[0].tree;
        for (idx, item) in tree.items.iter().enumerate() {
            let item_ref = names::ItemRef {
                module: 0,
                item: idx,
            };
            match &item.kind {
                ast::ItemKind::Abstraction(_) => {
                    self.abstraction(item_ref);
                }
                ast::ItemKind::Model(_) => {
                    self.model(item_ref);
                }
                _ => {}
            }
        }
        for item in &tree.items {
            self.claim_item(scope, item);
        }
        self.derive();
    }

    /// Returns the number of errors found so far.
    fn errors(&self) -> usize {
        self.diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.is_error())
            .count()
    }

    /// Adds a diagnostic unless it was added before: an inlined body is elaborated at every use, with the same diagnostics.
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.reported.insert((
            diagnostic.code,
            diagnostic.span(),
            diagnostic.message.clone(),
        )) {
            self.diagnostics.push(diagnostic);
        }
    }

    fn error(&mut self, code: Code, span: impl Into<Span>, message: impl Into<String>) {
        self.report(Diagnostic::new(code, span, message));
    }

    /// Adds an expression. Its depth is limited, so that later passes may use recursion.
    fn add(&mut self, expr: hir::Expr, ty: Type, span: Span) -> Typed {
        let id = self.spec.exprs.add(expr, ty.clone());
        if id.index() == self.depths.len() {
            let below = self
                .spec
                .exprs
                .operands(id)
                .into_iter()
                .map(|id| self.depths[id.index()])
                .max();
            let depth = below.map_or(0, |below| below + 1);
            self.depths.push(depth);
            if depth as usize > self.limits.depth && !self.too_deep {
                self.too_deep = true;
                self.report(
                    Diagnostic::new(
                        Code::G0402,
                        span,
                        "this expression is too deep after its definitions are inlined",
                    )
                    .label(format!("more than {} nested operators", self.limits.depth))
                    .note("limit: `check.depth`"),
                );
            }
        }
        Typed { id, ty }
    }

    /// Returns the placeholder for an erroneous expression.
    fn wrong(&mut self) -> Typed {
        self.add(hir::Expr::Unknown, Type::Error, Span::default())
    }

    fn local(&mut self, name: &SmolStr) -> LocalId {
        self.spec.local_names.push(name.clone());
        LocalId::new(self.spec.local_names.len() - 1)
    }

    /// Returns the text of a span, on one line, for atoms and messages.
    fn snippet(&self, span: Span) -> SmolStr {
        let text = self.sources.slice(span);
        if text.contains('\n') {
            SmolStr::new(text.split_whitespace().collect::<Vec<_>>().join(" "))
        } else {
            SmolStr::new(text)
        }
    }

    fn new_enum(&mut self, name: &str, ordered: bool, values: Vec<SmolStr>) -> Arc<EnumType> {
        let number = u16::try_from(self.spec.enums.len()).unwrap_or(u16::MAX);
        let made = Arc::new(EnumType {
            number,
            name: SmolStr::new(name),
            values,
            ordered,
        });
        self.spec.enums.push(made.clone());
        made
    }

    fn new_record(&mut self, name: &str, members: Vec<(SmolStr, Type)>) -> Arc<RecordType> {
        Arc::new(RecordType {
            name: SmolStr::new(name),
            members,
        })
    }
}
