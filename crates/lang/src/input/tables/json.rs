//! Columns of Arrow as JSON.

use std::io::{self, Write as _};
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DecimalType, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{AnyDictionaryArray, Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, TimeUnit};

use super::text::TextColumn;

/// Whether a column has texts, or codes of texts.
pub(super) fn is_text_column(field: &Field) -> bool {
    is_text(field.data_type())
}

/// Whether the first text of a batch of one column begins like an object or a list of JSON; `None` if the batch has no text.
pub(super) fn begins_like_json(batch: &RecordBatch) -> Option<bool> {
    let column = batch.columns().first()?;
    let column = Column::new(column.as_ref(), Texts::Rows, "").ok()?;
    let mut text = Vec::new();
    (0..batch.num_rows()).find_map(|row| {
        text.clear();
        if !column.is_null(row) {
            column.write(row, &mut text);
        }
        let first = text.trim_ascii_start().first()?;
        Some(matches!(first, b'{' | b'['))
    })
}

/// Whether the texts of a column are marked as JSON.
pub(super) fn is_json(field: &Field) -> bool {
    let marked = field.metadata().get("ARROW:extension:name");
    marked.is_some_and(|name| name == "arrow.json")
}

fn is_text(ty: &DataType) -> bool {
    match ty {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// Writes the rows of a batch, a line each; `texts` if they are JSON texts.
///
/// # Errors
/// A column has a type without values of JSON; the lines have more than `most` bytes.
pub(super) fn write_batch(
    batch: &RecordBatch,
    texts: bool,
    most: usize,
    lines: &mut Vec<u8>,
) -> io::Result<()> {
    let schema = batch.schema();
    let bounded = |lines: &Vec<u8>| match lines.len() <= most {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "{} rows come to more than {most} bytes (limit `record_memory`)",
            batch.num_rows()
        ))),
    };
    if texts && let Some(column) = batch.columns().first() {
        let column = Column::new(column.as_ref(), Texts::Rows, schema.field(0).name())?;
        for row in 0..batch.num_rows() {
            if !column.is_null(row) {
                column.write(row, lines);
            }
            lines.push(b'\n');
            bounded(lines)?;
        }
        return Ok(());
    }
    let members = Members::new(schema.fields(), batch.columns(), "")?;
    for row in 0..batch.num_rows() {
        members.write(row, lines);
        lines.push(b'\n');
        bounded(lines)?;
    }
    Ok(())
}

/// Columns of a table, or of a struct, as the members of an object.
pub(super) struct Members(Vec<(Vec<u8>, Column)>);

impl Members {
    pub(super) fn new(
        fields: &[std::sync::Arc<Field>],
        columns: &[ArrayRef],
        below: &str,
    ) -> io::Result<Members> {
        let members = fields.iter().zip(columns).map(|(field, column)| {
            let mut name = Vec::new();
            string(field.name(), &mut name);
            name.push(b':');
            Ok((name, Column::member(column.as_ref(), field, below)?))
        });
        Ok(Members(members.collect::<io::Result<_>>()?))
    }

    pub(super) fn write(&self, row: usize, out: &mut Vec<u8>) {
        out.push(b'{');
        let mut first = true;
        for (name, column) in &self.0 {
            if column.is_null(row) {
                continue;
            }
            if !first {
                out.push(b',');
            }
            first = false;
            out.extend_from_slice(name);
            column.write(row, out);
        }
        out.push(b'}');
    }
}

/// The meaning of the texts of a column.
#[derive(Clone, Copy, PartialEq)]
enum Texts {
    Plain,
    /// JSON, by the mark of their column.
    Json,
    /// Whole rows. The reader reports those that are not JSON.
    Rows,
}

type Write = Box<dyn Fn(usize, &mut Vec<u8>) + Send + Sync>;

/// A column whose values are written as JSON.
pub(super) struct Column {
    nulls: Option<NullBuffer>,
    write: Write,
}

/// A token that is not a JSON value, which the reader reports if a field reads it.
const NO_NUMBER: &[u8] = b"NaN";

