//! The streaming reader of a text gives the same as a parsed tree of it.
use guard_lang::input::document;
use guard_lang::input::limits::InputLimits;
use guard_lang::input::projection::{Projection, ReadBuffers, ReadOutcome};
use guard_lang::input::record::{FileName, Origin, RawRecord, Step, Unit};
use guard_lang::input_schema::{
    Absent, Events, Field, FieldSource, InputSchema, Layout, Path, TimeUnit,
};
use guard_lang::types::{EnumType, RecordType, Type};
use guard_lang::value::{Cell, Value};
use proptest::prelude::*;
use std::sync::Arc;

/// Text of any JSON value over few keys, with what readers stumble over.
fn json(depth: u32) -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("NaN".to_owned()),
        Just("1e999".to_owned()),
        Just("\"low\"".to_owned()),
        Just("\"\\ud800\"".to_owned()),
        Just("\"2026-01-02T03:04:05Z\"".to_owned()),
        Just("\"12\"".to_owned()),
        Just("340282366920938463463374607431768211456".to_owned()),
        (-1000i32..1000).prop_map(|n| n.to_string()),
        (-1000i32..1000).prop_map(|n| format!("{}.0", n)),
        (-1000i32..1000).prop_map(|n| format!("{}.25e1", n)),
        "[a-c\"\\\\é]{0,30}".prop_map(|text| serde_json::Value::from(text).to_string()),
    ];
    scalar.prop_recursive(depth, 40, 5, |inner| {
        let key = prop::sample::select(vec![
            "a",
            "b",
            "c",
            "\\u0061",
            "0",
            "1",
            "list",
            "m",
            "id",
            "a long key of the event",
        ]);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5)
                .prop_map(|items| format!("[{}]", items.join(" , "))),
            proptest::collection::vec((key, inner), 0..5).prop_map(|members| {
                let members: Vec<_> = members
                    .iter()
                    .map(|(key, value)| format!("\"{key}\": {value}"))
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

fn path() -> impl Strategy<Value = Path> {
    let token = prop::sample::select(vec![
        "a",
        "b",
        "c",
        "0",
        "1",
        "list",
        "a long key of the event",
    ]);
    prop_oneof![
        4 => proptest::collection::vec(token, 0..4)
            .prop_map(|tokens| Path::Pointer(tokens.into_iter().map(Into::into).collect())),
        1 => prop::sample::select(vec!["$.a", "$.a[0]", "$.list[*]", "$..a", "$.b[?@.a==1].c", "$[*]", "$['0']", "$.a.b[1:]"])
            .prop_map(|text| Path::JsonPath(text.into())),
    ]
}

fn ty() -> impl Strategy<Value = Type> {
    let level = Type::Enum(Arc::new(EnumType {
        number: 0,
        name: "Level".into(),
        values: vec!["low".into(), "a".into()],
        ordered: false,
    }));
    let pair = Type::Record(Arc::new(RecordType {
        name: "Pair".into(),
        members: vec![("a".into(), Type::Json), ("b".into(), Type::Int.nullable())],
    }));
    let simple = prop::sample::select(vec![
        Type::Bool,
        Type::Int,
        Type::Float,
        Type::String,
        Type::Time,
        Type::Duration,
        Type::Json,
        level,
        pair,
        Type::List(Arc::new(Type::Int)),
        Type::List(Arc::new(Type::Json)),
        Type::Map(Arc::new(Type::Json)),
        Type::Set(Arc::new(Type::String)),
    ]);
    (simple, any::<bool>()).prop_map(|(ty, null)| if null { ty.nullable() } else { ty })
}

fn field() -> impl Strategy<Value = Field> {
    let absent = prop::sample::select(vec![
        Absent::Error,
        Absent::Null,
        Absent::Unknown,
        Absent::Default(Value::Bool(true)),
    ]);
    (path(), ty(), absent, any::<bool>()).prop_map(|(path, ty, absent, each)| Field {
        name: "f".into(),
        source: if each {
            FieldSource::Each(path)
        } else {
            FieldSource::Event(path)
        },
        ty,
        absent,
        unit: TimeUnit::Millis,
    })
}

fn layout() -> impl Strategy<Value = Layout> {
    let events = prop_oneof![
        Just(None),
        Just(Some(Events::Lines)),
        path().prop_map(|path| Some(Events::At(path))),
    ];
    (events, proptest::option::of(path()), any::<bool>()).prop_map(|(events, each, order)| Layout {
        events,
        each,
        order_by: if order { vec![0] } else { Vec::new() },
        ..Layout::default()
    })
}

type Shown = (&'static str, String, Vec<Step2>);
type Step2 = (u32, Vec<Cell>);

fn shown(outcome: &ReadOutcome) -> Shown {
    let steps = |steps: &[Step]| {
        steps
            .iter()
            .map(|step| (step.index, step.cells.to_vec()))
            .collect()
    };
    match outcome {
        ReadOutcome::Unit(Unit::Record(record)) => {
            ("record", format!("{:?}", record.meta), steps(&record.steps))
        }
        ReadOutcome::Unit(Unit::Event(event)) => {
            ("event", format!("{:?}", event.meta), steps(&event.steps))
        }
        ReadOutcome::Unit(Unit::End { .. }) => ("end", String::new(), vec![]),
        ReadOutcome::LeftOut(_) => ("left out", String::new(), vec![]),
        ReadOutcome::Refused(_) => ("refused", String::new(), vec![]),
    }
}

/// A tree whose root cannot be known says nothing more; the walk may still know where the events are.
fn root_is_lost(value: &Value) -> bool {
    document::why(value).is_some()
}

crate::random::tests! {
    3000 cases;

    #[test]
    fn a_text_and_its_tree_are_read_alike(
        text in json(5),
        fields in proptest::collection::vec(field(), 1..5),
        meta in proptest::collection::vec(field(), 0..2),
        layout in layout(),
    ) {
        let schema = InputSchema { layout, fields, meta, clock: None };
        let projection = Projection::new(&schema).unwrap();
        let name = FileName::given("x");
        let origin = Origin { file: name.path.clone(), below: name.below.clone(), line: 1, ordinal: 0 };
        let document = document::parse(text.as_bytes(), &InputLimits::default()).unwrap();
        let mut out = Vec::new();
        projection.read(&RawRecord::new(text.as_bytes()), &name, &mut ReadBuffers::default(), &mut out);
        prop_assert_eq!(out.len(), 1);
        if !root_is_lost(&document.value) {
            let tree = projection.read_value(&document.value, &origin, &name);
            prop_assert_eq!(shown(&out[0]), shown(&tree), "{}", text);
        }
        // The order of what was read before leaves no trace.
        let mut buffers = ReadBuffers::default();
        let mut again = Vec::new();
        for text in ["{\"k\":1}", "{\"events\":[{}]}", "[{\"a\":", text.as_str()] {
            again.clear();
            projection.read(&RawRecord::new(text.as_bytes()), &name, &mut buffers, &mut again);
        }
        prop_assert_eq!(shown(&out[0]), shown(&again[0]));
    }

    /// Where serde_json reads a text, the tree is the same; duplicates are what serde_json does not see.
    #[test]
    fn documents_agree_with_serde_json(text in json(4)) {
        let ours = document::parse(text.as_bytes(), &InputLimits::default()).unwrap();
        if let Ok(theirs) = serde_json::from_str::<serde_json::Value>(&text)
            && ours.losses.is_empty()
        {
            prop_assert!(same(&ours.value, &theirs), "{text}");
        }
    }
}

fn same(ours: &Value, theirs: &serde_json::Value) -> bool {
    match (ours, theirs) {
        (Value::Null, serde_json::Value::Null) => true,
        (Value::Bool(lhs), serde_json::Value::Bool(rhs)) => lhs == rhs,
        (Value::Number(lhs), serde_json::Value::Number(rhs)) => Some(lhs.to_f64()) == rhs.as_f64(),
        (Value::String(lhs), serde_json::Value::String(rhs)) => lhs.as_str() == rhs,
        (Value::List(lhs), serde_json::Value::Array(rhs)) => {
            lhs.len() == rhs.len() && lhs.iter().zip(rhs).all(|(lhs, rhs)| same(lhs, rhs))
        }
        (Value::Object(lhs), serde_json::Value::Object(rhs)) => {
            lhs.len() == rhs.len()
                && lhs.iter().all(|(key, value)| {
                    rhs.get(key.as_str())
                        .is_some_and(|other| same(value, other))
                })
        }
        _ => false,
    }
}
