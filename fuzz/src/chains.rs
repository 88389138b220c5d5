//! No text makes the readers of chains and properties panic; the first byte says which reader.

use guard_markov::format::{
    ExplicitFiles, read_drn, read_explicit, read_json, read_uncertain_explicit,
};
use guard_markov::{
    Checker, Definitions, Limits, Options, Scope, explore, parse_model, parse_properties,
};

pub fn run(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(rest) else {
        return;
    };
    match which % 6 {
        0 => {
            let (transitions, labels) = text
                .split_once('\u{1}')
                .unwrap_or((text, "0=\"init\"\n0: 0"));
            let files = ExplicitFiles {
                transitions,
                labels: Some(labels),
                rewards: vec![(Some(labels), Some(transitions))],
            };
            let _ = read_explicit::<f64>(&files);
        }
        1 => drop(read_drn::<num_rational::BigRational>(text)),
        2 => drop(read_json::<f64>(text)),
        3 => {
            let files = ExplicitFiles {
                transitions: text,
                ..Default::default()
            };
            drop(read_uncertain_explicit(&files));
        }
        4 => {
            if let Ok(model) = parse_model(text) {
                let _ = explore::<f64>(&model, &Definitions::new(), &Limits { max_states: 1000 });
            }
        }
        _ => {
            let model = "dtmc module m s : [0..2]; [] s<2 -> 0.5:(s'=s+1) + 0.5:true; endmodule label \"a\" = s=2;";
            let Ok(file) = parse_properties(text) else {
                return;
            };
            let Ok(model) = parse_model(model) else {
                return;
            };
            let Ok(built) = explore::<f64>(&model, &Definitions::new(), &Limits::default()) else {
                return;
            };
            let mut checker = Checker::new(&built.chain, Scope::default(), Options::default());
            if checker.declare(&file, &Definitions::new()).is_ok() {
                for property in &file.properties {
                    let _ = checker.root(&property.formula);
                }
            }
        }
    }
}
