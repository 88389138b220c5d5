//! The escapes of JSON's strings.

use wide::u8x32;

/// Bytes that are looked at together.
const BLOCK: usize = 32;

/// Returns the number that four hexadecimal digits give behind a `u`.
pub(crate) fn unit(bytes: &[u8], at: usize) -> Option<u32> {
    let [b'u', digits @ ..] = bytes.get(at..at + 5)? else {
        return None;
    };
    digits.iter().try_fold(0, |unit, digit| {
        Some(unit << 4 | char::from(*digit).to_digit(16)?)
    })
}

/// Adds what a sound string means, of which this is written between the quotes, or its beginning: `most` bytes of it, or a
/// little more. `None` if it is invalid, or cut off within an escape before that.
pub(crate) fn unescape(written: &str, most: usize, into: &mut String) -> Option<()> {
    let bytes = written.as_bytes();
    if most >= bytes.len() {
        let mut out = std::mem::take(into).into_bytes();
        unescape_all(bytes, &mut out)?;
        *into = String::from_utf8(out).ok()?;
        return Some(());
    }
    into.reserve(most);
    let full = into.len().saturating_add(most);
    let part = |from: usize, to: usize| {
        let end = (to..bytes.len()).find(|end| written.is_char_boundary(*end));
        written.get(from..end.unwrap_or(bytes.len()))
    };
    let mut from: usize = 0;
    while into.len() < full {
        // Without an escape before, there is enough here.
        let enough = from.saturating_add(full - into.len()).min(bytes.len());
        let Some(plain) = memchr::memchr(b'\\', &bytes[from..enough]) else {
            into.push_str(part(from, enough)?);
            return Some(());
        };
        into.push_str(written.get(from..from + plain)?);
        let (meant, after) = escape(bytes, from + plain)?;
        into.push(meant);
        from = after;
    }
    Some(())
}

/// Adds what a whole string means. Texts within texts have an escape every few bytes, so a block is copied before it is known
/// how much of it is plain.
fn unescape_all(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.reserve(bytes.len() + BLOCK);
    let mut from = 0;
    while from < bytes.len() {
        let rest = bytes.get(from..)?;
        let plain = match rest.first_chunk::<BLOCK>() {
            Some(chunk) => {
                out.extend_from_slice(chunk);
                let plain = u8x32::new(*chunk)
                    .simd_eq(u8x32::splat(b'\\'))
                    .to_bitmask()
                    .trailing_zeros() as usize;
                out.truncate(out.len() - BLOCK + plain);
                plain
            }
            None => {
                let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
                out.extend_from_slice(rest.get(..plain)?);
                plain
            }
        };
        from += plain;
        if plain < rest.len().min(BLOCK) {
            let (meant, after) = escape(bytes, from)?;
            match u8::try_from(meant) {
                Ok(byte) if byte.is_ascii() => out.push(byte),
                _ => out.extend_from_slice(meant.encode_utf8(&mut [0; 4]).as_bytes()),
            }
            from = after;
        }
    }
    Some(())
}

/// Returns what the escape at an offset means, and where it ends.
#[inline]
fn escape(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let meant = match bytes.get(at + 1)? {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let first = unit(bytes, at + 1)?;
            if !(0xD800..=0xDBFF).contains(&first) {
                return Some((char::from_u32(first)?, at + 6));
            }
            let second = unit(bytes, at + 7)?.checked_sub(0xDC00)?;
            let pair = 0x1_0000 + ((first - 0xD800) << 10) + second;
            return Some((char::from_u32(pair)?, at + 12));
        }
        other => char::from(*other),
    };
    Some((meant, at + 2))
}
