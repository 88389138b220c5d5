//! The temporal operators: one table of their names and operands, used by the lexer, the printers, the checker and the editor.

use super::formula::{FormulaId, Formulas, Interval};

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    /// The letter that stands for it: `G`.
    pub letter: &'static str,
    /// The word that means the same: `always`.
    pub word: &'static str,
    /// Number of operands.
    pub arity: usize,
    /// Whether it may have a bound.
    pub takes_bound: bool,
    /// Whether it looks back.
    pub is_past: bool,
    /// Whether it holds where no step is left to look at, as an operator does that need not come true at any step.
    pub is_weak: bool,
    /// For each operand, whether it holds at all steps of a stretch (`f` of `f until g`) rather than at one step (`g`).
    pub throughout: &'static [bool],
    /// Its semantics at a position, in one sentence with both spellings.
    pub meaning: &'static str,
}

/// Declares the operators with so many operands, each with the members of its row.
macro_rules! operators {
    (
        $(#[$docs:meta])* $name:ident, $arity:literal;
        $($(#[$doc:meta])* $variant:ident $letter:literal $word:literal
            bound: $bound:literal, past: $past:literal, weak: $weak:literal, throughout: $throughout:expr,
            near: [$($near:ident),*],
            $meaning:literal;)*
    ) => {
        $(#[$docs])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// All of them, in the order of the language guide.
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// Returns its row of the table.
            pub fn info(self) -> &'static Operator {
                match self {
                    $($name::$variant => &Operator {
                        letter: $letter,
                        word: $word,
                        arity: $arity,
                        takes_bound: $bound,
                        is_past: $past,
                        is_weak: $weak,
                        throughout: &$throughout,
                        meaning: $meaning,
                    },)*
                }
            }

            /// Returns the operators that it is easily confused with, as mutants use them: strong for weak, some for all,
            /// past for future.
            pub fn near(self) -> &'static [$name] {
                match self {
                    $($name::$variant => &[$($name::$near),*],)*
                }
            }

            /// Returns the letter that stands for it.
            pub fn letter(self) -> &'static str {
                self.info().letter
            }

            /// Returns the word that means the same.
            pub fn word(self) -> &'static str {
                self.info().word
            }

            /// Whether it may have a bound.
            pub fn takes_bound(self) -> bool {
                self.info().takes_bound
            }
        }
    };
}

operators! {
    /// Temporal operators with one operand.
    Unary, 1;
    /// `G`
    Always "G" "always" bound: true, past: false, weak: true,
        throughout: [true], near: [Eventually, Historically],
        "`always f`, `G f`: f holds at this step and at every later one";
    /// `F`
    Eventually "F" "eventually" bound: true, past: false, weak: false,
        throughout: [false], near: [Always, Once, Next],
        "`eventually f`, `F f`: f holds at this step or at a later one of the trace";
    /// `X`, strong: false at the last position.
    Next "X" "next" bound: false, past: false, weak: false,
        throughout: [false], near: [WeakNext, Previously, Eventually],
        "`next f`, `X f`: there is a next step, and f holds there";
    /// `N`: true at the last position.
    WeakNext "N" "weak_next" bound: false, past: false, weak: true,
        throughout: [false], near: [Next, WeakPreviously],
        "`weak_next f`, `N f`: f holds at the next step, or this is the last one";
    /// `Y`, strong: false at position 0.
    Previously "Y" "previously" bound: false, past: true, weak: false,
        throughout: [false], near: [WeakPreviously, Next, Once],
        "`previously f`, `Y f`: there is a step before this one, and f held there";
    /// `Z`: true at position 0.
    WeakPreviously "Z" "weak_previously" bound: false, past: true, weak: true,
        throughout: [false], near: [Previously, WeakNext],
        "`weak_previously f`, `Z f`: f held at the step before, or this is the first one";
    /// `O`
    Once "O" "once" bound: true, past: true, weak: false,
        throughout: [false], near: [Historically, Eventually, Previously],
        "`once f`, `O f`: f holds now or held at an earlier step";
    /// `H`
    Historically "H" "historically" bound: true, past: true, weak: true,
        throughout: [true], near: [Once, Always],
        "`historically f`, `H f`: f holds now and held at every earlier step";
}

operators! {
    /// Temporal operators with two operands.
    Binary, 2;
    /// `U`; with a bound the left operand holds from now on, not only from the lower end.
    Until "U" "until" bound: true, past: false, weak: false,
        throughout: [true, false], near: [Unless, Since, Release],
        "`f until g`, `f U g`: g holds now or later, and f at every step before that";
    /// `W`: `(a U b) | G a`
    Unless "W" "unless" bound: false, past: false, weak: true,
        throughout: [true, false], near: [Until, BackTo, Release],
        "`f unless g`, `f W g`: f holds until g does; g need not come, then f always holds";
    /// `R`: `!(!a U !b)`
    Release "R" "release" bound: false, past: false, weak: true,
        throughout: [false, true], near: [StrongRelease, Unless],
        "`f release g`, `f R g`: g holds up to and including the step where f does, or always";
    /// `M`: `(a R b) & F a`
    StrongRelease "M" "strong_release" bound: false, past: false, weak: false,
        throughout: [false, true], near: [Release, Until],
        "`f strong_release g`, `f M g`: as `release`, and f comes";
    /// `S`
    Since "S" "since" bound: false, past: true, weak: false,
        throughout: [true, false], near: [BackTo, Until],
        "`f since g`, `f S g`: g holds now or held earlier, and f at every step after that";
    /// `B`: `(a S b) | H a`
    BackTo "B" "back_to" bound: false, past: true, weak: true,
        throughout: [true, false], near: [Since, Unless],
        "`f back_to g`, `f B g`: as `since`; or f at every step back to the first";
}

/// Returns all rows of the table.
pub fn operators() -> impl Iterator<Item = &'static Operator> {
    let unary = Unary::ALL.iter().map(|op| op.info());
    unary.chain(Binary::ALL.iter().map(|op| op.info()))
}

/// Returns the operator with this letter or word.
pub fn operator(text: &str) -> Option<&'static Operator> {
    operators().find(|op| op.letter == text || op.word == text)
}

impl Formulas {
    /// Returns the operator on one operand. `window` counts only if the operator may have a bound.
    pub fn unary(&mut self, op: Unary, window: Interval, f: FormulaId) -> FormulaId {
        match op {
            Unary::Always => self.always(window, f),
            Unary::Eventually => self.eventually(window, f),
            Unary::Next => self.next(f),
            Unary::WeakNext => self.weak_next(f),
            Unary::Previously => self.previously(f),
            Unary::WeakPreviously => self.weak_previously(f),
            Unary::Once => self.once(window, f),
            Unary::Historically => self.historically(window, f),
        }
    }

    /// Returns the operator between two operands. `window` counts only if the operator may have a bound.
    pub fn binary(
        &mut self,
        op: Binary,
        f: FormulaId,
        window: Interval,
        g: FormulaId,
    ) -> FormulaId {
        match op {
            Binary::Until => self.until(f, window, g),
            Binary::Unless => self.unless(f, g),
            Binary::Release => self.release(f, g),
            Binary::StrongRelease => self.strong_release(f, g),
            Binary::Since => self.since(f, g),
            Binary::BackTo => self.back_to(f, g),
        }
    }
}
