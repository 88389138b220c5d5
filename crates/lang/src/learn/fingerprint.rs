//! The parts of a spec that the counts of a model depend on, as hashes. A model is used only with a spec that would
//! give the same counts; otherwise the changed parts are reported.

use std::collections::BTreeMap;
use std::io::Write as _;

use rustc_hash::FxHashMap;

use crate::hir::{Abstraction, Expr, Formula, Learn, Source, Spec};
use crate::ids::{ExprId, FormulaId, TrackId};

/// Hashes of the parts of a spec that affect counting, and of all of them together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// All parts.
    pub hash: String,
    /// By name of the part.
    pub parts: BTreeMap<String, String>,
}

/// Returns the fingerprint of the parts of a spec from which a model is learned.
///
/// Expressions are hashed by their structure, so that names of definitions, comments and layout do not matter, and
/// neither do the claims about the model.
pub(crate) fn fingerprint(
    spec: &Spec,
    abstraction: &Abstraction,
    learn: Option<&Learn>,
) -> Fingerprint {
    let mut hasher = Hasher {
        spec,
        known: FxHashMap::default(),
        tracks: FxHashMap::default(),
    };
    let mut parts = BTreeMap::new();
    let filter = &spec.filter;
    let mut trace = blake3::Hasher::new();
    trace.update(format!("{:?}", spec.schema.layout).as_bytes());
    for expr in [filter.step, filter.record, filter.complete]
        .into_iter()
        .flatten()
    {
        trace.update(&hasher.expr(expr));
    }
    parts.insert("trace".to_owned(), text(trace.finalize()));
    for component in &abstraction.components {
        let hash = match component.source {
            Source::Value(expr) => hasher.expr(expr),
            Source::Monitor(property) | Source::Violated(property) => {
                hasher.formula(spec.property(property).formula)
            }
        };
        let mut part = blake3::Hasher::new();
        part.update(&hash);
        part.update(format!("{:?} {:?}", component.domain, component.name).as_bytes());
        if let crate::hir::Domain::Enum(of) = component.domain {
            let values = spec.enums.get(usize::from(of)).map(|of| &of.values);
            part.update(format!("{values:?}").as_bytes());
        }
        parts.insert(format!("over {}", component.name), text(part.finalize()));
    }
    let names: Vec<&str> = abstraction
        .components
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    parts.insert(
        "over".to_owned(),
        text(blake3::hash(names.join(",").as_bytes())),
    );
    let mut clause = |name: &str, exprs: &[ExprId]| {
        if !exprs.is_empty() {
            let mut part = blake3::Hasher::new();
            for expr in exprs {
                part.update(&hasher.expr(*expr));
            }
            parts.insert(name.to_owned(), text(part.finalize()));
        }
    };
    clause(
        "steps when",
        &abstraction.steps.into_iter().collect::<Vec<_>>(),
    );
    clause("valid", &abstraction.valid);
    clause("step", &abstraction.step);
    clause("absorbing", &abstraction.absorbing);
    clause("terminal", &abstraction.terminal);
    if let Some(learn) = learn {
        clause("by", &learn.by.into_iter().collect::<Vec<_>>());
        parts.insert("order".to_owned(), learn.order.to_string());
    }
    let hash = all(&parts);
    Fingerprint { hash, parts }
}

impl Fingerprint {
    /// Sets the hash of a part, as in the model file.
    pub(super) fn set(&mut self, name: &str, hash: String) {
        self.parts.insert(name.to_owned(), hash);
        self.hash = all(&self.parts);
    }
}

fn all(parts: &BTreeMap<String, String>) -> String {
    let mut all = blake3::Hasher::new();
    for (name, hash) in parts {
        all.update(name.as_bytes());
        all.update(hash.as_bytes());
    }
    text(all.finalize())
}

fn text(hash: blake3::Hash) -> String {
    hash.to_hex()[..16].to_owned()
}

struct Hasher<'a> {
    spec: &'a Spec,
    known: FxHashMap<ExprId, [u8; 32]>,
    /// Tracks whose updates were hashed; a track that reads itself is represented by its name there.
    tracks: FxHashMap<TrackId, [u8; 32]>,
}

