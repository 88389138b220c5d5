//! The authors of prompts.
//!
//! `UserPromptSubmit` brings every text that begins a turn. The program makes some of them itself, around text that the agent, a tool
//! or another agent chose (`<task-notification>…`); others are texts that the agent scheduled, and they arrive as if a user had
//! typed them. `docs/protocol-hook.md` has the rules.

use std::collections::{BTreeSet, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::monitor::encoded::quoted;
use crate::texts::{folded, normalize};

/// The tags that the program puts around texts that no user typed. Tags around what a user may have typed (`<command-name>`,
/// `<bash-input>`) are not among them.
const ENVELOPES: [&str; 20] = [
    TASK,
    "agent-message",
    "bash-exit-code",
    "bash-stderr",
    "bash-stdout",
    "channel",
    "cross-session-message",
    "fork-boilerplate",
    "interrupted-output",
    "local-command-caveat",
    "local-command-stderr",
    "local-command-stdout",
    "mcp-polling-update",
    "mcp-resource-update",
    "new-diagnostics",
    "remote-review",
    "system-reminder",
    "teammate-message",
    "tick",
    "user-prompt-submit-hook",
];

/// The tag of reports about tasks that run in the background.
pub(super) const TASK: &str = "task-notification";

/// The tools whose texts the program itself makes prompts later.
const SCHEDULERS: [&str; 3] = ["CronCreate", "RemoteTrigger", "ScheduleWakeup"];

/// The tools of the program whose texts never become prompts.
const SILENT: [&str; 16] = [
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "Edit",
    "Glob",
    "Grep",
    "KillShell",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "Read",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// The beginning of a scheduled text that the program replaces by the content of a file, which the agent may write.
const EXPANDS: &str = "<<";

/// The largest number of texts remembered. If there are more, any prompt may be one of them.
const MOST_TEXTS: usize = 4000;

/// The largest number of notifications in one prompt whose calls are looked up.
const MOST_TASKS: usize = 16;

/// The number of words from which a text is also found within a prompt. Fewer words (an address, a name) are part of what users write.
const MOST_ALONE: usize = 4;

/// The greatest number of comparisons of parts of a prompt with texts; a longer prompt is not known to be the user's.
const MOST_COMPARED: usize = 20_000_000;

/// The author of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Author {
    /// The user.
    User,
    /// The program, with text of others; the tag is one of [`ENVELOPES`].
    Program(&'static str),
    /// Not known: the prompt has marks of the program, or its input says that it is of another origin.
    Marked,
    /// Not known: the agent gave the same text to a tool, or such a text was forgotten.
    Given,
}

/// The texts that the agent gave to tools, as hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct GivenTexts {
    texts: BTreeSet<GivenText>,
    /// Whether a text is not among them, so that any prompt may be one.
    is_incomplete: bool,
}

/// A text: the number of its words, and their hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct GivenText(usize, u64);

impl GivenTexts {
    /// Returns the author of a prompt; `None` is one whose text is not known.
    pub(super) fn author(&self, prompt: Option<&str>) -> Author {
        let Some(prompt) = prompt else {
            return Author::Marked;
        };
        let prompt = prompt.trim_start();
        match envelope(prompt) {
            Some(tag) => Author::Program(tag),
            None if is_marked(prompt) => Author::Marked,
            None if self.is_incomplete || self.contain_part_of(prompt) => Author::Given,
            None => Author::User,
        }
    }

    /// Remembers the texts in the arguments of a call.
    pub(super) fn add_call(&mut self, tool: &str, arguments: &str) {
        if SILENT.contains(&tool) {
            return;
        }
        match serde_json::from_str::<Json>(arguments) {
            Ok(arguments) => self.add_json(&arguments, SCHEDULERS.contains(&tool)),
            Err(_) => self.forget(),
        }
    }

    /// Remembers the prompts that are scheduled at the end of a turn, whoever scheduled them: a list of objects with a `prompt`.
    pub(super) fn add_scheduled(&mut self, list: &str) {
        match serde_json::from_str::<Json>(list) {
            Ok(Json::Array(list)) => list.iter().for_each(|one| match one.get("prompt") {
                Some(Json::String(prompt)) => self.add_text(prompt, true),
                _ => self.add_json(one, true),
            }),
            Ok(other) => self.add_json(&other, true),
            Err(_) => self.forget(),
        }
    }

    /// Notes that texts of the session were forgotten. The others make no difference then.
    pub(super) fn forget(&mut self) {
        self.is_incomplete = true;
        self.texts.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Remembers the texts of other calls too.
    pub(super) fn join(&mut self, others: &GivenTexts) {
        self.texts.extend(&others.texts);
        if self.is_incomplete || others.is_incomplete || self.texts.len() > MOST_TEXTS {
            self.forget();
        }
    }

    /// Remembers the strings and keys of a value.
    fn add_json(&mut self, value: &Json, scheduled: bool) {
        match value {
            Json::String(text) => self.add_text(text, scheduled),
            Json::Array(all) => all.iter().for_each(|one| self.add_json(one, scheduled)),
            Json::Object(all) => all.iter().for_each(|(key, one)| {
                self.add_text(key, scheduled);
                self.add_json(one, scheduled);
            }),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    /// Remembers a text, and what it may hold as JSON: bodies of requests are given so. Readers differ on what is JSON, and what may stand
    /// before it, so what stands between its strings counts too. Each string within a string is shorter by its escapes, so the depth is
    /// logarithmic.
    fn add_text(&mut self, text: &str, scheduled: bool) {
        self.add(text, scheduled);
        if text.trim_start().starts_with('"') || text.contains(['{', '[']) {
            quoted(text).for_each(|text| self.add_text(&text, scheduled));
        }
    }

    fn add(&mut self, text: &str, scheduled: bool) {
        if self.is_incomplete {
            return;
        }
        let words = words(text);
        self.texts
            .insert(GivenText(words.len(), Parts::new(&words).all()));
        let is_replaced = scheduled && text.trim_start().starts_with(EXPANDS);
        if is_replaced || self.texts.len() > MOST_TEXTS {
            self.forget();
        }
    }

    /// Whether one of the texts is the prompt, or part of it.
    fn contain_part_of(&self, prompt: &str) -> bool {
        if self.texts.is_empty() {
            return false;
        }
        let words = words(prompt);
        let parts = Parts::new(&words);
        let known = |n: usize, hash: u64| self.texts.contains(&GivenText(n, hash));
        let lengths: HashSet<usize> = self.texts.iter().map(|text| text.0).collect();
        let within = lengths
            .into_iter()
            .filter(|n| (MOST_ALONE..words.len()).contains(n));
        let within: Vec<usize> = within.collect();
        known(words.len(), parts.all())
            || within.len().saturating_mul(words.len()) > MOST_COMPARED
            || within
                .iter()
                .any(|n| parts.of(*n).any(|part| known(*n, part)))
    }
}

/// Returns the ids of the calls whose tasks a prompt notifies about, as far as it names them; `None` if there are too many, or if the prompt
/// has another form. The text of a notification may hold what looks like another one.
pub(super) fn task_calls(prompt: &str) -> Option<Vec<Option<&str>>> {
    let tag = format!("<{TASK}>");
    let mut parts = prompt.split(&tag);
    // the text before the first one
    parts.next()?;
    let calls = parts.map(|part| {
        let (_, rest) = element(part, "task-id")?;
        Some(element(rest, "tool-use-id").map(|(id, _)| id))
    });
    let calls: Vec<Option<&str>> = calls.collect::<Option<_>>()?;
    (!calls.is_empty() && calls.len() <= MOST_TASKS).then_some(calls)
}

/// Returns the content of the element that a text begins with, and the rest of the text.
fn element<'t>(text: &'t str, name: &str) -> Option<(&'t str, &'t str)> {
    let content = text.trim_start().strip_prefix(&format!("<{name}>"))?;
    content.split_once(&format!("</{name}>"))
}

/// Returns the tag of the program that a prompt begins with.
fn envelope(prompt: &str) -> Option<&'static str> {
    let name = tag(prompt)?;
    ENVELOPES.into_iter().find(|known| *known == name)
}

/// Returns whether a prompt begins with any tag, or has a tag of the program within it.
fn is_marked(prompt: &str) -> bool {
    let begins = |prompt: &str| tag(prompt).is_some() || prompt.starts_with(EXPANDS);
    let mut places = memchr::memchr_iter(b'<', prompt.as_bytes());
    begins(prompt) || places.any(|at| prompt.get(at..).and_then(envelope).is_some())
}

/// Returns the name of the tag that a text begins with.
fn tag(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('<')?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    let name = rest.get(..end.unwrap_or(rest.len()))?;
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        .then_some(name)
}

/// Returns the hashes of the words of a text, in one case, in one form of Unicode and without the characters around them; of a text without
/// words, that of the text.
fn words(text: &str) -> Vec<u64> {
    let hash = |word: &str| {
        let hash = blake3::hash(folded(word).as_bytes());
        let bytes = hash.as_bytes().first_chunk();
        u64::from_le_bytes(bytes.copied().unwrap_or_default())
    };
    let text = normalize(text);
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<u64> = words.filter(|word| !word.is_empty()).map(hash).collect();
    match words.is_empty() {
        true => vec![hash(text.trim())],
        false => words,
    }
}

/// The hashes of all runs of words, as values of a polynomial: one costs no more than two multiplications.
struct Parts {
    /// The hashes of the first words, from none to all.
    beginnings: Vec<u64>,
}

/// The point at which the polynomial is taken.
const POINT: u64 = 0x9E37_79B9_7F4A_7C15;

impl Parts {
    fn new(words: &[u64]) -> Parts {
        let mut beginnings = vec![0u64];
        let mut hash = 0u64;
        for word in words {
            hash = hash.wrapping_mul(POINT).wrapping_add(*word);
            beginnings.push(hash);
        }
        Parts { beginnings }
    }

    /// Returns the hash of all words.
    fn all(&self) -> u64 {
        self.beginnings.last().copied().unwrap_or_default()
    }

    /// Returns the hashes of all runs of `n` words.
    fn of(&self, n: usize) -> impl Iterator<Item = u64> {
        let mut power = 1u64;
        (0..n).for_each(|_| power = power.wrapping_mul(POINT));
        let ends = self.beginnings.iter().skip(n);
        ends.zip(&self.beginnings)
            .map(move |(end, begin)| end.wrapping_sub(begin.wrapping_mul(power)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_words_have_the_hash_of_their_words() {
        let all = words("One two, three:  FOUR five one two");
        let parts = Parts::new(&all);
        for n in 1..=all.len() {
            let found: Vec<u64> = parts.of(n).collect();
            let wanted = all.windows(n).map(|words| Parts::new(words).all());
            assert_eq!(found, wanted.collect::<Vec<_>>());
        }
    }

    #[test]
    fn notifications_name_their_calls_before_any_other_text() {
        let of = |rest: &str| {
            let prompt = format!("<task-notification>\n<task-id>b1</task-id>\n{rest}");
            task_calls(&prompt).map(|calls| {
                calls
                    .into_iter()
                    .map(|id| id.map(str::to_owned))
                    .collect::<Vec<_>>()
            })
        };
        let id = "<tool-use-id>t1</tool-use-id>";
        let t1 = || Some("t1".to_owned());
        assert_eq!(of(id), Some(vec![t1()]));
        assert_eq!(of(&format!("<summary>x</summary>{id}")), Some(vec![None]));
        let two = format!("{id}</task-notification><task-notification><task-id>b2</task-id>");
        assert_eq!(of(&two), Some(vec![t1(), None]));
        assert_eq!(of("<task-notification>"), None);
        assert_eq!(
            of(&"<task-notification><task-id></task-id>".repeat(16)),
            None
        );
        assert_eq!(task_calls("<task-notification type=\"x\">"), None);
    }
}
