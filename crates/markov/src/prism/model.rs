//! Syntax trees of models, and their parser.

use super::super::text::{TextError, TextPosition};
use super::expr::{Expr, Kind};
use super::parser::{Parsed, Parser};
use super::token::Token;

/// The type of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `int`
    Int,
    /// `double`
    Double,
    /// `bool`
    Bool,
}

/// `const int N = 4;`
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: Type,
    /// The value, if declared.
    pub value: Option<Expr>,
    /// The position in the text.
    pub place: TextPosition,
}

/// A model in the PRISM language.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// The constants.
    pub constants: Vec<Constant>,
    /// `formula name = expr;`
    pub formulas: Vec<(String, Expr)>,
    /// `label "name" = expr;`
    pub labels: Vec<(String, Expr)>,
    /// The variables outside modules.
    pub globals: Vec<VariableDeclaration>,
    /// The modules; renamed ones are expanded.
    pub modules: Vec<Module>,
    /// The reward structures.
    pub rewards: Vec<RewardDeclaration>,
    /// `init … endinit`
    pub init: Option<Expr>,
    /// `system … endsystem`
    pub system: Option<System>,
}

/// A module.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// The name.
    pub name: String,
    /// The variables.
    pub variables: Vec<VariableDeclaration>,
    /// The commands.
    pub commands: Vec<Command>,
}

/// `x : [0..N] init 0;`
#[derive(Clone, Debug, PartialEq)]
pub struct VariableDeclaration {
    /// The name.
    pub name: String,
    /// The range; `None` for `bool`.
    pub range: Option<(Expr, Expr)>,
    /// The initial value, if given.
    pub init: Option<Expr>,
    /// The position in the text.
    pub place: TextPosition,
}

/// `[action] guard -> p : update + …;`
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The action on which it synchronises; `None` if it acts alone.
    pub action: Option<String>,
    /// The guard: the condition under which the command is enabled.
    pub guard: Expr,
    /// The branches: probability (`None` for 1) and assignments.
    pub branches: Vec<(Option<Expr>, Vec<Assignment>)>,
    /// The position in the text.
    pub place: TextPosition,
}

/// `(x' = e)`
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The variable.
    pub variable: String,
    /// The next value.
    pub value: Expr,
    /// The position in the text.
    pub place: TextPosition,
}

/// `rewards "name" … endrewards`
#[derive(Clone, Debug, PartialEq)]
pub struct RewardDeclaration {
    /// The name; empty if it has none.
    pub name: String,
    /// The items.
    pub items: Vec<RewardItem>,
}

/// `[action] guard : value;`
#[derive(Clone, Debug, PartialEq)]
pub struct RewardItem {
    /// The action of a transition reward, empty for commands without one; `None` for a state reward.
    pub action: Option<String>,
    /// The condition on the states in which it counts.
    pub guard: Expr,
    /// The reward.
    pub value: Expr,
}

/// The composition of modules.
#[derive(Clone, Debug, PartialEq)]
pub enum System {
    /// A module.
    Module(String, TextPosition),
    /// `a || b`, `a ||| b`, `a |[x,y]| b`: the synchronising actions; `None` for all common actions.
    Parallel(Box<System>, Option<Vec<String>>, Box<System>),
    /// `a / {x}`: hides actions.
    Hide(Box<System>, Vec<String>),
    /// `a {x <- y}`: renames actions.
    Rename(Box<System>, Vec<(String, String)>),
}

