//! Rows of a table as records, without text between.
//!
//! A column of texts, numbers, Booleans or times is read into the cells of its field. Every other column becomes JSON, value by
//! value, that the walk over a text reads at the column's place. A row that is not read without a problem is read again as a line
//! of JSON, so that problems are those of the same events in JSON Lines.

use std::fmt;
use std::io::{self, Write as _};
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, FieldRef, TimeUnit};

use super::json::{Column, G, K, M, Members as Line, is_json};
use super::text::TextColumn;
use crate::input::batch;
use crate::input::cell::{self, CellResult};
use crate::input::deferred::Deferred;
use crate::input::limits::InputLimits;
use crate::input::place::ValuePlace;
use crate::input::plan::{LevelId, Mode, Plan};
use crate::input::projection::{Projection, ReadBuffers, ReadOutcome};
use crate::input::record::{FileName, RawRecord, Unit};
use crate::input::scan::Lexeme;
use crate::input::trie::{Node, NodeId};
use crate::types::Type;
use crate::value::{Cell, Instant, Number, Value};

/// Attoseconds of a nanosecond.
const NANO: i128 = Instant::SECOND / G;

/// Decoded rows.
pub(super) struct Rows {
    /// Their columns where they are events, and the same where they are whole traces.
    event: Members,
    record: Members,
    /// Of a native layout, the rows that have a list of events.
    lists: Lists,
    line: Line,
    /// Whether some column that is not read may have two members of the same name, which a walk over JSON reports.
    as_lines: bool,
    /// The nulls of all columns, which an object does not have as members.
    nulls: Vec<Option<NullBuffer>>,
    /// The first row of each run that is read together, and the number of rows.
    starts: Vec<usize>,
}

/// The most rows that are read together: enough that what an event costs besides its step is shared, few enough for all threads.
const RUN: usize = 64;

/// The rows that have a list of events.
enum Lists {
    /// The layout says what a row is.
    Fixed,
    None,
    /// All but these.
    Some(Option<NullBuffer>),
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rows")
    }
}

/// Whether rows are read by the paths of a projection without text between.
pub(super) fn are_read_by(projection: &Projection) -> bool {
    let plan = projection.plan();
    let InputLimits {
        record_bytes,
        record_memory,
        ..
    } = *projection.limits();
    // What the size of a line is compared with is never met by lines that decoded rows have room for.
    record_bytes >= record_memory
        && !plan.record.wants_tree()
        && !plan.event.wants_tree()
        && !plan.element.wants_tree()
}

/// The columns of a level that are read, with their places in its trie.
struct Members(Vec<Member>);

struct Member {
    node: NodeId,
    nulls: Option<NullBuffer>,
    values: Values,
    /// Levels of nesting that its value is in.
    depth: usize,
}

/// The values of a column.
enum Values {
    Text(TextColumn),
    Int(Box<dyn Fn(usize) -> i128 + Send + Sync>),
    Float(Box<dyn Fn(usize) -> f64 + Send + Sync>),
    Bool(BooleanArray),
    /// Points in time, in nanoseconds.
    Time(Box<dyn Fn(usize) -> i128 + Send + Sync>),
    Struct(Members),
    /// Lists of events.
    Events {
        offsets: OffsetBuffer<i64>,
        nulls: Option<NullBuffer>,
        members: Members,
    },
    /// Values that become JSON.
    Json(Column),
}

/// A row that must be read as a line of JSON.
struct AsLine;

/// The state of reading a row.
struct Walk<'w> {
    plan: &'w Plan,
    limits: &'w InputLimits,
    buffers: &'w mut ReadBuffers,
}

