//! Parquet and Arrow files as a stream of JSON: a row is a line, so that a table is judged like the same events in JSON Lines,
//! and a problem's line is the number of its row.
//!
//! Only columns that the spec reads are decoded, which is what makes a table faster to read than text. A null is an absent member: a row
//! has all columns, an object has its own. A table with one column of text has a JSON text in each row.
//!
//! Values of Arrow that JSON has no form for become texts as RFC 3339 and SQL write them (points in time in UTC, dates, times of day), durations
//! become seconds, and bytes that are no UTF-8 become what the reader reports as such.

mod json;

use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatchReader;
use arrow_schema::{ArrowError, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use rayon::prelude::*;
use smol_str::SmolStr;

use self::json::{is_text_table, write_batch};
use super::limits::InputLimits;

/// Rows that are decoded at once, and the bytes that they may have by the sizes that the file says.
const ROWS: usize = 8192;
const BYTES: usize = 4 << 20;

/// Bytes of row groups that one thread decodes in one go; larger groups are decoded piece by piece.
const GO: u64 = 16 << 20;

/// The columns that a spec reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    /// Columns of rows, by name.
    pub(crate) rows: BTreeSet<SmolStr>,
    /// Of the column that holds lists of events, if it is one of `rows`: its name, and the members of events.
    pub(crate) events: Option<(SmolStr, BTreeSet<SmolStr>)>,
}

impl Columns {
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
    } else if magic == *b"ARROW1" {
        let all = arrow_ipc::reader::FileReader::try_new(BufReader::new(&file), None);
        let schema = all.map_err(arrow)?.schema();
        let texts = is_text_table(&schema, columns);
        let kept = kept(&schema, columns);
        file.rewind()?;
        let batches = arrow_ipc::reader::FileReader::try_new(BufReader::new(file), kept);
        Box::new(Batches(batches.map_err(arrow)?, texts))
    } else {
        let all = arrow_ipc::reader::StreamReader::try_new(BufReader::new(&file), None);
        let schema = all.map_err(arrow)?.schema();
        let texts = is_text_table(&schema, columns);
        let kept = kept(&schema, columns);
        file.rewind()?;
        let batches = arrow_ipc::reader::StreamReader::try_new(BufReader::new(file), kept);
        Box::new(Batches(batches.map_err(arrow)?, texts))
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

/// Returns the numbers of the columns to decode; `None` for all.
fn kept(schema: &Schema, columns: Option<&Columns>) -> Option<Vec<usize>> {
    let columns = columns.filter(|_| !is_text_table(schema, columns))?;
    let fields = schema.fields().iter().enumerate();
    let kept = fields.filter(|(_, field)| columns.rows.contains(field.name().as_str()));
    Some(kept.map(|(number, _)| number).collect())
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

/// Record batches in order, and whether their rows are JSON texts.
struct Batches<R>(R, bool);

impl<R: RecordBatchReader + Send> Source for Batches<R> {
    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        let batch = self.0.next()?;
        Some(batch.map_err(arrow).and_then(|batch| {
            let mut lines = Vec::new();
            write_batch(&batch, self.1, &mut lines)?;
            Ok(lines)
        }))
    }
}

/// A Parquet file, and what is decoded of it.
struct ParquetFile {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    /// Whether rows are JSON texts.
    texts: bool,
}

/// The row groups of a Parquet file. Several threads decode those that fit; a damaged one is left out, its rows are blank lines, and the
/// stream ends with an error.
struct Parquet {
    file: ParquetFile,
    next: usize,
    /// A large row group that is being decoded.
    open: Option<Group>,
    ready: VecDeque<io::Result<Vec<u8>>>,
    damaged: u64,
    fault: Option<String>,
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
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
            .map_err(|error| io::Error::other(format!("a damaged Parquet file: {error}")))?;
        let texts = is_text_table(metadata.schema(), columns);
        let columns = columns.filter(|_| !texts);
        let parquet = metadata.parquet_schema();
        let mask = match columns {
            None => ProjectionMask::all(),
            Some(columns) => {
                let leaves = parquet.columns().iter().enumerate();
                let taken = leaves.filter(|(_, leaf)| columns.takes(leaf.path().parts()));
                ProjectionMask::leaves(parquet, taken.map(|(number, _)| number))
            }
        };
        Ok(ParquetFile {
            path: path.to_owned(),
            metadata,
            mask,
            texts,
        })
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
        read.map(|(_, column)| u64::try_from(column.uncompressed_size()).unwrap_or(0))
            .fold(0, u64::saturating_add)
    }

    fn reader(&self, groups: std::ops::Range<usize>) -> io::Result<Group> {
        let (number, rows) = (
            groups.start,
            groups.clone().map(|group| self.rows(group)).sum(),
        );
        let bytes: u64 = groups.clone().map(|group| self.bytes(group)).sum();
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
            write_batch(&batch.map_err(arrow)?, self.texts, &mut lines)?;
        }
        Ok(lines)
    }
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
            let row = (0..group).map(|group| self.file.rows(group)).sum::<u64>() + 1;
            let fault = format!("row group {group}, from row {row}, cannot be decoded: {error}");
            self.fault = Some(fault);
        }
        // The number of rows may be damaged too: then no later line means anything.
        match rows <= 64 << 20 {
            true => Some(Ok(vec![b'\n'; rows as usize])),
            false => {
                self.next = self.file.groups();
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
        let decoded: Vec<io::Result<Vec<u8>>> = runs
            .par_iter()
            .map(|run| file.decode(run.clone()))
            .collect();
        for (run, decoded) in runs.into_iter().zip(decoded) {
            if decoded.is_ok() {
                self.ready.push_back(decoded);
                continue;
            }
            for group in run {
                let decoded = match self.file.decode(group..group + 1) {
                    Ok(lines) => Some(Ok(lines)),
                    Err(error) => self.damage(group, self.file.rows(group), &error),
                };
                self.ready.extend(decoded);
            }
        }
    }
}

impl Source for Parquet {
    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            if let Some(mut group) = self.open.take() {
                let Some(batch) = group.batches.next() else {
                    continue;
                };
                let mut lines = Vec::new();
                let written = batch.map_err(arrow).and_then(|batch| {
                    write_batch(&batch, self.file.texts, &mut lines)?;
                    Ok(batch.num_rows() as u64)
                });
                match written {
                    Ok(rows) => {
                        group.rows = group.rows.saturating_sub(rows);
                        self.open = Some(group);
                        return Some(Ok(lines));
                    }
                    Err(error) => return self.damage(group.number, group.rows, &error),
                }
            }
            if self.next >= self.file.groups() {
                return self.end();
            }
            if self.file.bytes(self.next) <= GO {
                self.decode_runs();
            } else {
                let group = self.next;
                self.next += 1;
                match self.file.reader(group..group + 1) {
                    Ok(open) => self.open = Some(open),
                    Err(error) => return self.damage(group, self.file.rows(group), &error),
                }
            }
        }
    }
}
