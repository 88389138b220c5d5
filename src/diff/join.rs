//! One table of expressions and formulas for both specs, so that the automata crate can compare them.
//!
//! Both specs are copied into an empty one. Equal conditions become one node, whatever they are called: fields are the same
//! if they are read from the same place, in the same way; variables bound in expressions are numbered by how deep their
//! binders are nested; tracks are the same if their updates are, under the assumption that the tracks which they read are.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::{SmolStr, format_smolstr};

use crate::hir::reads::reads;
use crate::hir::{
    Atom, Compare, Enforce, Expr, Formula, Property, Quantified, QuantifiedVar, Spec, Track,
    Watched,
};
use crate::ids::{AtomId, ExprId, FormulaId, LocalId, PropertyId, TrackId};
use crate::input_schema::{Absent, Events, Field, FieldSource, InputSchema};
use crate::types::{EnumType, RecordType, Type};
use crate::value::{Cell, EnumValue, Object, Value};

/// Both specs in one, and where the parts of each are in it.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    /// The properties and clauses of the old spec, then those of the new one.
    pub(super) spec: Spec,
    /// The old and the new one.
    pub(super) sides: [Side; 2],
    /// The reason why the steps of a trace are not the same for both specs; `None` if they are.
    pub(super) steps_differ: Option<String>,
}

/// The places of the parts of one spec in the joint one.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    /// By number of the property in its spec.
    pub(super) properties: Vec<PropertyId>,
    /// By number of the clause in its spec: its place among the joint clauses, `None` for clauses about models.
    pub(super) clauses: Vec<Option<usize>>,
    /// Conditions on the record and its steps that must hold for a trace to be judged, and as complete.
    pub(super) required: Vec<ExprId>,
    fields: Vec<usize>,
    meta: Vec<usize>,
    enums: Vec<u16>,
}

impl Side {
    /// Returns the values of joint fields in the order of the fields of this spec, as this spec numbers its enums.
    pub(super) fn values<'v>(
        &self,
        meta: bool,
        value: impl Fn(usize) -> Option<&'v Value>,
    ) -> Vec<Option<Value>> {
        let places = if meta { &self.meta } else { &self.fields };
        let own = |place: &usize| Some(self.own_value(value(*place)?));
        places.iter().map(own).collect()
    }

    /// Returns cells in the order of the fields of this spec as values of joint fields.
    pub(super) fn joint_values(&self, meta: bool, cells: &[Cell]) -> BTreeMap<usize, Value> {
        let places = if meta { &self.meta } else { &self.fields };
        let joint = |own: u16| self.enums.get(usize::from(own)).copied().unwrap_or(own);
        let known = places
            .iter()
            .zip(cells)
            .filter_map(|(place, cell)| match cell {
                Cell::Known(value) => Some((*place, renumbered(value, &joint))),
                Cell::Unknown => None,
            });
        known.collect()
    }

    fn own_value(&self, joint: &Value) -> Value {
        renumbered(joint, &|of| {
            let own = self.enums.iter().position(|joint| *joint == of);
            own.and_then(|own| u16::try_from(own).ok()).unwrap_or(of)
        })
    }
}

impl Joint {
    /// Returns why these conditions cannot be compared: they read a field that the specs read from the same place in
    /// different ways.
    pub(super) fn conflict(&self, roots: &mut dyn Iterator<Item = ExprId>) -> Option<String> {
        let schema = &self.spec.schema;
        let [old, new] = &self.sides;
        let read = reads(&self.spec, roots);
        let fields = read.fields.into_iter().map(|place| {
            let sides = [old.fields.as_slice(), new.fields.as_slice()];
            (schema.fields.as_slice(), sides, place)
        });
        let meta = read.meta.into_iter().map(|place| {
            let sides = [old.meta.as_slice(), new.meta.as_slice()];
            (schema.meta.as_slice(), sides, place)
        });
        let twins = |(fields, [old, new], place): (&[Field], [&[usize]; 2], usize)| {
            if old.contains(&place) && new.contains(&place) {
                return None;
            }
            let same = |other: &&usize| {
                **other != place && is_same_source(&fields[**other].source, &fields[place].source)
            };
            let (old, new) = match old.contains(&place) {
                true => (place, *new.iter().find(same)?),
                false => (*old.iter().find(same)?, place),
            };
            Some(format!(
                "field `{}` is `{}` in the old spec and `{}` in the new one",
                fields[old].name,
                declared(&fields[old]),
                declared(&fields[new])
            ))
        };
        fields.chain(meta).find_map(twins)
    }
}

