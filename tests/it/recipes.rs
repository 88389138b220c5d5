//! Runs the recipes of `docs/recipes` against `guard serve`. Those for packages that are not installed are reported as
//! skipped.

use crate::support::skip;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn recipes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/recipes")
}

/// Whether a program runs with these arguments.
fn is_there(recipe: &str, program: &str, needs: &[&str]) -> bool {
    let there = Command::new(program)
        .args(needs)
        .stderr(Stdio::null())
        .status();
    let there = there.is_ok_and(|status| status.success());
    if !there {
        skip(&format!("{recipe} needs {program} {}", needs.join(" ")));
    }
    there
}

/// The folder of the packages for Node, of which these are needed. `GUARD_NODE_MODULES` names it.
fn node_modules(recipe: &str, needed: &[&str]) -> Option<PathBuf> {
    let modules = std::env::var_os("GUARD_NODE_MODULES").map(PathBuf::from);
    let has = |modules: &PathBuf| needed.iter().all(|package| modules.join(package).exists());
    let modules = modules.filter(has);
    if modules.is_none() {
        let needed = needed.join(", ");
        skip(&format!("{recipe} needs GUARD_NODE_MODULES with {needed}"));
    }
    modules
}

/// Returns what a command prints.
fn printed(command: &mut Command) -> String {
    let output = command
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a recipe against a daemon of its own; `None` if its language or package is not there.
fn run(program: &str, recipe: &str, needs: &[&str]) -> Option<String> {
    let recipes = recipes();
    is_there(recipe, program, needs).then(|| {
        served(
            &recipes.join("refund.guard"),
            program,
            &recipes.join(recipe),
        )
    })
}

/// Runs a script against a daemon with this spec.
fn served(spec: &Path, program: &str, script: &Path) -> String {
    served_with(spec, program, script, &[])
}

/// Runs a script with further arguments against a daemon with this spec.
fn served_with(spec: &Path, program: &str, script: &Path, args: &[&Path]) -> String {
    let mut daemon = Command::new(env!("CARGO_BIN_EXE_guard"))
        .arg("serve")
        .arg(spec)
        .args(["--listen", "127.0.0.1:0", "--no-token"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(daemon.stderr.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    let address = said.trim().rsplit('/').next().unwrap();
    let mut command = Command::new(program);
    let printed = printed(
        command
            .env("PYTHONPATH", recipes())
            .arg(script)
            .arg(address)
            .args(args),
    );
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    printed
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
    let race = folder.path().join("race.py");
    std::fs::write(&race, RACE).unwrap();
    let told = run("python3", race.to_str().unwrap(), &["--version"]);
    assert!(told.is_none_or(|told| told == "0\n"));
}

/// The limit is for each order, so that one trace has many rounds.
const FEW: &str = r#"
use std.agent
predicate refunds(order: json) = kind == "call" and tool == "refund" and args.order == order
property few = forall order: G (refunds(order) -> count(refunds(order)) <= 2)
enforce few { violated => block "two refunds of an order" }
"#;

/// A folder with the spec for races and a script, whose rounds are `GUARD_ROUNDS`.
fn race(name: &str, script: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (spec, path) = (folder.path().join("few.guard"), folder.path().join(name));
    let rounds = std::env::var("GUARD_ROUNDS").unwrap_or_else(|_| "2".to_owned());
    std::fs::write(&spec, FEW).unwrap();
    std::fs::write(&path, script.replace("ROUNDS", &rounds)).unwrap();
    (folder, spec, path)
}

/// One message of a model with eight calls, which LangGraph runs in parallel.
#[test]
fn parallel_calls_of_langgraph_never_pass_the_limit() {
    if !is_there(
        "langgraph_agent.py",
        "python3",
        &["-c", "import langchain, langgraph"],
    ) {
        return;
    }
    let script = r#"
from langgraph_agent import *
middleware = [GuardMiddleware(Guard("race", sys.argv[1]))]
wrong = 0
for order in range(ROUNDS):
    calls = [call for number in range(8) for call in wants(f"{order}.{number}", "refund", order).tool_calls]
    model = Scripted(messages=iter([AIMessage("", tool_calls=calls), AIMessage("done")]))
    final = create_agent(model, [refund], middleware=middleware).invoke({"messages": [{"role": "user", "content": "refund"}]})
    results = [message.status for message in final["messages"] if isinstance(message, ToolMessage)]
    wrong += sorted(results) != ["error"] * 6 + ["success"] * 2
print(wrong)
"#;
    let (_folder, spec, path) = race("race.py", script);
    assert_eq!(served(&spec, "python3", &path), "0\n");
}

/// One answer of a model with eight calls.
#[test]
fn parallel_calls_of_openai_agents_never_pass_the_limit() {
    if !is_there(
        "openai_agent.py",
        "python3",
        &["-c", "import agents.tool_context"],
    ) {
        return;
    }
    let script = r#"
from openai_agent import *
class Many(Scripted):
    async def get_response(self, *args, **kwargs):
        return ModelResponse(output=next(self.script), usage=Usage(), response_id=None)
async def race():
    set_tracing_disabled(True)
    tools = [guarded(Guard("race", sys.argv[1]), refund)]
    wrong = 0
    for order in range(ROUNDS):
        calls = [wants(f"{order}.{number}", "refund", order) for number in range(8)]
        result = await Runner.run(Agent(name="shop", tools=tools, model=Many([calls, [DONE]])), "refund")
        outputs = [item.output for item in result.new_items if item.type == "tool_call_output_item"]
        wrong += len(outputs) != 8 or outputs.count(f"refunded {order}") != 2
    print(wrong)
asyncio.run(race())
"#;
    let (_folder, spec, path) = race("race.py", script);
    assert_eq!(served(&spec, "python3", &path), "0\n");
}

/// The package for JavaScript, and eight calls at once.
#[test]
fn parallel_calls_of_javascript_never_pass_the_limit() {
    if !is_there("plain.mjs", "node", &["--version"]) {
        return;
    }
    let script = r#"
import { Denied, GuardClient } from "@guard-lang/client";
const client = new GuardClient({ address: process.argv[2] });
const session = client.session("race");
let wrong = 0;
for (let order = 0; order < ROUNDS; order++) {
  let made = 0;
  const refund = async () => {
    try {
      await session.call("refund", { order }, () => (made += 1));
    } catch (error) {
      if (!(error instanceof Denied)) throw error;
    }
  };
  await Promise.all(Array.from({ length: 8 }, refund));
  wrong += made !== 2;
}
await session.end();
client.close();
console.log(wrong);
"#;
    let (folder, spec, path) = race("race.mjs", script);
    // The package is found from the folder of the program.
    if crate::npm_client::installed(folder.path()).is_some() {
        assert_eq!(served(&spec, "node", &path), "0\n");
    }
}

/// Eight calls at once of the official client for Python to the recipe's server.
#[test]
fn parallel_calls_of_mcp_never_pass_the_limit() {
    let needs = ["-c", "import mcp.client.client, mcp.server.mcpserver"];
    if !is_there("mcp_agent.py", "python3", &needs) {
        return;
    }
    let script = r#"
from mcp_agent import *
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
async def race():
    args = ["proxy", sys.argv[2], "--", sys.executable, str(HERE), "serve"]
    wrong = 0
    async with Client(stdio_client(StdioServerParameters(command=sys.argv[1], args=args))) as client:
        for order in range(ROUNDS):
            results = await asyncio.gather(*(client.call_tool("refund", {"order": order}) for _ in range(8)))
            wrong += sum(not result.is_error for result in results) != 2
    print(wrong)
asyncio.run(race())
"#;
    let (_folder, spec, path) = race("race.py", script);
    let mut command = Command::new("python3");
    let command = command.env("PYTHONPATH", recipes()).arg(path);
    assert_eq!(
        printed(command.arg(env!("CARGO_BIN_EXE_guard")).arg(spec)),
        "0\n"
    );
}

/// The same for TypeScript.
#[test]
fn parallel_calls_of_mcp_typescript_never_pass_the_limit() {
    let needed = ["@modelcontextprotocol/sdk", "zod", ".bin/tsx"];
    let Some(modules) = node_modules("mcp_agent.ts", &needed) else {
        return;
    };
    let recipe = std::fs::read_to_string(recipes().join("mcp_agent.ts")).unwrap();
    let (parts, _) = recipe.split_once("const [first, spec]").unwrap();
    let script = r#"
async function race(guard: string, spec: string): Promise<void> {
  const server = [process.execPath, ...process.execArgv, HERE, "serve"];
  const client = new Client({ name: "agent", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: guard, args: ["proxy", spec, "--", ...server] }));
  let wrong = 0;
  for (let order = 0; order < ROUNDS; order++) {
    const refund = () => client.callTool({ name: "refund", arguments: { order } });
    const results = await Promise.all(Array.from({ length: 8 }, refund));
    wrong += results.filter((result) => !result.isError).length === 2 ? 0 : 1;
  }
  console.log(wrong);
  await client.close();
}
const [first, spec] = process.argv.slice(2);
await (first === "serve" ? serve() : race(first, spec));
"#;
    let (folder, spec, path) = race("race.ts", &format!("{parts}{script}"));
    std::fs::write(folder.path().join("package.json"), r#"{"type":"module"}"#).unwrap();
    std::os::unix::fs::symlink(&modules, folder.path().join("node_modules")).unwrap();
    let mut command = Command::new(modules.join(".bin/tsx"));
    let command = command.arg(path).arg(env!("CARGO_BIN_EXE_guard")).arg(spec);
    assert_eq!(printed(command.current_dir(folder.path())), "0\n");
}

/// What a tool answers or raises is withheld if it holds a secret, or if whether it does is unknown.
const SECRET: &str = r#"
use std.agent
property no_secret = never (kind == "result" and text contains "SECRET")
property few = G (count(kind == "result" and tool == "refund" and error != true) <= 1)
enforce no_secret { violated => block "withheld" }
enforce few { violated => block "one refund" }
"#;

/// A folder with that spec and a script.
fn secret(script: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (spec, path) = (
        folder.path().join("secret.guard"),
        folder.path().join("secret.py"),
    );
    std::fs::write(&spec, SECRET).unwrap();
    std::fs::write(&path, script).unwrap();
    (folder, spec, path)
}

#[test]
fn outcomes_of_the_client_are_withheld() {
    if !is_there("guard_client.py", "python3", &["--version"]) {
        return;
    }
    let script = r#"
import json, sys
from guard_client import Denied, Guard, text_of
for case in json.load(open(sys.argv[2])):
    if "text" in case: assert text_of(case["value"]) == case["text"], case
assert text_of([4.1e18]).startswith("4.1e+18\n4100000000000000000\n"), text_of([4.1e18])
def raises(error):
    def run(): raise error
    return run
def caused():
    try: raises(OSError("a SECRET"))()
    except OSError as error: raise ValueError("x") from error
noted = ValueError("x")
noted.__notes__ = ["a SECRET"]
def broken(result): return result.content
outcomes = [
    lambda: "a SECRET", lambda: [{"type": "text", "text": "SEC"}, {"type": "text", "text": "RET"}], lambda: {"k": {"SECRET": None}},
    lambda: "line\nSECRET", object, lambda: b"SECRET", raises(ValueError("a SECRET")), raises(ValueError(1, {"k": "line\nSECRET"})),
    caused, raises(noted), raises(ValueError(object())),
]
def withheld(number, run, *more):
    guard = Guard(f"t{number}", sys.argv[1])
    try: return f"{number} passed: {guard.call('read', {}, 'c', run, *more)!r}"
    except Denied as denied:
        shown = denied.__cause__ or denied.__context__
        return f"{number} shows {shown!r}" if shown or "SECRET" in str(denied) else None
wrong = [withheld(number, run) for number, run in enumerate(outcomes)] + [withheld("broken", lambda: "x", broken), withheld("left out", lambda: "x", lambda x: {})]
print([one for one in wrong if one])
for error in (KeyError("order"), KeyboardInterrupt("SECRET")):
    try: Guard("other", sys.argv[1]).call("read", {}, "c", raises(error))
    except BaseException as raised: print(raised is error)
try: Guard("bytes", sys.argv[1]).call("read", {"path": b"x"}, "c", lambda: print("ran"))
except TypeError: print("not sent")
"#;
    let (_folder, spec, path) = secret(script);
    let texts = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/npm/test/texts.json");
    let told = served_with(&spec, "python3", &path, &[&texts]);
    assert_eq!(told, "[]\nTrue\nTrue\nnot sent\n");
}

/// A tool that raises, answers with an error, with blocks, or with a command for the graph.
#[test]
fn outcomes_of_langgraph_are_withheld() {
    let needs = ["-c", "import langchain, langgraph"];
    if !is_there("langgraph_agent.py", "python3", &needs) {
        return;
    }
    let script = r#"
from typing import Annotated
from langchain_core.tools import InjectedToolCallId
from langgraph.types import Command
from langgraph_agent import *
made = []
@tool
def blocks():
    "x"
    return [{"type": "text", "text": "SEC"}, {"type": "text", "text": "RET"}]
@tool
def failed(id: Annotated[str, InjectedToolCallId]):
    "x"
    return ToolMessage("a SECRET", status="error", tool_call_id=id)
@tool
def raising():
    "x"
    raise ValueError("a SECRET")
@tool("refund")
def command(id: Annotated[str, InjectedToolCallId]):
    "x"
    made.append(1)
    return Command(update={"messages": [ToolMessage("refunded", tool_call_id=id)]})
def run(thread, *names):
    calls = [AIMessage("", tool_calls=[{"name": name, "args": {}, "id": f"c{at}", "type": "tool_call"}]) for at, name in enumerate(names)]
    model = Scripted(messages=iter([*calls, AIMessage("done")]))
    middleware = [GuardMiddleware(Guard(thread, sys.argv[1]))]
    final = create_agent(model, [blocks, failed, raising, command], middleware=middleware).invoke({"messages": [("user", "x")]})
    print([message.content for message in final["messages"] if isinstance(message, ToolMessage)])
for name in ("blocks", "failed", "raising"): run(name, name)
run("command", "refund", "refund")
print(len(made))
"#;
    let (_folder, spec, path) = secret(script);
    let withheld = "['withheld']\n".repeat(3);
    let told = served(&spec, "python3", &path);
    // What a command says, and whether it is a refund, is unknown: it is withheld, and counts as one. The second may be one too many.
    let command = format!("{withheld}['withheld; expected a JSON object");
    assert!(
        told.starts_with(&command) && told.ends_with("']\n2\n"),
        "{told}"
    );
    assert!(
        told.contains("'withheld; one refund; expected a JSON object"),
        "{told}"
    );
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
    let needs = ["-c", "import mcp.client.client, mcp.server.mcpserver"];
    if !is_there("mcp_agent.py", "python3", &needs) {
        return;
    }
    let mut command = Command::new("python3");
    let command = command.arg(recipes().join("mcp_agent.py"));
    let told = printed(command.arg(env!("CARGO_BIN_EXE_guard")));
    assert_eq!(told, format!("tools: look_up, refund\n{TOLD}"));
}

/// The same with the official SDK for TypeScript.
#[test]
fn mcp_typescript() {
    let needed = ["@modelcontextprotocol/sdk", "zod", ".bin/tsx"];
    let Some(modules) = node_modules("mcp_agent.ts", &needed) else {
        return;
    };
    let recipes = recipes();
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(
        recipes.join("mcp_agent.ts"),
        folder.path().join("mcp_agent.ts"),
    )
    .unwrap();
    std::fs::write(folder.path().join("package.json"), r#"{"type":"module"}"#).unwrap();
    std::os::unix::fs::symlink(&modules, folder.path().join("node_modules")).unwrap();
    let mut command = Command::new(modules.join(".bin/tsx"));
    let command = command.arg("mcp_agent.ts").arg(env!("CARGO_BIN_EXE_guard"));
    let command = command.arg(recipes.join("refund.guard"));
    let told = printed(command.current_dir(folder.path()));
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
