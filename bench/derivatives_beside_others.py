#!/usr/bin/env python3
"""Runs bench/derivatives and the same programs in JAX in turn, all on one processor, and prints a markdown table: the
least microseconds of all rounds, as others may use the machine, how our gradient compares with the best of the others,
and what compiling takes.

Usage: bench/derivatives_beside_others.py build/release/bench/derivatives [rounds]     with jax installed
"""
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import jax

from derivatives_in_jax import programs
from support.timings import microseconds, microseconds_of

jax.config.update("jax_enable_x64", True)
PROBLEMS = ["lse", "llsq", "kmeans", "ode", "gmm", "lstm", "ba", "ht", "det"]
OTHERS = ["by hand", "ADOL-C", "CppAD"]


def compile_seconds(binary):
    """What each problem takes beyond a file without one, by the build's own command."""
    build = Path(binary).resolve().parents[1]
    commands = json.loads((build / "compile_commands.json").read_text())
    command = next(c["command"] for c in commands if c["file"].endswith("bench/derivatives.cpp"))
    seconds = []
    for number in range(len(PROBLEMS) + 1):
        begin = time.perf_counter()
        subprocess.run(f"{command} -DBENCH_ONLY={number} -DBENCH_NO_TAPES -Wno-unused -o {os.devnull}", shell=True, check=True,
                       cwd=build)
        seconds.append(time.perf_counter() - begin)
    return dict(zip(PROBLEMS, (s - seconds[0] for s in seconds[1:])))


def text_of(time_of_one):
    return f"{time_of_one:,.0f}" if time_of_one >= 10 else f"{time_of_one:.2f}"


def main(binary, rounds=5):
    samples, compiled, jax_seconds = defaultdict(list), {}, {}
    for problem, (value, derivative, arguments) in programs().items():
        begin = time.perf_counter()
        compiled[problem] = [jax.jit(f).lower(*arguments).compile() for f in (value, derivative)]
        jax_seconds[problem] = time.perf_counter() - begin
    for _ in range(rounds):
        for problem in PROBLEMS:
            for name, value in microseconds_of(binary, f"^{problem}/").items():
                samples[name].append(value)
        for problem, (_, _, arguments) in programs().items():
            for what, call in zip(("function", "gradient"), compiled[problem]):
                time_of_one = microseconds(lambda: jax.block_until_ready(call(*arguments)))
                samples[f"{problem}/JAX/{what}"].append(time_of_one)
    least = {key: min(values) for key, values in samples.items()}
    seconds = compile_seconds(binary)
    others = [who for who in [*OTHERS, "JAX"] if f"lse/{who}/gradient" in least]
    print(f"JAX {jax.__version__}; the least of {rounds} rounds in turn, microseconds, one processor\n")
    print(f"| problem | function | gradient | {' | '.join(others)} | ours / best | gradient / function | compiled in s | JAX |")
    print("|---" * (len(others) + 7) + "|")
    for problem in PROBLEMS:
        function, gradient = least[f"{problem}/ours/function"], least[f"{problem}/ours/gradient"]
        times = [least[f"{problem}/{who}/gradient"] for who in others]
        row = [problem, *(text_of(t) for t in (function, gradient, *times)), f"{gradient / min(times):.2f}",
               f"{gradient / function:.1f}", f"{seconds[problem]:.1f}", f"{jax_seconds[problem]:.2f}"]
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
