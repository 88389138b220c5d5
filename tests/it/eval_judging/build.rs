//! Builds specs and traces by hand.
use std::sync::Arc;

use guard_lang::eval::{Limits, Program, TraceSource, TraceState};
use guard_lang::hir::*;
use guard_lang::ids::*;
use guard_lang::input::record::{Origin, Record, Step};
use guard_lang::input_schema::{Absent, Field, FieldSource, Path, TimeUnit};
use guard_lang::source::Span;
use guard_lang::types::{EnumType, Type};
use guard_lang::value::{Cell, EnumValue, Instant, Value};
use guard_lang::verdict::{PropertyVerdict, TraceReport, Verdict};

pub(crate) struct Build {
    pub(crate) spec: Spec,
}

pub(crate) fn span() -> Span {
    Span::default()
}

impl Build {
    pub(crate) fn new() -> Build {
        Build {
            spec: Spec::default(),
        }
    }

    pub(crate) fn field(&mut self, name: &str, ty: Type) -> ExprId {
        let fields = &mut self.spec.schema.fields;
        fields.push(Field {
            name: name.into(),
            source: FieldSource::Event(Path::Pointer(vec![name.into()])),
            ty: ty.clone(),
            absent: Absent::Null,
            unit: TimeUnit::Seconds,
        });
        let index = fields.len() - 1;
        if ty == Type::Time && self.spec.schema.clock.is_none() {
            self.spec.schema.clock = Some(index);
        }
        self.e(Expr::Field(index), ty)
    }

    pub(crate) fn meta(&mut self, name: &str, ty: Type) -> ExprId {
        let fields = &mut self.spec.schema.meta;
        fields.push(Field {
            name: name.into(),
            source: FieldSource::Event(Path::Pointer(vec![name.into()])),
            ty: ty.clone(),
            absent: Absent::Null,
            unit: TimeUnit::Seconds,
        });
        let index = fields.len() - 1;
        self.e(Expr::Meta(index), ty)
    }

    pub(crate) fn e(&mut self, expr: Expr, ty: Type) -> ExprId {
        self.spec.exprs.add(expr, ty)
    }

    pub(crate) fn b(&mut self, expr: Expr) -> ExprId {
        self.e(expr, Type::Bool)
    }

    pub(crate) fn c(&mut self, value: Value) -> ExprId {
        let ty = match &value {
            Value::Bool(_) => Type::Bool,
            Value::Number(_) => Type::Int,
            Value::String(_) => Type::String,
            Value::Null => Type::Null,
            Value::Enum(of) => Type::Enum(self.spec.enums[usize::from(of.of)].clone()),
            _ => Type::Json,
        };
        self.e(Expr::Const(value), ty)
    }

    pub(crate) fn s(&mut self, text: &str) -> ExprId {
        self.c(Value::string(text))
    }

    pub(crate) fn i(&mut self, int: i128) -> ExprId {
        self.c(Value::int(int))
    }

    pub(crate) fn eq(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.b(Expr::Compare(Compare::Eq, a, b))
    }

    pub(crate) fn is(&mut self, a: ExprId, text: &str) -> ExprId {
        let text = self.s(text);
        self.eq(a, text)
    }

