//! Snapshots of the checker's rendered diagnostics, beside their specs; see `syntax_ui.rs`.

use crate::support::ui;
use guard_lang::diagnostic::{Code, RenderOptions, render};
use guard_lang::modules::NoFiles;

#[test]
fn diagnostics() {
    insta::glob!("..", "check/ui/*.guard", |path| {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut checked =
            guard_lang::front(&name, &text, &NoFiles, guard_lang::check::Limits::default());
        checked.lint(&guard_lang::lint::Limits::default());
        let rendered = render(
            &checked.diagnostics,
            &checked.sources,
            RenderOptions::default(),
        );
        let file = checked.sources.iter().next().unwrap();
        assert_eq!(
            ui::found(file, &checked.diagnostics),
            ui::markers(&text),
            "{name}\n{rendered}"
        );
        ui::settings(path).bind(|| {
            insta::assert_snapshot!(
                path.file_stem().unwrap().to_string_lossy().as_ref(),
                rendered
            );
        });
    });
}

#[test]
fn every_code_has_a_page_and_a_case() {
    let mut cases = String::new();
    for folder in ["tests/check/ui", "tests/syntax/ui"] {
        for entry in std::fs::read_dir(crate::support::root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ext| ext == "guard") {
                cases.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    // Limits, files and models: these have cases in Rust, below, in `project.rs`, `cli_check.rs` and `compiled_models.rs`.
    let elsewhere = [
        Code::G0205,
        Code::G0401,
        Code::G0402,
        Code::G0943,
        Code::G0947,
    ];
    for code in Code::ALL {
        assert!(
            code.page().contains("```guard"),
            "the page of {code} has no example"
        );
        assert!(
            elsewhere.contains(code) || cases.contains(code.as_str()),
            "no file of tests/*/ui triggers {code}"
        );
    }
}

fn codes(text: &str) -> Vec<&'static str> {
    let checked = guard_lang::front(
        "t.guard",
        text,
        &NoFiles,
        guard_lang::check::Limits::default(),
    );
    checked
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code.as_str())
        .collect()
}

#[test]
fn definitions_that_use_one_another_too_deeply_are_refused() {
    let mut text = String::from("event { n: int }\n");
    for i in 0..200 {
        text.push_str(&format!("let a{i} = a{} + 1\n", i + 1));
    }
    text.push_str("let a200 = n\nproperty p = always (a0 > 1)\n");
    assert!(codes(&text).contains(&"G0402"));
}

#[test]
fn definitions_that_double_cost_no_size() {
    let mut text = String::from("event { n: int }\nlet a0 = n\n");
    for i in 1..90 {
        text.push_str(&format!("let a{i} = a{0} + a{0}\n", i - 1));
    }
    text.push_str("property p = always (a89 > 1)\n");
    // The tree has 2^89 leaves, the graph 90 nodes; elaboration must not walk the tree either.
    assert_eq!(codes(&text), Vec::<&str>::new());
}

#[test]
fn the_checker_knows_every_reader() {
    use guard_lang::input::formats::Format;
    let readers: Vec<&str> = Format::ALL.into_iter().map(Format::name).collect();
    assert_eq!(guard_lang::input_schema::FORMATS, readers);
}
