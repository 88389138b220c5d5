//! Tokens, and the one table of words.
//!
//! There are two kinds of words. *Reserved* words are never names (except after `.` and before `:`, which a second pass
//! over the tokens handles). *Contextual* words are tokens that the grammar's rule `Name` also accepts. `any`, `all`
//! and `count` are names that become keywords by look-ahead.

use std::sync::LazyLock;

use guard_automata::{Operator, operator};

/// Declares the token type from its spelling; the tables of words come from the same lines.
macro_rules! tokens {
    (
        special { $($special:ident $special_text:literal,)* }
        symbols { $($symbol:ident $symbol_text:literal,)* }
        reserved { $($reserved:ident $reserved_text:literal,)* }
        contextual { $($contextual:ident $contextual_text:literal,)* }
    ) => {
        /// A token as the grammar sees it; its text is that of its span.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each variant is named after its text")]
        pub enum Token { $($special,)* $($symbol,)* $($reserved,)* $($contextual,)* }

        /// Words that are never plain names.
        pub const RESERVED_WORDS: &[&str] = &[$($reserved_text,)*];

        /// Words that mean something in one place and are plain names elsewhere.
        pub const CONTEXTUAL_WORDS: &[&str] = &[$($contextual_text,)*];

        impl Token {
            /// All tokens, in the order of their numbers.
            const ALL: &[Token] = &[
                $(Token::$special,)* $(Token::$symbol,)* $(Token::$reserved,)* $(Token::$contextual,)*
            ];

            /// Returns the token of a word; plain names give [`Token::Name`].
            #[must_use]
            pub fn of_word(word: &str) -> Self {
                match word {
                    $($reserved_text => Self::$reserved,)*
                    $($contextual_text => Self::$contextual,)*
                    _ => Self::Name,
                }
            }

            /// Returns its text, or a few words for tokens with many texts.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$special => $special_text,)*
                    $(Self::$symbol => $symbol_text,)*
                    $(Self::$reserved => $reserved_text,)*
                    $(Self::$contextual => $contextual_text,)*
                }
            }

            /// Whether it is a word that the grammar also takes as a name.
            #[must_use]
            pub fn is_contextual(self) -> bool {
                matches!(self, $(Self::$contextual)|*)
            }

            /// Whether it is a reserved word.
            #[must_use]
            pub fn is_reserved(self) -> bool {
                matches!(self, $(Self::$reserved)|*)
            }
        }
    };
}

tokens! {
    special {
        StartItem "start of an item",
        StartExpr "start of an expression",
        Name "a name",
        RangeName "a name before `..`",
        Int "a whole number",
        Float "a number",
        Percent "a percentage",
        Duration "a duration",
        String "a string",
        Regex "a regular expression",
        BoundOpen "a bound",
        NotIn "not in",
        LeadsTo "leads to",
        StepsWhen "steps when",
        AnyOf "any",
        AllOf "all",
        CountOf "count",
        CountWindow "count window",
        StepUnit "steps",
        Unknown "an unknown symbol",
    }
    symbols {
        LParen "(", RParen ")", LBracket "[", RBracket "]", LBrace "{", RBrace "}",
        Dot ".", DotDot "..", Comma ",", Colon ":", Prime "'", At "@", Question "?",
        Coalesce "??", Assign "=", EqEq "==", NotEq "!=", Less "<", LessEq "<=", Greater ">",
        GreaterEq ">=", FatArrow "=>", Arrow "->", DoubleArrow "<->", DoubleFatArrow "<=>",
        Amp "&", AmpAmp "&&", Pipe "|", PipePipe "||", Bang "!", Plus "+", Minus "-", Star "*",
        Slash "/", EqQuestion "=?",
    }
    reserved {
        And "and", Or "or", Not "not", In "in", As "as", If "if", Then "then", Else "else",
        Cases "cases", When "when", True "true", False "false", Null "null",
        Matches "matches", Contains "contains", StartsWith "starts_with", EndsWith "ends_with",
        Within "within", Precedes "precedes", List "list", Set "set", Map "map",
        Forall "forall", Exists "exists",
        Always "always", Eventually "eventually", Next "next", WeakNext "weak_next",
        Until "until", Unless "unless", Release "release", StrongRelease "strong_release",
        Previously "previously", WeakPreviously "weak_previously", Once "once",
        Historically "historically", Since "since", BackTo "back_to", Never "never",
        LetterG "G", LetterF "F", LetterX "X", LetterN "N", LetterU "U", LetterW "W",
        LetterR "R", LetterM "M", LetterY "Y", LetterZ "Z", LetterO "O", LetterH "H",
        LetterS "S", LetterB "B", LetterA "A", LetterE "E", LetterP "P",
        Ag "AG", Af "AF", Ax "AX", Eg "EG", Ef "EF", Ex "EX",
    }
    contextual {
        Use "use", Const "const", Enum "enum", Record "record", Let "let", Trace "trace",
        Event "event", Predicate "predicate", Track "track", Unsafe "unsafe",
        Property "property", Rule "rule", Template "template", Requirement "requirement",
        Abstraction "abstraction", Model "model", Query "query", Enforce "enforce",
        System "system", Component "component", Compose "compose", Test "test",
        Ordered "ordered", Events "events", Lines "lines", Each "each", Records "records",
        Join "join",
        Id "id", Meta "meta", Complete "complete", Where "where", Format "format", From "from",
        Message "message", Step "step", Steps "steps", End "end", Formal "formal", Over "over",
        Valid "valid", Absorbing "absorbing", Terminal "terminal", Reward "reward",
        Learn "learn", Load "load", Import "import", Smoothing "smoothing", By "by",
        Order "order", Pac "pac", Epsilon "epsilon", Delta "delta", On "on",
        Violated "violated", Satisfied "satisfied", PresumablyViolated "presumably_violated",
        PresumablySatisfied "presumably_satisfied", UnknownWord "unknown", For "for",
        Unseen "unseen", Log "log", Warn "warn", Reflect "reflect", Ask "ask",
        Invoke "invoke", Block "block", Stop "stop", Error "error", Allow "allow",
        State "state", Init "init", Label "label", Assume "assume", Guarantee "guarantee",
        Given "given", Expect "expect", AtWord "at", LetterC "C", LetterI "I",
    }
}

