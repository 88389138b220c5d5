//! The commands of a tree, in the order in which they begin, and what flows into their standard inputs.

use std::collections::{HashMap, HashSet};

use super::alternatives::{begins_as_environment, has_plain_default, is_never_empty};
use super::components::Climb;
use super::constants::{arrays, constants};
use super::feed::{Feed, is_exec, script_is_read};
use super::files::{is_own, opens_socket};
pub(super) use super::folder::Folder;
use super::follow::is_descriptor;
use super::foreign::own_variable;
use super::owners::Owners;
pub(super) use super::scope::Scope;
use super::several::settle;
use super::syntax::{
    self, Assign, Dialect, Kind, NESTING, Node, Part, Redirect, Script, Target, Texts, Word,
};
use super::variables::{Given, RUN_VARIABLE, check_variable, is_proxy, loads_code, runs_values_of};
use super::words::{Hole, Leading, Partial, raw_text, shown, with_substitutions};
use super::{Command, Limits, ShellError};

type Result<T> = std::result::Result<T, ShellError>;

pub(super) struct Walk<'l> {
    pub(super) limits: &'l Limits,
    spent: usize,
    words: usize,
    pub(super) found: Vec<Command>,
    /// Variables that the text assigns anywhere.
    pub(super) assigned: HashSet<String>,
    pub(super) owners: Owners,
    /// Those that only commands of the line itself pass to what they run: `env X=1`.
    pub(super) passed: HashSet<String>,
    /// Aliases that the text defines anywhere.
    pub(super) aliases: HashSet<String>,
    /// Names of files that the text writes.
    pub(super) files: HashSet<String>,
    /// Paths of files that the text writes, and of folders to which it changes.
    pub(super) paths: HashSet<String>,
    /// Extensions of the files that the text writes, for names that are known only in part.
    pub(super) endings: HashSet<String>,
    /// Whether the text writes a file whose name it does not determine.
    pub(super) any_file: bool,
    /// Texts that are fed to programs which may write the files named in them.
    pub(super) fed: Vec<String>,
    /// Whether a descriptor may be a duplicate, or a file that is open for reading.
    pub(super) reopens: bool,
    /// Whether a word is the path of a descriptor.
    pub(super) names_descriptors: bool,
    /// Files that run, by their paths, and whether a shell reads them.
    pub(super) ran: Vec<(String, bool)>,
    /// Names of files that programs run which the line gives them by a variable.
    pub(super) later: HashSet<String>,
    /// Whether commands may run in another order than written.
    pub(super) unordered: bool,
    /// The texts that arithmetic may evaluate.
    pub(super) texts: Texts,
    /// Variables that are declared read-only.
    read_only: HashSet<String>,
    /// Whether the shell of the user may be one that has words of its own.
    pub(super) foreign: bool,
    /// Variables that are arrays anywhere.
    pub(super) arrays: HashSet<String>,
    arithmetic: bool,
    /// Functions that are defined anywhere.
    pub(super) functions: HashSet<String>,
    /// Functions that were called where their definitions are not known.
    pub(super) called_unseen: HashSet<String>,
    /// Functions of which only their calls say what they run, and why.
    pub(super) deferred: HashMap<String, ShellError>,
    /// Whether scripts run that the line does not hold and that see its functions: files that it sources, and all that it
    /// runs if it exports them.
    pub(super) shows_functions: bool,
    /// Functions that are not determined in a folder other than that of their definition, and why.
    pub(super) elsewhere: HashMap<String, ShellError>,
    /// Rounds of the loops that are being walked.
    pub(super) rounds: usize,
    /// Aliases of `git` that are defined, and subcommands that have words.
    pub(super) git_aliases: HashSet<String>,
    pub(super) git_called: HashSet<String>,
    /// Whether a command of `git` runs that may run hooks, and a file that `git` reads as settings or runs as a hook is written.
    pub(super) git_runs: bool,
    pub(super) git_file: Option<String>,
    /// Whether the line names a folder with hooks of `git`.
    pub(super) git_folder: bool,
    /// Whether the line asks `git` for the folder of a repository, or for a path in it.
    pub(super) asks_git_folder: bool,
    /// Whether a command may change the folder.
    pub(super) moves: bool,
    /// The number of variables, aliases, functions and traps that the line itself names.
    own_names: usize,
    /// Whether a trap may run before or after any command.
    pub(super) traps: bool,
    /// Whether a pattern that no file matches may be no word.
    pub(super) nullglob: bool,
    /// Whether a file may be a link to an input, and `make` reads an input.
    pub(super) links_input: bool,
    pub(super) make_input: bool,
    /// Whether any command so far, or of a text that is being walked, may run in another folder than the line begins in.
    pub(super) moved: bool,
    /// The variables, and those of which a part is known, that the next text has from the shell that runs it.
    pub(super) inherited: Option<(HashMap<String, String>, HashMap<String, Partial>)>,
}

