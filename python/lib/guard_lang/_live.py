"""Live traces: actions are judged before they run, and whatever goes wrong denies them."""

from __future__ import annotations

import contextvars
import functools
import inspect
import threading
import time
import uuid
from collections.abc import Awaitable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Callable, TypeVar, Union, overload

from ._errors import Denied, GuardError
from ._guard import to_json
from ._text import UNKNOWN, text_of

if TYPE_CHECKING:
    from types import TracebackType

    from . import _guard
    from ._guard import Decision

#: Asks a person about an action; in asynchronous sessions it may be awaited. Anything but `True` denies.
Asking = Callable[["Decision"], Union[bool, Awaitable[bool]]]

#: The members `result`, `text` and `error` for the event that records a result; those that it leaves out are unknown.
Outcome = Callable[[Any], "dict[str, Any]"]

Event = Mapping[str, Any]
Tool = TypeVar("Tool", bound=Callable[..., Any])

#: The sessions of the `with` blocks around the caller, the innermost last.
_entered: contextvars.ContextVar[tuple[Session, ...]] = contextvars.ContextVar("guard_sessions", default=())


def refuse(decision: Decision) -> bool:
    """Deny whatever a person would have to decide."""
    return False


class Monitor:
    """Follows live traces and decides about actions by the `enforce` clauses of a spec.

    It can be shared between threads, and is closed by `close` or at the end of a `with` block. After a fork, the new
    process must make its own: a monitor of another process raises `MonitorError`.
    """

    def __init__(self, monitor: _guard.Monitor, ask: Asking = refuse) -> None:
        """Wrap what the extension returned; use `Spec.monitor`."""
        self._monitor = monitor
        self._ask = ask
        self._default: Session | None = None
        self._opening = threading.Lock()

    @property
    def resumed(self) -> bool:
        """Whether it goes on from files that an earlier monitor left."""
        return self._monitor.resumed

    def propose(self, event: Event) -> Decision:
        """Decide about an action. Unless it is denied, it counts for later decisions until `commit` or `abandon`."""
        return self._monitor.propose(event)

    def act(self, event: Event) -> Decision:
        """Decide about an action, and record it if `allowed`. If a person is asked, the decision can be committed."""
        return self._monitor.act(event)

    def observe(self, event: Event) -> Decision:
        """Record an event that has happened. If the decision is `block` or `stop`, its content must not be used."""
        return self._monitor.observe(event)

    def commit(self, proposal: int, event: Event) -> Decision:
        """Record that a proposed action has happened, with its outcome."""
        return self._monitor.commit(proposal, event)

    def abandon(self, proposal: int) -> Decision:
        """Record that a proposed action will not happen."""
        return self._monitor.abandon(proposal)

    def end(self, trace: str) -> Decision:
        """End a trace. The decision tells what was still owed."""
        return self._monitor.end(trace)

    def tick(self) -> list[Decision]:
        """Return the decisions about deadlines that have passed and were not returned yet."""
        return self._monitor.tick()

    def session(self, trace: str | None = None, ask: Asking | None = None) -> Session:
        """Return the calls of one run: one trace, with a name of its own if none is given."""
        return Session(self, uuid.uuid4().hex if trace is None else trace, ask or self._ask)

    @overload
    def guard(self, tool: Tool, *, name: str | None = None, outcome: Outcome | None = None) -> Tool: ...
    @overload
    def guard(self, *, name: str | None = None, outcome: Outcome | None = None) -> Callable[[Tool], Tool]: ...
    def guard(
        self, tool: Tool | None = None, *, name: str | None = None, outcome: Outcome | None = None
    ) -> Tool | Callable[[Tool], Tool]:
        """Make a function a guarded tool: each call is judged before it runs, in the session of the `with` block.

        Outside of one, all calls belong to one trace of the monitor. The arguments of the event are those of the call,
        by name, and `outcome` is that of `Session.call`. A denied call raises `Denied`. Coroutine functions work too;
        generators do not.
        """
        if tool is None:
            return lambda tool: self.guard(tool, name=name, outcome=outcome)
        return _guarded(self, tool, name or tool.__name__, outcome)

    def current(self) -> Session:
        """Return the session of the `with` block around the caller, or the one of the monitor."""
        for session in reversed(_entered.get()):
            if session.monitor is self:
                return session
        with self._opening:
            if self._default is None:
                self._default = self.session()
            return self._default

    def state(self) -> bytes:
        """Return the state of all traces and proposals; equal states have equal bytes.

        Raises `MonitorError` if the monitor keeps its state in files.
        """
        return self._monitor.state()

    def restore(self, state: bytes) -> None:
        """Go on from a state of a monitor of the same spec; what this monitor had of its own is forgotten.

        Raises `MonitorError` if the bytes are damaged or of another spec; the monitor is then as it was.
        """
        self._monitor.restore(state)

    def close(self) -> None:
        """Save the state and close the files."""
        self._monitor.close()

    def __enter__(self) -> Monitor:
        """Return the monitor."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the monitor."""
        self.close()


