//! Results of verifying systems: tables of runs as text, and JSON Lines.

use std::io::{self, Write};

use serde_json::{Map, Value as Json, json};
use unicode_width::UnicodeWidthStr;

use super::Paint;
use crate::system::{Method, Plain, Shown, Step, Verdict};

/// The greatest number of rows of a run that are shown at each of its ends.
const ROWS: usize = 40;

/// Writes one verdict as text.
///
/// # Errors
/// If writing fails.
pub fn human(
    out: &mut dyn Write,
    paint: Paint,
    verdict: &Verdict,
    all_states: bool,
) -> io::Result<()> {
    let word = match (verdict.holds, &verdict.method) {
        (Some(true), _) => paint.good("holds"),
        (Some(false), _) => paint.bad("fails"),
        (None, Method::Trusted) => paint.open("not proved"),
        (None, _) => match verdict.value {
            Some([value, ..]) if verdict.satisfying.is_none() => {
                paint.name(&verdict_text(verdict, value))
            }
            _ if verdict.property.is_empty() => paint.quiet("explored"),
            _ => paint.open("undecided: too close to the threshold"),
        },
    };
    let name = match verdict.property.as_str() {
        "" => paint.name(&verdict.system),
        property => format!("{} on {}", paint.name(property), verdict.system),
    };
    writeln!(out, "{name}: {word} {}", paint.quiet(&size(verdict)))?;
    if !verdict.text.is_empty() {
        writeln!(out, "  {}", paint.quiet(&verdict.text))?;
    }
    if let Method::Composed { by, circular } = &verdict.method {
        let on = match by.as_slice() {
            [] => "by itself, independently of the other components".to_owned(),
            by => format!("by {}", by.join(", ")),
        };
        let step = if *circular {
            ", each by induction over the guarantees of the others up to the previous step"
        } else {
            ""
        };
        writeln!(out, "  proved {on}{step}")?;
    }
    if let (Some(_), Some([value, low, high])) = (verdict.holds, verdict.value) {
        let between = match high - low > 1e-15 {
            true => format!(", between {} and {}", number(low), number(high)),
            false => String::new(),
        };
        writeln!(out, "  value: {}{between}", verdict_text(verdict, value))?;
    }
    for reason in &verdict.refused {
        writeln!(
            out,
            "  {} {reason}",
            paint.open("compositional proof not applicable:")
        )?;
        writeln!(out, "  model-checked the whole composition instead")?;
    }
    if let Some(run) = &verdict.run {
        shown(out, paint, verdict, run)?;
    }
    for trusted in &verdict.trusted {
        writeln!(out, "  {} {trusted}", paint.open("trusted:"))?;
    }
    if let (true, Some(states)) = (all_states, &verdict.satisfying) {
        writeln!(
            out,
            "  satisfied in {} of {} states:",
            states.len(),
            verdict.states
        )?;
        for state in states {
            writeln!(out, "    {}", valuation(&verdict.variables, state))?;
        }
    }
    Ok(())
}

/// Writes the deadlocks of a system, if there are any.
///
/// # Errors
/// If writing fails.
pub fn deadlocks(out: &mut dyn Write, paint: Paint, verdict: &Verdict) -> io::Result<()> {
    let Some(run) = &verdict.deadlock else {
        return Ok(());
    };
    let states = match verdict.deadlocks {
        1 => "1 state has".to_owned(),
        n => format!("{n} states have"),
    };
    writeln!(
        out,
        "{} {states} no enabled command in {}; a run that reaches it stays there forever:",
        paint.open("deadlock:"),
        paint.name(&verdict.system)
    )?;
    table(out, paint, verdict, run, &[])
}

/// Returns the number of a verdict: a fraction with the nearest double, or only the double.
fn verdict_text(verdict: &Verdict, value: f64) -> String {
    match &verdict.exact {
        Some(exact) if *exact != number(value) => format!("{exact} (about {})", number(value)),
        _ => number(value),
    }
}

fn number(value: f64) -> String {
    match value.is_infinite() {
        true => "infinite".to_owned(),
        false => format!("{value}"),
    }
}

fn size(verdict: &Verdict) -> String {
    if verdict.states == 0 {
        return format!("({})", verdict.logic.as_str());
    }
    let more = if verdict.complete { "" } else { "at least " };
    let s = |n: usize| if n == 1 { "" } else { "s" };
    format!(
        "({}, {more}{} state{}, {} transition{})",
        verdict.logic.as_str(),
        verdict.states,
        s(verdict.states),
        verdict.transitions,
        s(verdict.transitions)
    )
}

fn shown(out: &mut dyn Write, paint: Paint, verdict: &Verdict, run: &Shown) -> io::Result<()> {
    let shows = match run.is_counterexample {
        true => "a run that shows the violation:",
        false => "for example:",
    };
    writeln!(out, "  {shows}")?;
    // If a prefix decides, the rest of the run is irrelevant.
    match run.bad_prefix {
        Some(length) if length <= run.stem.len() => {
            table(out, paint, verdict, &run.stem[..length], &[])
        }
        Some(length) => {
            let all: Vec<Step> = run
                .stem
                .iter()
                .chain(&run.cycle)
                .take(length)
                .cloned()
                .collect();
            table(out, paint, verdict, &all, &[])
        }
        None => table(out, paint, verdict, &run.stem, &run.cycle),
    }
}

