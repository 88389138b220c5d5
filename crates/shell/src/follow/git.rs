//! Commands that `git` runs: aliases and settings that hold lines, and subcommands with commands among their words.

use super::options::{given_line, line_of, split_value, take};
use super::others::{is_open_subcommand, lines_of_options, option_of};
use super::{Place, Result, Run, base, refuse};
use crate::Construct;
use crate::option_table::{
    GIT_ASKS_FOLDER, GIT_CONFIG_VALUES, GIT_FOLDERS, GIT_LINES, GIT_SOURCES, GIT_VALUES,
};
use crate::table::{WRITERS, listed};
use crate::variables::edits_only;
use crate::walk::Walk;
use crate::words::{Field, Hole, Leading};

/// The short options of `git clone` that have a value.
const CLONE_VALUES: &str = "obju";

/// Whether a setting is listed; `*` is any name between others: `diff.*.command`. Between the parts of one without it may also stand
/// a name: `sendemail.IDENTITY.tocmd`.
fn is_setting(list: &str, key: &str) -> bool {
    let is_between = |begin: &str, end: &str| {
        key.len() > begin.len() + end.len() && key.starts_with(begin) && key.ends_with(end)
    };
    list.split_ascii_whitespace().any(|one| {
        let parts = one.split_once('*').or_else(|| {
            let dot = one.find('.')?;
            Some((one.get(..=dot)?, one.get(dot..)?))
        });
        one == key || parts.is_some_and(|(begin, end)| is_between(begin, end))
    })
}

/// Whether the section and the last part of a key with expansions are determined, and the beginning of an address:
/// `url.https://$x@h/.insteadOf`.
fn has_known_ends(key: &str) -> bool {
    let is_name = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c == '-' || c.is_ascii_alphanumeric())
    };
    let Some((section, rest)) = key.split_once('.') else {
        return false;
    };
    let Some((between, last)) = rest.rsplit_once('.') else {
        return false;
    };
    let is_address = section.eq_ignore_ascii_case("url");
    let is_open = between.starts_with(['$', '`']) || between.contains("::");
    is_name(section) && is_name(last) && !(is_address && is_open)
}

/// Whether a setting decides what `git` runs.
pub(crate) fn decides(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let lists = [GIT_LINES, GIT_SOURCES, GIT_FOLDERS];
    key.starts_with("alias.") || lists.iter().any(|list| is_setting(list, &key))
}

