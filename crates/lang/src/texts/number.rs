//! The notations of numbers.

/// Returns how else usual programs write a number that is written so in JSON: JavaScript (and Go), which write digits up to 1e21, and
/// Python (and Ruby), which write a float above 1e16 with an exponent. A rule about a number must find it however it was written.
pub fn other_notations(written: &str) -> Vec<String> {
    const EXACT_DIGITS: usize = 15;
    let is_integer = !written.contains(['.', 'e', 'E']);
    if is_integer && written.len() <= EXACT_DIGITS {
        return Vec::new();
    }
    let Some(float) = (written.parse::<f64>().ok()).filter(|float| float.is_finite()) else {
        return Vec::new();
    };
    let mut all = vec![in_javascript(float)];
    // Integers have any size in Python.
    all.extend((!is_integer).then(|| in_python(float)));
    all.dedup();
    all.retain(|notation| notation != written);
    all
}

/// Writes a float as JavaScript does.
fn in_javascript(float: f64) -> String {
    match float.abs() {
        0.0 => "0".to_owned(),
        1e-6..1e21 => float.to_string(),
        _ => exponential(float, 1),
    }
}

/// Writes a float as Python does.
fn in_python(float: f64) -> String {
    match float.abs() {
        0.0 | 1e-4..1e16 => format!("{float:?}"),
        _ => exponential(float, 2),
    }
}

/// Writes a float with an exponent that has a sign and at least so many digits.
fn exponential(float: f64, digits: usize) -> String {
    let written = format!("{float:e}");
    let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{exponent:0>digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_javascript_and_python_write_them() {
        for (written, others) in [
            ("5", &[][..]),
            ("4111111111111111", &[]),
            ("9007199254740993", &["9007199254740992"]),
            ("1000000000000000000000001", &["1e+24"]),
            ("1.5", &[]),
            ("-0.25", &[]),
            ("1.50", &["1.5"]),
            ("2.0", &["2"]),
            ("-0.0", &["0"]),
            (
                "4.111111111111111e15",
                &["4111111111111111", "4111111111111111.0"],
            ),
            (
                "41111111111111110e-1",
                &["4111111111111111", "4111111111111111.0"],
            ),
            ("4111111111111111.0", &["4111111111111111"]),
            ("4.1e18", &["4100000000000000000", "4.1e+18"]),
            ("1e21", &["1e+21"]),
            ("0.00001", &["1e-05"]),
            ("1E-7", &["1e-7", "1e-07"]),
            ("-1e300", &["-1e+300"]),
            ("1e999", &[]),
            ("no number", &[]),
        ] {
            assert_eq!(other_notations(written), others, "{written}");
        }
    }
}
