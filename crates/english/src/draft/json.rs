//! Drafts as JSON Lines.

use serde_json::{Map, Value, json};

use super::document::Document;
use super::result::Draft;

impl Draft {
    /// One object, without what is known of the document around it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let atoms: Map<String, Value> = self
            .atoms
            .iter()
            .map(|atom| (atom.name.clone(), Value::from(atom.phrase.as_str())))
            .collect();
        json!({
            "v": 1,
            "id": self.id,
            "text": self.text,
            "status": self.status,
            "modality": self.modality,
            "domain": self.domain,
            "bound": self.bound,
            "count": self.count,
            "prob": self.probability,
            "template": self.template,
            "formula": self.formula,
            "parametric": self.parametric(),
            "confidence": self.confidence,
            "atoms": atoms,
            "alternatives": self.alternatives,
            "readback": self.readback,
            "accepts": self.accepts,
            "rejects": self.rejects,
            "question": self.question,
        })
    }
}

impl Document {
    /// One line per requirement.
    #[must_use]
    pub fn json_lines(&self) -> String {
        let mut out = String::new();
        for (index, draft) in self.drafts.iter().enumerate() {
            let mut line = draft.to_json();
            if let Value::Object(object) = &mut line {
                if let Some(first) = self.duplicate_of(index) {
                    object.insert("duplicate_of".to_owned(), Value::from(first.id.as_str()));
                }
                let conflicts: Vec<Value> = self
                    .conflicts_of(index)
                    .map(|(other, trace)| json!({"with": other.id, "trace": trace}))
                    .collect();
                if !conflicts.is_empty() {
                    object.insert("conflicts".to_owned(), Value::from(conflicts));
                }
            }
            out.push_str(&line.to_string());
            out.push('\n');
        }
        out
    }
}
