//! Pulls values out of JSON text, one after the other.
//!
//! What is plain is found by [`quick`]; odd numbers and every error are jiter's business, which knows all of JSON. What
//! recorded data needs beyond them is here:
//! * offsets within the whole text, and going back to one, since several readers may ask for one value;
//! * error messages for people;
//! * passing over a value with an eye on its keys, however deep.
//!
//! Beyond RFC 8259, `NaN`, `Infinity` and `-Infinity` are read as numbers (that [`Number`](crate::value::Number) does
//! not keep). Half a surrogate pair is no text: a string value with one can be passed over, a key with one is refused, and
//! so is an integer of more than 4300 digits.

use jiter::{Jiter, JiterError, JiterErrorType, JsonErrorType, Peek};

use super::keys::OpenKeys;
use super::quick::{self, Quoted};
use crate::value::escapes::unescape;

/// The reason why a text is not JSON, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Byte offset.
    pub(crate) at: usize,
    /// The fault.
    pub(crate) kind: FaultKind,
}

/// The fault of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// No JSON, whatever follows.
    Syntax(&'static str),
    /// The text ends within a value.
    End,
    /// Nested too deeply.
    Depth,
    /// The tree of the value takes too much memory.
    Memory,
}

/// The fault of a string that is not valid Unicode.
pub(crate) const HALF_PAIR: &str = "unpaired surrogate in a string";

/// The key of a member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'s> {
    pub(crate) text: &'s str,
    /// Byte offset after the quote.
    pub(crate) at: usize,
    /// Whether it is written with escapes, so that its bytes are not its text.
    pub(crate) escaped: bool,
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

/// The scanner: a text, and where it is in it.
#[derive(Debug)]
pub(crate) struct Scanner<'j> {
    bytes: &'j [u8],
    /// The same; empty where it is not known to be text.
    text: &'j str,
    at: usize,
    /// A string with escapes.
    decoded: String,
    /// The brackets that [`Scanner::skip`] is within.
    open: Vec<Peek>,
}

type Scan<T> = Result<T, Fault>;

impl<'j> Scanner<'j> {
    /// Reads a text from an offset on. Strings with escapes are decoded into `memory`.
    pub(crate) fn new(text: &'j str, at: usize, memory: String) -> Scanner<'j> {
        Scanner {
            bytes: text.as_bytes(),
            text,
            at,
            decoded: memory,
            open: Vec::new(),
        }
    }

    /// Returns a scanner that skips values of bytes that may not be UTF-8; it does not return their keys and strings.
    pub(crate) fn of_bytes(bytes: &'j [u8], at: usize) -> Scanner<'j> {
        Scanner {
            bytes,
            ..Scanner::new("", at, String::new())
        }
    }

    /// Returns the memory for strings with escapes, to be used again.
    pub(crate) fn into_memory(self) -> String {
        self.decoded
    }

    pub(crate) fn bytes(&self) -> &'j [u8] {
        self.bytes
    }

    /// Returns the text of so many bytes at an offset.
    #[inline]
    pub(crate) fn text(&self, at: usize, len: usize) -> Option<&'j str> {
        self.text.get(at..at + len)
    }

    /// Returns the offset of what comes next.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Goes back to an offset.
    #[inline]
    pub(crate) fn seek(&mut self, at: usize) {
        self.at = at;
    }

