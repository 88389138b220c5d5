//! The production evaluator against the reference semantics: random specs over random traces with unknown data.
use std::fmt::Write as _;
use std::sync::Arc;

use guard_lang::eval::{self, Live, Program, StepCache, TraceSource};
use guard_lang::hir;
use guard_lang::ids::PropertyId;
use guard_lang::input::record::{Origin, Record, Step};
use guard_lang::modules::NoFiles;
use guard_lang::types::Type;
use guard_lang::value::{Cell, EnumValue, Instant, Value};
use guard_lang::verdict::{TraceReport, Verdict};
use guard_reference::{Definition, Judgement, TooLarge};
use proptest::prelude::*;

const HEAD: &str = "enum Level ordered { low < mid < high }
event {
  a: bool = unknown
  b: bool = unknown
  k: string? = unknown
  j: string? = unknown
  m: int? = unknown
  v: Level = unknown
  xs: list<string> = unknown
  t: time?
}
predicate p = a and not b
predicate q(x: string) = a and k == x
predicate recent = once b
let wide = if a then k else j
track n: int = 0 then if a then n + 1 else n
track level: Level = low then if b then max(level, v) else level
track flag: bool = false then if m == 1 then true else if m == 2 then false else flag
track holder(x: json): string? = null then if a and k == x then j else if b and k == x then null else holder(x)
track pair(x: json, y: json): string? = null then if a and k == x and j == y then \"x\" else if b and k == x then null else pair(x, y)
track triple(x: json, y: json, z: json): int = 0
  then if a and k == x and j == y and m == z then 1 else if b and j == y and triple(x, y, z) > 0 then 2 else triple(x, y, z)
track fixed(x: json): bool = false then if a and x == \"x\" then true else if b and x in [\"y\", \"z\"] then false else fixed(x)
track later(x: json): int = 0 then if holder(x) == \"y\" then 2 else if m == 1 then 0 else later(x)
track first(x: json): string? = null then if first(x) == null and k == x then j else first(x)
track held(x: json): string? = null when a and k == x then j when b and k == x then null
template after(c: pred, f: pred): ltl = X (not c U (c and f))
";

/// Conditions on a step.
const LETTERS: &[&str] = &[
    "a",
    "b",
    "p",
    "not a",
    "k == \"x\"",
    "k == j",
    "k in [\"x\", \"y\"]",
    "m > 1",
    "m == null",
    "(m ?? 0) + 1 == 2",
    "n > 1",
    "level >= mid",
    "level == v",
    "flag",
    "count(a) > 1",
    "count[0,1](b) == 1",
    "count(a, since: b) > 0",
    "before(m) == m",
    "before(n) == 0",
    "previously b",
    "(once a) == b",
    "xs contains \"x\"",
    "k in xs",
    "(any y in xs: y == k)",
    "(count y in xs: y == \"x\") == 1",
    "holder(\"x\") == \"y\"",
    "holder(k) == j",
    "pair(k, j) == \"x\"",
    "pair(\"x\", j) == \"x\"",
    "triple(k, j, m) > 0",
    "triple(\"x\", \"y\", 2) == 2",
    "triple(k, \"y\", m) == 1",
    "fixed(\"x\")",
    "fixed(k)",
    "later(\"x\") == 2",
    "later(k) == 2",
    "first(k) == \"y\"",
    "first(\"x\") == \"y\"",
    "wide == \"x\"",
    "recent",
    "(if b then a else not a)",
    "k starts_with \"x\"",
    "k matches /^[xy]$/",
    "len(k ?? \"\") == 1",
    "before(k) == \"x\"",
    "(historically (m > 0)) or a",
    "m != null -> m + 1 > 2",
    "(m != null and m + 1 > 2) == a",
    "k == null or len(k + \"x\") == 2",
    "(if m == null then 0 else m + 1) == 2",
    "max(m, 2) == 2",
    "abs(m) == 1",
    "todo(\"to be written\")",
    "held(k) == holder(k)",
    "held(\"x\") == j",
    "earlier.m == 2",
    "earlier.j == j and earlier.b == true",
    "after(a, b)",
    "after(b, after(a, k == \"x\"))",
];

/// Conditions on a step that a quantified name `x` takes part in.
const QUANTIFIED: &[&str] = &[
    "k == x",
    "j == x",
    "a and k == x",
    "q(x)",
    "x in xs",
    "k != x and a",
    "x in [\"x\", \"z\"]",
    "holder(x) == \"y\"",
    "k == x and holder(x) == null",
    "first(x) == j",
    "later(x) == 2 and a",
    "a",
    "b",
];

