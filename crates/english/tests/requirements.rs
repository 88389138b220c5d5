//! Free text, measured: the development sentences, and sentences as they stand in policies, standards and law.
//!
//! Formulas are compared up to the names of atoms. Nothing is accepted without a person, so what is measured is what is proposed: how
//! much, how often the first proposal is one of the readings that were accepted beforehand, and what must never happen.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

#[path = "support/nl_formula.rs"]
mod nl_formula;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use guard_english::controlled::Vocabulary;
use guard_english::draft::{Draft, Status, draft, drafts};
use guard_english::language_model::{Effort, LanguageModel, Question};
use serde_json::Value;

/// A sentence with the readings that are right.
struct Case {
    source: String,
    text: String,
    /// Whether it is a requirement that can be checked as it stands.
    asks: bool,
    /// Whether it was set aside while the patterns were written.
    aside: bool,
    gold: Vec<String>,
    seconds: bool,
    /// The names of its kind that count as right.
    kinds: Vec<String>,
    template: bool,
}

fn lines(file: &str) -> Vec<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/nl")
        .join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        let ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
        assert!(!ci, "{} is missing", path.display());
        return Vec::new();
    };
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn cases() -> Vec<Case> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut out: Vec<Case> = lines("dev.jsonl")
        .iter()
        .map(|line| Case {
            source: "development".to_owned(),
            text: text(&line["text"]),
            asks: line["modality"] != "unclear",
            aside: false,
            gold: line["formula"]
                .as_str()
                .into_iter()
                .map(str::to_owned)
                .collect(),
            seconds: line["bound"]["seconds"].is_number(),
            kinds: std::iter::once(&line["modality"])
                .chain(line["modality_alt"].as_array().into_iter().flatten())
                .map(text)
                .collect(),
            template: line["template"].is_string(),
        })
        .collect();
    let found = lines("found.jsonl");
    let mut sources: Vec<String> = found.iter().map(|line| text(&line["source"])).collect();
    sources.sort();
    sources.dedup();
    out.extend(found.iter().map(|line| {
        let source = text(&line["source"]);
        // Every other source was not looked at.
        let aside = sources
            .iter()
            .position(|known| *known == source)
            .is_some_and(|at| at % 2 == 0);
        let gold = line["gold"].as_array().into_iter().flatten().map(text);
        Case {
            source,
            text: text(&line["text"]),
            asks: line["req"] == "yes",
            aside,
            gold: gold.filter(|gold| !gold.is_empty()).collect(),
            seconds: false,
            kinds: vec![text(&line["modality"])],
            template: false,
        }
    }));
    out
}

#[derive(Default)]
struct Tally {
    sentences: usize,
    requirements: usize,
    proposed: usize,
    right: usize,
    coarser: usize,
    among: usize,
    others: usize,
    others_proposed: usize,
}

/// Bounds in days and hours of the readings, which formulas have in seconds.
fn in_seconds(gold: &str) -> String {
    let mut out = gold.to_owned();
    for (unit, size) in [("d]", 86_400), ("h]", 3_600), ("min]", 60)] {
        if let Some((before, after)) = out.clone().split_once(unit)
            && let Some((start, number)) = before.rsplit_once(',')
            && let Ok(number) = number.trim().parse::<u64>()
        {
            out = format!("{start},{}s]{after}", number * size);
        }
    }
    out
}

fn is_right(formula: &str, case: &Case) -> bool {
    case.gold.iter().any(|gold| {
        nl_formula::equivalent(formula, &in_seconds(gold), case.seconds).unwrap_or(false)
    })
}

/// Whether a formula says with one situation what a reading says with several of one step: *run code outside the sandbox* is one
/// situation, or two.
fn is_coarser(formula: &str, case: &Case) -> bool {
    let one_step = |gold: &String| {
        let inner = gold
            .strip_prefix("!F (")
            .or_else(|| gold.strip_prefix("G ("));
        inner.is_some_and(|inner| !inner.contains(|c: char| c.is_ascii_uppercase()))
    };
    let never_one = formula
        .strip_prefix("!F ")
        .is_some_and(|atom| !atom.contains(' '));
    never_one && case.gold.iter().any(one_step)
}

fn names(formula: &str) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    for word in formula.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let named = word.starts_with(|c: char| c.is_ascii_lowercase());
        if named && !["true", "count"].contains(&word) && !out.contains(&word) {
            out.push(word);
        }
    }
    out
}