/// Returns how a field is declared: its type, and what its absence means.
fn declared(field: &Field) -> String {
    let ty = match field.ty.non_null() {
        Type::Enum(of) => {
            let values: Vec<&str> = of.values.iter().map(SmolStr::as_str).collect();
            let null = if field.ty.may_be_null() { "?" } else { "" };
            format!("{{{}}}{null}", values.join(", "))
        }
        _ => field.ty.to_string(),
    };
    match &field.absent {
        Absent::Error | Absent::Null => ty,
        Absent::Unknown => format!("{ty} = unknown"),
        Absent::Default(value) => format!("{ty} = {value}"),
    }
}

/// Copies both specs into one.
pub(super) fn join(old: &Spec, new: &Spec) -> Joint {
    let mut spec = Spec::default();
    let first = Copying::new(&mut spec, old, None).run();
    let filters = spec.filter.clone();
    let outcomes = spec.outcomes.clone();
    let clock = spec.schema.clock;
    let layout = layout(&old.schema);
    let second = Copying::new(&mut spec, new, Some(&first)).run();
    let steps_differ = if layout != self::layout(&new.schema) {
        Some("the specs read the steps of a trace from other places (`trace` block)".to_owned())
    } else if filters.step != spec.filter.step {
        Some("the specs take other events for steps (`where` of the `trace` block)".to_owned())
    } else if clock != spec.schema.clock {
        Some("the specs have other clocks".to_owned())
    } else {
        None
    };
    spec.outcomes.extend(outcomes);
    spec.outcomes.sort_unstable();
    spec.outcomes.dedup();
    Joint {
        spec,
        sides: [first, second],
        steps_differ,
    }
}

/// Returns how the steps of a record are found, as text.
fn layout(schema: &InputSchema) -> String {
    let layout = &schema.layout;
    let events = match &layout.events {
        None => "default".to_owned(),
        Some(Events::Lines) => "lines".to_owned(),
        Some(Events::At(path)) => format!("{path:?}"),
    };
    let order = layout.order_by.iter();
    let order: Vec<String> = order
        .filter_map(|place| schema.fields.get(*place))
        .map(|field| format!("{:?}", field.source))
        .collect();
    format!("{:?} {events} {:?} {order:?}", layout.format, layout.each)
}

/// One spec that is copied into the joint one.
struct Copying<'a> {
    spec: &'a mut Spec,
    from: &'a Spec,
    /// The other spec, which was copied before.
    other: Option<&'a Side>,
    side: Side,
    /// By number of the track in its spec.
    tracks: Vec<TrackId>,
    /// By number of the local in its spec.
    locals: Vec<LocalId>,
    exprs: Vec<Option<ExprId>>,
    formulas: FxHashMap<FormulaId, FormulaId>,
}

