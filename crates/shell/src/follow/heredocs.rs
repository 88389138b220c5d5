//! Here-documents in texts for shells, of which parameters may be the end.

/// Whether parameters in a text for a shell decide where a here-document in it ends. `rest` is the text if they are empty.
pub(super) fn may_end_heredoc(text: &str, rest: &str) -> bool {
    let ends = ends_in(text);
    if ends.is_empty() {
        return false;
    }
    let mut lines = text.split('\n').zip(rest.split('\n'));
    // any words may stand for the parameters
    let may_be_end = |rest: &str| {
        let rest = rest.trim_start_matches('\t');
        let rest = plain(rest.split([')', '`']).next().unwrap_or_default());
        ends.iter().any(|end| are_within(&rest, end))
    };
    ends != ends_in(rest)
        || text.split('\n').count() != rest.split('\n').count()
        || lines.any(|(line, rest)| line != rest && may_be_end(rest))
}

/// Returns the ends of all here-documents in a text, without quotes.
fn ends_in(text: &str) -> Vec<String> {
    let starts = text.split("<<").skip(1);
    let starts = starts.filter(|behind| !behind.is_empty() && !behind.starts_with('<'));
    let word = |behind: &str| {
        let behind = behind.strip_prefix('-').unwrap_or(behind);
        let behind = behind.trim_start_matches([' ', '\t', '\\', '\n']);
        let mut quote = None;
        let is_end = |c: char| {
            match quote {
                Some(open) if open == c => quote = None,
                None if matches!(c, '\'' | '"') => quote = Some(c),
                _ => {}
            }
            quote.is_none() && (c.is_whitespace() || ";|&<>()".contains(c))
        };
        plain(behind.split(is_end).next().unwrap_or_default())
    };
    starts.map(word).collect()
}

/// Returns a text without quotes.
fn plain(text: &str) -> String {
    text.replace(['\'', '"', '\\'], "")
}

/// Whether the characters of a text stand within another one, in this order.
fn are_within(text: &str, other: &str) -> bool {
    let mut others = other.chars();
    text.chars().all(|c| others.any(|one| one == c))
}
