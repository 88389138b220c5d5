//! Sources of a text: the variables and the programs whose texts it holds.

use std::collections::HashSet;
use std::rc::Rc;

use super::mentioned::names_in;
use super::numbers::{Printed, SEVERAL, printed_by};
use super::outputs::output_of;
use super::pieces::{is_pattern, keeps_digits, pieces_of};
use super::simple::{beginning, without_expansions};
use super::texts::{ARGUMENTS, EXPANSION, text_of};
use super::{Inner, Kind, Node, Part, Redirect, Script, Target, Word, literal};
use crate::table::{NAMES_FILES, PRINTS_NOTHING, listed};

/// The parts of a text: variables, and programs that print numbers.
#[derive(Default)]
pub(super) struct Sources {
    /// The functions that are defined before, of which the output is recorded.
    functions: Rc<HashSet<String>>,
    pub(super) names: HashSet<String>,
    /// Names of variables in texts, which are evaluated where the text is.
    pub(super) written: HashSet<String>,
    /// Variables in words of programs, of which an option would change what they print.
    pub(super) asked: HashSet<String>,
    /// Those that are expanded to names of files.
    pub(super) expanded: HashSet<String>,
    /// Programs whose output is taken for numbers.
    pub(super) counters: HashSet<String>,
    /// Whether a program prints a word that may be the name of any variable: `$(id -un)`.
    pub(super) prints_names: bool,
    /// Whether a program makes its output of the texts of variables, which may be the name of any other one: `bc`,
    /// `expr $x$y`.
    pub(super) joins: bool,
}

impl Sources {
    /// Returns no sources yet, for a text behind the definitions of these functions.
    pub(super) fn of(functions: &Rc<HashSet<String>>) -> Sources {
        Sources {
            functions: Rc::clone(functions),
            ..Sources::default()
        }
    }

    /// Whether a text is a number, or a text of the line and of the variables that are recorded. Quotes do not divide a name.
    pub(super) fn of_text(&mut self, word: &[Part]) -> bool {
        self.written.extend(names_in(&text_of(word)));
        word.iter().all(|part| self.of_part(part))
    }

    fn of_part(&mut self, part: &Part) -> bool {
        match part {
            Part::Bare(_) | Part::Quoted(_) => true,
            Part::Param { name, .. } => {
                self.names.extend((name == "0").then(|| name.clone()));
                let is_argument =
                    name.starts_with(|c: char| c.is_ascii_digit() || "@*".contains(c));
                let name = if is_argument { ARGUMENTS } else { name };
                self.names.insert(name.to_owned());
                true
            }
            Part::Substitution { script, .. } => self.of_output(script),
            Part::Process { .. } => true,
            Part::Opaque {
                scripts,
                written,
                inner,
                ..
            } => {
                let is_arithmetic = written.starts_with("$((") || written.starts_with("$[");
                if is_arithmetic || keeps_digits(written) {
                    return true;
                }
                self.written.extend(names_in(written));
                let texts: &[Word] = match inner {
                    Some(Inner::Text(text)) => std::slice::from_ref(&text.word),
                    Some(Inner::Elements(words)) => words,
                    None => &[],
                };
                let names = texts.iter().flat_map(|word| {
                    let names: Vec<String> = names_in(&text_of(word)).collect();
                    names
                });
                self.written.extend(names);
                // a subscript, without text, is evaluated where it stands
                written.is_empty() || scripts.iter().all(|script| self.of_output(script))
            }
        }
    }

    /// Whether a word is a text of the line, and not the names of files.
    fn of_word(&mut self, word: &Word) -> bool {
        let pieces = pieces_of(word);
        self.prints_names |= pieces.letters && pieces.joined;
        self.joins |= pieces.joined;
        !word.iter().any(is_pattern) && self.of_text(word)
    }

    /// Records the variables in the words of a program that may be an option, or names of files; returns whether the text of a default may
    /// be one: `${x:--r}`.
    fn ask(&mut self, node: &Node) -> bool {
        let mut has_default = false;
        for word in words_of(node) {
            let is_expansion = |part: &&Part| match part {
                Part::Bare(text) | Part::Quoted(text) => text.is_empty(),
                _ => true,
            };
            let n_leading = word.iter().take_while(is_expansion).count();
            for (nth, part) in word.iter().enumerate() {
                let is_bare = matches!(
                    part,
                    Part::Param { quoted: false, .. }
                        | Part::Opaque { quoted: false, .. }
                        | Part::Substitution { quoted: false, .. }
                );
                if !is_bare && nth >= n_leading {
                    continue;
                }
                let mut sources = Sources::of(&self.functions);
                sources.of_part(part);
                let mut names = sources.names;
                names.extend(sources.written);
                self.expanded
                    .extend(names.iter().filter(|_| is_bare).cloned());
                self.asked.extend(names);
                if let Part::Opaque {
                    inner: Some(Inner::Text(text)),
                    ..
                } = part
                {
                    let pieces = pieces_of(&text.word);
                    has_default |= pieces.option || is_bare && pieces.pattern;
                }
            }
        }
        has_default
    }

