//! Completion: the names and words that may be at the cursor.

use std::collections::BTreeMap;

use super::declaration::{kind_of, params};
use super::{Analysis, Kind};
use crate::check;
use crate::modules::ModuleIdx;
use crate::source::FileId;
use crate::stdlib;
use crate::syntax::ast::{Item, ItemKind, TraceClauseKind};
use crate::syntax::lexer::{self, Lexeme};
use crate::syntax::token::{ITEM_WORDS, LOOK_AHEAD_WORDS, RESERVED_WORDS, Token, temporal_words};

/// The kind of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CandidateKind {
    /// A declared name.
    Name(Kind),
    /// A word of the language.
    Word,
    /// A predefined function.
    Function,
    /// An attribute, without its `@`.
    Attribute,
}

/// Something that could stand here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its text.
    pub name: String,
    /// Its kind.
    pub kind: CandidateKind,
    /// The first line of its declaration; empty for words.
    pub detail: String,
    /// Its documentation, in Markdown.
    pub docs: String,
}

/// The kind of text that may follow the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    /// Nothing: a comment or a text.
    Nothing,
    /// The first word of an item.
    Item,
    /// The name of an attribute.
    Attribute,
    /// A module: the names of the path before the cursor.
    Path(Vec<String>),
    /// A name in the braces of `use`, of this module.
    Import(Vec<String>),
    /// A member of what this name means.
    Member(String),
    /// The name of a property.
    Property,
    /// The name of a type.
    Type,
    /// An expression.
    Expression,
}

impl Analysis {
    /// Returns what may be at an offset, sorted by name. The text that already begins there is not considered: callers
    /// filter the list.
    pub fn candidates(&self, offset: u32) -> Vec<Candidate> {
        let mut found = Found::default();
        match self.wanted(offset) {
            Wanted::Nothing => {}
            Wanted::Item => found.words(ITEM_WORDS.iter().copied()),
            Wanted::Attribute => {
                for name in check::ATTRIBUTES {
                    found.add(name, CandidateKind::Attribute);
                }
            }
            Wanted::Path(path) => self.modules(&path, &mut found),
            Wanted::Import(path) => {
                if let Some(module) = self.module_at(&path) {
                    self.items(module, &mut found, |_| true);
                }
            }
            Wanted::Member(owner) => self.members(&owner, &mut found),
            Wanted::Property => {
                self.visible(&mut found, |kind| kind == Kind::Property);
                self.visible(&mut found, |kind| kind == Kind::Function);
                found.words(["on", "when"]);
            }
            Wanted::Type => {
                self.visible(&mut found, |kind| matches!(kind, Kind::Enum | Kind::Record));
                found.words(TYPES.iter().copied());
            }
            Wanted::Expression => self.expression(offset, &mut found),
        }
        found.by_name.into_values().collect()
    }

    /// Returns what is expected at an offset, from the tokens before it on its line and the item that contains it.
    fn wanted(&self, offset: u32) -> Wanted {
        let text = self.file().text();
        let Some(before) = text.get(..offset as usize) else {
            return Wanted::Nothing;
        };
        let lexed = lexer::lex(before, 0);
        // A comment to the end of its line holds the cursor until the line ends; one that is open is an error below.
        let in_comment = lexed.trivia.last().is_some_and(|trivia| {
            let comment = &before[trivia.start as usize..];
            comment.starts_with("//") && !comment.contains('\n')
        });
        let in_text = lexed.errors.last().is_some_and(|error| {
            matches!(
                error.kind,
                lexer::LexErrorKind::UnterminatedString
                    | lexer::LexErrorKind::UnterminatedRegex
                    | lexer::LexErrorKind::UnterminatedComment
                    | lexer::LexErrorKind::SingleQuoted
            )
        });
        if in_comment || in_text {
            return Wanted::Nothing;
        }
        let mut tokens: &[Lexeme] = &lexed.tokens;
        // The word being written says nothing of what is asked for.
        if let [before_it @ .., word] = tokens
            && word.end as usize == before.len()
            && is_word(word.token)
        {
            if word.column_zero {
                return Wanted::Item;
            }
            tokens = before_it;
        }
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        if before[line..].is_empty() {
            return Wanted::Item;
        }
        let name = |lexeme: &Lexeme| text[lexeme.start as usize..lexeme.end as usize].to_owned();
        let item = tokens.iter().rposition(|lexeme| {
            lexeme.column_zero && (lexeme.token.begins_item() || lexeme.token == Token::At)
        });
        let of_item = &tokens[item.unwrap_or(0)..];
        let path = |tokens: &[Lexeme]| -> Vec<String> {
            let names = tokens
                .iter()
                .filter(|lexeme| is_word(lexeme.token) && lexeme.token != Token::Use);
            names.map(name).collect()
        };
        match of_item {
            [.., at] if at.token == Token::At => return Wanted::Attribute,
            [first, rest @ ..] if first.token == Token::Use => {
                return match rest.iter().position(|lexeme| lexeme.token == Token::LBrace) {
                    Some(brace) => Wanted::Import(path(&rest[..brace])),
                    None => Wanted::Path(path(rest)),
                };
            }
            _ => {}
        }
        match of_item {
            [.., owner, dot] if dot.token == Token::Dot && is_word(owner.token) => {
                Wanted::Member(name(owner))
            }
            [.., dot] if dot.token == Token::Dot => Wanted::Nothing,
            [first] if first.token == Token::Enforce => Wanted::Property,
            [.., expect] if expect.token == Token::Expect => Wanted::Property,
            // A declared name is followed by its type; an argument of a function never is.
            [first, .., colon]
                if colon.token == Token::Colon
                    && matches!(
                        first.token,
                        Token::Event
                            | Token::Record
                            | Token::Let
                            | Token::Const
                            | Token::Predicate
                            | Token::Track
                            | Token::Template
                            | Token::System
                            | Token::Component
                            | Token::Trace
                    ) =>
            {
                Wanted::Type
            }
            [_] if of_item[0].column_zero && of_item[0].token.begins_item() => Wanted::Nothing,
            _ => Wanted::Expression,
        }
    }

