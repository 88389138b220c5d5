"""The result of an audit."""

from __future__ import annotations

import html
import importlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from . import _guard

if TYPE_CHECKING:
    from ._spec import Spec


@dataclass(frozen=True)
class Verdict:
    """The verdict on one property in one trace; on one violated instance of it if the property is quantified."""

    trace: str
    property: str
    #: `satisfied`, `violated`, `presumably_satisfied`, `presumably_violated` or `unknown`.
    verdict: str
    #: Whether no continuation of the trace can change it.
    final: bool
    #: The index of the step at which it became final.
    at: int | None
    #: The first step whose own obligation cannot be repaired.
    since: int | None
    #: Satisfied only because the trigger never happened.
    vacuous: bool
    #: The message of the property.
    message: str | None
    #: The steps that suffice to show a violation.
    counterexample: tuple[int, ...]
    #: The values of the quantified variables.
    instance: dict[str, Any]
    #: The line of `guard audit --format json`.
    line: dict[str, Any]

    @classmethod
    def from_line(cls, line: dict[str, Any]) -> Verdict:
        """Read a line of `guard audit --format json`."""
        return cls(
            trace=line["trace"],
            property=line["property"],
            verdict=line["verdict"],
            final=line["final"],
            at=line.get("at"),
            since=line.get("from"),
            vacuous=line.get("vacuous", False),
            message=line.get("message"),
            counterexample=tuple(line.get("counterexample", ())),
            instance=line.get("instance", {}),
            line=line,
        )


@dataclass(frozen=True)
class Problem:
    """A fault in recorded data, with its place."""

    kind: str
    file: str
    line: int
    trace: str | None
    step: int | None
    field: str | None
    message: str

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Problem:
        """Read the members of a problem in a report."""
        return cls(
            kind=told["kind"],
            file=told["file"],
            line=told["line"],
            trace=told.get("trace"),
            step=told.get("step"),
            field=told.get("field"),
            message=told["message"],
        )


class Summary:
    """The counts of an audit. `a + b` has the counts of both; the order and the grouping of the parts do not matter."""

    def __init__(self, summary: _guard.Summary, spec: Spec) -> None:
        """Wrap what the extension returned."""
        self._summary = summary
        self._spec = spec
        self.traces, self.violating, self.events, self.errors = summary.counts()

    @cached_property
    def counts(self) -> dict[str, Any]:
        """The counts with rates and their 95 % intervals: the last line of `guard audit --format json`."""
        told: dict[str, Any] = json.loads(self._summary.json())
        return told

    @property
    def ok(self) -> bool:
        """Whether there were traces, all of them were read, and none violates a property."""
        return bool(self.traces) and not self.violating and not self.errors

    def __add__(self, other: Summary) -> Summary:
        """Add the counts of another part of the traces. Raises `InputError` if they are of another spec."""
        return Summary(self._summary.merged(other._summary), self._spec)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what another process makes the counts from."""
        return _summary, (self._spec, self._summary.text())

    def __eq__(self, other: object) -> bool:
        """Compare all counts."""
        return isinstance(other, Summary) and self.counts == other.counts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Count the traces and the violations."""
        return f"<Summary: {self.traces} traces, {self.violating} violating, {self.errors} data errors>"


def _summary(spec: Spec, text: str) -> Summary:
    return Summary(_guard.Summary(spec._spec, text), spec)


class Trace:
    """One judged trace."""

    def __init__(self, report: _guard.Report, number: int) -> None:
        """Take a trace out of a report."""
        self._report = report
        self._number = number
        self.name, self.file, self.line, self.index, self.events, self.violates = report.trace_facts(number)

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """The verdicts in the order of the spec."""
        lines = json.loads(self._report.trace_json(self._number))
        return [Verdict.from_line(line) for line in lines if line["type"] == "verdict"]

    @property
    def violations(self) -> list[Verdict]:
        """The verdicts that are violations."""
        return [verdict for verdict in self.verdicts if verdict.verdict == "violated"] if self.violates else []

    def __repr__(self) -> str:
        """Name the trace and what it violates."""
        violated = sorted({verdict.property for verdict in self.violations})
        return f"<Trace {self.name!r}, {self.events} events{', violates ' + ', '.join(violated) if violated else ''}>"


Row = TypeVar("Row")


