"""`guard_lang.spark` on a real cluster of two executors."""

# pyright: reportMissingImports=false
from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import guard_lang as guard

from ..conftest import ROOT
from ..engine_rows import events, lines_of, lines_of_report, without_place

pytest.importorskip("pyspark", reason="PySpark is not installed")

from guard_lang import spark as engine

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

SCHEMA = "run string, seq long, kind string, tool string, args struct<key long>, amount long"

#: Synthetic traces; `GUARD_TRACES` makes more of them.
TRACES = int(os.environ.get("GUARD_TRACES", "20000"))


def collected(df: Any) -> list[dict[str, Any]]:
    return sorted((without_place(json.loads(row["line"])) for row in df.collect()), key=json.dumps)


def test_events_of_a_trace_come_together(spark: Any, spec: guard.Spec, drift: guard.Spec) -> None:
    # One trace with a thousand times the events of the others: all of it is judged by one task.
    rows = events(200, hot=10_000)
    df = spark.createDataFrame(rows, SCHEMA).repartition(7)
    report = spec.audit(lines_of(rows))
    assert collected(engine.audit(df, spec, trace="run", order="seq")) == lines_of_report(report)
    total = engine.summary(df, spec, trace="run", order="seq")
    assert (total.traces, total.violating, total.events, total.errors) == (200, report.violating, report.events, report.errors)
    assert total.counts["properties"] == report.summary["properties"]
    model, one = engine.learn(df, drift, trace="run", order="seq"), drift.learn(lines_of(rows))
    assert (model.text(), model.traces, model.query()) == (one.text(), one.traces, one.query())


def test_rows_that_are_traces(spark: Any, spec: guard.Spec) -> None:
    records = [
        {"id": f"t{number}", "events": [{"kind": "approval"}] * (number % 2) + [{"kind": "call", "tool": "pay"}]}
        for number in range(100)
    ]
    df = spark.createDataFrame(records, "id string, events array<struct<kind:string,tool:string>>")
    assert collected(engine.audit(df, spec)) == lines_of_report(spec.audit(records))
    texts = spark.createDataFrame([(json.dumps(record),) for record in records], "value string")
    assert collected(engine.audit(texts, spec, text="value")) == lines_of_report(spec.audit(records))


CORPORA = sorted(path.stem for path in ROOT.glob("examples/corpora/*.guard"))


@pytest.mark.parametrize("name", CORPORA)
def test_the_corpora_have_the_results_of_one_machine(spark: Any, name: str, shared: Path) -> None:
    spec = guard.Spec.from_file(ROOT / "examples" / "corpora" / f"{name}.guard")
    data = shared / "data" / name.replace("_", "-")
    files = sorted({trace.file for trace in spec.audit(data, exclude=["answers.json"])})
    report = spec.audit(files)
    df = spark.createDataFrame([(file, bytearray(Path(file).read_bytes())) for file in files], "file string, value binary")
    found = engine.audit(df.repartition(5), spec, text="value", name="file").collect()
    # Every byte, with the places: each row is a file. What is unusual about several files is reported on one machine only.
    lines = [line for line in report.json().splitlines()[:-1] if '"kind":"odd"' not in line]
    assert sorted(row["line"] for row in found if '"kind":"odd"' not in row["line"]) == sorted(lines)


def test_rows_that_cannot_be_read_are_problems(spark: Any, spec: guard.Spec) -> None:
    rows = [("a", 0, "call", "pay"), ("a", 1, None, None), (None, 0, "call", "pay"), ("b", None, "call", "pay")]
    df = spark.createDataFrame(rows, "run string, seq long, kind string, tool string")
    found = engine.audit(df, spec, trace="run", order="seq").collect()
    problems = [json.loads(row["line"]) for row in found if row["kind"] == "problem"]
    assert {line.get("trace") for line in problems} >= {"a", None}
    assert {row["trace"] for row in found if row["verdict"] == "violated"} == {"a", "b"}
    assert engine.summary(df, spec, trace="run", order="seq").errors == len(problems)
    broken = spark.createDataFrame([("{broken",), ("",), (None,), ("7",)], "value string")
    assert engine.summary(broken, spec, text="value").errors >= 4


