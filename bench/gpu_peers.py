#!/usr/bin/env python3
"""The cases of scripts/gpu-check in PyTorch, JAX and Triton, under the same names. Appends a line of JSON for each to the report as soon as it is measured; one that fails leaves a line that says so.

Usage: gpu_peers.py torch|jax|triton [--report FILE] [--match TEXT]
       gpu_peers.py --compare GPU_CHECK    whether that program has all these cases; needs no GPU
Exits with 1 if a case failed.
"""
import argparse
import importlib
import json
import subprocess
import sys

from gpu_peer_cases import all_cases

STAGES = ["elementwise", "reductions", "rows", "gradients", "steps"]


def measure(module, report, match):
    # each package is imported only where it is asked for
    peer = getattr(importlib.import_module(f"gpu_cases_in_{module}"), module.capitalize())()
    failed = 0

    def write(line):
        if report:
            with open(report, "a", encoding="utf-8") as out:
                out.write(json.dumps({"stage": module, **line}) + "\n")
    for case in all_cases():
        if not case.name.startswith(match):
            continue
        try:
            for who, times, digest in peer.run(case):
                line = {"case": case.name, "who": who, "minimum_us": times.minimum, "median_us": times.median,
                        "p90_us": times.p90, "samples": times.samples}
                write(line if digest is None else {**line, "digest": digest})
                print(f"{case.name}: {who}: {times.median:.2f} us, least {times.minimum:.2f}, nine of ten within {times.p90:.2f}",
                      flush=True)
        except Exception as failure:  # one that a version of the package cannot do is no reason to leave out the others
            failed += 1
            text = f"{type(failure).__name__}: {failure}".splitlines()[0][:300]
            write({"case": case.name, "who": module, "failure": text})
            print(f"{case.name}: failed: {text}", flush=True)
    return 1 if failed else 0


def compare(program):
    """Whether a gpu_check has each case that is measured here."""
    ours = set()
    for stage in STAGES:
        listed = subprocess.run([program, stage, "--list"], check=True, capture_output=True, text=True)
        ours.update(listed.stdout.splitlines())
    names = [case.name for case in all_cases()]
    missing = [name for name in names if name not in ours] + sorted({name for name in names if names.count(name) > 1})
    for name in missing:
        print(f"gpu_peers.py: {program} has no case called {name}, or it stands here twice", file=sys.stderr)
    print(f"{len(names)} of {len(ours)} cases are measured in Python too")
    return 1 if missing else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", nargs="?", choices=["torch", "jax", "triton"])
    parser.add_argument("--report")
    parser.add_argument("--match", default="")
    parser.add_argument("--compare", metavar="GPU_CHECK")
    given = parser.parse_args()
    if given.compare:
        sys.exit(compare(given.compare))
    if not given.module:
        parser.error("torch, jax or triton is to be named")
    sys.exit(measure(given.module, given.report, given.match))
