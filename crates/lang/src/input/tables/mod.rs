//! Reads Parquet and Arrow files as a stream of JSON. Each row becomes a line, so that a table has the verdicts and problems of
//! the same events in JSON Lines; the line of a problem is the number of its row.
//!
//! Only columns that the spec reads are decoded. A null becomes an absent member, because a row has all columns and an object
//! only its own. If a table has one column of text that no field reads and that holds JSON, each row is a JSON text.
//!
//! Points in time (in UTC), dates and times of day become texts as in RFC 3339, durations become seconds, and bytes that are not
//! UTF-8 become a text that the reader reports as invalid.

mod ipc;
mod json;

use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use rayon::prelude::*;
use smol_str::SmolStr;

use self::ipc::Ipc;
use self::json::{begins_like_json, is_text_column, write_batch};
use super::limits::InputLimits;

/// The most rows that are decoded at once, and the most bytes that they have by the sizes in the file. The number of rows is small
/// because a long text that many rows share is stored once but decoded for each row.
const ROWS: usize = 1024;
const BYTES: usize = 4 << 20;

/// Bytes of row groups that one thread decodes in one go; larger groups are decoded piece by piece.
const GO: u64 = 16 << 20;

/// Bytes of JSON that row groups decoded in one go may come to; beyond, they are decoded piece by piece.
const GO_LINES: usize = 128 << 20;

/// The columns that a spec reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    /// Columns of rows, by name.
    pub(crate) rows: BTreeSet<SmolStr>,
    /// Of the column that holds lists of events, if it is one of `rows`: its name, and the members of events.
    pub(crate) events: Option<(SmolStr, BTreeSet<SmolStr>)>,
    /// Whether the other columns are decoded too, because a format may read them.
    pub(crate) with_others: bool,
}

impl Columns {
    /// Returns the numbers of the columns of rows that are decoded.
    fn numbers(&self, schema: &Schema) -> Option<Vec<usize>> {
        let fields = schema.fields().iter().enumerate();
        let kept = fields.filter(|(_, field)| self.rows.contains(field.name().as_str()));
        (!self.with_others).then(|| kept.map(|(number, _)| number).collect())
    }

    /// Whether a column, by the names on its path, may be read.
    fn takes(&self, path: &[String]) -> bool {
        let Some((first, below)) = path.split_first() else {
            return false;
        };
        let below_events = match &self.events {
            Some((events, members)) if events == first.as_str() && !below.is_empty() => {
                below.iter().any(|name| members.contains(name.as_str()))
            }
            _ => true,
        };
        self.rows.contains(first.as_str()) && below_events
    }
}

/// Returns the rows of a Parquet or Arrow file as lines of JSON.
///
/// # Errors
/// The file is damaged, or has a column that is read and of a type that has no values of JSON.
pub(super) fn rows(
    path: &Path,
    columns: Option<&Columns>,
    limits: &InputLimits,
) -> io::Result<Box<dyn Read + Send>> {
    let mut file = File::open(path)?;
    let mut magic = [0; 6];
    file.read_exact(&mut magic)?;
    file.rewind()?;
    let source: Box<dyn Source> = if magic.starts_with(b"PAR1") {
        Box::new(Parquet::new(ParquetFile::open(
            file, path, columns, limits,
        )?))
    } else {
        Box::new(Batches::open(path, columns, limits)?)
    };
    Ok(Box::new(Lines {
        source,
        chunk: io::Cursor::new(Vec::new()),
        left: limits.decompressed_bytes,
        limit: limits.decompressed_bytes,
    }))
}

fn arrow(error: ArrowError) -> io::Error {
    io::Error::other(error.to_string())
}

/// Returns the result of a decoder, or an error if it panics: some damaged files cause that.
fn decoded<T>(decode: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    std::panic::catch_unwind(AssertUnwindSafe(decode))
        .unwrap_or_else(|_| Err(io::Error::other("damaged: its decoder has failed")))
}

