//! Rounds of loops and calls of functions: bodies that are walked with the values of their variables.

use super::ShellError;
use super::feed::Feed;
use super::field::BETWEEN;
use super::scope::Calling;
use super::syntax::{Dialect, Node, Script, Word};
use super::walk::{Folder, Scope, Walk};
use super::words::{Field, Hole, Partial};

type Result<T> = std::result::Result<T, ShellError>;

/// The greatest depth of nested function calls that are followed.
const CALLS: usize = 8;

/// The function that Bash calls if there is no program of a name.
const CALLED_BY_BASH: &str = "command_not_found_handle";

/// Rounds of loops within loops that are followed, each with the value of its variable.
const ROUNDS: usize = 64;

impl Walk<'_> {
    /// Walks the body of `for`: once for each value of its variable if all of them are known.
    pub(super) fn each<'a>(
        &mut self,
        name: &str,
        words: &[Word],
        bodies: &'a [Script],
        scope: &mut Scope<'a>,
        feed: &Feed,
    ) -> Result<()> {
        let names = &scope.parsed.names;
        if !names.is_assigned_once(name) {
            return self.bodies(bodies, true, scope, feed);
        }
        let mut fields = Vec::new();
        for word in words {
            fields.extend(self.fields(word, scope)?);
        }
        let known = |field: &Field| field.is_known() && !field.tilde;
        let rounds = self.rounds.saturating_mul(fields.len());
        if fields.is_empty() || rounds > ROUNDS || !fields.iter().all(known) {
            // one name of a file, or one word of an expansion
            if let Some(leading) = fields.iter().map(Field::leading).max() {
                let written = format!("${name}");
                let texts = |of: fn(&Field) -> &str, between: char| {
                    let texts = fields.iter().map(of);
                    texts
                        .collect::<Vec<_>>()
                        .join(between.encode_utf8(&mut [0; 4]))
                };
                let partial = Partial {
                    written,
                    determined: texts(Field::determined, ' '),
                    rest: texts(Field::rest, BETWEEN),
                    filled: texts(Field::filled, BETWEEN),
                    leading,
                    empty: true,
                    glued: fields.iter().any(|field| field.glued),
                    climb: fields
                        .iter()
                        .map(|field| field.climb)
                        .max()
                        .unwrap_or_default(),
                    environment: fields
                        .iter()
                        .all(|field| field.environment && field.hole == Hole::Start),
                    always: false,
                };
                scope.partial.insert(name.to_owned(), partial);
            }
            let is_file =
                |field: &Field| field.hole == Hole::None && !field.tilde && field.process.is_none();
            if fields.iter().all(is_file) {
                scope.files.insert(name.to_owned(), fields);
            }
            let walked = self.bodies(bodies, true, scope, feed);
            scope.partial.remove(name);
            scope.files.remove(name);
            return walked;
        }
        let outer = std::mem::replace(&mut self.rounds, rounds);
        let first = self.found.len();
        let mut second = None;
        let walked = fields.into_iter().try_for_each(|field| {
            let from = self.found.len();
            scope.values.insert(name.to_owned(), field.text);
            self.bodies(bodies, true, scope, feed)?;
            // a round that runs the same is listed once
            let end = *second.get_or_insert(self.found.len());
            if from > first && self.found.get(first..end) == self.found.get(from..) {
                self.found.truncate(from);
            }
            Ok(())
        });
        self.rounds = outer;
        scope.values.remove(name);
        walked
    }

    /// Keeps a function, and walks its body with parameters that are not known. If only they are missing, each call is walked.
    pub(super) fn define<'a>(
        &mut self,
        name: &'a str,
        body: &'a Node,
        scope: &mut Scope<'a>,
    ) -> Result<()> {
        let known = scope.functions.entry(name).or_default();
        if !known.iter().any(|one| std::ptr::eq(*one, body)) {
            known.push(body);
        }
        // a call that is not seen here could reach it
        let plain = |c: char| c == '_' || c == '-' || c.is_ascii_alphanumeric();
        let is_seen = known.len() == 1 && scope.level == 0 && scope.calls == 0;
        // Bash calls this one by itself
        let is_seen = is_seen && name.chars().all(plain) && name != CALLED_BY_BASH;
        let positional = scope.positional.take();
        let folder = scope.folder.clone();
        let found = self.found.len();
        match self.node(body, scope, &Feed::Unknown, false) {
            Err(why @ ShellError::Undetermined { .. })
                if is_seen && !self.called_unseen.contains(name) =>
            {
                self.found.truncate(found);
                self.deferred.insert(name.to_owned(), why);
            }
            walked => walked?,
        }
        self.define_elsewhere(name, body, scope, &folder)?;
        scope.positional = positional;
        scope.folder = folder;
        Ok(())
    }

    /// Walks the body of a function as that of one which the shell calls back, in whichever folder it then is.
    fn define_elsewhere<'a>(
        &mut self,
        name: &str,
        body: &'a Node,
        scope: &mut Scope<'a>,
        folder: &Folder,
    ) -> Result<()> {
        if !self.moves || *folder == Folder::Unknown {
            return Ok(());
        }
        let found = self.found.len();
        scope.folder = Folder::Unknown;
        let walked = self.node(body, scope, &Feed::Unknown, false);
        self.found.truncate(found);
        // shells have functions of their own that they call: `command_not_found_handle`, `chpwd`, `x.get`
        let is_called = name == CALLED_BY_BASH
            || scope.parsed.dialect != Dialect::Bash
            || self.called_unseen.contains(name);
        match walked {
            Err(why @ ShellError::Undetermined { .. }) if !is_called => {
                self.elsewhere.insert(name.to_owned(), why);
                Ok(())
            }
            walked => walked,
        }
    }

    /// Walks the bodies of a function, with the words of its call as its parameters.
    pub(super) fn call<'a>(
        &mut self,
        name: &str,
        fields: &[Field],
        scope: &mut Scope<'a>,
        feed: &Feed,
    ) -> Result<()> {
        // without arguments or input the function is the same as at its definition, where it is walked, unless the
        // folder has changed
        let is_walked = self.deferred.is_empty() && !self.moves;
        if fields.len() < 2 && !matches!(feed, Feed::Text(_) | Feed::Script) && is_walked {
            return Ok(());
        }
        let Some(bodies) = scope.functions.get(name).cloned() else {
            return Ok(());
        };
        let known = fields.iter().all(|field| field.is_known());
        let known = known && !scope.parsed.names.shifts;
        let words: Option<Vec<String>> =
            known.then(|| fields.iter().map(|field| field.text.clone()).collect());
        let mut calling = None;
        let is_once = |bodies: &Vec<&Node>| bodies.len() == 1;
        let is_fixed = !self.moves && scope.functions.values().all(is_once);
        if words.is_none() && is_fixed && !matches!(feed, Feed::Text(_) | Feed::Script) {
            self.charge((scope.values.len() + scope.partial.len()) * 64)?;
            let same = Calling {
                name: name.to_owned(),
                reads: matches!(feed, Feed::Unknown),
                folder: scope.folder.clone(),
                values: scope.values.clone(),
                partial: scope.partial.clone(),
            };
            // a call within itself of which as much is known runs what this one runs
            if scope.calling.contains(&same) {
                return Ok(());
            }
            calling = Some(same);
        }
        if scope.calls >= CALLS {
            return Err(ShellError::TooDeep);
        }
        let n_calling = scope.calling.len();
        scope.calling.extend(calling);
        let outer = std::mem::replace(&mut scope.positional, words);
        scope.calls += 1;
        let walked = bodies.into_iter().try_for_each(|body| {
            let folder = scope.folder.clone();
            self.node(body, scope, feed, false)?;
            scope.folder = scope.folder.clone().or(folder);
            Ok(())
        });
        scope.calls -= 1;
        scope.calling.truncate(n_calling);
        scope.positional = outer;
        walked
    }

    /// Replaces the variables of loops over names of files by the patterns of these names: `for f in a*; do rm "$f"; done`.
    pub(super) fn name_files(&mut self, fields: &mut Vec<Field>, scope: &Scope<'_>) -> Result<()> {
        let files = |field: &Field| {
            let name = field.text.strip_prefix('$')?;
            let braced = name.strip_prefix('{').and_then(|one| one.strip_suffix('}'));
            let is_one = field.hole == Hole::Start && !field.splits;
            let found = scope.files.get(braced.unwrap_or(name));
            found.filter(|_| is_one)
        };
        let named: usize = fields
            .iter()
            .filter_map(files)
            .flatten()
            .map(Field::size)
            .sum();
        if named > 0 {
            self.charge(named)?;
            let all = fields.iter().flat_map(|field| match files(field) {
                Some(files) => files.clone(),
                None => vec![field.clone()],
            });
            *fields = all.collect();
        }
        Ok(())
    }
}
