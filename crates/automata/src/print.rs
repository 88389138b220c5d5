//! Formulas as text, in the usual one-letter notation.

use std::fmt;

use super::formula::{Atom, FormulaId, Formulas, Interval, Node};

/// The greatest number of nodes that are written before the text is cut off; shared parts count each time.
const LONGEST: usize = 10_000;

/// A formula that can be written. Every binary operator but the outermost is in parentheses.
#[derive(Clone, Debug)]
pub struct Display<'a, N> {
    formulas: &'a Formulas,
    formula: FormulaId,
    name: N,
}

impl Formulas {
    /// Returns the formula as text, atoms by these names.
    ///
    /// # Limits
    /// A formula that shares much can be exponentially longer than its arena; beyond ten thousand nodes it is cut off.
    ///
    /// ```
    /// use guard_automata::{Atom, Formulas, Interval};
    /// let mut formulas = Formulas::new();
    /// let (a, b) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
    /// let soon = formulas.until(a, Interval::steps(2, 5), b);
    /// let either = formulas.or(a, soon);
    /// let text = formulas.display(either, |atom| ["a", "b"][atom.0 as usize]).to_string();
    /// assert_eq!(text, "a | (a U[2,5] b)");
    /// ```
    pub fn display<N: Fn(Atom) -> D, D: fmt::Display>(
        &self,
        formula: FormulaId,
        name: N,
    ) -> Display<'_, N> {
        Display {
            formulas: self,
            formula,
            name,
        }
    }
}

/// A piece that remains to be written, last first.
enum Piece {
    Text(&'static str),
    Window(Interval),
    Formula(FormulaId),
}

impl<N: Fn(Atom) -> D, D: fmt::Display> fmt::Display for Display<'_, N> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stack = vec![Piece::Formula(self.formula)];
        let mut outermost = true;
        let mut left = LONGEST;
        while let Some(piece) = stack.pop() {
            let formula = match piece {
                Piece::Text(text) => {
                    out.write_str(text)?;
                    continue;
                }
                Piece::Window(window) => {
                    write_window(window, out)?;
                    continue;
                }
                Piece::Formula(formula) => formula,
            };
            if left == 0 {
                return out.write_str(" …");
            }
            left -= 1;
            let node = self.formulas.node(formula);
            let (f, operator, g) = match node {
                Node::True => (None, "true", None),
                Node::False => (None, "false", None),
                Node::Atom(atom) => {
                    write!(out, "{}", (self.name)(atom))?;
                    (None, "", None)
                }
                Node::Not(f) => (None, "!", Some(f)),
                Node::Next(f) => (None, "X ", Some(f)),
                Node::WeakNext(f) => (None, "N ", Some(f)),
                Node::Previously(f) => (None, "Y ", Some(f)),
                Node::WeakPreviously(f) => (None, "Z ", Some(f)),
                Node::Eventually(_, f) => (None, "F", Some(f)),
                Node::Always(_, f) => (None, "G", Some(f)),
                Node::Once(_, f) => (None, "O", Some(f)),
                Node::Historically(_, f) => (None, "H", Some(f)),
                Node::And(f, g) => (Some(f), " & ", Some(g)),
                Node::Or(f, g) => (Some(f), " | ", Some(g)),
                Node::Until(f, _, g) => (Some(f), " U", Some(g)),
                Node::Since(f, g) => (Some(f), " S ", Some(g)),
            };
            let wrapped = f.is_some() && !outermost;
            outermost = false;
            if wrapped {
                out.write_str("(")?;
                stack.push(Piece::Text(")"));
            }
            stack.extend(g.map(Piece::Formula));
            stack.extend(node.interval().map(Piece::Window));
            stack.push(Piece::Text(operator));
            stack.extend(f.map(Piece::Formula));
        }
        Ok(())
    }
}

/// Returns the window and the space after it; the window of all positions is not written.
fn write_window(window: Interval, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match window {
        Interval::ALL => {}
        Interval::Steps { lo, hi: Some(hi) } => write!(out, "[{lo},{hi}]")?,
        Interval::Steps { lo, hi: None } => write!(out, "[{lo},]")?,
        Interval::Time { lo, hi: Some(hi) } => write!(out, "[time {lo},{hi}]")?,
        Interval::Time { lo, hi: None } => write!(out, "[time {lo},]")?,
    }
    out.write_str(" ")
}
