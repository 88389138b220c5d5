from __future__ import annotations

import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

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


def test_a_model_is_asked_over_https(guard_: Run, tmp_path: Path) -> None:
    """A server is trusted by the authorities that `SSL_CERT_FILE` names, and by no others."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not there")
    for name in ["own", "other"]:
        made = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout {name}.key -out {name}.pem -subj /CN={name}"
        made += " -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE"
        subprocess.run(made.split(), cwd=tmp_path, capture_output=True, check=True)
    sentence = '"refund" may happen only after "sign-off".'
    answer = json.dumps({"kind": "requirement", "sentences": [sentence]})
    body = json.dumps({"choices": [{"message": {"role": "assistant", "content": answer}}]}).encode()

    class Model(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = HTTPServer(("127.0.0.1", 0), Model)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "own.pem", tmp_path / "own.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (tmp_path / "rules.md").write_text("A sign-off has to be there prior to a refund.\n")
    address = f"https://localhost:{server.server_address[1]}"
    ask = ["draft", "rules.md", "--format", "json", "--samples", "1", "--model", address, "--model-name", "m"]
    for authority, trusted in [("other.pem", False), ("own.pem", True)]:
        environment = {**os.environ, "SSL_CERT_FILE": str(tmp_path / authority)}
        told = guard_(*ask, cwd=tmp_path, env=environment)
        line = json.loads(told.stdout.splitlines()[0])
        assert line["by_model"] is trusted, told
        assert trusted or "is not trusted" in line["notes"][0], told
    server.shutdown()
    server.server_close()
