//! The closing table, and the counts of the input.

use std::io::{self, Write};

use super::Paint;
use crate::report::text::{cut, number, pad, pad_left, plural, width};
use crate::report::{Counts, Headings, Summary};

/// The width of a property's name, in columns.
const NAME: usize = 34;

/// A column of counts: its heading and its value.
type Column = (&'static str, fn(&Counts) -> u64);

pub(super) fn write(
    out: &mut impl Write,
    paint: Paint,
    headings: &Headings,
    summary: &Summary,
) -> io::Result<()> {
    let rows: Vec<_> = headings
        .properties
        .iter()
        .zip(&summary.properties)
        .collect();
    let all: [Column; 6] = [
        ("satisfied", |counts| counts.satisfied),
        ("violated", |counts| counts.violated),
        ("so far", |counts| counts.presumably_satisfied),
        ("open", |counts| counts.presumably_violated),
        ("unknown", |counts| counts.unknown),
        ("vacuous", |counts| counts.vacuous),
    ];
    // The two columns for incomplete traces are shown only if there are any.
    let partial = rows
        .iter()
        .any(|(_, counts)| counts.presumably_satisfied + counts.presumably_violated > 0);
    let columns: Vec<Column> = all
        .into_iter()
        .filter(|(head, _)| partial || !matches!(*head, "so far" | "open"))
        .collect();
    let names = rows
        .iter()
        .map(|(heading, _)| width(&heading.name))
        .max()
        .unwrap_or(0);
    let names = names.clamp(width("property"), NAME);

    let mut head = pad("property", names);
    for (title, _) in &columns {
        head.push_str(&format!("  {}", pad_left(title, 9)));
    }
    head.push_str("  violation rate [95 %]");
    writeln!(out, "{}", paint.quiet(&head))?;
    for (heading, counts) in &rows {
        let name = pad(&cut(&heading.name, names), names);
        let mut line = if counts.violated > 0 {
            paint.bad(&name)
        } else {
            name
        };
        for (title, count) in &columns {
            let count = count(counts);
            let text = pad_left(&number(count), 9);
            let text = match *title {
                _ if count == 0 => paint.quiet(&text),
                "violated" => paint.bad(&text),
                "satisfied" => paint.good(&text),
                "unknown" | "open" => paint.open(&text),
                _ => text,
            };
            line.push_str(&format!("  {text}"));
        }
        line.push_str(&format!("  {}", rate(counts)));
        writeln!(out, "{line}")?;
    }
    if partial {
        let note = "so far: satisfied if the trace ended now; open: violated if it ended now (presumably_*)";
        writeln!(out, "{}", paint.quiet(note))?;
    }
    for (heading, counts) in &rows {
        if counts.vacuous > 0 && counts.vacuous == counts.all() {
            let note = format!(
                "note: {} was never tested: the events it is about occurred in no trace",
                heading.name
            );
            writeln!(out, "{}", paint.open(&note))?;
        }
    }
    writeln!(out)?;
    closing(out, paint, summary)
}

fn closing(out: &mut impl Write, paint: Paint, summary: &Summary) -> io::Result<()> {
    let input = &summary.input;
    let mut line = format!(
        "{}, {}",
        plural(summary.traces, "trace", "traces"),
        plural(summary.events, "step", "steps")
    );
    if input.files > 0 {
        line.push_str(&format!(" in {}", plural(input.files, "file", "files")));
    }
    line.push_str(": ");
    line.push_str(&match summary.violating {
        0 if summary.traces == 0 => paint.open("nothing was checked"),
        0 => paint.good("no violation"),
        count => paint.bad(&plural(
            count,
            "trace has a violation",
            "traces have violations",
        )),
    });
    writeln!(out, "{line}")?;
    if input.lines > 0 {
        let join = |all: &[(u64, &str, &str)]| {
            let parts = all
                .iter()
                .filter(|(count, ..)| *count > 0)
                .map(|(count, one, many)| plural(*count, one, many));
            parts.collect::<Vec<_>>().join(" + ")
        };
        let lines = join(&[
            (input.read, "read", "read"),
            (input.left_out, "left out", "left out"),
            (input.refused, "not readable", "not readable"),
            (input.between, "between records", "between records"),
        ]);
        let found = join(&[
            (input.records, "whole trace", "whole traces"),
            (input.events, "single event", "single events"),
            (input.ends, "end", "ends"),
        ]);
        let mut account = format!("{} = {lines}", plural(input.lines, "line", "lines"));
        if !found.is_empty() {
            account.push_str(&format!("; found {found}"));
        }
        writeln!(out, "{}", paint.quiet(&account))?;
    }
    let errors = summary.errors();
    if errors > 0 {
        let kinds: Vec<String> = summary
            .problems
            .iter()
            .filter(|(kind, _)| kind.is_error())
            .map(|(kind, count)| {
                format!(
                    "{} {}",
                    number(*count),
                    crate::report::problems::kind_words(*kind)
                )
            })
            .collect();
        let text = format!(
            "{} in the data: {}",
            plural(errors, "problem", "problems"),
            kinds.join(", ")
        );
        writeln!(out, "{}", paint.bad(&text))?;
    }
    Ok(())
}

/// Formats the rate as `6.7 % [1.8, 21.3]`.
fn rate(counts: &Counts) -> String {
    let Some(rate) = counts.rate() else {
        return "–".to_owned();
    };
    let (low, high) = counts.wilson95();
    let percent = |x: f64| format!("{:.1}", x * 100.0);
    format!(
        "{} % [{}, {}]",
        pad_left(&percent(rate), 5),
        percent(low),
        percent(high)
    )
}
