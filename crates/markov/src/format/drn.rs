//! Reads and writes Storm's DRN files.

use std::collections::HashMap;

use super::super::chain::{Chain, ChainBuilder, ChainError, Rewards};
use super::super::scalar::Scalar;
use super::super::text::{TextError, TextPosition};
use super::Imported;
use super::fields::{Fields, lines};

/// Reads a chain.
///
/// # Errors
/// Syntax errors, models other than discrete-time Markov chains, and parameters without values.
pub fn read_drn<V: Scalar>(text: &str) -> Result<Imported<V>, TextError> {
    let mut all = lines(text, "//");
    let mut count = None;
    let mut is_chain = false;
    // The header: entries that begin with `@`, some of which have their value on the next line.
    let mut entry = String::new();
    let mut placeholders = HashMap::new();
    for line in all.by_ref() {
        let whole = line.line();
        if whole == "@model" {
            break;
        }
        if !whole.starts_with('@') {
            match entry.as_str() {
                "@parameters" => {
                    return Err(line
                        .error(format!("the parameters `{whole}` have no values"))
                        .help("instantiate parameters before exporting the file"));
                }
                // `reward_names` reads this line, where the blanks are significant.
                "@reward_models" => {}
                "@nr_states" => count = Some(whole_number(whole, line.place())?),
                "@nr_choices" => {}
                "@placeholders" => {
                    let (name, value) = placeholder(&line)?;
                    placeholders.insert(name, value);
                    continue;
                }
                _ => return Err(line.error(format!("unexpected `{whole}` before `@model`"))),
            }
            entry.clear();
            continue;
        }
        match whole
            .split_once(':')
            .map(|(key, value)| (key, value.trim()))
        {
            Some(("@type", kind)) if kind.eq_ignore_ascii_case("dtmc") => is_chain = true,
            Some(("@type", kind)) => {
                return Err(line
                    .error(format!("unsupported model type `{kind}`: expected `DTMC`"))
                    .help("a model with actions is a chain once each state has one action: export it under a scheduler"));
            }
            // A parametric model is rejected at its list of parameters; if that is empty, its numbers are fractions.
            Some(("@value_type", "double" | "rational" | "parametric")) => {}
            Some(("@value_type", kind)) => {
                return Err(line
                    .error(format!("unsupported value type `{kind}`"))
                    .help("supported value types: double, rational"));
            }
            _ => whole.clone_into(&mut entry),
        }
    }
    if !is_chain {
        return Err(TextError::new(
            TextPosition::line(1),
            "missing `@type: DTMC`",
        ));
    }
    let mut reading = DrnReader::<V>::new(reward_names(text), placeholders);
    for line in all {
        reading.line(line)?;
    }
    reading.close_row()?;
    reading.finish(count)
}

/// Reads `$name : value`.
fn placeholder<V: Scalar>(line: &Fields<'_>) -> Result<(String, V), TextError> {
    let whole = line.line();
    let parts = whole
        .split_once(':')
        .map(|(name, value)| (name.trim(), value.trim()));
    let Some((name, value)) = parts.filter(|(name, _)| name.starts_with('$')) else {
        return Err(line.error(format!("expected `$name : value`, found `{whole}`")));
    };
    let number = V::parse(value).ok_or_else(|| no_number(value, line.place()))?;
    Ok((name.to_owned(), number))
}

fn no_number(text: &str, place: TextPosition) -> TextError {
    let error = TextError::new(place, format!("expected a finite number, found `{text}`"));
    match text.starts_with('[') {
        true => {
            error.help("intervals of probabilities are read from PRISM's explicit files (`.tra`)")
        }
        false => error.help("instantiate parameters before exporting the file"),
    }
}

/// Returns the names of the reward structures. Storm writes a blank after each of them, so a structure without a name is a
/// blank alone: `"steps  "` is one called `steps` and one without a name.
fn reward_names(text: &str) -> Vec<String> {
    let mut lines = text
        .lines()
        .skip_while(|line| line.trim() != "@reward_models");
    let names = lines
        .nth(1)
        .filter(|line| !line.starts_with('@'))
        .unwrap_or_default();
    match names.trim_end_matches('\r').strip_suffix(' ') {
        Some(names) => names.split(' ').map(str::to_owned).collect(),
        None => names.split_whitespace().map(str::to_owned).collect(),
    }
}

fn whole_number(text: &str, place: TextPosition) -> Result<u64, TextError> {
    text.parse().map_err(|_| {
        TextError::new(
            place,
            format!("expected a number of states, found `{text}`"),
        )
    })
}

