//! Markov chains: states coloured by risk, transitions labelled by probability.

use std::collections::BTreeSet;

use maud::html;

use super::graph::{Edge, Node, Shape};
use super::layers::layers;
use super::{Picture, breadth, label, px, share, text};
use crate::report::text::{number, wrap};

/// A chain for drawing.
#[derive(Clone, Debug)]
pub struct ChainDrawing {
    /// The names of the states.
    pub names: Vec<String>,
    /// The state in which runs begin.
    pub start: u32,
    /// Transitions: from, to, probability.
    pub edges: Vec<(u32, u32, f64)>,
    /// The event of the numbers: "the event" of the formula, or "the opposite".
    pub event: &'static str,
    /// By state: the probability of the event from there, if it is finite.
    pub risk: Vec<Option<f64>>,
    /// By state: whether the event has happened.
    pub reached: Vec<bool>,
    /// The likeliest paths to the event: probability, states.
    pub paths: Vec<(f64, Vec<u32>)>,
}

/// The greatest number of states that are drawn. Of a larger chain, the states that contribute most to the risk are
/// drawn.
const STATES: usize = 60;
/// The number of steps of the walk that weights states.
const WALK: usize = 60;
/// States with this risk or more, in which the event has not happened, are points of no return, as in `guard calibrate`.
const NO_RETURN: f64 = 0.85;
/// The greatest width of a line of a name, in columns, and the greatest number of lines.
const NAME: (usize, usize) = (24, 4);
/// The lower ends of the classes of risk.
const LEVELS: [f64; 4] = [0.05, 0.2, 0.5, NO_RETURN];
/// The greatest number of rows of the table of a large chain.
const ROWS: usize = 500;

/// Draws a chain. For a large one it draws the states of the likeliest paths to the event, and those with the most risk: visits
/// within sixty steps, times the probability of the event from there. The picture says how many are left out.
pub fn chain(title: &str, chain: &ChainDrawing) -> Picture {
    let kept = kept(chain);
    let place = |state: u32| kept.iter().position(|other| *other == state);
    let on_path: BTreeSet<(u32, u32)> = chain
        .paths
        .iter()
        .flat_map(|(_, path)| path.windows(2))
        .filter_map(|pair| Some((*pair.first()?, *pair.last()?)))
        .collect();
    let mut edges: Vec<(usize, usize, f64, bool)> = chain
        .edges
        .iter()
        .filter(|(from, to, probability)| *probability > 0.0 && from != to)
        .filter_map(|(from, to, probability)| {
            let is_path = on_path.contains(&(*from, *to));
            Some((place(*from)?, place(*to)?, *probability, is_path))
        })
        .collect();
    // States on the paths first, then the likeliest transition of each state, then all others.
    let likeliest = |(from, _, p, _): &(usize, usize, f64, bool)| {
        edges.iter().all(|(other, _, q, _)| other != from || q <= p)
    };
    let mut order: Vec<(bool, bool, f64, usize)> = edges
        .iter()
        .enumerate()
        .map(|(idx, edge)| (edge.3, likeliest(edge), edge.2, idx))
        .collect();
    order.sort_by(|a, b| {
        (b.0, b.1)
            .cmp(&(a.0, a.1))
            .then(b.2.total_cmp(&a.2))
            .then(a.3.cmp(&b.3))
    });
    let most = kept.len() * 3 / 2 + 8;
    let left_out = order.len().saturating_sub(most);
    order.truncate(most);
    let drawn: BTreeSet<usize> = order.iter().map(|one| one.3).collect();
    let mut idx = 0;
    edges.retain(|_| {
        idx += 1;
        drawn.contains(&(idx - 1))
    });
    let is_large = kept.len() < chain.names.len();
    let nodes: Vec<Node> = kept.iter().map(|state| node(chain, *state)).collect();
    let arrows: Vec<Edge> = edges
        .iter()
        .map(|(from, to, probability, is_path)| Edge {
            from: *from,
            to: *to,
            label: share(*probability),
            class: if *is_path { "path" } else { "" },
            width: 0.8 + 2.2 * probability,
        })
        .collect();
    let (body, wide, tall, without) = layers(&nodes, &arrows);
    let description = describe(chain, kept.len(), (left_out, without));
    let explained = LEGEND.iter().map(|(_, told)| entry_width(told));
    let width = wide.max(explained.sum());
    let mut head = text((8.0, 18.0), "start", Some("head"), &label(title, 96)).into_string();
    let mut top = 36.0;
    for line in wrap(&description, (width / 7.0) as usize) {
        head.push_str(&text((8.0, top), "start", Some("quiet"), &line).into_string());
        top += 16.0;
    }
    head.push_str(&legend(top + 2.0));
    top += 30.0;
    if is_large {
        for (probability, path) in &chain.paths {
            let names: Vec<&str> = path.iter().map(|state| name(chain, *state)).collect();
            let line = format!("{}  {}", share(*probability), names.join(" → "));
            let line = label(&line, (width / 7.0) as usize);
            head.push_str(&text((8.0, top), "start", None, &line).into_string());
            top += 16.0;
        }
    }
    let body = html! { g transform={ "translate(4 " (px(top)) ")" } { (maud::PreEscaped(&body)) } };
    Picture {
        width: width + 8.0,
        height: top + tall + 8.0,
        body: head + &body.into_string(),
        title: format!("{title}: chain"),
        description,
        is_described: true,
        table: (vec!["state", "risk", ""], rows(chain, &kept)),
    }
}

