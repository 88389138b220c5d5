"""What callers give as traces, and objects that JSON has a form for."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import glob
import importlib
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, Union, runtime_checkable


@runtime_checkable
class Table(Protocol):
    """A table that Arrow can read: of pyarrow, pandas, polars, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as a stream of the Arrow C data interface."""
        ...


#: Paths (patterns are expanded), or records: one dict, or an iterable of dicts, each a whole trace or one event, or a table
#: with such a record in each row.
Traces = Union[
    Table, str, "os.PathLike[str]", Mapping[str, Any], Iterable["str | os.PathLike[str]"], Iterable[Mapping[str, Any]]
]


def classify(traces: object) -> tuple[str, Any]:
    """Return `("paths", list)`, `("objects", iterator)` or `("table", capsule)` with a stream of the Arrow C data interface."""
    if isinstance(traces, (str, os.PathLike)):
        return "paths", expanded(traces)
    if isinstance(traces, Mapping):
        return "objects", iter([traces])
    if isinstance(traces, Table):
        return "table", traces.__arrow_c_stream__()
    if isinstance(traces, (bytes, bytearray)) or not isinstance(traces, Iterable):
        raise TypeError(f"expected paths or dicts as traces, found {type(traces).__name__}")
    items: Iterator[Any] = iter(traces)
    try:
        first = next(items)
    except StopIteration:
        return "paths", []
    if isinstance(first, (str, os.PathLike)):
        paths = expanded(first)
        for item in items:
            if not isinstance(item, (str, os.PathLike)):
                raise TypeError(f"expected a path like the first one, found {type(item).__name__}")
            paths += expanded(item)
        return "paths", paths
    return "objects", _records(first, items)


def _records(first: object, rest: Iterator[Any]) -> Iterator[Any]:
    item: Any = first
    while True:
        if not isinstance(item, (Mapping, list, tuple)):
            raise TypeError(f"expected a dict (or a list of events) as record, found {type(item).__name__}")
        yield item
        try:
            item = next(rest)
        except StopIteration:
            return


def rows(table: Any) -> Iterator[dict[str, Any]]:
    """Give the rows of a table as dicts. A null is an absent member, since a row has all columns. Requires `pyarrow`."""
    pyarrow = importlib.import_module("pyarrow")
    for batch in pyarrow.RecordBatchReader.from_stream(table):
        for row in batch.to_pylist(maps_as_pydicts="strict"):
            yield present(row)


def present(value: Any) -> Any:
    """Return a value of a table without its nulls in objects; a time without a zone is one of UTC, as in Arrow."""
    if isinstance(value, dict):
        return {key: present(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [present(item) for item in value]
    if isinstance(value, datetime.datetime) and value.tzinfo is None:
        return value.replace(tzinfo=datetime.timezone.utc)
    return value


def expanded(path: str | os.PathLike[str]) -> list[str]:
    """Return the files of a pattern in order, or the path itself."""
    name = os.fspath(path)
    if isinstance(path, str) and glob.has_magic(name) and not os.path.exists(name):
        return sorted(glob.glob(name, recursive=True)) or [name]
    return [name]


def plain(value: Any) -> Any:
    """Return an object of simpler types with the same JSON form; the digits of a decimal number as bytes.

    Raises `TypeError` for everything that has no such form: bytes, sets, a time without a time zone.
    """
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise TypeError("a datetime without a time zone is ambiguous; set its tzinfo")
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return format(value, "f").encode() if value.is_finite() else float(value)
    if isinstance(value, (uuid.UUID, os.PathLike)):
        return str(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    # scalars and arrays of numpy
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        listed = value.tolist()
        if type(listed) is not type(value):
            return listed
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no JSON form")
