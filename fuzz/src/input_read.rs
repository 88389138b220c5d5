//! Any bytes are read without a panic, every line is accounted for, and a text that is a document is read the same
//! way through a tree.

use guard_lang::input::document;
use guard_lang::input::limits::InputLimits;
use guard_lang::input::projection::Projection;
use guard_lang::input::read::read_from;
use guard_lang::input::record::{FileName, Origin};
use guard_lang::input_schema::{
    Absent, Events, Field, FieldSource, InputSchema, Layout, Path, TimeUnit,
};
use guard_lang::types::Type;

fn schema(events: Option<Events>) -> InputSchema {
    let field = |name: &str, path: &[&str], ty: Type| Field {
        name: name.into(),
        source: FieldSource::Event(Path::Pointer(
            path.iter().map(|&token| token.into()).collect(),
        )),
        ty,
        absent: Absent::Error,
        unit: TimeUnit::Millis,
    };
    InputSchema {
        layout: Layout {
            events,
            each: Some(Path::Pointer(vec!["a".into()])),
            ..Layout::default()
        },
        fields: vec![
            field("all", &[], Type::Json),
            field("a", &["a"], Type::Int),
            field("at", &["t"], Type::Time),
            field("deep", &["a", "0", "a"], Type::String.nullable()),
        ],
        meta: vec![field("m", &["m"], Type::Json)],
        ..InputSchema::default()
    }
}

pub fn run(data: &[u8]) {
    let limits = InputLimits {
        record_bytes: 1 << 12,
        depth: 64,
        batch_bytes: 1 << 8,
        problems: 10,
        ..InputLimits::default()
    };
    let layouts = [
        None,
        Some(Events::At(Path::Pointer(vec!["a".into()]))),
        Some(Events::At(Path::Pointer(Vec::new()))),
        Some(Events::Lines),
    ];
    let name = FileName::given("fuzz");
    let origin = Origin {
        file: name.path.clone(),
        below: name.below.clone(),
        line: 1,
        ordinal: 0,
    };
    for layout in layouts {
        let Ok(projection) = Projection::with_limits(&schema(layout), limits) else {
            return;
        };
        let report = read_from(data, &name, &projection, &mut |_| {});
        assert!(report.accounting.balanced(), "{:?}", report.accounting);
        assert_eq!(report.accounting.bytes, data.len() as u64);
        if let Ok(document) = document::parse(data, &limits) {
            let _ = projection.read_value(&document.value, &origin, &name);
        }
    }
}
