"""Ray: recorded traces are judged and counted by Ray Data, and live ones decided by actors. Requires `ray[data]` 2.50 or later.

    lines = audit(events, spec, trace="run", order="seq")       # a data set with the lines of `guard audit --format json`
    counts = summary(events, spec, trace="run", order="seq")    # `Summary`
    model = learn(events, spec, trace="run", order="seq")       # `Model`
    live = Monitors(spec, workers=4)                            # a monitor in each of four actors

A row is an event if `trace` names the column with the name of its trace, and a whole trace otherwise; see `Layout`.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportUntypedBaseClass=false
# pyright: reportUnknownParameterType=false, reportUnknownLambdaType=false
from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Callable

import pyarrow as pa
import ray
from ray.data import Dataset
from ray.data.context import ShuffleStrategy

from ._engine import COUNTS, LINES, MODELS, Kernel, Layout, total_counts, total_model
from ._errors import MonitorError

if TYPE_CHECKING:
    from ._guard import Decision
    from ._live import Event
    from ._report import Summary
    from ._spec import Model, Spec

#: Rows of whole traces that a task takes at once.
ROWS = 4096


def audit(
    ds: Dataset,
    spec: Spec,
    *,
    trace: str | None = None,
    order: str | None = None,
    text: str | None = None,
    name: str | None = None,
    format: str = "auto",
) -> Dataset:
    """Judge traces and return the lines of `guard audit --format json`, but for the last, as a data set.

    Its columns are `kind` (`verdict`, `trace` or `problem`), `trace`, `property`, `verdict`, `at` (the step) and `line` (JSON).
    A row that cannot be read is a problem, and the rest is judged. Raises `ValueError` before any task if a column is missing.
    """
    layout = Layout(trace, order, text, name, format)
    return _mapped(ds, layout, Kernel(spec, layout).lines, LINES)


def summary(
    ds: Dataset,
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
    parts = _mapped(ds, layout, Kernel(spec, layout).counts, COUNTS)
    return total_counts(spec, (part["counts"] for part in parts.iter_rows()))


def learn(
    ds: Dataset,
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
    parts = _mapped(ds, layout, Kernel(spec, layout).models, MODELS)
    return total_model(spec, parts.iter_rows)


def _mapped(
    ds: Dataset, layout: Layout, work: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: pa.Schema
) -> Dataset:
    """Map the blocks. Events are brought together by trace first."""
    columns = ds.columns()
    if columns is None:
        return ray.data.from_arrow(schema.empty_table())
    layout.check(columns)
    trace, order = layout.trace, layout.order

    def mapped(table: pa.Table) -> Iterator[pa.Table]:
        if trace is not None and order is not None:
            table = table.sort_by([(trace, "ascending"), (order, "ascending")])
        for batch in work(table.to_batches()):
            yield pa.Table.from_batches([batch], schema=schema)

    if trace is None:
        return ds.map_batches(mapped, batch_format="pyarrow", batch_size=ROWS)
    context = ds.context
    if context.shuffle_strategy in (ShuffleStrategy.HASH_SHUFFLE, ShuffleStrategy.SHUFFLE_V2):
        ds = ds.repartition(context.default_hash_shuffle_parallelism, keys=[trace])
    else:
        ds = ds.sort(trace)
    # A batch is a whole block, and a trace lies within one, as for `map_groups`.
    return ds.map_batches(mapped, batch_format="pyarrow", batch_size=None)


@dataclass(frozen=True)
class Decided:
    """The decision of an actor about an event."""

    ruling: str
    allowed: bool
    asks: bool
    denied: bool
    reason: str
    #: The number of a proposal that can be committed or abandoned.
    proposal: int | None
    #: The line of `guard monitor`.
    line: str


class Monitors:
    """Monitors in actors; the name of a trace decides which of them follows it. Methods are those of `Monitor`.

    Whatever goes wrong raises `MonitorError`, which denies. An actor that dies takes the states of its traces with it: all
    later questions about them raise, until new `Monitors` are made.
    """

    def __init__(
        self, spec: Spec, workers: int, *, model: Model | None = None, clock: str = "wall", timeout: float = 10
    ) -> None:
        """Start the actors; `timeout` is how long a decision may take, in seconds."""
        if workers < 1:
            raise ValueError("expected at least one worker")
        # Errors of the spec or the model are reported here.
        spec.monitor(model=model, clock=clock).close()
        self._timeout = timeout
        actor: Any = ray.remote(_Actor)
        self._actors = [actor.remote(spec, model, clock) for _ in range(workers)]
        # That an actor takes long to start must not deny the first action.
        ray.get([one.ready.remote() for one in self._actors])

    def act(self, event: Event) -> Decided:
        """Decide about an action, and record it if `allowed`. If a person is asked, the decision can be committed."""
        return self._ask(event.get("trace"), "act", event)

    def propose(self, event: Event) -> Decided:
        """Decide about an action. Unless it is denied, it counts for later decisions until `commit` or `abandon`."""
        return self._ask(event.get("trace"), "propose", event)

    def observe(self, event: Event) -> Decided:
        """Record an event that has happened. If the decision is denied, its content must not be used."""
        return self._ask(event.get("trace"), "observe", event)

    def commit(self, proposal: int, event: Event) -> Decided:
        """Record that a proposed action has happened, with its outcome."""
        return self._ask(event.get("trace"), "commit", proposal, event)

    def abandon(self, trace: str, proposal: int) -> Decided:
        """Record that a proposed action will not happen."""
        return self._ask(trace, "abandon", proposal)

    def end(self, trace: str) -> Decided:
        """End a trace."""
        return self._ask(trace, "end", trace)

    def close(self) -> None:
        """Stop the actors."""
        for actor in self._actors:
            ray.kill(actor)

    def _ask(self, trace: object, method: str, *args: Any) -> Decided:
        digest = blake2b(str(trace).encode(), digest_size=8).digest()
        actor = self._actors[int.from_bytes(digest, "big") % len(self._actors)]
        try:
            decided: Decided = ray.get(actor.ask.remote(method, *args), timeout=self._timeout)
        except Exception as error:
            raise MonitorError(f"the decision could not be made: {error}") from error
        return decided


class _Actor:
    def __init__(self, spec: Spec, model: Model | None, clock: str) -> None:
        self._monitor = spec.monitor(model=model, clock=clock)

    def ready(self) -> None:
        """Return once the actor has started."""

    def ask(self, method: str, *args: Any) -> Decided:
        decision: Decision = getattr(self._monitor, method)(*args)
        return Decided(
            ruling=decision.ruling,
            allowed=decision.allowed,
            asks=decision.asks,
            denied=decision.denied,
            reason=decision.reason,
            proposal=decision.proposal,
            line=decision.json(),
        )
