//! Sources of recorded traces.

use std::io::Read;
use std::path::Path;

use super::Error;
use crate::input::open::{Selection, Source};
use crate::problem::Problem;

/// Recorded traces that an audit judges or a model is learned from: files, or data of the calling program.
#[derive(Debug, Default)]
pub struct Traces {
    pub(super) sources: Vec<Source>,
    /// The problems of finding the files.
    pub(super) missing: Vec<Problem>,
}

impl Traces {
    /// Finds files, and the files of folders that match one of `include` (if empty: those with a known extension) and none
    /// of `exclude`.
    ///
    /// # Errors
    /// [`Error::Glob`] if a pattern is invalid. A path that cannot be read is a [`Problem`] of the audit.
    pub fn from_paths<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
        include: &[String],
        exclude: &[String],
    ) -> Result<Traces, Error> {
        let paths = paths.into_iter();
        let names = paths.map(|path| path.as_ref().to_string_lossy().into_owned());
        let (sources, missing) = Selection::new(include, exclude)?.find(names);
        Ok(Traces { sources, missing })
    }

    /// Uses a stream with the content of a file: JSON, JSON Lines or CSV. It is read once, by another thread; `name` is its
    /// file name in messages.
    pub fn from_reader(name: &str, from: impl Read + Send + 'static) -> Traces {
        Traces {
            sources: vec![Source::stream(name, from)],
            missing: Vec::new(),
        }
    }

    /// Uses the rows of a table of this process, without a copy where the types allow it. They are read once, by another thread;
    /// `name` is the file name in messages.
    #[cfg(feature = "tables")]
    pub fn from_table(
        name: &str,
        rows: impl arrow_array::RecordBatchReader + Send + 'static,
    ) -> Traces {
        Traces {
            sources: vec![Source::table(name, Box::new(rows))],
            missing: Vec::new(),
        }
    }
}
