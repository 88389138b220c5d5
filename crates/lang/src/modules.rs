//! A spec and its imports: parsing, resolution of paths, detection of cycles.
//!
//! All text comes from a [`Loader`]; this module opens no files. A path that begins with `std` names a module of the
//! embedded library; any other names a file below the folder of the spec: `use lib.mail` in any file is
//! `lib/mail.guard` in that folder, so no path can leave the folder.

use std::collections::HashMap;

use smol_str::SmolStr;

use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::source::{FileId, SourceMap, Span};
use crate::stdlib;
use crate::syntax::{self, ast};

/// Supplies the text of imported files.
pub trait Loader {
    /// Returns the text of the file at this path below the spec's folder (`lib/mail.guard`), with its name in diagnostics.
    ///
    /// # Errors
    /// The reason why it cannot be read, as one clause.
    fn load(&self, path: &str) -> Result<(String, String), String>;

    /// Returns the text and the name of a spec that imports the file, if the file is checked as a module. If the file declares
    /// no event, its conditions are about the event of that spec.
    fn importer(&self) -> Option<(String, String)> {
        None
    }
}

/// A loader for specs that import nothing but the standard library.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, path: &str) -> Result<(String, String), String> {
        Err(format!("no folder here could contain `{path}`"))
    }
}

/// The path of the importer of the current module. No `use` can have this path.
const IMPORTER: SmolStr = SmolStr::new_static("..");

/// The number of a module in its [`Project`].
pub type ModuleIdx = usize;

/// One file.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its path as in `use` (`std.drift`); empty for the spec itself.
    pub path: SmolStr,
    /// Its file.
    pub file: FileId,
    /// Its tree.
    pub tree: ast::File,
    /// For every `use` item, in order: the item, its span, and the module if it was found.
    pub imports: Vec<(ast::Use, Span, Option<ModuleIdx>)>,
}

/// A spec and its imports. Module 0 is the spec; a module comes after all modules that import it first.
#[derive(Clone, Debug)]
pub struct Project {
    /// The modules.
    pub modules: Vec<Module>,
}

impl Project {
    /// Returns the modules without the importer of module 0 and the modules that only the importer uses.
    pub fn without_importer(&self) -> &[Module] {
        let mut modules = self.modules.iter();
        let end = modules.position(|module| module.path == IMPORTER);
        &self.modules[..end.unwrap_or(self.modules.len())]
    }
}

/// Parses a spec and everything that it imports.
///
/// Syntax errors are reported; the parts that can be parsed are kept.
pub fn load(
    name: &str,
    text: &str,
    loader: &dyn Loader,
    sources: &mut SourceMap,
) -> (Project, Vec<Diagnostic>) {
    let mut ctx = Ctx {
        loader,
        sources,
        modules: Vec::new(),
        known: HashMap::new(),
        open: Vec::new(),
        diagnostics: Vec::new(),
    };
    ctx.module(SmolStr::default(), name, text);
    if let Some((text, name)) = loader.importer() {
        ctx.importer(&name, &text);
    }
    (
        Project {
            modules: ctx.modules,
        },
        ctx.diagnostics,
    )
}

struct Ctx<'a> {
    loader: &'a dyn Loader,
    sources: &'a mut SourceMap,
    modules: Vec<Module>,
    known: HashMap<SmolStr, ModuleIdx>,
    /// The chain of modules whose imports are being read.
    open: Vec<SmolStr>,
    diagnostics: Vec<Diagnostic>,
}

impl Ctx<'_> {
    fn module(&mut self, path: SmolStr, name: &str, text: &str) -> ModuleIdx {
        let file = self.sources.add(name, text);
        let (tree, diagnostics) = syntax::parse(self.sources.get(file));
        self.diagnostics.extend(diagnostics);
        let idx = self.modules.len();
        let uses: Vec<(ast::Use, Span)> = tree
            .items
            .iter()
            .filter_map(|item| match &item.kind {
                ast::ItemKind::Use(import) => Some((import.clone(), *item.span)),
                _ => None,
            })
            .collect();
        self.modules.push(Module {
            path: path.clone(),
            file,
            tree,
            imports: Vec::new(),
        });
        self.known.insert(path.clone(), idx);
        self.open.push(path);
        for (import, span) in uses {
            let target = self.import(&import, span);
            self.modules[idx].imports.push((import, span, target));
        }
        self.open.pop();
        idx
    }

    /// Adds the spec whose event the conditions of a module are about. Its errors are reported when it is checked
    /// itself.
    fn importer(&mut self, name: &str, text: &str) {
        let declares_event = |module: &Module| {
            let mut items = module.tree.items.iter();
            items.any(|item| matches!(item.kind, ast::ItemKind::Event(_)))
        };
        if !self.modules.iter().any(declares_event) {
            let reported = self.diagnostics.len();
            self.module(IMPORTER, name, text);
            self.diagnostics.truncate(reported);
        }
    }

    fn import(&mut self, import: &ast::Use, span: Span) -> Option<ModuleIdx> {
        let parts: Vec<&str> = import.path.iter().map(ast::Name::as_str).collect();
        let path = SmolStr::new(parts.join("."));
        if self.open.contains(&path) {
            let from = self.open.iter().position(|open| *open == path).unwrap_or(0);
            let chain: Vec<&str> = self.open[from..]
                .iter()
                .map(SmolStr::as_str)
                .chain([path.as_str()])
                .collect();
            self.diagnostics.push(
                Diagnostic::new(Code::G0205, span, format!("circular import of `{path}`"))
                    .label("this import closes the cycle")
                    .note(format!("the cycle: {}", chain.join(" → "))),
            );
            return None;
        }
        if let Some(known) = self.known.get(&path) {
            return Some(*known);
        }
        if parts.first() == Some(&"std") {
            let Some((name, text)) = stdlib::module(&parts[1..]) else {
                let mut diagnostic = Diagnostic::new(
                    Code::G0204,
                    span,
                    format!("unknown standard library module `{path}`"),
                )
                .label("not found");
                let rest = parts[1..].join("/");
                if let Some(near) = did_you_mean(&rest, stdlib::modules()) {
                    diagnostic =
                        diagnostic.note(format!("did you mean `std.{}`?", near.replace('/', ".")));
                } else {
                    let all: Vec<String> = stdlib::modules()
                        .map(|m| format!("`std.{}`", m.replace('/', ".")))
                        .collect();
                    diagnostic = diagnostic.note(format!("it has {}", all.join(", ")));
                }
                self.diagnostics.push(diagnostic);
                return None;
            };
            return Some(self.module(path, name, text));
        }
        let below = format!("{}.guard", parts.join("/"));
        match self.loader.load(&below) {
            Ok((text, name)) => Some(self.module(path, &name, &text)),
            Err(reason) => {
                self.diagnostics.push(
                    Diagnostic::new(Code::G0204, span, format!("cannot read module `{path}`"))
                        .label("imported here")
                        .note(format!(
                            "expected it at `{below}` below the folder of the spec: {reason}"
                        )),
                );
                None
            }
        }
    }
}
