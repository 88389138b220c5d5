//! Malformed files, and what is still read from them.
use std::io::Write;

use guard_lang::input::limits::{FileReport, InputLimits};
use guard_lang::input::projection::Projection;
use guard_lang::input::read::read_from;
use guard_lang::input::record::{FileName, Record, Unit};
use guard_lang::input_schema::{
    Absent, Events, Field, FieldSource, InputSchema, Layout, OriginField, Path, TimeUnit,
};
use guard_lang::problem::ProblemKind;
use guard_lang::types::Type;
use guard_lang::value::{Cell, Instant, Number, Value};

fn pointer(text: &str) -> Path {
    Path::Pointer(
        text.split('/')
            .skip(1)
            .map(|token| token.replace("~1", "/").replace("~0", "~").into())
            .collect(),
    )
}

fn field(name: &str, path: &str, ty: Type) -> Field {
    let path = match path.strip_prefix('$') {
        Some(_) => Path::JsonPath(path.into()),
        None => pointer(path),
    };
    let absent = match ty {
        Type::Nullable(_) => Absent::Null,
        _ => Absent::Error,
    };
    Field {
        name: name.into(),
        source: FieldSource::Event(path),
        ty,
        absent,
        unit: TimeUnit::Seconds,
    }
}

fn each(name: &str, path: &str, ty: Type) -> Field {
    Field {
        source: FieldSource::Each(pointer(path)),
        ..field(name, path, ty)
    }
}

fn schema(fields: Vec<Field>) -> InputSchema {
    InputSchema {
        fields,
        ..InputSchema::default()
    }
}

fn at(path: &str, fields: Vec<Field>) -> InputSchema {
    let path = match path.strip_prefix('$') {
        Some(_) => Path::JsonPath(path.into()),
        None => pointer(path),
    };
    InputSchema {
        layout: Layout {
            events: Some(Events::At(path)),
            ..Layout::default()
        },
        fields,
        ..InputSchema::default()
    }
}

fn run_with(
    bytes: impl AsRef<[u8]>,
    schema: &InputSchema,
    limits: InputLimits,
) -> (Vec<Unit>, FileReport) {
    let projection = Projection::with_limits(schema, limits).unwrap();
    let mut units = Vec::new();
    let name = FileName::given("runs/a.jsonl");
    let bytes = bytes.as_ref().to_vec();
    let report = read_from(
        std::io::Cursor::new(bytes),
        &name,
        &projection,
        &mut |unit| {
            units.push(unit);
        },
    );
    assert!(report.accounting.balanced(), "{:?}", report.accounting);
    (units, report)
}

fn run(bytes: impl AsRef<[u8]>, schema: &InputSchema) -> (Vec<Unit>, FileReport) {
    run_with(bytes, schema, InputLimits::default())
}

fn records(units: Vec<Unit>) -> Vec<Record> {
    units
        .into_iter()
        .map(|unit| match unit {
            Unit::Record(record) => record,
            other => panic!("no record: {other:?}"),
        })
        .collect()
}

/// The cells of all steps of all units, one line a step, as text.
fn cells(units: &[Unit]) -> Vec<String> {
    let show = |step: &guard_lang::input::record::Step| {
        let cells: Vec<_> = step
            .cells
            .iter()
            .map(|cell| match cell {
                Cell::Known(value) => value.to_string(),
                Cell::Unknown => "?".to_owned(),
            })
            .collect();
        format!("{}: {}", step.index, cells.join(" "))
    };
    units
        .iter()
        .flat_map(|unit| match unit {
            Unit::Record(record) => record.steps.iter().map(show).collect::<Vec<_>>(),
            Unit::Event(event) => event.steps.iter().map(show).collect(),
            Unit::End { trace, .. } => vec![format!("end {}", trace.as_deref().unwrap_or("-"))],
        })
        .collect()
}

fn kinds(report: &FileReport) -> Vec<(u64, ProblemKind)> {
    let problems = report.problems.iter();
    problems
        .map(|problem| (problem.line, problem.kind))
        .collect()
}

fn unit_kinds(units: &[Unit]) -> Vec<(u64, ProblemKind, Option<String>)> {
    units
        .iter()
        .flat_map(|unit| match unit {
            Unit::Record(record) => record.problems.clone(),
            Unit::Event(event) => event.problems.clone(),
            Unit::End { .. } => Vec::new(),
        })
        .map(|p| (p.line, p.kind, p.field.map(String::from)))
        .collect()
}

fn kind_and_n() -> Vec<Field> {
    vec![
        field("kind", "/kind", Type::String),
        field("n", "/n", Type::Int.nullable()),
    ]
}

