//! `.guardc`: a compiled spec as one JSON document.
//!
//! It contains the sources, so that messages can point into them, their hash, and the compiled form. Readers compare the hash
//! of all texts, including the standard library, so an artifact never silently changes its meaning. The build that wrote it
//! reads the checked spec and its automata; any other build checks the sources again, and so does `guard check`, which compares
//! the two. The tables of queries on models are included too, bound to the spec and to the model file.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::diagnostic::Diagnostic;
use crate::eval::KeptAutomata;
use crate::hir;
use crate::monitor::TrainedModel;
use crate::query::Solved;
use crate::source::{SourceFile, SourceMap};
use crate::stdlib;
use crate::syntax::lexer::lex;

/// The format version that this tool writes and reads.
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
    /// BLAKE3 of all source texts.
    pub blake3: String,
    /// The spec.
    pub spec: Text,
    /// Its imports from files, by path relative to the spec's folder.
    pub imports: BTreeMap<String, Text>,
    /// The compiled properties, for people and other tools.
    #[serde(skip_deserializing)]
    pub properties: Vec<Box<RawValue>>,
    /// The plans of claims about models, for people and other tools.
    #[serde(skip_deserializing)]
    pub plans: Vec<Box<RawValue>>,
    /// The compiled form of the texts, for the build that wrote it.
    #[serde(default)]
    pub checked: Option<KeptSpec>,
    /// The solved models, for monitors.
    #[serde(default)]
    pub models: Vec<KeptModel>,
    /// The clauses of `enforce` with their arms, for people and other tools.
    #[serde(skip_deserializing)]
    pub decisions: Vec<Box<RawValue>>,
}

/// The build that reads and writes compiled forms: a hash of everything that affects compilation.
const BUILD: &str = env!("GUARD_BUILD");

/// A checked spec, so that the build that checked it need not do so again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptSpec {
    /// The build that checked it.
    build: String,
    /// BLAKE3 of the bytes.
    blake3: String,
    /// [`CheckedSpec`]: postcard, in base 64.
    #[serde(with = "in_base64")]
    bytes: Vec<u8>,
}

/// The content of a [`KeptSpec`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CheckedSpec {
    /// BLAKE3 of the texts from which it was compiled.
    pub(crate) texts: String,
    /// The files, in the order of their numbers.
    pub(crate) files: Vec<Origin>,
    /// The diagnostics of the checker; none of them is an error.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The spec.
    pub(crate) spec: Arc<hir::Spec>,
    /// Its automata.
    pub(crate) automata: KeptAutomata,
}

/// The origin of a file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Origin {
    /// The spec itself.
    Spec,
    /// The import with this path.
    Import(String),
    /// The library module with this path, without `std`.
    Library(String),
}

impl KeptSpec {
    /// Serialises a spec without errors; returns `None` if a file is neither the spec nor an import of it.
    pub(crate) fn new(
        spec: &Arc<hir::Spec>,
        sources: &SourceMap,
        imports: &BTreeMap<String, Text>,
        diagnostics: &[Diagnostic],
    ) -> Option<KeptSpec> {
        let files = sources.iter().enumerate().map(|(number, file)| {
            let same =
                |(_, text): &(&String, &Text)| text.name == file.name() && text.text == file.text();
            if number == 0 {
                Some(Origin::Spec)
            } else if let Some((path, _)) = imports.iter().find(same) {
                Some(Origin::Import(path.clone()))
            } else {
                library_of(file).map(|module| Origin::Library(module.to_owned()))
            }
        });
        let checked = CheckedSpec {
            texts: hash(sources),
            files: files.collect::<Option<_>>()?,
            diagnostics: diagnostics.to_vec(),
            spec: Arc::clone(spec),
            automata: KeptAutomata::of(spec),
        };
        let bytes = postcard::to_stdvec(&checked).ok()?;
        Some(KeptSpec {
            build: BUILD.to_owned(),
            blake3: blake3::hash(&bytes).to_hex().to_string(),
            bytes,
        })
    }

    /// Whether this build wrote it.
    pub(crate) fn is_ours(&self) -> bool {
        self.build == BUILD
    }

