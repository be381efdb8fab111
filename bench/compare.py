#!/usr/bin/env python3
"""Prints the JSON output of bench/matmul as a markdown table: medians of one run, and our rate over each peer's.

Usage: matmul --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true \\
              --benchmark_out=run.json --benchmark_out_format=json && bench/compare.py run.json
"""
import json
import statistics
import sys
from collections import defaultdict

US = "parallax"
GROUPS = {
    "matmul": "`matmul`, n x n by n x n",
    "vmap_matvec": "`vmap(matvec)`: 256 vectors of n, one n x n matrix",
    "vmap_matmul": "`vmap(matmul)`: 16 pairs of n x n matrices",
    "pmap_vmap_matmul": "`pmap(vmap(matmul))`: 8 pairs of n x n matrices on each of 2 devices",
}


def main(path):
    with open(path) as file:
        run = json.load(file)
    rates = defaultdict(lambda: defaultdict(dict))  # group, size, implementation
    peaks = {}
    samples = defaultdict(list)
    for entry in run["benchmarks"]:
        if entry.get("run_type") == "aggregate":
            continue
        if entry.get("error_occurred"):
            sys.exit(f"{entry['name']}: {entry['error_message']}")
        case, size = entry["name"].split("/")[:2]
        group = max((g for g in GROUPS if case.startswith(g + "_")), key=len)
        seconds = entry["real_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}[entry["time_unit"]]
        samples[group, int(size), case[len(group) + 1:]].append(entry["flops"] / seconds * 1e-9)
        peaks = {1: entry["peak_1"], 2: entry["peak_2"]}
    for (group, size, who), values in samples.items():
        rates[group][size][who] = statistics.median(values)
    for size, by_hand in rates["vmap_matmul"].items():  # the same work
        for who, rate in by_hand.items():
            if size in rates["pmap_vmap_matmul"] and who != US:
                rates["pmap_vmap_matmul"][size][who] = rate
    print(f"FMA peak, measured in the same run: {peaks[1]:.0f} GFLOP/s on one core, {peaks[2]:.0f} on two.")
    for group, title in GROUPS.items():
        peers = sorted({who for by_size in rates[group].values() for who in by_size} - {US})
        print(f"\n### {title}\n")
        print("| n | ours, GFLOP/s | of the peak of two cores | " + " | ".join(f"{p}, GFLOP/s" for p in peers)
              + " | " + " | ".join(f"ours / {p}" for p in peers) + " | spread of ours |")
        print("|---" * (4 + 2 * len(peers)) + "|")
        for size, row in sorted(rates[group].items()):
            ours = row[US]
            own = sorted(samples[group, size, US])
            print(f"| {size} | {ours:.1f} | {ours / peaks[2]:.2f} | "
                  + " | ".join(f"{row[p]:.1f}" for p in peers) + " | "
                  + " | ".join(f"{ours / row[p]:.2f}" for p in peers)
                  + f" | {own[0]:.1f} to {own[-1]:.1f} |")


main(sys.argv[1])
