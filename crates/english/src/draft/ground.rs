//! Grounding: the situations of a draft as conditions on the calls of known tools.

use std::collections::BTreeSet;

use serde_json::Value;

use super::spec::literal;
use super::speech::Speech;
use crate::controlled::Vocabulary;
use crate::words::{self, is_listed};

/// A tool that an agent can call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its description; empty if there is none.
    pub description: String,
    /// The names of its arguments.
    pub arguments: Vec<String>,
}

/// The tools that situations are matched with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grounding {
    tools: Vec<Tool>,
}

/// The declarations of a drafted spec with a condition on [`USER_TEXT`].
pub(super) const CONSENT: &str = "use std.consent\n\n\
    /// The latest message of the user; null before the first one.\n\
    track user_text: string? = null when kind == \"message\" and role == \"user\" then text\n";
/// The track of the user's latest message.
pub(super) const USER_TEXT: &str = "user_text";

impl Grounding {
    /// Reads a list of tools: of MCP (`tools/list`, or its result), of OpenAI, or of Anthropic.
    ///
    /// # Errors
    /// The text is not JSON, has no list of tools, or a tool has no name.
    pub fn read(text: &str) -> Result<Grounding, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let list = [&value, &value["tools"], &value["result"]["tools"]]
            .into_iter()
            .find_map(Value::as_array)
            .ok_or("expected a list of tools, or an object with `tools`")?;
        let tools: Result<Vec<Tool>, String> = list.iter().map(tool).collect();
        let mut tools = tools?;
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        tools.dedup_by(|a, b| a.name == b.name);
        Ok(Grounding { tools })
    }

    /// Returns the tools as predicates that sentences can speak of.
    #[must_use]
    pub fn vocabulary(&self) -> Vocabulary {
        let mut vocabulary = Vocabulary::with_consent();
        for tool in &self.tools {
            vocabulary.add(&tool.name, &tool.description);
        }
        vocabulary
    }

    /// Returns a condition on an event of `std.agent` for a situation. The part that is not known is a `todo`: a phrase that says more than
    /// that a tool is called has one, so that nothing of it is lost.
    ///
    /// `key` is the name of the value that relates situations, which the condition calls `x`.
    pub(super) fn body(&self, phrase: &str, key: Option<&str>) -> String {
        let mut parts = Vec::new();
        let mut open = true;
        let mut tied = key.is_none();
        if let Some(names) = self.others(phrase) {
            parts.push("kind == \"call\"".to_owned());
            let names: Vec<String> = names.into_iter().map(literal).collect();
            if !names.is_empty() {
                parts.push(format!("tool not in [{}]", names.join(", ")));
            }
            open = false;
        } else if let Some((tool, whole)) = self.tool(phrase) {
            parts.push(format!(
                "kind == \"call\" and tool == {}",
                literal(&tool.name)
            ));
            open = !whole;
            // A value is tied by an argument only if the tool has it.
            let argument = key.filter(|key| tool.arguments.iter().any(|known| known == key));
            let plain = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if let Some(argument) = argument.filter(plain) {
                parts.push(format!("args.{argument} == x"));
                tied = true;
            } else if key == Some("call") {
                parts.push("call == x".to_owned());
                tied = true;
            }
        } else if let Some(speech) = Speech::of(phrase) {
            let says = speech.says();
            open = !(speech.consents || speech.whole && says.is_some());
            match (speech.consents, says) {
                (true, None) => parts.push(format!("consent.agrees({USER_TEXT})")),
                (true, Some(says)) => parts.push(format!(
                    "{USER_TEXT} {says} and not consent.refuses({USER_TEXT})"
                )),
                (false, says) => {
                    parts.push("kind == \"message\" and role == \"user\"".to_owned());
                    parts.extend(says.map(|says| format!("text {says}")));
                }
            }
        }
        if open {
            parts.push(format!("todo({})", literal(phrase)));
        }
        if let (false, Some(key)) = (tied, key) {
            let open = format!("{phrase}: whether its {key} is x");
            parts.push(format!("todo({})", literal(&open)));
        }
        parts.join(" and ")
    }

    /// Returns the tools that a phrase excepts, which says that any other one is called; none of `a tool is called`.
    fn others<'p>(&self, phrase: &'p str) -> Option<Vec<&'p str>> {
        let (any, excepted) = phrase.split_once(" other than ").unwrap_or((phrase, ""));
        let split = |text: &'p str| {
            let words =
                text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')));
            words.filter(|word| !word.is_empty())
        };
        let speaks =
            split(any).any(|word| ["tool", "tools"].contains(&word.to_lowercase().as_str()));
        let one = |word: &str| is_listed("one", &word.to_lowercase());
        if !speaks || split(any).any(one) || !split(any).all(|word| is_empty(&word.to_lowercase()))
        {
            return None;
        }
        let names = split(excepted).filter(|word| !is_empty(word) && !["or", "and"].contains(word));
        let known = |name: &&str| self.tools.iter().any(|tool| tool.name == *name);
        let names: Vec<&str> = names.collect();
        (names.iter().all(known) && names.is_empty() == excepted.is_empty()).then_some(names)
    }

    /// Returns the tool that a phrase names, and whether the phrase says no more than that.
    fn tool(&self, phrase: &str) -> Option<(&Tool, bool)> {
        if let Some(tool) = self.tools.iter().find(|tool| tool.name == phrase) {
            return Some((tool, true));
        }
        let said = stems(phrase);
        let is_said = |word: &String| said.iter().any(|known| alike(known, word));
        let named = self.tools.iter().map(|tool| (stems(&tool.name), tool));
        let named = named.filter(|(name, _)| !name.is_empty() && name.iter().all(is_said));
        let mut found: Vec<(usize, &Tool)> = named.map(|(name, tool)| (name.len(), tool)).collect();
        // The longest name; of several, none.
        found.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
        let (length, tool) = *found.first()?;
        let is_one = found.get(1).is_none_or(|(next, _)| *next < length);
        // One word alone, such as `think`, names a tool only if the phrase has no other.
        let is_plain = length > 1 || said.len() == 1;
        (is_one && is_plain).then_some((tool, said.len() == length))
    }
}

