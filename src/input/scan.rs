//! A pull scanner over JSON text.
//!
//! It walks bytes and hands out positions; nothing is allocated or decoded. Two things need a scanner of our own
//! rather than jiter's: a value that is *skipped* must still be searched for duplicate keys at any nesting, and keys
//! must be looked at without copying them while the walk goes on. It also reads strings eight bytes at a time, which
//! is what most recorded bytes are.
//!
//! Beyond RFC 8259 it accepts `NaN`, `Infinity` and `-Infinity` as [`Lexeme::NotFinite`].

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

/// A string in the text, without its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Raw {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether there is a backslash in it.
    pub(crate) escaped: bool,
    /// Whether there is half a surrogate pair in it, which is no text.
    pub(crate) lone: bool,
}

/// A scalar in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lexeme {
    Null,
    Bool(bool),
    /// In JSON's notation, from one offset to another.
    Number(usize, usize),
    /// `NaN` or an infinity.
    NotFinite,
    String(Raw),
}

/// Looks at the members of objects during [`Scanner::skip`].
pub(crate) trait Keys {
    fn open(&mut self);
    fn key(&mut self, bytes: &[u8], key: Raw);
    /// The object that was opened last ends; `at` is its first byte after.
    fn close(&mut self, bytes: &[u8], at: usize);
}

impl Keys for () {
    fn open(&mut self) {}
    fn key(&mut self, _: &[u8], _: Raw) {}
    fn close(&mut self, _: &[u8], _: usize) {}
}

/// The scanner: bytes and a position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanner<'j> {
    pub(crate) bytes: &'j [u8],
    pub(crate) at: usize,
}

type Scan<T> = Result<T, Fault>;

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// What the letter of an escape stands for; 0 where it is none, or `u`.
static ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'/' as usize] = b'/';
    table[b'b' as usize] = 8;
    table[b'f' as usize] = 12;
    table[b'n' as usize] = b'\n';
    table[b'r' as usize] = b'\r';
    table[b't' as usize] = b'\t';
    table
};

/// Marks (in the high bits) bytes that end a run of plain string: quote, backslash, control. Only the lowest mark is
/// exact, which is the one that counts.
fn stops(word: u64) -> u64 {
    let quote = word ^ (LOW * 0x22);
    let slash = word ^ (LOW * 0x5c);
    let quote = quote.wrapping_sub(LOW) & !quote;
    let slash = slash.wrapping_sub(LOW) & !slash;
    let control = word.wrapping_sub(LOW * 0x20) & !word;
    (quote | slash | control) & HIGH
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let chunk = bytes.get(at..at + 8)?;
    chunk.try_into().ok().map(u64::from_le_bytes)
}

