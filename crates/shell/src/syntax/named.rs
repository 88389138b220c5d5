//! Words that builtins take for the names of variables, and those that `test` may read as such.

use super::cursor::Parser;
use super::simple::{TAKING, beginning, behind_prefixes, without_expansions};
use super::{Part, Redirect, Script, Target, Word, literal};
use crate::table::{EVALUATES_NAMES, EVALUATES_SUBSCRIPTS};
use crate::variables::variable_of;

impl Parser<'_> {
    /// Records the text that `read x <<< "$y"` takes into variables.
    pub(super) fn note_read(&mut self, words: &[Word], redirects: &[Redirect]) {
        let name = behind_prefixes(words, literal).first().and_then(literal);
        let values = match name.as_deref() {
            Some("read") => "pdtnNui",
            Some(name) if TAKING.contains(&name) => "dnOsucC",
            _ => return,
        };
        // a name that is not written here may be any
        let options = std::iter::once(String::new()).chain(words.iter().map(beginning));
        let named = words.iter().zip(options).filter_map(|(word, before)| {
            let is_value = before.starts_with('-') && before.ends_with(|c| values.contains(c));
            let is_option = beginning(word).starts_with('-');
            literal(word).or_else(|| (!is_value && !is_option).then(String::new))
        });
        let names: Vec<String> = named
            .chain(["REPLY", "MAPFILE"].map(str::to_owned))
            .collect();
        // with `-u 3` it is another input
        let is_other = |word: &Word| {
            let text = without_expansions(word);
            text.starts_with('-') && text.contains('u')
        };
        let is_input = |one: &&Redirect| one.operator.starts_with('<');
        let inputs: Vec<&Redirect> = redirects.iter().filter(is_input).collect();
        let is_text = !inputs.is_empty()
            && inputs
                .iter()
                .all(|one| one.operator == "<<<" && one.descriptor.is_none())
            && !words.iter().any(is_other);
        for name in &names {
            let name = variable_of(name);
            if !is_text {
                self.names.texts.take(name);
            }
            for redirect in &inputs {
                if let ("<<<", Target::Word(text)) = (redirect.operator, &redirect.target) {
                    self.flow_into(name, text);
                    // the text is cut at characters of `IFS`
                    self.names.texts.joined.insert(name.to_owned());
                }
            }
        }
    }

    /// Records the folder to which the shell changes, of which variables hold the path.
    pub(super) fn note_folder(&mut self, words: &[Word]) {
        for word in words {
            self.flow_words_into("PWD", word);
        }
        let folders = ["PWD", "OLDPWD", "DIRSTACK", "dirstack"];
        for into in folders {
            self.names.texts.flow_variable("PWD", into);
            self.names.texts.flow_variable("OLDPWD", into);
        }
    }

    /// Records the variables in words of `test` that may become several words, of which `-v` may be one: `[ $n -gt 3 ]`.
    pub(super) fn note_test(&mut self, words: &[Word]) {
        let words = words_of_builtin(words, &["test", "["]);
        let is_sign = |word: &&Word| literal(word).is_some_and(|text| text == "!" || text == "]");
        let operands: Vec<&Word> = words.iter().filter(|word| !is_sign(word)).collect();
        // the first of two may be `-v`
        if let [option, operand] = operands.as_slice()
            && literal(option).is_none()
        {
            self.name_by(operand);
        }
        for part in words.iter().flatten() {
            let may_split = match part {
                Part::Param { quoted, name, .. } => !quoted || name == "@",
                Part::Substitution { quoted, .. } => !quoted,
                Part::Opaque {
                    quoted, written, ..
                } => !quoted || written.contains('@'),
                _ => false,
            };
            if may_split {
                let (variables, scripts) = expansions(part);
                self.names.texts.test_variables(variables);
                for script in scripts {
                    self.names.texts.test_output(script);
                }
            }
        }
    }

    /// Records the words of a builtin that are names of variables which the line does not write: `unset "$x"`. Their subscripts are
    /// evaluated.
    pub(super) fn note_names(&mut self, words: &[Word]) {
        let of_option = words_of_builtin(words, &["wait"]);
        let is_option = |word: &Word| beginning(word).starts_with("-p");
        let named = of_option
            .windows(2)
            .filter(|two| two.first().is_some_and(is_option));
        let named: Vec<&Word> = named.filter_map(|two| two.get(1)).collect();
        let operands = words_of_builtin(words, EVALUATES_NAMES);
        let are_functions = |word: &Word| matches!(literal(word).as_deref(), Some("-f" | "-F"));
        let operands = match operands.iter().any(are_functions) {
            true => &[],
            false => operands,
        };
        let operands = operands
            .iter()
            .filter(|word| !beginning(word).starts_with('-'));
        for word in named.into_iter().chain(operands) {
            for part in word {
                match part {
                    Part::Bare(text) | Part::Quoted(text) if text.contains(['=', '[']) => break,
                    Part::Bare(_) | Part::Quoted(_) => {}
                    part => self.name_by_part(part),
                }
            }
        }
    }

    /// Records the operand of `-v`, of which the value is a name, maybe with a subscript.
    pub(super) fn name_by(&mut self, word: &Word) {
        word.iter().for_each(|part| self.name_by_part(part));
    }

    /// Records an expansion whose text is a name.
    fn name_by_part(&mut self, part: &Part) {
        let (variables, scripts) = expansions(part);
        self.names.texts.name_variables(variables);
        for script in scripts {
            self.names.texts.name_by_output(script);
        }
    }

    /// Records the words that builtins evaluate as subscripts and arrays: `read "a[$x]"`, `declare -a "a=($x)"`.
    pub(super) fn note_subscripts(&mut self, words: &[Word]) {
        let name = behind_prefixes(words, literal).first().and_then(literal);
        let is_test = name.is_some_and(|name| matches!(&*name, "test" | "["));
        for word in subscripted(words) {
            self.evaluate_subscripts(word);
            if is_test {
                self.name_by(word);
            }
        }
    }

    /// Records what is evaluated if a builtin reads a word as the name of an element.
    pub(super) fn evaluate_subscripts(&mut self, word: &Word) {
        let mut before = String::new();
        for part in word {
            let element = before.contains('[') && !before.contains("]=");
            match part {
                Part::Bare(text) | Part::Quoted(text) => before.push_str(text),
                part if element || before.contains("=(") => {
                    self.names.texts.evaluate_parts(std::slice::from_ref(part));
                }
                _ => {}
            }
        }
        self.names.subscripts(&before, true);
    }
}