#[test]
fn whole_traces_and_single_events() {
    let text = r#"{"id":"t1","complete":true,"events":[{"kind":"a","n":1},{"kind":"b"}]}
{"trace":"t2","kind":"c","n":2}
{"trace":"t3","kind":"d"}
{"trace":"t2","end":true}
{"complete":false,"events":[],"id":7}
{"kind":"nobody's"}
"#;
    let (units, report) = run(text, &schema(kind_and_n()));
    assert_eq!(
        cells(&units),
        [
            "0: \"a\" 1",
            "1: \"b\" null",
            "0: \"c\" 2",
            "0: \"d\" null",
            "end t2",
            "0: \"nobody's\" null"
        ]
    );
    assert_eq!(report.problems, []);
    let counts = report.accounting;
    assert_eq!(
        (counts.lines, counts.records, counts.events, counts.ends),
        (6, 2, 3, 1)
    );
    assert_eq!(counts.bytes, text.len() as u64);
    match &units[3] {
        Unit::End { trace, origin } => {
            assert_eq!(trace.as_deref(), Some("t2"));
            assert_eq!((origin.line, origin.ordinal), (4, 3));
        }
        other => panic!("{other:?}"),
    }
    match &units[0] {
        Unit::Record(record) => {
            assert_eq!(record.id.as_deref(), Some("t1"));
            assert_eq!(record.complete, Some(true));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_malformed_line_in_the_middle_loses_one_line() {
    for bad in [
        "{\"kind\":\"x\"",
        "{\"kind\":",
        "{",
        "{\"kind\":\"x}",
        "nonsense",
        "{\"kind\":\"x\",}",
        "{'kind':1}",
        "{\"kind\":\"\u{0}\"}",
        "\u{0}\u{0}\u{0}",
        "{\"kind\":\"x\"}}",
        "}",
        "{\"kind\":01}",
    ] {
        let text = format!("{{\"kind\":\"a\"}}\n{bad}\n{{\"kind\":\"b\"}}\n{{\"kind\":\"c\"}}\n");
        let (units, report) = run(&text, &schema(kind_and_n()));
        let read = cells(&units);
        assert!(
            read.contains(&"0: \"a\" null".to_owned()),
            "{bad}: {read:?}"
        );
        assert!(
            read.contains(&"0: \"b\" null".to_owned()),
            "{bad}: {read:?}"
        );
        assert!(
            read.contains(&"0: \"c\" null".to_owned()),
            "{bad}: {read:?}"
        );
        assert_eq!(kinds(&report), [(2, ProblemKind::Malformed)], "{bad}");
        assert_eq!(report.accounting.lines, 4);
    }
    // An open list at the top takes the next object for its record.
    let (units, _) = run(
        "{\"kind\":\"a\"}\n[\n{\"kind\":\"b\"}\n{\"kind\":\"c\"}\n",
        &schema(kind_and_n()),
    );
    assert_eq!(units.len(), 3);
}

#[test]
fn duplicate_keys_make_what_lies_in_and_under_their_object_unknown() {
    let fields = vec![
        field("kind", "/kind", Type::String),
        field("to", "/args/to", Type::String.nullable()),
        field("args", "/args", Type::Json),
    ];
    let text = r#"{"id":"t","events":[
{"kind":"a","kind":"b","args":{"to":"x"}},
{"kind":"c","args":{"to":"x","\u0074o":"y"}},
{"kind":"d","args":{"to":"x","deep":[{"k":1,"k":2}]}},
{"kind":"e","args":{"to":"x"},"unread":{"k":1,"k":2}},
{"kind":"f","args":{"to":"x"}}]}"#;
    let (units, report) = run(text, &schema(fields.clone()));
    assert_eq!(
        cells(&units),
        [
            "0: ? ? ?",
            "1: \"c\" ? ?",
            "2: \"d\" \"x\" ?",
            "3: \"e\" \"x\" {\"k\": ?}"
                .replace("{\"k\": ?}", "{\"to\": \"x\"}")
                .as_str(),
            "4: \"f\" \"x\" {\"to\": \"x\"}",
        ]
    );
    assert_eq!(report.problems, []);
    let told: Vec<_> = unit_kinds(&units)
        .into_iter()
        .filter(|(_, _, field)| field.is_none())
        .map(|(line, kind, _)| (line, kind))
        .collect();
    let dup = ProblemKind::DuplicateKey;
    assert_eq!(told, [(2, dup), (3, dup), (4, dup), (5, dup)]);
    // Around the list of events, the record goes.
    let (units, report) = run(
        r#"{"id":"t","x":1,"x":2,"events":[{"kind":"a"}]}"#,
        &schema(fields.clone()),
    );
    assert!(units.is_empty());
    assert_eq!(kinds(&report), [(1, dup)]);
    assert_eq!(report.problems[0].trace.as_deref(), Some("t"));
    assert!(
        report.problems[0].message.contains("`x`"),
        "{}",
        report.problems[0]
    );
    // Two lists of events.
    let (units, report) = run(
        r#"{"events":[{"kind":"a"}],"events":[]}"#,
        &schema(fields.clone()),
    );
    assert!(units.is_empty());
    assert_eq!(kinds(&report), [(1, dup)]);
    // A single event keeps its trace, unless that stands twice.
    let text = "{\"trace\":\"t\",\"kind\":\"a\",\"kind\":\"b\",\"args\":1}\n{\"trace\":\"t\",\"trace\":\"u\",\"kind\":\"a\",\"args\":1}\n";
    let (units, report) = run(text, &schema(fields));
    assert_eq!(cells(&units), ["0: ? ? ?"]);
    assert!(matches!(&units[0], Unit::Event(event) if event.trace.as_deref() == Some("t")));
    assert_eq!(kinds(&report), [(2, dup)]);
}

#[test]
fn missing_and_wrong() {
    let mut fields = kind_and_n();
    fields.push(Field {
        absent: Absent::Unknown,
        ..field("maybe", "/maybe", Type::Bool)
    });
    fields.push(Field {
        absent: Absent::Default(Value::Bool(false)),
        ..field("ok", "/ok", Type::Bool)
    });
    fields.push(field("any", "/any", Type::Json));
    let text = r#"{"events":[{},{"kind":null,"n":null,"maybe":null,"ok":null,"any":null},
{"kind":3,"n":"3","maybe":0,"ok":"no","any":{}},{"kind":{},"n":1.5,"maybe":[],"ok":{},"any":[]},
{"kind":"k","n":2.0,"maybe":true,"ok":true,"any":{"a":[1,null]}}]}"#;
    let (units, _) = run(text, &schema(fields));
    assert_eq!(
        cells(&units),
        [
            "0: ? null ? false ?",
            "1: ? null ? false null",
            "2: ? ? ? ? {}",
            "3: ? ? ? ? []",
            "4: \"k\" 2 true true {\"a\": [1, null]}"
        ]
    );
    use ProblemKind::{MissingField, WrongType};
    let told: Vec<_> = unit_kinds(&units)
        .into_iter()
        .map(|(line, kind, field)| (line, kind, field.unwrap()))
        .collect();
    let expect = |line, kind, field: &str| (line, kind, field.to_owned());
    assert_eq!(
        told,
        [
            expect(1, MissingField, "kind"),
            expect(1, MissingField, "any"),
            expect(1, MissingField, "kind"),
            expect(2, WrongType, "kind"),
            expect(2, WrongType, "n"),
            expect(2, WrongType, "maybe"),
            expect(2, WrongType, "ok"),
            expect(2, WrongType, "kind"),
            expect(2, WrongType, "n"),
            expect(2, WrongType, "maybe"),
            expect(2, WrongType, "ok"),
        ]
    );
}

