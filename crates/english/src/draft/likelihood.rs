//! Bounds on how likely something is: `the chance of … must stay below 5%`, `in at most one run in a hundred`.

use super::atom::content;
use super::clause::Sub;
use super::clause::trimmed;
use super::condition::Reader;
use super::lexicon::Tag;
use super::main_clause::{Force, Main, count_limit};
use super::number::{Measure, Ratio, Unit};
use super::reading::{Doubt, Likelihood, Modality, Reading};
use super::timing::Timing;
use super::token::{Kind, Token};
use super::trigger::is_trigger;
use crate::words::formula::{Logic, Unary, Window, and, eventually, not, occurrences};

impl Reader {
    /// The reading of a sentence about a probability; none where it speaks of none.
    ///
    /// # Errors
    /// A probability without a number.
    pub(super) fn likelihood(&mut self, tokens: &[Token]) -> Result<Option<Reading>, Doubt> {
        let Some(found) = find(tokens) else {
            return if tokens.iter().any(is_probability)
                && !tokens.iter().any(|token| token.measure().is_some())
            {
                Err(Doubt::NoNumber)
            } else {
                Ok(None)
            };
        };
        let rest = trimmed(&found.rest);
        let at_least = found.bound.op.starts_with('>');
        let mut reading = self.likely(rest, at_least)?;
        reading.modality = Modality::ProbabilityBound;
        reading.likelihood = Some(found.bound);
        reading.count = None;
        Ok(Some(reading))
    }

    /// `two crashes`
    fn so_many(&mut self, tokens: &[Token]) -> Option<Logic> {
        let (first, event) = trimmed(tokens).split_first()?;
        let Kind::Number(measure) = first.kind else {
            return None;
        };
        let count = measure.value.whole().filter(|count| *count > 1)?;
        let plural = event.first().is_some_and(|noun| noun.low.ends_with('s'));
        if measure.unit != Unit::None || !plural || count > crate::words::formula::NESTED {
            return None;
        }
        Some(occurrences(count, &self.condition(event)?))
    }

    /// What would be forbidden, were it not only unlikely: a sequence, or so many times.
    fn risk(&mut self, mut main: Main, subs: &[Sub]) -> Result<Logic, Doubt> {
        // `sends at most two`: that it is so is what is likely.
        let holds = main.timing.at_most.is_some();
        main.force = Force::Forbid;
        let forbidden = self.prohibition(&main, subs)?.logic;
        Ok(match forbidden {
            Logic::Not(bad) if !holds => *bad,
            forbidden if holds => forbidden,
            forbidden => not(forbidden),
        })
    }

