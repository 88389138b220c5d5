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
    let fold = |s: &str| s.replace('_', "").to_lowercase();
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
