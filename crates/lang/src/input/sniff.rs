//! Returns the first values of a text for format detection: small values whole, large ones as outlines.
//!
//! An outline has the members of objects, the first items of lists and the beginning of long texts, so that a value of any
//! size is examined in bounded memory.

use jiter::Peek;
use smol_str::SmolStr;

use super::document;
use super::scan::{Fault, FaultKind, Scanner};
use crate::problem::ProblemKind;
use crate::value::escapes::unescape;
use crate::value::{Object, Value};

/// Values that are looked at.
const VALUES: usize = 32;

/// Bytes of values that are kept whole; what follows in the same text is only outlined.
const WHOLE: usize = 16 << 20;

/// The size that is kept of each text, list and object in an outline.
const TEXT: usize = 64 << 10;
const ITEMS: usize = 32;
const MEMBERS: usize = 256;

/// Returns the first values of a text. Unless it is `whole`, a value cut off by its end is left out. Lines without a value
/// are skipped, as are lines with more text after a scalar, which are parts of a damaged value.
pub(crate) fn values(bytes: &[u8], whole: bool, depth: usize) -> Vec<Value> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        // A character that the end cuts off.
        Err(error) if error.error_len().is_none() => {
            String::from_utf8_lossy(&bytes[..error.valid_up_to()])
        }
        Err(_) => String::from_utf8_lossy(bytes),
    };
    let mut scanner = Scanner::new(&text, 0, String::new());
    if text.starts_with('\u{feff}') {
        scanner.seek('\u{feff}'.len_utf8());
    }
    let mut values = Vec::new();
    let mut sampler = Sampler { left: WHOLE };
    while values.len() < VALUES && !scanner.at_end() {
        let start = scanner.at();
        let ends = match sampler.value(&mut scanner, depth) {
            Ok(value @ (Value::List(_) | Value::Object(_))) => {
                values.push(value);
                continue;
            }
            Ok(value) => {
                let rest = text[scanner.at()..].trim_start_matches([' ', '\t', '\r']);
                let ends = rest.starts_with('\n') || (rest.is_empty() && whole);
                values.extend(ends.then_some(value));
                // A number may go on, and a line too.
                if rest.is_empty() {
                    break;
                }
                ends
            }
            Err(fault) if fault.kind == FaultKind::End && !whole => break,
            Err(_) => false,
        };
        if !ends {
            match memchr::memchr(b'\n', &text.as_bytes()[start..]) {
                Some(newline) => scanner.seek(start + newline + 1),
                None => break,
            }
        }
    }
    values
}

struct Sampler {
    /// Bytes that are still kept whole.
    left: usize,
}

impl Sampler {
    fn spend(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }

