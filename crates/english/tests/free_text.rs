//! Free text that asks for something not to be done, names in quotation marks, times of day, and limits for each of something: read as it is
//! meant, or declined.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use guard_english::draft::{Accept, Document, Draft, Status, draft};

fn first(draft: &Draft) -> Option<&str> {
    draft
        .proposals
        .first()
        .map(|reading| reading.words.as_str())
}

/// Each sentence has this first proposal.
fn proposed(cases: &[(&str, &str)]) {
    for (text, words) in cases {
        let draft = draft(text);
        assert_eq!(first(&draft), Some(*words), "{text}: {:?}", draft.reason);
    }
}

/// Each sentence is declined with a reason that has these words, and this form of controlled English if it has one.
fn declined(cases: &[(&str, &str, &str)]) {
    for (text, why, form) in cases {
        let draft = draft(text);
        assert_eq!(draft.status, Status::Unclear, "{text}: {:?}", first(&draft));
        let reason = draft.reason.unwrap();
        assert!(reason.contains(why), "{text}: {reason}");
        let shown = reason.split("for example: ").nth(1).unwrap_or_default();
        assert_eq!(shown, *form, "{text}");
    }
}

const AFTER: &str = "After \"…\", \"…\" must never happen.";
const ONLY_AFTER: &str = "\"…\" may happen only after \"…\".";
const WHILE: &str = "\"…\" may happen only while \"…\" holds.";
const EACH: &str = "For every `id`: \"…\" may happen at most 3 times.";

#[test]
fn to_refrain_is_not_to_do() {
    proposed(&[
        (
            "The agent must refrain from sending mail after reading secrets.",
            "After \"reading secrets\", \"sending mail\" must never happen.",
        ),
        (
            "The agent should keep from mailing after reading secrets.",
            "After \"reading secrets\", \"mailing\" must never happen.",
        ),
        (
            "The agent must abstain from paying before approval.",
            "\"paying\" must not happen unless \"approval\" has happened.",
        ),
        (
            "After a refund, avoid contacting the customer.",
            "After \"a refund\", \"contacting the customer\" must never happen.",
        ),
        (
            "The agent must stop sending reminders once the customer has paid.",
            "After \"the customer has paid\", \"sending reminders\" must never happen.",
        ),
        (
            "The bot must be prevented from paying before approval.",
            "\"paying\" must not happen unless \"approval\" has happened.",
        ),
        (
            "Prohibit deployments after a failed audit.",
            "After \"a failed audit\", \"deployments\" must never happen.",
        ),
        (
            "Payments must be forbidden before an approval.",
            "\"payments\" must not happen unless \"an approval\" has happened.",
        ),
        (
            "After a chargeback, refunds are not permitted.",
            "After \"a chargeback\", \"refunds\" must never happen.",
        ),
        (
            "It is strictly forbidden to send mail after reading secrets.",
            "After \"reading secrets\", \"send mail\" must never happen.",
        ),
        (
            "It must never happen that an order is shipped to a blocked customer.",
            "\"an order is shipped to a blocked customer\" must never happen.",
        ),
        (
            "Under no circumstances may an order be shipped after a chargeback.",
            "After \"a chargeback\", \"an order is shipped\" must never happen.",
        ),
    ]);
    declined(&[
        (
            "The agent must avoid the vault after a warning.",
            "`avoid`",
            AFTER,
        ),
        (
            "The agent must remain silent after a warning.",
            "`remain silent`",
            AFTER,
        ),
        (
            "The agent must not refrain from calling after an alarm.",
            "`refrain`",
            "Whenever \"…\" happens, \"…\" must happen.",
        ),
        (
            "If a user objects, the bot must stop recording.",
            "`stop`",
            "Whenever \"…\" holds, \"…\" must not hold at that step.",
        ),
        (
            "The agent must keep customers from entering after closing.",
            "`keep`",
            AFTER,
        ),
    ]);
}

#[test]
fn not_to_leave_out_is_to_do() {
    proposed(&[
        (
            "Never fail to notify the owner after a deletion.",
            "Whenever \"a deletion\" happens, \"notify the owner\" must happen.",
        ),
        (
            "The agent must not neglect to inform the user before a payment.",
            "\"a payment\" may happen only after \"inform the user\".",
        ),
        (
            "The agent must not skip the approval before a deployment.",
            "\"deployment\" may happen only after \"the approval\".",
        ),
        (
            "The disclaimer must not be omitted before an answer.",
            "\"answer\" may happen only after \"the disclaimer\".",
        ),
        // Without an order, *skip* and *bypass* are what must not happen.
        (
            "Never skip the safety briefing.",
            "\"skip the safety briefing\" must never happen.",
        ),
        (
            "The agent must never bypass the sandbox.",
            "\"bypass the sandbox\" must never happen.",
        ),
    ]);
    declined(&[
        (
            "The agent must not bypass the review before a merge.",
            "`bypass`",
            ONLY_AFTER,
        ),
        (
            "The agent must not disable the check before a payment.",
            "`disable`",
            ONLY_AFTER,
        ),
        (
            "The agent must not leave the approval out before a deployment.",
            "`leave`",
            ONLY_AFTER,
        ),
        (
            "The agent must not omit the disclaimer after an answer.",
            "`omit`",
            "Whenever \"…\" happens, \"…\" must happen.",
        ),
        (
            "The agent must withhold the results after an appeal.",
            "`withhold`",
            AFTER,
        ),
        (
            "No agent may fail to report after a breach.",
            "`fail to`",
            "Whenever \"…\" happens, \"…\" must happen.",
        ),
    ]);
}

