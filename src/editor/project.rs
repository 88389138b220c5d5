//! The files of a project: their imports, and all uses of a name.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::Analysis;
use crate::modules::Loader;
use crate::source::{SourceFile, SourceMap, Span};
use crate::syntax::{self, ast};
use crate::{Checked, check, front};

/// The files available to an editor, by name.
pub trait Workspace {
    /// Returns the names of all specs and modules.
    fn files(&self) -> Vec<String>;

    /// Returns the text of a file; `None` if it cannot be read, or is not a file that may be edited.
    fn text(&self, file: &str) -> Option<String>;

    /// Returns the name of the file that an import (`lib/mail.guard`) refers to in a spec.
    fn resolve(&self, spec: &str, import: &str) -> String;
}

/// A range of bytes in a file, by the name of the file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The name of the file.
    pub file: String,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset one past the last byte.
    pub end: u32,
}

impl Place {
    pub(super) fn of(sources: &SourceMap, span: Span) -> Place {
        Place {
            file: sources.get(span.file).name().to_owned(),
            start: span.start,
            end: span.end,
        }
    }
}

/// A way to check a file: as a spec, or as a module of a spec, whose event its conditions are about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct View {
    pub(super) file: String,
    importer: Option<String>,
}

/// The beginning of a file that determines how it is checked.
struct Head {
    imports: Vec<String>,
    declares_event: bool,
}

/// A workspace with the imports of its files.
pub(super) struct Project<'w> {
    workspace: &'w dyn Workspace,
    heads: RefCell<HashMap<String, Rc<Head>>>,
}

impl<'w> Project<'w> {
    pub(super) fn new(workspace: &'w dyn Workspace) -> Project<'w> {
        Project {
            workspace,
            heads: RefCell::default(),
        }
    }

    fn head(&self, file: &str) -> Rc<Head> {
        if let Some(known) = self.heads.borrow().get(file) {
            return Rc::clone(known);
        }
        let text = self.workspace.text(file).unwrap_or_default();
        let head = Rc::new(head(&text));
        let mut heads = self.heads.borrow_mut();
        heads.insert(file.to_owned(), Rc::clone(&head));
        head
    }

    /// Returns a spec and all its imports, except the library.
    fn closure(&self, spec: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::from([spec.to_owned()]);
        let mut open = vec![spec.to_owned()];
        while let Some(file) = open.pop() {
            for import in &self.head(&file).imports {
                let target = self.workspace.resolve(spec, import);
                if found.insert(target.clone()) {
                    open.push(target);
                }
            }
        }
        found
    }

    fn has_event(&self, files: &BTreeSet<String>) -> bool {
        files.iter().any(|file| self.head(file).declares_event)
    }

    /// Returns a spec with an event that imports a file without one; `None` for a file that has an event.
    pub(super) fn importer(&self, file: &str) -> Option<String> {
        if self.has_event(&self.closure(file)) {
            return None;
        }
        let files = self.workspace.files().into_iter();
        files.filter(|spec| spec != file).find(|spec| {
            let closure = self.closure(spec);
            closure.contains(file) && self.has_event(&closure)
        })
    }

    /// Returns all views of files that are part of a spec together with one of `touched`.
    pub(super) fn views(&self, touched: &BTreeSet<String>) -> BTreeSet<View> {
        let mut views = BTreeSet::new();
        let mut bare = BTreeSet::new();
        let files: BTreeSet<String> = self.workspace.files().into_iter().collect();
        for spec in files.union(touched) {
            let closure = self.closure(spec);
            if closure.is_disjoint(touched) {
                continue;
            }
            if !self.has_event(&closure) {
                bare.insert(spec.clone());
                continue;
            }
            views.insert(View {
                file: spec.clone(),
                importer: None,
            });
            let modules = closure.into_iter().filter(|module| module != spec);
            for module in modules.filter(|module| !self.has_event(&self.closure(module))) {
                views.insert(View {
                    file: module,
                    importer: Some(spec.clone()),
                });
            }
        }
        for file in bare {
            if views.iter().all(|view| view.file != file) {
                views.insert(View {
                    file,
                    importer: None,
                });
            }
        }
        views
    }

    /// Checks a file in a view, with the texts of `edited` in place of those of the workspace.
    pub(super) fn checked(&self, view: &View, edited: &BTreeMap<String, String>) -> Checked {
        let reader = Reader {
            workspace: self.workspace,
            edited,
            view,
        };
        let text = reader.text(&view.file).unwrap_or_default();
        front(&view.file, &text, &reader, check::Limits::default())
    }

    /// Returns all names in the project that refer to a declaration, by file and position.
    pub(super) fn uses(&self, declared: &Place) -> BTreeSet<Place> {
        let mut all = BTreeSet::new();
        for view in self.views(&BTreeSet::from([declared.file.clone()])) {
            let checked = self.checked(&view, &BTreeMap::new());
            let sources = &checked.sources;
            let files = sources
                .iter()
                .filter(|file| self.workspace.text(file.name()).is_some());
            for (name, target) in files.flat_map(|file| checked.links.of_file(file.id())) {
                if target.start == declared.start && Place::of(sources, target) == *declared {
                    all.insert(Place::of(sources, name));
                }
            }
        }
        all
    }
}

/// Reads the files of a view.
struct Reader<'r> {
    workspace: &'r dyn Workspace,
    edited: &'r BTreeMap<String, String>,
    view: &'r View,
}

