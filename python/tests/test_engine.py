"""What the engines share, without an engine: any division of the rows has the same results."""

# pyright: reportUnknownParameterType=false, reportUnknownLambdaType=false
from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import guard_lang as guard
from guard_lang import _engine
from guard_lang._engine import Kernel, Layout, total_counts, total_model

from .engine_rows import DRIFT, SPEC, events, lines_of, lines_of_report, without_place


@pytest.fixture
def spec() -> guard.Spec:
    return guard.Spec.from_source(SPEC)


@pytest.fixture
def drift() -> guard.Spec:
    return guard.Spec.from_source(DRIFT)


def parts(rows: list[dict[str, Any]], size: int) -> Iterator[Any]:
    table = pa.Table.from_pylist(sorted(rows, key=lambda row: (row["run"], row["seq"])))
    yield from table.to_batches(max_chunksize=size)


@pytest.mark.parametrize("chunk", [1, 1000, _engine.CHUNK])
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_batches_do_not_change_results(
    spec: guard.Spec, drift: guard.Spec, size: int, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_engine, "CHUNK", chunk)
    rows = events(50)
    report = spec.audit(lines_of(rows))
    kernel = pickle.loads(pickle.dumps(Kernel(spec, Layout("run", "seq"))))
    found = [json.loads(line) for batch in kernel.lines(parts(rows, size)) for line in batch["line"].to_pylist()]
    assert sorted(map(without_place, found), key=json.dumps) == lines_of_report(report)
    assert {(line.get("line", 0), line.get("index", 0)) for line in found} == {(0, 0)}
    (counts,) = kernel.counts(parts(rows, size))
    total = total_counts(spec, counts["counts"].to_pylist())
    assert {**total.counts, "input": None} == {**report.summary, "input": None}
    kernel = Kernel(drift, Layout("run", "seq"))
    model = total_model(drift, lambda: [row for batch in kernel.models(parts(rows, size)) for row in batch.to_pylist()])
    one = drift.learn(lines_of(rows))
    assert (model.text(), model.traces) == (one.text(), one.traces)


def test_rows_that_cannot_be_read_are_problems(spec: guard.Spec) -> None:
    rows = [
        {"run": None, "seq": 0, "kind": "call", "blob": b"x"},
        {"run": "a", "seq": 1, "kind": "call", "blob": b"x"},
        {"run": "a", "seq": 2, "kind": None, "blob": None},
    ]
    batch = pa.RecordBatch.from_pylist(rows)
    kernel = Kernel(spec, Layout("run", "seq"))
    found = [json.loads(line) for out in kernel.lines([batch]) for line in out["line"].to_pylist()]
    problems = [(line.get("trace"), line["kind"]) for line in found if line["type"] == "problem"]
    assert ("a", "missing_field") in problems
    assert any(trace is None for trace, _ in problems), problems
    (counts,) = kernel.counts([batch])
    assert total_counts(spec, counts["counts"].to_pylist()).errors == len(problems)


def test_traces_of_any_type_of_column(spec: guard.Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of traces may be repeated values or numbers, and a column `trace` of the events gives way to them."""
    monkeypatch.setattr(_engine, "CHUNK", 1)
    rows = [{"run": run, "seq": seq, "trace": "x", "kind": "call", "tool": "pay"} for run in (7, 8) for seq in (0, 1)]
    numbers = pa.RecordBatch.from_pylist(rows)
    texts = pa.RecordBatch.from_pylist([{**row, "run": str(row["run"])} for row in rows])
    repeated = texts.set_column(0, "run", texts.column("run").dictionary_encode())
    expected = [("7", "violated", 0), ("8", "violated", 0)]
    for batch in (numbers, texts, repeated):
        found = [row for out in Kernel(spec, Layout("run", "seq")).lines([batch]) for row in out.to_pylist()]
        assert [(row["trace"], row["verdict"], row["at"]) for row in found if row["property"] == "paid"] == expected


def test_texts(spec: guard.Spec) -> None:
    texts = ['{"id":"a","events":[{"kind":"call","tool":"pay"}]}', "{broken", "", None]
    batch = pa.RecordBatch.from_pylist([{"file": f"f{number}", "value": text} for number, text in enumerate(texts)])
    kernel = Kernel(spec, Layout(text="value", name="file"))
    rows = [row for out in kernel.lines([batch]) for row in out.to_pylist()]
    assert [row["property"] for row in rows if row["verdict"] == "violated"] == ["paid"]
    problems = [json.loads(row["line"]) for row in rows if row["kind"] == "problem"]
    assert {line["file"] for line in problems} == {"f1", "f2", "f3"}


def test_a_layout_that_does_not_fit_is_an_error() -> None:
    columns = ["run", "seq"]
    for layout in (
        Layout("trace", "seq"),
        Layout("run"),
        Layout(order="seq"),
        Layout("run", "seq", name="run"),
        Layout(text="x"),
    ):
        with pytest.raises(ValueError, match=r"column|order|name"):
            layout.check(columns)


def test_what_travels_is_the_same_on_arrival(spec: guard.Spec, drift: guard.Spec) -> None:
    again = pickle.loads(pickle.dumps(spec))
    assert [one.name for one in again.properties] == [one.name for one in spec.properties]
    assert pickle.loads(pickle.dumps(spec)) is again
    runs: list[dict[str, Any]] = [{"id": "a", "events": [{"tool": "mail"}]}, {"id": "b", "events": [{"tool": 7}]}]
    model = drift.learn(runs)
    other = pickle.loads(pickle.dumps(model))
    assert (other.text(), other.traces, other.problems) == (model.text(), model.traces, model.problems)
    assert len((model + other).problems) == 2 * len(model.problems) > 0
    kernel = Kernel(spec, Layout())
    (counts,) = kernel.counts([])
    total = total_counts(spec, counts["counts"].to_pylist())
    assert pickle.loads(pickle.dumps(total)) == total
    assert (total.traces, total.ok) == (0, False)
    with pytest.raises(guard.InputError, match="summary of 4 properties"):
        _ = total + total_counts(drift, [])
