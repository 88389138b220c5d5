//! A requirement of one or several sentences: what is put in front of it, what it joins, and what is left open.

use super::atom::content;
use super::clause::{Sentence, trimmed};
use super::condition::Reader;
use super::lexicon::Tag;
use super::number::with_numbers;
use super::phrase::marked;
use super::reading::{Doubt, Modality, Reading};
use super::token::{Kind, Token, tokens};
use super::{controlled, rewrite, unclear};
use crate::words::formula::{
    Binary, Logic, Unary, always, and, implies, never, next, not, previously, since,
};

/// Words of a requirement beyond which it is not read as one.
const LONGEST: usize = 400;

/// What was made of a requirement.
#[derive(Debug)]
pub(super) struct Interpretation {
    /// The situations it speaks of.
    pub(super) reader: Reader,
    /// Its tokens.
    pub(super) tokens: Vec<Token>,
    /// Its reading, or what has to be asked.
    pub(super) reading: Result<Reading, Doubt>,
    /// Whether it was read back from a formula, and so is that formula whatever its names remind of.
    pub(super) exact: bool,
}

/// Reads a requirement.
pub(super) fn interpret(text: &str) -> Interpretation {
    let plain = tokens(text);
    let words = plain
        .iter()
        .filter(|token| token.kind == Kind::Word)
        .count();
    let mut reader = Reader::default();
    if words > LONGEST {
        return Interpretation {
            reader,
            tokens: Vec::new(),
            reading: Err(Doubt::TooLong(words)),
            exact: false,
        };
    }
    let tokens = rewrite::marked(marked(with_numbers(rewrite::plain(plain.clone()))));
    let tokens = without_holding(without_irrelevant(&tokens));
    // What was read back from a formula is that formula; ordinary English says more of what kind it is.
    let mut exact = Reader::default();
    let controlled = controlled::read(&mut exact, text);
    let reading = match unclear::before(&plain, &tokens) {
        Some(doubt) => Err(doubt),
        None => reader
            .whole(&tokens)
            .and_then(|reading| match unclear::after(&tokens, &reading) {
                Some(doubt) => Err(doubt),
                None => Ok(reading),
            }),
    };
    let is_exact = controlled.is_some();
    if let Some(controlled) = controlled
        && !reading
            .as_ref()
            .is_ok_and(|reading| same(reading, &reader, &controlled, &exact))
    {
        return Interpretation {
            reader: exact,
            tokens,
            reading: Ok(controlled),
            exact: true,
        };
    }
    Interpretation {
        reader,
        tokens,
        reading,
        exact: is_exact,
    }
}

/// Whether two readings have one formula over the same names.
fn same(first: &Reading, names: &Reader, second: &Reading, others: &Reader) -> bool {
    let known = names.atoms.list();
    let renamed = second.logic.renamed(&|atom| {
        let name = others.atoms.list().get(atom).map(|atom| &atom.name);
        let at = known.iter().position(|known| Some(&known.name) == name);
        at.unwrap_or(usize::MAX)
    });
    renamed == first.logic
}

/// `x holds` of a name says no more than the name.
fn without_holding(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let holds = token.kind == Kind::Word
            && matches!(token.low.as_str(), "hold" | "holds" | "held" | "holding");
        let named = out
            .iter()
            .rev()
            .find(|before| {
                !before.tag().is_some_and(|tag| {
                    super::clause::is_deontic(tag) || matches!(tag, Tag::Not | Tag::Always)
                }) && !matches!(before.low.as_str(), "have" | "has" | "does" | "had")
            })
            .is_some_and(|before| before.kind == Kind::Name);
        if !(holds && named) {
            out.push(token);
        }
    }
    out
}

