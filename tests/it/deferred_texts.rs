//! Texts that are decoded only if something reads them: every spec gets the same value as from a text that is decoded
//! at once.
use std::fmt::Write as _;

use guard_lang::check::Limits;
use guard_lang::eval::{self, Program};
use guard_lang::front;
use guard_lang::hir::Spec;
use guard_lang::input::projection::Projection;
use guard_lang::input::read::read_from;
use guard_lang::input::record::{FileName, Unit};
use guard_lang::modules::NoFiles;
use proptest::prelude::*;

const HEAD: &str = "enum Kind { call, answer, other }
event {
  kind: Kind?
  tool: string?
  text: string?
  more: string? = unknown
  id: string?
}
const YES = /(?i)\\b(yes|ja)\\b/
let body = json(text)
predicate calls = kind == call and tool != null
predicate fails = kind == answer and text starts_with \"Error\"
predicate says(x: string) = kind == call and id == x
track agreed: bool = false then if kind == other then text matches YES else agreed
track told: string? = null then if fails then text else told
track total: int = 0 then if kind == answer then total + len(text ?? \"\") else total
";

/// Conditions that read long texts in every way, under what the class of an event decides and under what it does not.
const LETTERS: &[&str] = &[
    "calls",
    "fails",
    "agreed",
    "kind == call",
    "kind == answer and text contains \"\\\"\"",
    "kind != call or text starts_with \"Err\"",
    "kind == call -> not (text matches /x{9}/)",
    "(if kind == call then text else more) ends_with \"x\"",
    "(if kind == other then tool == \"a\" else more starts_with \"é€\")",
    "text starts_with \"Error\" or more starts_with \"Error: \\n\"",
    "text starts_with \"\"",
    "text starts_with tool",
    "tool in [\"a\", \"b\"] and text == more",
    "text == \"short\"",
    "text in [\"short\", \"Error\"]",
    "text != null and kind == answer",
    "len(more ?? \"\") > 80",
    "told == text",
    "told == null",
    "total > 200",
    "before(text) == text",
    "previously fails",
    "count(text contains \"é\") > 1",
    "count(kind == call and more contains \"é\") > 0",
    "(once (kind == answer and text contains \"yes\")) and agreed",
    "kind == call and body.k == \"v\"",
    "id == \"short\"",
    "lower(text ?? \"\") contains \"error\"",
    "(any w in words(text ?? \"\"): w == \"yes\")",
];

const QUANTIFIED: &[&str] = &[
    "says(x)",
    "id == x",
    "kind == answer and text == x",
    "more == x and more contains \"x\"",
    "more starts_with \"Error\"",
    "kind == other",
];

/// The same of a value within a text.
const WITHIN: &[&str] = &[
    "kind == call and body.k == x",
    "body.k == x and more contains \"x\"",
    "more starts_with \"Error\"",
    "kind == other",
];

fn formula(letters: &'static [&'static str]) -> BoxedStrategy<String> {
    let leaf = prop::sample::select(letters).prop_map(|letter| format!("({letter})"));
    leaf.prop_recursive(3, 8, 2, |inner| {
        let unary = prop::sample::select(vec!["F", "G", "O", "X", "Y", "F[0,2]", "not "]);
        let binary = prop::sample::select(vec!["U", "S", "and", "or", "->"]);
        prop_oneof![
            (unary, inner.clone()).prop_map(|(op, f)| format!("{op} ({f})")),
            (binary, inner.clone(), inner).prop_map(|(op, f, g)| format!("(({f}) {op} ({g}))")),
        ]
    })
    .boxed()
}

fn property() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => formula(LETTERS).prop_map(|f| format!("property NAME = G ({f})\n  message \"{{text}} {{told ?? more}}\"")),
        2 => formula(LETTERS).prop_map(|f| format!("property NAME = F true and ({f})")),
        2 => formula(QUANTIFIED).prop_map(|f| format!("property NAME = forall x: G (id == x -> ({f}))")),
        1 => formula(QUANTIFIED).prop_map(|f| format!("property NAME = exists x: F (id == x and ({f}))")),
        1 => formula(WITHIN).prop_map(|f| format!("property NAME = forall x: G (kind == call and body.k == x -> ({f}))")),
        1 => prop::sample::select(vec!["fails", "agreed", "text contains \"é\""])
            .prop_map(|f| format!("rule NAME: when calls then {f} within 1..2 steps")),
    ]
}