    fn of_words(&mut self, node: &Node) -> bool {
        words_of(node).iter().all(|word| self.of_word(word))
    }

    /// Whether a script prints numbers only.
    pub(super) fn of_output(&mut self, script: &Script) -> bool {
        let pipelines = script.statements.iter().flat_map(|one| &one.pipelines);
        let pipelines: Vec<&Vec<Node>> = pipelines.collect();
        let Some((last, before)) = pipelines.split_last() else {
            return true;
        };
        let mut is_quiet = |pipeline: &Vec<Node>| match pipeline.as_slice() {
            [node] => {
                let words = words_of(node);
                let is_plain = words.iter().flatten().all(|part| match part {
                    Part::Bare(text) | Part::Quoted(text) => !text.contains('\\'),
                    _ => true,
                });
                let is_option = |word: &Word| {
                    let begin = beginning(word);
                    begin.starts_with('-') || begin.is_empty()
                };
                let quiet = match name_of(node).as_str() {
                    // `cd -` prints the folder
                    "cd" => words
                        .iter()
                        .all(|word| literal(word).is_some_and(|text| !text.starts_with('-'))),
                    // a line of its own
                    "echo" => !words.get(1).is_some_and(is_option),
                    name => PRINTS_NOTHING.contains(&name),
                };
                self.counters.insert(name_of(node));
                is_plain && quiet && !has_processes(node) && self.of_words(node)
            }
            _ => false,
        };
        match before {
            // `grep -c x f || true`
            [counted] if is_quiet(last) => self.of_numbers(counted),
            _ => before.iter().all(|pipeline| is_quiet(pipeline)) && self.of_numbers(last),
        }
    }

    fn of_numbers(&mut self, pipeline: &[Node]) -> bool {
        let last = pipeline.split_last();
        last.is_none_or(|(node, feeding)| self.of_number(node, feeding))
    }

    /// Whether a command prints numbers only, whatever the commands before it in its pipeline print.
    pub(super) fn of_number(&mut self, node: &Node, feeding: &[Node]) -> bool {
        let name = name_of(node);
        if may_print_more(node) {
            return false;
        }
        if self.functions.contains(&name) {
            self.names.insert(output_of(&name));
            self.counters.insert(output_of(&name));
            return true;
        }
        let words: Vec<String> = words_of(node).iter().skip(1).map(begins_or_opens).collect();
        let before = feeding.split_last();
        let printed = match name.as_str() {
            // they print texts of what they read
            "bc" => match self.feeds_words(node, feeding, &words) {
                true if computes_decimals(node, feeding) => {
                    self.joins = true;
                    Printed::Words
                }
                true => Printed::Names,
                false => Printed::Texts,
            },
            // the first column is the number, the other one the operand
            "cut" => match feeding {
                [.., counted] if is_first_column(&words) => self.of_usage(counted),
                _ => Printed::Texts,
            },
            // a number without the blanks around it
            "tr" | "xargs" if removes_blanks(&name, &words) => match before {
                Some((counted, feeding)) if prints_one_number(counted) => {
                    return self.of_number(counted, feeding);
                }
                _ => Printed::Texts,
            },
            // several words may be options, or names of files, which are printed
            name if listed(NAMES_FILES, name)
                && words.iter().any(|word| word.contains(SEVERAL)) =>
            {
                Printed::Texts
            }
            name => printed_by(name, &words),
        };
        if !matches!(&*name, "printf" | "tr") {
            let mut nodes = feeding.iter().chain([node]);
            if nodes.any(|node| self.ask(node)) {
                return false;
            }
        }
        // a limit is a number or this word
        let unlimited = (name == "ulimit").then(|| "unlimited".to_owned());
        self.written.extend(unlimited);
        self.counters.insert(name);
        self.prints_names |= printed == Printed::Names;
        let has_words = matches!(printed, Printed::Words | Printed::Names);
        printed != Printed::Texts && (!has_words || self.of_words(node))
    }

