//! The output of commands, if only `echo`, `printf`, `cat` and `tee` of plain text print it.

use super::feed::Feed;
use super::syntax::{Kind, Node, Redirect, Script, Statement, Target, literal};
use super::walk::{Scope, Walk};
use super::{ShellError, quoting};

type Result<T> = std::result::Result<T, ShellError>;

impl Walk<'_> {
    /// Returns the output of a script if it is produced only by `echo`, `printf` and `cat` of plain text; `None` if it
    /// is not determined.
    pub(super) fn output(
        &mut self,
        script: &Script,
        scope: &Scope<'_>,
        feed: &Feed,
    ) -> Result<Option<String>> {
        let mut text = String::new();
        let mut taken = false;
        for Statement {
            pipelines,
            background,
            ..
        } in &script.statements
        {
            let ([pipeline], false) = (pipelines.as_slice(), background) else {
                return Ok(None);
            };
            // the next command does not read again what this one has read
            let mut input = match taken {
                true => Feed::Unknown,
                false => feed.clone(),
            };
            taken |= pipeline
                .first()
                .is_some_and(|node| self.may_read(node, scope));
            for node in pipeline {
                match self.node_output(node, scope, &input)? {
                    Some(printed) => input = Feed::Text(printed),
                    None => return Ok(None),
                }
            }
            if let Feed::Text(printed) = input {
                text.push_str(&printed);
            }
        }
        self.charge(text.len() + 16)?;
        Ok(Some(text))
    }

    pub(super) fn node_output(
        &mut self,
        node: &Node,
        scope: &Scope<'_>,
        feed: &Feed,
    ) -> Result<Option<String>> {
        self.charge(16)?;
        // a trap prints before or after any command
        if self.traps || !node.redirects.iter().all(prints_all_the_same) {
            return Ok(None);
        }
        let feed = self.redirected(node, scope, feed)?;
        match &node.kind {
            Kind::Simple { words, .. } => {
                let mut fields = Vec::new();
                for word in words {
                    fields.extend(self.fields(word, scope)?);
                }
                if fields.iter().any(|field| !field.is_known()) {
                    return Ok(None);
                }
                let words: Vec<String> = fields.into_iter().map(|field| field.text).collect();
                let printed = match words.split_first() {
                    Some((name, _)) if self.redefines(name) => None,
                    Some((name, words)) => printed(name, words, &feed),
                    None => None,
                };
                self.charge(printed.as_ref().map_or(0, String::len))?;
                Ok(printed)
            }
            Kind::Group { body, .. } => self.output(body, scope, &feed),
            Kind::Compound { .. } | Kind::Function { .. } => Ok(None),
        }
    }
}

/// Whether a redirection neither fails nor changes where the output goes.
fn prints_all_the_same(redirect: &Redirect) -> bool {
    let descriptor = redirect.descriptor.as_ref().map(|one| one.parse::<u32>());
    let is_input = matches!(descriptor, None | Some(Ok(0)));
    let target = match &redirect.target {
        Target::Heredoc(_) => return is_input,
        Target::Word(word) => literal(word),
    };
    match (redirect.operator, descriptor, target.as_deref()) {
        ("<<<", _, Some(_)) | ("<", _, Some("/dev/null")) => is_input,
        (">" | ">>", Some(Ok(2)), Some("/dev/null")) => true,
        _ => false,
    }
}

/// Returns the output of a program whose words are plain; `None` for other programs.
fn printed(name: &str, words: &[String], feed: &Feed) -> Option<String> {
    match name {
        ":" | "true" => Some(String::new()),
        "echo" => {
            let mut words = words;
            let mut end = "\n";
            while let [option, rest @ ..] = words
                && let Some(letters) = option.strip_prefix('-')
                && !letters.is_empty()
                && letters.chars().all(|c| "neE".contains(c))
            {
                // some shells print options other than `-n`
                if letters != "n" {
                    return None;
                }
                end = "";
                words = rest;
            }
            let text = words.join(" ");
            // `echo` of some shells reads escapes without `-e`
            (!text.contains('\\')).then(|| text + end)
        }
        "printf" => {
            let (format, rest) = match words {
                [dashes, format, rest @ ..] if dashes == "--" => (format, rest),
                [format, rest @ ..] if !format.starts_with('-') => (format, rest),
                _ => return None,
            };
            let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
            print_format(&quoting::format_text(format)?, &rest)
        }
        "cat" => match (words, feed) {
            ([], Feed::Text(text)) => Some(text.clone()),
            ([word], Feed::Text(text)) if word == "-" => Some(text.clone()),
            _ => None,
        },
        "tee" => match feed {
            // another operand may be a second way to the output
            Feed::Text(text) if words.iter().all(|word| word == "/dev/null") => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Formats `printf` with `%s` and `%%`; `None` for other directives.
fn print_format(format: &str, words: &[&str]) -> Option<String> {
    let pieces: Vec<&str> = format.split("%s").collect();
    if pieces
        .iter()
        .any(|piece| piece.replace("%%", "").contains('%'))
    {
        return None;
    }
    let holes = pieces.len() - 1;
    let rounds = match holes {
        0 => 1,
        _ => words.len().div_ceil(holes).max(1),
    };
    let mut words = words.iter();
    let mut out = String::new();
    for _ in 0..rounds {
        for (nth, piece) in pieces.iter().enumerate() {
            if nth > 0 {
                out.push_str(words.next().copied().unwrap_or_default());
            }
            out.push_str(&piece.replace("%%", "%"));
        }
    }
    Some(out)
}
