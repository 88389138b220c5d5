//! A sentence is taken apart into its main clause and what is subordinate to it.

use super::lexicon::Tag;
use super::lexicon::words::{AUXILIARIES, DETERMINERS, among};
use super::main_clause::is_third_person;
use super::number::{Measure, Unit};
use super::token::{Kind, Token};

/// A subordinate clause.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sub {
    /// What it does.
    pub(super) kind: Tag,
    /// `within 5 steps of …`: the measure.
    pub(super) measure: Option<Measure>,
    /// Whether it is the only case: `only if`.
    pub(super) only: bool,
    /// Its words.
    pub(super) tokens: Vec<Token>,
}

/// A sentence: what stands before the main clause, the main clause, and what follows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sentence {
    /// The main clause.
    pub(super) main: Vec<Token>,
    /// Subordinate clauses in the order of the text.
    pub(super) subs: Vec<Sub>,
}

/// Whether a tag begins a subordinate clause.
fn begins(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::If
            | Tag::When
            | Tag::Once
            | Tag::After
            | Tag::From
            | Tag::Before
            | Tag::Until
            | Tag::Unless
            | Tag::While
            | Tag::Without
            | Tag::Outside
            | Tag::Since
            | Tag::RightBefore
            | Tag::RightAfter
            | Tag::StepBefore
            | Tag::StepAfter
    )
}

/// Whether a subordinate clause begins with this token.
pub(super) fn begins_clause(token: &Token) -> bool {
    token.tag().is_some_and(begins)
}

/// Whether a tag says what is asked for, so that a main clause has it.
pub(super) fn is_deontic(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Must
            | Tag::MustNot
            | Tag::May
            | Tag::Never
            | Tag::Forbidden
            | Tag::Allowed
            | Tag::Forbid
            | Tag::Ensure
            | Tag::Breach
            | Tag::Confined
            | Tag::EndWith
            | Tag::BeginWith
    )
}

/// The subordinate clause that begins at this token: its kind, measure, whether it is the only case, and where its words
/// begin.
fn opening(tokens: &[Token], at: usize) -> Option<(Tag, Option<Measure>, bool, usize)> {
    let token = tokens.get(at)?;
    let tag = token.tag();
    let next = tokens.get(at + 1);
    match tag {
        Some(Tag::Only) => {
            // `only if`, `only with`, `only when`.
            let next = next?.tag()?;
            let kind = match next {
                Tag::With if tokens[at + 1].low == "with" => Tag::If,
                tag if begins(tag) => tag,
                Tag::Within => {
                    let (kind, measure, _, start) = opening(tokens, at + 1)?;
                    return Some((kind, measure, true, start));
                }
                _ => return None,
            };
            Some((kind, None, true, at + 2))
        }
        // `between a and b`; `between two floors` is a place.
        Some(Tag::From) if token.low == "between" => tokens[at..]
            .iter()
            .take_while(|token| token.kind != Kind::Comma)
            .any(|token| token.is(Tag::And))
            .then_some((Tag::From, None, false, at + 1)),
        Some(tag) if begins(tag) => Some((tag, None, false, at + 1)),
        // `within 5 steps of`, `in the next step after`.
        Some(Tag::Within | Tag::NotSooner | Tag::Longer) => {
            anchored(next).then_some((tag?, token.measure(), false, at + 2))
        }
        Some(Tag::Next) if next.is_some_and(|next| next.is(Tag::After) || next.word("of")) => {
            Some((Tag::RightAfter, None, false, at + 2))
        }
        Some(Tag::Eventually) if next.is_some_and(|next| next.is(Tag::After)) => {
            Some((Tag::After, None, false, at + 2))
        }
        Some(Tag::Every) if token.low.starts_with("for") && at == 0 => {
            Some((Tag::When, None, false, at + 1))
        }
        // `except for emergencies, …`
        Some(Tag::Except) if at == 0 => Some((Tag::Unless, None, false, at + 1)),
        Some(Tag::With) if at == 0 && token.low == "with" => Some((Tag::If, None, false, at + 1)),
        // `from opening it until closing it, …`
        Some(Tag::With) if at == 0 && token.low == "from" => tokens
            .iter()
            .take_while(|token| token.kind != Kind::Comma)
            .any(|token| token.is(Tag::Until) || token.word("to"))
            .then_some((Tag::From, None, false, 1))
            .or_else(|| {
                // `from the arrival of a call, …`
                let event = next.is_some_and(|next| next.word("the"));
                event.then_some((Tag::After, None, false, 1))
            }),
        // `from acquisition to release`.
        Some(Tag::With) if token.low == "from" => {
            let until = tokens[at..]
                .iter()
                .position(|token| token.word("to") || token.is(Tag::Until))?;
            let between = &tokens[at + 1..at + until];
            let plain = between.iter().all(|token| token.kind == Kind::Word)
                && tokens[at + until..]
                    .iter()
                    .all(|token| token.tag().is_none());
            (until > 1 && between.len() < 6 && plain).then_some((Tag::From, None, false, at + 1))
        }
        // `having submitted it, …`
        None if at == 0 && token.word("having") => Some((Tag::After, None, false, 1)),
        // `behind the supervisor's back`.
        None if token.word("behind") => {
            let back = tokens[at..]
                .iter()
                .take(7)
                .any(|token| matches!(token.low.as_str(), "back" | "backs"));
            back.then_some((Tag::Outside, None, false, at + 1))
        }
        _ => None,
    }
}

