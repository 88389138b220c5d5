//! Requirements in controlled English ([`controlled`]), drafts of documents in plain English ([`draft`]), and temporal formulas in
//! English ([`words`]).

pub mod controlled;
pub mod draft;
mod propose;
pub mod words;
