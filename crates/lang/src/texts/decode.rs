//! Base64, hexadecimal digits, percent-encoding.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Accepts everything that common decoders accept: any padding, and bits after the last byte.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Decodes Base64; returns `None` if the text is not Base64. Accepts both alphabets (`+/` and `-_`), missing padding, white
/// space, and several padded texts in sequence: decoders differ in these, and a text that one of them accepts must not be
/// treated as something else. Bytes that are not UTF-8 become U+FFFD.
pub fn base64(text: &str) -> Option<String> {
    let plain: String = text
        .chars()
        .filter(|c| !c.is_ascii_whitespace())
        .map(|c| match c {
            '-' => '+',
            '_' => '/',
            other => other,
        })
        .collect();
    let mut bytes = Vec::with_capacity(plain.len() / 4 * 3);
    let padded = plain.split('=').filter(|part| !part.is_empty());
    for part in padded {
        bytes.extend(LENIENT.decode(part).ok()?);
    }
    let padding_alone = bytes.is_empty() && !plain.is_empty();
    (!padding_alone).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Decodes pairs of hexadecimal digits; returns `None` for any other text. Digits may have any case, `0x` may precede them, and
/// white space is ignored. Bytes that are not UTF-8 become U+FFFD.
pub fn hex(text: &str) -> Option<String> {
    let text = text.trim();
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .unwrap_or(text);
    let digits = digits.chars().filter(|c| !c.is_ascii_whitespace());
    let digits: Option<Vec<u8>> = digits
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let digits = digits?;
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes: Vec<u8> = pairs.iter().map(|[high, low]| high << 4 | low).collect();
    rest.is_empty()
        .then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Decodes percent-encoding once. A `%` that is not followed by two hexadecimal digits is kept, as is `+`. Bytes that are not
/// UTF-8 become U+FFFD.
pub fn url_decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text)
        .decode_utf8_lossy()
        .into_owned()
}