/// Whether what follows a distance says from where it counts.
fn anchored(next: Option<&Token>) -> bool {
    next.is_some_and(|next| {
        next.is(Tag::After)
            || next.is(Tag::From)
            || next.is(Tag::Once)
            || next.is(Tag::When)
            || next.is(Tag::Since)
            || next.is(Tag::RightAfter)
            || next.word("of")
            || next.low == "from"
    })
}

impl Sentence {
    /// Takes a sentence apart.
    pub(super) fn split(tokens: &[Token]) -> Sentence {
        let mut sentence = Sentence::default();
        let mut rest = trimmed(tokens);
        // What stands in front.
        while opening(rest, 0).is_some() {
            let end = end_of_leading(rest);
            let (lead, tail) = rest.split_at(end);
            let tail = trimmed(tail);
            if tail.is_empty() {
                break;
            }
            sentence.chain(lead);
            rest = tail;
        }
        // What follows.
        let start = (0..rest.len())
            .find(|at| opening(rest, *at).is_some() && (*at > 0 || sentence.subs.is_empty()));
        match start {
            Some(start) => {
                sentence.main = trimmed(&rest[..start]).to_vec();
                sentence.chain(&rest[start..]);
            }
            None => sentence.main = rest.to_vec(),
        }
        sentence
    }

    /// One subordinate clause after the other.
    fn chain(&mut self, tokens: &[Token]) {
        let mut at = 0;
        while at < tokens.len() {
            let Some((kind, measure, only, start)) = opening(tokens, at) else {
                at += 1;
                continue;
            };
            let mut end = (start + 1..tokens.len())
                .find(|next| opening(tokens, *next).is_some())
                .unwrap_or(tokens.len());
            let mut after = None;
            if kind == Tag::From
                && let Some(to) =
                    (start..end).find(|at| tokens[*at].word("to") || tokens[*at].is(Tag::And))
                && tokens[start..end]
                    .iter()
                    .all(|token| !among(AUXILIARIES, &token.low) || token.low == "be")
            {
                after = Some((to + 1, end));
                end = to;
            }
            let words = &tokens[start.min(end)..end];
            if !self.points_back(kind, &tokens[at], words) {
                self.push(kind, measure, only, words);
            }
            at = end;
            if let Some((from, to)) = after {
                self.push(Tag::Until, None, false, &tokens[from..to]);
                at = to;
            }
        }
    }

    /// `after that`, where something was said before: only the distance is new.
    fn points_back(&mut self, kind: Tag, mark: &Token, tokens: &[Token]) -> bool {
        let pronoun = |token: &Token| {
            matches!(
                token.low.as_str(),
                "that" | "this" | "then" | "it" | "which"
            )
        };
        let tokens = trimmed(tokens);
        let pointing = !tokens.is_empty() && tokens.iter().all(pronoun) && !self.subs.is_empty();
        if pointing {
            let mut mark = mark.clone();
            if kind == Tag::After {
                mark.kind = Kind::Mark(Tag::Eventually, None);
            }
            if matches!(kind, Tag::Within | Tag::After | Tag::NotSooner) {
                self.main.push(mark);
                return true;
            }
        }
        false
    }

