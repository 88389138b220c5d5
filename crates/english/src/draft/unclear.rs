//! What a requirement leaves open, so that no formula could be said to be meant.

use super::atom::content;
use super::lexicon::Tag;
use super::lexicon::vague::{Missing, VAGUE};
use super::lexicon::words::{AGENTS, FREE_OF, FUNCTION, among};
use super::number::Unit;
use super::reading::{Doubt, Modality, Reading};
use super::token::{Kind, Token};

/// What shows before the sentence is read.
pub(super) fn before(plain: &[Token], tokens: &[Token]) -> Option<Doubt> {
    let words: Vec<&Token> = plain
        .iter()
        .filter(|token| token.kind == Kind::Word)
        .collect();
    if words.is_empty() {
        return Some(Doubt::NoSituation);
    }
    if is_foreign(&words) {
        return Some(Doubt::Language);
    }
    calendar(plain)
        .or_else(|| vague(plain, tokens))
        .or_else(|| some_of_them(plain))
        .or_else(|| all_not(tokens))
        .or_else(|| mixed(tokens))
        .or_else(|| limit_without_number(plain, tokens))
        .or_else(|| number_without_unit(plain))
        .or_else(|| dangling(tokens))
}

/// What shows once it is read.
pub(super) fn after(tokens: &[Token], reading: &Reading) -> Option<Doubt> {
    // Nothing that was said is left out in silence.
    let counts = reading.bound.is_some() || reading.count.is_some() || reading.likelihood.is_some();
    let span = tokens.iter().find(|token| {
        token
            .measure()
            .is_some_and(|measure| matches!(measure.unit, Unit::Steps | Unit::Seconds))
    });
    if let Some(measure) = span.and_then(Token::measure).filter(|_| !counts) {
        let unit = if measure.unit == Unit::Seconds {
            "seconds"
        } else {
            "steps"
        };
        return Some(Doubt::Unplaced(format!(
            "{} {unit}",
            measure.value.decimal()
        )));
    }
    // An order with one situation and nothing that says when: `Log everything.` asks for what, once or always?
    let bare = matches!(reading.modality, Modality::Existence) && reading.certainty < 0.6;
    let general = tokens.iter().any(|token| {
        matches!(
            token.low.as_str(),
            "everything" | "anything" | "something" | "things"
        )
    });
    (bare && general).then(|| Doubt::Vague(Missing::Quality, "everything".to_owned()))
}

/// English has function words in every sentence of some length; other languages have other letters, or none of these.
fn is_foreign(words: &[&Token]) -> bool {
    let letters: usize = words.iter().map(|word| word.low.chars().count()).sum();
    let foreign: usize = words
        .iter()
        .map(|word| {
            word.low
                .chars()
                .filter(|c| c.is_alphabetic() && !c.is_ascii())
                .count()
        })
        .sum();
    if foreign * 4 > letters {
        return true;
    }
    if words.len() < 5 {
        return false;
    }
    const OTHERS: &[&str] = &[
        "der", "die", "das", "und", "nicht", "ein", "eine", "darf", "muss", "nach", "vor", "wenn",
        "le", "la", "les", "un", "une", "ne", "pas", "doit", "avant", "el", "los", "las", "una",
        "debe", "antes", "si", "il", "lo", "non", "deve", "prima", "het", "een", "niet", "moet",
        "voor", "que", "para", "des", "du", "et", "est", "ist", "wird", "werden", "bevor",
        "agente", "keine", "kein", "jede", "jeder", "immer", "nie", "nunca", "jamais", "sempre",
        "mai",
    ];
    let english = words
        .iter()
        .filter(|word| among(FUNCTION, &word.low))
        .count();
    let others = words.iter().filter(|word| among(OTHERS, &word.low)).count();
    others >= 3 && others > english
}

