#!/usr/bin/env python3
"""How long an edit takes in the language server, of a spec of about 3,000 lines: from the changed text to its diagnostics, and the
processor time of the server, which is less noisy where other work goes on.

`benches/edit.py target/dist/guard [OTHER] [--lines 3000] [--runs 15]`; each edit changes one predicate. Two programs take turns,
edit by edit, and the ratio of their processor times is printed too.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

URI = "file:///generated/spec.guard"

HEAD = """event {
  kind: string
  tool: string?
  args: json?
  id: string?
  at: time?
}
"""

FORMS = (
    "never p{n}",
    'always (p{n} -> once kind == "approval")',
    "never (p{n} and eventually p{before})",
    'always (p{n} -> eventually[0,6] (kind == "result" or last))',
    'forall c: always (p{n} and id == c -> previously (kind == "approval" and id == c))',
)

BLOCK = """
/// What tool {n} does.
predicate p{n} = kind == "call" and tool == "tool_{n}" and args.amount != {n}{more}
@severity(high)
property q{n} = {form}
"""


def spec(lines, changed, edit):
    """A spec of about so many lines; the edit of this number is in the predicate of another number."""
    text = HEAD
    for n in range(lines // 5):
        form = FORMS[n % len(FORMS)].format(n=n, before=max(0, n - 1))
        more = f" and args.x{edit} == 1" if n == changed else ""
        text += BLOCK.format(n=n, form=form, more=more)
    return text


class Server:
    """A language server with one open text."""

    def __init__(self, guard, text):
        self.process = subprocess.Popen([guard, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.send({"id": 1, "method": "initialize", "params": {"capabilities": {}}})
        self.until(lambda message: message.get("id") == 1)
        self.send({"method": "initialized", "params": {}})
        document = {"uri": URI, "languageId": "guard", "version": 1, "text": text}
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        self.findings(1)

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def until(self, wanted):
        while True:
            length = 0
            while (line := self.process.stdout.readline().strip()) != b"":
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if length == 0:
                sys.exit("the server has ended")
            message = json.loads(self.process.stdout.read(length))
            if wanted(message):
                return message["params"] if "params" in message else None

    def findings(self, version):
        published = "textDocument/publishDiagnostics"
        wanted = lambda message: message.get("method") == published and message["params"].get("version") == version
        return self.until(wanted)["diagnostics"]

    def change(self, version, text):
        """Sends a text; seconds and processor seconds until its findings are there, and their number."""
        start, before = time.perf_counter(), self.processor()
        document = {"uri": URI, "version": version}
        params = {"textDocument": document, "contentChanges": [{"text": text}]}
        self.send({"method": "textDocument/didChange", "params": params})
        found = len(self.findings(version))
        return time.perf_counter() - start, self.processor() - before, found

    def processor(self):
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("guard", nargs="+")
    arguments.add_argument("--lines", type=int, default=3000)
    arguments.add_argument("--runs", type=int, default=15)
    given = arguments.parse_args()
    servers = [Server(guard, spec(given.lines, None, 0)) for guard in given.guard]
    measured = [[] for _ in servers]
    for run in range(given.runs):
        text = spec(given.lines, run * 7 % (given.lines // 5), run)
        for server, times in zip(servers, measured):
            times.append(server.change(run + 2, text))
    medians = []
    for guard, times in zip(given.guard, measured):
        took, busy, found = zip(*times)
        medians.append(statistics.median(busy))
        wall = f"least {min(took) * 1e3:.1f} ms, median {statistics.median(took) * 1e3:.1f} ms"
        lines = text.count("\n")
        print(f"{guard}: {lines} lines, {found[-1]} findings: {wall}; processor {medians[-1] * 1e3:.1f} ms (median)")
    if len(medians) == 2:
        print(f"processor, first to second: {medians[0] / medians[1]:.2f}")
    for server in servers:
        server.send({"id": 2, "method": "shutdown", "params": None})
        server.send({"method": "exit", "params": None})
        server.process.wait()


main()
