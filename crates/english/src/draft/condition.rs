//! A clause as a condition on the step it is said of: negation, coordination, times, atoms.

use super::atom::{Atoms, content};
use super::clause::trimmed;
use super::lexicon::Tag;
use super::lexicon::words::{AUXILIARIES, DETERMINERS, FREE_OF, NEGATIVE, PRONOUNS, among};
use super::main_clause::is_third_person;
use super::stem::stem;
use super::timing::Timing;
use super::token::{Kind, Token};
use crate::words::formula::{Logic, and, not, once, or};

/// What clauses become conditions with: the atoms so far and what pronouns stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Reader {
    /// The situations so far.
    pub(super) atoms: Atoms,
    /// What `it` stands for.
    pub(super) subject: Vec<Token>,
    /// Whether what permits an act is used up by it.
    pub(super) consumed: bool,
    /// What is spoken of in front of a colon.
    pub(super) topic: Vec<Token>,
    /// The time within which a count counts.
    pub(super) span_of_count: Option<super::number::Measure>,
    /// Whether a count is of what is so at one time.
    pub(super) always_counted: bool,
    /// What an elided subject is.
    pub(super) elided: Vec<Token>,
}

impl Reader {
    /// The condition of a clause, with its times. None where it has no content.
    pub(super) fn condition(&mut self, tokens: &[Token]) -> Option<Logic> {
        let tokens = trimmed(tokens);
        // Clauses with a verb each have their own times.
        if [Tag::And, Tag::Or].iter().any(|tag| {
            parts(tokens, *tag).is_some_and(|parts| parts.iter().all(|part| has_verb(part)))
        }) && let Some(logic) = self.coordinated(tokens, Timing::default())
        {
            return Some(logic);
        }
        let (rest, timing) = Timing::take(tokens);
        self.timed(&rest, timing)
    }

    /// The condition of a clause whose times are taken out already.
    pub(super) fn timed(&mut self, tokens: &[Token], timing: Timing) -> Option<Logic> {
        let tokens = trimmed(tokens);
        if let Some(logic) = self.coordinated(tokens, timing) {
            return Some(logic);
        }
        let (positive, negated) = without_negation(tokens);
        if let Some(logic) = self.qualified(&positive, timing, negated) {
            return Some(logic);
        }
        let atom = self.atom(&positive)?;
        Some(timing.wrap(atom, negated))
    }

    /// The atom of words.
    pub(super) fn atom(&mut self, tokens: &[Token]) -> Option<Logic> {
        let words: Vec<Token> = tokens
            .iter()
            .filter(|token| !token.is(Tag::Filler))
            .cloned()
            .collect();
        self.atoms
            .intern(trimmed(&words), &self.subject)
            .map(Logic::Atom)
    }

    /// `a or b`, `a and b` between clauses or events.
    fn coordinated(&mut self, tokens: &[Token], timing: Timing) -> Option<Logic> {
        for (tag, all) in [(Tag::Or, false), (Tag::And, true)] {
            let Some(parts) = parts(tokens, tag) else {
                continue;
            };
            let subject = subject_of(parts[0]).to_vec();
            let mut conditions = Vec::new();
            for (index, part) in parts.iter().enumerate() {
                let part = trimmed(part);
                let mut words = part.to_vec();
                // `is committed or rolled back`: the subject is that of the first.
                if index > 0 && !has_subject(part) && !subject.is_empty() {
                    words.splice(0..0, subject.iter().cloned());
                }
                conditions.push(self.condition(&words)?);
            }
            let joined = if all { and(conditions) } else { or(conditions) };
            return Some(timing.wrap(joined, false));
        }
        None
    }

