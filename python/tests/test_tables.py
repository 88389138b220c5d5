from __future__ import annotations

import datetime
import decimal
import json
from pathlib import Path
from typing import Any, Callable

import pytest

import guard_lang as guard

SPEC = """
event { kind: string  tool: string?  args: json?  at: time?  due: time?  cost: float? }
property paid = G (kind == "call" and tool == "pay" -> Y kind == "approval")
property cheap = never (cost > 0.1)
property early = never (at >= due)
property home = never (args.to == "elsewhere")
"""

UTC = datetime.timezone.utc
NOON = datetime.datetime(2026, 1, 2, 12, tzinfo=UTC)
EVENTS: list[dict[str, Any]] = [
    {"trace": "a", "kind": "approval", "at": datetime.datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=UTC)},
    {"trace": "b", "kind": "call", "tool": "pay", "cost": 0.1},
    {"trace": "a", "kind": "call", "tool": "pay", "args": {"to": "elsewhere", "all": [1, None]}},
    {"trace": "c", "kind": "call", "at": NOON, "due": NOON, "cost": 0.25},
]


@pytest.fixture
def spec() -> guard.Spec:
    return guard.Spec.from_source(SPEC)


def verdicts(report: guard.Report) -> list[tuple[str, str, int | None]]:
    assert report.errors == 0, report.problems
    return [(one.trace, one.property, one.at) for one in report.violations]


def of_pyarrow(table: Any) -> Any:
    return table


def of_batches(table: Any) -> Any:
    return table.to_reader()


def of_pandas(table: Any) -> Any:
    pytest.importorskip("pandas")
    return table.to_pandas(types_mapper=pytest.importorskip("pandas").ArrowDtype)


def of_polars(table: Any) -> Any:
    return pytest.importorskip("polars").from_arrow(table)


def of_duckdb(table: Any) -> Any:
    return pytest.importorskip("duckdb").connect().from_arrow(table)


@pytest.mark.parametrize("made", [of_pyarrow, of_batches, of_pandas, of_polars, of_duckdb])
def test_a_row_is_an_event(spec: guard.Spec, made: Callable[[Any], Any]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    expected = verdicts(spec.audit(EVENTS))
    assert sorted(expected) == [("a", "home", 1), ("b", "paid", 0), ("c", "cheap", 0), ("c", "early", 0)]
    columns = sorted({key for event in EVENTS for key in event})
    table = pyarrow.table({column: [event.get(column) for event in EVENTS] for column in columns})
    assert verdicts(spec.audit(made(table))) == expected


def test_a_row_is_a_trace(spec: guard.Spec, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    runs = [
        {"id": name, "events": [{key: value for key, value in event.items() if key != "trace"} for event in EVENTS[:3]]}
        for name in ("x", "y")
    ]
    table = pyarrow.Table.from_pylist(runs)
    assert verdicts(spec.audit(table)) == verdicts(spec.audit(runs))
    assert len(verdicts(spec.audit(table))) == 4
    # The same as of a file of lines.
    lines = tmp_path / "<data>"
    lines.write_text("".join(json.dumps(run, default=lambda at: at.isoformat()) + "\n" for run in runs))
    assert verdicts(spec.audit(lines)) == verdicts(spec.audit(table))


def test_types_of_columns(spec: guard.Spec) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(
        {
            "trace": pyarrow.array(["t", "t"]).dictionary_encode(),
            "kind": pyarrow.array(["call", "call"], pyarrow.large_string()),
            "cost": pyarrow.array([decimal.Decimal("0.10"), decimal.Decimal("0.11")]),
            # Without a zone: in UTC.
            "at": pyarrow.array([datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 2, 12)], pyarrow.timestamp("us")),
            "due": pyarrow.array([NOON, NOON], pyarrow.timestamp("ns", "Europe/Berlin")),
            "args": pyarrow.array([[("to", "home")], None], pyarrow.map_(pyarrow.string(), pyarrow.string())),
        }
    )
    assert verdicts(spec.audit(table)) == [("t", "cheap", 1), ("t", "early", 1)]
    binary = pyarrow.table({"kind": ["call"], "args": [b"x"]})
    with pytest.raises(TypeError, match="bytes has no JSON form"):
        spec.audit(binary)
    wrong = pyarrow.table({"trace": ["t"], "kind": [1]})
    assert [problem.kind for problem in spec.audit(wrong).problems] == ["wrong_type"]
