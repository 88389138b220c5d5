//! Small handmade recordings, one folder per format: the detected format and the canonical events.

use std::fmt::Write;
use std::path::Path;

use crate::support::formats::{
    accounted, convert_documents, detect_documents, documents, files, get,
};
use guard_lang::input::formats::{Converted, Format};
use guard_lang::value::Value;

#[test]
fn fixtures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let mut formats = Vec::new();
    for path in files(&root) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let Some(folder) = path.parent().filter(|folder| *folder != root) else {
            continue;
        };
        if name.ends_with(".snap") || name.ends_with(".snap.new") {
            continue;
        }
        let format: Format = folder
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .parse()
            .unwrap();
        formats.push(format);
        let bytes = std::fs::read(&path).unwrap();
        let documents = if format == Format::Csv {
            Vec::new()
        } else {
            documents(&bytes)
        };
        let detection =
            detect_documents(&documents, &bytes).unwrap_or_else(|| panic!("{name} is not known"));
        let expected = match format {
            // The two readings of a transcript look alike; detection takes the usual one.
            Format::ClaudeCodeLines => Format::ClaudeCode,
            format => format,
        };
        assert_eq!(detection.format, expected, "{name}: {}", detection.why);
        let converted = convert_documents(format, detection.granularity, &documents, &bytes);
        accounted(&converted);
        let shown = format!(
            "detected: {} by {:?}: {}\n{}",
            detection.format,
            detection.granularity,
            detection.why,
            show(&converted)
        );
        insta::with_settings!({
            snapshot_path => folder, prepend_module_to_snapshot => false, omit_expression => true,
        }, {
            insta::assert_snapshot!(name, shown);
        });
    }
    for format in Format::ALL {
        assert!(formats.contains(&format), "{format} has no fixture");
    }
}

fn show(converted: &Converted) -> String {
    let mut shown = String::new();
    for trace in &converted.traces {
        let id = trace.id.as_deref().unwrap_or("-");
        writeln!(
            shown,
            "\ntrace {id} n={} line={:?} list={:?} complete={:?}",
            trace.n, trace.line, trace.list, trace.complete
        )
        .unwrap();
        writeln!(shown, "  meta {}", trace.meta).unwrap();
        for event in &trace.events {
            write!(shown, "  {:>2}", event.index).unwrap();
            let Value::Object(members) = &event.value else {
                panic!("no object")
            };
            for (name, value) in members.iter() {
                // `raw` and `item` repeat the source; a null says more than nothing, so it is shown.
                if name != "raw" && name != "item" {
                    write!(shown, " {name}={value}").unwrap();
                }
            }
            assert!(get(event, "raw").is_some() || get(event, "item").is_none());
            shown.push('\n');
        }
        for fault in &trace.faults {
            writeln!(
                shown,
                "  fault at {} in {}: {:?}: {}",
                fault.index, fault.field, fault.kind, fault.message
            )
            .unwrap();
        }
    }
    shown.push('\n');
    for loss in &converted.losses {
        let whole = if loss.whole { "items" } else { "parts" };
        writeln!(
            shown,
            "loss of {} {whole}: {} (first: {:?} {:?})",
            loss.count, loss.what, loss.example.line, loss.example.index
        )
        .unwrap();
    }
    shown
}

#[test]
fn names() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    let error = "chat".parse::<Format>().unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("unknown format `chat`; available formats: native, openai, ")
    );
}

/// What the readers give is what `std.agent` declares, and every format has its section in the docs.
#[test]
fn declared_and_told() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let declared = std::fs::read_to_string(root.join("stdlib/agent.guard")).unwrap();
    let field = regex::Regex::new(r"(?m)^  (\w+):").unwrap();
    let declared: Vec<&str> = field
        .captures_iter(&declared)
        .map(|found| found.get(1).unwrap().as_str())
        .collect();
    let bytes = std::fs::read(root.join("tests/formats/anthropic/messages.json")).unwrap();
    let document = documents(&bytes);
    let converted = convert_documents(
        Format::Anthropic,
        Format::Anthropic.granularity(),
        &document,
        &bytes,
    );
    for event in &converted.traces[0].events {
        let Value::Object(members) = &event.value else {
            panic!("no object")
        };
        for (name, _) in members.iter() {
            assert!(declared.contains(&name.as_str()), "{name} is not declared");
        }
    }
    let told = std::fs::read_to_string(root.join("docs/formats.md")).unwrap();
    for format in Format::ALL {
        assert!(
            told.contains(&format!("| `{format}` |")),
            "{format} is not told"
        );
    }
}

/// The event of the library has the members that readers produce, no more and no fewer, in the same order.
#[test]
fn the_library_declares_the_canonical_event() {
    let spec = "use std.agent\nproperty p = never kind == \"x\"\n";
    let limits = guard_lang::check::Limits::default();
    let checked = guard_lang::front("a.guard", spec, &guard_lang::modules::NoFiles, limits);
    let fields = checked.spec.unwrap().schema.fields;
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, guard_lang::input::formats::MEMBERS);
}
