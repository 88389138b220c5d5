//! Programs that no table of wrappers lists: options whose value is a line for a shell, and words that are a command.

use super::checks::check_options;
use super::options::{line_of, split_value, take};
use super::{Result, Run, base, listed, refuse};
use crate::table::{COMMAND_MARKS, LINE_OPERANDS, LINE_OPTIONS, OWN_WORDS, SHELLS, SSH_LINES};
use crate::words::{Field, Hole};

/// Returns what a program runs that is not listed as a wrapper.
pub(super) fn unlisted(program: &str, words: &[Field]) -> Result<Run> {
    let mut runs = lines_of_options(program, words)?;
    let shell = |word: &Field| matches!(word.text.as_str(), "--" | "==");
    if program == "capsh"
        && let Some(at) = words.iter().position(shell)
    {
        let mut shell = words.get(at..).unwrap_or_default().to_vec();
        shell.splice(..1, [Field::known("bash")]);
        runs.push(Run::Words(shell));
    }
    if listed(LINE_OPERANDS, program) {
        let lines = words.iter().filter(|word| word.text.contains(' '));
        for line in lines {
            runs.push(line_of(std::slice::from_ref(line))?);
        }
    }
    for (_, marks, operands) in COMMAND_MARKS
        .iter()
        .filter(|(names, ..)| listed(names, program))
    {
        let mark = words.iter().position(|word| listed(marks, &word.text));
        if let Some(command) = mark.and_then(|mark| words.get(mark + 1 + operands..)) {
            runs.push(Run::Words(command.to_vec()));
        }
    }
    // a command that is listed without being run can only cause a denial
    if !listed(OWN_WORDS, program)
        && let Some(at) = (0..words.len()).find(|at| {
            let command = words.get(*at..).unwrap_or_default();
            runs_line(command) || deletes_folders(command) && !is_subcommand(program, words, *at)
        })
    {
        runs.push(Run::Words(words.get(at..).unwrap_or_default().to_vec()));
    }
    Ok(Run::All(runs))
}

/// Whether words are a shell with its `-c`.
fn runs_line(words: &[Field]) -> bool {
    let Some((shell, rest)) = words.split_first() else {
        return false;
    };
    let mut options = rest
        .iter()
        .take_while(|word| word.text.starts_with(['-', '+']));
    let gives_line = |word: &Field| !word.text.starts_with("--") && word.text.contains('c');
    shell.is_known() && SHELLS.contains(&base(&shell.text)) && options.any(gives_line)
}

/// Whether words delete folders.
fn deletes_folders(words: &[Field]) -> bool {
    let Some((program, rest)) = words.split_first() else {
        return false;
    };
    let recursive = |word: &Field| match word.text.strip_prefix("--") {
        Some(long) => !long.is_empty() && "recursive".starts_with(long),
        None => word.text.starts_with('-') && word.text.contains(['r', 'R']),
    };
    program.is_known() && matches!(base(&program.text), "rm" | "srm") && rest.iter().any(recursive)
}

/// Whether a word is a subcommand of the program itself: `git rm`, `aws s3 rm`.
fn is_subcommand(program: &str, words: &[Field], at: usize) -> bool {
    let before = words.get(..at).unwrap_or_default();
    match program {
        "git" | "svn" | "hg" | "jj" | "dvc" | "gsutil" | "s3cmd" | "s5cmd" | "mc" => !before
            .iter()
            .any(|word| matches!(word.text.as_str(), "run" | "foreach" | "exec")),
        "aws" | "gcloud" | "ipfs" | "az" => true,
        _ => false,
    }
}

/// Returns the values of options that programs give to a shell, or run as a program with words.
pub(super) fn lines_of_options(program: &str, words: &[Field]) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    check_options(program, words)?;
    let options = LINE_OPTIONS
        .iter()
        .find(|(names, _)| listed(names, program));
    let Some((_, options)) = options else {
        return Ok(runs);
    };
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let (name, inside) = match word.text.starts_with("--") {
            true => split_value(&word.text),
            false => match word.text.split_at_checked(2) {
                Some((name, value)) => (name, Some(value).filter(|value| !value.is_empty())),
                None => continue,
            },
        };
        // `getopt_long` takes an abbreviation; the next word may be its value or not
        let abbreviates = |option: &str| {
            name.len() > "--".len() && option.starts_with(name) && name.starts_with("--")
        };
        let full = match listed(options, name) {
            true => name,
            false => match options
                .split_ascii_whitespace()
                .find(|one| abbreviates(one))
            {
                Some(full) if name != "--checkpoint" => full,
                _ => continue,
            },
        };
        let is_short = full != name;
        let name = full;
        let value = match inside {
            Some(value) => Field {
                text: value.to_owned(),
                ..word.clone()
            },
            None if at == words.len() => break,
            None if is_short => match words.get(at) {
                Some(next) => next.clone(),
                None => break,
            },
            None => take(words, &mut at, word)?.clone(),
        };
        // a value of which the kind is not known
        if value.hole != Hole::None && !value.environment && value.text.starts_with(['$', '`']) {
            return refuse("the value of an option", &value);
        }
        let line = match program {
            "ssh" | "scp" | "sftp" | "slogin" | "autossh" if name == "-o" => {
                let key = value.text.split(['=', ' ']).next().unwrap_or_default();
                listed(SSH_LINES, &key.to_ascii_lowercase())
                    .then(|| value.text.get(key.len() + 1..).unwrap_or_default())
            }
            "vi" | "vim" | "nvim" | "view" | "ex" => {
                let command = value.text.trim_start_matches([':', ' ']);
                command
                    .find('!')
                    .map(|mark| command.get(mark + 1..).unwrap_or_default())
            }
            // `--checkpoint-action=ACTION`, of which `exec=LINE` is one
            "tar" | "gtar" if name == "--checkpoint-action" => value.text.strip_prefix("exec="),
            _ => Some(value.text.as_str()),
        };
        if let Some(line) = line {
            let line = Field {
                text: line.to_owned(),
                ..value.clone()
            };
            runs.push(line_of(&[line])?);
        }
    }
    Ok(runs)
}
