//! Compiles expression trees: resolves names to variables, constants or formulas, and checks types.

use num_rational::BigRational;
use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;

use super::super::scalar::{Scalar, parse_rational};
use super::super::text::{TextError, TextPosition};
use super::super::valuation::{Slot, Valuations};
use super::code::{BoolCode, EvalError, IntCode, RealCode, Test, Value, from_int};
use super::expr::{Expr, Function, Kind, Op, Relation};
use super::model::{Constant, Type};
use super::parser::{Parsed, Parser};

/// The names that are in scope, with their meanings.
#[derive(Debug, Default)]
pub struct Scope {
    /// Whether an irrational number is an error.
    is_exact: bool,
    constants: FxHashMap<String, Option<Value>>,
    formulas: FxHashMap<String, Expr>,
    variables: FxHashMap<String, (Slot, bool)>,
}

/// Values for constants, by name, as source text.
pub type Definitions = indexmap::IndexMap<String, String>;

/// An expression of any type.
#[derive(Clone, Debug)]
pub(super) enum Code {
    Bool(BoolCode),
    Int(IntCode),
    Real(RealCode),
}

impl Code {
    fn ty(&self) -> &'static str {
        match self {
            Code::Bool(_) => "a truth value",
            Code::Int(_) => "a whole number",
            Code::Real(_) => "a number",
        }
    }

    fn eval(&self, state: &[u64]) -> Result<Value, EvalError> {
        Ok(match self {
            Code::Bool(code) => Value::Bool(code.eval(state)?),
            Code::Int(code) => Value::Int(code.eval(state)?),
            Code::Real(code) => Value::Real(code.eval(state)?),
        })
    }

    fn constant(value: Value) -> Code {
        match value {
            Value::Bool(value) => Code::Bool(BoolCode::Const(value)),
            Value::Int(value) => Code::Int(IntCode::Const(value)),
            Value::Real(value) => Code::Real(RealCode::Const(value)),
        }
    }

    fn is_constant(&self) -> bool {
        matches!(
            self,
            Code::Bool(BoolCode::Const(_))
                | Code::Int(IntCode::Const(_))
                | Code::Real(RealCode::Const(_))
        )
    }
}

/// The largest nesting depth of formulas within formulas.
const MAX_FORMULAS: u32 = 100;

impl Scope {
    /// Makes an irrational number an error, if the arithmetic of the chain is exact.
    pub(in super::super) fn for_numbers_of<V: Scalar>(&mut self) {
        self.is_exact = V::EXACT;
    }

    /// Declares the variables of a model.
    pub fn add_variables(&mut self, valuations: &Valuations) {
        for (variable, slot) in valuations.variables().iter().zip(valuations.slots()) {
            self.variables
                .insert(variable.name.clone(), (*slot, variable.is_bool));
        }
    }

    /// Declares formulas.
    pub fn add_formulas(&mut self, formulas: &[(String, Expr)]) {
        for (name, formula) in formulas {
            self.formulas.insert(name.clone(), formula.clone());
        }
    }

    /// Declares constants; the values in `given` take precedence over those of the declarations.
    ///
    /// # Errors
    /// A value does not have the type of its constant, or constants depend on each other. A constant without a value is
    /// an error only where it is used.
    pub fn add_constants(
        &mut self,
        constants: &[Constant],
        given: &Definitions,
    ) -> Result<(), TextError> {
        for constant in constants {
            self.constants.insert(constant.name.clone(), None);
        }
        let mut open: Vec<&Constant> = constants.iter().collect();
        // Constants may refer to later ones: repeat until no further value is found.
        loop {
            let before = open.len();
            let mut waiting = Vec::new();
            let mut reason = None;
            for constant in open {
                let value = match given.get(&constant.name) {
                    Some(text) => Some(given_value(text, constant)?),
                    None => constant.value.clone(),
                };
                let Some(value) = value else {
                    continue;
                };
                match self.value(&value).and_then(|value| typed(value, constant)) {
                    Ok(value) => {
                        self.constants.insert(constant.name.clone(), Some(value));
                    }
                    Err(wrong) => {
                        reason.get_or_insert(wrong);
                        waiting.push(constant);
                    }
                }
            }
            match reason {
                None => return Ok(()),
                Some(wrong) if waiting.len() == before => {
                    // A constant that depends on one without a value is an error only where it is used.
                    let missing = constants.iter().any(|constant| {
                        constant.value.is_none() && !given.contains_key(&constant.name)
                    });
                    return if missing { Ok(()) } else { Err(wrong) };
                }
                Some(_) => open = waiting,
            }
        }
    }

