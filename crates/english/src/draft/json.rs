//! Drafts as JSON Lines.

use serde_json::{Map, Value, json};

use super::document::Document;
use super::reading::Reading;
use super::result::Draft;
use crate::words::{Unit, Window};

impl Reading {
    fn to_json(&self) -> Value {
        let atoms = self.controlled.situations.iter();
        let atoms: Map<String, Value> = atoms
            .map(|it| (it.name.clone(), it.phrase.as_str().into()))
            .collect();
        let chance = self.controlled.chance;
        let bound = |window: Window| {
            let value = window
                .high
                .whole()
                .map_or_else(|| json!(window.high.to_f64()), Value::from);
            match window.unit {
                Unit::Seconds => json!({"seconds": value}),
                Unit::Steps => json!({"steps": value}),
            }
        };
        json!({
            "words": self.words,
            "formula": self.formula,
            "parametric": self.parametric(),
            "kind": self.kind(),
            "bound": self.bound().map(bound),
            "count": self.count(),
            "prob": chance.map(|chance| json!({"op": chance.op, "value": chance.value.to_f64()})),
            "atoms": atoms,
            "readback": self.readback(),
            "accepts": self.accepts,
            "rejects": self.rejects,
        })
    }
}

impl Draft {
    /// One object, without what is known of the document around it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let proposal = |(at, proposal): (usize, &Reading)| {
            let mut object = proposal.to_json();
            if let Some(Some(told)) = self.tellings.get(at) {
                object["tells_from_next"] = json!(told);
            }
            object
        };
        let proposals: Vec<Value> = self.proposals.iter().enumerate().map(proposal).collect();
        json!({
            "v": 2,
            "id": self.id,
            "line": self.line,
            "text": self.text,
            "composed": self.composed,
            "status": self.status,
            "chosen": self.chosen,
            "reading": self.reading.as_ref().map(Reading::to_json),
            "proposals": proposals,
            "reason": self.reason,
            "rewordings": self.rewordings,
            "by_model": self.by_model,
            "notes": self.notes,
        })
    }
}

impl Document {
    /// One line per line of the document that is not blank.
    #[must_use]
    pub fn json_lines(&self) -> String {
        let mut out = String::new();
        for (index, draft) in self.drafts.iter().enumerate() {
            let mut line = draft.to_json();
            if let Some(first) = self.duplicate_of(index) {
                line["duplicate_of"] = json!(first.id);
            }
            let conflicts = self.conflicts_of(index);
            let conflicts: Vec<Value> = conflicts
                .map(|(other, trace)| json!({"with": other.id, "trace": trace}))
                .collect();
            if !conflicts.is_empty() {
                line["conflicts"] = json!(conflicts);
            }
            out.push_str(&line.to_string());
            out.push('\n');
        }
        out
    }
}
