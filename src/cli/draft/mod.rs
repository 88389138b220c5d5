//! `guard draft`: translates requirements in plain English to a spec.

mod command;
mod http;
mod model;
mod traces;

use std::collections::VecDeque;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use guard_english::draft::{Accept, Document, Draft, Grounding, Status, drafts};
use guard_english::language_model::{LanguageModel, Question};

use super::failure::{Failure, Outcome};
use super::output::Output;
use super::progress;
use crate::audit::Progress;
use crate::inert::{self, Colours, inert};
use crate::load::text_of;
use crate::{report, syntax};
use model::ModelArgs;

#[derive(Debug, clap::Args)]
pub(super) struct DraftArgs {
    /// Requirement, or a file of requirements: prose, Markdown lists and tables, CSV, JSON Lines with `text`; `-`
    /// reads the
    /// standard input
    #[arg(value_name = "TEXT|FILE")]
    input: String,
    /// Format of the result
    #[arg(long, value_enum, default_value_t = DraftFormat::Human)]
    format: DraftFormat,
    /// Write the result to this file; a name ending in `.guard` selects `--format guard`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Choose among proposals in the terminal, and reword what is unclear
    #[arg(short, long)]
    interactive: bool,
    /// Proposals that count as chosen without asking
    #[arg(long, value_enum, default_value_t = AcceptRule::None, conflicts_with = "interactive")]
    accept: AcceptRule,
    /// List of the agent's tools as JSON (MCP `tools/list`, OpenAI, Anthropic): predicates of the spec are conditions on
    /// their calls
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Count on recorded traces how often each predicate is true; may be given several times
    #[arg(long, value_name = "TRACES", requires = "tools")]
    traces: Vec<String>,
    #[command(flatten)]
    model: ModelArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum AcceptRule {
    /// No proposal
    None,
    /// The proposal of a sentence that has only one
    Only,
    /// The first proposal of each sentence
    First,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum DraftFormat {
    /// Text
    Human,
    /// JSON Lines, one object per requirement
    Json,
    /// Spec
    Guard,
}

pub(super) fn run(args: DraftArgs) -> Result<Outcome, Failure> {
    if args.interactive && args.input == "-" {
        return Err(Failure::Usage(
            "`--interactive` reads answers from the standard input: give the requirements as a file".to_owned(),
        ));
    }
    let (text, source, path) = read(&args.input)?;
    let accept = match args.accept {
        AcceptRule::None => Accept::None,
        AcceptRule::Only => Accept::Only,
        AcceptRule::First => Accept::First,
    };
    let model = args
        .model
        .open(args.output.as_deref().or(path.as_deref()))?;
    let grounding = args.tools.as_deref().map(tools).transpose()?;
    let vocabulary = grounding
        .as_ref()
        .map(Grounding::vocabulary)
        .unwrap_or_default();
    let drafted = |text: &str| match &model {
        None => drafts(text, &vocabulary, None),
        Some(model) => progress::during("questions answered", |progress| {
            let model = Counted { model, progress };
            drafts(text, &vocabulary, Some((&model, args.model.effort())))
        }),
    };
    let mut made = drafted(&text);
    if args.interactive {
        made = settle(made, &drafted)?;
    }
    let mut document = Document::of(made, accept, grounding);
    if !args.traces.is_empty() {
        let (preamble, conditions) = (document.preamble(), document.conditions());
        document.observe(traces::count(&preamble, &conditions, &args.traces)?);
    }
    if document.drafts.is_empty() {
        return Err(Failure::Usage(format!(
            "no requirements found in {source}; give a sentence, or a file of sentences"
        )));
    }
    let is_spec = args
        .output
        .as_deref()
        .and_then(Path::extension)
        .is_some_and(|extension| extension == "guard");
    let format = if is_spec && args.format == DraftFormat::Human {
        DraftFormat::Guard
    } else {
        args.format
    };
    let mut output = Output::open(args.output.as_deref())?;
    let paint = output.paint;
    match format {
        DraftFormat::Human => report::draft::write(&document, &mut output, paint)?,
        DraftFormat::Json => output.write_all(document.json_lines().as_bytes())?,
        DraftFormat::Guard => {
            let spec = document.to_guard(&source);
            let spec = syntax::format(&spec).unwrap_or(spec);
            // A model or a document may have put invisible characters into comments.
            output.write_all(inert::lines(&spec, Colours::None).as_bytes())?;
        }
    }
    output.close()?;
    Ok(Outcome::Holds)
}

/// A language model whose answers are counted.
struct Counted<'a, M> {
    model: &'a M,
    progress: &'a Progress,
}

impl<M: LanguageModel> LanguageModel for Counted<'_, M> {
    fn answer(&self, question: &Question<'_>) -> Result<String, String> {
        let answer = self.model.answer(question);
        self.progress.done.fetch_add(1, Ordering::Relaxed);
        answer
    }
}