impl Rows {
    /// Returns the rows of a batch.
    ///
    /// # Errors
    /// A column has a type without values of JSON.
    pub(super) fn new(batch: &RecordBatch, plan: &Plan) -> io::Result<Rows> {
        let schema = batch.schema();
        let (fields, columns) = (schema.fields(), batch.columns());
        let members = |level| Members::new(plan, level, 0, fields, columns, "", 1);
        let (mut event, record) = (members(LevelId::Event)?, members(LevelId::Record)?);
        let lists = match plan.native {
            Some(native) => {
                let is_list = |member: &Member| {
                    plan.event
                        .trie
                        .node(member.node)
                        .slots
                        .contains(&native.events)
                };
                let list = event.0.iter().position(is_list);
                match list.map(|place| event.0.swap_remove(place)) {
                    Some(list) => Lists::Some(list.nulls),
                    None => Lists::None,
                }
            }
            None => Lists::Fixed,
        };
        let roots = [&plan.event, &plan.record].map(|level| level.trie.node(0));
        let as_lines = !are_sound(fields, &roots);
        let is_single = as_lines || plan.mode == Mode::At || matches!(lists, Lists::Some(_));
        Ok(Rows {
            starts: match is_single {
                true => (0..=batch.num_rows()).collect(),
                false => event.runs(plan, batch.num_rows()),
            },
            as_lines,
            event,
            record,
            lists,
            line: Line::new(fields, columns, "")?,
            nulls: columns.iter().map(Array::logical_nulls).collect(),
        })
    }

    /// Returns the number of members that the object of a row has.
    fn count(&self, row: usize) -> usize {
        let has = |nulls: &&Option<NullBuffer>| !is_null(nulls, row);
        self.nulls.iter().filter(has).count()
    }

    /// Reads rows if no problem is found: a whole trace, or events of one trace.
    fn read_run(
        &self,
        run: Range<usize>,
        raw: &RawRecord<'_>,
        projection: &Projection,
        file: &FileName,
        buffers: &mut ReadBuffers,
    ) -> Result<ReadOutcome, AsLine> {
        let plan = projection.plan();
        let row = run.start;
        let is_record = match &self.lists {
            Lists::Fixed => plan.mode == Mode::At,
            Lists::None => false,
            Lists::Some(nulls) => !is_null(nulls, row),
        };
        if self.as_lines || is_record && projection.takes_only_events() {
            return Err(AsLine);
        }
        let mut walk = Walk {
            plan,
            limits: projection.limits(),
            buffers,
        };
        walk.buffers.begin(plan, walk.limits);
        let place = ValuePlace::of_row(raw, file);
        let outcome = if is_record {
            self.record.read(&mut walk, LevelId::Record, row)?;
            projection.finish_record(&mut walk.buffers.builder, &place)
        } else {
            for row in run {
                walk.event(&self.event, row)?;
            }
            let is_end = plan.native.is_some_and(|native| {
                let cell = |slot| {
                    walk.buffers
                        .builder
                        .event
                        .get(slot)
                        .and_then(Option::as_ref)
                };
                cell(native.end) == Some(&Cell::Known(Value::Bool(true)))
                    && self.count(row) == 1 + usize::from(cell(native.trace).is_some())
            });
            if plan.reads_meta() && !is_end {
                self.record.read(&mut walk, LevelId::Record, row)?;
            }
            Some(projection.finish_event(&mut walk.buffers.builder, &place, is_end))
        };
        match outcome {
            Some(outcome) if is_without_problem(&outcome) => Ok(outcome),
            _ => Err(AsLine),
        }
    }
}

fn is_without_problem(outcome: &ReadOutcome) -> bool {
    match outcome {
        ReadOutcome::Unit(Unit::Record(record)) => record.problems.is_empty(),
        ReadOutcome::Unit(Unit::Event(event)) => event.problems.is_empty(),
        ReadOutcome::Unit(Unit::End { .. }) => true,
        ReadOutcome::LeftOut(_) | ReadOutcome::Refused(_) => false,
    }
}

impl batch::Rows for Rows {
    fn runs(&self) -> Box<dyn Iterator<Item = Range<usize>> + '_> {
        Box::new(self.starts.windows(2).map(|pair| pair[0]..pair[1]))
    }

    fn read(
        &self,
        run: Range<usize>,
        raw: &RawRecord<'_>,
        projection: &Projection,
        file: &FileName,
        buffers: &mut ReadBuffers,
        each: &mut dyn FnMut(ReadOutcome, Deferred<'_>),
    ) {
        if let Ok(outcome) = self.read_run(run.clone(), raw, projection, file, buffers) {
            return each(outcome, Deferred::NONE);
        }
        let is_single = run.len() == 1;
        for (number, row) in (0..).zip(run) {
            let raw = RawRecord {
                line: raw.line + number,
                ordinal: raw.ordinal + number,
                lines: 1,
                ..*raw
            };
            let again =
                (!is_single).then(|| self.read_run(row..row + 1, &raw, projection, file, buffers));
            if let Some(Ok(outcome)) = again {
                each(outcome, Deferred::NONE);
                continue;
            }
            let mut line = Vec::new();
            self.line.write(row, &mut line);
            let raw = RawRecord {
                bytes: &line,
                ..raw
            };
            projection.read_each(&raw, file, buffers, false, each);
        }
    }
}

