//! `guard diff` on decisions with bounds in time, against brute force.

use guard_cli::diff::{DecisionChange, Direction, Moment};
use guard_lang::monitor::{Monitor, Options};
use guard_lang::value::Instant;

use crate::diff::{checked, diff_of};

/// Times at which something may happen after a step, in seconds.
const GAPS: [i64; 4] = [1, 2, 3, 4];

/// What a monitor denies at the last event of a trace, at deadlines after it, and at its end.
#[derive(Clone, Copy, Debug, Default)]
struct Denials {
    event: bool,
    /// The time of the first one.
    deadline: Option<i128>,
    end: bool,
}

impl Denials {
    /// Whether something is denied at a moment that another monitor has not denied by then.
    fn beyond(&self, other: &Denials, moment: Moment) -> bool {
        match moment {
            Moment::Event => self.event && !other.event,
            Moment::Deadline => self
                .deadline
                .is_some_and(|own| other.deadline.is_none_or(|other| own < other)),
            Moment::End => self.end && !other.end,
        }
    }
}

/// Decisions on bounds in time, with and without `or end`: at events, at deadlines and at the end.
#[test]
fn decisions_with_deadlines_are_compared() {
    let spec = |rule: &str| {
        format!(
            "event {{ a: bool  b: bool  at: time }}\nproperty p = {rule}\nenforce p {{ violated => block }}\n"
        )
    };
    let rules = [
        "a leads to b within 2s",
        "a leads to b within 3s",
        "a leads to b within 2s or end",
        "a leads to b within 3s or end",
        "a leads to b within 1s..2s",
        "a leads to b within 1s..3s",
        "always (a -> F[0s,2s] b)",
        "never (a and b)",
        "never (a and not a)",
    ];
    // Every trace of three steps, by brute force.
    let mut traces: Vec<Vec<(u8, i64)>> = Vec::new();
    for letters in 0..64_u8 {
        for gaps in GAPS
            .iter()
            .flat_map(|one| GAPS.iter().map(move |two| [*one, *two]))
        {
            let times = [0, gaps[0], gaps[0] + gaps[1]];
            let letter = |place: usize| letters >> (2 * place) & 3;
            for length in 1..=3 {
                traces.push(
                    (0..length)
                        .map(|place| (letter(place), times[place]))
                        .collect(),
                );
            }
        }
    }
    traces.sort();
    traces.dedup();
    // By trace: whether the last event is denied, the first deadline after it that is denied, and whether the end is.
    let denials = |text: &str| -> Vec<Denials> {
        let (spec, _) = checked(text).expect(text);
        let mut monitor = Monitor::new(&spec, Options::default()).unwrap();
        let judged = traces.iter().zip(0..).map(|(trace, number)| {
            let mut denies = Denials::default();
            // The clock of the system does not run back.
            let first = 100 * number;
            for (letter, time) in trace {
                let time = first + time;
                let (a, b) = (letter & 1 == 1, letter >> 1 == 1);
                let event = format!(r#"{{"trace":"t","a":{a},"b":{b},"at":{time}}}"#);
                let now = Some(Instant(i128::from(time) * Instant::SECOND));
                let ruling = monitor.observe(event.as_bytes(), now).ruling;
                denies.event = ruling.denies();
            }
            denies.end = monitor.propose_end("t").ruling.denies();
            while let Some(due) = monitor.next_deadline() {
                let passed = monitor.tick(Instant(due.0 + 1));
                let denied = passed.iter().any(|decision| decision.ruling.denies());
                let after = due.0 - i128::from(first) * Instant::SECOND;
                denies.deadline = denies.deadline.or(denied.then_some(after));
            }
            monitor.end("t", None);
            denies
        });
        judged.collect()
    };
    let denied: Vec<Vec<Denials>> = rules.iter().map(|rule| denials(&spec(rule))).collect();
    // All other differences are decided at events and at the end.
    let (mut told, mut undecided) = (String::new(), 0);
    // Each pair once: both directions are asked about.
    for (place, (old, before)) in rules.iter().zip(&denied).enumerate() {
        for (new, after) in rules.iter().zip(&denied).skip(place) {
            let diff = diff_of(&spec(old), &spec(new));
            for moment in [Moment::Event, Moment::Deadline, Moment::End] {
                for added in [true, false] {
                    let differs = |(before, after): (&Denials, &Denials)| match added {
                        true => after.beyond(before, moment),
                        false => before.beyond(after, moment),
                    };
                    let occurs = before.iter().zip(after).any(differs);
                    // What is not decided at several moments for one reason is told once.
                    let told_of = |one: &&DecisionChange| {
                        one.added == added
                            && (one.moment == moment || matches!(one.found, Direction::Unknown(_)))
                    };
                    let found = diff.decisions.iter().find(told_of).map(|one| &one.found);
                    match found {
                        None => assert!(!occurs, "{old}, {new}: {moment:?} {added}"),
                        Some(Direction::Found(witness)) => {
                            // Both monitors judged it; brute force has short traces with whole seconds.
                            let beyond = witness.events.len() > 3
                                || witness.json.iter().any(|event| event.contains('.'));
                            assert!(
                                occurs || beyond,
                                "{old}, {new}: {moment:?} {added} {witness:?}"
                            );
                        }
                        // A difference that short traces show is found.
                        Some(_) if occurs || moment != Moment::Deadline => {
                            told.push_str(&format!("{old}, {new}: {moment:?} {added}, {occurs}\n"));
                        }
                        Some(_) => undecided += 1,
                    }
                }
            }
        }
    }
    assert_eq!(told, "");
    assert!(undecided < 20, "{undecided}");
    let earlier = diff_of(&spec(rules[1]), &spec(rules[0]));
    let deadline = earlier
        .decisions
        .iter()
        .find(|one| one.moment == Moment::Deadline);
    assert!(
        matches!(deadline, Some(one) if one.added && matches!(one.found, Direction::Found(_))),
        "{earlier:?}"
    );
    insta::assert_snapshot!("deadlines", earlier.to_text());
    let forgiven = diff_of(&spec(rules[0]), &spec(rules[2]));
    insta::assert_snapshot!("or_end", forgiven.to_text());
}