    /// Returns the outline of the value at the scanner, which is passed over.
    fn value(&mut self, scanner: &mut Scanner<'_>, depth: usize) -> Result<Value, Fault> {
        let peek = scanner.peek()?;
        let too_deep = Fault {
            at: scanner.at(),
            kind: FaultKind::Depth,
        };
        // An empty list or object is not free: there may be many.
        self.spend(size_of::<Value>() + size_of::<Object>());
        match peek {
            Peek::Object => {
                let inner = depth.checked_sub(1).ok_or(too_deep)?;
                let mut members: Vec<(SmolStr, Value)> = Vec::new();
                let mut next = scanner.first_key()?.map(|key| SmolStr::new(key.text));
                while let Some(name) = next {
                    if self.left > 0 || members.len() < MEMBERS {
                        self.spend(name.len());
                        members.push((name, self.value(scanner, inner)?));
                    } else {
                        scanner.skip(None, inner)?;
                    }
                    next = scanner.next_key()?.map(|key| SmolStr::new(key.text));
                }
                let object = Object::new(members).map(Value::Object);
                Ok(object.unwrap_or_else(|_| document::unknown(ProblemKind::DuplicateKey)))
            }
            Peek::Array => {
                let inner = depth.checked_sub(1).ok_or(too_deep)?;
                let mut items = Vec::new();
                let mut next = scanner.first_item()?;
                while next.is_some() {
                    if self.left > 0 || items.len() < ITEMS {
                        items.push(self.value(scanner, inner)?);
                    } else {
                        scanner.skip(None, inner)?;
                    }
                    next = scanner.next_item()?;
                }
                Ok(Value::list(items))
            }
            Peek::String => {
                let quote = scanner.at();
                let quoted = match scanner.pass_string() {
                    Ok(quoted) => quoted,
                    Err(fault) => {
                        scanner.rest_of_string(fault)?;
                        return Ok(document::unknown(ProblemKind::InvalidUtf8));
                    }
                };
                let mut kept = String::new();
                let written = scanner.text(quote + 1, quoted.end - quote - 2);
                // What was passed over is sound.
                let _ = unescape(written.unwrap_or_default(), TEXT, &mut kept);
                self.spend(kept.len());
                Ok(Value::string(&kept))
            }
            _ => {
                let scalar = scanner.scalar(peek).map(document::scalar)?;
                Ok(scalar.unwrap_or_else(|_| document::unknown(ProblemKind::Number)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::limits::InputLimits;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Value {
        match document::parse(text.as_bytes(), &InputLimits::default()) {
            Ok(document) => document.value,
            Err(error) => unreachable!("{error}"),
        }
    }

    crate::random::tests! {
        256 cases;

        /// The values of small texts are those of the parser, with any separators.
        #[test]
        fn small_values_are_whole(texts in proptest::collection::vec(prop::sample::select(vec![
            r#"{"a":[1,2.5,{"b":null}],"c":"\u00e9\ud83d\ude00"}"#, "[]", "{}", r#"["x",[true,false]]"#,
            r#"{"a":1,"a":2}"#, r#"["\ud800"]"#, "[1e999]", "[NaN]",
        ]), 0..8), odd in any::<bool>()) {
            let between = if odd { "\nno value\n{\"open\": \n\"part\": 1,\n" } else { "\n" };
            let text = texts.join(between);
            let expected: Vec<Value> = texts.iter().map(|text| parsed(text)).collect();
            prop_assert_eq!(values(text.as_bytes(), true, 64), expected);
        }

        /// A truncated text shows the complete values in it.
        #[test]
        fn what_is_cut_off_is_not_told(end in 0usize..44) {
            let text = "{\"a\":\"é\"}\n[1,2]\n\"text\"\n{\"b\":{\"c\":[3]}} 17 1";
            let cut = values(&text.as_bytes()[..end.min(text.len())], false, 64);
            let all = values(text.as_bytes(), true, 64);
            prop_assert!(all.starts_with(&cut), "{cut:?}");
        }
    }

    #[test]
    fn a_large_value_is_outlined() {
        let long = "y".repeat(1 << 20);
        let item = format!("{{\"role\":\"user\",\"content\":\"{long}\"}},");
        let many = item.repeat(24) + &"{\"n\":[1]},".repeat(1 << 19);
        let text = format!("{{\"messages\":[{many}0],\"after\":{{\"kind\":1}}}}");
        let found = values(text.as_bytes(), true, 64);
        let [Value::Object(object)] = found.as_slice() else {
            unreachable!("one value");
        };
        let Some(Value::List(items)) = object.get("messages") else {
            unreachable!("a list");
        };
        assert!((ITEMS..1 << 19).contains(&items.len()), "{}", items.len());
        let Some(Value::Object(first)) = items.first() else {
            unreachable!("an object");
        };
        assert!(matches!(first.get("content"), Some(Value::String(text)) if text.len() < TEXT + 8));
        assert_eq!(object.get("after"), Some(&parsed("{\"kind\":1}")));
    }

    #[test]
    fn many_empty_values_are_outlined() {
        for (open, item, close) in [("[", "{}", "]"), ("{\"a\":[", "[]", "]}"), ("[", "0", "]")] {
            let text = format!("{open}{}{close}", vec![item; 2_000_000].join(","));
            let found = values(text.as_bytes(), true, 64);
            let list = match found.first() {
                Some(Value::Object(object)) => object.get("a").cloned(),
                other => other.cloned(),
            };
            let Some(Value::List(items)) = list else {
                unreachable!("a list");
            };
            assert!((ITEMS..400_000).contains(&items.len()), "{}", items.len());
        }
    }

    #[test]
    fn depth_is_limited() {
        let text = format!("{}1{}\n[2]", "[".repeat(100), "]".repeat(100));
        assert_eq!(values(text.as_bytes(), true, 64), [parsed("[2]")]);
    }
}
