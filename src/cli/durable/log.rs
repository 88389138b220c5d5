//! The decision log of a monitor, read from its end.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::files::{contents, cut, failed, open};
use crate::cli::failure::Failure;
use crate::monitor::log::{self, LogEnd};

/// If a log has more than twice this many bytes, only this many bytes at the end, or a multiple, are read: a hook opens
/// the log at every call. They hold the decisions since the last state of a session, which are at most 16, of about 1 kB each.
const LOG_TAIL: u64 = 32 * 1024;

/// The first line of a log is within so many bytes: it names the spec, the models and the key.
const LOG_HEAD: u64 = 16 * 1024;

/// A log that was read.
pub(crate) struct OpenLog {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    /// Its end and its number of complete bytes; `None` if it begins now.
    pub(crate) end: Option<(LogEnd, usize)>,
}

impl OpenLog {
    /// Opens a log and reads its end: so much of it that `suffices`, so that the time of a restart depends on new data, not on the
    /// whole log.
    pub(crate) fn read(
        path: PathBuf,
        suffices: impl Fn(&LogEnd) -> bool,
    ) -> Result<OpenLog, Failure> {
        let mut file = open(&path)?;
        let mut tail = LOG_TAIL;
        let end = loop {
            match end_of_log(&mut file, &path, tail)? {
                None => break whole_log(&mut file, &path)?,
                Some(end) if suffices(&end.0) => break Some(end),
                Some(_) => tail = tail.saturating_mul(4),
            }
        };
        Ok(OpenLog { path, file, end })
    }
}

/// Returns the end of a long log, from its last lines, and its size; `None` if the log is short, or these lines are
/// invalid.
fn end_of_log(file: &mut File, path: &Path, tail: u64) -> Result<Option<(LogEnd, usize)>, Failure> {
    let mut ends = |from: u64| -> io::Result<(Vec<u8>, Vec<u8>)> {
        let (mut first, mut last) = (Vec::new(), Vec::new());
        file.rewind()?;
        BufReader::with_capacity(1024, file.by_ref().take(LOG_HEAD))
            .read_until(b'\n', &mut first)?;
        file.seek(SeekFrom::Start(from))?;
        // A buffer that grows takes twice the memory and ten more reads.
        last.reserve_exact(usize::try_from(tail).unwrap_or(usize::MAX));
        file.by_ref().take(tail).read_to_end(&mut last)?;
        Ok((first, last))
    };
    let len = std::fs::metadata(path).map_err(|error| failed("read", path, &error))?;
    let len = len.len();
    let Some(from) = len.checked_sub(tail).filter(|from| *from > tail) else {
        return Ok(None);
    };
    let (first, last) = ends(from).map_err(|error| failed("read", path, &error))?;
    // The range may begin and end within a character, in lines that are not used.
    let first = std::str::from_utf8(&first).ok();
    let first = first.and_then(|line| line.strip_suffix('\n'));
    let begin = last.iter().position(|byte| *byte == b'\n');
    let lines = begin.and_then(|end| std::str::from_utf8(last.get(end + 1..)?).ok());
    let whole = last.last() == Some(&b'\n');
    let end = first.zip(lines).filter(|_| whole);
    let end = end.and_then(|(first, lines)| log::resume(first, lines));
    Ok(end.zip(usize::try_from(len).ok()))
}

/// Verifies a whole log and returns its end and size; `None` if there is none yet.
fn whole_log(file: &mut File, path: &Path) -> Result<Option<(LogEnd, usize)>, Failure> {
    let rewound = file.rewind();
    rewound.map_err(|error| failed("read", path, &error))?;
    let bytes = contents(file, path)?;
    if !bytes.contains(&b'\n') && log::is_begun(&bytes) {
        return Ok(None);
    }
    let found = log::verify(&bytes).map_err(|error| failed("continue", path, &error))?;
    cut(path, bytes.len(), found.whole);
    let end = LogEnd {
        identity: found.identity,
        key: found.key,
        chain: found.chain,
        inputs: found.inputs,
    };
    Ok(Some((end, found.whole)))
}
