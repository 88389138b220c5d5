//! `.guardc`: a compiled spec as one JSON document.
//!
//! It holds the sources, so that messages can still point into them, their hash, and what they compile to. Whoever reads
//! it compiles the sources again (that takes milliseconds) and compares the hash of everything that took part, the
//! standard library included: an artifact never silently means something else than when it was made. What does not take
//! milliseconds is kept: the tables of queries on models, bound to the spec and to the model file.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::monitor::TrainedModel;
use crate::query::Solved;
use crate::source::SourceMap;

/// The version that this tool writes and reads.
pub(crate) const VERSION: u32 = 1;

/// The document.
#[derive(Debug, Serialize, Deserialize)]
pub struct Artifact {
    /// Always `spec`; its presence also distinguishes an artifact from a spec.
    pub guardc: String,
    /// The version of the format.
    pub version: u32,
    /// The version of the tool that wrote it.
    pub tool: String,
    /// BLAKE3 of all texts that took part.
    pub blake3: String,
    /// The spec.
    pub spec: Text,
    /// Its imports from files beside it, by path below its folder.
    pub imports: BTreeMap<String, Text>,
    /// The compiled properties, for people and other tools.
    pub properties: Vec<Box<RawValue>>,
    /// The plans of claims about models, for people and other tools.
    #[serde(default)]
    pub plans: Vec<Box<RawValue>>,
    /// The solved models, for monitors.
    #[serde(default)]
    pub models: Vec<KeptModel>,
    /// The clauses of `enforce` with their arms, for people and other tools.
    #[serde(default)]
    pub decisions: Vec<Box<RawValue>>,
}

/// A solved model, so that a monitor need not solve it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptModel {
    /// Its name in the spec.
    pub name: SmolStr,
    /// BLAKE3 of the model file.
    pub(crate) model: String,
    /// BLAKE3 of the tables.
    pub(crate) blake3: String,
    /// The tables: postcard, in base 64.
    pub(crate) tables: String,
}

impl KeptModel {
    pub fn new(name: SmolStr, solved: &Solved, model: String) -> Result<KeptModel, String> {
        let bytes = postcard::to_stdvec(solved).map_err(|error| error.to_string())?;
        Ok(KeptModel {
            name,
            model,
            blake3: blake3::hash(&bytes).to_hex().to_string(),
            tables: BASE64.encode(&bytes),
        })
    }

    /// Returns the tables.
    ///
    /// # Errors
    /// They are damaged.
    pub fn source(&self) -> Result<TrainedModel, String> {
        let bytes = BASE64.decode(&self.tables).ok();
        let bytes = bytes.filter(|bytes| blake3::hash(bytes).to_hex().as_str() == self.blake3);
        let solved = bytes.and_then(|bytes| postcard::from_bytes(&bytes).ok());
        let solved = solved.ok_or_else(|| format!("contains damaged tables of `{}`", self.name))?;
        Ok(TrainedModel::Solved(Box::new(solved), self.model.clone()))
    }
}

/// One text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Text {
    /// Its name in messages.
    pub(crate) name: String,
    /// The text.
    pub(crate) text: String,
}

/// The first two members, read before anything else is believed.
#[derive(Deserialize)]
struct Head {
    guardc: String,
    version: u32,
    #[serde(default)]
    tool: String,
}

/// Whether a text is an artifact rather than a spec: no spec begins with a brace.
pub fn is_artifact(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Reads an artifact.
///
/// # Errors
/// A message for people.
pub(crate) fn read(text: &str) -> Result<Artifact, String> {
    let head: Head = serde_json::from_str(text)
        .map_err(|error| format!("begins like a compiled spec but is invalid: {error}"))?;
    if head.guardc != "spec" {
        return Err(format!("is a compiled `{}`, not a spec", head.guardc));
    }
    if head.version != VERSION {
        return Err(format!(
            "has format version {} (written by guard {}), but guard {} reads version \
                    {VERSION}; compile the spec again",
            head.version,
            if head.tool.is_empty() {
                "?"
            } else {
                &head.tool
            },
            env!("CARGO_PKG_VERSION"),
        ));
    }
    serde_json::from_str(text).map_err(|error| format!("is a damaged compiled spec: {error}"))
}

/// Returns the hash of all texts of a compilation, in order; names do not count, so a spec may move.
pub fn hash(sources: &SourceMap) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in sources.iter() {
        hasher.update(&(file.text().len() as u64).to_le_bytes());
        hasher.update(file.text().as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}
