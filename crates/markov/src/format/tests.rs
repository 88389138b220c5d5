//! Tests of rows and numbers in files, against fractions.

use num_rational::BigRational;

use super::super::check::{Answer, Checker, Options};
use super::super::prism::{Scope, parse_properties};
use super::super::scalar::{Estimate, Scalar, parse_rational};
use super::{ExplicitFiles, read_explicit, read_uncertain_explicit};
use crate::interval::{Steps, robust_until};

/// Returns the number of a property in state 0.
fn number<V: Scalar>(files: &ExplicitFiles<'_>, property: &str) -> V::Estimate {
    let chain = read_explicit::<V>(files).unwrap().chain;
    let checker = Checker::new(&chain, Scope::default(), Options::default());
    let property = parse_properties(property).unwrap();
    match checker.check(&property.properties[0].formula).unwrap() {
        Answer::Numbers(numbers) => numbers.at(0).unwrap().clone(),
        other => panic!("{other:?}"),
    }
}

/// The numbers of a row are proportions in every operator, and the bounds are around the number of the row scaled to 1.
#[track_caller]
fn holds(files: &ExplicitFiles<'_>, property: &str, expected: &str) {
    let expected = parse_rational(expected).unwrap();
    assert_eq!(number::<BigRational>(files, property), expected);
    let found = number::<f64>(files, property);
    let exactly = |bound: f64| BigRational::from_float(bound).unwrap();
    assert!(exactly(found.lower()) <= expected, "{property}: {found:?}");
    assert!(expected <= exactly(found.upper()), "{property}: {found:?}");
    assert!(found.error < 1e-9, "{property}: {found:?}");
}

#[test]
fn rows_are_proportions_in_every_operator() {
    let thirds = ExplicitFiles {
        transitions: "4 6\n0 1 0.333333\n0 2 0.333333\n0 3 0.333333\n1 1 1\n2 2 1\n3 3 1\n",
        labels: Some("0=\"init\" 1=\"a\"\n0: 0\n1: 1\n2: 1\n"),
        rewards: vec![(None, Some("4 2\n0 1 1\n0 2 1\n"))],
    };
    for property in [
        "P=? [ F \"a\" ]",
        "P=? [ X \"a\" ]",
        "P=? [ F<=1 \"a\" ]",
        "P=? [ F[1,2] \"a\" ]",
        "P=? [ (X \"a\") | (X X \"a\") ]",
        "R=? [ C<=1 ]",
        "R=? [ C ]",
    ] {
        holds(&thirds, property, "2/3");
    }
    let loops = ExplicitFiles {
        transitions: "2 3\n0 0 0.5\n0 1 0.499995\n1 1 1\n",
        labels: Some("0=\"init\" 1=\"x\"\n0: 0\n1: 1\n"),
        rewards: vec![(Some("2 1\n0 1\n"), None)],
    };
    holds(&loops, "P=? [ F<=1 \"x\" ]", "0.499995/0.999995");
    holds(&loops, "R=? [ F \"x\" ]", "0.999995/0.499995");
    holds(&loops, "R=? [ C<=2 ]", "1.499995/0.999995");
    // An unscaled row would lose 0.00001 here.
    let found = number::<f64>(&loops, "P=? [ F<=1000000 \"x\" ]");
    assert!(
        found.upper() >= 1.0 && found.lower() > 1.0 - 1e-8,
        "{found:?}"
    );
}

#[test]
fn a_sum_that_rounding_alone_moves_from_one_changes_nothing() {
    let text: String = (1..=10)
        .map(|to| format!("0 {to} 0.1\n{to} {to} 1\n"))
        .collect();
    let text = format!("11 20\n{text}");
    let files = ExplicitFiles {
        transitions: &text,
        ..Default::default()
    };
    let chain = read_explicit::<f64>(&files).unwrap().chain;
    assert!(chain.row(0).all(|(_, probability)| *probability == 0.1));
}

fn uncertain(transitions: &str) -> Result<(crate::interval::UncertainChain, usize), String> {
    let files = ExplicitFiles {
        transitions,
        ..Default::default()
    };
    read_uncertain_explicit(&files).map_err(|(_, wrong)| wrong.message)
}

#[test]
fn intervals_are_read_from_a_file() {
    let text = "3 3\n0 1 [0.2, 0.4] go\n0 2 [0.5,0.9]\n1 1 1\n";
    let (chain, deadlocks) = uncertain(text).unwrap();
    assert_eq!(
        (deadlocks, chain.label("deadlock")),
        (1, Some(&chain.set([2])))
    );
    let bounds = robust_until(
        &chain,
        &chain.graph().all(),
        &chain.set([1]),
        Steps::Unbounded,
        1e-9,
    );
    assert!((bounds.lower[0] - 0.2).abs() < 1e-8, "{bounds:?}");
    assert!((bounds.upper[0] - 0.4).abs() < 1e-8, "{bounds:?}");
    for (wrong, why) in [
        ("", "empty transitions file"),
        ("0 0", "the model has no states"),
        ("2 1 1\n0 1 [1,1]", "third number"),
        (
            "3 5\n0 1 [0.4,0.6]\n0 2 [0.4,0.6]",
            "expected 5 transitions, found 2",
        ),
        ("2 1\n0 2 [0.1,0.2]", "state 2 does not exist"),
        ("2 1\n0 1 [0.5,0.2]", "empty"),
        ("2 1\n0 1 [0.5,nan]", "expected an interval"),
        ("2 1\n0 1 [0.5", "expected an interval"),
        ("2 1\n0 1 [0.5,1.5]", "not between 0 and 1"),
        ("2 1\n0 1 [0.5,1] go 7", "unexpected `7`"),
        ("2 1\n0 1 [0.1,0.2]", "no distribution of state 0 sums to 1"),
        (
            "2 2\n0 1 [0.1,0.9]\n0 1 [0.1,0.9]",
            "from state 0 to state 1 is given twice",
        ),
    ] {
        let found = uncertain(wrong).unwrap_err();
        assert!(found.contains(why), "{wrong}: {found}");
    }
}