fn renamed(formula: &str, from: &str, to: &str) -> String {
    let of_name = |c: char| c.is_alphanumeric() || c == '_';
    let (mut out, mut rest) = (String::new(), formula);
    while let Some(at) = rest.find(from) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        let whole = !before.ends_with(of_name) && !after.starts_with(of_name);
        out.push_str(before);
        out.push_str(if whole { to } else { from });
        rest = after;
    }
    out + rest
}

/// Returns the ways to say one or two situations of a reading as several, `more` in all: both, either, each in a sentence of its
/// own, and parts of them denied.
fn split(gold: &str, more: usize) -> Vec<String> {
    let mut out = Vec::new();
    for name in names(gold)
        .into_iter()
        .filter(|name| !name.starts_with("part_"))
    {
        for here in 1..=more {
            let parts: Vec<String> = (0..=here)
                .map(|part| format!("part_{name}_{part}"))
                .collect();
            let mut ways = vec![
                parts
                    .iter()
                    .map(|part| renamed(&format!("({gold})"), name, part))
                    .collect::<Vec<_>>()
                    .join(" & "),
            ];
            for signs in 0..1_u32 << parts.len() {
                let signed = parts.iter().enumerate();
                let signed = signed.map(|(at, part)| {
                    format!("{}{part}", if signs >> at & 1 == 1 { "!" } else { "" })
                });
                let signed: Vec<String> = signed.collect();
                for sign in [" & ", " | "] {
                    ways.push(renamed(gold, name, &format!("({})", signed.join(sign))));
                }
            }
            for way in ways {
                if here == more {
                    out.push(way);
                } else {
                    out.extend(split(&way, more - here));
                }
            }
        }
    }
    out
}

/// Whether a formula says with several situations what a reading says with one: *cite or quote secrets* is one situation, or two;
/// each of three checks before a commit, or the checks.
fn is_finer(formula: &str, case: &Case) -> bool {
    let mine = names(formula).len();
    case.gold.iter().any(|gold| {
        let gold = in_seconds(gold);
        let theirs = names(&gold).len();
        mine <= 4
            && (theirs + 1..theirs + 3).contains(&mine)
            && split(&gold, mine - theirs)
                .iter()
                .any(|way| nl_formula::equivalent(formula, way, case.seconds).unwrap_or(false))
    })
}

/// Whether a formula is a reading with one situation turned into its opposite.
fn is_reversed(formula: &str, case: &Case) -> bool {
    case.gold.iter().any(|gold| {
        let mut atoms: Vec<&str> = gold
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| word.len() > 1 && word.starts_with(|c: char| c.is_ascii_lowercase()))
            .collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms.iter().any(|atom| {
            let words = gold.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_');
            let turned: String = words
                .map(|word| match word.strip_prefix(atom) {
                    Some(rest) if !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
                        format!("(!{atom}){rest}")
                    }
                    _ => word.to_owned(),
                })
                .collect();
            nl_formula::equivalent(formula, &in_seconds(&turned), case.seconds).unwrap_or(false)
        })
    })
}

/// The numbers of a sentence that a proposal does not say.
fn lost_numbers(text: &str, words: &str) -> Vec<String> {
    const SMALL: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    let numbers = |text: &str| -> Vec<String> {
        text.to_lowercase()
            .split(|c: char| !c.is_alphanumeric() && c != '.')
            .map(|word| word.trim_matches('.'))
            .filter_map(|word| match SMALL.iter().position(|small| *small == word) {
                Some(value) => Some(value.to_string()),
                None => word
                    .starts_with(|c: char| c.is_ascii_digit())
                    .then(|| word.to_owned()),
            })
            .collect()
    };
    let said = numbers(words);
    let mut lost = numbers(text);
    lost.retain(|number| !said.contains(number));
    lost
}

fn first(draft: &Draft) -> Option<(&str, &str)> {
    let reading = draft.reading.iter().chain(&draft.proposals).next()?;
    Some((&reading.formula, &reading.words))
}

