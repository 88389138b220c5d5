export { GuardClient, type ClientOptions, type Event, type Health, type RequestOptions } from "./client.js";
export { Decision, type Clause, type DecisionLine, type Ruling, type Verdict } from "./decision.js";
export {
  AbortError,
  ConnectionError,
  Denied,
  EncodingError,
  GuardError,
  ProtocolError,
  StatusError,
  TimeoutError,
  type Recorded,
} from "./errors.js";
export { Session, type Ask, type CallOptions, type Outcome, type SessionOptions } from "./session.js";
export { textOf } from "./text.js";