fn name(chain: &ChainDrawing, state: u32) -> &str {
    chain.names.get(state as usize).map_or("", String::as_str)
}

fn risk(chain: &ChainDrawing, state: u32) -> Option<f64> {
    chain.risk.get(state as usize).copied().flatten()
}

fn has_happened(chain: &ChainDrawing, state: u32) -> bool {
    chain.reached.get(state as usize).copied().unwrap_or(false)
}

fn is_point(chain: &ChainDrawing, state: u32) -> bool {
    !has_happened(chain, state) && risk(chain, state).is_some_and(|risk| risk >= NO_RETURN)
}

/// Returns a description of a special state.
fn mark(chain: &ChainDrawing, state: u32) -> &'static str {
    match (
        has_happened(chain, state),
        is_point(chain, state),
        state == chain.start,
    ) {
        (true, _, _) => "event has happened",
        (_, true, _) => "point of no return",
        (_, _, true) => "start",
        _ => "",
    }
}

fn node(chain: &ChainDrawing, state: u32) -> Node {
    let full = label(name(chain, state), 2_000);
    let risk = risk(chain, state);
    let told = risk.map_or_else(|| "no number".to_owned(), share);
    let stays = chain
        .edges
        .iter()
        .find(|(from, to, _)| (*from, *to) == (state, state));
    let mut lines: Vec<String> = full
        .split(", ")
        .flat_map(|part| wrap(part, NAME.0))
        .collect();
    if lines.len() > NAME.1 {
        lines.truncate(NAME.1);
        if let Some(last) = lines.last_mut() {
            last.push('…');
        }
    }
    let mut lines: Vec<String> = lines.iter().map(|line| label(line, NAME.0 + 2)).collect();
    let mut last = match mark(chain, state) {
        "event has happened" => format!("◆ {told}"),
        "point of no return" => format!("⊘ {told}"),
        "start" => format!("▶ {told}"),
        _ => told.clone(),
    };
    if let Some((_, _, probability)) = stays.filter(|(_, _, p)| *p > 0.0) {
        last.push_str(&format!("  ↻ {}", share(*probability)));
    }
    lines.push(last);
    let level = risk.map(|risk| LEVELS.iter().filter(|from| risk >= **from).count());
    let level = match (level, risk) {
        (None, _) => "",
        (Some(0), Some(risk)) if risk <= 0.0 => "r0",
        (Some(level), _) => ["r1", "r2", "r3", "r4", "r5"]
            .get(level)
            .copied()
            .unwrap_or("r5"),
    };
    let frame = match (is_point(chain, state), state == chain.start) {
        (true, _) => " point",
        (_, true) => " start",
        _ => "",
    };
    let mark = Some(mark(chain, state)).filter(|mark| !mark.is_empty());
    Node {
        shape: Shape::Box,
        lines,
        class: format!("{level}{frame}"),
        title: format!(
            "{full}: {told}{}",
            mark.map_or_else(String::new, |mark| format!(", {mark}"))
        ),
    }
}

fn describe(chain: &ChainDrawing, drawn: usize, (edges, without): (usize, usize)) -> String {
    let total = chain.names.len();
    let mut told = match total.saturating_sub(drawn) {
        0 => format!("{total} states."),
        _ => format!(
            "{drawn} of {} states: those on the likeliest paths to the event, and those that carry most of the risk.",
            number(total as u64)
        ),
    };
    if edges > 0 {
        told.push_str(&format!(
            " {} less likely transitions between them are not drawn.",
            number(edges as u64)
        ));
    }
    if without > 0 {
        told.push_str(&format!(" {without} labels had no room."));
    }
    told.push_str(&format!(
        " A state shows the probability of {} from there; ↻ is the probability of staying.",
        chain.event
    ));
    if !chain.paths.is_empty() {
        told.push_str(" Blue: the likeliest paths to the event.");
    }
    told
}

