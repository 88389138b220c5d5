//! Functions on strings, written directly from their definitions.

use std::collections::BTreeSet;

use guard_lang::pattern::Pattern;
use unicode_normalization::UnicodeNormalization;
use url::Url;

/// Decodes base64 as lenient decoders do, which skip other characters. Returns `None` if none of them reads anything, and an error if
/// they read different bytes; bytes that are not UTF-8 become U+FFFD.
pub(super) fn base64(text: &str) -> Result<Option<String>, String> {
    let low: String = text
        .encode_utf16()
        .map(|unit| char::from((unit % 256) as u8))
        .collect();
    let mut readings = BTreeSet::from([decoded(&low, true, "stops")]);
    for both in [true, false] {
        for padding in ["stops", "stops if whole", "ends the group", "skipped"] {
            readings.insert(decoded(text, both, padding));
        }
    }
    one(text.trim_ascii(), readings)
}

/// Returns the bytes that a decoder reads to which `-` and `_` are digits or not, and which does this at a `=`.
fn decoded(text: &str, both: bool, padding: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |c: char| match c {
        '-' if both => Some(62),
        '_' if both => Some(63),
        c => DIGITS.find(c),
    };
    let mut groups: Vec<Vec<usize>> = vec![Vec::new()];
    for (at, c) in text.char_indices() {
        let of_group = groups.last().map_or(0, Vec::len) % 4;
        let since = text[..at + c.len_utf8()]
            .chars()
            .rev()
            .take_while(|c| digit(*c).is_none());
        let missing = 4 - of_group;
        match (c, padding) {
            ('=', "stops") => break,
            ('=', "stops if whole")
                if missing <= 2 && since.filter(|c| *c == '=').count() >= missing =>
            {
                break;
            }
            ('=', "ends the group") => groups.push(Vec::new()),
            _ => groups
                .iter_mut()
                .last()
                .into_iter()
                .for_each(|group| group.extend(digit(c))),
        }
    }
    let bytes = |digits: &[usize]| {
        let bits = (0..4).fold(0, |bits, at| bits * 64 + digits.get(at).unwrap_or(&0));
        let bytes = [bits >> 16, bits >> 8, bits].map(|byte| (byte % 256) as u8);
        bytes[..digits.len() - 1].to_vec()
    };
    groups
        .iter()
        .flat_map(|group| group.chunks(4))
        .flat_map(bytes)
        .collect()
}

/// Decodes hexadecimal digits, as decoders do that stop at any other character, or skip it and `0x`. `None` and errors as of
/// [`base64`].
pub(super) fn hex(text: &str) -> Result<Option<String>, String> {
    let low: String = text
        .encode_utf16()
        .map(|unit| char::from((unit % 256) as u8))
        .collect();
    let stops =
        |text: &str| -> String { text.chars().take_while(char::is_ascii_hexdigit).collect() };
    let without = text.replace("0x", "").replace("0X", "");
    let skips: String = without.chars().filter(char::is_ascii_hexdigit).collect();
    let bytes = |digits: &String| -> Vec<u8> {
        let pairs = (0..digits.len() / 2).map(|pair| &digits[2 * pair..2 * pair + 2]);
        pairs
            .filter_map(|pair| u8::from_str_radix(pair, 16).ok())
            .collect()
    };
    let readings = [stops(text), stops(&low), skips, by_xxd(text)];
    let nothing = ["0x", "0X"].contains(&text.trim_ascii());
    let content = if nothing { "" } else { text.trim_ascii() };
    one(content, readings.iter().map(bytes).collect())
}