struct DrnReader<V> {
    builder: ChainBuilder<V>,
    /// The numbers that stand elsewhere by their names (`$0`).
    placeholders: HashMap<String, V>,
    open: bool,
    place: TextPosition,
    /// The greatest number of a state that a transition leads to, and the position of that transition.
    furthest: Option<(u32, TextPosition)>,
    rewards: Vec<Rewards<V>>,
    labels: Vec<(String, Vec<u32>)>,
    actions: usize,
}

impl<V: Scalar> DrnReader<V> {
    fn new(names: Vec<String>, placeholders: HashMap<String, V>) -> DrnReader<V> {
        DrnReader {
            builder: ChainBuilder::default(),
            placeholders,
            open: false,
            place: TextPosition::line(1),
            furthest: None,
            rewards: names
                .into_iter()
                .map(|name| Rewards {
                    name,
                    state: Vec::new(),
                    step: Vec::new(),
                })
                .collect(),
            labels: Vec::new(),
            actions: 0,
        }
    }

    fn line(&mut self, mut line: Fields<'_>) -> Result<(), TextError> {
        let place = line.place();
        let whole = line.line();
        match line.next() {
            Some("state") => {
                self.close_row()?;
                self.place = place;
                self.open = true;
                self.actions = 0;
                self.state(line)
            }
            Some("action") => {
                self.actions += 1;
                if self.actions > 1 || !self.open {
                    return Err(TextError::new(
                        place,
                        "more than one action in a state: a chain has one action per state",
                    ));
                }
                let _name = line.next();
                let rewards = self.values(&mut line)?;
                for (structure, value) in self.rewards.iter_mut().zip(rewards) {
                    structure.step.push(value);
                }
                Ok(())
            }
            Some(_) if self.open => {
                let Some((target, probability)) = whole.split_once(':') else {
                    return Err(TextError::new(place, "expected `target : probability`"));
                };
                let target = target.trim().parse::<u32>().map_err(|_| {
                    TextError::new(
                        place,
                        format!("expected a state, found `{}`", target.trim()),
                    )
                })?;
                let probability = probability.trim();
                let value = self.number(probability);
                let value = value.ok_or_else(|| no_number(probability, place))?;
                if self.furthest.is_none_or(|(furthest, _)| furthest < target) {
                    self.furthest = Some((target, place));
                }
                self.builder.transition(target, value);
                Ok(())
            }
            _ => Err(TextError::new(place, "expected `state 0`")),
        }
    }

    /// Returns the number that a text is, or stands for.
    fn number(&self, text: &str) -> Option<V> {
        match text.starts_with('$') {
            true => self.placeholders.get(text).cloned(),
            false => V::parse(text),
        }
    }

    /// Reads `state N [rewards] label …`; the name of a label may be quoted.
    fn state(&mut self, mut line: Fields<'_>) -> Result<(), TextError> {
        let place = line.place();
        let number = line.int("the number of a state")?;
        if number != self.builder.len() as u64 {
            return Err(TextError::new(
                place,
                format!(
                    "expected state {}, found state {number}",
                    self.builder.len()
                ),
            ));
        }
        if line.rest().starts_with('!') {
            return Err(line.error("exit rates are only supported by continuous-time models"));
        }
        if let Some((observation, _)) = line
            .rest()
            .strip_prefix('{')
            .and_then(|rest| rest.split_once('}'))
        {
            return Err(line.error(format!(
                "the observation {observation} of state {number}: observations are only supported by partially observable models"
            )));
        }
        let rewards = self.values(&mut line)?;
        for (structure, value) in self.rewards.iter_mut().zip(rewards) {
            structure.state.push(value);
        }
        let mut rest = line.rest();
        while !rest.is_empty() {
            let (label, after) = match rest.strip_prefix('"') {
                Some(quoted) => quoted
                    .split_once('"')
                    .ok_or_else(|| line.error("missing closing quote of a label"))?,
                None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
            };
            match self.labels.iter_mut().find(|known| known.0 == label) {
                Some(known) => known.1.push(number as u32),
                None => self.labels.push((label.to_owned(), vec![number as u32])),
            }
            rest = after.trim_start();
        }
        Ok(())
    }

