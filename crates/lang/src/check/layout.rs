//! The `event` and `trace` blocks: the fields that are read, and their location in the data.

use smol_str::SmolStr;

use super::Checker;
use super::names::Space;
use super::scope::{Binding, Scope};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::hir::Expr;
use crate::ids::ExprId;
use crate::input_schema::{
    Absent, Events, FORMATS, Field, FieldSource, Layout, OriginField, Path, TimeUnit,
};
use crate::modules::ModuleIdx;
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind, TraceClauseKind};
use crate::types::Type;

/// The fields of a record's origin that its name may use besides its own fields.
const ORIGIN: &[(&str, OriginField, Type)] = &[
    ("file", OriginField::File, Type::String),
    ("dir", OriginField::Dir, Type::String),
    ("stem", OriginField::Stem, Type::String),
    ("line", OriginField::Line, Type::Int),
    ("n", OriginField::N, Type::Int),
];

impl<'a> Checker<'a> {
    /// Reads both blocks into the schema. For each, the block of the spec itself is used, otherwise that of the first
    /// import that has one.
    pub(super) fn layout(&mut self) {
        if let Some((module, event)) = self.only("event", |kind| match kind {
            ast::ItemKind::Event(event) => Some(event),
            _ => None,
        }) {
            self.spec.outline.own_event = module == 0;
            let scope = Scope::module(module);
            for field in &event.fields {
                if self.names.get(0, Space::Value, &field.name.text).is_some() && module == 0 {
                    self.report(
                        Diagnostic::new(
                            Code::G0202,
                            field.name.span,
                            format!("`{}` is declared twice", field.name),
                        )
                        .label("a field of the event")
                        .note("fields, lets, predicates and tracks share one namespace"),
                    );
                }
                let default = Path::Pointer(vec![field.name.text.clone()]);
                let spans = (*field.name.span, *field.span);
                let mut attributes = field.attributes.iter();
                let outcome = attributes.any(|attribute| attribute.name.as_str() == "outcome");
                if let Some(field) = self.declared_field(&scope, field, default, false) {
                    if outcome {
                        self.spec.outcomes.push(self.spec.schema.fields.len());
                    }
                    self.spec.schema.fields.push(field);
                    self.field_spans.push(spans);
                }
            }
            self.spec.schema.clock = self
                .spec
                .schema
                .fields
                .iter()
                .position(|field| *field.ty.non_null() == Type::Time);
        }
        if let Some((module, trace)) = self.only("trace", |kind| match kind {
            ast::ItemKind::Trace(trace) => Some(trace),
            _ => None,
        }) {
            self.trace_block(&Scope::module(module), trace);
        }
    }