impl Walk<'_> {
    pub(super) fn git(&mut self, words: &[Field]) -> Result<Run> {
        let mut runs = Vec::new();
        let mut moves = false;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            if word.leading() > Leading::Determined || word.silent {
                return refuse(Construct::Option, word);
            }
            if !word.text.starts_with('-') {
                break;
            }
            at += 1;
            let (name, inside) = split_value(&word.text);
            if !listed(GIT_VALUES, name) {
                continue;
            }
            moves |= matches!(name, "-C" | "--work-tree");
            let value = match inside {
                Some(_) => word,
                // alone it prints the folder
                None if name == "--exec-path" || at == words.len() => break,
                None => take(words, &mut at, word)?,
            };
            match name {
                "-c" => {
                    let (key, line) = split_value(&value.text);
                    let line = Field {
                        text: line.unwrap_or_default().to_owned(),
                        ..value.clone()
                    };
                    let open = value.hole == Hole::Start && !value.environment;
                    let is_odd = value.hole != Hole::None && key.contains(['$', '`']);
                    // another key may begin behind an `=` in a parameter, but none outside of its section
                    let is_odd = is_odd && !(key.starts_with("url.") && has_known_ends(key));
                    if open || is_odd || line.text.is_empty() && value.hole != Hole::None {
                        return refuse("a setting of `git`", value);
                    }
                    runs.push(self.git_setting(key, &line)?);
                }
                "--config-env" => return refuse("a setting of `git`", value),
                "--exec-path" => return refuse("the folder of the commands of `git`", word),
                _ => {}
            }
        }
        if let Some((subcommand, rest)) = words.get(at..).and_then(<[Field]>::split_first) {
            if is_open_subcommand(subcommand) {
                return refuse("a subcommand", subcommand);
            }
            self.git_subcommand(&subcommand.text, rest, &mut runs)?;
        }
        // aliases and hooks run at the top of a work tree, which a setting or a variable may name
        moves |= runs.iter().any(|run| !matches!(run, Run::Nothing));
        let run = Run::All(runs);
        Ok(match moves {
            true => Run::At(Place::Elsewhere, Box::new(run)),
            false => run,
        })
    }

    /// Returns what a setting has `git` run.
    fn git_setting(&mut self, key: &str, value: &Field) -> Result<Run> {
        let key = key.to_ascii_lowercase();
        let text = value.text.as_str();
        let line = match text.strip_prefix(['!', '|']) {
            Some(line) => line.to_owned(),
            None => text.to_owned(),
        };
        let is_remote =
            key.starts_with("url.") && key.contains("ext::") || text.starts_with("ext::");
        let is_open = value.hole != Hole::None && (!value.tail || value.may_split());
        self.git_folder |= is_setting(GIT_FOLDERS, &key);
        if is_setting(GIT_SOURCES, &key) || is_remote || is_setting(GIT_FOLDERS, &key) && is_open {
            return refuse("a setting of `git`", value);
        }
        let line = match key.strip_prefix("alias.") {
            Some(alias) => {
                if self.git_called.contains(alias) {
                    return refuse("the words after an alias of `git`", value);
                }
                self.git_aliases.insert(alias.to_owned());
                match text.starts_with('!') {
                    true => line,
                    false => format!("git {line}"),
                }
            }
            None if is_setting(GIT_LINES, &key) => {
                let edits = ["core.editor", "sequence.editor"].contains(&key.as_str());
                // the program puts an argument of the line into the text
                let replaces = is_setting("trailer.*.command", &key) && text.contains("$ARG");
                // what an editor copies into a list of commits may be commands
                let copies = |word: &str| WRITERS.iter().any(|(name, _)| *name == base(word));
                if replaces
                    || edits && (!edits_only(text) || text.split_ascii_whitespace().any(copies))
                {
                    return refuse("a setting of `git`", value);
                }
                let line = Field {
                    text: line,
                    ..value.clone()
                };
                // a pager has no words
                return given_line(&line, !key.contains("pager"));
            }
            None => return Ok(Run::Nothing),
        };
        line_of(&[Field {
            text: line,
            ..value.clone()
        }])
    }

    fn git_subcommand(
        &mut self,
        subcommand: &str,
        rest: &[Field],
        runs: &mut Vec<Run>,
    ) -> Result<()> {
        if !rest.is_empty() {
            if self.git_aliases.contains(subcommand) {
                return refuse(
                    "the words after an alias of `git`",
                    &Field::known(subcommand),
                );
            }
            self.git_called.insert(subcommand.to_owned());
        }
        self.git_runs |= !matches!(subcommand, "config" | "init");
        self.git_folder |= rest
            .iter()
            .any(|word| word.rest().starts_with("--template"));
        self.asks_git_folder |= subcommand == "rev-parse"
            && rest.iter().any(|word| listed(GIT_ASKS_FOLDER, word.rest()));
        let is_program =
            |word: &&Field| word.text.starts_with("ext::") || word.text.contains("=ext::");
        if let Some(remote) = rest.iter().find(is_program) {
            return refuse("the program of a remote of `git`", remote);
        }
        if matches!(subcommand, "remote-ext" | "remote-fd") {
            return refuse(
                "the program of a remote of `git`",
                &Field::known(subcommand),
            );
        }
        let operands = |from: usize| rest.get(from..).unwrap_or_default();
        let first = rest.first().map(|word| word.text.as_str());
        match (subcommand, first) {
            ("config", _) => runs.push(self.git_config(rest)?),
            ("bisect", Some("run")) => runs.push(Run::Words(operands(1).to_vec())),
            ("merge-index", _) => {
                let options = rest
                    .iter()
                    .take_while(|word| word.text.starts_with('-'))
                    .count();
                runs.push(Run::Words(operands(options).to_vec()));
            }
            ("for-each-repo", _) => {
                let mut at = 0;
                while let Some(word) = rest.get(at).filter(|word| word.text.starts_with('-')) {
                    at += match split_value(&word.text) {
                        ("--config", None) => 2,
                        ("--config" | "--keep-going" | "--", _) => 1,
                        _ => break,
                    };
                    if word.text == "--" {
                        break;
                    }
                }
                let mut words = vec![Field::known("git")];
                words.extend(operands(at).iter().cloned());
                runs.push(Run::Words(words));
            }
            ("submodule" | "submodule--helper", Some(_)) => {
                let each = rest.iter().position(|word| word.text == "foreach");
                let line = each.map_or(&[][..], |each| operands(each + 1));
                let options = line
                    .iter()
                    .take_while(|word| word.text.starts_with('-'))
                    .count();
                runs.push(line_of(line.get(options..).unwrap_or_default())?);
            }
            ("rebase", _) => runs.extend(lines_of_options("git-rebase", rest)?),
            ("filter-branch", _) => runs.extend(lines_of_options("git-filter-branch", rest)?),
            ("grep", _) => runs.extend(lines_of_options("git-grep", rest)?),
            ("instaweb", _) => runs.extend(lines_of_options("git-instaweb", rest)?),
            ("send-email", _) => runs.extend(lines_of_options("git-send-email", rest)?),
            (
                "clone" | "fetch" | "pull" | "push" | "ls-remote" | "archive" | "fetch-pack"
                | "send-pack",
                _,
            ) => {
                runs.extend(lines_of_options("git-fetch", rest)?);
            }
            ("difftool" | "mergetool", _) => runs.extend(lines_of_options("git-difftool", rest)?),
            _ => {}
        }
        if subcommand == "clone" {
            for (nth, word) in rest.iter().enumerate() {
                let setting = match option_of("-c --config", CLONE_VALUES, &word.text) {
                    Some((_, None, _)) => rest.get(nth + 1).cloned(),
                    Some((_, Some(inside), _)) => Some(Field {
                        text: inside.to_owned(),
                        ..word.clone()
                    }),
                    None => None,
                };
                if let Some(setting) = setting
                    && let Some((key, line)) = setting.text.split_once('=')
                {
                    let line = Field {
                        text: line.to_owned(),
                        ..setting.clone()
                    };
                    runs.push(self.git_setting(key, &line)?);
                }
            }
        }
        Ok(())
    }

    /// `git config KEY VALUE`: other commands of the line run what is set.
    fn git_config(&mut self, words: &[Field]) -> Result<Run> {
        let mut operands = Vec::new();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let is_long = word.text.starts_with("--");
            let is_short_for =
                |one: &str| is_long && word.text != one && one.starts_with(&word.text);
            let is_abbreviated = GIT_CONFIG_VALUES.split_ascii_whitespace().any(is_short_for);
            // a section that is renamed may become aliases
            let renames = word.text.starts_with("--ren") || word.text == "rename-section";
            if word.leading() > Leading::Determined || word.silent || is_abbreviated || renames {
                return refuse("a setting of `git`", word);
            }
            if listed(GIT_CONFIG_VALUES, &word.text) {
                at += 1;
            } else if !word.text.starts_with('-') || !operands.is_empty() {
                operands.push(word);
            }
        }
        let verb = operands.first().map(|word| word.text.as_str());
        if matches!(verb, Some("set" | "get" | "unset" | "list")) {
            operands.remove(0);
        }
        let mut operands = operands
            .into_iter()
            .filter(|word| !word.text.starts_with("--"));
        match (operands.next(), operands.next()) {
            (Some(key), Some(_))
                if key.hole != Hole::None && (key.may_split() || !has_known_ends(&key.text)) =>
            {
                refuse("a setting of `git`", key)
            }
            (Some(key), Some(value)) => self.git_setting(&key.text, value),
            _ => Ok(Run::Nothing),
        }
    }
}
