import { Agent, request, type RequestOptions } from "node:http";

import { AbortError, ConnectionError, ProtocolError, TimeoutError } from "./errors.js";

/** The server closes idle connections after 15 seconds; one that is kept for less is not closed under a request. */
const IDLE_MS = 5_000;

/** An answer beyond this length is not one of `guard serve`. */
const MAX_ANSWER = 64 << 20;

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** HTTP over TCP or a Unix socket. */
export class Transport {
  readonly #agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  readonly #at: RequestOptions;

  /** @throws {TypeError} for an address of another form. */
  constructor(address: string) {
    if (address.startsWith("unix:")) {
      this.#at = { socketPath: address.slice("unix:".length) };
      return;
    }
    const url = new URL(address.includes("://") ? address : `http://${address}`);
    if (url.protocol !== "http:" || url.pathname !== "/" || url.search !== "" || url.username !== "") {
      throw new TypeError(`expected \`HOST:PORT\`, \`http://HOST:PORT\` or \`unix:PATH\`, found \`${address}\``);
    }
    this.#at = { hostname: url.hostname.replace(/^\[|\]$/g, ""), port: url.port || 80 };
  }

  /** Sends one request. Every error says whether the server can have taken it into account. */
  send(method: string, path: string, headers: Record<string, string>, body: string, deadline: Deadline): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = Buffer.from(body, "utf8");
      const options = { ...this.#at, agent: this.#agent, method, path, headers: { ...headers, "Content-Length": sent.length } };
      // Until it is connected, nothing has been sent.
      let connected = false;
      const recorded = () => (connected ? "unknown" : "no");
      const outgoing = request(options);
      const stop = (error: Error) => {
        reject(error);
        outgoing.destroy();
      };
      const release = deadline.onEnd((why) => {
        const message = why === "time" ? "guard did not answer in time" : "the request was aborted";
        stop(why === "time" ? new TimeoutError(message, recorded()) : new AbortError(message, recorded(), deadline.reason));
      });
      outgoing.once("socket", (socket) => {
        if (socket.connecting) socket.once("connect", () => (connected = true));
        else connected = true;
      });
      outgoing.once("error", (error) => reject(new ConnectionError(`guard cannot be reached: ${error.message}`, recorded(), error)));
      outgoing.once("close", release);
      outgoing.once("response", (incoming) => {
        const parts: Buffer[] = [];
        let length = 0;
        incoming.on("data", (part: Buffer) => {
          length += part.length;
          parts.push(part);
          if (length > MAX_ANSWER) stop(new ProtocolError(`the answer is longer than ${MAX_ANSWER} bytes`, "unknown"));
        });
        incoming.once("error", (error) => reject(new ConnectionError("the answer was cut off", "unknown", error)));
        incoming.once("close", () => {
          // Without an effect if the answer was complete.
          reject(new ConnectionError("the answer was cut off", "unknown"));
        });
        incoming.once("end", () => {
          if (incoming.complete) resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(parts).toString("utf8") });
        });
      });
      outgoing.end(sent);
    });
  }

  /** Closes the idle connections; the ones in use end with their requests. */
  close(): void {
    this.#agent.destroy();
  }
}

/** The time of a request with all its attempts, and the caller's signal. */
export class Deadline {
  readonly #end: number;
  readonly #signal: AbortSignal | undefined;

  constructor(timeoutMs: number, signal: AbortSignal | undefined) {
    this.#end = performance.now() + timeoutMs;
    this.#signal = signal;
  }

  get left(): number {
    return Math.max(0, this.#end - performance.now());
  }

  get aborted(): boolean {
    return this.#signal?.aborted ?? false;
  }

  get reason(): unknown {
    return this.#signal?.reason;
  }

  /** Calls `end` once, when the time is over or the signal is aborted. Returns a function that prevents it. */
  onEnd(end: (why: "time" | "abort") => void): () => void {
    const signal = this.#signal;
    if (signal?.aborted) {
      end("abort");
      return () => {};
    }
    const abort = () => {
      release();
      end("abort");
    };
    const timer = setTimeout(() => {
      release();
      end("time");
    }, this.left);
    const release = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    signal?.addEventListener("abort", abort, { once: true });
    return release;
  }

  /** Waits, unless the time would be over by then or the signal is aborted. Returns whether it has waited. */
  pause(ms: number): Promise<boolean> {
    if (this.aborted || this.left <= ms) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        release();
        resolve(true);
      }, ms);
      const release = this.onEnd(() => {
        clearTimeout(timer);
        resolve(false);
      });
    });
  }
}