#[test]
fn numbers_are_exact_or_unknown() {
    let fields = vec![
        field("n", "/n", Type::Int),
        field("any", "/any", Type::Json),
    ];
    let text = r#"{"events":[{"n":170141183460469231731687303715884105727,"any":340282366920938463463374607431768211455},
{"n":170141183460469231731687303715884105728,"any":[1e999]},{"n":NaN,"any":NaN},{"n":1e999,"any":-Infinity},
{"n":9007199254740993,"any":{"a":NaN},"unread":[NaN,1e999]}]}"#;
    let (units, report) = run(text, &schema(fields));
    assert_eq!(
        cells(&units),
        [
            "0: 170141183460469231731687303715884105727 340282366920938463463374607431768211455",
            "1: ? ?",
            "2: ? ?",
            "3: ? ?",
            "4: 9007199254740993 ?"
        ]
    );
    assert!(
        unit_kinds(&units)
            .iter()
            .all(|(_, kind, _)| *kind == ProblemKind::Number)
    );
    assert_eq!(unit_kinds(&units).len(), 7);
    assert_eq!(report.problems, []);
}

#[test]
fn times_are_exact() {
    let time = |name: &str, unit| Field {
        unit,
        ..field(name, "/t", Type::Time)
    };
    let fields = vec![time("s", TimeUnit::Seconds), time("ns", TimeUnit::Nanos)];
    let text = r#"{"events":[{"t":1716554353123456789},{"t":1716554353.1234567891},{"t":"1700000000000"},{"t":"2026-01-02T03:04:05.000000001Z"},{"t":"2026-01-02T03:04:05"},{"t":"soon"},{"t":true}]}"#;
    let (units, _) = run(text, &schema(fields));
    let record = &records(units)[0];
    let instant = |step: usize, cell: usize| match &record.steps[step].cells[cell] {
        Cell::Known(Value::Time(Instant(at))) => Some(*at),
        _ => None,
    };
    assert_eq!(instant(0, 1), Some(1_716_554_353_123_456_789_000_000_000));
    assert_eq!(instant(1, 0), Some(1_716_554_353_123_456_789_100_000_000));
    assert_eq!(instant(2, 1), Some(1_700_000_000_000 * 1_000_000_000));
    assert_eq!(instant(3, 0).unwrap() % Instant::SECOND, 1_000_000_000);
    assert_eq!(
        instant(4, 0).unwrap() % 60_000_000_000_000_000_000,
        5 * Instant::SECOND
    );
    assert_eq!(instant(5, 0), None);
    assert_eq!(instant(6, 0), None);
}