/// A word that leaves open what would be a breach. Conditions are vague anywhere; qualities, times and amounts only in
/// what is asked for, and times and amounts only where no number is given.
fn vague(plain: &[Token], tokens: &[Token]) -> Option<Doubt> {
    let low: Vec<&str> = plain.iter().map(|token| token.low.as_str()).collect();
    let bounded = tokens.iter().any(|token| {
        matches!(
            token.tag(),
            Some(
                Tag::Within
                    | Tag::Next
                    | Tag::Fresh
                    | Tag::Longer
                    | Tag::AfterDelay
                    | Tag::Previous
                    | Tag::Lasting
            )
        )
    });
    let counted = tokens.iter().any(|token| token.measure().is_some());
    let mut found: Option<(usize, Missing, &str)> = None;
    for (phrase, missing) in VAGUE {
        let words: Vec<&str> = phrase.split(' ').collect();
        for (at, window) in low.windows(words.len()).enumerate() {
            if window != words.as_slice() {
                continue;
            }
            // `as soon as` is a connective.
            let place = plain[at].span.start;
            let length = plain[at + words.len() - 1].span.end - place;
            let marked = tokens.iter().any(|token| {
                token.tag().is_some_and(|tag| tag != Tag::Filler)
                    && token.span.contains(&place)
                    && token.span.len() > length
            });
            if marked {
                continue;
            }
            let asked = in_what_is_asked(plain, tokens, at);
            let counts = match missing {
                Missing::Condition => {
                    !among(&["try", "attempt", "aim", "strive"], phrase) || is_effort(plain, at)
                }
                Missing::Deadline => asked && !bounded,
                Missing::Amount => {
                    (asked || phrase.starts_with("too ") || *phrase == "enough") && !counted
                }
                Missing::Quality => asked && is_said(plain, at, words.len()),
                Missing::Frequency => asked && !counted,
            };
            if counts && found.is_none_or(|(_, _, known)| known.len() < phrase.len()) {
                found = Some((at, *missing, phrase));
            }
        }
    }
    found.map(|(_, missing, word)| Doubt::Vague(missing, word.to_owned()))
}

/// `should try to …`: an effort is no behaviour.
fn is_effort(plain: &[Token], at: usize) -> bool {
    let to = plain
        .get(at + 1)
        .is_some_and(|next| next.word("to") || next.word("for"));
    let verb = at == 0
        || matches!(
            plain[at - 1].low.as_str(),
            "should" | "must" | "shall" | "to" | "will" | "always" | "please"
        );
    to && verb
}

/// Whether a word stands in the main clause, not in a condition.
fn in_what_is_asked(plain: &[Token], tokens: &[Token], at: usize) -> bool {
    let place = plain[at].span.start;
    let sentence = super::clause::Sentence::split(
        tokens
            .split(|token| token.kind == Kind::Stop)
            .find(|part| part.last().is_some_and(|last| last.span.end >= place))
            .unwrap_or(tokens),
    );
    !sentence
        .subs
        .iter()
        .any(|sub| sub.tokens.iter().any(|token| token.span.contains(&place)))
}

/// Whether a quality is what is asked for, not what tells one thing from another: it stands last, after a verb, or is an
/// adverb. `a clean copy` names a copy.
fn is_said(plain: &[Token], at: usize, length: usize) -> bool {
    let after = plain.get(at + length);
    let last = after.is_none_or(|next| {
        next.kind != Kind::Word
            || matches!(
                next.low.as_str(),
                "and"
                    | "or"
                    | "to"
                    | "with"
                    | "when"
                    | "where"
                    | "while"
                    | "in"
                    | "at"
                    | "about"
                    | "by"
                    | "for"
                    | "if"
                    | "towards"
                    | "toward"
            )
    });
    let adverb = plain[at].low.ends_with("ly") || length > 1;
    let of = after.is_some_and(|next| next.word("of")) && among(FREE_OF, &plain[at].low);
    let copula = at > 0
        && matches!(
            plain[at - 1].low.as_str(),
            "be" | "is" | "are" | "kept" | "stay" | "remain" | "keep"
        );
    (last || adverb || copula) && !of
}

