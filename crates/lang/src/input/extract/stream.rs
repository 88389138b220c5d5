//! The walk over a text: one pass that reads what the plan asks for and passes over the rest.

use jiter::Peek;

use crate::input::cell::{self, Trouble, no_scalar, takes_tree};
use crate::input::deferred::{MOST_FIELDS, SHORT};
use crate::input::document::{self, Note, TreeBuilder};
use crate::input::extract::tree::TreeExtractor;
use crate::input::key_path_cache::KeyPathCache;
use crate::input::keys::OpenKeys;
use crate::input::plan::{LevelId, Plan};
use crate::input::quick::{self, Quoted};
use crate::input::record_builder::RecordBuilder;
use crate::input::scan::{Fault, FaultKind, Key, Scanner};
use crate::input::trie::NodeId;
use crate::problem::ProblemKind;
use crate::types::Type;
use crate::value::{Cell, Value};

/// The state of a walk.
pub(crate) struct StreamExtractor<'j, 's> {
    pub(crate) plan: &'s Plan,
    pub(crate) scan: Scanner<'j>,
    pub(crate) keys: &'s mut OpenKeys,
    pub(crate) key_paths: &'s mut KeyPathCache,
    /// Offset and length of the keys of open objects that are as expected.
    pub(crate) met: &'s mut Vec<(usize, usize)>,
    pub(crate) builder: &'s mut RecordBuilder,
    /// Levels that may still be opened.
    pub(crate) depth: usize,
    /// The text here is walked again: its objects have been judged.
    pub(crate) quiet: bool,
    /// Whether long texts of events are left to whoever reads them.
    pub(crate) defer: bool,
    /// Number of members of the event's own object; `None` if it is not an object.
    pub(crate) members: Option<usize>,
    /// A single event turned out to be a whole trace.
    pub(crate) is_record: bool,
}

type Walked = Result<(), Fault>;

impl StreamExtractor<'_, '_> {
    /// Walks one value of a level, including paths that need a tree.
    pub(crate) fn whole(&mut self, level: LevelId) -> Walked {
        if self.plan.level(level).wants_tree() {
            self.scan.peek()?;
            let start = self.scan.at();
            let tree = match self.tree() {
                Ok((tree, _)) => tree,
                Err(fault) if fault.kind == FaultKind::Memory => {
                    return self.too_large(level, start);
                }
                Err(fault) => return Err(fault),
            };
            TreeExtractor {
                plan: self.plan,
                builder: self.builder,
                at: start,
                lists: true,
            }
            .queries(level, &tree);
            self.scan.seek(start);
            self.quiet = true;
        }
        let quiet = self.quiet;
        self.value(level, 0)?;
        self.quiet = quiet;
        Ok(())
    }

    /// Walks the value at a place of the trie.
    pub(crate) fn value(&mut self, level: LevelId, id: NodeId) -> Walked {
        let node = self.plan.level(level).trie.node(id);
        let peek = self.scan.peek()?;
        let start = self.scan.at();
        let was_quiet = self.quiet;
        let is_scalar = !matches!(peek, Peek::Object | Peek::Array);
        let mut walked = false;
        for &slot in &node.slots {
            self.again(&mut walked, start);
            self.field(level, slot, peek)?;
        }
        if node.list && peek == Peek::Array {
            self.again(&mut walked, start);
            self.list(level)?;
        }
        if node.list && peek == Peek::Object && level == LevelId::Event {
            self.builder
                .unread_list(level, ProblemKind::WrongType, start);
        }
        match peek {
            Peek::Object if node.has_names() || node.has_indices() => {
                self.again(&mut walked, start);
                self.object(level, id)?;
            }
            Peek::Array if node.has_indices() => {
                self.again(&mut walked, start);
                self.items(level, id)?;
            }
            _ if is_scalar && node.has_parts() => {
                self.again(&mut walked, start);
                self.no_parts(level, id, peek)?;
            }
            _ if !walked => self.skip(peek)?,
            _ => {}
        }
        self.quiet = was_quiet;
        Ok(())
    }

    /// Passes over a scalar where an object or a list was expected: it has no parts, unless it cannot be read.
    #[cold]
    fn no_parts(&mut self, level: LevelId, id: NodeId, peek: Peek) -> Walked {
        let at = self.scan.at();
        let unread = match self.scan.scalar(peek) {
            Ok(lexeme) => document::scalar(lexeme).err().map(|_| ProblemKind::Number),
            Err(fault) => {
                self.scan.rest_of_string(fault)?;
                Some(ProblemKind::InvalidUtf8)
            }
        };
        if let Some(kind) = unread {
            self.builder.unread(self.plan, level, id, kind, at);
        }
        Ok(())
    }

