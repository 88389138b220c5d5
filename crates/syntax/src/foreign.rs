//! Words and operators of other languages, with what this language has instead.

use crate::ast::PrimitiveType;
use Instead::{Note, Write};

/// The remedy for a word or operator of another language.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Instead {
    /// A text that replaces it.
    Write(&'static str),
    /// A sentence that says what to write; the rest of the line must change too.
    Note(&'static str),
}

/// Symbols that are written together.
const SYMBOLS: &[(&str, Instead)] = &[
    ("===", Write("==")),
    ("!==", Write("!=")),
    ("=!", Write("!=")),
    ("<>", Write("!=")),
    ("=<", Write("<=")),
    ("==>", Write("->")),
    ("-->", Write("->")),
    ("=~", Write("matches")),
    (
        "**",
        Note("there are no powers: write the product, as in `n * n`"),
    ),
    ("+=", Note(UPDATE)),
    ("-=", Note(UPDATE)),
    ("++", Note(UPDATE)),
];

const UPDATE: &str = "an update gives the new value: `track n: int = 0 when p then n + 1`";

/// Words where an operator is possible. An entry of two words also covers the word before.
const OPERATORS: &[(&str, Instead)] = &[
    ("implies", Write("->")),
    ("iff", Write("<->")),
    ("eq", Write("==")),
    ("equals", Write("==")),
    ("ne", Write("!=")),
    ("neq", Write("!=")),
    ("lt", Write("<")),
    ("le", Write("<=")),
    ("lte", Write("<=")),
    ("gt", Write(">")),
    ("gte", Write(">=")),
    ("includes", Write("contains")),
    ("startswith", Write("starts_with")),
    ("startsWith", Write("starts_with")),
    ("endswith", Write("ends_with")),
    ("endsWith", Write("ends_with")),
    ("for all", Write("forall")),
    (
        "like",
        Note(
            "for a pattern, write `text matches /^pay.*/`; for a part, `text starts_with \"pay\"`, `ends_with` or \
             `contains`",
        ),
    ),
    ("has", Note(PRESENT)),
    ("exists", Note(PRESENT)),
    (
        "xor",
        Note("if one of two conditions holds, but not both, they differ: write `a != b`"),
    ),
    (
        "followed",
        Note(
            "every `a` must be followed by `b`: write `a leads to b`; an `a` that is followed by `b`: \
             `a and next eventually b`",
        ),
    ),
    ("before", Note(ORDER)),
    ("after", Note(ORDER)),
    (
        "most",
        Note("to limit a number of steps, write `always (count(p) <= 3)`"),
    ),
    (
        "least",
        Note("to require a number of steps, write `eventually (count(p) >= 3)`"),
    ),
    (
        "exactly",
        Note("to compare a number of steps, write `count(p) == 3`"),
    ),
    (
        "per",
        Note("to judge each value, quantify over it: `forall t: always (count(tool == t) <= 3)`"),
    ),
];

const PRESENT: &str = "to require that a value is present, write `args.amount != null`";

const ORDER: &str = "`b` only after an `a`: write `a precedes b` as the whole property; in a formula, `a` at an earlier \
                     step is `previously once a`, and `b` at a later step is `next eventually b`";

/// Words where a value is possible.
const VALUES: &[(&str, Instead)] = &[(
    "and then",
    Note(
        "for `b` at the next step, write `a and next b`; for `b` at any later step, `a and next eventually b`",
    ),
)];

/// Words before a name.
const PREFIXES: &[(&str, Instead)] = &[
    ("foreach", Write("forall")),
    ("for_all", Write("forall")),
    ("some", Write("exists")),
    ("there_exists", Write("exists")),
    ("after", Note(ORDER)),
    (
        "count",
        Note("a condition stands in parentheses: `always (count(tool == \"pay\") <= 3)`"),
    ),
];

/// Temporal operators under other names.
const TEMPORAL: &[(&str, &str)] = &[
    ("globally", "always"),
    ("henceforth", "always"),
    ("finally", "eventually"),
    ("future", "eventually"),
    ("sometime", "eventually"),
    ("prev", "previously"),
    ("previous", "previously"),
    ("yesterday", "previously"),
    ("past", "once"),
];

/// Keywords under other names, used where the keyword is possible.
const KEYWORDS: &[(&str, &str)] = &[
    ("deny", "block"),
    ("refuse", "block"),
    ("abort", "stop"),
    ("halt", "stop"),
    ("kill", "stop"),
    ("var", "state"),
    ("variable", "state"),
    ("assert", "expect"),
    ("fails", "violated"),
    ("fail", "violated"),
    ("holds", "satisfied"),
    ("passes", "satisfied"),
    ("if", "when"),
    ("->", "=>"),
];

/// Words that begin an item in another language.
const ITEMS: &[(&str, Instead)] = &[
    ("import", Write("use")),
    ("include", Write("use")),
    ("from", Write("use")),
    ("pred", Write("predicate")),
    ("formula", Write("property")),
    ("ltl", Write("property")),
    ("ltlspec", Write("property")),
    ("LTLSPEC", Write("property")),
    ("invariant", Write("property")),
    ("assert", Write("property")),
    ("policy", Write("property")),
    ("struct", Write("record")),
    ("type", Write("record")),
    ("ctmc", Write("system")),
    ("dtmc", Write("system")),
    ("module", Write("system")),
    ("def", Write("let")),
    ("fn", Write("let")),
    ("func", Write("let")),
    ("function", Write("let")),
    ("var", Write("let")),
    ("deny", Note(FORBID)),
    ("forbid", Note(FORBID)),
    ("forbidden", Note(FORBID)),
    ("violation", Note(FORBID)),
    ("block", Note(FORBID)),
    ("allow", Note(PERMIT)),
    ("permit", Note(PERMIT)),
    (
        "default",
        Note(
            "there is no default: what no property or `enforce` forbids is allowed; remove the line",
        ),
    ),
    (
        "package",
        Note("a file has no package: its name is that of its module; remove the line"),
    ),
];

const FORBID: &str = "to forbid steps, write `property p = never (condition)`; to block a call before it happens, write \
                      `enforce when condition => block \"reason\"`";

const PERMIT: &str = "every step is allowed that no property forbids; to require a condition of an action, write \
                      `property p = always (action -> condition)`";

/// Types under other names.
const TYPES: &[(&str, &str)] = &[
    ("str", "string"),
    ("text", "string"),
    ("char", "string"),
    ("varchar", "string"),
    ("integer", "int"),
    ("long", "int"),
    ("int32", "int"),
    ("int64", "int"),
    ("uint", "int"),
    ("number", "float"),
    ("double", "float"),
    ("decimal", "float"),
    ("real", "float"),
    ("float64", "float"),
    ("boolean", "bool"),
    ("object", "json"),
    ("dict", "json"),
    ("any", "json"),
    ("datetime", "time"),
    ("timestamp", "time"),
    ("date", "time"),
    ("timedelta", "duration"),
    ("interval", "duration"),
];

/// Types with a parameter under other names.
const GENERICS: &[(&str, &str)] = &[
    ("List", "list"),
    ("Array", "list"),
    ("array", "list"),
    ("Sequence", "list"),
    ("Vec", "list"),
    ("list", "list"),
    ("Set", "set"),
    ("set", "set"),
    ("Dict", "map"),
    ("dict", "map"),
    ("Map", "map"),
    ("map", "map"),
    ("Record", "map"),
    ("Optional", "?"),
    ("Option", "?"),
    ("Maybe", "?"),
];

/// The words of [`ITEMS`] that mean something within the items of this language.
const CLAUSES: &[&str] = &["import", "from", "allow"];

/// Operators of this language between two values, and before one, which other languages write in capitals.
const BETWEEN: &[&str] = &[
    "and",
    "or",
    "in",
    "contains",
    "matches",
    "starts_with",
    "ends_with",
    "since",
    "until",
];
const BEFORE: &[&str] = &[
    "not",
    "always",
    "never",
    "eventually",
    "once",
    "previously",
    "historically",
    "next",
    "forall",
    "exists",
];

/// Returns the operator that a word in capitals stands for.
fn in_capitals(own: &[&'static str], word: &str) -> Option<Instead> {
    let found = own.iter().find(|own| own.eq_ignore_ascii_case(word));
    found.map(|own| Write(own))
}

/// Returns what to write instead of symbols that are written together.
pub(crate) fn symbols(text: &str) -> Option<Instead> {
    find(SYMBOLS, text)
}

/// Returns what to write instead of a word where an operator is possible, and whether the word before it is part of it.
pub(crate) fn operator(before: &str, word: &str) -> Option<(Instead, bool)> {
    with_word_before(OPERATORS, before, word).or_else(|| Some((in_capitals(BETWEEN, word)?, false)))
}

/// Returns what to write instead of a word where a value is possible, and whether the word before it is part of it.
pub(crate) fn value(before: &str, word: &str) -> Option<(Instead, bool)> {
    with_word_before(VALUES, before, word)
}

/// Returns what to write instead of a word before a name.
pub(crate) fn prefix(word: &str) -> Option<Instead> {
    find(PREFIXES, word)
        .or_else(|| temporal(word).map(Write))
        .or_else(|| in_capitals(BEFORE, word))
}

/// Returns the temporal operator that has this name in another language.
#[must_use]
pub fn temporal(word: &str) -> Option<&'static str> {
    let entry = TEMPORAL.iter().find(|(foreign, _)| *foreign == word);
    entry.map(|(_, own)| *own)
}

/// Returns the keyword that has another name in other languages, if it is one of the possible ones.
pub(crate) fn keyword(word: &str, is_possible: impl Fn(&str) -> bool) -> Option<&'static str> {
    let mut known = KEYWORDS.iter().filter(|(foreign, _)| *foreign == word);
    known.find(|(_, own)| is_possible(own)).map(|(_, own)| *own)
}