fn tool(value: &Value) -> Result<Tool, String> {
    let inner = if value["function"].is_object() {
        &value["function"]
    } else {
        value
    };
    let text = |name: &str| inner[name].as_str().unwrap_or_default().to_owned();
    let name = text("name");
    if name.is_empty() {
        return Err("a tool has no `name`".to_owned());
    }
    let schemas = ["inputSchema", "input_schema", "parameters"];
    let schema = schemas
        .iter()
        .find_map(|schema| inner[*schema]["properties"].as_object());
    Ok(Tool {
        name,
        description: text("description"),
        arguments: schema
            .into_iter()
            .flat_map(|schema| schema.keys().cloned())
            .collect(),
    })
}

/// Whether a word says nothing about what is called.
pub(super) fn is_empty(word: &str) -> bool {
    is_listed("empty", word)
}

/// Returns the words of a phrase, or of the name of a tool, that say what is called, without their endings.
fn stems(text: &str) -> BTreeSet<String> {
    let mut spaced = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        // `sendEmail`
        if char.is_uppercase() && spaced.ends_with(char::is_lowercase) {
            spaced.push(' ');
        }
        spaced.push(char);
    }
    words::stems(&spaced, "empty")
}

/// Whether two words without their endings are forms of one: `cancell` and `cancel`, `sent` and `send`, `deploy` and `deployment`.
pub(super) fn alike(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let bent = |word: &str| {
        word.strip_suffix(['d', 't'])
            .filter(|rest| rest.len() > 2)
            .map(str::to_owned)
    };
    let is_ending = |rest: &str| rest.len() < 3 || is_listed("noun endings", rest);
    short.len() > 2 && long.strip_prefix(short).is_some_and(is_ending)
        || bent(a).is_some() && bent(a) == bent(b)
}