    /// Walks one value again for a further reader of it.
    fn again(&mut self, walked: &mut bool, start: usize) {
        if *walked {
            self.scan.seek(start);
            self.quiet = true;
        }
        *walked = true;
    }

    #[inline]
    fn skip(&mut self, peek: Peek) -> Walked {
        if !matches!(peek, Peek::Object | Peek::Array) {
            return self.scan.pass(peek);
        }
        self.scan.skip(Some(self.keys), self.depth)?;
        if !self.keys.found.is_empty() {
            self.report();
        }
        Ok(())
    }

    fn skip_next(&mut self) -> Walked {
        let peek = self.scan.peek()?;
        self.skip(peek)
    }

    fn open(&mut self) -> Walked {
        self.depth = self.depth.checked_sub(1).ok_or(Fault {
            at: self.scan.at(),
            kind: FaultKind::Depth,
        })?;
        Ok(())
    }

    fn object(&mut self, level: LevelId, id: NodeId) -> Walked {
        self.open()?;
        let node = self.plan.level(level).trie.node(id);
        let bytes = self.scan.bytes();
        // As long as the keys are those of an object before, they are not looked at one by one.
        let first = self.met.len();
        let mut shape = self.key_paths.root(self.plan.kind(level, id));
        let mut at = quick::space(bytes, self.scan.at() + 1);
        while let Some(place) = shape
            && let Some((len, value, next)) = self.key_paths.next(place, bytes, at)
        {
            self.met.push((at + 1, len));
            self.scan.seek(value);
            match self.scan.text(at + 1, len).and_then(|key| node.named(key)) {
                Some(child) => self.value(level, child)?,
                None => self.skip_next()?,
            }
            shape = Some(next);
            let end = quick::space(bytes, self.scan.at());
            match bytes.get(end) {
                Some(b',') => at = quick::space(bytes, end + 1),
                Some(b'}') => {
                    if level == LevelId::Event && id == 0 {
                        self.members = Some(self.met.len() - first);
                    }
                    self.scan.seek(end + 1);
                    self.met.truncate(first);
                    self.depth += 1;
                    return Ok(());
                }
                _ => break,
            }
        }
        self.keys.open();
        for &(at, len) in &self.met[first..] {
            let text = self.scan.text(at, len).unwrap_or_default();
            let escaped = false;
            self.keys.key(bytes, Key { text, at, escaped });
        }
        let mut next = if self.met.len() == first {
            self.scan.first_key()?
        } else {
            self.scan.next_key()?
        };
        self.met.truncate(first);
        while let Some(key) = next {
            self.keys.key(bytes, key);
            let child = node.named(key.text);
            let (quote, len, escaped) = (key.at - 1, key.text.len(), key.escaped);
            self.scan.peek()?;
            let value = self.scan.at();
            shape = shape
                .filter(|_| !escaped)
                .and_then(|shape| self.key_paths.learn(shape, bytes, quote, len, value));
            match child {
                Some(child) => self.value(level, child)?,
                None => self.skip_next()?,
            }
            next = self.scan.next_key()?;
        }
        if level == LevelId::Event && id == 0 {
            self.members = Some(self.keys.count());
        }
        self.keys.close(bytes);
        if !self.keys.found.is_empty() {
            // Whose event or record it is, is kept: its name does not hang on the other keys.
            let name = self.builder.name(self.plan, level);
            let copies = |key: &str| self.keys.found.iter().any(|found| found.key == key);
            let name = name.filter(|(_, first, _)| id == 0 && !copies(first));
            self.report();
            self.builder.distrust(self.plan, level, id);
            if let Some((slot, _, cell)) = name {
                self.builder.rename(level, slot, cell);
            }
        }
        self.depth += 1;
        Ok(())
    }

    fn items(&mut self, level: LevelId, id: NodeId) -> Walked {
        self.open()?;
        let node = self.plan.level(level).trie.node(id);
        let mut index = 0;
        let mut next = self.scan.first_item()?;
        while let Some(peek) = next {
            match node.indexed(index) {
                Some(child) => self.value(level, child)?,
                None => self.skip(peek)?,
            }
            index += 1;
            next = self.scan.next_item()?;
        }
        self.depth += 1;
        Ok(())
    }

    /// Returns the list of events of a record, or of elements of an event.
    fn list(&mut self, level: LevelId) -> Walked {
        if level == LevelId::Record {
            self.builder.found_list = true;
        }
        self.open()?;
        let mut next = self.scan.first_item()?;
        while next.is_some() {
            if level == LevelId::Record {
                self.event()?;
            } else if self.builder.begin_row(self.plan) {
                self.whole(LevelId::Element)?;
            } else {
                self.skip_next()?;
            }
            next = self.scan.next_item()?;
        }
        self.depth += 1;
        Ok(())
    }

