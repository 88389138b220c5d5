"""Processor time of audits of the same events as JSON Lines, Parquet and Arrow IPC, in one thread, and of tables in memory.

pip install . pyarrow && python benches/tables.py [EVENTS]

Use a wheel of the release profile: the one of .ci/python is not optimised.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from decision import TEMPLATES, events

import guard_lang as guard

ONE = """
use std.agent.{phi7}
event { kind: string  tool: string }
property paid = phi7(kind == "call" and tool == "pay", kind == "approval")
"""

#: Events of a trace.
LENGTH = 20


def rows(count: int) -> list[dict[str, Any]]:
    """Return events of seven members, one of which is a text of 150 bytes that no property reads."""
    draw = random.Random(2)
    words = [f"word{number}" for number in range(400)]
    found = []
    for number, event in enumerate(events(count)):
        text = " ".join(draw.choices(words, k=40))[:150]
        at = f"2026-01-01T00:00:{number % 60:02}Z"
        found.append({**event, "trace": f"t{number // LENGTH}", "at": at, "text": text})
    return found


def written(folder: Path, name: str, records: list[dict[str, Any]]) -> tuple[list[Path], pa.Table]:
    """Write records in each format; the table is that of the records."""
    table = pa.Table.from_pylist(records)
    paths = [folder / f"{name}.{extension}" for extension in ("jsonl", "parquet", "arrow")]
    paths[0].write_text("".join(json.dumps(record) + "\n" for record in records))
    pq.write_table(table, paths[1])
    with pa.ipc.new_file(paths[2], table.schema) as out:
        out.write_table(table)
    return paths, table


def timed(spec: guard.Spec, traces: Any, count: int) -> float:
    """Return the microseconds of processor time that an event takes: the best of five rounds."""
    rounds = []
    for _ in range(5):
        started = time.process_time()
        report = spec.audit(traces, jobs=1)
        rounds.append(time.process_time() - started)
        assert (report.events, report.errors) == (count, 0)
    return min(rounds) / count * 1e6


def main() -> None:
    """Measure."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    alone = rows(count)
    inner = [{key: value for key, value in event.items() if key != "trace"} for event in alone]
    whole = [{"id": f"t{first // LENGTH}", "events": inner[first : first + LENGTH]} for first in range(0, count, LENGTH)]
    specs = {"one property": ONE, "23 templates": TEMPLATES}
    with tempfile.TemporaryDirectory() as name:
        for layout, records in (("a row an event", alone), ("a row a trace", whole)):
            paths, table = written(Path(name), layout.rsplit(maxsplit=1)[-1], records)
            for work, source in specs.items():
                spec = guard.Spec.from_source(source)
                lines, *others = [timed(spec, traces, count) for traces in (*paths, table)]
                told = [f"{kind} {time:5.2f} us ({lines / time:4.2f} times faster)" for kind, time in zip(KINDS, others)]
                print(f"{work}, {layout}: JSON Lines {lines:5.2f} us, {', '.join(told)}")


KINDS = ("Parquet", "Arrow", "table in memory")

if __name__ == "__main__":
    main()
