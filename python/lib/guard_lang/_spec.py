"""Specs and the models that are learned from them."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

from . import _guard
from ._errors import Diagnostic, ModelError
from ._inputs import Traces
from ._live import Asking, Monitor, refuse
from ._report import Problem, Report

PathLike = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Property:
    """A property or rule of a spec."""

    name: str
    id: str | None
    severity: str
    doc: str
    formula: str
    file: str
    line: int


@dataclass(frozen=True)
class Answer:
    """The answer to a query on a model, for one category of traces (empty if the model has none)."""

    query: str
    category: str
    #: The number, and what it is at least and at most; `None` for a condition, and if it is infinite or undefined.
    value: float | None
    lower: float | None
    upper: float | None
    #: Whether the condition holds; `None` for a number, and if the number is too near to the threshold to decide.
    holds: bool | None
    #: `infinite`, `undefined` or `undecided`.
    note: str | None


class Model:
    """Counts of steps, from which the queries of a spec are answered. `a + b` has the counts of both."""

    def __init__(self, spec: Spec, model: _guard.Model) -> None:
        """Join a model and the spec that it is for."""
        self._spec = spec
        self._model = model

    @property
    def name(self) -> str:
        """The name of the model in the spec."""
        return self._model.name

    @property
    def traces(self) -> int | None:
        """The number of traces that it was learned from; `None` for a model that was read, and for sums with one."""
        return self._model.traces

    @property
    def problems(self) -> list[Problem]:
        """The faults in the data that it was learned from."""
        return [Problem.from_json(told) for told in json.loads(self._model.problems_json())]

    def query(self, query: str | None = None) -> list[Answer]:
        """Answer one query (`P=? [ F<=5 leak ]`) or, without one, all those of the spec; for each category of traces."""
        answers = []
        for name, category, holds, number, note in self._spec._spec.query(self._model, query):
            value, lower, upper = number or (None, None, None)
            answers.append(Answer(name, category, value, lower, upper, holds, note))
        return answers

    def __add__(self, other: Model) -> Model:
        """Add the counts of a model of the same spec."""
        return Model(self._spec, self._model.merged(other._model))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what another process makes the model from."""
        inner = self._model
        return _model, (self._spec, inner.text(), inner.traces, inner.problems_json())

    def text(self) -> str:
        """Return the text of the model file, which `guard query`, `monitor` and others read."""
        return self._model.text()

    def save(self, path: PathLike) -> None:
        """Write the model file: whole, or not at all."""
        path = Path(path)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            draft.write_text(self.text(), encoding="utf-8")
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)

    def __repr__(self) -> str:
        """Name the model."""
        return f"<Model {self.name!r}>"


class Spec:
    """A spec that was checked and compiled. It can be shared between threads, and used after a fork."""

    def __init__(self, spec: _guard.Spec) -> None:
        """Wrap what the extension returned; use `Spec.from_file` or `Spec.from_source`."""
        self._spec = spec

    @classmethod
    def from_file(cls, path: PathLike) -> Spec:
        """Load a spec or a compiled spec, with what it imports from its folder.

        Raises `SpecError` with the diagnostics if the spec is wrong, and `LoadError` if it cannot be read.
        """
        return cls(_guard.Spec.from_file(path))

    @classmethod
    def from_source(cls, text: str, name: str = "<spec>") -> Spec:
        """Compile a text that imports nothing but the standard library. `name` stands for its file in messages."""
        return cls(_guard.Spec.from_source(name, text))

    @property
    def properties(self) -> list[Property]:
        """The properties and rules in order of declaration."""
        return [Property(*heading) for heading in self._spec.properties()]

    @property
    def warnings(self) -> list[Diagnostic]:
        """The warnings and hints of the compiler."""
        _, lines = self._spec.warnings()
        return [Diagnostic.from_json(line) for line in lines.splitlines()]

    def audit(
        self,
        traces: Traces,
        *,
        format: str = "auto",
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        jobs: int | None = None,
    ) -> Report:
        """Judge recorded traces, with the results of `guard audit`.

        `traces` is a path, several paths (files, folders and patterns), an iterable of dicts, or a table. A dict, and a row,
        is read as a line of JSON Lines: a whole trace, or one event of a trace. `format` is that of `--from`, and `include` and
        `exclude` select files of folders. An interrupt (Ctrl-C) ends it; other Python threads run meanwhile.
        """
        return Report(self._spec.audit(traces, format, list(include), list(exclude), jobs))

    def learn(
        self,
        traces: Traces,
        *,
        format: str = "auto",
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        jobs: int | None = None,
    ) -> Model:
        """Count the steps of recorded traces into the model that the spec learns; arguments as for `audit`.

        Raises `ModelError` if the spec learns none or several, or if a trace shows a step that is declared impossible.
        """
        return Model(self, self._spec.learn(traces, format, list(include), list(exclude), jobs))

    def model(self, path: PathLike) -> Model:
        """Read a model file."""
        return Model(self, _guard.Model.parse(Path(path).read_text(encoding="utf-8")))

    def monitor(
        self,
        *,
        model: Model | PathLike | Iterable[Model | PathLike] | None = None,
        snapshot: PathLike | None = None,
        journal: PathLike | None = None,
        log: PathLike | None = None,
        key: PathLike | None = None,
        allow_readable_secrets: bool = False,
        sync: str = "disk",
        redact: bool = False,
        clock: str = "wall",
        ask: Asking = refuse,
    ) -> Monitor:
        """Return a monitor that decides about live actions by the `enforce` clauses, in this process.

        `model` answers clauses on queries. With `journal`, every input is recorded before its decision is returned, and a
        monitor that is made anew goes on from there; `snapshot` shortens that. `log` (signed with `key`) is hash-chained;
        a key file that other users can read is refused unless `allow_readable_secrets` is true.
        `sync="system"` leaves it to the system when both are on disk. With `clock="none"`, only events advance deadlines.
        `ask` is asked whether an action may run that a person must decide about; without it, such actions are denied.

        Raises `MonitorError` if the spec cannot be monitored or the files cannot be used.
        """
        if sync not in ("disk", "system") or clock not in ("wall", "none"):
            raise ValueError("expected sync to be `disk` or `system`, and clock to be `wall` or `none`")
        given = [] if model is None else [model] if isinstance(model, (Model, str, os.PathLike)) else list(model)
        models = [one if isinstance(one, Model) else self.model(one) for one in given]
        if any(one._spec is not self for one in models):
            raise ModelError("the model was learned by another spec")
        inner = _guard.Monitor(
            self._spec,
            [one._model for one in models],
            snapshot,
            journal,
            log,
            key,
            allow_readable_secrets,
            sync == "system",
            redact,
            clock == "none",
        )
        return Monitor(inner, ask)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what another process, also on another machine, makes the spec from: its text and what it imports."""
        return _spec, (self._spec.compiled(),)

    def __repr__(self) -> str:
        """Name the properties."""
        return f"<Spec: {', '.join(one.name for one in self.properties)}>"


# Workers of a cluster receive the same spec with each task.
@functools.lru_cache(maxsize=16)
def _spec(compiled: str) -> Spec:
    return Spec(_guard.Spec.from_compiled("<spec>", compiled))


def _model(spec: Spec, text: str, traces: int | None, problems: str) -> Model:
    return Model(spec, _guard.Model.parse(text, traces, problems))