    fn push(&mut self, kind: Tag, measure: Option<Measure>, only: bool, tokens: &[Token]) {
        let tokens = trimmed(tokens).to_vec();
        // `when asked for a, b or c, and if …`: a connective alone is no clause.
        if tokens.is_empty() {
            return;
        }
        self.subs.push(Sub {
            kind,
            measure,
            only,
            tokens,
        });
    }
}

/// Without commas and connectives at either end.
pub(super) fn trimmed(tokens: &[Token]) -> &[Token] {
    let idle = |token: &Token| {
        matches!(token.kind, Kind::Comma | Kind::Stop | Kind::Colon)
            || matches!(
                token.tag(),
                Some(Tag::And | Tag::Then | Tag::But | Tag::Filler)
            )
    };
    let start = tokens
        .iter()
        .position(|token| !idle(token))
        .unwrap_or(tokens.len());
    let end = tokens
        .iter()
        .rposition(|token| !idle(token))
        .map_or(start, |last| last + 1);
    &tokens[start..end]
}

/// Where the clauses that stand in front of the main clause end.
fn end_of_leading(tokens: &[Token]) -> usize {
    if let Some(then) = tokens
        .iter()
        .position(|token| token.is(Tag::Then) || token.kind == Kind::Arrow)
    {
        return then;
    }
    let deontic = tokens
        .iter()
        .position(|token| token.tag().is_some_and(is_deontic));
    // `the step before X must be`: no comma.
    if tokens[0].is(Tag::StepBefore) || tokens[0].is(Tag::StepAfter) {
        return deontic
            .or_else(|| {
                tokens
                    .iter()
                    .position(|token| among(AUXILIARIES, &token.low))
            })
            .unwrap_or(tokens.len());
    }
    // `for every a there is a b`
    let exists = tokens
        .windows(2)
        .position(|pair| pair[0].word("there") && pair[1].kind == Kind::Word)
        .filter(|at| *at > 1);
    if let Some(exists) = exists {
        return exists;
    }
    let commas: Vec<usize> = (0..tokens.len())
        .filter(|at| tokens[*at].kind == Kind::Comma)
        .collect();
    match deontic {
        Some(deontic) => {
            if let Some(last) = commas.iter().rev().find(|at| **at < deontic) {
                // Of a list of commas the last one; what is put in between two commas is not the main clause.
                return *last;
            }
            if tokens[deontic].is(Tag::Ensure) || tokens[deontic].is(Tag::Forbid) {
                return deontic;
            }
            noun_phrase_before(tokens, deontic)
        }
        None => match commas.first() {
            Some(first) => {
                // The list `if a, b or c, d`: the last comma.
                let list = commas.len() > 1
                    && tokens[*first..commas[commas.len() - 1]]
                        .iter()
                        .any(|token| token.is(Tag::Or));
                if list {
                    commas[commas.len() - 1]
                } else {
                    *first
                }
            }
            None => (2..tokens.len())
                .filter(|_| {
                    !tokens[0].is(Tag::If) && !tokens.iter().any(|token| token.is(Tag::And))
                })
                .find(|at| is_third_person(&tokens[*at].low) && tokens[*at].kind == Kind::Word)
                .map_or(tokens.len(), |verb| noun_phrase_before(tokens, verb)),
        },
    }
}

/// Where the noun phrase that ends here begins.
fn noun_phrase_before(tokens: &[Token], end: usize) -> usize {
    let mut at = end;
    while at > 1 {
        let token = &tokens[at - 1];
        let begins = token.kind == Kind::Word && among(DETERMINERS, &token.low)
            || matches!(
                token.tag(),
                Some(Tag::No | Tag::Every | Tag::Any | Tag::Nobody | Tag::NothingElse)
            );
        if begins {
            return at - 1;
        }
        if token.kind == Kind::Word && among(AUXILIARIES, &token.low) {
            return (at + 1).min(end);
        }
        at -= 1;
    }
    end.saturating_sub(1).max(1)
}

/// The unit of a measure where it is one of distance.
pub(super) fn distance(measure: Option<Measure>) -> Option<Measure> {
    measure.filter(|measure| matches!(measure.unit, Unit::Steps | Unit::Seconds))
}
