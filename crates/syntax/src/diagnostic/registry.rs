//! Every diagnostic code, declared once.
//!
//! A code is `Gxxyy`: `01` syntax, `02` names, `03` types and units, `04` lowering and limits, `05` data and models,
//! `06` evaluation, `09` style. A code is never reused for something else. To add one, add a line to the table below
//! and a page `codes/Gxxyy.md` with its meaning, a failing example and a fixed one.

use super::Severity;

/// Declares the codes: `CODE severity "name" "summary"`, one line each.
macro_rules! codes {
    ($($code:ident $severity:ident $name:literal $summary:literal;)*) => {
        /// A diagnostic code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum Code {
            $(#[doc = $summary] $code,)*
        }

        impl Code {
            /// All codes, in order.
            pub const ALL: &[Code] = &[$(Code::$code),*];

            /// Returns the code as it is shown: `G0101`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$code => stringify!($code),)* }
            }

            /// Returns a name that reads well after "allow".
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Code::$code => $name,)* }
            }

            /// Returns one line on what it reports.
            #[must_use]
            pub fn summary(self) -> &'static str {
                match self { $(Code::$code => $summary,)* }
            }

            /// Returns the severity unless a pass changes it.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Code::$code => Severity::$severity,)* }
            }

            /// Returns the page that explains it, in Markdown.
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
    G0101 Error "syntax" "syntax error";
    G0102 Error "unbalanced-bracket" "unmatched bracket";
    G0103 Error "not-an-item" "expected an item";
    G0104 Error "misplaced-item" "an item must begin in column 0 of its own line";
    G0105 Error "bad-character" "invalid character";
    G0106 Error "unterminated-literal" "unterminated string, regular expression or comment";
    G0107 Error "bad-number" "a number is followed directly by letters";
    G0108 Error "bad-escape" "unknown escape sequence in a string";
    G0109 Error "bad-interpolation" "mismatched braces in a message";
    G0110 Error "wrong-operator" "operator of another language";
    G0111 Error "ambiguous-formula" "ambiguous formula";
    G0112 Error "unknown-logic" "unknown logic: expected `ltl`, `ctl` or `pctl`";
    G0113 Error "no-bound" "this temporal operator does not take a bound";
    G0114 Error "other-language" "the file is written in another language";
    G0115 Warning "hidden-character" "a character that is not shown, or that turns the order of the text";

    // 02 names
    G0201 Error "unknown-name" "unknown name";
    G0202 Error "duplicate-name" "name declared twice";
    G0203 Error "predefined-name" "predefined name declared again";
    G0204 Error "unknown-module" "module not found or unreadable";
    G0205 Error "import-cycle" "circular imports";
    G0206 Error "unknown-import" "name not declared in the imported module";
    G0208 Error "recursive-definition" "definition that uses itself";
    G0209 Error "wrong-kind-of-name" "name of the wrong kind";

    // 03 types and units
    G0301 Error "type-mismatch" "mismatched types";
    G0302 Error "not-a-condition" "expected a condition";
    G0303 Error "wrong-operands" "operator not defined for these types";
    G0304 Error "wrong-arguments" "wrong number or name of arguments";
    G0305 Error "unknown-member" "unknown member";
    G0306 Error "no-such-cast" "cast that can never succeed";
    G0307 Error "indefinite-number" "arithmetic on a value that may not be a number";
    G0308 Warning "never-equal" "comparison with a constant result";
    G0309 Warning "null-equals-null" "both sides of `==` may be null, and null equals null";
    G0310 Error "formula-as-value" "formula about the future used as a value";
    G0311 Error "timeless-property" "property without a temporal operator";
    G0312 Error "quantified-name-as-value" "quantified name that is never compared";
    G0313 Error "inner-quantifier" "quantifier that is not outermost";
    G0314 Error "wrong-bound" "invalid bound: empty, mixed units, too large or not a number";
    G0315 Error "wrong-regex" "invalid regular expression";
    G0316 Error "wrong-path" "expected a JSON pointer or a JSONPath";
    G0317 Error "wrong-attribute" "unknown or misplaced attribute";
    G0318 Error "wrong-layout" "invalid clause in the `trace` or `event` block";
    G0319 Error "wrong-test" "invalid `given` or `expect` in a test";
    G0320 Error "wrong-track" "track or constant that reads an unavailable value";
    G0321 Error "before-of-condition" "`before` of a condition";
    G0322 Error "number-too-large" "number out of range";
    G0323 Error "wrong-format" "unknown or inapplicable format";
    G0324 Error "second-block" "duplicate block or clause";
    G0325 Error "misplaced-prime" "prime where there is no next state";
    G0326 Error "incomplete-cases" "`cases` without `else`, or arms after it";

    G0330 Error "no-subject" "formula about models or systems that names none";
    G0331 Error "wrong-logic" "formula in another logic than asserted";
    G0332 Error "path-or-state" "path formula used where a state formula is required, or number used as a condition";
    G0333 Error "wrong-threshold" "threshold or setting that is not a constant number or is out of range";
    G0334 Error "undecided" "condition not determined by the states of the abstraction";
    G0335 Error "not-finite" "component with infinitely many values";
    G0336 Error "duplicate-component" "component that distinguishes no further states";
    G0337 Error "one-state" "abstraction with a single state";
    G0338 Error "wrong-setting" "invalid setting of `learn`";
    G0339 Error "no-event" "value of an event used where there is no event";
    G0340 Error "not-on-a-model" "operator that formulas on a model do not support";
    G0350 Error "wrong-state-type" "system variable with infinitely many values, or system without variables";
    G0351 Error "wrong-initial-value" "initial value that is not a constant or not a value of the variable";
    G0352 Error "not-of-a-state" "formula about a system that reads more than its state";
    G0353 Error "wrong-update" "change that a command cannot make";
    G0354 Error "mixed-worlds" "formula that mixes events and states";
    G0355 Error "wrong-composition" "invalid composition";
    G0356 Error "wrong-probability" "probabilities of a command that are invalid or do not sum to 1";
    // 037 enforcement
    G0370 Error "unknown-enforced" "`enforce` of a name without a verdict";
    G0371 Error "wrong-arm" "arm that does not fit the clause";
    G0372 Error "duplicate-arm" "duplicate arm";
    G0373 Error "no-arm" "`enforce` clause without effect";
    G0374 Error "wrong-steps" "`for n steps` without a valid number of steps";

    // 04 lowering and limits
    G0401 Error "nesting-limit" "brackets and operators nested too deeply";
    G0402 Error "too-deep" "definitions or expressions nested beyond a limit";

    // 09 style
    G0901 Warning "stray-doc" "doc comment that documents nothing";
    G0902 Warning "unused" "unused definition";
    G0903 Warning "past-at-the-start" "property that looks back from the first step";
    G0910 Warning "unsatisfiable" "property that no trace satisfies";
    G0911 Warning "valid" "property that every trace satisfies";
    G0912 Warning "vacuous" "part of a property that makes no difference";
    G0913 Warning "conflict" "properties that cannot all be satisfied";
    G0914 Warning "redundant" "property implied by others";
    G0915 Hint "fails-at-the-end" "property that can only fail when the trace ends";
    G0916 Hint "strong-next" "strong `next` that fails at the end of a trace";
    G0917 Hint "previous-step" "approval required in the immediately preceding step";
    G0918 Hint "confirmed-after" "confirmation that comes after the action";
    G0919 Warning "constant-condition" "condition that is always true or always false";
    G0920 Warning "unreachable-arm" "unreachable arm of `cases`";
    G0921 Warning "redundant-arm" "arm of `cases` that makes no difference";
    G0922 Hint "absent-key" "a quantified name that null is never a value of";
    G0923 Warning "forgiven-window" "a bound that the end of the trace forgives without cutting it off";
    G0924 Warning "fails-open" "cast whose failure lets an action through";
    G0925 Warning "never-implies" "implication that must never hold";
    G0926 Hint "json-length" "key `length` of a value that may be a list";
    G0927 Hint "shifted-window" "window in time that counts from the next step, or the one before";
    G0928 Warning "text-for-number" "comparison with a number that a text passes";
    G0929 Hint "first-step" "implication that is about the first step only";
    G0940 Warning "after-the-fact" "action that can only come after what it should prevent";
    G0941 Warning "mild-action" "action weaker than the severity of the property";
    G0942 Warning "only-the-end" "denial of a step that no step can trigger";
    G0943 Warning "unreached-tier" "threshold that no state of the model reaches";
    G0944 Warning "asked-again" "question about every action after a limit was passed";
    G0945 Warning "unused-key" "key of a track, or quantified name with a range, that makes no difference";
    G0946 Warning "never-recovers" "denial of every step after a violation";
    G0947 Warning "unjudged-module" "imported module with properties or clauses of its own";
    G0948 Warning "idle-arm" "arm of a clause that no trace triggers";
    G0950 Hint "todo" "condition not yet written";
    G0951 Warning "requirement-differs" "requirement whose formula may differ from its sentence";
    G0952 Warning "uncontrolled-requirement" "requirement whose sentence is not controlled English";
}

impl Code {
    /// Returns the code with this text, ignoring case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.as_str().eq_ignore_ascii_case(text))
    }

    /// Returns the code with this name or number.
    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        Self::by_name(text).or_else(|| Self::parse(text))
    }

    /// Returns the code with this name; `_` may be used for `-`, so that `@allow(strong_next)` needs no quotes.
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
