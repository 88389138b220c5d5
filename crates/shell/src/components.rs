//! The components of a path: whether one of them is, or may be, `..`.

/// The extent to which a path leads out of the folder that its beginning names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Climb {
    /// No component is `..`.
    #[default]
    No,
    /// A component is written as `..`.
    Written,
    /// A component may be `..`, or is a text that may hold several components.
    Open,
}

/// A path that is read component by component.
#[derive(Debug, Default)]
pub(super) struct Components {
    component: Vec<Symbol>,
    climb: Climb,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symbol {
    Literal(char),
    /// A character that may belong to a pattern.
    Pattern(char),
    /// A name of which the text is not known.
    Name,
}

impl Components {
    /// Returns the climb of a text that is written in full.
    pub(super) fn of(text: &str, has_patterns: bool) -> Climb {
        let mut components = Components::default();
        text.chars().for_each(|c| components.push(c, has_patterns));
        components.end()
    }

    /// Adds a character; `is_bare` if it may belong to a pattern.
    pub(super) fn push(&mut self, c: char, is_bare: bool) {
        match c {
            '/' => self.climb = self.end(),
            '*' | '?' | '[' | '(' if is_bare => self.component.push(Symbol::Pattern(c)),
            _ => self.component.push(Symbol::Literal(c)),
        }
    }

    /// Adds an expansion, of which the value climbs as far as this.
    pub(super) fn push_value(&mut self, climb: Climb) {
        match climb {
            Climb::No => self.component.push(Symbol::Name),
            Climb::Written | Climb::Open => self.climb = Climb::Open,
        }
    }

    /// Ends the path, and returns its climb.
    pub(super) fn end(&mut self) -> Climb {
        let component = std::mem::take(&mut self.component);
        std::mem::take(&mut self.climb).max(climb_of(&component))
    }
}

fn climb_of(component: &[Symbol]) -> Climb {
    let literals = || {
        component.iter().filter_map(|symbol| match symbol {
            Symbol::Literal(c) => Some(*c),
            Symbol::Pattern(_) | Symbol::Name => None,
        })
    };
    let n_dots = literals().filter(|c| *c == '.').count();
    let are_dots = n_dots > 0 && n_dots == literals().count();
    let is_open = if component.contains(&Symbol::Name) {
        // `.$x`: the value may be a dot, and it may be empty
        are_dots
    } else if component.contains(&Symbol::Pattern('(')) {
        matches_dots_in_group(component)
    } else if component
        .iter()
        .any(|symbol| matches!(symbol, Symbol::Pattern(_)))
    {
        component.first() == Some(&Symbol::Literal('.')) && matches_two_dots(component)
    } else {
        return if are_dots && n_dots == 2 {
            Climb::Written
        } else {
            Climb::No
        };
    };
    if is_open { Climb::Open } else { Climb::No }
}

/// Whether a pattern that begins with a dot may match `..`. Without that dot none does.
fn matches_two_dots(pattern: &[Symbol]) -> bool {
    let mut n_needed = 0;
    let mut rest = pattern;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            Symbol::Pattern('*') => continue,
            Symbol::Pattern('[') => {
                let closes = |symbol: &Symbol| *symbol == Symbol::Literal(']');
                let Some(end) = after.iter().skip(1).position(closes) else {
                    return false;
                };
                let (set, behind) = after.split_at(end + 1);
                if !may_hold_dot(set) {
                    return false;
                }
                // `[[:punct:]]` ends later
                if set.contains(first) {
                    return true;
                }
                rest = behind.get(1..).unwrap_or_default();
            }
            Symbol::Literal(c) if *c != '.' => return false,
            _ => {}
        }
        n_needed += 1;
    }
    n_needed <= 2
}

/// Whether the set of a pattern may hold a dot. `[!.]` does not; `[^.]` does in dash.
fn may_hold_dot(set: &[Symbol]) -> bool {
    let is_plain = |symbol: &Symbol| match symbol {
        Symbol::Literal(c) => *c == '-' || c.is_ascii_alphanumeric(),
        Symbol::Pattern(_) | Symbol::Name => false,
    };
    !set.starts_with(&[Symbol::Literal('!'), Symbol::Literal('.')]) && !set.iter().all(is_plain)
}

/// Whether an extended pattern may match `..`: it begins with a dot, or with a group and holds a dot. `!(.a)` alone matches no name that
/// begins with a dot.
fn matches_dots_in_group(pattern: &[Symbol]) -> bool {
    let is_group = |symbol: &Symbol| *symbol == Symbol::Pattern('(');
    let is_negation = pattern.first() == Some(&Symbol::Literal('!'))
        && pattern.last() == Some(&Symbol::Literal(')'))
        && pattern.iter().filter(|symbol| is_group(symbol)).count() == 1;
    let dot = Symbol::Literal('.');
    pattern.first() == Some(&dot)
        || pattern.get(1).is_some_and(is_group) && pattern.contains(&dot) && !is_negation
}