/// A text as it is written in JSON, often long.
fn text() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "Error",
        "Error: \\n",
        "\\u0045rror",
        "é",
        "\\u00e9",
        "€",
        "yes ",
        "JA",
        "x",
        "\\\"",
        "\\\\",
        "\\ud83d\\ude00",
        "\\/",
    ]);
    let padding = prop_oneof![2 => Just(0usize), 3 => 50usize..90, 1 => 300usize..400];
    let plain = (prop::collection::vec(part, 0..6), padding, prop::bool::ANY).prop_map(
        |(parts, padding, first)| {
            let padding = "x".repeat(padding);
            let parts = parts.concat();
            if first {
                format!("\"{padding}{parts}\"")
            } else {
                format!("\"{parts}{padding}\"")
            }
        },
    );
    prop_oneof![
        6 => plain,
        1 => Just("\"short\"".to_owned()),
        1 => Just("null".to_owned()),
        1 => prop::sample::select(vec!["v", "short"]).prop_map(|value| {
            format!("\"{{\\\"k\\\": \\\"{value}\\\", \\\"rest\\\": \\\"{}\\\"}}\"", "é".repeat(60))
        }),
        // Half a surrogate pair, and what is no text.
        1 => Just(format!("\"{} \\ud800\"", "y".repeat(80))),
        1 => Just("7".to_owned()),
    ]
}

fn event() -> impl Strategy<Value = String> {
    let member = |name: &'static str, value: BoxedStrategy<String>| prop_oneof![1 => Just(String::new()), 5 => value.prop_map(move |value| format!("\"{name}\":{value},"))];
    let kind =
        prop::sample::select(vec!["call", "answer", "other"]).prop_map(|kind| format!("{kind:?}"));
    let tool = prop::sample::select(vec!["a", "b", "c"]).prop_map(|tool| format!("{tool:?}"));
    let id = prop_oneof![
        2 => prop::sample::select(vec!["v", "short"]).prop_map(|id| format!("{id:?}")),
        1 => Just(format!("\"{}\"", "i".repeat(70))),
    ];
    let members = (
        member("kind", kind.boxed()),
        member("tool", tool.boxed()),
        member("text", text().boxed()),
        member("more", text().boxed()),
        member("id", id.boxed()),
        // A member that stands twice makes its field unknown.
        prop_oneof![9 => Just(String::new()), 1 => text().prop_map(|text| format!("\"more\":{text},"))],
    );
    members.prop_map(|(a, b, c, d, e, f)| format!("{{{a}{b}{c}{d}{e}{f}\"n\":0}}"))
}

fn compile(properties: &[String]) -> (String, Spec) {
    let mut text = HEAD.to_owned();
    for (idx, property) in properties.iter().enumerate() {
        writeln!(text, "{}", property.replace("NAME", &format!("p{idx}"))).unwrap();
    }
    let checked = front("t.guard", &text, &NoFiles, Limits::default());
    let Some(spec) = checked.spec else {
        panic!("{:?}\n{text}", checked.diagnostics)
    };
    (text, spec)
}

crate::random::tests! {
    300 cases;
    #[test]
    fn verdicts_are_those_of_decoded_texts(
        properties in prop::collection::vec(property(), 1..4),
        traces in prop::collection::vec(prop::collection::vec(event(), 0..7), 1..4),
    ) {
        let (text, spec) = compile(&properties);
        let lines: Vec<String> = traces
            .iter()
            .zip(0..)
            .map(|(events, id)| format!("{{\"id\":\"t{id}\",\"events\":[{}]}}", events.join(",")))
            .collect();
        let lines = lines.join("\n");
        let judged = crate::support::judge(&spec, "t.jsonl", lines.as_bytes());

        let program = Program::compile(&spec, &eval::Limits::default()).unwrap();
        let projection = Projection::new(&spec.schema).unwrap();
        let mut meant = Vec::new();
        read_from(lines.as_bytes(), &FileName::given("t.jsonl"), &projection, &mut |unit| {
            if let Unit::Record(record) = unit {
                meant.extend(program.judge(record));
            }
        });
        prop_assert_eq!(
            format!("{:#?}", judged.reports),
            format!("{:#?}", meant),
            "{}\n{}",
            text,
            lines
        );
    }
}
