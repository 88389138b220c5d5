"""The monitor of SafetyDrift as a dictionary: parse an event, move the state, look its risk up.

Reads events, one JSON object a line, and prints percentiles in nanoseconds: of the lookup alone, which is what the paper
reports, and of parsing, moving and looking up, which is what `benches/monitor.rs` measures.
"""

import json
import sys
import time

REACH = {"search": 0, "read": 0, "write": 1, "exec": 2, "pay": 3, "mail": 3, "http": 3}
UNDO = {"search": 0, "read": 0, "write": 1, "exec": 1, "pay": 2, "mail": 2, "http": 2}
SECRET = ("password", "token", "secret", "id_rsa")

# 60 states: exposure 0..4, reach 0..3, undo 0..2; the numbers stand for P(F<=5 violated).
RISK = {
    (e, r, u): min(1.0, 0.02 + 0.08 * e + 0.05 * r + 0.04 * u)
    for e in range(5)
    for r in range(4)
    for u in range(3)
}


def main():
    state = {}
    whole, lookup = [], []
    for line in sys.stdin:
        start = time.perf_counter_ns()
        event = json.loads(line)
        trace = event["trace"]
        exposure, reach, undo = state.get(trace, (0, 0, 0))
        if event["kind"] == "call":
            tool = event.get("tool") or ""
            text = json.dumps(event.get("args"))
            exposure = max(exposure, 4 if any(s in text for s in SECRET) else 1)
            reach = max(reach, REACH.get(tool, 0))
            undo = UNDO.get(tool, 0)
            state[trace] = (exposure, reach, undo)
        before = time.perf_counter_ns()
        risk = RISK[(exposure, reach, undo)]
        decision = "block" if risk >= 0.85 else "warn" if risk >= 0.4 else "allow"
        end = time.perf_counter_ns()
        whole.append(end - start)
        lookup.append(end - before)
    for name, nanos in (("python, lookup alone", lookup), ("python, parse and decide", whole)):
        nanos.sort()
        at = lambda share: nanos[int((len(nanos) - 1) * share)]
        print(f"{name}: median {at(0.5)} ns, 99 % {at(0.99)} ns, 99.9 % {at(0.999)} ns ({decision})")


main()
