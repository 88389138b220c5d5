#!/usr/bin/env python3
"""The list of `benches/automata.rs` by this library, through MONA (by ltlf2dfa) and through Spin, one after the other.

Needs `mona` and `spin` on the PATH and the PyPI package `ltlf2dfa`. Formulas with past are left out for both, and for Spin those
with `X`; bounds are written out as nested `X`. A formula has `--limit` seconds (10); how many were done, and which were not done
in time, is printed, and what this library takes for those that were. Times are wall clock, the process of each tool included,
that of Python not.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time

SUITE = pathlib.Path(__file__).resolve().parent.parent / "tests/suites/ltl/automata.jsonl"
TOKEN = re.compile(r"\s*(<->|->|[a-z][a-z0-9_]*|[FG]\[\d+,\d+\]|[A-Z]|[!&|()])")


def tokens(text):
    at, found = 0, []
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if not match:
            return None
        found.append(match.group(1))
        at = match.end()
    return found


class Parser:
    """The suite's precedence, to a tree of tuples."""

    def __init__(self, found):
        self.found, self.at = found, 0

    def peek(self):
        return self.found[self.at] if self.at < len(self.found) else ""

    def eat(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def level(self, operators, below):
        left = below()
        while self.peek() in operators:
            operator = self.peek()
            self.at += 1
            left = (operator, left, below())
        return left

    def iff(self):
        return self.level(["<->"], self.implies)

    def implies(self):
        left = self.level(["|"], lambda: self.level(["&"], self.binary))
        return ("->", left, self.implies()) if self.eat("->") else left

    def binary(self):
        left = self.unary()
        if self.peek() in "UWRM" and self.peek():
            operator = self.peek()
            self.at += 1
            return (operator, left, self.binary())
        return left

    def unary(self):
        token = self.peek()
        self.at += 1
        if token == "(":
            inner = self.iff()
            self.eat(")")
            return inner
        if token in ("!", "X", "N", "F", "G"):
            return (token, self.unary())
        if "[" in token:
            return bounded(token, self.unary())
        return (token,)


def bounded(token, operand):
    """`F[a,b]` and `G[a,b]` as nested strong and weak next."""
    low, high = (int(number) for number in token[2:-1].split(","))
    step, join = ("X", "|") if token[0] == "F" else ("N", "&")
    tree = operand
    for _ in range(high - low):
        tree = (join, operand, (step, tree))
    for _ in range(low):
        tree = (step, tree)
    return tree


def write(tree, names):
    """The tree with the operators of a tool; W, R and M by U and G where it lacks them."""
    head, *parts = tree
    parts = [write(part, names) for part in parts]
    if not parts:
        return head
    if head in names:
        return f"({names[head].format(*parts)})"
    return f"({head} {parts[0]})" if len(parts) == 1 else f"({parts[0]} {head} {parts[1]})"


MONA = {
    "N": "WX {0}",
    "W": "({0} U {1}) | (G {0})",
    "R": "!((!{0}) U (!{1}))",
    "M": "{1} U ({0} & {1})",
}
SPIN = {
    "G": "[] {0}",
    "F": "<> {0}",
    "&": "{0} && {1}",
    "|": "{0} || {1}",
    "W": "({0} U {1}) || ([] {0})",
    "R": "{0} V {1}",
    "M": "{1} U ({0} && {1})",
}


def to_dfa(formula):
    """In a process of its own: the time that `ltlf2dfa` takes, with MONA."""
    from ltlf2dfa.parser.ltlf import LTLfParser

    # MONA stays in the group of this process, so that it is ended with it.
    os.setsid = lambda: None
    sys.setrecursionlimit(100_000)
    claim = write(Parser(tokens(formula)).iff(), MONA)
    parser = LTLfParser()
    start = time.perf_counter()
    made = parser(claim).to_dfa()
    took = time.perf_counter() - start
    # Without MONA the package says nothing and draws an automaton without states.
    if "circle" not in made:
        sys.exit("no automaton: is `mona` on the PATH?")
    print(took)


def run(command, limit):
    """The output of a command, or `None` if it takes too long: it and its children are killed after the limit."""
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        out, error = child.communicate(timeout=limit)
        if child.returncode != 0:
            sys.exit(f"{command[0]} fails: {(error or out).strip()[-300:]}")
        return out
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        return None


def tell(who, times, of_family, more=""):
    """A line with the number of formulas, the total and the worst."""
    worst, name = max(times, default=(0.0, "none"))
    total = sum(took for took, _ in times)
    print(
        f"{who}: {len(times)} of {len(of_family)} formulas: {total * 1e3:.3f} ms, worst {worst * 1e3:.3f} ms ({name}){more}",
        flush=True,
    )


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--limit", type=float, default=10.0, help="seconds for one formula")
    arguments.add_argument(
        "--ours",
        default="cargo bench -p guard-benches --bench automata -- --each",
        help="prints a line per formula: its name and the seconds to a DFA and to a Büchi automaton",
    )
    arguments.add_argument("--one", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.one is not None:
        to_dfa(given.one)
        return
    printed = subprocess.run(shlex.split(given.ours), stdout=subprocess.PIPE, text=True, check=True).stdout
    ours = {line["name"]: line for line in map(json.loads, printed.splitlines())}
    cases = [json.loads(line) for line in SUITE.open()]
    for family in ("dwyer", "template"):
        of_family = [case for case in cases if case["family"] == family]
        done = {"mona": [], "spin": []}
        late = {"mona": [], "spin": []}
        for case in of_family:
            found = tokens(case["formula"])
            if found is None or any(token in "YZOHSB" for token in found if len(token) == 1):
                continue
            out = run([sys.executable, __file__, "--one", case["formula"]], given.limit + 2)
            if out is None:
                late["mona"].append(case["name"])
            else:
                done["mona"].append((float(out.split()[-1]), case["name"]))
            tree = Parser(found).iff()
            if any(token in found for token in "XN") or "[" in case["formula"]:
                continue
            start = time.perf_counter()
            out = run(["spin", "-f", write(tree, SPIN)], given.limit)
            if out is None:
                late["spin"].append(case["name"])
            else:
                done["spin"].append((time.perf_counter() - start, case["name"]))
        for kind, column in (("DFA", "dfa"), ("Büchi", "buchi")):
            tell(f"{family}: this library, {kind}", [(ours[case["name"]][column], case["name"]) for case in of_family], of_family)
        for tool, times in done.items():
            column = {"mona": "dfa", "spin": "buchi"}[tool]
            same = sum(ours[name][column] for _, name in times)
            more = f"; this library for these: {same * 1e3:.3f} ms"
            if late[tool]:
                more += f"; {len(late[tool])} not within {given.limit:g} s: {', '.join(late[tool])}"
            tell(f"{family}: {tool}", times, of_family, more)


if __name__ == "__main__":
    main()
