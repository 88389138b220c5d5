//! The command `guard`: one file for each verb in [`cli`], and what only the command does: editors, debuggers, hooks and
//! proxies, comparison of specs, mutants, calibration, pages of documentation.
//!
//! Programs that judge traces use `guard_lang`. What is public here serves the binary, the Python package and the tests.

#[cfg(not(unix))]
compile_error!(
    "the command needs a Unix system: sockets, process groups, modes of files; the library `guard-lang` builds everywhere"
);

mod calibrate;
pub mod cli;
pub mod diff;
mod doc;
pub mod editor;
pub mod integrations;
pub mod mutate;
mod redact;
mod replay;
mod written;

use guard_lang::{
    Checked, abstraction, artifact, audit, check, diagnostic, domain, eval, facade, front, hir,
    ids, inert, input, input_schema, learn, lint, load, modules, monitor, problem, query, report,
    source, stdlib, syntax, system, texts, translate, types, value, verdict,
};