/// Returns a run as a table: the command taken into each state, and the values that it changed.
fn table(
    out: &mut dyn Write,
    paint: Paint,
    verdict: &Verdict,
    stem: &[Step],
    cycle: &[Step],
) -> io::Result<()> {
    let steps: Vec<&Step> = stem.iter().chain(cycle).collect();
    let mut head = vec!["step".to_owned(), "command".to_owned()];
    head.extend(verdict.variables.iter().cloned());
    let mut rows: Vec<Vec<(String, bool)>> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| steps.get(before));
        let command = before.map_or(String::new(), |before| before.commands.join(" or "));
        let mut row = vec![(at.to_string(), false), (command, false)];
        for (place, value) in step.values.iter().enumerate() {
            let changed = before.is_some_and(|before| before.values.get(place) != Some(value));
            row.push((value.to_string(), changed));
        }
        rows.push(row);
    }
    let width = |column: usize| {
        let cells = rows
            .iter()
            .filter_map(|row| row.get(column))
            .map(|(text, _)| text.width());
        cells
            .chain(head.get(column).map(|text| text.width()))
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let pad =
        |text: &str, column: usize| " ".repeat(widths[column].saturating_sub(text.width()) + 2);
    let line: String = head
        .iter()
        .enumerate()
        .map(|(at, text)| format!("{text}{}", pad(text, at)))
        .collect();
    writeln!(out, "      {}", paint.quiet(line.trim_end()))?;
    let left_out = rows.len().saturating_sub(2 * ROWS);
    for (at, row) in rows.iter().enumerate() {
        if left_out > 0 && at == ROWS {
            writeln!(out, "      … {left_out} steps …")?;
        }
        if left_out > 0 && (ROWS..ROWS + left_out).contains(&at) {
            continue;
        }
        let frame = match at {
            _ if cycle.is_empty() || at < stem.len() => " ",
            at if at == stem.len() && at + 1 == rows.len() => "↻",
            at if at == stem.len() => "┌",
            at if at + 1 == rows.len() => "└",
            _ => "│",
        };
        let mut text = String::new();
        for (column, (cell, changed)) in row.iter().enumerate() {
            let shown = if *changed {
                paint.point(cell)
            } else {
                cell.clone()
            };
            text.push_str(&shown);
            if column + 1 < row.len() {
                text.push_str(&pad(cell, column));
            }
        }
        writeln!(out, "    {} {}", paint.quiet(frame), text.trim_end())?;
    }
    if let (Some(last), Some(first)) = (cycle.last(), cycle.first()) {
        let by = match last.commands.join(" or ") {
            command if command.is_empty() => String::new(),
            command => format!(", by {command}"),
        };
        let stays = cycle.len() == 1 && last.values == first.values && last.commands.is_empty();
        let again = match stays {
            true => "stays there forever".to_owned(),
            false => format!("repeats from step {} on{by}", stem.len()),
        };
        writeln!(out, "      {}", paint.quiet(&again))?;
    }
    Ok(())
}

fn valuation(names: &[String], values: &[Plain]) -> String {
    let parts: Vec<String> = names
        .iter()
        .zip(values)
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    parts.join(", ")
}

/// Returns one verdict as a JSON object; `ms` is the time it took.
pub fn json(verdict: &Verdict, all_states: bool, ms: u128) -> Json {
    let state = |values: &Vec<Plain>| object(&verdict.variables, values);
    let mut line = Map::new();
    let mut put = |key: &str, value: Json| {
        line.insert(key.to_owned(), value);
    };
    put("v", json!(1));
    let property = match verdict.property.as_str() {
        "" => Json::Null,
        property => json!(property),
    };
    put("property", property);
    put("system", json!(verdict.system));
    put("logic", json!(verdict.logic.as_str()));
    put("holds", json!(verdict.holds));
    put("states", json!(verdict.states));
    put("transitions", json!(verdict.transitions));
    if let Some([value, lower, upper]) = verdict.value {
        let number = |value: f64| match value.is_infinite() {
            true => json!("inf"),
            false => json!(value),
        };
        put("value", number(value));
        put("lower", number(lower));
        put("upper", number(upper));
    }
    if let Some(exact) = &verdict.exact {
        put("exact", json!(exact));
    }
    if let (true, Some(states)) = (all_states, &verdict.satisfying) {
        put("sat_states", states.iter().map(state).collect());
    }
    if let Some(run) = &verdict.run {
        let side = |steps: &[Step]| {
            steps
                .iter()
                .map(|step| state(&step.values))
                .collect::<Vec<Json>>()
        };
        let commands = |steps: &[Step]| {
            steps
                .iter()
                .map(|step| json!(step.commands))
                .collect::<Vec<Json>>()
        };
        let shown = json!({
            "stem": side(&run.stem),
            "loop": side(&run.cycle),
            "commands": { "stem": commands(&run.stem), "loop": commands(&run.cycle) },
        });
        put(
            if run.is_counterexample {
                "counterexample"
            } else {
                "witness"
            },
            shown,
        );
    }
    if verdict.deadlocks > 0 {
        put("deadlocks", json!(verdict.deadlocks));
    }
    if let Method::Composed { by, circular } = &verdict.method {
        put("proved_by", json!(by));
        put("circular", json!(circular));
    }
    if !verdict.trusted.is_empty() {
        put("trusted", json!(verdict.trusted));
    }
    if !verdict.refused.is_empty() {
        put("refused", json!(verdict.refused));
    }
    put("ms", json!(ms));
    Json::Object(line)
}

fn object(names: &[String], values: &[Plain]) -> Json {
    let members = names.iter().zip(values).map(|(name, value)| {
        let value = match value {
            Plain::Null => Json::Null,
            Plain::Bool(value) => json!(value),
            Plain::Int(value) => json!(value),
            Plain::Name(name) => json!(name.as_str()),
        };
        (name.clone(), value)
    });
    Json::Object(members.collect())
}
