//! Pulls values out of JSON text, one after the other.
//!
//! jiter reads: syntax, strings, escapes and numbers are its business. What recorded data needs beyond it is here:
//! * offsets within the whole text, and going back to one, since several readers may ask for one value;
//! * clauses that tell a person what is wrong;
//! * passing over a value with an eye on its keys: jiter's own skip does not tell them, and knows 200 levels at most.
//!
//! Beyond RFC 8259, `NaN`, `Infinity` and `-Infinity` are read as numbers (that [`Number`](crate::value::Number) does
//! not keep). Half a surrogate pair is no text: a string value with one can be passed over, a key with one is refused, and
//! so is an integer of more than 4300 digits.

use jiter::{Jiter, JiterError, JiterErrorType, JsonErrorType, Peek};
use memchr::memchr;

use super::keys::OpenKeys;

/// Why a text is not JSON, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Byte offset.
    pub(crate) at: usize,
    /// What is wrong.
    pub(crate) kind: FaultKind,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// No JSON, whatever follows.
    Syntax(&'static str),
    /// The text ends within a value.
    End,
    /// Nested too deeply.
    Depth,
}

/// What is wrong with a string whose text cannot be known.
pub(crate) const HALF_PAIR: &str = "half a surrogate pair stands in a string";

/// The key of a member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'s> {
    pub(crate) text: &'s str,
    /// Byte offset after the quote.
    pub(crate) at: usize,
    /// Whether it is written with escapes: what stands at the offset is not its text.
    pub(crate) escaped: bool,
}

impl<'s> Key<'s> {
    /// A key of `bytes` that is the first thing with quotes from `after` on.
    #[inline]
    fn new(bytes: &[u8], after: usize, text: &'s str) -> Key<'s> {
        // jiter lends a part of the text, or else its own memory.
        let at = text.as_ptr().addr().wrapping_sub(bytes.as_ptr().addr());
        if at < bytes.len() {
            return Key {
                text,
                at,
                escaped: false,
            };
        }
        let quote = bytes.get(after..).and_then(|rest| memchr(b'"', rest));
        Key {
            text,
            at: after + quote.map_or(0, |quote| quote + 1),
            escaped: true,
        }
    }
}

/// A scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lexeme<'s> {
    Null,
    Bool(bool),
    /// In JSON's notation, or `NaN` or an infinity.
    Number(&'s str),
    String(&'s str),
}

/// The scanner: jiter, and where it is.
#[derive(Debug)]
pub(crate) struct Scanner<'j> {
    bytes: &'j [u8],
    jiter: Jiter<'j>,
    /// Where jiter began: it only goes forward.
    base: usize,
    /// The brackets that [`Scanner::skip`] is within.
    open: Vec<Peek>,
}

type Scan<T> = Result<T, Fault>;

impl<'j> Scanner<'j> {
    /// Reads `bytes` from an offset on. Strings with escapes are decoded into `tape`.
    pub(crate) fn new(bytes: &'j [u8], at: usize, tape: Vec<u8>) -> Scanner<'j> {
        let rest = bytes.get(at..).unwrap_or_default();
        Scanner {
            bytes,
            jiter: Jiter::with_tape(rest, tape).with_allow_inf_nan(),
            base: at,
            open: Vec::new(),
        }
    }

    /// The same, where the text may be cut off within a string: what is there of it is read.
    pub(crate) fn of_part(bytes: &'j [u8], at: usize) -> Scanner<'j> {
        let rest = bytes.get(at..).unwrap_or_default();
        Scanner {
            bytes,
            jiter: Jiter::new(rest).with_allow_partial_strings(),
            base: at,
            open: Vec::new(),
        }
    }

    /// The memory for strings with escapes, to be used again.
    pub(crate) fn into_tape(self) -> Vec<u8> {
        self.jiter.into_tape()
    }

    pub(crate) fn bytes(&self) -> &'j [u8] {
        self.bytes
    }

    /// The offset of what comes next.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.base + self.jiter.current_index()
    }

    /// Goes back to an offset.
    pub(crate) fn seek(&mut self, at: usize) {
        let tape = std::mem::replace(&mut self.jiter, Jiter::new(&[])).into_tape();
        let rest = self.bytes.get(at..).unwrap_or_default();
        self.jiter = Jiter::with_tape(rest, tape).with_allow_inf_nan();
        self.base = at;
    }

    /// What kind of value comes next. Passes over white space.
    #[inline]
    pub(crate) fn peek(&mut self) -> Scan<Peek> {
        self.jiter.peek().map_err(|error| self.fault(&error))
    }

