//! Writes chains as PRISM's explicit files and in the PRISM language.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::super::chain::Chain;
use super::super::scalar::Scalar;

/// The texts of a chain's explicit files.
#[derive(Clone, Debug, Default)]
pub struct ExplicitTexts {
    /// The `.tra` file.
    pub transitions: String,
    /// The `.lab` file.
    pub labels: String,
    /// The `.srew` and `.trew` files of each reward structure.
    pub rewards: Vec<(String, String)>,
}

/// Returns a chain as PRISM's explicit files. The mean reward of a step is written at each transition of its state, which has
/// the same expected value.
pub fn write_explicit<V: Scalar>(chain: &Chain<V>) -> ExplicitTexts {
    let mut texts = ExplicitTexts::default();
    let transitions = &mut texts.transitions;
    let _ = writeln!(
        transitions,
        "{} {}",
        chain.len(),
        chain.graph().edge_count()
    );
    for state in 0..chain.len() as u32 {
        for (target, probability) in chain.row(state) {
            let _ = writeln!(transitions, "{state} {target} {}", probability.text());
        }
    }
    let names: Vec<String> = chain
        .labels()
        .enumerate()
        .map(|(at, (name, _))| format!("{at}=\"{name}\""))
        .collect();
    let _ = writeln!(texts.labels, "{}", names.join(" "));
    for state in 0..chain.len() {
        let marks: Vec<String> = chain
            .labels()
            .enumerate()
            .filter(|(_, (_, set))| set.contains(state))
            .map(|(at, _)| at.to_string())
            .collect();
        if !marks.is_empty() {
            let _ = writeln!(texts.labels, "{state}: {}", marks.join(" "));
        }
    }
    for rewards in chain.rewards() {
        let head = format!("# Reward structure \"{}\"\n", rewards.name);
        let (mut state, mut transition) = (head.clone(), head);
        let paid: Vec<(usize, &V)> = rewards
            .state
            .iter()
            .enumerate()
            .filter(|entry| !entry.1.is_zero())
            .collect();
        let _ = writeln!(state, "{} {}", chain.len(), paid.len());
        for (at, value) in paid {
            let _ = writeln!(state, "{at} {}", value.text());
        }
        let paid: Vec<(u32, u32, &V)> = rewards
            .step
            .iter()
            .enumerate()
            .filter(|entry| !entry.1.is_zero())
            .flat_map(|(at, value)| {
                chain
                    .graph()
                    .successors(at as u32)
                    .iter()
                    .map(move |target| (at as u32, *target, value))
            })
            .collect();
        let _ = writeln!(transition, "{} {}", chain.len(), paid.len());
        for (from, to, value) in paid {
            let _ = writeln!(transition, "{from} {to} {}", value.text());
        }
        texts.rewards.push((state, transition));
    }
    texts
}

/// The names of labels or reward structures in the PRISM language, which are made of letters, digits and `_`. Other characters become
/// `_`, with a number behind a name that another one has.
#[derive(Default)]
struct PrismNames {
    taken: HashSet<String>,
}

impl PrismNames {
    fn name(&mut self, name: &str) -> String {
        let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
        let mut plain: String = name
            .chars()
            .map(|c| if is_part(c) { c } else { '_' })
            .collect();
        if plain.is_empty() || plain.starts_with(|c: char| c.is_ascii_digit()) {
            plain.insert(0, '_');
        }
        let mut unique = plain.clone();
        let mut nth = 2;
        while !self.taken.insert(unique.clone()) {
            unique = format!("{plain}_{nth}");
            nth += 1;
        }
        unique
    }
}

/// Returns a chain in the PRISM language, as one module with one variable `s`.
pub fn write_prism<V: Scalar>(chain: &Chain<V>) -> String {
    let mut text = String::from("dtmc\n\nmodule chain\n");
    let initial: Vec<usize> = chain.initial().ones().collect();
    let start = match initial.as_slice() {
        [state] => format!(" init {state}"),
        _ => String::new(),
    };
    let _ = writeln!(text, "  s : [0..{}]{start};", chain.len() - 1);
    for state in 0..chain.len() as u32 {
        let branches: Vec<String> = chain
            .row(state)
            .map(|(target, probability)| format!("{} : (s'={target})", probability.text()))
            .collect();
        let _ = writeln!(text, "  [] s={state} -> {};", branches.join(" + "));
    }
    text.push_str("endmodule\n");
    if initial.len() > 1 {
        let any: Vec<String> = initial.iter().map(|state| format!("s={state}")).collect();
        let _ = writeln!(text, "\ninit\n  {}\nendinit", any.join(" | "));
    }
    let mut names = PrismNames::default();
    for (name, set) in chain.labels() {
        if name == "init" || name == "deadlock" {
            continue;
        }
        let name = names.name(name);
        let any: Vec<String> = set.ones().map(|state| format!("s={state}")).collect();
        let any = if any.is_empty() {
            "false".to_owned()
        } else {
            any.join(" | ")
        };
        let _ = writeln!(text, "\nlabel \"{name}\" = {any};");
    }
    let mut names = PrismNames::default();
    for rewards in chain.rewards() {
        let name = if rewards.name.is_empty() {
            String::new()
        } else {
            format!(" \"{}\"", names.name(&rewards.name))
        };
        let _ = writeln!(text, "\nrewards{name}");
        let paid = |values: &[V], mark: &str, text: &mut String| {
            for (state, value) in values.iter().enumerate().filter(|entry| !entry.1.is_zero()) {
                let _ = writeln!(text, "  {mark}s={state} : {};", value.text());
            }
        };
        paid(&rewards.state, "", &mut text);
        paid(&rewards.step, "[] ", &mut text);
        text.push_str("endrewards\n");
    }
    text
}
