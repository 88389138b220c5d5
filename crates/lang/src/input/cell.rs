//! From JSON to typed values: one set of rules, for scalars in a text and for values in a tree.

use jiter::Peek;
use smol_str::SmolStr;

use super::document::{self, brief};
use super::scan::{HALF_PAIR, Lexeme};
use crate::input_schema::{Absent, Field, FieldSource, Path, TimeUnit};
use crate::problem::ProblemKind;
use crate::types::{EnumType, Type};
use crate::value::{Cell, EnumValue, Instant, Number, Object, Value};

/// The result of reading a field: a value, or unknown with its problem (`None` if it is not an error).
pub(crate) type CellResult = Result<Value, Option<Trouble>>;

/// The reason why a value is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) kind: ProblemKind,
    pub(crate) message: String,
}

fn trouble<T>(kind: ProblemKind, message: String) -> Result<T, Option<Trouble>> {
    Err(Some(Trouble { kind, message }))
}

/// Returns the cell of a result, and the problem to report.
pub(crate) fn settle(reading: CellResult) -> (Cell, Option<Trouble>) {
    match reading {
        Ok(value) => (Cell::Known(value), None),
        Err(why) => (Cell::Unknown, why),
    }
}

/// Returns the meaning of an absent field.
pub(crate) fn absent(field: &Field) -> CellResult {
    match &field.absent {
        Absent::Error => trouble(ProblemKind::MissingField, missing(field)),
        Absent::Null => Ok(Value::Null),
        Absent::Unknown => Err(None),
        Absent::Default(value) => Ok(value.clone()),
    }
}

/// Returns what is said of a missing field: where it was looked for, if its name does not say so.
fn missing(field: &Field) -> String {
    let (FieldSource::Event(path) | FieldSource::Each(path)) = &field.source else {
        return "the field is missing".to_owned();
    };
    match path {
        Path::Pointer(tokens) if *tokens == [field.name.clone()] => {
            "the field is missing".to_owned()
        }
        path => format!("the field is missing: nothing at `{path}`"),
    }
}

/// Returns the meaning of JSON's null for a field.
fn null(field: &Field) -> CellResult {
    if let Absent::Default(value) = &field.absent {
        return Ok(value.clone());
    }
    if field.ty.may_be_null() || field.absent == Absent::Null {
        return Ok(Value::Null);
    }
    match field.absent {
        Absent::Unknown => Err(None),
        _ => trouble(
            ProblemKind::MissingField,
            format!("expected {}, found null", name(&field.ty)),
        ),
    }
}

/// Whether a value of this type is read from a list or an object.
pub(crate) fn takes_tree(ty: &Type) -> bool {
    !matches!(
        ty.non_null(),
        Type::Bool
            | Type::Int
            | Type::Float
            | Type::String
            | Type::Time
            | Type::Duration
            | Type::Enum(_)
            | Type::Null
    )
}

/// Reads a scalar of a text.
pub(crate) fn from_lexeme(field: &Field, lexeme: Lexeme<'_>) -> CellResult {
    if lexeme == Lexeme::Null {
        return null(field);
    }
    if let (Lexeme::Number(digits), ty @ (Type::Time | Type::Duration)) =
        (lexeme, field.ty.non_null())
    {
        // The digits themselves: a float keeps too few of them.
        return instant(ty, digits, field.unit);
    }
    match document::scalar(lexeme) {
        Ok(value) => convert(value, &field.ty, field.unit),
        Err(_) => stand_in(ProblemKind::Number),
    }
}

/// Reads a string of a text.
pub(crate) fn from_text(field: &Field, text: &str) -> CellResult {
    match field.ty.non_null() {
        Type::String | Type::Json | Type::Error => Ok(Value::string(text)),
        Type::Enum(of) => enum_value(of, text, &field.ty),
        ty @ (Type::Time | Type::Duration) => spelt_instant(ty, text, field.unit),
        _ => wrong(&found(&Value::string(text)), &field.ty),
    }
}

fn enum_value(of: &EnumType, text: &str, ty: &Type) -> CellResult {
    match of.values.iter().position(|name| name == text) {
        Some(index) => Ok(Value::Enum(EnumValue {
            of: of.number,
            index: u16::try_from(index).unwrap_or(u16::MAX),
        })),
        None => wrong(&found(&Value::string(text)), ty),
    }
}

/// Whether the cell of a value is the value itself. Most are texts or null.
#[inline]
pub(crate) fn is_as_it_is(field: &Field, value: &Value) -> bool {
    match (value, field.ty.non_null()) {
        (Value::String(_), Type::String) | (Value::Bool(_), Type::Bool) => true,
        (Value::Null, _) => field.ty.may_be_null() && !matches!(field.absent, Absent::Default(_)),
        _ => false,
    }
}

/// Reads a value of a tree.
pub(crate) fn from_value(field: &Field, value: &Value) -> CellResult {
    match value {
        Value::Null => null(field),
        other => convert(other.clone(), &field.ty, field.unit),
    }
}

/// Returns a list or an object where a scalar must be.
pub(crate) fn no_scalar(field: &Field, open: Peek) -> CellResult {
    let found = if open == Peek::Object {
        "an object"
    } else {
        "a list"
    };
    wrong(found, &field.ty)
}