/// `between 22:00 and 06:00`, `on Sundays`
fn calendar(plain: &[Token]) -> Option<Doubt> {
    const NAMES: &[&str] = &[
        "monday",
        "mondays",
        "tuesday",
        "tuesdays",
        "wednesday",
        "wednesdays",
        "thursday",
        "thursdays",
        "friday",
        "fridays",
        "saturday",
        "saturdays",
        "sunday",
        "sundays",
        "weekend",
        "weekends",
        "midnight",
        "noon",
        "january",
        "february",
        "april",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "o'clock",
    ];
    let named = plain
        .iter()
        .find(|token| token.kind == Kind::Word && among(NAMES, &token.low));
    if let Some(named) = named {
        return Some(Doubt::Calendar(named.low.to_string()));
    }
    let digits =
        |token: &Token| token.low.len() <= 2 && token.low.chars().all(|c| c.is_ascii_digit());
    plain.windows(3).find_map(|parts| {
        let clock = digits(&parts[0])
            && parts[1].kind == Kind::Colon
            && digits(&parts[2])
            && parts[0].span.end == parts[1].span.start
            && parts[1].span.end == parts[2].span.start;
        clock.then(|| Doubt::Calendar(format!("{}:{}", parts[0].low, parts[2].low)))
    })
}

/// `Some requests need approval`: which ones?
fn some_of_them(plain: &[Token]) -> Option<Doubt> {
    let first = plain.iter().find(|token| token.kind == Kind::Word)?;
    matches!(
        first.low.as_str(),
        "some" | "certain" | "many" | "most" | "several" | "few" | "various"
    )
    .then(|| Doubt::Vague(Missing::Condition, first.low.to_string()))
}

