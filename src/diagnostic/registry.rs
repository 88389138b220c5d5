//! Every diagnostic code, declared once.
//!
//! A code is `Gxxyy`: `01` syntax, `02` names, `03` types and units, `04` lowering and limits,
//! `05` data and models, `06` evaluation, `09` style. A code is never used again for another thing.
//! To add one: a line in the table below, and a page `codes/Gxxyy.md` with what it means, a failing
//! example and a fixed one.

use super::Severity;

/// Declares the codes: `CODE severity "name" "summary"`, one line each.
macro_rules! codes {
    ($($code:ident $severity:ident $name:literal $summary:literal;)*) => {
        /// A diagnostic code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $summary] $code,)*
        }

        impl Code {
            /// All codes, in order.
            pub const ALL: &[Code] = &[$(Code::$code),*];

            /// The code as it is shown: `G0101`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$code => stringify!($code),)* }
            }

            /// A name that reads well after "allow".
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Code::$code => $name,)* }
            }

            /// One line on what it reports.
            #[must_use]
            pub fn summary(self) -> &'static str {
                match self { $(Code::$code => $summary,)* }
            }

            /// The severity unless a pass says otherwise.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Code::$code => Severity::$severity,)* }
            }

            /// The page that explains it, in Markdown.
            #[must_use]
            pub fn page(self) -> &'static str {
                match self {
                    $(Code::$code => include_str!(concat!("codes/", stringify!($code), ".md")),)*
                }
            }
        }
    };
}