def test_what_is_wrong_is_told_before_any_task(spark: Any, spec: guard.Spec) -> None:
    df = spark.createDataFrame(events(3), SCHEMA)
    jobs = len(spark.sparkContext.statusTracker().getJobIdsForGroup(None))
    with pytest.raises(ValueError, match="no column `trace`"):
        engine.audit(df, spec, trace="trace", order="seq")
    with pytest.raises(guard.ModelError, match="exactly one"):
        engine.learn(df, spec, trace="run", order="seq")
    with pytest.raises(ValueError, match="whole numbers or times"):
        engine.monitor(df, spec, trace="run", order="kind")
    assert len(spark.sparkContext.statusTracker().getJobIdsForGroup(None)) == jobs


def test_an_impossible_step_is_a_model_error(spark: Any) -> None:
    spec = guard.Spec.from_source(
        """event { tool: string? }
track mailed: bool = false then tool == "mail"
abstraction steps {
  over mailed
  step not mailed'
}
model run = learn steps { }
"""
    )
    df = spark.createDataFrame([("a", 0, "mail")], "run string, seq long, tool string")
    with pytest.raises(guard.ModelError, match="impossible"):
        engine.learn(df, spec, trace="run", order="seq")


def test_an_executor_that_is_killed_changes_nothing(spark: Any, spec: guard.Spec, tmp_path: Path) -> None:
    rows = events(2000)
    marker = str(tmp_path / "killed")

    def kill_once(batches: Iterator[Any]) -> Iterator[Any]:
        import psutil

        for number, batch in enumerate(batches):
            yield batch
            if number == 0:
                try:
                    os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    continue
                executor = next(
                    one for one in psutil.Process().parents() if "CoarseGrainedExecutorBackend" in " ".join(one.cmdline())
                )
                executor.send_signal(signal.SIGKILL)

    df = spark.createDataFrame(rows, SCHEMA).repartition(8)
    sabotaged = df.mapInArrow(kill_once, df.schema)
    total = engine.summary(sabotaged, spec, trace="run", order="seq")
    assert os.path.exists(marker)
    report = spec.audit(lines_of(rows))
    assert (total.traces, total.violating, total.counts["properties"]) == (
        2000,
        report.violating,
        report.summary["properties"],
    )


