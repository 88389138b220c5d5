//! The functions called by the grammar's actions: they build nodes and check the rules that a grammar of tokens cannot
//! express.

use super::ast::*;
use super::limits::Limits;
use super::literal;
use super::visit::children;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Span};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::cell::RefCell;

/// The result of one run of the parser.
#[derive(Debug)]
pub(super) enum Parsed {
    /// An item.
    Item(Box<Item>),
    /// An expression.
    Expr(Box<Expr>),
}

/// Documentation for the node that begins at an offset.
pub(super) type Docs = FxHashMap<u32, Vec<Doc>>;

/// The state of a parse: the text, pending documentation and the errors found.
#[derive(Debug)]
pub(super) struct Builder<'t> {
    pub(super) text: &'t str,
    pub(super) file: FileId,
    pub(super) limits: Limits,
    pub(super) docs: RefCell<Docs>,
    pub(super) diagnostics: RefCell<Vec<Diagnostic>>,
}

impl<'t> Builder<'t> {
    pub(super) fn new(text: &'t str, file: FileId, limits: Limits, docs: Docs) -> Self {
        Self {
            text,
            file,
            limits,
            docs: docs.into(),
            diagnostics: RefCell::default(),
        }
    }

    pub(super) fn span(&self, start: u32, end: u32) -> Span {
        Span::new(self.file, start, end)
    }

    pub(super) fn loc(&self, start: u32, end: u32) -> Loc {
        Ignored(self.span(start, end))
    }

