//! The parts that decide a condition at a step, and the values that they read.
//!
//! The parts are found like causes of formulas: of a false conjunction the false operands, of a true `any` the first element
//! that satisfies it. Values are evaluated again, so nothing is kept for conditions without an explanation.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use super::counted::Counted;
use crate::eval::code::{Code, Node, NodeId};
use crate::eval::compiled::Compiled;
use crate::eval::expr::Eval;
use crate::eval::text;
use crate::hir::{Builtin, Quantifier, print};
use crate::value::{Cell, Truth, Value};
use crate::verdict::{Part, TermValue};

/// The greatest number of parts of one condition that are listed.
const MOST_PARTS: usize = 4;

/// The greatest number of values that are listed for one condition.
const MOST_VALUES: usize = 12;

/// The greatest number of counted steps that are listed for one count.
const MOST_COUNTED: usize = 8;

/// The greatest number of bytes of the text of a part.
const PART: usize = 120;

/// The greatest number of bytes of the text of a term. A longer term is an inlined definition, for which only the
/// values that it reads are listed.
const TERM: usize = 60;

/// The parts that decide a condition.
#[derive(Debug, Default)]
pub(in crate::eval) struct Deciding {
    /// The parts; empty if the condition has no parts.
    pub(in crate::eval) parts: Vec<Part>,
    /// The values that the parts read.
    pub(in crate::eval) values: Vec<TermValue>,
}

/// Finds the parts that decide a condition at the step of `eval`. `text` is the condition as written in the spec, `vars` are
/// the names of the quantified variables, `counted` what its counts have counted, as far as the trace was read again.
pub(in crate::eval) fn deciding(
    program: &Compiled,
    eval: &mut Eval<'_>,
    condition: NodeId,
    text: &str,
    vars: &[SmolStr],
    counted: &Counted,
) -> Deciding {
    let mut search = Search {
        program,
        vars,
        counted,
        text,
        // A name does not show the definition behind it.
        shown: (!is_name(text)).then_some(condition),
        remembered: FxHashSet::default(),
        found: Deciding::default(),
    };
    let truth = eval.open_letter(condition);
    search.condition(eval, condition, truth);
    search.found
}

struct Search<'a> {
    program: &'a Compiled,
    vars: &'a [SmolStr],
    counted: &'a Counted,
    text: &'a str,
    /// The condition, if the reader sees its full text.
    shown: Option<NodeId>,
    /// The elements of lists and sets that depend on earlier events.
    remembered: FxHashSet<u32>,
    found: Deciding,
}