    /// Returns the names of the declared constants, in order.
    pub fn constants(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = self.constants.keys().map(|name| &**name).collect();
        names.sort_unstable();
        names.into_iter()
    }

    /// Returns the value of an expression without variables.
    pub fn value(&self, expr: &Expr) -> Result<Value, TextError> {
        let code = self.compile(expr, 0)?;
        if !code.is_constant() {
            return Err(TextError::new(
                expr.place,
                "expected an expression that does not depend on the state",
            ));
        }
        code.eval(&[]).map_err(|wrong| failed(expr.place, wrong))
    }

    /// Returns the value of an expression without variables as an integer; `what` names it in error messages.
    pub fn int_value(&self, expr: &Expr, what: &str) -> Result<i64, TextError> {
        match self.value(expr)? {
            Value::Int(value) => Ok(value),
            // `1e3` is an integer too.
            Value::Real(value) => match value.to_integer().to_i64() {
                Some(whole) if value.is_integer() => Ok(whole),
                _ => Err(TextError::new(
                    expr.place,
                    format!("{what} must be a whole number, not {}", self.text(&value)),
                )),
            },
            Value::Bool(_) => Err(TextError::new(
                expr.place,
                format!("{what} must be a whole number, not a truth value"),
            )),
        }
    }

    /// Returns the value of an expression without variables as a number; `what` names it in error messages.
    pub fn real_value<V: Scalar>(&self, expr: &Expr, what: &str) -> Result<V, TextError> {
        match self.value(expr)? {
            Value::Int(value) => Ok(V::from_rational(&from_int(value))),
            Value::Real(value) => Ok(V::from_rational(&value)),
            Value::Bool(_) => Err(TextError::new(
                expr.place,
                format!("{what} must be a number, not a truth value"),
            )),
        }
    }

    /// Returns a number as the arithmetic of the chain writes it.
    fn text(&self, number: &BigRational) -> String {
        match self.is_exact {
            true => number.to_string(),
            false => <f64 as Scalar>::from_rational(number).text(),
        }
    }

    pub(super) fn bool_code(&self, expr: &Expr, what: &str) -> Parsed<BoolCode> {
        match self.compile(expr, 0)? {
            Code::Bool(code) => Ok(code),
            other => Err(TextError::new(
                expr.place,
                format!("expected {what} as a truth value, found {}", other.ty()),
            )),
        }
    }

    pub(super) fn int_code(&self, expr: &Expr, what: &str) -> Parsed<IntCode> {
        match self.compile(expr, 0)? {
            Code::Int(code) => Ok(code),
            other => Err(TextError::new(
                expr.place,
                format!("expected {what} as a whole number, found {}", other.ty()),
            )
            .help("to convert to a whole number, use `floor` or `ceil`")),
        }
    }

    pub(super) fn real_code(&self, expr: &Expr, what: &str) -> Parsed<RealCode> {
        let code = self.compile(expr, 0)?;
        let ty = code.ty();
        real(code).ok_or_else(|| {
            TextError::new(
                expr.place,
                format!("expected {what} as a number, found {ty}"),
            )
        })
    }

    /// Returns whether a variable, constant or formula has this name.
    pub fn knows(&self, name: &str) -> bool {
        self.variables.contains_key(name)
            || self.constants.contains_key(name)
            || self.formulas.contains_key(name)
    }

    fn compile(&self, expr: &Expr, depth: u32) -> Parsed<Code> {
        let code = self.build(expr, depth)?;
        // Constant expressions are evaluated once.
        if !code.is_constant() && is_closed(&code) {
            return code
                .eval(&[])
                .map(Code::constant)
                .map_err(|wrong| failed(expr.place, wrong));
        }
        Ok(code)
    }