    fn modules(&self, path: &[String], found: &mut Found) {
        if path.is_empty() {
            found.add("std", CandidateKind::Name(Kind::Module));
        } else if path == ["std"] {
            for module in stdlib::modules() {
                found.add(module, CandidateKind::Name(Kind::Module));
            }
        }
    }

    /// Returns the module that a path names, if the spec imports it.
    fn module_at(&self, path: &[String]) -> Option<ModuleIdx> {
        let path = path.join(".");
        let mut modules = self.checked.project.modules.iter();
        modules.position(|module| module.path == path.as_str())
    }

    /// Returns the module that a name means in the spec.
    fn module_called(&self, name: &str) -> Option<ModuleIdx> {
        let imports = &self.checked.project.modules.first()?.imports;
        imports.iter().find_map(|(import, _, target)| {
            let called = import.alias.as_ref().or(import.path.last())?;
            (import.members.is_none() && called.as_str() == name)
                .then_some(*target)
                .flatten()
        })
    }

    /// Adds the named items of a module.
    fn items(&self, module: ModuleIdx, found: &mut Found, keep: impl Fn(Kind) -> bool) {
        let Some(module) = self.checked.project.modules.get(module) else {
            return;
        };
        for item in &module.tree.items {
            if let (Some(name), Some(kind)) = (item.kind.name(), kind_of(&item.kind))
                && keep(kind)
            {
                self.declared(name.as_str(), item, kind, found);
            }
        }
    }

    fn declared(&self, name: &str, item: &Item, kind: Kind, found: &mut Found) {
        let text = self.sources().slice(*item.span);
        found.by_name.insert(
            name.to_owned(),
            Candidate {
                name: name.to_owned(),
                kind: CandidateKind::Name(kind),
                detail: text.lines().next().unwrap_or("").trim_end().to_owned(),
                docs: crate::doc::docs(&item.docs),
            },
        );
    }

    /// Adds the items that the spec declares or imports by name.
    fn visible(&self, found: &mut Found, keep: impl Fn(Kind) -> bool) {
        self.items(0, found, &keep);
        let modules = &self.checked.project.modules;
        let imports = modules.first().map(|module| module.imports.as_slice());
        for (import, _, target) in imports.unwrap_or(&[]) {
            let Some(target) = target.and_then(|target| modules.get(target)) else {
                continue;
            };
            for member in import.members.iter().flatten() {
                let items = target.tree.items.iter();
                for item in items.filter(|item| item.kind.name() == Some(&member.name)) {
                    let here = member.alias.as_ref().unwrap_or(&member.name);
                    if let Some(kind) = kind_of(&item.kind).filter(|kind| keep(*kind)) {
                        self.declared(here.as_str(), item, kind, found);
                    }
                }
            }
        }
    }

    /// Returns what may follow `owner.`: items of a module, values of an enum, fields of `meta` or of a join, members of a record.
    fn members(&self, owner: &str, found: &mut Found) {
        if let Some(module) = self.module_called(owner) {
            self.items(module, found, |_| true);
        }
        if owner == "meta" {
            self.parts_of(found, |item, kind| {
                kind == Kind::Field && matches!(item.kind, ItemKind::Trace(_))
            });
        }
        let joins = |item: &Item| match &item.kind {
            ItemKind::Trace(trace) => trace.clauses.iter().any(|clause| match &clause.kind {
                TraceClauseKind::Join(join) => join.name.as_str() == owner,
                _ => false,
            }),
            _ => false,
        };
        let mut modules = self.checked.project.modules.iter();
        if modules.any(|module| module.tree.items.iter().any(joins)) {
            self.parts_of(found, |item, kind| {
                kind == Kind::Field && matches!(item.kind, ItemKind::Event(_))
            });
        }
        self.parts_of(found, |item, kind| {
            kind == Kind::EnumValue && item.kind.name().is_some_and(|name| name.as_str() == owner)
        });
        if let Some(record) = self.record_of(owner) {
            self.parts_of(found, |item, kind| {
                kind == Kind::RecordField
                    && item.kind.name().is_some_and(|name| name.as_str() == record)
            });
        }
        self.parts_of(found, |item, kind| {
            kind == Kind::State
                && matches!(item.kind, ItemKind::System(_) | ItemKind::Component(_))
                && item.kind.name().is_some_and(|name| name.as_str() == owner)
        });
    }

