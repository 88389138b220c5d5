//! The grammar: every row reads a sentence.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use guard_english::controlled::{Vocabulary, read};

/// The rows of the grammar, with the rule that each belongs to.
fn grammar_rows() -> Vec<(&'static str, &'static str, &'static str)> {
    let mut group = "";
    let mut rows = Vec::new();
    for line in include_str!("../src/controlled/grammar.txt").lines() {
        if let Some(heading) = line.strip_prefix("# ") {
            group = heading;
        } else if let Some((pattern, meaning)) = line.split_once(" => ")
            && !line.starts_with("# ")
        {
            rows.push((group, pattern, meaning));
        }
    }
    rows
}

/// A row as words: the first of several words, and an example in each slot.
fn words_of_row(pattern: &str) -> String {
    let shared = |name: &str| {
        let lines = include_str!("../src/controlled/grammar.txt").lines();
        let mut found = lines.filter_map(|line| line.strip_prefix(&format!("@{name} = ")));
        found.next().unwrap().split('|').next().unwrap()
    };
    let mut out = String::new();
    let mut rest = pattern;
    if let Some((_, after)) = rest
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "))
    {
        rest = after;
    }
    while !rest.is_empty() {
        let (text, after) = if let Some((slot, after)) =
            rest.strip_prefix('{').and_then(|rest| rest.split_once('}'))
        {
            let (letter, rule) = slot.split_once(':').unwrap_or(("", slot));
            let text = match rule {
                "duties" | "d" => "`d` must hold".to_owned(),
                "answer" => "`d` must happen within 5 steps".to_owned(),
                "condition" => "whenever `p` holds".to_owned(),
                "chain" => "whenever `p` is followed by `q`, `r` must happen".to_owned(),
                "end" | "force" | "timing" | "doing" => String::new(),
                "holds" => "holds".to_owned(),
                "does not hold" => "does not hold".to_owned(),
                "has not" => "has not happened".to_owned(),
                "no" => "no".to_owned(),
                "first" => format!("`{letter}` has held"),
                "times" => "twice".to_owned(),
                "number" => "3".to_owned(),
                "decimal" | "steps" => "5".to_owned(),
                "bound" | "deadline" | "length" => "5 steps".to_owned(),
                "span" => "exactly 5 steps".to_owned(),
                "ahead" | "here" | "later" => "within 5 steps".to_owned(),
                "back" => "within the last 5 steps".to_owned(),
                "base" => "hold".to_owned(),
                "held" => "held".to_owned(),
                "several" => "`p` and `q`".to_owned(),
                "place" => "at the next step".to_owned(),
                "time" => "eventually".to_owned(),
                "past" => "at an earlier step".to_owned(),
                "only" | "o" => "after `q`".to_owned(),
                "allowed" => "at most twice".to_owned(),
                "related" => "followed by `q`".to_owned(),
                _ => format!("`{letter}`"),
            };
            (text, after)
        } else if let Some((choices, after)) = rest
            .strip_prefix('(')
            .filter(|rest| !rest.starts_with(' '))
            .and_then(|rest| rest.split_once(')'))
        {
            (choices.split('|').next().unwrap().to_owned(), after)
        } else {
            let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
            let text = word.strip_prefix('@').map_or(word, shared);
            (text.to_owned(), after)
        };
        out = format!("{out} {text}");
        rest = after.trim_start();
    }
    out.trim().to_owned()
}

/// A row whose formula cannot be read would be a sentence that is never accepted.
#[test]
fn every_row_of_the_grammar_reads_a_sentence() {
    let vocabulary = Vocabulary::default();
    let subjects = ["`p`", "`p` and `s`"];
    let triggers = ["", "Whenever `x` happens, ", "After `x`, "];
    let mut unread = Vec::new();
    let rows = grammar_rows();
    assert!(rows.len() > 150, "{}", rows.len());
    for (group, pattern, _) in rows
        .into_iter()
        .filter(|(.., meaning)| !meaning.starts_with('?'))
    {
        let words = words_of_row(pattern);
        let frames: &[&str] = match group {
            "scope" => &["* `d` must hold.", "* `d` must never hold."],
            "condition" => &["*, `d` must hold at that step."],
            "subject" => &["* must never hold."],
            "past" | "back" => &["`p` must have held *.", "`p` must not have held *."],
            "time" | "place" | "unsaid" => &[
                "`p` must hold *.",
                "`p` must happen *.",
                "`p` must not hold *.",
                "It must never be so that `p` *.",
                "It must never be so that *: `p`.",
            ],
            "later" | "here" => &["`p` must happen *."],
            "allowed" => &["`p` may hold *."],
            "related" => &["`p` must be *."],
            "only" => &["`p` may hold only *."],
            "phrase" | "part" | "situation" => &["It must always be so that *."],
            "bound" | "length" | "deadline" => &["`p` must hold for *."],
            "span" => &["`p` must happen * later."],
            "steps" => &["`p` must hold for * steps."],
            "verb" => &[
                "Whenever `q` *, `p` must hold at that step.",
                "`p` must not hold unless `q` *.",
            ],
            "base" => &["`p` must *."],
            "held" => &["`p` must have * at an earlier step."],
            "doing" => &["The agent must * `p`."],
            "force" => &["`p` must * hold."],
            "no" => &["* `p` may hold."],
            _ => &["*."],
        };
        let mut sentences = Vec::new();
        for frame in frames {
            for subject in subjects {
                for trigger in triggers {
                    let frame = frame.replace("`p`", subject).replace('*', &words);
                    let sentence = format!("{trigger}{frame}").replace(" ,", ",");
                    sentences.push(sentence.replace(" .", "."));
                }
            }
        }
        if !sentences
            .iter()
            .any(|sentence| read(sentence, &vocabulary).is_ok())
        {
            unread.push(format!("{group}: {words}"));
        }
    }
    assert_eq!(unread, [""; 0]);
}
