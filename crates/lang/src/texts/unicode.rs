//! Unicode normalisation of texts that look alike.

use unicode_normalization::UnicodeNormalization;

/// Returns a text in the compatibility form of Unicode (NFKC: full-width letters, ligatures and the like become plain ones),
/// without invisible characters: zero-width characters, marks of direction, soft hyphens, tags, variation selectors (Unicode's
/// `Default_Ignorable_Code_Point`).
pub fn normalize(text: &str) -> String {
    let seen = |c: &char| !is_ignorable(*c);
    // Removing a character can make its neighbours compose.
    let once: String = text.nfkc().filter(seen).collect();
    once.nfkc().filter(seen).collect()
}

/// Returns a key in one case, as parsers that ignore case compare keys: equal for all keys that Unicode's simple or full case
/// folding make equal. `ẞ` has no upper case of its own, but is one of `ß`, whose upper case is `SS`.
pub fn folded(key: &str) -> String {
    key.chars()
        .map(|c| if c == 'ẞ' { 'ß' } else { c })
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

/// Returns whether a name is one name to all readers: some end it at a NUL, cut white space off it, or skip what is not seen.
pub fn is_exact_name(name: &str) -> bool {
    // line ends, a pattern of no dots, and marks of annotations
    let unseen = |c: char| {
        matches!(
            c,
            '\u{2028}' | '\u{2029}' | '\u{2800}' | '\u{FFF9}'..='\u{FFFB}'
        )
    };
    let odd = |c: char| c.is_control() || is_ignorable(c) || unseen(c);
    name.trim() == name && !name.contains(odd)
}

/// `Default_Ignorable_Code_Point` of Unicode 16.
fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{34F}'
            | '\u{61C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFF8}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}
