//! The parser in the repository is the one that LALRPOP makes of the grammar.
use std::fs;
use std::path::Path;

#[test]
fn the_parser_is_that_of_the_grammar() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let kept = here.join("src/parser/generated.rs");
    lalrpop::Configuration::new()
        .set_in_dir(here.join("../../grammar"))
        .set_out_dir(out)
        .force_build(true)
        .process()
        .expect("LALRPOP accepts the grammar");
    let made = fs::read_to_string(out.join("guard.rs")).unwrap();
    if std::env::var_os("UPDATE_PARSER").is_some() {
        fs::write(&kept, &made).unwrap();
    }
    assert!(
        made == fs::read_to_string(kept).unwrap(),
        "the parser does not follow the grammar: run `UPDATE_PARSER=1 cargo test -p guard-syntax --test generated`"
    );
}