impl<'j> Scanner<'j> {
    pub(crate) fn new(bytes: &'j [u8]) -> Scanner<'j> {
        Scanner { bytes, at: 0 }
    }

    fn fault<T>(&self, kind: FaultKind) -> Scan<T> {
        Err(Fault { at: self.at, kind })
    }

    fn syntax<T>(&self, what: &'static str) -> Scan<T> {
        if self.at >= self.bytes.len() {
            self.fault(FaultKind::End)
        } else {
            self.fault(FaultKind::Syntax(what))
        }
    }

    /// The next byte that is not white space, not consumed.
    #[inline]
    pub(crate) fn peek(&mut self) -> Scan<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                Some(&byte) => return Ok(byte),
                None => return self.fault(FaultKind::End),
            }
        }
    }

    /// Whether only white space is left.
    pub(crate) fn at_end(&mut self) -> bool {
        self.peek().is_err()
    }

    /// After `{`: whether there is a first key.
    #[inline]
    pub(crate) fn first_key(&mut self) -> Scan<Option<Raw>> {
        self.at += 1;
        match self.peek()? {
            b'}' => {
                self.at += 1;
                Ok(None)
            }
            b'"' => self.key().map(Some),
            _ => self.syntax("a key or `}` is expected"),
        }
    }

    /// After a member: the next key.
    #[inline]
    pub(crate) fn next_key(&mut self) -> Scan<Option<Raw>> {
        match self.peek()? {
            b'}' => {
                self.at += 1;
                Ok(None)
            }
            b',' => {
                self.at += 1;
                match self.peek()? {
                    b'"' => self.key().map(Some),
                    _ => self.syntax("a key is expected"),
                }
            }
            _ => self.syntax("`,` or `}` is expected"),
        }
    }

    #[inline]
    fn key(&mut self) -> Scan<Raw> {
        let key = self.string()?;
        match self.peek()? {
            b':' => {
                self.at += 1;
                Ok(key)
            }
            _ => self.syntax("`:` is expected"),
        }
    }

    /// At `[`: whether there is a first item.
    #[inline]
    pub(crate) fn first_item(&mut self) -> Scan<bool> {
        self.at += 1;
        if self.peek()? == b']' {
            self.at += 1;
            return Ok(false);
        }
        Ok(true)
    }

    /// After an item: whether there is another.
    #[inline]
    pub(crate) fn next_item(&mut self) -> Scan<bool> {
        match self.peek()? {
            b']' => {
                self.at += 1;
                Ok(false)
            }
            b',' => {
                self.at += 1;
                Ok(true)
            }
            _ => self.syntax("`,` or `]` is expected"),
        }
    }

    /// At a quote: the string.
    #[inline]
    pub(crate) fn string(&mut self) -> Scan<Raw> {
        let start = self.at + 1;
        let end = self.plain(start);
        if self.bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(Raw {
                start,
                end,
                escaped: false,
                lone: false,
            });
        }
        let mut raw = Raw {
            start,
            end,
            escaped: false,
            lone: false,
        };
        self.at = end;
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    raw.end = self.at;
                    self.at += 1;
                    return Ok(raw);
                }
                Some(b'\\') => {
                    raw.escaped = true;
                    if self.simple_escape() != 0 {
                        self.at += 2;
                    } else {
                        raw.lone |= self.escape()?.is_none();
                    }
                    self.at = self.plain(self.at);
                }
                _ => return self.no_string(),
            }
        }
    }

    /// At a quote: the string. Where it has escapes, its text is put into `out`, which is worthless for half a
    /// surrogate pair.
    pub(crate) fn decoded(&mut self, out: &mut Vec<u8>) -> Scan<Raw> {
        let start = self.at + 1;
        let end = self.plain(start);
        let mut raw = Raw {
            start,
            end,
            escaped: false,
            lone: false,
        };
        self.at = end;
        if self.bytes.get(end) == Some(&b'"') {
            self.at += 1;
            return Ok(raw);
        }
        out.clear();
        out.extend_from_slice(self.bytes.get(start..end).unwrap_or_default());
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    raw.end = self.at;
                    self.at += 1;
                    return Ok(raw);
                }
                Some(b'\\') => {
                    raw.escaped = true;
                    match self.simple_escape() {
                        0 => {}
                        byte => {
                            out.push(byte);
                            self.at += 2;
                            self.copy_plain(out);
                            continue;
                        }
                    }
                    match self.escape()? {
                        Some(char) if char.is_ascii() => out.push(char as u8),
                        Some(char) => {
                            out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                        }
                        None => raw.lone = true,
                    }
                    self.copy_plain(out);
                }
                _ => return self.no_string(),
            }
        }
    }

    /// Copies a run of plain string. Whole words are copied before it is known how much of the last one belongs to
    /// the run: escapes are so dense in recorded text that a call to copy each run costs more.
    #[inline]
    fn copy_plain(&mut self, out: &mut Vec<u8>) {
        while let Some(word) = word(self.bytes, self.at) {
            let marks = stops(word);
            out.extend_from_slice(&word.to_le_bytes());
            if marks != 0 {
                let run = (marks.trailing_zeros() / 8) as usize;
                out.truncate(out.len() - 8 + run);
                self.at += run;
                return;
            }
            self.at += 8;
        }
        let end = self.plain(self.at);
        out.extend_from_slice(self.bytes.get(self.at..end).unwrap_or_default());
        self.at = end;
    }

    /// Why no string goes on here.
    #[cold]
    fn no_string<T>(&self) -> Scan<T> {
        match self.bytes.get(self.at) {
            None => self.fault(FaultKind::End),
            Some(0) => self.syntax("a NUL byte stands in a string"),
            Some(b'\n') => self.syntax("a string is not closed on its line"),
            Some(_) => self.syntax("a control character stands in a string"),
        }
    }

    /// The first byte from `at` on that is a quote, a backslash or a control character.
    #[inline]
    fn plain(&self, mut at: usize) -> usize {
        while let Some(word) = word(self.bytes, at) {
            let marks = stops(word);
            if marks != 0 {
                return at + (marks.trailing_zeros() / 8) as usize;
            }
            at += 8;
        }
        while let Some(&byte) = self.bytes.get(at) {
            if byte == b'"' || byte == b'\\' || byte < 0x20 {
                break;
            }
            at += 1;
        }
        at
    }

    /// At a backslash: the byte that an escape of one letter stands for, or 0.
    #[inline]
    fn simple_escape(&self) -> u8 {
        match self.bytes.get(self.at + 1) {
            Some(&letter) => ESCAPES[usize::from(letter)],
            None => 0,
        }
    }

    /// At a backslash: consumes the escape; its character, none for half a surrogate pair.
    fn escape(&mut self) -> Scan<Option<char>> {
        let simple = self.simple_escape();
        if simple != 0 {
            self.at += 2;
            return Ok(Some(char::from(simple)));
        }
        match self.bytes.get(self.at + 1) {
            Some(b'u') => self.unicode(),
            Some(_) => self.syntax("no such escape"),
            None => {
                self.at = self.bytes.len();
                self.fault(FaultKind::End)
            }
        }
    }

    fn unicode(&mut self) -> Scan<Option<char>> {
        let first = self.hex(self.at + 2)?;
        self.at += 6;
        if (0xd800..=0xdbff).contains(&first)
            && self.bytes.get(self.at..self.at + 2) == Some(b"\\u".as_slice())
        {
            let second = self.hex(self.at + 2)?;
            if (0xdc00..=0xdfff).contains(&second) {
                self.at += 6;
                return Ok(char::from_u32(
                    0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00),
                ));
            }
        }
        Ok(char::from_u32(first))
    }

    fn hex(&self, at: usize) -> Scan<u32> {
        let mut code = 0;
        for place in at..at + 4 {
            let Some(&byte) = self.bytes.get(place) else {
                return Err(Fault {
                    at: self.bytes.len(),
                    kind: FaultKind::End,
                });
            };
            let Some(digit) = char::from(byte).to_digit(16) else {
                return self.syntax("`\\u` takes four hexadecimal digits");
            };
            code = code * 16 + digit;
        }
        Ok(code)
    }

    /// At the first byte of a scalar.
    #[inline]
    pub(crate) fn scalar(&mut self, byte: u8) -> Scan<Lexeme> {
        match byte {
            b'"' => self.string().map(Lexeme::String),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word(b"true", Lexeme::Bool(true)),
            b'f' => self.word(b"false", Lexeme::Bool(false)),
            b'n' => self.word(b"null", Lexeme::Null),
            b'N' => self.word(b"NaN", Lexeme::NotFinite),
            b'I' => self.word(b"Infinity", Lexeme::NotFinite),
            0 => self.syntax("a NUL byte stands where a value is expected"),
            _ => self.syntax("a value is expected"),
        }
    }

    fn word(&mut self, word: &'static [u8], lexeme: Lexeme) -> Scan<Lexeme> {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(lexeme);
        }
        if word.starts_with(rest) {
            self.at = self.bytes.len();
            return self.fault(FaultKind::End);
        }
        self.syntax("a value is expected")
    }

    fn digits(&mut self) -> Scan<()> {
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return self.syntax("a digit is expected");
        }
        Ok(())
    }

    fn number(&mut self) -> Scan<Lexeme> {
        let start = self.at;
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
            if self.bytes.get(self.at) == Some(&b'I') {
                return self.word(b"Infinity", Lexeme::NotFinite);
            }
        }
        if self.bytes.get(self.at) == Some(&b'0') {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'0'..=b'9')) {
                return self.syntax("a number begins with a needless zero");
            }
        } else {
            self.digits()?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Lexeme::Number(start, self.at))
    }

    /// Passes over one value, however deep, without recursion.
    ///
    /// # Errors
    /// [`FaultKind::Depth`] where a list or object within it lies deeper than `depth` levels.
    pub(crate) fn skip<K: Keys>(&mut self, keys: &mut K, depth: usize) -> Scan<()> {
        let mut nest = Nest::default();
        loop {
            // A value is expected here.
            let byte = self.peek()?;
            match byte {
                b'{' | b'[' => {
                    if nest.depth >= depth {
                        return self.fault(FaultKind::Depth);
                    }
                    if byte == b'{' {
                        keys.open();
                        if let Some(key) = self.first_key()? {
                            keys.key(self.bytes, key);
                            nest.push(true);
                            continue;
                        }
                        keys.close(self.bytes, self.at);
                    } else if self.first_item()? {
                        nest.push(false);
                        continue;
                    }
                }
                _ => {
                    self.scalar(byte)?;
                }
            }
            // A value has ended: go on in what holds it.
            loop {
                match nest.top() {
                    None => return Ok(()),
                    Some(true) => match self.next_key()? {
                        Some(key) => {
                            keys.key(self.bytes, key);
                            break;
                        }
                        None => keys.close(self.bytes, self.at),
                    },
                    Some(false) => {
                        if self.next_item()? {
                            break;
                        }
                    }
                }
                nest.pop();
            }
        }
    }
}

