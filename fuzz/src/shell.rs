//! Shell lines take bounded work, whatever stands in them, and what is listed are commands.

use guard_lang::shell::{Limits, commands};

pub fn run(text: &str) {
    let limits = Limits::default();
    if let Ok(found) = commands(text, &limits) {
        assert!(found.iter().map(Vec::len).sum::<usize>() <= limits.words);
        assert!(found.iter().all(|command| !command.is_empty()));
        assert!(found.iter().flatten().map(String::len).sum::<usize>() <= limits.work);
    }
}
