//! Reads Parquet and Arrow files. Each row is a record, so that a table has the verdicts and problems of the same events in JSON
//! Lines; the line of a problem is the number of its row. Fields are read from the columns ([`rows`]); for a format and for paths
//! that need whole records, each row becomes a line of JSON ([`json`]).
//!
//! Only columns that the spec reads are decoded. A null becomes an absent member, because a row has all columns and an object
//! only its own. If a table has one column of text that no field reads and that holds JSON, each row is a JSON text.
//!
//! Points in time (in UTC), dates and times of day become texts as in RFC 3339, durations become seconds, and bytes that are not
//! UTF-8 become a text that the reader reports as invalid.

mod columns;
mod ipc;
mod json;
mod rows;
mod text;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use rayon::prelude::*;

use self::columns::Columns;
use self::ipc::Ipc;
use self::json::{begins_like_json, is_text_column, write_batch};
use self::rows::Rows;
use super::batch::{Batch, Batches};
use super::limits::InputLimits;
use super::open::Opened;
use super::projection::Projection;

/// The most rows that are decoded at once, and the most bytes that they have by the sizes in the file. The number of rows is small
/// because a long text that many rows share is stored once but decoded for each row.
const ROWS: usize = 1024;
const BYTES: usize = 4 << 20;

/// Bytes of row groups that one thread decodes in one go; larger groups are decoded piece by piece.
const GO: u64 = 16 << 20;

/// Bytes that row groups decoded in one go may come to; beyond, they are decoded piece by piece.
const GO_BYTES: usize = 128 << 20;

/// Opens a Parquet or Arrow file, for the fields of a projection. `with_others` if a format may read other columns.
///
/// # Errors
/// The file is damaged.
pub(super) fn rows(
    path: &Path,
    fields: Option<&Projection>,
    with_others: bool,
    limits: &InputLimits,
) -> io::Result<Opened> {
    let columns = fields.and_then(|fields| Columns::of(fields, with_others));
    let table = Table::open(path, columns.as_ref(), limits)?;
    opened(table, columns.is_some(), fields, with_others, limits)
}

/// The same for a stream of Arrow IPC of the caller's own, whose sizes are trusted.
///
/// # Errors
/// It is no such stream.
pub(super) fn stream(
    from: Box<dyn Read + Send>,
    fields: Option<&Projection>,
    with_others: bool,
    limits: &InputLimits,
) -> io::Result<Opened> {
    let columns = fields.and_then(|fields| Columns::of(fields, with_others));
    let table = Table::stream(from, columns.as_ref(), limits)?;
    opened(table, columns.is_some(), fields, with_others, limits)
}

fn opened(
    table: Table,
    has_columns: bool,
    fields: Option<&Projection>,
    with_others: bool,
    limits: &InputLimits,
) -> io::Result<Opened> {
    let direct = fields
        .filter(|fields| !table.texts && !with_others && has_columns && rows::are_read_by(fields));
    Ok(match direct {
        Some(fields) => {
            let plan = fields.plan().clone();
            let make = move |batch: &RecordBatch, most| {
                let bytes = size(batch, most)?;
                let rows = Arc::new(Rows::new(batch, &plan)?);
                Ok((bytes, (batch.num_rows(), rows)))
            };
            Opened::Rows(Box::new(RowBatches {
                source: table.source(make),
                line: 1,
                ordinal: 0,
                left: limits.decompressed_bytes,
                limit: limits.decompressed_bytes,
                is_over: false,
            }))
        }
        None => {
            let texts = table.texts;
            let make = move |batch: &RecordBatch, most| {
                let mut lines = Vec::new();
                write_batch(batch, texts, most, &mut lines)?;
                Ok((lines.len(), lines))
            };
            Opened::Stream(Box::new(Lines {
                source: table.source(make),
                chunk: io::Cursor::new(Vec::new()),
                left: limits.decompressed_bytes,
                limit: limits.decompressed_bytes,
            }))
        }
    })
}

/// Returns the bytes of the values of a batch.
///
/// # Errors
/// They are more than `most`.
fn size(batch: &RecordBatch, most: usize) -> io::Result<usize> {
    let bytes = batch
        .columns()
        .iter()
        .map(bytes)
        .fold(0, usize::saturating_add);
    match bytes <= most {
        true => Ok(bytes),
        false => Err(io::Error::other(format!(
            "{} rows come to more than {most} bytes (limit `record_memory`)",
            batch.num_rows()
        ))),
    }
}