/// Half of a surrogate pair, which the reader reports as invalid Unicode.
const NO_TEXT: &[u8] = br#""\ud800""#;

impl Column {
    /// Returns the column; `path` is for messages.
    fn new(array: &dyn Array, texts: Texts, path: &str) -> io::Result<Column> {
        let write: Write = match array.data_type() {
            DataType::Null => Box::new(|_, out| out.extend_from_slice(b"null")),
            DataType::Boolean => {
                let values = array.as_boolean().clone();
                Box::new(move |row, out| {
                    let text: &[u8] = if values.value(row) { b"true" } else { b"false" };
                    out.extend_from_slice(text);
                })
            }
            DataType::Int8 => shown::<Int8Type>(array),
            DataType::Int16 => shown::<Int16Type>(array),
            DataType::Int32 => shown::<Int32Type>(array),
            DataType::Int64 => shown::<Int64Type>(array),
            DataType::UInt8 => shown::<UInt8Type>(array),
            DataType::UInt16 => shown::<UInt16Type>(array),
            DataType::UInt32 => shown::<UInt32Type>(array),
            DataType::UInt64 => shown::<UInt64Type>(array),
            DataType::Float16 => float::<Float16Type>(array, f64::from),
            DataType::Float32 => float::<Float32Type>(array, f64::from),
            DataType::Float64 => float::<Float64Type>(array, |value| value),
            DataType::Decimal32(..) => decimal::<Decimal32Type>(array),
            DataType::Decimal64(..) => decimal::<Decimal64Type>(array),
            DataType::Decimal128(..) => decimal::<Decimal128Type>(array),
            DataType::Decimal256(..) => decimal::<Decimal256Type>(array),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                text(TextColumn::new(array, path)?, texts)
            }
            DataType::Binary => {
                let values = array.as_binary::<i32>().clone();
                Box::new(move |row, out| bytes(values.value(row), out))
            }
            DataType::LargeBinary => {
                let values = array.as_binary::<i64>().clone();
                Box::new(move |row, out| bytes(values.value(row), out))
            }
            DataType::BinaryView => {
                let values = array.as_binary_view().clone();
                Box::new(move |row, out| bytes(values.value(row), out))
            }
            DataType::FixedSizeBinary(_) => {
                let values = array.as_fixed_size_binary().clone();
                Box::new(move |row, out| bytes(values.value(row), out))
            }
            DataType::Timestamp(unit, _) => {
                let instant = |nanos| jiff::Timestamp::from_nanosecond(nanos).ok();
                match unit {
                    TimeUnit::Second => spelt::<TimestampSecondType, _>(array, G, instant),
                    TimeUnit::Millisecond => {
                        spelt::<TimestampMillisecondType, _>(array, M, instant)
                    }
                    TimeUnit::Microsecond => {
                        spelt::<TimestampMicrosecondType, _>(array, K, instant)
                    }
                    TimeUnit::Nanosecond => spelt::<TimestampNanosecondType, _>(array, 1, instant),
                }
            }
            DataType::Date32 => spelt::<Date32Type, _>(array, DAY, date),
            DataType::Date64 => spelt::<Date64Type, _>(array, M, date),
            DataType::Time32(TimeUnit::Second) => {
                spelt::<Time32SecondType, _>(array, G, time_of_day)
            }
            DataType::Time32(_) => spelt::<Time32MillisecondType, _>(array, M, time_of_day),
            DataType::Time64(TimeUnit::Microsecond) => {
                spelt::<Time64MicrosecondType, _>(array, K, time_of_day)
            }
            DataType::Time64(_) => spelt::<Time64NanosecondType, _>(array, 1, time_of_day),
            DataType::Duration(unit) => match unit {
                TimeUnit::Second => seconds::<DurationSecondType>(array, G),
                TimeUnit::Millisecond => seconds::<DurationMillisecondType>(array, M),
                TimeUnit::Microsecond => seconds::<DurationMicrosecondType>(array, K),
                TimeUnit::Nanosecond => seconds::<DurationNanosecondType>(array, 1),
            },
            DataType::List(field) => {
                let values = array.as_list::<i32>();
                let offsets = values.offsets().clone();
                let range = move |row: usize| offsets[row] as usize..offsets[row + 1] as usize;
                list(Column::of(values.values().as_ref(), field, path)?, range)
            }
            DataType::LargeList(field) => {
                let values = array.as_list::<i64>();
                let offsets = values.offsets().clone();
                let range = move |row: usize| offsets[row] as usize..offsets[row + 1] as usize;
                list(Column::of(values.values().as_ref(), field, path)?, range)
            }
            DataType::FixedSizeList(field, size) => {
                let values = array.as_fixed_size_list();
                let size = usize::try_from(*size).unwrap_or(0);
                let range = move |row: usize| row * size..(row + 1) * size;
                list(Column::of(values.values().as_ref(), field, path)?, range)
            }
            DataType::Struct(fields) => {
                let values = array.as_struct();
                let members = Members::new(fields, values.columns(), &format!("{path}."))?;
                Box::new(move |row, out| members.write(row, out))
            }
            DataType::Map(..) => {
                let values = array.as_map();
                let offsets = values.offsets().clone();
                let (keys, members) = (values.keys(), values.values());
                if !is_text(keys.data_type()) {
                    return Err(unread(path, array.data_type()));
                }
                let keys = Column::new(keys.as_ref(), Texts::Plain, path)?;
                let members = Column::new(members.as_ref(), Texts::Plain, path)?;
                Box::new(move |row, out| {
                    out.push(b'{');
                    let mut first = true;
                    for place in offsets[row] as usize..offsets[row + 1] as usize {
                        if members.is_null(place) {
                            continue;
                        }
                        if !first {
                            out.push(b',');
                        }
                        first = false;
                        keys.write(place, out);
                        out.push(b':');
                        members.write(place, out);
                    }
                    out.push(b'}');
                })
            }
            DataType::Dictionary(..) => {
                let Some(codes) = array.as_any_dictionary_opt() else {
                    return Err(unread(path, array.data_type()));
                };
                let values = Column::new(codes.values().as_ref(), texts, path)?;
                let keys = keys(codes);
                Box::new(move |row, out| {
                    if let Some(key) = keys.get(row) {
                        values.write(*key, out);
                    }
                })
            }
            other => return Err(unread(path, other)),
        };
        Ok(Column {
            nulls: array.logical_nulls(),
            write,
        })
    }

    /// Returns a column of a table, or a member of a struct at a path that ends in a dot.
    pub(super) fn member(array: &dyn Array, field: &Field, below: &str) -> io::Result<Column> {
        let texts = match is_json(field) {
            true => Texts::Json,
            false => Texts::Plain,
        };
        Column::new(array, texts, &format!("{below}{}", field.name()))
    }

    fn of(array: &dyn Array, field: &Field, path: &str) -> io::Result<Column> {
        Column::new(array, Texts::Plain, &format!("{path}.{}", field.name()))
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    pub(super) fn write(&self, row: usize, out: &mut Vec<u8>) {
        match self.is_null(row) {
            true => out.extend_from_slice(b"null"),
            false => (self.write)(row, out),
        }
    }
}

