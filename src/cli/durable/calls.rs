//! The list of calls of a session, or of a server: which outcomes are awaited, and when the last call was judged.
//!
//! The journal and the log name the list that goes with the last inputs. A new list is complete under another name before the
//! journal names it, and replaces the old one afterwards: whenever the process ends, one of the two is the list that the
//! journal names.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::files::{NEXT, Replacement, check_own_file, replace, with_ending};
use super::state::{ONLY_ME, Sync};
use crate::cli::clock::Witness;
use crate::cli::failure::{Failure, complain};
use crate::integrations::hook::{Memory, Sessions};

/// The bit of the mode of a file that says that an outcome was lost: to set it takes no room.
pub(crate) const LOST: u32 = 0o100;

/// The bytes by which the list may grow with one call.
const ROOM: usize = 16 * 1024;

/// The facts that are kept from one call to the next, besides the state of the monitor.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Kept {
    #[serde(flatten)]
    pub(crate) memory: Memory,
    /// The session or sub-agent of the list, as its files name it; `None` for a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stem: Option<String>,
    /// The same of each session of a server.
    #[serde(default, skip_serializing_if = "Sessions::is_empty")]
    pub(crate) sessions: Sessions,
    /// The length of the log before the lines that came with it, in bytes: a log that is shorter was cut.
    #[serde(default)]
    pub(crate) log: u64,
    /// When that was.
    #[serde(default)]
    pub(crate) clock: Option<Witness>,
}

impl Kept {
    pub(crate) fn read(bytes: &[u8]) -> Option<Kept> {
        serde_json::from_slice(bytes).ok()
    }

    /// Returns the hash of the list that a session begins with.
    pub(crate) fn first_hash() -> Result<String, String> {
        Ok(hash(&Kept::default().text()?))
    }

    fn text(&self) -> Result<Vec<u8>, String> {
        serde_json::to_vec(self).map_err(|error| error.to_string())
    }
}

/// The list in its file.
pub(crate) struct CallList {
    path: PathBuf,
    pub(crate) text: Vec<u8>,
    pub(crate) kept: Kept,
}

impl CallList {
    /// Reads the list; `None` if there is none.
    ///
    /// # Errors
    /// The file cannot be read, or is no list.
    pub(crate) fn read(path: PathBuf) -> Result<Option<CallList>, String> {
        let wrong = |why: &dyn std::fmt::Display| format!("`{}`: {why}", path.display());
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| wrong(&error))?,
        };
        let kept = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
        Ok(Some(CallList { path, text, kept }))
    }

    /// Begins the list of a session.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn begin(path: PathBuf, sync: Sync) -> Result<CallList, String> {
        let kept = Kept::default();
        let text = kept.text()?;
        replace(&path, &text, sync).map_err(|error| of(&path, &error))?;
        Ok(CallList { path, text, kept })
    }

    /// Returns the list of a server. It has none before its first hook.
    ///
    /// # Errors
    /// The file cannot be read or used, or it is not the list that the journal names.
    pub(crate) fn of_server(
        path: PathBuf,
        named: Option<&str>,
        journal: &Path,
    ) -> Result<CallList, Failure> {
        check_own_file(&path)?;
        let found = CallList::read(path.clone()).map_err(Failure::Files)?;
        match (found, named) {
            (Some(_), None) => {
                let (path, journal) = (path.display(), journal.display());
                Err(Failure::Files(format!(
                    "`{path}` is the list of calls of a history that is missing, since `{journal}` does not name it: restore the journal, or remove the list to begin anew"
                )))
            }
            (found, named) => {
                let mut list = found.unwrap_or_else(|| CallList {
                    path,
                    text: Vec::new(),
                    kept: Kept::default(),
                });
                let checked = named.map_or(Ok(()), |named| list.check(named, journal));
                checked.map_err(Failure::Files).map(|()| list)
            }
        }
    }

    /// Checks that it is the list that the journal names, by its hash, or takes the one that was about to replace it.
    ///
    /// # Errors
    /// The journal names another one.
    pub(crate) fn check(&mut self, named: &str, journal: &Path) -> Result<(), String> {
        if hash(&self.text) == named {
            return Ok(());
        }
        let next = with_ending(&self.path);
        if let Some(list) = CallList::read(next.clone()).ok().flatten()
            && hash(&list.text) == named
        {
            std::fs::rename(&next, &self.path).map_err(|error| of(&next, &error))?;
            (self.text, self.kept) = (list.text, list.kept);
            return Ok(());
        }
        let (path, journal) = (self.path.display(), journal.display());
        Err(match self.text.is_empty() {
            true => format!("`{path}` is missing, which the end of `{journal}` names"),
            false => format!(
                "`{path}` is not the list of calls that the end of `{journal}` names: one of the two was changed, cut or replaced"
            ),
        })
    }

    /// Whether an outcome was lost since the list was written.
    pub(crate) fn has_lost(&self) -> bool {
        let about = std::fs::metadata(&self.path);
        about.is_ok_and(|about| about.mode() & LOST != 0)
    }

    /// Makes room for the next list, in a file of this mode. On a full disk this fails, and not after the journal has the call.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn make_room(&self, mode: u32) -> Result<NextList<'_>, String> {
        let made = Replacement::begin(self.path.clone(), NEXT, mode).and_then(|mut next| {
            next.reserve(self.text.len() + ROOM)?;
            Ok(next)
        });
        Ok(NextList {
            list: self,
            file: made.map_err(|error| of(&self.path, &error))?,
        })
    }
}

