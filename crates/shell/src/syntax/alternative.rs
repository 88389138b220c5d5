//! The texts in expansions and in braces behind them, and the scripts in words.

use super::cursor::{Parser, Result};
use super::mentioned::is_name;
use super::parts::{GIVES_LINE, push};
use super::{Alternative, Part, Script, Word};

impl Parser<'_> {
    /// Parses braces behind the name of a variable: `$x{a,.b}` is `{$xa,$x.b}`. Only plain texts and numbers may stand in them.
    pub(super) fn names_in_braces(&mut self, name: &str, out: &mut Word) -> Result<()> {
        let inner = self.rest().get(1..).and_then(|rest| rest.split_once('}'));
        let part = |c: char| c.is_ascii_alphanumeric() || "_.,-/+:=@%".contains(c);
        let goes_on = |c: char| c == '_' || c == '{' || c == '[' || c.is_ascii_alphanumeric();
        let Some((inner, behind)) = inner else {
            return self.fail();
        };
        if !inner.chars().all(part) || behind.starts_with(goes_on) {
            return self.fail();
        }
        let Some(texts) = alternatives_of(inner) else {
            return self.fail();
        };
        self.pos += inner.len() + 2;
        push(out, '{', false);
        for (nth, text) in texts.iter().enumerate() {
            if nth > 0 {
                push(out, ',', false);
            }
            let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
            let rest = text.trim_start_matches(is_part);
            let name = format!("{name}{}", text.strip_suffix(rest).unwrap_or_default());
            self.names.texts.whole |= GIVES_LINE.contains(&name.as_str());
            out.push(Part::Param {
                written: format!("${name}"),
                quoted: false,
                name,
            });
            rest.chars().for_each(|c| push(out, c, false));
        }
        push(out, '}', false);
        Ok(())
    }
}

/// Returns the texts of plain braces: `a,b` and `1..3`. Bash leaves others as they are.
fn alternatives_of(inner: &str) -> Option<Vec<String>> {
    const MOST: i64 = 64;
    if inner.contains(',') {
        return Some(inner.split(',').map(str::to_owned).collect());
    }
    let (first, last) = inner.split_once("..")?;
    let has_zeros = |text: &str| text.len() > 1 && text.starts_with('0');
    let (first, last): (i64, i64) = match has_zeros(first) || has_zeros(last) {
        true => return None,
        false => (first.parse().ok()?, last.parse().ok()?),
    };
    let is_short = 0 <= first && first < last && last - first < MOST;
    is_short.then(|| (first..=last).map(|number| number.to_string()).collect())
}

/// Returns the text behind the first colon of the inner of an expansion, if that stands behind a plain name or all elements of
/// an array: `1:2` of `${x[@]:1:2}`. Only expansions without commands are copied.
pub(super) fn behind_colon(inner: &[Part]) -> Option<Word> {
    let [Part::Bare(text) | Part::Quoted(text)] = inner else {
        return None;
    };
    let (name, offset) = text.split_once(':')?;
    let name = name.trim_end_matches("[@]").trim_end_matches("[*]");
    let is_plain = name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    is_plain.then(|| vec![Part::Bare(offset.to_owned())])
}

/// Returns the text behind the colon of an expansion that arithmetic evaluates: `1` of `${x:1}`. A colon in a pattern that is removed or
/// replaced is a character (`${x%%:*}`), and so is that of a default (`${x:-a}`).
pub(super) fn offset_of(written: &str) -> Option<&str> {
    let (before, offset) = written.split_once(':')?;
    let inner = before.trim_start_matches(['$', '{', '!']);
    let behind = inner.trim_start_matches(is_name);
    let is_pattern = behind.len() < inner.len() && behind.starts_with(['%', '#', '/', '^', ',']);
    (!is_pattern && !offset.starts_with(['-', '=', '?', '+'])).then_some(offset)
}

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
        let (found, quoted, written, inner) = match part {
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
                inner,
            } => (scripts, quoted, written, inner),
            part => return part,
        };
        all.extend(found);
        Part::Opaque {
            scripts: Vec::new(),
            quoted,
            written,
            inner,
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
    let (or_nothing, assigns) = (rest.starts_with('+'), rest.starts_with('='));
    let text = rest.strip_prefix(['-', '=', '+'])?.to_owned();
    let is_named = !first.is_empty();
    let is_empty = text.is_empty();
    *first = text;
    if is_empty {
        inner.remove(0);
    }
    is_named.then_some(Alternative {
        or_nothing,
        assigns,
        word: inner,
    })
}

/// Returns the variable that `${x=TEXT}` and `${x:=TEXT}` assign.
pub(super) fn assigned_default(inner: &[Part]) -> Option<String> {
    let [Part::Bare(first) | Part::Quoted(first), ..] = inner else {
        return None;
    };
    let (name, _) = first.split_once('=')?;
    let name = name.strip_suffix(':').unwrap_or(name);
    let is_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let plain = name.split('[').next().unwrap_or_default();
    (!plain.is_empty() && plain.chars().all(is_name)).then(|| plain.to_owned())
}

/// Whether a text between double quotes is the same with and without the quotes around them: `"${x:+"a b"}"`. The inner
/// ones end the outer ones where Bash looks for braces and escapes.
pub(super) fn is_plain_in_quotes(written: &str, parts: &[Part]) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || " _-./:=@%+*?~".contains(c);
    !written.contains(['\\', '\''])
        && parts.iter().all(|part| match part {
            Part::Bare(text) | Part::Quoted(text) => text.chars().all(is_plain),
            _ => true,
        })
}

/// Whether a variable at the end of an alternative may get more letters: `{$x,y}o` is `$xo yo`, and `{$x,y}{a,b}` is
/// `$xa $xb ya yb`.
pub(super) fn has_joined_names(word: &[Part]) -> bool {
    let is_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let goes_on = |part: &Part| match part {
        Part::Bare(text) => text
            .split('}')
            .skip(1)
            .any(|rest| rest.starts_with(is_name) || rest.starts_with('{')),
        _ => false,
    };
    let ends = word.windows(2).any(|two| match two {
        [
            Part::Param {
                written,
                quoted: false,
                ..
            },
            Part::Bare(text),
        ] => !written.starts_with("${") && text.starts_with([',', '}']),
        _ => false,
    });
    ends && word.iter().any(goes_on)
}