/// Returns the bytes of the values of a column. Texts that share their bytes count each.
fn bytes(column: &arrow_array::ArrayRef) -> usize {
    match column.data_type() {
        DataType::Utf8View => {
            let lengths = column.as_string_view().lengths();
            lengths.fold(0, |sum, len| sum.saturating_add(len as usize + 16))
        }
        DataType::Struct(_) => column.as_struct().columns().iter().map(bytes).sum(),
        DataType::List(_) => bytes(column.as_list::<i32>().values()),
        _ => column.to_data().get_slice_memory_size().unwrap_or(0),
    }
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

/// Parts of a table in order, with a result for the rows of each.
trait Source<T> {
    fn next(&mut self) -> Option<io::Result<Part<T>>>;
}

/// The next rows.
enum Part<T> {
    /// Their result, and its bytes.
    Made(usize, T),
    /// Rows that cannot be decoded.
    Lost(u64),
}

/// Makes something of a batch that comes to so many bytes at most, which it returns.
trait Make<T>: Fn(&RecordBatch, usize) -> io::Result<(usize, T)> + Send + Sync + 'static {}

impl<T, F: Fn(&RecordBatch, usize) -> io::Result<(usize, T)> + Send + Sync + 'static> Make<T>
    for F
{
}

/// The batches of a file or stream of Arrow IPC.
type NextBatch = Box<dyn FnMut() -> io::Result<Option<RecordBatch>> + Send>;

/// A table that is open.
enum Medium {
    Batches(NextBatch),
    Parquet(ParquetFile),
}

struct Table {
    medium: Medium,
    /// Whether rows are JSON texts.
    texts: bool,
    /// Bytes that the rows decoded at once may come to.
    most: usize,
}

impl Table {
    fn open(path: &Path, columns: Option<&Columns>, limits: &InputLimits) -> io::Result<Table> {
        let mut file = File::open(path)?;
        let mut magic = [0; 6];
        file.read_exact(&mut magic)?;
        file.rewind()?;
        let (medium, texts) = if magic.starts_with(b"PAR1") {
            let (file, texts) = ParquetFile::open(file, path, columns, limits)?;
            (Medium::Parquet(file), texts)
        } else {
            let (mut ipc, texts) = batches(path, columns, limits)?;
            (Medium::Batches(Box::new(move || ipc.next())), texts)
        };
        Ok(Table {
            medium,
            texts,
            most: limits.record_memory,
        })
    }

    fn stream(
        from: Box<dyn Read + Send>,
        columns: Option<&Columns>,
        limits: &InputLimits,
    ) -> io::Result<Table> {
        let mut batches = decoded(|| StreamReader::try_new(from, None).map_err(arrow))?;
        let schema = batches.schema();
        let mut seen = VecDeque::new();
        let texts = is_text_table(&schema, columns, |is_enough| {
            for batch in batches.by_ref().map_while(Result::ok) {
                let enough = is_enough(&batch);
                seen.push_back(batch);
                if enough {
                    break;
                }
            }
        });
        let columns = columns.filter(|_| !texts);
        let numbers = columns.and_then(|columns| columns.numbers(&schema));
        let next = move || {
            let next = seen.pop_front().map(Ok).or_else(|| batches.next());
            let projected = next.map(|batch| match &numbers {
                Some(numbers) => batch?.project(numbers),
                None => batch,
            });
            projected.transpose().map_err(arrow)
        };
        Ok(Table {
            medium: Medium::Batches(Box::new(next)),
            texts,
            most: limits.record_memory,
        })
    }

    fn source<T: Send + 'static>(self, make: impl Make<T>) -> Box<dyn Source<T> + Send> {
        let most = self.most;
        match self.medium {
            Medium::Batches(batches) => Box::new(InOrder {
                batches,
                make,
                most,
            }),
            Medium::Parquet(file) => Box::new(Parquet {
                file,
                make,
                most,
                next: 0,
                open: None,
                ready: VecDeque::new(),
                damaged: 0,
                fault: None,
            }),
        }
    }
}

/// Lines of JSON as one stream.
struct Lines {
    source: Box<dyn Source<Vec<u8>> + Send>,
    chunk: io::Cursor<Vec<u8>>,
    left: u64,
    limit: u64,
}

