//! The escapes of `$'…'` and of the formats of `printf`.

/// Returns the text of `$'…'`; `None` if its bytes are not UTF-8. A NUL ends the text.
///
/// Bash keeps the low eight bits of a number: `$'\562'` is `r`.
pub(super) fn ansi_c(text: &str) -> Option<String> {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(rest.get(..at)?.as_bytes());
        let escape = rest.get(at + 1..)?;
        let Some(letter) = escape.chars().next() else {
            rest = "\\";
            break;
        };
        let mut after = escape.get(letter.len_utf8()..)?;
        let byte = match letter {
            'x' => hexadecimal(&mut after),
            'u' | 'U' => {
                let most = if letter == 'u' { 4 } else { 8 };
                match digits(&mut after, 16, most).map(char::from_u32) {
                    Some(c) if c?.is_ascii() => u8::try_from(c?).ok(),
                    Some(c) => {
                        out.extend(c?.to_string().bytes());
                        rest = after;
                        continue;
                    }
                    None => None,
                }
            }
            '0'..='7' => {
                after = escape;
                digits(&mut after, 8, 3).map(low_byte)
            }
            'c' => control(&mut after)?,
            'n' => Some(b'\n'),
            't' => Some(b'\t'),
            'r' => Some(b'\r'),
            'a' => Some(7),
            'b' => Some(8),
            'e' | 'E' => Some(27),
            'f' => Some(12),
            'v' => Some(11),
            '\\' | '\'' | '"' | '?' => u8::try_from(letter).ok(),
            _ => None,
        };
        match byte {
            Some(0) => return String::from_utf8(out).ok(),
            Some(byte) => out.push(byte),
            None => out.extend(format!("\\{letter}").bytes()),
        }
        rest = after;
    }
    out.extend_from_slice(rest.as_bytes());
    String::from_utf8(out).ok()
}

/// Takes the digits of `\xHH` and `\x{H…}`; `None` if there are none.
fn hexadecimal(after: &mut &str) -> Option<u8> {
    let Some(inner) = after.strip_prefix('{') else {
        return digits(after, 16, 2).map(low_byte);
    };
    *after = inner;
    let value = digits(after, 16, usize::MAX).unwrap_or_default();
    *after = after.strip_prefix('}').unwrap_or(after);
    Some(low_byte(value))
}

/// Takes the character of `\cX`; `Some(None)` if there is none, and `None` if shells differ on it.
fn control(after: &mut &str) -> Option<Option<u8>> {
    let Some(c) = after.chars().next() else {
        return Some(None);
    };
    if !c.is_ascii_alphabetic() {
        return None;
    }
    *after = after.get(1..)?;
    Some(Some(u8::try_from(c).ok()? & 0x1f))
}

/// Takes at most `most` digits; if the value overflows, its low bits are kept.
fn digits(text: &mut &str, radix: u32, most: usize) -> Option<u32> {
    let end = text
        .char_indices()
        .take(most)
        .find(|(_, c)| !c.is_digit(radix))
        .map_or(most.min(text.len()), |(at, _)| at);
    let (number, rest) = text.split_at_checked(end)?;
    *text = rest;
    let values = number.chars().filter_map(|c| c.to_digit(radix));
    let value = values.fold(0u32, |all, digit| {
        all.wrapping_mul(radix).wrapping_add(digit)
    });
    (!number.is_empty()).then_some(value)
}

fn low_byte(value: u32) -> u8 {
    value.to_le_bytes()[0]
}

/// Returns a format of `printf` without its escapes; `None` if it has escapes that shells read differently, or that produce a
/// NUL.
pub(super) fn format_text(format: &str) -> Option<String> {
    let mut out = String::with_capacity(format.len());
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '\\' => '\\',
                _ => return None,
            },
            c => c,
        });
    }
    Some(out)
}
