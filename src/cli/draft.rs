//! `guard draft`: translates requirements in plain English to a spec.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::failure::{Failure, Outcome};
use super::output::Output;
use crate::load::text_of;
use crate::{report, syntax};
use guard_english::draft::{Document, Status, sentences};

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
    /// Ask about unclear requirements, and confirm each reading
    #[arg(long)]
    interactive: bool,
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
    let document = Document::new(&text);
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

/// Goes through the requirements one by one on the terminal: shows each reading, and asks for another wording if it is
/// unclear or not what was meant. Returns the text that was agreed on.
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
    for sentence in sentences(text) {
        let (mut words, mut reading) = (sentence.text, sentence.reading);
        loop {
            let mut draft = guard_english::draft::draft(&words);
            if let Some(number) = reading {
                draft.take(number);
            }
            let _ = writeln!(err, "\n{}: {words}", sentence.id);
            let prompt = match draft.status {
                Status::Formal => {
                    report::draft::reading(&draft, &mut err, report::Paint::PLAIN)?;
                    for (number, other) in draft.choices() {
                        let _ = writeln!(err, "    {number}  {}", other.formula);
                    }
                    match draft.choices().len() {
                        0 => "is this correct? Enter: yes; s: skip; or type another wording",
                        _ => {
                            "is this correct? Enter: yes; a number: use that reading; s: skip; or type another wording"
                        }
                    }
                }
                Status::Unclear => {
                    let _ = writeln!(err, "  {}", draft.question.as_deref().unwrap_or_default());
                    "type another wording; s: skip; Enter: keep it as unclear"
                }
            };
            let _ = write!(err, "  {prompt}> ");
            let _ = err.flush();
            let answer = match lines.next() {
                Some(Ok(answer)) => answer.trim().to_owned(),
                // The end of the input agrees with all that is left.
                Some(Err(_)) | None => String::new(),
            };
            match answer.as_str() {
                "" | "y" | "yes" => {
                    let line = serde_json::json!({
                        "id": sentence.id,
                        "text": words,
                        "reading": reading,
                    });
                    kept.push_str(&line.to_string());
                    kept.push('\n');
                    break;
                }
                "s" | "skip" => break,
                other => match other.parse::<usize>() {
                    Ok(number) if draft.choices().iter().any(|(known, _)| *known == number) => {
                        reading = Some(number);
                    }
                    Ok(_) => {
                        let _ = writeln!(err, "  unknown reading {other}");
                    }
                    Err(_) => (words, reading) = (other.to_owned(), None),
                },
            }
        }
    }
    if kept.is_empty() {
        return Err(Failure::Usage("no requirements were kept".to_owned()));
    }
    Ok(kept)
}
