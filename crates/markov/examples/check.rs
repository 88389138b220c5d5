//! Checks properties of a chain and prints the time and the proven bounds of each.
//!
//! ```text
//! cargo run --release -p guard-markov --example check -- model.prism 'P=? [ F "goal" ]' …
//! ```
//!
//! The model is in the PRISM language, or in DRN if its name ends in `.drn`. With `--exact` before it, the
//! answers are fractions.

use std::error::Error;
use std::time::Instant;

use guard_markov::{
    Answer, Checker, Definitions, Estimate, Options, Scalar, Scope, explore, format::read_drn,
    parse_model, parse_properties,
};
use num_rational::BigRational;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let exact = arguments.first().is_some_and(|first| first == "--exact");
    if exact {
        arguments.remove(0);
    }
    let Some((model, properties)) = arguments.split_first() else {
        return Err("expected a model and properties".into());
    };
    if exact {
        check::<BigRational>(model, properties)
    } else {
        check::<f64>(model, properties)
    }
}

fn check<V: Scalar>(model: &str, properties: &[String]) -> Result<(), Box<dyn Error>> {
    let clock = Instant::now();
    let text = std::fs::read_to_string(model)?;
    let (chain, scope) = if model.ends_with(".drn") {
        (read_drn::<V>(&text)?.chain, Scope::default())
    } else {
        let built = explore::<V>(
            &parse_model(&text)?,
            &Definitions::default(),
            &Default::default(),
        )?;
        (built.chain, built.scope)
    };
    println!(
        "{model}: {} states, {} transitions, read in {:.0} ms",
        chain.len(),
        chain.graph().edge_count(),
        clock.elapsed().as_secs_f64() * 1e3
    );
    // Eliminated components are reused by the properties that follow.
    let checker = Checker::new(&chain, scope, Options::default());
    for property in properties {
        let parsed = parse_properties(property)?;
        let clock = Instant::now();
        let answer = checker.check(&parsed.properties[0].formula)?;
        let ms = clock.elapsed().as_secs_f64() * 1e3;
        let start = chain.initial().ones().next().unwrap_or(0);
        let shown = match &answer {
            Answer::Numbers(numbers) => match numbers.at(start) {
                Some(value) => format!(
                    "{} in [{}, {}]",
                    value.value().to_f64(),
                    value.lower().to_f64(),
                    value.upper().to_f64()
                ),
                None => "infinite or undefined".to_owned(),
            },
            Answer::Truth(truth) => format!("{:?}", truth.at(start)),
            other => format!("{other:?}"),
        };
        println!("{ms:10.2} ms  {property}  {shown}");
        if let Some(short) = checker.take_shortfall() {
            println!("               {short}");
        }
    }
    Ok(())
}
