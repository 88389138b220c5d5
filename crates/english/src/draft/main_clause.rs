//! The main clause: what it asks for, of what, and what kind of thing it says.

use super::clause::{Sub, trimmed};
use super::lexicon::Tag;
use super::lexicon::verbs::VERBS;
use super::lexicon::words::{AUXILIARIES, PRONOUNS, among, is_event, is_staying};
use super::number::Unit;
use super::reading::Doubt;
use super::stem::stem;
use super::timing::Timing;
use super::token::{Kind, Token};

/// What the main clause asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    /// It must be so.
    Must,
    /// It must not be so.
    Forbid,
    /// It may be so.
    Permit,
}

/// The main clause.
#[derive(Clone, Debug)]
pub(super) struct Main {
    pub(super) force: Force,
    /// `only`, without a clause that says when.
    pub(super) only: bool,
    /// Whether a modal verb or its like says what is asked for.
    pub(super) said: bool,
    pub(super) subject: Vec<Token>,
    pub(super) predicate: Vec<Token>,
    pub(super) timing: Timing,
}

impl Main {
    /// Finds what a clause asks for. None where it has no words.
    pub(super) fn new(tokens: &[Token]) -> Option<Main> {
        let (words, timing) = Timing::take(trimmed(tokens));
        let words = trimmed(&words).to_vec();
        let only = words.iter().any(|token| token.is(Tag::Only));
        let mut main = Main {
            force: Force::Must,
            only,
            said: true,
            subject: Vec::new(),
            predicate: words.clone(),
            timing,
        };
        let first = words.first();
        if words.is_empty() && timing == Timing::default() {
            return None;
        }
        let tag = |at: usize| words.get(at).and_then(Token::tag);
        // In front of all: `make sure that …`, `it is not OK to …`, `never …`, `no …`.
        match first.and_then(Token::tag) {
            Some(Tag::Ensure) => {
                let mut inner = Main::new(&words[1..])?;
                inner.said = true;
                inner.timing = inner.timing.merged(timing);
                return Some(inner);
            }
            Some(Tag::Forbid) => {
                main.force = Force::Forbid;
                main.predicate = words[1..].to_vec();
                return Some(main);
            }
            Some(Tag::Never | Tag::MustNot | Tag::Not) => {
                main.force = Force::Forbid;
                let rest = &words[1..];
                let rest = if rest
                    .first()
                    .is_some_and(|next| matches!(next.tag(), Some(Tag::May | Tag::Must)))
                {
                    &rest[1..]
                } else {
                    rest
                };
                main.predicate = rest.to_vec();
                return Some(main);
            }
            Some(Tag::No | Tag::Nobody) => {
                return Some(main.negative_subject(&words));
            }
            Some(Tag::NothingElse) if words.len() > 1 => {
                return Some(main.negative_subject(&words));
            }
            _ => {}
        }
        // `is forbidden`, `must not happen`, at the end.
        if let Some(at) = words.iter().rposition(|token| token.is(Tag::Forbidden)) {
            main.force = Force::Forbid;
            main.predicate = [&words[..at], &words[at + 1..]].concat();
            return Some(main);
        }
        let modal = (0..words.len()).find(|at| {
            matches!(
                tag(*at),
                Some(Tag::Must | Tag::MustNot | Tag::May | Tag::Never | Tag::Allowed | Tag::Ensure)
            ) && (*at == 0 || tag(at - 1) != Some(Tag::Relative))
        });
        if let Some(at) = modal {
            main.subject = trimmed(&words[..at]).to_vec();
            main.predicate = words[at + 1..].to_vec();
            main.force = match tag(at) {
                Some(Tag::MustNot | Tag::Never) => Force::Forbid,
                Some(Tag::May | Tag::Allowed) => Force::Permit,
                _ => Force::Must,
            };
            main.settle();
            return Some(main);
        }
        main.said = false;
        main.indicative(&words);
        Some(main)
    }

    /// `No write may be made`, `nobody may …`.
    fn negative_subject(mut self, words: &[Token]) -> Main {
        self.force = Force::Forbid;
        let rest = &words[1..];
        let modal = rest.iter().position(|token| {
            matches!(
                token.tag(),
                Some(Tag::May | Tag::Must | Tag::Allowed | Tag::MustNot)
            )
        });
        match modal {
            Some(at) => {
                self.subject = rest[..at].to_vec();
                self.predicate = rest[at + 1..].to_vec();
            }
            None => self.predicate = rest.to_vec(),
        }
        self
    }

