//! Markov chains from files, for the verbs that take `--chain`.

use std::path::{Path, PathBuf};

use super::failure::{Failure, complain, warn};
use crate::learn::Model;
use guard_markov::format::{
    ExplicitFile, ExplicitFiles, has_intervals, read_drn, read_explicit, read_json,
    read_uncertain_explicit,
};
use guard_markov::interval::UncertainChain;
use guard_markov::{
    Chain, Definitions, Limits, Overlap, Scalar, Scope, TextError, explore, parse_model,
};

#[derive(Debug, clap::Args)]
pub(super) struct ChainArgs {
    /// Markov chain: PRISM's explicit files (.tra), Storm's DRN (.drn), the PRISM language (.prism, .pm), or a file
    /// from
    /// `guard import` (.json)
    #[arg(long, value_name = "FILE")]
    pub(super) chain: Option<PathBuf>,
    /// Labels of a .tra file (default: the .lab file with the same name)
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Rewards of a .tra file (default: the .srew and .trew files with the same name, numbered or not)
    #[arg(long, value_name = "FILE", num_args = 1..)]
    rewards: Vec<PathBuf>,
    /// Set constants, as in N=4,MAX=2
    #[arg(long = "const", value_name = "NAME=VALUE,…", value_delimiter = ',')]
    constants: Vec<String>,
    /// Compute with exact fractions
    #[arg(long)]
    pub(super) exact: bool,
    /// Limit the number of states of a model in the PRISM language
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_states)]
    max_states: usize,
}

impl Default for ChainArgs {
    fn default() -> ChainArgs {
        ChainArgs {
            chain: None,
            labels: None,
            rewards: Vec::new(),
            constants: Vec::new(),
            exact: false,
            max_states: Limits::default().max_states,
        }
    }
}

/// A chain with the meaning of names on it.
pub(super) struct LoadedChain<V> {
    pub(super) chain: Chain<V>,
    pub(super) scope: Scope,
}

impl ChainArgs {
    /// Returns the values given for constants.
    pub(super) fn definitions(&self) -> Result<Definitions, Failure> {
        let mut given = Definitions::default();
        for text in &self.constants {
            let pair = text.split_once('=');
            let pair = pair.map(|(name, value)| (name.trim(), value.trim()));
            let Some((name, value)) =
                pair.filter(|(name, value)| !name.is_empty() && !value.is_empty())
            else {
                return Err(Failure::Usage(format!(
                    "invalid constant `--const {text}`: expected NAME=VALUE"
                )));
            };
            if given.insert(name.to_owned(), value.to_owned()).is_some() {
                return Err(Failure::Usage(format!(
                    "duplicate constant `--const {name}`: expected one value for each"
                )));
            }
        }
        Ok(given)
    }

    /// Reports a given constant that nothing declares: its name may be misspelt, while the right one has a default.
    pub(super) fn check_constants(&self, scope: &Scope) -> Result<(), Failure> {
        let mut given = self.definitions()?.into_keys();
        let known: Vec<&str> = scope.constants().collect();
        let Some(name) = given.find(|name| !known.contains(&&**name)) else {
            return Ok(());
        };
        let declared = match known.is_empty() {
            true => "there are none".to_owned(),
            false => format!("declared constants: {}", known.join(", ")),
        };
        Err(Failure::Usage(format!(
            "unknown constant `--const {name}`; {declared}"
        )))
    }

    /// Reads the chain; reports deadlocks on the standard error.
    pub(super) fn load<V: Scalar>(&self, path: &Path) -> Result<LoadedChain<V>, Failure> {
        let text = read(path)?;
        let ending = path
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or("");
        let (chain, scope, deadlocks) = match ending {
            "drn" => {
                let found = read_drn(&text).map_err(|wrong| at(path, &wrong))?;
                (found.chain, Scope::default(), found.deadlocks)
            }
            "json" => {
                let found = read_json(&text).map_err(|wrong| match Model::parse(&text) {
                    Err(_) => at(path, &wrong),
                    Ok(_) => Failure::Usage(format!(
                        "`{0}` was written by `guard learn`: ask it with its spec, `guard query SPEC --model {0}`",
                        path.display()
                    )),
                })?;
                (found.chain, Scope::default(), found.deadlocks)
            }
            "tra" => self.explicit(path, &text)?,
            "prism" | "pm" | "nm" | "sm" => {
                let limits = Limits {
                    max_states: self.max_states,
                };
                let model = parse_model(&text).map_err(|wrong| at(path, &wrong))?;
                let given = self.definitions()?;
                let built = explore(&model, &given, &limits).map_err(|wrong| at(path, &wrong))?;
                if let Some(overlap) = &built.overlap {
                    warn_of_overlap(path, overlap);
                }
                (built.chain, built.scope, built.deadlocks)
            }
            _ => {
                return Err(Failure::Usage(format!(
                    "unknown model format of `{}`: expected a name ending in .tra, .drn, .prism, .pm or .json",
                    path.display()
                )));
            }
        };
        warn_of_deadlocks(deadlocks);
        Ok(LoadedChain { chain, scope })
    }

