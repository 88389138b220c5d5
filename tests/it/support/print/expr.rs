//! Prints expressions with the parentheses that precedence requires.

use super::Printer;
use guard_lang::syntax::ast::*;
use guard_lang::syntax::token::RESERVED_WORDS;

/// The levels of the grammar, loosest first.
mod level {
    pub(super) const ANY: u8 = 0;
    pub(super) const RESPONSE: u8 = 1;
    pub(super) const IFF: u8 = 2;
    pub(super) const IMPLIES: u8 = 3;
    pub(super) const OR: u8 = 4;
    pub(super) const AND: u8 = 5;
    pub(super) const UNTIL: u8 = 6;
    pub(super) const PREFIX: u8 = 7;
    pub(super) const RELATION: u8 = 8;
    pub(super) const SUM: u8 = 9;
    pub(super) const PRODUCT: u8 = 10;
    pub(super) const DEFAULT: u8 = 11;
    pub(super) const NEGATION: u8 = 12;
    pub(super) const CAST: u8 = 13;
    pub(super) const POSTFIX: u8 = 14;
    pub(super) const PRIMARY: u8 = 15;
}

fn level_of(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::LeadsTo { .. } | ExprKind::Precedes { .. } => level::RESPONSE,
        ExprKind::Chain {
            op: ChainOp::Or, ..
        } => level::OR,
        ExprKind::Chain {
            op: ChainOp::And, ..
        } => level::AND,
        ExprKind::TemporalInfix { .. } => level::UNTIL,
        ExprKind::Unary {
            op: UnaryOp::Not, ..
        }
        | ExprKind::Temporal { .. }
        | ExprKind::Ctl { .. }
        | ExprKind::If { .. }
        | ExprKind::Instances { .. } => level::PREFIX,
        ExprKind::Quantifier { kind, .. } if *kind != QuantifierKind::Map => level::PREFIX,
        ExprKind::Unary {
            op: UnaryOp::Neg, ..
        } => level::NEGATION,
        ExprKind::Cast { .. } => level::CAST,
        ExprKind::Member { .. }
        | ExprKind::Index { .. }
        | ExprKind::Call { .. }
        | ExprKind::Prime(_) => level::POSTFIX,
        ExprKind::Binary { op, .. } => binary(*op).0,
        _ => level::PRIMARY,
    }
}

/// Returns the level of an operator, the least levels of its operands, and its text.
fn binary(op: BinaryOp) -> (u8, u8, u8, &'static str) {
    let relation = |text| (level::RELATION, level::SUM, level::SUM, text);
    match op {
        BinaryOp::Iff => (level::IFF, level::IFF, level::IMPLIES, "<->"),
        BinaryOp::Implies => (level::IMPLIES, level::OR, level::IMPLIES, "->"),
        BinaryOp::Eq => relation("=="),
        BinaryOp::Ne => relation("!="),
        BinaryOp::Lt => relation("<"),
        BinaryOp::Le => relation("<="),
        BinaryOp::Gt => relation(">"),
        BinaryOp::Ge => relation(">="),
        BinaryOp::In => relation("in"),
        BinaryOp::NotIn => relation("not in"),
        BinaryOp::Contains => relation("contains"),
        BinaryOp::StartsWith => relation("starts_with"),
        BinaryOp::EndsWith => relation("ends_with"),
        BinaryOp::Matches => relation("matches"),
        BinaryOp::Add => (level::SUM, level::SUM, level::PRODUCT, "+"),
        BinaryOp::Sub => (level::SUM, level::SUM, level::PRODUCT, "-"),
        BinaryOp::Mul => (level::PRODUCT, level::PRODUCT, level::DEFAULT, "*"),
        BinaryOp::Div => (level::PRODUCT, level::PRODUCT, level::DEFAULT, "/"),
        BinaryOp::Coalesce => (level::DEFAULT, level::NEGATION, level::DEFAULT, "??"),
    }
}

