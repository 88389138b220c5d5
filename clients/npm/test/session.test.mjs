// Calls of an agent against the real server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { AbortError, Denied, EncodingError, GuardError } from "@guard-lang/client";

import { ALLOW, APPROVER, fake, serve } from "./support.mjs";

test("calls, denials and withheld results", async (t) => {
  const { client } = await serve(t);
  const session = client.session("s");
  let ran = 0;
  const refund = session.tool("refund", ({ order }) => {
    ran += 1;
    return `refunded ${order}`;
  });
  assert.equal(await refund({ order: 1 }), "refunded 1");
  assert.equal(await refund({ order: 2 }), "refunded 2");
  await assert.rejects(refund({ order: 3 }), (error) => error instanceof Denied && error.message === "two refunds are enough" && error.decision.denied);
  assert.equal(ran, 2);
  await assert.rejects(session.call("read", {}, () => "a SECRET"), (error) => error instanceof Denied && error.recorded === "yes");
  assert.equal((await session.end()).step, 5);
});

test("parallel calls never exceed the limit", async (t) => {
  const { client } = await serve(t);
  for (let round = 0; round < Number(process.env.GUARD_ROUNDS ?? 20); round += 1) {
    const session = client.session(`race${round}`);
    let made = 0;
    const calls = Array.from({ length: 8 }, () => session.call("refund", {}, async () => void (made += 1)));
    const settled = await Promise.allSettled(calls);
    assert.equal(made, 2);
    assert.equal(settled.filter(({ reason }) => reason instanceof Denied).length, 6);
  }
});

test("what a tool throws reaches the caller and is recorded", async (t) => {
  const { client } = await serve(t);
  const session = client.session("s");
  const failure = new Error("no such order");
  await assert.rejects(session.call("read", {}, () => Promise.reject(failure)), (error) => error === failure);
  const { step, verdicts } = await session.report(session.event("look"));
  assert.deepEqual([step, verdicts.no_secret], [2, "presumably_satisfied"]);
});

test("what a tool throws is withheld as a result is", async (t) => {
  const { client } = await serve(t);
  class Odd {
    text = "a SECRET";
  }
  const thrown = {
    message: new Error("a SECRET"),
    name: Object.assign(new Error("x"), { name: "SECRET" }),
    cause: new Error("x", { cause: { body: "a SECRET" } }),
    member: Object.assign(new Error("x"), { response: { data: ["SEC", "RET"] } }),
    group: new AggregateError([new Error("a SECRET")], "x"),
    text: "a SECRET",
    object: { code: 7, SECRET: null },
    unreadable: new Odd(),
  };
  for (const [name, failure] of Object.entries(thrown)) {
    const session = client.session(name);
    const withheld = (error) => error instanceof Denied && /secret/.test(error.message) && error.cause === undefined && error.recorded === "yes";
    await assert.rejects(session.call("read", {}, () => Promise.reject(failure)), withheld, name);
    const { step, verdicts } = await session.report(session.event("look"));
    assert.deepEqual([step, verdicts.no_secret === "violated"], [2, name !== "unreadable"], name);
  }
});

test("all the text of a result is judged", async (t) => {
  const { client } = await serve(t);
  const results = {
    blocks: { content: [{ type: "text", text: "SEC" }, { type: "text", text: "RET" }] },
    resource: { content: [{ type: "resource", resource: { uri: "u", text: "a SECRET" } }] },
    structured: { content: [], structuredContent: { SECRET: null } },
    bytes: Buffer.from("a SECRET"),
    error: { failed: new Error("a SECRET") },
    class: new (class {
      text = "SECRET";
    })(),
    map: new Map([["text", "SECRET"]]),
    promise: { later: Promise.resolve("SECRET") },
    throws: {
      get text() {
        throw new Error("SECRET");
      },
    },
  };
  for (const [name, result] of Object.entries(results)) {
    await assert.rejects(client.session(name).call("read", {}, () => result), Denied, name);
  }
  for (const result of ["a line\nand \"another\"", { a: [1, true, null, undefined] }, undefined, 7n]) {
    assert.equal(await client.session("plain").call("read", {}, () => result), result);
  }
});

test("an error that cannot be recorded reaches nobody", async (t) => {
  let up = true;
  const { client } = await fake(t, (response) => (up ? response.end(JSON.stringify({ ...ALLOW, phase: "act" })) : response.socket.destroy()));
  const failure = () => {
    up = false;
    throw new Error("a SECRET");
  };
  await assert.rejects(client.session("s").call("read", {}, failure), (error) => error instanceof GuardError && !/SECRET/.test(error.message));
});