    /// Reads a chain with interval probabilities; returns `None` if the file has point probabilities.
    pub(super) fn load_uncertain(&self, path: &Path) -> Result<Option<UncertainChain>, Failure> {
        if path.extension().is_none_or(|ending| ending != "tra") {
            return Ok(None);
        }
        let text = read(path)?;
        if !has_intervals(&text) {
            return Ok(None);
        }
        if self.exact || !self.rewards.is_empty() {
            return Err(Failure::Usage(format!(
                "`{}` contains intervals, which do not support `--exact` or `--rewards`",
                path.display()
            )));
        }
        let labels = self.labels_of(path);
        let label_text = labels.as_deref().map(read).transpose()?;
        let files = ExplicitFiles {
            transitions: &text,
            labels: label_text.as_deref(),
            rewards: Vec::new(),
        };
        let (chain, deadlocks) = read_uncertain_explicit(&files).map_err(|(file, wrong)| {
            let labels = labels.as_deref().filter(|_| file == ExplicitFile::Labels);
            at(labels.unwrap_or(path), &wrong)
        })?;
        warn_of_deadlocks(deadlocks);
        Ok(Some(chain))
    }

    /// Returns the file of labels of a `.tra` file.
    fn labels_of(&self, path: &Path) -> Option<PathBuf> {
        let beside = path.with_extension("lab");
        match &self.labels {
            Some(path) => Some(path.clone()),
            None => beside.exists().then_some(beside),
        }
    }

    fn explicit<V: Scalar>(
        &self,
        path: &Path,
        text: &str,
    ) -> Result<(Chain<V>, Scope, usize), Failure> {
        let labels = self.labels_of(path);
        let structures = if self.rewards.is_empty() {
            rewards_beside(path)
        } else {
            paired(&self.rewards)?
        };
        let label_text = labels.as_deref().map(read).transpose()?;
        let mut texts = Vec::new();
        for (state, transition) in &structures {
            texts.push((
                state.as_deref().map(read).transpose()?,
                transition.as_deref().map(read).transpose()?,
            ));
        }
        let files = ExplicitFiles {
            transitions: text,
            labels: label_text.as_deref(),
            rewards: texts
                .iter()
                .map(|(state, transition)| (state.as_deref(), transition.as_deref()))
                .collect(),
        };
        let found = read_explicit(&files).map_err(|(file, wrong)| {
            let structure = |which: usize, transition: bool| {
                let pair = structures.get(which).cloned().unwrap_or_default();
                if transition { pair.1 } else { pair.0 }
            };
            let path = match file {
                ExplicitFile::Transitions => None,
                ExplicitFile::Labels => labels.clone(),
                ExplicitFile::StateRewards(which) => structure(which, false),
                ExplicitFile::TransitionRewards(which) => structure(which, true),
            }
            .unwrap_or_else(|| path.to_owned());
            at(&path, &wrong)
        })?;
        Ok((found.chain, Scope::default(), found.deadlocks))
    }
}

/// Warns about commands with overlapping guards: such a model is often meant as one with choices (`mdp`).
fn warn_of_deadlocks(deadlocks: usize) {
    let states = match deadlocks {
        0 => return,
        1 => "state has",
        _ => "states have",
    };
    warn(&format!(
        "{deadlocks} {states} no transition: added a self-loop and the label \"deadlock\" to each"
    ));
}

fn warn_of_overlap(path: &Path, overlap: &Overlap) {
    let [first, second] = overlap.places;
    warn(&format!(
        "{}:{}:{}: in state {} this command and the one at {}:{} are both enabled: the chain takes each enabled command with \
         equal probability",
        path.display(),
        first.line,
        first.column,
        overlap.state,
        second.line,
        second.column
    ));
}

/// A `.srew` and a `.trew` of one reward structure.
type RewardPair = (Option<PathBuf>, Option<PathBuf>);

type RewardFiles = Vec<RewardPair>;

/// Finds `<stem>.srew`, `<stem>.trew`, `<stem>1.srew`, … up to the first missing number.
fn rewards_beside(path: &Path) -> RewardFiles {
    let stem = path.with_extension("");
    let mut found = Vec::new();
    for number in 0.. {
        let name = |ending: &str| {
            let mut name = stem.as_os_str().to_owned();
            if number > 0 {
                name.push(number.to_string());
            }
            name.push(ending);
            Some(PathBuf::from(name)).filter(|path| path.exists())
        };
        match (name(".srew"), name(".trew")) {
            (None, None) if number > 0 => break,
            (None, None) => {}
            pair => found.push(pair),
        }
    }
    found
}

/// Returns reward files by their names without the extension, in the given order.
fn paired(files: &[PathBuf]) -> Result<RewardFiles, Failure> {
    let mut found: Vec<(PathBuf, RewardPair)> = Vec::new();
    for file in files {
        let stem = file.with_extension("");
        let at = match found.iter().position(|known| known.0 == stem) {
            Some(at) => at,
            None => {
                found.push((stem, (None, None)));
                found.len() - 1
            }
        };
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("srew") => found[at].1.0 = Some(file.clone()),
            Some("trew") => found[at].1.1 = Some(file.clone()),
            _ => {
                return Err(Failure::Usage(format!(
                    "`{}` is not a rewards file: expected a name ending in .srew or .trew",
                    file.display()
                )));
            }
        }
    }
    Ok(found.into_iter().map(|entry| entry.1).collect())
}

/// Returns the text of a file.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::Usage(format!("cannot read `{}`: {error}", path.display())))
}

/// Returns the fault in a file, with its position.
pub(super) fn at(path: &Path, wrong: &TextError) -> Failure {
    Failure::Usage(text_error_message(&path.display().to_string(), wrong))
}

/// Returns the message for a fault in a named text.
pub(super) fn text_error_message(name: &str, wrong: &TextError) -> String {
    let help = match &wrong.help {
        Some(help) => format!("; help: {help}"),
        None => String::new(),
    };
    format!("{name}:{wrong}{help}")
}

/// Reports the fault of a property, without ending the run.
pub(super) fn complain_of(name: &str, wrong: &TextError) {
    complain(&text_error_message(name, wrong));
}