    /// Whether `bc` reads and prints texts of the words of the line only.
    fn feeds_words(&mut self, node: &Node, feeding: &[Node], words: &[String]) -> bool {
        let echoes =
            |node: &Node| matches!(&*name_of(node), "echo" | "printf") && self.of_words(node);
        let is_text = |redirect: &Redirect| redirect.operator == "<<<";
        // else it reads what the commands around it read
        let is_fed = !feeding.is_empty() || node.redirects.iter().any(is_text);
        is_fed
            && feeding.iter().all(echoes)
            && words.iter().all(|word| word.starts_with('-'))
            && node
                .redirects
                .iter()
                .all(|redirect| match &redirect.target {
                    Target::Word(word) => {
                        !matches!(redirect.operator, "<" | "<>") && self.of_word(word)
                    }
                    Target::Heredoc(_) => false,
                })
    }

    /// The first column of a command that prints sizes and names: `du -s x`. A name may have several lines.
    fn of_usage(&mut self, node: &Node) -> Printed {
        let name = name_of(node);
        let words: Vec<String> = words_of(node).iter().skip(1).map(begins_or_opens).collect();
        let letters = |word: &String| word.strip_prefix('-').map(str::to_owned);
        let is_option = |word: &String| letters(word).is_some_and(|one| !one.is_empty());
        let (options, operands): (Vec<String>, Vec<String>) =
            words.into_iter().partition(is_option);
        let is_known = |word: &String| {
            word == "--"
                || letters(word).is_some_and(|one| one.chars().all(|c| "skbmcx".contains(c)))
        };
        let sums = options
            .iter()
            .any(|word| word != "--" && word.contains('s'));
        let is_plain = |word: &String| !word.contains(['\n', SEVERAL]);
        let is_number = name == "du"
            && sums
            && options.iter().all(is_known)
            && operands.iter().all(is_plain)
            && !may_print_more(node)
            && self.of_words(node);
        self.counters.insert(name);
        match is_number {
            true => Printed::Numbers,
            false => Printed::Texts,
        }
    }
}

/// Whether words of `cut` ask for the first column between tabs.
fn is_first_column(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    matches!(words.as_slice(), ["-f1"] | ["-f", "1"] | ["--fields=1"])
}

/// Whether the output of a command may hold more than the command prints: messages with texts of what it reads (`date -f f 2>&1`), or what
/// runs beside it prints.
pub(super) fn may_print_more(node: &Node) -> bool {
    has_processes(node) || node.redirects.iter().any(may_redirect_messages)
}

/// Whether other commands run beside a command, which may write where it writes: `nproc > >(cat f)`.
pub(super) fn has_processes(node: &Node) -> bool {
    let targets = node.redirects.iter().any(|one| match &one.target {
        Target::Word(word) if one.operator.contains('>') => runs_processes(word),
        Target::Word(word) => word
            .iter()
            .any(|part| matches!(part, Part::Process { written, .. } if written.starts_with('>'))),
        Target::Heredoc(_) => false,
    });
    let words: &[Word] = match &node.kind {
        Kind::Simple { words, assigns } => {
            if assigns.iter().any(|assign| runs_processes(&assign.value)) {
                return true;
            }
            words
        }
        Kind::Compound { words, .. } => words,
        Kind::Group { .. } | Kind::Function { .. } => &[],
    };
    targets || words.iter().any(|word| runs_processes(word))
}

/// Whether a word has a process substitution, also as a part of an expansion.
fn runs_processes(word: &[Part]) -> bool {
    word.iter().any(|part| match part {
        Part::Process { .. } => true,
        Part::Opaque { written, .. } => {
            !written.starts_with("$((") && (written.contains(">(") || written.contains("<("))
        }
        Part::Bare(_) | Part::Quoted(_) | Part::Param { .. } | Part::Substitution { .. } => false,
    })
}

/// Whether a redirection may send messages to the output: `2>&1`, `2> /dev/stdout`. Other files than `/dev/null` may be links to that.
pub(super) fn may_redirect_messages(redirect: &Redirect) -> bool {
    redirect.operator.contains('&')
        || redirect.operator.contains('>')
            && match &redirect.target {
                Target::Word(word) => literal(word).as_deref() != Some("/dev/null"),
                Target::Heredoc(_) => false,
            }
}

