//! Published chains, and chains learned from recorded runs, against independently computed answers.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::cli::Folder;
use guard_markov::analysis::reach;
use guard_markov::solve::Accuracy;
use guard_markov::{Chain, Definitions, Limits, explore, parse_model};
use num_rational::BigRational;
use serde_json::Value;

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn load(path: &Path) -> Chain<f64> {
    let model = parse_model(&std::fs::read_to_string(path).unwrap()).unwrap();
    let built = explore::<f64>(&model, &Definitions::default(), &Limits::default());
    built.unwrap().chain
}

/// The probability to reach a state, by Gauss-Jordan elimination with pivoting on the dense matrix: nothing of the engine.
fn slow_reach(rows: &[Vec<(usize, f64)>], target: usize) -> Vec<f64> {
    let n = rows.len();
    // States that cannot reach the target have 0, else the system is singular.
    let mut can = vec![false; n];
    can[target] = true;
    loop {
        let next: Vec<bool> = (0..n)
            .map(|at| can[at] || rows[at].iter().any(|(to, p)| *p > 0.0 && can[*to]))
            .collect();
        if next == can {
            break;
        }
        can = next;
    }
    let mut system = vec![vec![0.0; n + 1]; n];
    for (at, row) in rows.iter().enumerate() {
        system[at][at] = 1.0;
        if at == target {
            system[at][n] = 1.0;
        } else if can[at] {
            for (to, p) in row.iter().filter(|(to, _)| can[*to]) {
                system[at][*to] -= p;
            }
        }
    }
    for column in 0..n {
        let size = |row: &usize| system[*row][column].abs();
        let pivot = (column..n)
            .max_by(|a, b| size(a).total_cmp(&size(b)))
            .unwrap();
        system.swap(column, pivot);
        let pivot = system[column].clone();
        for (row, values) in system.iter_mut().enumerate() {
            let factor = values[column] / pivot[column];
            if row != column && factor != 0.0 {
                for (value, of) in values.iter_mut().zip(&pivot) {
                    *value -= factor * of;
                }
            }
        }
    }
    (0..n).map(|at| system[at][n] / system[at][at]).collect()
}

/// `"151/184"` as a number.
fn fraction(text: &str) -> f64 {
    let (over, under) = text.split_once('/').unwrap_or((text, "1"));
    over.trim().parse::<f64>().unwrap() / under.trim().parse::<f64>().unwrap()
}

#[test]
fn every_published_chain_is_imported_and_every_probability_of_reaching_is_right() {
    let Some(root) = crate::support::shared("data/pro2guard-dtmcs") else {
        return;
    };
    let mut models = 0;
    for group in ["autonomous_vehicle", "embodied"] {
        for folder in std::fs::read_dir(root.join(group)).unwrap() {
            let mut folders = vec![folder.unwrap().path()];
            // Some hold a second version of themselves.
            let second = folders[0].join("1.0");
            folders.extend(second.exists().then_some(second));
            for folder in folders {
                models += 1;
                let chain = load(&folder.join("dtmc.prism"));
                let model = json(&folder.join("model.json"));
                let index: BTreeMap<&str, usize> = model["state_index"]
                    .as_object()
                    .unwrap()
                    .iter()
                    .map(|(name, at)| (name.as_str(), at.as_u64().unwrap() as usize))
                    .collect();
                let mut rows: Vec<Vec<(usize, f64)>> = vec![Vec::new(); index.len()];
                for (from, row) in model["transition_probs"].as_object().unwrap() {
                    for (to, p) in row.as_object().unwrap() {
                        let p = fraction(p.as_str().unwrap());
                        rows[index[from.as_str()]].push((index[to.as_str()], p));
                    }
                }
                for (at, row) in rows.iter_mut().enumerate() {
                    if row.is_empty() {
                        row.push((at, 1.0));
                    }
                }
                // Only what the initial state reaches is explored; its states are told by their variable.
                let valuations = chain.valuations().unwrap();
                let names: Vec<usize> = (0..chain.len() as u32)
                    .map(|state| {
                        let text = valuations.text(state);
                        let digits = text.chars().filter(char::is_ascii_digit);
                        digits.collect::<String>().parse().unwrap()
                    })
                    .collect();
                for (state, name) in names.iter().enumerate() {
                    let target = chain.graph().set([state as u32]);
                    let found = reach(&chain, &target, &Accuracy::default()).unwrap();
                    let wanted = slow_reach(&rows, *name);
                    for (from, estimate) in found.iter().enumerate() {
                        let wanted = wanted[names[from]];
                        assert!(
                            (estimate.value - wanted).abs() <= 1e-9 + estimate.error,
                            "{}: from {} to {name}: {} is not {wanted}",
                            folder.display(),
                            names[from],
                            estimate.value
                        );
                    }
                }
            }
        }
    }
    assert_eq!(models, 200);
}

