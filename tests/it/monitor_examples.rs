//! The examples of live monitors decide as the files beside them state.
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn the_examples_decide_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/live");
    let mut n = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let spec = entry.unwrap().path();
        if spec
            .extension()
            .is_none_or(|extension| extension != "guard")
        {
            continue;
        }
        let input = std::fs::File::open(spec.with_extension("jsonl")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_guard"));
        command.arg("monitor").arg(&spec);
        let model = spec.with_extension("model.json");
        if model.exists() {
            command.arg("--model").arg(model);
        }
        let output = command
            .args(["--clock", "none", "--format", "human"])
            .stdin(Stdio::from(input))
            .output()
            .unwrap();
        let expected = std::fs::read_to_string(spec.with_extension("decisions")).unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert_eq!(out, expected, "{}", spec.display());
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            "",
            "{}",
            spec.display()
        );
        n += 1;
    }
    assert_eq!(n, 5);
}
