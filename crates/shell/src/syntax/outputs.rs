//! The output of functions, which is recorded as the text of a variable: `f() { echo $(($1 * 2)); }; echo $(($(f 3) + 1))`.

use super::simple::beginning;
use super::sources::{Sources, has_processes, may_redirect_messages, name_of, words_of};
use super::texts::Texts;
use super::{Kind, Node, Redirect, Script, Target, Word, literal};
use crate::table::PRINTS_NOTHING_HERE;

/// Returns the name under which the output of a function is recorded.
pub(super) fn output_of(function: &str) -> String {
    format!("{function}()")
}

/// Whether the output of a command goes elsewhere: to the errors, or to nowhere.
fn is_silent(redirect: &Redirect) -> bool {
    let target = match &redirect.target {
        Target::Word(word) => literal(word).unwrap_or_default(),
        Target::Heredoc(_) => return false,
    };
    let is_output = matches!(redirect.descriptor.as_deref(), None | Some("1"));
    is_output
        && match redirect.operator {
            ">&" => target == "2",
            ">" | ">>" | "&>" => target == "/dev/null",
            _ => false,
        }
}

/// Whether a redirection may add another text to the output.
fn may_print(redirect: &Redirect) -> bool {
    redirect.operator.contains('>')
        && !is_silent(redirect)
        && (redirect.descriptor.as_deref() != Some("2") || may_redirect_messages(redirect))
}

/// Whether `echo` or `printf` prints its words as they are, apart from conversions.
fn prints_as_is(name: &str, words: &[Word]) -> bool {
    let Some(first) = words.first() else {
        return true;
    };
    let begin = beginning(first);
    let is_option = begin.starts_with('-') && begin != "-n" || begin.is_empty();
    let text = words
        .iter()
        .map(beginning)
        .collect::<String>()
        .replace("\\n", "");
    match name {
        "echo" => words.len() == 1 && !begin.starts_with('-') || !is_option && !text.contains('\\'),
        _ => {
            literal(first).is_some() && !is_option && !text.contains(['\\', '%'])
                || prints_strings(&begin)
        }
    }
}

/// Whether a format of `printf` has no other conversions than those of texts and numbers.
fn prints_strings(format: &str) -> bool {
    let text = format.replace("\\n", "");
    let is_flag = |c: char| c.is_ascii_digit() || "-+ #.".contains(c);
    let plain = |part: &str| {
        part.trim_start_matches(is_flag)
            .starts_with(['s', 'd', 'i', 'u'])
    };
    !text.contains('\\') && !text.starts_with('-') && text.split('%').skip(1).all(plain)
}

impl Texts {
    /// Records that other commands may run in place of functions: aliases of their names.
    pub(super) fn replace_functions(&mut self) {
        let outputs: Vec<String> = self.functions.iter().map(|name| output_of(name)).collect();
        outputs.iter().for_each(|name| self.take(name));
    }

    /// Records what a script prints as a text of a variable.
    pub(super) fn print(&mut self, into: &str, script: &Script) {
        let pipelines = script.statements.iter().flat_map(|one| &one.pipelines);
        for pipeline in pipelines {
            if let Some((node, feeding)) = pipeline.split_last() {
                self.print_node(into, node, feeding);
            }
        }
    }

    /// Records what a command prints, which others feed.
    pub(super) fn print_node(&mut self, into: &str, node: &Node, feeding: &[Node]) {
        if has_processes(node) || node.redirects.iter().any(may_print) {
            self.take(into);
            return;
        }
        if node.redirects.iter().any(is_silent) {
            self.silenced.insert(into.to_owned());
            return;
        }
        match &node.kind {
            Kind::Simple { .. } => self.print_command(into, node, feeding),
            Kind::Group { body, .. } => self.print(into, body),
            Kind::Compound { bodies, .. } => bodies.iter().for_each(|body| self.print(into, body)),
            Kind::Function { .. } => {}
        }
    }

    fn print_command(&mut self, into: &str, node: &Node, feeding: &[Node]) {
        let words = words_of(node);
        let Some((_, rest)) = words.split_first() else {
            return;
        };
        let name = name_of(node);
        let is_operand =
            |word: &Word| !beginning(word).is_empty() && !beginning(word).starts_with('-');
        // without an operand, and with `-p`, they print variables
        let prints_names = || {
            rest.iter().any(|word| beginning(word).starts_with("-p"))
                || matches!(&*name, "local" | "readonly") && !rest.iter().any(is_operand)
        };
        match name.as_str() {
            name if self.functions.contains(name) => {
                self.counters.insert(output_of(name));
                self.flow_variable(&output_of(name), into);
            }
            "echo" | "printf" if prints_as_is(&name, rest) => {
                let first = rest.first().map(beginning).unwrap_or_default();
                let is_whole = matches!(first.as_str(), "%s\\n" | "%d\\n");
                let n_formats = usize::from(name == "printf" && is_whole);
                for word in rest.iter().skip(n_formats) {
                    self.flow(into, word, true);
                }
                // the next text may stand right behind it
                if name == "printf" && !is_whole || first == "-n" {
                    self.joined.insert(into.to_owned());
                }
            }
            name if PRINTS_NOTHING_HERE.contains(&name) && !prints_names() => {
                self.counters.insert(name.to_owned());
            }
            _ => {
                let mut sources = Sources::of(&self.functions);
                let is_number = sources.of_number(node, feeding);
                if sources.prints_names {
                    self.lettered.insert(into.to_owned());
                    self.joined.insert(into.to_owned());
                }
                for from in self.variables_in(sources, into) {
                    self.flow_variable(&from, into);
                }
                if !is_number {
                    self.take(into);
                }
            }
        }
    }
}
