//! The npm package `@guard-lang/client` of `clients/npm`, compiled strictly, packed, and tested against `guard serve`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::support::{root, skip};

/// The compiled package in a folder below `node_modules`, as `npm install` would place it; `None`, with a note, without Node or the
/// compiler. `GUARD_NODE_MODULES` names the folder in which the packages of the tests are.
pub(crate) fn installed(folder: &Path) -> Option<PathBuf> {
    let modules = std::env::var_os("GUARD_NODE_MODULES").map(PathBuf::from);
    let compiler = modules.map(|modules| (modules.join("typescript/bin/tsc"), modules));
    let node = Command::new("node")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    let Some((compiler, modules)) = compiler
        .filter(|(compiler, modules)| compiler.exists() && modules.join("@types/node").exists())
        .filter(|_| node.is_ok_and(|status| status.success()))
    else {
        skip(
            "@guard-lang/client needs Node, and GUARD_NODE_MODULES with typescript and @types/node",
        );
        return None;
    };
    let package = folder.join("node_modules/@guard-lang/client");
    copy(compiled(&compiler, &modules), &package, "");
    std::os::unix::fs::symlink(&modules, package.join("node_modules")).unwrap();
    Some(package)
}

/// The package with its `dist`, compiled once for all tests: the compiler takes seconds.
fn compiled(compiler: &Path, modules: &Path) -> &'static Path {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("npm-client");
        let _ = std::fs::remove_dir_all(&package);
        // What a developer has built there is left out.
        copy(&root().join("clients/npm"), &package, "dist");
        // As its `prepack` does.
        std::fs::copy(root().join("LICENSE"), package.join("LICENSE")).unwrap();
        std::os::unix::fs::symlink(modules, package.join("node_modules")).unwrap();
        run(Command::new("node").arg(compiler).current_dir(&package));
        package
    })
}

/// Copies a package without what is installed in it, and without a folder of this name.
fn copy(from: &Path, to: &Path, without: &str) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, to) = entry
            .map(|entry| (entry.path(), to.join(entry.file_name())))
            .unwrap();
        match path.file_name().and_then(|name| name.to_str()) {
            Some("node_modules") => {}
            Some(name) if name == without => {}
            _ if path.is_dir() => copy(&path, &to, without),
            _ => drop(std::fs::copy(&path, &to).unwrap()),
        }
    }
}

/// Returns what a command prints.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    out.into_owned()
}

/// A program that uses every door of the package, for the compiler: each `@ts-expect-error` must be one.
const TYPED: &str = r#"
import { Decision, Denied, GuardClient, GuardError, Session, type Event, type Recorded, type Ruling } from "@guard-lang/client";

const client = new GuardClient({ address: "unix:/run/guard", retries: 0 });
const event: Event = { trace: "t", kind: "call", args: { n: 1n } };
const decision: Decision = await client.act(event, { signal: AbortSignal.timeout(5) });
const ruling: Ruling = decision.ruling;
const recorded: Recorded = new GuardError("no", "unknown").recorded;
const session: Session = client.session("t", { ask: async (asked, about) => asked.asks && about.trace === "t" });
const refund = session.tool("refund", async ({ order }: { order: number }) => order + 1);
const refunded: number = await refund({ order: 7 });
const last: Decision = await session.report(session.event("look"));
// @ts-expect-error: an event names its trace
await client.observe({ kind: "call" });
// @ts-expect-error: the argument has another type
await refund({ order: "7" });
// @ts-expect-error: no ruling of this name
const wrong: Ruling = "deny";
// @ts-expect-error: a decision cannot be changed
decision.line.decision = "allow";
export { Denied, last, recorded, refunded, ruling, wrong };
"#;

#[test]
fn the_types_are_as_documented() {
    let folder = tempfile::tempdir().unwrap();
    let Some(package) = installed(folder.path()) else {
        return;
    };
    std::fs::write(folder.path().join("typed.mts"), TYPED).unwrap();
    let readme = std::fs::read_to_string(package.join("README.md")).unwrap();
    let example = readme.split("```ts\n").nth(1).unwrap();
    let example = example.split("```").next().unwrap();
    let example = format!("declare function confirm(text: string): boolean;\n{example}");
    std::fs::write(folder.path().join("readme.mts"), example).unwrap();
    let flags = "--noEmit --strict --exactOptionalPropertyTypes --target es2022 --module nodenext --types node";
    run(Command::new("node")
        .arg(package.join("node_modules/typescript/bin/tsc"))
        .args(flags.split(' '))
        .arg("--typeRoots")
        .arg(package.join("node_modules/@types"))
        .args(["typed.mts", "readme.mts"])
        .current_dir(folder.path()));
}

#[test]
fn the_package_is_small_and_complete() {
    let folder = tempfile::tempdir().unwrap();
    let Some(package) = installed(folder.path()) else {
        return;
    };
    // The real npm decides what it packs; without it, the compiler alone was tried.
    let npm = Command::new("npm").arg("--version").output();
    if !npm.is_ok_and(|output| output.status.success()) {
        skip("the contents of @guard-lang/client need npm");
        return;
    }
    let told = run(Command::new("npm")
        .args([
            "pack",
            "--dry-run",
            "--ignore-scripts",
            "--json",
            "--offline",
        ])
        .current_dir(&package));
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    // npm 12 gives an object by the names of packages.
    let packed = told.get(0).unwrap_or_else(|| &told["@guard-lang/client"]);
    let files = packed["files"].as_array().unwrap();
    let names: Vec<&str> = files
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    for name in [
        "LICENSE",
        "README.md",
        "package.json",
        "dist/index.js",
        "dist/index.d.ts",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let other = |name: &&&str| !name.starts_with("dist/") && name.contains('/');
    assert_eq!(names.iter().find(other), None);
    assert!(packed["size"].as_u64().unwrap() < 30_000, "{packed}");
}

#[test]
fn against_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let Some(package) = installed(folder.path()) else {
        return;
    };
    let tests = std::fs::read_dir(package.join("test")).unwrap();
    let tests = tests.map(|entry| entry.unwrap().path());
    let tests: Vec<PathBuf> = tests
        .filter(|path| {
            path.to_str()
                .is_some_and(|path| path.ends_with(".test.mjs"))
        })
        .collect();
    assert!(!tests.is_empty());
    let told = run(Command::new("node")
        .args(["--test", "--test-reporter", "tap"])
        .args(&tests)
        .env("GUARD", env!("CARGO_BIN_EXE_guard"))
        .env_remove("GUARD_TOKEN")
        .env_remove("NODE_TEST_CONTEXT")
        .current_dir(&package));
    assert!(told.contains("\n# fail 0\n"), "{told}");
}
