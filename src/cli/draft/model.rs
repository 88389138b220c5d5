//! The language model of `guard draft`: its source, its budget, and the log from which its answers are replayed.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use guard_english::language_model::{Effort, LanguageModel, Question};
use serde::{Deserialize, Serialize};

use super::command::Command;
use super::http::Endpoint;
use crate::cli::failure::Failure;
use crate::cli::limits::DAY;
use crate::integrations::short_hash;

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Language model")]
pub(super) struct ModelArgs {
    /// Ask a command about free text: the prompt is its standard input, its standard output is the answer
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["model", "offline"])]
    with: Option<String>,
    /// Ask an HTTP endpoint about free text: an OpenAI-compatible API, or Anthropic's messages
    #[arg(
        long,
        value_name = "URL",
        requires = "model_name",
        conflicts_with = "offline"
    )]
    model: Option<String>,
    /// Name of the model at the endpoint
    #[arg(long, value_name = "NAME", requires = "model")]
    model_name: Option<String>,
    /// Use only answers that were recorded before
    #[arg(long)]
    offline: bool,
    /// Log of questions and answers, from which answers are reused; default: beside the result or the input,
    /// `NAME.draft.jsonl`
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Independent answers for each line; those that differ are shown as alternatives
    #[arg(long, value_name = "N", default_value_t = Effort::default().samples, value_parser = clap::value_parser!(u32).range(1..=9))]
    samples: u32,
    /// Times that an answer with faults is returned to the model
    #[arg(long, value_name = "N", default_value_t = Effort::default().rounds, value_parser = clap::value_parser!(u32).range(0..=9))]
    rounds: u32,
    /// Seconds within which an answer must be complete
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=DAY))]
    timeout: u64,
    /// Limit the questions of a run; recorded answers do not count
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    max_questions: u32,
    /// Lines that are asked about at the same time
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: u16,
}

/// The source of answers.
enum Source {
    Command(Command),
    Http(Endpoint),
    /// Only the log.
    Log,
}

/// A line of the log.
#[derive(Debug, Deserialize, Serialize)]
struct Entry {
    v: u32,
    /// The hash of question and sample.
    key: String,
    /// The model that answered.
    model: String,
    sample: u32,
    question: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Milliseconds until the answer.
    ms: u128,
}

/// A language model with a budget and a log.
pub(super) struct LoggedModel {
    source: Source,
    /// The name of the model in the log; empty for any model.
    name: String,
    log: Mutex<Log>,
    questions: AtomicU32,
    limits: Limits,
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    questions: u32,
    patience: Duration,
}

struct Log {
    /// Answers by key and model.
    answers: HashMap<(String, String), String>,
    file: Option<File>,
}

impl ModelArgs {
    pub(super) fn effort(&self) -> Effort {
        Effort {
            samples: self.samples,
            rounds: self.rounds,
            jobs: usize::from(self.jobs),
        }
    }

    /// Returns the model that the arguments name, or `None` if they name none. `beside` is the file that the log is named after.
    pub(super) fn open(&self, beside: Option<&Path>) -> Result<Option<LoggedModel>, Failure> {
        let source = match (&self.with, &self.model) {
            (Some(command), _) => Source::Command(Command::new(command)),
            (None, Some(url)) => {
                let name = self.model_name.as_deref().unwrap_or_default();
                Source::Http(Endpoint::new(url, name).map_err(Failure::Usage)?)
            }
            (None, None) if self.offline => Source::Log,
            (None, None) => return Ok(None),
        };
        let path = match (&self.log, beside) {
            (Some(path), _) => Some(path.clone()),
            (None, Some(path)) => Some(path.with_extension("draft.jsonl")),
            (None, None) => None,
        };
        if let (Source::Log, None) = (&source, &path) {
            return Err(Failure::Usage(
                "`--offline` needs the log of earlier answers: name it with `--log FILE`"
                    .to_owned(),
            ));
        }
        let log = Log::open(path.as_deref(), matches!(source, Source::Log))?;
        Ok(Some(LoggedModel {
            name: match &source {
                Source::Command(command) => command.name(),
                Source::Http(endpoint) => endpoint.name(),
                Source::Log => String::new(),
            },
            source,
            log: Mutex::new(log),
            questions: AtomicU32::new(0),
            limits: Limits {
                questions: self.max_questions,
                patience: Duration::from_secs(self.timeout),
            },
        }))
    }
}