pub(super) fn unread(path: &str, ty: &DataType) -> io::Error {
    io::Error::other(format!(
        "column `{path}` has the type {ty}, which has no values of JSON"
    ))
}

/// Returns the places of the values of a column of codes; without values all rows are null.
pub(super) fn keys(codes: &dyn AnyDictionaryArray) -> Vec<usize> {
    match codes.values().is_empty() {
        true => Vec::new(),
        false => codes.normalized_keys(),
    }
}

/// Nanoseconds of a microsecond, a millisecond, a second and a day.
pub(super) const K: i128 = 1_000;
pub(super) const M: i128 = 1_000_000;
pub(super) const G: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * G;

fn string(text: &str, out: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let _ = serde_json::to_writer(&mut *out, text);
}

fn shown<T: ArrowPrimitiveType>(array: &dyn Array) -> Write
where
    T::Native: std::fmt::Display,
{
    let values = array.as_primitive::<T>().clone();
    Box::new(move |row, out| {
        let _ = write!(out, "{}", values.value(row));
    })
}

fn float<T: ArrowPrimitiveType>(array: &dyn Array, wide: fn(T::Native) -> f64) -> Write {
    let values = array.as_primitive::<T>().clone();
    Box::new(move |row, out| match wide(values.value(row)) {
        value if value.is_finite() => {
            let _ = write!(out, "{value:?}");
        }
        _ => out.extend_from_slice(NO_NUMBER),
    })
}