impl Search<'_> {
    fn condition(&mut self, eval: &mut Eval<'_>, node: NodeId, truth: Truth) {
        let code = eval.code;
        match code.node(node) {
            Node::Not(a) => {
                if self.shown == Some(node) {
                    self.shown = Some(*a);
                }
                self.condition(eval, *a, !truth);
            }
            Node::And(a, b) => self.operands(eval, [*a, *b], [truth; 2], Truth::False),
            Node::Or(a, b) => self.operands(eval, [*a, *b], [truth; 2], Truth::True),
            Node::Implies(a, b) => self.operands(eval, [*a, *b], [!truth, truth], Truth::True),
            Node::Iff(a, b) => {
                for part in [*a, *b] {
                    let truth = eval.open_letter(part);
                    self.condition(eval, part, truth);
                }
            }
            Node::If(condition, a, b) => {
                let chosen = eval.open_letter(*condition);
                self.condition(eval, *condition, chosen);
                match chosen {
                    Truth::True => self.condition(eval, *a, truth),
                    Truth::False => self.condition(eval, *b, truth),
                    Truth::Unknown => {}
                }
            }
            Node::Quantifier {
                kind: kind @ (Quantifier::Any | Quantifier::All),
                local,
                over,
                body,
            } if truth == Truth::from(*kind == Quantifier::Any) => {
                let Some(element) = self.witness(eval, *over, *local, *body, truth) else {
                    return self.leaf(eval, node, truth);
                };
                let remembered = is_remembered(code, *over, |local| self.is_of_past(local));
                if remembered {
                    self.remembered.insert(*local);
                }
                let outer = eval.set_local(*local, element.clone());
                if let Cell::Known(value) = &element {
                    let names = &self.program.spec().local_names;
                    let name = names.get(*local as usize).map_or("_", SmolStr::as_str);
                    let value = text::cut(text::quoted(code, value), text::EVIDENCE);
                    self.add(name.to_owned(), value, remembered);
                }
                self.condition(eval, *body, truth);
                eval.set_local(*local, outer);
            }
            _ => self.leaf(eval, node, truth),
        }
    }

    /// Follows the operands that decide. If the whole has the truth `alone`, one operand with its `wanted` truth
    /// suffices.
    fn operands(
        &mut self,
        eval: &mut Eval<'_>,
        operands: [NodeId; 2],
        wanted: [Truth; 2],
        alone: Truth,
    ) {
        // `a -> b` is `not a or b`, so the truth of the whole is the one wanted of the second operand.
        let whole = wanted[1];
        for (operand, wanted) in operands.into_iter().zip(wanted) {
            let truth = eval.open_letter(operand);
            if whole != alone || truth == wanted {
                self.condition(eval, operand, truth);
            }
        }
    }

    /// Returns the first element for which the body has this truth.
    fn witness(
        &self,
        eval: &mut Eval<'_>,
        over: NodeId,
        local: u32,
        body: NodeId,
        truth: Truth,
    ) -> Option<Cell> {
        let elements = match eval.code.node(over) {
            Node::List(items) | Node::Set(items) => {
                items.iter().map(|item| eval.cell(*item)).collect()
            }
            _ => match eval.cell(over) {
                Cell::Known(Value::List(items)) => items.iter().cloned().map(Cell::Known).collect(),
                Cell::Known(Value::Set(items)) => items.iter().cloned().map(Cell::Known).collect(),
                _ => Vec::new(),
            },
        };
        elements.into_iter().find(|element| {
            let outer = eval.set_local(local, element.clone());
            let found = eval.open_letter(body);
            eval.set_local(local, outer);
            found == truth
        })
    }

    /// Adds a part without parts of its own.
    fn leaf(&mut self, eval: &mut Eval<'_>, node: NodeId, truth: Truth) {
        let code = eval.code;
        let whole = self.shown == Some(node);
        let is_given = |node: &NodeId| matches!(code.node(*node), Node::Const(_) | Node::Var(_));
        let equality = match code.node(node) {
            Node::FieldIs(..) | Node::InConst(..) => true,
            Node::Eq(a, b) => is_given(a) || is_given(b),
            _ => false,
        };
        // An equality with a constant is shown by its value.
        if !(whole || equality && truth == Truth::True) && self.found.parts.len() < MOST_PARTS {
            let condition = self.print(eval, node, PART);
            let part = Part { condition, truth };
            if part.condition != self.text && !self.found.parts.contains(&part) {
                self.found.parts.push(part);
            }
        }
        match code.node(node) {
            Node::FieldIs(field, _) => {
                // An equality that holds already shows its value, if the reader sees it.
                if self.shown.is_none() || truth != Truth::True {
                    self.field(eval, *field);
                }
            }
            Node::Quantifier { over, body, .. } => {
                self.term(eval, *over, node);
                // Every element decides, so the other terms that the body reads decide too.
                for term in free(code, node, *body) {
                    self.term(eval, term, node);
                }
            }
            _ => {
                let operands = code.operands(node);
                if operands.is_empty() || matches!(code.node(node), Node::Register(_)) {
                    return self.term(eval, node, node);
                }
                for operand in operands {
                    self.term(eval, operand, node);
                }
            }
        }
    }

    fn field(&mut self, eval: &mut Eval<'_>, field: u32) {
        let fields = &self.program.spec().schema.fields;
        if let Some(of) = fields.get(field as usize) {
            let value = match eval.cells.get(field as usize) {
                Some(Cell::Known(value)) => text::quoted(eval.code, value),
                _ => "unknown".to_owned(),
            };
            self.add(of.name.to_string(), text::cut(value, text::EVIDENCE), false);
        }
    }

    /// Adds the value of an operand of `leaf`, and the values that it is computed from.
    fn term(&mut self, eval: &mut Eval<'_>, node: NodeId, leaf: NodeId) {
        let code = eval.code;
        let spec = self.program.spec();
        let remembered = is_remembered(code, node, |local| self.is_of_past(local));
        if let Some(name) = spec.outline.definitions.get(&code.info(node).expr) {
            let value = self.shown_value(eval, node, leaf);
            self.add(name.to_string(), value, remembered);
        }
        match code.node(node) {
            Node::Const(_) | Node::Unknown | Node::Var(_) | Node::Param(_) => return,
            Node::FieldIs(field, _) => return self.field(eval, *field),
            Node::Cast(of, _) => return self.term(eval, *of, leaf),
            Node::Coalesce(of, _) if eval.cell(*of) != Cell::Known(Value::Null) => {
                return self.term(eval, *of, leaf);
            }
            Node::If(condition, a, b) => {
                let chosen = eval.open_letter(*condition);
                self.term(eval, *condition, leaf);
                let branch = if chosen == Truth::True { *a } else { *b };
                return self.term(eval, branch, leaf);
            }
            // These add nothing to the values of their operands.
            Node::List(_) | Node::Set(_) | Node::Record(_) | Node::Local(_) => {}
            Node::Call(Builtin::Min | Builtin::Max, _) => {}
            node if is_test(node) => {}
            _ => {
                let name = self.print(eval, node, TERM);
                let counts = matches!(code.node(node), Node::Register(_) | Node::Quantifier { .. });
                if counts || !name.ends_with('…') {
                    let value = self.shown_value(eval, node, leaf);
                    let mut steps = match code.node(node) {
                        Node::Register(register) => self.counted.steps(eval, *register),
                        _ => Vec::new(),
                    };
                    let more_steps = steps.len().saturating_sub(MOST_COUNTED);
                    steps.truncate(MOST_COUNTED);
                    self.add_value(TermValue {
                        term: name,
                        value,
                        steps,
                        more_steps,
                        remembered,
                    });
                }
            }
        }
        match code.node(node) {
            // A path into a field is listed by its name; the whole field adds nothing.
            Node::Member(of, _) | Node::JsonMember(of, ..) if is_path(eval, *of) => {}
            // A converted value adds nothing to its text, nor do earlier steps to the value of a register.
            Node::Call(Builtin::Text, _) | Node::Register(_) => {}
            // For a sum or product only the whole and the last operands are listed.
            Node::Arith(..) => {
                let mut todo = vec![node];
                while let Some(operand) = todo.pop() {
                    match code.node(operand) {
                        Node::Arith(..) => todo.extend(code.operands(operand).into_iter().rev()),
                        _ => self.term(eval, operand, leaf),
                    }
                }
            }
            _ => {
                for operand in code.operands(node) {
                    self.term(eval, operand, leaf);
                }
            }
        }
    }

    fn shown_value(&self, eval: &mut Eval<'_>, node: NodeId, leaf: NodeId) -> String {
        match eval.cell(node) {
            Cell::Known(value) => self.value(eval, &value, node, leaf),
            Cell::Unknown => "unknown".to_owned(),
        }
    }

    /// Returns the text of a value; for a long text, the relevant part.
    fn value(&self, eval: &mut Eval<'_>, value: &Value, node: NodeId, leaf: NodeId) -> String {
        let code = eval.code;
        let Value::String(whole) = value else {
            return text::cut(text::quoted(code, value), text::EVIDENCE);
        };
        let part = match code.node(leaf) {
            Node::Matches(of, regex) if *of == node => {
                let pattern = &code.patterns[*regex as usize];
                let group = pattern.group(whole, 0).flatten();
                group.map(str::to_owned)
            }
            Node::Contains(of, part, _) | Node::StartsWith(of, part) | Node::EndsWith(of, part)
                if *of == node =>
            {
                match eval.cell(*part) {
                    Cell::Known(Value::String(part)) => Some(part.to_string()),
                    _ => None,
                }
            }
            _ => None,
        };
        let at = match (code.node(leaf), &part) {
            (Node::EndsWith(..), _) => whole.len(),
            (_, Some(part)) => whole
                .find(part.as_str())
                .map_or(0, |at| at + part.len() / 2),
            _ => 0,
        };
        text::excerpt(whole, at, text::EVIDENCE)
    }

    fn print(&self, eval: &Eval<'_>, node: NodeId, most: usize) -> String {
        let expr = eval.code.info(node).expr;
        print::expr(self.program.spec(), expr, self.vars, most)
    }

    fn is_of_past(&self, local: u32) -> bool {
        self.remembered.contains(&local)
    }

    fn add(&mut self, term: String, value: String, remembered: bool) {
        self.add_value(TermValue {
            term,
            value,
            steps: Vec::new(),
            more_steps: 0,
            remembered,
        });
    }

    fn add_value(&mut self, value: TermValue) {
        let values = &mut self.found.values;
        if value.term != self.text
            && values.len() < MOST_VALUES
            && values.iter().all(|known| known.term != value.term)
        {
            values.push(value);
        }
    }
}