impl Hasher<'_> {
    /// Hashes the structure of an expression: operands by their hashes, numbers of tables by the entries.
    fn expr(&mut self, id: ExprId) -> [u8; 32] {
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        let spec = self.spec;
        let mut form = Form::default();
        let schema = &spec.schema;
        match spec.exprs.get(id) {
            Expr::Field(field) => {
                let field = &schema.fields[*field];
                form.push(format_args!(
                    "field {:?} {:?} {:?} {:?}",
                    field.source, field.ty, field.absent, field.unit
                ));
            }
            Expr::Meta(field) => {
                let field = &schema.meta[*field];
                form.push(format_args!(
                    "meta {:?} {:?} {:?} {:?}",
                    field.source, field.ty, field.absent, field.unit
                ));
            }
            Expr::Track(track, _) => {
                form.hash(self.track(*track));
                form.push(format_args!("track"));
            }
            Expr::Matches(_, regex) => form.push(format_args!(
                "matches {}",
                spec.exprs.regex(*regex).as_str()
            )),
            Expr::Capture(_, regex, group) => {
                let regex = spec.exprs.regex(*regex).as_str();
                form.push(format_args!("capture {regex} {group}"));
            }
            Expr::Replace(_, regex, _) => form.push(format_args!(
                "replace {}",
                spec.exprs.regex(*regex).as_str()
            )),
            Expr::Member(_, name) => form.push(format_args!("member {name:?}")),
            Expr::Record(members) => {
                let names: Vec<_> = members.iter().map(|(name, _)| name).collect();
                form.push(format_args!("record {names:?}"));
            }
            Expr::Quantifier { kind, .. } => form.push(format_args!("quantifier {kind:?}")),
            Expr::Local(_) => form.push(format_args!("local")),
            Expr::Violated(property) => {
                form.hash(self.formula(spec.property(*property).formula));
                form.push(format_args!("violated"));
            }
            Expr::Compare(op, ..) => form.push(format_args!("compare {op:?}")),
            Expr::Arith(op, ..) => form.push(format_args!("arith {op:?}")),
            Expr::Call(function, _) => form.push(format_args!("call {function:?}")),
            Expr::Count { window, since, .. } => {
                form.push(format_args!("count {window:?} {}", since.is_some()))
            }
            Expr::Past(op, window, ..) => form.push(format_args!("past {op:?} {window:?}")),
            Expr::Const(value) => form.push(format_args!("const {value:?}")),
            Expr::Param(param) => form.push(format_args!("param {param}")),
            other => form.push_variant(other),
        }
        form.push(format_args!("{}", spec.exprs.ty(id)));
        for operand in spec.exprs.operands(id) {
            form.hash(self.expr(operand));
        }
        let made = form.finish();
        self.known.insert(id, made);
        made
    }

    fn track(&mut self, id: TrackId) -> [u8; 32] {
        if let Some(known) = self.tracks.get(&id) {
            return *known;
        }
        let track = self.spec.track(id);
        let (init, update) = (track.init, track.update);
        self.tracks
            .insert(id, *blake3::hash(track.name.as_bytes()).as_bytes());
        let mut form = Form::default();
        form.hash(self.expr(init));
        form.hash(self.expr(update));
        let made = form.finish();
        self.tracks.insert(id, made);
        // Hashes computed while the track was represented by its name are valid only inside its update.
        self.known.clear();
        made
    }

    fn formula(&mut self, id: FormulaId) -> [u8; 32] {
        let formulas = &self.spec.formulas;
        let mut form = Form::default();
        match formulas.get(id) {
            Formula::Atom(letter) => {
                form.hash(self.expr(self.spec.atom(*letter).expr));
                form.push(format_args!("letter"));
            }
            Formula::Unary(op, bound, _) => form.push(format_args!("{op:?} {bound:?}")),
            Formula::Binary(op, bound, ..) => form.push(format_args!("{op:?} {bound:?}")),
            other => form.push_variant(other),
        }
        for operand in formulas.operands(id) {
            form.hash(self.formula(operand));
        }
        form.finish()
    }
}

/// The text of one expression or formula that is hashed. The hash of one text takes fewer instructions than one that grows, since the
/// texts are short.
#[derive(Default)]
struct Form(Vec<u8>);

impl Form {
    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to memory does not fail.
        let _ = self.0.write_fmt(text);
    }

    fn hash(&mut self, hash: [u8; 32]) {
        self.0.extend_from_slice(&hash);
    }

    /// Adds the name of the variant of an enum, without its contents.
    fn push_variant(&mut self, value: &impl std::fmt::Debug) {
        let from = self.0.len();
        self.push(format_args!("{value:?}"));
        let ends = |byte: &u8| matches!(byte, b'(' | b' ');
        let end = self.0.iter().skip(from).position(ends);
        self.0.truncate(end.map_or(self.0.len(), |end| from + end));
    }

    fn finish(&self) -> [u8; 32] {
        *blake3::hash(&self.0).as_bytes()
    }
}