/// Whether each row is a JSON text: there is one column, of text, no field is read from a column of its name, and its first
/// text begins like an object or a list. `batches` are those of all columns.
///
/// A file that cannot be decoded is read as the texts that it may have; that reports the damage.
fn is_text_table(
    schema: &Schema,
    columns: Option<&Columns>,
    batches: impl FnOnce(&mut dyn FnMut(&RecordBatch) -> bool),
) -> bool {
    let [field] = schema.fields().as_ref() else {
        return false;
    };
    let is_field = |columns: &Columns| columns.rows.contains(field.name().as_str());
    if !is_text_column(field) || columns.is_some_and(is_field) {
        return false;
    }
    let mut is_json = true;
    batches(&mut |batch| match begins_like_json(batch) {
        Some(found) => {
            is_json = found;
            true
        }
        None => false,
    });
    is_json
}

/// Pieces of JSON Lines.
trait Source: Send {
    fn next(&mut self) -> Option<io::Result<Vec<u8>>>;
}

/// The pieces as one stream.
struct Lines {
    source: Box<dyn Source>,
    chunk: io::Cursor<Vec<u8>>,
    left: u64,
    limit: u64,
}

impl Read for Lines {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.chunk.read(into)?;
            if count > 0 || into.is_empty() {
                return Ok(count);
            }
            let Some(chunk) = self.source.next().transpose()? else {
                return Ok(0);
            };
            let Some(left) = self.left.checked_sub(chunk.len() as u64) else {
                return Err(io::Error::other(format!(
                    "decodes to more than {} bytes (limit `decompressed_bytes`)",
                    self.limit
                )));
            };
            self.left = left;
            self.chunk = io::Cursor::new(chunk);
        }
    }
}

/// The batches of a file or stream of Arrow IPC, in order.
struct Batches {
    ipc: Ipc,
    /// Whether rows are JSON texts.
    texts: bool,
    /// Bytes of JSON that a batch may come to.
    most: usize,
}

impl Batches {
    fn open(path: &Path, columns: Option<&Columns>, limits: &InputLimits) -> io::Result<Batches> {
        // A handle of its own for the look at the first texts: clones share the position.
        let mut all = decoded(|| Ipc::open(File::open(path)?, limits, |_| None))?;
        let schema = all.schema.clone();
        let texts = is_text_table(&schema, columns, |is_enough| {
            while let Ok(Some(batch)) = decoded(|| all.next()) {
                if is_enough(&batch) {
                    break;
                }
            }
        });
        let columns = columns.filter(|_| !texts);
        let numbers = |schema: &_| columns.and_then(|columns| columns.numbers(schema));
        Ok(Batches {
            ipc: decoded(|| Ipc::open(File::open(path)?, limits, |schema| numbers(schema)))?,
            texts,
            most: limits.record_memory,
        })
    }
}

impl Source for Batches {
    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        let (texts, most) = (self.texts, self.most);
        decoded(|| {
            let Some(batch) = self.ipc.next()? else {
                return Ok(None);
            };
            let mut lines = Vec::new();
            write_batch(&batch, texts, most, &mut lines)?;
            Ok(Some(lines))
        })
        .transpose()
    }
}

/// A Parquet file, and what is decoded of it.
struct ParquetFile {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    /// Whether rows are JSON texts.
    texts: bool,
    /// Bytes of JSON that the rows decoded at once may come to.
    most: usize,
}

/// The row groups of a Parquet file. Several threads decode the small groups. The remaining rows of a damaged group become blank
/// lines, and the stream ends with an error.
struct Parquet {
    file: ParquetFile,
    next: usize,
    /// A row group that is being decoded piece by piece.
    open: Option<Group>,
    ready: VecDeque<Piece>,
    damaged: u64,
    fault: Option<String>,
}

/// The next part of the stream.
enum Piece {
    Lines(Vec<u8>),
    /// A large or damaged row group, which is decoded when all earlier ones are read.
    Group(usize),
}

