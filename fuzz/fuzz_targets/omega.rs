//! The automata of any formula accept the words on which it is true, by the definitions.

#![no_main]

use guard_lang::automata::{Atom, FormulaId, Formulas, Interval, Limits, omega};
use libfuzzer_sys::fuzz_target;

/// A formula in Polish notation, one operator a byte; atoms where the bytes end.
fn formula(bytes: &mut &[u8], into: &mut Formulas, depth: u32) -> FormulaId {
    let Some((&first, rest)) = bytes.split_first().filter(|_| depth < 7) else {
        return into.atom(Atom(0));
    };
    *bytes = rest;
    let window = match first >> 5 {
        0..=4 => Interval::ALL,
        5 => Interval::steps(0, 2),
        6 => Interval::steps(1, 2),
        _ => Interval::Steps { lo: 2, hi: None },
    };
    let operator = first & 15;
    if operator < 3 {
        return into.atom(Atom(u32::from(operator)));
    }
    let f = formula(bytes, into, depth + 1);
    match operator {
        3 => into.not(f),
        4 => into.next(f),
        5 => into.eventually(window, f),
        6 => into.always(window, f),
        7 => into.previously(f),
        8 => into.once(window, f),
        9 => into.historically(window, f),
        _ => {
            let g = formula(bytes, into, depth + 1);
            match operator {
                10 => into.and(f, g),
                11 => into.or(f, g),
                12 => into.until(f, window, g),
                13 => into.release(f, g),
                14 => into.since(f, g),
                _ => into.iff(f, g),
            }
        }
    }
}

fuzz_target!(|input: (Vec<u8>, Vec<u8>)| {
    let (text, letters) = input;
    let letters = &letters[..letters.len().min(6)];
    let Some(&first) = letters.first() else {
        return;
    };
    let mut formulas = Formulas::new();
    let root = formula(&mut text.as_slice(), &mut formulas, 0);
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
});