    /// What is likely or not: a requirement that is to hold, or a scene.
    fn likely(&mut self, tokens: &[Token], at_least: bool) -> Result<Reading, Doubt> {
        let asks = tokens
            .iter()
            .any(|token| token.tag().is_some_and(super::clause::is_deontic) && !token.is(Tag::May));
        let general = tokens
            .iter()
            .any(|token| matches!(token.tag(), Some(Tag::Every | Tag::No | Tag::Always)));
        if at_least && (asks || general) {
            let mut reading = self.requirement(tokens, &[])?;
            // `the goal must be reached`: once is enough.
            let reached = tokens.windows(2).any(|pair| {
                pair[0].word("be") && pair[1].kind == Kind::Word && pair[1].low.ends_with("ed")
            });
            if !general
                && reached
                && let Logic::Unary(Unary::Always, None, inner) = &reading.logic
                && matches!(inner.as_ref(), Logic::Atom(_))
            {
                reading.logic = eventually(None, (**inner).clone());
            }
            return Ok(reading);
        }
        if let Some(logic) = self.so_many(tokens) {
            return Ok(Reading::new(Modality::ProbabilityBound, logic));
        }
        // `may the agent …`, `should the agent …`
        let tokens: Vec<Token> = tokens
            .iter()
            .filter(|token| {
                !matches!(token.tag(), Some(Tag::May | Tag::Must)) && !token.word("that")
            })
            .cloned()
            .collect();
        let sentence = super::clause::Sentence::split(&tokens);
        let main = Main::new(&sentence.main).ok_or(Doubt::NoSituation)?;
        let timing = main.timing;
        // `a critical action is not confirmed within 5 steps`
        let negates = |token: &Token| token.is(Tag::Not) || token.is(Tag::Never);
        let negation = sentence.main.iter().position(negates);
        let logic = match negation {
            Some(at) if sentence.subs.is_empty() => {
                let (words, timing) = Timing::take(&sentence.main);
                let at = words.iter().position(negates).unwrap_or(at);
                let never = words.get(at).is_some_and(|token| token.is(Tag::Never));
                let subject = trimmed(&words[..at]);
                let followed = words[at..].iter().any(|token| token.is(Tag::Followed))
                    || never && is_trigger(subject);
                if followed || is_trigger(subject) && (timing.is_future() || timing.previous) {
                    let subject: Vec<Token> = subject
                        .iter()
                        .filter(|token| !token.word("is") && !token.word("are"))
                        .cloned()
                        .collect();
                    let act = self.condition(&subject).ok_or(Doubt::NoSituation)?;
                    let response: Vec<Token> = words[at + 1..]
                        .iter()
                        .filter(|token| !token.is(Tag::Followed))
                        .cloned()
                        .collect();
                    let timing = Timing {
                        eventually: followed && !timing.is_future(),
                        ..timing
                    };
                    let lacks = self.timed(&response, timing).ok_or(Doubt::NoSituation)?;
                    eventually(None, and([act, not(lacks)]))
                } else if never {
                    let words: Vec<Token> = words
                        .iter()
                        .filter(|token| !negates(token))
                        .cloned()
                        .collect();
                    let condition = self
                        .timed(&words, Timing::default())
                        .ok_or(Doubt::NoSituation)?;
                    not(placed(condition, timing))
                } else {
                    let condition = self
                        .timed(&words, Timing::default())
                        .ok_or(Doubt::NoSituation)?;
                    placed(condition, timing)
                }
            }
            _ if is_scene(&main) => self.risk(main, &sentence.subs)?,
            _ if sentence.subs.is_empty() => {
                let (words, timing) = Timing::take(&tokens);
                let condition = self
                    .timed(&words, timing.placing().without_deadline())
                    .ok_or(Doubt::NoSituation)?;
                placed(condition, timing)
            }
            _ => {
                let mut scene = super::prohibit::Scene {
                    act: Some(
                        self.timed(&main.whole(), Timing::default())
                            .ok_or(Doubt::NoSituation)?,
                    ),
                    ..Default::default()
                };
                self.circumstances(&sentence.subs, &mut scene)?;
                match scene.forbidden()?.logic {
                    Logic::Not(bad) => *bad,
                    other => not(other),
                }
            }
        };
        if content(&tokens).is_empty() {
            return Err(Doubt::NoSituation);
        }
        Ok(Reading::new(Modality::ProbabilityBound, logic).bounded(timing.within))
    }
}

/// Whether a clause tells more than one event: how often something happens, or what comes after what.
fn is_scene(main: &Main) -> bool {
    let mut words = main.subject.iter().chain(&main.predicate);
    let sequence = words.any(|token| token.is(Tag::AndThen) || token.is(Tag::Followed));
    let mut forbidden = main.clone();
    forbidden.force = Force::Forbid;
    sequence || count_limit(main.timing, &forbidden).is_some()
}

/// `F c`, within the deadline where there is one.
fn placed(condition: Logic, timing: Timing) -> Logic {
    if matches!(&condition, Logic::Unary(Unary::Eventually, _, _)) {
        return condition;
    }
    let window = timing
        .within
        .map(|within| Window::from_now(within.value, within.unit));
    eventually(window, condition)
}

/// A bound, and the words it is said of.
#[derive(Debug)]
struct Found {
    bound: Likelihood,
    rest: Vec<Token>,
}

fn is_probability(token: &Token) -> bool {
    token.is(Tag::Probability)
        || matches!(
            token.low.as_str(),
            "probability" | "likelihood" | "chance" | "chances" | "odds"
        )
}

