"""Specs and rows of events for the tests of engines."""

from __future__ import annotations

import json
from typing import Any

import guard_lang as guard

#: A rule of each kind that an engine could get wrong: order, counts, instances, data errors.
SPEC = """
event { kind: string  tool: string?  args: json?  amount: int? }
property paid = G (kind == "call" and tool == "pay" -> Y kind == "approval")
property few = G (count(kind == "call" and tool == "refund") <= 2)
property answered = forall k: G (kind == "request" and args.key == k -> F (kind == "answer" and args.key == k))
property small = always (amount < 1000 or amount == null)
enforce paid { violated => block "{tool} needs an approval in the step before" }
enforce few { violated => warn "two refunds are enough" }
"""

DRIFT = """
event { tool: string? }
track mailed: bool = false then mailed or tool == "mail"
abstraction steps {
  over mailed
}
model run = learn steps { }
query risk = P=? [ F mailed ] on run
"""


def events(traces: int, hot: int = 0) -> list[dict[str, Any]]:
    """Return rows of events, not sorted; the last trace is longer by `hot` events."""
    rows: list[dict[str, Any]] = []
    for trace in range(traces):
        kinds = [("request", None), ("call", "refund"), ("approval", None), ("call", "pay"), ("answer", None)]
        if trace % 3 == 0:
            kinds += [("call", "pay"), ("call", "refund"), ("call", "refund")]
        if trace % 5 == 0:
            kinds = kinds[:-1]
        if trace == traces - 1:
            kinds += [("call", "look")] * hot
        for seq, (kind, tool) in enumerate(kinds):
            args = {"key": trace % 7} if kind in ("request", "answer") else None
            amount = 999 + trace % 2 if tool == "pay" else None
            rows.append({"run": f"t{trace}", "seq": seq, "kind": kind, "tool": tool, "args": args, "amount": amount})
    return rows[::-1]


def lines_of(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records of a JSON Lines file with these events, trace by trace."""
    ordered = sorted(rows, key=lambda row: (str(row["run"]), row["seq"]))
    return [{"trace": row["run"], **{name: value for name, value in row.items() if value is not None}} for row in ordered]


def without_place(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line without the place of its trace, which on one machine is that in the file."""
    return {name: value for name, value in line.items() if name not in ("file", "line", "index")}


def lines_of_report(report: guard.Report) -> list[dict[str, Any]]:
    """Return the lines about the traces of a report, without places, in an order that does not depend on them."""
    return sorted((without_place(json.loads(line)) for line in report.json().splitlines()[:-1]), key=json.dumps)