    /// Passes the next token to jiter, which accepts unusual numbers and describes faults.
    #[cold]
    fn ask(&mut self, read: impl FnOnce(&mut Jiter<'j>) -> Result<(), JiterError>) -> Scan<()> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let mut jiter = Jiter::new(rest).with_allow_inf_nan();
        let base = self.at;
        let answer = read(&mut jiter);
        self.at += jiter.current_index();
        answer.map_err(|error| fault(self.bytes, base, &error))
    }

    /// Returns jiter's error for the next token, which [`quick`] would have accepted if it were valid.
    #[cold]
    fn refuse(&mut self, read: impl FnOnce(&mut Jiter<'j>) -> Result<(), JiterError>) -> Fault {
        match self.ask(read) {
            Err(fault) => fault,
            Ok(()) => Fault {
                at: self.at,
                kind: FaultKind::Syntax("expected a value"),
            },
        }
    }

    /// Returns the kind of the next value. Skips white space.
    #[inline]
    pub(crate) fn peek(&mut self) -> Scan<Peek> {
        self.at = quick::space(self.bytes, self.at);
        match self.bytes.get(self.at) {
            Some(next) => Ok(Peek::new(*next)),
            None => Err(Fault {
                at: self.at,
                kind: FaultKind::End,
            }),
        }
    }

    /// Whether only white space is left.
    pub(crate) fn at_end(&mut self) -> bool {
        self.at = quick::space(self.bytes, self.at);
        self.at >= self.bytes.len()
    }

    /// At `{`: returns the first key.
    #[inline]
    pub(crate) fn first_key(&mut self) -> Scan<Option<Key<'_>>> {
        let quoted = self.pass_key(true)?;
        Ok(quoted.map(|(quote, quoted)| self.key(quote, quoted)))
    }

    /// After a member: returns the next key.
    #[inline]
    pub(crate) fn next_key(&mut self) -> Scan<Option<Key<'_>>> {
        let quoted = self.pass_key(false)?;
        Ok(quoted.map(|(quote, quoted)| self.key(quote, quoted)))
    }

