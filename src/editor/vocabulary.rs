//! The meaning of words of the language and of predefined functions: the rows of the tables of `docs/language.md`, and a line
//! for each word that has no row there.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::doc;
use crate::syntax::token::{LOOK_AHEAD_WORDS, Token};

/// A row about a word.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The forms in which it is written: `replace(s, /re/, t)`.
    pub(super) forms: Vec<String>,
    /// Its meaning, in Markdown; empty if the form is self-explanatory.
    pub(super) meaning: String,
}

impl Row {
    /// Returns the row as Markdown.
    pub(super) fn markdown(&self) -> String {
        let forms = doc::fenced("guard", &self.forms.join("\n"));
        format!("{forms}\n{}", self.meaning)
    }
}

/// The rows by word; those of functions that are written as members by `.name`.
static ROWS: LazyLock<BTreeMap<String, Row>> =
    LazyLock::new(|| rows(include_str!("../../docs/language.md")));

/// Returns the row of a predefined function. `last` is also a word: functions that are written as members have rows of their own.
pub(super) fn function(name: &str) -> Option<&'static Row> {
    ROWS.get(&format!(".{name}")).or_else(|| ROWS.get(name))
}

/// Returns the meaning of a word of the language or of a function, in Markdown.
pub(super) fn meaning(word: &str) -> Option<String> {
    let token = Token::of_word(word);
    let operator = token.operator().map(|operator| operator.meaning);
    let line = || WORDS.iter().find(|(known, _)| *known == word);
    match (
        operator.or_else(|| line().map(|(_, text)| *text)),
        ROWS.get(word).or_else(|| function(word)),
    ) {
        (Some(text), _) => Some(text.to_owned()),
        (None, row) => row.map(Row::markdown),
    }
}

/// Returns the form in which a function is called, such as `slice(x, from, to)`.
pub(super) fn call_form(name: &str) -> Option<&'static str> {
    let forms = &function(name)?.forms;
    let call = |form: &&String| form.contains(&format!("{name}("));
    forms.iter().find(call).map(String::as_str)
}

/// Parses the rows of the tables whose first cell is code.
fn rows(page: &str) -> BTreeMap<String, Row> {
    let mut all: BTreeMap<String, Row> = BTreeMap::new();
    for line in page.lines() {
        let Some(line) = line.strip_prefix("| `") else {
            continue;
        };
        // A bar in code is escaped.
        let line = format!("`{line}").replace("\\|", "\u{1}");
        let cells: Vec<String> = line
            .trim_end_matches('|')
            .split(" | ")
            .map(|cell| {
                cell.trim()
                    .trim_end_matches('|')
                    .trim()
                    .replace('\u{1}', "|")
            })
            .collect();
        let [code, .., meaning] = cells.as_slice() else {
            continue;
        };
        let forms = code.split('`').skip(1).step_by(2);
        for form in forms {
            let Some(word) = word_of(form) else { continue };
            let row = all.entry(word).or_insert_with(|| Row {
                forms: Vec::new(),
                meaning: meaning.clone(),
            });
            row.forms.push(form.to_owned());
        }
    }
    all
}

/// Returns the word that a form explains: a function that it calls, after a dot if it is written as a member, or the first word of
/// the language in it.
fn word_of(form: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if let Some(at) = form.find(['(', '[']) {
        let before = &form[..at];
        let name = before.rsplit(|c: char| !is_part(c)).next()?;
        if !name.is_empty() && name.len() + 1 < form.len() && !before.contains(' ') {
            let dot = if before.contains('.') { "." } else { "" };
            return Some(format!("{dot}{name}"));
        }
    }
    let mut words = form.split(|c: char| !is_part(c));
    let known = |word: &&str| {
        let token = Token::of_word(word);
        word.len() > 1
            && (token.is_reserved() || token.is_contextual() || LOOK_AHEAD_WORDS.contains(word))
            || *word == "last"
    };
    words.find(known).map(str::to_owned)
}