/// The same for the second name.
const SECOND: &[&str] = &[
    "j == y",
    "b and j == y",
    "k == y and a",
    "k == x and j == y",
    "a and k == x and j == y",
    "b and j == y and k == x",
    "pair(x, y) == \"x\"",
    "k == x and j == y and pair(x, y) == null",
    "a and k == x and pair(x, \"y\") == \"x\"",
    "x in xs and j == y",
    "k == x and y in [\"x\", \"z\"]",
    "triple(x, y, 2) == 1",
    "count(k == x and j == y) > 1",
    "j == y and count(k == x) > 1",
];

/// The same for the third name.
const THIRD: &[&str] = &[
    "m == z",
    "k == x and j == y and m == z",
    "b and k == x and m == z",
    "a and j == y and m == z",
    "triple(x, y, z) > 0",
    "k == x and m == z and triple(x, y, z) == 2",
];

/// What is asked of names together, so that most combinations owe nothing and are not kept.
const TOGETHER: &[&str] = &[
    "G ((A) -> F (B))",
    "G ((A) -> X (B))",
    "G ((A) -> once (B))",
    "G ((A) -> Y (B))",
    "G ((A) -> (not (B)) W (C))",
    "G ((A) -> F[0,2] (B))",
    "G (not ((A) and once (B)))",
    "G ((A) -> not F ((B) and F (C)))",
    "F ((A) and F (B))",
    "(F (A)) -> F (B)",
];

/// Conditions that relate a name, which stands for texts, to a step in any way.
const RELATED_TEXT: &[&str] = &[
    "k starts_with x",
    "x starts_with \"x\"",
    "a and k >= x",
    "len(x) < 2 and b",
    "k == x",
    "j == x and b",
    "(any y in xs: y >= x)",
    "k matches /^[xy]$/ and j > x",
    "count(k >= x) > 1",
    "x in [k, j] and a",
    "holder(x) == j",
    "k == \"x\" and holder(x) != null and j < x",
    "(if a then x else \"y\") == k",
    "before(k) == \"x\" or x > \"y\"",
];

/// The same of a name that stands for numbers.
const RELATED_NUMBER: &[&str] = &[
    "m <= x",
    "m == x",
    "a and m > x",
    "(m ?? 0) + x == 3",
    "x < 2 and b",
    "count(m == x) > 1",
    "once (m > x)",
    "b",
];

/// Quantifiers of names, and how many there are.
const QUANTIFIERS: &[(&str, usize)] = &[
    ("forall (x, y):", 2),
    ("exists (x, y):", 2),
    ("forall x in xs: forall y:", 2),
    ("forall x in wide: forall y in xs:", 2),
    ("exists x in xs: exists y:", 2),
    ("forall (x, y, z):", 3),
    ("exists (x, y, z):", 3),
    ("forall x in xs: forall (y, z):", 3),
];

/// Steps are tied to earlier ones, and all events are steps.
const JOIN: &str = "trace { join earlier on k when a }\n";

/// The same, and some events may be no steps.
const WHERE: &str = "trace { where m != 3 join earlier on k when a }\n";

/// Conditions under which a formula is about a step.
const KEPT: &[&str] = &["a", "k == \"x\"", "not b and m > 1", "once b", "flag"];

/// A property to be declared as `NAME`.
#[derive(Clone, Debug)]
struct Declared {
    text: String,
    /// It has bounds in seconds: its verdict may become final late, and later on one path than on the other.
    timed: bool,
}

fn formula(letters: Vec<&'static str>, timed: bool) -> BoxedStrategy<String> {
    let leaf = prop_oneof![8 => prop::sample::select(letters).prop_map(str::to_owned), 1 => Just("last".to_owned())];
    leaf.prop_recursive(4, 12, 2, move |inner| {
        let bound = prop_oneof![
            3 => Just(String::new()),
            1 => (0u32..3, 0u32..3).prop_map(|(lo, width)| format!("[{lo},{}]", lo + width)),
            u32::from(timed) * 4 => (0u32..3, 0u32..3).prop_map(|(lo, width)| format!("[{lo}s,{}s]", lo + width)),
        ];
        prop_oneof![
            (prop::sample::select(vec!["F", "G", "O", "H"]), bound, inner.clone())
                .prop_map(|(op, bound, f)| format!("{op}{bound} ({f})")),
            (prop::sample::select(vec!["X", "N", "Y", "Z", "not "]), inner.clone()).prop_map(|(op, f)| format!("{op} ({f})")),
            (prop::sample::select(vec!["U", "W", "R", "M", "S", "B", "and", "or", "->", "<->"]), inner.clone(), inner)
                .prop_map(|(op, f, g)| format!("(({f}) {op} ({g}))")),
        ]
    })
    .boxed()
}

