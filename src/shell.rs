//! A shell line as the commands that it runs.
//!
//! `cd /tmp && sudo rm -rf "$HOME/x" > log` runs `cd /tmp`, `sudo rm -rf $HOME/x` and with it `rm -rf $HOME/x`, and writes
//! to `log`. A rule about deletions asks these words, not the text: `echo "rm -rf /"` deletes nothing, and `r\m -r -f /`
//! does.
//!
//! The line is parsed as Bash by tree-sitter's grammar. What only running it can tell (variables, globs, what a pipe feeds
//! to a shell) stays as it is written.
//!
//! It knows nothing of specs.

use std::fmt;

use tree_sitter::{Node, Parser};

/// The longest line that is read, in bytes.
pub const MAX_BYTES: usize = 16 * 1024;

/// How deep commands may stand in the texts of other commands: `sh -c "sh -c …"`.
const DEPTH: usize = 8;

/// Why a text has no commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellError {
    /// It is no shell line; the byte at which that shows.
    NotShell(usize),
    /// It is longer than [`MAX_BYTES`].
    TooLong(usize),
    /// Commands stand in the texts of other commands too deep to be followed.
    TooDeep,
}

impl fmt::Display for ShellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShellError::NotShell(byte) => write!(f, "invalid shell syntax at byte {byte}"),
            ShellError::TooLong(bytes) => {
                write!(
                    f,
                    "shell line of {bytes} bytes exceeds the limit of {MAX_BYTES}"
                )
            }
            ShellError::TooDeep => write!(f, "more than {DEPTH} nested shells"),
        }
    }
}

impl std::error::Error for ShellError {}

/// One command: its words without quotes and escapes. A redirection is one of its own: `[">", "log"]`.
pub type Command = Vec<String>;

/// All commands of a line, in the order in which they begin: those of pipes, lists, loops, functions, subshells and
/// substitutions, and those that other commands are given to run (`sudo`, `env`, `xargs`, `find -exec`, `sh -c`, `eval`,
/// `ssh`), which follow the command that runs them.
///
/// # Errors
/// What cannot be read as Bash, is too long, or nests too deep.
pub fn commands(line: &str) -> Result<Vec<Command>, ShellError> {
    let mut found = Vec::new();
    read(line, 0, &mut found)?;
    Ok(found)
}

fn read(line: &str, depth: usize, found: &mut Vec<Command>) -> Result<(), ShellError> {
    if depth > DEPTH {
        return Err(ShellError::TooDeep);
    }
    if line.len() > MAX_BYTES {
        return Err(ShellError::TooLong(line.len()));
    }
    let mut parser = Parser::new();
    let tree = parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()
        .and_then(|()| parser.parse(line, None))
        .ok_or(ShellError::NotShell(0))?;
    let root = tree.root_node();
    if root.has_error() {
        return Err(ShellError::NotShell(first_error(root)));
    }
    let mut cursor = root.walk();
    'nodes: loop {
        let node = cursor.node();
        match node.kind() {
            "command" | "declaration_command" | "unset_command" => {
                let words = words(node, line);
                let run = nested(&words);
                if !words.is_empty() {
                    found.push(words);
                }
                follow(run, depth, found)?;
            }
            "file_redirect" => found.push(redirection(node, line)),
            "heredoc_body" if feeds_shell(node, line) => {
                read(text_of(node, line), depth + 1, found)?;
            }
            _ => {}
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'nodes;
            }
        }
    }
    Ok(())
}

/// What a command is given to run.
enum Run {
    Nothing,
    /// Words that are a command.
    Words(Command),
    /// A text that a shell reads.
    Line(String),
}

fn follow(run: Run, depth: usize, found: &mut Vec<Command>) -> Result<(), ShellError> {
    match run {
        Run::Nothing => Ok(()),
        Run::Words(words) if depth >= DEPTH || words.is_empty() => {
            if words.is_empty() {
                Ok(())
            } else {
                Err(ShellError::TooDeep)
            }
        }
        Run::Words(words) => {
            let run = nested(&words);
            found.push(words);
            follow(run, depth + 1, found)
        }
        Run::Line(line) => read(&line, depth + 1, found),
    }
}

