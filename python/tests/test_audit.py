from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import guard_lang as guard

from .conftest import ROOT, Run

SPEC = 'event { tool: string }\nproperty no_mail = never (tool == "mail")\n'


def run_of(name: str, *tools: str) -> dict[str, Any]:
    return {"id": name, "events": [{"tool": tool} for tool in tools]}


@pytest.fixture
def spec() -> guard.Spec:
    return guard.Spec.from_source(SPEC)


def test_dicts_are_judged_as_lines_of_a_file(spec: guard.Spec, tmp_path: Path, guard_: Run) -> None:
    runs = [run_of("a", "read"), run_of("b", "read", "mail"), {"trace": "c", "tool": "mail"}, {"id": "d"}]
    report = spec.audit(runs)
    assert [(trace.name, trace.violates) for trace in report] == [
        ("a", False),
        ("b", True),
        ("c", True),
        ("<data>:4", False),
    ]
    assert [(one.trace, one.property, one.at, one.counterexample) for one in report.violations] == [
        ("b", "no_mail", 1, (1,)),
        ("c", "no_mail", 0, (0,)),
    ]
    (tmp_path / "no.guard").write_text(SPEC)
    (tmp_path / "<data>").write_text("".join(json.dumps(run, separators=(",", ":")) + "\n" for run in runs))
    told = guard_("audit", "no.guard", "<data>", "--format", "json", cwd=tmp_path)
    assert told.stdout == report.json()
    assert told.returncode == report.exit_code == 1


def test_a_report_is_a_sequence_of_traces(spec: guard.Spec) -> None:
    report = spec.audit(run_of(str(number), "read") for number in range(10))
    assert (len(report), report.violating, report.events, report.errors, report.ok) == (10, 0, 10, 0, True)
    assert [trace.name for trace in report[2:4]] == ["2", "3"]
    assert report[-1].name == "9"
    with pytest.raises(IndexError):
        report[10]
    assert report.summary["traces"] == 10
    assert "<iframe" in report._repr_html_()
    assert "guard audit" in report.html()
    assert "no_mail" in report.text()
    assert json.loads(report.sarif())["version"] == "2.1.0"
    assert "<testsuites" in report.junit()


def test_faults_are_problems_and_never_success(spec: guard.Spec, tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text('{"id":"a","events":[{"tool":1}]}\n{broken\n')
    report = spec.audit([tmp_path / "runs.jsonl", tmp_path / "absent.jsonl"])
    assert {(one.kind, one.line) for one in report.problems} == {("wrong_type", 1), ("malformed", 2), ("unreadable", 0)}
    assert (report.ok, report.exit_code, report.errors) == (False, 3, 3)
    empty: list[str] = []
    assert spec.audit(empty).exit_code == 3


def test_patterns_are_expanded(spec: guard.Spec, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(run_of(name, "read")))
    assert [trace.name for trace in spec.audit(str(tmp_path / "*.jsonl"))] == ["a", "b"]
    assert [trace.name for trace in spec.audit(tmp_path, include=["a.*"])] == ["a"]
    with pytest.raises(guard.InputError, match="invalid file name pattern"):
        spec.audit(tmp_path, include=["[a"])
    with pytest.raises(ValueError, match="unknown format"):
        spec.audit(tmp_path, format="nothing")


def test_what_is_no_trace_is_a_type_error(spec: guard.Spec) -> None:
    for wrong in (7, b"x", [7], ["a.jsonl", {}], [{}, "a.jsonl"]):
        with pytest.raises(TypeError):
            spec.audit(wrong)  # type: ignore[arg-type]


def test_objects_keep_what_json_can_say() -> None:
    spec = guard.Spec.from_source("event { v: json }\nproperty never_one = never (v == 1)\n")

    class Colour(enum.Enum):
        RED = "red"

    @dataclasses.dataclass
    class Point:
        x: int

    aware = datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc)
    good: list[Any] = [1, 2**70, -1, 1.5, 1e300, True, None, 'é\u2028"', [1, (2,)], {"a": {}}, Colour.RED, Point(1), aware]
    good += [decimal.Decimal("0.10"), Path("/x"), float("nan")]
    report = spec.audit([{"id": str(number), "events": [{"v": value}]} for number, value in enumerate(good)])
    assert [trace.name for trace in report if trace.violates] == ["0"]
    # Not a number: the field is unknown, and that is reported.
    assert [(one.trace, one.kind) for one in report.problems] == [(str(len(good) - 1), "number")]
    for bad in (b"x", {1}, {1: 2}, object(), datetime.datetime(2026, 1, 2), "\ud800"):
        with pytest.raises((TypeError, ValueError)):
            spec.audit([{"v": bad}])
    with pytest.raises(TypeError, match=r"at `.v.a\[1\]`: bytes has no JSON form"):
        spec.audit([{"v": {"a": [0, b"x"]}}])
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(TypeError, match="nested deeper"):
        spec.audit([{"v": endless}])