/// Reads a list of tools.
fn tools(path: &Path) -> Result<Grounding, Failure> {
    Grounding::read(&text_of(path)?)
        .map_err(|error| Failure::Usage(format!("`{}`: {error}", path.display())))
}

/// Returns the text, its name, and its path if it is a file. An argument that is not a file name is a requirement
/// itself.
fn read(input: &str) -> Result<(String, String, Option<PathBuf>), Failure> {
    let path = Path::new(input);
    if input == "-" {
        return Ok((text_of(path)?, "the standard input".to_owned(), None));
    }
    let looks_like_a_file =
        !input.contains(char::is_whitespace) && (path.extension().is_some() || input.contains('/'));
    if path.exists() || looks_like_a_file {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        return Ok((text_of(path)?, format!("`{name}`"), Some(path.to_owned())));
    }
    Ok((input.to_owned(), "a sentence".to_owned(), None))
}

/// Goes through the drafts one by one on the terminal: shows its possible meanings with traces that distinguish the proposals,
/// and asks for a choice or another wording, whose sentences replace the line. Returns the drafts without those that were skipped.
fn settle(drafts: Vec<Draft>, drafted: &dyn Fn(&str) -> Vec<Draft>) -> Result<Vec<Draft>, Failure> {
    let stdin = std::io::stdin();
    let mut lines = stdin.lock().lines();
    let mut err = std::io::stderr();
    let mut kept = Vec::new();
    let mut drafts = VecDeque::from(drafts);
    while let Some(mut draft) = drafts.pop_front() {
        if draft.status == Status::Context {
            kept.push(draft);
            continue;
        }
        loop {
            let mut shown = vec![b'\n'];
            report::draft::line(&draft, &mut shown, report::Paint::PLAIN)?;
            let prompt = match draft.status {
                Status::Formal => "is this correct? Enter: yes; s: skip; or type another wording",
                Status::Proposed => {
                    "which one is meant? a number; s: skip; Enter: leave open; or type another wording"
                }
                _ => "type another wording; s: skip; Enter: leave it",
            };
            let shown = String::from_utf8_lossy(&shown);
            let text = inert::lines(&shown, Colours::None);
            let _ = write!(err, "{text}  {prompt}> ");
            let _ = err.flush();
            // At the end of the input all remaining drafts stay unchanged.
            let answer = match lines.next() {
                Some(Ok(answer)) => answer.trim().to_owned(),
                Some(Err(_)) | None => String::new(),
            };
            match answer.as_str() {
                "" | "y" | "yes" => {
                    kept.push(draft);
                    break;
                }
                "s" | "skip" => break,
                other => match other.parse::<usize>() {
                    Ok(number) if draft.take(number) => {}
                    Ok(_) => {
                        let _ = writeln!(err, "  unknown proposal {}", inert(other));
                    }
                    Err(_) => {
                        let mut again = drafted(other);
                        for (place, again) in again.iter_mut().enumerate() {
                            again.line = draft.line;
                            again.id = match place {
                                0 => draft.id.clone(),
                                _ => format!("{}.{}", draft.id, place + 1),
                            };
                        }
                        if again.is_empty() {
                            let _ = writeln!(err, "  expected a sentence, found {}", inert(other));
                            continue;
                        }
                        draft = again.remove(0);
                        again
                            .into_iter()
                            .rev()
                            .for_each(|next| drafts.push_front(next));
                    }
                },
            }
        }
    }
    if kept.iter().all(|draft| draft.status == Status::Context) {
        return Err(Failure::Usage("no requirements were kept".to_owned()));
    }
    Ok(kept)
}
