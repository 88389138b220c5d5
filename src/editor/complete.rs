//! Completion: the names and words that are possible at the cursor.

use std::collections::BTreeMap;

use super::declaration::{kind_of, params};
use super::place::{self, Wanted};
use super::{Analysis, Kind, vocabulary};
use crate::check;
use crate::diagnostic::{Code, Severity};
use crate::modules::ModuleIdx;
use crate::source::FileId;
use crate::stdlib;
use crate::syntax::ast::{Item, ItemKind, PrimitiveType, TraceClauseKind};
use crate::syntax::token::{LOOK_AHEAD_WORDS, RESERVED_WORDS, temporal_words};
use guard_english::controlled::{SITUATION, Vocabulary, continuations};

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

/// A candidate for completion.
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
    /// The text to insert with placeholders (`$1`, `${2:name}`, `$0`), if it is not just the name.
    pub snippet: Option<String>,
    /// Its position in the list; the lowest is the likeliest.
    pub rank: u8,
}

impl Candidate {
    fn new(name: &str, kind: CandidateKind) -> Candidate {
        let rank = match kind {
            CandidateKind::Name(_) => 1,
            CandidateKind::Function => 2,
            CandidateKind::Word | CandidateKind::Attribute if name.len() > 1 => 3,
            CandidateKind::Word | CandidateKind::Attribute => 4,
        };
        let docs = match kind {
            CandidateKind::Name(_) => None,
            _ => vocabulary::meaning(name),
        };
        Candidate {
            name: name.to_owned(),
            kind,
            detail: String::new(),
            docs: docs.unwrap_or_default(),
            snippet: None,
            rank,
        }
    }
}

impl Analysis {
    /// Returns the candidates at an offset, the likeliest first, then by name. `modules` are the paths that `use` can name
    /// besides the library, such as `lib.mail`. Text that was already typed is ignored: callers filter the list.
    pub fn candidates(&self, offset: u32, modules: &[String]) -> Vec<Candidate> {
        let mut found = Found::default();
        match place::wanted(self.file().text(), offset) {
            Wanted::Nothing => {}
            Wanted::Item => {
                for (word, snippet) in SNIPPETS {
                    found.snippet(word, CandidateKind::Word, snippet);
                }
            }
            Wanted::Attribute => {
                for name in check::ATTRIBUTES {
                    found.add(name, CandidateKind::Attribute);
                }
            }
            Wanted::Words(words) => found.words(words.iter().copied()),
            Wanted::Lint => {
                let lints = Code::ALL
                    .iter()
                    .filter(|code| code.severity() != Severity::Error);
                for lint in lints {
                    let candidate = Candidate {
                        docs: lint.summary().to_owned(),
                        ..Candidate::new(&lint.name().replace('-', "_"), CandidateKind::Word)
                    };
                    found.by_name.insert(candidate.name.clone(), candidate);
                }
            }
            Wanted::Path(path) => self.modules(&path, modules, &mut found),
            Wanted::Import(path) => {
                if let Some(module) = self.module_at(&path) {
                    self.items(module, &mut found, |_| true);
                }
            }
            Wanted::Member(owner) => self.members(&owner, &mut found),
            Wanted::Key { meta } => self.parts_of(&mut found, |item, kind| {
                let block = match item.kind {
                    ItemKind::Event(_) => !meta,
                    ItemKind::Trace(_) => meta,
                    _ => false,
                };
                kind == Kind::Field && block
            }),
            Wanted::Property => {
                self.visible(&mut found, |kind| kind == Kind::Property);
                self.visible(&mut found, |kind| kind == Kind::Function);
                found.words(["on", "when"]);
            }
            Wanted::Model => self.visible(&mut found, |kind| kind == Kind::Model),
            Wanted::Type => {
                self.visible(&mut found, |kind| matches!(kind, Kind::Enum | Kind::Record));
                found.words(types());
            }
            Wanted::Sentence(text) => self.sentence(&text, &mut found),
            Wanted::Expected => {
                self.expression(offset, &mut found);
                found.words(place::VERDICTS.iter().copied());
                found.prefer(place::VERDICTS);
            }
            Wanted::Expression { compared, words } => {
                self.expression(offset, &mut found);
                found.words(words.iter().copied());
                if let Some(of) = compared.and_then(|name| self.enum_of(&name)) {
                    found.prefer(&of);
                }
            }
        }
        let mut all: Vec<Candidate> = found.by_name.into_values().collect();
        all.sort_by_key(|candidate| candidate.rank);
        all
    }

