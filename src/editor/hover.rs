//! The text about a name under the pointer.

use std::fmt::Write;

use super::{Analysis, Kind};
use crate::doc;
use crate::source::{FileId, Span};
use crate::syntax::lexer;
use crate::syntax::token::Token;

/// More lines of a declaration are cut off.
const LINES: usize = 16;

/// A text about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The place.
    pub span: Span,
    /// Markdown.
    pub text: String,
}

impl Analysis {
    /// About the name or word at an offset: its declaration, its documentation, and of a property what it means and how
    /// it is enforced.
    pub fn hover(&self, offset: u32) -> Option<Hover> {
        match self.definition(offset) {
            Some(meant) => Some(Hover {
                span: meant.name,
                text: self.about(meant.target, meant.name)?,
            }),
            None => self.word(offset),
        }
    }

    /// Returns markdown about a declaration.
    pub(super) fn about(&self, target: Span, name: Span) -> Option<String> {
        let sources = self.sources();
        if target.is_empty() {
            let mut modules = self.checked.project.modules.iter();
            let module = modules.find(|module| module.file == target.file)?;
            return Some(format!(
                "```guard\nuse {}\n```\n\n{}",
                module.path,
                doc::docs(&module.tree.docs)
            ));
        }
        let Some(declaration) = self.declarations.get(target) else {
            return Some(format!("`{}`: bound by the formula", sources.slice(name)));
        };
        let item = self
            .checked
            .project
            .modules
            .get(declaration.module)?
            .tree
            .items
            .get(declaration.item)?;
        let mut text = String::new();
        let _ = writeln!(
            text,
            "```guard\n{}\n```",
            first_lines(sources.slice(declaration.whole))
        );
        let part = match declaration.kind {
            Kind::Parameter => Some("a parameter"),
            Kind::EnumValue => Some("a value"),
            Kind::RecordField => Some("a member"),
            _ => None,
        };
        if let (Some(part), Some(name)) = (part, item.kind.name()) {
            let _ = write!(text, "\n{part} of `{name}`\n");
        }
        if !declaration.docs.is_empty() {
            let _ = write!(text, "\n{}\n", declaration.docs);
        }
        if declaration.kind == Kind::Property
            && let (Some(spec), Some(name)) = (&self.checked.spec, item.kind.name())
            && let Some(facts) = doc::facts(spec, sources, name.as_str())
        {
            let _ = write!(text, "\n---\n{}", facts_text(&facts));
        }
        Some(text)
    }

    /// Returns the text about a word of the language.
    fn word(&self, offset: u32) -> Option<Hover> {
        let lexed = lexer::lex(self.file().text(), 0);
        let lexeme = lexed
            .tokens
            .iter()
            .find(|lexeme| lexeme.start <= offset && offset < lexeme.end)?;
        let said = meaning(lexeme.token)?;
        Some(Hover {
            span: Span::new(FileId(0), lexeme.start, lexeme.end),
            text: said.to_owned(),
        })
    }
}

/// Returns the facts about a property, in two lines.
fn facts_text(facts: &doc::Facts) -> String {
    let mut text = format!("{}\n", facts.words);
    let enforced = match facts.enforce.as_deref() {
        Some("blocked") => Some("Violations can be **blocked** before they happen"),
        Some("detected") => Some("Violations are **detected** while the trace runs"),
        Some("audited") => Some("Violations show when the trace has **ended**"),
        _ => None,
    };
    let states = facts
        .states
        .map(|states| format!("minimal automaton of {states} states"));
    let line: Vec<String> = enforced
        .map(str::to_owned)
        .into_iter()
        .chain(states)
        .collect();
    if !line.is_empty() {
        let _ = writeln!(text, "\n{}", line.join("; "));
    }
    text
}

fn first_lines(text: &str) -> String {
    let mut lines: Vec<&str> = text.trim_end().lines().take(LINES + 1).collect();
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines.push("…");
    }
    lines.join("\n")
}

/// Returns the meaning of a temporal operator, in a sentence.
fn meaning(token: Token) -> Option<&'static str> {
    Some(match token {
        Token::Never => "`never f`: f holds at no step from here on; the same as `always not f`",
        Token::Precedes => "`f precedes g`: g does not hold before the first step where f does",
        Token::LeadsTo => "`f leads to g`: whenever f holds, g holds then or later",
        token => token.operator()?.meaning,
    })
}
