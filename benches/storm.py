"""Checking time of guard against Storm's sparse engine, on the same chains, in the same run, one thread.

Run it after `cargo build --profile dist`:

    pip install stormpy
    GUARD=target/dist/guard python3 benches/storm.py ../shared/data/prism-models [--large] [--learned]
    GUARD=target/dist/guard python3 benches/storm.py --generated ../shared/bench/chains.py [--small | --huge] [FAMILY …]

The last lines have the geometric means of the ratios and the worst, in the second form also by family and question.

The second form makes chains of several families and asks each for reaching, rewards, steady states, bounded until and LTL.
Storm runs in a process of its own, once with its default settings and once with forced soundness at 1e-6, so that its
memory is measured like guard's and that it can be stopped (`LIMIT` seconds). "no proof" counts answers of guard that are
wider than 1e-6 relatively; "wrong" says that Storm's default answer lies outside of guard's proven bounds by more than 1e-3.

Each chain is built by guard from its PRISM model, or generated, and written as DRN; both tools read that file, so that
both check the same chain. Storm's time is that of `model_checking`; guard's is the `ms` that it reports for the property.
Each is the best of three. Storm's answer has no bounds; guard's has.
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

import stormpy

GUARD = os.environ.get("GUARD", os.path.join(os.path.dirname(__file__), "..", "target", "release", "guard"))

MODELS = [
    ("brp", "N=512,MAX=10", 's=5', 'P=? [ F "goal" ]'),
    ("brp", "N=2048,MAX=20", 's=5', 'P=? [ F "goal" ]'),
    ("crowds", "TotalRuns=5,CrowdSize=10", "observe0>1", 'P=? [ F "goal" ]'),
    ("crowds", "TotalRuns=5,CrowdSize=15", "observe0>1", 'P=? [ F "goal" ]'),
    ("egl", "N=5,L=4", 'phase=4', 'R{"messages_A_needs"}=? [ F "goal" ]'),
    ("nand", "N=20,K=2", "s=4 & z/N<0.1", 'P=? [ F "goal" ]'),
    ("nand", "N=40,K=2", "s=4 & z/N<0.1", 'P=? [ F "goal" ]'),
    ("herman.11", "", "__stable", 'R=? [ F "goal" ]'),
    ("leader_sync.5-4", "", "s1=3&s2=3&s3=3&s4=3&s5=3", 'R{"num_rounds"}=? [ F "goal" ]'),
    ("oscillators.6-6-0.1-1", "mu=0.1,lambda=1.0", "k_1=6 | k_2=6 | k_3=6 | k_4=6 | k_5=6 | k_6=6", 'R{"power_consumption"}=? [ F "goal" ]'),
]
LARGE = [
    ("crowds", "TotalRuns=6,CrowdSize=20", "observe0>1", 'P=? [ F "goal" ]'),
    ("nand", "N=60,K=4", "s=4 & z/N<0.1", 'P=? [ F "goal" ]'),
    ("egl", "N=6,L=8", "phase=4", 'R{"messages_A_needs"}=? [ F "goal" ]'),
    ("herman.15", "", "__stable", 'R=? [ F "goal" ]'),
]


def learned(path, states, degree, seed, loop):
    """A chain as one learns it: few successors, loops, a rare unsafe state and an end."""
    rng = random.Random(seed)
    with open(path, "w") as out:
        out.write("// learned-like\n@type: DTMC\n@value_type: double\n@parameters\n\n@reward_models\nsteps\n")
        out.write(f"@nr_states\n{states}\n@nr_choices\n{states}\n@model\n")
        for state in range(states):
            last = state >= states - 2
            label = " init" if state == 0 else " goal" if state == states - 1 else " end" if last else ""
            out.write(f"state {state} [{0 if last else 1}]{label}\n\taction 0 [0]\n")
            if last:
                out.write(f"\t\t{state} : 1\n")
                continue
            counts = {}
            if rng.random() < loop:
                counts[state] = rng.randint(1, 200)
            for _ in range(degree):
                target = min(states - 2, max(0, state + int(rng.gauss(3, states / 50 + 3))))
                counts[target] = counts.get(target, 0) + rng.randint(1, 50)
            counts[states - 2] = counts.get(states - 2, 0) + 1
            if rng.random() < 0.01:
                counts[states - 1] = 1
            total = sum(counts.values())
            for target in sorted(counts):
                out.write(f"\t\t{target} : {counts[target] / total!r}\n")


def guard_ms(path, prop):
    """Checking time, the answer, and the most memory that the process took, reading included."""
    best, value, most = math.inf, None, 0
    for _ in range(3):
        command = [GUARD, "query", "--chain", path, "--format", "json", prop]
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen(command, stdout=out)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                raise RuntimeError(f"guard ended with {process.returncode}: {command}")
            out.seek(0)
            found = json.loads(out.read())
        best, value, most = min(best, found["ms"]), found, max(most, usage.ru_maxrss * 1024)
    return best, value, most


def value_at(result, state):
    """The value of a state, by the name that this version of stormpy has for it."""
    return result.at(state) if hasattr(result, "at") else result.get_value(state)


def storm_ms(path, prop):
    model = stormpy.build_model_from_drn(path)
    formula = stormpy.parse_properties(prop)[0]
    best, value = math.inf, None
    for _ in range(3):
        begin = time.perf_counter()
        result = stormpy.model_checking(model, formula)
        best = min(best, (time.perf_counter() - begin) * 1e3)
        value = value_at(result, model.initial_states[0])
    return best, value, model


# Family: arguments of the generator by size, and the questions.
REACH, REWARD, STEADY = 'P=? [ F "a" ]', 'R=? [ F ("a" | "b") ]', 'S=? [ "c" ]'
SOON, LATER, LTL = 'P=? [ F<=300 "c" ]', 'P=? [ F<=10000 "c" ]', 'P=? [ (F "c") & (G F "a") ]'
FAMILIES = {
    "grid": [(["32"], ["100"], ["400"], ["1000"]), (REACH, REWARD, STEADY, SOON, LATER, LTL)],
    "symmetric": [(["1000", "0.5"], ["10000", "0.5"], ["100000", "0.5"], ["1000000", "0.5"]), (REACH, REWARD, STEADY, SOON, LATER, LTL)],
    "drift": [(["1000", "0.55"], ["10000", "0.55"], ["100000", "0.55"], ["1000000", "0.55"]), (REACH, REWARD, STEADY, SOON, LATER, LTL)],
    "ring": [(["10", "100", "1e-4"], ["10", "1000", "1e-4"], ["10", "10000", "1e-4"], ["10", "100000", "1e-4"]), (STEADY, SOON, LATER, LTL)],
    "retry": [(["100", "0.02"], ["1000", "0.02"], ["10000", "0.02"], ["100000", "0.02"]), (REACH, 'R=? [ F "a" ]', STEADY, SOON, LATER, LTL)],
    "cube": [(["10"], ["22"], ["46"], ["100"]), (REACH, 'R=? [ F "a" ]', STEADY, SOON, LATER, LTL)],
}
LIMIT = float(os.environ.get("LIMIT", "100"))


def child(path, prop, sound):
    """One question to Storm, in this process: time and answer as JSON."""
    model = stormpy.build_model_from_drn(path)
    formula = stormpy.parse_properties(prop)[0]
    # Without an environment, stormpy chooses the sound methods.
    environment = stormpy.environments.sound() if sound else stormpy.Environment()
    best, value, spent = math.inf, None, 0.0
    for _ in range(3):
        begin = time.perf_counter()
        result = stormpy.model_checking(model, formula, environment=environment)
        took = time.perf_counter() - begin
        best, spent = min(best, took * 1e3), spent + took
        value = value_at(result, model.initial_states[0])
        if spent > 5.0:
            break
    print(json.dumps({"ms": best, "value": float(value), "states": model.nr_states, "transitions": model.nr_transitions}))


def limited(command):
    """The JSON that a command prints last, and its memory in MB; `None` if it takes too long or fails."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        timer = threading.Timer(LIMIT, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        timer.cancel()
        out.seek(0)
        lines = [line for line in out.read().splitlines() if line.startswith("{")]
        found = json.loads(lines[-1]) if process.returncode == 0 and lines else None
        return found, usage.ru_maxrss / 1024


