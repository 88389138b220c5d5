//! Files that the code of `sed` writes: `w FILE` as a command, and as a flag of `s`.

/// Returns the files that a word of `sed` names, if it is code.
pub(super) fn files_of(word: &str) -> Vec<&str> {
    let code = match (word.strip_prefix("--"), word.strip_prefix('-')) {
        (Some(long), _) => long.split_once('=').map_or("", |(_, code)| code),
        // `-neCODE`
        (None, Some(letters)) => letters.split_once('e').map_or("", |(_, code)| code),
        (None, None) => word,
    };
    let mut files = Vec::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let line = after.find('\n').unwrap_or(after.len());
        let (of_line, below) = after.split_at_checked(line).unwrap_or_default();
        rest = match c {
            // an address
            '/' => behind(after, '/'),
            '\\' => delimited(after, 1),
            's' => {
                let flags = delimited(after, 2);
                flags.trim_start_matches(|c: char| c.is_ascii_digit() || "gpiIeEmM".contains(c))
            }
            'y' => delimited(after, 2),
            'w' | 'W' => {
                files.push(of_line.trim());
                below
            }
            'r' | 'R' | '#' => below,
            ':' | 'b' | 't' | 'T' => after.trim_start_matches(|c| c != '\n' && c != ';'),
            // text, which a backslash continues on the next line
            'a' | 'i' | 'c' => behind(after, '\n'),
            _ => after,
        };
    }
    // some versions end no part of `s` within brackets
    if code.contains('[') {
        let commands = code.split([';', '\n', '{', '}']).map(str::trim_start);
        files.extend(
            commands
                .filter_map(|one| one.strip_prefix(['w', 'W']))
                .map(str::trim),
        );
    }
    files.retain(|file| !file.is_empty());
    files
}

/// Returns what stands behind a character without a backslash before it.
fn behind(text: &str, end: char) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == end && !escaped {
            return text.get(at + c.len_utf8()..).unwrap_or_default();
        }
        escaped = c == '\\' && !escaped;
    }
    ""
}

/// Returns what stands behind parts that end at the first character of a text.
fn delimited(text: &str, parts: usize) -> &str {
    let Some(end) = text.chars().next() else {
        return "";
    };
    let rest = text.get(end.len_utf8()..).unwrap_or_default();
    (0..parts).fold(rest, |rest, _| behind(rest, end))
}