/// The words that no table explains.
const WORDS: &[(&str, &str)] = &[
    (
        "never",
        "`never f`: f holds at no step from here on; the same as `always not f`",
    ),
    (
        "precedes",
        "`f precedes g`: g does not hold before the first step where f does",
    ),
    (
        "leads",
        "`f leads to g`: whenever f holds, g holds then or later",
    ),
    (
        "within",
        "`a leads to b within 5 steps`, `within 2s`, `within 1..3 steps`: bounds when the response must come; `or end` forgives what the end of the trace cuts off",
    ),
    (
        "forall",
        "`forall x: f`: f holds for every value that `x` is compared with; `forall x in e: f` for every value of `e`",
    ),
    (
        "exists",
        "`exists x: f`: f holds for some value that `x` is compared with",
    ),
    ("bool", "the type of conditions: `true` or `false`"),
    ("int", "the type of whole numbers"),
    ("float", "the type of numbers"),
    ("string", "the type of texts"),
    ("time", "the type of points in time: seconds, or RFC 3339"),
    (
        "duration",
        "the type of lengths of time: `250ms`, `2s`, `1h`",
    ),
    (
        "json",
        "the type of any JSON value: `json`; `json(s)` is the JSON in a string",
    ),
    (
        "pred",
        "the type of a template's parameter that is a condition or formula; `pred(T)` is the name of a predicate with a parameter",
    ),
    (
        "use",
        "imports a module: `use lib.mail`, `use std.agent.{phi5}`",
    ),
    (
        "const",
        "`const name = value`: a value that does not depend on the event",
    ),
    (
        "enum",
        "`enum Name { a, b }`: one of a fixed set of names; `ordered` gives them an order",
    ),
    (
        "ordered",
        "`enum Name ordered { low < high }`: an enum with an order",
    ),
    (
        "record",
        "`record Name { member: Type }`: an object with known members",
    ),
    (
        "let",
        "`let name = expression`: a definition of a value; with parameters, of a function",
    ),
    (
        "trace",
        "`trace { … }`: where traces and their events are in the data",
    ),
    (
        "event",
        "`event { field: Type }`: the fields of a step. A field without `from` is read from the member of its name",
    ),
    (
        "predicate",
        "`predicate name = condition`: a named condition on a step",
    ),
    (
        "track",
        "`track name = initial when condition then value`: a value that is updated at each step",
    ),
    (
        "unsafe",
        "`unsafe name = condition`: the property that the condition never holds",
    ),
    (
        "property",
        "`property name = formula`: what must hold of every trace",
    ),
    (
        "rule",
        "`rule name: when a then b within 5 steps`: a bounded response",
    ),
    (
        "template",
        "`template name(parameter: type) = formula`: a formula with parameters",
    ),
    (
        "requirement",
        "`requirement R1 \"sentence\" { formal formula }`: a sentence tied to a formula",
    ),
    ("formal", "the formula that a requirement's sentence means"),
    (
        "abstraction",
        "`abstraction name { over … }`: the values that distinguish the states of a model",
    ),
    (
        "model",
        "`model name = learn abstraction { }`: a Markov chain, learned from traces, loaded or imported",
    ),
    (
        "query",
        "`query name = P=? [ F risky ] on model`: a number or truth about a model",
    ),
    (
        "system",
        "`system name { … }`: a declared design, checked by `guard verify`",
    ),
    (
        "component",
        "`component name { … }`: a part of a composed system",
    ),
    (
        "compose",
        "`compose name = a || b`: the parallel composition of components",
    ),
    (
        "enforce",
        "`enforce property { violated => block \"why\" }`: the actions that a monitor takes",
    ),
    (
        "test",
        "`test \"name\" { given [ … ] expect property verdict }`: events with the expected verdicts",
    ),
    (
        "given",
        "the events of a test, by the names of fields; in `P=? [ a given b ]`, the condition",
    ),
    (
        "expect",
        "`expect property verdict at step`, or `expect condition at step`",
    ),
    ("at", "`at 2`: the number of a step, from 0"),
    (
        "on",
        "`property p = f on m`: the model or system that a formula is about; `on error allow`: allows a step that cannot be judged",
    ),
    (
        "message",
        "the text of a report; `{name}` stands for a value",
    ),
    (
        "from",
        "the place in the data: a JSON pointer such as `\"/args/to\"`, or a JSONPath that begins with `$`",
    ),
    (
        "meta",
        "a field of the record: `meta m: T`, read as `meta.m`",
    ),
    ("file", "the path of the file that a record is in"),
    (
        "lines",
        "`events from lines`: every line of a file is an event",
    ),
    (
        "unseen",
        "an arm of `enforce on`: no trace that the model was learned from was in this state",
    ),
    ("log", "records the clause; the mildest action"),
    ("warn", "reports a warning and lets the action happen"),
    ("reflect", "gives feedback to the agent"),
    ("ask", "lets a person decide"),
    (
        "invoke",
        "`invoke name(arguments)`: calls a function of the host",
    ),
    ("block", "denies the action"),
    ("stop", "ends the run; the most severe action"),
    (
        "error",
        "`on error allow`: allows a step that cannot be judged",
    ),
    (
        "allow",
        "`on error allow`; `@allow(lint)` turns off a warning within the item",
    ),
    (
        "id",
        "`@id(\"…\")`: an external name, which `--property` and `explain` accept; in `trace`, the name of a trace",
    ),
    (
        "severity",
        "`@severity(low|medium|high|critical)`: `medium` by default",
    ),
    (
        "catastrophic",
        "`@catastrophic`: shown in `explain` and in reports",
    ),
    ("cites", "`@cites(\"…\")`: the source of a requirement"),
    (
        "owner",
        "`@owner(\"…\")`: who is responsible, shown in reports",
    ),
    (
        "outcome",
        "`@outcome`: a field that an action has only after it has happened",
    ),
    (
        "over",
        "the values that distinguish the states of an abstraction",
    ),
    (
        "steps",
        "`steps when c`: the events that are steps of the abstraction; `within 5 steps`",
    ),
    (
        "step",
        "a command of a system: `step name when guard => updates`; a step of an abstraction",
    ),
    (
        "valid",
        "excludes combinations of values from an abstraction",
    ),
    ("absorbing", "states that a trace never leaves"),
    ("terminal", "states in which a trace is complete"),
    (
        "reward",
        "`reward name = e`: a number that is collected in each state",
    ),
    (
        "learn",
        "a chain learned from traces, over the states of an abstraction",
    ),
    ("load", "a chain from a model file"),
    ("import", "a chain in the format of another tool"),
    (
        "smoothing",
        "a count that is added to every possible transition",
    ),
    (
        "by",
        "`order by f`: the fields that order events; in `learn`, the category of a trace",
    ),
    (
        "order",
        "in `learn`, how many previous states decide; `order by` sorts events",
    ),
    (
        "pac",
        "`pac epsilon e delta d`: asks for enough traces for an error of at most `e` with probability `1 - d`",
    ),
    ("state", "a variable of a system, with finitely many values"),
    ("init", "a condition on the initial state"),
    (
        "label",
        "`label name = condition`: a named condition on states",
    ),
    ("assume", "fairness: only runs that satisfy it count"),
    ("guarantee", "a property without a name"),
    (
        "end",
        "`or end`: the end of the trace forgives what is pending",
    ),
    (
        "for",
        "`violated for 5 steps`: how long a verdict has lasted; `[e for y in xs]`: the list of `e` for each element",
    ),
];
