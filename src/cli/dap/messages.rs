//! The messages of the Debug Adapter Protocol (1.71) that this adapter reads and writes, by `serde`.
//!
//! Members that it does not use are left out; unknown members of requests are ignored, as the protocol requires.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A message of the client.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Incoming {
    Request(Request),
    /// The answer to a request of the adapter, which sends none.
    Response {},
}

#[derive(Debug, Deserialize)]
pub(super) struct Request {
    pub(super) seq: i64,
    pub(super) command: String,
    #[serde(default)]
    pub(super) arguments: Json,
}

/// A message to the client.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Outgoing<'a> {
    Response {
        seq: i64,
        request_seq: i64,
        success: bool,
        command: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
        #[serde(skip_serializing_if = "Json::is_null")]
        body: Json,
    },
    Event {
        seq: i64,
        event: &'a str,
        #[serde(skip_serializing_if = "Json::is_null")]
        body: Json,
    },
}

/// The conventions of the client.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct InitializeArguments {
    pub(super) lines_start_at1: bool,
    pub(super) columns_start_at1: bool,
}

impl Default for InitializeArguments {
    fn default() -> InitializeArguments {
        InitializeArguments {
            lines_start_at1: true,
            columns_start_at1: true,
        }
    }
}

/// The capabilities of the adapter.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Capabilities {
    pub(super) supports_configuration_done_request: bool,
    pub(super) supports_conditional_breakpoints: bool,
    pub(super) supports_evaluate_for_hovers: bool,
    pub(super) supports_step_back: bool,
    pub(super) supports_restart_request: bool,
    pub(super) supports_terminate_request: bool,
    pub(super) supports_exception_info_request: bool,
    pub(super) supports_breakpoint_locations_request: bool,
    pub(super) supports_clipboard_context: bool,
    pub(super) exception_breakpoint_filters: Vec<ExceptionFilter>,
}

#[derive(Debug, Serialize)]
pub(super) struct ExceptionFilter {
    pub(super) filter: &'static str,
    pub(super) label: &'static str,
    pub(super) description: &'static str,
    pub(super) default: bool,
}

/// The trace to step through.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LaunchArguments {
    /// The path of the spec.
    pub(super) spec: String,
    /// The path of the recorded traces.
    pub(super) runs: Option<String>,
    /// The name of the trace; by default the first that violates the property, else the first.
    pub(super) trace: Option<String>,
    /// The name of a test of the spec.
    pub(super) test: Option<String>,
    /// The property that is shown first; by default the first that is violated.
    pub(super) property: Option<String>,
    /// The format of the recorded traces, as `--from` takes it.
    pub(super) from: Option<String>,
    /// Whether to stop at the first step.
    #[serde(default = "yes")]
    pub(super) stop_on_entry: bool,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Source {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct SetBreakpointsArguments {
    pub(super) source: Source,
    #[serde(default)]
    pub(super) breakpoints: Vec<SourceBreakpoint>,
}

#[derive(Debug, Deserialize)]
pub(super) struct SourceBreakpoint {
    pub(super) line: i64,
    pub(super) condition: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct Breakpoint {
    pub(super) id: i64,
    pub(super) verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    pub(super) line: i64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BreakpointLocationsArguments {
    pub(super) source: Source,
    pub(super) line: i64,
    pub(super) end_line: Option<i64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct SetExceptionBreakpointsArguments {
    pub(super) filters: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StackTraceArguments {
    pub(super) start_frame: Option<usize>,
    pub(super) levels: Option<usize>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StackFrame {
    pub(super) id: i64,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<Source>,
    pub(super) line: i64,
    pub(super) column: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_line: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_column: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) presentation_hint: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Scope {
    pub(super) name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) presentation_hint: Option<&'static str>,
    pub(super) variables_reference: usize,
    pub(super) named_variables: usize,
    pub(super) expensive: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct VariablesArguments {
    pub(super) variables_reference: usize,
    pub(super) start: Option<usize>,
    pub(super) count: Option<usize>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) value: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(super) ty: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) evaluate_name: Option<String>,
    pub(super) variables_reference: usize,
    /// The number of its elements, which a client can request in parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) indexed_variables: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EvaluateArguments {
    pub(super) expression: String,
    pub(super) context: Option<String>,
    pub(super) frame_id: Option<i64>,
}
