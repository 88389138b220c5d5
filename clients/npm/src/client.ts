import { readDecision, type Decision } from "./decision.js";
import { EncodingError, GuardError, ProtocolError, StatusError, type Recorded } from "./errors.js";
import { bytes, encode, encodeHappened } from "./json.js";
import { Session, type SessionOptions } from "./session.js";
import { Deadline, Transport, type Answer } from "./transport.js";

/** An event: its members are those that the spec reads. `trace` names the run that it belongs to. */
export interface Event {
  readonly trace: string | number;
  readonly [member: string]: unknown;
}

export interface ClientOptions {
  /** `HOST:PORT`, `http://HOST:PORT` or `unix:PATH`; by default `127.0.0.1:7437`. */
  readonly address?: string | undefined;
  /** The first line of the file of `--token-file`; by default the variable `GUARD_TOKEN`. */
  readonly token?: string | undefined;
  /** The first line of the file of `--approver-token-file`, for approvals, commits of what a person allowed, and ends. */
  readonly approverToken?: string | undefined;
  /** The time of a request with all its attempts, in milliseconds; by default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** How often a request is sent again that certainly had no effect; by default 2. */
  readonly retries?: number | undefined;
  /** The longest body that the server reads, in bytes (`--max-body`); by default 1 MiB. */
  readonly maxBody?: number | undefined;
}

export interface RequestOptions {
  /** Aborts the request. Whether it was recorded is then in `recorded` of the error. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces the time of the client, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Whether the request carries the token of the approver. */
  readonly approver?: boolean | undefined;
}

/** The state of the server. */
export interface Health {
  readonly v: 1;
  readonly ok: true;
  /** The live traces. */
  readonly traces: number;
}

/** What a request does. */
interface Kind {
  /** The phases that the decision may carry. */
  readonly phases: readonly (string | undefined)[];
  /** Whether the server records it even if it cannot answer. */
  readonly states: boolean;
  /** Whether sending it twice has the same effect as once. */
  readonly idempotent: boolean;
}

// A request that is not readable, or that its sender may not make, is answered without a phase.
const ACT: Kind = { phases: ["act", undefined], states: false, idempotent: false };
const BEFORE: Kind = { phases: ["before", undefined], states: false, idempotent: false };
const BEFORE_END: Kind = { phases: ["before_end", undefined], states: false, idempotent: true };
const HAPPENED: Kind = { phases: [undefined], states: true, idempotent: false };
const ABANDON: Kind = { phases: ["before", undefined], states: false, idempotent: true };
const FORK: Kind = { phases: ["fork", undefined], states: false, idempotent: false };
const END: Kind = { phases: ["end", undefined], states: true, idempotent: false };

/** The first pause before a request is sent again, in milliseconds; each further one is twice as long. */
const PAUSE_MS = 50;

/** What the server says of an event that it records although it does not answer with a decision. */
const WILL_RECORD = "will be recorded";

/**
 * A client of `guard serve`. Every method resolves with a decision of the server, or rejects with a {@link GuardError}: treat each
 * error as a denial. Requests that may have had an effect are never sent twice.
 */
export class GuardClient {
  readonly #transport: Transport;
  readonly #token: string | undefined;
  readonly #approverToken: string | undefined;
  readonly #timeoutMs: number;
  readonly #retries: number;
  /** The longest event, in bytes: the body without the members around the event. */
  readonly #maxEvent: number;

  constructor(options: ClientOptions = {}) {
    const { timeoutMs = 10_000, retries = 2, maxBody = 1 << 20 } = options;
    if (!(timeoutMs > 0) || !(retries >= 0) || !(maxBody > 0)) {
      throw new RangeError("expected positive `timeoutMs` and `maxBody`, and `retries` of at least 0");
    }
    this.#transport = new Transport(options.address ?? "127.0.0.1:7437");
    this.#token = token(options.token ?? process.env["GUARD_TOKEN"]);
    this.#approverToken = token(options.approverToken);
    this.#timeoutMs = timeoutMs;
    this.#retries = retries;
    this.#maxEvent = maxBody - 64;
  }

  /** Whether it has a token of an approver. */
  get approves(): boolean {
    return this.#approverToken !== undefined;
  }

  /**
   * Decides about an action before it runs, and records it if the decision is `allowed`. If it `asks`, the action counts until
   * its `proposal` is committed or abandoned.
   */
  act(event: Event, options?: RequestOptions): Promise<Decision> {
    return this.#decide(ACT, () => `{"phase":"act","event":${this.#proposed(event)}}`, options);
  }

  /** Decides about an action. Unless it is denied, it counts until its `proposal` is committed or abandoned. */
  propose(event: Event, options?: RequestOptions): Promise<Decision> {
    return this.#decide(BEFORE, () => `{"phase":"before","event":${this.#proposed(event)}}`, options);
  }