#[test]
fn the_answers_that_come_with_the_published_chains() {
    let Some(root) = crate::support::shared("data/pro2guard-dtmcs") else {
        return;
    };
    let answers = json(&root.join("answers.json"));
    let mut checked = 0;
    for entry in answers["chains"].as_array().unwrap() {
        let folder = root.join(entry["model"].as_str().unwrap());
        let model = json(&folder.join("model.json"));
        let states = |wanted: &dyn Fn(&str) -> bool| -> String {
            let index = model["state_index"].as_object().unwrap();
            let found: Vec<String> = index
                .iter()
                .filter(|(name, _)| wanted(name))
                .map(|(_, at)| format!("s={at}"))
                .collect();
            if found.is_empty() {
                "false".to_owned()
            } else {
                found.join(" | ")
            }
        };
        let bit = |place: usize| states(&|name: &str| name.as_bytes().get(place) == Some(&b'1'));
        let targets: BTreeMap<&str, String> = if entry.get("target_states").is_some() {
            let names: Vec<&str> = entry["target_states"]
                .as_array()
                .unwrap()
                .iter()
                .map(|name| name.as_str().unwrap())
                .collect();
            [("target", states(&|name| names.contains(&name)))].into()
        } else {
            [
                ("collision", bit(0)),
                ("destination", bit(1)),
                ("violation", bit(2)),
            ]
            .into()
        };
        for (name, value) in entry.as_object().unwrap() {
            let Some(path) = name
                .strip_prefix("P(")
                .and_then(|rest| rest.strip_suffix(')'))
            else {
                continue;
            };
            let (operator, target) = path.split_once(' ').unwrap();
            let Some(target) = targets.get(target) else {
                continue;
            };
            let property = format!("P=? [ {operator} ({target}) ]");
            let chain = folder.join("dtmc.prism").display().to_string();
            let here = Folder::new(&[]);
            let run = here.guard(&["query", "--chain", &chain, "--format", "json", &property]);
            let found: Value = serde_json::from_str(run.out.trim()).unwrap();
            let wanted: f64 = value["decimal"].as_str().unwrap().parse().unwrap();
            let lower = found["lower"].as_f64().unwrap();
            let upper = found["upper"].as_f64().unwrap();
            assert!(
                lower <= wanted + 1e-11 && wanted - 1e-11 <= upper && upper - lower < 1e-6,
                "{}: {name}: {wanted} is not in {lower}..{upper}",
                folder.display()
            );
            if let Some(exact) = value["exact"].as_str() {
                let run = here.guard(&[
                    "query", "--chain", &chain, "--exact", "--format", "json", &property,
                ]);
                let found: Value = serde_json::from_str(run.out.trim()).unwrap();
                assert_eq!(found["exact"].as_str(), Some(exact), "{name}");
            }
            checked += 1;
        }
    }
    assert!(checked >= 20, "{checked}");
}

/// A corpus: its files, a spec, where in the answers its chain is, and what is asked of it.
struct Corpus {
    folder: &'static str,
    traces: &'static [&'static str],
    spec: &'static str,
    counts: &'static [&'static str],
    queries: &'static [(&'static str, &'static str)],
}

