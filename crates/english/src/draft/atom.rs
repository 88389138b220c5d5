//! Atoms: the situations a requirement speaks of, recognised when they are spoken of again, and named.

use smol_str::SmolStr;

use super::lexicon::verbs::VERBS;
use super::lexicon::words::{AGENTS, AUXILIARIES, DETERMINERS, FUNCTION, PRONOUNS, among};
use super::token::{Kind, Token};

/// A situation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Atom {
    /// The words it is spoken of with.
    pub(super) phrase: String,
    /// A name for a predicate.
    pub(super) name: String,
    /// What is the same in all ways of speaking of it: stems of its content words, sorted.
    key: Vec<SmolStr>,
}

impl Atom {
    /// What is the same in all ways of speaking of it.
    pub(super) fn key(&self) -> &[SmolStr] {
        &self.key
    }
}

/// The situations of one requirement.
#[derive(Clone, Debug, Default)]
pub(super) struct Atoms {
    list: Vec<Atom>,
}

/// Words that make another verb of a verb.
const PARTICLES: &[&str] = &[
    "in", "out", "on", "off", "up", "down", "over", "through", "away",
];

/// Longest name in words and in characters.
const WORDS: usize = 4;
const LENGTH: usize = 32;

impl Atoms {
    /// The atom for these words; one that was spoken of before where the content words are the same. None where there is
    /// no content.
    pub(super) fn intern(&mut self, tokens: &[Token], subject: &[Token]) -> Option<usize> {
        let mut key = content(tokens);
        if key.is_empty() {
            // `it is on`: the particle is all there is.
            let particles = tokens.iter().filter(|token| {
                token.kind == Kind::Word
                    && !among(PRONOUNS, &token.low)
                    && !among(DETERMINERS, &token.low)
                    && !among(AUXILIARIES, &token.low)
            });
            key.extend(particles.map(|token| token.low.clone()));
        }
        if key.is_empty() {
            return None;
        }
        // `checked in` is not `checked out`.
        let last = tokens.iter().rev().find(|token| token.kind == Kind::Word);
        if let Some(last) = last.filter(|last| among(PARTICLES, &last.low)) {
            key.push(last.low.clone());
        }
        // A pronoun stands for what was spoken of: `it is read` is the file that is read.
        if tokens.iter().any(|token| among(PRONOUNS, &token.low)) {
            key.extend(content(subject));
        }
        key.sort_unstable();
        key.dedup();
        if let Some(known) = self.list.iter().position(|atom| atom.key == key) {
            return Some(known);
        }
        let name = self.fresh(name(tokens));
        self.list.push(Atom {
            phrase: phrase(tokens),
            name,
            key,
        });
        Some(self.list.len() - 1)
    }

    /// One situation of two, where the second is what the first lacks, or has.
    pub(super) fn merge(&mut self, first: usize, second: usize, lacks: bool) -> usize {
        let Some((a, b)) = self
            .list
            .get(first)
            .cloned()
            .zip(self.list.get(second).cloned())
        else {
            return first;
        };
        let (word, sign) = if lacks {
            ("without", "not")
        } else {
            ("with", "and")
        };
        let name = self.fresh(format!("{}_{sign}_{}", a.name, b.name));
        let mut key = [a.key, b.key].concat();
        key.sort_unstable();
        self.list.push(Atom {
            phrase: format!("{}, {word} {}", a.phrase, b.phrase),
            name,
            key,
        });
        self.list.len() - 1
    }

    /// The opposite situation.
    pub(super) fn negate(&mut self, index: usize) {
        if let Some(atom) = self.list.get_mut(index) {
            atom.name = format!("not_{}", atom.name);
            atom.phrase = format!("it is not so: {}", atom.phrase);
        }
    }

    /// All atoms, by number.
    pub(super) fn list(&self) -> &[Atom] {
        &self.list
    }

