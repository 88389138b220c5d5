"""Parquet and Arrow files: what `guard` says of them is what it says of the same events in JSON Lines, byte for byte."""

from __future__ import annotations

import datetime
import decimal
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run

pa: Any = pytest.importorskip("pyarrow")
pq: Any = pytest.importorskip("pyarrow.parquet")

SPEC = """
event { kind: string  tool: string?  args: json?  n: int?  cost: float?  at: time?  took: duration?  ok: bool?  tags: json? }
property paid = G (kind == "call" and tool == "pay" -> Y kind == "approval")
property cheap = never (cost > 0.5) message "{cost}"
property few = never (n > 7) message "{n} {args} {tags}"
property ninth = never (n == 9) message "{at} {took}"
property quick = never (took > 2s)
property fine = never (ok == false)
property elsewhere = never (args.to[0] == "x" or args.who == "mallory") message "{args}"
"""
UTC = datetime.timezone.utc
TRACES = 7


def events(count: int) -> list[dict[str, Any]]:
    """Return events of traces that take turns, with columns that no spec reads."""
    made = []
    for n in range(count):
        event: dict[str, Any] = {
            "trace": f"t{n % TRACES}",
            "kind": ["call", "approval", "call"][n % 3],
            "n": n % 10,
            "unread": "x" * 50,
        }
        event["tool"] = None if n % 5 == 0 else ["pay", 'a"\u00e9\n'][n % 2]
        event["args"] = (
            None if n % 4 == 0 else {"to": ["x", None] if n % 11 == 0 else [], "who": "mallory" if n % 13 == 0 else None}
        )
        event["cost"] = [0.1, 1e-9, 0.75, 3.0][n % 4]
        event["at"] = datetime.datetime(2026, 1, 1, 0, 0, n % 30, n % 7, tzinfo=UTC)
        event["took"] = datetime.timedelta(milliseconds=n % 3000)
        event["ok"] = n % 17 != 3
        event["tags"] = [] if n % 2 else ["a", None]
        made.append(event)
    return made