fn property() -> impl Strategy<Value = Declared> {
    prop_oneof![
        4 => of_formula(false),
        1 => of_formula(true),
        1 => rule(),
    ]
}

fn of_formula(timed: bool) -> BoxedStrategy<Declared> {
    let mut with_x = QUANTIFIED.to_vec();
    with_x.extend(["m > 1", "flag"]);
    let mut with_both = with_x.clone();
    with_both.extend(SECOND);
    let with_x = || formula(with_x.clone(), timed);
    let formula_of = prop_oneof![
        4 => formula(LETTERS.to_vec(), timed).prop_map(|f| format!("F true and ({f})")),
        2 => with_x().prop_map(|f| format!("forall x: F (k == x or true) and ({f})")),
        1 => with_x().prop_map(|f| format!("exists x: F (j == x) and ({f})")),
        1 => with_x().prop_map(|f| format!("forall x in wide: G (k == x or true) and ({f})")),
        1 => with_x().prop_map(|f| format!("exists x in xs: F (k == x or true) and ({f})")),
        1 => formula(with_both, timed)
            .prop_map(|f| format!("forall (x, y): F (k == x or j == y or true) and ({f})")),
        4 => of_several(timed),
        3 => of_related(timed),
    ];
    (formula_of, kept())
        .prop_map(move |(f, kept)| Declared {
            text: format!("property NAME = {f}{kept}"),
            timed,
        })
        .boxed()
}

/// Mostly nothing: `where` makes formulas longer.
fn kept() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        1 => prop::sample::select(KEPT).prop_map(|condition| format!(" where {condition}")),
    ]
}

