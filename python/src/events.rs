//! Python objects as JSON.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

/// Values are walked by recursion; the readers accept no deeper nesting by default.
const DEPTH: usize = 512;

/// Writes an object as one line of JSON. Numbers keep all their digits; `nan` and infinities are written as such, and the
/// reader reports the fields that they are in.
///
/// # Errors
/// `TypeError` with the path of a value that JSON has no form for, `ValueError` for text that is not Unicode.
pub(crate) fn write(out: &mut Vec<u8>, object: &Bound<'_, PyAny>) -> PyResult<()> {
    Writer { out, depth: 0 }
        .value(object)
        .map_err(|failed| failed.into_error(object.py()))
}

/// An object that has no JSON form, and where it is: the innermost member first.
struct Failed {
    path: Vec<String>,
    error: PyErr,
}

impl Failed {
    fn wrong(message: String) -> Failed {
        PyTypeError::new_err(message).into()
    }

    fn below(mut self, member: String) -> Failed {
        self.path.push(member);
        self
    }

    fn into_error(self, py: Python<'_>) -> PyErr {
        if self.path.is_empty() || !self.error.is_instance_of::<PyTypeError>(py) {
            return self.error;
        }
        let path: String = self.path.into_iter().rev().collect();
        PyTypeError::new_err(format!("at `{path}`: {}", self.error.value(py)))
    }
}

impl From<PyErr> for Failed {
    fn from(error: PyErr) -> Failed {
        Failed {
            path: Vec::new(),
            error,
        }
    }
}

struct Writer<'a> {
    out: &'a mut Vec<u8>,
    depth: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Bound<'_, PyAny>) -> Result<(), Failed> {
        if let Ok(text) = value.cast::<PyString>() {
            self.text(text)
        } else if value.is_none() {
            self.raw("null");
            Ok(())
        } else if let Ok(value) = value.cast::<PyBool>() {
            self.raw(if value.is_true() { "true" } else { "false" });
            Ok(())
        } else if value.is_instance_of::<PyInt>() {
            self.integer(value)
        } else if let Ok(value) = value.cast::<PyFloat>() {
            self.float(value.value());
            Ok(())
        } else if let Ok(object) = value.cast::<PyDict>() {
            self.nested(|writer| writer.members(object.iter()))
        } else if let Ok(list) = value.cast::<PyList>() {
            self.nested(|writer| writer.items(list.iter()))
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.nested(|writer| writer.items(tuple.iter()))
        } else {
            self.other(value)
        }
    }

    fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn text(&mut self, text: &Bound<'_, PyString>) -> Result<(), Failed> {
        let text = text.to_cow()?;
        serde_json::to_writer(&mut *self.out, &text)
            .map_err(|error| Failed::wrong(error.to_string()))
    }

    fn integer(&mut self, value: &Bound<'_, PyAny>) -> Result<(), Failed> {
        match value.extract::<i64>() {
            Ok(int) => self.raw(&int.to_string()),
            // `int(…)`: an enum of integers prints its name.
            Err(_) => {
                let int = value.py().get_type::<PyInt>().call1((value,))?;
                self.raw(&int.str()?.to_cow()?);
            }
        }
        Ok(())
    }

    fn float(&mut self, value: f64) {
        match value {
            value if value.is_nan() => self.raw("NaN"),
            f64::INFINITY => self.raw("Infinity"),
            f64::NEG_INFINITY => self.raw("-Infinity"),
            value => self.raw(&format!("{value:?}")),
        }
    }

    fn nested(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(Failed::wrong(format!("nested deeper than {DEPTH} levels")));
        }
        write(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn members<'py>(
        &mut self,
        members: impl Iterator<Item = (Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    ) -> Result<(), Failed> {
        self.out.push(b'{');
        for (number, (key, value)) in members.enumerate() {
            if number > 0 {
                self.out.push(b',');
            }
            let Ok(name) = key.cast::<PyString>() else {
                let key = key.repr()?;
                return Err(Failed::wrong(format!(
                    "expected a string as key, found {key}"
                )));
            };
            self.text(name)?;
            self.out.push(b':');
            self.value(&value)
                .map_err(|failed| failed.below(format!(".{name}")))?;
        }
        self.out.push(b'}');
        Ok(())
    }

    fn items<'py>(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>) -> Result<(), Failed> {
        self.out.push(b'[');
        for (number, item) in items.enumerate() {
            if number > 0 {
                self.out.push(b',');
            }
            self.value(&item)
                .map_err(|failed| failed.below(format!("[{number}]")))?;
        }
        self.out.push(b']');
        Ok(())
    }

    /// Mappings, and what `guard_lang._inputs.plain` has a JSON form for.
    fn other(&mut self, value: &Bound<'_, PyAny>) -> Result<(), Failed> {
        if let Ok(mapping) = value.cast::<PyMapping>() {
            let items: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)> = mapping.items()?.extract()?;
            return self.nested(|writer| writer.members(items.into_iter()));
        }
        let plain = value.py().import("guard_lang._inputs")?.getattr("plain")?;
        let plain = plain.call1((value,))?;
        if let Ok(digits) = plain.cast::<pyo3::types::PyBytes>() {
            self.out.extend_from_slice(digits.as_bytes());
            return Ok(());
        }
        self.nested(|writer| writer.value(&plain))
    }
}