#[test]
fn a_line_of_200_megabytes() {
    let mut file = tempfile::tempfile().unwrap();
    {
        let mut out = std::io::BufWriter::with_capacity(1 << 20, &mut file);
        out.write_all(b"{\"kind\":\"a\"}\n{\"kind\":\"long\",\"text\":\"")
            .unwrap();
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..200 {
            out.write_all(&piece).unwrap();
        }
        out.write_all(b"\"}\n{\"kind\":\"b\"}\n").unwrap();
        out.flush().unwrap();
    }
    let read = |limits| {
        use std::io::Seek;
        let mut file = file.try_clone().unwrap();
        file.rewind().unwrap();
        let mut fields = kind_and_n();
        fields.push(field("text", "/text", Type::String.nullable()));
        let projection = Projection::with_limits(&schema(fields), limits).unwrap();
        let mut lengths = Vec::new();
        let report = read_from(file, &FileName::given("long"), &projection, &mut |unit| {
            if let Unit::Event(event) = unit {
                match &event.steps[0].cells[2] {
                    Cell::Known(Value::String(text)) => lengths.push(text.len()),
                    _ => lengths.push(0),
                }
            }
        });
        assert!(report.accounting.balanced());
        (lengths, report)
    };
    let (lengths, report) = read(InputLimits::default());
    assert_eq!(lengths, [0, 200 << 20, 0]);
    assert_eq!(report.problems, []);
    assert!(report.accounting.bytes > 200 << 20);
    let bytes = report.accounting.bytes;
    let (lengths, report) = read(InputLimits {
        record_bytes: 100 << 20,
        ..InputLimits::default()
    });
    assert_eq!(lengths, [0, 0]);
    assert_eq!(kinds(&report), [(2, ProblemKind::Limit)]);
    assert_eq!(report.accounting.bytes, bytes);
    assert!(report.problems[0].message.contains("`record_bytes`"));
}

#[test]
fn nesting_beyond_the_limit_is_a_problem_and_no_overflow() {
    for depth in [513, 10_000, 1_000_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let read = |path: &str| {
            let text = format!(
                "{{\"kind\":\"a\"}}\n{{\"kind\":\"b\",\"x\":{deep}}}\n{{\"kind\":\"c\"}}\n"
            );
            let mut fields = kind_and_n();
            fields.push(field("x", path, Type::Json.nullable()));
            fields[2].absent = Absent::Null;
            let (units, report) = run(text, &schema(fields));
            assert_eq!(units.len(), 2);
            assert_eq!(kinds(&report), [(2, ProblemKind::Limit)]);
            assert!(report.problems[0].message.contains("`depth`"));
        };
        read("/x");
        read("/unread");
        read("/x/0/0/0");
    }
}

#[test]
fn bytes_that_are_no_text() {
    let mut text = b"{\"kind\":\"a\"}\n{\"kind\":\"".to_vec();
    text.extend([0xff, 0xfe]);
    text.extend(b"\"}\n{\"kind\":\"\\ud800\"}\n{\"kind\":\"b\",\"x\":\"\\udc00\"}\n{\"kind\":\"\\ud83d\\ude00\"}\n");
    let (units, report) = run(text, &schema(kind_and_n()));
    assert_eq!(
        cells(&units),
        [
            "0: \"a\" null",
            "0: ? null",
            "0: \"b\" null",
            "0: \"😀\" null"
        ]
    );
    assert_eq!(kinds(&report), [(2, ProblemKind::InvalidUtf8)]);
    assert_eq!(
        unit_kinds(&units),
        [(3, ProblemKind::InvalidUtf8, Some("kind".into()))]
    );
}

