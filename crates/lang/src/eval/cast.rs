//! `e as T`: converts a value to a type, or returns the reason why it cannot be converted.

use std::sync::Arc;

use super::ops::{Fault, kind_of};
use crate::types::Type;
use crate::value::{EnumValue, Instant, Number, Object, Value};

/// Returns the value converted to the type. With a nullable type, a value of another type becomes null. A number that is too
/// large for a float is an error even then, because a default in its place would hide a large number.
pub(super) fn cast(value: &Value, ty: &Type) -> Result<Value, Fault> {
    match ty {
        Type::Nullable(inner)
            if **inner == Type::Float
                && matches!(value, Value::Number(_))
                && convert(value, inner).is_none() =>
        {
            Err(Fault::Overflow)
        }
        Type::Nullable(inner) => Ok(convert(value, inner).unwrap_or(Value::Null)),
        _ => convert(value, ty).ok_or_else(|| Fault::Cast(ty.to_string(), kind_of(value))),
    }
}

fn convert(value: &Value, ty: &Type) -> Option<Value> {
    match (ty, value) {
        (Type::Json | Type::Error, _) => Some(value.clone()),
        (Type::Nullable(_) | Type::Null, Value::Null) => Some(Value::Null),
        (Type::Nullable(inner), _) => convert(value, inner),
        (Type::Bool, Value::Bool(_))
        | (Type::String, Value::String(_))
        | (Type::Time, Value::Time(_))
        | (Type::Duration, Value::Duration(_)) => Some(value.clone()),
        (Type::Int, Value::Number(number)) => match number {
            Number::Float(_) => number.to_int().map(Value::int),
            Number::Int(_) | Number::Big(_) => Some(value.clone()),
        },
        (Type::Float, Value::Number(number)) => Number::float(number.to_f64()).map(Value::Number),
        (Type::Time, Value::Number(number)) => seconds(number).map(Value::Time),
        (Type::Time, Value::String(text)) => Instant::from_rfc3339(text).map(Value::Time),
        (Type::Duration, Value::Number(number)) => seconds(number).map(Value::Duration),
        (Type::Enum(of), Value::Enum(value)) if value.of == of.number => Some(Value::Enum(*value)),
        (Type::Enum(of), Value::String(text)) => {
            let index = of.values.iter().position(|name| name == text)?;
            Some(Value::Enum(EnumValue {
                of: of.number,
                index: u16::try_from(index).ok()?,
            }))
        }
        (Type::List(item), _) => {
            let items: Option<Arc<[Value]>> = items(value)?
                .map(|element| convert(element, item))
                .collect();
            items.map(Value::List)
        }
        (Type::Set(item), _) => {
            let items: Option<im::OrdSet<Value>> = items(value)?
                .map(|element| convert(element, item))
                .collect();
            items.map(Value::Set)
        }
        (Type::Map(item), Value::Object(object)) => {
            let members: Option<Vec<_>> = object
                .iter()
                .map(|(key, value)| Some((key.clone(), convert(value, item)?)))
                .collect();
            object_of(members?)
        }
        (Type::Record(of), Value::Object(object)) => {
            let member = |(name, ty): &(smol_str::SmolStr, Type)| {
                let value = object.get(name).unwrap_or(&Value::Null);
                Some((name.clone(), convert(value, ty)?))
            };
            let members: Option<Vec<_>> = of.members.iter().map(member).collect();
            object_of(members?)
        }
        _ => None,
    }
}

fn items(value: &Value) -> Option<Box<dyn Iterator<Item = &Value> + '_>> {
    match value {
        Value::Null => None,
        _ => super::ops::elements(value),
    }
}

fn object_of(members: Vec<(smol_str::SmolStr, Value)>) -> Option<Value> {
    Object::new(members).ok().map(Value::Object)
}

fn seconds(number: &Number) -> Option<Instant> {
    match number {
        Number::Int(whole) => whole.checked_mul(Instant::SECOND).map(Instant),
        other => Instant::from_decimal(&other.to_string(), Instant::SECOND),
    }
}
