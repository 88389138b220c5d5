//! Hover texts for names.

use std::fmt::Write;

use super::vocabulary::{self, Row};
use super::{Analysis, Kind};
use crate::doc;
use crate::report::explanation::Enforceable;
use crate::report::words;
use crate::source::{FileId, Span};
use crate::syntax::lexer;
use crate::syntax::token::Token;

/// The greatest number of lines of a declaration that are shown.
const LINES: usize = 16;

/// A text about a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The place.
    pub span: Span,
    /// Markdown.
    pub text: String,
}

impl Analysis {
    /// Returns the text about the name or word at an offset: its declaration and documentation and, for a property, its
    /// meaning and enforceability.
    pub fn hover(&self, offset: u32) -> Option<Hover> {
        match self.definition(offset) {
            Some(meant) => Some(Hover {
                span: meant.name,
                text: doc::inert(&self.about(meant.target, meant.name)?),
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
            let used = doc::fenced("guard", &format!("use {}", module.path));
            return Some(format!("{used}\n{}", doc::docs(&module.tree.docs)));
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
        let mut text = doc::fenced("guard", &first_lines(sources.slice(declaration.whole)));
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
        if let Some(ty) = self.links().inferred_type(target) {
            let _ = write!(text, "\nof type `{ty}`\n");
        }
        if declaration.kind == Kind::Property
            && let Some(name) = item.kind.name()
            && let Some(about) = self.about_property(name.as_str())
        {
            let _ = write!(text, "\n---\n{about}");
        }
        Some(text)
    }

    /// Returns the text about a word of the language.
    fn word(&self, offset: u32) -> Option<Hover> {
        let lexed = lexer::lex(self.file().text(), 0);
        let mut tokens = lexed.tokens.iter();
        let at = tokens.position(|lexeme| lexeme.start <= offset && offset < lexeme.end)?;
        let lexeme = lexed.tokens.get(at)?;
        let word = self
            .file()
            .text()
            .get(lexeme.start as usize..lexeme.end as usize)?;
        let token = |at: usize| lexed.tokens.get(at).map(|lexeme| lexeme.token);
        let is_member = at.checked_sub(1).and_then(token) == Some(Token::Dot);
        let function = || vocabulary::function(word).map(Row::markdown);
        let text = match is_member || token(at + 1) == Some(Token::LParen) {
            true => function().or_else(|| vocabulary::meaning(word)),
            false => vocabulary::meaning(word),
        };
        Some(Hover {
            span: Span::new(FileId(0), lexeme.start, lexeme.end),
            text: text?,
        })
    }

    /// Returns a property in English, when its violations become final, and the size of its automaton.
    fn about_property(&self, name: &str) -> Option<String> {
        let spec = self.checked.spec.as_ref()?;
        let property = spec.property(spec.find_property(name)?);
        let mut text = format!("{}\n", words::property(spec, property));
        let summary = self.summary(name)?;
        let line: Vec<String> = summary
            .enforceable
            .map(|class| enforced(class).to_owned())
            .into_iter()
            .chain(
                summary
                    .states
                    .map(|states| format!("minimal automaton of {states} states")),
            )
            .collect();
        if !line.is_empty() {
            let _ = writeln!(text, "\n{}", line.join("; "));
        }
        Some(text)
    }
}

/// Returns when violations of a property become final, in Markdown.
pub(super) fn enforced(class: Enforceable) -> &'static str {
    match class {
        Enforceable::Blocked => "Violations can be **blocked** before they happen",
        Enforceable::Detected => "Violations are **detected** while the trace runs",
        Enforceable::Audited => "Violations show when the trace has **ended**",
    }
}

fn first_lines(text: &str) -> String {
    let mut lines: Vec<&str> = text.trim_end().lines().take(LINES + 1).collect();
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines.push("…");
    }
    lines.join("\n")
}
