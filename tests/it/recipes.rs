//! The recipes of `docs/recipes`, run against `guard serve`. Those for packages that are not installed are skipped, and say so.

use crate::support::skip;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Runs a recipe against a daemon of its own; `None` if its language or package is not there.
fn run(program: &str, recipe: &str, needs: &[&str]) -> Option<String> {
    let there = Command::new(program)
        .args(needs)
        .stderr(Stdio::null())
        .status();
    if !there.is_ok_and(|status| status.success()) {
        skip(&format!("{recipe} needs {program} {}", needs.join(" ")));
        return None;
    }
    let recipes = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/recipes");
    let mut daemon = Command::new(env!("CARGO_BIN_EXE_guard"))
        .arg("serve")
        .arg(recipes.join("refund.guard"))
        .args(["--listen", "127.0.0.1:0", "--no-token"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(daemon.stderr.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    let address = said.trim().rsplit('/').next().unwrap();
    let output = Command::new(program)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(recipes.join(recipe))
        .arg(address)
        .output()
        .unwrap();
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{recipe}: {errors}");
    Some(String::from_utf8(output.stdout).unwrap())
}

const TOLD: &str = "\
refund denied: look up order 7 before you refund it
look_up order 7: 20 EUR
refund refunded 7
refund denied: look up order 8 before you refund it
";

/// Threads that share a client make refunds at once; `GUARD_ROUNDS` makes more rounds.
const RACE: &str = r#"
import os, sys, threading
from guard_client import Denied, Guard
passed = 0
for round in range(int(os.environ.get("GUARD_ROUNDS", "20"))):
    guard, made, start = Guard(f"race{round}", sys.argv[1]), [], threading.Barrier(8)
    guard.call("look_up", {"order": 7}, "c0", lambda: "order 7")
    def refund(number):
        start.wait()
        try:
            guard.call("refund", {"order": 7}, f"c{number}", lambda: made.append(number))
        except Denied:
            pass
    threads = [threading.Thread(target=refund, args=(number,)) for number in range(1, 9)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    passed += len(made) != 2
# an outcome that is too large for one request, or is no JSON, is reported all the same
for name, result in [("large", "x" * 3_000_000), ("odd", {(1, 2): b"x"})]:
    guard, made = Guard(name, sys.argv[1]), []
    guard.call("look_up", {"order": 7}, "c0", lambda: result)
    guard.call("refund", {"order": 7}, "c1", lambda: made.append(1))
    passed += len(made) != 1
print(passed)
"#;

#[test]
fn parallel_calls_of_the_client_never_pass_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let client = "docs/recipes/guard_client.py";
    std::fs::copy(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(client),
        folder.path().join("guard_client.py"),
    )
    .unwrap();
    let race = folder.path().join("race.py");
    std::fs::write(&race, RACE).unwrap();
    let told = run("python3", race.to_str().unwrap(), &["--version"]);
    assert!(told.is_none_or(|told| told == "0\n"));
}

#[test]
fn plain_python() {
    let told = run("python3", "plain.py", &["--version"]);
    assert!(told.is_none_or(|told| told == TOLD));
}

#[test]
fn plain_javascript() {
    let folder = tempfile::tempdir().unwrap();
    if crate::npm_client::installed(folder.path()).is_none() {
        return;
    }
    // The package is found from the folder of the program.
    let recipe = folder.path().join("plain.mjs");
    let from = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/recipes/plain.mjs");
    std::fs::copy(from, &recipe).unwrap();
    let told = run("node", recipe.to_str().unwrap(), &["--version"]);
    assert!(told.is_none_or(|told| told == TOLD));
}

/// The official SDK of MCP, as client and as server, around `guard proxy`.
#[test]
fn mcp() {
    let there = Command::new("python3")
        .args(["-c", "import mcp.client.client, mcp.server.mcpserver"])
        .stderr(Stdio::null())
        .status();
    if !there.is_ok_and(|status| status.success()) {
        skip("mcp_agent.py needs the package mcp, version 2");
        return;
    }
    let recipes = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/recipes");
    let output = Command::new("python3")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(recipes.join("mcp_agent.py"))
        .arg(env!("CARGO_BIN_EXE_guard"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(told, format!("tools: look_up, refund\n{TOLD}"));
}

/// The same with the official SDK for TypeScript. `GUARD_NODE_MODULES` names the folder in which the packages are.
#[test]
fn mcp_typescript() {
    let there = std::env::var_os("GUARD_NODE_MODULES").map(std::path::PathBuf::from);
    let has = |modules: &std::path::PathBuf| {
        let needed = ["@modelcontextprotocol/sdk", "zod", ".bin/tsx"];
        needed.iter().all(|package| modules.join(package).exists())
    };
    let Some(modules) = there.filter(has) else {
        skip("mcp_agent.ts needs GUARD_NODE_MODULES with @modelcontextprotocol/sdk, zod and tsx");
        return;
    };
    let recipes = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/recipes");
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(
        recipes.join("mcp_agent.ts"),
        folder.path().join("mcp_agent.ts"),
    )
    .unwrap();
    std::fs::write(folder.path().join("package.json"), r#"{"type":"module"}"#).unwrap();
    std::os::unix::fs::symlink(&modules, folder.path().join("node_modules")).unwrap();
    let output = Command::new(modules.join(".bin/tsx"))
        .arg("mcp_agent.ts")
        .arg(env!("CARGO_BIN_EXE_guard"))
        .arg(recipes.join("refund.guard"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(told, format!("tools: look_up, refund\n{TOLD}"));
}

#[test]
fn langgraph() {
    let told = run(
        "python3",
        "langgraph_agent.py",
        &["-c", "import langchain, langgraph"],
    );
    let wanted = "refund denied: look up order 7 before you refund it\nlook_up -> order 7: 20 EUR\nrefund -> refunded 7\n";
    assert!(told.is_none_or(|told| told == wanted));
}

#[test]
fn openai_agents() {
    let told = run(
        "python3",
        "openai_agent.py",
        &["-c", "import agents.tool_context"],
    );
    let wanted = "denied: look up order 7 before you refund it\norder 7: 20 EUR\nrefunded 7\n";
    assert!(told.is_none_or(|told| told == wanted));
}
