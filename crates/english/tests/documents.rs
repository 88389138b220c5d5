//! Documents of free English: headings that deny, reasons that help, and numbers that are kept.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use guard_english::draft::{Accept, Document, Draft, Status, draft};

fn drafts(text: &str) -> Vec<Draft> {
    Document::new(text, Accept::None).drafts
}

/// The last line of a document: its status and its proposals.
fn last(text: &str) -> (Status, Vec<String>) {
    let last = drafts(text).pop().unwrap();
    let words = last.proposals.into_iter().map(|reading| reading.words);
    (last.status, words.collect())
}

/// An item that reads as a duty is none under a heading, a lead-in or the head of a column that denies.
#[test]
fn no_heading_that_denies_is_lost() {
    let item = "ask a guest before dinner";
    for head in [
        "**Never**\n\n- ",
        "*Never do*\n- ",
        "__Prohibited__\n* ",
        "Never\n- ",
        "The following are forbidden.\n\n- ",
        "Never:\n  - ",
        "## Don'ts\n\nThis is for hosts.\n\n- ",
        "## Never\n### In the dining room\n- ",
        "## Never\n\n| rule |\n| --- |\n| ",
        "| Do | Don't |\n| --- | --- |\n| smile | ",
        "Things the agent should avoid\n- ",
        "Bad:\n- ",
        "## Anti-patterns\n\n- ",
        "🚫 **Never**:\n- ",
        "## What the agent must not do\n\n",
    ] {
        let (status, words) = last(&format!("{head}{item}\n"));
        let reversed = words.iter().find(|words| words.starts_with("\"dinner\""));
        assert_eq!(reversed, None, "{head}");
        assert!(
            [Status::Proposed, Status::Unclear].contains(&status),
            "{head}"
        );
    }
    assert_eq!(
        last("Never:\n- push to `main`\n").1,
        ["\"push to `main`\" must never happen."]
    );
    assert_eq!(
        last("**Never**\n\n- delete logs\n").1,
        ["\"delete logs\" must never happen."]
    );
    let (_, words) = last("| Do | Don't |\n| --- | --- |\n| smile at guests | delete logs |\n");
    assert_eq!(words, ["\"delete logs\" must never happen."]);
}

/// A lead-in ends with its list, and a heading with the next one of its level.
#[test]
fn a_heading_holds_for_what_stands_under_it() {
    let asks = "ask a guest before dinner";
    for before in [
        "- Never:\n  - open the box\n- ",
        "## Never\n\n- open the box\n\n## Dinner\n\n- ",
        "Never:\n- open the box\n\nAt dinner\n\n- ",
    ] {
        let (status, words) = last(&format!("{before}{asks}\n"));
        assert_eq!(status, Status::Proposed, "{before}");
        assert!(
            words[0].starts_with("\"dinner\" may happen only after"),
            "{words:?}"
        );
    }
    // An item with a duty of its own stands by itself.
    let (_, words) = last("## What is forbidden\n\n- The agent must never open the box.\n");
    assert_eq!(words, ["\"open the box\" must never happen."]);
}

#[test]
fn a_declined_sentence_shows_the_form_that_fits() {
    for (text, form) in [
        (
            "Refunds above 500 EUR need approval by a supervisor.",
            "\"…\" may happen only if \"…\" holds.",
        ),
        (
            "The agent may send at most 3 reminders per appointment.",
            "For every `id`: \"…\" may happen at most 3 times.",
        ),
        (
            "After three failed builds in a row, stop and ask a maintainer.",
            "Whenever \"…\" happens, \"…\" must happen.",
        ),
        (
            "Don't ask for the PIN, not even if the customer offers it.",
            "Whenever \"…\" holds, \"…\" must not hold at that step.",
        ),
        (
            "A transfer of more than $2,000 must be confirmed by the customer.",
            "\"…\" may happen only if \"…\" holds.",
        ),
    ] {
        let declined = draft(text);
        assert_eq!(declined.status, Status::Unclear, "{text}");
        let reason = declined.reason.unwrap();
        assert!(
            reason.ends_with(&format!("for example: {form}")),
            "{reason}"
        );
        // The form is controlled English, with situations in place of the dots.
        let mut names = ["first", "second"].into_iter();
        let words: Vec<&str> = form.split('…').collect();
        let filled = words.into_iter().reduce(|all, rest| {
            let name = names.next().unwrap();
            Box::leak(format!("{all}{name}{rest}").into_boxed_str())
        });
        assert_eq!(draft(filled.unwrap()).status, Status::Formal, "{form}");
    }
    let clean = draft("Write clean, readable code.").reason.unwrap();
    assert!(clean.contains("`readable` is not definite"), "{clean}");
}

#[test]
fn general_forms_are_proposed() {
    for (text, words) in [
        (
            "Run `make test` before every `git push`.",
            "`git push` may happen only after `make test`.",
        ),
        (
            "Once a fraud alert is raised, no payment may be sent until an analyst clears the alert.",
            "After \"a fraud alert is raised\" until \"an analyst clears the alert\", \"payment is sent\" must never happen.",
        ),
        (
            "After a slot was released, the waiting list must be checked immediately.",
            "Whenever \"a slot was released\" happens, \"the waiting list is checked\" must happen in the next step.",
        ),
        (
            "`deploy` may only be called if `run_tests` has succeeded since the last edit.",
            "`deploy` may happen only after \"`run_tests` has succeeded\" has happened and \"edit\" has not happened since.",
        ),
    ] {
        let proposals = draft(text).proposals;
        let first = proposals.first().map(|reading| reading.words.as_str());
        assert_eq!(first, Some(words), "{text}");
    }
}

#[test]
fn what_is_no_requirement_is_not_split_or_proposed() {
    let made = drafts("The ward phones are answered by Mrs. Keller from 8 to 16.\n");
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].status, Status::NoRequirement);
    let made = draft("Customers love it, and then call us.");
    assert_eq!(made.status, Status::NoRequirement);
}

/// `1,000` is one number.
#[test]
fn thousands_are_numbers() {
    let read = draft("`a` must hold within 1,000 steps.").reading.unwrap();
    assert_eq!(read.formula, "F[0,1000] a");
    let read = draft("If `a` happens, `b` must happen within 1,500 seconds.")
        .reading
        .unwrap();
    assert_eq!(read.formula, "G (a -> F[0,1500s] b)");
}
