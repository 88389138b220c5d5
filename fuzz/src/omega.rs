//! The automata of any formula accept the words on which it is true, by the definitions.

use super::polish;
use guard_automata::{Atom, Formulas, Limits, omega};

pub fn run(input: (Vec<u8>, Vec<u8>)) {
    let (text, letters) = input;
    let letters = &letters[..letters.len().min(6)];
    let Some(&first) = letters.first() else {
        return;
    };
    let mut formulas = Formulas::new();
    let root = polish::formula(&mut text.as_slice(), &mut formulas, polish::short);
    let limits = Limits {
        states: 200,
        nodes: 40_000,
        work: 200_000,
        ..Limits::default()
    };
    let stem = first as usize % letters.len();
    let cycle = letters.len() - stem;
    let holds = |i: usize, Atom(atom): Atom| letters[i] >> atom & 1 == 1;
    let value = omega::eval(&formulas, root, stem, cycle, holds);
    if let Ok(buchi) = omega::translate(&formulas, root, &limits) {
        assert_eq!(buchi.accepts(stem, cycle, holds), value);
    }
    if let Ok(automaton) = omega::deterministic(&formulas, root, &limits) {
        assert_eq!(automaton.accepts(stem, cycle, holds), value);
    }
}
