//! From plain English to temporal formulas: deterministic, offline, without a model.
//!
//! A sentence goes through a pipeline of small steps, each with one job:
//!
//! ```text
//! text ─▶ input ─▶ token ─▶ number ─▶ phrase ─▶ clause ─▶ main_clause ─▶ oblige │ prohibit │ permit ─▶ adapt ─▶ result
//!         lists    words    values    function  main and  force, subject          │                     templates
//!         tables   names    units     words     sub       predicate               ▼
//!         CSV                         (lexicon) clauses                 condition ─▶ timing ─▶ atom
//! ```
//!
//! * [`input`](sentences) takes a text apart into requirements.
//! * The *lexicon* is a closed list of the function words and fixed phrases of English that carry the form of a
//!   requirement (modal verbs, connectives, words of time and number). What it does not list is content, and content
//!   only ever becomes part of an atom; so sentences of any subject are read alike.
//! * A main clause has a *force* (must, must not, may), subordinate clauses a kind (if, after, until, unless …), both a
//!   *timing* (within, in the next step, at most twice …). FRET's fields scope, condition, probability, timing and
//!   response are these; the formula is composed from them.
//! * A formula of the form of one of the 23 templates whose concepts are spoken of is given the template's exact shape.
//! * What was read back from a formula is taken apart by the rules that composed it, and is that formula again.
//! * What is vague, ambiguous or empty is declined with the question that would settle it.
//!
//! # What it does not do
//! No parsing of noun phrases: an atom is a stretch of words. No world knowledge beyond the lexicon and the concepts of
//! the templates. One sentence is read at a time; only predicates are shared between the sentences of a document.
//!
//! # Sources
//! D. Giannakopoulou, T. Pressburger, A. Mavridou, J. Schumann: *Formal requirements elicitation with FRET*, 2020; M. B.
//! Dwyer, G. S. Avrunin, J. C. Corbett: *Patterns in property specifications for finite-state verification*, 1999.

mod adapt;
mod atom;
mod clause;
mod compare;
mod condition;
mod controlled;
mod document;
mod domain;
mod example;
mod input;
mod interpret;
mod json;
mod lexicon;
mod likelihood;
mod main_clause;
mod number;
mod oblige;
mod parameter;
mod permit;
mod phrase;
mod prohibit;
mod reading;
mod requirement;
mod respond;
mod result;
mod rewrite;
mod spec;
mod stem;
mod template;
mod timing;
mod token;
mod trigger;
mod unclear;

pub use compare::{Difference, difference};
pub use document::Document;
pub use domain::Domain;
pub use example::{Step, Trace};
pub use input::{Sentence, sentences};
pub use parameter::Key;
pub use reading::Modality;
pub use result::{Alternative, Bound, Draft, NamedAtom, Probability, Status, draft};