/// Whether `bc` computes decimal numbers: its text sets no other base and prints no text.
fn computes_decimals(node: &Node, feeding: &[Node]) -> bool {
    let is_plain = |word: &Word| {
        let text = without_expansions(word).replace("scale", "");
        let fixed = ["echo", "bc", "-l", "%s\\n"];
        fixed.contains(&&*text) || !text.contains(|c: char| c == '"' || c.is_ascii_alphabetic())
    };
    let targets = node.redirects.iter().filter_map(|one| match &one.target {
        Target::Word(word) => Some(word),
        Target::Heredoc(_) => None,
    });
    let words = feeding.iter().chain([node]).flat_map(words_of);
    words.chain(targets).all(is_plain)
}

/// Whether a command removes the blanks in what it reads, and prints the rest.
fn removes_blanks(name: &str, words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => name == "xargs",
        ["-d", set] => {
            name == "tr" && matches!(*set, " " | "[:space:]" | "[:blank:]" | "\\n" | " \\n")
        }
        _ => false,
    }
}

/// Whether a program prints one number of its input, and no name: `wc -l`.
fn prints_one_number(node: &Node) -> bool {
    let is_option = |word: &Word| literal(word).is_some_and(|text| text.starts_with('-'));
    name_of(node) == "wc" && words_of(node).iter().skip(1).all(is_option)
}

/// Returns the text of a word up to its first expansion, with a mark if there is one. [`SEVERAL`] stands before it
/// if that may be several words.
fn begins_or_opens(word: &Word) -> String {
    let mut text = beginning(word);
    let is_quoted = |part: &Part| match part {
        Part::Bare(_) | Part::Quoted(_) => true,
        Part::Param { quoted, name, .. } => *quoted && name != "@",
        Part::Substitution { quoted, .. } => *quoted,
        Part::Opaque {
            quoted, written, ..
        } => *quoted && !written.contains('@') || written.starts_with("$(("),
        Part::Process { .. } => true,
    };
    if literal(word).is_none() {
        let is_one = word.iter().all(is_quoted);
        text.extend((!is_one).then_some(SEVERAL));
        text.push(EXPANSION);
    }
    text
}

pub(super) fn words_of(node: &Node) -> &[Word] {
    match &node.kind {
        Kind::Simple { words, .. } => words,
        _ => &[],
    }
}

/// Returns the name of the program of a simple command, without a folder of the system; it is empty for others. `./nproc` is another
/// program than `nproc`.
pub(super) fn name_of(node: &Node) -> String {
    let name = words_of(node).first().and_then(literal).unwrap_or_default();
    match name.rsplit_once('/') {
        Some(("/bin" | "/usr/bin" | "/usr/local/bin", program)) => program.to_owned(),
        _ => name,
    }
}

/// Whether a program that prints numbers may print a dollar sign or a backquote with them, which stands in its words.
pub(super) fn prints_dollar(part: &Part) -> bool {
    let Part::Substitution { script, .. } = part else {
        return false;
    };
    if !Sources::default().of_output(script) {
        return false;
    }
    let is_dollar = |part: &Part| match part {
        Part::Bare(text) | Part::Quoted(text) => text.contains(['$', '`']),
        part => prints_dollar(part),
    };
    let holds = |word: &Word| word.iter().any(is_dollar);
    let prints = |node: &Node| {
        let targets = node
            .redirects
            .iter()
            .filter_map(|redirect| match &redirect.target {
                Target::Word(word) => Some(word),
                Target::Heredoc(_) => None,
            });
        let pattern = pattern_of(node);
        let words = words_of(node)
            .iter()
            .enumerate()
            .filter(|(nth, _)| Some(*nth) != pattern);
        words.map(|(_, word)| word).chain(targets).any(holds)
    };
    let mut pipelines = script.statements.iter().flat_map(|one| &one.pipelines);
    pipelines.any(|pipeline| match pipeline.split_last() {
        // it prints texts of what it reads
        Some((last, feeding)) if name_of(last) == "bc" => {
            prints(last) || feeding.iter().any(prints)
        }
        Some((last, _)) => prints(last),
        None => false,
    })
}

/// Returns the word of a program that is a pattern, which it does not print.
fn pattern_of(node: &Node) -> Option<usize> {
    let words = words_of(node);
    match &*name_of(node) {
        "grep" | "egrep" | "fgrep" | "zgrep" => {
            let is_pattern = |word: &Word| !beginning(word).starts_with('-');
            Some(1 + words.get(1..)?.iter().position(is_pattern)?)
        }
        "expr" => Some(1 + words.iter().position(|word| beginning(word) == ":")?),
        _ => None,
    }
}