    fn build(&self, expr: &Expr, depth: u32) -> Parsed<Code> {
        let place = expr.place;
        let compile = |part: &Expr| self.compile(part, depth);
        Ok(match &expr.kind {
            Kind::Bool(value) => Code::Bool(BoolCode::Const(*value)),
            Kind::Int(value) => Code::Int(IntCode::Const(*value)),
            Kind::Real(text) => {
                Code::Real(RealCode::Const(parse_rational(text).ok_or_else(|| {
                    TextError::new(place, format!("number `{text}` is out of range"))
                })?))
            }
            Kind::Name(name) => return self.name(name, place, depth),
            Kind::Not(of) => match compile(of)? {
                Code::Bool(code) => Code::Bool(BoolCode::Not(Box::new(code))),
                other => return Err(mismatch(place, "!", &other)),
            },
            Kind::Minus(of) => match compile(of)? {
                Code::Int(code) => Code::Int(IntCode::Minus(Box::new(code))),
                Code::Real(code) => Code::Real(RealCode::Minus(Box::new(code))),
                other => return Err(mismatch(place, "-", &other)),
            },
            Kind::Binary(op, left, right) => binary(*op, compile(left)?, compile(right)?, place)?,
            Kind::If(condition, yes, no) => {
                let Code::Bool(condition) = compile(condition)? else {
                    return Err(TextError::new(
                        place,
                        "the condition before `?` must be a truth value",
                    ));
                };
                choice(condition, compile(yes)?, compile(no)?, place)?
            }
            Kind::Call(function, arguments) => {
                let arguments: Vec<Code> = arguments.iter().map(compile).collect::<Parsed<_>>()?;
                call(*function, arguments, self.is_exact, place)?
            }
            _ => {
                let why = "property operators are not allowed in this expression";
                return Err(TextError::new(place, why).help(
                    "query each operator as a property of its own, and compute with their values",
                ));
            }
        })
    }

    fn name(&self, name: &str, place: TextPosition, depth: u32) -> Parsed<Code> {
        if let Some(&(slot, is_bool)) = self.variables.get(name) {
            return Ok(if is_bool {
                Code::Bool(BoolCode::Variable(slot))
            } else {
                Code::Int(IntCode::Variable(slot))
            });
        }
        match self.constants.get(name) {
            Some(Some(value)) => return Ok(Code::constant(value.clone())),
            Some(None) => {
                return Err(
                    TextError::new(place, format!("the constant `{name}` has no value"))
                        .help(format!("set it with --const {name}=…")),
                );
            }
            None => {}
        }
        if let Some(formula) = self.formulas.get(name) {
            if depth >= MAX_FORMULAS {
                return Err(TextError::new(
                    place,
                    format!("the formula `{name}` refers to itself"),
                ));
            }
            return self.compile(formula, depth + 1);
        }
        let mut known: Vec<&str> = self.variables.keys().map(|name| &**name).collect();
        known.extend(self.constants.keys().map(|name| &**name));
        known.extend(self.formulas.keys().map(|name| &**name));
        known.sort_unstable();
        let error = TextError::new(place, format!("`{name}` is not declared"));
        Err(match known.is_empty() {
            true => error,
            false => error.help(format!("declared names: {}", known.join(", "))),
        })
    }
}

fn given_value(text: &str, constant: &Constant) -> Parsed<Expr> {
    let mut parser = Parser::new(text, false)?;
    let value = parser.expr();
    match value {
        Ok(value) if *parser.peek() == super::token::Token::End => Ok(value),
        _ => Err(TextError::new(
            constant.place,
            format!("invalid value `{text}` for constant `{}`", constant.name),
        )),
    }
}

fn typed(value: Value, constant: &Constant) -> Parsed<Value> {
    Ok(match (constant.ty, value) {
        (Type::Double, Value::Int(value)) => Value::Real(from_int(value)),
        (Type::Int, Value::Int(value)) => Value::Int(value),
        (Type::Double, Value::Real(value)) => Value::Real(value),
        (Type::Bool, Value::Bool(value)) => Value::Bool(value),
        (ty, _) => {
            let ty = match ty {
                Type::Int => "a whole number",
                Type::Double => "a number",
                Type::Bool => "a truth value",
            };
            return Err(TextError::new(
                constant.place,
                format!("constant `{}` must be {ty}", constant.name),
            ));
        }
    })
}

fn failed(place: TextPosition, wrong: EvalError) -> TextError {
    TextError::new(place, wrong.to_string())
}

fn mismatch(place: TextPosition, op: &str, operand: &Code) -> TextError {
    TextError::new(place, format!("`{op}` is not defined for {}", operand.ty()))
}

fn real(code: Code) -> Option<RealCode> {
    match code {
        Code::Real(code) => Some(code),
        Code::Int(code) => Some(RealCode::Int(code)),
        Code::Bool(_) => None,
    }
}