const CORPORA: &[Corpus] = &[
    Corpus {
        folder: "tau-bench",
        traces: &["gpt-4o-airline.json"],
        spec: r#"
use std.agent
trace { format openai }
abstraction calls { steps when kind == "call"  over tool }
model m = learn calls { }
query cancels = P=? [ F tool == "cancel_reservation" ] on m
query hands_over = P=? [ F tool == "transfer_to_human_agents" ] on m
"#,
        counts: &["counts"],
        queries: &[
            ("cancels", "P(F cancel_reservation)"),
            ("hands_over", "P(F transfer_to_human_agents)"),
        ],
    },
    Corpus {
        folder: "redcode-python",
        traces: &["--glob", "*.jsonl", "."],
        spec: r#"
trace { events from "/intermediate_steps" }
event { tool: string from "/action/tool" }
let what = if tool in ["python_repl", "_Exception"] then tool else "other"
abstraction tools { over what }
model m = learn tools { }
query runs = P=? [ F what == "python_repl" ] on m
"#,
        counts: &["counts"],
        queries: &[("runs", "P(F python_repl)")],
    },
    Corpus {
        folder: "embodied",
        traces: &["unsafe_agent_records.jsonl"],
        spec: r#"
trace { events from "/intermediate_steps"  where ok == true }
event {
  input: string from "/action/input"
  ok: json? from "/observation/success"
}
let verb = capture(lower(input), /^(turn on|turn off|\S+)/)
abstraction verbs { over verb }
model m = learn verbs { }
query breaks = P=? [ F verb == "break" ] on m
query turns_on = P=? [ F verb == "turn on" ] on m
"#,
        counts: &["unsafe_agent_records", "counts"],
        queries: &[("breaks", "P(F break)"), ("turns_on", "P(F 'turn on')")],
    },
    Corpus {
        folder: "openagentsafety",
        traces: &["--glob", "**/traj_*.json", "."],
        spec: r#"
trace { events from "" }
event { source: string  action: string? }
abstraction acts { steps when source == "agent" and action != null  over action }
model m = learn acts { }
query finishes = P=? [ F action == "finish" ] on m
"#,
        counts: &["counts"],
        queries: &[("finishes", "P(F finish)")],
    },
    Corpus {
        folder: "agentdojo-jsonl",
        traces: &["agentdojo-gpt-4o-mini-2024-07-18.jsonl"],
        spec: r#"
trace {
  events from "/messages"
  each "/tool_calls"
  meta suite: string? from "/metadata/suite_name"
  records where suite == "banking"
}
event { tool: string? from each "/function/name" }
abstraction calls { steps when tool != null  over tool }
model m = learn calls { }
query sends = P=? [ F tool == "send_money" ] on m
query password = P=? [ F tool == "update_password" ] on m
"#,
        counts: &["counts"],
        queries: &[
            ("sends", "P(F send_money)"),
            ("password", "P(F update_password)"),
        ],
    },
];

#[test]
fn chains_learned_from_recorded_runs_have_the_known_counts_and_probabilities() {
    let mut seen = 0;
    for corpus in CORPORA {
        let Some(root) = crate::support::shared(&format!("data/{}", corpus.folder)) else {
            continue;
        };
        seen += 1;
        let mut answers = &json(&root.join("answers.json"))["chains"];
        let folder = Folder::new(&[("c.guard", corpus.spec)]);
        let traces: Vec<String> = corpus
            .traces
            .iter()
            .map(|of| match *of {
                flag if flag.starts_with('-') || flag.contains('*') => flag.to_owned(),
                file => root.join(file).display().to_string(),
            })
            .collect();
        let mut args = vec!["learn", "c.guard", "-o", "m.json"];
        args.extend(traces.iter().map(String::as_str));
        let run = folder.guard(&args);
        assert!(
            [0, 3].contains(&run.code),
            "{}: {}{}",
            corpus.folder,
            run.out,
            run.err
        );
        let model: Value = serde_json::from_str(&folder.read("m.json")).unwrap();
        let (last, path) = corpus.counts.split_last().unwrap();
        for name in path {
            answers = &answers[*name];
        }
        let mut wanted: BTreeMap<(String, String), u64> = BTreeMap::new();
        for (from, row) in answers[*last].as_object().unwrap() {
            for (to, count) in row.as_object().unwrap() {
                wanted.insert((from.clone(), to.clone()), count.as_u64().unwrap());
            }
        }
        let chain = &model["chains"][0];
        let name = |node: &Value| -> String {
            let words = chain["nodes"][node.as_u64().unwrap() as usize]
                .as_array()
                .unwrap();
            match words.first() {
                None => "START".to_owned(),
                Some(word) => serde_json::from_str(word.as_str().unwrap()).unwrap(),
            }
        };
        let mut found: BTreeMap<(String, String), u64> = BTreeMap::new();
        for edge in chain["transitions"].as_array().unwrap() {
            found.insert((name(&edge[0]), name(&edge[1])), edge[2].as_u64().unwrap());
        }
        for end in chain["ends"].as_array().unwrap() {
            found.insert((name(&end[0]), "END".to_owned()), end[1].as_u64().unwrap());
        }
        assert_eq!(found, wanted, "{}", corpus.folder);
        let run = folder.guard(&[
            "query", "c.guard", "--model", "m.json", "--exact", "--format", "json",
        ]);
        assert_eq!(run.code, 0, "{}", run.err);
        for (query, answer) in corpus.queries {
            let line = run
                .out
                .lines()
                .map(|line| serde_json::from_str::<Value>(line).unwrap());
            let found = line
                .into_iter()
                .find(|line| line["name"] == *query)
                .unwrap();
            let wanted = answers[*answer]["exact"].as_str().unwrap();
            assert_eq!(found["exact"].as_str(), Some(wanted), "{}", corpus.folder);
            let exact: BigRational = wanted.parse().unwrap();
            let value = found["value"].as_f64().unwrap();
            let close = num_traits::ToPrimitive::to_f64(&exact).unwrap();
            assert!((value - close).abs() < 1e-12);
        }
    }
    println!("{seen} corpora");
}