  /** Records that a proposed action happens. It is recorded whatever the decision is: a client that commits first must obey it. */
  commit(proposal: number, event: Event, options?: RequestOptions): Promise<Decision> {
    return this.#decide(
      HAPPENED,
      () => `{"phase":"commit","proposal":${encode(proposal)},"event":${encodeHappened(event, this.#maxEvent)}}`,
      options,
    );
  }

  /** Records that a proposed action will not happen. */
  abandon(proposal: number, options?: RequestOptions): Promise<Decision> {
    return this.#decide(ABANDON, () => `{"phase":"abandon","proposal":${encode(proposal)}}`, options);
  }

  /**
   * Records an event that has happened. If the decision is `denied`, its content must not be used. Members without a JSON form, and
   * the largest ones of an event beyond `maxBody`, are marked as unknown.
   */
  observe(event: Event, options?: RequestOptions): Promise<Decision> {
    return this.#decide(HAPPENED, () => `{"phase":"after","event":${encodeHappened(event, this.#maxEvent)}}`, options);
  }

  /** Begins a trace with the recorded history of another one. */
  fork(trace: string, as: string, options?: RequestOptions): Promise<Decision> {
    return this.#decide(FORK, () => `{"phase":"fork","event":${encode({ trace, as })}}`, options);
  }

  /** Decides whether a trace may end; `owed` has the pending obligations. */
  proposeEnd(trace: string, options?: RequestOptions): Promise<Decision> {
    return this.#decide(BEFORE_END, () => `{"phase":"before","event":${encode({ trace, end: true })}}`, options);
  }

  /** Ends a trace. */
  end(trace: string, options?: RequestOptions): Promise<Decision> {
    return this.#decide(END, () => encode({ trace, end: true }), options);
  }

  /** Returns the state of the server. Needs no token. */
  async health(options: RequestOptions = {}): Promise<Health> {
    const kind: Kind = { phases: [], states: false, idempotent: true };
    const { body } = await this.#request(kind, "GET", "/v1/health", "", options);
    let health: Partial<Health> | null;
    try {
      health = JSON.parse(body) as Partial<Health> | null;
    } catch (error) {
      throw new ProtocolError("the answer is not JSON", "no", error);
    }
    if (health?.v !== 1 || health.ok !== true || typeof health.traces !== "number") {
      throw new ProtocolError("the answer is not the state of a server of version 1", "no");
    }
    return health as Health;
  }

  /** Returns the calls of one run of an agent; `trace` is its name. */
  session(trace: string, options?: SessionOptions): Session {
    return new Session(this, trace, options);
  }

  /** Closes the idle connections. The client can be used again. */
  close(): void {
    this.#transport.close();
  }

  /** Returns an action as JSON: all of it, or nothing is judged. */
  #proposed(event: Event): string {
    const written = encode(event);
    if (bytes(written) > this.#maxEvent) throw new EncodingError(`the event is larger than ${this.#maxEvent} bytes`, "");
    return written;
  }

  async #decide(kind: Kind, line: () => string, options: RequestOptions = {}): Promise<Decision> {
    const { body } = await this.#request(kind, "POST", "/v1/decide", line(), options);
    return readDecision(body, kind.phases);
  }

  async #request(kind: Kind, method: string, path: string, body: string, options: RequestOptions): Promise<Answer> {
    const headers: Record<string, string> = { "Content-Type": "application/x-ndjson" };
    const given = options.approver === true ? this.#approverToken : this.#token;
    if (options.approver === true && given === undefined) throw new GuardError("the client has no `approverToken`", "no");
    if (given !== undefined) headers["Authorization"] = `Bearer ${given}`;
    const deadline = new Deadline(options.timeoutMs ?? this.#timeoutMs, options.signal);
    for (let attempt = 0; ; attempt += 1) {
      try {
        const answer = await this.#transport.send(method, path, headers, body, deadline);
        if (answer.status === 200) return answer;
        throw refused(kind, answer);
      } catch (error) {
        if (!(error instanceof GuardError)) throw new GuardError(`the request failed: ${String(error)}`, "unknown", error);
        const again = error.recorded === "no" || (kind.idempotent && error.recorded === "unknown");
        const passing = !(error instanceof StatusError) || error.status === 503;
        if (!again || !passing || attempt >= this.#retries || !(await deadline.pause(PAUSE_MS * 2 ** attempt))) throw error;
      }
    }
  }
}

/** Returns the error for a status other than 200. */
function refused(kind: Kind, { status, body }: Answer): StatusError {
  let told: unknown;
  try {
    told = (JSON.parse(body) as { error?: unknown } | null)?.error;
  } catch {
    // Not an answer of the server, but of something before it.
  }
  const why = typeof told === "string" ? told : body.slice(0, 200);
  return new StatusError(`guard answered ${status}: ${why}`, status, kind.states ? statesRecorded(status, told) : unstated(status, told));
}

/** Whether a refused request about what has happened was recorded. */
function statesRecorded(status: number, told: unknown): Recorded {
  if (typeof told !== "string") return "unknown";
  // The server records what arrives of a body that is too long.
  if (status === 413 || told.includes(WILL_RECORD)) return "yes";
  return [400, 401, 403, 404, 405, 503].includes(status) ? "no" : "unknown";
}

/** Whether a refused question was recorded. A fault of the server may come after the decision. */
function unstated(status: number, told: unknown): Recorded {
  return typeof told === "string" && status >= 400 && (status < 500 || status === 503) ? "no" : "unknown";
}

function token(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  const trimmed = text.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed)) throw new TypeError("expected a token of visible ASCII characters");
  return trimmed;
}
