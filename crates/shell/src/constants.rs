//! Variables of which the text determines the value: they are assigned in statements that always run.

use std::collections::{HashMap, HashSet};

use super::ShellError;
use super::field::Field;
use super::syntax::{Assign, Inner, Kind, Parsed, Part, Script, Word};
use super::walk::{Scope, Walk};

/// An array that only assignments of all its elements, or of further ones, change: `x=(a b)`, `x+=(c)`.
#[derive(Default)]
pub(super) struct Array {
    pub(super) parts: Vec<Elements>,
    /// The number of assignments that are still to come.
    pub(super) n_open: usize,
}

/// Elements of an array that one statement assigns.
pub(super) struct Elements {
    pub(super) words: Vec<Field>,
    /// Whether the statement always runs.
    pub(super) always: bool,
}

/// Returns the words of an assignment of elements.
fn elements(assign: &Assign) -> Option<&[Word]> {
    match assign.value.as_slice() {
        [
            Part::Opaque {
                inner: Some(Inner::Elements(words)),
                ..
            },
        ] => Some(words),
        _ => None,
    }
}

/// Returns the arrays of a text that are assigned outside of loops and functions only, each time as a whole.
pub(super) fn arrays(parsed: &Parsed) -> HashMap<String, Array> {
    let mut all: HashMap<String, Array> = HashMap::new();
    count(&parsed.script, &mut all);
    let names = &parsed.names;
    all.retain(|name, array| {
        names.is_assigned(name, array.n_open) && !names.inherited.contains(name)
    });
    all
}

fn count(script: &Script, all: &mut HashMap<String, Array>) {
    let statements = script.statements.iter();
    let statements = statements.filter(|one| !one.background && !one.discardable);
    for pipeline in statements.flat_map(|one| &one.pipelines) {
        let [node] = pipeline.as_slice() else {
            continue;
        };
        match &node.kind {
            // some shells assign nothing after a redirection that fails
            _ if !node.redirects.is_empty() => {}
            Kind::Simple { assigns, words } if words.is_empty() => {
                for assign in assigns.iter().filter(|one| elements(one).is_some()) {
                    all.entry(assign.name.clone()).or_default().n_open += 1;
                }
            }
            Kind::Compound {
                bodies,
                repeats: false,
                variable: None,
                ..
            } => bodies.iter().for_each(|body| count(body, all)),
            _ => {}
        }
    }
}

impl Walk<'_> {
    /// Keeps the elements that an array gets. If it may get all of them anew or not, nothing is known of it.
    pub(super) fn assign_elements(
        &mut self,
        assign: &Assign,
        scope: &mut Scope<'_>,
        always: bool,
    ) -> Result<(), ShellError> {
        let Some(list) = elements(assign) else {
            return Ok(());
        };
        if !scope.arrays.contains_key(&assign.name) {
            return Ok(());
        }
        let words = self.words(list, scope)?;
        let is_first = |array: &Array| array.parts.is_empty() && always;
        let Some(array) = scope.arrays.get_mut(&assign.name) else {
            return Ok(());
        };
        if assign.plain == is_first(array) && array.n_open > 0 {
            array.n_open -= 1;
            array.parts.push(Elements { words, always });
        } else {
            scope.arrays.remove(&assign.name);
        }
        Ok(())
    }
}

/// Returns the variables that are assigned once, in a statement of the text itself.
pub(super) fn constants(parsed: &Parsed) -> HashSet<String> {
    let mut once = HashSet::new();
    if parsed.names.assigns_read_only() {
        return once;
    }
    for statement in &parsed.script.statements {
        let Some([node]) = statement.pipelines.first().map(Vec::as_slice) else {
            continue;
        };
        // some shells assign nothing after a redirection that fails
        if statement.background || statement.discardable || !node.redirects.is_empty() {
            continue;
        }
        if let Kind::Simple { assigns, words } = &node.kind
            && words.is_empty()
        {
            for assign in assigns.iter().filter(|assign| assign.plain) {
                if parsed.names.is_assigned_once(&assign.name) {
                    once.insert(assign.name.clone());
                }
            }
        }
    }
    once
}