/// Parses a model.
///
/// # Errors
/// The first syntax error with its position, or a model type other than `dtmc`.
pub fn parse_model(text: &str) -> Result<Model, TextError> {
    let mut parser = Parser::new(text, false)?;
    let mut model = Model::default();
    let mut is_chain = false;
    while *parser.peek() != Token::End {
        if parser.take(";") {
            continue;
        }
        let place = parser.place();
        let Token::Name(word) = parser.peek().clone() else {
            return Err(parser.wrong("a declaration, such as `module`"));
        };
        match word.as_str() {
            "dtmc" | "probabilistic" => {
                parser.next();
                is_chain = true;
            }
            "mdp" | "nondeterministic" | "ctmc" | "stochastic" | "pta" | "popta" | "pomdp"
            | "ma" | "smg" | "csg" | "tsg" | "idtmc" | "imdp" => {
                return Err(TextError::new(
                    place,
                    format!("unsupported model type `{word}`: expected `dtmc`"),
                )
                .help(other_type(&word)));
            }
            "const" => model.constants.push(Constant::parse(&mut parser)?),
            "formula" => {
                parser.next();
                let name = parser.name("the name of a formula")?;
                parser.expect("=")?;
                model.formulas.push((name, parser.expr()?));
                parser.expect(";")?;
            }
            "label" => {
                parser.next();
                let name = parser.text("the name of a label in quotes")?;
                parser.expect("=")?;
                model.labels.push((name, parser.expr()?));
                parser.expect(";")?;
            }
            "global" => {
                parser.next();
                model.globals.push(VariableDeclaration::parse(&mut parser)?);
            }
            "module" => module(&mut parser, &mut model)?,
            "rewards" => model.rewards.push(rewards(&mut parser)?),
            "init" => {
                parser.next();
                model.init = Some(parser.expr()?);
                parser.expect_word("endinit")?;
            }
            "system" => {
                parser.next();
                model.system = Some(system(&mut parser)?);
                parser.expect_word("endsystem")?;
            }
            "player" | "endplayer" => {
                return Err(TextError::new(place, "a chain has no players").help(
                    "leave out the block: the chain takes each enabled command with equal probability",
                ));
            }
            _ => {
                return Err(TextError::new(
                    place,
                    format!("expected a declaration, such as `module`, found `{word}`"),
                ));
            }
        }
    }
    if !is_chain {
        return Err(TextError::new(
            TextPosition { line: 1, column: 1 },
            "missing model type: PRISM's default is `mdp`, but only `dtmc` is supported",
        )
        .help("begin the model with the line `dtmc`"));
    }
    Ok(model)
}

/// Returns the way from a model of another type to a chain.
fn other_type(word: &str) -> &'static str {
    match word {
        "mdp" | "nondeterministic" | "smg" | "csg" | "tsg" => {
            "write `dtmc` if at most one command is enabled in every state: a chain takes each enabled command with equal probability"
        }
        "ctmc" | "stochastic" | "ma" => {
            "write `dtmc`, with probabilities that sum to 1 in place of rates"
        }
        "idtmc" | "imdp" => {
            "intervals of probabilities are read from PRISM's explicit files (`.tra`)"
        }
        _ => "a chain has neither clocks nor observations",
    }
}

impl Constant {
    /// Parses `const [int|double|bool] name [= value];`.
    pub(super) fn parse(parser: &mut Parser) -> Parsed<Constant> {
        parser.expect_word("const")?;
        let ty =
            if parser.take_word("double") || parser.take_word("rate") || parser.take_word("prob") {
                Type::Double
            } else if parser.take_word("bool") {
                Type::Bool
            } else {
                let _ = parser.take_word("int");
                Type::Int
            };
        let place = parser.place();
        let name = parser.name("the name of a constant")?;
        let value = if parser.take("=") {
            Some(parser.expr()?)
        } else {
            None
        };
        parser.expect(";")?;
        Ok(Constant {
            name,
            ty,
            value,
            place,
        })
    }
}

impl VariableDeclaration {
    fn parse(parser: &mut Parser) -> Parsed<VariableDeclaration> {
        let place = parser.place();
        let name = parser.name("the name of a variable")?;
        parser.expect(":")?;
        let range = if parser.take_word("bool") {
            None
        } else {
            if parser.is_word("int") || parser.is_word("clock") {
                return Err(TextError::new(
                    parser.place(),
                    format!("variable `{name}` needs a range, such as `[0..10]`"),
                ));
            }
            parser.expect("[")?;
            let low = parser.expr()?;
            parser.expect("..")?;
            let high = parser.expr()?;
            parser.expect("]")?;
            Some((low, high))
        };
        let init = if parser.take_word("init") {
            Some(parser.expr()?)
        } else {
            None
        };
        parser.expect(";")?;
        Ok(VariableDeclaration {
            name,
            range,
            init,
            place,
        })
    }
}

/// Parses a module, or one that renames another, and adds it to the model.
fn module(parser: &mut Parser, model: &mut Model) -> Parsed<()> {
    parser.next();
    let place = parser.place();
    let name = parser.name("the name of a module")?;
    if model.modules.iter().any(|module| module.name == name) {
        return Err(TextError::new(
            place,
            format!("module `{name}` is declared twice"),
        ));
    }
    if parser.take("=") {
        let place = parser.place();
        let of = parser.name("the name of a module")?;
        parser.expect("[")?;
        let mut names = Vec::new();
        loop {
            let from = parser.name("a name to replace")?;
            parser.expect("=")?;
            names.push((from, parser.name("the new name")?));
            if !parser.take(",") {
                break;
            }
        }
        parser.expect("]")?;
        parser.expect_word("endmodule")?;
        let Some(original) = model.modules.iter().find(|module| module.name == of) else {
            return Err(TextError::new(
                place,
                format!("unknown module `{of}`: it must be declared above"),
            ));
        };
        let renamed = original.renamed(name, &names, &model.formulas);
        model.modules.push(renamed);
        return Ok(());
    }
    let mut module = Module {
        name,
        variables: Vec::new(),
        commands: Vec::new(),
    };
    while !parser.take_word("endmodule") {
        if parser.is("[") {
            module.commands.push(command(parser)?);
        } else if let (Token::Name(_), Token::Mark(":")) = (parser.peek(), parser.ahead(1)) {
            module.variables.push(VariableDeclaration::parse(parser)?);
        } else {
            return Err(parser.wrong("a variable, a command or `endmodule`"));
        }
    }
    model.modules.push(module);
    Ok(())
}

