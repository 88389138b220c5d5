//! Layout keeps the tree and the comments, and doing it again changes nothing.

use guard_lang::source::SourceFile;
use guard_lang::syntax;

pub fn run(text: &str) {
    let Ok(out) = syntax::format(text) else {
        return;
    };
    let parse = |text: &str| syntax::parse(&SourceFile::new("fuzz.guard", text)).0;
    let (before, after) = (parse(text), parse(&out));
    assert_eq!(before, after);
    assert_eq!(before.comments.len(), after.comments.len());
    assert_eq!(syntax::format(&out).as_ref(), Ok(&out));
}
