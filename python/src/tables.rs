//! Tables of other packages as input, and verdicts, traces and problems of a report as tables, by the Arrow C data interface.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, UInt32Builder};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{
    ArrayRef, BooleanArray, RecordBatch, RecordBatchIterator, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::ArrowError;
use guard_lang::{Heading, Problem, PropertyVerdict, Trace};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The name of a capsule with a stream, by the Arrow PyCapsule interface.
pub(crate) const STREAM: &std::ffi::CStr = c"arrow_array_stream";

/// Rows of one batch: few enough that offsets of 32 bits suffice for its texts.
const ROWS: usize = 1 << 12;

/// The name, values and whether some may be null of each column.
type Columns = Vec<(&'static str, ArrayRef, bool)>;

/// Takes the rows of a stream that a package gives.
#[expect(unsafe_code, reason = "the C data interface hands over pointers")]
pub(crate) fn taken(capsule: &Bound<'_, PyCapsule>) -> PyResult<RecordBatchStreamReader> {
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast();
    // SAFETY: a capsule of this name points to an initialised stream, and lives during the call. The stream is moved out, so that
    // the capsule does not release it; one that was moved out before is refused.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) };
    reader.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns a stream of a table with the columns that `columns` makes of some rows.
fn stream<R>(
    rows: &[R],
    columns: impl Fn(&[R]) -> Columns,
) -> Result<FFI_ArrowArrayStream, ArrowError> {
    let batch = |rows: &[R]| RecordBatch::try_from_iter_with_nullable(columns(rows));
    let schema = batch(&[])?.schema();
    let batches = rows.chunks(ROWS).map(batch);
    let batches = batches.collect::<Result<Vec<_>, _>>()?;
    let batches = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    Ok(FFI_ArrowArrayStream::new(Box::new(batches)))
}

/// Returns the verdicts with the members of `guard_lang.Verdict`; values of quantified variables are a JSON text.
pub(crate) fn verdicts<'a>(
    traces: impl Iterator<Item = &'a Trace>,
) -> Result<FFI_ArrowArrayStream, ArrowError> {
    let rows = traces.flat_map(|trace| {
        let verdicts = trace.verdicts();
        verdicts.map(move |(heading, verdict)| (trace, heading, verdict))
    });
    let rows: Vec<(&Trace, &Heading, &PropertyVerdict)> = rows.collect();
    stream(&rows, |rows| {
        vec![
            ("trace", texts(rows, |(trace, ..)| trace.name()), false),
            (
                "property",
                texts(rows, |(_, heading, _)| &*heading.name),
                false,
            ),
            (
                "verdict",
                texts(rows, |(.., of)| of.verdict.as_str()),
                false,
            ),
            ("final", flags(rows, |(.., of)| of.is_final), false),
            ("at", steps(rows, |(.., of)| of.at), true),
            ("since", steps(rows, |(.., of)| of.from), true),
            ("vacuous", flags(rows, |(.., of)| of.vacuous), false),
            ("message", known(rows, |(.., of)| of.message.clone()), true),
            (
                "counterexample",
                lists(rows, |(.., of)| &of.counterexample),
                false,
            ),
            (
                "instance",
                known(rows, |(trace, _, of)| trace.instance_json(of)),
                true,
            ),
        ]
    })
}

/// Returns the traces with the members of `guard_lang.Trace`.
pub(crate) fn traces<'a>(
    traces: impl Iterator<Item = &'a Trace>,
) -> Result<FFI_ArrowArrayStream, ArrowError> {
    let rows: Vec<&Trace> = traces.collect();
    stream(&rows, |rows| {
        vec![
            ("name", texts(rows, |trace| trace.name()), false),
            ("file", texts(rows, |trace| &*trace.report().file), false),
            ("line", numbers(rows, |trace| trace.report().line), false),
            ("index", numbers(rows, |trace| trace.report().index), false),
            (
                "events",
                numbers(rows, |trace| trace.report().events),
                false,
            ),
            (
                "violates",
                flags(rows, |trace| trace.violations().next().is_some()),
                false,
            ),
        ]
    })
}

/// Returns problems with the members of `guard_lang.Problem`.
pub(crate) fn problems<'a>(
    problems: impl Iterator<Item = &'a Problem>,
) -> Result<FFI_ArrowArrayStream, ArrowError> {
    let rows: Vec<&Problem> = problems.collect();
    stream(&rows, |rows| {
        vec![
            ("kind", known(rows, |problem| word(problem)), false),
            ("file", texts(rows, |problem| &*problem.file), false),
            ("line", numbers(rows, |problem| problem.line), false),
            ("trace", known(rows, |problem| problem.trace.clone()), true),
            ("step", steps(rows, |problem| problem.step), true),
            ("field", known(rows, |problem| problem.field.clone()), true),
            ("message", texts(rows, |problem| &*problem.message), false),
        ]
    })
}

/// Returns the kind of a problem as reports name it.
fn word(problem: &Problem) -> Option<String> {
    let word = serde_json::to_value(problem.kind).ok()?;
    word.as_str().map(str::to_owned)
}

fn texts<'a, R>(rows: &'a [R], of: impl Fn(&'a R) -> &'a str) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(rows.iter().map(of)))
}

fn known<R, T: AsRef<str>>(rows: &[R], of: impl Fn(&R) -> Option<T>) -> ArrayRef {
    Arc::new(rows.iter().map(of).collect::<StringArray>())
}

fn flags<R>(rows: &[R], of: impl Fn(&R) -> bool) -> ArrayRef {
    Arc::new(BooleanArray::from_iter(
        rows.iter().map(|row| Some(of(row))),
    ))
}

fn numbers<R>(rows: &[R], of: impl Fn(&R) -> u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(rows.iter().map(of)))
}

fn steps<R>(rows: &[R], of: impl Fn(&R) -> Option<u32>) -> ArrayRef {
    Arc::new(rows.iter().map(of).collect::<UInt32Array>())
}

fn lists<'a, R>(rows: &'a [R], of: impl Fn(&'a R) -> &'a Vec<u32>) -> ArrayRef {
    let mut lists = ListBuilder::new(UInt32Builder::new());
    for row in rows {
        lists.append_value(of(row).iter().copied().map(Some));
    }
    Arc::new(lists.finish())
}
