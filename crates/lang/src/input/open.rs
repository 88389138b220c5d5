//! Files, folders and the standard input: the only place of the library that opens what users name.
//!
//! A folder is searched recursively and in order of names. Without `--glob`, the files taken are those whose name ends
//! in one of [`EXTENSIONS`], also with `.gz` or `.zst` behind. Hidden files and folders (a leading dot) are passed
//! over, as are symbolic links to folders. A file that is named itself is always read, whatever it is called.
//! Compression and archives are recognized by the first bytes, never by the name.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::bufread::GzDecoder;
use globset::{Glob, GlobMatcher};
use walkdir::{DirEntry, WalkDir};

use super::archive;
use super::batch::Batches;
use super::limits::InputLimits;
use super::projection::Projection;
use super::record::FileName;
#[cfg(feature = "tables")]
use super::tables::{TableReader, rows};
use crate::problem::{Problem, ProblemKind};

/// The file extensions that are read from a folder without `--glob`.
pub(crate) const EXTENSIONS: &[&str] = &[
    "json",
    "jsonl",
    "ndjson",
    "csv",
    "tsv",
    "traj",
    "cast",
    "log",
    "eval",
    #[cfg(feature = "tables")]
    "parquet",
    #[cfg(feature = "tables")]
    "arrow",
    #[cfg(feature = "tables")]
    "feather",
];

/// Something to be read.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name.
    pub name: FileName,
    from: Medium,
}

#[derive(Clone)]
enum Medium {
    File(PathBuf),
    Stdin,
    /// A stream of the caller; empty once it was opened.
    Stream(Arc<Mutex<Option<Box<dyn Read + Send>>>>),
    /// A table of the caller; empty once it was opened.
    #[cfg(feature = "tables")]
    Table(Arc<Mutex<Option<TableReader>>>),
}

/// Takes what can be read once.
fn taken<T>(from: &Mutex<Option<T>>) -> io::Result<T> {
    let from = from.lock().unwrap_or_else(PoisonError::into_inner).take();
    from.ok_or_else(|| io::Error::other("the stream was read already"))
}

impl fmt::Debug for Medium {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Medium::File(path) => f.debug_tuple("File").field(path).finish(),
            Medium::Stdin => f.write_str("Stdin"),
            Medium::Stream(_) => f.write_str("Stream"),
            #[cfg(feature = "tables")]
            Medium::Table(_) => f.write_str("Table"),
        }
    }
}

/// A path that cannot be opened: it does not exist, or access is denied.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{path}`: {reason}")]
pub struct Unreadable {
    /// The path, as given or found.
    pub path: String,
    /// The error of the operating system.
    pub reason: io::Error,
}

/// A text that is not a pattern for file names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid file name pattern `{pattern}`: {reason}")]
pub struct GlobError {
    /// The pattern.
    pub pattern: String,
    /// The fault in the pattern.
    pub reason: String,
}

/// The selection of the files of a folder.
///
/// A pattern with a `/` is matched against the whole path below the folder (`*` stays within one name, `**` does not), any
/// other pattern against the name of the file, at any depth. `{a,b}` stands for one of several.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The patterns as given, for messages.
    patterns: Vec<String>,
    include: Vec<Matcher>,
    exclude: Vec<Matcher>,
}

impl Selection {
    /// Selects files that match one of `include`, or have one of [`EXTENSIONS`] if `include` is empty, and match none of
    /// `exclude`.
    ///
    /// # Errors
    /// [`GlobError`].
    pub fn new(include: &[String], exclude: &[String]) -> Result<Selection, GlobError> {
        let all = |patterns: &[String]| -> Result<Vec<Matcher>, GlobError> {
            patterns.iter().map(|text| matcher(text)).collect()
        };
        Ok(Selection {
            patterns: include.to_vec(),
            include: all(include)?,
            exclude: all(exclude)?,
        })
    }

