//! The programs of GNU parallel: `parallel`, `sem`, `niceload`.

use super::options::{Sorted, line_of, sort};
use super::programs::{READ_WORDS, items, mark_of};
use super::{Place, Result, Run, refuse};
use crate::ShellError;
use crate::feed::Feed;
use crate::table::listed;
use crate::walk::Walk;
use crate::words::{Field, Hole};
use crate::wrappers::{NICELOAD, Wrapper};

impl Walk<'_> {
    /// Follows GNU parallel, which runs a line for each combination of the words after `:::`, or for each line of the
    /// standard input. `sem` runs its words as one line, in which nothing stands for the marks.
    pub(super) fn parallel(
        &mut self,
        table: &Wrapper,
        words: &[Field],
        feed: &Feed,
    ) -> Result<Run> {
        let reads_words = !listed(table.names, "sem");
        let sorted = sort(table, words)?;
        self.record_options(table, &sorted);
        check_options_of_parallel(&sorted)?;
        let moving = table.moves.unwrap_or_default();
        if sorted.seen.iter().any(|option| listed(moving, option)) {
            let rest = self.parallel(table, sorted.rest, feed)?;
            return Ok(Run::At(Place::Elsewhere, Box::new(rest)));
        }
        let is_list =
            |word: &&Field| matches!(word.text.as_str(), ":::" | ":::+" | "::::" | "::::+");
        let end = sorted
            .rest
            .iter()
            .position(|word| is_list(&word))
            .unwrap_or(sorted.rest.len());
        let (command, lists) = sorted.rest.split_at(end);
        let of_file = |option: &String| matches!(option.as_str(), "a" | "arg-file");
        let reads_file = sorted.seen.iter().any(of_file);
        if command.is_empty() && lists.is_empty() {
            return match reads_file {
                true => Err(ShellError::undetermined("the lines of", "parallel -a")),
                false => Ok(Run::Input),
            };
        }
        let read = || {
            vec![Field {
                text: READ_WORDS.to_owned(),
                ..Field::unseen()
            }]
        };
        let given: Vec<Field> = if lists.is_empty() && !reads_words {
            vec![Field::known("")]
        } else if lists.is_empty() {
            items(feed).filter(|_| !reads_file).unwrap_or_else(read)
        } else if lists.iter().any(|word| word.text.starts_with("::::")) {
            read()
        } else {
            lists
                .iter()
                .filter(|word| !is_list(word))
                .cloned()
                .collect()
        };
        if command.is_empty() {
            let lines = given.iter().map(|item| line_of(std::slice::from_ref(item)));
            return Ok(Run::All(lines.collect::<Result<_>>()?));
        }
        let mark = mark_of(&sorted)?.unwrap_or_else(|| "{}".to_owned());
        let marked = command.iter().any(|word| word.text.contains(&mark));
        let runs = given.iter().map(|item| {
            let mut words = self.replace(command, &mark, item)?;
            if !marked && (reads_words || !lists.is_empty()) {
                words.push(item.clone());
            }
            // `parallel` quotes the names of files that it puts behind plain words
            let is_file = item.pattern && item.hole == Hole::None && !item.tilde;
            let part = |c: char| c.is_alphanumeric() || "_-./=:,+@%{}".contains(c);
            let is_plain = |word: &Field| word.rest().chars().all(part);
            if item.silent
                || is_file && command.iter().all(|word| word.is_known() && is_plain(word))
            {
                return Ok(Run::Words(words));
            }
            // it quotes what it puts into the line: one word, and perhaps a text for another shell
            let is_given = item.is_known() || item.hole != Hole::None && item.environment;
            if is_given && !is_file && !is_plain(item) {
                return refuse("an item that `parallel` quotes", item);
            }
            line_of(&words)
        });
        Ok(Run::All(runs.collect::<Result<_>>()?))
    }

    /// Follows `niceload` of GNU parallel, which joins its words to a line, and runs another one that measures the load.
    pub(super) fn niceload(&mut self, words: &[Field]) -> Result<Run> {
        let sorted = sort(&NICELOAD, words)?;
        let lines = sorted.lines.iter().map(std::slice::from_ref);
        let mut runs = lines.map(line_of).collect::<Result<Vec<_>>>()?;
        runs.push(
            match sorted
                .seen
                .iter()
                .any(|option| matches!(option.as_str(), "q" | "quote"))
            {
                true if sorted.rest.len() > 1 => Run::Words(sorted.rest.to_vec()),
                _ => line_of(sorted.rest)?,
            },
        );
        Ok(Run::All(runs))
    }
}

/// Refuses options of `parallel` whose value is a line or holds code: `--ssh LINE`, `-S 1/LINE`, `{= CODE =}`.
fn check_options_of_parallel(sorted: &Sorted<'_>) -> Result<()> {
    let is_host = |c: char| c.is_ascii_alphanumeric() || "@.,:-_".contains(c);
    let runs = |(name, value): &&(String, Field)| match name.as_str() {
        "ssh" => true,
        "S" | "sshlogin" => !value.is_known() || !value.text.chars().all(is_host),
        _ => value.text.contains("{=") || value.hole == Hole::Start && !value.environment,
    };
    match sorted.values.iter().find(runs) {
        Some((_, value)) => refuse("the value of an option", value),
        None => Ok(()),
    }
}
