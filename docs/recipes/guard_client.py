"""A client of `guard serve`, with nothing but the standard library."""

import http.client
import json
import os
import threading
import time


class Denied(Exception):
    """A call that must not be made, or whose result must not be used; the text is the reason, to be shown to the model."""


# bytes of an event; the server reads 1 MiB unless `--max-body` says otherwise
LIMIT = (1 << 20) - 64


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
            connection.request("POST", "/v1/decide", json.dumps(line, default=str), self.headers)
            answer = connection.getresponse()
            body = answer.read().decode()
        finally:
            connection.close()
        if answer.status != 200:
            raise Denied(f"guard answered {answer.status}: {body}")
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
                decision = self.decide({"phase": "after", "event": self.readable(self.unreported[0])})
                self.unreported.pop(0)
        return decision

    def readable(self, event):
        """The event; without its result if that is too large or no JSON. `NaN` is no JSON either, so the server takes these members as
        unknown, and records the event once: it also records what it can read of a body that is too large.
        """
        try:
            if len(json.dumps(event, default=str)) <= LIMIT:
                return event
        except (TypeError, ValueError):
            pass
        return {**event, "result": float("nan"), "text": float("nan")}

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

    def call(self, tool, args, call_id, run):
        """Makes a call if the spec lets it through, and records what came of it."""
        about = {"tool": tool, "args": args, "call": call_id}
        self.act(self.event("call", role="assistant", **about, text=None, result=None, error=None))
        raised = None
        try:
            result = run()
            text = str(result)
        except BaseException as error:
            result, text, raised = repr(error), repr(error), error
        told = self.event("result", role="tool", **about, result=result, text=text, error=raised is not None)
        decision = self.report(told)
        if raised is not None:
            raise raised
        if decision["decision"] in ("block", "stop"):
            raise Denied(self.reason(decision))
        return result

    def end(self):
        return self.decide({"trace": self.trace, "end": True})