/// Words that begin an item in column 0.
pub const ITEM_WORDS: &[&str] = &[
    "use",
    "const",
    "enum",
    "record",
    "let",
    "trace",
    "event",
    "predicate",
    "track",
    "unsafe",
    "property",
    "rule",
    "template",
    "requirement",
    "abstraction",
    "model",
    "query",
    "enforce",
    "system",
    "component",
    "compose",
    "test",
];

/// Words that become keywords by look-ahead.
pub const LOOK_AHEAD_WORDS: &[&str] = &["any", "all", "count"];

/// Returns the temporal words with their letters: operators with one operand, then those with two.
pub fn temporal_words() -> impl Iterator<Item = (&'static str, &'static str)> {
    guard_automata::operators().map(|op| (op.word, op.letter))
}

impl Token {
    /// Whether it begins an item in column 0.
    #[must_use]
    pub fn begins_item(self) -> bool {
        self.is_contextual() && ITEM_WORDS.contains(&self.text())
    }

    /// Whether it is a name or a word that may be one.
    #[must_use]
    pub fn is_name(self) -> bool {
        matches!(self, Self::Name | Self::RangeName) || self.is_contextual()
    }

    /// Whether a value may end with it, so that `/` after it divides.
    #[must_use]
    pub fn ends_operand(self) -> bool {
        self.is_name()
            || matches!(
                self,
                Self::Int
                    | Self::Float
                    | Self::Percent
                    | Self::Duration
                    | Self::String
                    | Self::Regex
                    | Self::True
                    | Self::False
                    | Self::Null
                    | Self::RParen
                    | Self::RBracket
                    | Self::RBrace
                    | Self::Prime
                    | Self::Question
            )
    }

    /// Whether it compares two values.
    #[must_use]
    pub fn is_relation(self) -> bool {
        matches!(
            self,
            Self::EqEq
                | Self::NotEq
                | Self::Less
                | Self::LessEq
                | Self::Greater
                | Self::GreaterEq
                | Self::In
                | Self::NotIn
                | Self::Contains
                | Self::StartsWith
                | Self::EndsWith
                | Self::Matches
        )
    }

    /// Whether `[` after it opens a bound.
    #[must_use]
    pub fn is_temporal(self) -> bool {
        self.takes_bound() || self.refuses_bound()
    }

    /// Returns the temporal operator of this token, spelled as a letter or as a word.
    #[must_use]
    pub fn operator(self) -> Option<&'static Operator> {
        // Looked up by number: a search by text took a sixth of the time of parsing a spec.
        static OPERATORS: LazyLock<Vec<Option<&Operator>>> = LazyLock::new(|| {
            let all = Token::ALL.iter();
            all.map(|token| operator(token.text())).collect()
        });
        OPERATORS.get(self as usize).copied().flatten()
    }

    /// Whether it is a temporal operator that may have a bound.
    #[must_use]
    pub fn takes_bound(self) -> bool {
        self.operator().is_some_and(|op| op.takes_bound)
    }

    /// Whether it is a temporal operator without a bounded form.
    #[must_use]
    pub fn refuses_bound(self) -> bool {
        match self.operator() {
            Some(op) => !op.takes_bound,
            None => matches!(
                self,
                Self::Never | Self::Ag | Self::Af | Self::Ax | Self::Eg | Self::Ef | Self::Ex
            ),
        }
    }

    /// Whether it continues an expression at the beginning of a line.
    ///
    /// `-`, `R`, `S`, `not` and brackets are absent: they begin a new arm of `cases`.
    #[must_use]
    pub fn continues_line(self) -> bool {
        matches!(
            self,
            Self::And
                | Self::Or
                | Self::Amp
                | Self::AmpAmp
                | Self::Pipe
                | Self::PipePipe
                | Self::Arrow
                | Self::DoubleArrow
                | Self::DoubleFatArrow
                | Self::FatArrow
                | Self::EqEq
                | Self::NotEq
                | Self::Less
                | Self::LessEq
                | Self::Greater
                | Self::GreaterEq
                | Self::In
                | Self::NotIn
                | Self::Contains
                | Self::StartsWith
                | Self::EndsWith
                | Self::Matches
                | Self::Plus
                | Self::Star
                | Self::Slash
                | Self::Coalesce
                | Self::As
                | Self::Then
                | Self::Else
                | Self::Until
                | Self::LetterU
                | Self::Unless
                | Self::LetterW
                | Self::Release
                | Self::StrongRelease
                | Self::LetterM
                | Self::Since
                | Self::BackTo
                | Self::LetterB
                | Self::LeadsTo
                | Self::Precedes
                | Self::Within
                | Self::Dot
                | Self::DotDot
                | Self::Comma
                | Self::Colon
                | Self::Prime
                | Self::Question
                | Self::Assign
                | Self::RParen
                | Self::RBracket
                | Self::RBrace
        )
    }
}