/// Returns the expansions of a part: a text with its variables, and the scripts whose output it holds.
fn expansions(part: &Part) -> (&str, &[Script]) {
    match part {
        Part::Param { written, .. } => (written, &[]),
        Part::Substitution { script, .. } => ("", std::slice::from_ref(script)),
        Part::Opaque {
            written, scripts, ..
        } => (written, scripts),
        Part::Bare(_) | Part::Quoted(_) | Part::Process { .. } => ("", &[]),
    }
}

/// Returns the words behind the name of a builtin that is one of these.
fn words_of_builtin<'w>(words: &'w [Word], names: &[&str]) -> &'w [Word] {
    match behind_prefixes(words, literal).split_first() {
        Some((first, rest)) if literal(first).is_some_and(|name| names.contains(&&*name)) => rest,
        _ => &[],
    }
}

/// Returns the words of a builtin in which subscripts are evaluated; those that `test` compares are not analysed.
fn subscripted(words: &[Word]) -> &[Word] {
    let Some((first, rest)) = behind_prefixes(words, literal).split_first() else {
        return &[];
    };
    let name = literal(first).unwrap_or_default();
    if !EVALUATES_SUBSCRIPTS.contains(&&*name) {
        return &[];
    }
    let by_option = |word: &Word| without_expansions(word).starts_with("-v");
    let is_open = |word: &Word| beginning(word).is_empty() && literal(word).is_none();
    match name.as_str() {
        "test" | "[" => {
            let option = rest.iter().position(by_option);
            let at = option.map_or(rest.len(), |at| at + 1);
            rest.get(at..(at + 1).min(rest.len())).unwrap_or_default()
        }
        // also if the option comes from an expansion
        "printf"
            if rest
                .first()
                .is_some_and(|word| by_option(word) || is_open(word)) =>
        {
            rest.get(..2).unwrap_or(rest)
        }
        "printf" => &[],
        _ => rest,
    }
}