    /// Returns the type of a field of the event, definition or track, as it is written or inferred, without the final `?`.
    fn type_of(&self, name: &str) -> Option<String> {
        let modules = self.checked.project.modules.iter();
        let mut items = modules.flat_map(|module| &module.tree.items);
        items.find_map(|item| {
            let own = item.kind.name().filter(|own| own.as_str() == name);
            let written = match &item.kind {
                ItemKind::Event(event) => {
                    let mut fields = event.fields.iter();
                    let field = fields.find(|field| field.name.as_str() == name);
                    field.map(|field| &field.ty)
                }
                ItemKind::Let(item) => own.and(item.ty.as_ref()),
                ItemKind::Track(item) => own.and(item.ty.as_ref()),
                _ => None,
            };
            let text = match written {
                Some(ty) => self.sources().slice(*ty.span),
                None => self.links().inferred_type(*own?.span)?,
            };
            Some(text.trim().trim_end_matches('?').to_owned())
        })
    }

    /// Returns the values of the enum that is the type of a name, if it is one.
    fn enum_of(&self, name: &str) -> Option<Vec<String>> {
        let ty = self.type_of(name)?;
        let modules = self.checked.project.modules.iter();
        let mut items = modules.flat_map(|module| &module.tree.items);
        items.find_map(|item| match &item.kind {
            ItemKind::Enum(of) if of.name.as_str() == ty => Some(
                of.values
                    .iter()
                    .map(|value| value.name.to_string())
                    .collect(),
            ),
            _ => None,
        })
    }

    /// Adds the names that may follow the beginning of a path.
    fn modules(&self, path: &[String], own: &[String], found: &mut Found) {
        let library = stdlib::modules().map(|module| format!("std.{}", module.replace('/', ".")));
        let before: String = path.iter().map(|name| format!("{name}.")).collect();
        for module in library.chain(own.iter().cloned()) {
            let rest = module.strip_prefix(&before).unwrap_or("");
            let next = rest.split('.').next().unwrap_or("");
            if !next.is_empty() {
                found.add(next, CandidateKind::Name(Kind::Module));
            }
        }
    }

    /// Returns the module that a path names, if the spec imports it.
    fn module_at(&self, path: &[String]) -> Option<ModuleIdx> {
        let path = path.join(".");
        let mut modules = self.checked.project.modules.iter();
        modules.position(|module| module.path == path.as_str())
    }

    /// Returns the module that a name refers to in the spec.
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
                detail: text.lines().next().unwrap_or("").trim_end().to_owned(),
                docs: crate::doc::docs(&item.docs),
                ..Candidate::new(name, CandidateKind::Name(kind))
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

    /// Returns the names that may follow `owner.`: items of a module, values of an enum, fields of `meta` or of a join,
    /// members of a record.
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
        let ty = self.type_of(owner);
        if let Some(record) = &ty {
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
        let word = |ty: &String| {
            let end = ty.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            ty[..end.unwrap_or(ty.len())].to_owned()
        };
        match ty.as_ref().map(word) {
            Some(word) => found.functions(check::functions_for(&word)),
            // The owner is an expression, or declared by a formula.
            None if found.by_name.is_empty() => {
                for word in ["string", "list", "set"] {
                    found.functions(check::functions_for(word));
                }
            }
            None => {}
        }
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
                detail: self.sources().slice(part.whole).to_owned(),
                docs: part.docs.clone(),
                ..Candidate::new(self.sources().slice(name), CandidateKind::Name(part.kind))
            };
            found.by_name.insert(candidate.name.clone(), candidate);
        }
    }

    /// Adds the words that may follow the beginning of a sentence of controlled English, and the predicates that it can
    /// refer to.
    fn sentence(&self, text: &str, found: &mut Found) {
        let modules = self.checked.project.modules.first();
        let predicates: Vec<&Item> = modules
            .into_iter()
            .flat_map(|module| &module.tree.items)
            .filter(
                |item| matches!(&item.kind, ItemKind::Predicate(item) if item.params.is_empty()),
            )
            .collect();
        let mut vocabulary = Vocabulary::default();
        for name in predicates.iter().filter_map(|item| item.kind.name()) {
            vocabulary.add(name.as_str(), "");
        }
        // An unfinished name in backquotes, or the word being typed, does not affect the result.
        let quoted = text.matches('`').count() % 2 == 1;
        let end = match quoted {
            true => text.rfind('`'),
            false => Some(
                text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_')
                    .len(),
            ),
        };
        for expected in continuations(&text[..end.unwrap_or(0)], &vocabulary) {
            if let Some(words) = expected.strip_prefix('`') {
                if !quoted {
                    let words = words.trim_end_matches('`').replace(" ,", ",");
                    found.add(&words, CandidateKind::Word);
                }
                continue;
            }
            if expected != SITUATION {
                continue;
            }
            for item in &predicates {
                let Some(name) = item.kind.name() else {
                    continue;
                };
                self.declared(name.as_str(), item, Kind::Function, found);
                if let Some(candidate) = found.by_name.get_mut(name.as_str()).filter(|_| !quoted) {
                    candidate.snippet = Some(format!("`{}`", name.as_str()));
                }
            }
        }
    }

    fn expression(&self, offset: u32, found: &mut Found) {
        found.words(temporal_words().flat_map(|(word, letter)| [word, letter]));
        found.words(operators());
        found.words(LOOK_AHEAD_WORDS.iter().copied());
        for name in check::functions() {
            found.snippet(name, CandidateKind::Function, &format!("{name}($0)"));
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
        // The names that the item at the cursor declares itself.
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

/// Returns the types of data that have a name in the language.
fn types() -> impl Iterator<Item = &'static str> {
    let primitive = PrimitiveType::ALL.into_iter().map(|ty| ty.as_str());
    primitive.chain(["list", "set", "map"])
}

/// Returns the words that may occur between, before or as values: the reserved words that are neither types nor
/// temporal operators, and that an expression may contain.
fn operators() -> impl Iterator<Item = &'static str> {
    let elsewhere = ["as", "when"];
    let reserved = RESERVED_WORDS.iter().copied().filter(move |word| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && types().all(|ty| ty != *word)
            && !elsewhere.contains(word)
            && temporal_words().all(|(temporal, _)| temporal != *word)
    });
    reserved.chain(["last", "unknown"])
}

