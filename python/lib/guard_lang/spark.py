"""Apache Spark: recorded traces are judged and counted on a cluster, and live ones followed in a stream. Requires PySpark 4.1.

    lines = audit(events, spec, trace="run", order="seq")       # a data frame with the lines of `guard audit --format json`
    counts = summary(events, spec, trace="run", order="seq")    # `Summary`
    model = learn(events, spec, trace="run", order="seq")       # `Model`
    decisions = monitor(stream, spec, trace="run", order="seq") # Structured Streaming

A row is an event if `trace` names the column with the name of its trace, and a whole trace otherwise; see `Layout`.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportUntypedBaseClass=false
# pyright: reportUnknownParameterType=false, reportUnknownLambdaType=false
from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Callable

import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.stateful_processor import ExpiredTimerInfo, StatefulProcessor, StatefulProcessorHandle, TimerValues
from pyspark.sql.types import IntegralType, TimestampType

from ._engine import COUNTS, LINES, MODELS, Kernel, Layout, event_text, of_trace, require, total_counts, total_model
from ._inputs import present
from ._live import observe

if TYPE_CHECKING:
    from ._guard import Decision
    from ._report import Summary
    from ._spec import Model, Spec

#: The provider of state that `transformWithState` needs (`spark.sql.streaming.stateStore.providerClass`).
STATE_STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

#: The columns of `monitor`.
DECISIONS = (
    "trace string, order bigint, kind string, step bigint, decision string, reason string, violated array<string>, "
    "late bigint, line string"
)

_STATE = "monitor binary, last bigint, recent binary, violated array<string>, late bigint"

#: An order and the digest of an event.
_SEEN = struct.Struct("<q8s")


def audit(
    df: DataFrame,
    spec: Spec,
    *,
    trace: str | None = None,
    order: str | None = None,
    text: str | None = None,
    name: str | None = None,
    format: str = "auto",
) -> DataFrame:
    """Judge traces and return the lines of `guard audit --format json`, but for the last, as a data frame.

    Its columns are `kind` (`verdict`, `trace` or `problem`), `trace`, `property`, `verdict`, `at` (the step) and `line` (JSON).
    A row that cannot be read is a problem, and the rest is judged. Raises `ValueError` before any task if a column is missing.
    """
    layout = Layout(trace, order, text, name, format)
    return _mapped(df, layout, Kernel(spec, layout).lines, LINES)


def summary(
    df: DataFrame,
    spec: Spec,
    *,
    trace: str | None = None,
    order: str | None = None,
    text: str | None = None,
    name: str | None = None,
    format: str = "auto",
) -> Summary:
    """Judge traces and return the counts; parameters as for `audit`."""
    layout = Layout(trace, order, text, name, format)
    parts = _mapped(df, layout, Kernel(spec, layout).counts, COUNTS).toLocalIterator()
    return total_counts(spec, (part["counts"] for part in parts))


def learn(
    df: DataFrame,
    spec: Spec,
    *,
    trace: str | None = None,
    order: str | None = None,
    text: str | None = None,
    name: str | None = None,
    format: str = "auto",
) -> Model:
    """Count the steps of traces into the model that the spec learns; parameters as for `audit`.

    Raises `ModelError` if the spec learns none or several, or if a trace shows a step that is declared impossible.
    """
    layout = Layout(trace, order, text, name, format)
    parts = _mapped(df, layout, Kernel(spec, layout).models, MODELS)
    return total_model(spec, lambda: (part.asDict() for part in parts.collect()))


def _mapped(
    df: DataFrame, layout: Layout, work: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: pa.Schema
) -> DataFrame:
    """Map the partitions. Events are brought together by trace first, so that a task holds one trace and not a partition."""
    layout.check(df.columns)
    if layout.trace is not None and layout.order is not None:
        df = df.repartition(F.col(layout.trace)).sortWithinPartitions(layout.trace, layout.order)
    return df.mapInArrow(work, from_arrow_schema(schema))


def monitor(
    df: DataFrame,
    spec: Spec,
    *,
    trace: str,
    order: str,
    end: str | None = None,
    model: Model | None = None,
    idle: float | None = None,
    remember: int = 1024,
    every: bool = False,
) -> DataFrame:
    """Follow live traces in a stream; the state of a trace is a state of a `Monitor`, kept and recovered by Spark.

    `order` is a column of whole numbers or times that grows within a trace, and the rows of a micro-batch are taken in its
    order. An event at or before the last one that was taken is not judged: it is reported with kind `repeated` if it is one of
    the last `remember` events, and as `late` otherwise. `late` counts the latter: if it is not 0, the verdicts are about the
    trace without these events.

    The column `end` is true for the last row of a trace. With `idle`, a trace ends after so many seconds without an event.
    Deadlines are those of the events: the clock of the machine is not read. The rows are the decisions that are not `allow`,
    those after which another property is violated, events with faults, and ends (with `every`, all decisions): see
    `DECISIONS`.

    Set `spark.sql.streaming.stateStore.providerClass` to `STATE_STORE`.
    """
    require(df.columns, trace=trace, order=order, end=end)
    kind = df.schema[order].dataType
    if not isinstance(kind, (IntegralType, TimestampType)):
        raise ValueError(f"expected whole numbers or times in `{order}`, found {kind.simpleString()}")
    # Errors of the spec or the model are reported here, and not by a task.
    spec.monitor(model=model, clock="none").close()
    position = F.unix_micros(order) if isinstance(kind, TimestampType) else F.col(order).cast("bigint")
    members = F.struct(*[F.col(column) for column in df.columns if column != end])
    prepared = df.select(
        F.col(trace).cast("string").alias("trace"),
        position.alias("order"),
        (F.coalesce(F.col(end), F.lit(False)) if end else F.lit(False)).alias("end"),
        members.alias("event"),
    )
    return prepared.groupBy("trace").transformWithState(
        statefulProcessor=_Processor(spec, model, idle, remember, every),
        outputStructType=DECISIONS,
        outputMode="Append",
        timeMode="None" if idle is None else "ProcessingTime",
    )


class _Processor(StatefulProcessor):
    """Decides about the events of each trace. A task has one monitor, which takes the state of one trace after the other."""

    def __init__(self, spec: Spec, model: Model | None, idle: float | None, remember: int, every: bool) -> None:
        self.spec, self.model, self.idle, self.remember, self.every = spec, model, idle, remember, every

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the monitor of this task."""
        self.handle = handle
        self.kept = handle.getValueState("trace", _STATE)
        self.monitor = self.spec.monitor(model=self.model, clock="none")
        self.empty = self.monitor.state()

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Row]:
        """Take the events of a micro-batch."""
        (name,) = key
        trace = self._load(name)
        for row in sorted(rows, key=lambda row: (row["order"] is not None, row["order"] or 0)):
            yield from self._event(trace, row)
        self._store(trace)
        self._wait(timerValues)

    def handleExpiredTimer(self, key: Any, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo) -> Iterator[Row]:
        """End a trace without events for so long, and forget one that has ended."""
        (name,) = key
        trace = self._load(name)
        if trace.monitor is None or name is None:
            self.kept.clear()
            return
        yield self._end(trace, name)
        self._store(trace)
        self._wait(timerValues)

    def close(self) -> None:
        """Close the monitor."""
        self.monitor.close()

    def _load(self, name: str | None) -> _Trace:
        stored = self.kept.get() if self.kept.exists() else None
        trace = _Trace(name, stored)
        self.monitor.restore(trace.monitor or self.empty)
        return trace

    def _store(self, trace: _Trace) -> None:
        state = None if trace.monitor is None else self.monitor.state()
        self.kept.update(trace.pack(state, self.remember))

    def _wait(self, timerValues: TimerValues) -> None:
        if self.idle is not None:
            for timer in self.handle.listTimers():
                self.handle.deleteTimer(timer)
            self.handle.registerTimer(timerValues.getCurrentProcessingTimeInMs() + int(self.idle * 1000))

    def _event(self, trace: _Trace, row: Any) -> Iterator[Row]:
        order = row["order"]
        event = of_trace(present(row["event"]), trace.name)
        text = event_text(event)
        digest = blake2b(text, digest_size=8).digest()
        if order is None or (trace.last is not None and order <= trace.last):
            if (order, digest) in trace.recent:
                yield trace.told(order=order, kind="repeated", reason="the event was taken before", line=text.decode())
            else:
                trace.late += 1
                why = "the event has no order" if order is None else f"a later event was taken before: {trace.last}"
                yield trace.told(order=order, kind="late", reason=why, line=text.decode())
            return
        trace.last = order
        trace.recent[order, digest] = None
        decision = observe(self.monitor, event)
        trace.monitor = b"live"
        broken = trace.newly_violated(decision)
        if self.every or decision.ruling != "allow" or broken or decision.errors:
            reason = decision.reason or "; ".join(decision.errors)
            yield trace.told(
                order=order, kind="decision", reason=reason, line=decision.json(), decision=decision, violated=broken
            )
        if row["end"] and trace.name is not None:
            yield self._end(trace, trace.name)

    def _end(self, trace: _Trace, name: str) -> Row:
        decision = self.monitor.end(name)
        broken = trace.newly_violated(decision)
        row = trace.told(
            order=trace.last, kind="end", reason=decision.reason, line=decision.json(), decision=decision, violated=broken
        )
        trace.monitor = None
        trace.violated = set()
        self.monitor.restore(self.empty)
        return row