#[test]
fn half_a_surrogate_pair_loses_what_it_is_in_and_nothing_beside() {
    // A list of records on one line: the others are read.
    let text = r#"[{"kind":"\ud800 x"},{"kind":"b","x":["\udc00\""]},{"kind":"c","x":{"\ud83d":1}},{"kind":"d"}]"#;
    let (units, _) = run(text, &schema(kind_and_n()));
    assert_eq!(cells(&units)[..2], ["0: ? null", "0: \"b\" null"]);
    // A key is no value that can be given up: its record is lost.
    let lines = "{\"kind\":\"a\",\"x\":{\"\\ud83d\":1}}\n{\"kind\":\"b\"}\n";
    let (units, report) = run(lines, &schema(kind_and_n()));
    assert_eq!(cells(&units), ["0: \"b\" null"]);
    assert_eq!(kinds(&report), [(1, ProblemKind::Malformed)]);
    assert_eq!(
        report.problems[0].message,
        "invalid JSON: unpaired surrogate in a string, at column 25"
    );
}

#[test]
fn line_ends_marks_and_nothing() {
    let (units, report) = run(
        "\u{feff}{\"kind\":\"a\"}\r\n\r\n  \r\n{\"kind\":\"b\"}",
        &schema(kind_and_n()),
    );
    assert_eq!(cells(&units), ["0: \"a\" null", "0: \"b\" null"]);
    assert_eq!(report.accounting.lines, 2);
    assert!(matches!(&units[1], Unit::Event(event) if event.origin.line == 4));
    for empty in ["", "\n\n", "\u{feff}", "[]", "[\n]\n"] {
        let (units, report) = run(empty, &schema(kind_and_n()));
        assert!(units.is_empty());
        assert_eq!(report.problems, []);
        assert_eq!(report.accounting.bytes, empty.len() as u64);
    }
    let (units, _) = run("{\"events\":[]}", &schema(kind_and_n()));
    assert!(records(units)[0].steps.is_empty());
}

#[test]
fn lists_of_records_and_values_over_lines() {
    let record =
        |n: u32| format!("{{\"id\":{n},\n \"events\":[\n{{\"kind\":\"k\",\"n\":{n}}}\n]}}");
    let one_list = format!("[\n{},\n{}\n,\n{}]\n", record(1), record(2), record(3));
    let stream = format!("{}\n{}{}\n", record(1), record(2), record(3));
    let flat = one_list.replace('\n', " ");
    let line = stream.replace('\n', " ");
    let mixed = format!(
        "{}\n{}\n{}\n",
        record(1).replace('\n', ""),
        record(2),
        record(3).replace('\n', "")
    );
    for text in [one_list, stream, flat, line, mixed] {
        let mut schema = schema(kind_and_n());
        schema.meta.push(Field {
            source: FieldSource::Origin(OriginField::N),
            ..field("n", "", Type::Int)
        });
        let (units, report) = run(&text, &schema);
        assert_eq!(
            cells(&units),
            ["0: \"k\" 1", "0: \"k\" 2", "0: \"k\" 3"],
            "{text}"
        );
        assert_eq!(report.problems, [], "{text}");
        for (n, record) in records(units).iter().enumerate() {
            assert_eq!(record.origin.ordinal, n as u64, "{text}");
            assert_eq!(record.meta[0], Cell::Known(Value::int(n as i128)));
            assert_eq!(record.id.as_deref(), Some((n + 1).to_string().as_str()));
        }
    }
    // A broken record of a list.
    let text = "[\n{\"events\":[]},\n{\"events\":[}\n,\n{\"events\":[]}\n]\n";
    let (units, report) = run(text, &schema(kind_and_n()));
    assert_eq!(units.len(), 2);
    assert_eq!(kinds(&report), [(3, ProblemKind::Malformed)]);
}

#[test]
fn the_document_is_the_list() {
    let sig = at("", kind_and_n());
    let text = "[{\"kind\":\"a\"},\n{\"kind\":\"b\"}]\n[{\"kind\":\"c\"}]\n";
    let (units, _) = run(text, &sig);
    assert_eq!(
        cells(&units),
        ["0: \"a\" null", "1: \"b\" null", "0: \"c\" null"]
    );
    assert_eq!(units.len(), 2);
    let (units, _) = run(text, &at("$[*]", kind_and_n()));
    assert_eq!(units.len(), 2);
    assert_eq!(
        cells(&units),
        ["0: \"a\" null", "1: \"b\" null", "0: \"c\" null"]
    );
    let (units, _) = run("[\"m\",[{\"kind\":\"a\"}]]\n", &at("/1", kind_and_n()));
    assert_eq!(cells(&units), ["0: \"a\" null"]);
}

