//! Formulas in plain English.
//!
//! [`Logic`] is a temporal formula over situations that have names. It is what a draft makes of a sentence, and what the
//! formulas of a spec are turned into to be read out; [`sentence`] puts one into words, part by part, so that nothing of
//! the formula is lost. For the forms that requirements have, the sentence drafts back to the same formula.

mod english;
pub mod formula;
mod lists;
mod measure;

pub use english::sentence;
pub(crate) use english::{Speaker, ahead, back, is_simple, length, times};
pub use formula::{Binary, Logic, Unary, Window, Writer};
pub(crate) use lists::{first_letter, is_listed, list, one_line, sections, stem, stems, words_of};
pub use measure::{Ratio, Unit};
