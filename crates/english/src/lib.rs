//! Requirements in plain English as temporal formulas ([`draft`]), and temporal formulas in plain English ([`words`]).

pub mod draft;
pub mod words;
