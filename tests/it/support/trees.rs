//! Generates random syntax trees.

use guard_lang::source::Span;
use guard_lang::syntax::ast::*;
use proptest::prelude::*;
use smol_str::SmolStr;

pub(crate) fn expr(kind: ExprKind) -> Expr {
    Expr::new(kind, Span::default())
}

fn boxed(e: Expr) -> Box<Expr> {
    Box::new(e)
}

/// Generates names, including words that have a meaning elsewhere.
fn name() -> impl Strategy<Value = Name> {
    prop::sample::select(vec![
        "a", "b_1", "event", "state", "step", "count", "any", "all", "at", "on", "message", "C",
        "I", "given", "leads", "to", "last", "steps", "from", "kind", "int",
    ])
    .prop_map(|text| Name::new(text, Span::default()))
}

fn member_name() -> impl Strategy<Value = Name> {
    prop_oneof![
        name(),
        prop::sample::select(vec!["G", "in", "then", "not", "once", "true", "list"])
            .prop_map(|text| Name::new(text, Span::default())),
    ]
}

fn string() -> impl Strategy<Value = StringLit> {
    prop_oneof![any::<String>(), "[a-z{}\"\\\\/]{0,6}"].prop_map(|value| StringLit {
        value: value.into(),
        raw: Ignored::default(),
        span: Ignored::default(),
    })
}

fn duration() -> impl Strategy<Value = DurationLit> {
    (
        0..5000u32,
        prop::sample::select(vec![DurationUnit::Milliseconds, DurationUnit::Seconds]),
    )
        .prop_map(|(n, unit)| DurationLit {
            number: n.to_string().into(),
            unit,
        })
}

fn bound_value() -> impl Strategy<Value = BoundValue> {
    prop_oneof![
        (0..100u32).prop_map(|n| BoundValue::Int(n.to_string().into(), Loc::default())),
        duration().prop_map(|d| BoundValue::Duration(d, Loc::default())),
        name().prop_map(BoundValue::Name),
    ]
}

fn bound() -> impl Strategy<Value = Bound> {
    (prop::option::of(bound_value()), bound_value()).prop_map(|(lower, upper)| Bound {
        lower,
        upper,
        span: Loc::default(),
    })
}

fn brackets() -> impl Strategy<Value = Bound> {
    (bound_value(), bound_value()).prop_map(|(l, upper)| Bound {
        lower: Some(l),
        upper,
        span: Loc::default(),
    })
}

fn ty() -> impl Strategy<Value = Type> {
    let make = |kind| Type {
        kind,
        span: Loc::default(),
    };
    let atom = prop_oneof![
        prop::sample::select(PrimitiveType::ALL.to_vec())
            .prop_map(move |p| make(TypeKind::Primitive(p))),
        Just(make(TypeKind::Named(Name::new("Risk", Span::default())))),
    ];
    let atom = atom.prop_recursive(2, 4, 1, move |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(move |t| make(TypeKind::List(Box::new(t)))),
            inner
                .clone()
                .prop_map(move |t| make(TypeKind::Map(Box::new(t)))),
            inner.prop_map(move |t| make(TypeKind::Set(Box::new(Type {
                kind: TypeKind::Optional(Box::new(t)),
                span: Loc::default(),
            })))),
        ]
    });
    (atom, any::<bool>()).prop_map(move |(t, optional)| {
        if optional {
            make(TypeKind::Optional(Box::new(t)))
        } else {
            t
        }
    })
}

fn leaf() -> impl Strategy<Value = Expr> {
    prop_oneof![
        any::<bool>().prop_map(|b| expr(ExprKind::Bool(b))),
        Just(expr(ExprKind::Null)),
        any::<u64>().prop_map(|n| expr(ExprKind::Int(n.to_string().into()))),
        Just(expr(ExprKind::Float("1.5e-9".into()))),
        Just(expr(ExprKind::Percent("12.5".into()))),
        string().prop_map(|s| expr(ExprKind::String(s))),
        duration().prop_map(|d| expr(ExprKind::Duration(d))),
        prop::sample::select(vec!["a b", r"\/[/]\d+", "^(x|y)$"]).prop_map(|p| {
            expr(ExprKind::Regex {
                pattern: p.into(),
                flags: SmolStr::new("i"),
            })
        }),
        Just(expr(ExprKind::EmptyBraces)),
        name().prop_map(|n| expr(ExprKind::Name(n))),
    ]
}

