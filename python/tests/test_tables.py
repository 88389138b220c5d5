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
    # Bytes are texts, as in files.
    binary = pyarrow.table({"trace": ["t"], "kind": [b"call"], "tool": [b"pay"]})
    assert verdicts(spec.audit(binary)) == [("t", "paid", 0)]
    wrong = pyarrow.table({"trace": ["t"], "kind": [1]})
    assert [problem.kind for problem in spec.audit(wrong).problems] == ["wrong_type"]


def test_tables_of_any_size(spec: guard.Spec, tmp_path: Path) -> None:
    """A table in memory has the report of the same events in a file, with the places of problems."""
    pyarrow = pytest.importorskip("pyarrow")
    rows = [{"trace": f"t{n // 7}", "kind": "call" if n % 5 else None, "tool": "pay" if n % 3 else None} for n in range(9000)]
    lines = tmp_path / "<data>"
    lines.write_text("".join(json.dumps({k: v for k, v in row.items() if v is not None}) + "\n" for row in rows))
    of_lines = spec.audit(lines)
    of_table = spec.audit(pyarrow.Table.from_pylist(rows))
    assert [str(one) for one in of_table.problems] == [str(one).replace(str(lines), "<data>") for one in of_lines.problems]
    assert of_table.summary["properties"] == of_lines.summary["properties"]
    assert of_table.violating > 1000
    assert len(spec.audit(pyarrow.Table.from_pylist(rows[:0], pyarrow.schema({"kind": pyarrow.string()})))) == 0


def test_tables_that_end_early(spec: guard.Spec) -> None:
    """A table whose rows cannot be made, and one that was taken, are errors."""
    pyarrow = pytest.importorskip("pyarrow")
    batch = pyarrow.RecordBatch.from_pylist([{"trace": "a", "kind": "call", "tool": "pay"}])

    def batches(then: Callable[[], Any]) -> Any:
        yield batch
        yield then()

    def fail() -> None:
        raise OSError("the disk is gone")

    report = spec.audit(pyarrow.RecordBatchReader.from_batches(batch.schema, batches(fail)))
    assert [one.kind for one in report.problems] == ["unreadable"]
    assert "the disk is gone" in report.problems[0].message

    class Taken:
        stream = pyarrow.table(batch.to_pydict()).__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            return self.stream

    assert len(verdicts(spec.audit(Taken()))) == 1
    with pytest.raises(ValueError, match="released"):
        spec.audit(Taken())


def test_formats_are_detected_in_tables(tmp_path: Path) -> None:
    """Rows that are messages of a known format are read as such, in memory as in a file."""
    pyarrow = pytest.importorskip("pyarrow")
    spec = guard.Spec.from_source('event { kind: string }\nproperty asked = F kind == "user"')
    messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hello"}]
    table = pyarrow.Table.from_pylist([{"messages": messages}] * 3)
    path = tmp_path / "runs.arrow"
    with pyarrow.ipc.new_file(path, table.schema) as out:
        out.write_table(table)
    of_file, of_table = spec.audit(path), spec.audit(table)
    assert of_file.events == of_table.events == 6
    assert len(of_file) == len(of_table) == 3


def test_models_of_tables() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    spec = guard.Spec.from_source("event { kind: string }\nabstraction a { over kind }\nmodel run = learn a { }\n")
    rows = [{"trace": "t", "kind": kind} for kind in "abcab"]
    assert spec.learn(pyarrow.Table.from_pylist(rows)).traces == spec.learn(rows).traces == 1


@pytest.fixture
def report() -> guard.Report:
    spec = guard.Spec.from_source(
        """event { kind: string  to: string? }
property each = forall t: never (to == t and kind == "mail") message "{t}"
property few = never (kind == "mail")
"""
    )
    events = [{"kind": "mail", "to": "a"}, {"kind": "mail", "to": "b"}, {"to": "c"}]
    records: list[dict[str, Any]] = [{"id": "x", "events": events}, {"id": "y", "events": []}, {"id": "z", "events": 3}]
    return spec.audit(records)


def test_reports_are_tables(report: guard.Report) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    verdicts = pyarrow.table(report.verdicts).to_pylist()
    assert len(verdicts) == len(report.verdicts) > 3
    for row, verdict in zip(verdicts, report.verdicts):
        instance = json.loads(row.pop("instance") or "{}")
        assert {**row, "instance": instance, "counterexample": tuple(row["counterexample"])} == {
            name: value for name, value in vars(verdict).items() if name != "line"
        }
    assert {verdict.instance.get("t") for verdict in report.verdicts} >= {"a", "b"}
    traces = pyarrow.table(report.traces).to_pylist()
    assert [(row["name"], row["events"], row["violates"]) for row in traces] == [
        ("x", 3, True),
        ("y", 0, False),
        ("<data>:3", 1, False),
    ]
    assert list(report.traces[0:1]) != []
    problems = pyarrow.table(report.problems).to_pylist()
    assert problems == [vars(problem) for problem in report.problems] != []


def test_packages_take_reports(report: guard.Report) -> None:
    polars = pytest.importorskip("polars")
    frame = report.verdicts.to_polars()
    assert frame.shape == (len(report.verdicts), 10)
    assert polars.DataFrame(report.problems)["kind"].to_list() == [problem.kind for problem in report.problems]
    duckdb = pytest.importorskip("duckdb")
    verdicts = report.verdicts
    found = duckdb.sql("select count(*) from verdicts where verdict = 'violated'").fetchall()
    assert found == [(len(report.violations),)]
    assert len(verdicts.to_pandas()) == len(verdicts)
    assert report.traces.to_pyarrow().column_names == ["name", "file", "line", "index", "events", "violates"]


def test_empty_reports_have_columns() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    report = guard.Spec.from_source('event { kind: string }\nproperty p = never (kind == "x")\n').audit([])
    for table, columns in ((report.verdicts, 10), (report.traces, 6), (report.problems, 7)):
        assert pyarrow.table(table).shape == (0, columns)
    assert (list(report.verdicts), repr(report.verdicts)) == ([], "[]")
