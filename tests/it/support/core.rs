//! Builds specs and records by hand, for the tests of `reference`.

use std::sync::Arc;

use guard_lang::hir::{
    Atom, Compare, Expr, Formula, Property, PropertyKind, Quantified, QuantifiedVar, Severity,
    Spec, Track,
};
use guard_lang::ids::{ExprId, FormulaId, PropertyId, TrackId};
use guard_lang::input::record::{Origin, Record, Step};
use guard_lang::input_schema::{Absent, Field, FieldSource, Path, TimeUnit};
use guard_lang::source::Span;
use guard_lang::types::{EnumType, Type};
use guard_lang::value::{Cell, EnumValue, Instant, Object, Value};
use smol_str::SmolStr;

pub(crate) struct SpecBuilder {
    pub(crate) spec: Spec,
}

impl SpecBuilder {
    pub(crate) fn new() -> SpecBuilder {
        SpecBuilder {
            spec: Spec::default(),
        }
    }

    pub(crate) fn expr(&mut self, expr: Expr, ty: Type) -> ExprId {
        self.spec.exprs.add(expr, ty)
    }

    pub(crate) fn constant(&mut self, value: Value) -> ExprId {
        let ty = match &value {
            Value::Null => Type::Null,
            Value::Bool(_) => Type::Bool,
            Value::Number(guard_lang::value::Number::Int(_)) => Type::Int,
            Value::Number(_) => Type::Float,
            Value::String(_) => Type::String,
            Value::Time(_) => Type::Time,
            Value::Duration(_) => Type::Duration,
            Value::Enum(value) => Type::Enum(self.spec.enums[usize::from(value.of)].clone()),
            Value::List(_) | Value::Object(_) | Value::Set(_) => Type::Json,
        };
        self.expr(Expr::Const(value), ty)
    }

    /// Returns a field of the step; declares it if it is new.
    pub(crate) fn field(&mut self, name: &str, ty: Type) -> ExprId {
        let fields = &mut self.spec.schema.fields;
        let position = fields
            .iter()
            .position(|field| field.name == name)
            .unwrap_or_else(|| {
                if ty == Type::Time && self.spec.schema.clock.is_none() {
                    self.spec.schema.clock = Some(fields.len());
                }
                fields.push(Field {
                    name: SmolStr::new(name),
                    source: FieldSource::Event(Path::Pointer(vec![SmolStr::new(name)])),
                    ty: ty.clone(),
                    absent: Absent::Unknown,
                    unit: TimeUnit::Seconds,
                });
                fields.len() - 1
            });
        self.expr(Expr::Field(position), ty)
    }

    /// Returns a Boolean field as a letter.
    pub(crate) fn atom(&mut self, name: &str) -> FormulaId {
        let expr = self.field(name, Type::Bool);
        self.letter(expr, name)
    }

    pub(crate) fn letter(&mut self, expr: ExprId, text: &str) -> FormulaId {
        let letter = Atom {
            expr,
            text: SmolStr::new(text),
            span: Span::default(),
        };
        let letter = self.spec.formulas.add_atom(letter);
        self.spec.formulas.add(Formula::Atom(letter))
    }

    pub(crate) fn compare(&mut self, op: Compare, lhs: ExprId, rhs: ExprId) -> ExprId {
        self.expr(Expr::Compare(op, lhs, rhs), Type::Bool)
    }

    pub(crate) fn enumeration(&mut self, name: &str, values: &[&str]) -> Type {
        let of = Arc::new(EnumType {
            number: u16::try_from(self.spec.enums.len()).expect("few enums"),
            name: SmolStr::new(name),
            values: values.iter().map(SmolStr::new).collect(),
            ordered: true,
        });
        self.spec.enums.push(of.clone());
        Type::Enum(of)
    }

    /// Declares a track. Its update is set afterwards, since it may read the track itself.
    pub(crate) fn track(&mut self, name: &str, ty: Type, init: ExprId) -> TrackId {
        self.spec.tracks.push(Track {
            name: SmolStr::new(name),
            params: Vec::new(),
            compared: Vec::new(),
            constants: Vec::new(),
            ty,
            init,
            update: init,
            span: Span::default(),
        });
        TrackId::new(self.spec.tracks.len() - 1)
    }

    pub(crate) fn read_track(&mut self, track: TrackId, args: &[ExprId]) -> ExprId {
        let ty = self.spec.track(track).ty.clone();
        self.expr(Expr::Track(track, args.into()), ty)
    }

    pub(crate) fn property(&mut self, name: &str, formula: FormulaId) -> PropertyId {
        self.spec.properties.push(Property {
            name: SmolStr::new(name),
            id: None,
            kind: PropertyKind::Ltl,
            quantified: None,
            formula,
            trigger: None,
            severity: Severity::Medium,
            catastrophic: false,
            message: None,
            doc: SmolStr::default(),
            requirement: None,
            requirement_span: None,
            cites: Vec::new(),
            owner: None,
            span: Span::default(),
            formula_span: Span::default(),
        });
        PropertyId::new(self.spec.properties.len() - 1)
    }

    /// Makes a property quantified over one variable for each list of compared terms.
    pub(crate) fn quantify(
        &mut self,
        property: PropertyId,
        universal: bool,
        terms: &[&[ExprId]],
    ) -> &mut Quantified {
        let vars = terms.iter().enumerate().map(|(idx, terms)| QuantifiedVar {
            name: SmolStr::new(format!("x{idx}")),
            terms: terms.to_vec(),
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

    /// Returns a complete record; each step gives the cells of some fields, the others are unknown.
    pub(crate) fn record(&self, steps: &[&[(&str, Cell)]]) -> Record {
        let fields = &self.spec.schema.fields;
        let step = |(index, cells): (usize, &&[(&str, Cell)])| {
            let cell = |field: &Field| {
                let cell = cells.iter().find(|(name, _)| field.name == *name);
                cell.map_or(Cell::Unknown, |(_, cell)| cell.clone())
            };
            for (name, _) in cells.iter() {
                assert!(
                    fields.iter().any(|field| field.name == *name),
                    "the field `{name}` is declared"
                );
            }
            Step {
                index: u32::try_from(index).expect("few steps"),
                cells: fields.iter().map(cell).collect(),
            }
        };
        Record {
            origin: Origin {
                file: "test".into(),
                below: "test".into(),
                line: 1,
                ordinal: 0,
            },
            id: None,
            complete: Some(true),
            meta: Box::default(),
            steps: steps.iter().enumerate().map(step).collect(),
            problems: Vec::new(),
        }
    }
}

pub(crate) fn b(value: bool) -> Cell {
    Cell::Known(Value::Bool(value))
}

pub(crate) fn s(text: &str) -> Cell {
    Cell::Known(Value::string(text))
}

pub(crate) fn n(int: i128) -> Cell {
    Cell::Known(Value::int(int))
}

pub(crate) fn null() -> Cell {
    Cell::Known(Value::Null)
}

pub(crate) fn seconds(seconds: i128) -> Cell {
    Cell::Known(Value::Time(Instant(seconds * Instant::SECOND)))
}

pub(crate) fn member(of: u16, index: u16) -> Value {
    Value::Enum(EnumValue { of, index })
}

pub(crate) fn object(members: &[(&str, Value)]) -> Value {
    let members = members
        .iter()
        .map(|(key, value)| (SmolStr::new(key), value.clone()));
    Value::Object(Object::new(members.collect()).expect("distinct keys"))
}

pub(crate) const U: Cell = Cell::Unknown;
