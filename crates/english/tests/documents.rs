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

/// How often something may happen within a time is read as a window, and how often in a session as a limit of the run; amounts, and
/// what is in a row or for each of something, are neither.
#[test]
fn limits_within_a_time_are_windows() {
    for (text, words) in [
        (
            "No more than 2 emails in any 20 seconds.",
            "At most 2 \"emails\" may happen in any 20 seconds.",
        ),
        (
            "At most 2 emails in any 20 seconds",
            "At most 2 \"emails\" may happen in any 20 seconds.",
        ),
        (
            "Never more than two payments in one session",
            "At most 2 \"payments\" may happen.",
        ),
        (
            "No more than 5 tool calls per minute.",
            "At most 5 \"tool calls\" may happen in any 1 minute.",
        ),
        (
            "There may be at most 10 searches per hour.",
            "At most 10 \"searches\" may happen in any 1 hour.",
        ),
        (
            "At most 3 refunds may be made per day.",
            "At most 3 \"refunds\" may happen in any 1 day.",
        ),
        (
            "Limit refunds to 3 per day.",
            "At most 3 \"refunds\" may happen in any 1 day.",
        ),
        (
            "Limit API calls to at most 100 per 15 minutes",
            "At most 100 \"API calls\" may happen in any 15 minutes.",
        ),
        (
            "Limit refunds to 3 per session.",
            "At most 3 \"refunds\" may happen.",
        ),
        (
            "The agent may retry at most 3 times per hour.",
            "\"retry\" may happen at most 3 times in any 1 hour.",
        ),
        (
            "The agent must not retry more than three times within 10 minutes.",
            "\"retry\" may happen at most 3 times in any 10 minutes.",
        ),
        (
            "The agent must not send more than 2 emails within any 20 seconds.",
            "At most 2 \"send emails\" may happen in any 20 seconds.",
        ),
        (
            "Never send more than 2 emails within 20 seconds.",
            "At most 2 \"send emails\" may happen in any 20 seconds.",
        ),
        (
            "The agent may send at most 2 emails per minute.",
            "At most 2 \"send emails\" may happen in any 1 minute.",
        ),
        (
            "The agent may send at most 2 emails per session.",
            "At most 2 \"send emails\" may happen.",
        ),
        (
            "Do not send more than 2 emails.",
            "At most 2 \"send emails\" may happen.",
        ),
        (
            "Max 3 payments per session.",
            "At most 3 \"payments\" may happen.",
        ),
        (
            "Do not retry more than twice in 5 steps.",
            "\"retry\" may happen at most twice in any 5 steps.",
        ),
        (
            "The agent sends at most 2 emails within any 20 seconds.",
            "",
        ),
        (
            "Only 3 retries are allowed.",
            "At most 3 \"retries\" may happen.",
        ),
        (
            "Don't call search more than 10 times a minute.",
            "\"call search\" may happen at most 10 times in any 1 minute.",
        ),
        (
            "Send at most one email per conversation.",
            "At most 1 \"send email\" may happen.",
        ),
        (
            "File deletions are capped at 10 per run.",
            "At most 10 \"file deletions\" may happen.",
        ),
        (
            "`git push` can only be run once per task.",
            "`git push` may happen at most once.",
        ),
        (
            "Migrations may be applied at most twice within any 24-hour period.",
            "\"migrations are applied\" may happen at most twice in any 24 hours.",
        ),
        (
            "Do not contact the same recipient more than three times a week.",
            "",
        ),
        ("Issue no more than one refund per order.", ""),
        (
            "Between 9am and 5pm the bot may page at most three times.",
            "",
        ),
        ("At most 3 failed logins in a row.", ""),
        ("At most 3 open tickets per customer.", ""),
        ("Never spend more than 500 dollars per day.", ""),
        ("The agent must not write more than 10 MB per hour.", ""),
        ("Reply at most 5 minutes after the question.", ""),
    ] {
        let expected: Vec<&str> = words
            .split(" | ")
            .filter(|words| !words.is_empty())
            .collect();
        assert_eq!(last(text).1, expected, "{text}");
    }
}
