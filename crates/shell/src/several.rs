//! Variables that hold one of several values of the line: each command with one is read with each value.

use std::collections::HashMap;

use super::ShellError;
use super::syntax::{Dialect, Kind, Names, Node, Part, Script, Statement, Word};
use super::walk::{Scope, Walk};
use super::words::Field;

type Result<T> = std::result::Result<T, ShellError>;

/// The most readings of a command.
const MOST_READINGS: usize = 8;

/// Records the variables that have one of the values of the line after a statement, if that `always` runs.
pub(super) fn settle(statement: &Statement, scope: &mut Scope<'_>, always: bool) {
    if !always {
        return;
    }
    let names = &scope.parsed.names;
    let mut found = Vec::new();
    settled(statement, &mut found);
    for name in found {
        if let Some(values) = values_of(name, names) {
            let mut values = values.to_vec();
            values.sort_unstable();
            values.dedup();
            scope.several.insert(name.to_owned(), values);
        }
    }
}

/// Returns the values of a variable if only plain assignments of the text give it values.
fn values_of<'n>(name: &str, names: &'n Names) -> Option<&'n [String]> {
    let values = names.values.get(name)?;
    let is_own = names.is_assigned(name, values.len()) && !names.inherited.contains(name);
    (values.len() > 1 && is_own && !names.assigns_read_only()).then_some(values)
}

/// Finds the variables that a statement assigns in whichever way it runs.
fn settled<'s>(statement: &'s Statement, found: &mut Vec<&'s str>) {
    if statement.background || statement.discardable {
        return;
    }
    let single = |pipeline: &'s Vec<Node>| match pipeline.as_slice() {
        [node] => Some(node),
        _ => None,
    };
    match statement.pipelines.as_slice() {
        [pipeline] => {
            if let Some(node) = single(pipeline) {
                settled_by(node, found);
            }
        }
        // `a && x=1 || x=2`
        [.., one, other] if statement.alternates => {
            let names = |pipeline| {
                let mut names = Vec::new();
                if let Some(node) = single(pipeline).filter(|node| is_assignment(node)) {
                    settled_by(node, &mut names);
                }
                names
            };
            let others = names(other);
            found.extend(names(one).into_iter().filter(|name| others.contains(name)));
        }
        _ => {}
    }
}

fn is_assignment(node: &Node) -> bool {
    matches!(&node.kind, Kind::Simple { words, .. } if words.is_empty())
}

/// Finds the variables that a command assigns in whichever way it runs.
fn settled_by<'s>(node: &'s Node, found: &mut Vec<&'s str>) {
    // a redirection may fail
    if !node.redirects.is_empty() {
        return;
    }
    match &node.kind {
        Kind::Simple { assigns, words } if words.is_empty() => {
            let plain = assigns.iter().filter(|assign| assign.plain);
            found.extend(plain.map(|assign| assign.name.as_str()));
        }
        Kind::Group {
            subshell: false,
            body,
            ..
        } => settled_in(body, found),
        Kind::Compound {
            words,
            bodies,
            repeats: false,
            ..
        } => {
            let is_any = |word: &Word| matches!(word.as_slice(), [Part::Bare(text)] if text == "*");
            // conditions and bodies in turn, and the one behind `else`; or those of a `case`
            let branches: Vec<&Script> = match words.split_first() {
                None if bodies.len() > 2 && bodies.len() % 2 == 1 => {
                    let last = bodies.len() - 1;
                    let is_branch = |nth: usize| nth % 2 == 1 || nth == last;
                    let branches = bodies.iter().enumerate();
                    branches
                        .filter(|(nth, _)| is_branch(*nth))
                        .map(|(_, body)| body)
                        .collect()
                }
                Some((_, patterns)) if patterns.iter().any(is_any) => bodies.iter().collect(),
                _ => Vec::new(),
            };
            let mut of_all: Option<Vec<&str>> = None;
            for branch in branches {
                let mut names = Vec::new();
                settled_in(branch, &mut names);
                of_all = Some(match of_all {
                    None => names,
                    Some(before) => before
                        .into_iter()
                        .filter(|name| names.contains(name))
                        .collect(),
                });
            }
            found.extend(of_all.into_iter().flatten());
        }
        _ => {}
    }
}

fn settled_in<'s>(script: &'s Script, found: &mut Vec<&'s str>) {
    for statement in &script.statements {
        settled(statement, found);
    }
}

impl Walk<'_> {
    /// Returns the words of a command for each value of the variables in them that have several, and for each choice of texts
    /// that stand there or not.
    pub(super) fn readings(
        &mut self,
        words: &[Word],
        scope: &mut Scope<'_>,
    ) -> Result<Vec<Vec<Field>>> {
        let mut names: Vec<&str> = Vec::new();
        for part in words.iter().flatten() {
            if let Part::Param { name, .. } = part
                && scope.several.contains_key(name)
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        }
        let splits = scope.parsed.dialect != Dialect::Extended && !scope.splits_oddly;
        let counts = names.iter().filter_map(|name| scope.several.get(*name));
        let n_readings = counts.fold(1usize, |n, values| n.saturating_mul(values.len()));
        if names.is_empty() || n_readings > MOST_READINGS || !splits {
            return self.chosen(words, scope);
        }
        let mut all = Vec::new();
        for nth in 0..n_readings {
            let mut left = nth;
            let mut chosen: HashMap<&str, String> = HashMap::new();
            for name in &names {
                let values = scope
                    .several
                    .get(*name)
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                let at = left % values.len().max(1);
                left /= values.len().max(1);
                chosen.extend(values.get(at).map(|value| (*name, value.clone())));
            }
            for (name, value) in chosen {
                self.charge(value.len() + 16)?;
                scope.values.insert(name.to_owned(), value);
            }
            let read = self.chosen(words, scope);
            for name in &names {
                scope.values.remove(*name);
            }
            all.extend(read?);
        }
        Ok(all)
    }
}
