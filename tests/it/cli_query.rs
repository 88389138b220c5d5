//! `guard query --chain`, `guard export` and `guard import`, on files.

use crate::support::cli::Folder;
use serde_json::Value;

const DIE: &str = "dtmc
const int N;
const double p = 1/6;
module die
  s : [0..N] init 0;
  [roll] s=0 -> p : (s'=1) + 2*p : (s'=2) + 1-3*p : (s'=0);
  [] s=1 -> true;
endmodule
label \"won\" = s=1;
rewards \"rolls\" [roll] true : 1; endrewards
";

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

#[test]
fn a_model_in_the_prism_language() {
    let folder = Folder::new(&[
        ("die.prism", DIE),
        (
            "die.props",
            "\"win\": P=? [ F \"won\" ]; // the game\nR{\"rolls\"}=? [ F s>0 ];\n",
        ),
    ]);
    let run = folder.guard(&[
        "query",
        "--chain",
        "die.prism",
        "--const",
        "N=2",
        "--props",
        "die.props",
        "--format",
        "json",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("1 state has no transition"), "{}", run.err);
    let answers: Vec<Value> = run.out.lines().map(json).collect();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["name"], "win");
    assert!((answers[0]["value"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert!(answers[0]["lower"].as_f64().unwrap() <= 1.0 / 3.0);
    assert!((answers[1]["value"].as_f64().unwrap() - 2.0).abs() < 1e-12);

    let run = folder.guard(&[
        "query",
        "--chain",
        "die.prism",
        "--const",
        "N=2",
        "--exact",
        "--all-states",
        "--format",
        "json",
        "P=? [ F \"won\" ]",
    ]);
    let answer = json(&run.out);
    assert_eq!(answer["exact"], "1/3");
    assert_eq!(
        answer["per_state_exact"],
        serde_json::json!(["1/3", "1", "0"])
    );
}

#[test]
fn a_threshold_decides_the_exit_code() {
    let folder = Folder::new(&[
        ("two.tra", "3 4\n0 1 0.1\n0 2 0.9\n1 1 1\n2 2 1\n"),
        ("two.lab", "0=\"init\" 1=\"bad\"\n0: 0\n1: 1\n"),
    ]);
    let ask = |property: &str| {
        folder.guard(&["query", "--chain", "two.tra", "--format", "json", property])
    };
    let holds = ask("P<0.2 [ F \"bad\" ]");
    assert_eq!(
        (holds.code, &json(&holds.out)["holds"]),
        (0, &Value::Bool(true))
    );
    let fails = ask("P<0.05 [ F \"bad\" ]");
    assert_eq!(
        (fails.code, &json(&fails.out)["holds"]),
        (1, &Value::Bool(false))
    );
    // On the threshold itself doubles do not tell; fractions do.
    let open = ask("P<=0.1 [ F \"bad\" ]");
    assert_eq!((open.code, &json(&open.out)["holds"]), (3, &Value::Null));
    let exact = folder.guard(&[
        "query",
        "--chain",
        "two.tra",
        "--exact",
        "P<=0.1 [ F \"bad\" ]",
    ]);
    assert_eq!(exact.code, 0, "{}{}", exact.out, exact.err);
}

/// Constants that nothing declares, and the files of other commands.
#[test]
fn what_is_given_is_used_or_refused() {
    let spec = "event { kind: string }\npredicate x = kind == \"x\"\nabstraction a { over x }\nmodel run = learn a { }\n\
        @id(\"Q-1\")\nquery q = P=? [ F x ] on run\n";
    let folder = Folder::new(&[
        ("i.tra", "2 2\n0 1 [0.4,1]\n1 1 [1,1]\n"),
        ("a.guard", spec),
        (
            "runs.jsonl",
            r#"{"id":"t","events":[{"kind":"a"},{"kind":"x"}]}"#,
        ),
    ]);
    let refused = |args: &[&str], why: &str| {
        let run = folder.guard(args);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.err.contains(why), "{run:?}");
    };
    let property = "P=? [ F true ]";
    refused(
        &["query", "--chain", "i.tra", "--const", "NOPE=3", property],
        "unknown constant `--const NOPE`",
    );
    assert_eq!(
        folder
            .guard(&["learn", "a.guard", "runs.jsonl", "-o", "m.json"])
            .code,
        0
    );
    refused(
        &["query", "--chain", "m.json", property],
        "`m.json` was written by `guard learn`: ask it with its spec, `guard query SPEC --model m.json`",
    );
    refused(
        &["verify", "a.guard"],
        "to ask a model of recorded traces, use `guard query`",
    );
    for verb in [
        &["query", "a.guard", "Q-1", "--model", "m.json"][..],
        &[
            "calibrate",
            "a.guard",
            "runs.jsonl",
            "--query",
            "Q-1",
            "--model",
            "m.json",
        ],
    ] {
        assert_eq!(folder.guard(verb).code, 0, "{verb:?}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let folder = Folder::new(&[
        ("sum.tra", "2 2\n0 1 0.5\n1 1 1\n"),
        ("nan.tra", "2 2\n0 1 nan\n1 1 1\n"),
        ("far.tra", "2 2\n0 7 1\n1 1 1\n"),
        ("empty.tra", "0 0\n"),
        ("huge.tra", "4000000000 1\n0 1 1\n"),
        ("huge_intervals.tra", "4000000000 1\n0 1 [1,1]\n"),
        ("negative.tra", "2 2\n0 1 -0.5\n1 1 1\n"),
        ("ok.tra", "2 2\n0 1 1\n1 1 1\n"),
        ("die.prism", DIE),
        ("mdp.prism", "mdp\nmodule m s : [0..1]; endmodule\n"),
    ]);
    for (file, property, message) in [
        ("sum.tra", "P=? [ F true ]", "out of state 0 sum to 0.5"),
        (
            "nan.tra",
            "P=? [ F true ]",
            "nan.tra:2:5: expected a probability as a finite number",
        ),
        (
            "far.tra",
            "P=? [ F true ]",
            "far.tra:2:3: state 7 does not exist",
        ),
        (
            "negative.tra",
            "P=? [ F true ]",
            "negative.tra:2:5: the probability -0.5 is not between 0 and 1",
        ),
        ("empty.tra", "P=? [ F true ]", "the model has no states"),
        (
            "huge.tra",
            "P=? [ F true ]",
            "huge.tra:1:1: 4000000000 states declared, but only 1 transitions",
        ),
        (
            "huge_intervals.tra",
            "P=? [ F true ]",
            "huge_intervals.tra:1:1: 4000000000 states declared, but only 1 transitions",
        ),
        ("ok.tra", "P=? [ F \"bad\" ]", "unknown label \"bad\""),
        ("ok.tra", "P=? [ F", "expected an expression, found the end"),
        (
            "ok.tra",
            "P>=2 [ F true ]",
            "the bound 2 is not a probability",
        ),
        ("ok.tra", "R=? [ F true ]", "the model has no rewards"),
        (
            "die.prism",
            "P=? [ F s=1 ]",
            "the constant `N` has no value",
        ),
        ("mdp.prism", "P=? [ F s=1 ]", "expected `dtmc`"),
        ("absent.tra", "P=? [ F true ]", "cannot read `absent.tra`"),
    ] {
        let run = folder.guard(&["query", "--chain", file, property]);
        assert_eq!(run.code, 2, "{file} {property}: {}", run.out);
        assert!(run.err.contains(message), "{file} {property}: {}", run.err);
    }
}

#[test]
fn a_product_has_a_limit_and_a_deadlock_a_loop() {
    let folder = Folder::new(&[
        ("loop.tra", "2 4\n0 0 0.5\n0 1 0.5\n1 0 0.5\n1 1 0.5\n"),
        ("loop.lab", "0=\"init\" 1=\"a\"\n0: 0\n1: 1\n"),
        ("dead.tra", "3 2\n0 1 0.5\n0 2 0.5\n"),
    ]);
    let property = "P=? [ (G F \"a\") & (F G !\"a\") ]";
    let run = folder.guard(&[
        "query",
        "--chain",
        "loop.tra",
        "--max-product",
        "1",
        property,
    ]);
    assert_eq!(run.code, 2, "{}", run.out);
    assert!(run.err.contains("--max-product"), "{}", run.err);
    let run = folder.guard(&["query", "--chain", "loop.tra", property]);
    assert_eq!(run.code, 0, "{}", run.err);
    let run = folder.guard(&["query", "--chain", "dead.tra", "P=? [ F \"deadlock\" ]"]);
    assert_eq!(
        (run.code, run.out.contains("  1")),
        (0, true),
        "{}",
        run.err
    );
    assert!(
        run.err.contains(
            "2 states have no transition: added a self-loop and the label \"deadlock\" to each"
        ),
        "{}",
        run.err
    );
}

#[test]
fn every_form_says_the_same() {
    let folder = Folder::new(&[("die.prism", DIE)]);
    for (form, file) in [
        ("tra", "out.tra"),
        ("drn", "out.drn"),
        ("prism", "out.prism"),
        ("json", "out.json"),
    ] {
        let run = folder.guard(&[
            "export",
            "--chain",
            "die.prism",
            "--const",
            "N=2",
            "--exact",
            "--to",
            form,
            "-o",
            file,
        ]);
        assert_eq!(run.code, 0, "{}", run.err);
        let run = folder.guard(&[
            "query",
            "--chain",
            file,
            "--exact",
            "--format",
            "json",
            "P=? [ F \"won\" ]",
            "R{\"rolls\"}=? [ C<=2 ]",
        ]);
        assert_eq!(run.code, 0, "{file}: {}", run.err);
        let answers: Vec<Value> = run.out.lines().map(json).collect();
        assert_eq!(answers[0]["exact"], "1/3", "{file}");
        assert_eq!(answers[1]["exact"], "3/2", "{file}");
    }
    let run = folder.guard(&[
        "export",
        "--chain",
        "die.prism",
        "--const",
        "N=2",
        "--to",
        "dot",
    ]);
    assert!(run.out.starts_with("digraph"), "{}", run.out);
}

/// As in the files of the published benchmarks: a property a line, and no semicolon.
#[test]
fn properties_by_lines() {
    let props = "// by lines\nP=? [ F \"won\" ]\nR{\"rolls\"}=? [ F s>0 ]\nR{\"rolls\"}<=3 [ F s>0 ]\nR=? [ C<=2 ]\n\n\
                 P=? [ (s=1)\n  R (s<2) ]\n(P>=0.1 [ X s=1 ])\nR<=3 [ F s>0 ]\nS=? [ s=1 ]\n";
    let folder = Folder::new(&[("die.prism", DIE), ("die.props", props)]);
    let run = folder.guard(&[
        "query",
        "--chain",
        "die.prism",
        "--const",
        "N=2",
        "--props",
        "die.props",
        "--format",
        "json",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    let answers: Vec<Value> = run.out.lines().map(json).collect();
    assert_eq!(answers.len(), 8, "{}", run.out);
    for (answer, wanted) in answers
        .iter()
        .zip([1.0 / 3.0, 2.0, f64::NAN, 1.5, 1.0 / 3.0])
    {
        let value = answer["value"].as_f64();
        assert!(
            wanted.is_nan() || (value.unwrap() - wanted).abs() < 1e-12,
            "{answer}"
        );
    }
    assert_eq!(answers[4]["property"], "P=? [ (s=1) R (s<2) ]");
    assert_eq!(answers[6]["holds"], true);
}

#[test]
fn why_an_event_is_as_likely_as_it_is() {
    let folder = Folder::new(&[("die.prism", DIE)]);
    let ask = |property: &str, why: &str| {
        let args = ["query", "--chain", "die.prism", "--const", "N=2", property];
        folder.guard(&[&args[..], &[why, "--format", "json"]].concat())
    };
    let run = ask("P=? [ F \"won\" ]", "--why");
    assert_eq!(run.code, 0, "{}", run.err);
    let why = &json(run.out.trim())["why"];
    assert_eq!(why["from"], "s=0");
    assert_eq!(why["opposite"], false);
    // One half of all rolls repeat; each of them may be the last.
    let third = 1.0 / 3.0;
    for (part, wanted) in [
        (&why["risk"], third),
        (&why["next"][0]["share"], 0.5),
        (&why["next"][0]["risk"], third),
        (&why["next"][1]["share"], 0.5),
        (&why["next"][1]["risk"], 1.0),
        (&why["last_step"][0]["probability"], third),
        (&why["paths"][0]["probability"], third),
        (&why["steps"], 2.0),
        (&why["steps_to_end"], 2.0),
        (&why["ends"][0]["probability"], 2.0 * third),
    ] {
        let found = part.as_f64().unwrap();
        assert!(
            (found - wanted).abs() < 1e-12,
            "{found} is not {wanted}: {why}"
        );
    }
    assert_eq!(why["paths"][0]["states"], serde_json::json!(["s=0", "s=1"]));
    assert_eq!(why["doubt"], serde_json::json!([]));
    // Of what is avoided, the opposite is explained; of other properties, and after the event, there is nothing to tell.
    let run = ask("P=? [ G<=2 s<2 ]", "--why=s=0");
    let why = &json(run.out.trim())["why"];
    assert_eq!(why["opposite"], true);
    assert!((why["risk"].as_f64().unwrap() - 0.5).abs() < 1e-12, "{why}");
    assert_eq!(
        json(ask("P=? [ F \"won\" ]", "--why=s=1").out.trim())["why"],
        Value::Null
    );
    assert_eq!(
        json(ask("S=? [ \"won\" ]", "--why").out.trim())["why"],
        Value::Null
    );
    let run = ask("P=? [ F \"won\" ]", "--why=s=7");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("unknown state `s=7`"), "{}", run.err);
}

/// The interval chain of the papers: what holds for all chains within it.
#[test]
fn a_chain_with_intervals() {
    let folder = Folder::new(&[
        (
            "i.tra",
            "4 6\n0 1 [0.3,0.5]\n0 2 [0.5,0.7]\n1 1 [0,0.5]\n1 3 [0.5,1]\n2 2 1\n3 3 1\n",
        ),
        ("i.lab", "0=\"init\" 1=\"bad\"\n0: 0\n3: 1\n"),
    ]);
    let ask = |more: &[&str]| folder.guard(&[&["query", "--chain", "i.tra"], more].concat());
    let run = ask(&["P=? [ F \"bad\" ]", "--format", "json", "--all-states"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let answer = json(run.out.trim());
    assert_eq!(answer["value"], Value::Null);
    // The state in between is left for sure, so that only the first row counts.
    for (key, wanted) in [("lower", 0.3), ("upper", 0.5)] {
        let found = answer[key].as_f64().unwrap();
        assert!((found - wanted).abs() < 1e-5, "{answer}");
    }
    assert!(answer["lower"].as_f64().unwrap() <= 0.3 && answer["upper"].as_f64().unwrap() >= 0.5);
    assert_eq!(answer["intervals"].as_array().unwrap().len(), 4);
    for (property, code) in [
        ("P<=0.6 [ F \"bad\" ]", 0),
        ("P<=0.2 [ F \"bad\" ]", 1),
        ("P<=0.4 [ F \"bad\" ]", 3),
        ("P>=0.14 [ F<=2 \"bad\" ]", 0),
    ] {
        assert_eq!(ask(&[property]).code, code, "{property}");
    }
    for (property, wanted) in [
        (
            "S=? [ \"bad\" ]",
            "only the probability of one temporal operator",
        ),
        (
            "P=? [ F P>=0.5 [ X \"bad\" ] ]",
            "only the probability of one temporal operator",
        ),
        ("P=? [ F \"worse\" ]", "unknown label \"worse\""),
        ("P>=2 [ F \"bad\" ]", "the bound 2 is not a probability"),
    ] {
        let run = ask(&[property]);
        assert_eq!(run.code, 2, "{property}");
        assert!(run.err.contains(wanted), "{}", run.err);
    }
    let folder = Folder::new(&[("i.tra", "2 2\n0 1 [0.3,0.5]\n1 1 1\n")]);
    let run = folder.guard(&["query", "--chain", "i.tra", "P=? [ F s=1 ]"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("no distribution of state 0 sums to 1"),
        "{}",
        run.err
    );
}

/// What Storm writes and PRISM does not have, or the other way round.
#[test]
fn forms_of_other_tools() {
    let drn = "@type: DTMC\n@parameters\n\n@placeholders\n$0 : 0.25\n$1 : 0.75\n@reward_models\nr \n@nr_states\n2\n@nr_choices\n2\n\
        @model\nstate 0 [$0] init\n\taction 0\n\t\t0 : $0\n\t\t1 : $1\nstate 1 [0] done\n\taction 0\n\t\t1 : 1\n";
    let intervals = drn.replace("0 : $0", "0 : [0.2,0.3]");
    let folder = Folder::new(&[("a.drn", drn), ("b.drn", &intervals), ("die.prism", DIE)]);
    let ask = |chain: &str, property: &str| {
        let constants: &[&str] = match chain {
            "die.prism" => &["--const", "N=2"],
            _ => &[],
        };
        let args = ["query", "--chain", chain, "--format", "json", property];
        folder.guard(&[&args[..], constants].concat())
    };
    for (chain, property, expected) in [
        ("a.drn", "P=? [ X \"done\" ]", 0.75),
        ("a.drn", "R=? [ F \"done\" ]", 1.0 / 3.0),
        ("a.drn", "T=? [ F \"done\" ]", 4.0 / 3.0),
        ("die.prism", "T=? [ F s>0 ]", 2.0),
        ("die.prism", "P=? [ G (s=0 => (F s>0)) ]", 1.0),
    ] {
        let run = ask(chain, property);
        assert_eq!(run.code, 0, "{property}: {}", run.err);
        let value = json(&run.out)["value"].as_f64().unwrap();
        assert!((value - expected).abs() < 1e-9, "{property}: {value}");
    }
    for (chain, property, said) in [
        (
            "b.drn",
            "P=? [ X \"done\" ]",
            "intervals of probabilities are read from",
        ),
        (
            "die.prism",
            "P=? [ G (s=0 => F s>0) ]",
            "put it in parentheses: `(F …)`",
        ),
        (
            "die.prism",
            "P=? [ F (s=2 & X (s=1)) ]",
            "put it in parentheses: `(X …)`",
        ),
        (
            "die.prism",
            "T{\"rolls\"}=? [ F s>0 ]",
            "write `R{\"name\"}`",
        ),
        ("die.prism", "T=? [ C<=3 ]", "expected `F`"),
        ("die.prism", "P=? [ F nosuch=1 ]", "declared names: N, p, s"),
        (
            "die.prism",
            "1 - P=? [ F s=1 ]",
            "each operator as a property of its own",
        ),
    ] {
        let run = ask(chain, property);
        assert_eq!(run.code, 2, "{property}: {}", run.out);
        assert!(run.err.contains(said), "{property}: {}", run.err);
    }
}

/// The condition is so rare that its probability, or that of both, is below the smallest double.
#[test]
fn a_share_of_what_is_too_rare_is_open() {
    let walk = "dtmc\nconst int N = 1000;\nconst double p;\nmodule m\n s : [0..N] init 1;\n \
        [] s=0 | s=N -> true;\n [] s>0 & s<N -> p : (s'=s+1) + 1-p : (s'=s-1);\nendmodule\n";
    let folder = Folder::new(&[("walk.prism", walk)]);
    let share = "P=? [ F s=500 || F s=N ]";
    for p in ["p=0.01", "p=0.3", "p=0.01,N=160", "p=0.45"] {
        let constants: Vec<&str> = p.split(',').flat_map(|one| ["--const", one]).collect();
        let share = if p.contains("N=") {
            "P=? [ F s=80 || F s=N ]"
        } else {
            share
        };
        let args = [
            &["query", "--chain", "walk.prism", "--format", "json"][..],
            &constants,
            &[share],
        ];
        let run = folder.guard(&args.concat());
        assert_eq!(run.code, 0, "{p}: {}", run.err);
        let answer = json(&run.out);
        let bound = |name: &str| answer[name].as_f64().unwrap_or(f64::NAN);
        assert!(bound("lower") >= 0.0 && bound("lower") <= 1.0, "{answer}");
        assert!(bound("upper") == 1.0, "{answer}");
        let is_wide = bound("lower") < 1.0 - 1e-6;
        assert_eq!(answer["imprecise"].is_string(), is_wide, "{answer}");
    }
    // Neither holds of a number that does not exist.
    for bound in ["P>=0.5", "P<0.5"] {
        let property = format!("{bound} [ F s=500 || F s=N & s<N ]");
        let run = folder.guard(&[
            "query",
            "--chain",
            "walk.prism",
            "--const",
            "p=0.3",
            &property,
        ]);
        assert_eq!(run.code, 3, "{}", run.out);
        assert!(run.out.contains("no number to compare"), "{}", run.out);
    }
    for constants in [
        &["--const", "p=0.3", "--const", "q=1"][..],
        &["--const", "p=0.3", "--const", "p=0.4"],
    ] {
        let args = [
            &["query", "--chain", "walk.prism"][..],
            constants,
            &["P=? [ F s=0 ]"],
        ];
        let run = folder.guard(&args.concat());
        assert_eq!(run.code, 2, "{}", run.out);
        assert!(run.err.contains("constant `--const"), "{}", run.err);
    }
}

/// Names of labels that PRISM does not allow.
#[test]
fn labels_for_prism_are_names() {
    let drn = "@type: DTMC\n@parameters\n\n@reward_models\n\n@nr_states\n2\n@nr_choices\n2\n@model\n\
        state 0 init \"left side\"\n\taction 0\n\t\t1 : 1\nstate 1 left_side \"2nd\"\n\taction 0\n\t\t1 : 1\n";
    let folder = Folder::new(&[("a.drn", drn)]);
    let run = folder.guard(&["export", "--chain", "a.drn", "--to", "prism"]);
    assert_eq!(run.code, 0, "{}", run.err);
    for label in [
        "label \"left_side\"",
        "label \"left_side_2\"",
        "label \"_2nd\"",
    ] {
        assert!(run.out.contains(label), "{}", run.out);
    }
}

/// What goes wrong while the states of a model are explored is said with the place that it comes from.
#[test]
fn faults_of_an_explored_model_have_a_place() {
    let module = |commands: &str| format!("dtmc\nmodule m\n  x : [0..3];\n{commands}endmodule\n");
    let drn = |target: u32, reward: i32| {
        format!(
            "@type: DTMC\n@parameters\n\n@reward_models\nr \n@nr_states\n2\n@model\n\
             state 0 [0] init\n  action 0 [0]\n    {target} : 1\nstate 1 [{reward}]\n  action 0 [0]\n    1 : 1\n"
        )
    };
    let negative = module("  [] x=0 -> 1.5:(x'=1) + -0.5:(x'=2);\n");
    let reward = module("  [] x=0 -> (x'=1);\n") + "rewards\n  x=0 : -1;\nendrewards\n";
    for (name, text, expected) in [
        (
            "a.prism",
            negative,
            "a.prism:4:13: the probability 1.5 is not between 0 and 1 (in state x=0)",
        ),
        (
            "a.prism",
            reward,
            "a.prism:7:9: unsupported reward -1: expected a finite number of at least 0 (in state x=0)",
        ),
        (
            "a.drn",
            drn(5, 0),
            "a.drn:11:5: state 5 does not exist: the model has 2 states, 0 to 1",
        ),
        (
            "a.drn",
            drn(1, -1),
            "a.drn:12:9: unsupported reward -1: expected a finite number of at least 0",
        ),
        (
            "a.prism",
            module("  [] x==0 -> (x'=1);\n"),
            "a.prism:4:8: expected an expression, found `=`; help: write `=` for equality",
        ),
        (
            "a.prism",
            module("  [] x=0 && true -> (x'=1);\n"),
            "a.prism:4:11: expected an expression, found `&`; help: write `&` for \"and\"",
        ),
        (
            "a.prism",
            module("  [] x=0 or x=1 -> (x'=1);\n"),
            "a.prism:4:10: expected `->`, found `or`; help: write `|` for \"or\"",
        ),
        (
            "a.prism",
            module("  [] not x=0 -> (x'=1);\n"),
            "a.prism:4:10: expected `->`, found `x`; help: write `!` for \"not\"",
        ),
        (
            "a.prism",
            module("").replace("dtmc", "mdp"),
            "a.prism:1:1: unsupported model type `mdp`: expected `dtmc`; help: write `dtmc` if at most one command is \
             enabled in every state: a chain takes each enabled command with equal probability",
        ),
        (
            "a.prism",
            module("") + "player p m endplayer\n",
            "a.prism:5:1: a chain has no players; help: leave out the block: the chain takes each enabled command \
             with equal probability",
        ),
    ] {
        let folder = Folder::new(&[(name, &text)]);
        let run = folder.guard(&["query", "--chain", name, "P=? [ F true ]"]);
        assert_eq!(run.err, format!("error: {expected}\n"), "{text}");
        assert_eq!(run.code, 2, "{text}");
    }
}

/// A chain takes each of several enabled commands of a module with the same probability, which is seldom meant.
#[test]
fn overlapping_guards_are_warned_of() {
    let model = "dtmc
module m
  x : [0..2];
  [] x=0 -> (x'=1);
  [go] x<2 -> (x'=2);
  [] x>=1 -> true;
endmodule
module other
  y : bool;
  [go] true -> (y'=true);
  [] y -> true;
endmodule
";
    let folder = Folder::new(&[
        ("a.prism", model),
        (
            "b.prism",
            &model.replace("x<2", "x=3").replace("[go] true", "[go] y"),
        ),
    ]);
    let run = folder.guard(&["query", "--chain", "a.prism", "P=? [ F x=1 ]"]);
    assert_eq!(
        run.err,
        "warning: a.prism:4:3: in state x=0 & !y this command and the one at 5:3 are both enabled: the chain takes \
         each enabled command with equal probability\n"
    );
    assert_eq!(run.code, 0);
    // Commands of two modules take turns.
    let run = folder.guard(&["query", "--chain", "b.prism", "P=? [ F x=1 ]"]);
    assert_eq!(run.err, "", "{}", run.out);
}