/// Takes bytes of what a file may decode to.
fn take(left: &mut u64, bytes: usize, limit: u64) -> io::Result<()> {
    *left = left.checked_sub(bytes as u64).ok_or_else(|| {
        io::Error::other(format!(
            "decodes to more than {limit} bytes (limit `decompressed_bytes`)"
        ))
    })?;
    Ok(())
}

impl Read for Lines {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.chunk.read(into)?;
            if count > 0 || into.is_empty() {
                return Ok(count);
            }
            let chunk = match self.source.next().transpose()? {
                None => return Ok(0),
                Some(Part::Made(_, lines)) => lines,
                // Later rows keep their lines.
                Some(Part::Lost(rows)) => vec![b'\n'; usize::try_from(rows).unwrap_or(0)],
            };
            take(&mut self.left, chunk.len(), self.limit)?;
            self.chunk = io::Cursor::new(chunk);
        }
    }
}

/// The rows of a table in batches.
struct RowBatches {
    source: Box<dyn Source<(usize, Arc<Rows>)> + Send>,
    /// The number of the next row from 1, and that of the next record from 0.
    line: u64,
    ordinal: u64,
    left: u64,
    limit: u64,
    is_over: bool,
}

impl Batches for RowBatches {
    fn next_batch(&mut self) -> Option<Batch> {
        while !self.is_over {
            let part = self.source.next()?;
            let part = part.and_then(|part| match part {
                Part::Made(bytes, rows) => {
                    take(&mut self.left, bytes, self.limit).map(|()| (bytes, Ok(rows)))
                }
                Part::Lost(rows) => Ok((0, Err(rows))),
            });
            match part {
                Ok((bytes, Ok((count, rows)))) => {
                    let mut batch = Batch::of_rows(rows, self.line, self.ordinal);
                    batch.consumed = bytes as u64;
                    self.line += count as u64;
                    self.ordinal += count as u64;
                    return Some(batch);
                }
                Ok((_, Err(lost))) => self.line = self.line.saturating_add(lost),
                Err(error) => {
                    self.is_over = true;
                    return Some(Batch::of_failure(&error, self.line, self.ordinal));
                }
            }
        }
        None
    }
}

/// Opens a file or stream of Arrow IPC. Returns whether its rows are JSON texts.
fn batches(
    path: &Path,
    columns: Option<&Columns>,
    limits: &InputLimits,
) -> io::Result<(Ipc, bool)> {
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
    let ipc = decoded(|| Ipc::open(File::open(path)?, limits, |schema| numbers(schema)))?;
    Ok((ipc, texts))
}

/// The batches of a file or stream of Arrow IPC, in order.
struct InOrder<M> {
    batches: NextBatch,
    make: M,
    most: usize,
}

impl<T, M: Make<T>> Source<T> for InOrder<M> {
    fn next(&mut self) -> Option<io::Result<Part<T>>> {
        decoded(|| {
            let Some(batch) = (self.batches)()? else {
                return Ok(None);
            };
            let (bytes, made) = (self.make)(&batch, self.most)?;
            Ok(Some(Part::Made(bytes, made)))
        })
        .transpose()
    }
}

/// A Parquet file, and what is decoded of it.
struct ParquetFile {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
}

/// The row groups of a Parquet file. Several threads decode the small groups. The remaining rows of a damaged group are lost, and
/// the file ends with an error.
struct Parquet<T, M> {
    file: ParquetFile,
    make: M,
    most: usize,
    next: usize,
    /// A row group that is being decoded piece by piece.
    open: Option<Group>,
    ready: VecDeque<Piece<T>>,
    damaged: u64,
    fault: Option<String>,
}

