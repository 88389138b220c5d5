//! The scopes of `std.patterns` have their documented meaning: a pattern in a scope holds if the plain pattern holds on
//! every segment that the scope selects, taken as a separate trace.

use std::collections::BTreeMap;
use std::rc::Rc;

use guard_automata::{self, Atom, FormulaId, Formulas};
use guard_lang::hir::Property;
use guard_lang::modules::NoFiles;
use guard_lang::translate::translate;

/// The patterns with the predicates that they are about; a scope adds `q` and `r`.
const PATTERNS: &[(&str, &str)] = &[
    ("absence", "p"),
    ("existence", "p"),
    ("two_stretches", "p"),
    ("universality", "p"),
    ("precedence", "s, p"),
    ("response", "p, s"),
    ("precedence_of_chain", "s, t, p"),
    ("precedence_before_chain", "p, s, t"),
    ("response_to_chain", "s, t, p"),
    ("response_with_chain", "p, s, t"),
    ("constrained_response", "p, s, t, z"),
];

/// The scopes: suffix, parameters, and the stretches that they name.
type Stretches = fn(&Word) -> Vec<std::ops::Range<usize>>;
const SCOPES: &[(&str, &str, Stretches)] = &[
    ("until", ", r", |word| {
        std::iter::once(0..word.next(R, 0).unwrap_or(word.len())).collect()
    }),
    ("before", ", r", |word| {
        word.next(R, 0).map(|end| 0..end).into_iter().collect()
    }),
    ("after", ", q", |word| {
        let start = word.next(Q, 0);
        start.map(|q| q..word.len()).into_iter().collect()
    }),
    ("between", ", q, r", |word| {
        let ends = word.starts().map(|q| (q, word.next(R, q)));
        ends.filter_map(|(q, r)| Some(q..r?)).collect()
    }),
    ("after_until", ", q, r", |word| {
        let ends = word.starts().map(|q| (q, word.next(R, q)));
        ends.map(|(q, r)| q..r.unwrap_or(word.len())).collect()
    }),
];

const ATOMS: [&str; 6] = ["p", "s", "t", "z", "q", "r"];
const Q: usize = 4;
const R: usize = 5;

/// Which atoms hold, step by step.
struct Word(Vec<[bool; 6]>);

impl Word {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn next(&self, atom: usize, from: usize) -> Option<usize> {
        (from..self.len()).find(|step| self.0[*step][atom])
    }

    /// Where a stretch begins: `q` without `r`.
    fn starts(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(|step| self.0[*step][Q] && !self.0[*step][R])
    }
}

/// A template, applied to fields of its parameters' names.
struct Template {
    /// Its own, so that evaluation looks at nothing else.
    formulas: Formulas,
    root: FormulaId,
    /// Atom numbers to positions in `ATOMS`.
    atoms: Rc<[usize]>,
}

/// Returns the templates that are used, by the names of their properties.
fn templates(uses: impl IntoIterator<Item = (String, String)>) -> BTreeMap<String, Template> {
    let mut text = String::from("use std.patterns\nevent {");
    for atom in ATOMS {
        text.push_str(&format!(" {atom}: bool = false "));
    }
    text.push_str("}\n");
    for (name, formula) in uses {
        text.push_str(&format!("property {name} = {formula}\n"));
    }
    let checked = guard_lang::front("t.guard", &text, &NoFiles, Default::default());
    let spec = checked
        .spec
        .unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let atoms = spec.formulas.atoms().iter();
    let atoms = atoms.map(|letter| ATOMS.iter().position(|atom| letter.text == *atom).unwrap());
    let atoms: Rc<[usize]> = atoms.collect();
    let template = |property: &Property| {
        let atom = |letter: guard_lang::ids::AtomId| Atom(letter.index() as u32);
        let mut formulas = Formulas::default();
        let root = translate(&spec.formulas, property.formula, atom, &mut formulas);
        let atoms = Rc::clone(&atoms);
        let template = Template {
            formulas,
            root,
            atoms,
        };
        (property.name.to_string(), template)
    };
    spec.properties.iter().map(template).collect()
}

impl Template {
    /// Whether it holds of these steps of the word, as a trace of their own.
    fn holds(&self, word: &Word, steps: std::ops::Range<usize>) -> bool {
        if steps.is_empty() {
            return guard_automata::eval_empty(&self.formulas, self.root);
        }
        let letter =
            |step: usize, atom: Atom| word.0[steps.start + step][self.atoms[atom.0 as usize]];
        guard_automata::eval(&self.formulas, self.root, steps.len(), letter)[0]
    }
}

/// A word from a seed: short ones often, atoms rare enough for stretches to be long.
fn word(seed: u64) -> Word {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 11
    };
    let len = 1 + next() % 12;
    let rare = 2 + next() % 3;
    Word(
        (0..len)
            .map(|_| std::array::from_fn(|_| next() % rare == 0))
            .collect(),
    )
}

#[test]
fn a_pattern_in_a_scope_holds_over_its_stretches() {
    let bare = PATTERNS
        .iter()
        .map(|(name, args)| (format!("{name}_bare"), format!("patterns.{name}({args})")));
    let scoped = PATTERNS.iter().flat_map(|(name, args)| {
        SCOPES.iter().map(move |(scope, more, _)| {
            (
                format!("{name}_{scope}"),
                format!("patterns.{name}_{scope}({args}{more})"),
            )
        })
    });
    let templates = templates(bare.chain(scoped));
    let words: Vec<Word> = (0..20_000).map(word).collect();
    for (pattern, _) in PATTERNS {
        let bare = &templates[&format!("{pattern}_bare")];
        for (scope, _, stretches) in SCOPES {
            let scoped = &templates[&format!("{pattern}_{scope}")];
            let (mut held, mut failed) = (0, 0);
            for word in &words {
                let whole = scoped.holds(word, 0..word.len());
                let mut parts = stretches(word).into_iter();
                let parts = parts.all(|stretch| bare.holds(word, stretch));
                assert_eq!(whole, parts, "{pattern}_{scope} over {:?}", word.0);
                *(if whole { &mut held } else { &mut failed }) += 1;
            }
            assert!(
                held > 20 && failed > 20,
                "{pattern}_{scope}: {held} held, {failed} failed"
            );
        }
    }
}