fn command(parser: &mut Parser) -> Parsed<Command> {
    let place = parser.place();
    let action = action(parser)?;
    let guard = parser.expr()?;
    parser.expect("->")?;
    let mut branches = Vec::new();
    loop {
        // A branch begins with its probability, or directly with its assignments.
        let probability = if is_update(parser) {
            None
        } else {
            let probability = parser.expr()?;
            parser.expect(":")?;
            Some(probability)
        };
        branches.push((probability, update(parser)?));
        if !parser.take("+") {
            break;
        }
    }
    parser.expect(";")?;
    Ok(Command {
        action,
        guard,
        branches,
        place,
    })
}

/// Parses `[name]` or `[]`.
fn action(parser: &mut Parser) -> Parsed<Option<String>> {
    parser.expect("[")?;
    let action = match parser.peek() {
        Token::Name(name) => Some(name.clone()),
        _ => None,
    };
    if action.is_some() {
        parser.next();
    }
    parser.expect("]")?;
    Ok(action)
}

fn is_update(parser: &Parser) -> bool {
    match parser.peek() {
        // `true` alone is an update without assignments; before a colon it is a probability.
        Token::Name(word) => word == "true" && *parser.ahead(1) != Token::Mark(":"),
        Token::Mark("(") => {
            matches!(parser.ahead(1), Token::Name(_)) && *parser.ahead(2) == Token::Mark("'")
        }
        _ => false,
    }
}

fn update(parser: &mut Parser) -> Parsed<Vec<Assignment>> {
    if parser.take_word("true") {
        return Ok(Vec::new());
    }
    let mut found: Vec<Assignment> = Vec::new();
    loop {
        parser.expect("(")?;
        let place = parser.place();
        let variable = parser.name("the variable that is assigned")?;
        parser.expect("'")?;
        parser.expect("=")?;
        let value = parser.expr()?;
        parser.expect(")")?;
        if found.iter().any(|other| other.variable == variable) {
            return Err(TextError::new(
                place,
                format!("`{variable}` is assigned twice in one update"),
            ));
        }
        found.push(Assignment {
            variable,
            value,
            place,
        });
        if !parser.take("&") {
            return Ok(found);
        }
    }
}

fn rewards(parser: &mut Parser) -> Parsed<RewardDeclaration> {
    parser.next();
    let name = match parser.peek() {
        Token::Text(_) => parser.text("a name")?,
        _ => String::new(),
    };
    let mut items = Vec::new();
    while !parser.take_word("endrewards") {
        let action = if parser.is("[") {
            Some(action(parser)?.unwrap_or_default())
        } else {
            None
        };
        let guard = parser.expr()?;
        parser.expect(":")?;
        let value = parser.expr()?;
        parser.expect(";")?;
        items.push(RewardItem {
            action,
            guard,
            value,
        });
    }
    Ok(RewardDeclaration { name, items })
}

fn system(parser: &mut Parser) -> Parsed<System> {
    let mut left = system_part(parser)?;
    loop {
        let actions = if parser.take("||") {
            None
        } else if parser.take("|||") {
            Some(Vec::new())
        } else if parser.is("|") && *parser.ahead(1) == Token::Mark("[") {
            parser.next();
            parser.next();
            let names = names(parser)?;
            parser.expect("]")?;
            parser.expect("|")?;
            Some(names)
        } else {
            return Ok(left);
        };
        let right = system_part(parser)?;
        left = System::Parallel(Box::new(left), actions, Box::new(right));
    }
}

