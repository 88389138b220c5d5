//! The steps of a counterexample: one column per field, or one block per step if the columns do not fit.

use std::io::{self, Write};

use smol_str::SmolStr;

use super::COLUMNS;
use crate::inert::inert;
use crate::report::Paint;
use crate::report::text::{cut, pad, pad_left, width, wrap};
use crate::verdict::Evidence;

/// The greatest width of a value in a table, in columns.
pub(super) const VALUE: usize = 30;

/// Writes steps as evidence, indented by `margin` columns, with `…` for omitted steps.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_steps(
    out: &mut impl Write,
    paint: Paint,
    margin: usize,
    evidence: &[Evidence],
) -> io::Result<()> {
    if evidence.is_empty() {
        return Ok(());
    }
    let table = Table::new(evidence);
    if margin + table.width() <= COLUMNS {
        table.write(out, paint, margin)
    } else {
        blocks(out, paint, margin, evidence)
    }
}

/// One row per step.
struct Table {
    head: Vec<String>,
    widths: Vec<usize>,
    rows: Vec<(u32, Vec<String>)>,
}

impl Table {
    fn new(evidence: &[Evidence]) -> Table {
        let mut fields: Vec<&SmolStr> = Vec::new();
        for (field, _) in evidence.iter().flat_map(|step| &step.fields) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        // Without letters (as in steps of a test) there is no column for them.
        let lettered = evidence.iter().any(|step| !step.letters.is_empty());
        let head: Vec<String> = std::iter::once("step")
            .chain(fields.iter().map(|field| field.as_str()))
            .chain(lettered.then_some("true there"))
            .map(str::to_owned)
            .collect();
        let rows: Vec<(u32, Vec<String>)> = evidence
            .iter()
            .map(|step| {
                let value = |field: &SmolStr| {
                    let found = step.fields.iter().find(|(name, _)| name == field);
                    found.map_or_else(String::new, |(_, value)| cut(&inert(value), VALUE))
                };
                let mut row = vec![step.step.to_string()];
                row.extend(fields.iter().map(|field| value(field)));
                row.extend(lettered.then(|| letters(step)));
                (step.step, row)
            })
            .collect();
        let widths = (0..head.len())
            .map(|column| {
                rows.iter()
                    .map(|(_, row)| row)
                    .chain(std::iter::once(&head))
                    .filter_map(|row| row.get(column))
                    .map(|text| width(text))
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        Table { head, widths, rows }
    }

    fn width(&self) -> usize {
        self.widths.iter().map(|width| width + 2).sum::<usize>()
    }

    fn line(&self, row: &[String], last: impl Fn(&str) -> String) -> String {
        let mut line = String::new();
        for (column, (text, width)) in row.iter().zip(&self.widths).enumerate() {
            if column == 0 {
                line.push_str(&pad_left(text, *width));
            } else if column + 1 == row.len() {
                line.push_str("  ");
                line.push_str(&last(text));
            } else {
                line.push_str("  ");
                line.push_str(&pad(text, *width));
            }
        }
        line.trim_end().to_owned()
    }

    fn write(&self, out: &mut impl Write, paint: Paint, margin: usize) -> io::Result<()> {
        let indent = " ".repeat(margin);
        writeln!(
            out,
            "{indent}{}",
            paint.quiet(&self.line(&self.head, str::to_owned))
        )?;
        let mut next = None;
        for (step, row) in &self.rows {
            if next.is_some_and(|next| next != *step) {
                let column = self.widths.first().copied().unwrap_or(1);
                writeln!(out, "{indent}{}", paint.quiet(&pad_left("…", column)))?;
            }
            writeln!(
                out,
                "{indent}{}",
                self.line(row, |letters| paint.point(letters))
            )?;
            next = step.checked_add(1);
        }
        Ok(())
    }
}

/// Writes a few lines per step.
fn blocks(
    out: &mut impl Write,
    paint: Paint,
    margin: usize,
    evidence: &[Evidence],
) -> io::Result<()> {
    let indent = " ".repeat(margin);
    let mut next = None;
    for step in evidence {
        if next.is_some_and(|next| next != step.step) {
            writeln!(out, "{indent}{}", paint.quiet("…"))?;
        }
        writeln!(
            out,
            "{indent}{}",
            paint.quiet(&format!("step {}", step.step))
        )?;
        let names = step
            .fields
            .iter()
            .map(|(name, _)| width(name))
            .max()
            .unwrap_or(0);
        for (name, value) in &step.fields {
            let room = COLUMNS.saturating_sub(margin + names + 5).max(20);
            let value = cut(&inert(value), room);
            writeln!(out, "{indent}  {} = {value}", pad(name, names))?;
        }
        for (idx, line) in wrap(&letters(step), COLUMNS - margin - 8)
            .iter()
            .enumerate()
        {
            let label = if idx == 0 { "true:" } else { "     " };
            writeln!(out, "{indent}  {label} {}", paint.point(line))?;
        }
        next = step.step.checked_add(1);
    }
    Ok(())
}

fn letters(step: &Evidence) -> String {
    if step.letters.is_empty() {
        return "–".to_owned();
    }
    // The text of a letter may extend over several lines of the spec.
    let letters: Vec<String> = step
        .letters
        .iter()
        .map(|letter| letter.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    letters.join(", ")
}