fn is_tail(expr: &Expr) -> bool {
    match expr.kind {
        ExprKind::If { .. } | ExprKind::Instances { .. } => true,
        ExprKind::Quantifier { kind, .. } => kind != QuantifierKind::Map,
        _ => false,
    }
}

/// Returns whether an expression is, or ends in, an unparenthesised formula that begins with a word.
fn ends_in_led(expr: &Expr) -> bool {
    if *expr.parens > 0 {
        return false;
    }
    match &expr.kind {
        ExprKind::Temporal { spelling, .. } if spelling.len() != 1 => true,
        ExprKind::Temporal { operand, .. } | ExprKind::Unary { operand, .. } => {
            ends_in_led(operand)
        }
        ExprKind::Chain { operands, .. } => operands.last().is_some_and(ends_in_led),
        ExprKind::Binary { rhs, .. } | ExprKind::TemporalInfix { rhs, .. } => ends_in_led(rhs),
        _ => false,
    }
}

fn temporal_word(op: TemporalOp) -> &'static str {
    match op {
        TemporalOp::Plain(op) => op.word(),
        TemporalOp::Never => "never",
    }
}

impl Printer {
    /// Prints any expression.
    pub(super) fn any(&mut self, expr: &Expr) {
        self.at(expr, level::ANY, true);
    }

    /// Prints an operand of `when`, `then` and similar words: closed, without `leads to`.
    pub(super) fn closed(&mut self, expr: &Expr) {
        self.at(expr, level::IFF, false);
    }

    /// Prints a sum or a tighter expression.
    pub(super) fn sum(&mut self, expr: &Expr) {
        self.at(expr, level::SUM, false);
    }

    /// Prints a postfix or a tighter expression.
    pub(super) fn postfix(&mut self, expr: &Expr) {
        self.at(expr, level::POSTFIX, false);
    }

    /// Prints an expression of precedence `least` or tighter; `open` says whether it may end in an expression that
    /// extends to the right without limit.
    fn at(&mut self, expr: &Expr, least: u8, open: bool) {
        let needed = level_of(expr) < least || (is_tail(expr) && !open);
        if needed || *expr.parens > 0 {
            self.put("(");
            self.kind(&expr.kind, true);
            self.put(")");
        } else {
            self.kind(&expr.kind, open);
        }
    }

    /// Prints a left operand: not open, and not a formula that begins with a word.
    fn left(&mut self, expr: &Expr, least: u8) {
        let led = match &expr.kind {
            ExprKind::Temporal { .. } if self.probability => *expr.parens == 0,
            _ => ends_in_led(expr),
        };
        let least = if led { level::PRIMARY + 1 } else { least };
        self.at(expr, least, false);
    }

    /// Prints the operand of a temporal operator, which must not begin with `[` or `/`.
    fn operand(&mut self, expr: &Expr, least: u8, open: bool, bounded: bool) {
        let from = self.out.len();
        self.at(expr, least, open);
        // After an operator `[` would begin a bound; after a bound `/` would divide; `leads` and `to` would form one
        // word.
        let wrong = if bounded { '/' } else { '[' };
        let (before, after) = self.out.split_at(from);
        let one_word = before.ends_with("leads") && after.starts_with("to");
        if one_word || after.starts_with(wrong) {
            self.out.insert(from, '(');
            self.put(")");
        }
    }

    /// Prints an expression after a word that may be a name, where `/` would divide.
    pub(super) fn after_word(&mut self, expr: &Expr) {
        let from = self.out.len();
        self.any(expr);
        if self
            .out
            .get(from..)
            .is_some_and(|text| text.starts_with('/'))
        {
            self.out.insert(from, '(');
            self.put(")");
        }
    }