#[test]
fn proposals_are_what_is_meant() {
    let cases = cases();
    if cases.is_empty() {
        return;
    }
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut misses = String::new();
    let (mut accepted, mut reversed, mut lost) = (Vec::new(), Vec::new(), Vec::new());
    for case in &cases {
        let draft = draft(&case.text);
        let kind = match (case.source.as_str(), case.aside) {
            ("development", _) => "development",
            (_, false) => "found, looked at",
            (_, true) => "found, set aside",
        };
        let first = first(&draft);
        let right = first.is_some_and(|(formula, _)| is_right(formula, case));
        let among = draft
            .proposals
            .iter()
            .any(|proposal| is_right(&proposal.formula, case));
        for name in [kind.to_owned(), format!("  {}", case.source)] {
            let tally = tallies.entry(name).or_default();
            tally.sentences += 1;
            if case.asks {
                tally.requirements += 1;
                tally.proposed += usize::from(first.is_some());
                tally.right += usize::from(right);
                tally.coarser += usize::from(
                    !right && first.is_some_and(|(formula, _)| is_coarser(formula, case)),
                );
                tally.among += usize::from(among);
            } else {
                tally.others += 1;
                tally.others_proposed += usize::from(first.is_some() && !right);
            }
        }
        // Nothing in free text is a formula before somebody chose it.
        if draft.status == Status::Formal {
            accepted.push(case.text.clone());
        }
        let Some((formula, words)) = first else {
            continue;
        };
        if is_reversed(formula, case) && !right {
            reversed.push(format!("{}\n  {words}\n  {formula}", case.text));
        }
        for number in lost_numbers(&case.text, words) {
            lost.push(format!("{number} of {}\n  {words}", case.text));
        }
        // What was set aside is counted and not shown, so that it stays unseen.
        let shown = !right || std::env::var_os("SHOW_RIGHT").is_some();
        if shown && (!case.aside || std::env::var_os("SHOW_ASIDE").is_some()) {
            let asks = match (case.asks, right) {
                (_, true) => "right: ",
                (true, false) => "",
                (false, false) => "no requirement: ",
            };
            let _ = writeln!(
                misses,
                "{asks}{}\n  {words}\n  {formula}\n  {:?}",
                case.text, case.gold
            );
        }
    }
    for (name, tally) in &tallies {
        println!(
            "{name}\n    {} sentences: of {} requirements {} proposed, first right {}, right with coarser situations {}, among {}; of {} others {} proposed",
            tally.sentences,
            tally.requirements,
            tally.proposed,
            tally.right,
            tally.coarser,
            tally.among,
            tally.others,
            tally.others_proposed
        );
    }
    println!("{misses}");
    assert!(
        accepted.is_empty(),
        "accepted without anybody: {accepted:#?}"
    );
    assert!(reversed.is_empty(), "reversed: {}", reversed.join("\n"));
    assert!(lost.is_empty(), "numbers lost: {}", lost.join("\n"));
    for (name, least) in [
        ("development", 85),
        ("found, looked at", 85),
        ("found, set aside", 85),
    ] {
        let tally = &tallies[name];
        let right = tally.right;
        assert!(
            right * 100 >= tally.proposed * least,
            "{name}: of {} first proposals {right} are right",
            tally.proposed
        );
    }
}

/// A number before events counts them, and a second clause without its verb is not part of a situation.
#[test]
fn counted_events_are_not_situations() {
    let words = |text: &str| draft(text).proposals.first().map(|it| it.words.clone());
    assert_eq!(
        words("After three wrong codes, the card must be blocked.").as_deref(),
        Some("Whenever \"wrong codes\" has happened 3 times, \"the card is blocked\" must happen.")
    );
    assert_eq!(
        words("The card must be blocked after three wrong codes.").as_deref(),
        Some("Whenever \"wrong codes\" has happened 3 times, \"the card is blocked\" must happen.")
    );
    assert_eq!(
        words("After a wrong code, the card must be blocked and the owner warned."),
        None
    );
    assert_eq!(words("After 3 minutes, the card must be blocked."), None);
}

/// The answers of a language model to questions, as the log of `guard draft` records them.
struct Recorded(BTreeMap<String, Result<String, String>>);

impl Recorded {
    fn read(log: &Path) -> Recorded {
        let text = std::fs::read_to_string(log).unwrap();
        let entry = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            let answer = match line["answer"].as_str() {
                Some(answer) => Ok(answer.to_owned()),
                None => Err(line["error"].to_string()),
            };
            (line["question"].as_str().unwrap().to_owned(), answer)
        };
        Recorded(text.lines().map(entry).collect())
    }

    /// Whether the model was asked about a requirement.
    fn knows(&self, text: &str) -> bool {
        self.0.contains_key(&question(text))
    }
}

fn question(text: &str) -> String {
    format!("{}\n", serde_json::json!({ "requirement": text }))
}