/// Returns a value that cannot be known.
pub(crate) fn stand_in(kind: ProblemKind) -> CellResult {
    let message = match kind {
        ProblemKind::DuplicateKey => "contains an object with a duplicate key",
        ProblemKind::InvalidUtf8 => HALF_PAIR,
        ProblemKind::WrongType => "`each` expects a list, found an object",
        ProblemKind::Malformed => "is or contains a value that the data lacks",
        _ => "is or contains a number out of range, or `NaN` or `Infinity`, which JSON has not",
    };
    trouble(kind, message.to_owned())
}

fn wrong<T>(found: &str, ty: &Type) -> Result<T, Option<Trouble>> {
    trouble(
        ProblemKind::WrongType,
        format!("expected {}, found {found}", name(ty)),
    )
}

fn name(ty: &Type) -> String {
    match ty {
        Type::Enum(of) => format!("a value of `{}`", of.name),
        Type::Nullable(inner) => format!("{} or null", name(inner)),
        other => format!("`{other}`"),
    }
}

pub(crate) fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a Boolean".to_owned(),
        Value::Number(number) => format!("the number {}", brief(&number.to_string())),
        Value::String(text) => format!("the text \"{}\"", brief(text)),
        Value::List(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        _ => "a value".to_owned(),
    }
}

/// Returns the value as one of a type.
fn convert(value: Value, ty: &Type, unit: TimeUnit) -> CellResult {
    if let Some(kind) = document::why(&value) {
        return stand_in(kind);
    }
    match (ty, value) {
        (Type::Nullable(_) | Type::Null, Value::Null) => Ok(Value::Null),
        (Type::Nullable(inner), value) => convert(value, inner, unit),
        (Type::Bool, value @ Value::Bool(_)) | (Type::String, value @ Value::String(_)) => {
            Ok(value)
        }
        (Type::Int, Value::Number(number)) => match number.to_int() {
            Some(int) => Ok(Value::int(int)),
            None if matches!(number, Number::Big(_)) => trouble(
                ProblemKind::Number,
                format!(
                    "{} is out of range for `int` (128 bits)",
                    brief(&number.to_string())
                ),
            ),
            None => wrong(&found(&Value::Number(number)), ty),
        },
        (Type::Float, value @ Value::Number(_)) => Ok(value),
        (Type::Time | Type::Duration, Value::Number(number)) => {
            instant(ty, &number.to_string(), unit)
        }
        (Type::Time | Type::Duration, Value::String(text)) => spelt_instant(ty, &text, unit),
        (Type::Enum(of), Value::String(text)) => enum_value(of, &text, ty),
        (Type::Json | Type::Error, value) => match document::why_within(&value) {
            None => Ok(value),
            Some(kind) => stand_in(kind),
        },
        (Type::List(item), Value::List(items)) => Ok(Value::list(converted(&items, item, unit)?)),
        (Type::Set(item), Value::List(items)) => Ok(Value::Set(
            converted(&items, item, unit)?.into_iter().collect(),
        )),
        (Type::Map(item), Value::Object(object)) => {
            let mut read = Vec::with_capacity(object.len());
            for (key, value) in object.iter() {
                read.push((key.clone(), convert(value.clone(), item, unit)?));
            }
            members(read)
        }
        (Type::Record(of), Value::Object(object)) => {
            let mut read = Vec::with_capacity(of.members.len());
            for (key, ty) in &of.members {
                let value = match object.get(key) {
                    Some(value) => convert(value.clone(), ty, unit)?,
                    None if ty.may_be_null() => Value::Null,
                    None => {
                        return wrong(
                            &format!("an object without `{key}`"),
                            &Type::Record(of.clone()),
                        );
                    }
                };
                read.push((key.clone(), value));
            }
            members(read)
        }
        (ty, value) => wrong(&found(&value), ty),
    }
}

fn converted(items: &[Value], ty: &Type, unit: TimeUnit) -> Result<Vec<Value>, Option<Trouble>> {
    items
        .iter()
        .map(|item| convert(item.clone(), ty, unit))
        .collect()
}

fn members(members: Vec<(SmolStr, Value)>) -> CellResult {
    match Object::new(members) {
        Ok(object) => Ok(Value::Object(object)),
        // Only a record type that declares a member twice comes here.
        Err(key) => trouble(ProblemKind::DuplicateKey, document::duplicate_key(&key)),
    }
}

fn moment(ty: &Type, instant: Instant) -> Value {
    match ty {
        Type::Duration => Value::Duration(instant),
        _ => Value::Time(instant),
    }
}

fn instant(ty: &Type, digits: &str, unit: TimeUnit) -> CellResult {
    match Instant::from_decimal(digits, unit.attoseconds()) {
        Some(instant) => Ok(moment(ty, instant)),
        None => trouble(
            ProblemKind::Number,
            format!("{} is out of range for times", brief(digits)),
        ),
    }
}

/// Returns a time written as text: a number of the field's unit, or (for a point in time) RFC 3339.
fn spelt_instant(ty: &Type, text: &str, unit: TimeUnit) -> CellResult {
    let digits = text.trim();
    if let Some(instant) = Instant::from_decimal(digits, unit.attoseconds()) {
        return Ok(moment(ty, instant));
    }
    match Instant::from_rfc3339(digits) {
        Some(instant) if *ty == Type::Time => Ok(Value::Time(instant)),
        _ => wrong(&format!("the text \"{}\"", brief(text)), ty),
    }
}