def test_numbers_keep_their_digits() -> None:
    spec = guard.Spec.from_source(f"event {{ v: int }}\nproperty small = always (v < {2**80})\n")
    values = [2**80 - 1, 2**80]
    report = spec.audit([{"id": str(value), "events": [{"v": value}]} for value in values])
    assert [trace.violates for trace in report] == [False, True]


def test_an_error_of_the_iterator_is_raised(spec: guard.Spec) -> None:
    def failing() -> Iterator[dict[str, Any]]:
        yield run_of("a", "read")
        raise KeyError("x")

    with pytest.raises(KeyError):
        spec.audit(failing())


def test_large_streams_take_bounded_chunks(spec: guard.Spec) -> None:
    text = "x" * 10_000
    runs = ({"id": str(number), "events": [{"tool": "read", "text": text}]} for number in range(1000))
    assert len(spec.audit(runs)) == 1000


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Interrupts as a program in the foreground hears them: a shell's background jobs ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_ends_an_audit(spec: guard.Spec) -> None:
    def lasting() -> Iterator[dict[str, Any]]:
        begun = time.monotonic()
        while time.monotonic() - begun < 30:
            yield run_of("a", "read")

    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        spec.audit(lasting())
    timer.join()


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_is_heard_while_files_are_read(spec: guard.Spec, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        spec.audit(pipe)
    timer.join()
    # The reader still waits for the pipe: it ends with its writer.
    pipe.write_text("")


def test_other_threads_run_meanwhile(spec: guard.Spec) -> None:
    reports: list[guard.Report] = []

    def audit() -> None:
        reports.append(spec.audit(run_of(str(number), "mail") for number in range(2000)))

    threads = [threading.Thread(target=audit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({report.json() for report in reports}) == 1
    assert len(reports) == 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_spec_works_after_a_fork_in_the_middle_of_an_audit(spec: guard.Spec) -> None:
    stop = threading.Event()

    def keep_busy() -> None:
        while not stop.is_set():
            spec.audit(run_of(str(number), "mail") for number in range(50))

    threads = [threading.Thread(target=keep_busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                report = spec.audit([run_of("a", "mail")])
                os._exit(0 if report.violating == 1 else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


CORPORA = sorted(path.stem for path in ROOT.glob("examples/corpora/*.guard"))


@pytest.mark.parametrize("name", CORPORA)
def test_the_corpora_have_the_results_of_the_command(name: str, shared: Path, guard_: Run) -> None:
    spec, data = ROOT / "examples" / "corpora" / f"{name}.guard", shared / "data" / name.replace("_", "-")
    told = guard_("audit", spec, data, "--exclude", "answers.json", "--format", "json")
    report = guard.Spec.from_file(spec).audit(data, exclude=["answers.json"])
    assert len(report) > 0
    assert report.json() == told.stdout
    assert report.exit_code == told.returncode


def test_the_example_has_the_results_of_the_command(guard_: Run) -> None:
    folder = ROOT / "examples" / "mail_assistant"
    spec, data = folder / "mail_assistant.guard", folder / "traces.jsonl"
    report = guard.Spec.from_file(spec).audit(data)
    for form, text in {"json": report.json(), "human": report.text(), "junit": report.junit()}.items():
        assert guard_("audit", spec, data, "--format", form).stdout == text
    assert report.violating == 3
