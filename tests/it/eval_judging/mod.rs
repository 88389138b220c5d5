//! The production evaluator: verdicts, tracks, instances, unknown data, explanations.
mod build;
mod conformance;
mod explain;
mod expressions;
mod instances;
mod tracks;
mod unknown;
mod worlds;