def generated(generator):
    sizes = slice(0, 2) if "--small" in sys.argv else slice(0, 4) if "--huge" in sys.argv else slice(0, 3)
    wanted = [family for family in FAMILIES if family in sys.argv] or list(FAMILIES)
    against = {"default": [], "sound": []}
    parts = {}
    unproven = slow = 0
    print(f"{'model':<24} {'states':>8} {'question':<27} {'guard ms':>10} {'default':>10} {'sound':>10} {'ratio':>7} {'MB':>6} {'Storm':>6}  value (guard, relative width)")
    with tempfile.TemporaryDirectory() as scratch:
        for family in wanted:
            arguments, questions = FAMILIES[family]
            for size in arguments[sizes]:
                source, path = os.path.join(scratch, "model.prism"), os.path.join(scratch, "model.drn")
                kind = "birth" if family in ("symmetric", "drift") else family
                with open(source, "w") as out:
                    subprocess.run([sys.executable, generator, kind, *size], check=True, stdout=out)
                subprocess.run([GUARD, "export", "--chain", source, "--to", "drn", "-o", path], check=True, capture_output=True)
                for prop in questions:
                    ask = [GUARD, "query", "--chain", path, "--format", "json", prop]
                    ours, memory = limited(ask)
                    again = [limited(ask)[0] for _ in range(2)] if ours else []
                    default, theirs = limited([sys.executable, __file__, "--child", path, prop, ""])
                    sound, _ = limited([sys.executable, __file__, "--child", path, prop, "sound"])
                    note = ""
                    if ours is None:
                        slow += default is not None
                        shown = "no answer"
                    else:
                        ms = min(found["ms"] for found in [ours, *again] if found)
                        low, high = float(ours["lower"]), float(ours["upper"])
                        width = 0.0 if high == low else (high - low) / max(high, 1e-300)
                        # The width of an infinite bound is not a number.
                        if not (width <= 1e-6 or high - low <= 1e-200):
                            unproven += 1
                            note += "  no proof"
                        shown = f"{ours['value']!r} {width:.0e}"
                        for which, other in (("default", default), ("sound", sound)):
                            if other is not None:
                                against[which].append(ms / max(other["ms"], 1e-3))
                                for part in (family, prop):
                                    parts.setdefault(part, {}).setdefault(which, []).append(against[which][-1])
                        if default is not None:
                            slack = 1e-3 * abs(high) + 1e-12
                            if not low - slack <= default["value"] <= high + slack:
                                note += f"  wrong: {default['value']!r}"
                    cell = lambda found: "-" if found is None else f"{found['ms']:.2f}"
                    ratio = f"{against['default'][-1]:.3f}" if ours and default else "-"
                    states = (ours or default or {"states": 0})["states"]
                    print(f"{family + ' ' + ' '.join(size):<24} {states:>8} {prop:<27} {'-' if ours is None else format(ms, '.2f'):>10} {cell(default):>10} {cell(sound):>10} {ratio:>7} {memory:>6.0f} {theirs:>6.0f}  {shown}{note}", flush=True)
    mean = lambda ratios: math.exp(sum(map(math.log, ratios)) / len(ratios))
    for part, ratios in parts.items():
        print(f"{part:<27} " + ", ".join(f"{which} {mean(of):.3f} (worst {max(of):.3f}, of {len(of)})" for which, of in ratios.items()))
    for which, ratios in against.items():
        if ratios:
            print(f"against Storm's {which}: geometric mean {mean(ratios):.3f}, worst {max(ratios):.3f}, of {len(ratios)}")
    print(f"without proof: {unproven}; no answer where Storm's default has one: {slow}")