impl<'l> Walk<'l> {
    pub(super) fn new(limits: &'l Limits) -> Walk<'l> {
        Walk {
            limits,
            spent: 0,
            words: 0,
            found: Vec::new(),
            assigned: HashSet::new(),
            owners: Owners::default(),
            passed: HashSet::new(),
            aliases: HashSet::new(),
            files: HashSet::new(),
            paths: HashSet::new(),
            endings: HashSet::new(),
            any_file: false,
            fed: Vec::new(),
            reopens: false,
            names_descriptors: false,
            ran: Vec::new(),
            later: HashSet::new(),
            unordered: false,
            texts: Texts::default(),
            read_only: HashSet::new(),
            foreign: false,
            arrays: HashSet::new(),
            arithmetic: false,
            functions: HashSet::new(),
            called_unseen: HashSet::new(),
            deferred: HashMap::new(),
            shows_functions: false,
            elsewhere: HashMap::new(),
            rounds: 1,
            git_aliases: HashSet::new(),
            git_called: HashSet::new(),
            git_runs: false,
            git_file: None,
            git_folder: false,
            asks_git_folder: false,
            moves: false,
            own_names: 0,
            traps: false,
            nullglob: false,
            links_input: false,
            make_input: false,
            moved: false,
            inherited: None,
        }
    }

    /// Returns another walk, which begins with the names that this one has found.
    pub(super) fn again(self) -> Walk<'l> {
        Walk {
            assigned: self.assigned,
            owners: self.owners,
            passed: self.passed,
            aliases: self.aliases,
            functions: self.functions,
            traps: self.traps,
            nullglob: self.nullglob,
            ..Walk::new(self.limits)
        }
    }

    /// Whether texts within the line define names that the line itself does not.
    pub(super) fn finds_names(&self) -> bool {
        self.n_names() > self.own_names
    }

    fn n_names(&self) -> usize {
        let set = usize::from(self.traps) + usize::from(self.nullglob);
        self.assigned.len() + self.aliases.len() + self.functions.len() + set
    }