/// The next part of the file.
enum Piece<T> {
    Made(usize, T),
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
    ) -> io::Result<(ParquetFile, bool)> {
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
            metadata: with_shared_texts(metadata),
            mask: ProjectionMask::all(),
        };
        let texts = is_text_table(file.metadata.schema(), columns, |is_enough| {
            let _ = decoded(|| {
                let batches = file.reader(0..file.groups())?.batches;
                let mut batches = batches.map_while(Result::ok);
                batches.find(|batch| is_enough(batch));
                Ok(())
            });
        });
        let schema = file.metadata.schema();
        if let Some(columns) = columns.filter(|columns| !texts && !columns.takes_all(schema)) {
            let parquet = file.metadata.parquet_schema();
            let leaves = parquet.columns().iter().enumerate();
            let taken = leaves.filter(|(_, leaf)| columns.takes(leaf.path().parts()));
            file.mask = ProjectionMask::leaves(parquet, taken.map(|(number, _)| number));
        }
        Ok((file, texts))
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

    fn decode<T>(
        &self,
        groups: std::ops::Range<usize>,
        make: &impl Make<T>,
    ) -> io::Result<Vec<Piece<T>>> {
        let (mut all, mut left) = (Vec::new(), GO_BYTES);
        for batch in self.reader(groups)?.batches {
            let (bytes, made) = make(&batch.map_err(arrow)?, left)?;
            left = left.saturating_sub(bytes);
            all.push(Piece::Made(bytes, made));
        }
        Ok(all)
    }
}

/// Has texts decoded as places in their pages, whatever type the file names: a text that many rows share is then decoded once.
fn with_shared_texts(metadata: ArrowReaderMetadata) -> ArrowReaderMetadata {
    let schema = metadata.schema();
    let fields: Vec<FieldRef> = schema.fields().iter().map(shared_texts).collect();
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    let shared = ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options);
    shared.unwrap_or(metadata)
}

fn shared_texts(field: &FieldRef) -> FieldRef {
    let ty = match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Dictionary(_, values)
            if is_text_column(&Field::new("", (**values).clone(), true)) =>
        {
            DataType::Utf8View
        }
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(shared_texts).collect()),
        DataType::List(item) => DataType::List(shared_texts(item)),
        DataType::LargeList(item) => DataType::LargeList(shared_texts(item)),
        _ => return Arc::clone(field),
    };
    Arc::new(field.as_ref().clone().with_data_type(ty))
}

/// Returns the sum of sizes that a file states: they may be anything.
fn total(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(0, u64::saturating_add)
}

impl<T: Send, M: Make<T>> Parquet<T, M> {
    /// Counts a group that cannot be decoded, and returns its rows that are left.
    fn damage(
        &mut self,
        group: usize,
        rows: u64,
        error: &io::Error,
    ) -> Option<io::Result<Part<T>>> {
        self.damaged += 1;
        if self.fault.is_none() {
            let before = total((0..group).map(|group| self.file.rows(group)));
            let row = before.saturating_add(1);
            let fault = format!("row group {group}, from row {row}, cannot be decoded: {error}");
            self.fault = Some(fault);
        }
        // The number of rows may be damaged too: then no later line means anything.
        match rows <= 64 << 20 {
            true => Some(Ok(Part::Lost(rows))),
            false => {
                self.next = self.file.groups();
                self.ready.clear();
                self.end()
            }
        }
    }

    fn end(&mut self) -> Option<io::Result<Part<T>>> {
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
        let (file, make) = (&self.file, &self.make);
        let all: Vec<_> = runs
            .par_iter()
            .map(|run| decoded(|| file.decode(run.clone(), make)))
            .collect();
        for (run, made) in runs.into_iter().zip(all) {
            match made {
                Ok(made) => self.ready.extend(made),
                Err(_) => self.ready.extend(run.map(Piece::Group)),
            }
        }
    }
}

impl<T: Send, M: Make<T>> Source<T> for Parquet<T, M> {
    fn next(&mut self) -> Option<io::Result<Part<T>>> {
        loop {
            if let Some(mut group) = self.open.take() {
                let made = decoded(|| {
                    let Some(batch) = group.batches.next().transpose().map_err(arrow)? else {
                        return Ok(None);
                    };
                    let (bytes, made) = (self.make)(&batch, self.most)?;
                    Ok(Some((batch.num_rows() as u64, Part::Made(bytes, made))))
                });
                match made {
                    Ok(None) => continue,
                    Ok(Some((rows, made))) => {
                        group.rows = group.rows.saturating_sub(rows);
                        self.open = Some(group);
                        return Some(Ok(made));
                    }
                    Err(error) => return self.damage(group.number, group.rows, &error),
                }
            }
            match self.ready.pop_front() {
                Some(Piece::Made(bytes, made)) => return Some(Ok(Part::Made(bytes, made))),
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
