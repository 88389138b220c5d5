//! Files, folders and the standard input: the only place of the library that opens what users name.
//!
//! A folder is searched recursively and in order of names. Without `--glob`, the files taken are those whose name ends
//! in one of [`EXTENSIONS`], also with `.gz` or `.zst` behind. Hidden files and folders (a leading dot) are passed
//! over, as are symbolic links to folders. A file that is named itself is always read, whatever it is called.
//! Compression is told by the first bytes, never by the name.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use globset::{Glob, GlobMatcher};
use walkdir::{DirEntry, WalkDir};

use super::record::FileName;

/// The file extensions that are read from a folder without `--glob`.
pub const EXTENSIONS: [&str; 8] = [
    "json", "jsonl", "ndjson", "csv", "tsv", "traj", "cast", "log",
];

/// Something to be read.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name.
    pub name: FileName,
    from: Medium,
}

#[derive(Clone, Debug)]
enum Medium {
    File(PathBuf),
    Stdin,
}

/// An argument that names nothing readable.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Not there, or not allowed.
    #[error("cannot read `{path}`: {reason}")]
    Unreadable {
        /// The path, as given or found.
        path: String,
        /// The error of the operating system.
        reason: io::Error,
    },
    /// An invalid pattern in `--glob`.
    #[error("invalid file name pattern `{pattern}`: {reason}")]
    Glob {
        /// The pattern.
        pattern: String,
        /// The fault in the pattern.
        reason: String,
    },
}

/// The selection of the files of a folder.
///
/// A pattern with a `/` is matched against the whole path below the folder (`*` stays within one name, `**` does not), any
/// other pattern against the name of the file, at any depth. `{a,b}` stands for one of several.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    include: Vec<Matcher>,
    exclude: Vec<Matcher>,
}

impl Selection {
    /// Selects files that match one of `include`, or have one of [`EXTENSIONS`] if `include` is empty, and match none of
    /// `exclude`.
    ///
    /// # Errors
    /// Returns [`OpenError::Glob`] for a text that is not a pattern.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Selection, OpenError> {
        let all = |patterns: &[String]| -> Result<Vec<Matcher>, OpenError> {
            patterns.iter().map(|text| matcher(text)).collect()
        };
        Ok(Selection {
            include: all(include)?,
            exclude: all(exclude)?,
        })
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
}

/// Finds what an argument names: a file, the files below a folder, or the standard input (`-`). The selection is about
/// folders: a file that is named itself is always read.
///
/// # Errors
/// Nothing is there, or a folder below cannot be listed.
pub fn sources(argument: &str, selection: &Selection) -> Result<Listing, OpenError> {
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
    let unreadable = |path: &Path, reason: io::Error| OpenError::Unreadable {
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
            continue;
        }
        let below = below(entry.path(), path);
        match selection.choose(&below) {
            Choice::Unmatched => listing.unmatched += 1,
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

fn matcher(pattern: &str) -> Result<Matcher, OpenError> {
    let glob = globset::GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| OpenError::Glob {
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
    /// Opens it for reading, decompressed.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        match &self.from {
            Medium::File(path) => decompressed(File::open(path)?),
            Medium::Stdin => decompressed(io::stdin()),
        }
    }
}

/// Decompresses gzip (all members) and zstd (all frames); anything else is passed through.
///
/// # Errors
/// The first bytes cannot be read.
pub fn decompressed(mut from: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = Vec::with_capacity(4);
    (&mut from).take(4).read_to_end(&mut magic)?;
    let gzip = magic.starts_with(&[0x1f, 0x8b]);
    let zstd = magic.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
    let whole = io::Cursor::new(magic).chain(from);
    Ok(if gzip {
        Box::new(flate2::bufread::MultiGzDecoder::new(
            BufReader::with_capacity(256 << 10, whole),
        ))
    } else if zstd {
        Box::new(zstd::stream::read::Decoder::new(whole)?)
    } else {
        Box::new(whole)
    })
}
