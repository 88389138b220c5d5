//! Words that builtins take for the names of variables, and those that `test` may read as such.

use super::cursor::Parser;
use super::simple::{TAKING, beginning, behind_prefixes, without_expansions};
use super::texts::text_of;
use super::{Part, Redirect, Script, Target, Word, literal};
use crate::table::{EVALUATES_NAMES, EVALUATES_SUBSCRIPTS};
use crate::variables::variable_of;

impl Parser<'_> {
    /// Records the text that `read x <<< "$y"` takes into variables.
    pub(super) fn note_read(&mut self, words: &[Word], redirects: &[Redirect]) {
        let name = behind_prefixes(words, literal).first().and_then(literal);
        let values = match name.as_deref() {
            Some("read") => "apdtnNui",
            Some(name) if TAKING.contains(&name) => "dnOsucC",
            _ => return,
        };
        // the first letter of an option that takes a value, and the value behind it in the word
        let takes = |option: &str| {
            let letters = option.strip_prefix('-')?;
            let (before, value) = letters.split_once(|c| values.contains(c))?;
            let is_array = letters.get(before.len()..)?.starts_with('a');
            Some((is_array, value.to_owned()))
        };
        let options = std::iter::once(None).chain(words.iter().map(literal));
        let named = words.iter().zip(options).filter_map(|(word, before)| {
            let before = before.as_deref().and_then(takes);
            if before.is_some_and(|(is_array, value)| !is_array && value.is_empty()) {
                return None;
            }
            // a name that is not written here may be any
            let Some(text) = literal(word) else {
                let is_value = takes(&beginning(word)).is_some_and(|(is_array, _)| !is_array);
                return (!is_value).then(String::new);
            };
            match takes(&text) {
                // `read -ax`
                Some((true, name)) => Some(name).filter(|name| !name.is_empty()),
                _ => Some(text).filter(|text| !text.starts_with('-')),
            }
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

    /// Records the words of `test` behind one that may be `-v`, and the variables in words that may become several, of which `-v` may be
    /// one: `[ $n -gt 3 ]`.
    pub(super) fn note_test(&mut self, words: &[Word]) {
        let words = words_of_builtin(words, &["test", "["]);
        for two in words.windows(2) {
            if let [option, operand] = two
                && literal(option).is_none_or(|text| text == "-v")
            {
                self.evaluate_subscripts(operand);
                self.name_by(operand);
            }
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
        let waits = words_of_builtin(words, &["wait"]);
        let may_name = |word: &Word| {
            literal(word).is_none_or(|text| text.starts_with('-') && text.contains('p'))
        };
        let behind = waits.windows(2).filter_map(|two| match two {
            [option, word] => may_name(option).then_some(word),
            _ => None,
        });
        // `-p"$x"`
        let attached = waits.iter().filter(|word| beginning(word).starts_with('-'));
        let named: Vec<&Word> = behind.chain(attached).collect();
        let operands = words_of_builtin(words, EVALUATES_NAMES);
        let are_functions = |word: &Word| matches!(literal(word).as_deref(), Some("-f" | "-F"));
        let operands = match operands.iter().any(are_functions) {
            true => &[],
            false => operands,
        };
        let operands = operands
            .iter()
            .filter(|word| !beginning(word).starts_with('-'));
        let operands: Vec<&Word> = operands.collect();
        // names of files: `unset x*`
        for word in operands
            .iter()
            .filter(|word| !beginning(word).contains('='))
        {
            self.names.texts.name_words(word);
        }
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
        for word in subscripted(words) {
            self.evaluate_subscripts(word);
        }
    }

    /// Records what is evaluated if a builtin reads a word as the name of an element.
    pub(super) fn evaluate_subscripts(&mut self, word: &Word) {
        let text = text_of(word);
        let name = text.split('=').next().unwrap_or_default();
        if name.contains('[') || text.contains("=(") && text.contains('[') {
            self.names.texts.put_together(word);
        }
        let mut before = String::new();
        for part in word {
            let element = is_element(&before);
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

/// Whether a word that begins so is the name of an element of an array.
fn is_element(begin: &str) -> bool {
    begin.contains('[') && !begin.contains("]=")
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
        "test" | "[" => &[],
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
