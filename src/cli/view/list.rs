//! The list of all traces with their verdicts: what matches filters, in an order, a part at a time.
//!
//! A trace takes some 60 bytes and a byte for each property, so a million fit. Its reasons and steps are read from its file when it
//! is opened.

use std::cmp::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::{Value, json};
use smol_str::SmolStr;

use crate::hir::Severity;
use crate::report::Headings;
use crate::report::html::{Files, codes, tame};
use crate::verdict::{TraceReport, Verdict};

/// The greatest number of traces in one answer.
const MOST: usize = 500;
/// Bytes of messages and instances of violations that a search looks through.
const SAID: usize = 64 << 20;

/// The traces in the order in which they were read.
#[derive(Debug)]
pub(super) struct List {
    pub(super) files: Files,
    rows: Vec<Row>,
    /// The verdicts on all properties of each trace, a letter each.
    codes: Vec<u8>,
    properties: Vec<(SmolStr, Severity)>,
    /// By trace: the messages of its violations and the instances that violate, in lower case.
    said: FxHashMap<u32, Box<str>>,
    said_bytes: usize,
    /// The filters of the last answers, with the traces that match them, in order.
    known: Mutex<Vec<(Filters, Arc<Vec<u32>>)>>,
}

#[derive(Debug)]
struct Row {
    name: SmolStr,
    line: u64,
    file: u32,
    /// Its number among the traces of the file.
    number: u32,
    events: u32,
}

/// The location of a trace: its file, and its number among the traces of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'l> {
    pub(super) file: &'l str,
    pub(super) number: u64,
}

/// The part of the list that a page requests.
#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    filters: Filters,
    /// The first place of the part; without it the part is around the requested trace.
    from: Option<usize>,
    /// A requested trace.
    find: Option<Find>,
}

/// The choices of filters and order, as the address of the page has them; empty texts choose nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Filters {
    q: String,
    property: String,
    severity: String,
    verdict: String,
    file: String,
    sort: String,
}

/// A trace by name, and by number if several have the name; without a name the first one that violates a property.
#[derive(Debug, Deserialize)]
struct Find {
    trace: String,
    n: Option<usize>,
}

impl List {
    pub(super) fn new(headings: &Headings) -> List {
        let properties = headings.properties.iter();
        List {
            files: Files::default(),
            rows: Vec::new(),
            codes: Vec::new(),
            properties: properties
                .map(|heading| (heading.name.clone(), heading.severity))
                .collect(),
            said: FxHashMap::default(),
            said_bytes: 0,
            known: Mutex::new(Vec::new()),
        }
    }

    /// Adds a trace.
    pub(super) fn add(&mut self, report: &TraceReport) {
        let short = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let file = short(self.files.number(&report.file));
        let number = match self.rows.last() {
            Some(last) if last.file == file => last.number + 1,
            _ => 0,
        };
        let place = short(self.rows.len());
        self.rows.push(Row {
            name: report.trace.clone(),
            line: report.line,
            file,
            number,
            events: u32::try_from(report.events).unwrap_or(u32::MAX),
        });
        let codes = codes(report, self.properties.len());
        self.codes.extend(codes.bytes());
        let violated = report.verdicts.iter();
        let violated = violated.filter(|found| found.verdict == Verdict::Violated);
        let mut said = String::new();
        for found in violated {
            let instance = found.instance.iter().map(|(_, value)| format!(" {value}"));
            said.extend(found.message.iter().cloned().chain(instance));
            said.push(' ');
        }
        if !said.trim().is_empty() && self.said_bytes + said.len() <= SAID {
            self.said_bytes += said.len();
            self.said.insert(place, said.to_lowercase().into());
        }
    }

