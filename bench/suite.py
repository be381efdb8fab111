#!/usr/bin/env python3
"""Runs the suite and its peers in Python by turns, checks that all compute the same, and writes the medians.

Usage: suite.py BUILT PYTHON FOLDER [rounds]
  BUILT   the folder of the built benchmarks, PYTHON an interpreter that has numpy and jax
  FOLDER  gets suite.json, suite.md and suite.svg
"""
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time
from collections import defaultdict

US = "parallax"
HERE = pathlib.Path(__file__).resolve().parent
# one thread each, on one core, but for programs of several devices
ONE_CORE = ["taskset", "-c", str(max(os.sched_getaffinity(0)))]
# OpenBLAS chooses its kernels by the processor, whatever the caller's environment says
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
ENVIRONMENT |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PARALLAX_HOST_DEVICES": "1"}

DEVICES = {"PARALLAX_HOST_DEVICES": "8", "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}


def run(part, command):
    if part == "devices":
        done = subprocess.run(command, env={**ENVIRONMENT, **DEVICES}, capture_output=True, text=True)
    else:
        done = subprocess.run(ONE_CORE + command, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def of_suite(part, built):
    program = built / ("suite" if part == "kernels" else "suite_programs")
    found = json.loads(run(part, [str(program), "--benchmark_format=json", "--benchmark_min_time=0.2"]))
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    for entry in found["benchmarks"]:
        name = entry["name"].removesuffix("/real_time")
        yield name, entry["real_time"] * scale[entry["time_unit"]], entry["digest"], entry["bytes"]


def of_python(part, python):
    for line in run(part, [python, str(HERE / "suite_in_python.py"), part]).splitlines():
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
COMPILER = ["g++", "-std=c++20", "-O2", "-march=native", "-fconstexpr-ops-limit=2000000000",
            "-fconstexpr-loop-limit=2000000000", "-fconstexpr-depth=4096", f"-I{HERE}", f"-I{HERE.parent / 'include'}"]


def compile_times(python, rounds):
    """The medians of g++ for the perceptron's step, and of JAX for tracing and compiling it."""
    own, of_jax = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run([*COMPILER, "-c", "-x", "c++", "-o", os.devnull, "-"], input=STEP, text=True, check=True)
        own.append(time.perf_counter() - start)
        of_jax.append(json.loads(run("programs", [python, str(HERE / "suite_in_python.py"), "compilation"]))["seconds"])
    return statistics.median(own), statistics.median(of_jax)


def check_digests(digests):
    """Random numbers are alike in the mean only; all else has to be the same but for rounding."""
    for case, by_who in digests.items():
        most, least = max(by_who.values()), min(by_who.values())
        allowed = 1e-2 if case.startswith("normal") else 1e-4
        if not math.isclose(most, least, rel_tol=allowed, abs_tol=1e-9):
            sys.exit(f"{case}: results differ: {by_who}")


def text_of(seconds):
    for unit, scale in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def table(times, sizes):
    peers = sorted({who for by_who in times.values() for who in by_who} - {US})
    lines = ["| case | Parallax | GB/s | " + " | ".join(peers) + " | best peer / Parallax |",
             "|---|---|---|" + "---|" * len(peers) + "---|"]
    for case, by_who in times.items():
        own = by_who[US]
        others = [by_who[who] for who in peers if who in by_who]
        speed = f"{sizes[case] / own * 1e-9:.1f}" if sizes.get(case) else ""
        ratio = f"{min(others) / own:.2f}" if others else ""
        cells = [text_of(by_who[who]) if who in by_who else "" for who in peers]
        lines.append(f"| {case} | {text_of(own)} | {speed} | " + " | ".join(cells) + f" | {ratio} |")
    ratios = [min(v for w, v in by_who.items() if w != US) / by_who[US] for by_who in times.values() if len(by_who) > 1]
    lines.append("")
    lines.append(f"Geometric mean of the ratios {statistics.geometric_mean(ratios):.2f}; "
                 f"{sum(r >= 0.95 for r in ratios)} of {len(ratios)} cases are at most 5 % behind the best peer.")
    return "\n".join(lines) + "\n"


def plot(times):
    """A bar for each case: how many times faster than the best peer, on a logarithmic scale."""
    cases = [(case, min(v for w, v in by_who.items() if w != US) / by_who[US])
             for case, by_who in times.items() if len(by_who) > 1]
    left, width, row = 230, 430, 16
    reach = max(abs(math.log2(ratio)) for _, ratio in cases)
    middle = left + width / 2
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 60}" height="{row * len(cases) + 40}" '
             'font-family="sans-serif" font-size="11">',
             f'<text x="{left}" y="14">best peer\'s time / Parallax\'s: to the right of the line Parallax is faster</text>']
    for number, (case, ratio) in enumerate(cases):
        y = 24 + row * number
        length = abs(math.log2(ratio)) / reach * width / 2
        x = middle if ratio >= 1 else middle - length
        colour = "#3a7d44" if ratio >= 0.95 else "#b5492f"
        parts.append(f'<text x="{left - 8}" y="{y + 10}" text-anchor="end">{case}</text>')
        parts.append(f'<rect x="{x:.1f}" y="{y}" width="{max(length, 0.5):.1f}" height="{row - 4}" fill="{colour}"/>')
        parts.append(f'<text x="{left + width + 6}" y="{y + 10}">{ratio:.2f}</text>')
    parts.append(f'<line x1="{middle}" y1="20" x2="{middle}" y2="{24 + row * len(cases)}" stroke="black"/></svg>')
    return "\n".join(parts) + "\n"


def machine():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()


def main(built, python, folder, rounds=5):
    samples, digests, sizes = defaultdict(lambda: defaultdict(list)), defaultdict(dict), {}
    turns = [part for _ in range(int(rounds)) for part in ("kernels", "programs", "devices")]
    for part in turns:
        for name, seconds, digest, size in [*of_suite(part, pathlib.Path(built)), *of_python(part, python)]:
            case, who = name.rsplit("/", 1)
            samples[case][who].append(seconds)
            digests[case][who] = digest
            if size is not None:
                sizes[case] = size
    check_digests(digests)
    times = {case: {who: statistics.median(values) for who, values in by_who.items()}
             for case, by_who in samples.items()}
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True).stdout
    about = f"{machine()}, one core but for several devices, medians of {rounds} rounds by turns, commit {commit.strip() or 'unknown'}"
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "suite.json").write_text(json.dumps({"about": about, "seconds": times}, indent=1) + "\n")
    own, of_jax = compile_times(python, min(int(rounds), 3))
    compilation = (f"The perceptron's step takes g++ {own:.1f} s to compile, before the program runs; JAX traces and "
                   f"compiles it in {of_jax:.2f} s whenever a program starts.\n")
    (folder / "suite.md").write_text(about + ".\n\n" + table(times, sizes) + compilation)
    (folder / "suite.svg").write_text(plot(times))
    print((folder / "suite.md").read_text())


main(*sys.argv[1:])