/// Returns the table: the riskiest states first.
fn rows(chain: &ChainDrawing, kept: &[u32]) -> Vec<Vec<String>> {
    let mut states: Vec<u32> = match chain.names.len() > ROWS {
        true => kept.to_vec(),
        false => (0..chain.names.len())
            .filter_map(|state| u32::try_from(state).ok())
            .collect(),
    };
    let key = |state: u32| risk(chain, state).unwrap_or(-1.0);
    states.sort_by(|a, b| key(*b).total_cmp(&key(*a)).then(a.cmp(b)));
    let row = |state: &u32| {
        vec![
            label(name(chain, *state), 200),
            risk(chain, *state).map_or_else(|| "no number".to_owned(), share),
            mark(chain, *state).to_owned(),
        ]
    };
    states.iter().map(row).collect()
}

/// The classes of states, and what they mean.
const LEGEND: [(&str, &str); 9] = [
    ("r0", "0"),
    ("r1", "below 0.05"),
    ("r2", "0.05 to 0.2"),
    ("r3", "0.2 to 0.5"),
    ("r4", "0.5 to 0.85"),
    ("r5", "0.85 or more"),
    ("start", "▶ start"),
    ("point", "⊘ point of no return"),
    ("r5", "◆ event"),
];

fn entry_width(told: &str) -> f64 {
    30.0 + breadth(told)
}

/// Returns the legend, below a line.
fn legend(top: f64) -> String {
    let mut x = 8.0;
    let mut out = String::new();
    for (class, told) in LEGEND {
        let drawn = html! {
            rect class={ "node " (class) } x=(px(x)) y=(px(top)) width="14" height="12" rx="2" {}
        };
        out.push_str(&drawn.into_string());
        // A group keeps the text from taking the colour of a text on the box.
        let told_at = text((x + 18.0, top + 10.0), "start", Some("quiet"), told);
        out.push_str(&html! { g { (told_at) } }.into_string());
        x += entry_width(told);
    }
    out
}

/// Returns the states that are drawn, in the order in which runs reach them.
fn kept(chain: &ChainDrawing) -> Vec<u32> {
    let count = chain.names.len();
    let mut next: Vec<Vec<(u32, f64)>> = vec![Vec::new(); count];
    for (from, to, probability) in &chain.edges {
        if let Some(row) = next.get_mut(*from as usize) {
            row.push((*to, *probability));
        }
    }
    let mut order: Vec<u32> = Vec::with_capacity(count);
    let mut seen = vec![false; count];
    let all = (0..count).filter_map(|state| u32::try_from(state).ok());
    for first in std::iter::once(chain.start).chain(all) {
        let mut queue = std::collections::VecDeque::from([first]);
        while let Some(state) = queue.pop_front() {
            let Some(seen) = seen.get_mut(state as usize).filter(|seen| !**seen) else {
                continue;
            };
            *seen = true;
            order.push(state);
            let mut row = next.get(state as usize).cloned().unwrap_or_default();
            row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            queue.extend(row.iter().map(|(to, _)| *to));
        }
    }
    if count <= STATES {
        return order;
    }
    let mut wanted: BTreeSet<u32> = BTreeSet::from([chain.start]);
    for state in chain.paths.iter().flat_map(|(_, path)| path) {
        if wanted.len() < STATES {
            wanted.insert(*state);
        }
    }
    let weights = weights(chain);
    let weight = |state: u32| weights.get(state as usize).copied().unwrap_or(0.0);
    let mut by_weight = order.clone();
    by_weight.sort_by(|a, b| weight(*b).total_cmp(&weight(*a)).then(a.cmp(b)));
    for state in by_weight {
        if wanted.len() < STATES {
            wanted.insert(state);
        }
    }
    order.retain(|state| wanted.contains(state));
    order
}

/// Returns, by state, the expected visits within some steps times the risk.
fn weights(chain: &ChainDrawing) -> Vec<f64> {
    let count = chain.names.len();
    let mut visits = vec![0.0; count];
    let mut now = vec![0.0; count];
    if let Some(start) = now.get_mut(chain.start as usize) {
        *start = 1.0;
    }
    for _ in 0..WALK {
        let mut next = vec![0.0; count];
        for (visited, mass) in visits.iter_mut().zip(&now) {
            *visited += mass;
        }
        for (from, to, probability) in &chain.edges {
            if let (Some(mass), Some(next)) = (now.get(*from as usize), next.get_mut(*to as usize))
            {
                *next += mass * probability;
            }
        }
        now = next;
    }
    let risk = |state: usize| chain.risk.get(state).copied().flatten().unwrap_or(0.0);
    visits
        .iter()
        .enumerate()
        .map(|(state, visits)| visits * risk(state))
        .collect()
}