/// `All tools must not be used`: none, or not all?
fn all_not(tokens: &[Token]) -> Option<Doubt> {
    let first = tokens.first()?;
    if first.is(Tag::Not) && tokens.get(1).is_some_and(|next| next.is(Tag::Every)) {
        return Some(Doubt::Scope("not all".to_owned()));
    }
    let all = first.low == "all" || first.low == "every" || first.low == "each";
    if !all || !first.is(Tag::Every) {
        return None;
    }
    let modal = tokens
        .iter()
        .position(|token| token.tag().is_some_and(super::clause::is_deontic))?;
    let not = tokens[modal].is(Tag::MustNot);
    let clauses = tokens[..modal].iter().any(|token| token.is(Tag::Relative));
    let verb = tokens
        .get(modal + 1..)?
        .iter()
        .take(4)
        .map(|token| token.low.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    (not && !clauses).then(|| {
        Doubt::Scope(format!(
            "{} may {verb}",
            super::atom::phrase(&tokens[1..modal])
        ))
    })
}

/// `a or b and c` without anything that says how they belong together.
fn mixed(tokens: &[Token]) -> Option<Doubt> {
    let plain_list = |part: &[Token]| {
        let or = part.iter().any(|token| token.is(Tag::Or));
        let and = part.iter().any(|token| token.is(Tag::And));
        let either = part
            .iter()
            .any(|token| matches!(token.low.as_str(), "either" | "both"));
        let modals = part
            .iter()
            .filter(|token| matches!(token.tag(), Some(Tag::Must | Tag::MustNot | Tag::May)))
            .count();
        or && and && !either && modals < 2
    };
    tokens
        .split(|token| {
            matches!(token.kind, Kind::Comma | Kind::Stop | Kind::Colon)
                || super::clause::begins_clause(token)
        })
        .any(plain_list)
        .then_some(Doubt::Coordination)
}

/// `Limit the number of retries.`
fn limit_without_number(plain: &[Token], tokens: &[Token]) -> Option<Doubt> {
    let numbered = tokens.iter().any(|token| token.measure().is_some());
    if numbered {
        return None;
    }
    let low: Vec<&str> = plain.iter().map(|token| token.low.as_str()).collect();
    let has = |words: &[&str]| low.windows(words.len()).any(|window| window == words);
    let number =
        has(&["number", "of"]) || has(&["amount", "of"]) || has(&["rate", "of"]) || has(&["rate"]);
    let limit = [
        "limit",
        "limited",
        "restrict",
        "restricted",
        "cap",
        "capped",
        "bounded",
        "bound",
        "exceed",
    ]
    .iter()
    .any(|word| low.contains(word));
    let capped = has(&["be", "capped"])
        || has(&["be", "limited"]) && !has(&["limited", "to"])
        || has(&["is", "limited"]) && !has(&["limited", "to"]);
    let within = ["on", "for", "of"]
        .iter()
        .any(|of| has(&["the", "limit", of]))
        || has(&["within", "the", "limit"])
        || has(&["within", "the", "deadline"])
        || has(&["the", "time", "limit"])
        || has(&["allotted", "time"])
        || has(&["in", "time"]);
    (number && limit || capped || within && !low.contains(&"if")).then_some(Doubt::NoNumber)
}

/// `within 5`: of what?
fn number_without_unit(plain: &[Token]) -> Option<Doubt> {
    plain.windows(2).enumerate().find_map(|(at, pair)| {
        let number = super::number::with_numbers(pair.get(1..)?.to_vec());
        let Some(Kind::Number(measure)) = number.first().map(|token| token.kind) else {
            return None;
        };
        let ends = plain.get(at + 2).is_none_or(|next| {
            matches!(next.kind, Kind::Comma | Kind::Stop | Kind::Colon)
                || matches!(next.low.as_str(), "of" | "after" | "from")
        });
        (pair[0].word("within") && measure.unit == Unit::None && ends)
            .then(|| Doubt::Unitless(pair[1].low.to_string()))
    })
}

/// `it`, `that`, `them` where nothing they could stand for is named.
fn dangling(tokens: &[Token]) -> Option<Doubt> {
    let pronoun = tokens.iter().position(|token| {
        token.kind == Kind::Word
            && matches!(
                token.low.as_str(),
                "it" | "them" | "this" | "those" | "these" | "that" | "they"
            )
    })?;
    let word = tokens[pronoun].low.clone();
    // Before a noun it is no pronoun of its own, and names what was named.
    let determiner = tokens.get(pronoun + 1).is_some_and(super::atom::carries)
        && !matches!(word.as_str(), "it" | "them" | "they");
    if determiner && !matches!(word.as_str(), "this" | "these" | "those" | "that") {
        return None;
    }
    // `discloses that it is an AI`: the one who acts.
    let acts = tokens.get(pronoun + 1).is_some_and(|next| {
        super::condition::has_verb(std::slice::from_ref(next))
            || word == "it" && next.kind == Kind::Word && next.low.ends_with('s')
    });
    let agent = tokens[..pronoun]
        .iter()
        .any(|token| among(AGENTS, &token.low));
    if acts && agent {
        return None;
    }
    let candidates: Vec<&Token> = tokens
        .iter()
        .enumerate()
        .filter(|(at, token)| {
            *at != pronoun
                && super::atom::carries(token)
                && !among(AGENTS, &token.low)
                && !is_verb_of(tokens, *at)
        })
        .map(|(_, token)| token)
        .collect();
    let named = candidates
        .iter()
        .any(|token| token.kind != Kind::Word || content(&[(*token).clone()]).len() == 1);
    (!named && !determiner).then(|| Doubt::Reference(word.to_string()))
}

/// Whether a word is the verb that a modal verb asks for.
fn is_verb_of(tokens: &[Token], at: usize) -> bool {
    at == 0
        || tokens[at - 1].tag().is_some_and(super::clause::is_deontic)
        || tokens[at - 1].kind == Kind::Word
            && matches!(
                tokens[at - 1].low.as_str(),
                "be" | "to" | "been" | "is" | "are" | "was" | "it" | "they" | "that" | "this"
            )
        || at > 1
            && tokens[at - 2].tag().is_some_and(super::clause::is_deontic)
            && tokens[at - 1].low == "be"
}