/// The outcomes that a server was given and has not recorded. As long as there are any, or one was lost, a mark at the file of the list
/// says so to a later process. It takes no room.
pub(crate) struct Unrecorded {
    /// The file of the list, if there is a journal.
    path: Option<PathBuf>,
    losses: Mutex<Losses>,
}

#[derive(Default)]
struct Losses {
    /// The number of outcomes that wait for their turn.
    n_waiting: usize,
    /// Whether one was lost that the list does not mention.
    has_lost: bool,
    /// Whether one was given up that the judging thread does not know of.
    was_given_up: bool,
}

impl Unrecorded {
    pub(crate) fn new(path: Option<PathBuf>) -> Unrecorded {
        Unrecorded {
            path,
            losses: Mutex::default(),
        }
    }

    /// Notes an outcome before it waits for its turn.
    pub(crate) fn add(&self) {
        self.change(|losses| losses.n_waiting += 1);
    }

    /// Notes that an outcome will have no turn.
    pub(crate) fn give_up(&self) {
        self.change(|losses| {
            losses.n_waiting -= 1;
            (losses.has_lost, losses.was_given_up) = (true, true);
        });
    }

    /// Returns whether an outcome was given up since the last call.
    pub(crate) fn take_given_up(&self) -> bool {
        let mut losses = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut losses.was_given_up)
    }

    /// Notes that an outcome had its turn.
    pub(crate) fn remove(&self) {
        self.change(|losses| losses.n_waiting -= 1);
    }

    /// Notes that an outcome was lost.
    pub(crate) fn lose(&self) {
        self.change(|losses| losses.has_lost = true);
    }

    /// Notes that a new list, which was made with the mark, mentions all losses.
    pub(crate) fn list(&self) {
        self.change(|losses| losses.has_lost = false);
    }

    fn change(&self, change: impl FnOnce(&mut Losses)) {
        let mut losses = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut losses);
        let Some(path) = &self.path else {
            return;
        };
        let mark = if losses.has_lost || losses.n_waiting > 0 {
            LOST
        } else {
            0
        };
        match std::fs::set_permissions(path, Permissions::from_mode(ONLY_ME | mark)) {
            // No call was judged yet.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) if mark > 0 => {
                complain(&format!("an outcome may be lost: {}", of(path, &error)));
            }
            _ => {}
        }
    }
}

/// The list that will replace another one.
pub(crate) struct NextList<'l> {
    list: &'l CallList,
    file: Replacement,
}

impl NextList<'_> {
    /// Replaces the list, and returns its text; `keep` makes the log name the new one, by its hash.
    ///
    /// # Errors
    /// One of the two cannot be written.
    pub(crate) fn replace(
        mut self,
        kept: &Kept,
        sync: Sync,
        keep: impl FnOnce(&str) -> Result<(), String>,
    ) -> Result<Vec<u8>, String> {
        let path = &self.list.path;
        let text = kept.text()?;
        let written = self.file.fill(&text, sync);
        written.map_err(|error| of(path, &error))?;
        keep(&hash(&text))?;
        self.file.stay();
        let done = self.file.finish(sync);
        done.map_err(|error| of(path, &error)).map(|()| text)
    }
}

fn of(path: &Path, error: &std::io::Error) -> String {
    format!("`{}`: {error}", path.display())
}

fn hash(text: &[u8]) -> String {
    blake3::hash(text).to_hex().to_string()
}
