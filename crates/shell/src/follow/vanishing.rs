//! Commands if parts of their words, or whole words, are empty: `rm $x-rf d`, `timeout $x 3 rm f`.

use super::names::known_name;
use super::{Result, Run, refuse, unversioned};
use crate::feed::Feed;
use crate::syntax::is_noted;
use crate::table::{ASSIGNS, EDITORS, SHELLS, listed};
use crate::variables::runs_values_of;
use crate::walk::{Scope, Walk};
use crate::words::{ATOM, Field, shown};
use crate::wrappers::WRAPPERS;
use crate::{Construct, ShellError};

/// Programs beside [`WRAPPERS`] in which options with values and operands stand before what runs.
const TAKES_PLACES: &str = "git env su sg runuser printf xargs gxargs parallel sem niceload watch at batch crontab tmux scp sftp rsync";

/// The most words of a command of which each may be none.
const MOST_SHIFTING: usize = 3;

impl Walk<'_> {
    /// Returns the words of a command if all that may be empty is empty, or is the text for which it may stand, where that makes others
    /// of them: `git reset $x--hard`, `docker ${x}rm`, `find d -del${x:+ete}`. If it is only a shell that reads other words then, all else
    /// stays as it is: `bash -c "\\$x;rm f"`.
    pub(super) fn emptied(&mut self, program: &str, fields: &[Field]) -> Result<Vec<Vec<Field>>> {
        let words = fields.get(1..).unwrap_or_default();
        let mut all = Vec::new();
        let is_other = |word: &Field| word.joins > 0 || word.quotes;
        if words.iter().any(is_other) {
            self.charge(size_of(fields))?;
            let closed = |word: &Field| match is_other(word) {
                false => word.clone(),
                true => Field {
                    text: word.closed().to_owned(),
                    joins: 0,
                    quotes: false,
                    glued: false,
                    ..word.clone()
                },
            };
            all.push(fields.iter().map(closed).collect());
        }
        if !words.iter().any(|word| word.glued) {
            return Ok(all);
        }
        let assigns = ASSIGNS.contains(&program);
        let runs = |word: &&Field| runs_values_of(word.rest()) || runs_values_of(word.filled());
        let mut glued = fields.iter().filter(|word| word.glued);
        if let Some(word) = glued.clone().find(|word| assigns && runs(word)) {
            return refuse("the variable that is assigned", word);
        }
        let is_filled = glued.any(|word| word.filled() != word.rest());
        let mut readings: Vec<fn(&Field) -> &str> = vec![Field::rest];
        readings.extend(is_filled.then_some(Field::filled as fn(&Field) -> &str));
        self.charge(size_of(fields).saturating_mul(readings.len()))?;
        let words = |reading: &fn(&Field) -> &str| {
            let words = fields.iter().flat_map(|word| match word.glued {
                true => word.as_text(reading(word), assigns),
                false => vec![word.clone()],
            });
            words.collect()
        };
        all.extend(readings.iter().map(words));
        Ok(all)
    }

    /// Records the effects of a command, and checks its files, if the words of it that may be none are none: `sort -o $x a.sh f`.
    pub(super) fn check_without_vanishing(
        &mut self,
        program: &str,
        fields: &[Field],
        scope: &mut Scope<'_>,
        feed: &Feed,
    ) -> Result<()> {
        if is_noted(program) || !fields.iter().any(Field::may_vanish) {
            return Ok(());
        }
        self.charge(size_of(fields))?;
        let kept = fields.iter().filter(|field| !field.may_vanish());
        let kept: Vec<Field> = kept.cloned().collect();
        self.effects(program, &kept, scope)?;
        let words = kept.get(1..).unwrap_or_default();
        self.check_settings_files(program, words)?;
        self.check_given_files(program, words, feed)
    }

    /// Returns the words of a command without those that may be none, for each choice of them: others take their places in
    /// `timeout $x 3 rm f`.
    fn shifted(&mut self, program: &str, fields: &[Field]) -> Result<Vec<Vec<Field>>> {
        let places = shifting(program, fields);
        if let Some(one) = places.get(MOST_SHIFTING).and_then(|at| fields.get(*at)) {
            return refuse("the number of words", one);
        }
        let choices = 1_usize << places.len();
        self.charge(size_of(fields).saturating_mul(choices - 1))?;
        let without = |choice: usize| {
            let is_left_out = |at: usize| {
                let nth = places.iter().position(|place| *place == at);
                nth.is_some_and(|nth| choice >> nth & 1 == 1)
            };
            let kept = fields.iter().enumerate();
            let kept = kept.filter(|(at, _)| !is_left_out(*at));
            kept.map(|(_, field)| field.clone()).collect()
        };
        Ok((1..choices).map(without).collect())
    }

    /// Returns what a command runs if words of it are none. The program refuses words that it does not know.
    pub(super) fn runs_shifted(
        &mut self,
        program: &str,
        fields: &[Field],
        scope: &mut Scope<'_>,
        feed: &Feed,
    ) -> Result<Vec<Run>> {
        let mut runs = Vec::new();
        for mut words in self.shifted(program, fields)? {
            if is_noted(program) {
                self.check_words(program, &mut words, scope)?;
                continue;
            }
            let run = match self.next(program, &words, feed) {
                Ok(run) => run,
                Err(ShellError::Undetermined {
                    what: Construct::Option,
                    written,
                }) if !written.contains(['$', '`']) => continue,
                Err(error) => return Err(error),
            };
            // the subcommand is another one
            if program == "git" {
                self.push(words.iter().map(|field| shown(field, scope)).collect())?;
            }
            runs.push(self.without_odd(run, feed));
        }
        Ok(runs)
    }

    /// Leaves out words that may be none in front of what would run, and then what begins with an option, which is no command, what is a
    /// file that the line writes and no program of the system, and an input that nothing determines.
    fn without_odd(&self, run: Run, feed: &Feed) -> Run {
        match run {
            Run::Words(words) => {
                // the value of the environment is no program
                let is_none = |word: &Field| word.may_vanish() && word.environment;
                let kept: Vec<Field> = words.into_iter().skip_while(is_none).collect();
                match kept.first() {
                    Some(first) if !first.environment => Run::Words(kept),
                    Some(first) if !self.is_no_program(&first.text) => Run::Words(kept),
                    _ => Run::Nothing,
                }
            }
            Run::Line(text, positional) => {
                let words = text.split(' ');
                let kept: Vec<&str> = words.skip_while(|word| is_parameters(word)).collect();
                match kept.first() {
                    Some(first) if !self.is_no_program(first) => {
                        Run::Line(kept.join(" "), positional)
                    }
                    _ => Run::Nothing,
                }
            }
            Run::At(place, run) => Run::At(place, Box::new(self.without_odd(*run, feed))),
            Run::All(runs) => {
                let runs = runs.into_iter().map(|run| self.without_odd(run, feed));
                Run::All(runs.collect())
            }
            Run::Input if feed.is_open() => Run::Nothing,
            run => run,
        }
    }

    fn is_no_program(&self, name: &str) -> bool {
        // a file without an ending may have the name of a program, and some programs have names with a dot
        let is_plain = !name.contains('/') && !self.assigned.contains("PATH");
        let has_ending = unversioned(known_name(name)).contains('.') && !name.starts_with("mkfs.");
        let is_file = is_plain && has_ending && self.writes_file(name);
        name.starts_with('-') || is_file || is_parameters(name)
    }
}