    /// Prints an expression before `:`, where a word would become a name.
    fn before_colon(&mut self, expr: &Expr) {
        let from = self.out.len();
        self.any(expr);
        let text = self.out.get(from..).unwrap_or("");
        let word = text
            .rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .map_or(text, |at| text.get(at + 1..).unwrap_or(""));
        if RESERVED_WORDS.contains(&word) || matches!(word, "step" | "steps") {
            self.out.insert(from, '(');
            self.put(")");
        }
    }

    fn kind(&mut self, kind: &ExprKind, open: bool) {
        match kind {
            ExprKind::Bool(true) => self.put("true"),
            ExprKind::Bool(false) => self.put("false"),
            ExprKind::Null => self.put("null"),
            ExprKind::Int(text) | ExprKind::Float(text) => self.put(text),
            ExprKind::Percent(text) => {
                self.put(text);
                self.put("%");
            }
            ExprKind::String(string) => self.string(string),
            ExprKind::Regex { pattern, flags } => {
                ["/", pattern, "/", flags]
                    .iter()
                    .for_each(|part| self.put(part));
            }
            ExprKind::Duration(duration) => self.duration(duration),
            ExprKind::List(elements) => {
                self.put("[");
                self.list(elements, Self::any);
                self.put("]");
            }
            ExprKind::Set(elements) => {
                self.put("{");
                self.list(elements, Self::any);
                self.put("}");
            }
            ExprKind::Record(entries) => self.record(entries),
            ExprKind::EmptyBraces => self.put("{}"),
            ExprKind::Name(name) => self.put(&name.text),
            ExprKind::Member { base, name } => {
                self.postfix(base);
                self.put(".");
                self.put(&name.text);
            }
            ExprKind::Index { base, index } => {
                let count = matches!(&base.kind, ExprKind::Name(name) if name.text == "count");
                self.at(
                    base,
                    if count {
                        level::PRIMARY + 1
                    } else {
                        level::POSTFIX
                    },
                    false,
                );
                self.put("[");
                self.any(index);
                self.put("]");
            }
            ExprKind::Call { callee, args } => {
                self.postfix(callee);
                self.args(args);
            }
            ExprKind::CountWindow { bound, args } => {
                self.put("count");
                self.bound(bound);
                self.args(args);
            }
            ExprKind::Prime(operand) => {
                self.postfix(operand);
                self.put("'");
            }
            ExprKind::Cast { operand, ty } => {
                self.at(operand, level::CAST, false);
                self.put(" as ");
                self.ty(ty);
            }
            ExprKind::Cases(arms) => self.cases(arms),
            ExprKind::Path { quantifier, path } => {
                self.put(match quantifier {
                    PathQuantifier::All => "A[",
                    PathQuantifier::Exists => "E[",
                });
                self.any(path);
                self.put("]");
            }
            ExprKind::Probability { .. }
            | ExprKind::SteadyState { .. }
            | ExprKind::Reward { .. } => self.probability(kind),
            ExprKind::Error => self.put("null"),
            _ => self.operator(kind, open),
        }
    }

