//! Reads markers in comments of test files: `//~ G0101` on the line where a diagnostic begins, or `//~^ G0101` on the
//! line below it; several codes may follow.

use std::path::Path;

use guard_lang::diagnostic::Diagnostic;
use guard_lang::source::SourceFile;

/// Returns the marked lines and codes, sorted.
pub(crate) fn markers(text: &str) -> Vec<(u32, String)> {
    let mut out = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some((_, marker)) = line.split_once("//~") else {
            continue;
        };
        let (back, codes) = match marker.strip_prefix('^') {
            Some(codes) => (1, codes),
            None => (0, marker),
        };
        let line = u32::try_from(index + 1 - back).unwrap();
        out.extend(codes.split_whitespace().map(|code| (line, code.to_owned())));
    }
    out.sort();
    out
}

/// Returns the lines and codes of diagnostics, sorted.
pub(crate) fn found(file: &SourceFile, diagnostics: &[Diagnostic]) -> Vec<(u32, String)> {
    let mut out: Vec<_> = diagnostics
        .iter()
        .map(|d| (file.location(d.span().start).line, d.code.to_string()))
        .collect();
    out.sort();
    out
}

/// Returns settings that place snapshots beside their inputs.
pub(crate) fn settings(path: &Path) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(path.parent().unwrap());
    settings.set_prepend_module_to_snapshot(false);
    settings.set_snapshot_suffix("");
    settings.set_omit_expression(true);
    settings.remove_input_file();
    settings
}
