"""What the adapters for Spark and Ray share: rows of Arrow tables as traces, and results as Arrow tables. Requires `pyarrow`.

An engine divides the rows, and each part is judged by itself: what a part returns depends on its traces alone, so neither the
number of parts nor their order changes the results.
"""

# pyright: reportUnknownParameterType=false, reportUnknownLambdaType=false
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Callable

import pyarrow as pa

from . import _guard
from ._errors import GuardError, ModelError
from ._guard import to_json
from ._inputs import rows
from ._live import known
from ._report import Summary
from ._spec import Model, Spec

#: The lines of `guard audit --format json` but for the last: `kind` is `verdict`, `trace` or `problem`.
LINES = pa.schema(
    [
        pa.field("kind", pa.string(), nullable=False),
        ("trace", pa.string()),
        ("property", pa.string()),
        ("verdict", pa.string()),
        ("at", pa.int64()),
        pa.field("line", pa.string(), nullable=False),
    ]
)

#: The counts of a part of the traces.
COUNTS = pa.schema([pa.field("counts", pa.string(), nullable=False)])

#: A model of a part of the traces, or the reason why there is none.
MODELS = pa.schema([("model", pa.string()), ("traces", pa.int64()), ("problems", pa.string()), ("error", pa.string())])

#: The name of data of the program, as for `Spec.audit`.
NAME = "<data>"

#: The place of a line in what was judged together, which is no place in the data.
PLACE = re.compile(r'("file":"<data>","line":)\d+(?:(,"index":)\d+)?')


def _nowhere(place: re.Match[str]) -> str:
    return f"{place[1]}0{place[2]}0" if place[2] else f"{place[1]}0"


#: Bytes that are judged at once.
CHUNK = 4 << 20


@dataclass(frozen=True)
class Layout:
    """The way traces lie in rows.

    With `trace`, a row is an event of the trace that this column names, and `order` is the column that events of a trace are
    sorted by. Without it, a row is a whole trace. With `text`, only this column is read: JSON, a line of JSON Lines or a whole
    document; `name` then is the column with the name of its file. `format` is that of `Spec.audit`.

    A whole trace without an `id` is named by its place among the rows that are judged together, which engines do not fix.
    """

    trace: str | None = None
    order: str | None = None
    text: str | None = None
    name: str | None = None
    format: str = "auto"

    @property
    def joined(self) -> bool:
        """Whether each row is a line, so that many of them can be judged as one text."""
        return self.text is None or self.trace is not None

    def check(self, columns: Iterable[str]) -> None:
        """Raise `ValueError` if the layout does not fit a table with these columns."""
        require(columns, trace=self.trace, order=self.order, text=self.text, name=self.name)
        if (self.trace is None) != (self.order is None):
            raise ValueError("`trace` and `order` belong together: events of a trace need an order")
        if self.trace is not None and self.name is not None:
            raise ValueError("`name` is for rows that are whole traces: an event is named by `trace`")

    def texts(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, bytes]]:
        """Give the name and the text of each trace. Rows of one trace stand together, in order."""
        if self.trace is None:
            for row in self._rows(batches):
                yield str(row.get(self.name, NAME)) if self.name else NAME, self._text(row)
            return
        current: object = None
        lines: list[bytes] = []
        for row in self._rows(batches):
            key = row.get(self.trace)
            # An event without a trace is a problem of its own.
            if lines and (key is None or key != current):
                yield str(current), b"\n".join(lines)
                lines = []
            current = key
            lines.append(self._text(row))
        if lines:
            yield str(current), b"\n".join(lines)

    def _rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
        read = [column for column in (self.text, self.trace, self.name) if column]
        for batch in batches:
            yield from rows(batch if self.text is None else batch.select(read))

    def _text(self, row: dict[str, Any]) -> bytes:
        if self.text is None:
            return event_text(row if self.trace is None else of_trace(row, row.get(self.trace)))
        text = row.get(self.text, "")
        # A text of several lines would be several records, and one of no line none.
        return text if isinstance(text, bytes) else (str(text) or "null").encode()


