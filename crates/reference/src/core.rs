//! Rewrites formulas to the core operators that the tableau has laws for.
//!
//! `F f = true U f`, `G = !F!`, `N = !X!`, `f W g = (f U g) | G f`, `f R g = !(!f U !g)`, `f M g = (f R g) & F f`,
//! `O f = true S f`, `H = !O!`, `Z = !Y!`, `f B g = (f S g) | H f`.

use super::tableau::{Node, NodeId, Tableau};
use guard_lang::hir::{Binary, Bound, Formula, Formulas, Unary};
use guard_lang::ids::FormulaId;

impl Tableau {
    /// Returns the formula in terms of the core operators.
    pub(super) fn core(&mut self, formulas: &Formulas, id: FormulaId) -> NodeId {
        let operands: Vec<NodeId> = formulas
            .operands(id)
            .into_iter()
            .map(|id| self.core(formulas, id))
            .collect();
        let f = operands.first().copied().unwrap_or_default();
        let g = operands.get(1).copied().unwrap_or_default();
        match *formulas.get(id) {
            Formula::True => self.add(Node::True),
            Formula::False => {
                let truth = self.add(Node::True);
                self.not(truth)
            }
            Formula::Atom(letter) => self.add(Node::Letter(letter)),
            Formula::Last => self.add(Node::Last),
            Formula::Not(_) => self.not(f),
            Formula::And(..) => self.add(Node::And(f, g)),
            Formula::Or(..) => self.add(Node::Or(f, g)),
            Formula::Implies(..) => self.implies(f, g),
            Formula::Iff(..) => {
                let (there, back) = (self.implies(f, g), self.implies(g, f));
                self.add(Node::And(there, back))
            }
            Formula::Unary(op, bound, _) => match op {
                Unary::Next => self.add(Node::Next(f)),
                Unary::WeakNext => self.dual(f, Node::Next),
                Unary::Eventually => self.eventually(bound, f),
                Unary::Always => self.always(bound, f),
                Unary::Previously => self.add(Node::Previously(f)),
                Unary::WeakPreviously => self.dual(f, Node::Previously),
                Unary::Once => self.once(bound, f),
                Unary::Historically => {
                    let f = self.not(f);
                    let once = self.once(bound, f);
                    self.not(once)
                }
            },
            Formula::Binary(op, bound, ..) => match op {
                Binary::Until => self.until(bound, f, g),
                Binary::Unless => {
                    let (until, always) = (self.until(None, f, g), self.always(None, f));
                    self.add(Node::Or(until, always))
                }
                Binary::Release => self.release(f, g),
                Binary::StrongRelease => {
                    let (release, eventually) = (self.release(f, g), self.eventually(None, f));
                    self.add(Node::And(release, eventually))
                }
                Binary::Since => self.add(Node::Since(f, g)),
                Binary::BackTo => {
                    let since = self.add(Node::Since(f, g));
                    let f = self.not(f);
                    let once = self.once(None, f);
                    let historically = self.not(once);
                    self.add(Node::Or(since, historically))
                }
            },
        }
    }

    fn not(&mut self, f: NodeId) -> NodeId {
        self.add(Node::Not(f))
    }

    fn dual(&mut self, f: NodeId, op: fn(NodeId) -> Node) -> NodeId {
        let f = self.not(f);
        let f = self.add(op(f));
        self.not(f)
    }

    fn implies(&mut self, f: NodeId, g: NodeId) -> NodeId {
        let f = self.not(f);
        self.add(Node::Or(f, g))
    }

    fn until(&mut self, bound: Option<Bound>, f: NodeId, g: NodeId) -> NodeId {
        match bound {
            Some(Bound::Steps(from, to)) => self.add(Node::BoundedUntil(from, to, f, g)),
            _ => self.add(Node::Until(f, g)),
        }
    }

    fn eventually(&mut self, bound: Option<Bound>, f: NodeId) -> NodeId {
        let truth = self.add(Node::True);
        self.until(bound, truth, f)
    }

    fn always(&mut self, bound: Option<Bound>, f: NodeId) -> NodeId {
        let f = self.not(f);
        let eventually = self.eventually(bound, f);
        self.not(eventually)
    }

    fn release(&mut self, f: NodeId, g: NodeId) -> NodeId {
        let (f, g) = (self.not(f), self.not(g));
        let until = self.until(None, f, g);
        self.not(until)
    }

    fn once(&mut self, bound: Option<Bound>, f: NodeId) -> NodeId {
        match bound {
            Some(Bound::Steps(from, to)) => self.add(Node::BoundedOnce(from, to, f)),
            _ => {
                let truth = self.add(Node::True);
                self.add(Node::Since(truth, f))
            }
        }
    }
}