#[inline]
fn is_null(nulls: &Option<NullBuffer>, row: usize) -> bool {
    nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
}

impl Members {
    /// Returns the columns that the node of a level reads. `below` is their path with a dot, for messages.
    fn new(
        plan: &Plan,
        level: LevelId,
        id: NodeId,
        fields: &[FieldRef],
        columns: &[ArrayRef],
        below: &str,
        depth: usize,
    ) -> io::Result<Members> {
        let mut members = Vec::new();
        for (field, column) in fields.iter().zip(columns) {
            let Some(node) = plan.level(level).trie.node(id).named(field.name()) else {
                continue;
            };
            members.push(Member {
                node,
                nulls: column.logical_nulls(),
                values: Values::new(plan, level, node, field, column, below, depth)?,
                depth,
            });
        }
        Ok(Members(members))
    }

    /// Returns where runs of rows begin that are events of one trace and of which nothing but their fields is read, and the number
    /// of rows.
    fn runs(&self, plan: &Plan, rows: usize) -> Vec<usize> {
        let reads = |slot: usize| {
            let at = |member: &&Member| plan.event.trie.node(member.node).slots.contains(&slot);
            self.0.iter().find(at)
        };
        let (ends, name) = match plan.native {
            Some(native) => (reads(native.end).is_some(), reads(native.trace)),
            None => (false, None),
        };
        let is_same = |row: usize| match name.map(|member| (&member.values, &member.nulls)) {
            None => true,
            Some((Values::Text(names), nulls)) => {
                !is_null(nulls, row - 1)
                    && !is_null(nulls, row)
                    && names.value(row - 1) == names.value(row)
            }
            Some(_) => false,
        };
        let alone = ends || plan.reads_meta() || !plan.order_by.is_empty();
        let mut starts = vec![0];
        let mut from = 0;
        for row in 1..rows {
            if alone || row - from >= RUN || !is_same(row) {
                starts.push(row);
                from = row;
            }
        }
        starts.extend((rows > 0).then_some(rows));
        starts
    }

    #[inline]
    fn read(&self, walk: &mut Walk<'_>, level: LevelId, row: usize) -> Result<(), AsLine> {
        for member in &self.0 {
            if !is_null(&member.nulls, row) {
                member.read(walk, level, row)?;
            }
        }
        Ok(())
    }
}

