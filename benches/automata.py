#!/usr/bin/env python3
"""The list of `benches/automata.rs` through MONA (by ltlf2dfa) and Spin.

Needs `mona` and `spin` on the PATH and the PyPI package `ltlf2dfa`. Formulas with bounds or past are left out, and for Spin
those with `X`; how many were done is printed. Times are wall clock, the process of each tool included.
"""
import json
import pathlib
import re
import subprocess
import sys
import time

SUITE = pathlib.Path(__file__).resolve().parent.parent / "tests/suites/ltl/automata.jsonl"
TOKEN = re.compile(r"\s*(<->|->|[a-z][a-z0-9_]*|[A-Z]|[!&|()])")


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
        return (token,)


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


def main():
    from ltlf2dfa.parser.ltlf import LTLfParser

    cases = [json.loads(line) for line in SUITE.open()]
    cases = [case for case in cases if case["family"] in ("dwyer", "template")]
    done = {"mona": [], "spin": []}
    for case in cases:
        found = tokens(case["formula"])
        if found is None or any(token in "YZOHSB" for token in found if len(token) == 1):
            continue
        tree = Parser(found).iff()
        start = time.perf_counter()
        LTLfParser()(write(tree, MONA)).to_dfa()
        done["mona"].append((time.perf_counter() - start, case["name"]))
        if "X" not in found and "N" not in found:
            start = time.perf_counter()
            claim = write(tree, SPIN)
            made = subprocess.run(["spin", "-f", claim], capture_output=True, text=True, check=False)
            if made.returncode == 0:
                done["spin"].append((time.perf_counter() - start, case["name"]))
            else:
                print(f"spin refuses {claim}: {made.stdout.strip()[:80]}", file=sys.stderr)
    for tool, times in done.items():
        worst, name = max(times)
        total = sum(took for took, _ in times)
        print(f"{tool}: {len(times)} of {len(cases)} formulas: {total:.3f} s, worst {worst * 1e3:.1f} ms ({name})")


if __name__ == "__main__":
    main()
