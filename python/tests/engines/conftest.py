"""Real clusters on this machine: Spark with two executors, Ray with two workers."""

# pyright: reportMissingImports=false
from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import guard_lang as guard

from ..engine_rows import DRIFT, SPEC


@pytest.fixture
def spec() -> guard.Spec:
    return guard.Spec.from_source(SPEC)


@pytest.fixture
def drift() -> guard.Spec:
    return guard.Spec.from_source(DRIFT)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed")
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable, SPARK_HOME=os.path.dirname(pyspark.__file__))
    from pyspark.sql import SparkSession

    from guard_lang.spark import STATE_STORE

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.stateStore.providerClass": STATE_STORE,
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        pytest.skip(f"Spark does not start (it needs Java 17): {error}")
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    # 200 by default, each of which is a task
    context.default_hash_shuffle_parallelism = 6
    yield ray
    ray.shutdown()