    /// `shall never`, `may not`, `must use no tools`, `must stop issuing calls`.
    fn settle(&mut self) {
        let first = self.predicate.first().and_then(Token::tag);
        if matches!(first, Some(Tag::Never | Tag::Not)) {
            self.force = Force::Forbid;
            self.predicate.remove(0);
        }
        let stopping = self.predicate.first().is_some_and(|first| {
            matches!(
                first.low.as_str(),
                "stop" | "cease" | "halt" | "suspend" | "quit" | "avoid"
            )
        }) && self
            .predicate
            .get(1)
            .is_some_and(|next| next.low.ends_with("ing"));
        if self.force == Force::Must && stopping {
            self.force = Force::Forbid;
            self.predicate.remove(0);
        }
        let no = self
            .predicate
            .iter()
            .position(|token| matches!(token.tag(), Some(Tag::No | Tag::Nobody)));
        if let Some(at) = no
            && self.force != Force::Forbid
            && !self.predicate[..at]
                .iter()
                .any(|token| token.is(Tag::Relative))
        {
            self.force = Force::Forbid;
            self.predicate.remove(at);
        }
    }

    /// No modal verb: an order, or a statement of how things are to be.
    fn indicative(&mut self, words: &[Token]) {
        let negation = words.iter().position(|token| token.is(Tag::Not));
        if let Some(at) = negation
            && !words[..at]
                .iter()
                .any(|token| matches!(token.tag(), Some(Tag::Relative | Tag::Requires)))
        {
            self.force = Force::Forbid;
            self.subject = words[..at]
                .iter()
                .filter(|token| !(token.kind == Kind::Word && among(AUXILIARIES, &token.low)))
                .cloned()
                .collect();
            self.predicate = words[at + 1..].to_vec();
            return;
        }
        if let Some(verb) = main_verb(words) {
            self.subject = words[..verb].to_vec();
            self.predicate = words[verb..].to_vec();
        }
    }

    /// Subject and predicate together.
    pub(super) fn whole(&self) -> Vec<Token> {
        let mut words = self.subject.clone();
        words.extend(self.predicate.iter().cloned());
        words
    }

    /// Whether it is an order: it begins with a verb and has no subject.
    pub(super) fn is_order(&self) -> bool {
        self.subject.is_empty() && self.predicate.first().is_some_and(is_base_verb)
    }
}

fn is_base_verb(token: &Token) -> bool {
    token.kind == Kind::Word && among(VERBS, &token.low)
}

/// Where the verb of a statement begins: a form of *be*, *have*, *do*, or a verb of the lexicon in the third person.
fn main_verb(words: &[Token]) -> Option<usize> {
    if words.first().is_some_and(is_base_verb) {
        return None;
    }
    let relative = words.iter().position(|token| token.is(Tag::Relative));
    let mut found = (0..words.len()).filter(|at| {
        let token = &words[*at];
        token.kind == Kind::Word
            && *at > 0
            && (among(AUXILIARIES, &token.low) && !token.low.starts_with("be")
                || is_third_person(&token.low)
                || among(STATES_VERBS, &token.low) && is_plural(&words[at - 1]))
    });
    match relative {
        // `a call that was made is logged`: the second verb.
        Some(relative) => found.find(|at| *at > relative + 2).or_else(|| found.next()),
        None => found.next(),
    }
}

/// `sends`, `comes`, `stays`.
pub(super) fn is_third_person(word: &str) -> bool {
    let Some(base) = word.strip_suffix('s') else {
        return false;
    };
    let known = |base: &str| among(VERBS, base) || among(STATES_VERBS, base);
    // Many verbs are nouns, too: `calls`, `requests`; only what is nearly always a verb is taken.
    let noun = |base: &str| is_event(&stem(base)) || among(NOUN_TOO, base);
    let sibilant = word.strip_suffix("es").filter(|base| known(base));
    known(base) && !noun(base) || sibilant.is_some_and(|base| !noun(base))
}

