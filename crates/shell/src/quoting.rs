//! The escapes of `$'…'`.

/// Returns the text of `$'…'`: `\n`, `\t`, `\xHH`, `\NNN` and similar escapes are replaced. A NUL ends the text.
pub(super) fn ansi_c(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or_default());
        let escape = rest.get(at + 1..).unwrap_or_default();
        let Some(letter) = escape.chars().next() else {
            rest = "\\";
            break;
        };
        let digits = |text: &str, radix: u32, most: usize| {
            let len = text
                .chars()
                .take(most)
                .take_while(|c| c.is_digit(radix))
                .count();
            let value = text
                .get(..len)
                .and_then(|text| u32::from_str_radix(text, radix).ok());
            value.and_then(char::from_u32).map(|c| (c, len))
        };
        let after = escape.get(letter.len_utf8()..).unwrap_or_default();
        let numbered = match letter {
            'x' => digits(after, 16, 2),
            'u' => digits(after, 16, 4),
            'U' => digits(after, 16, 8),
            '0'..='7' => digits(escape, 8, 3).map(|(c, len)| (c, len - 1)),
            _ => None,
        };
        if let Some((c, len)) = numbered {
            if c == '\0' {
                return out;
            }
            out.push(c);
            rest = after.get(len..).unwrap_or_default();
            continue;
        }
        match letter {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'a' => out.push('\u{7}'),
            'b' => out.push('\u{8}'),
            'e' | 'E' => out.push('\u{1b}'),
            'f' => out.push('\u{c}'),
            'v' => out.push('\u{b}'),
            '\\' | '\'' | '"' | '?' => out.push(letter),
            _ => out.extend(['\\', letter]),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}
