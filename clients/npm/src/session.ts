import { randomUUID } from "node:crypto";

import type { Event, GuardClient, RequestOptions } from "./client.js";
import type { Decision } from "./decision.js";
import { AbortError, Denied, type GuardError } from "./errors.js";
import { textOf } from "./text.js";

/** The members of the event that records a result. Those of these three that are left out are unknown. */
export interface Outcome {
  readonly result?: unknown;
  readonly text?: unknown;
  readonly error?: unknown;
  readonly [member: string]: unknown;
}

/** Asks a person about an action. Anything but `true` denies it. */
export type Ask = (decision: Decision, event: Event) => boolean | Promise<boolean>;

export interface SessionOptions {
  /** Without it, actions that a person must decide about are denied. */
  readonly ask?: Ask | undefined;
}

export interface CallOptions<Result> {
  /** The id of the call; by default a new one. */
  readonly id?: string | undefined;
  /** Aborts the call until it runs; `run` receives it too. An outcome is recorded nevertheless. */
  readonly signal?: AbortSignal | undefined;
  /** Gives the members that record the result; by default `result`, all its text, and `error: false`. */
  readonly outcome?: ((result: Result) => Outcome) | undefined;
}

/**
 * The calls of one run of an agent. Calls may overlap.
 *
 * A call is judged and recorded in one request before it runs, so that parallel calls cannot exceed a limit together. Its outcome is
 * recorded after it, and withheld if a clause blocks it. What could not be recorded is recorded before the next call, which is denied
 * otherwise: a result must not be forgotten. If it is not known whether an outcome was recorded, it is recorded again.
 */
export class Session {
  readonly trace: string;
  readonly #client: GuardClient;
  readonly #ask: Ask;
  readonly #unreported: Event[] = [];
  #reporting: Promise<unknown> = Promise.resolve();

  constructor(client: GuardClient, trace: string, options: SessionOptions = {}) {
    this.#client = client;
    this.trace = trace;
    this.#ask = options.ask ?? (() => false);
  }

  /** Returns an event of this trace, at the present time. */
  event(kind: string, members: Readonly<Record<string, unknown>> = {}): Event {
    return { trace: this.trace, kind, at: Date.now() / 1000, ...members };
  }

  /** Records events that have happened, in turn; resolves with the decision on the last one. */
  report(event: Event, ...more: Event[]): Promise<Decision>;
  report(): Promise<undefined>;
  report(...events: Event[]): Promise<Decision | undefined> {
    const turn = this.#reporting.then(async () => {
      this.#unreported.push(...events);
      let decision: Decision | undefined;
      for (let event = this.#unreported[0]; event !== undefined; event = this.#unreported[0]) {
        try {
          decision = await this.#client.observe(event);
        } catch (error) {
          if ((error as Partial<GuardError>).recorded === "yes") this.#unreported.shift();
          throw error;
        }
        this.#unreported.shift();
      }
      return decision;
    });
    this.#reporting = turn.catch(() => {});
    return turn;
  }

  /**
   * Judges an action and records it. Resolves if it may be carried out; a person is asked if the spec says so.
   *
   * @throws {Denied} if it may not, and any {@link GuardError} if that could not be decided.
   */
  async act(event: Event, options: Pick<RequestOptions, "signal"> = {}): Promise<Decision> {
    await this.report();
    const decision = await this.#client.act(event, options);
    if (decision.allowed) return decision;
    const { proposal } = decision;
    if (!decision.asks || proposal === undefined) throw new Denied(decision.reason, decision, "no");
    if (!(await this.#approved(decision, event, proposal, options.signal))) throw new Denied(decision.reason, decision, "no");
    const now: Event = "at" in event ? { ...event, at: Date.now() / 1000 } : event;
    const committed = await this.#client.commit(proposal, now, { ...options, approver: this.#client.approves });
    // Another action may have come between, after which the action is denied or the person would have to be asked more.
    if (!committed.allowed) throw new Denied(committed.reason, committed, "yes");
    return committed;
  }

  /**
   * Runs a call if the spec lets it through, and returns its result.
   *
   * @throws {Denied} if the call must not run or its outcome is withheld; what `run` throws, if no clause blocks that; any
   * {@link GuardError} if the call could not be judged, or its outcome not be recorded.
   */
  async call<Result>(
    tool: string,
    args: unknown,
    run: (signal: AbortSignal | undefined) => Result | Promise<Result>,
    options: CallOptions<Result> = {},
  ): Promise<Result> {
    const { id = randomUUID(), signal, outcome = told } = options;
    const about = { tool, args, call: id };
    const before = this.event("call", { role: "assistant", ...about, text: null, result: null, error: null });
    await this.act(before, { signal });
    let result: Result;
    let ran = false;
    try {
      if (signal?.aborted) throw new AbortError("the call was aborted before it ran", "yes", signal.reason);
      ran = true;
      result = await run(signal);
    } catch (error) {
      const text = textOf(error);
      // A call that was aborted may have been carried out.
      await this.#record(about, { result: text, text, error: ran && signal?.aborted ? Number.NaN : true });
      throw error;
    }
    let members: Outcome;
    try {
      members = outcome(result);
    } catch (error) {
      // The error may quote the result, which was not read.
      await this.#record(about, {});
      throw error;
    }
    await this.#record(about, members);
    return result;
  }

  /** Returns a function that makes a guarded call of its only argument. */
  tool<Args, Result>(
    name: string,
    run: (args: Args, signal: AbortSignal | undefined) => Result | Promise<Result>,
  ): (args: Args, options?: CallOptions<Result>) => Promise<Result> {
    return (args, options) => this.call(name, args, (signal) => run(args, signal), options);
  }

  /** Records what is left and ends the trace; `owed` has the obligations that were pending. */
  async end(options: Pick<RequestOptions, "signal"> = {}): Promise<Decision> {
    await this.report();
    return this.#client.end(this.trace, { ...options, approver: this.#client.approves });
  }

  /**
   * Records an outcome. If that fails, it is recorded before the next call.
   *
   * @throws {Denied} if a clause blocks it: neither a result nor the error of a call, whose text a server may have chosen, is then
   * for the caller; any {@link GuardError} if it could not be recorded.
   */
  async #record(about: Readonly<Record<string, unknown>>, members: Outcome): Promise<void> {
    const given = Object.entries(members).filter(([, value]) => value !== undefined);
    const unread = { result: Number.NaN, text: Number.NaN, error: Number.NaN };
    const event = this.event("result", { role: "tool", ...about });
    const decision = await this.report({ ...unread, ...Object.fromEntries(given), ...event });
    if (decision.denied) throw new Denied(decision.reason, decision, "yes");
  }

  /** Asks the person. The proposal ends if the answer is not `true`, whatever else happens. */
  async #approved(decision: Decision, event: Event, proposal: number, signal: AbortSignal | undefined): Promise<boolean> {
    let allowed = false;
    try {
      allowed = (await unlessAborted(this.#ask(decision, event), signal)) === true;
    } finally {
      // A reservation that cannot be ended now ends by its age; until then it counts, which denies rather than allows.
      if (!allowed) await this.#client.abandon(proposal).catch(() => {});
    }
    return allowed;
  }
}

/** Waits for an answer, or rejects as soon as the signal is aborted. */
async function unlessAborted<T>(answer: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return answer;
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(new AbortError("the call was aborted while a person was asked", "no", signal.reason));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** The members that record a result, if the caller says nothing else. */
function told(result: unknown): Outcome {
  return { result: result ?? null, text: textOf(result), error: false };
}