    /// Counts work, in bytes of text that is read, copied or listed.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<()> {
        self.spent = self.spent.saturating_add(bytes);
        if self.spent > self.limits.work {
            return Err(ShellError::TooMuch);
        }
        Ok(())
    }

    pub(super) fn push(&mut self, command: Command) -> Result<()> {
        self.words += command.len();
        if self.words > self.limits.words {
            return Err(ShellError::TooMuch);
        }
        self.charge(command.iter().map(|word| word.len() + 1).sum())?;
        self.found.push(command);
        Ok(())
    }

    /// Walks a text as a script that starts in `folder`; returns the folder in which it ends.
    pub(super) fn text(
        &mut self,
        text: &str,
        positional: Option<Vec<String>>,
        feed: &Feed,
        level: usize,
        folder: Folder,
        dialect: Dialect,
    ) -> Result<Folder> {
        if text.len() > self.limits.bytes {
            return Err(ShellError::TooLong(text.len(), self.limits.bytes));
        }
        if level >= NESTING {
            return Err(ShellError::TooDeep);
        }
        let (mut values, mut partial) = self.inherited.take().unwrap_or_default();
        // shells drop a NUL, or end the text there
        if text.contains('\0') {
            return Err(ShellError::undetermined("what a shell reads at", "\\0"));
        }
        // a node of the tree costs about sixty bytes for each byte of text
        self.charge(text.len().saturating_mul(4))?;
        let dialect = match self.foreign && dialect == Dialect::Posix {
            true => Dialect::Extended,
            false => dialect,
        };
        let mut parsed = syntax::parse(text, level, dialect)?;
        // an assignment of a variable that is read-only fails
        let fails = |name: &String| self.read_only.contains(name);
        parsed.names.dynamic |= parsed.names.assigned.keys().any(fails);
        self.owners.assign(parsed.names.assigned.keys(), text);
        if level > 0 {
            parsed.names.inherited = self.owners.shared(parsed.names.assigned.keys());
        }
        let names = &parsed.names;
        if let Some(name) = own_variable(dialect, names.assigned.keys()) {
            let what = "what another shell does with";
            return Err(ShellError::undetermined(what, name));
        }
        self.arithmetic |= names.arithmetic;
        self.read_only.extend(names.read_only.iter().cloned());
        self.arrays.extend(names.arrays.iter().cloned());
        self.texts.add(&names.texts);
        if self.arithmetic {
            self.charge(self.texts.size())?;
        }
        // a text that gives a variable its own value leaves that of the line as it is
        let is_given = |name: &&String| level == 0 || !parsed.names.keeps(name);
        let own = parsed.names.assigned.keys().filter(is_given);
        self.passed
            .retain(|name| !parsed.names.assigned.contains_key(name));
        self.assigned.extend(own.cloned());
        if self.arithmetic {
            let decide = ["IFS", "PATH"].map(str::to_owned).into_iter();
            let evaluated = decide.filter(|name| self.texts.may_assign_together(name));
            for name in evaluated {
                self.passed.remove(&name);
                self.assigned.insert(name);
            }
            if let Some(name) = self.texts.assigned_run_variable(&self.assigned) {
                return Err(ShellError::undetermined(RUN_VARIABLE, &name));
            }
        }
        self.aliases.extend(parsed.names.aliases.iter().cloned());
        self.functions
            .extend(parsed.names.functions.iter().cloned());
        self.unordered |= names.unordered;
        self.moves |= names.moves;
        self.moved |= names.moves;
        self.traps |= names.traps;
        if level == 0 {
            self.own_names = self.n_names();
        }
        if let Some(name) = &parsed.names.run_unseen {
            return Err(ShellError::undetermined(RUN_VARIABLE, name));
        }
        values.retain(|name, _| !names.dynamic && !names.assigned.contains_key(name));
        partial.retain(|name, _| !names.dynamic && !names.assigned.contains_key(name));
        let mut scope = Scope {
            several: HashMap::new(),
            constant: constants(&parsed),
            arrays: arrays(&parsed),
            parsed: &parsed,
            values,
            partial,
            positional: positional.filter(|_| !parsed.names.shifts),
            functions: HashMap::new(),
            splits_oddly: self.assigned.contains("IFS"),
            folder,
            level,
            input: None,
            calls: 0,
            calling: Vec::new(),
            files: HashMap::new(),
        };
        self.script(&parsed.script, &mut scope, feed, true)?;
        if self.arithmetic && self.texts.run_a_command(|name| self.redefines(name)) {
            return Err(ShellError::undetermined(
                "text that arithmetic may evaluate",
                text,
            ));
        }
        Ok(scope.folder)
    }

    fn script<'a>(
        &mut self,
        script: &'a Script,
        scope: &mut Scope<'a>,
        feed: &Feed,
        always: bool,
    ) -> Result<()> {
        // what a command reads of the input, the next ones do not
        let mut taken = false;
        for statement in &script.statements {
            let before = scope.folder.clone();
            let mut reached = before.clone();
            for (nth, pipeline) in statement.pipelines.iter().enumerate() {
                let alone = pipeline.len() == 1;
                let ran = self.ran.len();
                let folder = scope.folder.clone();
                let mut input = match taken {
                    true => Feed::Unknown,
                    false => feed.clone(),
                };
                let reads = pipeline
                    .first()
                    .is_some_and(|node| self.may_read(node, scope));
                taken |= matches!(feed, Feed::Text(_)) && reads;
                for (place, node) in pipeline.iter().enumerate() {
                    let always = always && nth == 0 && alone && !statement.background;
                    // each part of a pipeline is a process of its own
                    if !alone {
                        scope.folder = folder.clone();
                    }
                    self.node(node, scope, &input, always)?;
                    if place + 1 < pipeline.len() {
                        input = match self.node_output(node, scope, &input)? {
                            Some(text) => Feed::Text(text),
                            None => Feed::Unknown,
                        };
                    }
                }
                let is_exec = pipeline.first().is_some_and(is_exec);
                if matches!(scope.input, Some(Feed::Text(_))) && !is_exec && reads {
                    scope.input = Some(Feed::Unknown);
                }
                if !alone {
                    // the commands of a pipeline run at the same time
                    self.check_ran(ran)?;
                    // some shells run the last one themselves
                    scope.folder = match scope.parsed.dialect {
                        Dialect::Bash => folder,
                        _ => scope.folder.clone().or(folder),
                    };
                } else if statement.either {
                    scope.folder = scope.folder.clone().or(folder);
                }
                reached = reached.or(scope.folder.clone());
            }
            // after `cd a && b` it may be either folder, since `cd` may have failed
            scope.folder = match statement.background {
                true => before,
                false => reached,
            };
            settle(statement, scope, always);
        }
        Ok(())
    }

    /// Walks the parts of a compound command, each of which may or may not run. The body of a loop is walked again if
    /// it changes the folder.
    pub(super) fn bodies<'a>(
        &mut self,
        bodies: &'a [Script],
        repeats: bool,
        scope: &mut Scope<'a>,
        feed: &Feed,
    ) -> Result<()> {
        let found = self.found.len();
        let ran = self.ran.len();
        let mut rounds = 0;
        loop {
            let start = scope.folder.clone();
            let mut taken = false;
            for body in bodies {
                let folder = scope.folder.clone();
                let feed = if taken { &Feed::Unknown } else { feed };
                self.script(body, scope, feed, false)?;
                let mut nodes = body.statements.iter().flat_map(|one| one.pipelines.iter());
                taken |= matches!(feed, Feed::Text(_))
                    && nodes
                        .any(|nodes| nodes.first().is_some_and(|node| self.may_read(node, scope)));
                scope.folder = scope.folder.clone().or(folder);
            }
            if repeats {
                self.check_ran(ran)?;
                self.check_started(found)?;
            }
            if !repeats || scope.folder == start {
                return Ok(());
            }
            // the second round of a loop starts in the folder in which the first one ends
            if rounds > 0 {
                scope.folder = Folder::Unknown;
            }
            rounds += 1;
            self.found.truncate(found);
        }
    }

    pub(super) fn node<'a>(
        &mut self,
        node: &'a Node,
        scope: &mut Scope<'a>,
        feed: &Feed,
        always: bool,
    ) -> Result<()> {
        self.charge(16)?;
        let feed = match (feed, &scope.input) {
            (Feed::Nothing, Some(input)) => input.clone(),
            (feed, _) => feed.clone(),
        };
        let incoming = match feed {
            Feed::Text(_) if self.traps || self.words_read(node, scope) => Feed::Unknown,
            feed => feed,
        };
        let feed = self.redirected(node, scope, &incoming)?;
        // its words and redirections are expanded before it moves
        let before = scope.folder.clone();
        match &node.kind {
            Kind::Simple { assigns, words } => {
                let name = syntax::behind_prefixes(words, syntax::literal).first();
                let noted = name.and_then(syntax::literal);
                let all = match noted.as_deref().is_some_and(syntax::is_noted) {
                    true => vec![self.words(words, scope)?],
                    false => self.readings(words, scope)?,
                };
                for fields in &all {
                    self.exec_input(node, words, fields, scope, &feed, always)?;
                }
                for assign in assigns {
                    self.assign(assign, scope, always && words.is_empty())?;
                }
                for fields in all {
                    if !words.is_empty() {
                        self.run(fields, noted.as_deref(), scope, &feed)?;
                    }
                }
                let after = std::mem::replace(&mut scope.folder, before.clone());
                for word in assigns.iter().map(|assign| &assign.value).chain(words) {
                    self.scripts_in(word, scope, &incoming)?;
                }
                scope.folder = after;
            }
            Kind::Group {
                subshell,
                coprocess,
                body,
            } => {
                let folder = scope.folder.clone();
                let feed = if *coprocess { &Feed::Unknown } else { &feed };
                self.script(body, scope, feed, false)?;
                if *subshell {
                    scope.folder = folder;
                }
            }
            Kind::Compound {
                variable,
                words,
                bodies,
                repeats,
            } => {
                for word in words {
                    self.text_of(word, scope)?;
                    self.scripts_in(word, scope, &feed)?;
                }
                let feed = match feed {
                    Feed::Text(_) if words.iter().any(|word| self.word_reads(word, scope)) => {
                        Feed::Unknown
                    }
                    feed => feed,
                };
                match variable {
                    Some(name) => self.each(name, words, bodies, scope, &feed)?,
                    None => self.bodies(bodies, *repeats, scope, &feed)?,
                }
            }
            Kind::Function { name, body } => self.define(name, body, scope)?,
        }
        let after = std::mem::replace(&mut scope.folder, before);
        for redirect in &node.redirects {
            self.redirect(redirect, is_own(node), scope, &incoming)?;
        }
        scope.folder = after;
        Ok(())
    }

    fn assign(&mut self, assign: &Assign, scope: &mut Scope<'_>, always: bool) -> Result<()> {
        self.assign_elements(assign, scope, always)?;
        let mut determined = String::new();
        let value = match self.value_of(&assign.value, scope)? {
            Ok(text) => Some(text),
            Err(mut partial) => {
                determined.clone_from(&partial.determined);
                partial.written = with_substitutions(&partial.written, scope);
                partial.always = always;
                self.charge(partial.written.len())?;
                let names = &scope.parsed.names;
                let inherits = names.inherited.contains(&assign.name);
                let once = names.is_assigned_once(&assign.name)
                    && (!inherits || always && scope.constant.contains(&assign.name));
                // in its own assignment it has the value of the environment
                let itself = (!inherits).then_some(assign.name.as_str());
                if once && begins_as_environment(&partial.written, itself, scope, self) {
                    partial.leading = Leading::Determined;
                    if has_plain_default(&partial.written) {
                        partial.climb = Climb::No;
                    }
                }
                if once && self.holds_plain_default(assign, itself, scope) {
                    partial.leading = Leading::Determined;
                    partial.environment = true;
                    partial.determined.clone_from(&partial.filled);
                    partial.rest.clone_from(&partial.filled);
                    partial.empty = partial.filled.is_empty() || !is_never_empty(&partial.written);
                }
                if once && assign.plain {
                    scope.partial.insert(assign.name.clone(), partial);
                }
                None
            }
        };
        let known = value.as_deref();
        let written = raw_text(&assign.value);
        let given = Given {
            value: known.unwrap_or(&determined),
            open: known.is_none(),
            written: &written,
        };
        check_variable(&assign.name, given)?;
        self.named_program(&assign.name, known.unwrap_or(&written))?;
        // the variable holds the name of another one: `read "$x"` and `printf -v "$x"`
        if let Some(named) = known.filter(|value| runs_values_of(value)) {
            return Err(ShellError::undetermined(RUN_VARIABLE, named));
        }
        if loads_code(&assign.name) || is_proxy(&assign.name) && value.is_none() {
            let value = value.clone().unwrap_or(with_substitutions(&written, scope));
            self.push(vec![format!("{}=", assign.name), value])?;
        }
        let is_tilde = |part: &Part| matches!(part, Part::Bare(text) if text.contains('~'));
        if let Some(value) = value
            && always
            && assign.plain
            && !assign.value.iter().any(is_tilde)
            && scope.constant.contains(&assign.name)
            && !scope.parsed.names.dynamic
        {
            scope.values.insert(assign.name.clone(), value);
        }
        Ok(())
    }

    fn redirect<'a>(
        &mut self,
        redirect: &'a Redirect,
        is_own: bool,
        scope: &mut Scope<'a>,
        feed: &Feed,
    ) -> Result<()> {
        match &redirect.target {
            Target::Heredoc(slot) => {
                if let Some(word) = scope.parsed.heredocs.get(*slot) {
                    self.scripts_in(word, scope, feed)?;
                }
            }
            Target::Word(word) => {
                if redirect.operator != "<<<" {
                    let operator = redirect.operator;
                    let reads = operator.starts_with('<');
                    self.reopens |= reads && redirect.descriptor.is_some();
                    for field in self.fields(word, scope)? {
                        let copies = redirect.operator.ends_with('&');
                        self.reopens |= copies && !matches!(field.text.as_str(), "1" | "2" | "-");
                        let shares = copies && field.text.parse() == Ok(0);
                        let opens =
                            reads && field.text != "/dev/null" && is_descriptor(&field.text);
                        if matches!(feed, Feed::Script) && (shares || !copies && opens) {
                            return Err(script_is_read(&field.text));
                        }
                        if redirect.operator.contains('>') {
                            // what a program of the project prints, it may write as well
                            match is_own && field.environment && field.hole != Hole::None {
                                true => self.writes_names(&field),
                                false => self.writes_to(&field),
                            }
                            self.writes_for_git(&shown(&field, scope));
                        }
                        for path in field.readings() {
                            let operator = match opens_socket(&path) {
                                true if operator == "<" => "<>",
                                _ => operator,
                            };
                            self.push(vec![operator.to_owned(), path])?;
                        }
                    }
                }
                self.scripts_in(word, scope, feed)?;
            }
        }
        Ok(())
    }

    /// Returns the standard input of a node after its redirections.
    pub(super) fn redirected(
        &mut self,
        node: &Node,
        scope: &Scope<'_>,
        feed: &Feed,
    ) -> Result<Feed> {
        let mut feed = feed.clone();
        for redirect in &node.redirects {
            if matches!(feed, Feed::Text(_)) && self.target_reads(redirect, scope) {
                feed = Feed::Unknown;
            }
            let standard = match redirect.descriptor.as_deref() {
                Some(descriptor) => descriptor.parse() == Ok(0u32),
                None => redirect.operator.starts_with('<'),
            };
            if !standard {
                continue;
            }
            let text = match &redirect.target {
                Target::Heredoc(slot) => match scope.parsed.heredocs.get(*slot) {
                    Some(word) => self.text_of(word, scope)?,
                    None => None,
                },
                Target::Word(word) if redirect.operator == "<<<" => {
                    let text = self.text_of(word, scope)?;
                    text.map(|text| text + "\n")
                }
                Target::Word(word) => {
                    let fields = self.fields(word, scope)?;
                    match fields.as_slice() {
                        [field] if field.text == "/dev/null" => Some(String::new()),
                        [field] => field.process.clone().flatten(),
                        _ => None,
                    }
                }
            };
            feed = text.map_or(Feed::Unknown, Feed::Text);
        }
        Ok(feed)
    }

    /// Walks the commands of substitutions in a word.
    fn scripts_in<'a>(
        &mut self,
        word: &'a Word,
        scope: &mut Scope<'a>,
        incoming: &Feed,
    ) -> Result<()> {
        for part in word {
            let scripts: &[Script] = match part {
                Part::Substitution { script, .. } | Part::Process { script, .. } => {
                    std::slice::from_ref(script)
                }
                Part::Opaque { scripts, .. } => scripts,
                Part::Bare(_) | Part::Quoted(_) | Part::Param { .. } => continue,
            };
            // the input of `>(…)` is not analysed
            let feed = match part {
                Part::Process { written, .. } if written.starts_with('>') => &Feed::Unknown,
                _ => incoming,
            };
            let folder = scope.folder.clone();
            for script in scripts {
                self.script(script, scope, feed, false)?;
            }
            scope.folder = folder;
        }
        Ok(())
    }
}
