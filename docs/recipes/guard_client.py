"""A client of `guard serve`, with nothing but the standard library."""

import http.client
import json
import time


class Denied(Exception):
    """A call that must not be made; the text is the reason, to be shown to the model."""


class Guard:
    def __init__(self, trace, address="127.0.0.1:7437", token=None):
        self.trace, self.address = trace, address
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def decide(self, line):
        """Sends one line and returns its decision. Whatever goes wrong is raised: never take it for leave to go on."""
        connection = http.client.HTTPConnection(self.address, timeout=10)
        try:
            connection.request("POST", "/v1/decide", json.dumps(line), self.headers)
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

    def call(self, tool, args, call_id, run):
        """Makes a call if the spec lets it through, and tells what came of it."""
        call = self.event("call", role="assistant", tool=tool, args=args, call=call_id, text=None, result=None, error=None)
        decision = self.decide({"phase": "before", "event": call})
        if decision["decision"] in ("ask", "block", "stop"):
            if "proposal" in decision:
                self.decide({"phase": "abandon", "proposal": decision["proposal"]})
            raise Denied(self.reason(decision))
        self.decide({"phase": "commit", "proposal": decision["proposal"], "event": call})
        result, failed = None, True
        try:
            result, failed = run(), False
            return result
        except Exception as error:
            result = str(error)
            raise
        finally:
            told = self.event("result", role="tool", tool=tool, args=args, call=call_id, result=result, text=str(result), error=failed)
            self.decide({"phase": "after", "event": told})

    def end(self):
        return self.decide({"trace": self.trace, "end": True})