/// What is asked of a name with a range, which may be related to a step in any way.
fn of_related(timed: bool) -> BoxedStrategy<String> {
    let of_range = move |(quantifier, letters): (&'static str, &'static [&'static str])| {
        let condition = || prop::sample::select(letters);
        let shape = prop::sample::select(TOGETHER.to_vec());
        let together = (shape, condition(), condition(), condition())
            .prop_map(|(shape, a, b, c)| shape.replace('A', a).replace('B', b).replace('C', c));
        prop_oneof![3 => together, 1 => formula(letters.to_vec(), timed)]
            .prop_map(move |f| format!("{quantifier} F true and ({f})"))
    };
    let ranges = vec![
        ("forall x in xs:", RELATED_TEXT),
        ("exists x in xs:", RELATED_TEXT),
        ("forall x in wide:", RELATED_TEXT),
        ("forall x in (if a then k else null):", RELATED_TEXT),
        ("forall x in m:", RELATED_NUMBER),
        ("exists x in (if b then m else null):", RELATED_NUMBER),
    ];
    prop::sample::select(ranges).prop_flat_map(of_range).boxed()
}

/// What is asked of two or three names.
fn of_several(timed: bool) -> BoxedStrategy<String> {
    let quantifier = prop::sample::select(QUANTIFIERS.to_vec());
    let of_names = move |(quantifier, n): (&'static str, usize)| {
        let mut conditions = [QUANTIFIED, SECOND].concat();
        // Each name is compared with something.
        let mut ranges = "k == x or j == y or true".to_owned();
        if n == 3 {
            conditions.extend(THIRD);
            ranges = format!("m == z or {ranges}");
        }
        let condition = || prop::sample::select(conditions.clone());
        let shape = prop::sample::select(TOGETHER.to_vec());
        let together = (shape, condition(), condition(), condition())
            .prop_map(|(shape, a, b, c)| shape.replace('A', a).replace('B', b).replace('C', c));
        prop_oneof![3 => together, 1 => formula(conditions.clone(), timed)]
            .prop_map(move |f| format!("{quantifier} F ({ranges}) and ({f})"))
    };
    quantifier.prop_flat_map(of_names).boxed()
}

fn rule() -> impl Strategy<Value = Declared> {
    let plain = prop::sample::select(LETTERS.to_vec());
    let with_x = prop::sample::select(QUANTIFIED.to_vec());
    let with_both = prop::sample::select([QUANTIFIED, SECOND].concat());
    let sides = prop_oneof![
        with_both.prop_map(|then| format!("rule NAME(x, y): when k == x and j == y then {then}")),
        (plain.clone(), plain)
            .prop_map(|(when, then)| format!("rule NAME: when {when} then {then}")),
        with_x.prop_map(|then| format!("rule NAME(x): when k == x then {then}")),
    ];
    let within = prop_oneof![
        2 => (0u32..3, 0u32..3).prop_map(|(lo, width)| (format!("{lo}..{} steps", lo + width), false)),
        1 => (0u32..3).prop_map(|seconds| (format!("{seconds}s"), true)),
    ];
    let end = prop::sample::select(vec!["", " or end"]);
    (sides, within, end, kept()).prop_map(|(sides, (within, timed), end, kept)| Declared {
        text: format!("{sides} within {within}{end}{kept}"),
        timed,
    })
}

/// What is asked of many values at once, most of which nothing is owed.
fn of_many() -> impl Strategy<Value = Declared> {
    let first = prop::sample::select(vec![
        "k == x",
        "a and k == x",
        "j == x",
        "b and k == x and not a",
    ]);
    let then = prop::sample::select(vec![
        "F (j == x)",
        "X (k == x)",
        "N (j == x)",
        "once (b and j == x)",
        "F[0,3] (a and j == x)",
        "Y (k == x)",
        "not F (b and j == x)",
        "(not (j == x)) W (a and k == x)",
    ]);
    let quantifier = prop::sample::select(vec!["forall x: G", "exists x: F"]);
    let always = (quantifier, first, then).prop_map(|(quantifier, first, then)| Declared {
        text: match quantifier {
            "exists x: F" => format!("property NAME = exists x: F (({first}) and {then})"),
            _ => format!("property NAME = {quantifier} (({first}) -> {then})"),
        },
        timed: false,
    });
    prop_oneof![2 => always, 1 => property()]
}

/// Cells by small numbers: 0 is unknown.
fn cell(ty: &Type, choice: u8) -> Cell {
    let word = |choice: u8| Value::string(["x", "y", "z"][usize::from(choice) % 3]);
    Cell::Known(match (ty.non_null(), choice) {
        (_, 0) => return Cell::Unknown,
        (Type::Bool, choice) => Value::Bool(choice.is_multiple_of(2)),
        (Type::String, 1) | (Type::Int, 1) => Value::Null,
        (Type::String, choice) => word(choice),
        (Type::Int, choice) => Value::int(i128::from(choice % 4)),
        (Type::Enum(of), choice) => Value::Enum(EnumValue {
            of: of.number,
            index: u16::from(choice) % u16::try_from(of.values.len()).unwrap(),
        }),
        (Type::List(_), choice) => {
            Value::list((0..choice % 3).map(|i| word(choice / 3 + i)).collect())
        }
        (ty, _) => unreachable!("no cells of {ty}"),
    })
}

fn record(spec: &hir::Spec, choices: &[Vec<u8>], complete: bool) -> Record {
    let fields = &spec.schema.fields;
    // Half seconds, that stand still at times, and run back.
    let time = |step: usize| {
        choices[..=step]
            .iter()
            .map(|row| i128::from(row[7] % 5) - 1)
            .sum::<i128>()
    };
    let steps = choices
        .iter()
        .enumerate()
        .map(|(index, row)| Step {
            index: u32::try_from(index).unwrap(),
            cells: fields
                .iter()
                .zip(row)
                .map(|(field, choice)| match field.name.as_str() {
                    "t" => Cell::Known(Value::Time(Instant(Instant::SECOND / 2 * time(index)))),
                    _ => cell(&field.ty, *choice),
                })
                .collect(),
        })
        .collect();
    Record {
        origin: Origin {
            file: Arc::from("t.jsonl"),
            below: Arc::from("t.jsonl"),
            line: 1,
            ordinal: 0,
        },
        id: Some("t".into()),
        complete: Some(complete),
        meta: Box::default(),
        steps,
        problems: Vec::new(),
    }
}

fn steps() -> impl Strategy<Value = Vec<Vec<u8>>> {
    // Mostly known: with everything unknown, everything is unknown.
    let choice = prop_oneof![1 => Just(0u8), 6 => 1u8..12];
    prop::collection::vec(prop::collection::vec(choice, 8), 0..6)
}

fn many_steps() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let choice = prop_oneof![1 => Just(0u8), 40 => 1u8..12];
    prop::collection::vec(prop::collection::vec(choice, 8), 0..14)
}

