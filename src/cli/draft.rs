//! `guard draft`: translates requirements in plain English to a spec.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::failure::{Failure, Outcome};
use super::output::Output;
use crate::load::text_of;
use crate::{report, syntax};
use guard_english::draft::{Accept, Document, Draft, Status};

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
    let (text, source) = read(&args.input)?;
    let text = if args.interactive {
        settle(&text)?
    } else {
        text
    };
    let accept = match args.accept {
        AcceptRule::None => Accept::None,
        AcceptRule::Only => Accept::Only,
        AcceptRule::First => Accept::First,
    };
    let document = Document::new(&text, accept);
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
            output.write_all(spec.as_bytes())?;
        }
    }
    output.close()?;
    Ok(Outcome::Holds)
}

/// Returns the text, and what it is called. An argument that names no file is a requirement itself.
fn read(input: &str) -> Result<(String, String), Failure> {
    let path = Path::new(input);
    if input == "-" {
        return Ok((text_of(path)?, "the standard input".to_owned()));
    }
    let looks_like_a_file =
        !input.contains(char::is_whitespace) && (path.extension().is_some() || input.contains('/'));
    if path.exists() || looks_like_a_file {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        return Ok((text_of(path)?, format!("`{name}`")));
    }
    Ok((input.to_owned(), "a sentence".to_owned()))
}

/// Goes through the lines one by one on the terminal: shows what each may mean with traces that tell the proposals apart, and asks for
/// a choice or another wording. Returns the text of what was agreed on, as JSON Lines.
fn settle(text: &str) -> Result<String, Failure> {
    let stdin = std::io::stdin();
    let mut lines = stdin.lock().lines();
    let mut err = std::io::stderr();
    if !stdin.is_terminal() {
        let _ = writeln!(
            err,
            "`--interactive` needs the standard input for answers: give the requirements as a file"
        );
    }
    let mut kept = String::new();
    for draft in Document::new(text, Accept::None).drafts {
        if draft.status == Status::Context {
            continue;
        }
        let id = draft.id.clone();
        let (mut draft, mut choice) = (draft, None::<usize>);
        loop {
            let _ = writeln!(err);
            report::draft::line(&draft, &mut err, report::Paint::PLAIN)?;
            let prompt = match draft.status {
                Status::Formal => "is this correct? Enter: yes; s: skip; or type another wording",
                Status::Proposed => {
                    "which one is meant? a number; s: skip; Enter: leave open; or type another wording"
                }
                _ => "type another wording; s: skip; Enter: leave it",
            };
            let _ = write!(err, "  {prompt}> ");
            let _ = err.flush();
            let answer = match lines.next() {
                Some(Ok(answer)) => answer.trim().to_owned(),
                // At the end of the input all that is left stays as it is.
                Some(Err(_)) | None => String::new(),
            };
            match answer.as_str() {
                "" | "y" | "yes" => {
                    let text = draft.composed.as_ref().unwrap_or(&draft.text);
                    let line = serde_json::json!({"id": id, "text": text, "reading": choice});
                    kept.push_str(&line.to_string());
                    kept.push('\n');
                    break;
                }
                "s" | "skip" => break,
                other => match other.parse::<usize>() {
                    Ok(number) if draft.take(number) => choice = Some(number),
                    Ok(_) => {
                        let _ = writeln!(err, "  unknown proposal {other}");
                    }
                    Err(_) => {
                        draft = Draft {
                            id: id.clone(),
                            ..guard_english::draft::draft(other)
                        };
                        choice = None;
                    }
                },
            }
        }
    }
    if kept.is_empty() {
        return Err(Failure::Usage("no requirements were kept".to_owned()));
    }
    Ok(kept)
}
