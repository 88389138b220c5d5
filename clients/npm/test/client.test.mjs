// Requests and decisions against the real server.
import assert from "node:assert/strict";
import { test } from "node:test";

import { EncodingError, GuardClient, StatusError } from "@guard-lang/client";

import { APPROVER, TOKEN, serve } from "./support.mjs";

const refund = (trace, members = {}) => ({ trace, kind: "call", tool: "refund", ...members });

test("every request of the protocol", async (t) => {
  const { client } = await serve(t);
  assert.deepEqual(await client.health(), { v: 1, ok: true, traces: 0 });
  const acted = await client.act(refund("a"));
  assert.deepEqual([acted.ruling, acted.allowed, acted.asks, acted.denied, acted.trace, acted.step], ["allow", true, false, false, "a", 0]);
  assert.equal(acted.verdicts.few, "presumably_satisfied");
  const proposed = await client.propose(refund("a"));
  assert.equal(typeof proposed.proposal, "number");
  const third = await client.act(refund("a"));
  assert.deepEqual([third.denied, third.reason, third.line.reserved], [true, "two refunds are enough", 1]);
  await client.abandon(proposed.proposal);
  const again = await client.propose(refund("a"));
  assert.equal((await client.commit(again.proposal, refund("a"))).step, 1);
  assert.equal((await client.act(refund("a"))).denied, true);
  assert.equal((await client.fork("a", "b")).allowed, true);
  assert.equal((await client.act(refund("b"))).denied, true);
  assert.equal((await client.observe({ trace: "a", kind: "request" })).step, 2);
  assert.equal((await client.proposeEnd("a")).owed.length, 1);
  assert.equal((await client.health()).traces, 2);
  assert.equal((await client.end("a")).line.phase, "end");
  assert.equal((await client.health()).traces, 1);
});

test("a trace may have a whole number as its name", async (t) => {
  const { client } = await serve(t);
  assert.equal((await client.act(refund(5))).trace, "5");
  assert.equal((await client.act(refund(5))).step, 1);
});

test("an unreadable event is denied, and one that happened is recorded", async (t) => {
  const { client } = await serve(t);
  const denied = await client.act({ trace: 1.5, kind: "call" });
  assert.equal(denied.denied, true);
  assert.match(denied.reason, /expected the name of a trace/);
  assert.equal((await client.act({ trace: "a", kind: "result", text: 7 })).denied, true);
  const told = await client.observe({ trace: "a", kind: "result", text: 7 });
  assert.deepEqual([told.step, told.denied, told.errors.length], [0, true, 1]);
});

test("deadlines that passed are told beside the decision", async (t) => {
  const { client } = await serve(t);
  await client.observe({ trace: "late", kind: "request", at: 1000 });
  const other = await client.observe({ trace: "late", kind: "tick", at: 9999999999 });
  assert.equal(other.step, 1);
  assert.equal(other.verdicts.answered, "violated");
});

test("values keep their meaning on the way", async (t) => {
  const { client } = await serve(t);
  for (const value of [NaN, Infinity, () => 1, Symbol("s"), [undefined], new Map(), new Set(), new Uint8Array(2), Promise.resolve()]) {
    const failed = client.act(refund("a", { args: { amount: value } }));
    await assert.rejects(failed, (error) => error instanceof EncodingError && error.recorded === "no" && error.path.startsWith(".args.amount"));
  }
  const cycle = {};
  cycle.self = cycle;
  await assert.rejects(client.act(refund("a", { args: cycle })), EncodingError);
  const text = 'quote " newline \n tab \t nul \u0000 line \u2028 emoji 😀 lone \ud800';
  const fine = { big: 2n ** 100n, text: text.slice(0, -6), when: new Date(0), none: undefined, nothing: null, minus: -0, small: 1e-300 };
  assert.equal((await client.act(refund("a", { args: fine }))).errors.length, 0);
  const asked = await client.act({ trace: "a", kind: "call", tool: "transfer", args: { amount: 2n ** 70n } });
  assert.equal(asked.reason, "transfer 1180591620717411303424?");
  await client.abandon(asked.proposal);
  assert.equal((await client.health()).traces, 1);
});

