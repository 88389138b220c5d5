//! Diagnostics as data: the JSON format, the error protocol, positions in the text.

use guard_lang::diagnostic::{
    Code, Diagnostic, RenderOptions, SpecError, did_you_mean, json_lines, render, render_short,
};
use guard_lang::source::{FileId, LineTable, SourceMap, Span};
use guard_lang::syntax;

fn one() -> (SourceMap, Vec<Diagnostic>) {
    let mut sources = SourceMap::new();
    let id = sources.add("é.guard", "// é\npredicate a = kind = \"x\"\n");
    let diagnostics = syntax::parse(sources.get(id)).1;
    (sources, diagnostics)
}

#[test]
fn json_has_the_documented_form() {
    let (sources, diagnostics) = one();
    let expected = concat!(
        r#"{"v":1,"code":"G0110","severity":"error","message":"`=` is not a comparison","file":"é.guard","#,
        r#""span":{"start":25,"end":26,"line":2,"column":20},"#,
        r#""labels":[{"file":"é.guard","span":{"start":25,"end":26,"line":2,"column":20},"message":"it defines a name","primary":true}],"#,
        r#""notes":["to compare two values, use `==`"],"#,
        r#""fixes":[{"message":"compare with `==`","edits":[{"file":"é.guard","span":{"start":25,"end":26,"line":2,"column":20},"text":"=="}]}]}"#,
        "\n"
    );
    assert_eq!(json_lines(&diagnostics, &sources), expected);
    assert_eq!(
        render_short(&diagnostics, &sources),
        "é.guard:2:20: error G0110: `=` is not a comparison\n"
    );
}

#[test]
fn rendering_is_deterministic_and_knows_colours() {
    let (sources, diagnostics) = one();
    let plain = render(&diagnostics, &sources, RenderOptions { color: false });
    assert_eq!(
        plain,
        render(&diagnostics, &sources, RenderOptions { color: false })
    );
    assert!(!plain.contains('\u{1b}'));
    let colored = render(&diagnostics, &sources, RenderOptions { color: true });
    assert!(colored.contains('\u{1b}'));
    // a span past the end of its file, or in no file, is drawn all the same
    let odd = Diagnostic::new(Code::G0101, Span::new(FileId(7), 5, 900), "odd");
    assert!(render(&[odd], &sources, RenderOptions::default()).contains("odd"));
}

/// A spec that a program has put on one line is not drawn whole for each of its mistakes.
#[test]
fn of_a_long_line_what_stands_around_is_shown() {
    let items = |n: usize| format!("predicate p{n} = kind == \"é{n}\" ");
    let text = "event { kind: string } ".to_owned() + &(0..2000).map(items).collect::<String>();
    let mut sources = SourceMap::new();
    let id = sources.add("one.guard", text);
    let diagnostics = syntax::parse(sources.get(id)).1;
    assert_eq!(diagnostics.len(), 2000);
    let shown = render(&diagnostics, &sources, RenderOptions::default());
    assert!(shown.len() < 500 * diagnostics.len());
    assert!(shown.contains("\n  … "));
    let first: Vec<&str> = shown.lines().take(5).collect();
    assert_eq!(
        first,
        [
            "one.guard:1:24: error G0104: unexpected indentation before item `predicate`",
            "  event { kind: string } predicate p0 = kind == \"é0\" predicate p1 = kind =",
            "                         ^^^^^^^^^ an item must begin in column 0 of its own line",
            "  note: this limits the effect of an error to one item",
            "  help: begin a new line",
        ]
    );
}

#[test]
fn the_error_speaks_miette() {
    let (sources, diagnostics) = one();
    let error = SpecError::new(diagnostics.clone(), &sources);
    assert_eq!(error.to_string(), "`=` is not a comparison");
    let shown: &dyn miette::Diagnostic = &error;
    assert_eq!(shown.code().unwrap().to_string(), "G0110");
    let labels: Vec<_> = shown.labels().unwrap().collect();
    assert_eq!((labels[0].offset(), labels[0].len()), (25, 1));
    let two = SpecError::new([diagnostics.clone(), diagnostics].concat(), &sources);
    assert_eq!(two.to_string(), "`=` is not a comparison (and 1 more)");
    assert_eq!(miette::Diagnostic::related(&two).unwrap().count(), 1);
}

#[test]
fn places_count_lines_characters_and_utf16() {
    let text = "a\r\né😀b\n";
    let lines = LineTable::new(text);
    assert_eq!(lines.len(), 3);
    let b = u32::try_from(text.find('b').unwrap()).unwrap();
    let at = lines.location(text, b);
    assert_eq!((at.line, at.column), (2, 3));
    assert_eq!(lines.utf16_position(text, b), (1, 3));
    assert_eq!(lines.offset_of_utf16(text, 1, 3), b);
    assert_eq!(lines.offset_of_utf16(text, 0, 99), 1);
    assert_eq!(
        lines.offset_of_utf16(text, 99, 0),
        u32::try_from(text.len()).unwrap()
    );
    assert_eq!(lines.location(text, 9999).line, 3);
}

#[test]
fn near_names_are_offered() {
    let names = ["property", "predicate", "exposure", "is_read"];
    assert_eq!(did_you_mean("proprety", names), Some("property"));
    assert_eq!(did_you_mean("Exposure", names), Some("exposure"));
    assert_eq!(did_you_mean("isRead", names), Some("is_read"));
    assert_eq!(did_you_mean("zebra", names), None);
    assert_eq!(did_you_mean("x", ["y"]), None);
}

#[test]
fn codes_are_found_by_text_and_name() {
    for code in Code::ALL {
        assert_eq!(Code::parse(&code.as_str().to_lowercase()), Some(*code));
        assert_eq!(Code::by_name(code.name()), Some(*code));
    }
}