    /// Ends the list: no more traces are added.
    pub(super) fn close(&mut self) {
        self.rows.shrink_to_fit();
        self.codes.shrink_to_fit();
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the verdicts on a trace, a letter for each property.
    pub(super) fn codes(&self, trace: usize) -> &[u8] {
        let n = self.properties.len();
        self.codes.get(trace * n..(trace + 1) * n).unwrap_or(&[])
    }

    /// Returns the location of a trace.
    pub(super) fn place(&self, trace: usize) -> Option<Place<'_>> {
        let row = self.rows.get(trace)?;
        Some(Place {
            file: self.files.name(row.file as usize)?,
            number: row.number.into(),
        })
    }

    /// Returns the number of the first trace of this name at this line of a file.
    pub(super) fn number(&self, file: &str, line: u64, name: &str) -> Option<usize> {
        let mut rows = self.rows.iter();
        rows.position(|row| {
            row.line == line && row.name == name && self.files.name(row.file as usize) == Some(file)
        })
    }

    /// Returns a part of the list: the number `n` of traces that match, and the `rows` from the place `from` on, each with its
    /// number before it; of a requested trace the row `found` and its place `at`, which is null if it does not match.
    pub(super) fn part(&self, wanted: &Wanted) -> Value {
        let matching = self.matching(&wanted.filters);
        let found = wanted.find.as_ref().map(|find| self.find(find, &matching));
        let found = found.flatten();
        let at = found.and_then(|found| matching.iter().position(|place| *place as usize == found));
        let around = at.map_or(0, |at| at.saturating_sub(MOST / 2));
        let from = wanted.from.unwrap_or(around).min(matching.len());
        let part = matching.iter().skip(from).take(MOST);
        let rows: Vec<Value> = part.map(|place| self.row(*place as usize)).collect();
        json!({
            "n": matching.len(),
            "from": from,
            "rows": rows,
            "found": found.map(|found| self.row(found)),
            "at": at,
        })
    }

    fn row(&self, trace: usize) -> Value {
        let Some(row) = self.rows.get(trace) else {
            return Value::Null;
        };
        let file = self.files.name(row.file as usize).unwrap_or_default();
        let codes = String::from_utf8_lossy(self.codes(trace));
        json!([
            trace,
            tame(&row.name),
            tame(file),
            row.line,
            row.events,
            codes
        ])
    }

    /// Returns the requested trace.
    fn find(&self, find: &Find, matching: &[u32]) -> Option<usize> {
        // The page has names as they are shown.
        let is_named = |row: &Row| row.name == find.trace || tame(&row.name) == find.trace;
        if find.trace.is_empty() {
            let mut matching = matching.iter().map(|place| *place as usize);
            return matching.find(|trace| self.codes(*trace).contains(&b'v'));
        }
        let numbered = find.n.filter(|n| self.rows.get(*n).is_some_and(is_named));
        numbered.or_else(|| self.rows.iter().position(is_named))
    }

    /// Returns the traces that match filters, in order.
    fn matching(&self, filters: &Filters) -> Arc<Vec<u32>> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |known: &[(Filters, Arc<Vec<u32>>)]| {
            let found = known.iter().find(|(of, _)| of == filters);
            found.map(|(_, matching)| Arc::clone(matching))
        };
        if let Some(matching) = known(&lock()) {
            return matching;
        }
        let matching = Arc::new(self.ordered(filters));
        let mut kept = lock();
        if kept.len() >= 4 {
            kept.remove(0);
        }
        kept.push((filters.clone(), Arc::clone(&matching)));
        matching
    }

    fn ordered(&self, filters: &Filters) -> Vec<u32> {
        let choice = Choice::new(self, filters);
        let all = 0..u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let mut matching: Vec<u32> = all.filter(|trace| choice.takes(*trace)).collect();
        let (descending, order) = match filters.sort.strip_prefix('-') {
            Some(order) => (true, order),
            None => (false, filters.sort.as_str()),
        };
        let row = |trace: u32| &self.rows[trace as usize];
        let violations = |trace: u32| {
            let codes = self.codes(trace as usize).iter();
            codes.filter(|code| **code == b'v').count()
        };
        let compare = |a: u32, b: u32| match order {
            "name" => row(a).name.cmp(&row(b).name),
            "steps" => row(b).events.cmp(&row(a).events),
            "verdict" => violations(b).cmp(&violations(a)),
            _ => Ordering::Equal,
        };
        // Traces that are equal in the order stay in that in which they were read.
        matching.sort_by(|a, b| match descending {
            true => compare(*b, *a),
            false => compare(*a, *b),
        });
        matching
    }
}

