//! From text to automata.

use rustc_hash::FxHashMap;

use super::automaton::Automaton;
use super::lexer::{Error, Lexer, Token};
use crate::formula::Atom;
use crate::limits::Limits;
use crate::omega::acceptance::Acceptance;
use crate::omega::buchi::Edge;
use crate::omega::guards::{Guard, Guards};
use crate::omega::marks::Marks;
use crate::states::StateId;

/// Levels of parentheses and negations in labels and conditions.
const MAX_DEPTH: usize = 200;

/// Returns the automaton of a text that holds one.
///
/// # Limits
/// [`Limits::states`] for its states, [`Limits::atoms`] for its propositions, [`Limits::nodes`] for guards and edges, 64
/// acceptance sets.
///
/// # Errors
/// The position of an invalid, missing or unsupported part, or of a part beyond a limit.
pub fn parse(text: &str, limits: &Limits) -> Result<Automaton, Error> {
    let mut automata = parse_all(text, limits)?;
    match (automata.pop(), automata.len()) {
        (Some(only), 0) => Ok(only),
        (found, _) => {
            let n = automata.len() + usize::from(found.is_some());
            let message = format!("expected one automaton, found {n}");
            Err(Lexer::new(text).error(0, message))
        }
    }
}

/// Returns all automata of a text, in order. An automaton that ends with `--ABORT--` is left out, as the format requires.
///
/// # Errors
/// As [`parse`].
pub fn parse_all(text: &str, limits: &Limits) -> Result<Vec<Automaton>, Error> {
    let mut parser = Parser::new(text, limits)?;
    let mut automata = Vec::new();
    while parser.token != Token::Eof {
        automata.extend(parser.automaton()?);
    }
    Ok(automata)
}

/// A label or an acceptance set that is used before it can be built.
type Place = usize;

struct Parser<'a> {
    lexer: Lexer<'a>,
    at: Place,
    token: Token<'a>,
    limits: &'a Limits,
}