/// Returns what to write instead of the first word of an item.
pub(crate) fn item(word: &str) -> Option<Instead> {
    find(ITEMS, word)
}

/// Whether a word begins an item in another language.
pub(crate) fn is_item(word: &str) -> bool {
    item(word).is_some()
}

/// Returns the name of a primitive type that `word` names in this or another language.
#[must_use]
pub fn type_name(word: &str) -> Option<&'static str> {
    let own = PrimitiveType::ALL.map(PrimitiveType::as_str);
    let known = own.into_iter().find(|own| *own == word);
    let lower = word.to_lowercase();
    let foreign = || TYPES.iter().find(|(foreign, _)| *foreign == lower);
    known.or_else(|| foreign().map(|(_, own)| *own))
}

/// Returns the name of a type with a parameter that `word` names in another language: `list`, `set`, `map`, or `?`.
pub(crate) fn generic(word: &str) -> Option<&'static str> {
    let entry = GENERICS.iter().find(|(foreign, _)| *foreign == word);
    entry.map(|(_, own)| *own)
}

/// Whether a word means something within the items of this language, and begins an item in another one.
pub(crate) fn is_also_clause(word: &str) -> bool {
    CLAUSES.contains(&word)
}

fn find(table: &[(&str, Instead)], text: &str) -> Option<Instead> {
    let entry = table.iter().find(|(foreign, _)| *foreign == text);
    entry.map(|(_, instead)| *instead)
}

fn with_word_before(
    table: &[(&str, Instead)],
    before: &str,
    word: &str,
) -> Option<(Instead, bool)> {
    match find(table, &format!("{before} {word}")) {
        Some(instead) => Some((instead, true)),
        None => find(table, word).map(|instead| (instead, false)),
    }
}
