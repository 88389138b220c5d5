//! Mistakes of newcomers, and the remedy that the checker names for each: `tests/check/mistakes.txt`.

use guard_lang::check::Limits;
use guard_lang::diagnostic::{Diagnostic, Fix, RenderOptions, render};
use guard_lang::modules::NoFiles;

#[test]
fn each_has_a_remedy() {
    let path = crate::support::root().join("tests/check/mistakes.txt");
    let wrong = wrong(&std::fs::read_to_string(path).unwrap());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the faults of the remedies of all cases.
fn wrong(text: &str) -> Vec<String> {
    let (mut head, mut out) = (String::new(), Vec::new());
    let (mut written, mut fixed, mut notes) = (String::new(), String::new(), Vec::new());
    for line in text.lines().chain([""]) {
        let body = line.get(2..).unwrap_or("");
        match line.get(..1) {
            Some("%") => head += &format!("{body}\n"),
            Some("-") => written += &format!("{body}\n"),
            Some("+") if !written.is_empty() => fixed += &format!("{body}\n"),
            Some("?") if !written.is_empty() => notes.push(body),
            _ if written.is_empty() => {}
            _ => {
                out.extend(case(&head, &written, &fixed, &notes));
                (written, fixed, notes) = Default::default();
            }
        }
    }
    out
}

fn case(head: &str, written: &str, fixed: &str, notes: &[&str]) -> Option<String> {
    let head = match written.starts_with("event") {
        true => "",
        false => head,
    };
    let text = format!("{head}{written}");
    let diagnostics = errors(&text);
    let say = |what: &str| Some(format!("{written}{what}\n{}", rendered(&text)));
    let Some(first) = diagnostics.first() else {
        return say("has no error");
    };
    for note in notes {
        let mut said = diagnostics.iter().flat_map(|one| &one.notes);
        if !said.any(|own| own.contains(note)) {
            return say(&format!("does not say `{note}`"));
        }
    }
    if fixed.is_empty() && notes.is_empty() {
        return say("expects nothing");
    }
    if let Some(fix) = first.fixes.first().filter(|_| !fixed.is_empty()) {
        let after = applied(&text, fix);
        if after != format!("{head}{fixed}") {
            return say(&format!(
                "becomes {}",
                &after[head.len().min(after.len())..]
            ));
        }
        if !errors(&after).is_empty() {
            return say(&format!("becomes wrong: {}", rendered(&after)));
        }
    } else if !fixed.is_empty() {
        return say("has no fix");
    }
    let is_same = |other: &Diagnostic, one: &Diagnostic| {
        (other.code, other.span(), &other.message) == (one.code, one.span(), &one.message)
    };
    for diagnostic in &diagnostics {
        for fix in &diagnostic.fixes {
            let after = applied(&text, fix);
            if errors(&after)
                .iter()
                .any(|other| is_same(other, diagnostic))
            {
                return say(&format!("`{}` does not help", fix.message));
            }
        }
    }
    None
}

fn errors(text: &str) -> Vec<Diagnostic> {
    let checked = guard_lang::front("a.guard", text, &NoFiles, Limits::default());
    let mut diagnostics = checked.diagnostics;
    diagnostics.retain(Diagnostic::is_error);
    diagnostics
}

fn rendered(text: &str) -> String {
    let checked = guard_lang::front("a.guard", text, &NoFiles, Limits::default());
    render(
        &checked.diagnostics,
        &checked.sources,
        RenderOptions::default(),
    )
}

fn applied(text: &str, fix: &Fix) -> String {
    let mut fixed = text.to_owned();
    let mut edits = fix.edits.clone();
    edits.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    for (span, new) in edits {
        fixed.replace_range(span.range(), &new);
    }
    fixed
}
