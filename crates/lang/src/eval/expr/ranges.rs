//! Comparisons of counts of which some steps or elements are unknown: `count(p) <= 3` holds as long as at most three can be counted.

use super::Eval;
use crate::eval::code::{Node, NodeId};
use crate::hir::{Arith, Compare, Quantifier};
use crate::value::{Number, Truth, Value};

/// The least and the greatest value of an integer expression.
pub(super) type Range = (i128, i128);

impl Eval<'_> {
    /// Returns the truth of a comparison of which an operand is unknown, if all numbers that the operands may have agree.
    pub(super) fn compared_ranges(&mut self, op: Compare, a: NodeId, b: NodeId) -> Truth {
        let counts = |node: &Node| {
            matches!(
                node,
                Node::Register(_)
                    | Node::Arith(..)
                    | Node::Quantifier {
                        kind: Quantifier::Count,
                        ..
                    }
            )
        };
        if !counts(self.code.node(a)) && !counts(self.code.node(b)) {
            return Truth::Unknown;
        }
        let Some((lhs, rhs)) = self.range(a).zip(self.range(b)) else {
            return Truth::Unknown;
        };
        let ((a, most_a), (b, most_b)) = (lhs, rhs);
        let (always, never) = match op {
            Compare::Eq => (a == most_b && most_a == b, most_a < b || most_b < a),
            Compare::Lt => (most_a < b, a >= most_b),
            Compare::Le => (most_a <= b, a > most_b),
            Compare::Gt => (a > most_b, most_a <= b),
            Compare::Ge => (a >= most_b, most_a < b),
        };
        match (always, never) {
            (true, _) => Truth::True,
            (_, true) => Truth::False,
            _ => Truth::Unknown,
        }
    }

    /// Returns the range of a known integer, a count, or a sum or difference of them.
    fn range(&mut self, id: NodeId) -> Option<Range> {
        match self.value(id).known() {
            Some(Value::Number(Number::Int(number))) => return Some((*number, *number)),
            Some(_) => return None,
            None => {}
        }
        let code = self.code;
        match code.node(id) {
            Node::Register(register) => {
                let state = self.register_state(*register)?;
                let operands = self.operands(*register, false);
                let kind = &code.registers[*register as usize].kind;
                let (least, most) = state.range(kind, &operands, &self.clock)?;
                Some((least.into(), most.into()))
            }
            Node::Quantifier {
                kind: Quantifier::Count,
                local,
                over,
                body,
            } => self.count_elements(id, (*local, *over, *body), |_| true),
            Node::Arith(op @ (Arith::Add | Arith::Sub), a, b) => {
                let ((a, most_a), (b, most_b)) = self.range(*a).zip(self.range(*b))?;
                if *op == Arith::Add {
                    Some((a.checked_add(b)?, most_a.checked_add(most_b)?))
                } else {
                    Some((a.checked_sub(most_b)?, most_a.checked_sub(b)?))
                }
            }
            _ => None,
        }
    }

    /// Counts the elements of a list that satisfy a condition, as long as `goes_on` holds of the count. Returns `None` if there is no
    /// list.
    pub(super) fn count_elements(
        &mut self,
        id: NodeId,
        (local, over, body): (u32, NodeId, NodeId),
        goes_on: impl Fn(Range) -> bool,
    ) -> Option<Range> {
        let (mut least, mut most) = (0, 0);
        let complete = self.each_element(id, over, |eval, item| {
            let outer = eval.set_local(local, item);
            let truth = eval.truth(body);
            eval.set_local(local, outer);
            least += i128::from(truth == Truth::True);
            most += i128::from(truth != Truth::False);
            goes_on((least, most))
        });
        complete.then_some((least, most))
    }
}
