#!/usr/bin/env python3
"""Runs bench/suite and its peers in Python by turns, checks that all compute the same, and writes the medians.

Usage: suite.py SUITE PYTHON FOLDER [rounds]
  SUITE   the built benchmark, PYTHON an interpreter that has numpy and jax
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
from collections import defaultdict

US = "parallax"
HERE = pathlib.Path(__file__).resolve().parent
# one thread each, on one core
ONE_CORE = ["taskset", "-c", str(max(os.sched_getaffinity(0)))]
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PARALLAX_HOST_DEVICES": "1"}


def run(command):
    done = subprocess.run(ONE_CORE + command, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def of_suite(suite):
    found = json.loads(run([suite, "--benchmark_format=json", "--benchmark_min_time=0.2"]))
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    for entry in found["benchmarks"]:
        name = entry["name"].removesuffix("/real_time")
        yield name, entry["real_time"] * scale[entry["time_unit"]], entry["digest"], entry["bytes"]


def of_python(python):
    for line in run([python, str(HERE / "suite_in_python.py")]).splitlines():
        entry = json.loads(line)
        yield entry["name"], entry["seconds"], entry["digest"], None


def check_digests(digests):
    """Random numbers are alike in the mean only; all else has to be the same but for rounding."""
    for case, by_who in digests.items():
        most, least = max(by_who.values()), min(by_who.values())
        allowed = 1e-2 if case.startswith("normal") else 1e-4
        if not math.isclose(most, least, rel_tol=allowed, abs_tol=1e-6):
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


def main(suite, python, folder, rounds=5):
    samples, digests, sizes = defaultdict(lambda: defaultdict(list)), defaultdict(dict), {}
    for _ in range(int(rounds)):
        for name, seconds, digest, size in [*of_suite(suite), *of_python(python)]:
            case, who = name.rsplit("/", 1)
            samples[case][who].append(seconds)
            digests[case][who] = digest
            if size is not None:
                sizes[case] = size
    check_digests(digests)
    times = {case: {who: statistics.median(values) for who, values in by_who.items()}
             for case, by_who in samples.items()}
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True).stdout
    about = f"{machine()}, one core, medians of {rounds} rounds by turns, commit {commit.strip() or 'unknown'}"
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "suite.json").write_text(json.dumps({"about": about, "seconds": times}, indent=1) + "\n")
    (folder / "suite.md").write_text(about + ".\n\n" + table(times, sizes))
    (folder / "suite.svg").write_text(plot(times))
    print((folder / "suite.md").read_text())


main(*sys.argv[1:])
