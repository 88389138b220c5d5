//! The corpora of recorded runs, and the specs with questions about them.

use std::path::Path;

/// A corpus, and how its published answers are read.
pub(crate) struct Corpus {
    /// The name of the spec below `examples/corpora`.
    pub spec: &'static str,
    /// The folder of the data.
    pub folder: &'static str,
    /// The files that contain traces; folders also contain labels and answers.
    pub glob: &'static str,
    /// Returns the name that the answers use for a trace.
    pub name: fn(&str) -> String,
    /// Returns the index of the last step, for an answer of "end", from the file and the number of steps.
    pub end: fn(&Path, u64) -> Option<u64>,
    /// Questions whose answer names another step than the one at which the verdict becomes final.
    pub other_step: &'static [(&'static str, Step)],
}

/// The step that an answer names.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    /// The step at which the verdict becomes final.
    Final,
    /// The step that triggers the obligation; the violation is certain only later.
    Trigger,
    /// The final step, in a list that begins after a header.
    AfterHeader,
}

const PLAIN: Corpus = Corpus {
    spec: "",
    folder: "",
    glob: "",
    name: str::to_owned,
    end: |_, steps| steps.checked_sub(1),
    other_step: &[],
};

/// All corpora with questions.
pub(crate) const CORPORA: &[Corpus] = &[
    Corpus {
        spec: "agentdojo_drift",
        folder: "agentdojo-drift",
        glob: "gpt-4o-mini-2024-07-18/**/*.json",
        ..PLAIN
    },
    Corpus {
        spec: "agentdojo_jsonl",
        folder: "agentdojo-jsonl",
        glob: "*.jsonl",
        ..PLAIN
    },
    Corpus {
        spec: "agentdojo_luna",
        folder: "agentdojo-luna",
        glob: "codex2/**/*.json",
        ..PLAIN
    },
    Corpus {
        spec: "agentdyn",
        folder: "agentdyn",
        glob: "*/github/**/*.json",
        ..PLAIN
    },
    Corpus {
        spec: "anthropic_managed",
        folder: "anthropic-managed",
        glob: "*.jsonl",
        ..PLAIN
    },
    Corpus {
        spec: "apollo_av",
        folder: "apollo-av",
        glob: "{result,result1,test}.json",
        ..PLAIN
    },
    Corpus {
        spec: "claude_code",
        folder: "claude-code",
        glob: "*/*",
        // Every record is a step, and some are several.
        end: |file, _| {
            let text = std::fs::read_to_string(file).unwrap();
            (text.lines().count() as u64).checked_sub(1)
        },
        ..PLAIN
    },
    Corpus {
        spec: "codex_rollout",
        folder: "codex-rollout",
        glob: "*.jsonl",
        ..PLAIN
    },
    Corpus {
        spec: "embodied",
        folder: "embodied",
        glob: "*_records.jsonl",
        ..PLAIN
    },
    Corpus {
        spec: "gemini_cli",
        folder: "gemini-cli",
        glob: "session-*.json",
        ..PLAIN
    },
    Corpus {
        spec: "mcp_sessions",
        folder: "mcp-sessions",
        glob: "*.{jsonl,log}",
        ..PLAIN
    },
    Corpus {
        spec: "openagentsafety",
        folder: "openagentsafety",
        glob: "traj_*.json",
        ..PLAIN
    },
    Corpus {
        spec: "otel_genai",
        folder: "otel-genai",
        glob: "{any-agent,smoltrace}/**/*trace*.json",
        name: |id| match id
            .strip_suffix("#0")
            .filter(|_| id.starts_with("any-agent"))
        {
            Some(file) => file.to_owned(),
            None => id.replace("/traces#", "#"),
        },
        // That a parent is missing is certain only at the end; the answer names the child.
        other_step: &[("otel-3", Step::Trigger)],
        ..PLAIN
    },
    Corpus {
        spec: "r_judge",
        folder: "r-judge",
        glob: "{benign,harmful}.json",
        ..PLAIN
    },
    Corpus {
        spec: "redcode_python",
        folder: "redcode-python",
        glob: "*.jsonl",
        ..PLAIN
    },
    Corpus {
        spec: "swe_agent",
        folder: "swe-agent",
        glob: "*.traj",
        // That a step is not the last is certain only at the next one.
        other_step: &[("swe-2", Step::Trigger)],
        ..PLAIN
    },
    Corpus {
        spec: "tau_bench",
        folder: "tau-bench",
        glob: "gpt-4o-airline.json",
        ..PLAIN
    },
    Corpus {
        spec: "tau2_voice",
        folder: "tau2-voice",
        glob: "simulations/*.json",
        other_step: &[("voice-1", Step::Trigger)],
        ..PLAIN
    },
    Corpus {
        spec: "terminal_bench_cast",
        folder: "terminal-bench-cast",
        glob: "agent.cast",
        other_step: &[("cast-1", Step::AfterHeader)],
        ..PLAIN
    },
    Corpus {
        spec: "toolemu",
        folder: "toolemu",
        glob: "gpt4o-no_controll.jsonl",
        ..PLAIN
    },
];