fn find(tokens: &[Token]) -> Option<Found> {
    let at = tokens.iter().position(|token| share(token).is_some());
    let spoken = tokens.iter().position(is_probability);
    let runs = runs(tokens);
    if let Some((value, start, end)) = runs {
        let (op, from) = comparison(tokens, start);
        let (op, rest) = without(tokens, from, end, op);
        return Some(Found {
            bound: Likelihood { op: op?, value },
            rest,
        });
    }
    let at = at?;
    let value = share(&tokens[at])?;
    // A share of something else, such as `5 % discount`, is no probability.
    let of_runs = tokens[at..].iter().take(5).any(is_run);
    if spoken.is_none() && !of_runs {
        return None;
    }
    let (op, from) = comparison(tokens, at);
    let end = if of_runs {
        at + 1
            + tokens[at + 1..]
                .iter()
                .position(is_run)
                .map_or(0, |run| run + 1)
    } else {
        at + 1
    };
    // `with probability at least 0.99, …` and `the probability that … is at least 0.99`.
    let (op, rest) = without(tokens, from, end, op);
    let op = op.or_else(|| spoken.is_some().then_some("<="));
    Some(Found {
        bound: Likelihood { op: op?, value },
        rest,
    })
}

fn is_run(token: &Token) -> bool {
    matches!(
        token.low.as_str(),
        "run"
            | "runs"
            | "session"
            | "sessions"
            | "episodes"
            | "episode"
            | "cases"
            | "traces"
            | "executions"
            | "conversations"
            | "tasks"
            | "time"
            | "trips"
            | "missions"
            | "attempts"
    )
}

/// A number that can be a probability.
fn share(token: &Token) -> Option<Ratio> {
    match token.kind {
        Kind::Number(Measure {
            value,
            unit: Unit::Share,
        }) => Some(value),
        Kind::Number(Measure {
            value,
            unit: Unit::None,
        })
        | Kind::Mark(
            _,
            Some(Measure {
                value,
                unit: Unit::None,
            }),
        ) if value.to_f64() < 1.0 && value.to_f64() >= 0.0 && value.whole().is_none()
            || matches!(
                token.kind,
                Kind::Mark(
                    _,
                    Some(Measure {
                        unit: Unit::Share,
                        ..
                    })
                )
            ) =>
        {
            Some(value)
        }
        _ => None,
    }
}

/// `one run in a hundred`, `1 in 1000`, `one out of twenty runs`: the share, and where it stands.
fn runs(tokens: &[Token]) -> Option<(Ratio, usize, usize)> {
    for start in 0..tokens.len() {
        let Some(top) = tokens[start]
            .measure()
            .filter(|measure| measure.unit == Unit::None)
        else {
            continue;
        };
        let mut at = start + 1;
        let mut named = false;
        while tokens.get(at).is_some_and(is_run) {
            named = true;
            at += 1;
        }
        let joined = match tokens.get(at) {
            Some(token) if token.word("in") || token.word("per") => 1,
            Some(token) if token.is(Tag::Outside) => 1,
            Some(token)
                if token.word("out") && tokens.get(at + 1).is_some_and(|next| next.word("of")) =>
            {
                2
            }
            _ => continue,
        };
        at += joined;
        while tokens
            .get(at)
            .is_some_and(|token| token.word("every") || token.is(Tag::Every))
        {
            at += 1;
        }
        let Some(Kind::Number(bottom)) = tokens.get(at).map(|token| token.kind) else {
            continue;
        };
        at += 1;
        while tokens.get(at).is_some_and(is_run) {
            named = true;
            at += 1;
        }
        let spoken = tokens.iter().any(is_probability);
        let bottom = bottom.value.whole().filter(|bottom| *bottom > 0)?;
        if named || spoken {
            // `fewer than one` was read as a count, at most none.
            let strict = tokens[start].is(Tag::AtMost) || tokens[start].is(Tag::AtMostOf);
            let strict = strict && matches!(tokens[start].low.as_str(), "fewer" | "less" | "under");
            let least = Ratio::new(i128::from(strict), 1);
            let value = top
                .value
                .plus(least)
                .times(Ratio::new(1, i128::from(bottom)));
            return Some((value, start, at));
        }
    }
    None
}