/// To reject the request is an act, to reject requests a rule.
#[test]
fn to_refuse_is_an_act_or_a_rule() {
    proposed(&[
        (
            "If the request is malicious, the agent must reject the request.",
            "Whenever \"the request is malicious\" happens, \"reject the request\" must happen.",
        ),
        (
            "After a fraud alert, block the account.",
            "Whenever \"a fraud alert\" happens, \"block the account\" must happen.",
        ),
        (
            "Never refuse a refund after an approval.",
            "After \"an approval\", \"refuse a refund\" must never happen.",
        ),
        (
            "The agent must disable the alarm before the test.",
            "\"the test\" may happen only after \"disable the alarm\".",
        ),
        // Words that begin a subject are no command, and a permission limits the verb itself.
        (
            "Denied requests must be logged after an audit.",
            "Whenever \"an audit\" happens, \"denied requests are logged\" must happen.",
        ),
        (
            "Drop zones must be cleared before a landing.",
            "\"a landing\" may happen only after \"drop zones are cleared\".",
        ),
        (
            "The agent may refuse a request only after a review.",
            "\"refuse a request\" may happen only after \"a review\".",
        ),
    ]);
    declined(&[
        ("Deny deletion before a backup.", "`deny`", ONLY_AFTER),
        (
            "The agent must forbid payments before approval.",
            "`forbid`",
            ONLY_AFTER,
        ),
        (
            "Requests must be denied before authentication.",
            "`denied`",
            ONLY_AFTER,
        ),
        (
            "The agent must reject payments after a chargeback.",
            "`reject`",
            AFTER,
        ),
        (
            "The agent must disable payments before approval.",
            "`disable`",
            ONLY_AFTER,
        ),
    ]);
}

#[test]
fn times_of_day_are_declined() {
    for time in [
        "before 9 am",
        "before 9 a.m.",
        "before noon",
        "after 17:30",
        "between 9 and 5",
        "after business hours",
        "outside working hours",
        "after hours",
        "on weekends",
        "on Friday afternoons",
        "on a public holiday",
        "at night",
        "this Friday",
        "until Monday",
        "in December",
        "before 2027-01-31",
        "before the end of the day",
    ] {
        let text = format!("The agent must not deploy {time}.");
        declined(&[(&text, "is a time of day or a date", WHILE)]);
    }
    proposed(&[
        (
            "The agent must not deploy before the Friday report.",
            "\"deploy\" must not happen unless \"the Friday report\" has happened.",
        ),
        (
            "The agent must read the night report before a handover.",
            "\"a handover\" may happen only after \"read the night report\".",
        ),
    ]);
}

#[test]
fn a_name_is_a_situation_by_itself() {
    proposed(&[
        (
            "`refund` may happen at most 5 times per session.",
            "`refund` may happen at most 5 times.",
        ),
        (
            "`refund` is allowed at most 5 times per hour.",
            "`refund` may happen at most 5 times in any 1 hour.",
        ),
        (
            "\"a refund\" may happen at most 5 times per session.",
            "\"a refund\" may happen at most 5 times.",
        ),
        (
            "`pay` is allowed only after `approve`.",
            "`pay` may happen only after `approve`.",
        ),
        (
            "No `push` is allowed before `review`.",
            "`push` must not happen unless `review` has happened.",
        ),
        (
            "`wire` is forbidden after `freeze`.",
            "After `freeze`, `wire` must never happen.",
        ),
        // The grammar has no such form, and the words are no slip.
        (
            "`send_mail` must never be called after `read_file`.",
            "After `read_file`, `send_mail` must never happen.",
        ),
        (
            "The agent must call `notify` after `delete`.",
            "Whenever `delete` happens, `notify` must happen.",
        ),
        (
            "The agent must avoid `pay` after `freeze`.",
            "After `freeze`, `pay` must never happen.",
        ),
        // Words that are no verb of the grammar stay beside a name.
        (
            "Never push to `main`.",
            "\"push to `main`\" must never happen.",
        ),
    ]);
    for text in [
        "`a` may happen only if `b` holds and `c` has happened.",
        "Never call `delete` without `confirm` and `backup`.",
        "Whenever `pay` happens and `fraud` holds, `alert` must happen.",
        "`send_mail` must never hapen after `read_file`.",
    ] {
        let draft = draft(text);
        assert_eq!(draft.status, Status::Unclear, "{text}: {:?}", first(&draft));
    }
}

