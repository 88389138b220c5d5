from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from .conftest import Run


def test_the_package_has_the_command(guard_: Run) -> None:
    told = guard_("--version")
    assert told.stdout.startswith("guard ")
    assert told.returncode == 0
    script = shutil.which("guard", path=os.path.dirname(sys.executable))
    assert script is not None, "the package is not installed"
    assert subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout == told.stdout


def test_exit_codes_and_diagnostics(guard_: Run, tmp_path: Path) -> None:
    (tmp_path / "wrong.guard").write_text("event {")
    told = guard_("check", "wrong.guard", cwd=tmp_path)
    assert told.returncode == 2
    assert "G01" in told.stderr + told.stdout
    assert guard_("nothing").returncode == 2


def test_a_hook_is_judged_by_its_own_process(guard_: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.guard").write_text(
        'event { kind: string tool: string? }\nproperty no_bash = never (kind == "call" and tool == "Bash")\n'
        'enforce no_bash { violated => block "no shell" }\n'
    )
    call = '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}'
    told = guard_("hook", "agent.guard", "--state", tmp_path / "state", cwd=tmp_path, input=call)
    assert '"deny"' in told.stdout or told.returncode == 2, told


def test_an_interrupt_ends_the_command(tmp_path: Path) -> None:
    (tmp_path / "no.guard").write_text('event { tool: string }\nproperty no = never (tool == "x")\n')
    command = [sys.executable, "-m", "guard_lang", "monitor", str(tmp_path / "no.guard")]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as running:
        time.sleep(1)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=30) == -signal.SIGINT
