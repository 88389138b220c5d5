//! The possible values of an expression of finite type with an unknown operand.

use super::Eval;
use crate::eval::builtin;
use crate::eval::code::{Node, NodeId};
use crate::hir::Builtin;
use crate::value::{Cell, Truth, Value};

impl Eval<'_> {
    /// Adds all values that an expression may have if some operand is unknown and its type is finite.
    pub(in crate::eval) fn possible(&mut self, id: NodeId, into: &mut Vec<Value>, ty: &[Value]) {
        let code = self.code;
        if let Cell::Known(value) = self.value(id).into_cell() {
            into.push(value);
            return;
        }
        match code.node(id) {
            Node::If(c, a, b) => {
                let truth = self.truth(*c);
                if truth != Truth::False {
                    self.possible(*a, into, ty);
                }
                if truth != Truth::True {
                    self.possible(*b, into, ty);
                }
            }
            Node::Coalesce(a, b) => {
                let mut lhs = Vec::new();
                self.possible(*a, &mut lhs, code.info(*a).finite.as_deref().unwrap_or(ty));
                if lhs.iter().any(Value::is_null) {
                    self.possible(*b, into, ty);
                }
                into.extend(lhs.into_iter().filter(|value| !value.is_null()));
            }
            Node::Call(function @ (Builtin::Min | Builtin::Max), args) => {
                let mut found: Option<Vec<Value>> = None;
                for arg in args {
                    let mut values = Vec::new();
                    self.possible(
                        *arg,
                        &mut values,
                        code.info(*arg).finite.as_deref().unwrap_or(ty),
                    );
                    values.sort_unstable();
                    values.dedup();
                    found = Some(match found {
                        None => values,
                        Some(before) => {
                            let pairs = before
                                .iter()
                                .flat_map(|lhs| values.iter().map(move |rhs| [lhs, rhs]));
                            let of = pairs.map(|[lhs, rhs]| {
                                builtin::call(*function, &[lhs.clone(), rhs.clone()])
                            });
                            let mut joined: Vec<Value> = of.flatten().collect();
                            joined.sort_unstable();
                            joined.dedup();
                            joined
                        }
                    });
                }
                into.extend(found.unwrap_or_default());
            }
            _ => into.extend(
                code.info(id)
                    .finite
                    .as_deref()
                    .unwrap_or(ty)
                    .iter()
                    .cloned(),
            ),
        }
    }
}
