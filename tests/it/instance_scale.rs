//! The cost per event of quantified variables and track parameters does not depend on the number of seen values; it is measured
//! in instances and keys that events change or read, not in time.
use std::fmt::Write as _;
use std::sync::Arc;

use guard_lang::eval::{Limits, Live, Program, StepCache, TraceSource};
use guard_lang::hir::Spec;
use guard_lang::ids::PropertyId;
use guard_lang::input::record::{Origin, Step};
use guard_lang::modules::NoFiles;
use guard_lang::value::{Cell, Value};
use guard_lang::verdict::Verdict;

const HEAD: &str = "event { kind: string, server: string?, id: string?, zone: string?, key: string? }
predicate whole(k: string, c: string) = kind == k and key == c
predicate one(k: string, s: string) = kind == k and server == s
predicate two(k: string, s: string, i: string) = kind == k and server == s and id == i
predicate three(k: string, s: string, i: string, z: string) = kind == k and server == s and id == i and zone == z
track asked1(c: string): string? = null then if whole(\"request\", c) then kind else asked1(c)
track asked(s: string, i: string): string? = null then if two(\"request\", s, i) then kind else asked(s, i)
track asked3(s: string, i: string, z: string): string? = null
  then if three(\"request\", s, i, z) then kind else asked3(s, i, z)
track first(s: string, i: string): string? = null
  then if first(s, i) == null and two(\"request\", s, i) then zone else first(s, i)
track closed(s: string, i: string): bool = false
  then if one(\"close\", s) then true else if two(\"request\", s, i) then false else closed(s, i)
";

/// A name, a property, and the verdict on a trace of which each request is answered.
pub(crate) const PROPERTIES: &[(&str, &str, Verdict)] = &[
    (
        "one name",
        "forall s: always (one(\"request\", s) -> eventually one(\"response\", s))",
        Verdict::Satisfied,
    ),
    // What the names of the properties after it are compared with, in one value.
    (
        "a composite name",
        "forall c: always (whole(\"request\", c) -> eventually whole(\"response\", c))",
        Verdict::Satisfied,
    ),
    (
        "two names",
        "forall (s, i): always (two(\"request\", s, i) -> eventually two(\"response\", s, i))",
        Verdict::Satisfied,
    ),
    (
        "three names",
        "forall (s, i, z): always (three(\"request\", s, i, z) -> eventually three(\"response\", s, i, z))",
        Verdict::Satisfied,
    ),
    (
        "the past",
        "forall (s, i): always (two(\"response\", s, i) -> once two(\"request\", s, i))",
        Verdict::Satisfied,
    ),
    (
        "no two in a row",
        "forall (s, i): never (two(\"request\", s, i) and next two(\"request\", s, i))",
        Verdict::Satisfied,
    ),
    // `login` binds one name of two.
    (
        "part of the names",
        "forall (s, i): never (two(\"response\", s, i) and once one(\"close\", s))",
        Verdict::Satisfied,
    ),
    (
        "a part with an effect",
        "forall (s, i): always (two(\"response\", s, i) -> once one(\"login\", s))",
        Verdict::Satisfied,
    ),
    (
        "a witness",
        "exists (s, i): eventually (two(\"request\", s, i) and two(\"close\", s, i))",
        Verdict::Violated,
    ),
    (
        "a composite track",
        "never (kind == \"response\" and asked1(key ?? \"\") == null)",
        Verdict::Satisfied,
    ),
    (
        "a track",
        "never (kind == \"response\" and asked(server ?? \"\", id ?? \"\") == null)",
        Verdict::Satisfied,
    ),
    (
        "a track of three",
        "never (kind == \"response\" and asked3(server ?? \"\", id ?? \"\", zone ?? \"\") == null)",
        Verdict::Satisfied,
    ),
    (
        "a track that reads itself",
        "never (kind == \"response\" and first(server ?? \"\", id ?? \"\") == null)",
        Verdict::Satisfied,
    ),
    (
        "a track with a part of its names",
        "never (kind == \"response\" and closed(server ?? \"\", id ?? \"\"))",
        Verdict::Satisfied,
    ),
    (
        "names and a track",
        "forall (s, i): never (two(\"response\", s, i) and asked(s, i) == null)",
        Verdict::Satisfied,
    ),
];

/// How the values of the names are distributed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Spread {
    /// All values differ.
    Distinct,
    /// All pairs have the same first value.
    OneFirst,
    /// All pairs have the same second value.
    OneSecond,
    /// As many first values as there are second values for each.
    Square,
    /// A few first values have most of the second ones.
    Zipf,
}

pub(crate) const SPREADS: [Spread; 5] = [
    Spread::Distinct,
    Spread::OneFirst,
    Spread::OneSecond,
    Spread::Square,
    Spread::Zipf,
];

/// The server, id and zone of a pair, and all of it in one text.
fn pair(spread: Spread, n: usize, at: usize) -> [String; 4] {
    let (server, id) = match spread {
        Spread::Distinct => (at, at),
        Spread::OneFirst => (0, at),
        Spread::OneSecond => (at, 0),
        Spread::Square => (at % n.isqrt(), at / n.isqrt()),
        // The k-th has a share of about 1 / k.
        Spread::Zipf => (n / (at + 1), at),
    };
    let zone = at % 7;
    [
        format!("s{server}"),
        format!("i{id}"),
        format!("z{zone}"),
        format!("s{server}/i{id}/z{zone}"),
    ]
}

/// Steps of these kinds for each pair, then a response for each.
pub(crate) fn steps_of(
    kinds: &[&'static str],
    spread: Spread,
    n: usize,
) -> impl Iterator<Item = Step> {
    let rows = (0..n).flat_map(move |at| kinds.iter().map(move |kind| (*kind, at)));
    let rows = rows.chain((0..n).map(|at| ("response", at)));
    rows.enumerate().map(move |(index, (kind, at))| {
        let cells = pair(spread, n, at).map(|value| Cell::Known(Value::string(value)));
        let [server, id, zone, key] = cells;
        let null = || Cell::Known(Value::Null);
        let kind_cell = Cell::Known(Value::string(kind));
        let cells = match kind {
            "login" => [kind_cell, server, null(), null(), null()],
            _ => [kind_cell, server, id, zone, key],
        };
        Step {
            index: u32::try_from(index).unwrap(),
            cells: cells.into(),
        }
    })
}

/// A login and a request for each pair, then a response for each.
fn steps(spread: Spread, n: usize) -> Vec<Step> {
    steps_of(&["login", "request"], spread, n).collect()
}

pub(crate) fn spec(property: &str) -> Spec {
    let mut text = HEAD.to_owned();
    writeln!(text, "property p = {property}").unwrap();
    let checked = guard_lang::front(
        "t.guard",
        &text,
        &NoFiles,
        guard_lang::check::Limits::default(),
    );
    let messages: Vec<_> = checked.diagnostics.iter().map(|d| &d.message).collect();
    checked.spec.unwrap_or_else(|| panic!("{messages:?}"))
}

pub(crate) fn source() -> TraceSource {
    TraceSource {
        origin: Origin {
            file: Arc::from("t.jsonl"),
            below: Arc::from("t.jsonl"),
            line: 1,
            ordinal: 0,
        },
        id: Some("t".into()),
        meta: Box::default(),
    }
}

/// The work for a recorded trace, and the verdict.
fn audited(spec: &Spec, steps: &[Step]) -> (u64, Verdict) {
    let program = Program::compile(spec, &Limits::default()).unwrap();
    let mut state = program.open(source());
    steps.iter().for_each(|step| state.push(step));
    let work = state.work();
    (work, state.finish(true).verdicts[0].verdict)
}

/// The work for a live trace: each step is proposed before it happens, and the state is written down and read at times.
fn monitored(spec: &Spec, steps: &[Step]) -> (u64, Verdict) {
    let program = Program::compile_live(Arc::new(spec.clone()), &[], &Limits::default()).unwrap();
    let (mut live, mut cache) = (Live::new(&program), StepCache::new(&program));
    let mut work = 0;
    for (number, step) in steps.iter().enumerate() {
        cache.proposed(&program, &mut live, step, |_| {});
        cache.happened(&program, &mut live, step, |_| {});
        if number % (steps.len() / 4) == 1 {
            let bytes = postcard::to_stdvec(&live.save(&program)).unwrap();
            live = Live::restore(&program, postcard::from_bytes(&bytes).unwrap()).unwrap();
            work += cache.work();
            cache = StepCache::new(&program);
        }
    }
    let verdict = cache.verdict(&program, &mut live, PropertyId::new(0));
    (work + cache.work(), verdict)
}

/// The cost of an event does not grow with the number of values: four times the events are four times the work, and an event
/// touches a handful of instances.
#[test]
fn the_work_for_an_event_does_not_grow() {
    const N: usize = 300;
    let mut told = String::new();
    let mut failed = false;
    for (name, property, meant) in PROPERTIES {
        let spec = spec(property);
        for spread in SPREADS {
            let (few, many) = (steps(spread, N), steps(spread, 4 * N));
            let (work, _) = audited(&spec, &few);
            let (more, verdict) = audited(&spec, &many);
            assert_eq!(verdict, *meant, "{name}, {spread:?}");
            let (work_live, _) = monitored(&spec, &few);
            let (more_live, verdict) = monitored(&spec, &many);
            let presumed = matches!(verdict, Verdict::Satisfied | Verdict::PresumablySatisfied);
            assert_eq!(presumed, *meant == Verdict::Satisfied, "{name}, {spread:?}");
            for (how, work, more, ways) in
                [("audit", work, more, 1), ("live", work_live, more_live, 2)]
            {
                let each = more / (many.len() as u64 * ways);
                writeln!(
                    told,
                    "{name}, {spread:?}, {how}: {work}, {more}, {each} for each event"
                )
                .unwrap();
                failed |= more > 5 * work + 100 || each > 24;
            }
        }
    }
    assert!(!failed, "{told}");
}

/// An event that changes all instances with one name touches those, and no others; what has changed is not touched again.
#[test]
fn a_part_of_the_names_touches_what_it_changes() {
    let spec = spec(
        "forall (s, i): always (two(\"request\", s, i) -> eventually (two(\"response\", s, i) or one(\"close\", s)))",
    );
    let program = Program::compile(&spec, &Limits::default()).unwrap();
    let mut state = program.open(source());
    let mut index = 0;
    let mut push = |kind: &str, server: usize, id: Option<usize>| {
        let text = |text: String| Cell::Known(Value::string(text));
        let id = id.map_or(Cell::Known(Value::Null), |id| text(format!("i{id}")));
        let before = state.work();
        let cells = [
            text(kind.into()),
            text(format!("s{server}")),
            id,
            Cell::Known(Value::Null),
            Cell::Known(Value::Null),
        ];
        state.push(&Step {
            index,
            cells: cells.into(),
        });
        index += 1;
        state.work() - before
    };
    // 1000 instances of one server, 10 of another.
    for id in 0..1000 {
        push("request", 0, Some(id));
    }
    for id in 0..10 {
        push("request", 1, Some(id));
    }
    assert!(push("close", 1, None) < 50, "only the 10 of that server");
    assert!(push("close", 1, None) < 20, "they owe nothing any more");
    let all = push("close", 0, None);
    assert!(
        (1000..3000).contains(&all),
        "each of the 1000 changes: {all}"
    );
    assert!(push("close", 0, None) < 20, "they owe nothing any more");
}

/// A track that nothing reads is not followed.
#[test]
fn tracks_that_no_property_reads_cost_nothing() {
    let work = |property: &str| audited(&spec(property), &steps(Spread::Distinct, 50)).0;
    assert_eq!(work("never (kind == \"bad\")"), 0);
    assert!(work("never (kind == \"bad\" and asked(\"s\", \"i\") == null)") > 0);
}

/// Relations other than equality need each value of the range once: the state of a trace does not grow with events, and beyond
/// the limit on instances the verdict is unknown.
#[test]
fn a_range_keeps_each_value_once() {
    const VALUES: usize = 8;
    let spec = spec(
        "forall x in server: always (kind == \"open\" and server == x -> eventually (kind == \"close\" and x starts_with server))",
    );
    let limits = Limits {
        // The folder that closes them is a value too.
        instances: VALUES + 1,
        ..Limits::default()
    };
    let text = |text: &str| Cell::Known(Value::string(text));
    let step = |index: usize, kind: &str, server: String| Step {
        index: index as u32,
        cells: [
            text(kind),
            text(&server),
            Cell::Known(Value::Null),
            Cell::Known(Value::Null),
            Cell::Known(Value::Null),
        ]
        .into(),
    };
    let events = |n_values: usize, n: usize| {
        let open = (0..n).map(move |at| step(at, "open", format!("/{}/x", at % n_values)));
        open.chain([step(n, "close", "/".to_owned())])
    };
    let program = Program::compile(&spec, &limits).unwrap();
    let report = |n_values| {
        let mut state = program.open(source());
        events(n_values, 500).for_each(|step| state.push(&step));
        state.finish(true)
    };
    let within = report(VALUES);
    assert_eq!(within.verdicts[0].verdict, Verdict::Satisfied);
    assert!(within.problems.is_empty(), "{:?}", within.problems);
    let beyond = report(VALUES + 1);
    assert_eq!(beyond.verdicts[0].verdict, Verdict::Unknown);
    let program = Program::compile_live(Arc::new(spec), &[], &limits).unwrap();
    let (mut live, mut cache) = (Live::new(&program), StepCache::new(&program));
    let mut sizes = Vec::new();
    for step in events(VALUES, 500) {
        cache.happened(&program, &mut live, &step, |_| {});
        sizes.push(postcard::to_stdvec(&live.save(&program)).unwrap().len());
    }
    let early = sizes[2 * VALUES..10 * VALUES].iter().max().unwrap();
    let late = sizes.iter().max().unwrap();
    assert!(late <= &(early + 64), "{early} bytes, then {late}");
}
