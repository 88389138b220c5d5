"""The text of what tools return and raise, and what is withheld of it."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import datetime
import decimal
import enum
import json
import math
import pathlib
import sys
from typing import Any

import pytest

import guard_lang as guard
from guard_lang._live import Outcome
from guard_lang._text import UNKNOWN

from .conftest import LIVE, ROOT


@dataclasses.dataclass
class Page:
    body: str
    more: Any = None


class Color(enum.Enum):
    SECRET = 1
    RED = "a SECRET"


class Lines(list):  # type: ignore[type-arg]
    pass


class Row:
    """A class whose members nothing declares."""

    def __init__(self) -> None:
        self.text = "a SECRET"


class Broken(Exception):
    def __str__(self) -> str:
        raise KeyError("SECRET")


def test_values_have_the_text_that_other_clients_find() -> None:
    for case in json.loads((ROOT / "clients/npm/test/texts.json").read_text()):
        found = guard.text_of(case["value"])
        if "text" in case:
            assert found == case["text"]
        else:
            assert case["holds"] in found


@pytest.mark.parametrize(
    "value",
    [
        "a SECRET",
        ["SEC", "RET"],
        ("a\n", "SECRET"),
        {"k": {"SECRET": None}},
        {1: "SECRET"},
        {("a", "SECRET"): 1},
        {"SECRET"},
        frozenset({"SECRET"}),
        collections.deque(["SECRET"]),
        {"SECRET": 1}.keys(),
        Lines(["SECRET"]),
        b"a SECRET",
        bytearray(b"a SECRET"),
        memoryview(b"\xff\x00 this is a long SECRET text \x00\xff"),
        "a SECRET".encode("utf-16"),
        Page("a SECRET"),
        Page("x", ["SEC", "RET"]),
        [Page("x", Page("SECRET"))],
        Color.SECRET,
        Color.RED,
        pathlib.Path("a/SECRET"),
        ValueError("a SECRET"),
        {"failed": ValueError("a", {"k": "b\nSECRET"})},
        "data:text/plain;base64,YSBTRUNSRVQ=",
        {"content": [{"type": "text", "text": "SEC"}, {"type": "text", "text": "RET"}]},
    ],
)
def test_all_the_text_of_a_value_is_read(value: Any) -> None:
    text = guard.text_of(value)
    assert isinstance(text, str)
    assert "SECRET" in text


def test_line_ends_are_not_escaped() -> None:
    for value in (["a\nb"], Page("a\nb"), ValueError("x", "a\nb"), {"k": b"a\nb"}):
        assert "a\nb" in guard.text_of(value)


def test_what_cannot_be_read_is_unknown() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    rest = [object(), Row(), [Row()], Page("x", Row()), iter("x"), "\ud800", cycle, Broken(), (one for one in "x")]
    for value in rest:
        assert math.isnan(guard.text_of(value)), type(value)
    for value in (7, 1.5, decimal.Decimal("1.50"), datetime.date(2026, 1, 2), float("inf"), 1j):
        assert guard.text_of(value) == str(value)


def test_pydantic_models() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Answer(pydantic.BaseModel):  # type: ignore[misc, name-defined, unused-ignore]
        model_config = pydantic.ConfigDict(extra="allow")
        body: Any = None
        hidden: str = pydantic.Field(default="", exclude=True)

        @pydantic.computed_field  # type: ignore[prop-decorator, untyped-decorator, unused-ignore]
        @property
        def both(self) -> str:
            return "SEC" + (self.body if isinstance(self.body, str) else "")

    inner = Answer(hidden="SECRET")
    for value in (Answer(body="a SECRET"), inner, Answer(other="SECRET"), Answer(body="RET"), Answer(body=[inner])):
        assert "SECRET" in guard.text_of(value)
    assert math.isnan(guard.text_of(Answer(body=Row())))
    assert "SECRET" not in guard.text_of(Answer(body=pydantic.SecretStr("SECRET")))


def raising(error: BaseException) -> Any:
    def run() -> Any:
        raise error

    return run


def caused() -> Any:
    try:
        raise OSError("a SECRET")
    except OSError as error:
        raise ValueError("x") from error


def in_context() -> Any:
    try:
        raise OSError("a SECRET")
    except OSError:
        raise ValueError("x")  # noqa: B904 - the context is what is tested


def noted() -> ValueError:
    error = ValueError("x")
    error.__notes__ = ["a SECRET"]  # type: ignore[attr-defined, unused-ignore]
    return error


def with_member() -> ValueError:
    error = ValueError("x")
    error.stderr = b"a SECRET"  # type: ignore[attr-defined]
    error.response = Row()  # type: ignore[attr-defined]
    return error


FAILURES = [
    raising(ValueError("a SECRET")),
    raising(ValueError("x", {"k": ["SECRET"]})),
    raising(ValueError(b"SECRET")),
    raising(ValueError(ValueError("SECRET"))),
    raising(noted()),
    raising(with_member()),
    raising(Broken()),
    caused,
    in_context,
]
if sys.version_info >= (3, 11):
    from builtins import BaseExceptionGroup, ExceptionGroup

    FAILURES.extend(
        (
            raising(ExceptionGroup("x", [ValueError("x"), ExceptionGroup("y", [ValueError("a SECRET")])])),
            raising(BaseExceptionGroup("x", [KeyboardInterrupt("a SECRET")])),
        )
    )


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("run", FAILURES)
def test_the_error_of_a_call_is_withheld(run: Any, asynchronous: bool) -> None:
    async def later() -> Any:
        return run()

    with guard.Spec.from_source(LIVE).monitor() as live:
        session = live.session()

        def call() -> Any:
            return asyncio.run(session.acall("read", {}, later)) if asynchronous else session.call("read", {}, run)

        with pytest.raises(guard.Denied, match="the result holds a secret") as raised:
            call()
        assert (raised.value.__cause__, raised.value.__context__) == (None, None)
        # It is recorded, once.
        assert session.report(session.event("look")).step == 2  # type: ignore[union-attr]


def test_other_errors_are_those_of_the_call() -> None:
    live = guard.Spec.from_source(LIVE).monitor()
    inner = ValueError("no such order")
    for error in (inner, KeyboardInterrupt("SECRET"), asyncio.CancelledError("SECRET"), SystemExit(1)):
        with pytest.raises(type(error)) as raised:
            live.session().call("read", {}, raising(error))
        assert raised.value is error


def test_an_interrupted_call_may_have_been_carried_out() -> None:
    spec = guard.Spec.from_source(
        "event { kind: string  tool: string?  error: bool? }\n"
        'property few = G (count(kind == "result" and error != true) <= 1)\n'
        'enforce few { violated => block "one is enough" }\n'
    )
    session = spec.monitor().session()
    with pytest.raises(KeyboardInterrupt):
        session.call("refund", {}, raising(KeyboardInterrupt()))
    with pytest.raises(guard.Denied):
        session.call("refund", {}, lambda: "refunded")


def test_an_error_that_cannot_be_recorded_is_not_shown() -> None:
    live = guard.Spec.from_source(LIVE).monitor()

    def run() -> None:
        live.close()
        raise ValueError("a SECRET")

    with pytest.raises(guard.MonitorError) as raised:
        live.session().call("read", {}, run)
    assert (raised.value.__cause__, raised.value.__context__) == (None, None)


def test_what_an_outcome_leaves_out_is_unknown() -> None:
    live = guard.Spec.from_source(LIVE).monitor()
    assert live.session().call("read", {}, lambda: "x", outcome=lambda _: {"text": "x"}) == "x"
    outcomes: list[Outcome] = [lambda _: {}, lambda _: {"text": UNKNOWN}, lambda result: result.content]
    for outcome in outcomes:
        with pytest.raises(guard.Denied):
            live.session().call("read", {}, lambda: "x", outcome=outcome)
    # Without a rule on the text, the error of the function is the caller's.
    few = guard.Spec.from_source(
        'event { kind: string }\nproperty p = never (kind == "x")\nenforce p { violated => block "no" }\n'
    )
    with pytest.raises(AttributeError):
        few.monitor().session().call("read", {}, lambda: "x", outcome=lambda result: result.content)


def test_a_guarded_tool_says_what_its_outcome_is() -> None:
    live = guard.Spec.from_source(LIVE).monitor()

    @live.guard
    def row() -> Row:
        return Row()

    @live.guard(outcome=lambda row: {"text": row.text})
    def read() -> Row:
        return Row()

    @live.guard(outcome=lambda _: {"text": "nothing"})
    def nothing() -> Row:
        return Row()

    with live.session("t"):
        for tool in (row, read):
            with pytest.raises(guard.Denied):
                tool()
        assert nothing().text == "a SECRET"


def test_a_result_whose_members_raise_is_recorded() -> None:
    live = guard.Spec.from_source(LIVE.replace("error: bool?", "error: bool?  result: json?")).monitor()

    @dataclasses.dataclass
    class Answer:
        body: str

        def __getattribute__(self, name: str) -> Any:
            if name == "body":
                raise ZeroDivisionError
            return super().__getattribute__(name)

    session = live.session()
    with pytest.raises(guard.Denied):
        session.call("read", {}, lambda: Answer("x"))
    assert session.report(session.event("look")).step == 2  # type: ignore[union-attr]