/// Returns the digits that `xxd -r -p` uses: those beside each other in what is left of a line without white space. It skips other
/// characters before the first digit, and the line from the second one on that follows a pair, or the third one.
fn by_xxd(text: &str) -> String {
    let mut used = String::new();
    let mut rest = text;
    // The last three characters, of which those of a pair count once.
    let mut last = String::new();
    let mut begins = true;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if " \t\r\n".contains(c) {
            continue;
        }
        last.push(if c.is_ascii_hexdigit() { c } else { '?' });
        if begins && last.ends_with('?') {
            continue;
        }
        begins = false;
        let pair = last.chars().rev().take_while(|c| *c != '?').count() == 2;
        if pair {
            used.push_str(&last[last.len() - 2..]);
            // the second digit has no neighbour any more, the first one is one step behind it
            last.pop();
            last.push('?');
        } else if last.ends_with("???") {
            match rest.split_once('\n') {
                Some((_, after)) => (rest, begins) = (after, true),
                None => rest = "",
            }
        }
    }
    used
}

/// Returns the text that all decoders read; the empty text has an empty reading.
fn one(content: &str, mut readings: BTreeSet<Vec<u8>>) -> Result<Option<String>, String> {
    readings.remove(&Vec::new());
    match (content.is_empty(), readings.len()) {
        (true, _) => Ok(Some(String::new())),
        (_, 0 | 1) => Ok(readings
            .first()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())),
        _ => Err("decoders differ".to_owned()),
    }
}

