//! The standard input of commands: what they read, and what is left of it for others.

use super::ShellError;
use super::follow::base;
use super::option_table::{READERS, Reader};
use super::syntax::{
    self, Assign, Kind, Node, Part, Redirect, Script, Target, Word, behind_prefixes,
};
use super::table::{ASKS, GIT_LEAVES_INPUT, LEAVES_INPUT, SHELLS, listed};
use super::walk::{Scope, Walk};
use super::words::{Field, Hole};
use super::wrappers::WRAPPERS;

type Result<T> = std::result::Result<T, ShellError>;

/// The standard input of a command.
#[derive(Clone, Debug)]
pub(super) enum Feed {
    /// The standard input of the line itself.
    Nothing,
    Text(String),
    Unknown,
    /// The rest of the script, which its shell reads from its standard input.
    Script,
}

impl Feed {
    /// Whether there is an input that the text does not determine.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Feed::Unknown | Feed::Script)
    }
}

/// The error for a command of a script that reads the rest of the script.
pub(super) fn script_is_read(written: &str) -> ShellError {
    ShellError::undetermined("the rest of a script, which a command of it reads", written)
}

/// Whether a word is the path of the standard input, or of a descriptor that may be it.
fn is_input(path: &str) -> bool {
    path.contains("/fd/") || base(path) == "stdin"
}

/// Whether an option is one of these: a letter or a long name, which may be abbreviated.
fn is_one_of(options: &str, option: &str) -> bool {
    let is_short_for = |one: &str| one.len() > 1 && option.len() > 1 && one.starts_with(option);
    let mut options = options.split_ascii_whitespace();
    !option.is_empty() && options.any(|one| one == option || is_short_for(one))
}

/// Whether a word of a program that reads files names one, and is no value of an option.
fn names_file(reader: &Reader, words: &[Field]) -> bool {
    let (mut n_values, mut n_operands, mut n_before) = (0usize, 0usize, reader.operands);
    let mut ended = false;
    for word in words {
        let text = word.text.as_str();
        if n_values > 0 {
            n_values -= 1;
            continue;
        }
        let options = text
            .strip_prefix('-')
            .filter(|one| !one.is_empty() && !ended);
        let Some(letters) = options else {
            let is_value = reader.assigns && text.contains('=');
            let is_number = text.starts_with('+') && !ended;
            let may_vanish = word.hole == Hole::Start && word.splits && word.empty;
            let is_file = !is_value && !is_number && !may_vanish && !is_input(text);
            n_operands += usize::from(is_file);
            continue;
        };
        ended |= letters == "-";
        let (option, takes) = match letters.strip_prefix('-') {
            Some(long) => {
                let (name, value) = long
                    .split_once('=')
                    .map_or((long, None), |(n, v)| (n, Some(v)));
                let takes = match is_one_of(reader.pairs, name) {
                    true => 2,
                    false => usize::from(value.is_none() && is_one_of(reader.long_values, name)),
                };
                (name.to_owned(), takes)
            }
            None => {
                let has_value = |letter: char| {
                    reader.values.contains(letter) || reader.attached.contains(letter)
                };
                let found = letters
                    .char_indices()
                    .find(|(_, letter)| has_value(*letter));
                let option = found
                    .map(|(_, letter)| letter)
                    .filter(|one| !reader.attached.contains(*one));
                let is_last =
                    found.is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len());
                (
                    option.map(String::from).unwrap_or_default(),
                    usize::from(is_last && option.is_some()),
                )
            }
        };
        n_values = takes;
        if is_one_of(reader.code, &option) {
            n_before = 0;
        }
    }
    n_operands > n_before
}

/// Whether a command may read a part of the input that it shares with the shell that reads the script.
pub(super) fn may_read_script(program: &str, words: &[Field]) -> bool {
    if SHELLS.contains(&program) {
        let is_operand = |word: &Field| !word.text.starts_with('-') && !is_input(&word.text);
        return !words.iter().any(is_operand) || words.iter().any(|word| is_input(&word.text));
    }
    if LEAVES_INPUT_IN_SHELL.contains(&program) {
        return words.iter().any(|word| word.text.contains("/fd/"));
    }
    let reads = |word: &Field| {
        let text = word.text.as_str();
        // also in code: `getline < "-"`
        is_input(text)
            || text.ends_with('-') && text != "--"
            || text.contains("\"-\"")
            || text.contains("stdin")
    };
    let asks = |word: &Field| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        let is_short = letters.starts_with(|c: char| c.is_ascii_alphabetic());
        word.text.starts_with("--interactive")
            || word.text.starts_with("--patch")
            || is_short && letters.contains(['i', 'I']) && listed(ASKS, program)
            || letters.starts_with("ok")
    };
    let leaves = listed(LEAVES_INPUT, program)
        || READERS
            .iter()
            .any(|one| listed(one.names, program) && names_file(one, words))
        || program == "git"
            && words
                .first()
                .is_some_and(|one| listed(GIT_LEAVES_INPUT, &one.text))
        || WRAPPERS.iter().any(|one| listed(one.names, program));
    !leaves || words.iter().any(|word| reads(word) || asks(word))
}