/// The contents of the header.
#[derive(Default)]
struct Header<'a> {
    name: Option<String>,
    states: Option<usize>,
    initial: Vec<StateId>,
    atoms: Option<Vec<String>>,
    finite: bool,
    aliases: FxHashMap<&'a str, Guard>,
    condition: Option<(u32, Acceptance)>,
    /// For each acceptance set that is used negated, the set that represents its complement.
    complements: Vec<(u32, u32)>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, limits: &'a Limits) -> Result<Parser<'a>, Error> {
        let mut lexer = Lexer::new(text);
        let (at, token) = lexer.next()?;
        Ok(Parser {
            lexer,
            at,
            token,
            limits,
        })
    }

    fn advance(&mut self) -> Result<Token<'a>, Error> {
        let (at, token) = self.lexer.next()?;
        self.at = at;
        Ok(std::mem::replace(&mut self.token, token))
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, Error> {
        Err(self.lexer.error(self.at, message))
    }

    fn expected<T>(&self, what: &str) -> Result<T, Error> {
        self.error(format!("expected {what}, found {}", self.token.describe()))
    }

    fn eat(&mut self, sign: char) -> Result<bool, Error> {
        let found = self.token == Token::Sign(sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn close(&mut self, sign: char) -> Result<(), Error> {
        if self.eat(sign)? {
            Ok(())
        } else {
            self.expected(&format!("`{sign}`"))
        }
    }

    /// Returns a number that is less than `limit`.
    fn int(&mut self, what: &str, limit: u64) -> Result<u32, Error> {
        match self.token {
            Token::Int(number) if number < limit => {
                self.advance()?;
                Ok(number as u32)
            }
            Token::Int(number) => self.error(format!(
                "{what} {number} exceeds the maximum {}",
                limit.saturating_sub(1)
            )),
            _ => self.expected(what),
        }
    }

    /// Returns one automaton, or `None` if it is aborted.
    fn automaton(&mut self) -> Result<Option<Automaton>, Error> {
        if self.token != Token::Header("HOA") {
            return self.expected("`HOA:`");
        }
        self.advance()?;
        match &self.token {
            Token::Name(version) if *version == "v1" || version.starts_with("v1-") => {}
            _ => return self.expected("the version `v1`"),
        }
        self.advance()?;
        let mut guards = Guards::new(self.limits);
        let mut header = Header::default();
        while let Token::Header(name) = self.token {
            self.advance()?;
            self.header(name, &mut header, &mut guards)?;
            if self.token == Token::Abort {
                self.advance()?;
                return Ok(None);
            }
        }
        if self.token == Token::Abort {
            self.advance()?;
            return Ok(None);
        }
        if self.token != Token::Body {
            return self.expected("a header or `--BODY--`");
        }
        let Some((n_sets, acceptance)) = header.condition.take() else {
            return self.error("missing header `Acceptance:`");
        };
        self.advance()?;
        let atoms = header.atoms.take().unwrap_or_default();
        let mut body = Body {
            edges: vec![None; header.states.unwrap_or(0)],
            n_states: header.states,
            n_sets: n_sets - header.complements.len() as u32,
            n_edges: 0,
            atoms: atoms.len(),
            aliases: header.aliases,
            guards,
        };
        while matches!(self.token, Token::Header("State")) {
            self.advance()?;
            self.state(&mut body)?;
        }
        match self.token {
            Token::End => {}
            Token::Abort => {
                self.advance()?;
                return Ok(None);
            }
            _ => return self.expected("`State:` or `--END--`"),
        }
        let n_states = body.edges.len();
        if let Some(beyond) = header
            .initial
            .iter()
            .find(|start| start.index() >= n_states)
        {
            return self.error(format!(
                "the initial state {} is not one of the states",
                beyond.0
            ));
        }
        self.advance()?;
        let mut edges: Vec<Vec<Edge>> = body
            .edges
            .into_iter()
            .map(Option::unwrap_or_default)
            .collect();
        for edge in edges.iter_mut().flatten() {
            for &(set, complement) in &header.complements {
                if !edge.marks.contains(set) {
                    edge.marks = edge.marks.union(Marks::one(complement));
                }
            }
        }
        let mut initial = header.initial;
        initial.sort_unstable();
        initial.dedup();
        Ok(Some(Automaton {
            name: header.name,
            atoms,
            initial,
            finite: header.finite,
            guards: body.guards,
            edges,
            n_marks: n_sets,
            acceptance,
        }))
    }

    fn header(
        &mut self,
        name: &'a str,
        header: &mut Header<'a>,
        guards: &mut Guards,
    ) -> Result<(), Error> {
        match name {
            "States" => {
                if header.states.is_some() {
                    return self.error("duplicate `States:`");
                }
                let limit = (self.limits.states as u64).saturating_add(1);
                header.states = Some(self.int("the number of states", limit)? as usize);
            }
            "Start" => {
                let state = self.int("an initial state", self.limits.states as u64)?;
                if self.token == Token::Sign('&') {
                    return self
                        .error("alternation is not supported: a run must begin in one state");
                }
                header.initial.push(StateId(state));
            }
            "AP" => {
                if header.atoms.is_some() {
                    return self.error("duplicate `AP:`");
                }
                let limit = (self.limits.atoms as u64).saturating_add(1);
                let n = self.int("the number of atomic propositions", limit)?;
                let mut atoms = Vec::new();
                while atoms.len() < n as usize {
                    let Token::Text(atom) = &self.token else {
                        return self.expected("the name of an atomic proposition, in quotes");
                    };
                    if atoms.contains(atom) {
                        return self.error(format!("duplicate atomic proposition `{atom}`"));
                    }
                    atoms.push(atom.clone());
                    self.advance()?;
                }
                header.atoms = Some(atoms);
            }
            "Alias" => {
                let Token::Alias(alias) = self.token else {
                    return self.expected("the name of an alias, such as `@a`");
                };
                if header.aliases.contains_key(alias) {
                    return self.error(format!("duplicate alias `@{alias}`"));
                }
                self.advance()?;
                let Some(n) = header.atoms.as_ref().map(Vec::len) else {
                    return self.error("`AP:` must come before the aliases that use it");
                };
                let guard = self.label(guards, n, &header.aliases, 0)?;
                header.aliases.insert(alias, guard);
            }
            "Acceptance" => {
                if header.condition.is_some() {
                    return self.error("duplicate `Acceptance:`");
                }
                let n = self.int("the number of acceptance sets", u64::from(Marks::MAX) + 1)?;
                let condition = self.condition(n, &mut header.complements, 0)?;
                let all = n + header.complements.len() as u32;
                if all > Marks::MAX {
                    return self.error("more than 64 acceptance sets, negated ones counted twice");
                }
                header.condition = Some((all, condition.folded()));
            }
            "name" => {
                let Token::Text(text) = &self.token else {
                    return self.expected("a name in quotes");
                };
                header.name = Some(text.clone());
                self.advance()?;
            }
            _ if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                return self.error(format!(
                    "unknown header `{name}:` (headers with a capital letter cannot be ignored)"
                ));
            }
            "guard-semantics" if self.token == Token::Text("finite".to_owned()) => {
                header.finite = true;
                self.advance()?;
            }
            _ => {
                while matches!(
                    self.token,
                    Token::Name(_) | Token::Int(_) | Token::Text(_) | Token::Sign('!')
                ) {
                    self.advance()?;
                }
            }
        }
        Ok(())
    }

    /// Returns an acceptance condition: `&` binds tighter than `|`.
    fn condition(
        &mut self,
        n: u32,
        complements: &mut Vec<(u32, u32)>,
        depth: usize,
    ) -> Result<Acceptance, Error> {
        if depth > MAX_DEPTH {
            return self.error("the condition is nested too deeply");
        }
        let mut either = Vec::new();
        loop {
            let mut both = vec![self.condition_atom(n, complements, depth)?];
            while self.eat('&')? {
                both.push(self.condition_atom(n, complements, depth)?);
            }
            either.push(Acceptance::And(both));
            if !self.eat('|')? {
                return Ok(Acceptance::Or(either));
            }
        }
    }

    fn condition_atom(
        &mut self,
        n: u32,
        complements: &mut Vec<(u32, u32)>,
        depth: usize,
    ) -> Result<Acceptance, Error> {
        if self.eat('(')? {
            let inner = self.condition(n, complements, depth + 1)?;
            self.close(')')?;
            return Ok(inner);
        }
        let Token::Name(name) = self.token else {
            return self.expected("`Inf`, `Fin`, `t` or `f`");
        };
        let make = match name {
            "t" => {
                self.advance()?;
                return Ok(Acceptance::True);
            }
            "f" => {
                self.advance()?;
                return Ok(Acceptance::False);
            }
            "Inf" => Acceptance::Inf,
            "Fin" => Acceptance::Fin,
            _ => return self.expected("`Inf`, `Fin`, `t` or `f`"),
        };
        self.advance()?;
        self.close('(')?;
        let negated = self.eat('!')?;
        let set = self.int("the acceptance set", u64::from(n))?;
        self.close(')')?;
        if !negated {
            return Ok(make(set));
        }
        let known = complements.iter().find(|(of, _)| *of == set);
        let complement = match known {
            Some(&(_, complement)) => complement,
            None => {
                let new = n + complements.len() as u32;
                complements.push((set, new));
                new
            }
        };
        Ok(make(complement))
    }

    /// Returns a label: `!` binds tightest, then `&`, then `|`.
    fn label(
        &mut self,
        guards: &mut Guards,
        n_atoms: usize,
        aliases: &FxHashMap<&'a str, Guard>,
        depth: usize,
    ) -> Result<Guard, Error> {
        let mut either = Guard::FALSE;
        loop {
            let mut both = self.label_atom(guards, n_atoms, aliases, depth)?;
            while self.eat('&')? {
                let next = self.label_atom(guards, n_atoms, aliases, depth)?;
                both = self.within(guards.and(both, next))?;
            }
            either = self.within(guards.or(either, both))?;
            if !self.eat('|')? {
                return Ok(either);
            }
        }
    }

    fn label_atom(
        &mut self,
        guards: &mut Guards,
        n_atoms: usize,
        aliases: &FxHashMap<&'a str, Guard>,
        depth: usize,
    ) -> Result<Guard, Error> {
        if depth > MAX_DEPTH {
            return self.error("the label is nested too deeply");
        }
        match self.token {
            Token::Sign('!') => {
                self.advance()?;
                let inner = self.label_atom(guards, n_atoms, aliases, depth + 1)?;
                self.within(guards.not(inner))
            }
            Token::Sign('(') => {
                self.advance()?;
                let inner = self.label(guards, n_atoms, aliases, depth + 1)?;
                self.close(')')?;
                Ok(inner)
            }
            Token::Name("t") => {
                self.advance()?;
                Ok(Guard::TRUE)
            }
            Token::Name("f") => {
                self.advance()?;
                Ok(Guard::FALSE)
            }
            Token::Int(_) => {
                let atom = self.int("the atomic proposition", n_atoms as u64)?;
                Ok(guards.literal(Atom(atom)))
            }
            Token::Alias(name) => match aliases.get(name) {
                Some(&guard) => {
                    self.advance()?;
                    Ok(guard)
                }
                None => self.error(format!("the alias `@{name}` is used before its definition")),
            },
            _ => self.expected("a label: a number, an alias, `t`, `f`, `!` or `(`"),
        }
    }

    /// Converts a limit error of the tables to an error at the current position of the text.
    fn within<T>(&self, made: Result<T, crate::limits::LimitError>) -> Result<T, Error> {
        made.map_err(|error| self.lexer.error(self.at, format!("the automaton {error}")))
    }

    fn label_in_brackets(&mut self, body: &mut Body<'a>) -> Result<Option<Guard>, Error> {
        if !self.eat('[')? {
            return Ok(None);
        }
        let guard = self.label(&mut body.guards, body.atoms, &body.aliases, 0)?;
        self.close(']')?;
        Ok(Some(guard))
    }

    fn signature(&mut self, n_sets: u32) -> Result<Marks, Error> {
        let mut marks = Marks::NONE;
        if self.eat('{')? {
            while !self.eat('}')? {
                let set = self.int("the acceptance set", u64::from(n_sets))?;
                marks = marks.union(Marks::one(set));
            }
        }
        Ok(marks)
    }

    fn state(&mut self, body: &mut Body<'a>) -> Result<(), Error> {
        let of_state = self.label_in_brackets(body)?;
        let limit = body.n_states.unwrap_or(self.limits.states) as u64;
        let state = self.int("the state", limit)? as usize;
        body.know(state);
        if body.edges[state].is_some() {
            return self.error(format!("duplicate state {state}"));
        }
        if matches!(self.token, Token::Text(_)) {
            self.advance()?;
        }
        let marks = self.signature(body.n_sets)?;
        let mut edges: Vec<Edge> = Vec::new();
        let mut implicit = None;
        while matches!(self.token, Token::Sign('[') | Token::Int(_)) {
            let label = self.label_in_brackets(body)?;
            let target = self.int("the target", limit)?;
            if self.token == Token::Sign('&') {
                return self.error("alternation is not supported: an edge must lead to one state");
            }
            body.know(target as usize);
            let own = self.signature(body.n_sets)?;
            body.n_edges += 1;
            if body.n_edges > self.limits.nodes {
                let limit = self.limits.nodes;
                return self.error(format!("more than {limit} edges"));
            }
            let guard = match (label, of_state) {
                (Some(_), Some(_)) => {
                    return self.error("edges of a labelled state cannot have labels");
                }
                (Some(guard), None) | (None, Some(guard)) => guard,
                (None, None) => Guard::TRUE,
            };
            let unlabeled = label.is_none() && of_state.is_none();
            if *implicit.get_or_insert(unlabeled) != unlabeled {
                return self.error("either all edges of a state have labels or none");
            }
            edges.push(Edge {
                guard,
                marks: marks.union(own),
                target: StateId(target),
            });
        }
        if implicit == Some(true) {
            let wanted = 1u64.checked_shl(body.atoms as u32).unwrap_or(0);
            if edges.len() as u64 != wanted {
                return self.error(format!(
                    "the state has {} edges without labels; with {} atomic propositions, it \
                     needs one for each of the 2^{} letters",
                    edges.len(),
                    body.atoms,
                    body.atoms
                ));
            }
            for (letter, edge) in edges.iter_mut().enumerate() {
                for atom in 0..body.atoms as u32 {
                    let literal = body.guards.literal(Atom(atom));
                    let literal = match letter >> atom & 1 {
                        1 => literal,
                        _ => self.within(body.guards.not(literal))?,
                    };
                    edge.guard = self.within(body.guards.and(edge.guard, literal))?;
                }
            }
        }
        edges.retain(|edge| edge.guard != Guard::FALSE);
        body.edges[state] = Some(edges);
        Ok(())
    }
}

/// The contents of the body so far.
struct Body<'a> {
    /// The edges of each state, once the state was given.
    edges: Vec<Option<Vec<Edge>>>,
    n_states: Option<usize>,
    n_sets: u32,
    n_edges: usize,
    atoms: usize,
    aliases: FxHashMap<&'a str, Guard>,
    guards: Guards,
}

impl Body<'_> {
    /// Makes room for a state whose number was checked.
    fn know(&mut self, state: usize) {
        if state >= self.edges.len() {
            self.edges.resize(state + 1, None);
        }
    }
}