impl Reader<'_> {
    fn text(&self, file: &str) -> Option<String> {
        let edited = self.edited.get(file).cloned();
        edited.or_else(|| self.workspace.text(file))
    }
}

impl Loader for Reader<'_> {
    fn load(&self, path: &str) -> Result<(String, String), String> {
        let spec = self.view.importer.as_ref().unwrap_or(&self.view.file);
        let file = self.workspace.resolve(spec, path);
        let text = self.text(&file);
        Ok((text.ok_or("it cannot be read")?, file))
    }

    fn importer(&self) -> Option<(String, String)> {
        let importer = self.view.importer.as_ref()?;
        Some((self.text(importer)?, importer.clone()))
    }
}

/// Returns the imports of a text, except the library.
fn head(text: &str) -> Head {
    let (tree, _) = syntax::parse(&SourceFile::new("", text));
    let mut head = Head {
        imports: Vec::new(),
        declares_event: false,
    };
    for item in &tree.items {
        match &item.kind {
            ast::ItemKind::Use(import) => head.imports.extend(import_path(import)),
            ast::ItemKind::Event(_) => head.declares_event = true,
            _ => {}
        }
    }
    head
}

/// Returns the path below the spec's folder of the file that an item imports; `None` for a module of the library.
fn import_path(import: &ast::Use) -> Option<String> {
    let names: Vec<&str> = import.path.iter().map(ast::Name::as_str).collect();
    let own = names.first().is_some_and(|first| *first != "std");
    own.then(|| format!("{}.guard", names.join("/")))
}

/// Returns the paths below the spec's folder of the files that a text imports.
pub(crate) fn imports(text: &str) -> Vec<String> {
    head(text).imports
}

/// Returns a spec that imports a file without an event, so that the file can be checked as part of it.
pub(crate) fn importer(workspace: &dyn Workspace, file: &str) -> Option<String> {
    Project::new(workspace).importer(file)
}

impl Analysis {
    /// Returns every name in the project that refers to the same declaration as the one at an offset, with the
    /// declaration if it is in a file of the project, by file and position.
    pub fn references_in(&self, workspace: &dyn Workspace, offset: u32) -> Vec<Place> {
        let Some(meant) = self.definition(offset) else {
            return Vec::new();
        };
        let declared = Place::of(self.sources(), meant.target);
        let mut all = Project::new(workspace).uses(&declared);
        if !meant.target.is_empty() && workspace.text(&declared.file).is_some() {
            all.insert(declared);
        }
        all.into_iter().collect()
    }
}