def present(value: Any) -> Any:
    """Return the JSON form: a null of an object is absent."""
    if isinstance(value, dict):
        return {key: present(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [present(item) for item in value]
    if isinstance(value, datetime.datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    return value


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(present(row)) + "\n" for row in rows)


def same(folder: Path, guard_: Run, name: str, rows: list[dict[str, Any]], *more: str, spec: str = SPEC) -> str:
    """Check that audits of the file and of the same events in JSON Lines print the same but for its name and its bytes."""
    (folder / "spec.guard").write_text(inspect.cleandoc(spec) + "\n")
    (folder / "events.jsonl").write_text(lines(rows))
    plain = guard_("audit", "spec.guard", "events.jsonl", "--format", "json", *more, cwd=folder)
    table = guard_("audit", "spec.guard", name, "--format", "json", *more, cwd=folder)
    assert plain.returncode == 1, plain.stderr
    said = [re.sub(r'"bytes":[0-9]+', "", run.stdout) for run in (plain, table)]
    assert said[1].replace(name, "events.jsonl") == said[0], table.stderr
    assert table.returncode == plain.returncode, table.stderr
    return table.stdout


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "lz4"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_rows_are_events(tmp_path: Path, guard_: Run, codec: str, version: str) -> None:
    rows = events(2000)
    pq.write_table(
        pa.Table.from_pylist(rows), tmp_path / "runs.parquet", compression=codec, data_page_version=version, row_group_size=300
    )
    found = same(tmp_path, guard_, "runs.parquet", rows)
    assert found.count('"type":"trace"') == TRACES
    assert same(tmp_path, guard_, "runs.parquet", rows, "--jobs", "1") == found


def test_arrow(tmp_path: Path, guard_: Run) -> None:
    rows = events(500)
    table = pa.Table.from_pylist(rows)
    for name, new in (("a.arrow", pa.ipc.new_file), ("b.arrow", pa.ipc.new_stream)):
        with new(tmp_path / name, table.schema) as out:
            out.write_table(table, max_chunksize=64)
        same(tmp_path, guard_, name, rows)
        for codec in ("zstd", "lz4"):
            with new(tmp_path / name, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as out:
                out.write_table(table, max_chunksize=64)
            same(tmp_path, guard_, name, rows)


def test_arrow_dictionaries(tmp_path: Path, guard_: Run) -> None:
    """Each batch has codes of its own: a stream replaces its dictionary, compressed or not."""
    rows = events(200)
    table = pa.Table.from_pylist(rows)
    place = table.schema.get_field_index("kind")
    table = table.set_column(place, "kind", table.column("kind").cast(pa.dictionary(pa.int8(), pa.string())))
    other = pa.DictionaryArray.from_arrays([0, 0], ["approval", "call"])
    rows += [{"trace": "last", "kind": "approval"}] * 2
    last = pa.table({"trace": ["last"] * 2, "kind": other}).to_batches()[0]
    batches = table.to_batches(max_chunksize=50)
    columns = [
        last.column(name) if name in last.schema.names else pa.nulls(2, table.schema.field(name).type)
        for name in table.schema.names
    ]
    batches.append(pa.record_batch(columns, schema=table.schema))
    for codec in (None, "zstd", "lz4"):
        with pa.ipc.new_stream(
            tmp_path / "codes.arrow", table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)
        ) as out:
            for batch in batches:
                out.write_batch(batch)
        same(tmp_path, guard_, "codes.arrow", rows)


def test_arrow_that_states_too_much(tmp_path: Path, guard_: Run) -> None:
    """The size that a compressed buffer states is compared with the limits before memory is reserved for it."""
    (tmp_path / "spec.guard").write_text(SPEC)
    zeros = pa.table({"kind": ["call"] * 10, "n": [0] * 10, "unread": ["0" * (10 << 20)] * 10})
    few = pa.table({"kind": ["call" * 100] * 10, "n": [0] * 10})
    for codec in ("zstd", "lz4"):
        for name, new in (("a.arrow", pa.ipc.new_file), ("b.arrow", pa.ipc.new_stream)):
            path = tmp_path / name
            with new(path, zeros.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as out:
                out.write_table(zeros)
            if codec == "zstd":
                run = guard_("audit", "spec.guard", name, cwd=tmp_path)
                assert run.returncode == 3, run.stdout
                assert "limit `expansion`" in run.stdout + run.stderr, run.stderr
            with new(path, few.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as out:
                out.write_table(few)
            whole = path.read_bytes()
            # The texts state their size of 4,000 bytes; another is written over it.
            stated = (4000).to_bytes(8, "little", signed=True)
            assert whole.count(stated) >= 1
            for size, said in ((1 << 62, "limit `expansion`"), (-2, "states a size of -2 bytes"), (3999, "decompressed")):
                path.write_bytes(whole.replace(stated, size.to_bytes(8, "little", signed=True)))
                run = guard_("audit", "spec.guard", name, cwd=tmp_path)
                assert run.returncode == 3, (size, run.stdout)
                assert said in (run.stdout + run.stderr).lower() or size == 3999, (size, run.stdout + run.stderr)


def test_arrow_damage(tmp_path: Path, guard_: Run) -> None:
    """Files and streams that end too early, or have other bytes somewhere, are read without a crash."""
    (tmp_path / "spec.guard").write_text(SPEC)
    table = pa.Table.from_pylist(events(60))
    for name, new in (("a.arrow", pa.ipc.new_file), ("b.arrow", pa.ipc.new_stream)):
        path = tmp_path / name
        with new(path, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as out:
            out.write_table(table, max_chunksize=20)
        whole = path.read_bytes()
        for length in range(12, len(whole), max(1, len(whole) // 25)):
            path.write_bytes(whole[:length])
            run = guard_("audit", "spec.guard", name, cwd=tmp_path)
            assert run.returncode in (1, 3), (length, run.stderr)
            path.write_bytes(whole[:length] + b"\xff" * 8 + whole[length + 8 :])
            run = guard_("audit", "spec.guard", name, cwd=tmp_path)
            assert run.returncode in (0, 1, 3), (length, run.stderr)


def test_rows_are_traces(tmp_path: Path, guard_: Run) -> None:
    rows: list[dict[str, Any]] = []
    for n in range(50):
        own = [{key: value for key, value in event.items() if key != "trace"} for event in events(n)]
        rows.append({"id": f"r{n}", "complete": n % 2 == 0, "notes": "y" * 100, "events": own})
    pq.write_table(pa.Table.from_pylist(rows[1:]), tmp_path / "runs.parquet", row_group_size=7)
    found = same(tmp_path, guard_, "runs.parquet", rows[1:])
    assert found.count('"type":"trace"') == 49


#: Layouts that read columns in different ways: each with a spec and the rows of a table.
WAYS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "paths into structs and lists": (
        """event { who: string? from "/args/who"  first: json? from "/args/to/0"  args: json?  kind: string }
        property a = never (who == "mallory") message "{args}"
        property b = never (first == "x")""",
        events(200),
    ),
    "enums, and values of other types": (
        """enum Kind { call, approval }
        event { kind: Kind  n: float?  cost: time?  ok: json?  at: json?  took: json?  tool: json? }
        property a = never (kind == call and n == 7) message "{cost} {at} {took} {tool} {ok}"
        property b = never (cost > "1970-01-01T00:00:00.7Z" as time)""",
        events(200),
    ),
    "problems": (
        """event { kind: int  n: string?  cost: bool?  at: duration?  absent: string  tags: string?  ok: bool? }
        property a = never (ok == false)
        property b = never (n == "x" or cost == true or at > 1s or absent == "x" or tags == "x")
        property c = F kind == 2""",
        [*events(30), {"trace": "last", "kind": "call", "n": 1}],
    ),
    "ends of traces": (
        """event { kind: string? }
        property a = never (kind == "call")
        property b = F kind == "never" """,
        [
            {"trace": "t", "kind": "call", "note": "x"},
            {"trace": "u", "kind": "approval", "end": False},
            {"trace": "u", "end": True, "note": "counts as a member"},
            {"trace": "t", "end": True},
            {"trace": "t", "kind": "another trace of this name"},
            {"trace": "never begun", "end": True},
        ],
    ),
    "names of traces": (
        """event { kind: string? }
        property a = never (kind == "call")""",
        [{"trace": n, "kind": "call"} for n in (1, 2, -1, None, 1)],
    ),
    "facts about traces": (
        """event { kind: string }
        trace {
          meta task: string? from "/task"
          id = "{task} {line} {n}"
        }
        property a = never (kind == "call") message "{meta.task}" """,
        [{**event, "task": f"task {event['n']}"} for event in events(40)],
    ),
    "order": (
        """event { kind: string  n: int }
        trace { order by n }
        property a = G (kind == "call" -> Y kind == "approval")""",
        events(100),
    ),
    "all rows are one trace": (
        """event { kind: string  n: int }
        trace { events from lines }
        property a = G (kind == "call" -> Y kind == "approval")""",
        events(100),
    ),
    "lists of events elsewhere": (
        """event { kind: string  n: int }
        trace {
          events from "/run/steps"
          meta task: string? from "/about/task"
          id from "/about/id"
        }
        property a = G (kind == "call" -> Y kind == "approval") message "{meta.task}" """,
        [{"about": {"id": f"r{n}", "task": "x" * n}, "run": {"steps": None if n == 3 else events(n)}} for n in range(1, 9)],
    ),
    "elements of events": (
        """event { kind: string  tag: string? from each "" }
        trace { each "/tags" }
        property a = never (tag == "a")""",
        events(60),
    ),
    "whole events": (
        """event { all: json from ""  kind: string }
        property a = never (all.tool == "pay") message "{all}" """,
        events(60),
    ),
    "paths with many values": (
        """event { tags: list<string?> from "$.tags[*]"  kind: string }
        property a = never (any t in tags: t == "a")""",
        events(60),
    ),
    "traces and events, and a null among events": (
        """event { kind: string?  n: int? }
        property a = never (kind == "call" and n == 3)""",
        [
            {"id": "x", "events": [{"kind": "call", "n": 3}, None, {"kind": None, "n": 1}]},
            {"trace": "y", "kind": "call", "n": 3},
            {"id": "z", "complete": True, "events": []},
        ],
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_ways_of_reading_columns(tmp_path: Path, guard_: Run, way: str) -> None:
    """Whatever a spec reads, and however, is the same in tables and lines, with all problems."""
    spec, rows = WAYS[way]
    # The columns of a table without a schema are the members of its first row.
    columns = list(dict.fromkeys(name for row in rows for name in row))
    table = pa.Table.from_pylist([{name: row.get(name) for name in columns} for row in rows])
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=17)
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as out:
        out.write_table(table, max_chunksize=13)
    for name in ("a.parquet", "a.arrow"):
        same(tmp_path, guard_, name, rows, spec=spec)


def test_rows_are_texts(tmp_path: Path, guard_: Run) -> None:
    rows = events(300)
    texts = [json.dumps(present(row), indent=1) for row in rows]
    pq.write_table(pa.table({"json": texts}), tmp_path / "texts.parquet")
    same(tmp_path, guard_, "texts.parquet", rows)
    broken = ['{"kind":"call"', *texts[:3]]
    pq.write_table(pa.table({"json": broken}), tmp_path / "broken.parquet")
    run = guard_("audit", "spec.guard", "broken.parquet", cwd=tmp_path)
    assert run.returncode in (1, 3)
    assert "broken.parquet:1" in run.stdout + run.stderr


@pytest.mark.parametrize("spec", ["event { kind: string }", "event { kind: string  text: string? }"])
def test_one_column_of_text(tmp_path: Path, guard_: Run, spec: str) -> None:
    """A column of texts that is a field is that field; another one is JSON if its first text begins like it."""
    (tmp_path / "spec.guard").write_text(f'{spec}\nproperty p = never (kind == "rm")\n')
    objects = ['{"kind":"ls"}', '{"kind":"rm"}']
    for column, texts, found in [
        ("kind", ["ls", "rm"], (2, 1)),
        # A field wins, whatever its texts look like.
        ("kind", ["{}", "rm"], (2, 1)),
        ("json", objects, (2, 1)),
        ("json", [None, "\n ", *objects], (2, 1)),
        # Texts that are no JSON are a column that no field reads.
        ("note", ["ls", "rm"], (2, 0)),
    ]:
        table = pa.table({column: pa.array(texts, pa.string())})
        pq.write_table(table, tmp_path / "one.parquet")
        with pa.ipc.new_file(tmp_path / "one.arrow", table.schema) as out:
            out.write_table(table)
        for name in ("one.parquet", "one.arrow"):
            run = guard_("audit", "spec.guard", name, "--format", "json", cwd=tmp_path)
            summary = json.loads(run.stdout.splitlines()[-1])
            violated = sum('"verdict":"violated"' in line for line in run.stdout.splitlines())
            assert (summary["events"], violated) == found, (name, column, run.stdout)


def test_types(tmp_path: Path, guard_: Run) -> None:
    """Dictionaries, views, large and fixed lists, maps, decimals, times of each unit, bytes that are texts."""
    rows = events(200)
    table: Any = None

    def change(name: str, ty: Any) -> None:
        nonlocal table
        place = table.schema.get_field_index(name)
        table = table.set_column(place, pa.field(name, ty), table.column(name).cast(ty))

    for kind, tool, n, cost, at, took in [
        (
            pa.dictionary(pa.int8(), pa.string()),
            pa.large_string(),
            pa.uint8(),
            pa.float64(),
            pa.timestamp("us", "UTC"),
            pa.duration("ms"),
        ),
        (
            pa.binary(),
            pa.string_view(),
            pa.decimal128(20, 0),
            pa.float64(),
            pa.timestamp("ns", "Europe/Berlin"),
            pa.duration("ns"),
        ),
        (
            pa.large_binary(),
            pa.dictionary(pa.int64(), pa.large_string()),
            pa.decimal256(40, 0),
            pa.float64(),
            pa.timestamp("us"),
            pa.duration("us"),
        ),
    ]:
        table = pa.Table.from_pylist(rows)
        for name, ty in (("kind", kind), ("tool", tool), ("n", n), ("cost", cost), ("at", at), ("took", took)):
            change(name, ty)
        tags = [pa.large_list(pa.string()), pa.list_(pa.dictionary(pa.int32(), pa.string()))][n == pa.uint8()]
        changed = table.set_column(table.schema.get_field_index("tags"), "tags", pa.array([row["tags"] for row in rows], tags))
        pq.write_table(changed, tmp_path / "types.parquet")
        same(tmp_path, guard_, "types.parquet", rows)
    maps: list[dict[str, Any]] = [
        {"args": [("who", "mallory"), ("to", None)], "kind": "call", "trace": "t"},
        {"kind": "call", "trace": "t"},
    ]
    schema = pa.schema({"args": pa.map_(pa.string(), pa.string()), "kind": pa.string(), "trace": pa.string()})
    pq.write_table(pa.Table.from_pylist(maps, schema), tmp_path / "maps.parquet")
    same(tmp_path, guard_, "maps.parquet", [{**maps[0], "args": {"who": "mallory"}}, maps[1]])


def test_json_columns(tmp_path: Path, guard_: Run) -> None:
    """A text that is marked as JSON is a value; what only looks like one stays out of its row."""
    texts = ['{\n "who": "mallory"}', '1,"kind":"approval"']
    json_ = pa.ExtensionArray.from_storage(pa.json_(), pa.array(texts))
    pq.write_table(pa.table({"trace": ["t", "t"], "kind": ["call", "call"], "args": json_}), tmp_path / "json.parquet")
    (tmp_path / "spec.guard").write_text(SPEC)
    run = guard_("audit", "spec.guard", "json.parquet", "--format", "json", cwd=tmp_path)
    found = [json.loads(line) for line in run.stdout.splitlines()]
    (elsewhere,) = [one for one in found if one.get("property") == "elsewhere"]
    assert (elsewhere["verdict"], elsewhere["at"]) == ("violated", 0)
    problems = [(one["line"], one["field"]) for one in found if one["type"] == "problem"]
    assert problems == [(2, "args")], run.stdout


def test_values_without_a_form(tmp_path: Path, guard_: Run) -> None:
    """NaN and bytes that are no text are unknown, with their place; a type without values of JSON is an error if read."""
    (tmp_path / "spec.guard").write_text(SPEC)
    kinds = pa.array([b"call", b"\xff\xfe"], pa.binary())
    pq.write_table(pa.table({"trace": ["t", "t"], "kind": kinds, "cost": [float("nan"), 0.1]}), tmp_path / "odd.parquet")
    run = guard_("audit", "spec.guard", "odd.parquet", cwd=tmp_path)
    assert run.returncode == 3, run.stdout
    for place in ("field `cost`", "field `kind`"):
        assert place in run.stdout + run.stderr, run.stderr
    spans = pa.array([pa.MonthDayNano([1, 2, 3])])
    with pa.ipc.new_file(
        tmp_path / "a.arrow", pa.schema({"kind": pa.string(), "took": spans.type, "unread": spans.type})
    ) as out:
        out.write_batch(pa.record_batch({"kind": ["call"], "took": spans, "unread": spans}))
    run = guard_("audit", "spec.guard", "a.arrow", cwd=tmp_path)
    assert run.returncode == 3
    assert "column `took`" in run.stdout + run.stderr, run.stderr


def test_damage(tmp_path: Path, guard_: Run) -> None:
    rows = events(3000)
    pq.write_table(
        pa.Table.from_pylist(rows), tmp_path / "whole.parquet", row_group_size=1000, compression="none", use_dictionary=False
    )
    (tmp_path / "spec.guard").write_text(SPEC)
    whole = (tmp_path / "whole.parquet").read_bytes()
    offset = pq.ParquetFile(tmp_path / "whole.parquet").metadata.row_group(1).column(1).data_page_offset
    for name, content, said in [
        ("cut.parquet", whole[:-5], "truncated or damaged"),
        ("short.parquet", b"PAR1", "cannot be read"),
        ("footer.parquet", whole[:-200] + bytes(100) + whole[-100:], "damaged Parquet file"),
        ("page.parquet", whole[:offset] + b"\xff" * 40 + whole[offset + 40 :], "row group 1, from row 1001"),
        ("huge.parquet", whole[:-8] + b"\xff\xff\xff\x7fPAR1", "limit `record_memory`"),
    ]:
        (tmp_path / name).write_bytes(content)
        run = guard_("audit", "spec.guard", name, cwd=tmp_path)
        assert run.returncode in (1, 3), (name, run.stderr)
        assert said in run.stdout + run.stderr, (name, run.stdout + run.stderr)
    # The other row groups were judged, and the numbers of rows stay true.
    run = guard_("audit", "spec.guard", "page.parquet", "--format", "json", cwd=tmp_path)
    summary = json.loads(run.stdout.splitlines()[-1])
    assert summary["events"] == 2000


def test_many_row_groups(tmp_path: Path, guard_: Run) -> None:
    rows = events(3000)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "groups.parquet", row_group_size=1)
    same(tmp_path, guard_, "groups.parquet", rows)


def test_learn_and_calibrate(tmp_path: Path, guard_: Run) -> None:
    spec = """event { kind: string }
abstraction a { over kind }
model run = learn a { }
query paid = P=? [ F<=3 kind == "approval" ] on run
"""
    rows = events(400)
    (tmp_path / "spec.guard").write_text(spec)
    (tmp_path / "events.jsonl").write_text(lines(rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "events.parquet")
    learned = []
    for name in ("events.jsonl", "events.parquet"):
        run = guard_("learn", "spec.guard", name, "-o", f"{name}.json", cwd=tmp_path)
        assert run.returncode == 0, run.stderr
        learned.append(json.loads((tmp_path / f"{name}.json").read_text()))
    assert learned[0] == learned[1]
    outputs = []
    for name in ("events.jsonl", "events.parquet"):
        run = guard_("calibrate", "spec.guard", name, "--model", "events.jsonl.json", "--format", "json", cwd=tmp_path)
        assert run.returncode in (0, 1), run.stderr
        assert run.stdout, run.stderr
        outputs.append(run.stdout.replace(name, "events"))
    assert outputs[0] == outputs[1]


def test_folders_and_formats(tmp_path: Path, guard_: Run) -> None:
    """A folder is searched for tables; conversations are recognised in their columns."""
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "rm", "arguments": "{}"}}]},
    ]
    (tmp_path / "runs").mkdir()
    pq.write_table(pa.Table.from_pylist([{"task": 1, "messages": messages}]), tmp_path / "runs" / "chats.parquet")
    (tmp_path / "agent.guard").write_text('use std.agent\nproperty p = never (tool == "rm")\n')
    run = guard_("audit", "agent.guard", "runs", cwd=tmp_path)
    assert run.returncode == 1, run.stderr
    assert "read as `openai`" in run.stdout + run.stderr


def test_decimals(tmp_path: Path, guard_: Run) -> None:
    """A decimal is the number with its digits."""
    rows = [{"trace": "t", "kind": "call", "n": 8, "args": decimal.Decimal(9007199254740993)}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "cents.parquet")
    (tmp_path / "spec.guard").write_text(SPEC)
    run = guard_("audit", "spec.guard", "cents.parquet", cwd=tmp_path)
    assert run.returncode == 1, run.stdout
    assert "8 9007199254740993 " in run.stdout, run.stdout