#[test]
fn headers_are_left_out_and_counted() {
    let text = "{\"metadata\":{}}\n{\"messages\":[{\"kind\":\"a\"}]}\n{\"messages\":{}}\n";
    let (units, report) = run(text, &at("/messages", kind_and_n()));
    assert_eq!(cells(&units), ["0: \"a\" null"]);
    assert_eq!(
        kinds(&report),
        [(1, ProblemKind::LeftOut), (3, ProblemKind::LeftOut)]
    );
    let counts = report.accounting;
    assert_eq!(
        (counts.left_out, counts.lines_left_out, counts.problems),
        (2, 2, 0)
    );
    let (units, report) = run(text, &at("$.messages[?@.kind=='a']", kind_and_n()));
    assert_eq!(cells(&units), ["0: \"a\" null"]);
    assert_eq!(report.accounting.left_out, 1);
}

#[test]
fn lines_are_events() {
    let sig = InputSchema {
        layout: Layout {
            events: Some(Events::Lines),
            ..Layout::default()
        },
        fields: vec![
            field("all", "", Type::Json),
            field("second", "/1", Type::String.nullable()),
        ],
        ..InputSchema::default()
    };
    let text = "{\"width\":80}\n[0.1,\"o\",\"hi\"]\n\n\"text\"\n7\n[\n[8]\n";
    let (units, report) = run(text, &sig);
    assert_eq!(
        cells(&units),
        [
            "0: {\"width\": 80} null",
            "0: [0.1, \"o\", \"hi\"] \"o\"",
            "0: \"text\" null",
            "0: 7 null",
            "0: [8] null"
        ]
    );
    assert_eq!(kinds(&report), [(6, ProblemKind::Malformed)]);
}

#[test]
fn a_truncated_gzip_yields_what_could_be_read() {
    use flate2::{Compression, write::GzEncoder};
    let text: String = (0..5000)
        .map(|n| format!("{{\"kind\":\"k\",\"n\":{}}}\n", n * 7919))
        .collect();
    let pack = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let open = |bytes: Vec<u8>| {
        let limits = guard_lang::input::limits::InputLimits::default();
        let from =
            guard_lang::input::open::decompressed(std::io::Cursor::new(bytes), &limits).unwrap();
        let projection = Projection::new(&schema(kind_and_n())).unwrap();
        let mut units = 0;
        let report = read_from(
            from,
            &FileName::given("a.jsonl.gz"),
            &projection,
            &mut |_| units += 1,
        );
        assert!(report.accounting.balanced());
        (units, report)
    };
    let whole = pack(&text);
    let (units, report) = open(whole.clone());
    assert_eq!((units, report.problems.len()), (5000, 0));
    let (units, report) = open(whole[..whole.len() * 2 / 3].to_vec());
    assert!((1000..5000).contains(&units), "{units}");
    assert!(
        report
            .problems
            .iter()
            .any(|p| p.kind == ProblemKind::Unreadable),
        "{:?}",
        report.problems
    );
    let mut two = pack("{\"kind\":\"a\"}\n");
    two.extend(pack("{\"kind\":\"b\"}\n"));
    assert_eq!(open(two).0, 2);
    let frames = zstd::encode_all(text.as_bytes(), 1).unwrap();
    assert_eq!(open(frames).0, 5000);
}

#[test]
fn each_and_order() {
    let sig = InputSchema {
        layout: Layout {
            events: Some(Events::At(pointer("/m"))),
            each: Some(pointer("/calls")),
            order_by: vec![1],
            ..Layout::default()
        },
        fields: vec![
            field("kind", "/kind", Type::String),
            field("t", "/t", Type::Int.nullable()),
            each("name", "/f/name", Type::String),
            field("first", "/calls/0/f/name", Type::String.nullable()),
        ],
        ..InputSchema::default()
    };
    let text = r#"{"m":[{"kind":"c","t":3,"calls":[]},
{"kind":"a","t":1,"calls":[{"f":{"name":"x"}},{"f":{}},{"f":{"name":"y"}}]},
{"kind":"b","t":2,"calls":7},{"kind":"d","t":{},"calls":null}]}"#;
    let (units, _) = run(text, &sig);
    assert_eq!(
        cells(&units),
        [
            "0: \"a\" 1 \"x\" \"x\"",
            "0: \"a\" 1 ? \"x\"",
            "0: \"a\" 1 \"y\" \"x\"",
            "1: \"b\" 2 null null",
            "2: \"d\" ? null null",
            "3: \"c\" 3 null null"
        ]
    );
    let told = &records(units)[0].problems;
    assert_eq!(
        told.iter().map(|p| p.step).collect::<Vec<_>>(),
        [Some(0), Some(2)]
    );
}

