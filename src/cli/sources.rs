//! The trace files that the arguments of a verb name.

use std::sync::Arc;

use super::failure::Failure;
use crate::input::open::{self, OpenError, Source};
use crate::problem::{Problem, ProblemKind};

/// The files that the arguments name; what cannot be opened is a problem, and the others are still read.
pub(super) fn find(
    traces: &[String],
    glob: Option<&str>,
) -> Result<(Vec<Source>, Vec<Problem>), Failure> {
    let (mut sources, mut problems) = (Vec::new(), Vec::new());
    let mut problem = |file: &str, message: String| {
        problems.push(Problem {
            kind: ProblemKind::Unreadable,
            file: Arc::from(file),
            line: 0,
            trace: None,
            step: None,
            field: None,
            message,
        });
    };
    for argument in traces {
        match open::sources(argument, glob) {
            Ok(found) if found.is_empty() => {
                let message = match glob {
                    Some(glob) => format!("no file in this folder fits `{glob}`"),
                    None => format!(
                        "no file in this folder ends in {}",
                        open::EXTENSIONS.join(", ")
                    ),
                };
                problem(argument, message);
            }
            Ok(found) => sources.extend(found),
            Err(OpenError::Unreadable { path, reason }) => {
                problem(&path, format!("cannot be read: {reason}"))
            }
            Err(error @ OpenError::Glob { .. }) => return Err(Failure::Usage(error.to_string())),
        }
    }
    Ok((sources, problems))
}