impl Log {
    /// Reads the answers of a log, and opens it for more. A line that is not an entry, such as one that was cut off, is
    /// ignored.
    fn open(path: Option<&Path>, only_read: bool) -> Result<Log, Failure> {
        let mut log = Log {
            answers: HashMap::new(),
            file: None,
        };
        let Some(path) = path else { return Ok(log) };
        let failed = |error: std::io::Error| {
            Failure::Usage(format!("cannot open the log `{}`: {error}", path.display()))
        };
        let mut whole = true;
        match File::open(path) {
            Ok(file) => {
                for line in BufReader::new(file).split(b'\n') {
                    let line = line.map_err(failed)?;
                    let entry = serde_json::from_slice::<Entry>(&line);
                    whole = line.is_empty() || entry.is_ok();
                    if let Ok(entry) = entry
                        && let Some(answer) = entry.answer
                    {
                        log.answers
                            .insert((entry.key.clone(), String::new()), answer.clone());
                        log.answers.insert((entry.key, entry.model), answer);
                    }
                }
            }
            Err(error) if only_read => return Err(failed(error)),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(error));
            }
            Err(_) => {}
        }
        if !only_read {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let mut file = file.map_err(failed)?;
            if !whole {
                file.write_all(b"\n").map_err(failed)?;
            }
            log.file = Some(file);
        }
        Ok(log)
    }
}

impl LoggedModel {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a question.
    fn count(&self) -> Result<(), String> {
        let allowed = self.limits.questions;
        let count = |asked: u32| (asked < allowed).then_some(asked + 1);
        let order = Ordering::Relaxed;
        match self.questions.fetch_update(order, order, count) {
            Ok(_) => Ok(()),
            Err(_) => Err(format!(
                "the limit of {allowed} questions is reached (`--max-questions`)"
            )),
        }
    }

    /// Asks the source, within the budget.
    fn ask(&self, question: &Question<'_>) -> Result<String, String> {
        let patience = self.limits.patience;
        match &self.source {
            Source::Command(command) => {
                self.count()?;
                command.answer(question, patience)
            }
            Source::Http(endpoint) => {
                self.count()?;
                endpoint.answer(question, patience)
            }
            Source::Log => Err("the log has no answer to this question".to_owned()),
        }
    }
}

impl LanguageModel for LoggedModel {
    fn answer(&self, question: &Question<'_>) -> Result<String, String> {
        let key = key(question);
        let known = (key, self.name.clone());
        if let Some(answer) = self.log().answers.get(&known) {
            return Ok(answer.clone());
        }
        let begin = Instant::now();
        let answer = self.ask(question);
        let mut log = self.log();
        if let Some(file) = &mut log.file {
            let entry = Entry {
                v: PROTOCOL,
                key: known.0.clone(),
                model: known.1.clone(),
                sample: question.sample,
                question: question.text.to_owned(),
                answer: answer.as_ref().ok().cloned(),
                error: answer.as_ref().err().cloned(),
                ms: begin.elapsed().as_millis(),
            };
            let mut line = serde_json::to_string(&entry).map_err(|error| error.to_string())?;
            line.push('\n');
            file.write_all(line.as_bytes())
                .map_err(|error| format!("the log cannot be written: {error}"))?;
        }
        if let Ok(answer) = &answer {
            log.answers.insert(known, answer.clone());
        }
        answer
    }
}

/// The version of the protocol: answers to questions of another version are not reused.
const PROTOCOL: u32 = 1;

/// Returns the hash that an answer is kept under: it depends on the question and the number of the sample, but not on the
/// instructions, so that a change of their wording does not invalidate answers.
fn key(question: &Question<'_>) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&PROTOCOL.to_le_bytes());
    hasher.update(&question.sample.to_le_bytes());
    hasher.update(question.text.as_bytes());
    short_hash(&hasher.finalize())
}
