#!/usr/bin/env python3
"""Runs the suite and its peers in Python by turns, checks that all compute the same, and writes the medians.

Usage: run.py BUILT PYTHON FOLDER [rounds]
  BUILT   the folder of the built benchmarks, PYTHON an interpreter that has numpy, jax and torch
  FOLDER  gets suite.json, suite.md, suite.svg, and dozen.svg, the README's picture
"""
import json
import math
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict

import report

HERE = pathlib.Path(__file__).resolve().parent
BENCH = HERE.parent
FAMILIES = ("elementwise", "functions", "rows", "products", "training", "loops", "random", "devices")
# one thread each, on one core, but for programs of several devices
ONE_CORE = ["taskset", "-c", str(max(os.sched_getaffinity(0)))]
# OpenBLAS chooses its kernels by the processor, whatever the caller's environment says
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
ENVIRONMENT |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PARALLAX_HOST_DEVICES": "1"}
# what torch.compile made in the last round
ENVIRONMENT.setdefault("TORCHINDUCTOR_CACHE_DIR", str(BENCH.parent / "build" / "bench" / "torch"))

DEVICES = {"PARALLAX_HOST_DEVICES": "8", "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}


def run(family, command):
    if family == "devices":
        done = subprocess.run(command, env={**ENVIRONMENT, **DEVICES}, capture_output=True, text=True)
    else:
        done = subprocess.run(ONE_CORE + command, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def of_suite(family, built):
    """What `suite` measures: names, seconds, digests and bytes; limits have neither of the last."""
    found = json.loads(run(family, [str(built / "suite"), family, "--benchmark_format=json", "--benchmark_min_time=0.2"]))
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    for entry in found["benchmarks"]:
        name = entry["name"].removesuffix("/real_time")
        yield name, entry["real_time"] * scale[entry["time_unit"]], entry.get("digest"), entry.get("bytes")


def of_python(family, python):
    for line in run(family, [python, str(HERE / "peers.py"), family]).splitlines():
        entry = json.loads(line)
        yield entry["name"], entry["seconds"], entry["digest"], None


# a step of training, with arrays of any sizes
STEP = """#include "support/perceptron.hpp"
using rows = parallax::array<float, 2>;
using row = parallax::array<float, 1>;
auto step(const std::tuple<rows, row, rows, row, rows, row>& weights, const rows& x, const rows& target) {
  return bench::perceptron_step(weights, x, target);
}
"""
LIMITS = subprocess.run([BENCH.parent / "scripts/lib/compiler_limits", "GNU"], check=True, capture_output=True, text=True)
COMPILER = ["g++", "-std=c++20", "-O2", "-march=native", *LIMITS.stdout.split(), f"-I{BENCH}", f"-I{BENCH.parent / 'include'}"]


def compile_times(python, rounds):
    """The medians of g++ for the perceptron's step, and of JAX for tracing and compiling it."""
    own, of_jax = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run([*COMPILER, "-c", "-x", "c++", "-o", os.devnull, "-"], input=STEP, text=True, check=True)
        own.append(time.perf_counter() - start)
        of_jax.append(json.loads(run("training", [python, str(HERE / "peers.py"), "compilation"]))["seconds"])
    return statistics.median(own), statistics.median(of_jax)


def check_digests(digests):
    """Random numbers are alike in the mean only; all else has to be the same but for rounding."""
    for case, by_who in digests.items():
        most, least = max(by_who.values()), min(by_who.values())
        allowed = 1e-2 if case.startswith(("normal", "uniform")) else 1e-4
        if not math.isclose(most, least, rel_tol=allowed, abs_tol=1e-9):
            sys.exit(f"{case}: results differ: {by_who}")


def machine():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()


def versions(python):
    """What was measured with: the compiler, Debian's libraries, and Python's packages."""
    found = {"g++": subprocess.run(["g++", "-dumpfullversion"], check=True, capture_output=True, text=True).stdout.strip()}
    for name, package in (("Eigen", "libeigen3-dev"), ("xtensor", "libxtensor-dev"), ("OpenBLAS", "libopenblas-dev")):
        asked = shutil.which("dpkg-query") and subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package],
                                                              capture_output=True, text=True).stdout
        found[name] = re.split(r"[+-]", asked or "")[0] or "of unknown version"
    code = "import jax, numpy, torch; print(jax.__version__, numpy.__version__, torch.__version__)"
    of_python = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    found |= zip(("JAX", "NumPy", "PyTorch"), of_python)
    return ", ".join(f"{name} {version}" for name, version in found.items())


def main(built, python, folder, rounds=3):
    samples, digests, sizes = defaultdict(lambda: defaultdict(list)), defaultdict(dict), {}
    for family in FAMILIES * int(rounds):
        for name, seconds, digest, size in [*of_suite(family, pathlib.Path(built)), *of_python(family, python)]:
            case, who = name.rsplit("/", 1)
            samples[case][who].append(seconds)
            if digest is not None:
                digests[case][who] = digest
            if size is not None:
                sizes[case] = size
    check_digests(digests)
    times = {case: {who: statistics.median(values) for who, values in by_who.items()}
             for case, by_who in samples.items()}
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True).stdout
    how_often = "one round" if int(rounds) == 1 else f"medians of {rounds} rounds"
    about = (f"{time.strftime('%Y-%m-%d')}, commit {commit.strip() or 'unknown'}, {machine()}, one core but for several devices, "
             f"{how_often} by turns; {versions(python)}")
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "suite.json").write_text(json.dumps({"about": about, "seconds": times}, indent=1) + "\n")
    own, of_jax = compile_times(python, min(int(rounds), 3))
    compilation = (f"The perceptron's step takes g++ {own:.1f} s to compile, before the program runs; JAX traces and "
                   f"compiles it in {of_jax:.2f} s whenever a program starts.\n")
    (folder / "suite.md").write_text(about + ".\n\n" + report.table(times, sizes) + compilation)
    faster = list(report.ratios(times))
    (folder / "suite.svg").write_text(report.plot(faster))
    (folder / "dozen.svg").write_text(report.plot([(case, ratio) for case, ratio in faster if case in report.A_DOZEN]))
    print((folder / "suite.md").read_text())


main(*sys.argv[1:])
