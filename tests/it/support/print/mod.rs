//! Syntax trees as text: the tests of the parser and of the formatter compare trees by it.
//!
//! The text parses to an equal tree. Parentheses are printed where the author put them and where they are needed; operators
//! keep their spelling, or get the word.

mod expr;
mod item;

use guard_lang::syntax::ast::{Expr, File, Item};

/// Returns an expression on one line.
pub(crate) fn print_expr(expr: &Expr) -> String {
    let mut printer = Printer::default();
    printer.any(expr);
    printer.out
}

/// Returns an item, with its documentation and attributes, and a line break at the end.
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
    /// Inside `P[ ]` or `R[ ]`, where letters need parentheses as words do.
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

    /// Elements with a comma and a space between them.
    fn list<T>(&mut self, elements: &[T], mut f: impl FnMut(&mut Self, &T)) {
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                self.put(", ");
            }
            f(self, element);
        }
    }

    /// Prints a string in quotes, with the escapes that it needs.
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
