//! Tests of constants and probabilities in models, against fractions.

use num_rational::BigRational;

use super::super::check::{Answer, Checker, Options};
use super::super::scalar::{Approx, Estimate, Scalar, parse_rational};
use super::super::text::TextError;
use super::{Definitions, Limits, explore, parse_model, parse_properties};

fn built<V: Scalar>(model: &str) -> Result<super::Explored<V>, TextError> {
    let model = parse_model(model).unwrap();
    explore(&model, &Definitions::default(), &Limits::default())
}

/// Returns the number of a property in the initial state.
fn number<V: Scalar>(model: &str, property: &str) -> V::Estimate {
    let built = built::<V>(model).unwrap();
    let checker = Checker::new(&built.chain, built.scope, Options::default());
    let property = parse_properties(property).unwrap();
    match checker.check(&property.properties[0].formula).unwrap() {
        Answer::Numbers(numbers) => numbers.at(0).unwrap().clone(),
        other => panic!("{other:?}"),
    }
}

/// Checks that the bounds are tight, and around the number that fractions give.
#[track_caller]
fn agrees(model: &str, property: &str) -> Approx {
    let exact = number::<BigRational>(model, property);
    let found = number::<f64>(model, property);
    let exactly = |bound: f64| BigRational::from_float(bound).unwrap();
    assert!(exactly(found.lower()) <= exact, "{found:?} for {exact}");
    assert!(exact <= exactly(found.upper()), "{found:?} for {exact}");
    assert!(found.error <= 1e-11 * found.value, "{found:?}");
    found
}

#[test]
fn numbers_of_a_model_are_fractions_that_are_rounded_once() {
    let model = "dtmc const double p = 0.99999999999; const double q = 1 - p; module m
         s : [0..3] init 0;
         [] s=0 -> (1-p) : (s'=1) + 0.00000000001 : (s'=2) + (p-q) : (s'=0);
         [] s>0 -> true;
         endmodule
         rewards s=0 : p - 0.9999999999; endrewards";
    let found = agrees(model, "P=? [ F s=1 ]");
    assert!((found.value - 0.5).abs() < 1e-15, "{found:?}");
    agrees(model, "P=? [ F<=3 s=1 ]");
    agrees(model, "R=? [ F s>0 ]");
    // The same of numbers that depend on the state.
    let model = "dtmc module m
         s : [0..3] init 0;
         x : [0..9] init 1;
         [] s=0 -> (1 - (99999999999 + x - 1) / 100000000000) : (s'=1)
                 + x / 100000000000 : (s'=2) + (99999999999 - x) / 100000000000 : (s'=0);
         [] s>0 -> true;
         endmodule";
    let found = agrees(model, "P=? [ F s=1 ]");
    assert!((found.value - 0.5).abs() < 1e-15, "{found:?}");
}

#[test]
fn the_products_of_commands_that_act_together_are_within_the_bounds() {
    let mut model = "dtmc const double p = 0.1; const double q = 0.7;\n".to_owned();
    for name in ["a", "b", "c", "d", "e"] {
        model.push_str(&format!(
            "module {name} {name} : [0..1] init 0;
             [go] {name}=0 -> p : ({name}'=1) + 0.2 : ({name}'=0) + q : ({name}'=0);
             [go] {name}=1 -> 0.3 : ({name}'=0) + 0.7 : ({name}'=1);
             endmodule\n"
        ));
    }
    for property in [
        "P=? [ F<=40 (a=1 & b=1 & c=1 & d=1 & e=1) ]",
        "P=? [ X (a=1 & b=0) ]",
        "P=? [ (a+b+c < 3) U (d=1 & e=1 & a=1) ]",
        "S=? [ a+b+c+d+e > 2 ]",
    ] {
        agrees(&model, property);
    }
}

#[test]
fn irrational_numbers_have_the_digits_that_differences_of_them_need() {
    let value = |expression: &str| {
        let model = format!(
            "dtmc module m s : [0..1] init 0; [] true -> true; endmodule
             rewards true : {expression}; endrewards"
        );
        number::<f64>(&model, "R=? [ I=0 ]").value
    };
    assert_eq!(value("log(8, 2)"), 3.0);
    assert_eq!(value("log(1000, 10)"), 3.0);
    assert_eq!(value("floor(log(0.125, 0.5))"), 3.0);
    assert_eq!(value("ceil(log(9, 2))"), 4.0);
    assert_eq!(value("pow(4, 0.5)"), 2.0);
    assert_eq!(value("pow(2, 0.5)"), std::f64::consts::SQRT_2);
    assert_eq!(value("pow(0.25, 0.5)"), 0.5);
    assert_eq!(
        value("log(10, 2.718281828459045235360287471352662497757)"),
        std::f64::consts::LN_10
    );
    // By itself, the double of the power has 5 digits of the difference.
    assert_eq!(value("1 - pow(1 - 1e-10, 1/10)"), 1.000000000045e-11);
    assert_eq!(
        value("pow(0.5, 5000.5) * pow(2.0, 5000)"),
        std::f64::consts::FRAC_1_SQRT_2
    );
    for wrong in ["pow(2, 0.5)", "log(3, 2)"] {
        let model =
            format!("dtmc const double c = {wrong}; module m s : bool; [] true -> true; endmodule");
        let wrong = built::<BigRational>(&model).unwrap_err();
        assert!(wrong.message.contains("irrational"), "{wrong:?}");
    }
}

#[test]
fn too_many_commands_or_branches_at_a_time_are_an_error() {
    let modules = |commands: &str| {
        let each = |at| {
            format!(
                "module m{at} x{at} : [0..1] init 0; {} endmodule\n",
                commands.replace('x', &format!("x{at}"))
            )
        };
        format!("dtmc\n{}", (0..64).map(each).collect::<String>())
    };
    let commands = modules("[a] true -> (x'=0); [a] true -> (x'=1);");
    let wrong = built::<f64>(&commands).unwrap_err();
    assert!(
        wrong.message.contains("more than 1000000 combinations"),
        "{wrong:?}"
    );
    let branches = modules("[a] true -> 0.5 : (x'=0) + 0.5 : (x'=1);");
    let wrong = built::<f64>(&branches).unwrap_err();
    assert!(
        wrong.message.contains("more than 1000000 branches"),
        "{wrong:?}"
    );
}

#[test]
fn several_branches_to_one_state_are_added_up_without_losing_digits() {
    let branches = vec!["1/60 : (s'=1)"; 30];
    let model = format!(
        "dtmc module m s : [0..2] init 0; [] s=0 -> 0.5 : (s'=2) + {}; [] s>0 -> true; endmodule",
        branches.join(" + ")
    );
    let half = parse_rational("1/2").unwrap();
    assert_eq!(number::<BigRational>(&model, "P=? [ F s=1 ]"), half);
    agrees(&model, "P=? [ X s=1 ]");
}
