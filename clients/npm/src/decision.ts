import { ProtocolError } from "./errors.js";

/** What the clauses of the spec say, mildest first. */
export const RULINGS = ["allow", "warn", "reflect", "ask", "block", "stop"] as const;

/** The most severe of the actions of the clauses that act. */
export type Ruling = (typeof RULINGS)[number];

/** The verdict on a property. */
export type Verdict = "satisfied" | "violated" | "presumably_satisfied" | "presumably_violated" | "unknown";

/** A clause that acts. */
export interface Clause {
  /** The property, query or condition. */
  readonly name: string;
  readonly action: Ruling | "log" | "invoke";
  readonly message: string;
  /** The pending obligation and its deadline, or the data that could not be read. */
  readonly why?: string;
  /** The conditions at this step that speak against the clause, with the values that they read. */
  readonly reasons?: readonly unknown[];
  /** The values of the quantified variables. */
  readonly instance?: Readonly<Record<string, unknown>>;
  /** What the clause invokes. */
  readonly invoke?: { readonly name: string; readonly args: readonly unknown[]; readonly named: Readonly<Record<string, unknown>> };
}

/** The line of `guard serve` about one request. */
export interface DecisionLine {
  readonly v: 1;
  readonly trace: string | null;
  readonly step: number | null;
  readonly decision: Ruling;
  readonly clauses: readonly Clause[];
  readonly risk: Readonly<Record<string, number | "inf" | null>>;
  readonly state: string | null;
  readonly verdicts: Readonly<Record<string, Verdict>>;
  readonly phase?: string;
  readonly proposal?: number;
  readonly reserved?: number;
  readonly owed?: readonly string[];
  readonly errors?: readonly string[];
}

/** The decision on a request. */
export class Decision {
  /** The line of the server. */
  readonly line: DecisionLine;
  /** The decisions about deadlines that passed before the request. */
  readonly deadlines: readonly Decision[];

  constructor(line: DecisionLine, deadlines: readonly Decision[] = []) {
    this.line = line;
    this.deadlines = deadlines;
  }

  get ruling(): Ruling {
    return this.line.decision;
  }

  /** Whether the action may be carried out: `allow`, `warn` or `reflect`. */
  get allowed(): boolean {
    return this.ruling === "allow" || this.ruling === "warn" || this.ruling === "reflect";
  }

  /** Whether a person decides. */
  get asks(): boolean {
    return this.ruling === "ask";
  }

  /** Whether the action must not be carried out, even with a person's approval: `block` or `stop`. */
  get denied(): boolean {
    return !this.allowed && !this.asks;
  }

  /** The messages of the deciding clauses, or else the errors in the event, for an agent or a person. */
  get reason(): string {
    const { clauses } = this.line;
    // Of what could not be judged, a message alone would tell what is forbidden, and not that the event was only unclear.
    const unclear = this.errors.length > 0;
    const messages = clauses
      .filter((clause) => clause.action === this.ruling)
      .map(({ message, why }) => (unclear && why !== undefined ? `${message} (${why})` : message));
    const told = clauses.length === 0 ? this.errors : messages;
    return told.filter((text) => text !== "").join("; ") || (this.allowed ? "" : "denied by the spec");
  }

  /** The trace; `null` if it could not be read. */
  get trace(): string | null {
    return this.line.trace;
  }

  /** The index of the event in its trace. */
  get step(): number | null {
    return this.line.step;
  }

  /** The number of a proposal that can be committed or abandoned. */
  get proposal(): number | undefined {
    return this.line.proposal;
  }

  /** The faults in the event. */
  get errors(): readonly string[] {
    return this.line.errors ?? [];
  }

  /** Of the end of a trace: the pending obligations. */
  get owed(): readonly string[] {
    return this.line.owed ?? [];
  }

  /** Each property with its verdict after the event, or as it would be. */
  get verdicts(): Readonly<Record<string, Verdict>> {
    return this.line.verdicts;
  }
}

/**
 * Reads the body of an answer with status 200.
 *
 * @param phases the phases that a decision on the request may carry.
 * @throws {ProtocolError} if it is anything but decisions about deadlines and one on the request.
 */
export function readDecision(body: string, phases: readonly (string | undefined)[]): Decision {
  const lines = body.split("\n").filter((text) => text.trim() !== "");
  const read = lines.map(readLine);
  const own = read.pop();
  if (own === undefined) throw new ProtocolError("the answer is empty", "unknown");
  if (read.some((line) => line.phase !== "deadline") || !phases.includes(own.phase)) {
    throw new ProtocolError("the answer is about another request", "unknown");
  }
  return new Decision(
    own,
    read.map((line) => new Decision(line)),
  );
}

function readLine(text: string): DecisionLine {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch (error) {
    throw new ProtocolError("the answer is not JSON", "unknown", error);
  }
  if (!isDecision(line)) throw new ProtocolError("the answer is not a decision of version 1", "unknown");
  return line;
}

function isDecision(line: unknown): line is DecisionLine {
  if (typeof line !== "object" || line === null) return false;
  const told = line as Record<string, unknown>;
  const { v, trace, decision, clauses, verdicts, proposal } = told;
  return (
    v === 1 &&
    (trace === null || typeof trace === "string") &&
    RULINGS.includes(decision as Ruling) &&
    Array.isArray(clauses) &&
    clauses.every((clause: unknown) => typeof (clause as Partial<Clause> | null)?.message === "string") &&
    typeof verdicts === "object" &&
    verdicts !== null &&
    (proposal === undefined || Number.isSafeInteger(proposal)) &&
    [told["errors"], told["owed"]].every((list) => list === undefined || isTexts(list))
  );
}

function isTexts(list: unknown): list is string[] {
  return Array.isArray(list) && list.every((text) => typeof text === "string");
}