#[test]
fn typed_containers_enums_and_queries() {
    use guard_lang::types::{EnumType, RecordType};
    use std::sync::Arc;
    let level = Type::Enum(Arc::new(EnumType {
        number: 3,
        name: "Level".into(),
        values: vec!["low".into(), "high".into()],
        ordered: true,
    }));
    let pair = Type::Record(Arc::new(RecordType {
        name: "Pair".into(),
        members: vec![
            ("a".into(), Type::Int),
            ("b".into(), Type::String.nullable()),
        ],
    }));
    let fields = vec![
        field("level", "/level", level),
        field("list", "/list", Type::List(Arc::new(Type::Int))),
        field("set", "/list", Type::Set(Arc::new(Type::Int))),
        field("map", "/map", Type::Map(Arc::new(Type::Float))),
        field("pair", "/pair", pair),
        field("all", "$.parts[*].text", Type::List(Arc::new(Type::String))),
        field("some", "$.parts[?@.n>1].text", Type::String.nullable()),
    ];
    let text = r#"{"events":[{"level":"high","list":[2,1,2],"map":{"x":1.5,"y":2},"pair":{"a":1,"c":0},
 "parts":[{"text":"p","n":1},{"text":"q","n":2}]},
{"level":"none","list":[1,"2"],"map":{"x":null},"pair":{"b":"x"},"parts":[]}]}"#;
    let (units, _) = run(text, &schema(fields));
    assert_eq!(
        cells(&units),
        [
            "0: #3.1 [2, 1, 2] {1, 2} {\"x\": 1.5, \"y\": 2} {\"a\": 1, \"b\": null} [\"p\", \"q\"] \"q\"",
            "1: ? ? ? ? ? [] null",
        ]
    );
}

#[test]
fn meta_fields_and_facts() {
    let fact = |name: &str, fact| Field {
        source: FieldSource::Origin(fact),
        ..field(name, "", Type::String)
    };
    let sig = InputSchema {
        meta: vec![
            field("late", "/info/late", Type::Int),
            fact("file", OriginField::File),
            fact("dir", OriginField::Dir),
            fact("stem", OriginField::Stem),
            fact("line", OriginField::Line),
            field("gone", "/gone", Type::Int),
        ],
        layout: Layout {
            id: Some(pointer("/info/name")),
            complete: Some(pointer("/done")),
            ..at("/m", vec![]).layout
        },
        ..at("/m", kind_and_n())
    };
    let projection = Projection::new(&sig).unwrap();
    let name = FileName {
        path: "runs/x/y.jsonl.gz".into(),
        below: "x/y.jsonl.gz".into(),
    };
    let text = "\n{\"m\":[{\"kind\":\"a\"}],\"info\":{\"late\":5,\"name\":12},\"done\":false}";
    let mut units = Vec::new();
    read_from(text.as_bytes(), &name, &projection, &mut |unit| {
        units.push(unit)
    });
    let record = &records(units)[0];
    assert_eq!(record.id.as_deref(), Some("12"));
    assert_eq!(record.complete, Some(false));
    let meta: Vec<_> = record
        .meta
        .iter()
        .map(|cell| match cell {
            Cell::Known(Value::String(text)) => text.to_string(),
            Cell::Known(Value::Number(Number::Int(int))) => int.to_string(),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(meta, ["5", "x/y.jsonl.gz", "x", "y", "2", "Unknown"]);
    assert_eq!(record.problems.len(), 1);
    assert_eq!(record.problems[0].kind, ProblemKind::MissingField);
    assert_eq!(record.problems[0].trace.as_deref(), Some("12"));
}

#[test]
fn single_events_are_gathered_to_be_ordered() {
    let mut sig = schema(kind_and_n());
    sig.layout.order_by = vec![1];
    let text = "{\"trace\":\"t\",\"kind\":\"b\",\"n\":2}\n{\"trace\":\"u\",\"kind\":\"x\",\"n\":1}\n{\"trace\":\"t\",\"kind\":\"a\",\"n\":1}\n{\"trace\":\"t\",\"kind\":\"c\",\"n\":2}\n{\"trace\":\"t\",\"end\":true}\n";
    let (units, report) = run(text, &sig);
    assert_eq!(
        cells(&units),
        ["0: \"a\" 1", "1: \"b\" 2", "2: \"c\" 2", "0: \"x\" 1"]
    );
    let records = records(units);
    assert_eq!(records[0].id.as_deref(), Some("t"));
    assert_eq!(
        (records[0].complete, records[1].complete),
        (Some(true), Some(false))
    );
    assert_eq!(report.accounting.events, 4);
}

#[test]
fn decompression_is_limited_by_ratio_and_size() {
    use flate2::{Compression, write::GzEncoder};
    let read = |megabytes: usize, limits: InputLimits| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        for _ in 0..megabytes {
            encoder.write_all(&[b' '; 1 << 20]).unwrap();
        }
        let packed = encoder.finish().unwrap();
        let zstd = zstd::encode_all(&*vec![b' '; megabytes << 20], 1).unwrap();
        [packed, zstd].map(|packed| {
            let from = std::io::Cursor::new(packed);
            let mut from = guard_lang::input::open::decompressed(from, &limits).unwrap();
            let read = std::io::copy(&mut from, &mut std::io::sink());
            read.map_err(|error| error.to_string())
        })
    };
    let limits = InputLimits::default();
    for found in read(15, limits) {
        assert_eq!(found, Ok(15 << 20));
    }
    for found in read(64, limits) {
        let why = found.unwrap_err();
        assert!(why.contains("500 times its size"), "{why}");
    }
    let loose = InputLimits {
        expansion: 1_000_000,
        ..limits
    };
    for found in read(64, loose) {
        assert_eq!(found, Ok(64 << 20));
    }
    let short = InputLimits {
        decompressed_bytes: 1 << 20,
        ..limits
    };
    for found in read(2, short) {
        let why = found.unwrap_err();
        assert!(why.contains("1048576 bytes"), "{why}");
    }
}

#[test]
fn a_compressed_table_is_refused_with_the_remedy() {
    use flate2::{Compression, write::GzEncoder};
    let read = |content: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).unwrap();
        let packed = encoder.finish().unwrap();
        let zstd = zstd::encode_all(content, 1).unwrap();
        [packed, zstd].map(|packed| {
            let from = std::io::Cursor::new(packed);
            let from = guard_lang::input::open::decompressed(from, &InputLimits::default());
            let read = std::io::copy(&mut from.unwrap(), &mut std::io::sink());
            read.map_err(|error| error.to_string())
        })
    };
    for table in [
        &b"PAR1\x15\x04"[..],
        b"ARROW1\0\0",
        b"\xff\xff\xff\xff\x10\0",
    ] {
        for found in read(table) {
            let why = found.unwrap_err();
            assert!(
                why.contains("decompress it first (`gunzip` or `unzstd`)"),
                "{why}"
            );
        }
    }
    for text in [&b"{\"kind\":\"PAR1\"}\n"[..], b"PAR", b""] {
        for found in read(text) {
            assert_eq!(found, Ok(text.len() as u64));
        }
    }
}

