"""The time of a summary of the same traces on clusters of one and two workers of this machine, by Spark and by Ray.

First the processor time of what a task does with rows, without an engine.

.ci/python && .ci/engines && target/engines/venv/bin/python python/benches/engines.py [TRACES]

Use a wheel of the release profile: the one of .ci/python is not optimised.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import pyarrow as pa
import pyspark
import ray
from engine_rows import SPEC, events
from pyspark.sql import SparkSession

import guard_lang as guard
from guard_lang import ray as on_ray
from guard_lang import spark as on_spark
from guard_lang._engine import Kernel, Layout

#: Parts into which the rows of events are divided by trace.
PARTS = 4


def written(folder: Path, traces: int) -> None:
    """Write the events as rows, and each trace as a text, in as many files as there are parts."""
    rows = events(traces)[::-1]
    (folder / "rows").mkdir()
    (folder / "texts").mkdir()
    whole: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        whole.setdefault(row["run"], []).append(row)
    texts = [json.dumps({"value": json.dumps({"id": run, "events": found})}) + "\n" for run, found in whole.items()]
    for part in range(PARTS):
        lines = (json.dumps({**row, "args": json.dumps(row["args"])}) + "\n" for row in rows[part::PARTS])
        (folder / "rows" / f"{part}.jsonl").write_text("".join(lines))
        (folder / "texts" / f"{part}.jsonl").write_text("".join(texts[part::PARTS]))


def in_this_process(traces: int) -> None:
    """Print the microseconds of processor time that a row takes: the best of three."""
    rows = sorted(events(traces), key=lambda row: (row["run"], row["seq"]))
    batches = pa.Table.from_pylist(rows).to_batches(max_chunksize=10_000)
    kernel = Kernel(guard.Spec.from_source(SPEC), Layout("run", "seq"))
    for name, work in (("counted", kernel.counts), ("as lines", kernel.lines)):
        times = []
        for _ in range(3):
            started = time.process_time()
            for _ in work(batches):
                pass
            times.append(time.process_time() - started)
        print(f"{len(rows)} rows of events, {name}: {min(times) / len(rows) * 1e6:.2f} us an event")


def by_spark(folder: Path, workers: int) -> dict[str, Callable[[], Any]]:
    """Return what is timed on a Spark cluster with this many executors of one core."""
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable, SPARK_HOME=os.path.dirname(pyspark.__file__))
    builder = SparkSession.builder.master(f"local-cluster[{workers},1,1024]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(PARTS),
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    spec = guard.Spec.from_source(SPEC)
    schema = "run string, seq long, kind string, tool string, args string, amount long"
    rows = session.read.schema(schema).json(str(folder / "rows"))
    texts = session.read.schema("value string").json(str(folder / "texts"))
    return {
        "rows of events": lambda: on_spark.summary(rows, spec, trace="run", order="seq"),
        "texts of traces": lambda: on_spark.summary(texts, spec, text="value"),
    }


def by_ray(folder: Path, workers: int) -> dict[str, Callable[[], Any]]:
    """Return what is timed on a Ray cluster with this many processors."""
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, configure_logging=False)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.default_hash_shuffle_parallelism = PARTS
    spec = guard.Spec.from_source(SPEC)
    texts = ray.data.read_json(str(folder / "texts"), lines=True)
    return {"texts of traces": lambda: on_ray.summary(texts, spec, text="value")}


def one(name: str, folder: Path, workers: int) -> None:
    """Print the seconds of each work on one cluster as JSON: the best of three, after one that starts the workers."""
    works = {"spark": by_spark, "ray": by_ray}[name](folder, workers)
    found = {}
    for work, call in works.items():
        total = call()
        times = []
        for _ in range(3):
            started = time.monotonic()
            call()
            times.append(time.monotonic() - started)
        found[work] = (min(times), total.traces, total.violating)
    print(json.dumps(found))


def main() -> None:
    """Measure."""
    traces = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    in_this_process(40_000)
    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder), traces)
        for name in ("spark", "ray"):
            told = []
            for workers in (1, 2):
                command = [sys.executable, __file__, name, folder, str(workers)]
                done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
                told.append(json.loads(done.stdout.splitlines()[-1]))
            for work, (alone, *counts) in told[0].items():
                both, *same = told[1][work]
                assert counts == same, (counts, same)
                times = f"one worker {alone:.2f} s, two {both:.2f} s ({alone / both:.2f} times)"
                print(f"{name}, {work}: {counts[0]} traces, {times}")


if __name__ == "__main__":
    if len(sys.argv) == 4:
        one(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