def test_many_traces(spark: Any, spec: guard.Spec, drift: guard.Spec) -> None:
    from pyspark.sql import functions as F

    # Every seventh trace pays without an approval, and every tenth refunds three times.
    ids = spark.range(0, TRACES, numPartitions=8)
    kinds = F.expr(
        """concat(array(struct('request' kind, string(null) tool)),
                  if(id % 7 = 0, array(), array(struct('approval' kind, string(null) tool))),
                  array(struct('call' kind, 'pay' tool)),
                  if(id % 10 = 0, array_repeat(struct('call' kind, 'refund' tool), 3), array()))"""
    )
    df = ids.select(F.format_string("t%d", "id").alias("run"), F.posexplode(kinds).alias("seq", "event"))
    df = df.select("run", "seq", "event.kind", "event.tool").repartition(8)
    total = engine.summary(df, spec, trace="run", order="seq")
    unpaid, refunds = -(-TRACES // 7), -(-TRACES // 10)
    both = -(-TRACES // 70)
    assert (total.traces, total.violating, total.errors) == (TRACES, unpaid + refunds - both, 0)
    counts = total.counts["properties"]
    assert (counts["paid"]["violated"], counts["few"]["violated"]) == (unpaid, refunds)
    assert total.events == 3 * TRACES - unpaid + 3 * refunds
    model = engine.learn(df, drift, trace="run", order="seq")
    assert model.traces == TRACES


class Stream:
    """A stream of files: what is written is one micro-batch."""

    def __init__(self, spark: Any, folder: Path, spec: guard.Spec, **options: Any) -> None:
        self.spark, self.folder, self.spec, self.options = spark, folder, spec, options
        self.batches = 0
        self.seen: list[dict[str, Any]] = []
        (folder / "in").mkdir()

    def write(self, rows: list[dict[str, Any]]) -> None:
        self.batches += 1
        text = "".join(json.dumps(row) + "\n" for row in rows)
        draft = self.folder / f"{self.batches}.json"
        draft.write_text(text)
        # Files are taken by their time.
        os.utime(draft, (self.batches, self.batches))
        draft.rename(self.folder / "in" / draft.name)

    def run(self, **trigger: Any) -> Any:
        schema = "run string, seq long, kind string, tool string, done boolean"
        df = self.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(self.folder / "in"))
        decisions = engine.monitor(df, self.spec, trace="run", order="seq", end="done", **self.options)
        writer = decisions.writeStream.format("json").option("checkpointLocation", str(self.folder / "state"))
        query = writer.outputMode("append").trigger(**(trigger or {"availableNow": True})).start(str(self.folder / "out"))
        return query

    def settle(self) -> list[dict[str, Any]]:
        """Take what was written in a query of its own, which goes on from the checkpoint, and return the new rows."""
        assert self.run().awaitTermination(240)
        rows = self.spark.read.schema(engine.DECISIONS).json(str(self.folder / "out")).collect()
        before, self.seen = list(self.seen), [row.asDict() for row in rows]
        new = list(self.seen)
        for row in before:
            new.remove(row)
        return new


def event(run: str, seq: int | None, kind: str, tool: str | None = None, done: bool | None = None) -> dict[str, Any]:
    return {"run": run, "seq": seq, "kind": kind, "tool": tool, "done": done}


def test_a_stream_goes_on_from_its_checkpoint(spark: Any, spec: guard.Spec, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path, spec)
    stream.write([event("a", 1, "call", "refund"), event("b", 0, "approval"), event("a", 0, "look")])
    assert stream.settle() == []
    # The state is that of the query before, which has ended.
    stream.write([event("a", 3, "call", "refund"), event("a", 2, "call", "refund"), event("b", 1, "call", "pay")])
    (row,) = stream.settle()
    assert (row["trace"], row["order"], row["kind"], row["decision"]) == ("a", 3, "decision", "warn")
    assert (row["step"], row["violated"], row["late"]) == (3, ["few"], 0)
    # Repeated and late events are reported and change nothing; the end closes the trace.
    stream.write([
        event("a", 2, "call", "refund"),
        event("a", 2, "call", "other"),
        event("b", 0, "call", "pay"),
        event("b", None, "call", "pay"),
        event("b", 2, "call", "pay", done=True),
        event(None, 0, "call", "pay"),  # type: ignore[arg-type]
    ])  # fmt: skip
    rows = stream.settle()
    told = sorted((row["trace"] or "", row["kind"], row["decision"] or "", row["late"]) for row in rows)
    assert told == [
        ("", "decision", "block", 0),
        ("a", "late", "", 1),
        ("a", "repeated", "", 0),
        ("b", "decision", "block", 2),
        ("b", "end", "allow", 2),
        ("b", "late", "", 1),
        ("b", "late", "", 2),
    ]
    # After its end a trace is not opened again by what is repeated.
    stream.write([event("b", 2, "call", "pay", done=True), event("b", 1, "call", "pay")])
    assert [row["kind"] for row in stream.settle()] == ["repeated", "repeated"]


def test_decisions_of_a_stream_are_those_of_a_monitor(spark: Any, spec: guard.Spec, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path, spec, every=True)
    rows = [event(row["run"], row["seq"], row["kind"], row["tool"]) for row in events(30)]
    by_order = sorted(rows, key=lambda row: row["seq"])
    for start in range(0, len(by_order), 60):
        stream.write(by_order[start : start + 60])
    found = {(row["trace"], row["order"]): row["line"] for row in stream.settle()}
    monitor = spec.monitor(clock="none")
    wanted = {}
    for row in by_order:
        members = {name: value for name, value in row.items() if value is not None}
        wanted[row["run"], row["seq"]] = monitor.observe({**members, "trace": row["run"]}).json()
    assert found == wanted


def test_a_trace_without_events_ends(spark: Any, spec: guard.Spec, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path, spec, idle=1.0)
    stream.write([event("a", 0, "request")])
    query = stream.run(processingTime="1 second")
    rows: list[Any] = []
    try:
        for _ in range(120):
            query.awaitTermination(1)
            folder = tmp_path / "out"
            rows = spark.read.schema(engine.DECISIONS).json(str(folder)).collect() if list(folder.glob("*.json")) else []
            if rows:
                break
        assert [(row["trace"], row["kind"]) for row in rows] == [("a", "end")]
    finally:
        query.stop()
