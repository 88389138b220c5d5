//! Requirements in controlled English ([`controlled`]), drafts of documents in plain English ([`draft`], with a [`language_model`] if
//! there is one), and temporal formulas in English ([`words`]).

pub mod controlled;
pub mod draft;
pub mod language_model;
mod pattern;
mod propose;
pub mod words;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
