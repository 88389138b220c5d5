//! Drafts of requirements: sentences and documents as formulas, proposals, or questions.
//!
//! A sentence of [controlled English](crate::controlled) is its formula. Any other is never guessed: it gets *proposals*, sentences of
//! controlled English that somebody has to choose from, each pair with a shortest trace that tells them apart; or it is declined with
//! what could not be placed. Every line of a document is accounted for.
//!
//! The result depends on the text alone. One sentence is read at a time, with the heading and the lead-in that it stands under;
//! situations are shared between the sentences of a document by their words.

mod compare;
mod document;
mod example;
mod ground;
mod input;
mod json;
mod reading;
mod result;
mod spec;
mod speech;

pub use compare::{Difference, difference};
pub use document::{Accept, Document, drafts};
pub use example::{Step, Trace, equivalent};
pub use ground::{Grounding, Tool};
pub use input::{Line, lines};
pub use reading::{Reading, Telling};
pub use result::{Draft, Status, draft};
