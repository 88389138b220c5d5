import os
from collections.abc import Mapping, Sequence
from typing import Any

def run(program: Sequence[str], args: Sequence[str]) -> int: ...
def to_json(value: object) -> str: ...

class Spec:
    @staticmethod
    def from_file(path: str | os.PathLike[str]) -> Spec: ...
    @staticmethod
    def from_source(name: str, text: str) -> Spec: ...
    def warnings(self) -> tuple[str, str]: ...
    def properties(self) -> list[tuple[str, str | None, str, str, str, str, int]]: ...
    def audit(
        self, traces: object, format: str, include: Sequence[str], exclude: Sequence[str], jobs: int | None
    ) -> Report: ...
    def learn(self, traces: object, format: str, include: Sequence[str], exclude: Sequence[str], jobs: int | None) -> Model: ...
    def query(
        self, model: Model, query: str | None
    ) -> list[tuple[str, str, bool | None, tuple[float, float, float] | None, str | None]]: ...

class Report:
    def __len__(self) -> int: ...
    @property
    def violating(self) -> int: ...
    @property
    def events(self) -> int: ...
    @property
    def errors(self) -> int: ...
    def render(self, format: str) -> str: ...
    def trace_json(self, number: int) -> str: ...
    def trace_facts(self, number: int) -> tuple[str, str, int, int, int, bool]: ...
    def problems_json(self) -> str: ...

class Model:
    @staticmethod
    def parse(text: str) -> Model: ...
    def text(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def traces(self) -> int | None: ...
    def problems_json(self) -> str: ...
    def merged(self, other: Model) -> Model: ...

class Monitor:
    def __new__(
        cls,
        spec: Spec,
        models: Sequence[Model],
        snapshot: str | os.PathLike[str] | None,
        journal: str | os.PathLike[str] | None,
        log: str | os.PathLike[str] | None,
        key: str | os.PathLike[str] | None,
        relaxed: bool,
        redact: bool,
        no_clock: bool,
    ) -> Monitor: ...
    @property
    def resumed(self) -> bool: ...
    def propose(self, event: Mapping[str, Any]) -> Decision: ...
    def act(self, event: Mapping[str, Any]) -> Decision: ...
    def observe(self, event: Mapping[str, Any]) -> Decision: ...
    def commit(self, proposal: int, event: Mapping[str, Any]) -> Decision: ...
    def abandon(self, proposal: int) -> Decision: ...
    def end(self, trace: str) -> Decision: ...
    def tick(self) -> list[Decision]: ...
    def close(self) -> None: ...

class Decision:
    """The decision of a monitor about an event."""

    @property
    def ruling(self) -> str:
        """`allow`, `warn`, `reflect`, `ask`, `block` or `stop`: the most severe of the clauses that act."""
    @property
    def allowed(self) -> bool:
        """Whether the action may be carried out: `allow`, `warn` or `reflect`."""
    @property
    def asks(self) -> bool:
        """Whether a person decides."""
    @property
    def denied(self) -> bool:
        """Whether the action must not be carried out, even with a person's approval: `block` or `stop`."""
    @property
    def reason(self) -> str:
        """The messages of the deciding clauses, for an agent or a person."""
    @property
    def trace(self) -> str | None:
        """The trace; `None` if it could not be read."""
    @property
    def step(self) -> int | None:
        """The index of the event in its trace."""
    @property
    def proposal(self) -> int | None:
        """The number of a proposal that can be committed or abandoned."""
    @property
    def errors(self) -> list[str]:
        """The faults in the event."""
    @property
    def owed(self) -> list[str]:
        """For the end of a trace: the pending obligations."""
    @property
    def verdicts(self) -> list[tuple[str, str]]:
        """Each property with its verdict after the event, or as it would be."""
    def json(self) -> str:
        """The line of `guard monitor`."""
    def commit(self, event: Mapping[str, Any] | None = None) -> Decision:
        """Record that the proposed action has happened: with this outcome, or as it was proposed."""
    def abandon(self) -> Decision:
        """Record that the proposed action will not happen."""