/// Filters, resolved against the list.
struct Choice<'l> {
    list: &'l List,
    words: Vec<String>,
    /// By property: whether it counts.
    properties: Vec<bool>,
    severe: bool,
    /// Letters of verdicts, and whether all properties must have one of them.
    verdicts: Option<(&'static [u8], bool)>,
    /// `Some(None)` for a file that no trace is from.
    file: Option<Option<u32>>,
}

impl<'l> Choice<'l> {
    fn new(list: &'l List, filters: &Filters) -> Choice<'l> {
        let severity = ["low", "medium", "high", "critical"]
            .into_iter()
            .zip([
                Severity::Low,
                Severity::Medium,
                Severity::High,
                Severity::Critical,
            ])
            .find(|(name, _)| *name == filters.severity)
            .map(|(_, severity)| severity);
        let counts = |(name, of): &(SmolStr, Severity)| {
            (filters.property.is_empty() || *name == filters.property)
                && severity.is_none_or(|least| *of >= least)
        };
        let verdicts: Option<(&'static [u8], bool)> = match filters.verdict.as_str() {
            "violated" => Some((b"v", false)),
            "open" => Some((b"o", false)),
            "unknown" => Some((b"u", false)),
            "satisfied" => Some((b"sp", true)),
            _ => None,
        };
        let file = || {
            let names = 0..list.files.len();
            let mut names = names.filter_map(|file| Some((file, list.files.name(file)?)));
            let found = names.find(|(_, name)| *name == filters.file || tame(name) == filters.file);
            found.and_then(|(file, _)| u32::try_from(file).ok())
        };
        let words = filters.q.to_lowercase();
        Choice {
            list,
            words: words.split_whitespace().map(str::to_owned).collect(),
            properties: list.properties.iter().map(counts).collect(),
            severe: severity.is_some(),
            verdicts,
            file: (!filters.file.is_empty()).then(file),
        }
    }

    fn takes(&self, trace: u32) -> bool {
        let codes = self.list.codes(trace as usize);
        let mut counted = codes
            .iter()
            .zip(&self.properties)
            .filter(|(_, counts)| **counts)
            .map(|(code, _)| code);
        let fits = match self.verdicts {
            Some((letters, true)) => {
                let mut any = false;
                counted.all(|code| {
                    any = true;
                    letters.contains(code)
                }) && any
            }
            Some((letters, false)) => counted.any(|code| letters.contains(code)),
            None if self.severe => counted.any(|code| *code == b'v'),
            None => counted.next().is_some(),
        };
        let row = &self.list.rows[trace as usize];
        fits && self.file.is_none_or(|file| file == Some(row.file)) && self.is_about(trace, row)
    }

    /// Whether each word is part of the name, the file, the name of a violated property, a message or an instance.
    fn is_about(&self, trace: u32, row: &Row) -> bool {
        let contains = |text: &str, word: &str| text.to_lowercase().contains(word);
        self.words.iter().all(|word| {
            let file = self.list.files.name(row.file as usize);
            let codes = self.list.codes(trace as usize).iter();
            let mut violated = codes.zip(&self.list.properties);
            contains(&row.name, word)
                || file.is_some_and(|file| contains(file, word))
                || violated.any(|(code, (name, _))| *code == b'v' && contains(name, word))
                || self
                    .list
                    .said
                    .get(&trace)
                    .is_some_and(|said| said.contains(word))
        })
    }
}