fn compile(properties: &[Declared], filtered: bool) -> (String, Option<hir::Spec>) {
    let mut text = format!("{}{HEAD}", if filtered { WHERE } else { JOIN });
    for (idx, property) in properties.iter().enumerate() {
        writeln!(
            text,
            "{}",
            property.text.replace("NAME", &format!("p{idx}"))
        )
        .unwrap();
    }
    let checked = guard_lang::front(
        "t.guard",
        &text,
        &NoFiles,
        guard_lang::check::Limits::default(),
    );
    let errors: Vec<String> = checked
        .diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| format!("{}: {}", d.code, d.message))
        .collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    (text, checked.spec)
}

/// The verdicts after each step, while it is not known whether more follow.
fn online(
    program: &Program,
    record: &Record,
    properties: &[Declared],
    meant: &Meant,
    text: &str,
) -> Result<(), TestCaseError> {
    let source = TraceSource {
        origin: record.origin.clone(),
        id: record.id.clone(),
        meta: record.meta.clone(),
    };
    let mut state = program.open(source);
    let mut seen: Vec<Vec<(u32, Verdict)>> = vec![Vec::new(); properties.len()];
    for step in &record.steps {
        state.push(step);
        // Not an event that is no step.
        if state.last() == Some(step.index) {
            let current = state.verdicts();
            current.iter().for_each(|current| {
                seen[current.property.index()].push((step.index, current.verdict))
            });
        }
    }
    for ((property, seen), (_, meant)) in properties.iter().zip(&seen).zip(meant) {
        if let (Ok(meant), false) = (meant, property.timed) {
            prop_assert_eq!(
                seen,
                &meant.prefixes.steps,
                "online: {}\n{:?}\n{}",
                property.text,
                record.steps,
                text
            );
        }
    }
    Ok(())
}

/// The verdicts of a live trace after each step are those of the recorded one: with proposals between the steps, and with the
/// state written down and read again.
fn live(
    spec: &hir::Spec,
    limits: &eval::Limits,
    record: &Record,
    text: &str,
) -> Result<(), TestCaseError> {
    let program = Program::compile_live(Arc::new(spec.clone()), &[], limits).unwrap();
    let mut state = program.open(TraceSource {
        origin: record.origin.clone(),
        id: record.id.clone(),
        meta: record.meta.clone(),
    });
    let (mut trace, mut cache) = (Live::new(&program), StepCache::new(&program));
    for (number, step) in record.steps.iter().enumerate() {
        for proposed in &record.steps[number..] {
            let proposed = Step {
                index: step.index,
                cells: proposed.cells.clone(),
            };
            cache.proposed(&program, &mut trace, &proposed, |_| {});
        }
        cache.happened(&program, &mut trace, step, |_| {});
        state.push(step);
        for current in state.verdicts() {
            let verdict = cache.verdict(&program, &mut trace, current.property);
            prop_assert_eq!(
                verdict,
                current.verdict,
                "live: {:?}\n{}",
                record.steps,
                text
            );
        }
        if number % 2 == 0 {
            let bytes = postcard::to_stdvec(&trace.save(&program)).unwrap();
            trace = Live::restore(&program, postcard::from_bytes(&bytes).unwrap()).unwrap();
            cache = StepCache::new(&program);
            let again = postcard::to_stdvec(&trace.save(&program)).unwrap();
            prop_assert_eq!(
                again,
                bytes,
                "a state that was read is written as it was\n{}",
                text
            );
        }
    }
    Ok(())
}

/// With fewer instances and keys of tracks than there are, a verdict is what is meant, or unknown, or not yet known to be final.
fn within(
    spec: &hir::Spec,
    record: &Record,
    properties: &[Declared],
    meant: &Meant,
    most: usize,
    text: &str,
) -> Result<(), TestCaseError> {
    let limits = eval::Limits {
        instances: most,
        worlds: 1 << record.steps.len(),
        ..eval::Limits::default()
    };
    let program = Program::compile(spec, &limits).unwrap();
    let report = program.judge(record.clone()).unwrap();
    for (property, judgement) in meant {
        let timed = properties[property.index()].timed && record.complete != Some(true);
        let Some(judgement) = judgement.as_ref().ok().filter(|_| !timed) else {
            continue;
        };
        let mut lines = report.verdicts.iter();
        let line = lines.find(|line| line.property == *property).unwrap();
        prop_assert!(
            line.verdict == Verdict::Unknown
                || line.verdict == judgement.verdict
                || line.verdict == presumable(judgement.verdict),
            "at most {}: {:?}, not {:?}\n{:?}\n{}",
            most,
            line.verdict,
            judgement.verdict,
            record.steps,
            text
        );
    }
    Ok(())
}

/// What the definition of the language says of each property.
type Meant = Vec<(PropertyId, Result<Judgement, TooLarge>)>;