fn args(inner: BoxedStrategy<Expr>) -> impl Strategy<Value = Vec<Arg>> {
    prop::collection::vec(
        (prop::option::of(member_name()), inner).prop_map(|(name, value)| Arg { name, value }),
        0..3,
    )
}

fn prob_bound() -> impl Strategy<Value = ProbBound> {
    prop_oneof![
        Just(ProbBound::Query),
        prop::sample::select(vec!["0.5", "1e-9"]).prop_map(|t| ProbBound::Compare {
            op: ThresholdOp::Le,
            threshold: boxed(expr(ExprKind::Float(t.into()))),
        }),
        name()
            .prop_filter("`count[` is a window", |n| n.text != "count")
            .prop_map(|n| ProbBound::Compare {
                op: ThresholdOp::Gt,
                threshold: boxed(expr(ExprKind::Name(n))),
            }),
    ]
}

fn binary_op() -> impl Strategy<Value = BinaryOp> {
    use BinaryOp::*;
    prop::sample::select(vec![
        Implies, Iff, Eq, Ne, Lt, Le, Gt, Ge, In, NotIn, Contains, StartsWith, EndsWith, Matches,
        Add, Sub, Mul, Div, Coalesce,
    ])
}

fn operators(inner: BoxedStrategy<Expr>) -> BoxedStrategy<ExprKind> {
    use {TemporalInfixOp as I, TemporalOp as T, TemporalPrefixOp as U};
    let e = || inner.clone();
    let window = (
        prop::option::of(bound_value()),
        bound_value(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(lower, upper, steps, or_end)| Window {
            lower,
            steps: steps && !matches!(upper, BoundValue::Duration(..)),
            upper,
            spelling: Ignored::default(),
            or_end,
            span: Loc::default(),
        });
    prop_oneof![
        (any::<bool>(), e()).prop_map(|(not, x)| ExprKind::Unary {
            op: if not { UnaryOp::Not } else { UnaryOp::Neg },
            spelling: Spelling::default(),
            operand: boxed(x),
        }),
        (any::<bool>(), prop::collection::vec(e(), 2..4)).prop_map(|(and, operands)| {
            ExprKind::Chain {
                op: if and { ChainOp::And } else { ChainOp::Or },
                spelling: Spelling::default(),
                operands,
            }
        }),
        (binary_op(), e(), e()).prop_map(|(op, x, y)| ExprKind::Binary {
            op,
            spelling: Spelling::default(),
            lhs: boxed(x),
            rhs: boxed(y),
        }),
        (
            prop::sample::select(vec![
                T::Plain(U::Always),
                T::Plain(U::Eventually),
                T::Plain(U::Once),
                T::Plain(U::Historically)
            ]),
            prop::option::of(bound()),
            prop::sample::select(vec![true, false]),
            e()
        )
            .prop_map(|(op, bound, letter, x)| {
                let letter = letter.then_some(match op {
                    T::Plain(U::Always) => "G",
                    T::Plain(U::Eventually) => "F",
                    T::Plain(U::Once) => "O",
                    _ => "H",
                });
                ExprKind::Temporal {
                    op,
                    spelling: Ignored(letter.unwrap_or("").into()),
                    bound,
                    operand: boxed(x),
                }
            }),
        (
            prop::sample::select(vec![
                T::Plain(U::Next),
                T::Plain(U::WeakNext),
                T::Plain(U::Previously),
                T::Never
            ]),
            e()
        )
            .prop_map(|(op, x)| ExprKind::Temporal {
                op,
                spelling: Spelling::default(),
                bound: None,
                operand: boxed(x),
            }),
        (
            prop::sample::select(vec![
                I::Until,
                I::Unless,
                I::Release,
                I::StrongRelease,
                I::Since,
                I::BackTo
            ]),
            prop::option::of(bound()),
            e(),
            e()
        )
            .prop_map(|(op, bound, x, y)| ExprKind::TemporalInfix {
                op,
                spelling: Spelling::default(),
                bound: bound.filter(|_| op == I::Until),
                lhs: boxed(x),
                rhs: boxed(y),
            }),
        (prop::sample::select(vec![CtlOp::Ag, CtlOp::Ef]), e()).prop_map(|(op, x)| ExprKind::Ctl {
            op,
            operand: boxed(x)
        }),
        (e(), e(), e()).prop_map(|(c, x, y)| ExprKind::If {
            condition: boxed(c),
            then: boxed(x),
            otherwise: boxed(y),
        }),
        (
            prop::sample::select(vec![
                QuantifierKind::Any,
                QuantifierKind::All,
                QuantifierKind::Count
            ]),
            name(),
            e(),
            e()
        )
            .prop_map(|(kind, name, source, body)| ExprKind::Quantifier {
                kind,
                name,
                source: boxed(source),
                body: boxed(body),
            }),
        (
            prop::sample::select(vec![InstancesKind::Forall, InstancesKind::Exists]),
            prop::collection::vec(name(), 1..3),
            prop::option::of(e()),
            e()
        )
            .prop_map(|(kind, names, domain, body)| ExprKind::Instances {
                kind,
                names,
                domain: domain.map(boxed),
                body: boxed(body),
            }),
        (e(), e(), prop::option::of(window)).prop_map(|(x, y, within)| ExprKind::LeadsTo {
            lhs: boxed(x),
            rhs: boxed(y),
            within,
        }),
        (e(), e()).prop_map(|(x, y)| ExprKind::Precedes {
            lhs: boxed(x),
            rhs: boxed(y)
        }),
    ]
    .boxed()
}

fn primaries(inner: BoxedStrategy<Expr>) -> BoxedStrategy<ExprKind> {
    let e = || inner.clone();
    let list = || prop::collection::vec(inner.clone(), 1..3);
    prop_oneof![
        prop::collection::vec(e(), 0..3).prop_map(ExprKind::List),
        list().prop_map(ExprKind::Set),
        prop::collection::vec(
            (
                prop_oneof![member_name(), Just(Name::new("a b", Span::default()))],
                e()
            )
                .prop_map(|(key, value)| RecordEntry {
                    key,
                    quoted: Ignored(false),
                    value
                }),
            1..3
        )
        .prop_map(ExprKind::Record),
        (e(), member_name()).prop_map(|(base, name)| ExprKind::Member {
            base: boxed(base),
            name
        }),
        (e(), e()).prop_map(|(x, y)| ExprKind::Index {
            base: boxed(x),
            index: boxed(y)
        }),
        (e(), args(inner.clone())).prop_map(|(f, args)| ExprKind::Call {
            callee: boxed(f),
            args
        }),
        (brackets(), args(inner.clone()))
            .prop_map(|(bound, args)| ExprKind::CountWindow { bound, args }),
        e().prop_map(|x| ExprKind::Prime(boxed(x))),
        (e(), ty()).prop_map(|(x, ty)| ExprKind::Cast {
            operand: boxed(x),
            ty
        }),
        prop::collection::vec((prop::option::of(e()), e()), 1..3).prop_map(|arms| {
            let arm = |(condition, value)| CaseArm {
                condition,
                value,
                span: Loc::default(),
            };
            ExprKind::Cases(arms.into_iter().map(arm).collect())
        }),
        (any::<bool>(), e()).prop_map(|(all, x)| ExprKind::Path {
            quantifier: if all {
                PathQuantifier::All
            } else {
                PathQuantifier::Exists
            },
            path: boxed(x),
        }),
        (prob_bound(), e(), prop::option::of(e())).prop_map(|(bound, path, given)| {
            ExprKind::Probability {
                bound,
                path: boxed(path),
                given: given.map(boxed),
            }
        }),
        (prob_bound(), e()).prop_map(|(bound, x)| ExprKind::SteadyState {
            bound,
            operand: boxed(x)
        }),
        (
            prop::option::of(string()),
            prob_bound(),
            prop_oneof![
                e().prop_map(|x| RewardKind::Reach(boxed(x))),
                prop::option::of(bound_value()).prop_map(RewardKind::Cumulative),
                bound_value().prop_map(RewardKind::Instant),
                Just(RewardKind::Steady),
            ]
        )
            .prop_map(|(name, bound, kind)| ExprKind::Reward { name, bound, kind }),
    ]
    .boxed()
}

pub(crate) fn any_expr() -> impl Strategy<Value = Expr> {
    leaf().prop_recursive(5, 40, 3, |inner| {
        prop_oneof![3 => operators(inner.clone()), 2 => primaries(inner)].prop_map(expr)
    })
}