/// Builtins that read no input themselves.
const LEAVES_INPUT_IN_SHELL: &[&str] = &[
    ":", ".", "[", "alias", "bg", "break", "builtin", "cd", "command", "compgen", "complete",
    "continue", "declare", "dirs", "disown", "echo", "enable", "eval", "exec", "exit", "export",
    "false", "fg", "hash", "jobs", "kill", "let", "local", "popd", "printf", "pushd", "pwd",
    "readonly", "return", "set", "shift", "shopt", "source", "test", "time", "times", "trap",
    "true", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait",
];

/// Commands that read no input, apart from what substitutions in their words read.
const READ_NOTHING: &[&str] = &[
    ":", "true", "false", "echo", "printf", "cd", "pwd", "export", "set", "test", "[", "mkdir",
    "touch", "sleep",
];

/// Whether a command is `exec` alone, which redirects for the commands after it.
pub(super) fn is_exec(node: &Node) -> bool {
    let word = match &node.kind {
        Kind::Simple { words, .. } => words.first(),
        _ => None,
    };
    word.and_then(syntax::literal)
        .is_some_and(|name| name == "exec")
}

impl Walk<'_> {
    /// Whether a command may read the standard input that it shares with later ones.
    pub(super) fn may_read(&self, node: &Node, scope: &Scope<'_>) -> bool {
        let reads = match &node.kind {
            Kind::Simple { words, .. } => match words.first().map(syntax::literal) {
                Some(Some(name)) => !READ_NOTHING.contains(&&*name) || self.redefines(&name),
                Some(None) => true,
                None => false,
            },
            Kind::Function { .. } => false,
            Kind::Group { .. } | Kind::Compound { .. } => true,
        };
        reads || self.words_read(node, scope)
    }

    /// Whether substitutions in the words and redirections of a command may read its standard input.
    pub(super) fn words_read(&self, node: &Node, scope: &Scope<'_>) -> bool {
        let (assigns, words): (&[Assign], &[Word]) = match &node.kind {
            Kind::Simple { assigns, words } => (assigns, words),
            Kind::Compound { words, .. } => (&[], words),
            Kind::Group { .. } | Kind::Function { .. } => (&[], &[]),
        };
        let mut all = assigns.iter().map(|assign| &assign.value).chain(words);
        let target = |redirect: &Redirect| self.target_reads(redirect, scope);
        all.any(|word| self.word_reads(word, scope)) || node.redirects.iter().any(target)
    }

    /// Whether a substitution in the target of a redirection may read the standard input.
    pub(super) fn target_reads(&self, redirect: &Redirect, scope: &Scope<'_>) -> bool {
        let word = match &redirect.target {
            Target::Word(word) => Some(word),
            Target::Heredoc(slot) => scope.parsed.heredocs.get(*slot),
        };
        word.is_some_and(|word| self.word_reads(word, scope))
    }

    pub(super) fn word_reads(&self, word: &Word, scope: &Scope<'_>) -> bool {
        let reads = |script: &Script| {
            let mut pipelines = script.statements.iter().flat_map(|one| &one.pipelines);
            pipelines.any(|nodes| nodes.first().is_some_and(|one| self.may_read(one, scope)))
        };
        word.iter().any(|part| match part {
            Part::Substitution { script, .. } | Part::Process { script, .. } => reads(script),
            Part::Opaque { scripts, .. } => scripts.iter().any(reads),
            Part::Bare(_) | Part::Quoted(_) | Part::Param { .. } => false,
        })
    }

    /// Keeps what later commands read after an `exec` that redirects the standard input of this shell.
    pub(super) fn exec_input(
        &self,
        node: &Node,
        words: &[Word],
        fields: &[Field],
        scope: &mut Scope<'_>,
        feed: &Feed,
        always: bool,
    ) -> Result<()> {
        let mut names = behind_prefixes(fields, |field| Some(field.text.clone())).iter();
        let opens = |redirect: &Redirect| redirect.operator.starts_with('<');
        if names.next().is_none_or(|name| name.text != "exec") || !node.redirects.iter().any(opens)
        {
            return Ok(());
        }
        let is_plain = words.len() == 1 && scope.level == 0 && always && !self.unordered;
        let is_plain = is_plain && syntax::literal(&words[0]).as_deref() == Some("exec");
        let mut rest = names.peekable();
        let has_options = rest.peek().is_some_and(|field| field.text.starts_with('-'));
        let has_program = rest.peek().is_some() && !has_options;
        let copies = |redirect: &Redirect| {
            redirect
                .descriptor
                .as_ref()
                .is_some_and(|one| one.parse() != Ok(0u32))
        };
        if is_plain {
            scope.input = Some(feed.clone());
        } else if !has_program && !node.redirects.iter().all(copies) {
            return Err(ShellError::undetermined(
                "what later commands read after",
                "exec",
            ));
        }
        Ok(())
    }
}
