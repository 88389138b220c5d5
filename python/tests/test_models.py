from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import guard_lang as guard

from .conftest import Run

SPEC = """event { tool: string }
track leaked: bool = false then leaked or tool == "mail"
abstraction steps {
  over leaked
}
model run = learn steps { }
query risk = P=? [ F leaked ] on run
property rare = P<0.5 [ F leaked ] on run
"""


def runs(*mailed: bool) -> list[dict[str, Any]]:
    return [
        {"id": str(number), "complete": True, "events": [{"tool": "read"}, {"tool": "mail" if mail else "read"}]}
        for number, mail in enumerate(mailed)
    ]


@pytest.fixture
def spec() -> guard.Spec:
    return guard.Spec.from_source(SPEC)


def test_a_model_is_learned_asked_and_added(spec: guard.Spec) -> None:
    model = spec.learn(runs(True, False, False, False))
    assert (model.name, model.traces, model.problems) == ("run", 4, [])
    risk, rare = model.query()
    assert (risk.query, risk.category, risk.holds, risk.note) == ("risk", "", None, None)
    assert risk.value == pytest.approx(0.25)
    assert risk.lower is not None
    assert risk.upper is not None
    assert risk.lower <= 0.25 <= risk.upper
    assert (rare.query, rare.holds) == ("rare", True)
    total = model + spec.learn(runs(True, True, True, True))
    (asked,) = total.query("P=? [ F leaked ]")
    assert asked.query == "P=? [ F leaked ]"
    assert asked.value == pytest.approx(5 / 8)
    (undecided,) = total.query("P<0.5 [ F leaked ]")
    assert undecided.holds is False
    with pytest.raises(guard.SpecError, match="unknown"):
        model.query("P=? [ F no_such ]")


def test_a_model_file_is_that_of_the_command(spec: guard.Spec, tmp_path: Path, guard_: Run) -> None:
    (tmp_path / "m.guard").write_text(SPEC)
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(run) + "\n" for run in runs(True, False)))
    guard_("learn", "m.guard", "runs.jsonl", "-o", "command.json", cwd=tmp_path)
    spec = guard.Spec.from_file(tmp_path / "m.guard")
    model = spec.learn(tmp_path / "runs.jsonl")
    model.save(tmp_path / "own.json")
    assert (tmp_path / "own.json").read_text() == (tmp_path / "command.json").read_text()
    again = spec.model(tmp_path / "own.json")
    assert (again.text(), again.traces) == (model.text(), None)
    assert [answer.value for answer in again.query("P=? [ F leaked ]")] == [pytest.approx(0.5)]


def test_what_does_not_fit_is_a_model_error(spec: guard.Spec, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(guard.ModelError):
        spec.model(tmp_path / "no.json")
    with pytest.raises(guard.ModelError, match="exactly one"):
        guard.Spec.from_source("event { tool: string }\nproperty a = G true\n").learn(runs(True))
    other = guard.Spec.from_source(SPEC.replace('"mail"', '"send"'))
    with pytest.raises(guard.ModelError):
        guard.Model(other, spec.learn(runs(True))._model).query()
    with pytest.raises(guard.ModelError):
        _ = spec.learn(runs(True)) + other.learn(runs(True))


def test_faults_in_the_data_are_told(spec: guard.Spec) -> None:
    model = spec.learn([{"id": "a", "events": [{"tool": 1}]}, *runs(True)])
    # A note says that the rest of the trace is left out.
    assert [problem.kind for problem in model.problems] == ["wrong_type", "odd"]
    assert "the rest of the trace is left out" in model.problems[1].message


def test_a_live_monitor_asks_the_model() -> None:
    spec = guard.Spec.from_source(SPEC + 'enforce on risk { >= 0.9 => block "too risky" }\n')
    with pytest.raises(guard.MonitorError, match="learned from traces"):
        spec.monitor()
    model = spec.learn(runs(True, False))
    assert spec.monitor(model=model).act({"trace": "t", "tool": "read"}).allowed
    assert spec.monitor(model=model).act({"trace": "t", "tool": "mail"}).denied
    with pytest.raises(guard.ModelError):
        guard.Spec.from_source(SPEC).monitor(model=model)