/// Commands that run another: their options that take a value, and how many operands come before the command.
const WRAPPERS: &[(&str, &str, usize)] = &[
    ("sudo", "CDghpRrTtUu", 0),
    ("doas", "Cu", 0),
    ("env", "CSu", 0),
    ("nohup", "", 0),
    ("nice", "n", 0),
    ("ionice", "cnpPu", 0),
    ("time", "fo", 0),
    ("timeout", "ks", 1),
    ("stdbuf", "eio", 0),
    ("setsid", "", 0),
    ("xargs", "adEILnPs", 0),
    ("exec", "a", 0),
    ("command", "", 0),
    ("builtin", "", 0),
    ("busybox", "", 0),
    ("watch", "n", 0),
];
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"];
const SSH_VALUES: &str = "BbcDEeFIiJLlmOoPpQRSWw";

fn nested(words: &[String]) -> Run {
    let [program, rest @ ..] = words else {
        return Run::Nothing;
    };
    let program = program.rsplit('/').next().unwrap_or(program);
    if SHELLS.contains(&program) {
        return shell_text(rest);
    }
    if let Some((_, values, operands)) = WRAPPERS.iter().find(|(name, ..)| *name == program) {
        let rest = after_options(rest, values);
        let rest = rest.get(*operands..).unwrap_or_default();
        let assigned = rest.iter().take_while(|word| is_assignment(word)).count();
        return Run::Words(rest.get(assigned..).unwrap_or_default().to_vec());
    }
    match program {
        "eval" => Run::Line(rest.join(" ")),
        "ssh" => match after_options(rest, SSH_VALUES) {
            [_, line @ ..] if !line.is_empty() => Run::Line(line.join(" ")),
            _ => Run::Nothing,
        },
        "find" => {
            let is_exec = |word: &&str| ["-exec", "-execdir", "-ok", "-okdir"].contains(word);
            let from = rest
                .iter()
                .map(String::as_str)
                .position(|word| is_exec(&word));
            from.map_or(Run::Nothing, |from| {
                let run = rest.iter().skip(from + 1);
                Run::Words(
                    run.take_while(|word| *word != ";" && *word != "+")
                        .cloned()
                        .collect(),
                )
            })
        }
        _ => Run::Nothing,
    }
}

/// The text after `-c`, which may stand among other letters: `-lc`.
fn shell_text(args: &[String]) -> Run {
    let is_c = |word: &String| {
        word.strip_prefix('-')
            .is_some_and(|letters| !letters.starts_with('-') && letters.contains('c'))
    };
    let line = args.iter().position(is_c).and_then(|at| args.get(at + 1));
    line.map_or(Run::Nothing, |line| Run::Line(line.clone()))
}

/// What follows the options; `values` are the letters that take a value, here or in the next word.
fn after_options<'a>(words: &'a [String], values: &str) -> &'a [String] {
    let mut rest = words;
    while let [word, more @ ..] = rest {
        if word == "--" {
            return more;
        }
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            break;
        };
        let takes_next = !letters.starts_with('-')
            && letters.find(|c| values.contains(c))
                == letters.char_indices().last().map(|(at, _)| at);
        rest = if takes_next {
            more.get(1..).unwrap_or_default()
        } else {
            more
        };
    }
    rest
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
    })
}

/// Whether a here-document is what a shell reads.
fn feeds_shell(body: Node<'_>, line: &str) -> bool {
    let statement = body.parent().and_then(|redirect| redirect.parent());
    let command = statement.and_then(|statement| statement.child_by_field_name("body"));
    command
        .filter(|command| command.kind() == "command")
        .is_some_and(|command| {
            words(command, line)
                .first()
                .is_some_and(|name| SHELLS.contains(&name.rsplit('/').next().unwrap_or(name)))
        })
}

