//! Prints syntax trees as text, by which the tests of the parser and of the formatter compare trees.
//!
//! The text parses to an equal tree. Parentheses are printed where the source had them and where they are needed. Operators
//! keep their spelling; without one they are printed as words.

mod expr;
mod item;

use guard_lang::syntax::ast::{Expr, File, Item};

/// Returns an expression on one line.
pub(crate) fn print_expr(expr: &Expr) -> String {
    let mut printer = Printer::default();
    printer.any(expr);
    printer.out
}

/// Returns an item with its documentation and attributes, followed by a line break.
pub(crate) fn print_item(item: &Item) -> String {
    let mut printer = Printer::default();
    printer.item(item);
    printer.out
}

/// Returns a file.
pub(crate) fn print_file(file: &File) -> String {
    let mut printer = Printer::default();
    for doc in &file.docs {
        printer.line(&["//! ", &doc.text]);
    }
    for item in &file.items {
        printer.item(item);
    }
    printer.out
}

/// Text under construction.
#[derive(Default)]
struct Printer {
    out: String,
    /// Whether this is inside `P[ ]` or `R[ ]`, where single-letter operators need parentheses like words.
    probability: bool,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn line(&mut self, parts: &[&str]) {
        let from = self.out.len();
        parts.iter().for_each(|part| self.put(part));
        let len = self.out.get(from..).map_or(0, |line| line.trim_end().len());
        self.out.truncate(from + len);
        self.put("\n");
    }

    /// Prints elements separated by a comma and a space.
    fn list<T>(&mut self, elements: &[T], mut f: impl FnMut(&mut Self, &T)) {
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                self.put(", ");
            }
            f(self, element);
        }
    }

    /// Prints the content of a string literal, with the required escapes.
    fn quoted(&mut self, value: &str, braces: bool) {
        for c in value.chars() {
            match c {
                '"' => self.put("\\\""),
                '\\' => self.put("\\\\"),
                '\n' => self.put("\\n"),
                '\r' => self.put("\\r"),
                '\t' => self.put("\\t"),
                '{' if braces => self.put("{{"),
                '}' if braces => self.put("}}"),
                c if c.is_control() => {
                    let code = u32::from(c);
                    self.put(&format!("\\u{{{code:x}}}"));
                }
                c => self.out.push(c),
            }
        }
    }
}