    pub(crate) fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.b(Expr::And(a, b))
    }

    pub(crate) fn not(&mut self, a: ExprId) -> ExprId {
        self.b(Expr::Not(a))
    }

    pub(crate) fn cond(&mut self, c: ExprId, a: ExprId, b: ExprId, ty: Type) -> ExprId {
        self.e(Expr::If(c, a, b), ty)
    }

    pub(crate) fn var(&mut self, var: usize) -> ExprId {
        self.e(Expr::Var(var), Type::Json)
    }

    pub(crate) fn enumeration(
        &mut self,
        name: &str,
        values: &[&str],
        ordered: bool,
    ) -> Arc<EnumType> {
        let number = self.spec.enums.len() as u16;
        let of = Arc::new(EnumType {
            number,
            name: name.into(),
            values: values.iter().map(|value| (*value).into()).collect(),
            ordered,
        });
        self.spec.enums.push(of.clone());
        of
    }

    pub(crate) fn track(&mut self, name: &str, ty: Type, init: ExprId) -> TrackId {
        self.spec.tracks.push(Track {
            name: name.into(),
            params: Vec::new(),
            compared: Vec::new(),
            constants: Vec::new(),
            ty,
            init,
            update: init,
            span: span(),
        });
        TrackId::new(self.spec.tracks.len() - 1)
    }

    pub(crate) fn read(&mut self, track: TrackId, args: &[ExprId]) -> ExprId {
        let ty = self.spec.track(track).ty.clone();
        self.e(Expr::Track(track, args.into()), ty)
    }

    pub(crate) fn update(&mut self, track: TrackId, update: ExprId) {
        self.spec.tracks[track.index()].update = update;
    }

    pub(crate) fn f(&mut self, formula: Formula) -> FormulaId {
        self.spec.formulas.add(formula)
    }

    pub(crate) fn letter(&mut self, expr: ExprId, text: &str) -> FormulaId {
        let letter = self.spec.formulas.add_atom(Atom {
            expr,
            text: text.into(),
            span: span(),
        });
        self.f(Formula::Atom(letter))
    }

    pub(crate) fn always(&mut self, a: FormulaId) -> FormulaId {
        self.f(Formula::Unary(Unary::Always, None, a))
    }

    pub(crate) fn never(&mut self, a: FormulaId) -> FormulaId {
        let not = self.f(Formula::Not(a));
        self.always(not)
    }

    pub(crate) fn eventually(&mut self, bound: Option<Bound>, a: FormulaId) -> FormulaId {
        self.f(Formula::Unary(Unary::Eventually, bound, a))
    }

    pub(crate) fn implies(&mut self, a: FormulaId, b: FormulaId) -> FormulaId {
        self.f(Formula::Implies(a, b))
    }

    /// `G(a -> F[bound] b)`
    pub(crate) fn responds(
        &mut self,
        a: FormulaId,
        bound: Option<Bound>,
        b: FormulaId,
    ) -> FormulaId {
        let soon = self.eventually(bound, b);
        let step = self.implies(a, soon);
        self.always(step)
    }

    pub(crate) fn property(&mut self, name: &str, formula: FormulaId) -> PropertyId {
        self.spec.properties.push(Property {
            name: name.into(),
            id: None,
            kind: PropertyKind::Ltl,
            quantified: None,
            formula,
            trigger: None,
            severity: Severity::default(),
            catastrophic: false,
            message: None,
            doc: "".into(),
            requirement: None,
            requirement_span: None,
            cites: Vec::new(),
            owner: None,
            span: span(),
            formula_span: span(),
        });
        PropertyId::new(self.spec.properties.len() - 1)
    }

    pub(crate) fn quantify(
        &mut self,
        property: PropertyId,
        universal: bool,
        terms: Vec<Vec<ExprId>>,
    ) -> &mut Quantified {
        let vars = terms
            .into_iter()
            .enumerate()
            .map(|(index, terms)| QuantifiedVar {
                name: ["x", "y", "z"][index].into(),
                terms,
                element_terms: Vec::new(),
                constants: Vec::new(),
                range: None,
            });
        let quantified = Quantified {
            universal,
            vars: vars.collect(),
        };
        self.spec.properties[property.index()]
            .quantified
            .insert(quantified)
    }

    pub(crate) fn trigger(&mut self, property: PropertyId, expr: ExprId) {
        self.spec.properties[property.index()].trigger = Some(Trigger { expr, span: span() });
    }

    pub(crate) fn program(&self) -> Program {
        self.program_with(&Limits::default())
    }

    pub(crate) fn program_with(&self, limits: &Limits) -> Program {
        Program::compile(&self.spec, limits).expect("compiles")
    }
}

pub(crate) fn k(value: Value) -> Cell {
    Cell::Known(value)
}

pub(crate) fn t(text: &str) -> Cell {
    match text {
        "?" => Cell::Unknown,
        "null" => k(Value::Null),
        text => k(Value::string(text)),
    }
}

pub(crate) fn n(int: i128) -> Cell {
    k(Value::int(int))
}

pub(crate) fn bit(value: Option<bool>) -> Cell {
    value.map_or(Cell::Unknown, |value| k(Value::Bool(value)))
}

pub(crate) fn seconds(text: &str) -> Cell {
    k(Value::Time(
        Instant::from_decimal(text, Instant::SECOND).expect("a decimal"),
    ))
}

pub(crate) fn en(of: &EnumType, name: &str) -> Value {
    let index = of
        .values
        .iter()
        .position(|value| value == name)
        .expect("a value of the enum");
    Value::Enum(EnumValue {
        of: of.number,
        index: index as u16,
    })
}

pub(crate) fn origin() -> Origin {
    Origin {
        file: "t.jsonl".into(),
        below: "t.jsonl".into(),
        line: 1,
        ordinal: 0,
    }
}

pub(crate) fn steps(rows: Vec<Vec<Cell>>) -> Vec<Step> {
    (0u32..)
        .zip(rows)
        .map(|(index, cells)| Step {
            index,
            cells: cells.into(),
        })
        .collect()
}

pub(crate) fn record(rows: Vec<Vec<Cell>>) -> Record {
    Record {
        origin: origin(),
        id: None,
        complete: None,
        meta: Box::default(),
        steps: steps(rows),
        problems: Vec::new(),
    }
}

pub(crate) fn judge(program: &Program, rows: Vec<Vec<Cell>>) -> TraceReport {
    program.judge(record(rows)).expect("a trace")
}

pub(crate) fn open(program: &Program) -> TraceState<'_> {
    program.open(TraceSource {
        origin: origin(),
        id: Some("t".into()),
        meta: Box::default(),
    })
}

/// The verdict on property 0 after each prefix, and the report when the trace is complete.
pub(crate) fn follow(
    program: &Program,
    rows: &[Vec<Cell>],
) -> (Vec<Verdict>, Option<u32>, TraceReport) {
    let mut state = open(program);
    let mut verdicts = Vec::new();
    let mut at = None;
    for step in steps(rows.to_vec()) {
        state.push(&step);
        let current = state.verdict(PropertyId::new(0));
        verdicts.push(current.verdict);
        at = current.at;
    }
    (verdicts, at, state.finish(true))
}

pub(crate) fn only(report: &TraceReport) -> &PropertyVerdict {
    assert_eq!(report.verdicts.len(), 1, "{:#?}", report.verdicts);
    &report.verdicts[0]
}

/// Rows of texts, one per field: `?` is unknown, `null` is null.
pub(crate) fn rows(table: &[&[&str]]) -> Vec<Vec<Cell>> {
    table
        .iter()
        .map(|row| row.iter().map(|cell| t(cell)).collect())
        .collect()
}