#[test]
fn the_values_of_a_record_take_bounded_memory() {
    let limits = InputLimits {
        record_memory: 100_000,
        ..InputLimits::default()
    };
    let list = |n: usize| format!("[{}{{}}]", "{},".repeat(n));
    let mut fields = kind_and_n();
    fields.push(field("x", "/x", Type::Json.nullable()));
    for schema in [schema(fields.clone()), at("/events", fields.clone())] {
        // More steps than there is memory for: the record is refused, and the next one is read.
        for (n, read) in [(100, 2), (100_000, 1)] {
            let text = format!(
                "{{\"id\":\"t\",\"events\":{}}}\n{{\"events\":[{{}}]}}\n",
                list(n)
            );
            let (units, report) = run_with(text, &schema, limits);
            assert_eq!(units.len(), read);
            let refused = [(1, ProblemKind::Limit)];
            assert_eq!(kinds(&report), refused[..2 - read]);
        }
    }
    // A value that is too large is unknown, and nothing else of its event is.
    let text = format!(
        "{{\"kind\":\"a\",\"n\":7,\"x\":{}}}\n{{\"kind\":\"b\",\"x\":[1]}}\n",
        list(10_000)
    );
    let (units, report) = run_with(text, &schema(fields), limits);
    assert_eq!(cells(&units), ["0: \"a\" 7 ?", "0: \"b\" null [1]"]);
    assert_eq!(report.problems, []);
    let found = unit_kinds(&units);
    assert_eq!(found, [(1, ProblemKind::Limit, Some("x".to_owned()))]);
}

#[test]
fn many_values_on_a_line_are_read_in_linear_time() {
    let read = |n: usize| {
        let start = std::time::Instant::now();
        let text = "{\"kind\":\"a\"}".repeat(n) + "\n";
        let (units, report) = run(text, &schema(kind_and_n()));
        assert_eq!((units.len(), report.problems.len()), (n, 0));
        start.elapsed()
    };
    let short = read(20_000);
    assert!(read(200_000) < short * 40, "{short:?}");
}