/// Whether a text is a name, perhaps with arguments.
fn is_name(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    let rest = text.get(end.unwrap_or(text.len())..).unwrap_or_default();
    rest.is_empty() || (rest.starts_with('(') && rest.ends_with(')'))
}

/// Returns the largest parts of a quantifier's body that do not depend on an element.
fn free(code: &Code, quantifier: NodeId, body: NodeId) -> Vec<NodeId> {
    let mut bound = FxHashSet::default();
    let mut todo = vec![quantifier];
    while let Some(node) = todo.pop() {
        if let Node::Quantifier { local, .. } = code.node(node) {
            bound.insert(*local);
        }
        todo.extend(code.operands(node));
    }
    let depends = |node: NodeId| {
        let mut todo = vec![node];
        while let Some(node) = todo.pop() {
            if matches!(code.node(node), Node::Local(local) if bound.contains(local)) {
                return true;
            }
            todo.extend(code.operands(node));
        }
        false
    };
    let mut found = Vec::new();
    let mut todo = vec![body];
    while let Some(node) = todo.pop() {
        if depends(node) {
            todo.extend(code.operands(node).into_iter().rev());
        } else {
            found.push(node);
        }
    }
    found
}

/// Whether a value is not one of the event alone: whether it depends on a track, a past operator, a quantified variable, the data of
/// the trace, or an element of a list or set that does.
pub(in crate::eval) fn is_remembered(
    code: &Code,
    node: NodeId,
    is_of_past: impl Fn(u32) -> bool,
) -> bool {
    let mut seen = FxHashSet::default();
    let mut todo = vec![node];
    while let Some(node) = todo.pop() {
        match code.node(node) {
            Node::Track(..) | Node::Register(_) | Node::Var(_) | Node::Param(_) | Node::Meta(_) => {
                return true;
            }
            Node::Local(local) if is_of_past(*local) => return true,
            _ if seen.insert(node) => todo.extend(code.operands(node)),
            _ => {}
        }
    }
    false
}

/// Whether a node is a condition.
fn is_test(node: &Node) -> bool {
    matches!(
        node,
        Node::Not(_)
            | Node::And(..)
            | Node::Or(..)
            | Node::Implies(..)
            | Node::Iff(..)
            | Node::Eq(..)
            | Node::Order(..)
            | Node::In(..)
            | Node::InConst(..)
            | Node::Contains(..)
            | Node::StartsWith(..)
            | Node::EndsWith(..)
            | Node::Matches(..)
    )
}

/// Whether a node is a field, or a path into one.
fn is_path(eval: &Eval<'_>, node: NodeId) -> bool {
    match eval.code.node(node) {
        Node::Field(_) | Node::Meta(_) | Node::Local(_) => true,
        Node::Member(of, _) => is_path(eval, *of),
        _ => false,
    }
}