/// Which of the open brackets are braces: one bit each, 64 levels in place.
#[derive(Default)]
struct Nest {
    bits: u64,
    depth: usize,
    spill: Vec<u64>,
}

impl Nest {
    fn push(&mut self, brace: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.spill.push(self.bits);
        }
        self.bits = self.bits << 1 | u64::from(brace);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.bits >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.bits = self.spill.pop().unwrap_or_default();
        }
    }

    fn top(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.bits & 1 == 1)
    }
}

/// Writes the text of a string with escapes to `out`. The string was scanned and has no half surrogate pair.
pub(crate) fn decode(raw: &str, out: &mut String) {
    let mut scanner = Scanner::new(raw.as_bytes());
    while scanner.at < raw.len() {
        let from = scanner.at;
        let to = scanner.plain(from);
        out.push_str(raw.get(from..to).unwrap_or_default());
        scanner.at = to;
        if to < raw.len() {
            match scanner.escape() {
                Ok(escape) => out.extend(escape),
                Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn accepts(text: &[u8]) -> bool {
        let mut scanner = Scanner::new(text);
        scanner.skip(&mut (), 1000).is_ok() && scanner.at_end()
    }

    proptest! {
        /// The scanner accepts exactly what jiter accepts (which reads NaN and infinities too).
        #[test]
        fn agrees_with_jiter(text in r#"[\[\]{}",:0-9a-f\\u.eE+\- tnN"]{0,24}"#) {
            let mut other = jiter::Jiter::new(text.as_bytes()).with_allow_inf_nan();
            let theirs = other.next_skip().is_ok() && other.finish().is_ok();
            // What jiter refuses and the scanner knows as an unknown text: half a surrogate pair.
            if theirs {
                prop_assert!(accepts(text.as_bytes()), "{text}");
            } else if accepts(text.as_bytes()) {
                let lone = text.contains("\\ud") ;
                prop_assert!(lone, "{text}");
            }
        }

        #[test]
        fn a_word_finds_what_a_byte_loop_finds(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let slow = bytes.iter().position(|&b| b == b'"' || b == b'\\' || b < 0x20).unwrap_or(bytes.len());
            prop_assert_eq!(Scanner::new(&bytes).plain(0), slow);
        }
    }

    #[test]
    fn nesting_is_kept_beyond_64_levels() {
        for depth in [63, 64, 65, 127, 128, 129, 300] {
            let text = format!("{}1{}", "[{\"a\":".repeat(depth), "}]".repeat(depth));
            assert!(accepts(text.as_bytes()), "{depth}");
            let wrong = format!("{}1{}", "[{\"a\":".repeat(depth), "]}".repeat(depth));
            assert!(!accepts(wrong.as_bytes()), "{depth}");
        }
    }
}