    /// `a without b`, `a with unapproved b`, `a free of b`.
    fn qualified(&mut self, tokens: &[Token], timing: Timing, negated: bool) -> Option<Logic> {
        if let Some(without) = tokens
            .iter()
            .position(|token| token.is(Tag::Without))
            .filter(|at| *at > 0)
        {
            let head = self.atom(&tokens[..without])?;
            let lacking = self.condition(&tokens[without + 1..])?;
            return Some(timing.wrap(and([head, not(lacking)]), negated));
        }
        let free = tokens
            .iter()
            .position(|token| token.kind == Kind::Word && among(FREE_OF, &token.low))?;
        tokens.get(free + 1).filter(|next| next.word("of"))?;
        let mut rest: Vec<Token> = tokens[..free].to_vec();
        rest.extend_from_slice(&tokens[free + 2..]);
        let atom = self.atom(&rest)?;
        Some(timing.wrap(atom, !negated))
    }

    /// What a description is bad by beside its head: a negated participle (`an unapproved call`), a relative clause
    /// (`a call that was not approved`), a second clause. The head and the conditions that are said of it; the times of
    /// the description belong to what is lacking.
    pub(super) fn description(
        &mut self,
        tokens: &[Token],
        timing: Timing,
    ) -> Option<(Logic, Vec<Logic>)> {
        let tokens = trimmed(tokens);
        if is_coordinated(tokens)
            && let Logic::And(mut parts) = self.condition(tokens)?
        {
            let rest = parts.split_off(1);
            return Some((parts.remove(0), rest));
        }
        if let Some(at) = tokens
            .iter()
            .position(|token| token.is(Tag::Relative))
            .filter(|at| *at > 0)
        {
            let clause = &tokens[at + 1..];
            if clause.iter().any(is_negation) {
                self.refer(&tokens[..at]);
                let mut condition = self.timed(clause, timing)?;
                // `that was never sent`: at no step up to now.
                if clause.iter().any(|token| token.is(Tag::Never))
                    && let Logic::Not(inner) = &condition
                    && inner.is_state()
                {
                    condition = not(once(None, (**inner).clone()));
                }
                let head = self.condition(&tokens[..at])?;
                return Some((head, vec![condition]));
            }
        }
        let mut head: Vec<Token> = tokens.to_vec();
        let mut conditions = Vec::new();
        if let Some(at) = head
            .iter()
            .position(|token| positive_of(&token.low).is_some())
            && let Some(positive) = positive_of(&head[at].low)
        {
            // What follows the adjective is what it is said of.
            let mut said: Vec<Token> = head[at..].to_vec();
            said[0].low = positive.into();
            said[0].stem = stem(positive);
            if let Some(condition) = self.atom(&said) {
                match head[..at].iter().rposition(|token| token.is(Tag::With)) {
                    Some(with) if at - with <= 2 && with > 0 => head.truncate(with),
                    _ => {
                        head.remove(at);
                    }
                }
                conditions.push(timing.wrap(condition, true));
            }
        }
        let logic = self.condition(&head)?;
        Some((logic, conditions))
    }

    /// From here on `it` is this.
    pub(super) fn refer(&mut self, tokens: &[Token]) {
        let subject = subject_of(trimmed(tokens));
        let pronoun = subject.iter().all(|token| among(PRONOUNS, &token.low));
        if !pronoun && !content(subject).is_empty() {
            self.subject = subject.to_vec();
        }
    }
}

/// The participle of a negated one.
pub(super) fn positive_of(word: &str) -> Option<&'static str> {
    NEGATIVE
        .iter()
        .find(|(negative, _)| *negative == word)
        .map(|(_, positive)| *positive)
}

/// The clause without its negation, and whether it had one.
fn without_negation(tokens: &[Token]) -> (Vec<Token>, bool) {
    let mut negated = false;
    let mut rest = Vec::with_capacity(tokens.len());
    for token in tokens {
        match token.tag() {
            Some(Tag::Not | Tag::No | Tag::Nobody | Tag::Never | Tag::MustNot) => {
                negated = !negated
            }
            _ => rest.push(token.clone()),
        }
    }
    (rest, negated)
}

/// Whether two clauses with a verb each are joined.
pub(super) fn is_coordinated(tokens: &[Token]) -> bool {
    parts(trimmed(tokens), Tag::And).is_some()
}

