#!/usr/bin/env python3
"""Runs bench/dispatch, prints what calls take as a markdown table, medians in nanoseconds, and writes it to bench/results/
with the date, the commit and the machine.

Usage: bench/dispatch_results.py build/release/bench/dispatch [rounds]
"""
import datetime
import pathlib
import statistics
import subprocess
import sys
from collections import defaultdict

from support.timings import microseconds_of

# of our calls: what does the same
BESIDE = {
    "jit/x+1/16 dynamic": "by hand/x+1/16, new vector",
    "compiled function/x+1/16": "by hand/x+1/16, in place",
    "jit/product/4x4": "Eigen/product/4x4",
    "jit/product/8x8": "Eigen/product/8x8",
    "jit/product/16x16": "Eigen/product/16x16",
    "jit/1024 products/4x4": "Eigen/1024 products/4x4",
    "jit/1024 products/8x8": "Eigen/1024 products/8x8",
    "jit/gradient of 100 operations": "by hand/gradient of 100 operations",
}


def first_line(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0].strip()


def processor():
    models = [line for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")]
    return f"{len(models)} x {models[0].split(':')[1].strip()}" if models else "an unknown processor"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    times = defaultdict(list)
    for _ in range(int(sys.argv[2]) if len(sys.argv) == 3 else 5):
        for name, time in microseconds_of(sys.argv[1]).items():
            times[name].append(time * 1000)
    median = {name: statistics.median(all_of_one) for name, all_of_one in times.items()}
    peers = set(BESIDE.values())
    lines = ["| call | ns | beside | ns | ours / that |", "|---|---|---|---|---|"]
    for name, time in median.items():
        if name in peers:
            continue
        peer = BESIDE.get(name)
        rest = f"{peer} | {median[peer]:,.1f} | {time / median[peer]:.2f}" if peer in median else " | | "
        lines.append(f"| {name} | {time:,.1f} | {rest} |")
    today = datetime.date.today().isoformat()
    heading = [f"# Calls, {today}", "", f"`bench/dispatch_results.py {' '.join(sys.argv[1:])}`, commit "
               f"{first_line('git', 'rev-parse', '--short', 'HEAD')}, {processor()}. Medians.", ""]
    text = "\n".join(heading + lines) + "\n"
    print(text, end="")
    (pathlib.Path(__file__).parent / "results" / f"{today}-calls.md").write_text(text, encoding="utf-8")


main()
