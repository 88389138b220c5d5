//! Every integration test, in one binary: it links once. `cargo test --test it cli_audit::` runs one module.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod automata_chains;
mod automata_conformance;
mod automata_large;
mod automata_properties;
mod automata_scale;
mod calibrate;
mod check_ui;
mod claude_code;
mod cli_audit;
mod cli_basics;
mod cli_check;
mod cli_counted;
mod cli_draft;
mod cli_fmt;
mod cli_monitor;
mod cli_query;
mod cli_test;
mod cli_verify;
mod compiled_models;
mod conformance;
mod deferred_texts;
mod differential;
mod doc;
mod docs;
mod dtmc_conformance;
mod editor;
mod editors;
mod eval_judging;
mod examples;
mod facade;
mod forecast;
mod formats_arbitrary;
mod formats_corpora;
mod formats_fixtures;
mod formats_questions;
mod formats_shapes;
mod guarantees;
mod hook;
mod input_accounting;
mod input_corpora;
mod input_differential;
mod input_edges;
mod input_open;
mod kripke_conformance;
mod kripke_properties;
mod learn;
mod lint_properties;
mod lsp;
mod markov_analysis;
mod model_corpora;
mod monitor;
mod monitor_agreement;
mod monitor_corpora;
mod monitor_examples;
mod monitor_faults;
mod monitor_models;
mod monitor_protocol;
mod nl_conformance;
mod nl_paraphrases;
mod nl_scenarios;
mod omega_conformance;
mod omega_hoa;
mod omega_properties;
mod patterns;
mod plans;
mod project;
mod proxy;
mod query_models;
mod recipe_english;
mod recipes;
mod reference_conformance;
mod reference_expressions;
mod reference_properties;
mod report_formats;
mod requirement_reports;
mod risk_example;
mod scenarios;
mod serve;
mod shell;
mod stdlib;
mod stdlib_mutants;
mod support;
mod syntax_accept;
mod syntax_diagnostic;
mod syntax_format;
mod syntax_print;
mod syntax_ui;
mod system_properties;
mod tidy;
