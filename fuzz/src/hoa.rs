//! Any text is read or refused with a place in it; what is read can be written and read again.

use guard_automata::{Limits, omega::hoa};

pub fn run(text: &str) {
    let limits = Limits {
        states: 200,
        nodes: 20_000,
        work: 200_000,
        ..Limits::default()
    };
    match hoa::parse_all(text, &limits) {
        Err(error) => assert!(error.line >= 1 && error.line <= text.matches('\n').count() + 1),
        Ok(automata) => {
            for automaton in automata {
                let Ok(buchi) = automaton.to_buchi(&limits) else {
                    continue;
                };
                // No word is one of the automaton and of its complement.
                if let Ok(others) = automaton.complement(&limits)
                    && let Ok(common) = buchi.common_word(&others, &limits)
                {
                    assert!(common.is_none(), "{text}");
                }
                let atoms: Vec<String> =
                    (0..automaton.atoms.len()).map(|i| i.to_string()).collect();
                let written = buchi.to_hoa("again", |atom| atoms[atom.0 as usize].clone());
                let again = hoa::parse(&written, &limits).expect("what is written is read");
                assert_eq!(again.len(), buchi.len());
            }
        }
    }
}
