//! DRN files are unchanged after a round trip through Storm, in both directions: every chain of the shared models, and
//! generated ones. Without Storm's Python package `stormpy` the test is skipped.

use std::path::Path;
use std::process::Command;

use guard_markov::format::{read_drn, write_drn};
use guard_markov::{Chain, Definitions, Limits, explore, parse_model};
use num_rational::BigRational;

/// Reads a model in the PRISM language (with constants) or in DRN and writes it as DRN, with fractions.
const STORM: &str = r"
import sys, stormpy
from stormpy.io import export_to_drn
source, constants, target = sys.argv[1:4]
if source.endswith('.drn'):
    model = stormpy.build_model_from_drn[stormpy.Rational](source)
else:
    options = stormpy.BuilderOptions()
    options.set_build_all_labels(True)
    options.set_build_all_reward_models(True)
    options.set_build_choice_labels(True)
    options.set_build_state_valuations(True)
    program = stormpy.parse_prism_program(source)
    if constants:
        program, _ = stormpy.instantiate_constants(program, constants)
    model = stormpy.build_model[stormpy.Rational](program, options=options)
export_to_drn(model, target)
";

fn storm(source: &Path, constants: &str, target: &Path) {
    let output = Command::new("python3")
        .args(["-c", STORM])
        .args([source.as_os_str(), constants.as_ref(), target.as_os_str()])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", source.display());
}

fn read(path: &Path) -> Chain<BigRational> {
    let text = std::fs::read_to_string(path).unwrap();
    read_drn(&text)
        .unwrap_or_else(|wrong| panic!("{}: {wrong:?}", path.display()))
        .chain
}

/// A structure of rewards with a value for every state.
type AllRewards = (String, Vec<BigRational>, Vec<BigRational>);

/// All that a chain says, in an order of its own.
fn content(chain: &Chain<BigRational>) -> (Vec<(String, Vec<usize>)>, Vec<AllRewards>) {
    let mut labels: Vec<(String, Vec<usize>)> = chain
        .labels()
        .filter(|(_, states)| !states.is_clear())
        .map(|(name, states)| (name.to_owned(), states.ones().collect()))
        .collect();
    labels.sort();
    let whole = |values: &[BigRational]| {
        let mut values = values.to_vec();
        values.resize(chain.len(), BigRational::default());
        values
    };
    let mut rewards: Vec<AllRewards> = chain
        .rewards()
        .iter()
        .map(|of| (of.name.clone(), whole(&of.state), whole(&of.step)))
        .collect();
    rewards.sort();
    (labels, rewards)
}

#[track_caller]
fn same(name: &str, one: &Chain<BigRational>, other: &Chain<BigRational>) {
    assert_eq!(one.len(), other.len(), "{name}");
    for state in 0..one.len() as u32 {
        assert!(one.row(state).eq(other.row(state)), "{name}: state {state}");
    }
    assert!(content(one) == content(other), "{name}: labels or rewards");
}

#[test]
fn drn_goes_through_storm_and_back() {
    let installed = Command::new("python3")
        .args(["-c", "import stormpy.io"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !installed {
        crate::support::skip("stormpy is not installed (pip install stormpy)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut sources = Vec::new();
    if let Some(models) = crate::support::shared("data/prism-models") {
        for (name, constants) in [
            ("brp", "N=16,MAX=2"),
            ("crowds", "TotalRuns=2,CrowdSize=4"),
            ("egl", "N=3,L=2"),
            ("nand", "N=4,K=1"),
            ("herman.11", ""),
            ("leader_sync.4-3", ""),
            ("oscillators.3-6-0.1-1", "mu=0.1,lambda=1.0"),
        ] {
            sources.push((models.join(format!("{name}.prism")), constants));
        }
    }
    if let Some(generator) = crate::support::shared("bench/chains.py") {
        for arguments in [
            "grid 5",
            "birth 20 0.55",
            "ring 3 5 1e-4",
            "retry 4 0.02",
            "cube 3",
        ] {
            let output = Command::new("python3")
                .arg(&generator)
                .args(arguments.split(' '))
                .output()
                .unwrap();
            let path = at(&format!("{}.prism", arguments.replace(' ', "_")));
            std::fs::write(&path, output.stdout).unwrap();
            sources.push((path, ""));
        }
    }
    let unnamed = at("unnamed.prism");
    let text = "dtmc module m  s : [0..2] init 0;
        [a] s=0 -> 1/3 : (s'=1) + 2/3 : (s'=2);  [b] s>0 -> true;  endmodule
        rewards s=0 : 3; [a] true : 2.5; endrewards
        rewards \"big\" s=1 : 1e23; endrewards
        rewards \"z\" [a] s=0 : 1/3; endrewards
        label \"l\" = s=1;";
    std::fs::write(&unnamed, text).unwrap();
    sources.push((unnamed, ""));
    for (source, constants) in sources {
        let name = source.display().to_string();
        // Ours through Storm.
        let model = parse_model(&std::fs::read_to_string(&source).unwrap()).unwrap();
        let given: Definitions = constants
            .split(',')
            .filter_map(|given| given.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let ours = explore::<BigRational>(&model, &given, &Limits::default())
            .unwrap()
            .chain;
        std::fs::write(at("ours.drn"), write_drn(&ours)).unwrap();
        storm(&at("ours.drn"), "", &at("back.drn"));
        same(&name, &ours, &read(&at("back.drn")));
        // Storm's through ours.
        storm(&source, constants, &at("theirs.drn"));
        let theirs = read(&at("theirs.drn"));
        assert_eq!(theirs.len(), ours.len(), "{name}");
        std::fs::write(at("again.drn"), write_drn(&theirs)).unwrap();
        storm(&at("again.drn"), "", &at("final.drn"));
        same(&name, &theirs, &read(&at("final.drn")));
        // Doubles as well.
        let doubles = read_drn::<f64>(&std::fs::read_to_string(at("theirs.drn")).unwrap()).unwrap();
        assert_eq!(doubles.chain.graph(), theirs.graph(), "{name}");
    }
}
