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
mod row_groups;
mod rows;
mod text;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Schema};

use self::columns::Columns;
use self::ipc::Ipc;
use self::json::{begins_like_json, is_text_column, write_batch};
use self::row_groups::{Parquet, ParquetFile};
use self::rows::Rows;
use super::batch::{Batch, Batches};
use super::limits::InputLimits;
use super::open::Opened;
use super::projection::Projection;

/// The most rows that are decoded at once. The number is small because a long text that many rows share is stored once but decoded
/// for each row.
const ROWS: usize = 1024;

/// A table of the caller's own.
pub(super) type TableReader = Box<dyn RecordBatchReader + Send>;

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

/// The same for a table of the caller's own, whose sizes are trusted.
///
/// # Errors
/// What it says when it is read.
pub(super) fn given(
    from: TableReader,
    fields: Option<&Projection>,
    with_others: bool,
    limits: &InputLimits,
) -> io::Result<Opened> {
    let columns = fields.and_then(|fields| Columns::of(fields, with_others));
    let table = Table::given(from, columns.as_ref(), limits)?;
    opened(table, columns.is_some(), fields, with_others, limits)
}

/// Opens the first rows of a table of the caller's own as lines of JSON, and leaves it as it was.
///
/// # Errors
/// What it says when it is read.
pub(super) fn first_rows(
    from: &mut TableReader,
    fields: &Projection,
    limits: &InputLimits,
) -> io::Result<Opened> {
    let (mut seen, mut left) = (Vec::new(), ROWS);
    look(from, |batch| {
        let count = batch.num_rows().min(left);
        seen.push(Ok(batch.slice(0, count)));
        left -= count;
        left == 0
    });
    let seen = RecordBatchIterator::new(seen, from.schema());
    given(Box::new(seen), Some(fields), true, limits)
}

/// Shows the batches of a table until one is enough, or fails; all are read again afterwards.
fn look(table: &mut TableReader, mut is_enough: impl FnMut(&RecordBatch) -> bool) {
    let schema = table.schema();
    let mut seen = Vec::new();
    for batch in &mut *table {
        let is_last = batch.as_ref().map_or(true, &mut is_enough);
        seen.push(batch);
        if is_last {
            break;
        }
    }
    let none = RecordBatchIterator::new([], Arc::clone(&schema));
    let rest = std::mem::replace(table, Box::new(none));
    *table = Box::new(RecordBatchIterator::new(
        seen.into_iter().chain(rest),
        schema,
    ));
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
        DataType::List(_) => {
            let list = column.as_list::<i32>();
            let [from, to] = [list.offsets().first(), list.offsets().last()].map(|at| at as usize);
            bytes(&list.values().slice(from, to - from))
        }
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

    fn given(
        mut from: TableReader,
        columns: Option<&Columns>,
        limits: &InputLimits,
    ) -> io::Result<Table> {
        let schema = from.schema();
        let texts = is_text_table(&schema, columns, |is_enough| {
            look(&mut from, |batch| is_enough(batch));
        });
        let columns = columns.filter(|_| !texts);
        let numbers = columns.and_then(|columns| columns.numbers(&schema));
        let next = move || {
            let projected = from.next().map(|batch| match &numbers {
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
                rest: None,
                make,
                most,
            }),
            Medium::Parquet(file) => Box::new(Parquet::new(file, make, most)),
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

/// The batches of a file or stream of Arrow IPC, in order and piece by piece: who looks at the first rows needs no others.
struct InOrder<M> {
    batches: NextBatch,
    rest: Option<RecordBatch>,
    make: M,
    most: usize,
}

impl<T, M: Make<T>> Source<T> for InOrder<M> {
    fn next(&mut self) -> Option<io::Result<Part<T>>> {
        decoded(|| {
            let batch = match self.rest.take() {
                Some(rest) => Some(rest),
                None => (self.batches)()?,
            };
            let Some(batch) = batch else {
                return Ok(None);
            };
            let count = batch.num_rows().min(ROWS);
            if count < batch.num_rows() {
                self.rest = Some(batch.slice(count, batch.num_rows() - count));
            }
            let (bytes, made) = (self.make)(&batch.slice(0, count), self.most)?;
            Ok(Some(Part::Made(bytes, made)))
        })
        .transpose()
    }
}
