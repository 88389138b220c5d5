"""A client of `guard serve`, with nothing but the standard library."""

import decimal
import http.client
import json
import os
import threading
import time


class Denied(Exception):
    """A call that must not be made, or whose result must not be used; the text is the reason, to be shown to the model."""

    recorded = False  # whether the server records the outcome that was reported


# bytes of an event; the server reads 1 MiB unless `--max-body` says otherwise
LIMIT = (1 << 20) - 64

# no JSON, so the server takes a member with this value as unknown; one that is left out would be null
UNKNOWN = float("nan")


def text_of(value):
    """All the text of a result or an exception: its strings, keys and numbers, joined by line ends and then again without, since a
    phrase may be split over several; the members `text` of blocks once more by themselves. Base64 is not decoded. Of objects of
    other classes, the text is unknown.
    """
    found, shown = [], []

    def read(value, key=None):
        if isinstance(value, str):
            found.append(value)
            if key == "text":
                shown.append(value)
        elif isinstance(value, dict):
            for name, member in value.items():
                read(name)
                read(member, name)
        elif isinstance(value, (list, tuple)):
            for item in value:
                read(item)
        elif isinstance(value, BaseException):
            # what Python shows of it, and its arguments as they are, since `repr` escapes line ends
            more = [getattr(value, "__notes__", []), getattr(value, "exceptions", []), value.__cause__ or value.__context__]
            read([repr(value), str(value), value.args, *more])
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found.append(json.dumps(value))
            # what a reader in JavaScript shows
            if isinstance(value, float) and 1e16 <= abs(value) < 1e21:
                found.append(f"{decimal.Decimal(repr(value)):f}")
        elif value is not None and not isinstance(value, bool):
            raise TypeError(type(value))

    try:
        read(value)
    except Exception:
        return UNKNOWN
    joined = ["\n".join(found)]
    if len(found) > 1:
        joined.append("".join(found))
    if 1 < len(shown) < len(found):
        joined.append("".join(shown))
    return "\n".join(joined)


def told(result):
    """The members of the event that records a result."""
    return {"result": result, "text": text_of(result), "error": False}


class Guard:
    def __init__(self, trace, address="127.0.0.1:7437", token=None, ask=lambda reason: False):
        """`token` is the first line of the file that `guard serve --token-file` was given; `ask` asks a person."""
        token = token or os.environ.get("GUARD_TOKEN")
        self.trace, self.address, self.ask = trace, address, ask
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.unreported, self.reporting = [], threading.Lock()

    def decide(self, line):
        """Sends one line and returns its decision. Raises if anything goes wrong: an error is never an approval."""
        connection = http.client.HTTPConnection(self.address, timeout=10)
        try:
            connection.request("POST", "/v1/decide", json.dumps(line), self.headers)
            answer = connection.getresponse()
            body = answer.read().decode()
        finally:
            connection.close()
        if answer.status != 200:
            denied = Denied(f"guard answered {answer.status}: {body}")
            denied.recorded = answer.status == 413 or "will be recorded" in body
            raise denied
        # deadlines that passed before make lines of their own; the last line is about ours
        return json.loads(body.splitlines()[-1])

    def event(self, kind, **members):
        return {"trace": self.trace, "kind": kind, "at": time.time(), **members}

    def reason(self, decision):
        told = [clause["message"] for clause in decision["clauses"]] + decision.get("errors", [])
        return "; ".join(told) or "denied by the spec"

    def report(self, *events):
        """Reports what happened; returns the last decision. What cannot be reported now is reported before the next action,
        which is denied otherwise: a result that was not reported must not be forgotten.
        """
        decision = None
        with self.reporting:
            self.unreported += events
            while self.unreported:
                try:
                    decision = self.decide({"phase": "after", "event": self.readable(self.unreported[0])})
                except Denied as denied:
                    if denied.recorded:
                        self.unreported.pop(0)
                    raise
                self.unreported.pop(0)
        return decision

    def readable(self, event):
        """The event; its result, and then its text, is unknown if it is no JSON or the event is too large. The server refuses a body
        that is too large and records what it can read of it, so that reporting it again would count it twice.
        """
        for member in ("result", "text"):
            try:
                if len(json.dumps(event)) <= LIMIT:
                    break
            except Exception:
                pass
            event = {**event, member: UNKNOWN}
        return event

    def act(self, event):
        """Judges an action and records it in one step, so that no other action comes between. Raises if it is denied.

        If a person must be asked, the action counts while the answer is awaited, and the decision of the commit is obeyed: it asks if
        something happened meanwhile about which the person was not asked.
        """
        self.report()
        decision = self.decide({"phase": "act", "event": event})
        if decision["decision"] == "ask" and "proposal" in decision:
            proposal = {"proposal": decision["proposal"]}
            allowed = False
            try:
                allowed = self.ask(self.reason(decision))
            finally:
                if not allowed:
                    self.decide({"phase": "abandon", **proposal})
            if not allowed:
                raise Denied(self.reason(decision))
            decision = self.decide({"phase": "commit", **proposal, "event": {**event, "at": time.time()}})
        if decision["decision"] not in ("allow", "warn", "reflect"):
            raise Denied(self.reason(decision))

    def call(self, tool, args, call_id, run, outcome=told):
        """Makes a call if the spec lets it through, and records what came of it. What a clause blocks is withheld: a result, and also
        an exception, whose text a server may have chosen. Members that `outcome` leaves out are unknown.
        """
        about = {"tool": tool, "args": args, "call": call_id}
        self.act(self.event("call", role="assistant", **about, text=None, result=None, error=None))
        members, raised, interrupted = {"result": UNKNOWN, "text": UNKNOWN, "error": UNKNOWN}, None, False
        try:
            result = run()
        except BaseException as error:
            # Ctrl-C is no answer of the tool, which may have done its work
            raised, interrupted = error, not isinstance(error, Exception) and not hasattr(error, "exceptions")
            members["result"] = members["text"] = text_of(error)
            members["error"] = UNKNOWN if interrupted else True
        else:
            try:
                members.update(outcome(result))
            except Exception as error:
                raised = error
        decision = self.report({**members, **self.event("result", role="tool", **about)})
        if decision["decision"] in ("block", "stop") and not interrupted:
            raise Denied(self.reason(decision))
        if raised is not None:
            raise raised
        return result

    def end(self):
        return self.decide({"trace": self.trace, "end": True})
