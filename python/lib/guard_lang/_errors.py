"""The exceptions of the package. Every one is a `GuardError`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._guard import Decision


class GuardError(Exception):
    """An operation that failed as a whole. Faults in recorded data are no errors: see `Report.problems`."""


class LoadError(GuardError):
    """A spec that cannot be read, or that is beyond the limits on automata."""


class InputError(GuardError):
    """Traces that cannot be read at all: an invalid pattern, a layout without a reader."""


class ModelError(GuardError):
    """A model that does not fit the spec, or traces with steps that the abstraction declares impossible."""


class QueryError(GuardError):
    """A query that cannot be answered."""


class MonitorError(GuardError):
    """A live decision that could not be made or kept. Treat it as a denial."""


class Denied(GuardError):
    """An action that must not be carried out, or whose result must not be used. The text is the reason, for the model."""

    def __init__(self, reason: str, decision: Decision | None = None) -> None:
        """Keep the reason, and the decision if there is one."""
        super().__init__(reason)
        self.reason = reason
        self.decision = decision


@dataclass(frozen=True)
class Diagnostic:
    """One message about a spec: code `Gxxyy`, severity, text and place (line and column from 1)."""

    code: str
    severity: str
    message: str
    file: str
    line: int
    column: int
    notes: tuple[str, ...]
    fixes: tuple[str, ...]

    @classmethod
    def from_json(cls, line: str) -> Diagnostic:
        """Read a line of `guard check --format json`."""
        told: dict[str, Any] = json.loads(line)
        return cls(
            code=told["code"],
            severity=told["severity"],
            message=told["message"],
            file=told["file"],
            line=told["span"]["line"],
            column=told["span"]["column"],
            notes=tuple(told["notes"]),
            fixes=tuple(fix["message"] for fix in told["fixes"]),
        )


class SpecError(GuardError):
    """A spec that is wrong. The text shows the diagnostics with their places, as `guard check` draws them."""

    def __init__(self, rendered: str, lines: str) -> None:
        """Take the drawn diagnostics, and the same as JSON lines."""
        super().__init__(rendered, lines)
        self.rendered = rendered
        self.diagnostics = [Diagnostic.from_json(line) for line in lines.splitlines()]

    def __str__(self) -> str:
        """Show the diagnostics."""
        return self.rendered