class _Trace:
    """What is kept of a trace. After its end only the last events are, so that their repetitions are recognized."""

    def __init__(self, name: str | None, stored: tuple[Any, ...] | None) -> None:
        self.name = name
        self.monitor: bytes | None = None
        self.last: int | None = None
        #: The orders and digests of the last events, the oldest first.
        self.recent: dict[tuple[int, bytes], None] = {}
        self.violated: set[str] = set()
        #: The number of events that came too late.
        self.late = 0
        if stored is not None:
            monitor, self.last, recent, violated, self.late = stored
            self.monitor = None if monitor is None else bytes(monitor)
            self.recent = dict.fromkeys(_SEEN.iter_unpack(bytes(recent)))
            self.violated = set(violated)

    def pack(self, monitor: bytes | None, remember: int) -> tuple[Any, ...]:
        """Return the row that is kept."""
        recent = list(self.recent)[-remember:] if remember else []
        return monitor, self.last, b"".join(_SEEN.pack(*seen) for seen in recent), sorted(self.violated), self.late

    def newly_violated(self, decision: Decision) -> list[str]:
        """Return the properties that are violated and were not before."""
        found = {name for name, verdict in decision.verdicts if verdict == "violated"} - self.violated
        self.violated |= found
        return sorted(found)

    def told(
        self,
        *,
        order: int | None,
        kind: str,
        reason: str,
        line: str,
        decision: Decision | None = None,
        violated: list[str] | None = None,
    ) -> Row:
        """Return a row of the result."""
        return Row(
            trace=self.name,
            order=order,
            kind=kind,
            step=decision and decision.step,
            decision=decision and decision.ruling,
            reason=reason,
            violated=violated or [],
            late=self.late,
            line=line,
        )