    pub(super) fn slice(&self, start: u32, end: u32) -> &'t str {
        self.text.get(start as usize..end as usize).unwrap_or("")
    }

    pub(super) fn report(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }

    // ------------------------------------------------------------ names and literals

    pub(super) fn name(&self, l: u32, r: u32) -> Name {
        Name::new(self.slice(l, r), self.span(l, r))
    }

    pub(super) fn spelling(&self, l: u32, r: u32) -> Spelling {
        Ignored(SmolStr::new(self.slice(l, r)))
    }

    pub(super) fn number(&self, l: u32, r: u32) -> SmolStr {
        self.slice(l, r).chars().filter(|c| *c != '_').collect()
    }

    pub(super) fn percent(&self, l: u32, r: u32) -> SmolStr {
        self.slice(l, r)
            .chars()
            .filter(|c| !matches!(c, '_' | '%'))
            .collect()
    }

    pub(super) fn duration(&self, l: u32, r: u32) -> DurationLit {
        literal::duration(self.slice(l, r))
    }

    pub(super) fn string(&self, l: u32, r: u32) -> StringLit {
        literal::string(self, l, r)
    }

    pub(super) fn message(&self, l: u32, r: u32) -> Message {
        literal::message(self, l, r)
    }

    pub(super) fn regex(&self, l: u32, r: u32) -> Expr {
        let (pattern, flags) = literal::regex(self.slice(l, r));
        self.expr(l, r, ExprKind::Regex { pattern, flags })
    }

    pub(super) fn name_of_string(&self, string: StringLit) -> Name {
        Name {
            text: string.value,
            span: string.span,
        }
    }

    pub(super) fn docs(&self, start: u32) -> Vec<Doc> {
        self.docs.borrow_mut().remove(&start).unwrap_or_default()
    }

    // ------------------------------------------------------------ items

    pub(super) fn item(
        &self,
        l: u32,
        word: u32,
        r: u32,
        attributes: Vec<Attribute>,
        kind: ItemKind,
    ) -> Item {
        let mut docs = self.docs(l);
        docs.extend(self.docs(word));
        Item {
            docs,
            attributes,
            kind,
            span: self.loc(l, r),
        }
    }

    pub(super) fn enumeration(
        &self,
        name: Name,
        ordered: bool,
        values: Vec<EnumValue>,
    ) -> ItemKind {
        ItemKind::Enum(Enum {
            name,
            ordered,
            values,
        })
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "one argument for each part of the production"
    )]
    pub(super) fn field(
        &self,
        l: u32,
        word: u32,
        r: u32,
        attributes: Vec<Attribute>,
        name: Name,
        ty: Type,
        source: Option<FieldSource>,
        default: Option<Expr>,
    ) -> Field {
        let mut docs = self.docs(l);
        docs.extend(self.docs(word));
        let absent = default.map(|value| match &value.kind {
            ExprKind::Name(name) if name.text == "unknown" && *value.parens == 0 => {
                Absent::Unknown(value.span)
            }
            _ => Absent::Default(value),
        });
        Field {
            docs,
            attributes,
            name,
            ty,
            source,
            absent,
            span: self.loc(l, r),
        }
    }

    /// Returns a field of `meta`, whose documentation is before `meta`.
    pub(super) fn meta(&self, l: u32, mut field: Field) -> Field {
        let mut docs = self.docs(l);
        docs.append(&mut field.docs);
        Field { docs, ..field }
    }

    pub(super) fn logic(&self, name: &Name) -> Logic {
        match name.as_str() {
            "ltl" => Logic::Ltl,
            "ctl" => Logic::Ctl,
            "pctl" => Logic::Pctl,
            other => {
                self.report(
                    Diagnostic::new(Code::G0112, name.span, format!("unknown logic `{other}`"))
                        .label("expected `ltl`, `ctl` or `pctl`")
                        .note("optional: without an assertion, the logic follows from the formula"),
                );
                Logic::Ltl
            }
        }
    }

    pub(super) fn window(
        &self,
        l: u32,
        r: u32,
        lower: Option<BoundValue>,
        upper: BoundValue,
        unit: Option<Spelling>,
        or_end: bool,
    ) -> Window {
        let steps = unit.is_some();
        Window {
            lower,
            upper,
            steps,
            spelling: unit.unwrap_or_default(),
            or_end,
            span: self.loc(l, r),
        }
    }

    // ------------------------------------------------------------ types

    pub(super) fn ty(&self, l: u32, r: u32, kind: TypeKind) -> Type {
        Type {
            kind,
            span: self.loc(l, r),
        }
    }

    pub(super) fn named_type(&self, l: u32, r: u32, name: Name) -> Type {
        let kind = match PrimitiveType::from_word(name.as_str()) {
            Some(primitive) => TypeKind::Primitive(primitive),
            None if name.text == "pred" => TypeKind::Pred(Vec::new()),
            None => TypeKind::Named(name),
        };
        self.ty(l, r, kind)
    }

    pub(super) fn predicate_type(&self, l: u32, r: u32, name: &Name, types: Vec<Type>) -> Type {
        if name.text != "pred" {
            self.report(
                Diagnostic::new(
                    Code::G0101,
                    name.span,
                    format!("expected `pred` before the types, found `{name}`"),
                )
                .label("only `pred` takes types in parentheses")
                .note("list types are written `list<T>`, set types `set<T>`, map types `map<T>`"),
            );
        }
        self.ty(l, r, TypeKind::Pred(types))
    }

    pub(super) fn range_type(&self, l: u32, r: u32, name: &Name, low: Expr, high: Expr) -> Type {
        if name.text != "int" {
            self.report(
                Diagnostic::new(
                    Code::G0101,
                    name.span,
                    format!("expected `int` before the range, found `{name}`"),
                )
                .label("only `int` has ranges"),
            );
        }
        self.ty(l, r, TypeKind::Range(Box::new(low), Box::new(high)))
    }

    // ------------------------------------------------------------ expressions

    pub(super) fn expr(&self, l: u32, r: u32, kind: ExprKind) -> Expr {
        Expr::new(kind, self.span(l, r))
    }

    pub(super) fn parens(&self, l: u32, r: u32, mut expr: Expr) -> Expr {
        expr.span = self.loc(l, r);
        expr.parens = Ignored(expr.parens.saturating_add(1));
        expr
    }

    pub(super) fn unary(&self, l: u32, r: u32, op: UnaryOp, spelling: Spelling, e: Expr) -> Expr {
        self.expr(
            l,
            r,
            ExprKind::Unary {
                op,
                spelling,
                operand: Box::new(e),
            },
        )
    }

    pub(super) fn binary(
        &self,
        l: u32,
        r: u32,
        op: BinaryOp,
        spelling: Spelling,
        x: Expr,
        y: Expr,
    ) -> Expr {
        self.left_operand(&x, &spelling, r);
        self.expr(
            l,
            r,
            ExprKind::Binary {
                op,
                spelling,
                lhs: Box::new(x),
                rhs: Box::new(y),
            },
        )
    }

    pub(super) fn chain(
        &self,
        l: u32,
        r: u32,
        op: ChainOp,
        spelling: Spelling,
        mut x: Expr,
        y: Expr,
    ) -> Expr {
        let before = *x.parens == 0;
        match &mut x.kind {
            ExprKind::Chain {
                op: same, operands, ..
            } if before && *same == op => {
                if let Some(last) = operands.last() {
                    self.left_operand(last, &spelling, r);
                }
                operands.push(y);
                x.span = self.loc(l, r);
                x
            }
            _ => {
                self.left_operand(&x, &spelling, r);
                self.expr(
                    l,
                    r,
                    ExprKind::Chain {
                        op,
                        spelling,
                        operands: vec![x, y],
                    },
                )
            }
        }
    }

    pub(super) fn infix(
        &self,
        l: u32,
        r: u32,
        (op, spelling): (TemporalInfixOp, Spelling),
        bound: Option<Bound>,
        x: Expr,
        y: Expr,
    ) -> Expr {
        self.left_operand(&x, &spelling, r);
        let (lhs, rhs) = (Box::new(x), Box::new(y));
        self.expr(
            l,
            r,
            ExprKind::TemporalInfix {
                op,
                spelling,
                bound,
                lhs,
                rhs,
            },
        )
    }

    pub(super) fn temporal(
        &self,
        l: u32,
        r: u32,
        (op, spelling): (TemporalOp, Spelling),
        bound: Option<Bound>,
        e: Expr,
    ) -> Expr {
        self.expr(
            l,
            r,
            ExprKind::Temporal {
                op,
                spelling,
                bound,
                operand: Box::new(e),
            },
        )
    }

    pub(super) fn ctl(&self, l: u32, r: u32, op: CtlOp, e: Expr) -> Expr {
        self.expr(
            l,
            r,
            ExprKind::Ctl {
                op,
                operand: Box::new(e),
            },
        )
    }

    pub(super) fn leads_to(
        &self,
        l: u32,
        r: u32,
        x: Expr,
        y: Expr,
        within: Option<Window>,
    ) -> Expr {
        self.left_operand(&x, "leads to", r);
        self.expr(
            l,
            r,
            ExprKind::LeadsTo {
                lhs: Box::new(x),
                rhs: Box::new(y),
                within,
            },
        )
    }

    pub(super) fn precedes(&self, l: u32, r: u32, x: Expr, y: Expr) -> Expr {
        self.left_operand(&x, "precedes", r);
        self.expr(
            l,
            r,
            ExprKind::Precedes {
                lhs: Box::new(x),
                rhs: Box::new(y),
            },
        )
    }

    pub(super) fn conditional(&self, l: u32, r: u32, c: Expr, x: Expr, y: Expr) -> Expr {
        let kind = ExprKind::If {
            condition: Box::new(c),
            then: Box::new(x),
            otherwise: Box::new(y),
        };
        self.expr(l, r, kind)
    }

    pub(super) fn quantifier(
        &self,
        l: u32,
        r: u32,
        kind: QuantifierKind,
        name: Name,
        source: Expr,
        body: Expr,
    ) -> Expr {
        let (source, body) = (Box::new(source), Box::new(body));
        self.expr(
            l,
            r,
            ExprKind::Quantifier {
                kind,
                name,
                source,
                body,
            },
        )
    }

    pub(super) fn instances(
        &self,
        l: u32,
        r: u32,
        kind: InstancesKind,
        names: Vec<Name>,
        domain: Option<Expr>,
        body: Expr,
    ) -> Expr {
        let domain = domain.map(Box::new);
        self.expr(
            l,
            r,
            ExprKind::Instances {
                kind,
                names,
                domain,
                body: Box::new(body),
            },
        )
    }

    pub(super) fn cast(&self, l: u32, r: u32, e: Expr, ty: Type) -> Expr {
        self.expr(
            l,
            r,
            ExprKind::Cast {
                operand: Box::new(e),
                ty,
            },
        )
    }

    pub(super) fn member(&self, l: u32, r: u32, e: Expr, name: Name) -> Expr {
        self.expr(
            l,
            r,
            ExprKind::Member {
                base: Box::new(e),
                name,
            },
        )
    }

    pub(super) fn index(&self, l: u32, r: u32, e: Expr, index: Expr) -> Expr {
        self.expr(
            l,
            r,
            ExprKind::Index {
                base: Box::new(e),
                index: Box::new(index),
            },
        )
    }

    pub(super) fn call(&self, l: u32, r: u32, e: Expr, args: Vec<Arg>) -> Expr {
        self.expr(
            l,
            r,
            ExprKind::Call {
                callee: Box::new(e),
                args,
            },
        )
    }

    pub(super) fn prime(&self, l: u32, r: u32, e: Expr) -> Expr {
        self.expr(l, r, ExprKind::Prime(Box::new(e)))
    }

    pub(super) fn path(&self, l: u32, r: u32, quantifier: PathQuantifier, path: Expr) -> Expr {
        self.expr(
            l,
            r,
            ExprKind::Path {
                quantifier,
                path: Box::new(path),
            },
        )
    }

    pub(super) fn probability(
        &self,
        l: u32,
        r: u32,
        bound: ProbBound,
        path: Expr,
        given: Option<Expr>,
    ) -> Expr {
        self.letters_inside(&path);
        if let Some(given) = &given {
            self.letters_inside(given);
        }
        let given = given.map(Box::new);
        self.expr(
            l,
            r,
            ExprKind::Probability {
                bound,
                path: Box::new(path),
                given,
            },
        )
    }

    pub(super) fn steady_state(&self, l: u32, r: u32, bound: ProbBound, e: Expr) -> Expr {
        self.expr(
            l,
            r,
            ExprKind::SteadyState {
                bound,
                operand: Box::new(e),
            },
        )
    }

    pub(super) fn reward(
        &self,
        l: u32,
        r: u32,
        name: Option<StringLit>,
        bound: ProbBound,
        kind: RewardKind,
    ) -> Expr {
        if let RewardKind::Reach(target) = &kind {
            self.letters_inside(target);
        }
        self.expr(l, r, ExprKind::Reward { name, bound, kind })
    }

    // ------------------------------------------------------------ what reads two ways

    /// Reports a left operand that begins with a temporal word, or ends in a formula that does: it looks as if it extended to
    /// the end, but does not, so it needs parentheses, as in `not eventually a and b`.
    fn left_operand(&self, x: &Expr, operator: &str, end: u32) {
        let mut last = Some(x);
        while let Some(x) = last.filter(|x| *x.parens == 0) {
            last = match &x.kind {
                ExprKind::Temporal { spelling, .. } if spelling.len() > 1 => {
                    let note = "a formula that begins with a temporal word needs parentheses as a left operand";
                    self.ambiguous(x, operator, end, note);
                    return;
                }
                ExprKind::Temporal { operand, .. } | ExprKind::Unary { operand, .. } => {
                    Some(operand)
                }
                ExprKind::Chain { operands, .. } => operands.last(),
                ExprKind::Binary { rhs, .. } | ExprKind::TemporalInfix { rhs, .. } => Some(rhs),
                _ => None,
            };
        }
    }

    /// Reports a letter operator before an infix operator, inside `P[ ]` and `R[ ]` too: other tools read `F a & b` the
    /// other way.
    fn letters_inside(&self, e: &Expr) {
        let note = "PRISM and Storm parse this differently";
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            let (lefts, operator, end): (Vec<&Expr>, &str, u32) = match &e.kind {
                ExprKind::Chain {
                    op,
                    spelling,
                    operands,
                } => {
                    let word = match op {
                        ChainOp::And => "and",
                        ChainOp::Or => "or",
                    };
                    let word = if spelling.is_empty() {
                        word
                    } else {
                        spelling.as_str()
                    };
                    let count = operands.len().saturating_sub(1);
                    (operands.iter().take(count).collect(), word, e.span.end)
                }
                ExprKind::Binary { lhs, spelling, .. }
                | ExprKind::TemporalInfix { lhs, spelling, .. } => {
                    (vec![lhs.as_ref()], spelling.as_str(), e.span.end)
                }
                _ => (Vec::new(), "", 0),
            };
            for left in lefts {
                if let ExprKind::Temporal { spelling, .. } = &left.kind
                    && *left.parens == 0
                    && spelling.len() == 1
                {
                    self.ambiguous(left, operator, end - u32::from(*e.parens), note);
                }
            }
            children(e, &mut |child| stack.push(child));
        }
    }

    fn ambiguous(&self, x: &Expr, operator: &str, end: u32, note: &str) {
        let ExprKind::Temporal {
            spelling, operand, ..
        } = &x.kind
        else {
            return;
        };
        let word = spelling.as_str();
        let after = self.span(end, end);
        self.report(
            Diagnostic::new(
                Code::G0111,
                x.span,
                format!("ambiguous formula: `{word}` before `{operator}`"),
            )
            .label(format!("does `{word}` apply to what follows `{operator}`?"))
            .note(format!("{note}: add parentheses"))
            .fix_all(
                format!("`{word}` ends before `{operator}`"),
                vec![
                    (x.span.before(), "(".to_owned()),
                    (x.span.after(), ")".to_owned()),
                ],
            )
            .fix_all(
                format!("`{word}` applies to what follows `{operator}`"),
                vec![
                    (operand.span.before(), "(".to_owned()),
                    (after, ")".to_owned()),
                ],
            ),
        );
    }
}