    /// Finds the files that several arguments name. A path that cannot be opened and a folder without a selected file are
    /// problems, and the others are still read; the number of files that no pattern matches is a note.
    pub fn find<S: AsRef<str>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> (Vec<Source>, Vec<Problem>) {
        let (mut all, mut problems) = (Vec::new(), Vec::new());
        for argument in arguments {
            let argument = argument.as_ref();
            let mut problem = |kind: ProblemKind, file: &str, message: String| {
                problems.push(Problem::new(kind, &Arc::from(file), 0, message));
            };
            let found = match sources(argument, self) {
                Ok(found) => found,
                Err(Unreadable { path, reason }) => {
                    let message = format!("cannot be read: {reason}");
                    problem(ProblemKind::Unreadable, &path, message);
                    continue;
                }
            };
            if found.sources.is_empty() {
                let message = match self.quoted() {
                    None => format!("no file in this folder ends in {}", EXTENSIONS.join(", ")),
                    Some(patterns) => format!("no file in this folder matches {patterns}"),
                };
                problem(ProblemKind::Unreadable, argument, message);
            }
            if let Some(patterns) = self.quoted().filter(|_| found.unmatched > 0) {
                let message = match found.unmatched {
                    1 => {
                        format!("1 file of this folder does not match {patterns} and was not read")
                    }
                    count => format!(
                        "{count} files of this folder do not match {patterns} and were not read"
                    ),
                };
                problem(ProblemKind::Odd, argument, message);
            }
            if !found.passed.is_empty() && self.include.is_empty() {
                problem(ProblemKind::Odd, argument, passed_over(&found.passed));
            }
            if found.outside > 0 {
                let message = match found.outside {
                    1 => "1 link to a file outside this folder was not read".to_owned(),
                    count => format!("{count} links to files outside this folder were not read"),
                };
                problem(ProblemKind::Odd, argument, message);
            }
            all.extend(found.sources);
        }
        (all, problems)
    }

    /// Returns the patterns of `include` for messages, if there are any.
    fn quoted(&self) -> Option<String> {
        let quoted: Vec<String> = self
            .patterns
            .iter()
            .map(|text| format!("`{text}`"))
            .collect();
        (!quoted.is_empty()).then(|| quoted.join(" or "))
    }

    fn choose(&self, below: &str) -> Choice {
        if self.exclude.iter().any(|matcher| matcher.takes(below)) {
            return Choice::Excluded;
        }
        let taken = match self.include.as_slice() {
            [] => has_extension(below),
            include => include.iter().any(|matcher| matcher.takes(below)),
        };
        if taken {
            Choice::Taken
        } else {
            Choice::Unmatched
        }
    }
}

enum Choice {
    Taken,
    Unmatched,
    Excluded,
}

/// The files that an argument names.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The files that are read, in order of names.
    pub sources: Vec<Source>,
    /// The number of files of the folder that match no pattern (or, without patterns, have no known extension).
    pub unmatched: usize,
    /// The endings of the files that are not read because of their endings, or because they are no files, with their numbers.
    pub passed: BTreeMap<String, usize>,
    /// The number of links in the folder to files outside it, which are not read: recordings are data, and do not choose what
    /// else is read.
    pub outside: usize,
}

/// Finds what an argument names: a file, the files below a folder, or the standard input (`-`). The selection is about
/// folders: a file that is named itself is always read.
///
/// # Errors
/// Nothing is there, or a folder below cannot be listed.
pub fn sources(argument: &str, selection: &Selection) -> Result<Listing, Unreadable> {
    let only = |name, from| Listing {
        sources: vec![Source { name, from }],
        ..Listing::default()
    };
    if argument == "-" {
        let name = FileName {
            path: "<stdin>".into(),
            below: "<stdin>".into(),
        };
        return Ok(only(name, Medium::Stdin));
    }
    let path = Path::new(argument);
    let unreadable = |path: &Path, reason: io::Error| Unreadable {
        path: path.display().to_string(),
        reason,
    };
    let facts = std::fs::metadata(path).map_err(|reason| unreadable(path, reason))?;
    if !facts.is_dir() {
        return Ok(only(
            FileName::given(argument),
            Medium::File(path.to_owned()),
        ));
    }
    let mut listing = Listing::default();
    let walk = WalkDir::new(path).min_depth(1).sort_by_file_name();
    for entry in walk.into_iter().filter_entry(|entry| !hidden(entry)) {
        let entry = entry.map_err(|error| {
            let place = error.path().unwrap_or(path).to_owned();
            unreadable(&place, error.into())
        })?;
        if !entry.path().is_file() {
            let kind = entry.file_type();
            if !kind.is_dir() && !kind.is_symlink() {
                *listing.passed.entry(NO_FILE.to_owned()).or_default() += 1;
            }
            continue;
        }
        if entry.path_is_symlink() && !lies_below(entry.path(), path) {
            listing.outside += 1;
            continue;
        }
        let below = below(entry.path(), path);
        match selection.choose(&below) {
            Choice::Unmatched => {
                listing.unmatched += 1;
                // Specs lie beside the traces that they are about.
                let ending = ending(&below);
                if ending != ".guard" {
                    *listing.passed.entry(ending).or_default() += 1;
                }
            }
            Choice::Excluded => {}
            Choice::Taken => listing.sources.push(Source {
                name: FileName {
                    path: entry.path().display().to_string().into(),
                    below: below.into(),
                },
                from: Medium::File(entry.into_path()),
            }),
        }
    }
    Ok(listing)
}

