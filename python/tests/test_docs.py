from __future__ import annotations

import doctest
import re

import guard_lang

from .conftest import ROOT


def test_the_guide_runs() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) >= 5
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "python.md", "exec"), names)


def test_the_docstring_runs() -> None:
    assert doctest.testmod(guard_lang) == (0, 4)
