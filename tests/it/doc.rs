//! `guard doc`: pages for the library and for specs.

use assert_cmd::Command;

const SPEC: &str = "\
//! Refunds <b>only</b> after approval.

/// One step.
event { kind: string  id: string? }

/// A refund of that call.
predicate refunds(c: string) = kind == \"refund\" and id == c
predicate approved = kind == \"ok\"

/// No refund before an approval.
@severity(high)
property first = not (kind == \"refund\") W approved
property each = forall c: G (refunds(c) -> O (kind == \"ok\" and id == c))
template soon(p: pred, k: int, allowed: list<string>, t: string?) = G (p -> F[0, k] t in allowed)
";

fn doc(args: &[&str]) -> (std::path::PathBuf, tempfile::TempDir, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("shop.guard");
    std::fs::write(&spec, SPEC).unwrap();
    let out = folder.path().join("out");
    let args = args.iter().map(|arg| match *arg {
        "SPEC" => spec.to_str().unwrap().to_owned(),
        "OUT" => out.to_str().unwrap().to_owned(),
        arg => arg.to_owned(),
    });
    let output = Command::cargo_bin("guard")
        .unwrap()
        .arg("doc")
        .args(args)
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    (out, folder, output)
}

#[test]
fn a_spec_as_markdown() {
    let (_, _folder, page) = doc(&["SPEC", "-o", "-", "--format", "markdown"]);
    insta::assert_snapshot!(String::from_utf8(page).unwrap());
}

/// A backtick in a text ends the code that shows it: what follows must still be shown as it is written.
#[test]
fn texts_of_a_spec_are_no_markup() {
    let folder = crate::support::cli::Folder::new(&[(
        "a.guard",
        "event { tool: string }\nproperty p = never (tool == \"`<img src=x>[c](javascript:a)```\")\n",
    )]);
    let run = folder.guard(&["doc", "a.guard", "-o", "-", "--format", "markdown"]);
    let mut html = String::new();
    let (mut links, mut tags) = (0, 0);
    for event in pulldown_cmark::Parser::new(&run.out) {
        use pulldown_cmark::{Event, Tag};
        links += usize::from(matches!(
            event,
            Event::Start(Tag::Link { .. } | Tag::Image { .. })
        ));
        tags += usize::from(matches!(event, Event::Html(_) | Event::InlineHtml(_)));
        if let Event::Text(text) | Event::Code(text) = event {
            html.push_str(&text);
        }
    }
    assert_eq!((links, tags), (0, 0), "{}", run.out);
    assert!(html.contains("<img src=x>"), "{}", run.out);
}

#[test]
fn a_spec_as_html() {
    let (out, _folder, _) = doc(&["SPEC", "-o", "OUT"]);
    let page = std::fs::read_to_string(out.join("shop.html")).unwrap();
    assert!(
        page.contains("Refunds &lt;b&gt;only&lt;/b&gt; after approval."),
        "{page}"
    );
    assert_eq!(page.matches("<section").count(), 6);
    assert_eq!(
        page.matches("<svg").count(),
        3,
        "two properties and a template are drawn"
    );
    assert!(!page.contains("<script") && !page.contains("src=\"http"));
    assert!(
        std::fs::read_to_string(out.join("index.html"))
            .unwrap()
            .contains("href=\"shop.html\"")
    );
}

#[test]
fn the_library_has_a_page_for_every_module_and_every_template_is_drawn() {
    let (out, _folder, _) = doc(&["-o", "OUT"]);
    let index = std::fs::read_to_string(out.join("index.html")).unwrap();
    for module in guard_lang::stdlib::modules() {
        assert!(index.contains(&format!("{module}.html")), "{module}");
        let page = std::fs::read_to_string(out.join(format!("{module}.html"))).unwrap();
        let templates = page.matches("<h2><span>template </span>").count();
        let told = page.matches("<div class=\"facts\">").count();
        assert_eq!(
            told,
            2 * templates,
            "std.{module}: a template that cannot be shown"
        );
    }
}

#[test]
fn pages_of_one_name_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("index.guard");
    std::fs::write(&spec, SPEC).unwrap();
    let told = Command::cargo_bin("guard")
        .unwrap()
        .arg("doc")
        .arg(&spec)
        .arg("-o")
        .arg(folder.path())
        .assert()
        .code(2);
    assert!(String::from_utf8_lossy(&told.get_output().stderr).contains("two pages"));
}
