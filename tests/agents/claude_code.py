"""Claude Code itself, with `guard hook` as its hooks and a scripted stand-in for the model.

    claude_code.py CLAUDE GUARD SPEC SETTINGS FOLDER < script

CLAUDE is the program of the package `@anthropic-ai/claude-code`, or `agent_sdk.mjs` beside this file; SETTINGS the text of `.claude/settings.json`, FOLDER an empty
folder. The script is a list of turns: `{"tool": …, "input": …}` or `{"text": …}`. Prints, one JSON object a line, what the model
was told about each of its calls, what every hook was given (with `"given"`) and what Claude Code says in the end.

Nothing leaves the machine: the model is a server on the loopback interface, and where the kernel lets us, Claude Code runs in a
network namespace in which there is nothing else.
"""

import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading

CLAUDE, GUARD, SPEC = map(os.path.abspath, sys.argv[1:4])
SETTINGS, FOLDER = sys.argv[4], os.path.abspath(sys.argv[5])
SCRIPT = json.load(sys.stdin)


def say(**what):
    print(json.dumps(what, sort_keys=True), flush=True)


class Model(http.server.BaseHTTPRequestHandler):
    """The next turn of the script, as a stream of events of the Messages API."""

    turn = 0
    told = set()

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.send_response(200)
        self.end_headers()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "count_tokens" in self.path:
            return self.answer("application/json", json.dumps({"input_tokens": 1}))
        if not body.get("tools"):
            # A title or the like is asked for beside the conversation.
            return self.stream([{"type": "text", "text": "a title"}], "end_turn", body)
        for message in body["messages"]:
            content = message["content"]
            for block in content if isinstance(content, list) else []:
                if block["type"] == "tool_result" and block["tool_use_id"] not in Model.told:
                    Model.told.add(block["tool_use_id"])
                    text = block.get("content", "")
                    if isinstance(text, list):
                        text = "".join(part.get("text", "") for part in text)
                    say(call=block["tool_use_id"], told=text, error=bool(block.get("is_error")))
        last = body["messages"][-1]["content"]
        if isinstance(last, list) and "not done yet" in json.dumps(last):
            say(pressed=True)
        turn = SCRIPT[min(Model.turn, len(SCRIPT) - 1)]
        Model.turn += 1
        if "tool" in turn:
            block = {"type": "tool_use", "id": f"toolu_{Model.turn:02}", "name": turn["tool"], "input": turn["input"]}
            return self.stream([block], "tool_use", body)
        return self.stream([{"type": "text", "text": turn["text"]}], "end_turn", body)

    def stream(self, blocks, reason, body):
        message = {
            "id": f"msg_{Model.turn:02}", "type": "message", "role": "assistant", "model": body.get("model", "m"), "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        if not body.get("stream"):
            message.update(content=blocks, stop_reason=reason)
            return self.answer("application/json", json.dumps(message))
        events = [{"type": "message_start", "message": message}]
        for index, block in enumerate(blocks):
            if block["type"] == "text":
                begun, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                begun = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events += [
                {"type": "content_block_start", "index": index, "content_block": begun},
                {"type": "content_block_delta", "index": index, "delta": delta},
                {"type": "content_block_stop", "index": index},
            ]
        events += [
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]
        lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self.answer("text/event-stream", "".join(lines))

    def answer(self, kind, body):
        body = body.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def alone():
    """Begins again where there is no network but the loopback interface, if that can be had."""
    if os.environ.get("GUARD_ALONE"):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    can = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
    if can.returncode == 0:
        os.environ["GUARD_ALONE"] = "yes"
        again = subprocess.run(
            ["unshare", "--net", sys.executable, *sys.argv], input=json.dumps(SCRIPT), text=True, check=False
        )
        sys.exit(again.returncode)


def main():
    alone()
    folder = pathlib.Path(FOLDER)
    home, work, binaries = folder / "home", folder / "work", folder / "bin"
    for path in (home, work / ".claude", binaries):
        path.mkdir(parents=True)
    given = folder / "given"
    # What hooks are given is kept beside what they answer; the exit code stays that of `guard`.
    script = f"#!/bin/sh\ninput=$(cat)\nprintf '%s\\n' \"$input\" >> {given}\nprintf '%s' \"$input\" | {GUARD} \"$@\"\n"
    (binaries / "guard").write_text(script)
    (binaries / "guard").chmod(0o755)
    (work / "agent.guard").write_text(pathlib.Path(SPEC).read_text())
    (work / ".claude/settings.json").write_text(SETTINGS)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {
        "HOME": str(home),
        "PATH": f"{binaries}:/usr/bin:/bin:{os.path.dirname(shutil.which('node') or '/usr/bin/node')}",
        "GUARD_NODE_MODULES": os.environ.get("GUARD_NODE_MODULES", ""),
        "IS_SANDBOX": "1",
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}",
        "ANTHROPIC_API_KEY": "stand-in",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    done = subprocess.run(
        [CLAUDE, "-p", "deploy, please", "--output-format", "json", "--permission-mode", "bypassPermissions"],
        cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
    )
    for line in given.read_text().splitlines() if given.exists() else []:
        say(given=json.loads(line))
    try:
        said = json.loads(done.stdout)
        say(result=said["result"], error=said["is_error"])
    except (ValueError, KeyError):
        sys.exit(f"Claude Code ended with {done.returncode}\n{done.stdout}\n{done.stderr}")


main()
