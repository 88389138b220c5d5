//! The texts that assign each variable: a text within the line has the variables of the texts around it.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The texts that assign each variable.
#[derive(Default)]
pub(super) struct Owners {
    /// The first text that assigns a variable. That of the words of a command is empty.
    first: HashMap<String, Rc<str>>,
    /// Variables that several texts assign.
    shared: HashSet<String>,
}

impl Owners {
    /// Records the variables that a text assigns.
    pub(super) fn assign<'n>(&mut self, names: impl Iterator<Item = &'n String>, text: &str) {
        let text: Rc<str> = text.into();
        for name in names {
            match self.first.get(name) {
                None => {
                    self.first.insert(name.clone(), Rc::clone(&text));
                }
                Some(first) if *first != text => {
                    self.shared.insert(name.clone());
                }
                Some(_) => {}
            }
        }
    }

    /// Whether several texts assign a variable.
    pub(super) fn is_shared(&self, name: &str) -> bool {
        self.shared.contains(name)
    }

    /// Returns the variables among these that several texts assign.
    pub(super) fn shared<'n>(&self, names: impl Iterator<Item = &'n String>) -> HashSet<String> {
        names
            .filter(|name| self.shared.contains(*name))
            .cloned()
            .collect()
    }
}