/// The words of a command, without assignments before it and without redirections.
fn words(command: Node<'_>, line: &str) -> Command {
    let mut cursor = command.walk();
    let children = command.children(&mut cursor);
    let is_word = |node: &Node<'_>| {
        let skipped = [
            "variable_assignment",
            "file_redirect",
            "herestring_redirect",
            "subshell",
        ];
        // `export X=1` is about its assignments; those before a command are not words of it
        !skipped.contains(&node.kind()) || command.kind() == "declaration_command"
    };
    children
        .filter(is_word)
        .map(|node| unquoted(node, line))
        .collect()
}

fn redirection(node: Node<'_>, line: &str) -> Command {
    let mut cursor = node.walk();
    let parts = node
        .children(&mut cursor)
        .filter(|part| part.kind() != "file_descriptor");
    parts.map(|part| unquoted(part, line)).collect()
}

fn text_of<'a>(node: Node<'_>, line: &'a str) -> &'a str {
    line.get(node.byte_range()).unwrap_or_default()
}

/// A word as the command gets it; expansions stay as they are written.
fn unquoted(node: Node<'_>, line: &str) -> String {
    let text = text_of(node, line);
    match node.kind() {
        "word" => unescaped(text, |_| true),
        "raw_string" => {
            let inner = text
                .strip_prefix('\'')
                .and_then(|text| text.strip_suffix('\''));
            inner.unwrap_or(text).to_owned()
        }
        "string" => {
            let inner = text
                .strip_prefix('"')
                .and_then(|text| text.strip_suffix('"'));
            unescaped(inner.unwrap_or(text), |c| "\"\\$`\n".contains(c))
        }
        "ansi_c_string" => {
            let inner = text
                .strip_prefix("$'")
                .and_then(|text| text.strip_suffix('\''));
            ansi_c(inner.unwrap_or(text))
        }
        "command_name" | "concatenation" | "translated_string" => {
            let mut cursor = node.walk();
            let parts = node.children(&mut cursor).filter(|part| part.kind() != "$");
            parts.map(|part| unquoted(part, line)).collect()
        }
        _ => text.to_owned(),
    }
}

/// Backslashes are dropped before characters that they escape, with the line end that they join.
fn unescaped(text: &str, escapes: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(&next) if c == '\\' && escapes(next) => {
                chars.next();
                if next != '\n' {
                    out.push(next);
                }
            }
            _ => out.push(c),
        }
    }
    out
}

/// The inside of `$'…'`: `\n`, `\t`, `\xHH`, `\NNN` and the like are what they stand for.
fn ansi_c(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or_default());
        let escape = rest.get(at + 1..).unwrap_or_default();
        let Some(letter) = escape.chars().next() else {
            rest = "\\";
            break;
        };
        let digits = |text: &str, radix: u32, most: usize| {
            let len = text
                .chars()
                .take(most)
                .take_while(|c| c.is_digit(radix))
                .count();
            let value = text
                .get(..len)
                .and_then(|text| u32::from_str_radix(text, radix).ok());
            value.and_then(char::from_u32).map(|c| (c, len))
        };
        let after = escape.get(letter.len_utf8()..).unwrap_or_default();
        let numbered = match letter {
            'x' => digits(after, 16, 2),
            'u' => digits(after, 16, 4),
            'U' => digits(after, 16, 8),
            '0'..='7' => digits(escape, 8, 3).map(|(c, len)| (c, len - 1)),
            _ => None,
        };
        if let Some((c, len)) = numbered {
            out.push(c);
            rest = after.get(len..).unwrap_or_default();
            continue;
        }
        match letter {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'a' => out.push('\u{7}'),
            'b' => out.push('\u{8}'),
            'e' | 'E' => out.push('\u{1b}'),
            'f' => out.push('\u{c}'),
            'v' => out.push('\u{b}'),
            '\\' | '\'' | '"' | '?' => out.push(letter),
            _ => out.extend(['\\', letter]),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Where the first part stands that is no shell.
fn first_error(node: Node<'_>) -> usize {
    let mut cursor = node.walk();
    let child = node
        .children(&mut cursor)
        .find(|child| child.has_error() || child.is_missing());
    match child {
        Some(child) if !child.is_error() && !child.is_missing() => first_error(child),
        Some(child) => child.start_byte(),
        None => node.start_byte(),
    }
}
