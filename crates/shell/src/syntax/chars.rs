//! Characters and texts of names, paths and numbers.

/// Whether an expansion gives a number of the shell, or the path that `mktemp` prints.
pub(crate) fn is_plain_value(written: &str) -> bool {
    matches!(
        written,
        "$!" | "$$" | "$?" | "$#" | "$(mktemp)" | "$(mktemp -d)"
    )
}

/// Whether a character is one of names of files, of versions and of the like.
pub(crate) fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-".contains(c)
}

/// Whether a character is one of paths, of addresses and of the like.
pub(crate) fn is_part_of_path(c: char) -> bool {
    is_part_of_name(c) || "/:=@%,".contains(c)
}

/// Whether a text is one word that is neither an option nor a path with `..`.
pub(super) fn is_plain_word(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && !text.contains("..")
        && text.chars().all(is_part_of_path)
}

/// Whether a text is a number that no arithmetic reads as another one, or as an error: `7`, and not `08`.
pub(super) fn is_decimal(text: impl AsRef<str>) -> bool {
    let text = text.as_ref();
    let is_octal = text.len() > 1 && text.starts_with('0');
    !text.is_empty() && !is_octal && text.bytes().all(|byte| byte.is_ascii_digit())
}
