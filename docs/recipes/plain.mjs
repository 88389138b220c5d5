// TypeScript and JavaScript: every tool call of a loop goes through the guard. Nothing but the platform is needed.

class Denied extends Error {}

class Guard {
  // `token` is the first line of the file that `guard serve --token-file` was given; `ask` asks a person.
  constructor(trace, address = "127.0.0.1:7437", token = process.env.GUARD_TOKEN, ask = async () => false) {
    this.trace = trace;
    this.url = `http://${address}/v1/decide`;
    this.headers = token ? { Authorization: `Bearer ${token}` } : {};
    this.ask = ask;
    this.unreported = [];
    this.reporting = Promise.resolve();
  }

  // Sends one line and returns its decision. Throws if anything goes wrong: an error is never an approval.
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

  reason(decision) {
    const told = [...decision.clauses.map((clause) => clause.message), ...(decision.errors ?? [])];
    return told.join("; ") || "denied by the spec";
  }

  // Reports what happened; returns the last decision. What cannot be reported now is reported before the next action, which
  // is denied otherwise: a result that was not reported must not be forgotten.
  report(...events) {
    const turn = this.reporting.then(async () => {
      this.unreported.push(...events);
      let decision;
      for (; this.unreported.length > 0; this.unreported.shift()) {
        const [event] = this.unreported;
        // too large, or no JSON: what is left out is unknown
        const { result, text, ...known } = event;
        decision = await this.decide({ phase: "after", event }).catch(() => this.decide({ phase: "after", event: known }));
      }
      return decision;
    });
    this.reporting = turn.catch(() => {});
    return turn;
  }

  // Judges an action and records it in one step, so that no other action comes between. Throws if it is denied. If a person
  // must be asked, the action counts while the answer is awaited, and the decision of the commit is obeyed.
  async act(event) {
    await this.report();
    let decision = await this.decide({ phase: "act", event });
    if (decision.decision === "ask" && decision.proposal !== undefined) {
      const { proposal } = decision;
      let allowed = false;
      try {
        allowed = await this.ask(this.reason(decision));
      } finally {
        if (!allowed) await this.decide({ phase: "abandon", proposal });
      }
      if (!allowed) throw new Denied(this.reason(decision));
      decision = await this.decide({ phase: "commit", proposal, event });
      if (decision.decision === "ask") return;
    }
    if (!["allow", "warn", "reflect"].includes(decision.decision)) throw new Denied(this.reason(decision));
  }

  // Makes a call if the spec lets it through, and records what came of it.
  async call(tool, args, id, run) {
    const about = { tool, args, call: id };
    await this.act(this.event("call", { role: "assistant", ...about, text: null, result: null, error: null }));
    let [result, text, error, thrown] = [null, null, false, undefined];
    try {
      result = await run();
      text = String(result);
    } catch (caught) {
      [result, text, error, thrown] = ["the tool failed", String(caught?.message ?? caught), true, caught];
    }
    const told = this.event("result", { role: "tool", ...about, result, text, error });
    const decision = await this.report(told);
    if (error) throw thrown;
    if (["block", "stop"].includes(decision.decision)) throw new Denied(this.reason(decision));
    return result;
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
