//! The files of a run: what each is for, and that no two of them are one.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::files::{folder_of, identity, with_ending};
use super::state::Sync;
use crate::cli::failure::Failure;
use crate::cli::secrets::SecretArgs;

/// The files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    pub(crate) resume: Option<PathBuf>,
    pub(crate) snapshot: Option<PathBuf>,
    /// Whether a state in the file for states is continued.
    pub(crate) continues: bool,
    pub(crate) snapshot_every: u64,
    pub(crate) journal: Option<PathBuf>,
    pub(crate) log: Option<PathBuf>,
    /// The key that the log is signed with.
    pub(crate) key: Option<PathBuf>,
    /// The rule about who may read the key.
    pub(crate) secrets: SecretArgs,
    pub(crate) sync: Sync,
    /// The fields whose contents are left out of the log, all if empty; the journal is then emptied after every input if there
    /// is a snapshot.
    pub(crate) redact: Option<String>,
    /// The list of the calls of hooks, which the journal and the log name.
    pub(crate) calls: Option<PathBuf>,
    /// The other files of the run, none of which may be one of these: spec, models, tokens, sockets.
    pub(crate) others: Vec<PathBuf>,
    /// The judging time after which a state is written, so that slow inputs are not replayed.
    pub(crate) snapshot_after: Option<Duration>,
}

impl Files {
    /// Refuses a run two of whose files are one: what is written to it would replace the other. Names, hard links and symbolic links
    /// are compared, also of files that do not exist yet.
    pub(crate) fn check_distinct(&self) -> Result<(), Failure> {
        let others: Vec<_> = self.others().filter_map(|path| place(path)).collect();
        let mut seen: Vec<(Place, &str)> = Vec::new();
        for (path, what) in self.own() {
            // A file without a place cannot be opened either.
            let Some(place) = place(&path) else {
                continue;
            };
            let before = seen.iter().find(|(before, _)| *before == place);
            let is = match before {
                Some((_, before)) => before,
                None if others.contains(&place) => {
                    "another file of the run (spec, model, key, token, state or socket)"
                }
                None => {
                    seen.push((place, what));
                    continue;
                }
            };
            let path = path.display();
            return Err(Failure::Files(format!(
                "cannot use `{path}` as {what}: it is {is}"
            )));
        }
        Ok(())
    }

    /// Returns the files that are written, and what each of them is.
    fn own(&self) -> impl Iterator<Item = (PathBuf, &'static str)> {
        let next = |path: &Option<PathBuf>| path.as_deref().map(with_ending);
        let own = [
            (self.snapshot.clone(), "the state"),
            (next(&self.snapshot), "the next state (`STATE.next`)"),
            (self.calls.clone(), "the list of calls (`JOURNAL.calls`)"),
            (
                next(&self.calls),
                "the next list of calls (`JOURNAL.calls.next`)",
            ),
            (self.journal.clone(), "the journal"),
            (self.log.clone(), "the log"),
        ];
        own.into_iter()
            .filter_map(|(path, what)| Some((path?, what)))
    }

    /// Returns the other files of the run. The state that is continued may be the one that is written.
    fn others(&self) -> impl Iterator<Item = &PathBuf> {
        let is_written =
            |path: &&PathBuf| self.snapshot.as_ref().is_some_and(|of| is_same(of, path));
        let resume = self.resume.as_ref().filter(|path| !is_written(path));
        self.others.iter().chain(resume).chain(&self.key)
    }
}

/// The identity of a file: its own numbers, or those of its folder and its name if it does not exist.
type Place = ((u64, u64), Option<OsString>);

fn place(path: &Path) -> Option<Place> {
    if let Ok(found) = std::fs::metadata(path) {
        return Some((identity(&found), None));
    }
    let folder = std::fs::metadata(folder_of(path)).ok()?;
    Some((identity(&folder), path.file_name().map(OsStr::to_owned)))
}

/// Whether two paths name one file.
fn is_same(one: &Path, other: &Path) -> bool {
    place(one).is_some_and(|one| place(other) == Some(one))
}
