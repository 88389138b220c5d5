// Compares the messages of `guard dap` with the types of the Debug Adapter Protocol: node test/protocol.mjs GUARD
// A session is recorded, and each message becomes a literal of its type, which the TypeScript compiler checks: a member that the
// protocol does not have, or of another type, is an error.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const guard = path.resolve(process.argv[2]);
const here = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
// Below the extension, where its modules are found.
const folder = mkdtempSync(path.join(here, "node_modules", ".protocol-"));
const spec = path.join(folder, "shop.guard");
const runs = path.join(folder, "runs.jsonl");
writeFileSync(spec, `event {
  tool: string
  args: json = unknown
  at: time?
}
predicate pays = tool == "pay"
track seen: set<string> = {} then seen.add(tool)
property asked = always (pays -> once tool == "ask") message "{tool}"
`);
writeFileSync(runs, '{"id": "a", "events": [{"tool": "look", "args": {"x": [1, 2]}, "at": 1}, {"tool": "pay", "at": 3}]}\n');

const adapter = spawn(guard, ["dap"]);
let input = Buffer.alloc(0);
const received = [];
let wake = () => {};
adapter.stdout.on("data", (bytes) => {
  input = Buffer.concat([input, bytes]);
  for (;;) {
    const head = /^Content-Length: (\d+)\r\n\r\n/.exec(input.subarray(0, 80).toString("latin1"));
    if (head === null || input.length < head[0].length + Number(head[1])) break;
    const end = head[0].length + Number(head[1]);
    received.push(JSON.parse(input.subarray(head[0].length, end).toString("utf8")));
    input = input.subarray(end);
  }
  wake();
});
let seq = 0;
async function ask(command, args) {
  const own = ++seq;
  const bytes = Buffer.from(JSON.stringify({ seq: own, type: "request", command, arguments: args }));
  adapter.stdin.write(`Content-Length: ${bytes.length}\r\n\r\n`);
  adapter.stdin.write(bytes);
  for (;;) {
    const answer = received.find((message) => message.type === "response" && message.request_seq === own);
    if (answer !== undefined) return answer.body;
    await new Promise((done) => { wake = done; });
  }
}
adapter.stdin.write("Content-Length: 1\r\n\r\n{");
await ask("initialize", { adapterID: "guard" });
await ask("next", { threadId: 1 });
await ask("launch", { spec, runs });
await ask("setBreakpoints", { source: { path: spec }, breakpoints: [{ line: 6 }, { line: 99 }] });
await ask("setExceptionBreakpoints", { filters: ["violated"] });
await ask("breakpointLocations", { source: { path: spec }, line: 1, endLine: 9 });
await ask("configurationDone", {});
await ask("threads");
await ask("stackTrace", { threadId: 1 });
const { scopes } = await ask("scopes", { frameId: 1 });
for (const scope of scopes) {
  const { variables } = await ask("variables", { variablesReference: scope.variablesReference });
  for (const variable of variables) {
    if (variable.variablesReference > 0) await ask("variables", { variablesReference: variable.variablesReference });
  }
}
await ask("evaluate", { expression: "args", context: "watch" });
await ask("evaluate", { expression: "seen", context: "watch" });
await ask("evaluate", { expression: "asked", context: "hover" });
await ask("evaluate", { expression: "wrong", context: "repl" });
await ask("continue", { threadId: 1 });
await ask("exceptionInfo", { threadId: 1 });
for (const command of ["stepBack", "next", "stepIn", "stepOut", "reverseContinue", "pause", "restart", "continue", "continue", "continue", "terminate", "disconnect"]) {
  await ask(command, { threadId: 1 });
}

const name = (text) => text[0].toUpperCase() + text.slice(1);
const lines = received.map((message, place) => {
  const type = message.type === "event" ? `${name(message.event)}Event` : message.success ? `${name(message.command)}Response` : "ErrorResponse";
  return `export const m${place}: DebugProtocol.${type} = ${JSON.stringify(message)};`;
});
writeFileSync(path.join(folder, "messages.ts"), `import type { DebugProtocol } from "@vscode/debugprotocol";\n${lines.join("\n")}\n`);
try {
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "node16", "--moduleResolution", "node16"];
  execFileSync(process.execPath, [path.join(here, "node_modules", "typescript", "bin", "tsc"), ...options, path.join(folder, "messages.ts")], { stdio: ["ignore", "inherit", "inherit"] });
  console.log(`${received.length} passed, 0 failed`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