class Session:
    """The calls of one run of an agent. Threads may share it.

    `call` and `acall` do what a client must: judge and record a call in one step before it runs, ask a person if the spec
    says so, record the outcome, and withhold it if a clause blocks it. What could not be recorded is recorded before the
    next call, which is denied otherwise.
    """

    def __init__(self, monitor: Monitor, trace: str, ask: Asking = refuse) -> None:
        """Name a trace of a monitor; use `Monitor.session`."""
        self.monitor = monitor
        self.trace = trace
        self._ask = ask
        self._unreported: list[dict[str, Any]] = []
        self._reporting = threading.Lock()

    def event(self, kind: str, **members: Any) -> dict[str, Any]:
        """Return an event of this trace, at the present time."""
        return {"trace": self.trace, "kind": kind, "at": time.time(), **members}

    def report(self, *events: dict[str, Any]) -> Decision | None:
        """Record events that have happened; return the last decision. Raises `MonitorError` if they cannot be recorded."""
        decision = None
        with self._reporting:
            self._unreported += events
            while self._unreported:
                event = self._unreported[0]
                decision = observe(self.monitor, event)
                del self._unreported[0]
        return decision

    def call(
        self,
        tool: str,
        args: Mapping[str, Any],
        run: Callable[[], Any],
        call: str | None = None,
        outcome: Outcome | None = None,
    ) -> Any:
        """Run a call if the spec lets it through, and return its result.

        `call` is the id of the call, and `outcome` gives the members of the event that records a result; those that it leaves
        out are unknown. By default they are the result, its text (`docs/python.md` says how it is read) and `error: False`.
        Raises `Denied` if the call must not run or if its outcome is withheld, and what `run` raises if no clause blocks that.
        """
        about = self._about(tool, args, call)
        decision, event = self._act(about)
        if decision.asks:
            answer = self._answer(decision)
            if inspect.isawaitable(answer):
                _close(answer)
                self._abandon(decision)
                raise Denied("a person cannot be awaited in a call that is not asynchronous", decision)
            self._settle(decision, answer, event)
        try:
            result = run()
        except BaseException as error:
            withheld = self._failed(about, error)
            if withheld is None:
                raise
        else:
            return self._done(about, result, outcome or _outcome)
        raise withheld

    async def acall(
        self,
        tool: str,
        args: Mapping[str, Any],
        run: Callable[[], Awaitable[Any]],
        call: str | None = None,
        outcome: Outcome | None = None,
    ) -> Any:
        """Run a call as `call` does, where `run` and `ask` may be awaited."""
        about = self._about(tool, args, call)
        decision, event = self._act(about)
        if decision.asks:
            answer: Any = self._answer(decision)
            if inspect.isawaitable(answer):
                try:
                    answer = await answer
                except BaseException:
                    self._abandon(decision)
                    raise
            self._settle(decision, answer, event)
        try:
            result = await run()
        except BaseException as error:
            withheld = self._failed(about, error)
            if withheld is None:
                raise
        else:
            return self._done(about, result, outcome or _outcome)
        raise withheld

    def end(self) -> Decision:
        """End the trace. The decision tells what was still owed."""
        self.report()
        return self.monitor.end(self.trace)

    def __enter__(self) -> Session:
        """Make this the session of guarded tools in the block."""
        _entered.set((*_entered.get(), self))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End the trace, unless the block failed: then it may go on."""
        _entered.set(_entered.get()[:-1])
        if error is None:
            self.end()

    def _about(self, tool: str, args: Mapping[str, Any], call: str | None) -> dict[str, Any]:
        return {"tool": tool, "args": args, "call": call or uuid.uuid4().hex}

    def _act(self, about: dict[str, Any]) -> tuple[Decision, Event]:
        """Judge and record a call; return also its event. Raises if it is denied, or if anything goes wrong."""
        self.report()
        event = self.event("call", role="assistant", **about, text=None, result=None, error=None)
        decision = self.monitor.act(event)
        if not decision.allowed and not (decision.asks and decision.proposal is not None):
            raise Denied(decision.reason or "denied by the spec", decision)
        return decision, event

    def _answer(self, decision: Decision) -> bool | Awaitable[bool]:
        try:
            return self._ask(decision)
        except BaseException:
            self._abandon(decision)
            raise

    def _settle(self, decision: Decision, answer: object, event: Event) -> None:
        """Commit what a person allowed, and obey the decision on the commit.

        Another action may have come between, after which the action is denied or the person would have to be asked more.
        """
        if answer is not True:
            self._abandon(decision)
            raise Denied(decision.reason, decision)
        committed = decision.commit({**event, "at": time.time()})
        if not committed.allowed:
            raise Denied(committed.reason or "denied by the spec", committed)

    def _abandon(self, decision: Decision) -> None:
        decision.abandon()

    def _failed(self, about: dict[str, Any], error: BaseException) -> GuardError | None:
        """Record a call that failed. Return what to raise in place of its error, whose text a server may have chosen."""
        # Ctrl-C or a cancellation: it stops the program rather than reach a model, and the action may have been carried out.
        interrupted = not isinstance(error, Exception) and not hasattr(error, "exceptions")
        text = text_of(error)
        withheld = self._record(about, {"result": text, "text": text, "error": UNKNOWN if interrupted else True})
        return None if interrupted else withheld

    def _done(self, about: dict[str, Any], result: Any, outcome: Outcome) -> Any:
        try:
            members = outcome(result)
        except Exception:
            # The error may quote the result, which was not read.
            withheld = self._record(about, {})
            if withheld is None:
                raise
        else:
            withheld = self._record(about, members)
            if withheld is None:
                return result
        raise withheld

    def _record(self, about: dict[str, Any], members: dict[str, Any]) -> GuardError | None:
        """Record an outcome. Return what to raise in place of it, if a clause blocks it or it could not be recorded.

        In the latter case it is recorded before the next call.
        """
        unread = {"result": UNKNOWN, "text": UNKNOWN, "error": UNKNOWN}
        try:
            decision = self.report({**unread, **members, **self.event("result", role="tool", **about)})
        except GuardError as error:
            # Python has set it to the error of the call, and would show that.
            error.__context__ = None
            return error
        if decision is not None and decision.denied:
            return Denied(decision.reason or "the result is withheld by the spec", decision)
        return None


def observe(monitor: Monitor, event: Event) -> Decision:
    """Record an event that has happened. Members without a JSON form are unknown."""
    try:
        return monitor.observe(event)
    except GuardError:
        raise
    # Properties and serializers of other packages raise anything.
    except Exception:
        return monitor.observe({key: known(value) for key, value in event.items()})


def known(value: Any) -> Any:
    """Return the value, or `UNKNOWN` if it has no JSON form."""
    try:
        to_json(value)
    except Exception:
        return UNKNOWN
    return value


def _outcome(result: Any) -> dict[str, Any]:
    return {"result": result, "text": text_of(result), "error": False}


def _close(answer: Awaitable[bool]) -> None:
    if inspect.iscoroutine(answer):
        answer.close()


def _guarded(monitor: Monitor, tool: Tool, name: str, outcome: Outcome | None) -> Tool:
    if inspect.isgeneratorfunction(tool) or inspect.isasyncgenfunction(tool):
        raise TypeError(f"`{name}` is a generator: its outcome cannot be judged as a whole")
    signature = inspect.signature(tool)

    def arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return dict(_named(signature, bound))

    if inspect.iscoroutinefunction(tool):

        @functools.wraps(tool)
        async def asynchronous(*args: Any, **kwargs: Any) -> Any:
            session = monitor.current()
            return await session.acall(name, arguments(args, kwargs), lambda: tool(*args, **kwargs), outcome=outcome)

        return asynchronous  # type: ignore[return-value]

    @functools.wraps(tool)
    def synchronous(*args: Any, **kwargs: Any) -> Any:
        session = monitor.current()
        return session.call(name, arguments(args, kwargs), lambda: tool(*args, **kwargs), outcome=outcome)

    return synchronous  # type: ignore[return-value]


def _named(signature: inspect.Signature, bound: inspect.BoundArguments) -> Iterator[tuple[str, Any]]:
    """Give the arguments by name; those of `**kwargs` stand beside the others, as in the call.

    A positional-only parameter and a member of `**kwargs` may have one name: only one of them would be judged, so the call
    is refused.
    """
    for name, value in bound.arguments.items():
        if signature.parameters[name].kind is not inspect.Parameter.VAR_KEYWORD:
            yield name, value
            continue
        for twice in value.keys() & (bound.arguments.keys() - {name}):
            raise TypeError(f"two arguments have the name {twice!r}")
        yield from value.items()