    /// Returns the record type of a field of the event, by its name.
    fn record_of(&self, field: &str) -> Option<String> {
        use crate::syntax::ast::TypeKind;
        let modules = self.checked.project.modules.iter();
        let events = modules.flat_map(|module| &module.tree.items);
        events
            .filter_map(|item| match &item.kind {
                ItemKind::Event(event) => Some(&event.fields),
                _ => None,
            })
            .flatten()
            .find(|declared| declared.name.as_str() == field)
            .and_then(|declared| {
                let mut ty = &declared.ty;
                while let TypeKind::Optional(inner) = &ty.kind {
                    ty = inner;
                }
                match &ty.kind {
                    TypeKind::Named(name) => Some(name.to_string()),
                    _ => None,
                }
            })
    }

    /// Adds the named parts of items of all modules.
    fn parts_of(&self, found: &mut Found, keep: impl Fn(&Item, Kind) -> bool) {
        for (name, part) in self.declarations.iter() {
            let module = self.checked.project.modules.get(part.module);
            let Some(item) = module.and_then(|module| module.tree.items.get(part.item)) else {
                continue;
            };
            if item.kind.name().map(|own| *own.span) == Some(name) || !keep(item, part.kind) {
                continue;
            }
            let candidate = Candidate {
                name: self.sources().slice(name).to_owned(),
                kind: CandidateKind::Name(part.kind),
                detail: self.sources().slice(part.whole).to_owned(),
                docs: part.docs.clone(),
            };
            found.by_name.insert(candidate.name.clone(), candidate);
        }
    }

    fn expression(&self, offset: u32, found: &mut Found) {
        found.words(temporal_words().map(|(word, _)| word));
        found.words(operators());
        found.words(LOOK_AHEAD_WORDS.iter().copied());
        for name in check::functions() {
            found.add(name, CandidateKind::Function);
        }
        self.visible(found, |kind| kind != Kind::Property);
        let modules = self.checked.project.modules.first();
        let imports = modules.into_iter().flat_map(|module| &module.imports);
        for (import, _, _) in imports.filter(|(import, _, _)| import.members.is_none()) {
            if let Some(name) = import.alias.as_ref().or(import.path.last()) {
                found.add(name.as_str(), CandidateKind::Name(Kind::Module));
            }
        }
        self.parts_of(found, |item, kind| match kind {
            Kind::Field => matches!(item.kind, ItemKind::Event(_)),
            Kind::EnumValue => true,
            Kind::Variable => matches!(item.kind, ItemKind::Trace(_)),
            _ => false,
        });
        // What the item at the cursor declares for itself.
        let items = modules.into_iter().flat_map(|module| &module.tree.items);
        let here = items
            .filter(|item| item.span.touches(offset))
            .min_by_key(|item| item.span.len());
        if let Some(item) = here {
            for param in params(&item.kind) {
                found.add(param.name.as_str(), CandidateKind::Name(Kind::Parameter));
            }
            for (name, part) in self.declarations.iter() {
                if part.kind == Kind::State
                    && name.file == FileId(0)
                    && item.span.start <= name.start
                    && name.end <= item.span.end
                {
                    found.add(self.sources().slice(name), CandidateKind::Name(Kind::State));
                }
            }
        }
    }
}

/// The types of data that have a name in the language.
const TYPES: &[&str] = &[
    "bool", "int", "float", "string", "time", "duration", "json", "list", "set", "map",
];

/// Returns the words between and before values, and those that are values: the reserved words that are neither types nor
/// temporal operators, and that an expression may contain.
fn operators() -> impl Iterator<Item = &'static str> {
    let elsewhere = ["as", "when"];
    let reserved = RESERVED_WORDS.iter().copied().filter(move |word| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && !TYPES.contains(word)
            && !elsewhere.contains(word)
            && temporal_words().all(|(temporal, _)| temporal != *word)
    });
    reserved.chain(["last", "unknown"])
}

fn is_word(token: Token) -> bool {
    token.is_name() || token.is_reserved()
}

/// Candidates by name.
#[derive(Default)]
struct Found {
    by_name: BTreeMap<String, Candidate>,
}

impl Found {
    fn add(&mut self, name: &str, kind: CandidateKind) {
        let candidate = Candidate {
            name: name.to_owned(),
            kind,
            detail: String::new(),
            docs: String::new(),
        };
        self.by_name.insert(name.to_owned(), candidate);
    }

    fn words<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) {
        for word in words {
            self.add(word, CandidateKind::Word);
        }
    }
}
