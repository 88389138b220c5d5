//! Tokens lie in the text, in order, without overlap.

use guard_lang::syntax::lexer;

pub fn run(text: &str) {
    let lexed = lexer::lex(text, 0);
    let mut end = 0;
    for token in &lexed.tokens {
        assert!(end <= token.start && token.start < token.end);
        assert!(text.get(token.start as usize..token.end as usize).is_some());
        end = token.end;
    }
}
