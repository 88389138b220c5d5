import type { Decision } from "./decision.js";

/** Whether the server took a request into account. `unknown`: it was sent, and no readable answer came back. */
export type Recorded = "yes" | "no" | "unknown";

/** The base of every error of this package. An error is never an approval: the action must not be carried out. */
export class GuardError extends Error {
  override readonly name: string = "GuardError";
  /** Whether the request that failed counts for later decisions. */
  readonly recorded: Recorded;

  constructor(message: string, recorded: Recorded, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.recorded = recorded;
  }
}

/** The spec, or the person who was asked, denies the action or withholds its result. The message is the reason, for the model. */
export class Denied extends GuardError {
  override readonly name = "Denied";
  readonly decision: Decision;

  constructor(reason: string, decision: Decision, recorded: Recorded) {
    super(reason, recorded);
    this.decision = decision;
  }
}

/** The server could not be reached, or the connection broke. */
export class ConnectionError extends GuardError {
  override readonly name = "ConnectionError";
}

/** No answer arrived in time. */
export class TimeoutError extends GuardError {
  override readonly name = "TimeoutError";
}

/** The caller's signal was aborted. */
export class AbortError extends GuardError {
  override readonly name = "AbortError";
}

/** The server answered with another status than 200. */
export class StatusError extends GuardError {
  override readonly name = "StatusError";
  readonly status: number;

  constructor(message: string, status: number, recorded: Recorded) {
    super(message, recorded);
    this.status = status;
  }
}

/** The server answered 200 with something that is not a decision on the request. */
export class ProtocolError extends GuardError {
  override readonly name = "ProtocolError";
}

/** A value has no JSON form, or the event is too large. Nothing was sent. */
export class EncodingError extends GuardError {
  override readonly name = "EncodingError";
  /** The members that lead to the value, such as `.args.amount`; empty if the event as a whole is at fault. */
  readonly path: string;

  constructor(message: string, path: string) {
    super(path === "" ? message : `at \`${path}\`: ${message}`, "no");
    this.path = path;
  }
}
