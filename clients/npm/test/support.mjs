// Starts `guard serve`, whose program the variable GUARD names.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { GuardClient } from "@guard-lang/client";

export const TOKEN = "a-token-of-enough-letters";
export const APPROVER = "the-token-of-those-who-approve";

export const SPEC = `
event { kind: string  at: time?  tool: string?  args: json?  text: string?  result: json?  error: bool? }
property few = G (count(kind == "call" and tool == "refund") <= 2)
property no_transfer = never (kind == "call" and tool == "transfer")
property no_secret = never (kind == "result" and text contains "SECRET")
property answered = G (kind == "request" -> F<=3600s kind == "answer")
enforce few { violated => block "two refunds are enough" }
enforce no_transfer { violated => ask "transfer {args.amount}?" }
enforce no_secret { violated => block "the result holds a secret" }
`;

/** Starts a server for one test; the client is closed and the server ended with it. */
export async function serve(t, args = [], options = {}) {
  const folder = mkdtempSync(join(tmpdir(), "guard-client-"));
  writeFileSync(join(folder, "live.guard"), SPEC);
  writeFileSync(join(folder, "token"), `${TOKEN}\n`, { mode: 0o600 });
  writeFileSync(join(folder, "approver"), `${APPROVER}\n`, { mode: 0o600 });
  const given = args.map((arg) => arg.replace("DIR", folder));
  if (!given.includes("--socket") && !given.includes("--listen")) given.push("--listen", "127.0.0.1:0");
  const child = spawn(process.env.GUARD, ["serve", join(folder, "live.guard"), "--token-file", join(folder, "token"), ...given], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const errors = createInterface({ input: child.stderr });
  const place = await new Promise((resolve, reject) => {
    errors.on("line", (line) => line.startsWith("listening at ") && resolve(line.slice("listening at ".length)));
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`guard serve ended with ${code}`)));
  });
  const address = place.startsWith("/") ? `unix:${place}` : place;
  const client = new GuardClient({ address, token: TOKEN, ...options });
  t.after(() => {
    client.close();
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  return { client, address, child, folder };
}

/** A server that answers as `answer(request, response, count)` does, for faults that the real one does not have. */
export async function fake(t, answer, options = {}) {
  let count = 0;
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => answer(response, (count += 1), body));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = new GuardClient({ address: `127.0.0.1:${server.address().port}`, ...options });
  t.after(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  return { client, requests: () => count };
}

export const ALLOW = { v: 1, trace: "t", step: 0, decision: "allow", clauses: [], risk: {}, state: null, verdicts: {} };
