//! A compiled spec of which anything was changed is refused, or means what it meant; and what is read as an automaton is one.

use std::sync::OnceLock;

use guard_automata::{Dfa, StateSet};
use guard_lang::Spec;

const TEXT: &str = "event { a: bool  b: string? }\nproperty p = G (a -> F[1,3] (b matches /x+/))\n";

/// The spec, as it was compiled, and its meaning.
fn compiled() -> &'static (String, String) {
    static COMPILED: OnceLock<(String, String)> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let spec = Spec::from_source("a.guard", TEXT).expect("a spec");
        let meaning = format!("{:?}", spec.parts().0);
        (spec.to_compiled().expect("JSON"), meaning)
    })
}

/// Each three bytes are a place of the compiled spec and what is to be there; the whole is also read as the bytes of an
/// automaton.
pub fn run(input: &[u8]) {
    let (text, meaning) = compiled();
    let mut bytes = text.clone().into_bytes();
    for change in input.chunks_exact(3) {
        let place = usize::from(change[0]) << 8 | usize::from(change[1]);
        let place = place % bytes.len();
        bytes[place] = change[2];
    }
    if let Ok(text) = String::from_utf8(bytes)
        && let Ok(spec) = Spec::from_compiled("a.guardc", &text)
    {
        assert_eq!(format!("{:?}", spec.parts().0), *meaning, "{text}");
    }
    if let Ok(dfa) = postcard::from_bytes::<Dfa>(input) {
        for state in dfa.states() {
            let mut next = StateSet::new();
            dfa.step_unknown(state, |_| None, &mut next);
            assert!(next.iter().all(|state| state.index() < dfa.len()));
        }
        assert!(dfa.minimized().len() <= dfa.len());
    }
}