/// The name of what a folder has beside files that can be read: pipes, sockets and devices.
const NO_FILE: &str = "not a regular file";

/// Endings that are named in a note.
const ENDINGS: usize = 8;

/// Returns the ending of a file's name, with its dot.
fn ending(below: &str) -> String {
    let name = below.rsplit('/').next().unwrap_or(below);
    match name.rsplit_once('.') {
        Some((_, ending)) => format!(".{}", ending.to_ascii_lowercase()),
        None => "without an ending".to_owned(),
    }
}

fn passed_over(endings: &BTreeMap<String, usize>) -> String {
    let total: usize = endings.values().sum();
    let named = endings.iter().take(ENDINGS);
    let mut named: Vec<String> = named.map(|(ending, n)| format!("{n} {ending}")).collect();
    if endings.len() > ENDINGS {
        named.push("others".to_owned());
    }
    let (files, were) = match total {
        1 => ("file", "was"),
        _ => ("files", "were"),
    };
    format!(
        "{total} {files} of this folder {were} not read ({}): name them, or select with `--glob`",
        named.join(", ")
    )
}

/// Whether the target of a link lies below a folder.
fn lies_below(link: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let (target, folder) = (real(link), real(folder));
    target.is_some_and(|target| folder.is_some_and(|folder| target.starts_with(folder)))
}

#[derive(Clone, Debug)]
struct Matcher {
    glob: GlobMatcher,
    name_only: bool,
}

impl Matcher {
    fn takes(&self, below: &str) -> bool {
        let name = below.rsplit('/').next().unwrap_or(below);
        self.glob
            .is_match(if self.name_only { name } else { below })
    }
}

fn matcher(pattern: &str) -> Result<Matcher, GlobError> {
    let glob = globset::GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| GlobError {
            pattern: pattern.to_owned(),
            reason: error.kind().to_string(),
        });
    glob.map(|glob: Glob| Matcher {
        glob: glob.compile_matcher(),
        name_only: !pattern.contains('/'),
    })
}

fn hidden(entry: &DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with('.')
}

fn below(path: &Path, root: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = below
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}

fn has_extension(below: &str) -> bool {
    let name = below.to_ascii_lowercase();
    let plain = name
        .strip_suffix(".gz")
        .or_else(|| name.strip_suffix(".zst"))
        .unwrap_or(&name);
    plain
        .rsplit_once('.')
        .is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
}

impl Source {
    /// Returns a stream as a source that can be read once. `name` stands for the file in messages.
    pub fn stream(name: &str, from: impl Read + Send + 'static) -> Source {
        Source {
            name: FileName::given(name),
            from: Medium::Stream(Arc::new(Mutex::new(Some(Box::new(from))))),
        }
    }

    /// The same for a table of the caller's own: its sizes are not compared with the limits.
    #[cfg(feature = "tables")]
    pub fn table(name: &str, from: TableReader) -> Source {
        Source {
            name: FileName::given(name),
            from: Medium::Table(Arc::new(Mutex::new(Some(from)))),
        }
    }

