#!/usr/bin/env python3
"""How long `guard check` takes on a spec of about 500 lines, the process included: wall clock, and processor time, which is
less noisy where other work goes on.

`benches/check.py target/release/guard [--lines 500] [--runs 20]`; prints the least and the median of the runs, and the same for
`guard fmt --check`, which only parses. `--print` writes the spec instead.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HEAD = """//! Generated: what a team of agents may do, tool by tool.
event {
  kind: string
  tool: string?
  call: string?
  args: json?
  at: time? from "/t"
}

predicate called(name: string) = kind == "call" and tool == name
predicate done = kind == "result"
predicate approves(c: json) = kind == "approval" and call == c
"""

# A tool, with what is said of it.
BLOCK = """
/// Tool {n} of the team.
predicate uses_{n} = called("tool_{n}")
predicate asks_{n} = kind == "ask" and args.tool == "tool_{n}"
predicate wide_{n} = uses_{n} and (args.limit ?? 0) as int > {limit}
predicate risky_{n}(c: json) = uses_{n} and call == c

@severity({severity})
property approved_{n} = forall c: G (risky_{n}(c) -> O approves(c))
property asked_{n} = G (uses_{n} -> O[0,{bound}] asks_{n})
property answered_{n} = G (asks_{n} -> F[1,{bound}] (uses_{n} or done))
rule soon_{n}: when wide_{n} then done within {bound} steps
unsafe flood_{n} = wide_{n} and count[0,{bound}](uses_{n}) > {limit}
  message "tool_{n} is used too often"

test "tool_{n} needs an approval" {{
  given [
    {{kind: "call", tool: "tool_{n}", call: "c1"}},
  ]
  expect approved_{n} violated at 0
}}
"""


def spec(lines):
    """A spec of at least so many lines."""
    text, n = HEAD, 0
    while text.count("\n") < lines:
        severity = ("low", "medium", "high", "critical")[n % 4]
        text += BLOCK.format(n=n, limit=3 + n % 5, bound=4 + n % 9, severity=severity)
        n += 1
    return text


def measure(command, runs):
    """Seconds and processor seconds of each run, and the exit code of the last."""
    took, busy, code = [], [], 0
    for _ in range(runs):
        start, before = time.perf_counter(), os.times()
        code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
        after = os.times()
        took.append(time.perf_counter() - start)
        user, system = after.children_user - before.children_user, after.children_system - before.children_system
        busy.append(user + system)
    return took, busy, code


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("guard", nargs="?", default="target/release/guard")
    arguments.add_argument("--lines", type=int, default=500)
    arguments.add_argument("--runs", type=int, default=20)
    arguments.add_argument("--print", action="store_true")
    given = arguments.parse_args()
    text = spec(given.lines)
    if given.print:
        sys.stdout.write(text)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "generated.guard"
        path.write_text(text)
        for verb in (["check"], ["fmt", "--check"]):
            took, busy, code = measure([given.guard, *verb, str(path)], given.runs)
            line = f"guard {' '.join(verb)}: {text.count(chr(10))} lines, exit {code}:"
            wall = f"least {min(took) * 1e3:.1f} ms, median {statistics.median(took) * 1e3:.1f} ms"
            print(line, f"{wall}; processor {statistics.mean(busy) * 1e3:.1f} ms on average")


if __name__ == "__main__":
    main()
