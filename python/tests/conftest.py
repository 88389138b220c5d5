"""What the tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

#: The repository; the corpora lie beside it.
ROOT = Path(__file__).resolve().parents[2]

#: A call of `pay` needs an approval in the step before; at most two refunds; a transfer asks a person.
LIVE = """
event { kind: string  tool: string?  args: json?  text: string?  error: bool? }
property approved = G (kind == "call" and tool == "pay" -> Y kind == "approval")
property few = G (count(kind == "call" and tool == "refund") <= 2)
property no_transfer = never (kind == "call" and tool == "transfer")
property no_secret = never (kind == "result" and text contains "SECRET")
enforce approved { violated => block "{tool} needs an approval in the step before" }
enforce few { violated => block "two refunds are enough" }
enforce no_transfer { violated => ask "transfer {args.amount}?" }
enforce no_secret { violated => block "the result holds a secret" }
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def guard_() -> Run:
    """Run the `guard` command of the package."""

    def run(*args: object, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "guard_lang", *map(str, args)]
        return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, **options)  # type: ignore[call-overload, no-any-return]

    return run


@pytest.fixture
def shared() -> Path:
    """The folder of the corpora."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        assert not os.environ.get("GUARD_REQUIRE_SHARED"), "the shared suites are not there"
        pytest.skip("the shared suites are not there")
    return folder