impl Values {
    fn new(
        plan: &Plan,
        level: LevelId,
        id: NodeId,
        field: &Field,
        column: &ArrayRef,
        below: &str,
        depth: usize,
    ) -> io::Result<Values> {
        let node = plan.level(level).trie.node(id);
        let is_path = node.slots.is_empty() && !node.has_indices();
        let path = format!("{below}{}.", field.name());
        let members = |level, id, values: &StructArray, depth| {
            Members::new(
                plan,
                level,
                id,
                values.fields(),
                values.columns(),
                &path,
                depth,
            )
        };
        let array = column.as_ref();
        if node.slots.is_empty() || node.has_indices() || node.list {
            let events = is_path && !node.has_names() && node.list && level == LevelId::Record;
            let event = plan.event.trie.node(0);
            let is_event = |item: &Field| matches!(item.data_type(), DataType::Struct(fields) if are_sound(fields, &[event]));
            return match array.data_type() {
                DataType::Struct(fields) if is_path && !node.list && are_sound(fields, &[node]) => {
                    let members = members(level, id, array.as_struct(), depth + 1)?;
                    Ok(Values::Struct(members))
                }
                DataType::List(item) if events && is_event(item) => {
                    let list = array.as_list::<i32>();
                    let items = list.values().as_struct();
                    Ok(Values::Events {
                        offsets: wide(list.offsets()),
                        nulls: items.logical_nulls(),
                        members: members(LevelId::Event, 0, items, depth + 2)?,
                    })
                }
                DataType::LargeList(item) if events && is_event(item) => {
                    let list = array.as_list::<i64>();
                    let items = list.values().as_struct();
                    Ok(Values::Events {
                        offsets: list.offsets().clone(),
                        nulls: items.logical_nulls(),
                        members: members(LevelId::Event, 0, items, depth + 2)?,
                    })
                }
                _ => Values::json(array, field, below),
            };
        }
        let are_times = |slot: &usize| {
            let field = plan.level(level).slots.get(*slot);
            field.is_some_and(|field| *field.ty.non_null() == Type::Time)
        };
        Ok(match array.data_type() {
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Dictionary(..)
                if !is_json(field) =>
            {
                match TextColumn::new(array, below) {
                    Ok(texts) => Values::Text(texts),
                    Err(_) => return Values::json(array, field, below),
                }
            }
            DataType::Int8 => int::<Int8Type>(array),
            DataType::Int16 => int::<Int16Type>(array),
            DataType::Int32 => int::<Int32Type>(array),
            DataType::Int64 => int::<Int64Type>(array),
            DataType::UInt8 => int::<UInt8Type>(array),
            DataType::UInt16 => int::<UInt16Type>(array),
            DataType::UInt32 => int::<UInt32Type>(array),
            DataType::UInt64 => int::<UInt64Type>(array),
            DataType::Float32 => float::<Float32Type>(array),
            DataType::Float64 => float::<Float64Type>(array),
            DataType::Boolean => Values::Bool(array.as_boolean().clone()),
            DataType::Timestamp(unit, _) if node.slots.iter().all(are_times) => match unit {
                TimeUnit::Second => time::<TimestampSecondType>(array, G),
                TimeUnit::Millisecond => time::<TimestampMillisecondType>(array, M),
                TimeUnit::Microsecond => time::<TimestampMicrosecondType>(array, K),
                TimeUnit::Nanosecond => time::<TimestampNanosecondType>(array, 1),
            },
            _ => return Values::json(array, field, below),
        })
    }

    fn json(array: &dyn Array, field: &Field, below: &str) -> io::Result<Values> {
        Column::member(array, field, below).map(Values::Json)
    }
}

/// Whether no two members have the same name, nor members of what no node reads: a walk over JSON reports them wherever they are.
fn are_sound(fields: &[FieldRef], nodes: &[&Node]) -> bool {
    let mut names: Vec<_> = fields.iter().map(|field| field.name()).collect();
    names.sort_unstable();
    let is_read = |field: &Field| nodes.iter().any(|node| node.named(field.name()).is_some());
    names.windows(2).all(|pair| pair[0] != pair[1])
        && fields.iter().all(|field| is_read(field) || is_plain(field))
}

/// Whether no value of a column has two members of the same name.
fn is_plain(field: &Field) -> bool {
    match field.data_type() {
        DataType::Map(..) => false,
        DataType::Struct(fields) => are_sound(fields, &[]),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            is_plain(item)
        }
        _ => !is_json(field),
    }
}

fn wide(offsets: &OffsetBuffer<i32>) -> OffsetBuffer<i64> {
    let offsets: Vec<i64> = offsets.iter().map(|offset| i64::from(*offset)).collect();
    OffsetBuffer::new(offsets.into())
}

fn int<T: ArrowPrimitiveType>(array: &dyn Array) -> Values
where
    T::Native: Into<i128>,
{
    let values = array.as_primitive::<T>().clone();
    Values::Int(Box::new(move |row| values.value(row).into()))
}

fn float<T: ArrowPrimitiveType>(array: &dyn Array) -> Values
where
    T::Native: Into<f64>,
{
    let values = array.as_primitive::<T>().clone();
    Values::Float(Box::new(move |row| values.value(row).into()))
}

fn time<T: ArrowPrimitiveType>(array: &dyn Array, unit: i128) -> Values
where
    T::Native: Into<i128>,
{
    let values = array.as_primitive::<T>().clone();
    Values::Time(Box::new(move |row| {
        let time: i128 = values.value(row).into();
        time * unit
    }))
}

