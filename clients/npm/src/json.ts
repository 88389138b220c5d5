import { EncodingError } from "./errors.js";

/** Deeper values are rejected; the server reads no deeper ones by default. */
const DEPTH = 512;

/** No reader accepts it as a number, so the server takes the member as unknown, which a missing one would not be. */
const UNKNOWN = "NaN";

/** The members of an event that say what happened to whom; an event without one of them could not be recorded. */
const NEEDED = new Set(["trace", "kind", "at"]);

/**
 * Returns a value as JSON. `JSON.stringify` writes `null` for `NaN`, `undefined` in lists and functions, and `{}` for a map: a
 * clause would judge something else than what happens. Here these are errors; a `bigint` keeps all its digits.
 *
 * @throws {EncodingError} with the path of the value.
 */
export function encode(value: unknown, path = "", depth = 0): string {
  if (depth > DEPTH) throw new EncodingError(`nested deeper than ${DEPTH} levels`, path);
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "bigint":
      return value.toString();
    case "number":
      if (!Number.isFinite(value)) throw new EncodingError(`${value} has no JSON form`, path);
      return JSON.stringify(value);
    case "object":
      break;
    default:
      throw new EncodingError(`expected a JSON value, found ${typeof value}`, path);
  }
  if (value === null) return "null";
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return encode(toJSON.call(value), path, depth + 1);
  if (Array.isArray(value)) {
    return `[${Array.from(value, (item, index) => encode(item, `${path}[${index}]`, depth + 1)).join(",")}]`;
  }
  if (value instanceof Map || value instanceof Set || ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    throw new EncodingError(`expected a JSON value, found ${value.constructor.name}`, path);
  }
  if (value instanceof Promise) throw new EncodingError("expected a JSON value, found a promise: await it", path);
  const members = Object.entries(value);
  if (value instanceof Error || (members.length === 0 && isOfClass(value))) {
    // What an error, a response or a stream holds is not in its members.
    throw new EncodingError(`expected a JSON value, found ${value.constructor.name}`, path);
  }
  const written = members
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${JSON.stringify(name)}:${encode(member, `${path}.${name}`, depth + 1)}`);
  return `{${written.join(",")}}`;
}

/** Whether an object is of a class, such as a response, a stream or a map: what it holds may not be in its members. */
export function isOfClass(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype !== null && Object.getPrototypeOf(prototype) !== null;
}

/** Returns the length of a text in UTF-8. */
export function bytes(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/**
 * Returns an event that has happened as JSON of at most `most` bytes. A member that has no JSON form, and the largest ones of an
 * event that is too large, are marked as unknown: what has happened must not be lost for the sake of a part of it.
 */
export function encodeHappened(event: Readonly<Record<string, unknown>>, most: number): string {
  const members: [string, string][] = [];
  for (const [name, value] of Object.entries(event)) {
    if (value === undefined) continue;
    let written: string;
    try {
      written = encode(value, `.${name}`);
    } catch (error) {
      // A `toJSON` of the value may throw anything.
      if (NEEDED.has(name)) throw error;
      written = UNKNOWN;
    }
    members.push([name, written]);
  }
  const join = () => `{${members.map(([name, written]) => `${JSON.stringify(name)}:${written}`).join(",")}}`;
  let size = bytes(join());
  const largest = members.filter(([name]) => !NEEDED.has(name)).sort(([, a], [, b]) => bytes(b) - bytes(a));
  for (const member of largest) {
    if (size <= most) break;
    size -= bytes(member[1]) - UNKNOWN.length;
    member[1] = UNKNOWN;
  }
  if (size > most) throw new EncodingError(`the event is larger than ${most} bytes`, "");
  return join();
}