fn presumable(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Satisfied => Verdict::PresumablySatisfied,
        Verdict::Violated => Verdict::PresumablyViolated,
        other => other,
    }
}

fn agree(
    properties: &[Declared],
    choices: &[Vec<u8>],
    complete: bool,
    filtered: bool,
    unrolled: u32,
) -> Result<(), TestCaseError> {
    let (text, spec) = compile(properties, filtered);
    let Some(spec) = spec else {
        return Err(TestCaseError::fail("no spec"));
    };
    // As many ways to read the trace as there are.
    let limits = eval::Limits {
        worlds: 1 << choices.len(),
        unrolled,
        ..eval::Limits::default()
    };
    let Ok(program) = Program::compile(&spec, &limits) else {
        return Ok(());
    };
    let record = record(&spec, choices, complete);
    let meant = guard_reference::judge(&spec, &record);
    online(&program, &record, properties, &meant, &text)?;
    live(&spec, &limits, &record, &text)?;
    let most = choices.len() / 2;
    within(&spec, &record, properties, &meant, most, &text)?;
    judged(&program, &record, properties, meant, choices, &text)
}

/// Whether a trace is judged as the language says.
fn judged(
    program: &Program,
    record: &Record,
    properties: &[Declared],
    meant: Meant,
    choices: &[Vec<u8>],
    text: &str,
) -> Result<(), TestCaseError> {
    let complete = record.complete == Some(true);
    let report = program.judge(record.clone()).unwrap();
    for (property, judgement) in meant {
        let Ok(judgement) = judgement else { continue };
        let lines: Vec<_> = report
            .verdicts
            .iter()
            .filter(|line| line.property == property)
            .collect();
        let first = lines
            .first()
            .ok_or_else(|| TestCaseError::fail("no verdict"))?;
        let Declared { text: name, timed } = &properties[property.index()];
        if *timed && !complete {
            continue;
        }
        // Where it may be late, it is not asked since when a verdict is final.
        let at = |at: Option<u32>| at.filter(|_| !timed);
        // A line on an instance says since when that is violated: below.
        let of_instance = !judgement.violated.is_empty();
        let property_at = |line: Option<u32>| at(line).filter(|_| !of_instance);
        prop_assert_eq!(
            (first.verdict, first.is_final, property_at(first.at)),
            (
                judgement.verdict,
                judgement.is_final,
                property_at(judgement.at)
            ),
            "{}\ncomplete: {}\n{:?}\n{}",
            name,
            complete,
            choices,
            text
        );
        if judgement.verdict == Verdict::Violated && !judgement.violated.is_empty() {
            let values = |line: &&guard_lang::verdict::PropertyVerdict| {
                (
                    line.instance
                        .iter()
                        .map(|(_, value)| value.clone())
                        .collect::<Vec<_>>(),
                    at(line.at),
                )
            };
            let mut seen: Vec<_> = lines.iter().map(values).collect();
            let mut meant: Vec<_> = judgement
                .violated
                .iter()
                .map(|instance| (instance.values.clone(), at(instance.at)))
                .collect();
            seen.sort();
            meant.sort();
            prop_assert_eq!(seen, meant, "instances of {}\n{:?}", name, choices);
        }
    }
    Ok(())
}

/// Traces that one program judges, one after the other, and once more event by event in turns: what it has found out by then
/// makes no difference.
fn agree_on_all(
    properties: &[Declared],
    traces: &[Vec<Vec<u8>>],
    joint_bytes: usize,
) -> Result<(), TestCaseError> {
    let (text, spec) = compile(properties, false);
    let spec = spec.ok_or_else(|| TestCaseError::fail("no spec"))?;
    let limits = eval::Limits {
        joint_bytes,
        ..eval::Limits::default()
    };
    let Ok(program) = Program::compile(&spec, &limits) else {
        return Ok(());
    };
    let records: Vec<Record> = traces
        .iter()
        .map(|rows| record(&spec, rows, true))
        .collect();
    let definition = Definition::new(&spec);
    for (record, choices) in records.iter().zip(traces) {
        let meant = definition.judge(record);
        judged(&program, record, properties, meant, choices, &text)?;
    }
    let mut states: Vec<_> = records
        .iter()
        .map(|record| {
            program.open(TraceSource {
                origin: record.origin.clone(),
                id: record.id.clone(),
                meta: record.meta.clone(),
            })
        })
        .collect();
    for step in 0..records
        .iter()
        .map(|record| record.steps.len())
        .max()
        .unwrap_or(0)
    {
        for (state, record) in states.iter_mut().zip(&records) {
            if let Some(step) = record.steps.get(step) {
                state.push(step);
            }
        }
    }
    for (state, record) in states.into_iter().zip(records) {
        let turns = state.finish(true);
        let whole = program.judge(record).unwrap();
        let told = |report: &TraceReport| format!("{:?}\n{:?}", report.verdicts, report.problems);
        prop_assert_eq!(told(&turns), told(&whole), "{}", text);
    }
    Ok(())
}