class Table(Generic[Row]):
    """Rows of a report: objects of Python one by one, or a table for every package with the Arrow interface.

    `pyarrow.table(report.verdicts)`, `polars.DataFrame(report.verdicts)` and DuckDB take the columns without a copy.
    """

    def __init__(self, report: _guard.Report, name: str, rows: Callable[[], list[Row]]) -> None:
        """Name a table of a report."""
        self._report = report
        self._name = name
        self._make = rows

    @cached_property
    def _rows(self) -> list[Row]:
        return self._make()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        """Return a row by its position."""
        return self._rows[index]

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the rows."""
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        """Compare the rows, also with those of a list."""
        return isinstance(other, (list, Table)) and self._rows == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Show the rows."""
        return repr(self._rows)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as a stream of the Arrow C data interface."""
        return self._report.table(self._name)

    def to_pyarrow(self) -> Any:
        """Return the rows as a table of pyarrow."""
        return importlib.import_module("pyarrow").table(self)

    def to_polars(self) -> Any:
        """Return the rows as a data frame of polars."""
        return importlib.import_module("polars").DataFrame(self)

    def to_pandas(self) -> Any:
        """Return the rows as a data frame of pandas. Requires `pyarrow`, too."""
        return self.to_pyarrow().to_pandas()


class Report(Sequence[Trace]):
    """The judged traces of an audit, in the order of the input."""

    def __init__(self, report: _guard.Report) -> None:
        """Wrap what the extension returned."""
        self._report = report

    @cached_property
    def verdicts(self) -> Table[Verdict]:
        """All verdicts in the order of the traces."""
        return Table(self._report, "verdicts", lambda: [verdict for trace in self for verdict in trace.verdicts])

    @cached_property
    def traces(self) -> Table[Trace]:
        """The judged traces, which are also the items of the report."""
        return Table(self._report, "traces", lambda: list(self))

    def __len__(self) -> int:
        """Return the number of traces."""
        return len(self._report)

    @overload
    def __getitem__(self, index: int) -> Trace: ...
    @overload
    def __getitem__(self, index: slice) -> list[Trace]: ...
    def __getitem__(self, index: int | slice) -> Trace | list[Trace]:
        """Return a trace by its position."""
        if isinstance(index, slice):
            return [Trace(self._report, number) for number in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        return Trace(self._report, number)

    def __iter__(self) -> Iterator[Trace]:
        """Iterate over the traces."""
        return (Trace(self._report, number) for number in range(len(self)))

    @property
    def violating(self) -> int:
        """The number of traces that violate a property."""
        return self._report.violating

    @property
    def events(self) -> int:
        """The number of judged steps."""
        return self._report.events

    @property
    def errors(self) -> int:
        """The number of problems that left data unread. What was not read never counts as success."""
        return self._report.errors

    @property
    def ok(self) -> bool:
        """Whether there were traces, all of them were read, and none violates a property."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """The exit code of `guard audit`: 1 for a violation, 3 if data was unreadable or there was nothing to check."""
        if self.violating:
            return 1
        return 3 if self.errors or not len(self) else 0

    @property
    def violations(self) -> list[Verdict]:
        """All violations in the order of the traces."""
        return [verdict for trace in self for verdict in trace.violations]

    @cached_property
    def problems(self) -> Table[Problem]:
        """All faults in the data, in the order of the input; `left_out` and `odd` are notes."""

        def rows() -> list[Problem]:
            return [Problem.from_json(told) for told in json.loads(self._report.problems_json())]

        return Table(self._report, "problems", rows)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The counts: the last line of `guard audit --format json`."""
        told: dict[str, Any] = json.loads(self.json().splitlines()[-1])
        return told

    def json(self) -> str:
        """Return the report as `guard audit --format json` prints it: JSON Lines."""
        return self._report.render("json")

    def text(self) -> str:
        """Return the report as `guard audit` prints it."""
        return self._report.render("human")

    def html(self) -> str:
        """Return the page of `guard audit --format html`, without the recorded steps of the traces."""
        return self._report.render("html")

    def sarif(self) -> str:
        """Return the report as SARIF 2.1.0."""
        return self._report.render("sarif")

    def junit(self) -> str:
        """Return the report as JUnit XML."""
        return self._report.render("junit")

    def _repr_html_(self) -> str:
        # A frame: the styles of the page stay apart from those of the notebook.
        page = html.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" sandbox style="width:100%;height:32em;border:1px solid #ccc"></iframe>'

    def __repr__(self) -> str:
        """Count the traces and the violations."""
        return f"<Report: {len(self)} traces, {self.violating} violating, {self.errors} data errors>"
