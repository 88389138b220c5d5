// Whatever goes wrong is an error that says whether the request counts, and never a decision.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";

import { AbortError, ConnectionError, GuardClient, GuardError, ProtocolError, StatusError, TimeoutError } from "@guard-lang/client";

import { ALLOW, fake, serve } from "./support.mjs";

const EVENT = { trace: "t", kind: "call", tool: "refund" };
const is = (kind, recorded) => (error) => {
  assert.ok(error instanceof kind && error instanceof GuardError, `${error}`);
  assert.equal(error.recorded, recorded, `${error}`);
  return true;
};
/** Makes all requests that could let an action through or lose one; each of them must fail. */
async function allFail(client, check, options) {
  for (const { reason, value } of await Promise.allSettled(asks(client, options))) {
    assert.equal(value, undefined);
    check(reason);
  }
}
const asks = (client, options) => [
  client.act(EVENT, options),
  client.propose(EVENT, options),
  client.commit(1, EVENT, options),
  client.observe(EVENT, options),
  client.fork("t", "u", options),
  client.end("t", options),
];

test("answers that are no decision", async (t) => {
  const bodies = [
    "",
    "\n",
    "allow",
    "null",
    "[]",
    "{}",
    "<html>",
    JSON.stringify(ALLOW).slice(0, -1),
    JSON.stringify({ ...ALLOW, v: 2 }),
    JSON.stringify({ ...ALLOW, decision: "Allow" }),
    JSON.stringify({ ...ALLOW, decision: undefined }),
    JSON.stringify({ ...ALLOW, decision: ["allow"] }),
    JSON.stringify({ ...ALLOW, clauses: null }),
    JSON.stringify({ ...ALLOW, clauses: [null] }),
    JSON.stringify({ ...ALLOW, verdicts: null }),
    JSON.stringify({ ...ALLOW, errors: "none" }),
    JSON.stringify({ ...ALLOW, proposal: "1" }),
    JSON.stringify({ ...ALLOW, phase: "deadline" }),
    `${JSON.stringify(ALLOW)}\n${JSON.stringify(ALLOW)}`,
    `${JSON.stringify(ALLOW)}\ngarbage`,
  ];
  for (const body of bodies) {
    const { client } = await fake(t, (response) => response.end(body));
    await allFail(client, is(ProtocolError, "unknown"));
    await assert.rejects(client.health(), is(ProtocolError, "no"));
  }
});

test("a decision of another phase is about another request", async (t) => {
  const { client } = await fake(t, (response) => response.end(JSON.stringify({ ...ALLOW, phase: "before" })));
  await assert.rejects(client.act(EVENT), is(ProtocolError, "unknown"));
  assert.equal((await client.propose(EVENT)).allowed, true);
});

test("every other status is an error, and only what had no effect is sent again", async (t) => {
  for (const status of [201, 204, 301, 302, 400, 401, 403, 404, 405, 408, 413, 429, 500, 502, 503, 504]) {
    const { client, requests } = await fake(t, (response) => {
      response.writeHead(status, { Location: "/v1/decide" });
      response.end(status === 204 ? "" : JSON.stringify({ ...ALLOW, error: "the monitor is busy; what happened will be recorded" }));
    });
    await assert.rejects(client.act(EVENT), StatusError);
    assert.equal(requests(), status === 503 ? 3 : 1, `act ${status}`);
    await assert.rejects(client.observe(EVENT), (error) => status === 204 || error.recorded === "yes");
    assert.equal(requests(), status === 503 ? 4 : 2, `observe ${status}`);
  }
});

test("a status of something before the server tells nothing", async (t) => {
  const { client, requests } = await fake(t, (response) => {
    response.writeHead(503);
    response.end("<html>bad gateway</html>");
  });
  await allFail(client, is(StatusError, "unknown"));
  assert.equal(requests(), 6);
});

test("a question that had no effect is sent again", async (t) => {
  const { client, requests } = await fake(t, (response, count) => {
    if (count < 3) response.writeHead(503);
    response.end(JSON.stringify(count < 3 ? { v: 1, error: "the monitor is busy; nothing was decided" } : { ...ALLOW, phase: "act" }));
  });
  assert.equal((await client.act(EVENT)).allowed, true);
  assert.equal(requests(), 3);
});

test("no server: nothing was sent", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  for (const address of [`127.0.0.1:${port}`, "unix:/no/such/socket", "no-such-host.invalid:1"]) {
    const client = new GuardClient({ address, retries: 1 });
    await allFail(client, is(ConnectionError, "no"));
    client.close();
  }
});

test("a connection that breaks after the request leaves it open", async (t) => {
  const { client, requests } = await fake(t, (response, count) => {
    if (count % 2 === 0) response.socket.destroy();
    else {
      response.writeHead(200, { "Content-Length": 1000 });
      response.write(JSON.stringify(ALLOW));
      response.socket.end();
    }
  });
  await allFail(client, is(ConnectionError, "unknown"));
  assert.equal(requests(), 6, "none of them was sent twice");
});

test("an abandoned proposal may be abandoned twice", async (t) => {
  const { client, requests } = await fake(t, (response, count) => {
    if (count === 1) response.socket.destroy();
    else response.end(JSON.stringify({ ...ALLOW, phase: "before", proposal: 1 }));
  });
  await client.abandon(1);
  assert.equal(requests(), 2);
});

test("a server that does not answer, or trickles, is given up", async (t) => {
  const { client } = await fake(
    t,
    (response, count) => {
      if (count % 2 === 0) return;
      response.writeHead(200);
      const trickle = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(trickle));
    },
    { timeoutMs: 150 },
  );
  const began = performance.now();
  await allFail(client, is(TimeoutError, "unknown"));
  assert.ok(performance.now() - began < 2000);
});

test("a signal aborts a request before and while it waits", async (t) => {
  const { client, requests } = await fake(t, () => {});
  const before = AbortSignal.abort(new Error("stop"));
  await allFail(client, is(AbortError, "no"), { signal: before });
  assert.equal(requests(), 0);
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("stop")), 100);
  await allFail(client, (error) => is(AbortError, "unknown")(error) && assert.equal(error.cause.message, "stop"), {
    signal: controller.signal,
  });
});

test("a server that is killed, and one that comes back", async (t) => {
  const { client, child, address } = await serve(t);
  assert.equal((await client.act(EVENT)).step, 0);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("close", resolve));
  await assert.rejects(client.act(EVENT), ConnectionError);
  const { client: other } = await serve(t, ["--listen", address.replace("http://", "")]);
  assert.equal((await other.act(EVENT)).step, 0);
  assert.equal((await client.act(EVENT)).step, 1);
});

test("places for clients that are taken: a refusal had no effect", async (t) => {
  const { client } = await serve(t, ["--max-clients", "1"], { retries: 0 });
  const many = Array.from({ length: 20 }, () => client.observe({ trace: "t", kind: "look" }));
  const settled = await Promise.allSettled(many);
  const refused = settled.filter(({ status }) => status === "rejected");
  // One that is replaced while it waits is cut off; every other one says that it was not recorded.
  for (const { reason } of refused) assert.ok(reason instanceof GuardError && reason.recorded !== "yes", `${reason}`);
  const recorded = settled.length - refused.length;
  const unknown = refused.filter(({ reason }) => reason.recorded === "unknown").length;
  const step = (await client.observe({ trace: "t", kind: "look" })).step;
  assert.ok(recorded <= step && step <= recorded + unknown, `${recorded} <= ${step} <= ${recorded + unknown}`);
});
