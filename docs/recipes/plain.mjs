// TypeScript and JavaScript: every tool call of a loop goes through the guard. Nothing but the platform is needed.

class Denied extends Error {}

class Guard {
  constructor(trace, address = "127.0.0.1:7437", token = undefined) {
    this.trace = trace;
    this.url = `http://${address}/v1/decide`;
    this.headers = token ? { Authorization: `Bearer ${token}` } : {};
  }

  // Whatever goes wrong is thrown: never take it for leave to go on.
  async decide(line) {
    const answer = await fetch(this.url, { method: "POST", headers: this.headers, body: JSON.stringify(line) });
    const body = await answer.text();
    if (!answer.ok) throw new Denied(`guard answered ${answer.status}: ${body}`);
    // deadlines that passed before make lines of their own; the last line is about ours
    return JSON.parse(body.trim().split("\n").at(-1));
  }

  event(kind, members) {
    return { trace: this.trace, kind, at: Date.now() / 1000, ...members };
  }

  // Makes a call if the spec lets it through, and tells what came of it.
  async call(tool, args, id, run) {
    const about = { tool, args, call: id };
    const call = this.event("call", { role: "assistant", ...about, text: null, result: null, error: null });
    const decision = await this.decide({ phase: "before", event: call });
    if (["ask", "block", "stop"].includes(decision.decision)) {
      if (decision.proposal !== undefined) await this.decide({ phase: "abandon", proposal: decision.proposal });
      const told = [...decision.clauses.map((clause) => clause.message), ...(decision.errors ?? [])];
      throw new Denied(told.join("; ") || "denied by the spec");
    }
    await this.decide({ phase: "commit", proposal: decision.proposal, event: call });
    let result = null;
    let error = true;
    try {
      result = await run();
      error = false;
      return result;
    } catch (thrown) {
      result = String(thrown);
      throw thrown;
    } finally {
      const told = this.event("result", { role: "tool", ...about, result, text: String(result), error });
      await this.decide({ phase: "after", event: told });
    }
  }
}

const tools = {
  look_up: ({ order }) => `order ${order}: 20 EUR`,
  refund: ({ order }) => `refunded ${order}`,
};

// what a model would ask for
const wanted = [["refund", { order: 7 }], ["look_up", { order: 7 }], ["refund", { order: 7 }], ["refund", { order: 8 }]];
const guard = new Guard("javascript", process.argv[2]);
for (const [number, [tool, args]] of wanted.entries()) {
  try {
    console.log(tool, await guard.call(tool, args, `c${number}`, () => tools[tool](args)));
  } catch (error) {
    if (!(error instanceof Denied)) throw error;
    console.log(tool, "denied:", error.message);
  }
}