    /// Returns the content, or `None` if it is damaged.
    pub(crate) fn read(&self) -> Option<CheckedSpec> {
        let is_whole = blake3::hash(&self.bytes).to_hex().as_str() == self.blake3;
        let bytes = is_whole.then_some(&self.bytes)?;
        postcard::from_bytes(bytes).ok()
    }
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
    #[serde(with = "in_base64")]
    pub(crate) tables: Vec<u8>,
}

impl KeptModel {
    pub fn new(name: SmolStr, solved: &Solved, model: String) -> Result<KeptModel, String> {
        let bytes = postcard::to_stdvec(solved).map_err(|error| error.to_string())?;
        Ok(KeptModel {
            name,
            model,
            blake3: blake3::hash(&bytes).to_hex().to_string(),
            tables: bytes,
        })
    }

    /// Returns the tables.
    ///
    /// # Errors
    /// The tables are damaged.
    pub fn source(&self) -> Result<TrainedModel, String> {
        let is_whole = blake3::hash(&self.tables).to_hex().as_str() == self.blake3;
        let bytes = is_whole.then_some(&self.tables);
        let solved = bytes.and_then(|bytes| postcard::from_bytes(bytes).ok());
        let solved = solved.ok_or_else(|| format!("contains damaged tables of `{}`", self.name))?;
        Ok(TrainedModel::Solved(Box::new(solved), self.model.clone()))
    }
}

/// Bytes as text in base 64, which is decoded where it is read: a copy of the text was a tenth of the memory that a hook touched.
mod in_base64 {
    use serde::de::{Deserializer, Error, Visitor};
    use serde::ser::Serializer;

    use base64::Engine as _;

    use super::BASE64;

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&BASE64.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        from.deserialize_str(Text)
    }

    struct Text;

    impl Visitor<'_> for Text {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a text in base 64")
        }

        /// Any other text is taken as no bytes, of which the hash is wrong: another build may write it otherwise.
        fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
            Ok(BASE64.decode(text).unwrap_or_default())
        }
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

impl Text {
    /// Returns its name and the text.
    pub(crate) fn parts(&self) -> (&str, &str) {
        (&self.name, &self.text)
    }
}

/// The members that show why a file is not a compiled spec of this version.
#[derive(Deserialize)]
struct Head {
    guardc: String,
    version: u32,
    #[serde(default)]
    tool: String,
}

/// Whether a text is an artifact rather than a spec: no valid spec begins with a brace, but one that is being edited may.
pub fn is_artifact(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.contains("\"guardc\"")
}

/// Parses an artifact.
///
/// # Errors
/// A message for people.
pub(crate) fn read(text: &str) -> Result<Artifact, String> {
    let whole: Result<Artifact, serde_json::Error> = serde_json::from_str(text);
    let is_read = |whole: &Artifact| whole.guardc == "spec" && whole.version == VERSION;
    let damage = match whole {
        Ok(artifact) if is_read(&artifact) => return Ok(artifact),
        other => other.err(),
    };
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
    let damage = damage.map_or_else(String::new, |error| error.to_string());
    Err(format!("is a damaged compiled spec: {damage}"))
}

/// Returns the hash of all texts of a compilation, in order; names do not count, so a spec may move.
pub(crate) fn hash(sources: &SourceMap) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in sources.iter() {
        hasher.update(&(file.text().len() as u64).to_le_bytes());
        hasher.update(file.text().as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// Returns the path of the library module that a file is, without `std`.
fn library_of(file: &SourceFile) -> Option<&str> {
    let module = file.name().strip_prefix("std/")?.strip_suffix(".guard")?;
    let (_, text) = stdlib::module(&[module])?;
    (text == file.text()).then_some(module)
}

/// Returns the hash of the tokens of all texts of a compilation, in order, with those that begin a line or an item. Modules of the library
/// do not change in a build: their texts are hashed, which a hook does at its start.
pub(crate) fn token_hash(sources: &SourceMap) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in sources.iter() {
        if library_of(file).is_some() {
            hasher.update(&(file.text().len() as u64).to_le_bytes());
            hasher.update(file.text().as_bytes());
            continue;
        }
        let tokens = lex(file.text(), 0).tokens;
        hasher.update(&(tokens.len() as u64).to_le_bytes());
        for token in tokens {
            let range = token.start as usize..token.end as usize;
            let text = file.text().get(range).unwrap_or_default();
            let place = u8::from(token.first_on_line) + 2 * u8::from(token.column_zero);
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(&[place]);
            hasher.update(text.as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}