impl Member {
    fn read(&self, walk: &mut Walk<'_>, level: LevelId, row: usize) -> Result<(), AsLine> {
        let plan = walk.plan;
        let node = plan.level(level).trie.node(self.node);
        match &self.values {
            Values::Text(texts) => {
                let text = texts.value(row);
                let builder = &mut walk.buffers.builder;
                for &slot in &node.slots {
                    let field = &plan.level(level).slots[slot];
                    match field.ty.non_null() {
                        Type::String => builder.put_text(plan, level, slot, text),
                        _ => {
                            builder.put(plan, level, slot, known(cell::from_text(field, text))?, 0)
                        }
                    }
                }
                Ok(())
            }
            Values::Int(value) => {
                let int = value(row);
                walk.scalars(node, level, &Value::int(int), |out| write!(out, "{int}"))
            }
            Values::Float(value) => {
                let float = value(row);
                let value = Value::Number(Number::float(float).ok_or(AsLine)?);
                walk.scalars(node, level, &value, |out| write!(out, "{float:?}"))
            }
            Values::Bool(values) => {
                let value = Value::Bool(values.value(row));
                walk.scalars(node, level, &value, |_| Ok(()))
            }
            Values::Time(nanos) => {
                let nanos = nanos(row);
                jiff::Timestamp::from_nanosecond(nanos).map_err(|_| AsLine)?;
                for &slot in &node.slots {
                    let time = Ok(Value::Time(Instant(nanos * NANO)));
                    walk.buffers.builder.put(plan, level, slot, time, 0);
                }
                Ok(())
            }
            Values::Struct(members) => members.read(walk, level, row),
            Values::Events {
                offsets,
                nulls,
                members,
            } => {
                walk.buffers.builder.found_list = true;
                for item in offsets[row] as usize..offsets[row + 1] as usize {
                    match is_null(nulls, item) {
                        false => walk.event(members, item)?,
                        true => walk.event(&Members(Vec::new()), item)?,
                    }
                }
                Ok(())
            }
            Values::Json(column) => {
                let mut json = std::mem::take(&mut walk.buffers.json);
                json.clear();
                column.write(row, &mut json);
                let read = walk.json(&json, level, self);
                walk.buffers.json = json;
                read
            }
        }
    }
}

/// Returns a reading that is no problem.
fn known(reading: CellResult) -> Result<CellResult, AsLine> {
    match reading {
        Err(Some(_)) => Err(AsLine),
        reading => Ok(reading),
    }
}

impl Walk<'_> {
    /// Reads an event.
    fn event(&mut self, members: &Members, row: usize) -> Result<(), AsLine> {
        self.buffers.builder.begin_event(self.plan);
        members.read(self, LevelId::Event, row)?;
        self.buffers.builder.end_event(self.plan, 0);
        let is_whole = self.buffers.builder.drafts.is_empty();
        is_whole.then_some(()).ok_or(AsLine)
    }

    /// Reads a number or a Boolean. Times are read from its digits.
    fn scalars(
        &mut self,
        node: &Node,
        level: LevelId,
        value: &Value,
        digits: impl Fn(&mut Vec<u8>) -> io::Result<()>,
    ) -> Result<(), AsLine> {
        let plan = self.plan;
        for &slot in &node.slots {
            let field = &plan.level(level).slots[slot];
            let reading = match (field.ty.non_null(), value) {
                (Type::Time | Type::Duration, Value::Number(_)) => {
                    let mut text = Vec::new();
                    digits(&mut text).map_err(|_| AsLine)?;
                    let text = std::str::from_utf8(&text).map_err(|_| AsLine)?;
                    cell::from_lexeme(field, Lexeme::Number(text))
                }
                _ => cell::from_value(field, value),
            };
            let reading = known(reading)?;
            self.buffers.builder.put(plan, level, slot, reading, 0);
        }
        Ok(())
    }

    /// Reads the JSON of a member.
    fn json(&mut self, json: &[u8], level: LevelId, member: &Member) -> Result<(), AsLine> {
        let text = std::str::from_utf8(json).map_err(|_| AsLine)?;
        let depth = self.limits.depth().checked_sub(member.depth);
        let depth = depth.ok_or(AsLine)?;
        let mut walk = self.buffers.walk(self.plan, text, 0, depth);
        let is_read = walk.value(level, member.node).is_ok();
        let is_record = walk.is_record;
        let decoded = walk.scan.into_memory();
        self.buffers.decoded = decoded;
        let is_whole = self.buffers.builder.drafts.is_empty() && !self.buffers.builder.refused;
        (is_read && is_whole && !is_record)
            .then_some(())
            .ok_or(AsLine)
    }
}