fn decimal<T: DecimalType>(array: &dyn Array) -> Write {
    let values = array.as_primitive::<T>().clone();
    Box::new(move |row, out| out.extend_from_slice(values.value_as_string(row).as_bytes()))
}

/// Writes texts. JSON is copied without its line ends. A text of a JSON column that is not JSON becomes [`NO_NUMBER`], so that it
/// cannot change other members of its row.
fn text(values: TextColumn, texts: Texts) -> Write {
    let is_json = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    Box::new(move |row, out| match (texts, values.value(row)) {
        (Texts::Plain, text) => string(text, out),
        (Texts::Json, text) if !is_json(text) => out.extend_from_slice(NO_NUMBER),
        (Texts::Json | Texts::Rows, text) => out.extend(text.bytes().map(|byte| match byte {
            b'\n' | b'\r' => b' ',
            byte => byte,
        })),
    })
}

/// Writes bytes as texts if they are UTF-8: some programs that write Parquet do not mark their texts.
fn bytes(value: &[u8], out: &mut Vec<u8>) {
    match std::str::from_utf8(value) {
        Ok(text) => string(text, out),
        Err(_) => out.extend_from_slice(NO_TEXT),
    }
}

/// Points in time, given in units of so many nanoseconds, as texts.
fn spelt<T: ArrowPrimitiveType, D: std::fmt::Display>(
    array: &dyn Array,
    unit: i128,
    spell: impl Fn(i128) -> Option<D> + Send + Sync + 'static,
) -> Write
where
    T::Native: Into<i64>,
{
    let values = array.as_primitive::<T>().clone();
    Box::new(move |row, out| {
        let value: i64 = values.value(row).into();
        match spell(i128::from(value) * unit) {
            Some(text) => {
                let _ = write!(out, "\"{text}\"");
            }
            None => out.extend_from_slice(NO_NUMBER),
        }
    })
}

fn date(nanos: i128) -> Option<jiff::civil::Date> {
    let time = jiff::Timestamp::from_nanosecond(nanos).ok()?;
    Some(jiff::tz::Offset::UTC.to_datetime(time).date())
}

fn time_of_day(nanos: i128) -> Option<jiff::civil::Time> {
    let time = jiff::Timestamp::from_nanosecond(nanos).ok()?;
    Some(jiff::tz::Offset::UTC.to_datetime(time).time())
}

fn seconds<T: ArrowPrimitiveType<Native = i64>>(array: &dyn Array, unit: i128) -> Write {
    let values = array.as_primitive::<T>().clone();
    Box::new(move |row, out| {
        let nanos = i128::from(values.value(row)) * unit;
        let sign = if nanos < 0 { "-" } else { "" };
        let nanos = nanos.unsigned_abs();
        let _ = write!(out, "{sign}{}.{:09}", nanos / G as u128, nanos % G as u128);
    })
}

fn list(values: Column, range: impl Fn(usize) -> Range<usize> + Send + Sync + 'static) -> Write {
    Box::new(move |row, out| {
        out.push(b'[');
        for (number, place) in range(row).enumerate() {
            if number > 0 {
                out.push(b',');
            }
            values.write(place, out);
        }
        out.push(b']');
    })
}
