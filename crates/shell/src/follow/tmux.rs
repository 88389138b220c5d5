//! Commands of `tmux`: lines that it gives to a shell, keys that it types, and commands of its own in words.

use super::options::{line_of, script_text, split_value};
use super::{Place, Result, Run, refuse};
use crate::table::{TMUX_COMMANDS, TMUX_QUIET, listed};
use crate::walk::Walk;
use crate::words::{Field, Hole};

/// Keys by their names, and the text that they type; the last ones only interrupt what runs.
const KEYS: &[(&str, &str)] = &[
    ("Enter", "\n"),
    ("C-m", "\n"),
    ("KPEnter", "\n"),
    ("Space", " "),
    ("C-c", ""),
];

impl Walk<'_> {
    /// Returns what the commands of `tmux` run, which words `;` separate. Its server may run it in any folder.
    pub(super) fn tmux(&mut self, words: &[Field]) -> Result<Run> {
        let mut rest = words;
        let mut files = Vec::new();
        while let [word, more @ ..] = rest
            && word.text.starts_with('-')
        {
            rest = more;
            let letters = word.text.trim_start_matches('-');
            let at = letters.find(['L', 'S', 'f', 'c', 'T']);
            // it reads commands from the standard input
            if letters
                .get(..at.unwrap_or(letters.len()))
                .is_some_and(|flags| flags.contains('C'))
            {
                return refuse("the commands of `tmux`", word);
            }
            let Some((option, inside)) =
                at.and_then(|at| letters.split_at_checked(at)?.1.split_at_checked(1))
            else {
                continue;
            };
            let value = match (inside.is_empty(), rest) {
                (false, _) => Field::known(inside),
                (true, [value, more @ ..]) => {
                    rest = more;
                    value.clone()
                }
                (true, []) => break,
            };
            match option {
                "f" => files.push(value),
                "c" => return line_of(&[value]),
                _ => {}
            }
        }
        for file in &files {
            self.tmux_file(file)?;
        }
        let mut runs = Vec::new();
        for command in rest.split(|word| word.text == ";") {
            runs.push(self.tmux_command(command)?);
        }
        Ok(Run::At(Place::Elsewhere, Box::new(Run::All(runs))))
    }

    /// Refuses commands in a file that the line writes, or in an input.
    fn tmux_file(&mut self, file: &Field) -> Result<()> {
        match self.file(file)? {
            Run::Nothing => Ok(()),
            _ => refuse("the commands of `tmux`", file),
        }
    }

    fn tmux_command(&mut self, words: &[Field]) -> Result<Run> {
        let Some((name, rest)) = words.split_first() else {
            return Ok(Run::Nothing);
        };
        // `tmux "run-shell 'LINE'; …"`, and a `;` at the end of a word
        let is_plain = name.hole == Hole::None && !name.text.contains([' ', ';']);
        let open = rest
            .iter()
            .find(|word| word.text.ends_with(';') || runs_a_line(&word.text));
        if let Some(word) = (!is_plain).then_some(name).or(open) {
            return refuse("a line of `tmux`", word);
        }
        let leaves =
            name.text.starts_with("detach") && rest.iter().any(|word| word.text.contains('E'));
        if leaves {
            return refuse("a line of `tmux`", name);
        }
        if listed(TMUX_QUIET, &name.text) {
            return Ok(Run::Nothing);
        }
        let Some((_, kind, values)) = TMUX_COMMANDS
            .iter()
            .find(|(names, ..)| listed(names, &name.text))
        else {
            return refuse("a command of `tmux`", name);
        };
        let (options, operands) = sorted(rest, values);
        match (*kind, operands) {
            ("keys", _) => keys(&options, operands),
            ("file", _) => {
                operands.iter().try_for_each(|file| self.tmux_file(file))?;
                Ok(Run::Nothing)
            }
            // commands of its own, with `-C` or `-F` in place of a line
            ("shell", _) if options.contains(['C', 'F']) => refuse("a command of `tmux`", name),
            ("shell", []) => Ok(Run::Nothing),
            ("shell", [line, commands @ ..]) => {
                if let Some(command) = commands.first() {
                    return refuse("a command of `tmux`", command);
                }
                shell_line(line)
            }
            // one word is a line, and several are a program with words
            (_, []) => Ok(Run::Nothing),
            (_, [line]) => shell_line(line),
            (_, words) => {
                words.iter().try_for_each(check_format)?;
                Ok(Run::Words(words.to_vec()))
            }
        }
    }
}

/// Whether a format of `tmux` runs a line, or expands again what it expands to: `#(LINE)`, `#{E:window_name}`.
fn runs_a_line(text: &str) -> bool {
    let expands_again = ["E:", "E;", "T:", "T;"]
        .iter()
        .any(|one| text.contains(one));
    text.contains("#(") || text.contains("#{") && expands_again
}

/// Returns the letters of the options of a command, and its operands.
fn sorted<'w>(words: &'w [Field], values: &str) -> (String, &'w [Field]) {
    let mut letters = String::new();
    let mut rest = words;
    while let [word, more @ ..] = rest
        && word.text.starts_with('-')
        && word.text.len() > 1
    {
        rest = more;
        if word.text == "--" {
            break;
        }
        let (option, _) = split_value(&word.text);
        let text = option.trim_start_matches('-');
        let at = text.find(|letter| values.contains(letter));
        letters.push_str(text.get(..at.unwrap_or(text.len())).unwrap_or_default());
        if let Some(at) = at
            && at + 1 == text.len()
            && let [_, more @ ..] = rest
        {
            rest = more;
        }
    }
    (letters, rest)
}

/// Refuses a text in which `tmux` replaces formats: `#{…}`, `#S`.
fn check_format(word: &Field) -> Result<()> {
    match word.text.contains('#') {
        true => refuse("a format of `tmux`", word),
        false => Ok(()),
    }
}

fn shell_line(word: &Field) -> Result<Run> {
    check_format(word)?;
    line_of(std::slice::from_ref(word))
}

/// Returns what is typed into a shell, with words without blanks between them. It must be whole lines: what was typed before is not known.
fn keys(options: &str, words: &[Field]) -> Result<Run> {
    let mut text = String::new();
    let is_literal = options.contains('l');
    for word in words {
        let key = KEYS
            .iter()
            .find(|(name, _)| *name == word.text && !is_literal);
        // `Up`, `C-u` and `M-x` are keys as well
        let names_key = !is_literal
            && (word.text.starts_with(['C', 'M', 'S', '^']) && word.text.contains(['-', '^'])
                || word.text.len() > 1
                    && word.text.chars().all(|c| c.is_ascii_alphanumeric())
                    && word.text.starts_with(|c: char| c.is_ascii_uppercase()));
        match key {
            Some((_, typed)) => text.push_str(typed),
            None if names_key || word.text.contains(char::is_control) => {
                return refuse("a key of `tmux`", word);
            }
            None => text.push_str(&script_text(word)?),
        }
    }
    let is_odd = options.contains(['H', 'X', 'N', 'K', 'F', 'M', 'R']);
    if is_odd || !text.is_empty() && !text.ends_with('\n') || text.contains(['!', '#']) {
        return refuse("the keys of `tmux`", &Field::known(text));
    }
    Ok(Run::Given(text, false))
}