impl LanguageModel for Recorded {
    fn answer(&self, question: &Question<'_>) -> Result<String, String> {
        let unknown = || Err("the answer was not recorded".to_owned());
        self.0.get(question.text).cloned().unwrap_or_else(unknown)
    }
}

/// What a model makes of sentences; of `others`, those that are no requirement or unclear.
#[derive(Debug, Default)]
struct Measures {
    requirements: usize,
    proposed: usize,
    equivalent: usize,
    /// Equivalent if some situation of the reading is said as several, or several as one.
    finer: usize,
    coarser: usize,
    /// Some proposal is equivalent.
    among: usize,
    kind: usize,
    templates: usize,
    templates_equivalent: usize,
    others: usize,
    declined: usize,
}

fn measured(log: &Path) -> BTreeMap<String, Measures> {
    let model = Recorded::read(log);
    let effort = Effort {
        samples: 1,
        ..Effort::default()
    };
    let mut out: BTreeMap<String, Measures> = BTreeMap::new();
    for case in cases() {
        let object = serde_json::json!({ "text": case.text }).to_string();
        let made = drafts(&object, &Vocabulary::default(), Some((&model, effort)));
        let [draft] = &made[..] else {
            panic!("{} drafts of {}", made.len(), case.text)
        };
        if !model.knows(&draft.text) {
            continue;
        }
        let measures = out.entry(case.source.clone()).or_default();
        let first = draft.reading.iter().chain(&draft.proposals).next();
        let is =
            |of: fn(&str, &Case) -> bool| first.is_some_and(|reading| of(&reading.formula, &case));
        let right = is(is_right);
        let (finer, coarser) = (!right && is(is_finer), !right && is(is_coarser));
        if !case.asks {
            measures.others += 1;
            measures.declined += usize::from(first.is_none());
        } else {
            let kind = first.map(|reading| serde_json::json!(reading.kind()));
            let named = |kind: Value| case.kinds.iter().any(|known| kind == **known);
            let among = |reading: &guard_english::draft::Reading| is_right(&reading.formula, &case);
            measures.requirements += 1;
            measures.proposed += usize::from(first.is_some());
            measures.equivalent += usize::from(right);
            measures.finer += usize::from(finer);
            measures.coarser += usize::from(coarser);
            measures.among += usize::from(draft.proposals.iter().any(among));
            measures.kind += usize::from(right || kind.is_some_and(named));
            measures.templates += usize::from(case.template);
            measures.templates_equivalent += usize::from(case.template && right);
        }
        // What was set aside is counted and not shown, so that it stays unseen.
        let shown = !case.aside || std::env::var_os("SHOW_ASIDE").is_some();
        if shown && (case.asks != first.is_some() || case.asks && !right) {
            let mark = ["", "(finer) ", "(coarser) "]
                [usize::from(finer) + 2 * usize::from(coarser && !finer)];
            println!(
                "{mark}{}: {}\n  {:?} {:?}\n  {:?}\n  {:?}",
                case.source,
                case.text,
                draft.status,
                draft.reason,
                first.map(|reading| (&reading.words, &reading.formula)),
                case.gold
            );
        }
    }
    let all = cases();
    for (source, measures) in &out {
        let aside = all.iter().any(|case| case.source == *source && case.aside);
        let aside = if aside { " (set aside)" } else { "" };
        println!("{source}{aside}: {measures:?}");
    }
    out
}

/// The answers that a model gave to the development sentences, recorded: what is made of them today.
#[test]
fn recorded_answers_keep_their_measures() {
    if lines("dev.jsonl").is_empty() {
        return;
    }
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/replays/development.jsonl");
    let measures = &measured(&log)["development"];
    assert_eq!(measures.requirements + measures.others, 150);
    let at_least = |part: usize, whole: usize, percent: usize| part * 100 >= whole * percent;
    assert!(at_least(measures.proposed, measures.requirements, 98));
    assert!(at_least(measures.equivalent, measures.requirements, 95));
    let cut_otherwise = measures.equivalent + measures.finer + measures.coarser;
    assert!(at_least(cut_otherwise, measures.requirements, 96));
    assert!(at_least(measures.kind, measures.requirements, 99));
    assert!(at_least(measures.declined, measures.others, 100));
}

/// `GUARD_REPLAY=LOG cargo test -p guard-english --test requirements -- --ignored --nocapture` measures another log.
#[test]
#[ignore = "measures a log of `guard draft`"]
fn a_log_is_measured() {
    measured(Path::new(&std::env::var_os("GUARD_REPLAY").unwrap()));
}
