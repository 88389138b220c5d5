//! The texts that the values of events may meet in comparisons, however a spec writes these: `tool == "rm"`, `any t in BAD: tool == t`,
//! a track that keeps tools and is compared later.
//!
//! Expressions whose values are compared with each other, or of which one has the values of the other, form a class; a class has
//! the classes of the parts of its values. So the texts of a class may be more than those that meet. Left out is what is no comparison of
//! the value itself (patterns, parts of a text, what functions make of it), and what a parameter or quantified name is used for besides
//! comparisons.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use super::{Arith, Builtin, Compare, Expr, Quantifier, Spec};
use crate::ids::{ExprId, LocalId, TrackId};
use crate::types::Type;
use crate::value::Value;

/// The classes of the expressions of a spec.
#[derive(Debug)]
pub struct Meetings {
    /// By number of a class: the class that it became a part of, or itself.
    parents: Vec<usize>,
    parts: Vec<BTreeMap<Part, usize>>,
    texts: Vec<Vec<SmolStr>>,
    fields: Vec<usize>,
    exprs: Vec<usize>,
    tracks: Vec<usize>,
    locals: BTreeMap<LocalId, usize>,
}

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// Any element of a list or set.
    Element,
    Member(SmolStr),
}

impl Meetings {
    /// Finds the classes of a spec.
    pub fn of(spec: &Spec) -> Meetings {
        let mut meetings = Meetings {
            parents: Vec::new(),
            parts: Vec::new(),
            texts: Vec::new(),
            fields: Vec::new(),
            exprs: Vec::new(),
            tracks: Vec::new(),
            locals: BTreeMap::new(),
        };
        meetings.fields = meetings.several(spec.schema.fields.len());
        meetings.exprs = meetings.several(spec.exprs.len());
        meetings.tracks = meetings.several(spec.tracks.len());
        for id in (0..spec.exprs.len()).map(ExprId::new) {
            meetings.expr(spec, id);
        }
        for (number, track) in spec.tracks.iter().enumerate() {
            for value in [track.init, track.update] {
                meetings.join(meetings.tracks[number], meetings.class(value));
            }
        }
        for property in &spec.properties {
            for var in property.quantified.iter().flat_map(|of| &of.vars) {
                let class = meetings.new_class();
                meetings.add_texts(class, &var.constants);
                for term in &var.terms {
                    meetings.join(class, meetings.class(*term));
                }
                for list in &var.element_terms {
                    meetings.join_element(*list, class);
                }
                if let Some(range) = var.range {
                    match is_list(spec, range) {
                        true => meetings.join_element(range, class),
                        false => meetings.join(class, meetings.class(range)),
                    }
                }
            }
        }
        meetings
    }

    /// Returns the texts that a member of the values of a field may meet; of the value itself for an empty path.
    pub fn texts(&mut self, field: usize, path: &[SmolStr]) -> Vec<SmolStr> {
        let mut class = self.fields[field];
        for name in path {
            class = self.part(class, Part::Member(name.clone()));
        }
        let class = self.root(class);
        let mut texts = self.texts[class].clone();
        texts.sort_unstable();
        texts.dedup();
        texts
    }

    fn expr(&mut self, spec: &Spec, id: ExprId) {
        let class = self.class(id);
        match spec.exprs.get(id) {
            Expr::Const(value) => self.add(class, value),
            Expr::Field(field) => self.join(class, self.fields[*field]),
            Expr::Local(local) => {
                let of = self.local(*local);
                self.join(class, of);
            }
            Expr::Track(track, args) => self.track(spec, class, *track, args),
            Expr::Member(of, name) => self.join_part(*of, Part::Member(name.clone()), class),
            Expr::Index(of, at) => {
                match text_of(spec, *at) {
                    Some(name) => self.join_part(*of, Part::Member(name), class),
                    None => self.join_element(*of, class),
                }
                // A key that is looked up is compared with those of the map.
                let keys = match spec.exprs.get(*of) {
                    Expr::Record(members) => members.iter().map(|(key, _)| key.clone()).collect(),
                    Expr::Const(Value::Object(of)) => {
                        of.iter().map(|(key, _)| key.clone()).collect()
                    }
                    _ => Vec::new(),
                };
                let at = self.root(self.exprs[at.index()]);
                self.texts[at].extend(keys);
            }
            Expr::Compare(Compare::Eq, one, other) => self.join_values(spec, *one, *other),
            Expr::In(of, list) => self.join_element(*list, self.class(*of)),
            Expr::Contains(list, of) if is_list(spec, *list) => {
                self.join_element(*list, self.class(*of));
            }
            Expr::Arith(Arith::Add, one, other) => match text_of(spec, id) {
                Some(text) => self.texts[class].push(text),
                None if is_list(spec, id) => {
                    self.join(class, self.class(*one));
                    self.join(class, self.class(*other));
                }
                None => {}
            },
            Expr::Coalesce(one, other) | Expr::If(_, one, other) => {
                self.join(class, self.class(*one));
                self.join(class, self.class(*other));
            }
            Expr::Cast(of) | Expr::Before(of) => self.join(class, self.class(*of)),
            Expr::Quantifier {
                kind,
                local,
                over,
                body,
            } => {
                let of = self.local(*local);
                self.join_element(*over, of);
                if *kind == Quantifier::Map {
                    self.join_element(id, self.class(*body));
                }
            }
            Expr::Call(builtin, args) => self.call(class, *builtin, args),
            Expr::List(items) | Expr::Set(items) => {
                for item in items {
                    self.join_element(id, self.class(*item));
                }
            }
            Expr::Record(members) => {
                for (name, value) in members {
                    self.join_part(id, Part::Member(name.clone()), self.class(*value));
                }
            }
            _ => {}
        }
    }

