#!/usr/bin/env python3
"""Runs bench/derivatives and the same programs in JAX in turn, all on one processor, and prints a markdown table: medians
in microseconds, how our gradient compares with the best of the others, and what compiling takes.

Usage: bench/derivatives_beside_others.py build/release/bench/derivatives [rounds]     with jax installed
"""
import json
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import logsumexp

from support.timings import microseconds, microseconds_of

jax.config.update("jax_enable_x64", True)
RNG = np.random.default_rng(0)
PROBLEMS = ["lse", "llsq", "kmeans", "ode", "gmm"]
OTHERS = ["by hand", "ADOL-C", "CppAD"]


def uniform(*shape, scale=1.0):
    return jnp.asarray(RNG.uniform(-scale, scale, shape))


def least_squares(x, places):
    rest = jnp.sign(places) - jnp.polyval(x[::-1], places, unroll=16)
    return 0.5 * jnp.sum(rest * rest)


def k_means(centres, points):
    squares = jnp.sum(centres * centres, 1) - 2 * points @ centres.T
    return jnp.sum(jnp.min(squares, 1)) + jnp.sum(points * points)


def k_means_direction(centres, points):
    slope = jax.grad(lambda c: k_means(c, points))
    gradient, rows = jax.jvp(slope, (centres,), (jnp.ones_like(centres),))
    return gradient / rows


def ode(x, steps, h):
    def slope(y):
        return x * jnp.concatenate([jnp.ones(1), y[:-1]])

    def step(y, _):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

    return lax.scan(step, jnp.zeros_like(x), None, length=steps)[0][-1]


def gaussian_mixture(alpha, means, q, l, points):
    axes = q.shape[1]
    diagonal, sums = jnp.exp(q), jnp.sum(q, 1)
    columns, rows = np.array([(c, r) for c in range(axes) for r in range(c + 1, axes)]).T
    away = points[:, None] - means
    lower = jnp.zeros((len(q), axes, axes)).at[:, rows, columns].set(l)
    turned = diagonal * away + jnp.einsum("kij,nkj->nki", lower, away)
    terms = alpha + sums - 0.5 * jnp.sum(turned * turned, 2)
    prior = 0.5 * (jnp.sum(diagonal * diagonal) + jnp.sum(l * l))
    return jnp.sum(logsumexp(terms, 1)) - len(points) * logsumexp(alpha) - prior


def programs():
    """By problem: the function and its gradient, with arguments."""
    x = uniform(100_000, scale=4)
    coefficients, places = uniform(64), jnp.linspace(-1, 1, 2048)
    centres, points = uniform(20, 8), uniform(2000, 8)
    rates = 1 + uniform(64, scale=0.5)
    mixture = (uniform(10, scale=0.5), uniform(10, 16, scale=0.5), uniform(10, 16, scale=0.5),
               uniform(10, 120, scale=0.5), uniform(1000, 16))
    last = lambda r: ode(r, 300, 2 / 300)
    return {
        "lse": (logsumexp, jax.grad(logsumexp), (x,)),
        "llsq": (least_squares, jax.grad(least_squares), (coefficients, places)),
        "kmeans": (k_means, k_means_direction, (centres, points)),
        "ode": (last, jax.grad(last), (rates,)),
        "gmm": (gaussian_mixture, jax.grad(gaussian_mixture, (0, 1, 2, 3)), mixture),
    }


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


def main(binary, rounds=5):
    samples, compiled, jax_seconds = defaultdict(list), {}, {}
    for problem, (value, derivative, arguments) in programs().items():
        begin = time.perf_counter()
        compiled[problem] = [jax.jit(f).lower(*arguments).compile() for f in (value, derivative)]
        jax_seconds[problem] = time.perf_counter() - begin
    for _ in range(rounds):
        for name, value in microseconds_of(binary).items():
            samples[name].append(value)
        for problem, (_, _, arguments) in programs().items():
            for what, call in zip(("function", "gradient"), compiled[problem]):
                time_of_one = microseconds(lambda: jax.block_until_ready(call(*arguments)))
                samples[f"{problem}/JAX/{what}"].append(time_of_one)
    medians = {key: statistics.median(values) for key, values in samples.items()}
    seconds = compile_seconds(binary)
    others = [who for who in [*OTHERS, "JAX"] if f"lse/{who}/gradient" in medians]
    print(f"JAX {jax.__version__}; medians of {rounds} rounds in turn, microseconds, one processor\n")
    print(f"| problem | function | gradient | {' | '.join(others)} | ours / best | gradient / function | compiled in s | JAX |")
    print("|---" * (len(others) + 7) + "|")
    for problem in PROBLEMS:
        function, gradient = medians[f"{problem}/ours/function"], medians[f"{problem}/ours/gradient"]
        times = [medians[f"{problem}/{who}/gradient"] for who in others]
        row = [problem, *(f"{t:,.0f}" for t in (function, gradient, *times)), f"{gradient / min(times):.2f}",
               f"{gradient / function:.1f}", f"{seconds[problem]:.1f}", f"{jax_seconds[problem]:.2f}"]
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