    /// Returns the size of a regular file, as it lies on the disk.
    pub(crate) fn file_size(&self) -> Option<u64> {
        let Medium::File(path) = &self.from else {
            return None;
        };
        let facts = std::fs::metadata(path).ok()?;
        facts.is_file().then_some(facts.len())
    }

    /// Opens it for reading, decompressed within the limits.
    ///
    /// # Errors
    /// What the system says; a stream that was read already.
    pub fn open(&self, limits: &InputLimits) -> io::Result<Box<dyn Read + Send>> {
        match self.open_columns(limits, None, true)? {
            Opened::Stream(stream) => Ok(stream),
            // Rows are only read by fields.
            Opened::Rows(_) => Err(io::Error::other("a table without columns")),
        }
    }

    /// The same. Of a table, the columns that `fields` are read from; `with_others` if a format may read others, from a stream
    /// of JSON.
    pub(crate) fn open_columns(
        &self,
        limits: &InputLimits,
        fields: Option<&Projection>,
        with_others: bool,
    ) -> io::Result<Opened> {
        match &self.from {
            Medium::File(path) => {
                let mut file = File::open(path)?;
                // What is not a regular file is read from its beginning to its end.
                if file.metadata()?.is_file() {
                    let mut magic = Vec::with_capacity(4);
                    (&mut file).take(4).read_to_end(&mut magic)?;
                    file.rewind()?;
                    if archive::MAGIC.iter().any(|known| magic == *known) {
                        return archive::samples(file, limits).map(Opened::Stream);
                    }
                    if is_table(&magic) {
                        return rows(path, fields, with_others, limits);
                    }
                }
                decompressed(file, limits).map(Opened::Stream)
            }
            Medium::Stdin => decompressed(io::stdin(), limits).map(Opened::Stream),
            Medium::Stream(stream) => taken(stream).map(Opened::Stream),
            #[cfg(feature = "tables")]
            Medium::Table(table) => {
                super::tables::given(taken(table)?, fields, with_others, limits)
            }
        }
    }

    /// Opens at least the first rows of a table as a stream of JSON, and leaves it as it was; none of anything else.
    pub(crate) fn first_rows(
        &self,
        limits: &InputLimits,
        fields: &Projection,
    ) -> Option<io::Result<Opened>> {
        match &self.from {
            Medium::File(path) => {
                is_table_file(path).then(|| self.open_columns(limits, Some(fields), true))
            }
            #[cfg(feature = "tables")]
            Medium::Table(table) => {
                let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
                let table = table.as_mut()?;
                Some(super::tables::first_rows(table, fields, limits))
            }
            Medium::Stdin | Medium::Stream(_) => None,
        }
    }
}

/// Whether it is a file with a table, by its first bytes.
fn is_table_file(path: &Path) -> bool {
    let mut magic = Vec::with_capacity(4);
    let file = File::open(path).and_then(|file| {
        let is_file = file.metadata()?.is_file();
        file.take(4).read_to_end(&mut magic)?;
        Ok(is_file)
    });
    file.unwrap_or(false) && is_table(&magic)
}

/// An open source.
pub(crate) enum Opened {
    /// Text.
    Stream(Box<dyn Read + Send>),
    /// The rows of a table.
    #[cfg_attr(
        not(feature = "tables"),
        allow(dead_code, reason = "only tables have rows")
    )]
    Rows(Box<dyn Batches>),
}

/// Whether bytes begin like Parquet, Arrow IPC, or a stream of Arrow IPC.
fn is_table(magic: &[u8]) -> bool {
    [b"PAR1", b"ARRO", b"\xff\xff\xff\xff"]
        .iter()
        .any(|known| magic.starts_with(*known))
}

#[cfg(not(feature = "tables"))]
fn rows(_: &Path, _: Option<&Projection>, _: bool, _: &InputLimits) -> io::Result<Opened> {
    Err(io::Error::other(
        "Parquet and Arrow files need a build with the feature `tables` (`cargo install --path . --features tables`, or the Python package `guard-lang`)",
    ))
}

/// Whether a text begins as UTF-16: with its mark, or with two plain characters, each beside a zero byte.
fn is_utf16(magic: &[u8]) -> bool {
    match *magic {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [0, a, 0, b] | [a, 0, b, 0] => a.is_ascii_graphic() && b.is_ascii(),
        _ => false,
    }
}