struct Group {
    number: usize,
    batches: parquet::arrow::arrow_reader::ParquetRecordBatchReader,
    rows: u64,
}

impl ParquetFile {
    fn open(
        mut file: File,
        path: &Path,
        columns: Option<&Columns>,
        limits: &InputLimits,
    ) -> io::Result<ParquetFile> {
        let len = file.seek(SeekFrom::End(0))?;
        let mut end = [0; 8];
        if len >= 12 {
            file.seek(SeekFrom::End(-8))?;
            file.read_exact(&mut end)?;
        }
        if end[4..] != *b"PAR1" {
            return Err(io::Error::other(
                "a truncated or damaged Parquet file: it does not end with its metadata",
            ));
        }
        // Decoded, the metadata takes several times as much memory.
        let metadata = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
        if metadata > limits.record_memory as u64 / 8 {
            return Err(io::Error::other(format!(
                "its metadata has {metadata} bytes, more than an eighth of {} (limit `record_memory`)",
                limits.record_memory
            )));
        }
        let metadata = decoded(|| {
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
                .map_err(|error| io::Error::other(error.to_string()))
        })
        .map_err(|error| io::Error::other(format!("a damaged Parquet file: {error}")))?;
        let mut file = ParquetFile {
            path: path.to_owned(),
            metadata,
            mask: ProjectionMask::all(),
            texts: false,
            most: limits.record_memory,
        };
        file.texts = is_text_table(file.metadata.schema(), columns, |is_enough| {
            let _ = decoded(|| {
                let batches = file.reader(0..file.groups())?.batches;
                let mut batches = batches.map_while(Result::ok);
                batches.find(|batch| is_enough(batch));
                Ok(())
            });
        });
        if let Some(columns) = columns.filter(|columns| !file.texts && !columns.with_others) {
            let parquet = file.metadata.parquet_schema();
            let leaves = parquet.columns().iter().enumerate();
            let taken = leaves.filter(|(_, leaf)| columns.takes(leaf.path().parts()));
            file.mask = ProjectionMask::leaves(parquet, taken.map(|(number, _)| number));
        }
        Ok(file)
    }

    fn groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    fn rows(&self, group: usize) -> u64 {
        let groups = self.metadata.metadata().row_groups();
        let rows = groups.get(group).map_or(0, |group| group.num_rows());
        u64::try_from(rows).unwrap_or(0)
    }

    /// Returns the bytes of a group's columns that are read, as the file says.
    fn bytes(&self, group: usize) -> u64 {
        let Some(group) = self.metadata.metadata().row_groups().get(group) else {
            return 0;
        };
        let columns = group.columns().iter().enumerate();
        let read = columns.filter(|(number, _)| self.mask.leaf_included(*number));
        total(read.map(|(_, column)| u64::try_from(column.uncompressed_size()).unwrap_or(0)))
    }

    fn reader(&self, groups: std::ops::Range<usize>) -> io::Result<Group> {
        let (number, rows) = (
            groups.start,
            total(groups.clone().map(|one| self.rows(one))),
        );
        let bytes = total(groups.clone().map(|one| self.bytes(one)));
        let row = usize::try_from(bytes / u64::max(rows, 1)).unwrap_or(usize::MAX);
        let size = (BYTES / row.max(1)).clamp(1, ROWS);
        // A handle of its own: clones share the position.
        let file = File::open(&self.path)?;
        let batches =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_row_groups(groups.collect())
                .with_projection(self.mask.clone())
                .with_batch_size(size)
                .build()
                .map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Group {
            number,
            batches,
            rows,
        })
    }

    fn decode(&self, groups: std::ops::Range<usize>) -> io::Result<Vec<u8>> {
        let mut lines = Vec::new();
        for batch in self.reader(groups)?.batches {
            write_batch(&batch.map_err(arrow)?, self.texts, GO_LINES, &mut lines)?;
        }
        Ok(lines)
    }
}