/// Decodes percent-encoding once; invalid escapes and `+` stay.
pub(super) fn url_decode(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let digit = |at: usize| char::from(*after.get(at)?).to_digit(16);
        match (*first == b'%')
            .then(|| Some(digit(0)? * 16 + digit(1)?))
            .flatten()
        {
            Some(byte) => {
                bytes.push(byte as u8);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the NFKC form without the characters that Unicode calls default ignorable.
pub(super) fn normalize(text: &str) -> String {
    let ignorable = Pattern::new(r"\p{Default_Ignorable_Code_Point}").ok();
    let mut text = text.to_owned();
    // Twice: removing characters can make two others adjacent that compose.
    for _ in 0..2 {
        let ignored = |c: &char| {
            let mut bytes = [0; 4];
            let one = c.encode_utf8(&mut bytes);
            ignorable.as_ref().and_then(|pattern| pattern.is_match(one)) != Some(true)
        };
        text = text.nfkc().filter(ignored).collect();
    }
    text
}

/// Returns the root of a path (`/`, `C:/`, `~x`, or nothing) and its names.
fn parts(text: &str) -> Result<(String, Vec<String>), String> {
    let lower = text.to_ascii_lowercase();
    if text.contains('\0') || lower.contains("%00") {
        return Err("NUL in a path".to_owned());
    }
    for escape in ["%2e", "%2f", "%5c", "%25", "%3a"] {
        if lower.contains(escape) {
            return Err(format!("the path hides {escape}"));
        }
    }
    let mut text: String = text
        .chars()
        .map(|c| if c == '\\' { '/' } else { c })
        .collect();
    let drive = |text: &str| {
        let bytes = text.as_bytes();
        bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':'
    };
    for device in ["//?/", "//./"] {
        if text.starts_with(device) && drive(&text[4..]) {
            text = text[4..].to_owned();
            break;
        }
    }
    let mut names: Vec<&str> = text.split('/').collect();
    let begins = if text.starts_with('/') {
        "/".to_owned()
    } else if drive(&text) {
        let first = names.remove(0);
        if first.len() > 2 {
            return Err("a path of a drive's current folder".to_owned());
        }
        format!("{}/", first.to_ascii_uppercase())
    } else if Pattern::new(r"^[A-Za-z][A-Za-z0-9+.-]*:/")
        .ok()
        .and_then(|scheme| scheme.is_match(&text))
        == Some(true)
    {
        return Err("an address, not a path".to_owned());
    } else if text.starts_with('~') {
        names.remove(0).to_owned()
    } else {
        String::new()
    };
    let mut kept: Vec<String> = Vec::new();
    for name in names {
        if name.is_empty() || name == "." {
            continue;
        }
        if name != ".." && name.trim_matches(['.', ' ']).is_empty() {
            return Err("a name of dots and spaces".to_owned());
        }
        let above = kept.last().is_some_and(|last| last != "..");
        if name != ".." {
            kept.push(name.to_owned());
        } else if above {
            kept.pop();
        } else if !begins.ends_with('/') {
            kept.push(name.to_owned());
        }
    }
    Ok((begins, kept))
}

/// Returns a normalised path: without `.`, resolvable `..`, and doubled or mixed separators.
pub(super) fn path(text: &str) -> Result<String, String> {
    let (begins, mut names) = parts(text)?;
    if begins.is_empty()
        && names
            .first()
            .is_some_and(|name| name.starts_with('~') || name.contains(':'))
    {
        names.insert(0, ".".to_owned());
    }
    let names = names.join("/");
    Ok(if begins.is_empty() && names.is_empty() {
        ".".to_owned()
    } else if begins.is_empty() || begins.ends_with('/') || names.is_empty() {
        begins + &names
    } else {
        format!("{begins}/{names}")
    })
}

/// Returns whether a path is the folder or lies in it, by whole names.
pub(super) fn below(of: &str, folder: &str) -> Result<bool, String> {
    let ((begins, names), (root, wanted)) = (parts(of)?, parts(folder)?);
    let drives = begins.contains(":/") && root.contains(":/");
    if begins != root {
        return if drives {
            Ok(false)
        } else {
            Err("the paths begin at different places".to_owned())
        };
    }
    for place in 0.. {
        match (names.get(place), wanted.get(place)) {
            (a, b) if a == b && a.is_some() => {}
            (Some(name), _) if name == ".." => break,
            (_, Some(name)) if name == ".." => break,
            (_, other) => return Ok(other.is_none()),
        }
    }
    Err("the path leaves the current folder".to_owned())
}

/// Returns the host of an address if browsers and RFC 3986 agree on it; an error if they differ.
pub(super) fn host(text: &str) -> Result<Option<String>, String> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let text: String = text.chars().filter(|c| !"\t\n\r".contains(*c)).collect();
    let slash = |c: char| c == '/' || c == '\\';
    let scheme = Pattern::new("^([A-Za-z][A-Za-z0-9+.-]*):").ok();
    let scheme = scheme.and_then(|scheme| {
        let found = scheme.group(&text, 1)??;
        Some(found.to_ascii_lowercase())
    });
    let after = |prefix: usize| text.chars().skip(prefix).collect::<String>();
    let slashes = |text: &str| text.chars().take_while(|c| slash(*c)).count();
    let rest = match scheme.as_deref() {
        Some("about" | "cid" | "data" | "javascript" | "mailto" | "mid" | "tel" | "urn") => {
            return Ok(None);
        }
        Some(special @ ("http" | "https" | "ws" | "wss" | "ftp")) => {
            let rest = after(special.len() + 1);
            rest.chars().skip(slashes(&rest)).collect()
        }
        Some(other) if slashes(&after(other.len() + 1)) == 1 => return Ok(None),
        Some(other) if slashes(&after(other.len() + 1)) > 1 => after(other.len() + 3),
        _ => match (slashes(&text), text.chars().next()) {
            (1, _) | (_, None | Some('?' | '#' | '.')) => return Ok(None),
            (count, _) => after(count),
        },
    };
    let one = |ends: &str| -> Result<Option<String>, String> {
        let authority: String = rest.chars().take_while(|c| !ends.contains(*c)).collect();
        if authority.is_empty() {
            return Ok(None);
        }
        let host = authority.rsplit('@').next().unwrap_or_default();
        let url = Url::parse(&format!("http://{host}/")).map_err(|error| error.to_string())?;
        let mut host = url.host_str().unwrap_or_default().to_owned();
        while host.ends_with('.') {
            host.pop();
        }
        if host.is_empty() {
            return Err("no host".to_owned());
        }
        Ok(Some(host))
    };
    let browsers = one("/\\?#")?;
    if one("/?#") == Ok(browsers.clone()) {
        Ok(browsers)
    } else {
        Err("two hosts".to_owned())
    }
}
