//! The texts in expansions, and the scripts in words.

use super::{Alternative, Part, Script, Word};

/// Returns the scripts in the parts of a word.
pub(super) fn scripts_of(word: Word) -> Vec<Script> {
    let mut all = Vec::new();
    for part in word {
        match part {
            Part::Substitution { script, .. } | Part::Process { script, .. } => all.push(script),
            Part::Opaque { scripts, .. } => all.extend(scripts),
            Part::Bare(_) | Part::Quoted(_) | Part::Param { .. } => {}
        }
    }
    all
}

/// Returns the scripts in the parts of a word, and the word with expansions that are not evaluated in their place.
pub(super) fn without_scripts(word: Word) -> (Vec<Script>, Word) {
    let mut all = Vec::new();
    let parts = word.into_iter().map(|part| {
        let (found, quoted, written, text) = match part {
            Part::Substitution {
                script,
                quoted,
                written,
            } => (vec![script], quoted, written, None),
            Part::Process { script, written } => (vec![script], false, written, None),
            Part::Opaque {
                scripts,
                quoted,
                written,
                text,
            } => (scripts, quoted, written, text),
            part => return part,
        };
        all.extend(found);
        Part::Opaque {
            scripts: Vec::new(),
            quoted,
            written,
            text,
        }
    });
    let word = parts.collect();
    (all, word)
}

/// Returns the text behind the operator of `${x:-TEXT}`, if the parts between the braces have such an operator.
pub(super) fn alternative(mut inner: Word) -> Option<Alternative> {
    let (Part::Bare(first) | Part::Quoted(first)) = inner.first_mut()? else {
        return None;
    };
    let behind = first.find(|c: char| c != '_' && !c.is_ascii_alphanumeric() && c != '@')?;
    let rest = first.split_off(behind);
    let rest = rest.strip_prefix(':').unwrap_or(&rest);
    let or_nothing = rest.starts_with('+');
    let text = rest.strip_prefix(['-', '=', '+'])?.to_owned();
    let is_named = !first.is_empty();
    *first = text;
    is_named.then_some(Alternative {
        or_nothing,
        word: inner,
    })
}
