//! The variables of a model with their first values, and its initial states.

use super::super::text::TextError;
use super::super::valuation::{Valuations, Variable};
use super::code::Value;
use super::compile::Scope;
use super::explore::Limits;
use super::model::{Model, VariableDeclaration};
use super::parser::Parsed;

/// Returns a declared variable with its first value.
pub(super) fn variable(
    scope: &Scope,
    declaration: &VariableDeclaration,
) -> Parsed<(Variable, i64)> {
    let name = &declaration.name;
    if scope.knows(name) {
        return Err(TextError::new(
            declaration.place,
            format!("`{name}` is declared twice"),
        ));
    }
    let (low, high, is_bool) = match &declaration.range {
        None => (0, 1, true),
        Some((low, high)) => (
            scope.int_value(low, "the lower end of a range")?,
            scope.int_value(high, "the upper end of a range")?,
            false,
        ),
    };
    if low > high {
        return Err(TextError::new(
            declaration.place,
            format!("the range {low}..{high} of `{name}` is empty"),
        ));
    }
    let start = match &declaration.init {
        None => low,
        Some(init) if is_bool => match scope.value(init)? {
            Value::Bool(value) => i64::from(value),
            _ => {
                return Err(TextError::new(
                    init.place,
                    format!("the initial value of `{name}` must be a truth value"),
                ));
            }
        },
        Some(init) => scope.int_value(init, "an initial value")?,
    };
    if start < low || start > high {
        return Err(TextError::new(
            declaration.place,
            format!("the initial value {start} of `{name}` is outside {low}..{high}"),
        ));
    }
    Ok((
        Variable {
            name: name.clone(),
            low,
            high,
            is_bool,
        },
        start,
    ))
}

/// The largest number of valuations for which the condition of `init … endinit` is evaluated.
const MAX_INIT: u128 = 50_000_000;

/// Returns the states in which a chain begins.
pub(super) fn initial_states(
    model: &Model,
    scope: &Scope,
    valuations: &Valuations,
    start: &[i64],
    limits: &Limits,
) -> Parsed<Vec<Vec<u64>>> {
    let slots = valuations.slots();
    let mut values = start.to_vec();
    let pack = |values: &[i64]| {
        let mut state = vec![0; valuations.words()];
        for (slot, value) in slots.iter().zip(values) {
            slot.set(&mut state, *value);
        }
        state
    };
    let Some(init) = &model.init else {
        return Ok(vec![pack(&values)]);
    };
    let code = scope.bool_code(init, "the condition on initial states")?;
    let size = valuations.variables().iter().fold(1u128, |size, variable| {
        size.saturating_mul(variable.high.abs_diff(variable.low) as u128 + 1)
    });
    if size > MAX_INIT {
        return Err(TextError::new(
            init.place,
            format!("{size} valuations to check for initial states exceed the limit of {MAX_INIT}"),
        ));
    }
    for (value, variable) in values.iter_mut().zip(valuations.variables()) {
        *value = variable.low;
    }
    let mut found = Vec::new();
    loop {
        let state = pack(&values);
        if code
            .eval(&state)
            .map_err(|wrong| TextError::new(init.place, wrong.to_string()))?
        {
            found.push(state);
            if found.len() > limits.max_states {
                return Err(TextError::new(init.place, "too many initial states"));
            }
        }
        // The last variable varies fastest.
        let turned =
            values
                .iter_mut()
                .zip(valuations.variables())
                .rev()
                .any(|(value, variable)| {
                    if *value < variable.high {
                        *value += 1;
                        return true;
                    }
                    *value = variable.low;
                    false
                });
        if !turned {
            break;
        }
    }
    if found.is_empty() {
        return Err(TextError::new(
            init.place,
            "no state satisfies the condition on initial states",
        ));
    }
    Ok(found)
}
