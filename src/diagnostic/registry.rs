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

    // 04 lowering and limits
    G0401 Error "nesting-limit" "brackets and operators nest too deep";

    // 09 style
    G0901 Warning "stray-doc" "a doc comment documents nothing";
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

    /// The code with this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.name() == name)
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
