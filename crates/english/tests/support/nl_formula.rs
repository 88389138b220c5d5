//! Formulas as the requirement set writes them, and whether two are equivalent but for the names of their atoms.

use guard_automata::{Atom, FormulaId, Formulas, Interval, Limits, Traces, compile};

/// Reads formulas of the requirement set and of drafts: bounds in seconds carry an `s`, or are in seconds where the
/// requirement's bound is.
struct Reader<'a> {
    tokens: Vec<String>,
    at: usize,
    names: Vec<String>,
    formulas: &'a mut Formulas,
    seconds: bool,
    renaming: &'a [usize],
}

fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let start = at;
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        if chars[at].is_whitespace() {
            at += 1;
            continue;
        }
        if is_name(chars[at]) {
            while at < chars.len()
                && (is_name(chars[at]) || chars[start].is_ascii_digit() && chars[at] == '.')
            {
                at += 1;
            }
        } else {
            let rest: String = chars[at..].iter().take(3).collect();
            at += ["<->", "->", "<=", ">=", "=="]
                .iter()
                .find(|sign| rest.starts_with(**sign))
                .map_or(1, |sign| sign.len());
        }
        out.push(chars[start..at].iter().collect());
    }
    out
}

impl Reader<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn need(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) {
            return Ok(());
        }
        Err(format!(
            "`{token}` is missing at `{}` of {:?}",
            self.peek(),
            self.tokens
        ))
    }

    fn whole(&mut self) -> Result<FormulaId, String> {
        let formula = self.implication()?;
        if self.at < self.tokens.len() {
            return Err(format!("what is `{}`?", self.tokens[self.at..].join(" ")));
        }
        Ok(formula)
    }

    fn implication(&mut self) -> Result<FormulaId, String> {
        let a = self.or()?;
        if self.eat("->") {
            let b = self.implication()?;
            return Ok(self.formulas.implies(a, b));
        }
        if self.eat("<->") {
            let b = self.implication()?;
            return Ok(self.formulas.iff(a, b));
        }
        Ok(a)
    }

    fn or(&mut self) -> Result<FormulaId, String> {
        let mut a = self.and()?;
        while self.eat("|") {
            let b = self.and()?;
            a = self.formulas.or(a, b);
        }
        Ok(a)
    }

    fn and(&mut self) -> Result<FormulaId, String> {
        let mut a = self.binary()?;
        while self.eat("&") {
            let b = self.binary()?;
            a = self.formulas.and(a, b);
        }
        Ok(a)
    }

    fn binary(&mut self) -> Result<FormulaId, String> {
        let a = self.unary()?;
        let operator = self.peek().to_owned();
        if !["U", "W", "R", "M", "S"].contains(&operator.as_str()) {
            return Ok(a);
        }
        self.at += 1;
        let b = self.binary()?;
        Ok(match operator.as_str() {
            "U" => self.formulas.until(a, Interval::ALL, b),
            "W" => self.formulas.unless(a, b),
            "R" => self.formulas.release(a, b),
            "M" => self.formulas.strong_release(a, b),
            _ => self.formulas.since(a, b),
        })
    }

    /// Milliseconds or thousandths of a step, and whether it is a time.
    fn number(&mut self) -> Result<(i128, bool), String> {
        let token = self.peek().to_owned();
        self.at += 1;
        let value: f64 = token
            .trim_end_matches('s')
            .parse()
            .map_err(|_| format!("`{token}` is no number"))?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "bounds of requirements are small"
        )]
        let thousandths = (value * 1000.0).round() as i128;
        Ok((thousandths, self.seconds || token.ends_with('s')))
    }

    fn window(&mut self) -> Result<Interval, String> {
        if !self.eat("[") {
            return Ok(Interval::ALL);
        }
        let (low, _) = self.number()?;
        self.need(",")?;
        let (high, timed) = self.number()?;
        self.need("]")?;
        let steps = |thousandths: i128| {
            u32::try_from(thousandths / 1000).map_err(|error| error.to_string())
        };
        Ok(if timed {
            Interval::time(low, high)
        } else {
            Interval::steps(steps(low)?, steps(high)?)
        })
    }

    /// `count(f) <= n` of a whole trace, `== n` and `>= n`, as nested `F`; `G` before it changes nothing.
    fn count(&mut self) -> Result<FormulaId, String> {
        self.need("(")?;
        let counted = self.implication()?;
        self.need(")")?;
        let relation = self.peek().to_owned();
        self.at += 1;
        let (thousandths, _) = self.number()?;
        let mut times = |count: i128| {
            let mut out = self.formulas.verum();
            for nth in 0..count {
                let later = if nth == 0 {
                    out
                } else {
                    self.formulas.next(out)
                };
                let both = self.formulas.and(counted, later);
                out = self.formulas.eventually(Interval::ALL, both);
            }
            out
        };
        let (least, more) = (times(thousandths / 1000), times(thousandths / 1000 + 1));
        Ok(match relation.as_str() {
            "<=" => self.formulas.not(more),
            ">=" => least,
            _ => {
                let at_most = self.formulas.not(more);
                self.formulas.and(least, at_most)
            }
        })
    }

    fn unary(&mut self) -> Result<FormulaId, String> {
        if self.eat("!") {
            let a = self.unary()?;
            return Ok(self.formulas.not(a));
        }
        if self.eat("(") {
            let a = self.implication()?;
            self.need(")")?;
            return Ok(a);
        }
        let token = self.peek().to_owned();
        self.at += 1;
        Ok(match token.as_str() {
            "true" => self.formulas.verum(),
            "count" => self.count()?,
            "X" => {
                let a = self.unary()?;
                self.formulas.next(a)
            }
            "N" => {
                let a = self.unary()?;
                self.formulas.weak_next(a)
            }
            "Y" => {
                let a = self.unary()?;
                self.formulas.previously(a)
            }
            "G" | "F" | "O" | "H" => {
                let window = self.window()?;
                let a = self.unary()?;
                match token.as_str() {
                    "G" => self.formulas.always(window, a),
                    "F" => self.formulas.eventually(window, a),
                    "O" => self.formulas.once(window, a),
                    _ => self.formulas.historically(window, a),
                }
            }
            name if name.starts_with(|c: char| c.is_alphabetic()) => {
                let known = self.names.iter().position(|other| other == name);
                let index = known.unwrap_or_else(|| {
                    self.names.push(name.to_owned());
                    self.names.len() - 1
                });
                let index = self.renaming.get(index).copied().unwrap_or(index);
                self.formulas.atom(Atom(
                    u32::try_from(index).map_err(|error| error.to_string())?,
                ))
            }
            other => return Err(format!("what is `{other}`?")),
        })
    }
}

