//! "Did you mean": the known name nearest to an unknown one.

/// Returns the candidate nearest to `name`, if one is near enough.
///
/// Case and underscores count less than letters; among equals the first wins.
#[must_use]
pub fn did_you_mean<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let limit = match name.chars().count() {
        0 | 1 => return None,
        2..=4 => 1,
        5..=8 => 2,
        _ => 3,
    };
    nearest(name, candidates, limit)
}

/// Returns the candidate of which `name` is likely to be a misspelling: stricter than [`did_you_mean`], as both may be right. Texts
/// that differ by their numbers only are two names. A name of up to three letters is one only of a name that differs in case, `-` and `_`.
#[must_use]
pub fn misspelling_of<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let limit = match name.chars().count() {
        0 => return None,
        1..=3 => 0,
        4..=9 => 1,
        _ => 2,
    };
    let letters = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    let other_letters = |candidate: &&str| letters(name) != letters(candidate);
    nearest(name, candidates.into_iter().filter(other_letters), limit)
}

/// Returns the candidate nearest to `name`, at most `limit` edits away.
fn nearest<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
    limit: usize,
) -> Option<&'c str> {
    let fold = |s: &str| s.replace(['_', '-'], "").to_lowercase();
    let wanted = fold(name);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate == name {
            continue;
        }
        let found = strsim::osa_distance(&wanted, &fold(candidate));
        if found <= limit && best.is_none_or(|(least, _)| found < least) {
            best = Some((found, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}