/// Returns the sum of sizes that a file states: they may be anything.
fn total(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(0, u64::saturating_add)
}

impl Parquet {
    fn new(file: ParquetFile) -> Parquet {
        Parquet {
            file,
            next: 0,
            open: None,
            ready: VecDeque::new(),
            damaged: 0,
            fault: None,
        }
    }

    /// Counts a group that cannot be decoded, and returns blank lines in place of its rows that are left.
    fn damage(
        &mut self,
        group: usize,
        rows: u64,
        error: &io::Error,
    ) -> Option<io::Result<Vec<u8>>> {
        self.damaged += 1;
        if self.fault.is_none() {
            let before = total((0..group).map(|group| self.file.rows(group)));
            let row = before.saturating_add(1);
            let fault = format!("row group {group}, from row {row}, cannot be decoded: {error}");
            self.fault = Some(fault);
        }
        // The number of rows may be damaged too: then no later line means anything.
        match rows <= 64 << 20 {
            true => Some(Ok(vec![b'\n'; rows as usize])),
            false => {
                self.next = self.file.groups();
                self.ready.clear();
                self.end()
            }
        }
    }

    fn end(&mut self) -> Option<io::Result<Vec<u8>>> {
        let fault = self.fault.take()?;
        let more = match self.damaged {
            1 => String::new(),
            count => format!(" ({} more row groups could not be decoded)", count - 1),
        };
        Some(Err(io::Error::other(format!("{fault}{more}"))))
    }

    /// Decodes the next small groups, one run of them for each thread.
    fn decode_runs(&mut self) {
        let mut runs = Vec::new();
        let mut from = self.next;
        while runs.len() < rayon::current_num_threads() && from < self.file.groups() {
            let (mut to, mut bytes) = (from, 0);
            while to < self.file.groups() && bytes + self.file.bytes(to) <= GO {
                bytes += self.file.bytes(to);
                to += 1;
            }
            if to == from {
                break;
            }
            runs.push(from..to);
            from = to;
        }
        self.next = from;
        let file = &self.file;
        let all: Vec<_> = runs
            .par_iter()
            .map(|run| decoded(|| file.decode(run.clone())))
            .collect();
        for (run, lines) in runs.into_iter().zip(all) {
            match lines {
                Ok(lines) => self.ready.push_back(Piece::Lines(lines)),
                Err(_) => self.ready.extend(run.map(Piece::Group)),
            }
        }
    }
}

impl Source for Parquet {
    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        loop {
            if let Some(mut group) = self.open.take() {
                let (texts, most) = (self.file.texts, self.file.most);
                let written = decoded(|| {
                    let Some(batch) = group.batches.next() else {
                        return Ok(None);
                    };
                    let (batch, mut lines) = (batch.map_err(arrow)?, Vec::new());
                    write_batch(&batch, texts, most, &mut lines)?;
                    Ok(Some((batch.num_rows() as u64, lines)))
                });
                match written {
                    Ok(None) => continue,
                    Ok(Some((rows, lines))) => {
                        group.rows = group.rows.saturating_sub(rows);
                        self.open = Some(group);
                        return Some(Ok(lines));
                    }
                    Err(error) => return self.damage(group.number, group.rows, &error),
                }
            }
            match self.ready.pop_front() {
                Some(Piece::Lines(lines)) => return Some(Ok(lines)),
                Some(Piece::Group(group)) => match decoded(|| self.file.reader(group..group + 1)) {
                    Ok(open) => self.open = Some(open),
                    Err(error) => return self.damage(group, self.file.rows(group), &error),
                },
                None if self.next >= self.file.groups() => return self.end(),
                None if self.file.bytes(self.next) <= GO => self.decode_runs(),
                None => {
                    self.ready.push_back(Piece::Group(self.next));
                    self.next += 1;
                }
            }
        }
    }
}