    /// Whether only white space is left.
    pub(crate) fn at_end(&mut self) -> bool {
        self.jiter.finish().is_ok()
    }

    /// At `{`: the first key.
    #[inline]
    pub(crate) fn first_key(&mut self) -> Scan<Option<Key<'_>>> {
        let at = self.at();
        match self.jiter.known_object() {
            Ok(text) => Ok(text.map(|text| Key::new(self.bytes, at, text))),
            Err(error) => Err(fault(self.bytes, self.base, &error)),
        }
    }

    /// After a member: the next key.
    #[inline]
    pub(crate) fn next_key(&mut self) -> Scan<Option<Key<'_>>> {
        let at = self.at();
        match self.jiter.next_key() {
            Ok(text) => Ok(text.map(|text| Key::new(self.bytes, at, text))),
            Err(error) => Err(fault(self.bytes, self.base, &error)),
        }
    }

    /// At `[`: the first item.
    #[inline]
    pub(crate) fn first_item(&mut self) -> Scan<Option<Peek>> {
        self.jiter.known_array().map_err(|error| self.fault(&error))
    }

    /// After an item: the next.
    #[inline]
    pub(crate) fn next_item(&mut self) -> Scan<Option<Peek>> {
        self.jiter.array_step().map_err(|error| self.fault(&error))
    }

    /// At a quote: the text. For [`HALF_PAIR`], [`Scanner::rest_of_string`] goes on.
    #[inline]
    pub(crate) fn string(&mut self) -> Scan<&str> {
        match self.jiter.known_str() {
            Ok(text) => Ok(text),
            Err(error) => Err(fault(self.bytes, self.base, &error)),
        }
    }

    /// At a quote: passes over the text. For [`HALF_PAIR`], [`Scanner::rest_of_string`] goes on.
    #[inline]
    pub(crate) fn pass_string(&mut self) -> Scan<()> {
        self.jiter
            .known_skip(Peek::String)
            .map_err(|error| self.fault(&error))
    }

    /// At a scalar.
    pub(crate) fn scalar(&mut self, peek: Peek) -> Scan<Lexeme<'_>> {
        match peek {
            Peek::String => self.string().map(Lexeme::String),
            Peek::Null => self.pass(peek).map(|()| Lexeme::Null),
            Peek::True | Peek::False => self.pass(peek).map(|()| Lexeme::Bool(peek == Peek::True)),
            _ => match self.jiter.known_number_bytes(peek) {
                Ok(digits) => Ok(Lexeme::Number(
                    std::str::from_utf8(digits).unwrap_or_default(),
                )),
                Err(error) => Err(fault(self.bytes, self.base, &error)),
            },
        }
    }

    /// Passes over a scalar.
    #[inline]
    pub(crate) fn pass(&mut self, scalar: Peek) -> Scan<()> {
        match self.jiter.known_skip(scalar) {
            Ok(()) => Ok(()),
            Err(error) => self.rest_of_string(self.fault(&error)),
        }
    }

    /// After a fault in a string value: where it is [`HALF_PAIR`], passes over the rest of the string, so that one
    /// value is lost rather than the record.
    ///
    /// # Errors
    /// Any other fault.
    #[cold]
    pub(crate) fn rest_of_string(&mut self, mut fault: Fault) -> Scan<()> {
        while fault.kind == FaultKind::Syntax(HALF_PAIR) {
            // The fault lies on the last digit of the half or on the first byte that should have been the other half,
            // or follows the backslash of the next escape. jiter takes the byte before for the quote.
            let mut quote = fault.at.saturating_sub(1);
            if self.bytes.get(quote) == Some(&b'\\') {
                quote = quote.saturating_sub(1);
            }
            self.seek(quote);
            match self.jiter.known_skip(Peek::String) {
                Ok(()) => return Ok(()),
                Err(error) => fault = self.fault(&error),
            }
        }
        Err(fault)
    }

    /// Passes over one value, however deep, without recursion. Without `keys` to show its keys to, the bytes need not
    /// be UTF-8.
    ///
    /// # Errors
    /// [`FaultKind::Depth`] where a list or object within it lies deeper than `depth` levels.
    pub(crate) fn skip(&mut self, mut keys: Option<&mut OpenKeys>, depth: usize) -> Scan<()> {
        self.open.clear();
        let mut peek = self.peek()?;
        loop {
            let mut inner = None;
            if matches!(peek, Peek::Object | Peek::Array) {
                if self.open.len() >= depth {
                    return Err(Fault {
                        at: self.at(),
                        kind: FaultKind::Depth,
                    });
                }
                self.open.push(peek);
                if peek == Peek::Array {
                    inner = self.first_item()?;
                } else {
                    if let Some(keys) = &mut keys {
                        keys.open();
                    }
                    inner = self.member(true, keys.as_deref_mut())?;
                }
                if inner.is_none() {
                    self.close(keys.as_deref_mut());
                }
            } else {
                self.pass(peek)?;
            }
            // Where a value has ended, what holds it goes on.
            peek = loop {
                if let Some(inner) = inner {
                    break inner;
                }
                inner = match self.open.last() {
                    None => return Ok(()),
                    Some(&Peek::Array) => self.next_item()?,
                    Some(_) => self.member(false, keys.as_deref_mut())?,
                };
                if inner.is_none() {
                    self.close(keys.as_deref_mut());
                }
            };
        }
    }

    /// The next member of an object that is passed over: what its value is.
    #[inline]
    fn member(&mut self, first: bool, keys: Option<&mut OpenKeys>) -> Scan<Option<Peek>> {
        let more = if let Some(keys) = keys {
            let bytes = self.bytes;
            let key = if first {
                self.first_key()?
            } else {
                self.next_key()?
            };
            key.map(|key| keys.key(bytes, key)).is_some()
        } else {
            let key = if first {
                self.jiter.next_object_bytes()
            } else {
                self.jiter.next_key_bytes()
            };
            key.map(|key| key.is_some())
                .map_err(|error| fault(self.bytes, self.base, &error))?
        };
        if more {
            self.peek().map(Some)
        } else {
            Ok(None)
        }
    }

    /// The innermost bracket was closed.
    #[inline]
    fn close(&mut self, keys: Option<&mut OpenKeys>) {
        if let (Some(Peek::Object), Some(keys)) = (self.open.pop(), keys) {
            keys.close(self.bytes);
        }
    }

    fn fault(&self, error: &JiterError) -> Fault {
        fault(self.bytes, self.base, error)
    }
}

