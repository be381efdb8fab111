#!/usr/bin/env python3
"""Runs bench/loops and the same programs in JAX and NumPy in turn, and prints a markdown table: medians in microseconds,
and how our time compares with the best of the others.

Usage: bench/loops_beside_python.py build/release/bench/loops [rounds]     with numpy and jax installed
"""
import statistics
import sys
from collections import defaultdict

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from support.timings import microseconds, microseconds_of

jax.config.update("jax_enable_x64", True)
RNG = np.random.default_rng(0)
MANY = 10**6

# our name, and the names of those in C++ that it is compared with
CASES = {
    "1,000 products 3x3": ("scan/1000 products 3x3/static", ["by hand/1000 products 3x3"]),
    "gradient": ("scan/1000 products 3x3, gradient/static", ["by hand/1000 products 3x3, gradient"]),
    "five bodies, 1,000 steps": ("fori_loop/five bodies, 1000 steps/static", ["by hand/five bodies, 1000 steps"]),
    "five bodies, gradient": (
        "fori_loop/five bodies, 1000 steps, gradient/static", ["by hand/five bodies, 1000 steps, gradient"]),
    "network of 16, gradient": (
        "scan/network of 16, 64 steps, gradient/dynamic", ["by hand/network of 16, 64 steps, gradient"]),
    "network of 64, gradient": (
        "scan/network of 64, 64 steps, gradient/dynamic", ["by hand/network of 64, 64 steps, gradient"]),
    "x[i]": ("x[i]/10^6", ["by hand/x[i]/10^6"]),
    "x.at(i).add": ("x.at(i).add/10^6", ["by hand/x.at(i).add/10^6"]),
    "cumsum": ("cumsum/10^6", ["std::partial_sum/10^6"]),
    "sort": ("sort/10^6", ["std::stable_sort/10^6"]),
}


def chain(first, matrices):
    return lax.scan(lambda p, m: (m @ p, None), first, matrices)[0]


def orbit(masses, places, velocities):
    def step(_, state):
        x, v = state
        away = x[None] - x[:, None]
        square = jnp.sum(away * away, 2, keepdims=True) + 1e-2
        v = v + 1e-3 * jnp.sum(masses[None, :, None] * away / (square * jnp.sqrt(square)), 1)
        return x + 1e-3 * v, v

    return lax.fori_loop(0, 1000, step, (places, velocities))[0]


def network(weights, inputs):
    def cell(h, x):
        return jnp.tanh(weights @ h + x), None

    return lax.scan(cell, jnp.zeros_like(weights[0]), inputs)[0].sum()


def normal(*shape, dtype=np.float64, scale=1.0):
    return jnp.asarray(RNG.standard_normal(shape) * scale, dtype)


def peers():
    """By case: who, and a call that waits for its result."""
    x = RNG.standard_normal(MANY).astype(np.float32)
    i = RNG.integers(0, MANY, MANY).astype(np.int32)
    jx, ji = jnp.asarray(x), jnp.asarray(i)
    matrices = jnp.eye(3) + normal(1000, 3, 3, scale=0.02)
    bodies = (jnp.array([1, 0.5, 0.25, 0.8, 0.4]), normal(5, 3), normal(5, 3, scale=0.5))

    def jitted(function, *arguments):
        compiled = jax.jit(function)
        return "JAX", lambda: jax.block_until_ready(compiled(*arguments))

    def added():
        result = np.zeros_like(x)
        np.add.at(result, i, x)
        return result

    found = {
        "1,000 products 3x3": [jitted(chain, jnp.eye(3), matrices)],
        "gradient": [jitted(jax.grad(lambda m: chain(jnp.eye(3), m).sum()), matrices)],
        "five bodies, 1,000 steps": [jitted(orbit, *bodies)],
        "five bodies, gradient": [jitted(jax.grad(lambda m, p, v: (orbit(m, p, v) ** 2).sum(), (1, 2)), *bodies)],
        "x[i]": [jitted(lambda a, b: a[b], jx, ji), ("NumPy", lambda: x[i])],
        "x.at(i).add": [jitted(lambda a, b: jnp.zeros_like(a).at[b].add(a), jx, ji), ("NumPy", added)],
        "cumsum": [jitted(jnp.cumsum, jx), ("NumPy", lambda: np.cumsum(x))],
        "sort": [jitted(jnp.sort, jx), ("NumPy, not stable", lambda: np.sort(x)),
                 ("NumPy, stable", lambda: np.sort(x, kind="stable"))],
    }
    for n in (16, 64):
        weights = normal(n, n, dtype=np.float32, scale=1.5 / n**0.5)
        inputs = normal(64, n, dtype=np.float32)
        found[f"network of {n}, gradient"] = [jitted(jax.grad(network, (0, 1)), weights, inputs)]
    return found


def main(binary, rounds=5):
    calls = peers()
    samples = defaultdict(list)
    for _ in range(rounds):
        for name, value in microseconds_of(binary).items():
            samples[name].append(value)
        for case, list_of_peers in calls.items():
            for who, call in list_of_peers:
                samples[case, who].append(microseconds(call))
    medians = {key: statistics.median(values) for key, values in samples.items()}
    print(f"JAX {jax.__version__}, NumPy {np.__version__}; medians of {rounds} rounds in turn, microseconds\n")
    print("| case | ours | in C++ | others | ours / best |\n|---|---|---|---|---|")
    for case, (own, in_cpp) in CASES.items():
        by_hand = {name.split("/")[0]: medians[name] for name in in_cpp}
        others = {who: medians[case, who] for who, _ in calls[case]}
        best = min([*by_hand.values(), *others.values()])
        text = [", ".join(f"{who} {value:,.1f}" for who, value in group.items()) for group in (by_hand, others)]
        print(f"| {case} | {medians[own]:,.1f} | {text[0]} | {text[1]} | {medians[own] / best:.2f} |")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