impl<'a> Copying<'a> {
    fn new(spec: &'a mut Spec, from: &'a Spec, other: Option<&'a Side>) -> Copying<'a> {
        Copying {
            spec,
            from,
            other,
            side: Side::default(),
            tracks: Vec::new(),
            locals: locals(from),
            exprs: vec![None; from.exprs.len()],
            formulas: FxHashMap::default(),
        }
    }

    fn run(mut self) -> Side {
        for of in &self.from.enums {
            let number = self.enumeration(of);
            self.side.enums.push(number);
        }
        for field in &self.from.schema.fields {
            let place = self.field(field, false);
            self.side.fields.push(place);
        }
        for field in &self.from.schema.meta {
            let place = self.field(field, true);
            self.side.meta.push(place);
        }
        let place = |field: &usize| self.side.fields.get(*field).copied();
        self.spec.schema.clock = self.from.schema.clock.as_ref().and_then(place);
        self.spec.outcomes = self.from.outcomes.iter().filter_map(place).collect();
        self.bind_tracks();
        let filter = &self.from.filter;
        self.spec.filter.step = filter.step.map(|step| self.expr(step));
        let required = [filter.step, filter.record, filter.complete];
        self.side.required = required
            .into_iter()
            .flatten()
            .map(|expr| self.expr(expr))
            .collect();
        for property in &self.from.properties {
            let copied = self.property(property);
            let id = PropertyId::new(self.spec.properties.len());
            self.spec.properties.push(copied);
            self.side.properties.push(id);
        }
        for clause in &self.from.enforces {
            let copied = self.clause(clause);
            let place = copied.is_some().then_some(self.spec.enforces.len());
            self.spec.enforces.extend(copied);
            self.side.clauses.push(place);
        }
        self.side
    }

    /// Returns the number of the joint enum: one of this name and these values.
    fn enumeration(&mut self, of: &EnumType) -> u16 {
        let same = |known: &Arc<EnumType>| {
            known.values == of.values && known.ordered == of.ordered && known.name == of.name
        };
        let enums = &mut self.spec.enums;
        let number = enums.iter().position(same).unwrap_or_else(|| {
            // Types are distinguished by their printed form.
            let taken = enums.iter().filter(|known| known.name == of.name).count();
            let name = match taken {
                0 => of.name.clone(),
                _ => format_smolstr!("{}#{taken}", of.name),
            };
            enums.push(Arc::new(EnumType {
                number: u16::try_from(enums.len()).unwrap_or(u16::MAX),
                name,
                values: of.values.clone(),
                ordered: of.ordered,
            }));
            enums.len() - 1
        });
        u16::try_from(number).unwrap_or(u16::MAX)
    }

    /// Returns the place of the joint field: one that is read from the same place in the same way. If there is a choice, the
    /// name decides.
    fn field(&mut self, field: &Field, meta: bool) -> usize {
        let copied = Field {
            name: field.name.clone(),
            source: field.source.clone(),
            ty: self.ty(&field.ty),
            absent: match &field.absent {
                Absent::Default(value) => Absent::Default(self.value(value)),
                other => other.clone(),
            },
            unit: field.unit,
        };
        let taken = if meta {
            &self.side.meta
        } else {
            &self.side.fields
        };
        let fields = if meta {
            &self.spec.schema.meta
        } else {
            &self.spec.schema.fields
        };
        let same = |known: &Field| {
            is_same_source(&known.source, &copied.source)
                && known.ty == copied.ty
                && known.absent == copied.absent
                && known.unit == copied.unit
        };
        let free = |place: &usize| !taken.contains(place);
        let places = || (0..fields.len()).filter(free);
        let named = places().find(|place| {
            let known = &fields[*place];
            known.name == copied.name && same(known)
        });
        let found = named.or_else(|| places().find(|place| same(&fields[*place])));
        found.unwrap_or_else(|| {
            let fields = if meta {
                &mut self.spec.schema.meta
            } else {
                &mut self.spec.schema.fields
            };
            fields.push(copied);
            fields.len() - 1
        })
    }

    fn ty(&self, ty: &Type) -> Type {
        let inner = |of: &Type| Arc::new(self.ty(of));
        match ty {
            Type::List(of) => Type::List(inner(of)),
            Type::Set(of) => Type::Set(inner(of)),
            Type::Map(of) => Type::Map(inner(of)),
            Type::Nullable(of) => Type::Nullable(inner(of)),
            Type::Enum(of) => {
                let number = self.enum_number(of.number);
                match self.spec.enums.get(usize::from(number)) {
                    Some(joint) => Type::Enum(Arc::clone(joint)),
                    None => ty.clone(),
                }
            }
            Type::Record(of) => Type::Record(Arc::new(RecordType {
                name: of.name.clone(),
                members: of
                    .members
                    .iter()
                    .map(|(name, ty)| (name.clone(), self.ty(ty)))
                    .collect(),
            })),
            other => other.clone(),
        }
    }

    fn enum_number(&self, own: u16) -> u16 {
        let joint = self.side.enums.get(usize::from(own));
        joint.copied().unwrap_or(own)
    }

    fn value(&self, value: &Value) -> Value {
        renumbered(value, &|own| self.enum_number(own))
    }

    /// Adds the tracks. Those of the other spec that have the same name are taken to be the same, until an update differs.
    fn bind_tracks(&mut self) {
        let base = self.spec.tracks.len();
        let own = |idx: usize| TrackId::new(base + idx);
        let tracks = &self.from.tracks;
        let known: Vec<Track> = self.spec.tracks.clone();
        let assumed = |track: &Track| {
            let alike = |other: &Track| {
                let types = |of: &Track| {
                    of.params
                        .iter()
                        .map(|(_, ty)| ty.to_string())
                        .collect::<Vec<_>>()
                };
                other.name == track.name
                    && types(other) == types(track)
                    && other.ty.to_string() == track.ty.to_string()
            };
            let place = known.iter().position(alike)?;
            self.other.map(|_| TrackId::new(place))
        };
        self.tracks = tracks
            .iter()
            .enumerate()
            .map(|(idx, track)| assumed(track).unwrap_or(own(idx)))
            .collect();
        loop {
            self.exprs.fill(None);
            let mut refuted = false;
            for (idx, track) in tracks.iter().enumerate() {
                let bound = self.tracks[idx];
                if bound == own(idx) {
                    continue;
                }
                let (init, update) = (self.expr(track.init), self.expr(track.update));
                let other = &self.spec.tracks[bound.index()];
                if (other.init, other.update) != (init, update) {
                    self.tracks[idx] = own(idx);
                    refuted = true;
                }
            }
            if !refuted {
                break;
            }
        }
        self.exprs.fill(None);
        for track in tracks {
            let copied = Track {
                name: track.name.clone(),
                params: track
                    .params
                    .iter()
                    .map(|(name, ty)| (name.clone(), self.ty(ty)))
                    .collect(),
                compared: track
                    .compared
                    .iter()
                    .map(|exprs| exprs.iter().map(|expr| self.expr(*expr)).collect())
                    .collect(),
                constants: track
                    .constants
                    .iter()
                    .map(|values| values.iter().map(|value| self.value(value)).collect())
                    .collect(),
                ty: self.ty(&track.ty),
                init: self.expr(track.init),
                update: self.expr(track.update),
                span: track.span,
            };
            self.spec.tracks.push(copied);
        }
    }

    fn expr(&mut self, root: ExprId) -> ExprId {
        let mut todo = vec![root];
        while let Some(id) = todo.last().copied() {
            if self.exprs[id.index()].is_some() {
                todo.pop();
                continue;
            }
            let operands = self.from.exprs.operands(id);
            let open: Vec<ExprId> = operands
                .into_iter()
                .filter(|operand| self.exprs[operand.index()].is_none())
                .collect();
            if !open.is_empty() {
                todo.extend(open);
                continue;
            }
            let copied = self.node(id);
            let ty = self.ty(self.from.exprs.ty(id));
            self.exprs[id.index()] = Some(self.spec.exprs.add(copied, ty));
            todo.pop();
        }
        self.exprs[root.index()].unwrap_or(root)
    }

    /// Returns the node; its operands were copied before.
    fn node(&mut self, id: ExprId) -> Expr {
        let exprs = &self.exprs;
        let joint = |operand: ExprId| exprs[operand.index()].unwrap_or(operand);
        let mut node = self.from.exprs.with_operands(id, joint);
        match &mut node {
            Expr::Const(value) => *value = self.value(value),
            // The order of the operands makes no difference to their value.
            Expr::And(a, b)
            | Expr::Or(a, b)
            | Expr::Iff(a, b)
            | Expr::Compare(Compare::Eq, a, b)
                if *b < *a =>
            {
                std::mem::swap(a, b);
            }
            Expr::Field(place) => *place = self.side.fields[*place],
            Expr::Meta(place) => *place = self.side.meta[*place],
            Expr::Track(track, _) => *track = self.tracks[track.index()],
            Expr::Local(local) | Expr::Quantifier { local, .. } => {
                *local = self.locals.get(local.index()).copied().unwrap_or(*local);
            }
            Expr::Matches(_, regex) | Expr::Capture(_, regex, _) | Expr::Replace(_, regex, _) => {
                let text = self.from.exprs.regex(*regex).as_str();
                if let Ok(known) = self.spec.exprs.add_regex(text) {
                    *regex = known;
                }
            }
            _ => {}
        }
        node
    }

    fn formula(&mut self, root: FormulaId) -> FormulaId {
        if let Some(known) = self.formulas.get(&root) {
            return *known;
        }
        let copied = match self.from.formulas.get(root) {
            Formula::Atom(atom) => {
                let atom = self.atom(*atom);
                self.spec.formulas.add(Formula::Atom(atom))
            }
            _ => {
                let operands = self.from.formulas.operands(root);
                let operands: Vec<FormulaId> = operands
                    .into_iter()
                    .map(|operand| self.formula(operand))
                    .collect();
                let of = |place: usize| operands.get(place).copied().unwrap_or(root);
                let node = match self.from.formulas.get(root).clone() {
                    Formula::Not(_) => Formula::Not(of(0)),
                    Formula::And(..) => Formula::And(of(0), of(1)),
                    Formula::Or(..) => Formula::Or(of(0), of(1)),
                    Formula::Implies(..) => Formula::Implies(of(0), of(1)),
                    Formula::Iff(..) => Formula::Iff(of(0), of(1)),
                    Formula::Unary(op, bound, _) => Formula::Unary(op, bound, of(0)),
                    Formula::Binary(op, bound, ..) => Formula::Binary(op, bound, of(0), of(1)),
                    leaf => leaf,
                };
                self.spec.formulas.add(node)
            }
        };
        self.formulas.insert(root, copied);
        copied
    }

    fn atom(&mut self, atom: AtomId) -> AtomId {
        let atom = self.from.atom(atom);
        let expr = self.expr(atom.expr);
        self.spec.formulas.add_atom(Atom {
            expr,
            text: atom.text.clone(),
            span: atom.span,
        })
    }

    fn property(&mut self, property: &Property) -> Property {
        let all = |copying: &mut Self, exprs: &[ExprId]| -> Vec<ExprId> {
            let mut copied: Vec<ExprId> = exprs.iter().map(|expr| copying.expr(*expr)).collect();
            copied.sort_unstable();
            copied.dedup();
            copied
        };
        let quantified = property.quantified.as_ref().map(|quantified| Quantified {
            universal: quantified.universal,
            vars: quantified
                .vars
                .iter()
                .map(|var| {
                    let mut constants: Vec<Value> = var
                        .constants
                        .iter()
                        .map(|value| self.value(value))
                        .collect();
                    constants.sort();
                    constants.dedup();
                    QuantifiedVar {
                        name: var.name.clone(),
                        terms: all(self, &var.terms),
                        element_terms: all(self, &var.element_terms),
                        constants,
                        range: var.range.map(|range| self.expr(range)),
                    }
                })
                .collect(),
        });
        Property {
            formula: self.formula(property.formula),
            quantified,
            trigger: None,
            message: None,
            ..property.clone()
        }
    }

    fn clause(&mut self, clause: &Enforce) -> Option<Enforce> {
        let watched = match &clause.watched {
            Watched::Query(_) => return None,
            Watched::Property(property) => {
                Watched::Property(*self.side.properties.get(property.index())?)
            }
            Watched::When { condition, text } => {
                let expr = self.expr(*condition);
                self.spec.formulas.add_atom(Atom {
                    expr,
                    text: text.clone(),
                    span: clause.span,
                });
                Watched::When {
                    condition: expr,
                    text: text.clone(),
                }
            }
        };
        Some(Enforce {
            watched,
            ..clause.clone()
        })
    }
}

/// Returns a new number for each variable that an expression binds: how many binders its body contains within one another.
fn locals(spec: &Spec) -> Vec<LocalId> {
    let mut locals = vec![LocalId::new(0); spec.local_names.len()];
    let mut heights = vec![0_usize; spec.exprs.len()];
    for id in (0..spec.exprs.len()).map(ExprId::new) {
        let operands = spec.exprs.operands(id);
        let mut height = operands
            .iter()
            .map(|operand| heights[operand.index()])
            .max();
        if let Expr::Quantifier { local, body, .. } = spec.exprs.get(id) {
            let inner = heights[body.index()];
            if let Some(known) = locals.get_mut(local.index()) {
                *known = LocalId::new(inner);
            }
            height = height.max(Some(inner + 1));
        }
        heights[id.index()] = height.unwrap_or(0);
    }
    locals
}

fn is_same_source(lhs: &FieldSource, rhs: &FieldSource) -> bool {
    match (lhs, rhs) {
        (FieldSource::Event(lhs), FieldSource::Event(rhs))
        | (FieldSource::Each(lhs), FieldSource::Each(rhs)) => lhs == rhs,
        (FieldSource::Origin(lhs), FieldSource::Origin(rhs)) => lhs == rhs,
        _ => false,
    }
}

/// Returns a value with other numbers of enums.
fn renumbered(value: &Value, number: &impl Fn(u16) -> u16) -> Value {
    match value {
        Value::Enum(of) => Value::Enum(EnumValue {
            of: number(of.of),
            index: of.index,
        }),
        Value::List(items) => {
            Value::List(items.iter().map(|item| renumbered(item, number)).collect())
        }
        Value::Set(items) => {
            Value::Set(items.iter().map(|item| renumbered(item, number)).collect())
        }
        Value::Object(object) => {
            let members: Vec<(SmolStr, Value)> = object
                .iter()
                .map(|(name, member)| (name.clone(), renumbered(member, number)))
                .collect();
            Object::new(members).map_or_else(|_| value.clone(), Value::Object)
        }
        other => other.clone(),
    }
}