/// Says what jiter found.
#[cold]
fn fault(bytes: &[u8], base: usize, error: &JiterError) -> Fault {
    use JsonErrorType as E;
    let at = base + error.index;
    let byte = bytes.get(at);
    let what = match &error.error_type {
        JiterErrorType::JsonError(
            E::EofWhileParsingList
            | E::EofWhileParsingObject
            | E::EofWhileParsingString
            | E::EofWhileParsingValue,
        ) => {
            return Fault {
                at,
                kind: FaultKind::End,
            };
        }
        JiterErrorType::JsonError(kind) => match kind {
            E::ExpectedColon => "`:` is expected",
            E::ExpectedListCommaOrEnd => "`,` or `]` is expected",
            E::ExpectedObjectCommaOrEnd => "`,` or `}` is expected",
            E::KeyMustBeAString => "a key is expected",
            E::TrailingComma => "nothing follows a comma",
            E::InvalidEscape => "no such escape",
            E::LoneLeadingSurrogateInHexEscape | E::UnexpectedEndOfHexEscape => HALF_PAIR,
            E::ControlCharacterWhileParsingString => match byte {
                Some(0) => "a NUL byte stands in a string",
                Some(b'\n') => "a string is not closed on its line",
                _ => "a control character stands in a string",
            },
            E::InvalidUnicodeCodePoint => "the bytes are not UTF-8",
            E::InvalidNumber => match byte {
                Some(b'0'..=b'9') => "a number begins with a needless zero",
                _ => "a digit is expected",
            },
            E::NumberOutOfRange => "a number has thousands of digits",
            _ if byte == Some(&0) => "a NUL byte stands where a value is expected",
            _ => "a value is expected",
        },
        JiterErrorType::WrongType { .. } => "another value is expected",
    };
    Fault {
        at,
        kind: FaultKind::Syntax(what),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn accepts(text: &[u8], keys: bool) -> bool {
        let mut scanner = Scanner::new(text, 0, Vec::new());
        let mut open = OpenKeys::default();
        scanner.skip(keys.then_some(&mut open), 1000).is_ok() && scanner.at_end()
    }

    proptest! {
        /// Passing over a value in steps accepts what jiter accepts in one.
        #[test]
        fn agrees_with_jiter(text in r#"[\[\]{}",:0-9a-f\\u.eE+\- tnN"]{0,24}"#) {
            let mut other = Jiter::new(text.as_bytes()).with_allow_inf_nan();
            let theirs = other.next_skip().is_ok() && other.finish().is_ok();
            let lone = text.contains("\\ud");
            for keys in [true, false] {
                let ours = accepts(text.as_bytes(), keys);
                prop_assert!(ours == theirs || (ours && lone), "{text}");
            }
        }

        /// Half a surrogate pair does not hide where its string ends.
        #[test]
        fn strings_end_where_they_end(parts in proptest::collection::vec(prop::sample::select(vec![
            "\\ud800", "\\uDBFF", "\\udc00", "\\ud83d\\ude00", "\\u0041", "a", "d", "é", "\\n", "\\\"", "\\\\", "]",
        ]), 0..8)) {
            let text = format!("[\"{}\" , 1]", parts.concat());
            prop_assert!(accepts(text.as_bytes(), true), "{text}");
            for end in 0..text.len() {
                let mut scanner = Scanner::new(&text.as_bytes()[..end], 0, Vec::new());
                let fault = scanner.skip(None, 9).map_err(|fault| fault.kind);
                prop_assert_eq!(fault, Err(FaultKind::End), "{}", &text.as_bytes()[..end].escape_ascii());
            }
        }
    }

    #[test]
    fn nesting_is_kept_at_any_depth() {
        for depth in [63, 64, 65, 127, 128, 129, 300] {
            let text = format!("{}1{}", "[{\"a\":".repeat(depth), "}]".repeat(depth));
            assert!(accepts(text.as_bytes(), true), "{depth}");
            let wrong = format!("{}1{}", "[{\"a\":".repeat(depth), "]}".repeat(depth));
            assert!(!accepts(wrong.as_bytes(), true), "{depth}");
        }
    }

    #[test]
    fn keys_stand_where_they_are_said_to() {
        let text = " [0] \n{ \"a\" : 1,\n \"\\u0062\":2 , \"\":3}";
        let mut scanner = Scanner::new(text.as_bytes(), 5, Vec::new());
        let mut found = Vec::new();
        assert_eq!(scanner.peek(), Ok(Peek::Object));
        let mut next = scanner.first_key();
        while let Ok(Some(key)) = next {
            found.push((key.text.to_owned(), key.at, key.escaped));
            assert_eq!(text.as_bytes()[key.at - 1], b'"');
            assert!(scanner.skip(None, 0).is_ok());
            next = scanner.next_key();
        }
        assert!(matches!(next, Ok(None)));
        let keys: Vec<_> = found
            .iter()
            .map(|(key, _, esc)| (key.as_str(), *esc))
            .collect();
        assert_eq!(keys, [("a", false), ("b", true), ("", false)]);
        assert_eq!(scanner.at(), text.len());
    }

    #[test]
    fn faults_say_what_is_wrong_and_where() {
        let fault = |text: &str| {
            let mut scanner = Scanner::new(text.as_bytes(), 1, Vec::new());
            let result = scanner.skip(Some(&mut OpenKeys::default()), 2);
            result.map_err(|fault| (fault.at, fault.kind)).err()
        };
        use FaultKind::{Depth, End, Syntax};
        for (text, at, kind) in [
            (" [1 2]", 4, Syntax("`,` or `]` is expected")),
            (" {\"a\":1 2}", 8, Syntax("`,` or `}` is expected")),
            (" {\"a\" 1}", 6, Syntax("`:` is expected")),
            (" {1:2}", 2, Syntax("a key is expected")),
            (" [1,]", 4, Syntax("nothing follows a comma")),
            (" {\"a\":1,}", 8, Syntax("nothing follows a comma")),
            (" [01]", 3, Syntax("a number begins with a needless zero")),
            (" [-]", 3, Syntax("a digit is expected")),
            (
                " [\0]",
                2,
                Syntax("a NUL byte stands where a value is expected"),
            ),
            (" [x]", 2, Syntax("a value is expected")),
            (
                " [\"a\nb\"]",
                4,
                Syntax("a string is not closed on its line"),
            ),
            (" [\"a\0\"]", 4, Syntax("a NUL byte stands in a string")),
            (" [\"\\x\"]", 4, Syntax("no such escape")),
            (" {\"\\udc00\":1}", 8, Syntax(HALF_PAIR)),
            (" {\"\\ud800\":1}", 9, Syntax(HALF_PAIR)),
            (" [[[", 3, Depth),
            (" {\"a", 4, End),
            (" [nul", 5, End),
            (" [", 2, End),
        ] {
            assert_eq!(fault(text), Some((at, kind)), "{text:?}");
        }
        let long = format!(" {}", "1".repeat(4301));
        let kind = Syntax("a number has thousands of digits");
        assert_eq!(fault(&long).map(|(_, kind)| kind), Some(kind));
        assert_eq!(fault(" [\"\\ud800\",NaN,-Infinity,{\"a\":1e999}]"), None);
    }
}