crate::random::tests! {
    400 cases;

    #[test]
    fn what_was_found_of_events_makes_no_difference(
        properties in prop::collection::vec(of_many(), 4..12),
        traces in prop::collection::vec(many_steps(), 1..6),
        // Too little for anything, for little, and for all.
        joint_bytes in prop::sample::select(vec![0usize, 3000, 8 << 20]),
    ) {
        agree_on_all(&properties, &traces, joint_bytes)?;
    }
}

crate::random::tests! {
    4000 cases;

    #[test]
    fn the_fast_path_says_what_the_language_means(
        properties in prop::collection::vec(property(), 1..4),
        choices in steps(),
        complete in any::<bool>(),
        filtered in prop::bool::weighted(0.2),
        // Without unrolling, every bound is counted.
        unrolled in prop::sample::select(vec![0u32, 512]),
    ) {
        agree(&properties, &choices, complete, filtered, unrolled)?;
    }
}

/// What is said of the steps that are kept is what is said of a trace that has no others.
fn kept_steps_alone(f: &str, choices: &[Vec<u8>], complete: bool) -> Result<(), TestCaseError> {
    let of = |kept: &str| Declared {
        text: format!("property NAME = {f}{kept}"),
        timed: false,
    };
    let programs: Vec<(hir::Spec, Program)> = [(of(" where m != 3"), false), (of(""), true)]
        .into_iter()
        .filter_map(|(property, filtered)| compile(&[property], filtered).1)
        .filter_map(|spec| {
            let program = Program::compile(&spec, &eval::Limits::default()).ok()?;
            Some((spec, program))
        })
        .collect();
    let [(kept, in_formula), (filtered, in_trace)] = programs.as_slice() else {
        return Err(TestCaseError::fail("no program"));
    };
    let (record, other) = (
        record(kept, choices, complete),
        record(filtered, choices, complete),
    );
    let verdict = |program: &Program, record: &Record| {
        program.judge(record.clone()).unwrap().verdicts[0].verdict
    };
    prop_assert_eq!(
        verdict(in_formula, &record),
        verdict(in_trace, &other),
        "{}\n{:?}",
        f,
        choices
    );
    let source = |record: &Record| TraceSource {
        origin: record.origin.clone(),
        id: record.id.clone(),
        meta: record.meta.clone(),
    };
    let (mut state, mut alone) = (
        in_formula.open(source(&record)),
        in_trace.open(source(&other)),
    );
    for (step, other) in record.steps.iter().zip(&other.steps) {
        state.push(step);
        alone.push(other);
        if alone.last() == Some(step.index) {
            let verdicts = |current: Vec<eval::Current>| {
                current.iter().map(|line| line.verdict).collect::<Vec<_>>()
            };
            prop_assert_eq!(
                verdicts(state.verdicts()),
                verdicts(alone.verdicts()),
                "{} after step {}\n{:?}",
                f,
                step.index,
                choices
            );
        }
    }
    Ok(())
}