/// Without clauses such as `no matter how …`, which change nothing.
fn without_irrelevant(tokens: &[Token]) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut skipping = false;
    for (index, token) in tokens.iter().enumerate() {
        if token.is(Tag::Irrelevant) {
            skipping = true;
            if out.last().is_some_and(|last| last.kind == Kind::Comma) && index > 0 {
                out.pop();
            }
        }
        if skipping && matches!(token.kind, Kind::Comma | Kind::Stop | Kind::Colon) {
            skipping = false;
            // In front of the main clause the comma goes, too.
            if out.is_empty() {
                continue;
            }
        }
        if !skipping {
            out.push(token.clone());
        }
    }
    out
}

impl Reader {
    /// All that is said, sentence by sentence.
    fn whole(&mut self, tokens: &[Token]) -> Result<Reading, Doubt> {
        let mut found: Option<Reading> = None;
        let mut doubt = None;
        for sentence in tokens.split(|token| token.kind == Kind::Stop) {
            let sentence = trimmed(sentence);
            if content(sentence).is_empty() {
                continue;
            }
            self.consumed |= uses_up(tokens);
            match self.sentence(sentence) {
                Ok(reading) => {
                    // `low-risk ones do not`: it says what is not asked for.
                    let idle = found.is_some() && (is_ellipsis(sentence) || uses_up(sentence));
                    if !idle {
                        found = Some(match found {
                            Some(first) => joined(first, reading),
                            None => reading,
                        });
                    }
                }
                Err(Doubt::NoObligation | Doubt::Permission) if found.is_some() => {}
                Err(other) => doubt = doubt.or(Some(other)),
            }
        }
        match (found, doubt) {
            (Some(reading), None) => Ok(reading),
            (Some(_), Some(doubt)) | (None, Some(doubt)) => Err(doubt),
            (None, None) => Err(Doubt::NoSituation),
        }
    }

    /// One sentence, with what stands in front of a colon.
    fn sentence(&mut self, tokens: &[Token]) -> Result<Reading, Doubt> {
        if let Some(reading) = self.likelihood(tokens)? {
            return Ok(reading);
        }
        if let Some(arrow) = tokens.iter().position(|token| token.kind == Kind::Arrow) {
            return self.arrow(&tokens[..arrow], &tokens[arrow + 1..]);
        }
        if let Some(colon) = tokens.iter().position(|token| token.kind == Kind::Colon) {
            let (head, rest) = (trimmed(&tokens[..colon]), trimmed(&tokens[colon + 1..]));
            if let Some(reading) = self.number_not_more(rest) {
                return Ok(reading);
            }
            self.refer(head);
            self.topic = super::condition::subject_of(head).to_vec();
            let before = self.clone();
            if let Ok(reading) = self.clauses(rest) {
                return Ok(reading);
            }
            *self = before;
            return self.clauses(head);
        }
        if let Some(reading) = self.number_not_more(tokens) {
            return Ok(reading);
        }
        self.clauses(tokens)
    }

    /// `context full => compact it`
    fn arrow(&mut self, condition: &[Token], rest: &[Token]) -> Result<Reading, Doubt> {
        let mut tokens = trimmed(condition).to_vec();
        let Some(first) = tokens.first().cloned() else {
            return self.clauses(rest);
        };
        if first.tag().is_none()
            || !matches!(
                first.tag(),
                Some(Tag::If | Tag::When | Tag::Once | Tag::After)
            )
        {
            let mut mark = first.clone();
            mark.kind = Kind::Mark(Tag::If, None);
            tokens.insert(0, mark);
        }
        let mut comma = first;
        comma.kind = Kind::Mark(Tag::Then, None);
        tokens.push(comma);
        tokens.extend_from_slice(rest);
        self.clauses(&tokens)
    }

    /// `one reminder, not two`
    fn number_not_more(&mut self, tokens: &[Token]) -> Option<Reading> {
        let Kind::Number(limit) = tokens.first()?.kind else {
            return None;
        };
        let not = tokens.iter().position(|token| token.is(Tag::Not))?;
        let more = tokens.get(not + 1)?.measure();
        let event = trimmed(&tokens[1..not]);
        let limit = limit.value.whole()?;
        (more.is_some() || tokens.get(not + 1)?.word("more"))
            .then(|| self.count(event, limit, &[]).ok())
            .flatten()
    }

