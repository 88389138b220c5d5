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
import pyarrow.compute as pc

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

    def pieces(self, batches: Iterable[pa.RecordBatch]) -> Iterator[list[tuple[str, bytes]] | pa.Table]:
        """Give whole traces in pieces of about `CHUNK` bytes: names and texts, or rows.

        Rows of one trace stand together, in order.
        """
        if self.text is None:
            yield from self._tables(batches)
            return
        chunk: list[tuple[str, bytes]] = []
        size = 0
        for name, text in self._traces(batches) if self.trace is not None else self._documents(batches):
            chunk.append((name, text))
            size += len(text)
            if size >= CHUNK:
                yield self._together(chunk)
                chunk, size = [], 0
        if chunk:
            yield self._together(chunk)

    def _together(self, chunk: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
        # A text costs as much as ten events, and lines name their traces.
        return [(NAME, b"\n".join(text for _, text in chunk))] if self.joined else chunk

    def _documents(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, bytes]]:
        for name, text in self._rows(batches, self.name):
            yield NAME if name is None else str(name), text

    def _traces(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, bytes]]:
        current: object = None
        lines: list[bytes] = []
        for key, text in self._rows(batches, self.trace):
            # An event without a trace is a problem of its own.
            if lines and (key is None or key != current):
                yield str(current), b"\n".join(lines)
                lines = []
            current = key
            lines.append(text)
        if lines:
            yield str(current), b"\n".join(lines)

    def _rows(self, batches: Iterable[pa.RecordBatch], named: str | None) -> Iterator[tuple[object, bytes]]:
        for batch in batches:
            names = batch.column(named).to_pylist() if named else [None] * batch.num_rows
            for name, text in zip(names, batch.column(self.text).to_pylist()):
                # A text of several lines would be several records, and one of no line none.
                yield name, text if isinstance(text, bytes) else (str("" if text is None else text) or "null").encode()

    def _tables(self, batches: Iterable[pa.RecordBatch]) -> Iterator[list[tuple[str, bytes]] | pa.Table]:
        held: list[pa.RecordBatch] = []
        size = 0
        for given in batches:
            without, batch = ([], given) if self.trace is None else self._of_traces(given)
            if without:
                yield without
            held.append(batch)
            size += batch.nbytes
            if size < CHUNK:
                continue
            whole = batch.num_rows if self.trace is None else last_begin(batch.column("trace"))
            if whole:
                yield pa.Table.from_batches([*held[:-1], batch.slice(0, whole)])
                held = [batch.slice(whole)]
                size = held[0].nbytes
        if held:
            yield pa.Table.from_batches(held)

    def _of_traces(self, batch: pa.RecordBatch) -> tuple[list[tuple[str, bytes]], pa.RecordBatch]:
        """Return the events without a trace, each as a text, and the others with the trace as their member `trace`."""
        keys = batch.column(self.trace)
        without: list[tuple[str, bytes]] = []
        if keys.null_count:
            lines = (event_text(of_trace(row, None)) for row in rows(batch.filter(keys.is_null())))
            without = self._together([(NAME, line) for line in lines])
            batch = batch.filter(keys.is_valid())
            keys = batch.column(self.trace)
        if pa.types.is_dictionary(keys.type):
            keys = keys.dictionary_decode()
        members = {name: batch.column(name) for name in batch.schema.names}
        return without, pa.RecordBatch.from_pydict({**members, "trace": keys})


def last_begin(keys: pa.Array) -> int:
    """Return the number of the first row of the last trace."""
    if not len(keys):
        return 0
    others = pc.call_function("indices_nonzero", [pc.call_function("not_equal", [keys, keys[-1]])])
    return others[-1].as_py() + 1 if len(others) else 0


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
        for report in self._reports(batches):
            columns = report.columns()
            if self.layout.joined:
                columns["line"] = [PLACE.sub(_nowhere, line, count=1) for line in columns["line"]]
            yield pa.RecordBatch.from_pydict(columns, schema=LINES)

    def counts(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Judge traces and give one row with their counts."""
        total = _guard.Summary(self.spec._spec)
        for report in self._reports(batches):
            total = total.merged(report.summary)
        yield pa.RecordBatch.from_pydict({"counts": [total.text()]}, schema=COUNTS)

    def models(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count the steps of traces and give one row with the model."""
        total: Model | None = None
        row: dict[str, Any] = {}
        try:
            for piece in self.layout.pieces(batches):
                spec, given = self.spec._spec, self.layout.format
                found = spec.count(piece, given) if isinstance(piece, list) else spec.learn(piece, given, [], [], 1)
                model = Model(self.spec, found)
                total = model if total is None else total + model
        except GuardError as error:
            # An exception would be tried again by the engine, and reach the caller as another one.
            row, total = {"error": str(error)}, None
        if total is not None:
            inner = total._model
            row = {"model": inner.text(), "traces": inner.traces, "problems": inner.problems_json()}
        yield pa.RecordBatch.from_pylist([row], schema=MODELS)

    def _reports(self, batches: Iterable[pa.RecordBatch]) -> Iterator[_guard.Report]:
        spec, given = self.spec._spec, self.layout.format
        for piece in self.layout.pieces(batches):
            yield spec.judge(piece, given) if isinstance(piece, list) else spec.audit(piece, given, [], [], 1)


def total_counts(spec: Spec, parts: Iterable[str]) -> Summary:
    """Return the sum of the counts of all parts."""
    total = _guard.Summary(spec._spec)
    for part in parts:
        total = total.merged(_guard.Summary(spec._spec, part))
    return Summary(total, spec)


def total_model(spec: Spec, parts: Callable[[], Iterable[dict[str, Any]]]) -> Model:
    """Return the sum of the models of all parts. Raises `ModelError` if one of them has none."""
    # The model of no trace at all; errors of the spec are reported before any work.
    total = Model(spec, spec._spec.count([], "auto"))
    for part in parts():
        if part["error"] is not None:
            raise ModelError(part["error"])
        if part["model"] is not None:
            total += Model(spec, _guard.Model.parse(part["model"], part["traces"], part["problems"]))
    return total