    /// Returns an event, with all its steps.
    pub(crate) fn event(&mut self) -> Walked {
        self.scan.peek()?;
        let at = self.scan.at();
        self.builder.begin_event(self.plan);
        self.members = None;
        let quiet = self.quiet;
        self.whole(LevelId::Event)?;
        self.quiet = quiet;
        self.builder.end_event(self.plan, at);
        Ok(())
    }

    fn field(&mut self, level: LevelId, slot: usize, peek: Peek) -> Walked {
        let at = self.scan.at();
        if let (LevelId::Event, Some(native)) = (level, self.plan.native)
            && slot == native.events
        {
            self.is_record |= peek == Peek::Array;
            return self.skip(peek);
        }
        let field = &self.plan.level(level).slots[slot];
        let reading = match peek {
            Peek::Object | Peek::Array if takes_tree(&field.ty) => match self.tree() {
                Ok((tree, true)) if matches!(field.ty.non_null(), Type::Json) => Ok(tree),
                Ok((tree, _)) => cell::from_value(field, &tree),
                Err(fault) if fault.kind == FaultKind::Memory => {
                    self.scan.seek(at);
                    self.skip(peek)?;
                    self.builder.too_large()
                }
                Err(fault) => return Err(fault),
            },
            Peek::Object | Peek::Array => {
                self.skip(peek)?;
                no_scalar(field, peek)
            }
            Peek::String if self.defers(level, slot) => match self.scan.pass_string() {
                Ok(quoted) => return self.later(level, slot, at, quoted),
                Err(fault) => {
                    self.scan.rest_of_string(fault)?;
                    cell::stand_in(ProblemKind::InvalidUtf8)
                }
            },
            Peek::String => match self.scan.string() {
                Ok(text) if matches!(field.ty.non_null(), Type::String) => {
                    self.builder.put_text(self.plan, level, slot, text);
                    return Ok(());
                }
                Ok(text) => cell::from_text(field, text),
                Err(fault) => {
                    self.scan.rest_of_string(fault)?;
                    cell::stand_in(ProblemKind::InvalidUtf8)
                }
            },
            _ => cell::from_lexeme(field, self.scan.scalar(peek)?),
        };
        self.builder.put(self.plan, level, slot, reading, at);
        Ok(())
    }

    #[inline]
    fn defers(&self, level: LevelId, slot: usize) -> bool {
        self.defer
            && level == LevelId::Event
            && slot < self.plan.n_event.min(MOST_FIELDS)
            && matches!(self.plan.event.slots[slot].ty.non_null(), Type::String)
    }

    /// Returns a text of an event has been passed over: notes where it stands, or keeps it where it is short.
    fn later(&mut self, level: LevelId, slot: usize, at: usize, quoted: Quoted) -> Walked {
        let len = quoted.end - at - 2;
        if len >= SHORT {
            self.builder.put_later(slot, at, len, quoted.plain);
            return Ok(());
        }
        let text = self.scan.meaning(at, quoted);
        self.builder.put_text(self.plan, level, slot, text);
        Ok(())
    }

    /// Returns the tree of the value here, and whether all of it is known. Damaged objects are reported; other losses are
    /// reported by the field that reads them.
    fn tree(&mut self) -> Result<(Value, bool), Fault> {
        let mut trees = TreeBuilder::new(self.builder.left);
        let tree = trees.value(&mut self.scan, self.depth)?;
        self.builder.left = trees.left;
        let whole = trees.notes.is_empty();
        for Note { at, kind, message } in trees.notes {
            if kind == ProblemKind::DuplicateKey && !self.quiet {
                self.builder
                    .add_problem(Trouble { kind, message }, None, at);
            }
        }
        Ok((tree, whole))
    }

    /// Passes over a value that is too large for the paths that need a tree: all that they read is unknown.
    fn too_large(&mut self, level: LevelId, start: usize) -> Walked {
        let plan = self.plan;
        for (slot, _) in &plan.level(level).queries {
            let reading = self.builder.too_large();
            self.builder.put(plan, level, *slot, reading, start);
        }
        if plan.level(level).list.is_some() {
            self.builder.lose_list(level);
        }
        self.scan.seek(start);
        self.value(level, 0)
    }

    /// Tells of the objects that cannot be trusted.
    fn report(&mut self) {
        for found in std::mem::take(&mut self.keys.found) {
            if !self.quiet {
                let trouble = Trouble {
                    kind: ProblemKind::DuplicateKey,
                    message: document::duplicate_key(&found.key),
                };
                self.builder.add_problem(trouble, None, found.at);
            }
        }
    }

    /// Returns the cell of an event's slot.
    pub(crate) fn event_cell(&self, slot: usize) -> Option<&Cell> {
        self.builder.event.get(slot).and_then(Option::as_ref)
    }
}