    #[inline]
    fn key(&mut self, quote: usize, quoted: Quoted) -> Key<'_> {
        Key {
            at: quote + 1,
            escaped: !quoted.plain,
            text: self.meaning(quote, quoted),
        }
    }

    /// Skips the next key of an object and the colon after it. Returns the offset of the key, or `None` at the end of the
    /// object.
    #[inline]
    fn pass_key(&mut self, first: bool) -> Scan<Option<(usize, Quoted)>> {
        if let Some(found) = self.plain_key(first) {
            return Ok(found);
        }
        Err(self.refuse(|jiter| {
            let key = if first {
                jiter.known_object()
            } else {
                jiter.next_key()
            };
            key.map(drop)
        }))
    }

    /// Returns the next key if it is plain; the outer `None` means that jiter must look.
    #[inline]
    fn plain_key(&mut self, first: bool) -> Option<Option<(usize, Quoted)>> {
        let mut at = quick::space(self.bytes, self.at + usize::from(first));
        match self.bytes.get(at)? {
            b'}' => {
                self.at = at + 1;
                return Some(None);
            }
            b',' if !first => at = quick::space(self.bytes, at + 1),
            _ if first => {}
            _ => return None,
        }
        if self.bytes.get(at)? != &b'"' {
            return None;
        }
        let key = quick::string(self.bytes, at)?;
        let colon = quick::space(self.bytes, key.end);
        if self.bytes.get(colon)? != &b':' {
            return None;
        }
        self.at = colon + 1;
        Some(Some((at, key)))
    }

    /// Returns the text of a string that was skipped, from its opening quote.
    #[inline]
    pub(crate) fn meaning(&mut self, quote: usize, quoted: Quoted) -> &str {
        let written = self.text.get(quote + 1..quoted.end - 1);
        let written = written.unwrap_or_default();
        if quoted.plain {
            return written;
        }
        self.decoded.clear();
        if self.decoded.capacity() < written.len() {
            // growing would need room for two copies of a long text
            self.decoded = String::new();
        }
        // What was passed over is known to be sound.
        let _ = unescape(written, usize::MAX, &mut self.decoded);
        &self.decoded
    }

    /// At `[`: returns the kind of the first item.
    #[inline]
    pub(crate) fn first_item(&mut self) -> Scan<Option<Peek>> {
        let at = quick::space(self.bytes, self.at + 1);
        match self.bytes.get(at) {
            Some(b']') => {
                self.at = at + 1;
                Ok(None)
            }
            Some(next) => {
                self.at = at;
                Ok(Some(Peek::new(*next)))
            }
            None => Err(self.refuse(|jiter| jiter.known_array().map(drop))),
        }
    }

    /// After an item: returns the kind of the next.
    #[inline]
    pub(crate) fn next_item(&mut self) -> Scan<Option<Peek>> {
        let at = quick::space(self.bytes, self.at);
        match self.bytes.get(at) {
            Some(b']') => {
                self.at = at + 1;
                return Ok(None);
            }
            Some(b',') => {
                let at = quick::space(self.bytes, at + 1);
                if let Some(next) = self.bytes.get(at).filter(|next| **next != b']') {
                    self.at = at;
                    return Ok(Some(Peek::new(*next)));
                }
            }
            _ => {}
        }
        Err(self.refuse(|jiter| jiter.array_step().map(drop)))
    }

    /// At a quote: returns the text. After [`HALF_PAIR`], [`Scanner::rest_of_string`] continues.
    #[inline]
    pub(crate) fn string(&mut self) -> Scan<&str> {
        let quote = self.at;
        let quoted = self.pass_string()?;
        Ok(self.meaning(quote, quoted))
    }

    /// At a quote: skips the text. After [`HALF_PAIR`], [`Scanner::rest_of_string`] continues.
    #[inline]
    pub(crate) fn pass_string(&mut self) -> Scan<Quoted> {
        match quick::string(self.bytes, self.at) {
            Some(quoted) => {
                self.at = quoted.end;
                Ok(quoted)
            }
            None => Err(self.refuse(|jiter| jiter.known_skip(Peek::String))),
        }
    }

    /// At a scalar: returns it.
    pub(crate) fn scalar(&mut self, peek: Peek) -> Scan<Lexeme<'_>> {
        let start = self.at;
        match peek {
            Peek::String => self.string().map(Lexeme::String),
            Peek::Null => self.pass(peek).map(|()| Lexeme::Null),
            Peek::True | Peek::False => self.pass(peek).map(|()| Lexeme::Bool(peek == Peek::True)),
            _ => {
                match quick::number(self.bytes, start) {
                    Some(end) => self.at = end,
                    None => self.ask(|jiter| jiter.known_number_bytes(peek).map(drop))?,
                }
                let digits = self.text.get(start..self.at);
                Ok(Lexeme::Number(digits.unwrap_or_default()))
            }
        }
    }

    /// Passes over a scalar.
    #[inline]
    pub(crate) fn pass(&mut self, scalar: Peek) -> Scan<()> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let end = match scalar {
            Peek::String => {
                return match self.pass_string() {
                    Ok(_) => Ok(()),
                    Err(fault) => self.rest_of_string(fault),
                };
            }
            Peek::Null => rest.starts_with(b"null").then_some(self.at + 4),
            Peek::True => rest.starts_with(b"true").then_some(self.at + 4),
            Peek::False => rest.starts_with(b"false").then_some(self.at + 5),
            _ => quick::number(self.bytes, self.at),
        };
        match end {
            Some(end) => {
                self.at = end;
                Ok(())
            }
            None => self.ask(|jiter| jiter.known_skip(scalar)),
        }
    }

    /// After a fault in a string value: if it is [`HALF_PAIR`], skips the rest of the string, so that one value is lost
    /// rather than the record.
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
            match self.pass_string() {
                Ok(_) => return Ok(()),
                Err(other) => fault = other,
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

    /// Returns the next member of an object that is passed over: what its value is.
    #[inline]
    fn member(&mut self, first: bool, keys: Option<&mut OpenKeys>) -> Scan<Option<Peek>> {
        let Some((quote, quoted)) = self.pass_key(first)? else {
            return Ok(None);
        };
        if let Some(keys) = keys {
            let bytes = self.bytes;
            keys.key(bytes, self.key(quote, quoted));
        }
        self.peek().map(Some)
    }

    /// Closes the innermost bracket.
    #[inline]
    fn close(&mut self, keys: Option<&mut OpenKeys>) {
        if let (Some(Peek::Object), Some(keys)) = (self.open.pop(), keys) {
            keys.close(self.bytes);
        }
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
            E::ExpectedListCommaOrEnd => "expected `,` or `]`",
            E::ExpectedObjectCommaOrEnd => "expected `,` or `}`",
            E::KeyMustBeAString => "expected a key",
            E::TrailingComma => "trailing comma",
            E::InvalidEscape => "unknown escape sequence",
            E::LoneLeadingSurrogateInHexEscape | E::UnexpectedEndOfHexEscape => HALF_PAIR,
            E::ControlCharacterWhileParsingString => match byte {
                Some(0) => "NUL byte in a string",
                Some(b'\n') => "unterminated string",
                _ => "control character in a string",
            },
            E::InvalidUnicodeCodePoint => "invalid UTF-8",
            E::InvalidNumber => match byte {
                Some(b'0'..=b'9') => "number with a leading zero",
                _ => "expected a digit",
            },
            E::NumberOutOfRange => "number with thousands of digits",
            _ if byte == Some(&0) => "expected a value, found a NUL byte",
            _ => "expected a value",
        },
        JiterErrorType::WrongType { .. } => "expected another value",
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

    fn accepts(text: &str, keys: bool) -> bool {
        let mut scanner = Scanner::new(text, 0, String::new());
        let mut open = OpenKeys::default();
        scanner.skip(keys.then_some(&mut open), 1000).is_ok() && scanner.at_end()
    }

    crate::random::tests! {
        256 cases;

        /// Passing over a value in steps accepts what jiter accepts in one.
        #[test]
        fn agrees_with_jiter(text in r#"[\[\]{}",:0-9a-f\\u.eE+\- tnN"]{0,24}"#) {
            let mut other = Jiter::new(text.as_bytes()).with_allow_inf_nan();
            let theirs = other.next_skip().is_ok() && other.finish().is_ok();
            let lone = text.contains("\\ud");
            for keys in [true, false] {
                let ours = accepts(&text, keys);
                prop_assert!(ours == theirs || (ours && lone), "{text}");
            }
        }

        /// An unpaired surrogate does not hide the end of its string.
        #[test]
        fn strings_end_where_they_end(parts in proptest::collection::vec(prop::sample::select(vec![
            "\\ud800", "\\uDBFF", "\\udc00", "\\ud83d\\ude00", "\\u0041", "a", "d", "é", "\\n", "\\\"", "\\\\", "]",
        ]), 0..8)) {
            let text = format!("[\"{}\" , 1]", parts.concat());
            prop_assert!(accepts(&text, true), "{text}");
            for end in 0..text.len() {
                let mut scanner = Scanner::of_bytes(&text.as_bytes()[..end], 0);
                let fault = scanner.skip(None, 9).map_err(|fault| fault.kind);
                prop_assert_eq!(fault, Err(FaultKind::End), "{}", &text.as_bytes()[..end].escape_ascii());
            }
        }
    }

    #[test]
    fn nesting_is_kept_at_any_depth() {
        for depth in [63, 64, 65, 127, 128, 129, 300] {
            let text = format!("{}1{}", "[{\"a\":".repeat(depth), "}]".repeat(depth));
            assert!(accepts(&text, true), "{depth}");
            let wrong = format!("{}1{}", "[{\"a\":".repeat(depth), "]}".repeat(depth));
            assert!(!accepts(&wrong, true), "{depth}");
        }
    }

    #[test]
    fn keys_stand_where_they_are_said_to() {
        let text = " [0] \n{ \"a\" : 1,\n \"\\u0062\":2 , \"\":3}";
        let mut scanner = Scanner::new(text, 5, String::new());
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
            let mut scanner = Scanner::new(text, 1, String::new());
            let result = scanner.skip(Some(&mut OpenKeys::default()), 2);
            result.map_err(|fault| (fault.at, fault.kind)).err()
        };
        use FaultKind::{Depth, End, Syntax};
        for (text, at, kind) in [
            (" [1 2]", 4, Syntax("expected `,` or `]`")),
            (" {\"a\":1 2}", 8, Syntax("expected `,` or `}`")),
            (" {\"a\" 1}", 6, Syntax("`:` is expected")),
            (" {1:2}", 2, Syntax("expected a key")),
            (" [1,]", 4, Syntax("trailing comma")),
            (" {\"a\":1,}", 8, Syntax("trailing comma")),
            (" [01]", 3, Syntax("number with a leading zero")),
            (" [-]", 3, Syntax("expected a digit")),
            (" [\0]", 2, Syntax("expected a value, found a NUL byte")),
            (" [x]", 2, Syntax("expected a value")),
            (" [\"a\nb\"]", 4, Syntax("unterminated string")),
            (" [\"a\0\"]", 4, Syntax("NUL byte in a string")),
            (" [\"\\x\"]", 4, Syntax("unknown escape sequence")),
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
        let kind = Syntax("number with thousands of digits");
        assert_eq!(fault(&long).map(|(_, kind)| kind), Some(kind));
        assert_eq!(fault(" [\"\\ud800\",NaN,-Infinity,{\"a\":1e999}]"), None);
    }
}
