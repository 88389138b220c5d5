//! Variables of which the text determines the value: they are assigned in statements that always run.

use std::collections::HashSet;

use super::syntax::{Kind, Parsed};

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
        if statement.background || statement.discardable {
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