crate::random::tests! {
    600 cases;

    #[test]
    fn where_after_a_formula_is_where_in_the_trace(
        f in formula(vec!["a", "b", "p", "k == \"x\"", "not a", "j == \"y\""], false),
        mut choices in prop::collection::vec(prop::collection::vec(0u8..12, 8), 0..7),
        complete in any::<bool>(),
    ) {
        // Whether a step is kept is known.
        for row in &mut choices {
            row[4] = row[4].max(1);
        }
        kept_steps_alone(&format!("F false or ({f})"), &choices, complete)?;
        kept_steps_alone(&format!("G true and ({f})"), &choices, complete)?;
    }

    #[test]
    fn a_join_is_the_latest_step_with_the_key(choices in prop::collection::vec(prop::collection::vec(1u8..12, 8), 0..8)) {
        let property = |text: &str| Declared { text: format!("property NAME = always ({text})"), timed: false };
        let properties = [property("earlier.m == m"), property("earlier.j != null")];
        let (text, spec) = compile(&properties, false);
        let spec = spec.ok_or_else(|| TestCaseError::fail("no spec"))?;
        let record = record(&spec, &choices, true);
        let field = |name: &str| spec.schema.fields.iter().position(|field| field.name == name).unwrap();
        let cell = |step: &Step, name: &str| match &step.cells[field(name)] {
            Cell::Known(value) => value.clone(),
            Cell::Unknown => unreachable!(),
        };
        let earlier = |at: usize, name: &str| {
            let key = cell(&record.steps[at], "k");
            let mut before = record.steps[..=at].iter().rev();
            let found = before.find(|step| {
                !key.is_null() && cell(step, "a") == Value::Bool(true) && cell(step, "k") == key
            });
            found.map_or(Value::Null, |step| cell(step, name))
        };
        let first = |fails: &dyn Fn(usize) -> bool| (0..record.steps.len()).find(|at| fails(*at));
        let meant = [
            first(&|at| earlier(at, "m") != cell(&record.steps[at], "m")),
            first(&|at| earlier(at, "j").is_null()),
        ];
        let program = Program::compile(&spec, &eval::Limits::default()).unwrap();
        let report = program.judge(record.clone()).unwrap();
        for (meant, line) in meant.into_iter().zip(&report.verdicts) {
            let violated = (line.verdict == Verdict::Violated).then_some(line.at).flatten();
            prop_assert_eq!(violated, meant.map(|at| at as u32), "{}\n{:?}", text, choices);
        }
    }
}

/// The first event may be no step: what no trace fulfils is violated from there on all the same.
#[test]
fn violated_before_the_first_step() {
    let property = Declared {
        text: "property NAME = forall x: F (k == x or true) and Y (x in [\"x\"])".into(),
        timed: false,
    };
    agree(&[property], &[vec![0; 8], vec![0; 8]], false, true, 512).unwrap();
}

/// A spec, a trace as rows of cells, and whether it is complete.
type Case<'a> = (&'a [&'a str], Vec<Vec<u8>>, bool);

/// Specs and traces on which the two once disagreed.
#[test]
fn these_are_judged_as_the_language_means() {
    let row = |values: &[(usize, u8)]| {
        let mut row = vec![0_u8; 8];
        values.iter().for_each(|(at, value)| row[*at] = *value);
        row
    };
    let cases: [Case<'_>; 8] = [
        (
            &["property NAME = forall x in wide: G (k == x or true) and (k == x)"],
            vec![row(&[(2, 9)]), row(&[(2, 11)]), row(&[(0, 3), (3, 11)])],
            false,
        ),
        (
            &[
                "property NAME = forall x in wide: G (k == x or true) and (((((k == x) S (k == x))) -> (G (k == x))))",
            ],
            vec![row(&[(2, 2)]), row(&[])],
            false,
        ),
        (
            &["property NAME = F true and (X (X (count[0,1](b) == 1)))"],
            [vec![row(&[]); 4], vec![row(&[(1, 1)]), row(&[])]].concat(),
            true,
        ),
        (
            &[
                "rule NAME: when a then b within 0..1 steps or end",
                "property NAME = F true and (G (count[0,1](b) == 1))",
            ],
            [vec![row(&[(1, 2)]); 3], vec![row(&[]); 2]].concat(),
            true,
        ),
        (
            &["property NAME = exists x in xs: F (k == x or true) and (G[1,3] (X (x in xs)))"],
            vec![row(&[]), row(&[]), row(&[(6, 2)]), row(&[])],
            false,
        ),
        // The track tells the instance apart before the formula does.
        (
            &["property NAME = exists x: F (j == x) and X (first(x) == j)"],
            vec![
                row(&[(2, 4), (3, 3)]),
                row(&[(2, 1), (3, 3)]),
                row(&[(3, 4)]),
            ],
            false,
        ),
        (&["property NAME = last or F (N (m == 1))"], vec![], false),
        // Counts see the steps that `where` leaves out, and depend there on the value of `x` too.
        (
            &[
                "property NAME = forall x in wide: F true and (G ((k matches /^[xy]$/ and j > x) -> F (count(k >= x) > 1))) where flag",
            ],
            vec![
                row(&[(0, 7), (3, 1), (4, 5)]),
                row(&[(0, 2), (2, 3), (3, 2), (4, 3)]),
                row(&[(2, 2), (4, 10)]),
                row(&[(2, 1)]),
            ],
            false,
        ),
    ];
    for (texts, choices, filtered) in cases {
        let declared = texts.iter().map(|text| Declared {
            text: (*text).into(),
            timed: false,
        });
        let properties: Vec<Declared> = declared.collect();
        for unrolled in [0, 512] {
            agree(&properties, &choices, false, filtered, unrolled).unwrap();
        }
    }
}
