//! Brace expansion: `{a,b}`, `{1..3}`.

use super::syntax::Dialect;
use super::walk::{Scope, Walk};
use super::words::{ATOM, Atom, Class};
use super::{Limits, ShellError};

type Result<T> = std::result::Result<T, ShellError>;

impl Walk<'_> {
    /// Expands braces, before all other expansions: `{a,b}`, `{1..3}`.
    pub(super) fn braces(&mut self, atoms: Vec<Atom>, scope: &Scope<'_>) -> Result<Vec<Vec<Atom>>> {
        if are_odd_braces(&atoms) {
            return Err(ShellError::undetermined("how Bash expands", "{…}"));
        }
        let mut done = Vec::new();
        let mut open = vec![(atoms, 0usize)];
        while let Some((atoms, from)) = open.pop() {
            self.charge(atoms.len())?;
            let Some((at, end, alternatives)) = first_brace(&atoms, from, self.limits)? else {
                done.push(atoms);
                continue;
            };
            if scope.parsed.dialect != Dialect::Bash {
                let what = "whether a shell other than Bash expands";
                return Err(ShellError::undetermined(what, "{…}"));
            }
            for alternative in alternatives.into_iter().rev() {
                let mut next = atoms.get(..at).unwrap_or_default().to_vec();
                next.extend(alternative);
                next.extend_from_slice(atoms.get(end + 1..).unwrap_or_default());
                // a character of a word takes some fifty bytes
                self.charge(next.len() * ATOM)?;
                open.push((next, at));
            }
        }
        Ok(done)
    }
}

/// The first and last place of a brace expression, and its alternatives.
type BraceExpression = (usize, usize, Vec<Vec<Atom>>);

/// Returns the first brace expression from a place on.
fn first_brace(atoms: &[Atom], from: usize, limits: &Limits) -> Result<Option<BraceExpression>> {
    let is = |at: usize, c: char| matches!(atoms.get(at), Some(Atom::Char(found, Class::Bare)) if *found == c);
    // where each brace closes, and the commas inside it
    let mut stack: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut found: Option<(usize, usize, Vec<usize>)> = None;
    for at in from..atoms.len() {
        if is(at, '{') {
            stack.push((at, Vec::new()));
        } else if is(at, ',') {
            if let Some((_, commas)) = stack.last_mut() {
                commas.push(at);
            }
        } else if is(at, '}')
            && let Some((start, commas)) = stack.pop()
        {
            let sequence = commas.is_empty() && sequence(atoms.get(start + 1..at)).is_some();
            let earlier = found.as_ref().is_none_or(|(first, ..)| start < *first);
            if (!commas.is_empty() || sequence) && earlier {
                found = Some((start, at, commas));
            }
            if stack.is_empty() && found.is_some() {
                break;
            }
        }
    }
    let Some((start, end, commas)) = found else {
        return Ok(None);
    };
    let inner = atoms.get(start + 1..end);
    if commas.is_empty() {
        let Some((first, last, step, letters)) = sequence(inner) else {
            return Ok(None);
        };
        return Ok(Some((
            start,
            end,
            count(first, last, step, letters, limits)?,
        )));
    }
    let mut alternatives = Vec::new();
    let mut begin = start + 1;
    for comma in commas.into_iter().chain([end]) {
        alternatives.push(atoms.get(begin..comma).unwrap_or_default().to_vec());
        begin = comma + 1;
    }
    Ok(Some((start, end, alternatives)))
}

/// Whether the braces of a word are not paired although some may be expanded, or a sequence has leading zeros: Bash reads them in ways of
/// its own.
fn are_odd_braces(atoms: &[Atom]) -> bool {
    let mut text = String::new();
    for atom in atoms {
        match atom {
            Atom::Char(c, Class::Bare) => text.push(*c),
            _ => text.push('\0'),
        }
    }
    let Some((_, within)) = text.split_once('{') else {
        return false;
    };
    let mut open = 1i32;
    let mut is_odd = false;
    for c in within.chars() {
        open += i32::from(c == '{') - i32::from(c == '}');
        is_odd |= open < 0;
    }
    let is_list = within.contains(',') || within.contains("..");
    let zeros = |rest: &str| {
        let rest = rest.trim_start_matches('-');
        rest.starts_with('0') && rest[1..].starts_with(|c: char| c.is_ascii_digit())
    };
    let has_zeros = text.split(['{']).skip(1).any(|rest| {
        let rest = rest.split('}').next().unwrap_or_default();
        rest.contains("..") && rest.split("..").any(zeros)
    });
    is_list && (is_odd || open > 0 && within.contains('}')) || has_zeros
}

/// `1..5`, `a..e`, `1..9..2`: first, last, step, whether they are letters.
fn sequence(atoms: Option<&[Atom]>) -> Option<(i64, i64, i64, bool)> {
    // three numbers; without a bound nested braces would cost quadratic time
    const LONGEST: usize = 64;
    let atoms = atoms.filter(|atoms| atoms.len() <= LONGEST)?;
    let mut text = String::new();
    for atom in atoms {
        match atom {
            Atom::Char(c, Class::Bare) => text.push(*c),
            _ => return None,
        }
    }
    let mut parts = text.split("..");
    let (first, last, step) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let step = step.map_or(Some(1), |step| step.parse::<i64>().ok())?;
    let step = step.saturating_abs().max(1);
    if let (Ok(first), Ok(last)) = (first.parse(), last.parse()) {
        return Some((first, last, step, false));
    }
    let letter = |text: &str| match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(i64::from(*byte)),
        _ => None,
    };
    Some((letter(first)?, letter(last)?, step, true))
}

fn count(
    first: i64,
    last: i64,
    step: i64,
    letters: bool,
    limits: &Limits,
) -> Result<Vec<Vec<Atom>>> {
    let number = first.abs_diff(last) / step.unsigned_abs();
    if number >= limits.words as u64 {
        return Err(ShellError::TooMuch);
    }
    let mut all = Vec::new();
    let mut at = first;
    for _ in 0..=number {
        let text = match u8::try_from(at) {
            Ok(byte) if letters => char::from(byte).to_string(),
            _ => at.to_string(),
        };
        all.push(text.chars().map(|c| Atom::Char(c, Class::Quoted)).collect());
        at = if first <= last {
            at.saturating_add(step)
        } else {
            at.saturating_sub(step)
        };
    }
    Ok(all)
}