/// The work of a copy of the words of a command.
fn size_of(fields: &[Field]) -> usize {
    fields.iter().map(|field| ATOM + field.text.len()).sum()
}

/// Whether a text has no letter or digit beside the names of parameters: `$x`, `${x}`, `$x@$y`.
fn is_parameters(text: &str) -> bool {
    let mut parts = text.split('$');
    let is_named = |c: char| "_{}".contains(c) || c.is_alphanumeric();
    let is_symbols = |text: &str| !text.contains(is_named);
    parts.next().is_some_and(is_symbols)
        && parts.all(|part| {
            let behind = match part.strip_prefix('{') {
                Some(braced) => braced.split_once('}').and_then(|(name, behind)| {
                    // `${x:-rm}` may be a program
                    name.chars().all(is_named).then_some(behind)
                }),
                None => Some(part.trim_start_matches(is_named)),
            };
            behind.is_some_and(is_symbols)
        })
}

/// Returns the places of words that may be none, where others then take their places: among options with values and operands in front
/// of a command, or anywhere if options may stand anywhere.
fn shifting(program: &str, fields: &[Field]) -> Vec<usize> {
    let n_plain = match program {
        "ssh" | "slogin" | "autossh" | "rsh" => 2,
        // options may stand anywhere
        _ if listed(EDITORS, program) => usize::MAX,
        _ if listed(TAKES_PLACES, program) || SHELLS.contains(&unversioned(program)) => 1,
        _ if WRAPPERS.iter().any(|one| listed(one.names, program)) => 1,
        _ => return Vec::new(),
    };
    let (mut places, mut plain) = (Vec::new(), 0);
    let mut before_value = false;
    let last = fields.len().saturating_sub(1);
    for (at, word) in fields.iter().enumerate().take(last).skip(1) {
        let vanishes = word.may_vanish();
        let is_option = word.text.starts_with('-');
        places.extend(vanishes.then_some(at));
        plain = match vanishes || is_option || before_value {
            true => 0,
            false => plain + 1,
        };
        if plain == n_plain {
            break;
        }
        before_value = vanishes || is_option;
    }
    places
}