/// A heading that denies is no less heard if a sentence needs no quotation marks.
#[test]
fn names_under_a_heading_that_denies() {
    for text in [
        "## Never\n\n- call `notify` after `delete`\n",
        "Bad:\n- call `notify` after `delete`\n",
        "Never:\n- skip `review` before `merge`\n",
        "Avoid:\n- refrain from calling `notify` after `delete`\n",
    ] {
        let last = Document::new(text, Accept::None).drafts.pop().unwrap();
        let words = first(&last).unwrap_or("declined");
        let right = [
            "declined",
            "After `delete`, `notify` must never happen.",
            "`merge` may happen only after `review`.",
        ];
        assert!(right.contains(&words), "{text}: {words}");
    }
}

#[test]
fn limits_and_orders_for_each_of_something() {
    proposed(&[
        (
            "Ask the user before each deletion.",
            "Each \"deletion\" needs its own \"ask the user\".",
        ),
        (
            "Ask the user before every deletion.",
            "\"deletion\" may happen only after \"ask the user\".",
        ),
        (
            "A refund may happen at most 5 times per session.",
            "\"a refund\" may happen at most 5 times.",
        ),
        (
            "No two payments may be made within 10 minutes.",
            "At most 1 \"payments\" may happen in any 10 minutes.",
        ),
        (
            "The user must have confirmed before a payment.",
            "\"a payment\" may happen only after \"the user has confirmed\".",
        ),
        (
            "Files outside the workspace must not be written.",
            "\"files outside the workspace are written\" must never happen.",
        ),
    ]);
    declined(&[
        (
            "A failing call must not be retried more than 3 times.",
            "`A failing call`",
            EACH,
        ),
        (
            "Refunds must not be paid without an approval and a receipt.",
            "`an approval and a receipt`",
            ONLY_AFTER,
        ),
        (
            "The agent must not pay until the account was verified and the owner was identified.",
            "may happen at two steps",
            ONLY_AFTER,
        ),
        (
            "The reminder must be sent no later than 10 minutes before the meeting.",
            "no one reading",
            ONLY_AFTER,
        ),
        (
            "Nothing may be sent after a stop request.",
            "no one reading",
            AFTER,
        ),
        // What is not required is not forbidden.
        (
            "The agent need not confirm small refunds.",
            "`need not` lifts a duty",
            "",
        ),
        (
            "Not every email needs a confirmation.",
            "`not every` lifts a duty",
            "",
        ),
    ]);
}

#[test]
fn from_one_event_to_another() {
    proposed(&[
        (
            "Between login and logout, the password must not be changed.",
            "After \"login\" until \"logout\", \"the password is changed\" must never happen.",
        ),
        (
            "No net access between `sandbox_enter` and `sandbox_exit`.",
            "After `sandbox_enter` until `sandbox_exit`, \"net access\" must never happen.",
        ),
        (
            "Between `start_migration` and `finish_migration`, writes to the old cluster are off limits.",
            "After `start_migration` until `finish_migration`, \"writes to the old cluster\" must never happen.",
        ),
        (
            "While maintenance mode is on, no writes are allowed.",
            "While \"maintenance mode is on\" holds, \"writes\" must never hold.",
        ),
        (
            "Unless the user has opted in, do not store the conversation.",
            "\"store the conversation\" must not happen unless \"the user has opted in\" has happened.",
        ),
        (
            "Until the cooling-off period has elapsed, no loan funds are to be disbursed.",
            "\"loan funds are disbursed\" must not happen unless \"the cooling-off period has elapsed\" has happened.",
        ),
        (
            "Every complaint must be answered within 2 days.",
            "Whenever \"complaint\" happens, \"complaint is answered\" must happen within 2 days.",
        ),
        (
            "Every question of the user must eventually be answered.",
            "Whenever \"question of the user\" happens, \"question of the user is answered\" must happen.",
        ),
        (
            "Wait at least 60 seconds between consecutive calls to `restart_pod`.",
            "At most 1 `restart_pod` may happen in any 60 seconds.",
        ),
        (
            "The agent may not send more than 20 e-mails in any one-hour period.",
            "At most 20 \"send e-mails\" may happen in any 1 hour.",
        ),
        (
            "The agent must reply to the user within 60 seconds after each user message.",
            "Whenever \"user message\" happens, \"reply to the user\" must happen within 60 seconds.",
        ),
        (
            "Until the user has confirmed the amount, `charge_card` is off limits.",
            "`charge_card` must not happen unless \"the user has confirmed the amount\" has happened.",
        ),
        (
            "The agent has no right to delete the file.",
            "\"delete the file\" must never happen.",
        ),
        (
            "A declined application may be resubmitted, but only after new documents have been uploaded.",
            "\"a declined application is resubmitted\" may happen only after \"new documents have been uploaded\".",
        ),
    ]);
}
