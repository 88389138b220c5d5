//! Loading of specs by commands; diagnostics are printed to standard error.

use std::path::Path;

use super::failure::{Failure, code};
use super::output::{stderr_paint, tell};
use crate::diagnostic::{self, Diagnostic, RenderOptions, Severity};
use crate::hir;
use crate::load::Loaded;
use crate::source::SourceMap;

/// Reads and checks a spec that is about to be used, and prints its diagnostics.
///
/// # Errors
/// The file cannot be read, or the spec has errors.
pub(super) fn usable(path: &Path) -> Result<(hir::Spec, Loaded), Failure> {
    let mut loaded = Loaded::from_path(path)?;
    print_diagnostics(&loaded.diagnostics, &loaded.sources);
    match loaded.spec.take() {
        Some(spec) => Ok((spec, loaded)),
        None => Err(Failure::AlreadyReported(code::USAGE)),
    }
}

/// Checks a loaded spec with one more item at its end, and prints its diagnostics if the item is wrong.
///
/// # Errors
/// The item is wrong.
pub(super) fn with_item(loaded: &Loaded, item: &str) -> Result<(hir::Spec, Loaded), Failure> {
    let mut loaded = loaded.with_item(item);
    match loaded.spec.take() {
        Some(spec) => Ok((spec, loaded)),
        None => {
            print_diagnostics(&loaded.diagnostics, &loaded.sources);
            Err(Failure::AlreadyReported(code::USAGE))
        }
    }
}

/// Prints diagnostics to standard error, except hints, which are for `guard check` and editors.
pub(super) fn print_diagnostics(diagnostics: &[Diagnostic], sources: &SourceMap) {
    let shown: Vec<Diagnostic> = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity != Severity::Hint)
        .cloned()
        .collect();
    if !shown.is_empty() {
        let options = RenderOptions {
            color: stderr_paint().colour,
        };
        tell(&diagnostic::render(&shown, sources, options));
    }
}
