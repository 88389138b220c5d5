//! Reads the row groups of a Parquet file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use rayon::prelude::*;

use super::super::limits::InputLimits;
use super::columns::Columns;
use super::json::is_text_column;
use super::{Make, Part, ROWS, Source, arrow, decoded, is_text_table};

/// The most bytes that rows decoded at once have by the sizes in the file.
const BYTES: usize = 4 << 20;

/// Bytes of row groups that one thread decodes in one go; larger groups are decoded piece by piece.
const GO: u64 = 16 << 20;

/// Bytes that row groups decoded in one go may come to; beyond, they are decoded piece by piece.
const GO_BYTES: usize = 128 << 20;

/// A Parquet file, and what is decoded of it.
pub(super) struct ParquetFile {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
}

/// The row groups of a Parquet file. Several threads decode the small groups. The remaining rows of a damaged group are lost, and
/// the file ends with an error.
pub(super) struct Parquet<T, M> {
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
    batches: ParquetRecordBatchReader,
    rows: u64,
}

impl ParquetFile {
    pub(super) fn open(
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
    pub(super) fn new(file: ParquetFile, make: M, most: usize) -> Parquet<T, M> {
        Parquet {
            file,
            make,
            most,
            next: 0,
            open: None,
            ready: VecDeque::new(),
            damaged: 0,
            fault: None,
        }
    }

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
                // The first group is not decoded in one go: who looks at its first rows needs no others.
                None if self.next > 0 && self.file.bytes(self.next) <= GO => self.decode_runs(),
                None => {
                    self.ready.push_back(Piece::Group(self.next));
                    self.next += 1;
                }
            }
        }
    }
}