/// Whether a clause has a verb: an order, or one in the third person.
pub(super) fn has_finite_verb(words: &[Token]) -> bool {
    words.first().is_some_and(is_base_verb) || main_verb(words).is_some()
}

fn is_plural(token: &Token) -> bool {
    token.kind == Kind::Word
        && token.low.len() > 3
        && token.low.ends_with('s')
        && !token.low.ends_with("ss")
}

/// Verbs that are nouns as often.
const NOUN_TOO: &[&str] = &[
    "file", "list", "order", "page", "record", "log", "mark", "test", "share", "sign", "set",
    "start", "stop", "store", "place", "post", "process", "prompt", "draft", "book", "charge",
    "copy", "load", "lock", "park", "pull", "quote", "reply", "report", "review", "roll", "sync",
    "trade", "turn", "use", "back", "block", "cook", "drive", "lift", "drop", "display", "flag",
    "offer", "signal", "switch", "summary", "brake",
];

/// Verbs of states and of coming and going, which begin no order.
pub(super) const STATES_VERBS: &[&str] = &[
    "come", "go", "arrive", "happen", "occur", "follow", "precede", "become", "contain", "hold",
    "exist", "belong", "depend", "remain", "stay", "keep", "continue", "need", "require", "expire",
    "fail", "succeed", "begin", "end", "receive", "get", "make", "say", "ask", "know", "want",
    "produce", "yield", "trigger", "appear", "exceed", "match", "reach", "think", "wake", "sleep",
    "lie", "stand", "turn", "move", "wait", "work", "own", "lead",
];

/// A description that is called a breach: the words around `is prohibited`, before `that's a violation`, `= bug`.
pub(super) fn described_as_breach(tokens: &[Token]) -> Option<Vec<Token>> {
    if let Some(at) = tokens
        .iter()
        .rposition(|token| token.is(Tag::Breach))
        .filter(|at| *at > 0)
    {
        return Some(trimmed(&tokens[..at]).to_vec());
    }
    if let Some(at) = tokens
        .iter()
        .rposition(|token| token.is(Tag::Forbidden))
        .filter(|at| *at > 0)
    {
        let asks = |token: &Token| {
            matches!(
                token.tag(),
                Some(Tag::Must | Tag::MustNot | Tag::May | Tag::Never | Tag::No)
            )
        };
        let alone = !tokens[at..].iter().any(asks)
            && !tokens[..at]
                .iter()
                .any(|token| asks(token) && !token.is(Tag::No));
        return alone.then(|| [trimmed(&tokens[..at]), &tokens[at + 1..]].concat());
    }
    let equals = tokens
        .iter()
        .rposition(|token| token.kind == Kind::Equals)?;
    let called = tokens[equals + 1..].iter().any(|token| {
        matches!(
            token.low.as_str(),
            "bug"
                | "violation"
                | "breach"
                | "error"
                | "fault"
                | "incident"
                | "fail"
                | "failure"
                | "forbidden"
                | "bad"
        ) || token.is(Tag::Forbidden)
    });
    called.then(|| trimmed(&tokens[..equals]).to_vec())
}

/// Whether a subordinate clause stands in front of the sentence.
pub(super) fn leads(tokens: &[Token], sub: &Sub) -> bool {
    match (sub.tokens.first(), tokens.first()) {
        (Some(sub), Some(first)) => {
            sub.span.start <= first.span.end + 30 && sub.span.start < 60 + first.span.start
        }
        _ => false,
    }
}

/// Whether a verb says that something goes on.
pub(super) fn stays(tokens: &[Token]) -> bool {
    tokens
        .iter()
        .take(3)
        .any(|token| token.kind == Kind::Word && is_staying(&token.stem))
}

/// Without the verb that says that it goes on.
pub(super) fn without_staying(tokens: &[Token]) -> Vec<Token> {
    tokens
        .iter()
        .filter(|token| token.kind != Kind::Word || !is_staying(&token.stem))
        .cloned()
        .collect()
}