    fn operator(&mut self, kind: &ExprKind, open: bool) {
        match kind {
            ExprKind::Unary {
                op: UnaryOp::Neg,
                operand,
                ..
            } => {
                self.put("-");
                self.at(operand, level::NEGATION, false);
            }
            ExprKind::Unary {
                op: UnaryOp::Not,
                spelling,
                operand,
            } => {
                let bang = spelling.as_str() == "!";
                self.put(if bang { "!" } else { "not " });
                self.at(operand, level::PREFIX, open);
            }
            ExprKind::Chain {
                op,
                spelling,
                operands,
            } => {
                let (least, word) = match op {
                    ChainOp::And => (level::UNTIL, "and"),
                    ChainOp::Or => (level::AND, "or"),
                };
                let last = operands.len().saturating_sub(1);
                for (index, operand) in operands.iter().enumerate() {
                    if index > 0 {
                        self.infix(word, spelling);
                    }
                    if index == last {
                        self.at(operand, least, open);
                    } else {
                        self.left(operand, least);
                    }
                }
            }
            ExprKind::Binary {
                op,
                spelling,
                lhs,
                rhs,
            } => {
                let (_, left, right, word) = binary(*op);
                self.left(lhs, left);
                self.infix(word, spelling);
                self.at(rhs, right, open);
            }
            ExprKind::TemporalInfix {
                op,
                spelling,
                bound,
                lhs,
                rhs,
            } => {
                self.left(lhs, level::PREFIX);
                self.put(" ");
                self.put(if spelling.is_empty() {
                    op.word()
                } else {
                    spelling
                });
                bound.iter().for_each(|bound| self.bound(bound));
                self.put(" ");
                self.operand(rhs, level::UNTIL, open, bound.is_some());
            }
            ExprKind::Temporal {
                op,
                spelling,
                bound,
                operand,
            } => {
                self.put(if spelling.is_empty() {
                    temporal_word(*op)
                } else {
                    spelling
                });
                bound.iter().for_each(|bound| self.bound(bound));
                self.put(" ");
                self.operand(operand, level::PREFIX, open, bound.is_some());
            }
            ExprKind::Ctl { op, operand } => {
                self.put(match op {
                    CtlOp::Ag => "AG ",
                    CtlOp::Af => "AF ",
                    CtlOp::Ax => "AX ",
                    CtlOp::Eg => "EG ",
                    CtlOp::Ef => "EF ",
                    CtlOp::Ex => "EX ",
                });
                self.operand(operand, level::PREFIX, open, false);
            }
            ExprKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.put("if ");
                self.any(condition);
                self.put(" then ");
                self.any(then);
                self.put(" else ");
                self.any(otherwise);
            }
            ExprKind::Quantifier {
                kind: QuantifierKind::Map,
                name,
                source,
                body,
            } => {
                self.put("[");
                self.any(body);
                self.put(" for ");
                self.put(&name.text);
                self.put(" in ");
                self.any(source);
                self.put("]");
            }
            ExprKind::Quantifier {
                kind,
                name,
                source,
                body,
            } => {
                self.put(match kind {
                    QuantifierKind::Any => "any ",
                    QuantifierKind::All => "all ",
                    QuantifierKind::Count | QuantifierKind::Map => "count ",
                });
                self.put(&name.text);
                self.put(" in ");
                self.before_colon(source);
                self.put(": ");
                self.any(body);
            }
            ExprKind::Instances {
                kind,
                names,
                domain,
                body,
            } => {
                self.put(match kind {
                    InstancesKind::Forall => "forall ",
                    InstancesKind::Exists => "exists ",
                });
                if let [name] = names.as_slice() {
                    self.put(&name.text);
                } else {
                    self.put("(");
                    self.list(names, |p, name| p.put(&name.text));
                    self.put(")");
                }
                if let Some(domain) = domain {
                    self.put(" in ");
                    self.before_colon(domain);
                }
                self.put(": ");
                self.any(body);
            }
            ExprKind::LeadsTo { lhs, rhs, within } => {
                self.left(lhs, level::IFF);
                self.put(" leads to ");
                self.at(rhs, level::IFF, open && within.is_none());
                if let Some(within) = within {
                    self.put(" ");
                    self.window(within);
                }
            }
            ExprKind::Precedes { lhs, rhs } => {
                self.left(lhs, level::IFF);
                self.put(" precedes ");
                self.at(rhs, level::IFF, open);
            }
            _ => {}
        }
    }

    fn infix(&mut self, word: &str, spelling: &Spelling) {
        self.put(" ");
        self.put(if spelling.is_empty() { word } else { spelling });
        self.put(" ");
    }

    fn probability(&mut self, kind: &ExprKind) {
        let outer = std::mem::replace(&mut self.probability, true);
        match kind {
            ExprKind::Probability { bound, path, given } => {
                self.put("P");
                self.prob_bound(bound);
                self.any(path);
                if let Some(given) = given {
                    self.put(" given ");
                    self.after_word(given);
                }
            }
            ExprKind::SteadyState { bound, operand } => {
                self.put("S");
                self.prob_bound(bound);
                self.probability = outer;
                self.any(operand);
            }
            ExprKind::Reward { name, bound, kind } => {
                self.put("R");
                if let Some(name) = name {
                    self.put("{");
                    self.string(name);
                    self.put("}");
                }
                self.prob_bound(bound);
                match kind {
                    RewardKind::Reach(target) => {
                        self.put("F ");
                        self.operand(target, level::PREFIX, false, false);
                    }
                    RewardKind::Cumulative(None) => self.put("C"),
                    RewardKind::Cumulative(Some(k)) => {
                        self.put("C<=");
                        self.bound_value(k);
                    }
                    RewardKind::Instant(k) => {
                        self.put("I=");
                        self.bound_value(k);
                    }
                    RewardKind::Steady => self.put("S"),
                }
            }
            _ => {}
        }
        self.put("]");
        self.probability = outer;
    }

    fn prob_bound(&mut self, bound: &ProbBound) {
        match bound {
            ProbBound::Query => self.put("=?"),
            ProbBound::Compare { op, threshold } => {
                self.put(op.as_str());
                self.any(threshold);
            }
        }
        self.put("[");
    }

    fn cases(&mut self, arms: &[CaseArm]) {
        self.put("cases { ");
        self.list(arms, |p, arm| {
            match &arm.condition {
                Some(condition) => p.any(condition),
                None => p.put("else"),
            }
            p.put(" => ");
            p.any(&arm.value);
        });
        self.put(" }");
    }

    fn record(&mut self, entries: &[RecordEntry]) {
        self.put("{");
        self.list(entries, |p, entry| {
            let key = entry.key.as_str();
            if is_word(key) && !*entry.quoted {
                p.put(key);
            } else {
                p.put("\"");
                p.quoted(key, false);
                p.put("\"");
            }
            p.put(": ");
            p.any(&entry.value);
        });
        self.put("}");
    }

    pub(super) fn args(&mut self, args: &[Arg]) {
        self.put("(");
        self.list(args, |p, arg| {
            if let Some(name) = &arg.name {
                p.put(&name.text);
                p.put(": ");
            }
            p.any(&arg.value);
        });
        self.put(")");
    }

    pub(super) fn string(&mut self, string: &StringLit) {
        if string.raw.is_empty() {
            self.put("\"");
            self.quoted(&string.value, false);
            self.put("\"");
        } else {
            self.put(&string.raw);
        }
    }

    fn duration(&mut self, duration: &DurationLit) {
        self.put(&duration.number);
        self.put(duration.unit.as_str());
    }

    fn bound(&mut self, bound: &Bound) {
        match &bound.lower {
            Some(lower) => {
                self.put("[");
                self.bound_value(lower);
                self.put(",");
                self.bound_value(&bound.upper);
                self.put("]");
            }
            None => {
                self.put("<=");
                self.bound_value(&bound.upper);
            }
        }
    }

    fn bound_value(&mut self, value: &BoundValue) {
        match value {
            BoundValue::Int(text, _) => self.put(text),
            BoundValue::Duration(duration, _) => self.duration(duration),
            BoundValue::Name(name) => self.put(&name.text),
        }
    }

    pub(super) fn window(&mut self, window: &Window) {
        self.put("within ");
        if let Some(lower) = &window.lower {
            self.bound_value(lower);
            self.put("..");
        }
        self.bound_value(&window.upper);
        if window.steps {
            self.put(" ");
            let spelling = &window.spelling;
            self.put(if spelling.is_empty() {
                "steps"
            } else {
                spelling
            });
        }
        if window.or_end {
            self.put(" or end");
        }
    }
}

/// Returns whether a text can be written as a word.
pub(super) fn is_word(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