    /// Returns the one block of its kind; a second one in the spec is an error.
    fn only<T>(
        &mut self,
        word: &str,
        pick: impl Fn(&'a ast::ItemKind) -> Option<&'a T>,
    ) -> Option<(ModuleIdx, &'a T)> {
        let mut found: Option<(ModuleIdx, &'a T)> = None;
        for (module, content) in self.project.modules.iter().enumerate() {
            for item in &content.tree.items {
                let Some(block) = pick(&item.kind) else {
                    continue;
                };
                match found {
                    Some((first, _)) if first == module => {
                        self.report(
                            Diagnostic::new(
                                Code::G0324,
                                *item.span,
                                format!("duplicate `{word}` block"),
                            )
                            .label("a spec has at most one")
                            .note("merge the two blocks"),
                        );
                    }
                    Some(_) => {}
                    None => found = Some((module, block)),
                }
            }
        }
        found
    }

    fn declared_field(
        &mut self,
        scope: &Scope<'a>,
        field: &'a ast::Field,
        default: Path,
        meta: bool,
    ) -> Option<Field> {
        let name = &field.name;
        let earlier = if meta {
            &self.spec.schema.meta
        } else {
            &self.spec.schema.fields
        };
        if earlier.iter().any(|other| other.name == name.text) {
            self.error(
                Code::G0202,
                name.span,
                format!("`{name}` is declared twice"),
            );
            return None;
        }
        if super::names::Names::is_predefined(&name.text) {
            self.report(
                Diagnostic::new(Code::G0203, name.span, format!("`{name}` is predefined"))
                    .label("cannot be used as the name of a field")
                    .note(format!("name the field `{name}_` and give its location: `{name}_: … from \"/{name}\"`")),
            );
            return None;
        }
        for attribute in &field.attributes {
            if attribute.name.as_str() != "outcome" || meta {
                self.error(
                    Code::G0317,
                    attribute.span,
                    format!(
                        "`@{}` is not allowed on a field; `@outcome` is allowed on fields of the event",
                        attribute.name
                    ),
                );
            }
        }
        let ty = self.ty(scope, &field.ty);
        let mut unit = TimeUnit::default();
        let source = match &field.source {
            None => FieldSource::Event(default),
            Some(source) => {
                if let Some(written) = &source.unit {
                    if !matches!(ty.non_null(), Type::Time | Type::Duration | Type::Error) {
                        self.report(
                            Diagnostic::new(
                                Code::G0318,
                                written.span,
                                format!("`in {written}` applies to times only"),
                            )
                            .label(format!("the field has type `{ty}`")),
                        );
                    }
                    unit = match written.as_str() {
                        "s" => TimeUnit::Seconds,
                        "ms" => TimeUnit::Millis,
                        "us" => TimeUnit::Micros,
                        "ns" => TimeUnit::Nanos,
                        _ => {
                            self.report(
                                Diagnostic::new(
                                    Code::G0318,
                                    written.span,
                                    format!("unknown unit `{written}`"),
                                )
                                .label("expected `s`, `ms`, `us` or `ns`"),
                            );
                            TimeUnit::default()
                        }
                    };
                }
                let path = self.path(&source.path)?;
                if source.each {
                    FieldSource::Each(path)
                } else {
                    FieldSource::Event(path)
                }
            }
        };
        let absent = match &field.absent {
            Some(ast::Absent::Unknown(_)) => Absent::Unknown,
            Some(ast::Absent::Default(default)) => match self.cell(scope, default, &ty) {
                crate::value::Cell::Known(value) => Absent::Default(value),
                crate::value::Cell::Unknown => Absent::Unknown,
            },
            None if matches!(ty, Type::Nullable(_)) || written_optional(&field.ty) => Absent::Null,
            None => Absent::Error,
        };
        Some(Field {
            name: name.text.clone(),
            source,
            ty,
            absent,
            unit,
        })
    }

    /// Elaborates a pointer or path.
    fn path(&mut self, written: &ast::StringLit) -> Option<Path> {
        let text = &written.value;
        if text.is_empty() {
            return Some(Path::Pointer(Vec::new()));
        }
        if let Some(rest) = text.strip_prefix('/') {
            return Some(Path::Pointer(
                rest.split('/')
                    .map(|token| SmolStr::new(token.replace("~1", "/").replace("~0", "~")))
                    .collect(),
            ));
        }
        if text.starts_with('$') {
            return match jsonpath_rust::parser::parse_json_path(text) {
                Ok(_) => Some(Path::JsonPath(text.clone())),
                Err(error) => {
                    let reason = error.to_string();
                    self.report(
                        Diagnostic::new(Code::G0316, *written.span, "invalid JSONPath")
                            .label("cannot be parsed")
                            .note(reason.lines().last().unwrap_or_default().trim().to_owned()),
                    );
                    None
                }
            };
        }
        self.report(
            Diagnostic::new(
                Code::G0316,
                *written.span,
                "expected a JSON pointer or a JSONPath",
            )
            .label("a pointer begins with `/`, a JSONPath with `$`")
            .fix(
                "make it a pointer",
                *written.span,
                format!("\"/{}\"", text.replace('.', "/")),
            ),
        );
        None
    }

    fn trace_block(&mut self, scope: &Scope<'a>, trace: &'a ast::Trace) {
        self.meta_fields(scope, trace);
        let of_record = self.record_scope(scope, trace);
        let mut layout = Layout::default();
        let mut seen: Vec<(&'static str, Span)> = Vec::new();
        for clause in &trace.clauses {
            if !self.is_first(clause, &mut seen) {
                continue;
            }
            match &clause.kind {
                TraceClauseKind::Meta(_) => {}
                TraceClauseKind::Join(join) => self.join_clause(scope, join, *clause.span),
                TraceClauseKind::EventsFrom(path) => {
                    layout.events = self.path(path).map(Events::At)
                }
                TraceClauseKind::EventsFromLines => layout.events = Some(Events::Lines),
                TraceClauseKind::Each(path) => layout.each = self.path(path),
                TraceClauseKind::OrderBy(fields) => {
                    let fields = fields.iter().filter_map(|field| self.order_field(field));
                    layout.order_by.extend(fields);
                }
                TraceClauseKind::Where(expr) => {
                    self.spec.filter.step = Some(self.filter(scope, expr))
                }
                TraceClauseKind::RecordsWhere(expr) => {
                    self.spec.filter.record = Some(self.about_record(&of_record, expr));
                }
                TraceClauseKind::Id(ast::IdSource::Message(message)) => {
                    let text = self.text(&of_record, message);
                    for part in &text.parts {
                        if let crate::hir::TextPart::Value(id, _) = part {
                            self.record_only(*id, *message.span);
                        }
                    }
                    self.spec.filter.id = Some(text);
                }
                TraceClauseKind::Id(ast::IdSource::Pointer(path)) => layout.id = self.path(path),
                TraceClauseKind::CompleteFrom(path) => layout.complete = self.path(path),
                TraceClauseKind::Complete(expr) => {
                    self.spec.filter.complete = Some(self.about_record(&of_record, expr));
                }
                TraceClauseKind::Format(name) => {
                    self.format_name(name);
                    layout.format = Some(name.text.clone());
                }
            }
        }
        if layout.each.is_none() {
            self.reject_each_fields();
        }
        self.spec.schema.layout = layout;
    }

    /// Declares the fields of the record.
    fn meta_fields(&mut self, scope: &Scope<'a>, trace: &'a ast::Trace) {
        for clause in &trace.clauses {
            let TraceClauseKind::Meta(field) = &clause.kind else {
                continue;
            };
            let default = Path::Pointer(vec![SmolStr::new_static("meta"), field.name.text.clone()]);
            let declared = *field.name.span;
            if let Some(field) = self.declared_field(scope, field, default, true) {
                if matches!(field.source, FieldSource::Each(_)) {
                    self.error(
                        Code::G0318,
                        clause.span,
                        "`from each` cannot be used for a field of the record",
                    );
                }
                self.spec.schema.meta.push(field);
                self.meta_spans.push(declared);
            }
        }
    }

    /// Whether a clause is the first of its kind; a second one is an error, except for fields and joins.
    fn is_first(
        &mut self,
        clause: &ast::TraceClause,
        seen: &mut Vec<(&'static str, Span)>,
    ) -> bool {
        let span = *clause.span;
        let word = match &clause.kind {
            TraceClauseKind::Meta(_) | TraceClauseKind::Join(_) => return true,
            TraceClauseKind::EventsFrom(_) | TraceClauseKind::EventsFromLines => "events from",
            TraceClauseKind::Each(_) => "each",
            TraceClauseKind::OrderBy(_) => "order by",
            TraceClauseKind::Where(_) => "where",
            TraceClauseKind::RecordsWhere(_) => "records where",
            TraceClauseKind::Id(_) => "id",
            TraceClauseKind::CompleteFrom(_) | TraceClauseKind::Complete(_) => "complete",
            TraceClauseKind::Format(_) => "format",
        };
        let Some((_, first)) = seen.iter().find(|(known, _)| *known == word) else {
            seen.push((word, span));
            return true;
        };
        let first = *first;
        self.report(
            Diagnostic::new(Code::G0324, span, format!("duplicate `{word}`"))
                .label("said again")
                .also(first, "said first"),
        );
        false
    }

    /// Returns the place of a field of `order by`.
    fn order_field(&mut self, field: &ast::Expr) -> Option<usize> {
        let fields = &self.spec.schema.fields;
        let place = match &field.kind {
            ExprKind::Name(name) => fields.iter().position(|other| other.name == name.text),
            _ => None,
        };
        match place {
            Some(place) => self.link(*field.span, self.field_spans[place].0),
            None => {
                let diagnostic =
                    Diagnostic::new(Code::G0201, *field.span, "expected the name of a field");
                self.report(diagnostic.label("not a field of the event"));
            }
        }
        place
    }

    /// Checks the condition of `where`.
    fn filter(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr) -> ExprId {
        let id = self.boolean(scope, expr);
        let read = crate::hir::reads::reads(&self.spec, [id]);
        if !read.tracks.is_empty() || read.history {
            self.report(
                Diagnostic::new(Code::G0318, *expr.span, "`where` can read the current event only")
                    .label("reads earlier events")
                    .note("events that `where` drops are removed before tracks and `before` are evaluated"),
            );
        }
        id
    }

    /// Checks a condition that reads the record alone.
    fn about_record(&mut self, of_record: &Scope<'a>, expr: &'a ast::Expr) -> ExprId {
        let id = self.boolean(of_record, expr);
        self.record_only(id, *expr.span);
        id
    }

    /// Checks the name of a format.
    fn format_name(&mut self, name: &ast::Name) {
        if FORMATS.contains(&name.as_str()) {
            return;
        }
        let mut diagnostic =
            Diagnostic::new(Code::G0318, name.span, format!("unknown format `{name}`"))
                .label("no built-in reader")
                .note(format!("there is {}", FORMATS.join(", ")));
        if let Some(near) = did_you_mean(&name.text, FORMATS.iter().copied()) {
            diagnostic = diagnostic.fix(format!("write `{near}`"), name.span, near);
        }
        self.report(diagnostic);
    }

    /// Reports fields that are read from what `each` gives, if there is no such clause.
    fn reject_each_fields(&mut self) {
        let fields = self.spec.schema.fields.iter().zip(&self.field_spans);
        let spans: Vec<Span> = fields
            .filter(|(field, _)| matches!(field.source, FieldSource::Each(_)))
            .map(|(_, (_, span))| *span)
            .collect();
        for span in spans {
            self.error(
                Code::G0318,
                span,
                "`from each` requires an `each` clause in the `trace` block",
            );
        }
    }

    /// Returns the scope of `id`, `complete` and `records where`: the fields of the record and of its origin, by their
    /// names.
    fn record_scope(&mut self, scope: &Scope<'a>, trace: &ast::Trace) -> Scope<'a> {
        let asked = trace.clauses.iter().any(|clause| {
            matches!(
                clause.kind,
                TraceClauseKind::Id(ast::IdSource::Message(_))
                    | TraceClauseKind::Complete(_)
                    | TraceClauseKind::RecordsWhere(_)
            )
        });
        let mut inner = scope.clone();
        if !asked {
            return inner;
        }
        for (name, origin, ty) in ORIGIN {
            if !self
                .spec
                .schema
                .meta
                .iter()
                .any(|field| field.name == *name)
            {
                self.spec.schema.meta.push(Field {
                    name: SmolStr::new_static(name),
                    source: FieldSource::Origin(*origin),
                    ty: ty.clone(),
                    absent: Absent::Null,
                    unit: TimeUnit::default(),
                });
            }
        }
        for idx in 0..self.spec.schema.meta.len() {
            let (name, ty) = (
                self.spec.schema.meta[idx].name.clone(),
                self.spec.schema.meta[idx].ty.clone(),
            );
            let typed = self.add(Expr::Meta(idx), ty, Span::default());
            let declared = self.meta_spans.get(idx).copied();
            inner = inner.declared(&name, Binding::Value(typed), declared);
        }
        inner
    }

    fn record_only(&mut self, id: crate::ids::ExprId, span: Span) {
        let read = crate::hir::reads::reads(&self.spec, [id]);
        if !read.fields.is_empty() || !read.tracks.is_empty() || read.history {
            self.report(
                Diagnostic::new(
                    Code::G0318,
                    span,
                    "this clause is evaluated on the record, not on an event",
                )
                .label("reads a field of the event")
                .note("declare a `meta` field for a value of the record"),
            );
        }
    }
}

/// Whether a type is `json?`. As a type it equals `json`, but it makes absence null.
fn written_optional(ty: &ast::Type) -> bool {
    matches!(ty.kind, ast::TypeKind::Optional(_))
}