fn read(
    text: &str,
    seconds: bool,
    renaming: &[usize],
    formulas: &mut Formulas,
) -> Result<(FormulaId, usize), String> {
    let mut reader = Reader {
        tokens: tokens(text),
        at: 0,
        names: Vec::new(),
        formulas,
        seconds,
        renaming,
    };
    let formula = reader.whole()?;
    let atoms = reader.names.len();
    Ok((formula, atoms))
}

/// `P<=0.05 [ f ]` as bound and formula.
fn probability(text: &str) -> (Option<(String, String)>, &str) {
    let text = text.trim();
    let Some(rest) = text.strip_prefix('P') else {
        return (None, text);
    };
    let Some(operator) = ["<=", ">=", "<", ">"]
        .iter()
        .find(|operator| rest.starts_with(**operator))
    else {
        return (None, text);
    };
    let (value, formula) = rest[operator.len()..].split_once('[').unwrap_or((rest, ""));
    let formula = formula.trim().trim_end_matches(']').trim();
    // The closing bracket of the probability, not that of a window.
    (
        Some(((*operator).to_owned(), value.trim().to_owned())),
        formula,
    )
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let mut out = Vec::new();
    for smaller in permutations(count - 1) {
        for place in 0..=smaller.len() {
            let mut larger = smaller.clone();
            larger.insert(place, count - 1);
            out.push(larger);
        }
    }
    out
}

/// Whether two formulas accept the same non-empty traces under some renaming of atoms. `seconds`: whether plain bounds of
/// the second are in seconds.
///
/// Bounds in time are compared as such, and then stand for the same number of steps in both.
pub(crate) fn equivalent(mine: &str, theirs: &str, seconds: bool) -> Result<bool, String> {
    let (my_bound, mine) = probability(mine);
    let (their_bound, theirs) = probability(theirs);
    if my_bound != their_bound {
        return Ok(false);
    }
    let mut formulas = Formulas::new();
    let (their_formula, their_atoms) = read(theirs, seconds, &[], &mut formulas)?;
    let (_, my_atoms) = read(mine, false, &[], &mut formulas)?;
    if my_atoms != their_atoms || my_atoms > 6 {
        return Ok(false);
    }
    // Times are far apart; in steps they are told apart by their remainder.
    let steps = |window: Interval| match window {
        Interval::Time { lo, hi } => Interval::Steps {
            lo: u32::from(lo > 0),
            hi: hi.and_then(|hi| u32::try_from(3 + hi % 7919 % 5).ok()),
        },
        steps @ Interval::Steps { .. } => steps,
    };
    let limits = Limits::default();
    let their_formula = formulas.with_windows(their_formula, steps);
    let their_dfa =
        compile(&formulas, their_formula, &limits).map_err(|error| error.to_string())?;
    for renaming in permutations(my_atoms) {
        let (my_formula, _) = read(mine, false, &renaming, &mut formulas)?;
        let my_formula = formulas.with_windows(my_formula, steps);
        let my_dfa = compile(&formulas, my_formula, &limits).map_err(|error| error.to_string())?;
        let difference = my_dfa.difference(&their_dfa, Traces::NonEmpty, &limits);
        if difference.map_err(|error| error.to_string())?.is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}
