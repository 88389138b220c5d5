//! Base64, hexadecimal digits, percent-encoding.
//!
//! Decoders differ in which characters they skip, in which they take for digits, and in where they stop. A text that they decode
//! to different bytes has several readings; one that a decoder refuses has no reading of that decoder.

use super::Unclear;

/// The meaning of `=` to a decoder of base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Padding {
    /// It stops (Node, Perl).
    Stops,
    /// It stops if the group is then whole, and skips it otherwise (Python).
    StopsIfWhole,
    /// It ends the group; another text follows (coreutils).
    EndsGroup,
    /// It skips it (PHP).
    Skipped,
}

const PADDINGS: [Padding; 4] = [
    Padding::Skipped,
    Padding::Stops,
    Padding::StopsIfWhole,
    Padding::EndsGroup,
];

/// A decoder of base64. All of them skip characters that are not digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decoder {
    /// Whether `-` and `_` are digits (Node, decoders for addresses) or skipped (Python).
    both_alphabets: bool,
    padding: Padding,
    /// Whether only the low byte of a UTF-16 unit counts (Node up to 20), so that U+0143 is the digit `C`.
    low_bytes: bool,
}

/// The bytes that a decoder reads in the characters of a text.
#[derive(Clone, Debug)]
pub struct Base64<I> {
    chars: I,
    decoder: Decoder,
    /// The unit of a pair that comes next.
    pending: Option<u16>,
    /// The last digits, of which this many bits are not in a byte yet.
    bits: u32,
    n_bits: u32,
    /// The digits of the group so far, and the padding after them.
    n_digits: usize,
    n_padding: usize,
}

impl<I: Iterator<Item = char>> Base64<I> {
    fn new(chars: I, decoder: Decoder) -> Base64<I> {
        Base64 {
            chars,
            decoder,
            pending: None,
            bits: 0,
            n_bits: 0,
            n_digits: 0,
            n_padding: 0,
        }
    }

    fn next_char(&mut self) -> Option<char> {
        if let Some(unit) = self.pending.take() {
            return Some(low_byte(unit));
        }
        let c = self.chars.next()?;
        if !self.decoder.low_bytes {
            return Some(c);
        }
        let mut units = [0; 2];
        let units = c.encode_utf16(&mut units);
        self.pending = units.get(1).copied();
        units.first().map(|unit| low_byte(*unit))
    }

    fn digit(&self, c: char) -> Option<u32> {
        let both = self.decoder.both_alphabets;
        Some(match c {
            'A'..='Z' => u32::from(c) - u32::from('A'),
            'a'..='z' => u32::from(c) - u32::from('a') + 26,
            '0'..='9' => u32::from(c) - u32::from('0') + 52,
            '+' => 62,
            '/' => 63,
            '-' if both => 62,
            '_' if both => 63,
            _ => return None,
        })
    }

    /// Takes a `=`; returns whether the decoder stops at it.
    fn pad(&mut self) -> bool {
        match self.decoder.padding {
            Padding::Stops => return true,
            Padding::StopsIfWhole if self.n_digits >= 2 => {
                self.n_padding += 1;
                return self.n_digits + self.n_padding >= 4;
            }
            Padding::EndsGroup => (self.n_bits, self.n_digits) = (0, 0),
            Padding::StopsIfWhole | Padding::Skipped => {}
        }
        false
    }
}

impl<I: Iterator<Item = char>> Iterator for Base64<I> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        loop {
            let c = self.next_char()?;
            if c == '=' && self.pad() {
                return None;
            }
            let Some(digit) = self.digit(c) else {
                continue;
            };
            self.bits = self.bits << 6 | digit;
            self.n_bits += 6;
            self.n_digits = (self.n_digits + 1) % 4;
            self.n_padding = 0;
            if self.n_bits >= 8 {
                self.n_bits -= 8;
                let [byte, ..] = (self.bits >> self.n_bits).to_le_bytes();
                return Some(byte);
            }
        }
    }
}

fn low_byte(unit: u16) -> char {
    let [low, _] = unit.to_le_bytes();
    char::from(low)
}

/// Whether a character is a digit of base64 in some alphabet.
fn is_digit(c: char) -> bool {
    c.is_ascii_alphanumeric() || "+/-_".contains(c)
}