/// The comparison before a number, and where its words begin.
fn comparison(tokens: &[Token], at: usize) -> (Option<&'static str>, usize) {
    let own = match tokens[at].tag() {
        Some(Tag::AtMost | Tag::AtMostOf)
            if matches!(
                tokens[at].low.as_str(),
                "less" | "fewer" | "under" | "below"
            ) =>
        {
            Some("<")
        }
        Some(Tag::AtMost | Tag::AtMostOf) => Some("<="),
        Some(Tag::AtLeast) => Some(">="),
        Some(Tag::MoreThan) => Some(">"),
        _ => None,
    };
    if own.is_some() {
        return (own, at);
    }
    let low = |back: usize| {
        at.checked_sub(back)
            .and_then(|index| tokens.get(index))
            .map(|token| token.low.as_str())
    };
    let negated = |from: usize| {
        from > 0
            && matches!(
                tokens[from - 1].tag(),
                Some(Tag::MustNot | Tag::Not | Tag::No | Tag::Never)
            )
            || from > 1
                && matches!(
                    tokens[from - 2].tag(),
                    Some(Tag::MustNot | Tag::Not | Tag::No | Tag::Never)
                )
                && tokens[from - 1].word("be")
    };
    let (op, words) = match (low(1), low(2)) {
        (Some("most"), Some("at")) => ("<=", 2),
        (Some("most"), Some("the")) => ("<=", 3),
        (Some("least"), Some("at")) => (">=", 2),
        (Some("than"), Some("more" | "greater" | "higher" | "larger")) => (">", 2),
        (Some("than"), Some("less" | "lower" | "smaller" | "fewer")) => ("<", 2),
        (Some("to"), Some("up" | "equal")) => ("<=", 2),
        (Some("below" | "under"), Some("or")) if low(3) == Some("at") => ("<=", 3),
        (Some("above" | "over"), Some("or")) if low(3) == Some("at") => (">=", 3),
        (Some("below" | "under" | "beneath"), _) => ("<", 1),
        (Some("above" | "over"), _) => (">", 1),
        (Some("exceed" | "exceeds" | "exceeding" | "surpass"), _) => (">", 1),
        (Some("reach" | "reaches"), _) => (">=", 1),
        (Some("within"), _) => ("<=", 1),
        _ => return (None, at),
    };
    let from = at - words;
    // `may not exceed`, `no more than`, `not be below`.
    if negated(from) {
        let back = if tokens[from - 1].word("be") { 2 } else { 1 };
        let op = match op {
            ">" => "<=",
            "<" => ">=",
            ">=" => "<",
            _ => ">",
        };
        return (Some(op), from - back);
    }
    (Some(op), from)
}

/// The words without the bound, its verb and the word *probability*.
fn without(
    tokens: &[Token],
    from: usize,
    end: usize,
    op: Option<&'static str>,
) -> (Option<&'static str>, Vec<Token>) {
    let mut start = from;
    // `must stay below`, `is to be kept under`, `has to be`.
    while start > 0 {
        let before = &tokens[start - 1];
        let verb = matches!(
            before.low.as_str(),
            "stay"
                | "remain"
                | "be"
                | "kept"
                | "keep"
                | "is"
                | "lie"
                | "stays"
                | "of"
                | "a"
                | "to"
                | "held"
        ) || matches!(before.tag(), Some(Tag::Must | Tag::May));
        if !verb {
            break;
        }
        start -= 1;
    }
    let mut rest: Vec<Token> = tokens[..start].to_vec();
    rest.extend_from_slice(tokens.get(end..).unwrap_or_default());
    // What introduces the bound: `with probability`, `in`, `the chance of`.
    let is_intro = |token: &Token| {
        is_probability(token)
            || token.is(Tag::With)
            || matches!(token.kind, Kind::Comma)
            || matches!(token.low.as_str(), "in" | "that" | "there" | "is" | "for")
            || token.is(Tag::Probability)
    };
    let article = |at: usize| {
        matches!(rest[at].low.as_str(), "a" | "an" | "the")
            && rest.get(at + 1).is_some_and(is_intro)
    };
    let intro = (0..rest.len())
        .find(|at| !is_intro(&rest[*at]) && !article(*at))
        .unwrap_or(rest.len());
    let mut rest = rest.split_off(intro);
    rest.retain(|token| !token.is(Tag::Probability));
    while rest
        .last()
        .is_some_and(|last| is_probability(last) || last.is(Tag::With) || last.is(Tag::Relative))
    {
        rest.pop();
    }
    (op, rest)
}
