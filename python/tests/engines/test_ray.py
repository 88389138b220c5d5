"""`guard_lang.ray` on a real cluster of two workers."""

# pyright: reportMissingImports=false
from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

import guard_lang as guard

from ..conftest import LIVE, ROOT
from ..engine_rows import events, lines_of, lines_of_report, without_place

pytest.importorskip("ray", reason="Ray is not installed")

from guard_lang import ray as engine

pytestmark = pytest.mark.filterwarnings("ignore")


def collected(ds: Any) -> list[dict[str, Any]]:
    return sorted((without_place(json.loads(row["line"])) for row in ds.take_all()), key=json.dumps)


def test_events_of_a_trace_come_together(cluster: Any, spec: guard.Spec, drift: guard.Spec) -> None:
    rows = events(200, hot=10_000)
    ds = cluster.data.from_items(rows, override_num_blocks=7)
    report = spec.audit(lines_of(rows))
    assert collected(engine.audit(ds, spec, trace="run", order="seq")) == lines_of_report(report)
    total = engine.summary(ds, spec, trace="run", order="seq")
    assert (total.traces, total.violating, total.events, total.errors) == (200, report.violating, report.events, report.errors)
    model, one = engine.learn(ds, drift, trace="run", order="seq"), drift.learn(lines_of(rows))
    assert (model.text(), model.traces) == (one.text(), one.traces)


def test_rows_that_are_traces(cluster: Any, spec: guard.Spec) -> None:
    records = [
        {"id": f"t{number}", "events": [{"kind": "approval"}] * (number % 2) + [{"kind": "call", "tool": "pay"}]}
        for number in range(100)
    ]
    assert collected(engine.audit(cluster.data.from_items(records), spec)) == lines_of_report(spec.audit(records))
    texts = cluster.data.from_items([{"value": json.dumps(record)} for record in records])
    assert collected(engine.audit(texts, spec, text="value")) == lines_of_report(spec.audit(records))
    broken = cluster.data.from_items([{"value": text} for text in ("{broken", "", "7")])
    assert engine.summary(broken, spec, text="value").errors >= 3


def test_corpora_have_the_results_of_one_machine(cluster: Any, shared: Path) -> None:
    for name in sorted(path.stem for path in ROOT.glob("examples/corpora/*.guard")):
        spec = guard.Spec.from_file(ROOT / "examples" / "corpora" / f"{name}.guard")
        data = shared / "data" / name.replace("_", "-")
        files = sorted({trace.file for trace in spec.audit(data, exclude=["answers.json"])})
        ds = cluster.data.from_items([{"file": file, "value": Path(file).read_bytes()} for file in files])
        rows = engine.audit(ds, spec, text="value", name="file").take_all()
        found = sorted(row["line"] for row in rows if row["kind"] == "verdict")
        assert found == sorted(line for line in spec.audit(files).json().splitlines() if '"type":"verdict"' in line), name


def test_what_is_wrong_is_told_before_any_task(cluster: Any, spec: guard.Spec) -> None:
    ds = cluster.data.from_items(events(3))
    with pytest.raises(ValueError, match="no column `trace`"):
        engine.audit(ds, spec, trace="trace", order="seq")
    with pytest.raises(guard.ModelError, match="exactly one"):
        engine.learn(ds, spec, trace="run", order="seq")


def test_a_worker_that_is_killed_changes_nothing(cluster: Any, spec: guard.Spec, tmp_path: Path) -> None:
    rows = events(1000)
    marker = str(tmp_path / "killed")

    def kill_once(table: Any) -> Any:
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return table
        os.kill(os.getpid(), signal.SIGKILL)

    ds = cluster.data.from_items(rows, override_num_blocks=6).map_batches(kill_once, batch_format="pyarrow")
    total = engine.summary(ds, spec, trace="run", order="seq")
    assert os.path.exists(marker)
    assert (total.traces, total.violating) == (1000, spec.audit(lines_of(rows)).violating)


def test_live_traces_are_decided_by_actors(cluster: Any) -> None:
    spec = guard.Spec.from_source(LIVE)
    live = engine.Monitors(spec, workers=2, clock="none", timeout=60)
    one = spec.monitor(clock="none")
    for number in range(40):
        call = {"trace": f"t{number % 10}", "kind": "call", "tool": "refund"}
        decided = live.act(call)
        assert decided.line == one.act(call).json()
    assert live.act({"trace": "t0", "kind": "call", "tool": "refund"}).denied
    asked = live.act({"trace": "t1", "kind": "call", "tool": "transfer", "args": {"amount": 5}})
    assert asked.asks
    assert asked.proposal is not None
    live.abandon("t1", asked.proposal)
    assert live.end("t1").ruling == "allow"
    with pytest.raises(guard.MonitorError):
        live.act({"trace": "t1", "kind": b"no JSON"})
    for actor in live._actors:
        cluster.kill(actor)

    def act_until(deadline: float) -> None:
        # `kill` returns before the actor has ended.
        while time.monotonic() < deadline:
            live.act({"trace": "t0", "kind": "look"})

    with pytest.raises(guard.MonitorError, match="could not be made"):
        act_until(time.monotonic() + 60)