    /// The obligations that one sentence joins with `and`.
    fn clauses(&mut self, tokens: &[Token]) -> Result<Reading, Doubt> {
        let parts = obligations(tokens);
        let mut shared = Vec::new();
        let mut found: Option<Reading> = None;
        for (index, part) in parts.iter().enumerate() {
            let mut words = trimmed(part).to_vec();
            if index > 0 {
                if found.is_some() && uses_up(&words) {
                    continue;
                }
                // `and must not …`: the subject is that of the first.
                if words.first().is_some_and(|first| {
                    matches!(first.tag(), Some(Tag::Must | Tag::MustNot | Tag::May))
                }) {
                    words.splice(0..0, self.elided.iter().cloned());
                }
                // `until it is done, and it does have to get done`
                if let Some(Reading { logic, .. }) = &mut found
                    && self.insists(&words, logic)
                {
                    continue;
                }
            }
            let reading = self.requirement(&words, &shared)?;
            if index == 0 && parts.len() > 1 {
                shared = Sentence::split(&words)
                    .subs
                    .into_iter()
                    .filter(|sub| {
                        sub.tokens
                            .first()
                            .is_some_and(|first| Some(first.span.start) < main_start(&words))
                    })
                    .filter(|sub| {
                        matches!(
                            sub.kind,
                            Tag::If | Tag::When | Tag::Once | Tag::After | Tag::From
                        )
                    })
                    .collect();
            }
            found = Some(match found {
                Some(first) => joined(first, reading),
                None => reading,
            });
        }
        found.ok_or(Doubt::NoSituation)
    }

    /// Whether a clause only insists that the end of an *until* must come; then it must.
    fn insists(&mut self, words: &[Token], logic: &mut Logic) -> bool {
        // `and one must come`, `which has to happen`
        let mut said = content(words);
        said.retain(|stem| !matches!(stem.as_str(), "one" | "happen" | "occur" | "come"));
        let Logic::Binary(op, _, _, end) = logic else {
            return false;
        };
        let Logic::Atom(end) = end.as_ref() else {
            return false;
        };
        let known = self.atoms.list().get(*end).is_some_and(|atom| {
            said.iter().all(|stem| {
                atom.phrase
                    .split(' ')
                    .any(|word| super::stem::stem(word) == *stem)
            })
        });
        if known && *op == Binary::Unless {
            *op = Binary::Until;
        }
        known
    }
}

/// Where the main clause begins, roughly: the first word that says what is asked for.
fn main_start(tokens: &[Token]) -> Option<usize> {
    tokens
        .iter()
        .find(|token| token.tag().is_some_and(super::clause::is_deontic))
        .map(|token| token.span.start)
}

/// The obligations that `and` joins: each has its own word that says what is asked for.
fn obligations(tokens: &[Token]) -> Vec<&[Token]> {
    let asks = |token: &Token| {
        matches!(
            token.tag(),
            Some(Tag::Must | Tag::MustNot | Tag::May | Tag::Never | Tag::Always | Tag::No)
        )
    };
    let mut parts = Vec::new();
    let mut from = 0;
    for at in 1..tokens.len() {
        let joins = matches!(tokens[at].tag(), Some(Tag::And | Tag::But));
        // `if a and b must …` joins conditions.
        let stands = tokens[from..at].iter().any(|token| {
            token.tag().is_some_and(|tag| {
                super::clause::is_deontic(tag)
                    || matches!(tag, Tag::Requires | Tag::Followed | Tag::Preceded)
            })
        }) || !tokens.get(from).is_some_and(super::clause::begins_clause)
            && super::main_clause::has_finite_verb(&tokens[from..at]);
        if !joins || !stands {
            continue;
        }
        let rest = &tokens[at + 1..];
        // `it must not happen that a is begun and never ended`: both are said of what must not happen.
        let described = tokens.get(from).is_some_and(|first| first.is(Tag::Forbid))
            && rest
                .first()
                .is_some_and(|next| matches!(next.tag(), Some(Tag::Never | Tag::Not)));
        if described {
            continue;
        }
        let near = rest.iter().take(8).position(asks);
        let whole = near.is_some_and(|near| {
            rest[..near].iter().all(|token| {
                token.tag().is_none_or(|tag| {
                    matches!(
                        tag,
                        Tag::Every | Tag::Any | Tag::Relative | Tag::When | Tag::Not
                    )
                }) && token.kind != Kind::Comma
            })
        });
        if whole {
            parts.push(&tokens[from..at]);
            from = at + 1;
        }
    }
    parts.push(&tokens[from..]);
    parts
}