/// Returns whether code reads no variable. Its operands are folded already, so one level suffices.
fn is_closed(code: &Code) -> bool {
    let bools = |parts: &[&BoolCode]| parts.iter().all(|part| matches!(part, BoolCode::Const(_)));
    let int = |part: &IntCode| matches!(part, IntCode::Const(_));
    let real = |part: &RealCode| match part {
        RealCode::Const(_) => true,
        RealCode::Int(of) => int(of),
        _ => false,
    };
    match code {
        Code::Bool(code) => match code {
            BoolCode::Const(_) => true,
            BoolCode::Variable(_) | BoolCode::Is(..) => false,
            BoolCode::Not(of) => bools(&[of]),
            BoolCode::And(parts) | BoolCode::Or(parts) => bools(&parts.iter().collect::<Vec<_>>()),
            BoolCode::Iff(left, right) => bools(&[left, right]),
            BoolCode::Ints(_, left, right) => int(left) && int(right),
            BoolCode::Reals(_, left, right) => real(left) && real(right),
            BoolCode::If(condition, yes, no) => bools(&[condition, yes, no]),
        },
        Code::Int(code) => match code {
            IntCode::Const(_) => true,
            IntCode::Variable(_) => false,
            IntCode::Minus(of) => int(of),
            IntCode::Add(left, right)
            | IntCode::Subtract(left, right)
            | IntCode::Multiply(left, right)
            | IntCode::Power(left, right)
            | IntCode::Modulo(left, right) => int(left) && int(right),
            IntCode::Min(parts) | IntCode::Max(parts) => parts.iter().all(int),
            IntCode::Floor(of) | IntCode::Ceiling(of) | IntCode::Round(of) => real(of),
            IntCode::If(condition, yes, no) => bools(&[condition]) && int(yes) && int(no),
        },
        Code::Real(code) => match code {
            RealCode::Const(_) => true,
            RealCode::Int(of) => int(of),
            RealCode::Minus(of) => real(of),
            RealCode::Add(left, right)
            | RealCode::Subtract(left, right)
            | RealCode::Multiply(left, right)
            | RealCode::Divide(left, right)
            | RealCode::Power(left, right, _)
            | RealCode::Logarithm(left, right) => real(left) && real(right),
            RealCode::Min(parts) | RealCode::Max(parts) => parts.iter().all(real),
            RealCode::If(condition, yes, no) => bools(&[condition]) && real(yes) && real(no),
        },
    }
}

fn binary(op: Op, left: Code, right: Code, place: TextPosition) -> Parsed<Code> {
    let test = match op {
        Op::Equal => Some(Test::Equal),
        Op::NotEqual => Some(Test::NotEqual),
        Op::Compare(Relation::Less) => Some(Test::Less),
        Op::Compare(Relation::LessEqual) => Some(Test::LessEqual),
        Op::Compare(Relation::Greater) => Some(Test::Greater),
        Op::Compare(Relation::GreaterEqual) => Some(Test::GreaterEqual),
        _ => None,
    };
    if let Some(test) = test {
        return compare(test, left, right, place);
    }
    if matches!(op, Op::And | Op::Or | Op::Implies | Op::Iff) {
        let (Code::Bool(left), Code::Bool(right)) = (left, right) else {
            return Err(TextError::new(place, "this operator expects truth values"));
        };
        return Ok(Code::Bool(match op {
            Op::And => BoolCode::And(joined(left, right, |code| match code {
                BoolCode::And(parts) => Ok(parts),
                other => Err(other),
            })),
            Op::Or => BoolCode::Or(joined(left, right, |code| match code {
                BoolCode::Or(parts) => Ok(parts),
                other => Err(other),
            })),
            Op::Implies => BoolCode::Or(vec![BoolCode::Not(Box::new(left)), right]),
            _ => BoolCode::Iff(Box::new(left), Box::new(right)),
        }));
    }
    Ok(match (left, right) {
        (Code::Int(left), Code::Int(right)) if op != Op::Divide => {
            let (left, right) = (Box::new(left), Box::new(right));
            Code::Int(match op {
                Op::Add => IntCode::Add(left, right),
                Op::Subtract => IntCode::Subtract(left, right),
                _ => IntCode::Multiply(left, right),
            })
        }
        (left, right) => {
            let (Some(left), Some(right)) = (real(left), real(right)) else {
                return Err(TextError::new(place, "this operator expects numbers"));
            };
            let (left, right) = (Box::new(left), Box::new(right));
            Code::Real(match op {
                Op::Add => RealCode::Add(left, right),
                Op::Subtract => RealCode::Subtract(left, right),
                Op::Multiply => RealCode::Multiply(left, right),
                _ => RealCode::Divide(left, right),
            })
        }
    })
}

/// The operands of an operator, or the code if it is of another operator.
type Parts = Result<Vec<BoolCode>, BoolCode>;

/// Returns the operands of both sides, flattened if they are of the same operator.
fn joined(left: BoolCode, right: BoolCode, parts: fn(BoolCode) -> Parts) -> Vec<BoolCode> {
    let mut all = parts(left).unwrap_or_else(|other| vec![other]);
    match parts(right) {
        Ok(more) => all.extend(more),
        Err(other) => all.push(other),
    }
    all
}