test("a person is asked", async (t) => {
  const { client } = await serve(t, ["--approver-token-file", "DIR/approver"], { approverToken: APPROVER });
  const asked = [];
  const session = (name, ask) => client.session(name, { ask });
  const transfer = (of, options) => of.call("transfer", { amount: 5 }, () => "sent", options);
  const yes = session("yes", async (decision, event) => {
    asked.push([decision.reason, event.args.amount]);
    return true;
  });
  assert.equal(await transfer(yes), "sent");
  assert.deepEqual(asked, [["transfer 5?", 5]]);
  for (const [name, ask] of Object.entries({
    no: () => false,
    truthy: () => 1,
    text: async () => "yes",
    none: undefined,
  })) {
    const of = session(name, ask);
    await assert.rejects(transfer(of), Denied, name);
    // The reservation has ended.
    assert.equal((await of.report(of.event("look"))).step, 0, name);
    assert.equal((await client.act(of.event("call", { tool: "read" }))).line.reserved, undefined, name);
  }
  const broken = session("broken", () => {
    throw new RangeError("no terminal");
  });
  await assert.rejects(transfer(broken), RangeError);
  const controller = new AbortController();
  const slow = session("slow", () => sleep(60_000, true, { ref: false }));
  setTimeout(() => controller.abort(), 100);
  await assert.rejects(transfer(slow, { signal: controller.signal }), AbortError);
  assert.equal((await client.act(slow.event("call", { tool: "read" }))).line.reserved, undefined);
});

test("another action comes between the question and the commit", async (t) => {
  const { client } = await serve(t);
  const session = client.session("s", {
    ask: async () => {
      await client.observe(session.event("call", { tool: "refund" }));
      await client.observe(session.event("call", { tool: "refund" }));
      await client.observe(session.event("call", { tool: "refund" }));
      return true;
    },
  });
  let ran = false;
  await assert.rejects(session.call("transfer", { amount: 5 }, () => void (ran = true)), Denied);
  assert.equal(ran, false);
});

test("an outcome that is too large or no JSON is recorded", async (t) => {
  const { client } = await serve(t);
  const session = client.session("s");
  await assert.rejects(session.call("read", {}, () => "x".repeat(3_000_000)), /secret/);
  await assert.rejects(session.call("read", {}, () => new Map()), /secret/);
  assert.equal((await session.report(session.event("look"))).step, 4);
  let ran = false;
  for (const odd of [() => 1, new Response("x"), new Error("x"), new Map()]) {
    await assert.rejects(session.call("read", { odd }, () => void (ran = true)), EncodingError);
  }
  assert.equal(ran, false);
});

test("what an outcome function leaves out or breaks", async (t) => {
  const { client } = await serve(t);
  const session = client.session("s");
  for (const members of [{}, { text: undefined }]) {
    await assert.rejects(client.session("left out").call("read", {}, () => "x", { outcome: () => members }), Denied);
  }
  assert.equal(await session.call("read", {}, () => "a SECRET", { outcome: () => ({ text: "nothing" }) }), "a SECRET");
  const broken = () => {
    throw new RangeError("broken");
  };
  // Its text is unknown, so that it may be secret.
  await assert.rejects(session.call("read", {}, () => "x", { outcome: broken }), Denied);
});

test("no call runs before the outcomes are recorded", async (t) => {
  let up = true;
  const bodies = [];
  const { client } = await fake(
    t,
    (response, _, body) => {
      if (!up) return response.socket.destroy();
      bodies.push(JSON.parse(body));
      const { phase } = bodies.at(-1);
      response.end(JSON.stringify(phase === "act" ? { ...ALLOW, phase } : ALLOW));
    },
    { timeoutMs: 500 },
  );
  const session = client.session("s");
  const lost = session.call("read", {}, () => {
    up = false;
    return "result";
  });
  await assert.rejects(lost, (error) => error instanceof GuardError && error.recorded === "unknown");
  let ran = false;
  await assert.rejects(session.call("mail", {}, () => void (ran = true)), GuardError);
  assert.equal(ran, false);
  up = true;
  assert.equal(await session.call("mail", {}, () => "sent"), "sent");
  assert.deepEqual(
    bodies.map(({ phase, event }) => [phase, event.kind, event.tool]),
    [
      ["act", "call", "read"],
      ["after", "result", "read"],
      ["act", "call", "mail"],
      ["after", "result", "mail"],
    ],
  );
});

test("a call that is aborted before it runs does not run", async (t) => {
  const controller = new AbortController();
  const { client } = await fake(t, (response, count) => {
    if (count === 1) controller.abort();
    response.end(JSON.stringify(count === 1 ? { ...ALLOW, phase: "act" } : ALLOW));
  });
  let ran = false;
  await assert.rejects(client.session("s").call("read", {}, () => void (ran = true), { signal: controller.signal }), AbortError);
  assert.equal(ran, false);
});