/// Whether a sentence says that a permission is used up by what it permits.
fn uses_up(tokens: &[Token]) -> bool {
    let has = |words: &[&str]| {
        tokens
            .iter()
            .any(|token| token.kind == Kind::Word && words.contains(&token.low.as_str()))
    };
    has(&[
        "used",
        "consumed",
        "spent",
        "exhausted",
        "expended",
        "reused",
        "reusable",
        "recycled",
    ]) && has(&[
        "approval",
        "permission",
        "authorisation",
        "authorization",
        "token",
        "consent",
        "permit",
        "grant",
        "confirmation",
        "ticket",
        "clearance",
        "signal",
        "sign-off",
        "credit",
        "voucher",
    ])
}

/// `low-risk ones do not.`
fn is_ellipsis(tokens: &[Token]) -> bool {
    let last = tokens
        .iter()
        .rposition(|token| token.tag().is_some() || super::atom::carries(token));
    last.is_some_and(|last| {
        matches!(
            tokens[last].tag(),
            Some(Tag::Not | Tag::MustNot | Tag::Must | Tag::May)
        )
    })
}

/// Both readings as one.
fn joined(first: Reading, second: Reading) -> Reading {
    if let Some(logic) = renewed(&first.logic, &second.logic) {
        return Reading {
            logic,
            modality: Modality::Precedence,
            ..first
        };
    }
    let modality = match (first.modality, second.modality) {
        (_, Modality::Bounded) => Modality::Bounded,
        (first, _) => first,
    };
    Reading {
        logic: and([first.logic, second.logic]),
        modality,
        bound: first.bound.or(second.bound),
        count: first.count.or(second.count),
        likelihood: first.likelihood.or(second.likelihood),
        certainty: first.certainty.min(second.certainty) - 0.05,
    }
}

/// `q only after p`, and `no q after r until p again`: since the last `p` there was no `r`.
fn renewed(first: &Logic, second: &Logic) -> Option<Logic> {
    let Logic::Unary(Unary::Always, None, inner) = first else {
        return None;
    };
    let Logic::Implies(act, held) = inner.as_ref() else {
        return None;
    };
    let Logic::Unary(Unary::Once, None, permit) = held.as_ref() else {
        return None;
    };
    let revoked = |revoke: &Logic| {
        let scoped = crate::words::formula::until(
            not((**permit).clone()),
            and([(**act).clone(), not((**permit).clone())]),
        );
        never(and([revoke.clone(), next(scoped)]))
    };
    let Logic::Not(scene) = second else {
        return None;
    };
    let Logic::Unary(Unary::Eventually, None, scene) = scene.as_ref() else {
        return None;
    };
    let Logic::And(parts) = scene.as_ref() else {
        return None;
    };
    let revoke = parts.first()?;
    (revoked(revoke) == *second).then(|| {
        let held = previously(since(not(revoke.clone()), (**permit).clone()));
        always(implies((**act).clone(), held))
    })
}