/// The words that begin an item, with the text that is inserted for them.
const SNIPPETS: &[(&str, &str)] = &[
    ("use", "use ${1:std.patterns}"),
    ("const", "const ${1:name} = $0"),
    ("enum", "enum ${1:Name} { ${2:a}, ${3:b} }"),
    (
        "record",
        "record ${1:Name} {\n  ${2:member}: ${3:string}\n}",
    ),
    ("let", "let ${1:name} = $0"),
    ("trace", "trace {\n  $0\n}"),
    ("event", "event {\n  ${1:kind}: ${2:string}\n}"),
    ("predicate", "predicate ${1:name} = $0"),
    (
        "track",
        "track ${1:name}: ${2:bool} = ${3:false} when ${4:condition} then ${5:true}",
    ),
    ("unsafe", "unsafe ${1:name} = $0"),
    ("property", "property ${1:name} = always ($0)"),
    (
        "rule",
        "rule ${1:name}: when ${2:trigger} then ${3:response} within ${4:5} steps",
    ),
    (
        "template",
        "template ${1:name}(${2:p}: pred()) = always ($0)",
    ),
    (
        "requirement",
        "requirement ${1:R1} \"${2:sentence}\" {\n  formal $0\n}",
    ),
    ("abstraction", "abstraction ${1:name} {\n  over $0\n}"),
    ("model", "model ${1:name} = learn ${2:abstraction} { }"),
    ("query", "query ${1:name} = P=? [ F $0 ] on ${2:model}"),
    (
        "enforce",
        "enforce ${1:property} {\n  violated => block \"${2:reason}\"\n}",
    ),
    (
        "system",
        "system ${1:name} {\n  state ${2:mode}: { ${3:idle}, ${4:busy} } = ${3:idle}\n  $0\n}",
    ),
    (
        "component",
        "component ${1:name} {\n  state ${2:mode}: { ${3:idle}, ${4:busy} } = ${3:idle}\n  $0\n}",
    ),
    ("compose", "compose ${1:name} = ${2:a} || ${3:b}"),
    (
        "test",
        "test \"${1:name}\" {\n  given [{$2}]\n  expect ${3:property} ${4|violated,satisfied,unknown|}\n}",
    ),
];

/// Candidates by name.
#[derive(Default)]
struct Found {
    by_name: BTreeMap<String, Candidate>,
}

impl Found {
    fn add(&mut self, name: &str, kind: CandidateKind) {
        let candidate = Candidate::new(name, kind);
        self.by_name.insert(name.to_owned(), candidate);
    }

    fn snippet(&mut self, name: &str, kind: CandidateKind, snippet: &str) {
        let candidate = Candidate {
            snippet: Some(snippet.to_owned()),
            ..Candidate::new(name, kind)
        };
        self.by_name.insert(name.to_owned(), candidate);
    }

    /// Adds functions that are written as members.
    fn functions(&mut self, names: &[&str]) {
        for name in names {
            let form = vocabulary::call_form(name).unwrap_or_default();
            let args = form.split_once('(').map_or("", |(_, args)| args);
            // The value before the dot is the first argument of the other forms.
            let takes_more = form.contains('.') || args.contains(',');
            let place = if takes_more { "$0" } else { "" };
            self.snippet(name, CandidateKind::Function, &format!("{name}({place})"));
            let row = vocabulary::function(name);
            if let (Some(candidate), Some(row)) = (self.by_name.get_mut(*name), row) {
                candidate.docs = row.markdown();
            }
        }
    }

    fn words<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) {
        for word in words {
            self.add(word, CandidateKind::Word);
        }
    }

    /// Moves these names to the front.
    fn prefer(&mut self, names: &[impl AsRef<str>]) {
        for name in names {
            if let Some(candidate) = self.by_name.get_mut(name.as_ref()) {
                candidate.rank = 0;
            }
        }
    }
}
