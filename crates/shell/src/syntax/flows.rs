//! Texts that become parts of those of variables.

use super::checked::Use;
use super::mentioned::{assigned_in, names_in};
use super::one_word::prints_one_word;
use super::pieces::{is_pattern, pieces_behind};
use super::sources::{Sources, prints_dollar};
use super::texts::{Texts, text_of};
use super::{Inner, Part};

impl Texts {
    /// Records the parts of a text that becomes a part of a variable, or of the [`ARGUMENTS`].
    pub(super) fn flow(&mut self, into: &str, word: &[Part], expands: bool) {
        let mut sources = Sources::of(&self.functions);
        let is_file = expands && word.iter().any(is_pattern);
        if !sources.of_text(word) || is_file {
            self.printed.insert(into.to_owned());
            let is_one = |part: &Part| match part {
                Part::Substitution { script, .. } => prints_one_word(script),
                Part::Bare(text) | Part::Quoted(text) => !text.contains(char::is_whitespace),
                _ => false,
            };
            if is_file || !word.iter().all(is_one) {
                self.several.insert(into.to_owned());
            }
        }
        let holds_dollar = |part: &Part| match part {
            Part::Bare(text) | Part::Quoted(text) => text.contains(['$', '`']),
            part => prints_dollar(part),
        };
        if word.iter().any(holds_dollar) {
            self.dollared.insert(into.to_owned());
        }
        let may_run = |part: &Part| match part {
            Part::Bare(text) | Part::Quoted(text) => {
                let unescaped = text.replace('\\', "");
                text.contains('`') || unescaped.contains("$(") || text.ends_with('$')
            }
            Part::Substitution { .. } => prints_dollar(part),
            // the elements of an array
            Part::Opaque { written, .. } => written.starts_with('(') && written.contains('$'),
            _ => false,
        };
        if word.iter().any(may_run) {
            self.running.insert(into.to_owned());
        }
        for part in word {
            let assigned: Vec<String> = match part {
                Part::Opaque { written, .. } => assigned_in(written).collect(),
                _ => Vec::new(),
            };
            self.assigning
                .extend(assigned.into_iter().map(|name| (into.to_owned(), name)));
        }
        let assigned = assigned_in(&text_of(word))
            .map(|name| (into.to_owned(), name))
            .collect::<Vec<_>>();
        self.assigning.extend(assigned);
        self.flow_pieces(into, word, sources.prints_names);
        // a name in a text is evaluated later, when no check holds
        let written = std::mem::take(&mut sources.written).into_iter();
        self.flows
            .extend(written.map(|from| (from, into.to_owned())));
        for from in self.variables_in(sources, into) {
            self.record(Use::Flow(from, into.to_owned()));
        }
        if expands {
            self.flow_files(into, word);
        }
    }

    /// Records what a text gives a variable that may be a part of a name, or a pattern.
    fn flow_pieces(&mut self, into: &str, word: &[Part], prints_names: bool) {
        // `export x=y`
        let begin = beginning_of(word).strip_prefix(into).and_then(|text| {
            let sign = ["=", "+="]
                .into_iter()
                .find(|sign| text.starts_with(sign))?;
            Some(format!("{into}{sign}"))
        });
        let begin = begin.unwrap_or_default();
        let mut pieces = pieces_behind(&begin, word);
        pieces.joined |= begin.ends_with("+=");
        let of = |is: bool| is.then(|| into.to_owned());
        self.lettered.extend(of(pieces.letters || prints_names));
        self.joined.extend(of(pieces.joined || prints_names));
        self.patterns.extend(of(pieces.pattern));
        self.options.extend(of(pieces.option));
    }

    /// Records the variables in a word whose texts are expanded to names of files.
    pub(super) fn flow_files(&mut self, into: &str, word: &[Part]) {
        for part in word {
            let written = match part {
                Part::Param {
                    quoted: false,
                    written,
                    ..
                } => written,
                Part::Opaque {
                    quoted: false,
                    written,
                    inner,
                    ..
                } => {
                    // `${x:-a*}`
                    let text = match inner {
                        Some(Inner::Text(text)) => text.word.as_slice(),
                        _ => &[],
                    };
                    self.printed
                        .extend(text.iter().any(is_pattern).then(|| into.to_owned()));
                    written
                }
                _ => continue,
            };
            let pairs = names_in(written).map(|from| (from, into.to_owned()));
            self.expanded.extend(pairs.collect::<Vec<_>>());
        }
    }
}

/// Returns the text with which a word begins.
fn beginning_of(word: &[Part]) -> &str {
    match word.first() {
        Some(Part::Bare(text) | Part::Quoted(text)) => text,
        _ => "",
    }
}