    /// Reads `[a, b]`, one value for each reward structure; all zero if absent.
    fn values(&mut self, line: &mut Fields<'_>) -> Result<Vec<V>, TextError> {
        let rest = line.rest();
        let Some(inside) = rest.strip_prefix('[') else {
            return Ok(vec![V::zero(); self.rewards.len()]);
        };
        let Some((list, _)) = inside.split_once(']') else {
            return Err(line.error("missing `]` after a list of rewards"));
        };
        let values: Option<Vec<V>> = list
            .split(',')
            .map(str::trim)
            .filter(|value| !value.is_empty())
            .map(|value| self.number(value))
            .collect();
        let values = values.ok_or_else(|| {
            line.error(format!(
                "expected a list of finite numbers, found `[{list}]`"
            ))
        })?;
        if let Some(negative) = values.iter().find(|value| **value < V::zero()) {
            return Err(line.error(format!(
                "unsupported reward {}: expected a finite number of at least 0",
                negative.text()
            )));
        }
        if self.rewards.is_empty() && self.builder.is_empty() && values.len() == 1 {
            // One structure without a name, whose trailing blank an editor has removed.
            self.rewards.push(Rewards {
                name: String::new(),
                state: Vec::new(),
                step: Vec::new(),
            });
        }
        if values.len() != self.rewards.len() {
            return Err(line.error(format!(
                "{} rewards given for {} reward models",
                values.len(),
                self.rewards.len()
            )));
        }
        // Continues after the bracket, which may follow the preceding field without a blank.
        while let Some(field) = line.next() {
            if field.contains(']') {
                break;
            }
        }
        Ok(values)
    }

    fn close_row(&mut self) -> Result<(), TextError> {
        if !self.open {
            return Ok(());
        }
        for structure in &mut self.rewards {
            structure.step.resize(self.builder.len() + 1, V::zero());
        }
        self.open = false;
        self.builder
            .end_row()
            .map_err(|wrong| TextError::new(self.place, wrong.to_string()))
    }

    fn finish(self, count: Option<u64>) -> Result<Imported<V>, TextError> {
        let states = self.builder.len();
        if let Some(count) = count.filter(|&count| count != states as u64) {
            return Err(TextError::new(
                self.place,
                format!("expected {count} states, found {states}"),
            ));
        }
        if let Some((state, place)) = self.furthest
            && state as usize >= states
        {
            let state = u64::from(state);
            let wrong = ChainError::NoState { state, states };
            return Err(TextError::new(place, wrong.to_string()));
        }
        let deadlocks = self.builder.deadlocks().len();
        let at = |wrong: ChainError| TextError::new(TextPosition::line(1), wrong.to_string());
        let initial = self
            .labels
            .iter()
            .find(|label| label.0 == "init")
            .map_or(Vec::new(), |label| label.1.clone());
        let mut chain: Chain<V> = self.builder.finish(initial, None).map_err(at)?;
        for (name, states) in self.labels {
            let mut set = chain.graph().set(states);
            if name == "deadlock"
                && let Some(found) = chain.label("deadlock")
            {
                set.union_with(found);
            }
            chain.add_label(&name, set);
        }
        for mut rewards in self.rewards {
            if rewards.step.iter().all(Scalar::is_zero) {
                rewards.step.clear();
            }
            chain.add_rewards(rewards).map_err(at)?;
        }
        Ok(Imported { chain, deadlocks })
    }
}

/// Returns a chain in the DRN format.
pub fn write_drn<V: Scalar>(chain: &Chain<V>) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    let kind = if V::EXACT { "rational" } else { "double" };
    // Like Storm, writes a blank after each name, so that a structure without a name is kept.
    let names: String = chain
        .rewards()
        .iter()
        .map(|rewards| rewards.name.replace(char::is_whitespace, "_") + " ")
        .collect();
    let _ = writeln!(
        text,
        "// Exported by guard\n@type: DTMC\n@value_type: {kind}\n@parameters\n\n@reward_models\n{}\n@nr_states\n{}\n@nr_choices\n{}\n@model",
        names,
        chain.len(),
        chain.len()
    );
    let list = |values: &dyn Fn(&Rewards<V>) -> Option<V>| {
        let values: Vec<String> = chain
            .rewards()
            .iter()
            .map(|rewards| values(rewards).unwrap_or(V::zero()).text())
            .collect();
        if values.is_empty() {
            String::new()
        } else {
            format!(" [{}]", values.join(", "))
        }
    };
    for state in 0..chain.len() {
        let _ = write!(
            text,
            "state {state}{}",
            list(&|rewards| rewards.state.get(state).cloned())
        );
        for (name, _) in chain.labels().filter(|(_, set)| set.contains(state)) {
            if name.contains(char::is_whitespace) {
                let _ = write!(text, " \"{name}\"");
            } else {
                let _ = write!(text, " {name}");
            }
        }
        let _ = writeln!(
            text,
            "\n\taction 0{}",
            list(&|rewards| rewards.step.get(state).cloned())
        );
        for (target, probability) in chain.row(state as u32) {
            let _ = writeln!(text, "\t\t{target} : {}", probability.text());
        }
    }
    text
}