/// The limit of a count that a clause states: `at most 3 times` of what is allowed or required, `more than twice` of
/// what is forbidden.
pub(super) fn count_limit(timing: Timing, main: &Main) -> Option<u32> {
    if let Some(limit) = timing.at_most {
        return limit.value.whole();
    }
    // `the number of refunds must not exceed four`
    if main.force == Force::Forbid
        && let Some(at) = main
            .predicate
            .iter()
            .position(|token| matches!(token.low.as_str(), "exceed" | "surpass"))
        && let Some(Kind::Number(limit)) = main.predicate.get(at + 1).map(|token| token.kind)
        && limit.unit == Unit::None
    {
        let counted = main
            .subject
            .iter()
            .any(|token| matches!(token.low.as_str(), "number" | "count" | "total"));
        return limit.value.whole().filter(|_| counted);
    }
    match main.force {
        Force::Forbid => timing
            .more_than
            .and_then(|more| more.value.whole())
            .or_else(|| {
                timing
                    .times
                    .or(timing.at_least)?
                    .value
                    .whole()?
                    .checked_sub(1)
            }),
        Force::Permit => timing.times?.value.whole(),
        Force::Must => None,
    }
}

/// Without `the number of`.
pub(super) fn without_number_of(tokens: &[Token]) -> &[Token] {
    let number = tokens
        .iter()
        .position(|token| matches!(token.low.as_str(), "number" | "count" | "total" | "amount"));
    match number {
        Some(at) if tokens.get(at + 1).is_some_and(|next| next.word("of")) => &tokens[at + 2..],
        _ => tokens,
    }
}

/// Without a leading `by`.
pub(super) fn trim_by(tokens: &[Token]) -> &[Token] {
    let tokens = trimmed(tokens);
    match tokens.split_first() {
        Some((first, rest)) if first.word("by") => rest,
        _ => tokens,
    }
}

/// The noun that a set restricts: `skills in the allowed set` are skills.
pub(super) fn vec_of_head(tokens: &[Token]) -> Vec<Token> {
    let end = tokens
        .iter()
        .position(|token| {
            matches!(token.kind, Kind::Name | Kind::Mark(..))
                || matches!(token.low.as_str(), "in" | "on" | "from" | "of" | "listed")
        })
        .filter(|end| *end > 0)
        .unwrap_or(tokens.len());
    tokens[..end].to_vec()
}

/// `a, b and c may be used`: the members, and what is said of them.
pub(super) fn split_at_verb<'a>(
    tokens: &'a [Token],
    main: &Main,
    cut: usize,
) -> (&'a [Token], &'a [Token]) {
    if cut < main.subject.len() {
        let members = (main.subject.len() - cut - 1).min(tokens.len());
        return tokens.split_at(members);
    }
    (tokens, &[])
}

/// What an empty clause lacks.
pub(super) fn reference_or_nothing(tokens: &[Token]) -> Doubt {
    match tokens.iter().find(|token| among(PRONOUNS, &token.low)) {
        Some(pronoun) => Doubt::Reference(pronoun.low.to_string()),
        None => Doubt::NoSituation,
    }
}

/// Whether the predicate says what is the case rather than what is done.
pub(super) fn is_stative(main: &Main) -> bool {
    if main.is_order() {
        return false;
    }
    let predicate = &main.predicate;
    let Some(first) = predicate.iter().find(|token| token.tag() != Some(Tag::Not)) else {
        return true;
    };
    let have = matches!(
        first.low.as_str(),
        "have"
            | "has"
            | "hold"
            | "holds"
            | "contain"
            | "contains"
            | "know"
            | "own"
            | "belong"
            | "lie"
            | "exceed"
            | "match"
            | "equal"
            | "possess"
            | "carry"
    );
    // `must have been approved`, `must be in the kitchen`, `must be active`: no act by anybody.
    let be = matches!(first.low.as_str(), "be" | "is" | "are" | "being");
    let acted = predicate
        .iter()
        .skip(1)
        .find(|token| token.kind == Kind::Word)
        .is_some_and(|next| {
            next.low.ends_with("ed") && among(VERBS, next.low.trim_end_matches('d'))
                || among(VERBS, next.low.trim_end_matches("ed")) && next.low.ends_with("ed")
        });
    let adverb = main.timing.already || main.timing.always;
    adverb || have || stays(predicate) || be && !acted
}

/// Whether the predicate says what is done.
pub(super) fn is_active(main: &Main) -> bool {
    !is_stative(main)
}