/// Returns the different readings of a text in base64, without those that are empty. In time linear in the text for each of at
/// most nine decoders, and without a copy of it; most texts have one reading and are read twice.
pub fn base64_readings<I: Iterator<Item = char> + Clone>(chars: I) -> Vec<Base64<I>> {
    let (mut is_padded, mut goes_on, mut other_alphabet, mut wide) = (false, false, false, false);
    for c in chars.clone() {
        is_padded |= c == '=';
        goes_on |= is_padded && is_digit(c);
        other_alphabet |= matches!(c, '-' | '_');
        wide |= c > '\u{FF}';
    }
    let alphabets = if other_alphabet { 2 } else { 1 };
    let paddings = if goes_on { PADDINGS.len() } else { 1 };
    let each = [true, false].into_iter().take(alphabets);
    let each = each.flat_map(|both_alphabets| {
        let paddings = PADDINGS.into_iter().take(paddings);
        paddings.map(move |padding| Decoder {
            both_alphabets,
            padding,
            low_bytes: false,
        })
    });
    let low_bytes = wide.then_some(Decoder {
        both_alphabets: true,
        padding: Padding::Stops,
        low_bytes: true,
    });
    let mut readings: Vec<Base64<I>> = Vec::new();
    for decoder in each.chain(low_bytes) {
        let reading = Base64::new(chars.clone(), decoder);
        let mut others = readings.iter();
        if reading.clone().next().is_some()
            && !others.any(|other| other.clone().eq(reading.clone()))
        {
            readings.push(reading);
        }
    }
    readings
}

/// Decodes base64 as lenient decoders do: they skip other characters, and need no padding. Returns `None` if none of them reads
/// anything. Bytes that are not UTF-8 become U+FFFD.
///
/// # Errors
/// Decoders read different bytes: the text has `-` or `_`, digits after a `=`, or characters beyond U+00FF.
pub fn base64(text: &str) -> Result<Option<String>, Unclear> {
    if text.trim_ascii().is_empty() {
        return Ok(Some(String::new()));
    }
    let readings = base64_readings(text.chars());
    one(readings.into_iter().map(Iterator::collect))
}

/// Decodes pairs of hexadecimal digits of any case. Some decoders stop at the first pair that is none (Node, Go), others skip
/// what is not a digit, and `0x` (Python skips white space), and `xxd` skips what is not a pair. Returns `None` if none of them reads anything. Bytes
/// that are not UTF-8 become U+FFFD.
///
/// # Errors
/// Decoders read different bytes: there are digits after something else.
pub fn hex(text: &str) -> Result<Option<String>, Unclear> {
    let content = text.trim_ascii();
    if content.is_empty() || content.eq_ignore_ascii_case("0x") {
        return Ok(Some(String::new()));
    }
    let low_bytes = || text.encode_utf16().map(low_byte);
    let readings = [
        hex_up_to_others(text.chars()),
        hex_up_to_others(low_bytes()),
        hex_without_others(text.chars()),
        hex_as_xxd(text.chars()),
    ];
    let mut different: Vec<Vec<u8>> = Vec::new();
    for reading in readings {
        if !reading.is_empty() && !different.contains(&reading) {
            different.push(reading);
        }
    }
    one(different.into_iter())
}

fn hex_digit(c: char) -> Option<u8> {
    c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn hex_up_to_others(chars: impl Iterator<Item = char>) -> Vec<u8> {
    let digits: Vec<u8> = chars.map_while(hex_digit).collect();
    pairs(&digits)
}

fn hex_without_others(chars: impl Iterator<Item = char>) -> Vec<u8> {
    let mut chars = chars.peekable();
    let mut digits = Vec::new();
    while let Some(c) = chars.next() {
        if c != '0' || chars.next_if(|next| matches!(next, 'x' | 'X')).is_none() {
            digits.extend(hex_digit(c));
        }
    }
    pairs(&digits)
}

/// Returns the bytes that `xxd -r -p` reads: those of adjacent digits. White space is skipped, and so are other characters at the
/// beginning of a line; after some of them the rest of the line is.
fn hex_as_xxd(mut chars: impl Iterator<Item = char>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last: [Option<u8>; 2] = [None; 2];
    let mut at_beginning = true;
    while let Some(c) = chars.next() {
        let digit = match c {
            '\r' | ' ' | '\n' | '\t' => continue,
            c => hex_digit(c),
        };
        let [before, previous] = last;
        last = [previous, digit];
        if digit.is_none() && at_beginning {
            continue;
        }
        at_beginning = false;
        if let (Some(high), Some(low)) = (previous, digit) {
            bytes.push(high << 4 | low);
            last = [previous, None];
        } else if digit.is_none() && previous.is_none() && before.is_none() {
            at_beginning = chars.any(|c| c == '\n');
        }
    }
    bytes
}

fn pairs(digits: &[u8]) -> Vec<u8> {
    let (pairs, _) = digits.as_chunks::<2>();
    pairs.iter().map(|[high, low]| high << 4 | low).collect()
}

/// Returns the text of the only reading; `None` if there is none.
fn one(mut readings: impl Iterator<Item = Vec<u8>>) -> Result<Option<String>, Unclear> {
    match (readings.next(), readings.next()) {
        (_, Some(_)) => Err(Unclear::TwoReadings),
        (first, None) => Ok(first.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())),
    }
}

/// Decodes percent-encoding once. A `%` that is not followed by two hexadecimal digits is kept, as is `+`. Bytes that are not
/// UTF-8 become U+FFFD.
pub fn url_decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text)
        .decode_utf8_lossy()
        .into_owned()
}
