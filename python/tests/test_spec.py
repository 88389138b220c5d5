from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import guard_lang as guard

SPEC = 'event { tool: string }\n/// Nothing is mailed.\n@severity(high)\nproperty no_mail = never (tool == "mail")\n'


def test_a_spec_tells_its_properties() -> None:
    (told,) = guard.Spec.from_source(SPEC).properties
    assert (told.name, told.severity, told.doc, told.line) == ("no_mail", "high", "Nothing is mailed.", 4)
    assert told.formula == 'never (tool == "mail")'


def test_a_wrong_spec_raises_its_diagnostics_drawn_and_as_objects() -> None:
    with pytest.raises(guard.SpecError) as raised:
        guard.Spec.from_source('event { tool: string }\nproperty a = never (tol == "x")\nproperty b = 1\n', "my.guard")
    error = raised.value
    assert [(one.file, one.line, one.severity) for one in error.diagnostics] == [
        ("my.guard", 2, "error"),
        ("my.guard", 3, "error"),
    ]
    assert error.diagnostics[0].column == 21
    assert "unknown name `tol`" in str(error)
    assert "my.guard:2:21" in error.rendered
    again = pickle.loads(pickle.dumps(error))
    assert (again.diagnostics, str(again)) == (error.diagnostics, str(error))


def test_what_cannot_be_read_is_a_load_error(tmp_path: Path) -> None:
    for path, reason in [(tmp_path / "no.guard", "cannot read"), (tmp_path, "it is a folder")]:
        with pytest.raises(guard.LoadError, match=reason):
            guard.Spec.from_file(path)
    assert issubclass(guard.LoadError, guard.GuardError)


def test_imports_come_from_the_folder_of_the_spec(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "mail.guard").write_text('predicate mails = tool == "mail"\n')
    (tmp_path / "my.guard").write_text("use lib.mail\nevent { tool: string }\nproperty no = never mail.mails\n")
    spec = guard.Spec.from_file(tmp_path / "my.guard")
    assert [one.name for one in spec.properties] == ["no"]


def test_warnings_are_diagnostics() -> None:
    spec = guard.Spec.from_source("event { tool: string }\nproperty a = G (tool == tool)\n")
    assert all(one.severity != "error" for one in spec.warnings)