    fn track(&mut self, spec: &Spec, class: usize, track: TrackId, args: &[ExprId]) {
        self.join(class, self.tracks[track.index()]);
        let of = spec.track(track);
        for ((arg, compared), constants) in args.iter().zip(&of.compared).zip(&of.constants) {
            if is_open(spec, *arg) {
                continue;
            }
            let arg = self.class(*arg);
            self.add_texts(arg, constants);
            for other in compared {
                self.join(arg, self.class(*other));
            }
        }
    }

    fn call(&mut self, class: usize, builtin: Builtin, args: &[ExprId]) {
        let (Some(list), element) = (args.first(), args.get(1)) else {
            return;
        };
        match builtin {
            Builtin::Add | Builtin::Remove => self.join(class, self.class(*list)),
            Builtin::Last | Builtin::Drop | Builtin::Slice => {
                return self.join(class, self.class(*list));
            }
            Builtin::IndexOf => {}
            _ => return,
        }
        if let Some(element) = element {
            self.join_element(*list, self.class(*element));
        }
    }

    /// Joins two expressions that are compared. A parameter or quantified name is the same expression in all tracks and properties, which
    /// say themselves what theirs are compared with.
    fn join_values(&mut self, spec: &Spec, one: ExprId, other: ExprId) {
        if !is_open(spec, one) && !is_open(spec, other) {
            self.join(self.class(one), self.class(other));
        }
    }

    fn join_element(&mut self, list: ExprId, class: usize) {
        self.join_part(list, Part::Element, class);
    }

    fn join_part(&mut self, of: ExprId, part: Part, class: usize) {
        let part = self.part(self.class(of), part);
        self.join(part, class);
    }

    /// Adds the texts in a constant.
    fn add(&mut self, class: usize, value: &Value) {
        match value {
            Value::String(text) => {
                let class = self.root(class);
                self.texts[class].push(text.to_smol());
            }
            Value::List(items) => {
                let part = self.part(class, Part::Element);
                self.add_texts(part, items.iter());
            }
            Value::Set(items) => {
                let part = self.part(class, Part::Element);
                self.add_texts(part, items.iter());
            }
            Value::Object(members) => {
                for (name, value) in members.iter() {
                    let part = self.part(class, Part::Member(name.clone()));
                    self.add(part, value);
                }
            }
            _ => {}
        }
    }

    fn add_texts<'v>(&mut self, class: usize, values: impl IntoIterator<Item = &'v Value>) {
        values.into_iter().for_each(|value| self.add(class, value));
    }

    fn class(&self, id: ExprId) -> usize {
        self.exprs[id.index()]
    }

    fn local(&mut self, local: LocalId) -> usize {
        if let Some(known) = self.locals.get(&local) {
            return *known;
        }
        let class = self.new_class();
        self.locals.insert(local, class);
        class
    }

    fn several(&mut self, n: usize) -> Vec<usize> {
        (0..n).map(|_| self.new_class()).collect()
    }

    fn new_class(&mut self) -> usize {
        self.parents.push(self.parents.len());
        self.parts.push(BTreeMap::new());
        self.texts.push(Vec::new());
        self.parents.len() - 1
    }

    fn root(&mut self, mut class: usize) -> usize {
        while self.parents[class] != class {
            self.parents[class] = self.parents[self.parents[class]];
            class = self.parents[class];
        }
        class
    }

    fn part(&mut self, class: usize, part: Part) -> usize {
        let class = self.root(class);
        if let Some(known) = self.parts[class].get(&part) {
            return *known;
        }
        let new = self.new_class();
        self.parts[class].insert(part, new);
        new
    }

    /// Makes one class of two, and of their parts.
    fn join(&mut self, one: usize, other: usize) {
        let mut open = vec![(one, other)];
        while let Some((one, other)) = open.pop() {
            let (one, other) = (self.root(one), self.root(other));
            if one == other {
                continue;
            }
            self.parents[other] = one;
            let texts = std::mem::take(&mut self.texts[other]);
            self.texts[one].extend(texts);
            for (part, class) in std::mem::take(&mut self.parts[other]) {
                match self.parts[one].get(&part) {
                    Some(known) => open.push((*known, class)),
                    None => {
                        self.parts[one].insert(part, class);
                    }
                }
            }
        }
    }
}

/// Whether an expression is a parameter or a quantified name.
fn is_open(spec: &Spec, id: ExprId) -> bool {
    matches!(spec.exprs.get(id), Expr::Param(_) | Expr::Var(_))
}

fn is_list(spec: &Spec, id: ExprId) -> bool {
    matches!(spec.exprs.ty(id).non_null(), Type::List(_) | Type::Set(_))
}

/// Returns the text of a constant, which may be written in parts.
fn text_of(spec: &Spec, id: ExprId) -> Option<SmolStr> {
    match spec.exprs.get(id) {
        Expr::Const(Value::String(text)) => Some(text.to_smol()),
        Expr::Arith(Arith::Add, one, other) => {
            let (one, other) = (text_of(spec, *one)?, text_of(spec, *other)?);
            Some(smol_str::format_smolstr!("{one}{other}"))
        }
        _ => None,
    }
}
