#!/usr/bin/env python3
"""How long short commands take as whole processes, of two programs by turns, so that other work on the machine slows both.

    benches/start.py OLD NEW [--runs 200]

`guard --version`, `guard hook` with the 23 templates of `benches/monitor.rs` and a model (compiled, one session), and `guard check` of a
spec of about 500 lines. Each is started by `posix_spawn` and given its input by a pipe. In milliseconds: the least and the median from the
start to the end, and the first quartile of the processor time, which is less noisy; then the page faults of a run.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import check
import ways


def run(command, given):
    """Starts a command, gives it its input, and waits: seconds, processor seconds and page faults."""
    (its_input, to), (out, its_output) = os.pipe(), os.pipe()
    start = time.perf_counter()
    actions = [(os.POSIX_SPAWN_DUP2, its_input, 0), (os.POSIX_SPAWN_DUP2, its_output, 1)]
    actions.append((os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0))
    process = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    os.close(its_input)
    os.close(its_output)
    os.write(to, given)
    os.close(to)
    while os.read(out, 1 << 16):
        pass
    _, _, used = os.wait4(process, 0)
    took = time.perf_counter() - start
    os.close(out)
    return took, used.ru_utime + used.ru_stime, used.ru_minflt


def prepare(guard, folder):
    """Writes what the commands of one program read; returns them by name, each with what gives its input."""
    made = pathlib.Path(tempfile.mkdtemp(dir=folder))
    for name, text in (("hook.guard", ways.spec()), ("check.guard", check.spec(500))):
        (made / name).write_text(text)
    events = [{"kind": "call", "tool": tool, "args": {"q": "x"}} for tool in ("search", "read", "pay", "mail")]
    (made / "runs.jsonl").write_text(json.dumps({"id": "r", "complete": True, "events": events}) + "\n")
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": made}
    subprocess.run([guard, "learn", "hook.guard", "runs.jsonl", "-o", "m.json"], **quiet)
    subprocess.run([guard, "compile", "hook.guard", "--model", "m.json", "-o", "hook.guardc"], **quiet)
    nothing = lambda k: b""
    return {
        "--version": ([guard, "--version"], nothing),
        "hook": ([guard, "hook", f"{made}/hook.guardc", "--state", f"{made}/state"], ways.hook),
        "check": ([guard, "check", f"{made}/check.guard"], nothing),
    }


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("guards", nargs="+", metavar="GUARD")
    arguments.add_argument("--runs", type=int, default=200)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        guards = {guard: prepare(os.path.abspath(guard), folder) for guard in given.guards}
        for name in ("--version", "hook", "check"):
            taken = {guard: [] for guard in guards}
            for k in range(given.runs):
                for guard, commands in guards.items():
                    command, text = commands[name]
                    taken[guard].append(run(command, text(k)))
            for guard, runs in taken.items():
                took, busy, faults = zip(*runs)
                wall = f"least {min(took) * 1e3:.2f}, median {statistics.median(took) * 1e3:.2f}"
                quartile = statistics.quantiles(busy, n=4)[0] * 1e3
                print(f"{name}: {wall}; processor {quartile:.2f}; {statistics.median(faults):.0f} faults; {guard}", flush=True)


if __name__ == "__main__":
    main()
