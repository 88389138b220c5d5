//! Runs the command in a temporary folder.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// The result of running the command.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A temporary folder with files, in which the command runs.
pub(crate) struct Folder(TempDir);

#[allow(dead_code, reason = "each test file uses a part")]
impl Folder {
    pub(crate) fn new(files: &[(&str, &str)]) -> Folder {
        let folder = Folder(TempDir::new().unwrap());
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    pub(crate) fn guard(&self, args: &[&str]) -> Run {
        self.guard_with(args, "")
    }

    pub(crate) fn guard_with(&self, args: &[&str], stdin: &str) -> Run {
        let output = Command::cargo_bin("guard")
            .unwrap()
            .current_dir(self.0.path())
            .args(args)
            .write_stdin(stdin)
            .output()
            .unwrap();
        Run {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A spec with properties of several kinds.
#[allow(dead_code, reason = "each test file uses a part")]
pub(crate) const SPEC: &str = r#"//! Risky calls.
event {
  kind: string
  tool: string?
  args: json?
  call: string?
}

predicate high_risk = kind == "call" and tool in ["wire_transfer", "send_email"]
predicate approval = kind == "approval" and args.granted == true

/// A risky call needs an approval in the step before.
@id("phi7") @severity(critical)
property approved = G (high_risk -> Y approval)
  message "{tool} without approval"

property answered = forall id: G (kind == "request" and call == id -> F (kind == "response" and call == id))

property no_delete = never (kind == "call" and tool == "delete_db")

test "approved" {
  given [ {kind: "approval", args: {granted: true}}, {kind: "call", tool: "wire_transfer"} ]
  expect approved satisfied
}
test "not approved" {
  given [ {kind: "call", tool: "wire_transfer"} ]
  expect approved violated at 0
}
"#;

/// Returns the answer with this name among JSON lines.
#[allow(dead_code, reason = "each test file uses a part")]
pub(crate) fn named<'a>(answers: &'a [Value], name: &str) -> &'a Value {
    answers
        .iter()
        .find(|answer| answer["name"] == name)
        .unwrap()
}

/// Fails if a number differs from `wanted` by more than `within`.
#[allow(dead_code, reason = "each test file uses a part")]
pub(crate) fn close(value: &Value, wanted: f64, within: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - wanted).abs() <= within, "{value} is not {wanted}");
}
