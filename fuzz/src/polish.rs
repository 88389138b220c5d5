//! Formulas from bytes.

use guard_automata::{Atom, FormulaId, Formulas, Interval};

/// Bounds of up to two steps, by the three highest bits of a byte.
pub fn short(bits: u8) -> Interval {
    match bits {
        0..=4 => Interval::ALL,
        5 => Interval::steps(0, 2),
        6 => Interval::steps(1, 2),
        _ => Interval::Steps { lo: 2, hi: None },
    }
}

/// Bounds short and long.
pub fn long(bits: u8) -> Interval {
    match bits {
        0..=1 => Interval::ALL,
        2 => Interval::steps(0, 2),
        3 => Interval::steps(1, 3),
        4 => Interval::steps(0, 7),
        5 => Interval::steps(2, 11),
        6 => Interval::steps(3, 100_000),
        _ => Interval::Steps { lo: 2, hi: None },
    }
}

/// A formula in Polish notation, one operator a byte; atoms where the bytes end.
pub fn formula(bytes: &mut &[u8], into: &mut Formulas, window: fn(u8) -> Interval) -> FormulaId {
    below(bytes, into, window, 0)
}

fn below(
    bytes: &mut &[u8],
    into: &mut Formulas,
    window: fn(u8) -> Interval,
    depth: u32,
) -> FormulaId {
    let Some((&first, rest)) = bytes.split_first().filter(|_| depth < 7) else {
        return into.atom(Atom(0));
    };
    *bytes = rest;
    let bounds = window(first >> 5);
    let operator = first & 15;
    if operator < 3 {
        return into.atom(Atom(u32::from(operator)));
    }
    let f = below(bytes, into, window, depth + 1);
    match operator {
        3 => into.not(f),
        4 => into.next(f),
        5 => into.eventually(bounds, f),
        6 => into.always(bounds, f),
        7 => into.previously(f),
        8 => into.once(bounds, f),
        9 => into.historically(bounds, f),
        _ => {
            let g = below(bytes, into, window, depth + 1);
            match operator {
                10 => into.and(f, g),
                11 => into.or(f, g),
                12 => into.until(f, bounds, g),
                13 => into.release(f, g),
                14 => into.since(f, g),
                _ => into.iff(f, g),
            }
        }
    }
}