test("an outcome is recorded without the parts that cannot be", async (t) => {
  const { client } = await serve(t, ["--max-body", "10000"], { maxBody: 10_000 });
  const large = await client.observe({ trace: "a", kind: "result", text: "x".repeat(20_000) });
  // Unknown text may hold the secret.
  assert.deepEqual([large.step, large.denied, large.verdicts.no_secret], [0, true, "unknown"]);
  const harmless = await client.observe({ trace: "b", kind: "result", result: "x".repeat(20_000), text: "short" });
  assert.deepEqual([harmless.step, harmless.denied, harmless.verdicts.no_secret], [0, false, "presumably_satisfied"]);
  const odd = await client.observe({ trace: "c", kind: "result", result: new Map(), text: () => 1 });
  assert.deepEqual([odd.step, odd.verdicts.no_secret], [0, "unknown"]);
  await assert.rejects(client.observe({ trace: "x".repeat(20_000), kind: "result" }), EncodingError);
  await assert.rejects(client.act(refund("a", { args: "x".repeat(20_000) })), EncodingError);
});

test("what the server records of a longer body is recorded once", async (t) => {
  const { client } = await serve(t, ["--max-body", "10000"]);
  const failed = client.observe({ trace: "a", kind: "result", text: "x".repeat(20_000) });
  await assert.rejects(failed, (error) => error instanceof StatusError && error.status === 413 && error.recorded === "yes");
  await assert.rejects(client.act(refund("a", { args: "x".repeat(20_000) })), (error) => error.status === 413 && error.recorded === "no");
  assert.equal((await client.observe({ trace: "a", kind: "look" })).step, 1);
});

test("tokens", async (t) => {
  const { client, address } = await serve(t, ["--approver-token-file", "DIR/approver"], { approverToken: APPROVER });
  const wrong = new GuardClient({ address, token: "another-token-of-this-length" });
  await assert.rejects(wrong.act(refund("a")), (error) => error.status === 401 && error.recorded === "no");
  assert.equal((await wrong.health()).ok, true);
  wrong.close();
  const forbidden = await client.observe({ trace: "a", kind: "approval" });
  assert.deepEqual([forbidden.denied, forbidden.step], [true, null]);
  assert.equal((await client.observe({ trace: "a", kind: "approval" }, { approver: true })).step, 0);
  const transfer = { trace: "a", kind: "call", tool: "transfer", args: { amount: 5 } };
  const asked = await client.act(transfer);
  assert.equal((await client.commit(asked.proposal, transfer)).denied, true);
  assert.equal((await client.commit(asked.proposal, transfer, { approver: true })).step, 1);
  assert.equal((await client.end("a")).denied, true);
  assert.equal((await client.end("a", { approver: true })).line.phase, "end");
  const plain = new GuardClient({ address, token: TOKEN });
  await assert.rejects(plain.end("a", { approver: true }), /no `approverToken`/);
  plain.close();
});

test("a token comes from the environment", async (t) => {
  const { address } = await serve(t);
  process.env.GUARD_TOKEN = `${TOKEN}\n`;
  t.after(() => delete process.env.GUARD_TOKEN);
  const client = new GuardClient({ address });
  assert.equal((await client.act(refund("a"))).allowed, true);
  client.close();
});

test("a Unix socket", async (t) => {
  const { client, address } = await serve(t, ["--socket", "DIR/socket"]);
  assert.match(address, /^unix:\/.*socket$/);
  assert.equal((await client.act(refund("a"))).allowed, true);
});

test("options that cannot be meant are rejected", () => {
  for (const address of ["https://127.0.0.1:1", "http://127.0.0.1:1/v1", "http://user@host:1", "file:///x", ""]) {
    assert.throws(() => new GuardClient({ address }), TypeError, address);
  }
  for (const token of ["two words", "line\nbreak", "é".repeat(16)]) assert.throws(() => new GuardClient({ token }), TypeError);
  for (const options of [{ timeoutMs: 0 }, { timeoutMs: NaN }, { retries: -1 }, { maxBody: 0 }]) {
    assert.throws(() => new GuardClient(options), RangeError);
  }
});