def of_trace(event: dict[str, Any], trace: object) -> dict[str, Any]:
    """Return an event of a trace. Without one, the trace is unknown, which the judge reports: it is not a trace of its own."""
    return {**event, "trace": float("nan") if trace is None else trace}


def event_text(row: dict[str, Any]) -> bytes:
    """Return a row as JSON. A member that has no JSON form is marked as unknown, which the judge then reports."""
    try:
        return to_json(row).encode()
    except (TypeError, ValueError):
        return to_json({name: known(value) for name, value in row.items()}).encode()


def require(columns: Iterable[str], **roles: str | None) -> None:
    """Raise `ValueError` unless each column that is given is one of a table."""
    present = sorted(columns)
    for role, column in roles.items():
        if column is not None and column not in present:
            raise ValueError(f"no column `{column}` (`{role}`): the table has {', '.join(present)}")


@dataclass(frozen=True)
class Kernel:
    """What a worker does with its part of the rows. It is sent to the workers with the compiled spec."""

    spec: Spec
    layout: Layout

    def lines(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Judge traces and give the lines about them."""
        for chunk in self._chunks(batches):
            columns = self.spec._spec.judge(chunk, self.layout.format).columns()
            if self.layout.joined:
                columns["line"] = [PLACE.sub(_nowhere, line, count=1) for line in columns["line"]]
            yield pa.RecordBatch.from_pydict(columns, schema=LINES)

    def counts(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Judge traces and give one row with their counts."""
        total = _guard.Summary(self.spec._spec)
        for chunk in self._chunks(batches):
            total = total.merged(self.spec._spec.judge(chunk, self.layout.format).summary)
        yield pa.RecordBatch.from_pydict({"counts": [total.text()]}, schema=COUNTS)

    def models(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count the steps of traces and give one row with the model."""
        total: Model | None = None
        row: dict[str, Any] = {}
        try:
            for chunk in self._chunks(batches):
                model = Model(self.spec, self.spec._spec.count(chunk, self.layout.format))
                total = model if total is None else total + model
        except GuardError as error:
            # An exception would be tried again by the engine, and reach the caller as another one.
            row, total = {"error": str(error)}, None
        if total is not None:
            inner = total._model
            row = {"model": inner.text(), "traces": inner.traces, "problems": inner.problems_json()}
        yield pa.RecordBatch.from_pylist([row], schema=MODELS)

    def _chunks(self, batches: Iterable[pa.RecordBatch]) -> Iterator[list[tuple[str, bytes]]]:
        chunk: list[tuple[str, bytes]] = []
        size = 0
        for name, text in self.layout.texts(batches):
            chunk.append((name, text))
            size += len(text)
            if size >= CHUNK:
                yield self._together(chunk)
                chunk, size = [], 0
        if chunk:
            yield self._together(chunk)

    def _together(self, chunk: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
        # A text costs as much as ten events, and lines name their traces.
        return [(NAME, b"\n".join(text for _, text in chunk))] if self.layout.joined else chunk


def total_counts(spec: Spec, parts: Iterable[str]) -> Summary:
    """Return the sum of the counts of all parts."""
    total = _guard.Summary(spec._spec)
    for part in parts:
        total = total.merged(_guard.Summary(spec._spec, part))
    return Summary(total, spec)


def total_model(spec: Spec, parts: Callable[[], Iterable[dict[str, Any]]]) -> Model:
    """Return the sum of the models of all parts. Raises `ModelError` if one of them has none."""
    # The model of no trace at all; what is wrong with the spec is told before any work.
    total = Model(spec, spec._spec.count([], "auto"))
    for part in parts():
        if part["error"] is not None:
            raise ModelError(part["error"])
        if part["model"] is not None:
            total += Model(spec, _guard.Model.parse(part["model"], part["traces"], part["problems"]))
    return total
