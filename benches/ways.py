"""What a decision takes through each way in: whole processes and sockets, as their clients see it.

    cargo build --release && python3 benches/ways.py target/release/guard

The spec has the 23 templates of `benches/monitor.rs` and looks up a risk; events are of about 300 bytes. Times are from the first
byte sent to the last byte received, in microseconds: of `guard monitor` over pipes, of `guard proxy` before a server that answers at
once (both the call and its result are judged), of `guard serve` over HTTP on a kept connection and over a Unix socket, and of
`guard hook` as whole processes, with the spec as text, compiled, and for a start of nothing (`guard --version`). With `cat` and
an empty server beside them, for what pipes and sockets cost alone. Of whole processes also the mean time of the processor, which
other work on the machine changes less.
"""

import json
import os
import pathlib
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
FILLER = (
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna "
    "aliqua, ut enim ad minim veniam, quis nostrud"
)


def spec():
    """The spec of `benches/monitor.rs`."""
    text = (HERE / "monitor.rs").read_text()
    text = re.search(r'const SPEC: &str = r#"(.*?)"#;', text, re.S)[1]
    return text + "".join(f'enforce p{n} {{ violated => block "no" }}\n' for n in range(1, 24))


def event(n):
    call = {"trace": f"t{n % 100}", "kind": "call", "tool": "search", "call": f"c{n}", "args": {"q": FILLER, "limit": 10}, "t": n / 4}
    return json.dumps(call)


def percentiles(name, times, processor=None):
    times.sort()
    at = lambda share: times[int((len(times) - 1) * share)] / 1000
    spent = "" if processor is None else f"{processor:.0f}"
    print(f"| {name} | {len(times)} | {at(0.5):.1f} | {at(0.99):.1f} | {at(0.999):.1f} | {spent} |", flush=True)


def timed(n, ask, warm=500):
    times = []
    for k in range(n):
        start = time.perf_counter_ns()
        ask(k)
        if k >= warm:
            times.append(time.perf_counter_ns() - start)
    return times


def pipes(name, command, line, n, **more):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, **more)
    out = os.fdopen(os.dup(process.stdout.fileno()), "rb", buffering=1 << 16)

    def ask(k):
        process.stdin.write(line(k).encode() + b"\n")
        answer = out.readline()
        assert answer, "nothing came back"

    percentiles(name, timed(n, ask))
    process.stdin.close()
    process.wait()


SERVER = """
import sys
for line in sys.stdin:
    number = line[line.index('"id":') + 5:].split(",")[0].strip()
    sys.stdout.write('{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"ok"}]}}\\n' % number)
    sys.stdout.flush()
"""


def request(k):
    call = {"name": "search", "arguments": {"q": FILLER, "limit": k}}
    return json.dumps({"jsonrpc": "2.0", "id": k, "method": "tools/call", "params": call})


def served(name, guard, args, connect, n):
    daemon = subprocess.Popen([guard, "serve", "--no-token", *args], stderr=subprocess.PIPE, text=True)
    said = ""
    while "listening at" not in said:
        said = daemon.stderr.readline()
    connection = connect(said.split("listening at ")[1].strip())

    def ask(k):
        body = event(k).encode()
        connection.sendall(b"POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        got = b""
        while b"\r\n\r\n" not in got:
            got += connection.recv(1 << 16)
        head, _, rest = got.partition(b"\r\n\r\n")
        assert b" 200 " in head.split(b"\r\n")[0], got
        missing = int(re.search(rb"Content-Length: (\d+)", head)[1]) - len(rest)
        while missing > 0:
            missing -= len(connection.recv(1 << 16))

    percentiles(name, timed(n, ask))
    daemon.kill()
    daemon.wait()


def tcp(place):
    host, port = place.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def unix(place):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(place)
    return connection


def hook(k):
    tool = {"tool_name": "search", "tool_input": {"q": FILLER, "limit": k}, "tool_use_id": f"c{k}"}
    return json.dumps({"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/", **tool}).encode()


def processes(name, command, n, given=hook):
    def ask(k):
        # not `/dev/null`, which a hook takes for an output that nobody hears
        subprocess.run(command, input=given(k), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)

    spent = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    before = spent()
    times = timed(n, ask, warm=20)
    percentiles(name, times, (spent() - before) / n * 1e6)


def main():
    guard = os.path.abspath(sys.argv[1])
    folder = pathlib.Path(tempfile.mkdtemp())
    os.chdir(folder)
    (folder / "bench.guard").write_text(spec())
    (folder / "server.py").write_text(SERVER)
    # A model of a few runs: what is looked up is a table, whatever it holds.
    tools = ["search", "read", "write", "pay", "mail", "http", "exec", "delete"]
    with open("runs.jsonl", "w", encoding="utf-8") as runs:
        for run in range(200):
            events = [{"kind": "call", "tool": tools[(run * 7 + k * k) % len(tools)], "args": {"q": "x"}} for k in range(12)]
            runs.write(json.dumps({"id": f"r{run}", "complete": True, "events": events}) + "\n")
    subprocess.run([guard, "learn", "bench.guard", "runs.jsonl", "-o", "m.json"], check=True, stdout=subprocess.DEVNULL)
    model = ["--model", "m.json"]
    subprocess.run([guard, "compile", "bench.guard", *model, "-o", "bench.guardc"], check=True)
    print(f"{len(event(0))} bytes an event, 23 properties and a risk; microseconds\n")
    print("| way in | decisions | median | 99 % | 99.9 % | processor |\n|---|---|---|---|---|---|", flush=True)
    n = 20_000
    pipes("`cat`: two pipes alone", ["cat"], event, n)
    pipes("`guard monitor`", [guard, "monitor", "bench.guard", *model, "--clock", "none"], event, n)
    kept = ["--journal", "j1", "--log", "l1"]
    pipes("`guard monitor`, journal and log", [guard, "monitor", "bench.guard", *model, "--clock", "none", *kept], event, n)
    server = [sys.executable, "server.py"]
    pipes("the MCP server alone", server, request, n)
    pipes("`guard proxy` before it: call and result", [guard, "proxy", "bench.guard", *model, "--", *server], request, n)
    served("`guard serve`, HTTP", guard, ["bench.guard", *model, "--listen", "127.0.0.1:0"], tcp, n)
    served("`guard serve`, Unix socket", guard, ["bench.guard", *model, "--socket", "s.sock"], unix, n)
    n = 1_000
    processes("a process that does nothing (`guard --version`)", [guard, "--version"], n)
    processes("`guard hook`, whole process", [guard, "hook", "bench.guard", *model, "--state", "st1"], n)
    processes("`guard hook`, compiled", [guard, "hook", "bench.guardc", "--state", "st2"], n)
    (folder / "small.guard").write_text('use std.agent\nenforce when tool == "rm" => block "no"\n')
    processes("`guard hook`, a spec of one clause", [guard, "hook", "small.guard", "--state", "st3"], n)


if __name__ == "__main__":
    main()
