"""The time of a decision in this process, with the 23 templates of `std.agent`, and of reading events from Python.

pip install . && python benches/decision.py

Use a wheel of the release profile: the one of .ci/python is not optimised.
"""

from __future__ import annotations

import random
import time
from typing import Any, Callable

import guard_lang as guard

TEMPLATES = (
    "use std.agent.{"
    + ", ".join(f"phi{number}" for number in range(1, 24))
    + """}
event { kind: string  tool: string  fine: bool  args: json? }
property p1 = phi1(kind == "memory_write", not fine)
property p2 = phi2(kind == "memory_read", kind == "check")
property p3 = phi3(kind == "full", kind == "flush")
property p4 = phi4(kind == "memory_write", kind == "ack")
property p5 = phi5(kind == "memory_read" and not fine)
property p6 = phi6(kind == "shared_write", fine)
property p7 = phi7(kind == "call" and tool == "pay", kind == "approval")
property p8 = phi8(kind == "call" and tool == "delete", kind == "call" and tool == "mail")
property p9 = phi9(kind == "call", tool, ["search", "pay", "http", "exec", "save"])
property p10 = phi10(kind == "call" and tool == "exec", fine)
property p11 = phi11(kind == "call" and tool == "http", fine)
property p12 = phi12(kind == "call" and tool == "save", fine)
property p13 = phi13(kind == "db_write", kind in ["commit", "rollback"])
property p14 = phi14(kind == "call", kind == "result")
property p15 = phi15(kind == "skill", tool, ["ocr", "asr"])
property p16 = phi16(kind == "auth", fine)
property p17 = phi17(kind == "chain", fine)
property p18 = phi18(kind == "call", kind == "result", 50)
property p19 = phi19(kind == "critical", kind == "confirm", 5)
property p20 = phi20(kind == "query", not fine)
property p21 = phi21(kind == "pii", fine)
property p22 = phi22(kind == "escalate", fine)
property p23 = phi23(kind == "final", kind == "summary")
enforce p7 { violated => block "{tool} needs an approval" }
"""
)

SCENES = [
    ["memory_write", "ack"],
    ["memory_read", "check"],
    ["approval", "call pay", "result"],
    ["call search", "result"],
    ["call exec", "call save", "message", "result"],
    ["db_write", "message", "commit"],
    ["skill ocr", "message", "skill asr"],
    ["critical", "message", "message", "confirm"],
]


def events(count: int) -> list[dict[str, Any]]:
    """Return events of an agent that keeps to the templates."""
    draw = random.Random(1)
    found: list[dict[str, Any]] = []
    while len(found) < count:
        for event in draw.choice(SCENES):
            kind, _, tool = event.partition(" ")
            args = {"path": "notes/today.md", "amount": 20}
            found.append({"trace": "t", "kind": kind, "tool": tool, "fine": True, "args": args})
    return found[:count]


def timed(name: str, units: int, run: Callable[[], object]) -> None:
    """Print the time of one of the units of `run`: the best of five rounds."""
    rounds = []
    for _ in range(5):
        started = time.perf_counter()
        run()
        rounds.append(time.perf_counter() - started)
    print(f"{name:40} {min(rounds) / units * 1e6:8.2f} us")


def main() -> None:
    """Measure."""
    spec = guard.Spec.from_source(TEMPLATES)
    units = 20_000
    data = events(units)

    def propose() -> None:
        with spec.monitor(clock="none") as monitor:
            for event in data:
                decision = monitor.propose(event)
                if decision.allowed:
                    decision.commit()

    def act() -> None:
        with spec.monitor(clock="none") as monitor:
            for event in data:
                assert monitor.act(event).ruling == "allow"

    timed("act, 23 templates", units, act)
    timed("propose and commit, 23 templates", units, propose)
    timed("audit of dicts, an event", units, lambda: spec.audit(data))


if __name__ == "__main__":
    main()