codes! {
    // 01 syntax
    G0101 Error "syntax" "something else was expected here";
    G0102 Error "unbalanced-bracket" "a bracket has no partner";
    G0103 Error "not-an-item" "an item was expected";
    G0104 Error "misplaced-item" "an item begins in column 0 of its own line";
    G0105 Error "bad-character" "a character is no part of the language";
    G0106 Error "unterminated-literal" "a string, regular expression or comment does not end";
    G0107 Error "bad-number" "a number touches letters";
    G0108 Error "bad-escape" "a string has an unknown escape";
    G0109 Error "bad-interpolation" "the braces of a message are wrong";
    G0110 Error "wrong-operator" "an operator of another language";
    G0111 Error "ambiguous-formula" "a formula can be read in two ways";
    G0112 Error "unknown-logic" "a logic is `ltl`, `ctl` or `pctl`";
    G0113 Error "no-bound" "this temporal operator takes no bound";
    G0114 Error "other-language" "the file is written in another language";

    // 02 names
    G0201 Error "unknown-name" "a name that nothing declares";
    G0202 Error "duplicate-name" "a name that is declared twice";
    G0203 Error "predefined-name" "a predefined name is declared again";
    G0204 Error "unknown-module" "a module that cannot be found or read";
    G0205 Error "import-cycle" "modules that import one another in a circle";
    G0206 Error "unknown-import" "a name that the module does not declare";
    G0208 Error "recursive-definition" "a definition that uses itself";
    G0209 Error "wrong-kind-of-name" "a name that means another kind of thing";

    // 03 types and units
    G0301 Error "type-mismatch" "a value of another type is asked for";
    G0302 Error "not-a-condition" "a condition is asked for";
    G0303 Error "wrong-operands" "an operator between types it is not defined on";
    G0304 Error "wrong-arguments" "a wrong number of arguments, or an argument of another name";
    G0305 Error "unknown-member" "a member that the type does not have";
    G0306 Error "no-such-cast" "a cast that can never succeed";
    G0307 Error "indefinite-number" "arithmetic on what may be no number";
    G0308 Warning "never-equal" "a comparison that has only one outcome";
    G0309 Warning "null-equals-null" "both sides of `==` may be null, and null equals null";
    G0310 Error "formula-as-value" "a formula about the future where a value is asked for";
    G0311 Error "timeless-property" "a property without a temporal operator";
    G0312 Error "quantified-name-as-value" "a quantified name that is not compared";
    G0313 Error "inner-quantifier" "a quantifier that is not outermost";
    G0314 Error "wrong-bound" "a bound that is empty, mixed, too large or no number";
    G0315 Error "wrong-regex" "a regular expression that cannot be used";
    G0316 Error "wrong-path" "a path that is neither a JSON pointer nor a JSONPath";
    G0317 Error "wrong-attribute" "an attribute that is unknown or misplaced";
    G0318 Error "wrong-layout" "a clause of the `trace` or `event` block that does not fit";
    G0319 Error "wrong-test" "a test that says something else than events and verdicts";
    G0320 Error "wrong-track" "a track or constant that reads what it cannot";
    G0321 Error "before-of-condition" "`before` of a condition";
    G0322 Error "number-too-large" "a number that does not fit";
    G0323 Error "wrong-format" "a format that does not exist or does not fit";
    G0324 Error "second-block" "a block or clause that stands twice";
    G0325 Error "misplaced-prime" "a prime where there is no next state";
    G0326 Error "incomplete-cases" "`cases` without `else`, or arms after it";

    G0330 Error "no-subject" "a formula about models or systems that names none";
    G0331 Error "wrong-logic" "a formula in another logic than is asserted";
    G0332 Error "path-or-state" "a formula of a path where one of a state is asked for, or a number where a condition is";
    G0333 Error "wrong-threshold" "a threshold or setting that is no constant number, or is out of range";
    G0334 Error "undecided" "a condition that the states of an abstraction do not decide";
    G0335 Error "not-finite" "a component with infinitely many values";
    G0336 Error "duplicate-component" "a component that tells no more states apart";
    G0337 Error "one-state" "an abstraction that tells no states apart";
    G0338 Error "wrong-setting" "a setting of `learn` that does not fit";
    G0339 Error "no-event" "a value of an event where no event is at hand";
    G0350 Error "wrong-state-type" "a variable of a system whose values do not end, or a system without variables";
    G0351 Error "wrong-initial-value" "a first value of a variable that is no constant or none of its values";
    G0352 Error "not-of-a-state" "something else than the state of a system, where that is spoken of";
    G0353 Error "wrong-update" "a change that a command of a system cannot make";
    G0354 Error "mixed-worlds" "a formula about events and states at once";
    G0355 Error "wrong-composition" "a composition of what cannot be composed";
    G0356 Error "wrong-probability" "probabilities of a command that are none, or do not sum to one";
    // 037 enforcement
    G0370 Error "unknown-enforced" "`enforce` of something that has no verdict";
    G0371 Error "wrong-arm" "an arm that does not fit what the clause watches";
    G0372 Error "duplicate-arm" "an arm that stands twice";
    G0373 Error "no-arm" "an `enforce` clause that does nothing";
    G0374 Error "wrong-steps" "`for n steps` without a number of steps";

    // 04 lowering and limits
    G0401 Error "nesting-limit" "brackets and operators nest too deep";
    G0402 Error "too-deep" "definitions or expressions nest beyond a limit";

    // 09 style
    G0901 Warning "stray-doc" "a doc comment documents nothing";
    G0902 Warning "unused" "a definition that nothing uses";
    G0903 Warning "past-at-the-start" "a property that looks back from the first step";
    G0910 Warning "unsatisfiable" "a property that no trace satisfies";
    G0911 Warning "valid" "a property that every trace satisfies";
    G0912 Warning "vacuous" "a part of a property that makes no difference";
    G0913 Warning "conflict" "properties that cannot all be kept";
    G0914 Warning "redundant" "a property that others imply";
    G0915 Hint "fails-at-the-end" "a property that can only fail when the trace ends";
    G0916 Hint "strong-next" "a next step that a trace need not have";
    G0917 Hint "previous-step" "an approval that must stand in the step before";
    G0918 Hint "confirmed-after" "a confirmation that comes after what it is for";
    G0919 Warning "constant-condition" "a condition that is always true or always false";
    G0920 Warning "unreachable-arm" "an arm of `cases` that nothing reaches";
    G0921 Warning "redundant-arm" "an arm of `cases` that makes no difference";
    G0922 Hint "absent-key" "a quantified name that null is never a value of";
    G0923 Warning "forgiven-window" "a bound that the end of the trace forgives without cutting it off";
    G0940 Warning "after-the-fact" "an action that can only come after what it is to prevent";
    G0941 Warning "mild-action" "an action that is weaker than the severity of the property";
    G0942 Warning "only-the-end" "a step is to be denied that no step violates";
    G0943 Warning "unreached-tier" "a tier that no state of the model reaches";
    G0950 Hint "todo" "a condition that is still to be written";
    G0951 Warning "requirement-differs" "a requirement whose formula may not say what its sentence says";
}

impl Code {
    /// The code written as `text`, in any case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.as_str().eq_ignore_ascii_case(text))
    }

    /// The code that this name, or the code itself, stands for.
    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        Self::by_name(text).or_else(|| Self::parse(text))
    }

    /// The code with this name; `_` may stand for `-`, so that `@allow(strong_next)` can be said without quotes.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        let name = name.replace('_', "-");
        Self::ALL.iter().copied().find(|code| code.name() == name)
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