    fn fresh(&self, name: String) -> String {
        let taken = |name: &str| self.list.iter().any(|atom| atom.name == name);
        if !taken(&name) {
            return name;
        }
        let mut count = 2;
        while taken(&format!("{name}_{count}")) {
            count += 1;
        }
        format!("{name}_{count}")
    }
}

/// Stems of the words that carry content.
pub(super) fn content(tokens: &[Token]) -> Vec<SmolStr> {
    tokens
        .iter()
        .filter(|token| carries(token))
        .map(|token| token.stem.clone())
        .collect()
}

/// Whether a token says what something is about.
pub(super) fn carries(token: &Token) -> bool {
    match token.kind {
        Kind::Word => !among(FUNCTION, &token.low),
        Kind::Name | Kind::Number(_) => true,
        _ => false,
    }
}

/// The words as they stand, quotes and all that parts clauses left out.
pub(super) fn phrase(tokens: &[Token]) -> String {
    let words: Vec<&str> = tokens
        .iter()
        .filter(|token| !matches!(token.kind, Kind::Comma | Kind::Stop | Kind::Colon))
        .map(|token| token.low.as_str())
        .collect();
    words.join(" ")
}

/// A name from the first words that carry content. Who acts is left out where the act says enough.
fn name(tokens: &[Token]) -> String {
    let content: Vec<&Token> = tokens.iter().filter(|token| carries(token)).collect();
    let agents = content
        .iter()
        .take_while(|token| among(AGENTS, &token.low))
        .count();
    let skipped = if content.len() > agents + 1 {
        agents
    } else {
        0
    };
    let mut words = content[skipped.min(content.len())..]
        .iter()
        .filter(|token| !token.low.ends_with("ly") || content.len() < 3 || among(VERBS, &token.low))
        .map(|token| {
            let plain = token.low.trim_end_matches("'s").chars();
            let word: String = plain
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
                .collect();
            word.split('_')
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("_")
        })
        .filter(|word| !word.is_empty());
    let mut name = String::new();
    for word in words.by_ref().take(WORDS) {
        if !name.is_empty() && name.len() + word.len() >= LENGTH {
            break;
        }
        if !name.is_empty() {
            name.push('_');
        }
        name.push_str(&word);
    }
    name.truncate(2 * LENGTH);
    let name = name.trim_matches('_').to_owned();
    if name.is_empty() {
        return "event".to_owned();
    }
    // One letter is an operator, a digit begins no name, and words of the language are no names.
    if name.len() <= 2 || name.starts_with(|c: char| c.is_ascii_digit()) || is_reserved(&name) {
        return format!("is_{name}");
    }
    name
}

/// Whether a word is one of the language.
pub(super) fn is_reserved(word: &str) -> bool {
    among(RESERVED, word) || guard_automata::operators().any(|op| op.word == word)
}

/// Words of the language that a phrase could come down to, besides temporal operators.
const RESERVED: &[&str] = &[
    "and",
    "or",
    "not",
    "in",
    "as",
    "if",
    "then",
    "else",
    "cases",
    "when",
    "true",
    "false",
    "null",
    "matches",
    "contains",
    "starts_with",
    "ends_with",
    "within",
    "precedes",
    "list",
    "set",
    "map",
    "forall",
    "exists",
    "never",
    "leads",
    "last",
    "meta",
    "unknown",
    "before",
    "start",
    "any",
    "all",
    "count",
    "end",
    "text",
    "words",
    "len",
    "lower",
    "upper",
    "trim",
    "split",
    "min",
    "max",
    "abs",
    "floor",
    "json",
    "capture",
    "todo",
    "step",
    "steps",
    "event",
    "trace",
    "use",
    "const",
    "enum",
    "record",
    "let",
    "predicate",
    "track",
    "unsafe",
    "property",
    "rule",
    "template",
    "requirement",
    "abstraction",
    "model",
    "query",
    "enforce",
    "system",
    "component",
    "test",
    "key",
    "int",
    "float",
    "string",
    "bool",
    "time",
    "duration",
];
