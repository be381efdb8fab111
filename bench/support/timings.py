"""What scripts that run a benchmark beside Python's libraries share."""
import json
import os
import subprocess
import sys
import tempfile
import time


def microseconds(call):
    """Of one call, over so many as take a tenth of a second."""
    call()
    begin = time.perf_counter()
    call()
    count = max(1, int(0.1 / (time.perf_counter() - begin)))
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count * 1e6


def microseconds_of(binary, only="."):
    """By the names of a Google Benchmark program, of those that match `only`; it runs where it may leave files."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([os.path.abspath(binary), "--benchmark_min_time=0.1", "--benchmark_format=json",
                              f"--benchmark_filter={only}"], check=True, capture_output=True, text=True, cwd=folder)
    times = {}
    for entry in json.loads(run.stdout)["benchmarks"]:
        if entry.get("error_occurred"):
            sys.exit(f"{entry['name']}: {entry['error_message']}")
        name = entry["name"].removesuffix("/real_time")
        times[name] = entry["real_time"] * {"ns": 1e-3, "us": 1, "ms": 1e3}[entry["time_unit"]]
    return times