fn system_part(parser: &mut Parser) -> Parsed<System> {
    let place = parser.place();
    let mut part = if parser.take("(") {
        let inner = system(parser)?;
        parser.expect(")")?;
        inner
    } else {
        System::Module(parser.name("the name of a module")?, place)
    };
    loop {
        if parser.take("/") {
            parser.expect("{")?;
            part = System::Hide(Box::new(part), names(parser)?);
            parser.expect("}")?;
        } else if parser.take("{") {
            let mut pairs = Vec::new();
            loop {
                let from = parser.name("an action")?;
                // `<-` consists of the tokens `<` and `-`.
                parser.expect("<")?;
                parser.expect("-")?;
                pairs.push((from, parser.name("an action")?));
                if !parser.take(",") {
                    break;
                }
            }
            parser.expect("}")?;
            part = System::Rename(Box::new(part), pairs);
        } else {
            return Ok(part);
        }
    }
}

fn names(parser: &mut Parser) -> Parsed<Vec<String>> {
    let mut found = vec![parser.name("an action")?];
    while parser.take(",") {
        found.push(parser.name("an action")?);
    }
    Ok(found)
}

impl Module {
    /// Returns the module under another name, with names in it replaced; formulas that it mentions are expanded.
    fn renamed(
        &self,
        name: String,
        names: &[(String, String)],
        formulas: &[(String, Expr)],
    ) -> Module {
        let new = |old: &str| {
            names
                .iter()
                .find(|pair| pair.0 == old)
                .map_or_else(|| old.to_owned(), |pair| pair.1.clone())
        };
        let rename = |expr: &Expr| {
            expr.rewritten(&mut |found| {
                let Kind::Name(old) = &found.kind else {
                    return None;
                };
                if names.iter().any(|pair| pair.0 == *old) {
                    return Some(Expr {
                        kind: Kind::Name(new(old)),
                        place: found.place,
                    });
                }
                formulas
                    .iter()
                    .find(|formula| formula.0 == *old)
                    .map(|formula| expand(&formula.1, names, formulas, 0))
            })
        };
        Module {
            name,
            variables: self
                .variables
                .iter()
                .map(|variable| VariableDeclaration {
                    name: new(&variable.name),
                    range: variable
                        .range
                        .as_ref()
                        .map(|(low, high)| (rename(low), rename(high))),
                    init: variable.init.as_ref().map(rename),
                    place: variable.place,
                })
                .collect(),
            commands: self
                .commands
                .iter()
                .map(|command| Command {
                    action: command.action.as_deref().map(new),
                    guard: rename(&command.guard),
                    branches: command
                        .branches
                        .iter()
                        .map(|(probability, update)| {
                            let update = update
                                .iter()
                                .map(|assignment| Assignment {
                                    variable: new(&assignment.variable),
                                    value: rename(&assignment.value),
                                    place: assignment.place,
                                })
                                .collect();
                            (probability.as_ref().map(rename), update)
                        })
                        .collect(),
                    place: command.place,
                })
                .collect(),
        }
    }
}

/// The largest nesting depth of formulas, so that expanding a recursive formula terminates.
const MAX_FORMULAS: u32 = 100;

/// Returns a formula with names replaced and the formulas that it mentions expanded.
fn expand(
    formula: &Expr,
    names: &[(String, String)],
    formulas: &[(String, Expr)],
    depth: u32,
) -> Expr {
    formula.rewritten(&mut |found| {
        let Kind::Name(old) = &found.kind else {
            return None;
        };
        if let Some(pair) = names.iter().find(|pair| pair.0 == *old) {
            return Some(Expr {
                kind: Kind::Name(pair.1.clone()),
                place: found.place,
            });
        }
        let inner = formulas.iter().find(|formula| formula.0 == *old)?;
        (depth < MAX_FORMULAS).then(|| expand(&inner.1, names, formulas, depth + 1))
    })
}

impl Expr {
    /// Returns the expression, with each part replaced for which `replace` returns another one. Only kinds of
    /// expressions that models can contain are searched.
    pub(super) fn rewritten(&self, replace: &mut dyn FnMut(&Expr) -> Option<Expr>) -> Expr {
        if let Some(other) = replace(self) {
            return other;
        }
        let mut walk = |part: &Expr| Box::new(part.rewritten(replace));
        let kind = match &self.kind {
            Kind::Not(of) => Kind::Not(walk(of)),
            Kind::Minus(of) => Kind::Minus(walk(of)),
            Kind::Binary(op, left, right) => Kind::Binary(*op, walk(left), walk(right)),
            Kind::If(condition, yes, no) => Kind::If(walk(condition), walk(yes), walk(no)),
            Kind::Call(function, arguments) => {
                let arguments = arguments.iter().map(|part| *walk(part)).collect();
                Kind::Call(*function, arguments)
            }
            other => other.clone(),
        };
        Expr {
            kind,
            place: self.place,
        }
    }
}