fn compare(test: Test, left: Code, right: Code, place: TextPosition) -> Parsed<Code> {
    Ok(Code::Bool(match (left, right) {
        (Code::Bool(left), Code::Bool(right)) if matches!(test, Test::Equal | Test::NotEqual) => {
            let same = BoolCode::Iff(Box::new(left), Box::new(right));
            if test == Test::Equal {
                same
            } else {
                BoolCode::Not(Box::new(same))
            }
        }
        (Code::Int(IntCode::Variable(slot)), Code::Int(IntCode::Const(value))) => {
            BoolCode::Is(slot, test, value)
        }
        (Code::Int(left), Code::Int(right)) => {
            BoolCode::Ints(test, Box::new(left), Box::new(right))
        }
        (left, right) => match (real(left), real(right)) {
            (Some(left), Some(right)) => BoolCode::Reals(test, Box::new(left), Box::new(right)),
            _ => return Err(TextError::new(place, "these values cannot be compared")),
        },
    }))
}

fn choice(condition: BoolCode, yes: Code, no: Code, place: TextPosition) -> Parsed<Code> {
    let condition = Box::new(condition);
    Ok(match (yes, no) {
        (Code::Bool(yes), Code::Bool(no)) => {
            Code::Bool(BoolCode::If(condition, Box::new(yes), Box::new(no)))
        }
        (Code::Int(yes), Code::Int(no)) => {
            Code::Int(IntCode::If(condition, Box::new(yes), Box::new(no)))
        }
        (yes, no) => match (real(yes), real(no)) {
            (Some(yes), Some(no)) => {
                Code::Real(RealCode::If(condition, Box::new(yes), Box::new(no)))
            }
            _ => {
                return Err(TextError::new(
                    place,
                    "both sides of `:` must have the same type",
                ));
            }
        },
    })
}

fn call(
    function: Function,
    arguments: Vec<Code>,
    is_exact: bool,
    place: TextPosition,
) -> Parsed<Code> {
    let count = arguments.len();
    let wanted = match function {
        Function::Min | Function::Max => count.max(1),
        Function::Floor | Function::Ceil | Function::Round => 1,
        Function::Pow | Function::Mod | Function::Log => 2,
    };
    if count != wanted {
        return Err(TextError::new(
            place,
            format!("this function expects {wanted} arguments, found {count}"),
        ));
    }
    let ints: Option<Vec<IntCode>> = arguments
        .iter()
        .map(|code| match code {
            Code::Int(code) => Some(code.clone()),
            _ => None,
        })
        .collect();
    if let Some(mut ints) = ints {
        return Ok(Code::Int(match function {
            Function::Min => IntCode::Min(ints),
            Function::Max => IntCode::Max(ints),
            Function::Floor | Function::Ceil | Function::Round => ints.swap_remove(0),
            Function::Pow | Function::Mod => {
                let right = Box::new(ints.swap_remove(1));
                let left = Box::new(ints.swap_remove(0));
                if function == Function::Pow {
                    IntCode::Power(left, right)
                } else {
                    IntCode::Modulo(left, right)
                }
            }
            Function::Log => {
                let reals = ints.into_iter().map(RealCode::Int).collect();
                return logarithm(reals, is_exact, place);
            }
        }));
    }
    let Some(mut reals) = arguments
        .into_iter()
        .map(real)
        .collect::<Option<Vec<RealCode>>>()
    else {
        return Err(TextError::new(place, "this function expects numbers"));
    };
    Ok(match function {
        Function::Min => Code::Real(RealCode::Min(reals)),
        Function::Max => Code::Real(RealCode::Max(reals)),
        Function::Floor => Code::Int(IntCode::Floor(Box::new(reals.swap_remove(0)))),
        Function::Ceil => Code::Int(IntCode::Ceiling(Box::new(reals.swap_remove(0)))),
        Function::Round => Code::Int(IntCode::Round(Box::new(reals.swap_remove(0)))),
        Function::Pow => {
            let right = Box::new(reals.swap_remove(1));
            let left = Box::new(reals.swap_remove(0));
            Code::Real(RealCode::Power(left, right, is_exact))
        }
        Function::Log => return logarithm(reals, is_exact, place),
        Function::Mod => {
            return Err(TextError::new(place, "`mod` expects whole numbers"));
        }
    })
}

fn logarithm(mut arguments: Vec<RealCode>, is_exact: bool, place: TextPosition) -> Parsed<Code> {
    if is_exact {
        return Err(failed(place, EvalError::NotRational));
    }
    let base = Box::new(arguments.swap_remove(1));
    Ok(Code::Real(RealCode::Logarithm(
        Box::new(arguments.swap_remove(0)),
        base,
    )))
}