def main():
    if "--child" in sys.argv:
        return child(*sys.argv[2:5])
    if "--generated" in sys.argv:
        return generated(sys.argv[sys.argv.index("--generated") + 1])
    folder = sys.argv[1]
    models = MODELS + (LARGE if "--large" in sys.argv else [])
    ratios = []
    print(f"{'model':<46} {'states':>9} {'transitions':>11} {'storm ms':>10} {'guard ms':>10} {'ratio':>7} {'B/trans.':>8}  value (guard, width)")

    def measure(name, path, prop):
        theirs, expected, model = storm_ms(path, prop)
        ours, found, memory = guard_ms(path, prop)
        ratios.append(ours / theirs)
        width = found["upper"] - found["lower"]
        # Several initial states have no one value; bounds hold for all of them.
        value = expected if found["value"] is None else found["value"]
        off = abs(value - expected) / max(abs(expected), 1e-300)
        note = "" if off < 1e-4 else f"  storm says {expected!r}"
        print(f"{name:<46} {model.nr_states:>9} {model.nr_transitions:>11} {theirs:>10.2f} {ours:>10.2f} {ours / theirs:>7.3f} {memory / model.nr_transitions:>8.0f}  {found['value']!r} {width:.1e}{note}", flush=True)

    with tempfile.TemporaryDirectory() as scratch:
        for name, constants, goal, prop in models:
            source = os.path.join(folder, name + ".prism")
            text = open(source).read()
            if goal and goal != "__stable":
                text += f'\nlabel "goal" = {goal};\n'
            prop_here = prop.replace('"goal"', '"stable"') if goal == "__stable" else prop
            copy = os.path.join(scratch, "model.prism")
            open(copy, "w").write(text)
            path = os.path.join(scratch, "model.drn")
            command = [GUARD, "export", "--chain", copy, "--to", "drn", "-o", path]
            if constants:
                command += ["--const", constants]
            subprocess.run(command, check=True, capture_output=True)
            measure(f"{name} {constants}", path, prop_here)
        if "--learned" in sys.argv:
            for states, degree, loop in [(10_000, 5, 0.5), (100_000, 5, 0.5), (1_000_000, 4, 0.5)]:
                path = os.path.join(scratch, "learned.drn")
                learned(path, states, degree, states, loop)
                measure(f"learned-like, {states} states: P", path, 'P=? [ F "goal" ]')
                measure(f"learned-like, {states} states: R", path, 'R{"steps"}=? [ F ("goal" | "end") ]')
    print(f"geometric mean of the ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}; worst: {max(ratios):.3f}")


main()