/// The text of a gzip file: of all its members, one after the other.
struct Members<R> {
    /// The member that is being read; none behind the last.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(member) = &mut self.member else {
                return Ok(0);
            };
            let n = member.read(into)?;
            if n > 0 || into.is_empty() {
                return Ok(n);
            }
            let behind = member.get_mut().fill_buf()?.first().copied();
            let from = self.member.take().map(GzDecoder::into_inner);
            match behind {
                None => {}
                Some(0x1f) => self.member = from.map(GzDecoder::new),
                Some(_) => {
                    return Err(io::Error::other(
                        "there are bytes behind the end of the gzip data",
                    ));
                }
            }
        }
    }
}

/// Text that may be of any ratio to its compressed bytes: small files compress well.
pub(super) const ANY_RATIO: u64 = 16 << 20;

/// Decompresses gzip (all members) and zstd (all frames), and takes the samples out of a log of Inspect, which must be in
/// memory for that; anything else is passed through. Reading fails at the first byte beyond a limit.
///
/// # Errors
/// The first bytes cannot be read; an archive is not a log of Inspect.
pub fn decompressed(
    from: impl Read + Send + 'static,
    limits: &InputLimits,
) -> io::Result<Box<dyn Read + Send>> {
    let compressed = Arc::new(AtomicU64::new(0));
    let mut from = Counted {
        from,
        count: Arc::clone(&compressed),
    };
    let mut magic = Vec::with_capacity(4);
    (&mut from).take(4).read_to_end(&mut magic)?;
    let gzip = magic.starts_with(&[0x1f, 0x8b]);
    let zstd = magic.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
    if is_table(&magic) {
        return Err(io::Error::other(
            "Parquet and Arrow files are read from files, not from streams",
        ));
    }
    if is_utf16(&magic) {
        return Err(io::Error::other(
            "UTF-16 text: convert it to UTF-8 (`iconv -f UTF-16 -t UTF-8`)",
        ));
    }
    let zip = archive::MAGIC.iter().any(|known| magic == *known);
    let whole = io::Cursor::new(magic).chain(from);
    if zip {
        let mut bytes = Vec::new();
        let most = limits.record_bytes as u64;
        if whole.take(most + 1).read_to_end(&mut bytes)? as u64 > most {
            return Err(io::Error::other(format!(
                "an archive that is no file is held in memory, and this one is {}",
                limits.too_long()
            )));
        }
        return archive::samples(io::Cursor::new(bytes), limits);
    }
    let text: Box<dyn Read + Send> = if gzip {
        Box::new(Members {
            member: Some(GzDecoder::new(BufReader::with_capacity(256 << 10, whole))),
        })
    } else if zstd {
        Box::new(zstd::stream::read::Decoder::new(whole)?)
    } else {
        return Ok(Box::new(whole));
    };
    Ok(Box::new(Decompressed {
        text,
        len: 0,
        compressed,
        limits: *limits,
    }))
}

/// Counts the bytes that are read.
struct Counted<R> {
    from: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(into)?;
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// A text that was compressed, up to the limits.
struct Decompressed {
    text: Box<dyn Read + Send>,
    len: u64,
    /// The compressed bytes that were read.
    compressed: Arc<AtomicU64>,
    limits: InputLimits,
}

impl Read for Decompressed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.text.read(into)?;
        if self.len == 0 && is_table(into.get(..n).unwrap_or_default()) {
            return Err(io::Error::other(
                "a compressed Parquet or Arrow file: decompress it first (`gunzip` or `unzstd`); Parquet has compression of its own",
            ));
        }
        self.len += n as u64;
        let (most, times) = (self.limits.decompressed_bytes, self.limits.expansion);
        let by_ratio = self
            .compressed
            .load(Ordering::Relaxed)
            .saturating_mul(times);
        if self.len > most {
            let why =
                format!("decompresses to more than {most} bytes (limit `decompressed_bytes`)");
            return Err(io::Error::other(why));
        }
        if self.len > by_ratio.max(ANY_RATIO) {
            let why =
                format!("decompresses to more than {times} times its size (limit `expansion`)");
            return Err(io::Error::other(why));
        }
        Ok(n)
    }
}
