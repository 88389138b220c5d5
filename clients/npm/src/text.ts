import { isOfClass } from "./json.js";

/** Deeper values are not read; the server reads no deeper ones by default. */
const DEPTH = 512;

/** Members with base64: of MCP, LangChain and OpenAI. */
const ENCODED = new Set(["blob", "data", "base64", "file_data"]);

/** Shorter runs of characters in binary data, such as an image, are chance. */
const RUN = /[\t\n\r\x20-\x7e]{16,}/g;

/** Strings, keys and numbers in their order, and the members `text` among them. */
interface Found {
  all: string[];
  shown: string[];
}

/**
 * Returns all the text of a value: its strings, keys and numbers, joined by line ends and then again without, since a phrase may be
 * split over several of them; the members `text` are joined once more by themselves. Text in base64 and in `data:` addresses is
 * decoded. Returns `NaN`, which is unknown to the server, if some of the value cannot be read as text.
 */
export function textOf(value: unknown): string | number {
  const found: Found = { all: [], shown: [] };
  try {
    read(value, "", found, 0);
  } catch {
    // A getter or `toJSON` may throw anything.
    return Number.NaN;
  }
  const { all, shown } = found;
  const joined = [all.join("\n")];
  if (all.length > 1) joined.push(all.join(""));
  if (shown.length > 1 && shown.length < all.length) joined.push(shown.join(""));
  return joined.join("\n");
}

function read(value: unknown, key: string, found: Found, depth: number): void {
  if (depth > DEPTH) throw new RangeError(`nested deeper than ${DEPTH} levels`);
  if (value === null || value === undefined || typeof value === "boolean") return;
  if (typeof value === "number" || typeof value === "bigint") return void found.all.push(String(value));
  if (typeof value === "string") {
    found.all.push(value, ...decoded(value, ENCODED.has(key)));
    if (key === "text") found.shown.push(value);
    return;
  }
  if (typeof value !== "object") throw new TypeError(`a ${typeof value} has no text`);
  if (value instanceof Error) return readError(value, found, depth);
  if (ArrayBuffer.isView(value)) {
    return void found.all.push(...inBytes(Buffer.from(value.buffer, value.byteOffset, value.byteLength)));
  }
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return read(toJSON.call(value), key, found, depth + 1);
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) read(item, "", found, depth + 1);
    return;
  }
  if (isOfClass(value)) throw new TypeError("an object of a class has no text that is known");
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    found.all.push(name);
    read(member, name, found, depth + 1);
  }
}

/** Reads what JavaScript shows of an error: its name, message, cause and errors; and its other members that can be read. */
function readError(error: Error, found: Found, depth: number): void {
  found.all.push(error.name, error.message);
  for (const name of Object.getOwnPropertyNames(error)) {
    // The stack repeats the message and holds places in the program.
    if (["name", "message", "stack"].includes(name)) continue;
    const part: Found = { all: [], shown: [] };
    try {
      read((error as unknown as Record<string, unknown>)[name], name, part, depth + 1);
    } catch (unread) {
      if (name === "cause" || name === "errors") throw unread;
      continue;
    }
    found.all.push(...part.all);
    found.shown.push(...part.shown);
  }
}

/** Returns the text that a string encodes: that of a `data:` address or of base64. */
function decoded(value: string, isBase64: boolean): string[] {
  // Browsers skip white space and control characters before an address, and tabs and line ends in it.
  const isAddress = /^[\s\x00-\x20]*d[\t\n\r]*a[\t\n\r]*t[\t\n\r]*a[\t\n\r]*:/i.test(value);
  const address = isAddress ? /data:([^,]*),(.*)$/is.exec(value.replace(/[\t\n\r]/g, "")) : null;
  if (address === null) return isBase64 ? inBytes(Buffer.from(value, "base64")) : [];
  const [, type = "", content = ""] = address;
  const unescaped = content.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return inBytes(Buffer.from(unescaped, /base64/i.test(type) ? "base64" : "latin1"));
}

/** Returns the text in bytes: all of it if they are UTF-8 or UTF-16 in Latin script, otherwise each run of characters. */
function inBytes(bytes: Buffer): string[] {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text === "" ? [] : [text];
  } catch {
    // Not UTF-8.
  }
  const letters = bytes.toString("latin1");
  const dense = letters.replaceAll("\0", "");
  if (/^[\t\n\r\x20-\x7e\xa0-\xff]*$/.test(dense) && dense !== letters) return [dense];
  return [...(letters.match(RUN) ?? []), ...(dense.match(RUN) ?? [])];
}