/// Whether a token negates.
pub(super) fn is_negation(token: &Token) -> bool {
    matches!(
        token.tag(),
        Some(Tag::Not | Tag::Nobody | Tag::No | Tag::Never | Tag::MustNot)
    )
}

/// The parts of a coordination of clauses or events; none where the words joined are but objects or attributes.
fn parts(tokens: &[Token], tag: Tag) -> Option<Vec<&[Token]>> {
    // What a relative clause joins is joined within it.
    let end = tokens
        .iter()
        .position(|token| token.is(Tag::Relative))
        .filter(|at| *at > 0)
        .unwrap_or(tokens.len());
    let cuts: Vec<usize> = (1..tokens.len().saturating_sub(1))
        .filter(|at| *at < end && tokens[*at].is(tag))
        .collect();
    if cuts.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    let mut from = 0;
    for cut in &cuts {
        parts.push(&tokens[from..*cut]);
        from = cut + 1;
    }
    parts.push(&tokens[from..]);
    let whole = parts.iter().all(|part| !content(part).is_empty());
    let standing = match tag {
        // Alternatives: each with its own article or verb, or names of events alone.
        Tag::Or => parts.iter().skip(1).all(|part| {
            let part = trimmed(part);
            has_verb(part)
                || starts_noun_phrase(part)
                || part.len() == 1 && parts[0].len() <= 2
                || is_participle(part.first()) && is_participle(trimmed(parts[0]).last())
        }),
        _ => {
            let second_clause = parts.iter().skip(1).all(|part| is_clause(trimmed(part)));
            let participles = parts.len() == 2
                && trimmed(parts[1]).len() == 1
                && is_participle(trimmed(parts[1]).first())
                && is_participle(trimmed(parts[0]).last())
                && has_verb(parts[0]);
            second_clause && is_clause(trimmed(parts[0])) || participles
        }
    };
    (whole && standing).then_some(parts)
}

/// Whether a clause has a verb of its own that can be told by its form.
pub(super) fn has_verb(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| {
        token.kind == Kind::Word && among(AUXILIARIES, &token.low)
            || matches!(
                token.tag(),
                Some(Tag::Not | Tag::No | Tag::Must | Tag::MustNot | Tag::May | Tag::Nobody)
            )
    })
}

/// Whether a clause has a verb: one that can be told by its form, or one in the third person after a noun phrase.
fn is_clause(tokens: &[Token]) -> bool {
    let third = |token: &Token| token.kind == Kind::Word && is_third_person(&token.low);
    has_verb(tokens) || starts_noun_phrase(tokens) && tokens.iter().skip(2).any(third)
}

fn is_participle(token: Option<&Token>) -> bool {
    token.is_some_and(|token| {
        token.kind == Kind::Word && token.low.len() > 4 && token.low.ends_with("ed")
    })
}

fn starts_noun_phrase(tokens: &[Token]) -> bool {
    tokens.first().is_some_and(|first| {
        first.kind == Kind::Word && among(DETERMINERS, &first.low) || first.kind == Kind::Name
    })
}

fn has_subject(tokens: &[Token]) -> bool {
    !subject_of(tokens).is_empty()
        || !has_verb(tokens) && starts_noun_phrase(tokens)
        || tokens
            .first()
            .is_some_and(|first| matches!(first.tag(), Some(Tag::Nobody | Tag::No)))
}

/// The words before the verb of a clause, where the verb can be told by its form; else its first noun phrase.
pub(super) fn subject_of(tokens: &[Token]) -> &[Token] {
    let verb = tokens.iter().position(|token| {
        token.kind == Kind::Word && among(AUXILIARIES, &token.low)
            || matches!(
                token.tag(),
                Some(Tag::Must | Tag::MustNot | Tag::May | Tag::Not | Tag::Never)
            )
    });
    match verb {
        Some(verb) => &tokens[..verb],
        None => {
            let end = tokens
                .iter()
                .position(|token| token.tag().is_some())
                .unwrap_or(tokens.len());
            &tokens[..end]
        }
    }
}
